package worktree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// recovered brings the rescue back with the command that people are shown, and returns the commit of the new branch.
func recovered(t *testing.T, h home, r Rescue) string {
	t.Helper()
	words := strings.SplitN(r.Command(h.Path), " branch ", 2)
	name, ref, _ := strings.Cut(words[1], " ")
	name = strings.Trim(name, "'")
	gitIn(t, h.Path, "branch", name, ref)
	return gitIn(t, h.Path, "rev-parse", "refs/heads/"+name)
}

func TestRelease_keepsEverythingAndLeavesACleanTree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	base := gitIn(t, h.Path, "rev-parse", "main")
	head := commit(t, s.Dir, "unpushed.txt", "unpushed\n")
	write(t, s.Dir, "a.txt", "staged\n")
	gitIn(t, s.Dir, "add", "a.txt")
	write(t, s.Dir, "a.txt", "uncommitted\n")
	write(t, s.Dir, "new dir/größe\n.txt", "untracked\n")
	if err := os.Remove(filepath.Join(s.Dir, "sub/deep.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "cache/warm", "ignored\n")

	kept := release(t, s, "T1")
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	want(t, "rescue", kept[0].Ref+" "+kept[0].What, "refs/orange/rescue/T1/1 uncommitted changes")
	tip := recovered(t, h, kept[0])
	want(t, "uncommitted", gitIn(t, h.Path, "show", tip+":a.txt"), "uncommitted")
	want(t, "staged", gitIn(t, h.Path, "show", tip+"^2:a.txt"), "staged")
	want(t, "untracked", gitIn(t, h.Path, "show", tip+":new dir/größe\n.txt"), "untracked")
	want(t, "unpushed", gitIn(t, h.Path, "rev-parse", tip+"^1"), head)
	want(t, "deleted", gitIn(t, h.Path, "ls-tree", tip, "sub/deep.txt"), "")
	want(t, "ignored is not kept", gitIn(t, h.Path, "ls-tree", "-r", tip, "cache"), "")
	want(t, "signed", gitIn(t, h.Path, "log", "-1", "--format=%an <%ae>", tip), "Orange <orange@localhost>")

	wantClean(t, s, base)
	want(t, "warm", read(t, s.Dir, "cache/warm"), "ignored\n")
	want(t, "branch", gitIn(t, h.Path, "rev-parse", "topic"), head)
	want(t, "again", len(release(t, s, "T1")), 0)
}

func TestRelease_unpushedCommits(t *testing.T) {
	t.Parallel()
	for name, origin := range map[string]bool{"WithOrigin": true, "WithoutOrigin": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if origin {
				h = newHomeWithOrigin(t)
			}
			s := h.prepared(t, "topic", "T1")
			want(t, "nothing to keep", len(release(t, s, "T1")), 0)
			prepare(t, s, "topic", "T1")
			head := commit(t, s.Dir, "work.txt", "x")
			kept := release(t, s, "T1")
			if len(kept) != 1 {
				t.Fatalf("kept %v", kept)
			}
			want(t, "rescue", fmt.Sprint(kept[0]), fmt.Sprint(Rescue{Ref: "refs/orange/rescue/T1/1", Commit: head,
				What: "unpushed commits", Held: true}))
			prepare(t, s, "topic", "T1")
			want(t, "not twice", len(release(t, s, "T1")), 0)
			listed, err := Rescues{Repo: h.Repo}.List(t.Context(), "T1")
			kept[0].Held = false // which was true then, and may be over
			want(t, "listed", err == nil && len(listed) == 1 && fmt.Sprint(listed[0]) == fmt.Sprint(kept[0]), true)
		})
	}
}

func TestRelease_pushedCommitsNeedNoRescue(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "work.txt", "x")
	gitIn(t, s.Dir, "push", "-q", "origin", "topic")
	want(t, "kept", len(release(t, s, "T1")), 0)
}

