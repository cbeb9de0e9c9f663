package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/work/git"
)

func TestInspect_leadsToTheMainCheckout(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	link := filepath.Join(h.root, "link")
	resolved, err := filepath.EvalSymlinks(h.Path)
	if err = errors.Join(err, os.Symlink(h.Path, link)); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"Top": h.Path, "SubFolder": filepath.Join(h.Path, "sub"), "LinkedWorktree": s.Dir,
		"SubFolderOfWorktree": filepath.Join(s.Dir, "sub"), "GitFolder": filepath.Join(h.Path, ".git"),
		"SymbolicLink": link,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := git.Inspect(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "path", r.Path, resolved)
			want(t, "default branch", r.DefaultBranch, "main")
		})
	}
}

func TestInspect_separateGitFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	top := filepath.Join(root, "top")
	gitIn(t, root, "init", "-q", "--separate-git-dir", filepath.Join(root, "elsewhere"), top)
	commit(t, top, "a.txt", "one\n")
	r, err := git.Inspect(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "path", r.Path, top)
	s := Slot{Repo: r, Dir: filepath.Join(root, "slot")}
	prepare(t, s, "topic", "T1")
	release(t, s, "T1")
}

func TestInspect_saysWhatIsWrong(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gitIn(t, root, "init", "-q", "--bare", "bare.git")
	gitIn(t, root, "init", "-q", "empty")
	write(t, root, "plain/file", "x")
	for name, c := range map[string]struct{ path, says string }{
		"NotThere": {"nowhere", "no such folder"}, "AFile": {"plain/file", "no such folder"},
		"NoRepository": {"plain", "not in a git repository"}, "Bare": {"bare.git", "bare"}, "NoCommit": {
			"empty", "no commit yet"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := git.Inspect(t.Context(), filepath.Join(root, c.path))
			wantError(t, err, "cannot ", c.says)
			want(t, "usage", errors.Is(err, task.ErrUsage), true)
			want(t, "no repository", errors.Is(err, git.ErrNoRepository), name == "NoRepository")
		})
	}
}

func TestInspect_defaultBranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps [][]string
		want  string
	}{
		"OriginHeadFirst": {
			[][]string{{"update-ref", "refs/remotes/origin/trunk", "HEAD"},
				{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"}}, "trunk"},
		"DanglingOrigin": {[][]string{{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone"}},
			"main"},
		"Configured":       {[][]string{{"branch", "develop"}, {"config", "init.defaultBranch", "develop"}}, "develop"},
		"ConfiguredBadly":  {[][]string{{"config", "init.defaultBranch", "-x"}}, "main"},
		"Master":           {[][]string{{"branch", "-m", "main", "master"}, {"switch", "-q", "-c", "other"}}, "master"},
		"PresentBranch":    {[][]string{{"branch", "-m", "main", "only"}}, "only"},
		"MainBeforeTopics": {[][]string{{"switch", "-q", "-c", "topic"}}, "main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for _, step := range c.steps {
				gitIn(t, h.Path, step...)
			}
			r, err := git.Inspect(t.Context(), h.Path)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "default branch", r.DefaultBranch, c.want)
		})
	}
}

func TestInspect_detachedWithoutMainIsAsked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "branch", "-m", "main", "only")
	gitIn(t, h.Path, "switch", "-q", "--detach")
	_, err := git.Inspect(t.Context(), h.Path)
	wantError(t, err, "detached")
}

func TestInspect_withoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := git.Inspect(t.Context(), ".")
	wantError(t, err, "cannot work without git", "install git")
}

func TestAGitThatWasKilledIsNotSaidToHaveAStatus(t *testing.T) {
	h, programs := newHome(t), t.TempDir()
	write(t, programs, "git", "#!/bin/sh\nkill -9 $$\n")
	if err := os.Chmod(filepath.Join(programs, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	_, err := h.Run(t.Context(), "worktree", "list")
	wantError(t, err, "git worktree: a signal ended it")
}

// awkward are names that git accepts.
func awkward() map[string]string {
	return map[string]string{
		"Dots": "v1.2", "Unicode": "größe/日本語-🍊", "Long": strings.Repeat("x", 100) + "/" + strings.Repeat("y", 99),
		"Shell": "$(touch${IFS}x)", "Quotes": "it's;a\"b`c`&|<>", "At": "@", "Hash": "#1",
		"Digits":  strings.Repeat("1234567890", 4),
		"Percent": "100%s", "DashInside": "a/-b",
	}
}

func TestCheckBranch(t *testing.T) {
	t.Parallel()
	for name, branch := range awkward() {
		if err := git.CheckBranch(t.Context(), branch); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, branch := range []string{
		"", "-x", "--help", "-", "@{-1}", "a b", "a\nb", "$(touch x)", "a..b", "HEAD", "a~1", "a:b", "a.lock",
		"/a", "a/", "a\x00b", "main@{u}", "a*", strings.Repeat("a", 251), strings.Repeat("a/", 501) + "a",
	} {
		err := git.CheckBranch(t.Context(), branch)
		if !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: got %v, want a usage error", branch, err)
		}
	}
}

func TestBase_picksTheOneThatContainsTheOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		local, origin bool // which has a commit that the other has not
		want          string
	}{
		"Equal": {want: "origin/main"}, "LocalAhead": {local: true, want: "main"},
		"OriginAhead": {origin: true, want: "origin/main"}, "Diverged": {
			local: true, origin: true, want: "origin/main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomeWithOrigin(t)
			if c.origin {
				other := h.colleague(t)
				commit(t, other, "theirs.txt", "x")
				gitIn(t, other, "push", "-q", "origin", "main")
			}
			if c.local {
				commit(t, h.Path, "mine.txt", "x")
			}
			if err := h.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
			base, err := h.Base(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want(t, "ref", base.Ref, c.want)
			want(t, "commit", base.Commit, gitIn(t, h.Path, "rev-parse", c.want))
		})
	}
}

