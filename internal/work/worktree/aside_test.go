package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/rules/record"
)

func wantAside(t *testing.T, all []record.Aside, want ...string) {
	t.Helper()
	var got []string
	for _, a := range all {
		got = append(got, a.Path+": "+a.Why)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("set aside %q, want %q", got, want)
	}
}

func cleared(t *testing.T, s Slot, taskID string) Cleared {
	t.Helper()
	done, err := s.Release(t.Context(), taskID)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func asidesOf(t *testing.T, s Slot, taskID string) []record.Aside {
	t.Helper()
	all, err := Asides(filepath.Dir(s.Dir), taskID)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Nothing but ignored files reaches the next task: a repository inside of the slot is set aside as a whole.
func TestRelease_setsRepositoriesInsideOfTheSlotAside(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "init", "-q", "empty")
	gitIn(t, s.Dir, "init", "-q", "outer/nested")
	commit(t, filepath.Join(s.Dir, "outer/nested"), "precious.txt", "x")
	write(t, s.Dir, "empty/precious.txt", "x")
	write(t, s.Dir, "a.txt", "half\n")
	gitIn(t, s.Dir, "init", "-q", "cache/warm") // git ignores cache/
	done := cleared(t, s, "T1")
	want(t, "kept", gitIn(t, h.Path, "show", done.Rescued[0].Ref+":a.txt"), "half")
	wantAside(t, done.Aside, "empty: a repository of its own", "outer/nested: a repository of its own")
	want(t, "warm", exists(s.Dir, "cache/warm/.git"), true)
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
	want(t, "nothing more", len(cleared(t, s, "T1").Aside), 0)
	prepare(t, s, "next", "T2")
	gitIn(t, s.Dir, "add", "-A")
	want(t, "the next task adds nothing of it", gitIn(t, s.Dir, "status", "--porcelain"), "")
	release(t, s, "T2")
	if err := (Worktrees{Repo: h.Repo}).Remove(t.Context(), s.Dir); err != nil {
		t.Error(err)
	}

	all := asidesOf(t, s, "T1")
	wantAside(t, all, "empty: a repository of its own", "outer/nested: a repository of its own")
	if all[0].Bytes == 0 || all[0].Files == 0 || all[0].Since.IsZero() {
		t.Errorf("found %+v", all[0])
	}
	back := filepath.Join(h.Path, "back")
	if err := (Worktrees{Repo: h.Repo}).Restore(t.Context(), all[1], back); err != nil {
		t.Fatal(err)
	}
	want(t, "back", read(t, back, "precious.txt"), "x")
	wantError(t, Worktrees{Repo: h.Repo}.Restore(t.Context(), all[0], back), "there is something at", back)
	if err := (Worktrees{Repo: h.Repo}).Drop(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	want(t, "left", len(asidesOf(t, s, "")), 0)
	want(t, "the task's folder", exists(filepath.Dir(s.Dir), ".aside/T1"), false)
}

// What an earlier Orange, or a person, left in a free slot does not reach the next task either.
func TestPrepare_setsAsideWhatLiesInAFreeSlot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	release(t, s, "T1")
	gitIn(t, s.Dir, "init", "-q", "lib")
	commit(t, filepath.Join(s.Dir, "lib"), "precious.txt", "x")
	done := prepare(t, s, "next", "T2")
	wantAside(t, done.Aside, "lib: a repository of its own")
	want(t, "there", exists(s.Dir, "lib"), false)
}

// A commit that has the repository as a gitlink does not bring it to the next task.
func TestRelease_setsARepositoryAsideThatTheBranchHasAsALink(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "init", "-q", "lib")
	commit(t, filepath.Join(s.Dir, "lib"), "precious.txt", "x")
	gitIn(t, s.Dir, "add", "-A")
	gitIn(t, s.Dir, "commit", "-q", "-m", "link")
	wantAside(t, cleared(t, s, "T1").Aside, "lib: a repository of its own")
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
}

