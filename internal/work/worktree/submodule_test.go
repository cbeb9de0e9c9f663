package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withSubmodule is a repository with a submodule that has one too.
func withSubmodule(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	for _, name := range []string{"inner", "lib"} {
		gitIn(t, h.root, "init", "-q", name)
		commit(t, filepath.Join(h.root, name), name+".txt", "one\n")
	}
	gitIn(t, filepath.Join(h.root, "lib"), "submodule", "--quiet", "add", filepath.Join(h.root, "inner"), "inner")
	gitIn(t, filepath.Join(h.root, "lib"), "commit", "-q", "-m", "inner")
	gitIn(t, h.Path, "submodule", "--quiet", "add", filepath.Join(h.root, "lib"), "a lib")
	gitIn(t, h.Path, "commit", "-q", "-m", "lib")
	return h
}

func submodules(t *testing.T, s Slot) {
	t.Helper()
	if err := s.Submodules(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestSubmodules_areLaidOutWithTheirs(t *testing.T) {
	t.Parallel()
	h := withSubmodule(t)
	s := h.prepared(t, "topic", "T1")
	want(t, "before", exists(s.Dir, "a lib/lib.txt"), false)
	submodules(t, s)
	want(t, "the submodule", read(t, s.Dir, "a lib/lib.txt"), "one\n")
	want(t, "its own", read(t, s.Dir, "a lib/inner/inner.txt"), "one\n")
	want(t, "git sees", gitIn(t, s.Dir, "status", "--porcelain"), "")
	submodules(t, s)
	release(t, s, "T1")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
}

func TestSubmodules_keepWhatIsCheckedOutThere(t *testing.T) {
	t.Parallel()
	h := withSubmodule(t)
	s := h.prepared(t, "topic", "T1")
	submodules(t, s)
	lib := filepath.Join(s.Dir, "a lib")
	work := commit(t, lib, "work.txt", "work\n")
	submodules(t, s)
	want(t, "laid out again", exists(lib, "work.txt"), false)
	want(t, "kept", gitIn(t, lib, "rev-parse", keptRefs+work), work)
	write(t, lib, "lib.txt", "changed\n")
	submodules(t, s)
	want(t, "a changed file", read(t, lib, "lib.txt"), "changed\n")
}

func TestSubmodules_thatGitRefuses_areAnError(t *testing.T) {
	t.Parallel()
	h := withSubmodule(t)
	s := h.prepared(t, "topic", "T1")
	if err := os.RemoveAll(filepath.Join(h.root, "lib")); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Submodules(t.Context()), "cannot lay out the submodules", "lib")
}

func TestSubmodules_noneIsNothingToDo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	submodules(t, s)
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
}

func TestScratch_withSubmodulesGoesAway(t *testing.T) {
	t.Parallel()
	h := withSubmodule(t)
	s := Slot{Repo: h.Repo, Dir: filepath.Join(h.root, "scratch", "one")}
	if err := (Worktrees{Repo: h.Repo}).Scratch(t.Context(), s.Dir, "main"); err != nil {
		t.Fatal(err)
	}
	submodules(t, s)
	if err := (Worktrees{Repo: h.Repo}).Unscratch(t.Context(), s.Dir); err != nil {
		t.Fatal(err)
	}
	known, err := Worktrees{Repo: h.Repo}.Knows(t.Context(), s.Dir)
	want(t, "it is known", known || err != nil || exists(h.root, "scratch/one"), false)
}

// Defect: a hand-off named a commit of a submodule that no one else could get, and a clone of the merge was broken.
func TestUnpushed_isASubmoduleAtACommitThatItsRemoteLacks(t *testing.T) {
	t.Parallel()
	h := withSubmodule(t)
	s := h.prepared(t, "topic", "T1")
	submodules(t, s)
	lib := filepath.Join(s.Dir, "a lib")
	unpushed := func(wanted string) {
		t.Helper()
		at, _, err := s.Files().Snapshot(t.Context())
		if err != nil || strings.Join(at.Unpushed, ",") != wanted {
			t.Errorf("found %q, %v, want %q", at.Unpushed, err, wanted)
		}
	}
	unpushed("")
	commit(t, lib, "work.txt", "work\n")
	unpushed("") // no commit of the branch names it yet
	gitIn(t, s.Dir, "commit", "-q", "-a", "-m", "the library's work")
	unpushed("a lib")
	gitIn(t, lib, "push", "-q", "origin", "HEAD:refs/heads/work")
	unpushed("")
	gitIn(t, lib, "update-ref", "-d", "refs/remotes/origin/work")
	unpushed("a lib")
	gitIn(t, lib, "tag", "v2")
	unpushed("a lib")
	gitIn(t, lib, "pack-refs", "--all") // as a clone has those of its remote
	unpushed("")
	gitIn(t, s.Dir, "rm", "-q", "-f", "a lib")
	gitIn(t, s.Dir, "commit", "-q", "-m", "without it")
	unpushed("")
}
