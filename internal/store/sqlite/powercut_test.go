package sqlite_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// A power cut takes what the disk does not have yet from the end of the log of commits: anything behind the last commit
// that waited. What such a commit wrote stays, with all that came before it, and of the others a beginning.
func TestAPowerCut_takesNoCommitThatWaitedForTheDisk(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(7, 11))
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	one := create(t, s, aTask("one"))
	safe, onDisk := one.Seq, size(t, path+"-wal")
	for range 40 {
		hurried := dice.IntN(3) > 0
		c := record.Change{Task: one, Expect: one.Version, Hurried: hurried, Events: []history.Event{
			event(history.Updated)}}
		var err error
		one, err = s.Commit(t.Context(), c)
		must(t, err)
		if !hurried {
			safe, onDisk = one.Seq, size(t, path+"-wal")
		}
		end := size(t, path+"-wal")
		cut := onDisk + dice.Int64N(end-onDisk+1)
		got := afterCut(t, path, cut)
		if got.Seq < safe || got.Seq > one.Seq {
			t.Fatalf("of %d bytes of the log the disk had %d: the task has %d events, want %d to %d", end, cut, got.Seq,
				safe, one.Seq)
		}
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// afterCut opens a copy of the record whose log of commits ends early, and answers its task.
func afterCut(t *testing.T, path string, cut int64) task.Task {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "orange.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		must(t, err)
		if end != "" {
			text = bytes.Clone(text[:cut])
		}
		must(t, os.WriteFile(copied+end, text, 0o600))
	}
	s, err := sqlite.Open(t.Context(), copied)
	must(t, err)
	defer s.Close()
	snapshot := load(t, s, "one")
	events, err := s.Events(t.Context(), "one", 0)
	must(t, err)
	must(t, history.VerifyChain(events))
	if len(events) != snapshot.Task.Seq {
		t.Errorf("%d events, and the task has %d", len(events), snapshot.Task.Seq)
	}
	return snapshot.Task
}

// A process that leaves leaves its commits to the next one, and no long log.
func TestLeave_keepsTheLogOfCommitsShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orange.db")
	for n := range 60 {
		s, err := sqlite.Open(t.Context(), path) // as a new process does: it never closes it
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		create(t, s, aTask(fmt.Sprint("task", n)))
		s.Leave(t.Context())
		if log := size(t, path+"-wal"); log > 400_000 {
			t.Fatalf("after %d commits the log has %d bytes", n+1, log)
		}
	}
	all, err := openAt(t, path).List(t.Context(), record.Filter{})
	must(t, err)
	if len(all) != 60 {
		t.Errorf("%d tasks are on record, want 60", len(all))
	}
}
