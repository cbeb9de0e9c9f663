package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const recordName = "orange.db"

func recordAt(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(dir, recordName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Eight write, each through a connection of its own as a program has it. The follower reports everything once and in
// order, and the very last event without another one that would wake it.
func TestFollow_losesAndRepeatsNothingWhileEightWrite(t *testing.T) {
	t.Parallel()
	const writers, moves = 8, 20
	dir := t.TempDir()
	store := recordAt(t, dir)
	var crew sync.WaitGroup
	failed := make([]error, writers)
	for w := range writers {
		own := recordAt(t, dir)
		crew.Go(func() { failed[w] = writeOwn(t.Context(), own, fmt.Sprint("task", w), moves) })
	}
	ctx, off := context.WithTimeout(t.Context(), lastWait-5*time.Second) // before it would look for other reasons
	defer off()
	heard := map[string][]int{}
	count, calls, last := 0, 0, int64(0)
	done := errors.New("everything was reported")
	err := store.Follow(ctx, os.Stdout, 0, func(all []history.Happening) error {
		calls++
		for _, one := range all {
			if one.Cursor <= last {
				t.Errorf("%d is reported after %d", one.Cursor, last)
			}
			last = one.Cursor
			heard[one.Task] = append(heard[one.Task], one.Event.Seq)
			count++
		}
		if count >= writers*(moves+1) {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Errorf("it ended with %v, after %d calls and %d events", err, calls, count)
	}
	crew.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	want := make([]int, moves+1)
	for i := range want {
		want[i] = i + 1
	}
	for w := range writers {
		if got := heard[fmt.Sprint("task", w)]; !slices.Equal(got, want) {
			t.Errorf("of task%d it heard %v, want %v", w, got, want)
		}
	}
}

func writeOwn(ctx context.Context, s *Store, id string, moves int) error {
	now := time.Now()
	one, err := s.Commit(ctx, record.Change{
		Task:   task.Task{ID: id, Project: "garden", Branch: id, CreatedAt: now, UpdatedAt: now, EnteredAt: now},
		Events: []history.Event{{Time: now, Type: history.Created}},
	})
	for n := 0; n < moves && err == nil; n++ {
		one, err = s.Commit(ctx, record.Change{Task: one, Expect: one.Version, Events: []history.Event{
			{Time: now, Type: history.Updated}}})
	}
	return err
}

func TestFollow_reportsWhenItCaughtUpAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := recordAt(t, dir)
	ctx, off := context.WithCancel(t.Context())
	defer off()
	var calls []int
	err := store.Follow(ctx, os.Stdout, 0, func(all []history.Happening) error {
		calls = append(calls, len(all))
		switch len(calls) {
		case 1: // nothing yet
			return writeOwn(ctx, store, "one", mostRead+1)
		case 4:
			off()
		}
		return nil
	})
	if want := []int{0, mostRead, 2, 0}; !errors.Is(err, context.Canceled) || !slices.Equal(calls, want) {
		t.Errorf("it reported %v and ended with %v, want %v and %v", calls, err, want, context.Canceled)
	}
}

func TestFollow_doesNotGoOnWithARecordThatWasReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := recordAt(t, dir)
	record := filepath.Join(dir, recordName)
	err := store.Follow(t.Context(), os.Stdout, 0, func([]history.Happening) error {
		text, err := os.ReadFile(record)
		if err == nil {
			err = os.WriteFile(record+".new", text, 0o644)
		}
		return errors.Join(err, os.Rename(record+".new", record))
	})
	if err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a new file: %v", err)
	}
	err = store.Follow(t.Context(), os.Stdout, 0, func([]history.Happening) error {
		return os.Rename(record, record+".old")
	})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// One command writes many times, to the record and to other files. A reader that wakes for each of them takes the
// processor from it.
func TestSigns_areFewWhileACommandWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const commands, writings, between = 10, 20, 500 * time.Microsecond
		record := &Store{path: filepath.Join("home", recordName)}
		reports := make(chan string, 2*commands*writings) // the system keeps them until they are taken
		written := make(chan struct{}, 1)
		taken := map[time.Time]bool{} // when this process was woken
		go func() {
			take := record.signs(written)
			for path := range reports {
				taken[time.Now()] = true
				take(path)
			}
			close(written)
		}()
		go func() {
			defer close(reports)
			for range commands {
				for range writings {
					<-time.After(between)
					reports <- record.path + "-wal"
					reports <- filepath.Join("home", "orange.log")
				}
				<-time.After(time.Second)
			}
		}()
		began := time.Now()
		var last time.Time
		for range written {
			last = time.Now()
		}
		if len(taken) > 3*commands {
			t.Errorf("it was woken %d times while %d commands wrote", len(taken), commands)
		}
		lastWriting := began.Add(commands*writings*between + (commands-1)*time.Second)
		if late := last.Sub(lastWriting); late < 0 || late > restTime {
			t.Errorf("the last sign came %v after the last writing", late)
		}
	})
}

// What is not the record gives no sign.
func TestSigns_areOfTheRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := &Store{path: filepath.Join("home", recordName)}
		written := make(chan struct{}, 1)
		take := record.signs(written)
		for path, sign := range map[string]bool{"": true, record.path: true, record.path + "-wal": true,
			record.path + "-shm": false, filepath.Join("home", "orange.log"): false} {
			take(path)
			if len(written) > 0 != sign {
				t.Errorf("%q: %d signs", path, len(written))
			}
			for len(written) > 0 {
				<-written
			}
		}
	})
}

func TestUntilUnread_endsWhenTheReaderGoesOrTheContext(t *testing.T) {
	t.Parallel()
	ctx, off := context.WithCancel(t.Context())
	defer off()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ended := make(chan error, 1)
	go func() { ended <- untilUnread(ctx, writer) }()
	if _, err := writer.Write([]byte("something")); err != nil {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("when the reader goes: %v", err)
	}
	other, file := unread(t)
	defer other.Close()
	for _, out := range []*os.File{other, file} {
		go func() { ended <- untilUnread(ctx, out) }()
	}
	off()
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Errorf("when it is called off: %v", err)
	}
}

// unread is a pipe that has a reader, and a file that needs none.
func unread(t *testing.T) (pipe, file *os.File) {
	t.Helper()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	file, err = os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return pipe, file
}
