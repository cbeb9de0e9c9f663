package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/run/proc"
	"orange/internal/work/merge"
)

func TestPrepare_startsWhereTheBranchIs(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	other := h.colleague(t)
	gitIn(t, other, "switch", "-q", "-c", "theirs")
	theirs := commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "theirs")
	gitIn(t, h.Path, "fetch", "-q")
	gitIn(t, h.Path, "switch", "-q", "-c", "mine")
	mine := commit(t, h.Path, "mine.txt", "x")
	gitIn(t, h.Path, "switch", "-q", "main")
	for n, c := range []struct {
		branch, head string
	}{{"fresh", gitIn(t, h.Path, "rev-parse", "main")}, {"mine", mine}, {"theirs", theirs}} {
		t.Run(c.branch, func(t *testing.T) {
			s := h.slot(n)
			prepare(t, s, c.branch, "T1")
			want(t, "HEAD", gitIn(t, s.Dir, "rev-parse", "HEAD"), c.head)
			want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), c.branch)
			_, err := try(s.Dir, "rev-parse", "@{upstream}")
			want(t, "has upstream", err == nil, false)
		})
	}
}

func TestPrepare_twiceChangesNothingUnderAnAgentsHands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	head := commit(t, s.Dir, "work.txt", "done\n")
	write(t, s.Dir, "a.txt", "half\n")
	write(t, s.Dir, "new.txt", "new\n")
	gitIn(t, s.Dir, "add", "new.txt")
	status := gitIn(t, s.Dir, "status", "--porcelain")
	done := prepare(t, s, "topic", "T1")
	want(t, "head", gitIn(t, s.Dir, "rev-parse", "HEAD"), head)
	want(t, "rescued", len(done.Rescued), 0)
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), status)

	// In the middle of a rebase HEAD is detached, and the agent is at work all the same.
	gitIn(t, s.Dir, "stash", "-q")
	if _, err := try(s.Dir, "rebase", "--exec", "false", "HEAD~1"); err == nil {
		t.Fatal("the rebase did not stop")
	}
	prepare(t, s, "topic", "T1")
	want(t, "rebase goes on", exists(gitIn(t, s.Dir, "rev-parse", "--git-dir"), "rebase-merge"), true)
}

// Defect 9 of the original: cancel, and the next acquire, reset the branch.
func TestCancelThenAcquireAgain_keepsTheBranchesCommits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	head := commit(t, s.Dir, "work.txt", "done\n")
	release(t, s, "T1")
	prepare(t, s, "other", "T2")
	release(t, s, "T2")
	want(t, "branch", gitIn(t, h.Path, "rev-parse", "topic"), head)
	prepare(t, s, "topic", "T1")
	want(t, "head", gitIn(t, s.Dir, "rev-parse", "HEAD"), head)
	want(t, "work", read(t, s.Dir, "work.txt"), "done\n")
}

func TestPrepare_refusesABranchThatIsCheckedOutElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.prepared(t, "topic", "T1")
	for branch, where := range map[string]string{"main": h.Path, "topic": h.slot(1).Dir} {
		_, err := h.slot(2).Prepare(t.Context(), branch, "T2")
		wantError(t, err, "cannot prepare", branch, where)
	}
	want(t, "nothing was made", exists(h.root, "pool/my repo--2"), false)
}

func TestPrepare_keepsWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	done := prepare(t, s, "next", "T2")
	if len(done.Rescued) != 1 {
		t.Fatalf("rescued %v", done.Rescued)
	}
	want(t, "ref", done.Rescued[0].Ref, "refs/orange/rescue/T1/1")
	want(t, "content", gitIn(t, h.Path, "show", "refs/orange/rescue/T1/1:a.txt"), "half")
	want(t, "slot", read(t, s.Dir, "a.txt"), "one\n")

	gitIn(t, s.Dir, "switch", "-q", "--detach")
	lost := commit(t, s.Dir, "lost.txt", "x")
	done = prepare(t, s, "third", "T3")
	if len(done.Rescued) != 1 {
		t.Fatalf("rescued %v", done.Rescued)
	}
	want(t, "ref", done.Rescued[0].Ref, "refs/orange/rescue/T2/1")
	want(t, "commit", gitIn(t, h.Path, "rev-parse", "refs/orange/rescue/T2/1"), lost)
}

