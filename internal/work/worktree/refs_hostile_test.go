package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/work/git"
	"orange/internal/work/shared"
)

// Defect: a tag called HEAD made every workspace of its repository unreadable, so that none could be given back.
func TestARefCalledHEAD_hidesNoWorkspace(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"refs/tags/HEAD", "refs/heads/HEAD", "refs/remotes/HEAD"} {
		h := newHome(t)
		s := h.prepared(t, "topic", "T1")
		gitIn(t, h.Path, "update-ref", ref, "HEAD")
		here, present, err := s.look(t.Context())
		if err != nil || !present || here.branch != "topic" {
			t.Errorf("with %s: found %+v, %v, %v", ref, here, present, err)
		}
		release(t, s, "T1")
	}
}

// Defect: a pipe in the place of a ref that no one asked for held up every git that reads refs.
func TestWhatIsNoRef_isRefusedBeforeGitReadsIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	strange := filepath.Join(h.Path, ".git", "refs", "heads", "zz")
	if err := syscall.Mkfifo(strange, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Refs(t.Context(), "refs/heads/main"); err == nil || !strings.Contains(err.Error(), strange) {
		t.Errorf("a pipe: %v", err)
	}
	if err := os.Remove(strange); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), strange); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Refs(t.Context(), "refs/heads/main"); err == nil || !strings.Contains(err.Error(), strange) {
		t.Errorf("a link to a folder: %v", err)
	}
	if err := os.Remove(strange); err != nil {
		t.Fatal(err)
	}
	if known, err := h.Refs(t.Context(), "refs/heads/main"); err != nil || len(known) != 1 {
		t.Errorf("found %v, %v", known, err)
	}
}

// Defect: an agent that broke the stash hid the branches of others that it had deleted, and no task could begin.
func TestABrokenStash_hidesNoLostBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "branch", "theirs")
	was, err := shared.Common{Repo: h.Repo}.Others(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	was.Stashes = map[string]string{strings.Repeat("1", 40): "WIP"}
	gitIn(t, h.Path, "branch", "-q", "-D", "theirs")
	stash := filepath.Join(h.Path, ".git", "refs", "stash")
	if err := os.WriteFile(stash, []byte(strings.Repeat("1", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, h.Path, "config", "log.date", "bogus")
	if _, err := (shared.Common{Repo: h.Repo}).Others(t.Context()); err != nil {
		t.Errorf("what there is cannot be noted: %v", err)
	}
	lost, _ := shared.Common{Repo: h.Repo}.LostSince(t.Context(), was, nil)
	if len(lost) == 0 || !strings.Contains(lost[0], "theirs") {
		t.Errorf("found %q", lost)
	}
}

// Settings that an agent makes in its worktree have no say in which branch that is on.
func TestBranch_isReadDespiteSettingsOfTheWorktree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, h.Path, "config", "extensions.worktreeConfig", "true")
	dir, err := git.DirOf(s.Dir)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.worktree"), []byte("[core\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if name, err := s.Branch(t.Context()); err != nil || name != "topic" {
		t.Errorf("found %q, %v", name, err)
	}
}

// A repository whose .git is gone is no part of one around it.
func TestCommonDir_isOfNoRepositoryAround(t *testing.T) {
	t.Parallel()
	around := t.TempDir()
	gitIn(t, around, "init", "-q")
	inside := filepath.Join(around, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, err := (git.Repo{Path: inside}).CommonDir(t.Context()); err == nil {
		t.Errorf("found %q", dir)
	}
}
