package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/work/git"
)

// Git is led to files that no one can list beforehand. Each row has git wait for a pipe, and is ended.
func TestAGitThatIsLedToAPipe_isEnded(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, h home, pipe string){
		"by a setting that includes a file": func(t *testing.T, h home, pipe string) {
			t.Helper()
			gitIn(t, h.Path, "config", "include.path", pipe)
		},
		"by a setting that names what is ignored": func(t *testing.T, h home, pipe string) {
			t.Helper()
			gitIn(t, h.Path, "config", "core.excludesFile", pipe)
		},
		"by a setting that names attributes": func(t *testing.T, h home, pipe string) {
			t.Helper()
			gitIn(t, h.Path, "config", "core.attributesFile", pipe)
			// git reads attributes where it compares contents: here a time says that it has to
			file := filepath.Join(h.Path, "a.txt")
			if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		},
		"by a relative name": func(t *testing.T, h home, pipe string) {
			t.Helper()
			gitIn(t, h.Path, "config", "core.excludesFile", "../"+filepath.Base(pipe))
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			pipe := filepath.Join(h.root, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			arrange(t, h, pipe)
			_, err := h.Run(t.Context(), "status", "--porcelain")
			wantError(t, err, `git waits for "`+pipe+`"`, "move it away")
		})
	}
}

// Git reads a ref, a setting or a note of a merge as a whole, whatever is there.
func TestAGitThatReadsALargeFileAsAWhole_isEnded(t *testing.T) {
	t.Parallel()
	const size = 20 << 30
	for name, c := range map[string]struct {
		path string
		args []string
	}{
		"another branch":   {".git/refs/heads/other", []string{"for-each-ref"}},
		"a pick":           {".git/CHERRY_PICK_HEAD", []string{"status"}},
		"a list of orders": {".git/sequencer/todo", []string{"status"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			write(t, h.Path, c.path, "")
			if err := os.Truncate(filepath.Join(h.Path, c.path), size); err != nil {
				t.Fatal(err)
			}
			_, err := h.Run(t.Context(), c.args...)
			wantError(t, err, "git would read all of", filepath.Base(c.path), "move it away")
		})
	}
	h := newHome(t)
	for path, whole := range map[string]bool{
		"large.bin": false, "refs/large.bin": false, ".git/index": false, ".git/objects/pack/p.pack": false,
		".git/lfs/objects/a": false, ".git/HEAD": true, ".git/CHERRY_PICK_HEAD": true,
		".git/worktrees/a/gitdir": true, "deep/.gitignore": true,
		".git/worktrees/a/sharedindex.1": false, ".git/x.bundle": false, ".git/logs/HEAD": false,
		".git/objects/info/commit-graph": false, ".git/objects/info/alternates": true, ".git/info/exclude": true,
	} {
		want(t, path, git.WholeFor(t.Context())(filepath.Join(h.Path, path)), whole)
	}
}

// The worktrees of a bare repository often lie inside it: their files are the project's.
func TestAWorktreeInsideABareRepository_hasFilesOfAnySize(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bare := filepath.Join(h.root, "bare")
	gitIn(t, h.root, "clone", "--quiet", "--bare", h.Path, bare)
	gitIn(t, bare, "worktree", "add", "--quiet", "--detach", "inside")
	want(t, "a file of the project", git.WholeFor(t.Context())(filepath.Join(bare, "inside", "large.bin")), false)
	want(t, "a ref", git.WholeFor(t.Context())(filepath.Join(bare, "refs", "heads", "main")), true)
}

// No git makes anything but a file in the place of a lock.
func TestAGitLockThatIsNoFile_isNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(path string) error{
		"a pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":          func(path string) error { return os.Symlink("/dev/zero", path) },
		"an empty folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			dir, err := git.DirOf(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := arrange(filepath.Join(dir, "index.lock")); err != nil {
				t.Fatal(err)
			}
			_, err = s.run(t.Context(), "add", ".")
			want(t, "in the worktree's own folder", err, nil)

			shared := filepath.Join(h.Path, ".git", "config.lock")
			if err := arrange(shared); err != nil {
				t.Fatal(err)
			}
			_, err = h.Run(t.Context(), "config", "a.b", "c")
			wantError(t, err, strconv.Quote(shared), "no file that git made", "move it away")
		})
	}
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "index.lock/notes.txt", "words\n")
	_, err = s.run(t.Context(), "add", ".")
	wantError(t, err, "index.lock", "no file that git made", "move it away")
	want(t, "what is in it", exists(dir, "index.lock/notes.txt"), true)
}