// What a program that outlived its task writes into a free slot is no one's, and is kept all the same.
func TestPrepare_keepsWhatWasWrittenIntoAFreeSlot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, branch string }{
		"Untracked": {"stray.txt", "fresh"}, "Changed": {"a.txt", "fresh"}, "ChangedBothSides": {
			"a.txt", "other"}, "UntrackedInTheWay": {"new.txt", "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "other", "T0")
			commit(t, s.Dir, "a.txt", "other\n")
			commit(t, s.Dir, "new.txt", "other\n")
			release(t, s, "T0")
			write(t, s.Dir, c.file, "late\n")
			done := prepare(t, s, c.branch, "T1")
			if len(done.Rescued) != 1 {
				t.Fatalf("rescued %v", done.Rescued)
			}
			want(t, "ref", done.Rescued[0].Ref, "refs/orange/rescue/unknown/1")
			want(t, "content", gitIn(t, h.Path, "show", done.Rescued[0].Ref+":"+c.file), "late")
			want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
			want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), c.branch)
			want(t, "head", gitIn(t, s.Dir, "rev-parse", "HEAD"), gitIn(t, h.Path, "rev-parse", "refs/heads/"+c.branch))
		})
	}
}

func TestPrepare_keepsCommitsThatWereMadeInAFreeSlot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	release(t, s, "T1")
	late := commit(t, s.Dir, "late.txt", "x")
	done := prepare(t, s, "next", "T2")
	want(t, "kept", len(done.Rescued) == 1 && done.Rescued[0].Commit == late, true)
}

func TestPrepare_afterTheFolderWasDeletedByHand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	lost := commit(t, s.Dir, "lost.txt", "x")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	done := prepare(t, s, "topic", "T1")
	if len(done.Rescued) != 1 {
		t.Fatalf("rescued %v", done.Rescued)
	}
	want(t, "commit", done.Rescued[0].Commit, lost)
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	prepare(t, s, "topic", "T1")
	want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), "topic")
}

func TestPrepare_afterWorktreeAddWasKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitDir := gitIn(t, s.Dir, "rev-parse", "--git-dir")
	write(t, gitDir, "locked", "initializing")
	write(t, gitDir, "index.lock", "")
	prepare(t, s, "topic", "T1")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
	want(t, "what is left behind", pool(t, s), ".prepared|my repo--1")
}

// git makes its own folder first, locks it, and then writes .git: killed in between, it left one silently.
func TestPrepare_afterWorktreeAddWasKilledBeforeItsFirstWord(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"git knows of it": true, "git does not": false} {
		h := newHome(t)
		s := h.prepared(t, "topic", "T1")
		gitDir := gitIn(t, s.Dir, "rev-parse", "--git-dir")
		if err := os.RemoveAll(s.Dir); err != nil {
			t.Fatal(err)
		}
		write(t, s.Dir, ".git", "")
		if known {
			write(t, gitDir, "locked", "initializing")
			for _, later := range []string{"HEAD", "commondir", "index", "ORIG_HEAD"} {
				_ = os.Remove(filepath.Join(gitDir, later))
			}
		} else if err := os.RemoveAll(gitDir); err != nil {
			t.Fatal(err)
		}
		prepare(t, s, "topic", "T1")
		want(t, name, gitIn(t, s.Dir, "branch", "--show-current"), "topic")
		want(t, name+": status", gitIn(t, s.Dir, "status", "--porcelain"), "")
	}
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, ".git", "")
	write(t, s.Dir, "precious.txt", "x") // someone's: then nothing is touched
	_, err := s.Prepare(t.Context(), "topic", "T1")
	wantError(t, err, "workspace")
	want(t, "precious", read(t, s.Dir, "precious.txt"), "x")
}

// Killed a moment later, it leaves a folder of its own in which the way to the repository is missing, and no git
// can do anything there.
func TestPrepare_afterWorktreeAddWasKilledBeforeItKnewItsRepository(t *testing.T) {
	t.Parallel()
	_, unknown := proc.WorkingOn("nothing", "git")
	for name, c := range map[string]struct {
		left map[string]string // what it had written
		age  time.Duration
	}{
		"a while ago":                     {map[string]string{"commondir": ""}, time.Minute},
		"just now, before its HEAD":       {nil, 0},
		"just now, in the middle of HEAD": {map[string]string{"HEAD": ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.age == 0 && unknown != nil {
				t.Skip("this system does not tell whether a git is at work: it is waited for")
			}
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			gitDir := gitIn(t, s.Dir, "rev-parse", "--absolute-git-dir")
			entries, err := os.ReadDir(s.Dir)
			want(t, "error", err, nil)
			for _, e := range entries {
				if e.Name() != ".git" {
					want(t, "error", os.RemoveAll(filepath.Join(s.Dir, e.Name())), nil)
				}
			}
			for _, later := range []string{"HEAD", "commondir", "index", "ORIG_HEAD"} {
				_ = os.Remove(filepath.Join(gitDir, later))
			}
			write(t, gitDir, "locked", "initializing")
			for file, text := range c.left {
				write(t, gitDir, file, text)
			}
			then := time.Now().Add(-c.age)
			want(t, "error", os.Chtimes(gitDir, then, then), nil)
			prepare(t, s, "topic", "T1")
			want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), "topic")
			want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
			gitIn(t, h.Path, "fsck", "--no-dangling")
		})
	}
}

