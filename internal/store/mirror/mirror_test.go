package mirror_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/store/mirror"
)

func TestCreate_makesADocumentAndLeavesOneThatIsThere(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\n## Context\n\nhow it began\n")
	d := documentOf(t, files, one)
	wantField(t, d, "summary", "mend the gate")
	if len(d.Problems) != 0 || d.Body != "\n## Context\n\nhow it began\n" {
		t.Errorf("problems %v, body %q", d.Problems, d.Body)
	}
	before := read(t, files.Document(one.Project, one.ID))
	one.Summary = "another"
	must(t, files.Create(one, "other body"))
	if after := read(t, files.Document(one.Project, one.ID)); after != before {
		t.Errorf("the document was replaced:\n%s", after)
	}
}

func TestAppend_addsAtTheEnd(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nbody\n")
	before := read(t, files.Document(one.Project, one.ID))
	must(t, files.Append(one.Project, one.ID, "\n## Fix Instructions\n\nmore\n"))
	if after := read(t, files.Document(one.Project, one.ID)); after != before+"\n## Fix Instructions\n\nmore\n" {
		t.Errorf("the document is %q", after)
	}
	if err := files.Append(one.Project, "nobody", "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("appending to a missing document: %v", err)
	}
}

func TestKeep_storesATextUnderItsDigestOnce(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	digest := document.Digest("DONE: all\n")
	path := filepath.Join(files.Dir(one.Project, one.ID), "evidence", digest)
	for _, first := range []bool{true, false} {
		fresh, err := files.Keep(one.Project, one.ID, digest, "DONE: all\n")
		must(t, err)
		must(t, files.Harden(one.Project, one.ID, digest))
		if fresh != first {
			t.Errorf("kept for the first time: %v, want %v", fresh, first)
		}
	}
	if got := read(t, path); got != "DONE: all\n" || document.Digest(got) != digest {
		t.Errorf("kept %q under %s", got, digest)
	}
}

func TestKeep_putsNothingThroughALink(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	elsewhere := t.TempDir()
	must(t, os.Symlink(elsewhere, filepath.Join(files.Dir(one.Project, one.ID), "evidence")))
	digest := document.Digest("DONE: all\n")
	_, err := files.Keep(one.Project, one.ID, digest, "DONE: all\n")
	wantError(t, err, "is a link, expected a folder; move that away")
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("elsewhere there is now %v, %v", entries, err)
	}
	write(t, filepath.Join(elsewhere, digest), "DONE: all\n")
	_, _, err = files.Kept(one.Project, one.ID, digest)
	wantError(t, err, "is a link, expected a folder")
}

func TestAdopt_takesTheOtherFilesBodyAndAnswersTheOldOne(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nold body\n")
	before, err := files.Adopt(one, []byte("---\nid: forged\nstatus: done\nmine: 1\n---\nnew body\n"))
	must(t, err)
	if string(before) != "\nold body\n" {
		t.Errorf("the body before was %q", before)
	}
	d := documentOf(t, files, one)
	wantField(t, d, "status", "working")
	wantField(t, d, "id", "abc")
	wantField(t, d, "mine", "1")
	if d.Body != "new body\n" {
		t.Errorf("the body is %q", d.Body)
	}
}

// A document that is too large to be read is made smaller by a program that may put a file of its own in its place.
func TestAdopt_takesASmallerDocumentForOneThatIsTooLarge(t *testing.T) {
	t.Parallel()
	body := "\n## Log\n" + strings.Repeat("0123456789abcde\n", document.MaxSize/16)
	files, one := newFiles(t, body)
	before, err := files.Adopt(one, []byte("---\nid: x\n---\nsmall\n"))
	must(t, err)
	if string(before) != body {
		t.Errorf("%d bytes were there before, want %d", len(before), len(body))
	}
	if got := documentOf(t, files, one).Body; got != "small\n" {
		t.Errorf("the body is %q", got)
	}
}