func TestRelease_detachedAndUnbornWork(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	lost := commit(t, s.Dir, "lost.txt", "lost\n")
	kept := release(t, s, "T1")
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	want(t, "rescue", fmt.Sprint(kept[0]), fmt.Sprint(Rescue{Ref: "refs/orange/rescue/T1/1", Commit: lost,
		What: "unpushed commits"}))

	prepare(t, s, "topic", "T2")
	gitIn(t, s.Dir, "switch", "-q", "--orphan", "rootless")
	write(t, s.Dir, "first.txt", "first\n")
	kept = release(t, s, "T2")
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	want(t, "content", gitIn(t, h.Path, "show", kept[0].Ref+":first.txt"), "first")
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
}

func TestRelease_inTheMiddleOfSomething(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][][]string{
		"Merge": {{"merge", "other"}}, "Rebase": {{"rebase", "other"}}, "CherryPick": {{"cherry-pick", "other"}},
		"Revert":           {{"revert", "HEAD~1"}},
		"CherryPickOfMany": {{"cherry-pick", "other~1", "other"}}, "CleanRebase": {
			{"rebase", "--exec", "false", "HEAD~1"}},
		"RebaseOfDetached": {{"switch", "-q", "--detach"}, {"commit", "-q", "--allow-empty", "-m", "only here"},
			{"rebase", "other"}},
		"Apply": {{"rebase", "--apply", "other"}}, "Bisect": {{"bisect", "start", "HEAD", "main~1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			commit(t, h.Path, "more.txt", "more\n")
			gitIn(t, h.Path, "switch", "-q", "-c", "other")
			commit(t, h.Path, "a.txt", "other\n")
			commit(t, h.Path, "a.txt", "other again\n")
			gitIn(t, h.Path, "switch", "-q", "main")
			s := h.prepared(t, "topic", "T1")
			commit(t, s.Dir, "a.txt", "mine\n")
			head := commit(t, s.Dir, "a.txt", "mine again\n")
			for _, step := range steps {
				_, _ = try(s.Dir, step...) // the last one stops with a conflict
			}
			write(t, s.Dir, "half.txt", "half solved\n")
			orig, _ := try(s.Dir, "rev-parse", "-q", "--verify", "ORIG_HEAD")
			kept := release(t, s, "T1")
			wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
			want(t, "branch", gitIn(t, h.Path, "rev-parse", "topic"), head)
			want(t, "half solved", gitIn(t, h.Path, "show", kept[0].Ref+":half.txt"), "half solved")
			if name == "RebaseOfDetached" {
				want(t, "where it began", gitIn(t, h.Path, "for-each-ref", "--contains", orig, "--format=x",
					"refs/orange") != "", true)
			}
			prepare(t, s, "next", "T2")
		})
	}
}

func TestRelease_worksWithoutAnIdentityAndWithSigningOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "config", "user.useConfigOnly", "true")
	gitIn(t, h.Path, "config", "user.name", "")
	gitIn(t, h.Path, "config", "user.email", "")
	gitIn(t, h.Path, "config", "commit.gpgSign", "true")
	gitIn(t, h.Path, "config", "gpg.program", "/bin/false")
	gitIn(t, h.Path, "config", "core.autocrlf", "input")
	gitIn(t, h.Path, "config", "core.safecrlf", "true")
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\r\n")
	want(t, "kept", len(release(t, s, "T1")), 1)
}

func TestRelease_twiceAfterACrashMakesNoSecondRef(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "staged\n")
	gitIn(t, s.Dir, "add", "a.txt")
	write(t, s.Dir, "a.txt", "half\n")
	here, _, err := s.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The crash came after the rescue and before the clearing.
	first, err := s.sweep().keepTree(t.Context(), here, "T1", nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := release(t, s, "T1")
	want(t, "the same", len(kept) == 1 && fmt.Sprint(kept[0]) == fmt.Sprint(first[0]), true)

	prepare(t, s, "topic", "T1")
	write(t, s.Dir, "a.txt", "another half\n")
	kept = release(t, s, "T1")
	want(t, "the next number", kept[0].Ref, "refs/orange/rescue/T1/2")
}