// A git whose Orange was killed goes on making its worktree: what takes it away under its hands leaves a mixture
// of both.
func TestPrepare_waitsForAGitThatStillMakesTheWorktree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	if _, err := proc.WorkingOn(s.Dir, "git"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system does not tell who works on what")
	}
	gitDir := gitIn(t, s.Dir, "rev-parse", "--absolute-git-dir")
	write(t, gitDir, "locked", "initializing")
	shell, err := exec.LookPath("sh")
	want(t, "error", err, nil)
	other := filepath.Join(h.root, "git")
	want(t, "error", os.Symlink(shell, other), nil)
	end, said := filepath.Join(h.root, "end"), filepath.Join(h.root, "said")
	slow := exec.Command(other, "-c", `until test -e "$1"; do sleep 0.02; done; cat "$0/.git" >"$2"`, s.Dir, end, said)
	want(t, "error", slow.Start(), nil)
	gone := make(chan error, 1)
	go func() { gone <- slow.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for found := 0; found == 0; <-tick.C {
		all, err := proc.WorkingOn(s.Dir, "git")
		want(t, "error", err, nil)
		found = len(all)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Prepare(t.Context(), "topic", "T1")
		done <- err
	}()
	for looks := 0; looks < 40; looks++ { // as long as it would take if it did not wait
		<-tick.C
	}
	write(t, h.root, "end", "")
	want(t, "error", <-gone, nil)
	want(t, "error", <-done, nil)
	want(t, "what the slow git found", strings.HasPrefix(read(t, h.root, "said"), "gitdir: "), true)
	want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), "topic")
}

func TestSlot_refusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h.root, "files/precious.txt", "x")
	gitIn(t, h.root, "clone", "-q", h.Path, "clone")
	gitIn(t, h.root, "init", "-q", "around") // a repository around the pool, such as a home under git
	write(t, h.root, "around/pool/1/precious.txt", "x")
	other := newHome(t)
	foreign := other.prepared(t, "topic", "T1")
	for name, c := range map[string]struct{ dir, says string }{
		"Files": {"files", "something else"}, "Clone": {"clone", "repository of its own"}, "Inside": {
			"around/pool/1", "something else"},
		"TheUsersCheckout": {filepath.Base(h.Path), "repository of its own"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, h, filepath.Join(h.root, c.dir), c.says) })
	}
	t.Run("Foreign", func(t *testing.T) { refuses(t, h, foreign.Dir, "belongs to") })
	want(t, "precious", exists(h.root, "files/precious.txt") && exists(h.root, "around/pool/1/precious.txt"), true)
}

func refuses(t *testing.T, h home, dir, says string) {
	t.Helper()
	s := Slot{Repo: h.Repo, Dir: dir}
	_, err := s.Prepare(t.Context(), "topic", "T1")
	wantError(t, err, says)
	_, err = s.Release(t.Context(), "T1")
	wantError(t, err, says)
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), dir), says)
}

// An agent writes its worktree's .git file, and these folders are what a sandbox lets it write.
func TestGitDirs_believesNoFileThatNamesAnotherPlace(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s, other := h.prepared(t, "topic", "T1"), h.slot(2)
	prepare(t, other, "other", "T2")
	own, shared, err := s.GitDirs(t.Context())
	want(t, "error", err, nil)
	want(t, "own", own, gitIn(t, s.Dir, "rev-parse", "--absolute-git-dir"))
	want(t, "shared", shared, gitIn(t, s.Dir, "rev-parse", "--path-format=absolute", "--git-common-dir"))
	back, err := filepath.Rel(own, filepath.Join(s.Dir, ".git"))
	want(t, "error", err, nil)
	write(t, own, "gitdir", back+"\n") // as git writes it with worktree.useRelativePaths
	again, _, err := s.GitDirs(t.Context())
	want(t, "error", err, nil)
	want(t, "own", again, own)
	for _, place := range []string{
		gitIn(t, other.Dir, "rev-parse", "--absolute-git-dir"), "/etc/ssh/ssh_config.d",
		filepath.Join(own, "..", "..", "x"),
	} {
		write(t, s.Dir, ".git", "gitdir: "+place+"\n")
		_, _, err := s.GitDirs(t.Context())
		if err == nil || !strings.Contains(err.Error(), "names another place") {
			t.Errorf("%q: %v", place, err)
		}
	}
}

