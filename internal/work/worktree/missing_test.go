package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
)

// Others can remove a task's worktree and its branch: what is known of both is made again, with the newest commit.
func TestPrepare_makesABranchAgainThatIsGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(t *testing.T, h home, s *Slot)
		at   string // first: what was pushed; newest: what is known; base: nothing of the branch
		note bool
		kept int
	}{
		"with its worktree": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
			gitIn(t, h.Path, "update-ref", "-d", "refs/remotes/origin/topic")
		}, "newest", true, 0},
		"under its worktree": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
		}, "newest", true, 0},
		"with an older one on origin": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
		}, "newest", true, 0},
		"with another one on origin": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, s.Dir, "commit", "-q", "--amend", "-m", "another")
			gitIn(t, s.Dir, "push", "-q", "-f", "origin", "HEAD:topic")
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
		}, "origin", true, 1},
		"which origin has with what is known": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, s.Dir, "push", "-q", "origin", "topic")
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
		}, "origin", false, 0},
		"of which nothing is known": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
			gitIn(t, h.Path, "update-ref", "-d", "refs/remotes/origin/topic")
			s.Noted = ""
		}, "base", false, 0},
		"of which git has nothing more": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
			gitIn(t, h.Path, "update-ref", "-d", "refs/remotes/origin/topic")
			s.Noted = strings.Repeat("7", 40)
		}, "base", true, 0},
		"which was merged": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, h.Path, "merge", "-q", "--ff-only", "topic")
			gitIn(t, h.Path, "push", "-q", "origin", "main")
			gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
			gitIn(t, h.Path, "update-ref", "-d", "refs/remotes/origin/topic")
		}, "base", true, 0},
		"under a detached HEAD": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, s.Dir, "reset", "-q", "--hard")
			gitIn(t, s.Dir, "checkout", "-q", "--detach")
			gitIn(t, h.Path, "branch", "-q", "-D", "topic")
		}, "newest", true, 0},
		"in a rebase": {func(t *testing.T, h home, s *Slot) {
			gitIn(t, s.Dir, "reset", "-q", "--hard")
			if _, err := try(s.Dir, "rebase", "-q", "--exec", "false", "HEAD~1"); err == nil {
				t.Fatal("the rebase did not stop")
			}
			gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
		}, "newest", true, 0},
		"with git's own folder of the worktree": {func(t *testing.T, h home, s *Slot) {
			dir, err := git.DirOf(s.Dir)
			if err == nil {
				err = os.RemoveAll(dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
		}, "newest", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomeWithOrigin(t)
			s := h.prepared(t, "topic", "T1")
			commit(t, s.Dir, "first.txt", "first\n")
			gitIn(t, s.Dir, "push", "-q", "origin", "topic")
			s.Noted = commit(t, s.Dir, "a.txt", "second\n")
			newest := s.Noted
			write(t, s.Dir, "b.txt", "not committed\n")
			gitIn(t, s.Dir, "add", "b.txt")
			c.lose(t, h, &s)
			done := prepare(t, s, "topic", "T1")
			at := map[string]string{"newest": newest, "base": "origin/main", "origin": "origin/topic"}[c.at]
			want(t, "branch", gitIn(t, s.Dir, "rev-parse", "topic"), gitIn(t, h.Path, "rev-parse", at))
			if name != "in a rebase" {
				want(t, "HEAD", gitIn(t, s.Dir, "branch", "--show-current"), "topic")
			}
			want(t, "kept", len(done.Rescued), c.kept)
			if want(t, "noted", len(done.Notes) == 1, c.note); c.note && !strings.Contains(done.Notes[0],
				gitIn(t, h.Path, "rev-parse", at)[:12]) {
				t.Errorf("it notes %q", done.Notes)
			}
			if aside := name == "with git's own folder of the worktree"; aside != (len(done.Aside) == 1) {
				t.Errorf("it sets %v aside", done.Aside)
			}
			if name == "under its worktree" {
				want(t, "changes", gitIn(t, s.Dir, "status", "--porcelain"), "A  b.txt")
			}
		})
	}
}

func TestRelease_keepsTheCommitWhenBranchAndWorktreeAreGone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	s.Noted = commit(t, s.Dir, "a.txt", "second\n")
	gitIn(t, h.Path, "worktree", "remove", "--force", s.Dir)
	want(t, "with the branch", len(release(t, s, "T1")), 0)
	gitIn(t, h.Path, "branch", "-q", "-D", "topic")
	kept := release(t, s, "T1")
	want(t, "kept", len(kept), 1)
	want(t, "commit", gitIn(t, h.Path, "rev-parse", kept[0].Ref), s.Noted)
	want(t, "again", len(release(t, s, "T1")), 0)
	s.Noted = strings.Repeat("7", 40)
	want(t, "what git has no more", len(release(t, s, "T1")), 0)
}

func TestMissing_isTheWorktreeOrTheBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "a.txt", "second\n")
	missing := func(want string) {
		t.Helper()
		got := Worktrees{Repo: h.Repo}.Missing(t.Context(), map[string]string{s.Dir: "topic"})[s.Dir]
		if got.Err != nil || got.What != want || got.Left != strings.Contains(want, "worktree") {
			t.Errorf("found %+v, want %q", got, want)
		}
	}
	missing("")
	gitIn(t, s.Dir, "pack-refs", "--all")
	missing("")
	gitIn(t, s.Dir, "checkout", "-q", "--detach")
	missing("")
	gitIn(t, s.Dir, "switch", "-q", "-c", "renamed")
	missing("")
	gitIn(t, s.Dir, "switch", "-q", "topic")
	gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
	missing(`its branch "topic" is gone`)
	gitIn(t, s.Dir, "update-ref", "--no-deref", "HEAD", gitIn(t, h.Path, "rev-parse", "main"))
	missing(`its branch "topic" is gone`)
	dir, err := git.DirOf(s.Dir)
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	missing("git does not know its worktree any more")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	missing("its worktree is gone")
	// a git that was killed as it made the worktree leaves an empty file
	if err := errors.Join(os.Mkdir(s.Dir, 0o700), os.WriteFile(filepath.Join(s.Dir, ".git"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	missing("its worktree is gone")
}