func TestRelease_setsAsideWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	write(t, s.Dir, "secret.txt", "x")
	if err := os.Chmod(filepath.Join(s.Dir, "secret.txt"), 0); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "closed/inner", "x")
	if err := os.Chmod(filepath.Join(s.Dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	done, err := s.Release(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	wantAside(t, done.Aside, "secret.txt: it cannot be read", "closed: it cannot be removed")
	want(t, "kept", gitIn(t, h.Path, "show", done.Rescued[0].Ref+":a.txt"), "half")
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
	for _, a := range done.Aside {
		if err := (Worktrees{Repo: h.Repo}).Drop(t.Context(), a); err != nil {
			t.Error(err)
		}
	}
}

func TestRelease_keepsWhatOnlyTheBranchIgnored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, ".gitignore", "/notes/\n")
	write(t, s.Dir, "notes/idea.txt", "idea\n")
	kept := release(t, s, "T1")
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
	last := kept[len(kept)-1]
	want(t, "kept", gitIn(t, h.Path, "show", last.Ref+":notes/idea.txt"), "idea")
}

func TestPrepare_keepsIgnoredFilesThatTheBranchHasAPlaceFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "switch", "-q", "-c", "tracks")
	commit(t, h.Path, "x.log", "tracked\n")
	commit(t, h.Path, "cache/deep/y", "tracked\n")
	gitIn(t, h.Path, "switch", "-q", "main")
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "x.log", "mine\n")
	write(t, s.Dir, "cache/deep/y", "mine too\n")
	write(t, s.Dir, "cache/z", "not in the way\n")
	release(t, s, "T1")
	done := prepare(t, s, "tracks", "T2")
	if len(done.Rescued) != 1 {
		t.Fatalf("rescued %v", done.Rescued)
	}
	want(t, "kept", gitIn(t, h.Path, "show", done.Rescued[0].Ref+":x.log"), "mine")
	want(t, "kept", gitIn(t, h.Path, "show", done.Rescued[0].Ref+":cache/deep/y"), "mine too")
	want(t, "branch", read(t, s.Dir, "x.log"), "tracked\n")
	want(t, "warm", read(t, s.Dir, "cache/z"), "not in the way\n")
}

func TestRelease_submodulesDoNotBreak(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	lib := newHome(t)
	gitIn(t, h.Path, "submodule", "--quiet", "add", lib.Path, "lib")
	gitIn(t, h.Path, "commit", "-q", "-m", "lib")
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init")
	commit(t, filepath.Join(s.Dir, "lib"), "a.txt", "inside\n")
	write(t, s.Dir, "lib/a.txt", "half\n")
	write(t, s.Dir, "a.txt", "half\n")
	want(t, "kept", len(release(t, s, "T1")), 1)
	want(t, "inside", exists(s.Dir, "lib/a.txt"), false)
	prepare(t, s, "next", "T2")
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "cannot remove")
}

func TestRelease_whereThereIsNoSlot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	want(t, "kept", len(release(t, h.slot(3), "T1")), 0)
	s := h.slot(4)
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, "kept", len(release(t, s, "T1")), 0)
	_, err := s.Release(t.Context(), "../T1")
	wantError(t, err, "cannot use")
}

func TestRescues_areSortedByNumberAndApartByTask(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for n := range 11 {
		commit(t, h.Path, "a.txt", fmt.Sprint(n))
		gitIn(t, h.Path, "update-ref", fmt.Sprintf("refs/orange/rescue/T1/%d", n+1), "HEAD")
	}
	gitIn(t, h.Path, "update-ref", "refs/orange/rescue/T10/1", "HEAD")
	gitIn(t, h.Path, "update-ref", "refs/orange/rescue/T1/strange", "HEAD")
	all, err := Rescues{Repo: h.Repo}.List(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "number", len(all), 11)
	want(t, "last", all[10].Ref, "refs/orange/rescue/T1/11")
	none, err := Rescues{Repo: h.Repo}.List(t.Context(), "T2")
	want(t, "none", len(none) == 0 && err == nil, true)
	_, err = Rescues{Repo: h.Repo}.List(t.Context(), "T1/../x")
	wantError(t, err, "cannot use")
	h.Path = filepath.Join(h.root, "gone")
	_, err = Rescues{Repo: h.Repo}.List(t.Context(), "T1")
	wantError(t, err, "cannot list")
}

func TestRescueCommand_isSafeToPaste(t *testing.T) {
	t.Parallel()
	r := Rescue{Ref: "refs/orange/rescue/T1/2"}
	want(t, "command", r.Command("/it's $(here)"),
		`git -C '/it'\''s $(here)' branch 'rescued/T1-2' refs/orange/rescue/T1/2`)
}