func TestBranches_awkwardNamesAllTheWay(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	gitIn(t, h.Path, "tag", "v1.2", "HEAD") // a tag of the same name must not be meant
	commit(t, h.Path, "b.txt", "two\n")
	s := h.slot(1)
	for name, branch := range awkward() {
		prepare(t, s, branch, "T1")
		now, err := s.Branch(t.Context())
		want(t, name+" branch", now, branch)
		want(t, name+" error", err, nil)
		want(t, name+" start", gitIn(t, s.Dir, "rev-parse", "HEAD"), gitIn(t, h.Path, "rev-parse", "refs/heads/main"))
		head := commit(t, s.Dir, name+".txt", name)
		release(t, s, "T1")
		prepare(t, s, branch, "T1")
		want(t, name+" again", gitIn(t, s.Dir, "rev-parse", "HEAD"), head)
		merged, err := h.into().Merge(t.Context(), merge.Plan{Branch: branch})
		want(t, name+" merge", err == nil && merged.Commit == head, true)
		release(t, s, "T1")
	}
	want(t, "no shell", exists(h.Path, "x") || exists(s.Dir, "x"), false)
}

func TestPrepare_refusesBadNames(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, branch := range []string{"-f", "@{-1}", "a b", "a\nb", ""} {
		_, err := h.slot(1).Prepare(t.Context(), branch, "T1")
		wantError(t, err, "cannot use")
	}
	for _, id := range []string{"../x", "a/b", "a b", ".", "a.lock", "$(x)"} {
		_, err := h.slot(1).Prepare(t.Context(), "topic", id)
		wantError(t, err, "cannot use")
	}
}

func TestPrepare_sixteenAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const slots = 16
	for round, prefix := range []string{"cold/", "warm/"} {
		var all sync.WaitGroup
		errs := make([]error, slots)
		for n := range slots {
			all.Go(func() {
				s := h.slot(n)
				_, errs[n] = s.Prepare(context.Background(), prefix+string(rune('a'+n)), "T")
				if errs[n] == nil {
					_, errs[n] = s.Document().Link(context.Background(), filepath.Join(h.root, "TASK.md"))
				}
				if errs[n] == nil && round == 0 {
					_, errs[n] = s.Release(context.Background(), "T")
				}
			})
		}
		all.Wait()
		for n, err := range errs {
			if err != nil {
				t.Errorf("round %d slot %d: %v", round, n, err)
			}
		}
	}
	want(t, "worktrees", len(strings.Split(gitIn(t, h.Path, "worktree", "list"), "\n")), slots+1)
	excludes := 0
	for _, line := range strings.Split(read(t, h.Path, ".git/info/exclude"), "\n") {
		if line == "/TASK.md" {
			excludes++
		}
	}
	want(t, "the pattern is there once", excludes, 1)
}

func TestSlot_smallQuestions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	ctx := t.Context()
	for range 2 {
		if err := s.Rename(ctx, "topic", "renamed"); err != nil {
			t.Fatal(err)
		}
	}
	name, err := s.Branch(ctx)
	want(t, "branch", name, "renamed")
	want(t, "error", err, nil)
	known, err := h.BranchExists(ctx, "topic")
	want(t, "old name", known || err != nil, false)
	gitIn(t, h.Path, "branch", "other")
	wantError(t, s.Rename(ctx, "renamed", "other"), "cannot rename", "other")
	wantError(t, s.Rename(ctx, "-x", "other"), "cannot use")
	_, err = h.slot(9).Branch(ctx)
	wantError(t, err, "cannot read")
}

func TestSwitch_refusesToOverwrite(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "switch", "-q", "-c", "other")
	commit(t, h.Path, "a.txt", "other\n")
	gitIn(t, h.Path, "switch", "-q", "main")
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	wantError(t, s.Switch(t.Context(), "other"), "cannot switch", "a.txt")
	want(t, "kept", read(t, s.Dir, "a.txt"), "half\n")
	gitIn(t, s.Dir, "checkout", "-q", "a.txt")
	if err := s.Switch(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	want(t, "switched", read(t, s.Dir, "a.txt"), "other\n")
	wantError(t, s.Switch(t.Context(), "nowhere"), "cannot switch")
	wantError(t, h.slot(5).Switch(t.Context(), "other"), "not there")
}

func TestHooksOfTheRepositoryDoNotRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, hook := range []string{"post-checkout", "post-commit", "reference-transaction", "post-merge",
		"post-index-change"} {
		write(t, h.Path, ".git/hooks/"+hook, "#!/bin/sh\ntouch '"+filepath.Join(h.root, "ran")+"'\n")
		if err := os.Chmod(filepath.Join(h.Path, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	release(t, s, "T1")
	want(t, "a hook ran", exists(h.root, "ran"), false)
}
