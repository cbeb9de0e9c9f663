package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSnapshot_tellsWhatACommitWouldBeAbout(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.slot(1)
	if _, there, err := s.Files().Snapshot(t.Context()); there || err != nil {
		t.Errorf("before it is made: %t, %v", there, err)
	}
	prepare(t, s, "topic", "T1")
	write(t, h.root, "TASK.md", "# Task\n")
	if _, err := s.Document().Link(t.Context(), filepath.Join(h.root, "TASK.md")); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "noise.log", "ignored")
	at, there, err := s.Files().Snapshot(t.Context())
	if err != nil || !there || len(at.Modified)+len(at.New) > 0 {
		t.Errorf("clean: %+v, %t, %v", at, there, err)
	}
	want(t, "head", at.Head, gitIn(t, s.Dir, "rev-parse", "HEAD"))
	want(t, "branch", at.Branch, "topic")
	write(t, s.Dir, "a.txt", "two\n")
	write(t, s.Dir, "new dir/ä.txt", "x")
	write(t, s.Dir, "staged.txt", "x")
	gitIn(t, s.Dir, "add", "staged.txt")
	if err := os.Remove(filepath.Join(s.Dir, "sub", "deep.txt")); err != nil {
		t.Fatal(err)
	}
	at, _, err = s.Files().Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "modified", strings.Join(at.Modified, "|"), "a.txt|staged.txt|sub/deep.txt")
	want(t, "new", strings.Join(at.New, "|"), "new dir/ä.txt")
}

func TestCommitsAndChanged_compareWithWhereTheBranchBegan(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	begin := gitIn(t, s.Dir, "rev-parse", "HEAD")
	count := func(head string) int {
		t.Helper()
		n, _, err := h.Between(t.Context(), gitIn(t, h.Path, "rev-parse", "main"), head)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	want(t, "commits at first", count(begin), 0)
	commit(t, s.Dir, "one two.txt", "x\n")
	gitIn(t, s.Dir, "mv", "a.txt", "moved.txt")
	gitIn(t, s.Dir, "commit", "-q", "-m", "move")
	commit(t, h.Path, "upstream.txt", "y\n") // not the branch's doing
	head := gitIn(t, s.Dir, "rev-parse", "HEAD")
	want(t, "commits", count(head), 2)
	paths, _, err := h.Changed(t.Context(), gitIn(t, h.Path, "rev-parse", "main"), head)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "changed", strings.Join(paths, "|"), "a.txt|moved.txt|one two.txt")
	main := gitIn(t, h.Path, "rev-parse", "main")
	other, err := h.Differing(t.Context(), main, head, []string{"a.txt", "upstream.txt", "*"})
	want(t, "otherwise than the base", fmt.Sprint(other, err), "[a.txt upstream.txt] <nil>")
	gitIn(t, s.Dir, "merge", "-q", "--no-edit", "main")
	head = gitIn(t, s.Dir, "rev-parse", "HEAD")
	paths, _, err = h.Changed(t.Context(), gitIn(t, h.Path, "rev-parse", "main"), head)
	want(t, "changed after a merge of main", strings.Join(paths, "|"), "a.txt|moved.txt|one two.txt")
	if _, _, missing := h.Between(t.Context(), strings.Repeat("0", 40), head); err != nil || missing == nil {
		t.Errorf("an unknown base: %v, %v", err, missing)
	}
}

func stand(t *testing.T, s Slot) Snapshot {
	t.Helper()
	at, there, err := s.Files().Snapshot(t.Context())
	if err != nil || !there {
		t.Fatalf("stand: %t, %v", there, err)
	}
	return at
}

func TestSnapshot_namesSubmodulesApart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	library := filepath.Join(h.root, "library")
	gitIn(t, h.root, "init", "-q", library)
	first := commit(t, library, "lib.txt", "one\n")
	gitIn(t, h.Path, "submodule", "--quiet", "add", library, "lib")
	gitIn(t, h.Path, "commit", "-q", "-m", "a library")
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init")
	submodules := func(wanted string) {
		t.Helper()
		at := stand(t, s)
		want(t, "submodules", strings.Join(at.Submodules, "|"), wanted)
		want(t, "modified", strings.Join(at.Modified, "|"), "")
		want(t, "new", strings.Join(at.New, "|"), "")
	}
	submodules("")
	write(t, s.Dir, "lib/left.txt", "made by a build\n")
	submodules("")
	write(t, s.Dir, "lib/lib.txt", "two\n")
	submodules("lib")
	gitIn(t, filepath.Join(s.Dir, "lib"), "commit", "-q", "-a", "-m", "two")
	submodules("lib")
	gitIn(t, s.Dir, "add", "lib")
	submodules("lib")
	gitIn(t, filepath.Join(s.Dir, "lib"), "checkout", "-q", first)
	gitIn(t, s.Dir, "add", "lib")
	submodules("")
}

func TestSnapshot_whereHEADIsNoPlainBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "(detached)", "T1")
	want(t, "a branch with git's word for none", stand(t, s).Branch, "(detached)")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	want(t, "detached", stand(t, s).Branch, "")
	gitIn(t, s.Dir, "switch", "-q", "-c", "topic")
	commit(t, s.Dir, "a.txt", "ours\n")
	commit(t, h.Path, "a.txt", "theirs\n")
	if _, err := try(s.Dir, "rebase", "-q", "main"); err == nil {
		t.Fatal("the rebase met no conflict")
	}
	at := stand(t, s)
	want(t, "in a rebase", at.Branch, "")
	want(t, "its conflict", strings.Join(at.Modified, "|"), "a.txt")
	gitIn(t, s.Dir, "rebase", "--abort")
	gitIn(t, s.Dir, "checkout", "-q", "--orphan", "unborn")
	at = stand(t, s)
	want(t, "without a commit", at.Branch+" at "+at.Head, "unborn at ")
}