func TestAdopt_worksWithoutADocumentOrAHeader(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	must(t, os.Remove(files.Document(one.Project, one.ID)))
	before, err := files.Adopt(one, []byte("only a body\n"))
	must(t, err)
	if d := documentOf(t, files, one); len(before) != 0 || d.Body != "only a body\n" {
		t.Errorf("before %q, body %q", before, d.Body)
	}
}

func TestTrash_movesTheFolderAside(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nbody\n")
	where, err := files.Trash(one.Project, one.ID)
	must(t, err)
	if exists(files.Dir(one.Project, one.ID)) || !exists(filepath.Join(where, mirror.DocumentName)) {
		t.Errorf("the folder is not at %q", where)
	}
	where, err = files.Trash(one.Project, one.ID)
	if err != nil || where != "" {
		t.Errorf("a folder that is gone: %q, %v", where, err)
	}
}

func TestLock_letsOneInAtATime(t *testing.T) {
	t.Parallel()
	files := mirror.Files{Home: t.TempDir()}
	var inside, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				release, err := files.Lock(t.Context(), "one")
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				inside.Add(-1)
				release()
				release() // twice is harmless
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were inside at once", most.Load())
	}
}

func TestLock_ofAnotherNameIsFree(t *testing.T) {
	t.Parallel()
	files := mirror.Files{Home: t.TempDir()}
	first, err := files.Lock(t.Context(), "one")
	must(t, err)
	defer first()
	second, err := files.Lock(t.Context(), "two")
	must(t, err)
	second()
}

func TestLock_excludesAnotherProcessAndIsFreeOnceThatIsKilled(t *testing.T) {
	t.Parallel()
	files := mirror.Files{Home: t.TempDir()}
	life, kill := context.WithCancel(t.Context())
	defer kill()
	ended := startPart(life, "hold "+files.Home)
	eventually(t, "the other process holds the lock", func() bool { return exists(filepath.Join(files.Home, "held")) })
	tired, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := files.Lock(tired, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while another process holds the lock: %v", err)
	}
	kill() // with KILL: the holder cannot tidy up
	if err := <-ended; err == nil {
		t.Fatal("the holder ended by itself")
	}
	release, err := files.Lock(t.Context(), "one")
	must(t, err)
	release()
}

func TestLock_heedsACancelledContext(t *testing.T) {
	t.Parallel()
	files := mirror.Files{Home: t.TempDir()}
	release, err := files.Lock(t.Context(), "one")
	must(t, err)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() {
		_, err := files.Lock(ctx, "one")
		waited <- err
	}()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestLock_isAFileInTheFolderOfLocksAndNowhereElse(t *testing.T) {
	t.Parallel()
	f := mirror.Files{Home: t.TempDir()}
	for _, name := range []string{"../evil", "a/b", "..", ".", ""} {
		if _, err := f.Lock(t.Context(), name); err == nil {
			t.Errorf("the lock %q was taken", name)
		}
	}
}

// What performs a task's hooks has no one to tell that its lock is no file: the request would wait for it in vain.
func TestLock_removesWhatIsNoFileAndHoldsNoWork(t *testing.T) {
	t.Parallel()
	files := mirror.Files{Home: t.TempDir()}
	path := filepath.Join(files.Home, "locks", "one")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	for what, put := range map[string]func() error{
		"a pipe":          func() error { return syscall.Mkfifo(path, 0o600) },
		"a device":        func() error { return os.Symlink("/dev/zero", path) },
		"an empty folder": func() error { return os.Mkdir(path, 0o700) },
	} {
		must(t, put())
		release, err := files.Lock(t.Context(), "one")
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		release()
		must(t, os.Remove(path))
	}
	must(t, os.MkdirAll(filepath.Join(path, "work"), 0o700))
	release, err := files.Lock(t.Context(), "one")
	must(t, err)
	release()
	if kept, err := filepath.Glob(path + ".aside-*/work"); err != nil || len(kept) != 1 {
		t.Errorf("a folder with something in it is kept at %q: %v", kept, err)
	}
}