// A worktree that an agent added inside of its own is removed where it holds nothing, else moved and locked.
func TestRelease_takesWorktreesOutThatWereAddedInsideOfTheSlot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "worktree", "add", "-q", ".claude/worktrees/clean", "-b", "clean")
	gitIn(t, s.Dir, "worktree", "add", "-q", ".claude/worktrees/ahead", "-b", "ahead")
	commit(t, filepath.Join(s.Dir, ".claude/worktrees/ahead"), "new.txt", "x")
	gitIn(t, s.Dir, "worktree", "add", "-q", "cache/dirty", "-b", "dirty") // git ignores cache/
	write(t, s.Dir, "cache/dirty/half.txt", "half")
	gitIn(t, s.Dir, "worktree", "add", "-q", "within", "-b", "within")
	commit(t, filepath.Join(s.Dir, "within"), "part.txt", "x")
	gitIn(t, s.Dir, "merge", "-q", "within")
	done := cleared(t, s, "T1")
	want(t, "set aside", len(done.Aside), 2)
	want(t, "removed", exists(s.Dir, ".claude") || exists(s.Dir, "within") || exists(s.Dir, "cache/dirty"), false)
	known := gitIn(t, h.Path, "worktree", "list", "--porcelain")
	for _, a := range done.Aside {
		want(t, "why", a.Why, "a worktree that was added here")
		if a.Path == "cache/dirty" {
			want(t, "its work", read(t, a.At, "half.txt"), "half")
		}
		want(t, "its branch", gitIn(t, a.At, "branch", "--show-current"), filepath.Base(a.Path))
		if !strings.Contains(known, "worktree "+a.At+"\n") ||
			!strings.Contains(known, "locked set aside by Orange for task T1") {
			t.Errorf("git knows %s", known)
		}
	}
	to := filepath.Join(t.TempDir(), "there")
	if err := (Worktrees{Repo: h.Repo}).Restore(t.Context(), done.Aside[0], to); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(gitIn(t, h.Path, "worktree", "list", "--porcelain"), "worktree "+to+"\n") {
		t.Error("git does not know it")
	}
	want(t, "git works there", gitIn(t, to, "status", "--porcelain", "--untracked-files=no"), "")
	if err := (Worktrees{Repo: h.Repo}).Drop(t.Context(), done.Aside[1]); err != nil {
		t.Fatal(err)
	}
	want(t, "left", len(asidesOf(t, s, "")), 0)
}

// A submodule with work becomes a repository of its own; one without stays where it is.
func TestRelease_setsASubmoduleWithWorkAsideAsARepository(t *testing.T) {
	t.Parallel()
	h, lib, inner := newHome(t), newHome(t), newHome(t)
	gitIn(t, lib.Path, "submodule", "--quiet", "add", inner.Path, "inner")
	gitIn(t, lib.Path, "commit", "-q", "-m", "inner")
	gitIn(t, h.Path, "submodule", "--quiet", "add", lib.Path, "lib")
	gitIn(t, h.Path, "submodule", "--quiet", "add", lib.Path, "same")
	gitIn(t, h.Path, "commit", "-q", "-m", "lib")
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init", "--recursive")
	commit(t, filepath.Join(s.Dir, "lib/inner"), "precious.txt", "x")
	write(t, s.Dir, "lib/a.txt", "half\n")
	done := cleared(t, s, "T1")
	wantAside(t, done.Aside, "lib: a submodule with work of its own")
	want(t, "the other one", exists(s.Dir, "same/.git"), true)
	want(t, "clean", gitIn(t, s.Dir, "status", "--porcelain"), "")
	at := done.Aside[0].At
	want(t, "its work", read(t, at, "a.txt"), "half\n")
	want(t, "its changes", gitIn(t, at, "status", "--porcelain", "--ignore-submodules=all"), " M a.txt")
	want(t, "the inner commit", gitIn(t, filepath.Join(at, "inner"), "log", "-1", "--format=%s"), "change precious.txt")
	prepare(t, s, "next", "T2")
	if err := (Slot{Repo: h.Repo, Dir: s.Dir}).Submodules(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "laid out again", exists(s.Dir, "lib/inner/a.txt"), true)
}

// A pipe or a socket holds nothing: it goes, unless git ignores it.
func TestRelease_removesPipes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "cache/x", "warm")
	for _, name := range []string{"pipe", "cache/pipe"} {
		if err := syscall.Mkfifo(filepath.Join(s.Dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "set aside", len(cleared(t, s, "T1").Aside), 0)
	want(t, "the pipe", exists(s.Dir, "pipe"), false)
	want(t, "the ignored one", exists(s.Dir, "cache/pipe"), true)
}

// A slot with files that this account can neither remove nor move is set aside as a whole, and made again.
func TestRelease_setsASlotAsideThatCannotBeCleared(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "half.txt", "half")
	a, err := s.sweep().asideSlot(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	wantAside(t, []record.Aside{a}, ".: a worktree that was added here")
	want(t, "its work", read(t, a.At, "half.txt"), "half")
	if _, err := os.Lstat(s.Dir); err == nil {
		t.Error("the slot is still there")
	}
	prepare(t, s, "topic", "T1")
	want(t, "a new one, on the branch", exists(s.Dir, "half.txt"), false)
}

// An agent can write any path into the .git file of a submodule: the repository there is not the slot's to move.
func TestRelease_movesNoRepositoryThatIsNotTheSlotsOwn(t *testing.T) {
	t.Parallel()
	h, lib, persons := newHome(t), newHome(t), newHome(t)
	gitIn(t, h.Path, "submodule", "--quiet", "add", lib.Path, "lib")
	gitIn(t, h.Path, "commit", "-q", "-m", "lib")
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init")
	write(t, s.Dir, "lib/.git", "gitdir: "+filepath.Join(persons.Path, ".git")+"\n")
	write(t, s.Dir, "lib/deep/.git", "gitdir: "+filepath.Join(persons.Path, ".git")+"\n")
	wantAside(t, cleared(t, s, "T1").Aside, "lib: a submodule with work of its own")
	want(t, "the person's repository", gitIn(t, persons.Path, "status", "--porcelain"), "")
}