func TestRemove_takesAwayOnlyWhatHoldsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	away := h.slot(2) // another worktree that happens to be away must not be forgotten
	prepare(t, away, "away", "T9")
	if err := os.Rename(away.Dir, away.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "uncommitted", "release it first")
	gitIn(t, s.Dir, "checkout", "-q", "a.txt")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	commit(t, s.Dir, "lost.txt", "x")
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "nothing else holds")
	release(t, s, "T1")
	gitIn(t, h.Path, "worktree", "lock", s.Dir)
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "locked")
	gitIn(t, h.Path, "worktree", "unlock", s.Dir)
	write(t, s.Dir, "cache/mod/x", "ignored")
	if err := os.Chmod(filepath.Join(s.Dir, "cache/mod"), 0o555); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := (Worktrees{Repo: h.Repo}).Remove(t.Context(), s.Dir); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "only the one that is away is left", pool(t, s), ".prepared|my repo--2.away")
	want(t, "the notes", pool(t, Slot{Dir: s.noteFile()}), "my repo--2.json")
	list := gitIn(t, h.Path, "worktree", "list")
	want(t, "forgotten", strings.Contains(list, s.Dir+" "), false)
	want(t, "not forgotten", strings.Contains(list, away.Dir+" "), true)
	want(t, "branch", gitIn(t, h.Path, "branch", "--list", "topic") != "", true)
}

// An agent that is ended in the middle of a commit leaves its lock behind.
func TestAnAbandonedLockOfAWorkspace_isRemoved(t *testing.T) {
	t.Parallel()
	if _, err := proc.WorkingIn(t.TempDir(), "git"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("nobody can tell here who works in a folder")
	}
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "half\n")
	lock := filepath.Join(gitIn(t, s.Dir, "rev-parse", "--git-dir"), "index.lock")
	write(t, filepath.Dir(lock), "index.lock", "")
	now := time.Now()
	want(t, "a new one", h.IsAbandoned(s.Dir, lock, now), false)
	want(t, "an old one", h.IsAbandoned(s.Dir, lock, now.Add(time.Minute)), true)
	want(t, "met elsewhere", h.IsAbandoned(h.Path, lock, now.Add(time.Minute)), false)
	for name, gone := range map[string]bool{"refs/heads/deep/topic.lock": true, "packed-refs.lock": false,
		"config.lock": false, "index.lock": false} {
		path := filepath.Join(h.Path, ".git", name)
		write(t, filepath.Dir(path), filepath.Base(path), "")
		want(t, name, h.IsAbandoned(s.Dir, path, now.Add(time.Minute)), gone)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	long := now.Add(-time.Minute)
	if err := os.Chtimes(lock, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Release(t.Context(), "T1"); err != nil {
		t.Fatal(err)
	}
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
}

// A git that works in the workspace, with a lock or about to take one, is not disturbed.
func TestTheLockOfAGitThatLives_stays(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	lock := filepath.Join(gitIn(t, s.Dir, "rev-parse", "--git-dir"), "index.lock")
	write(t, filepath.Dir(lock), "index.lock", "")
	cat := exec.Command("git", "cat-file", "--batch")
	cat.Dir = s.Dir
	stdin, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	got := h.IsAbandoned(s.Dir, lock, time.Now().Add(time.Minute))
	if err := errors.Join(stdin.Close(), cat.Wait()); err != nil {
		t.Fatal(err)
	}
	want(t, "abandoned", got, false)
}

func TestLocks_areWaitedForButNotForEver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	lock := filepath.Join(gitIn(t, s.Dir, "rev-parse", "--git-dir"), "index.lock")
	write(t, filepath.Dir(lock), "index.lock", "")
	done := make(chan error, 1)
	write(t, s.Dir, "a.txt", "half\n")
	go func() {
		_, err := s.Release(t.Context(), "T1")
		done <- err
	}()
	// The other git ends once the rescue is there: only the clearing needs the lock.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !exists(h.Path, ".git/refs/orange/rescue/T1/1") {
		select {
		case err := <-done:
			t.Fatalf("it ended without the lock: %v", err)
		case <-tick.C:
		}
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
}