func TestBase_withoutOriginIsTheLocalOne(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "tag", "main", "HEAD") // the same word twice
	commit(t, h.Path, "b.txt", "two\n")
	base, err := h.Base(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "ref", base.Ref, "heads/main")
	want(t, "commit", gitIn(t, h.Path, "rev-parse", "--verify", "-q", base.Ref), base.Commit)
	h.DefaultBranch = "nowhere"
	_, err = h.Base(t.Context())
	wantError(t, err, "nowhere", "default branch")
}

func TestFetch_leavesTheUsersThingsAlone(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	other := h.colleague(t)
	commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "tag", "loud")
	gitIn(t, other, "push", "-q", "--tags", "origin", "main")
	before := gitIn(t, h.Path, "rev-parse", "main")
	if err := h.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "origin/main", gitIn(t, h.Path, "rev-parse", "origin/main"), gitIn(t, other, "rev-parse", "main"))
	want(t, "main", gitIn(t, h.Path, "rev-parse", "main"), before)
	want(t, "FETCH_HEAD", exists(h.Path, ".git/FETCH_HEAD"), false)
	want(t, "tags", gitIn(t, h.Path, "tag"), "")
}

func TestFetch_tellsUnreachableFromEmpty(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := h.Fetch(t.Context()); err != nil {
		t.Errorf("no origin: %v", err)
	}
	gitIn(t, h.root, "init", "-q", "--bare", "origin.git")
	gitIn(t, h.Path, "remote", "add", "origin", h.origin())
	if err := h.Fetch(t.Context()); err != nil {
		t.Errorf("empty origin: %v", err)
	}
	if err := os.RemoveAll(h.origin()); err != nil {
		t.Fatal(err)
	}
	wantError(t, h.Fetch(t.Context()), "cannot fetch", "origin")
	has, err := h.HasRemote(t.Context())
	want(t, "has remote", has && err == nil, true)
}

func TestRemoteEnv_keepsTheUsersOwnSSHCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, c := range map[string]struct{ configured, want string }{
		"None": {"", "GIT_SSH_COMMAND=ssh -oBatchMode=yes"}, "OwnKey": {
			"ssh -i key", "GIT_SSH_COMMAND=ssh -i key -oBatchMode=yes"}, "Other": {"plink -x", ""},
	} {
		gitIn(t, h.Path, "config", "core.sshCommand", c.configured)
		env, err := h.RemoteEnv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, pair := range env {
			if strings.HasPrefix(pair, "GIT_SSH_COMMAND=") {
				got = pair
			}
		}
		want(t, name, got, c.want)
	}
}

// A git hook hands GIT_DIR of the checkout it runs in to all its children, and so to Orange.
func TestEnvironmentOfAGitHookDoesNotLeadAstray(t *testing.T) {
	h, other := newHome(t), newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "changed\n")
	before := gitIn(t, other.Path, "rev-parse", "HEAD")
	t.Setenv("GIT_DIR", filepath.Join(other.Path, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Path)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.Path, ".git", "index"))
	done, err := s.Release(t.Context(), "T1")
	kept := done.Rescued
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil || len(kept) != 1 {
		t.Fatalf("got %v, %v", kept, err)
	}
	want(t, "kept", gitIn(t, h.Path, "show", kept[0].Ref+":a.txt"), "changed")
	want(t, "the other HEAD", gitIn(t, other.Path, "symbolic-ref", "HEAD"), "refs/heads/main")
	want(t, "the other commit", gitIn(t, other.Path, "rev-parse", "HEAD"), before)
	want(t, "the other status", gitIn(t, other.Path, "status", "--porcelain"), "")
}

func TestSharedOf_leadsFromALinkedWorktreeToItsRepository(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	linked := filepath.Join(h.root, "elsewhere")
	gitIn(t, h.Path, "worktree", "add", "-q", "--detach", linked)
	below := filepath.Join(linked, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(h.Path, ".git")
	for dir, want := range map[string]string{
		linked: shared, below: shared, h.Path: shared, h.root: "", filepath.Join(linked, "gone"): shared,
	} {
		if got := git.SharedOf(dir); got != want || h.Has(got) != (got != "") {
			t.Errorf("%s is a worktree of %q, want %q", dir, got, want)
		}
	}
}
