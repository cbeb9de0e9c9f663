package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A submodule goes aside for work that git's status does not show, and starts no program that its settings name.
func TestRelease_setsASubmoduleAsideForWorkOfAnyKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, lib string)
		want string
	}{
		"nothing": {func(*testing.T, string) {}, ""},
		"a change that git overlooks": {func(t *testing.T, lib string) {
			gitIn(t, lib, "update-index", "--assume-unchanged", "a.txt")
			write(t, lib, "a.txt", "half\n")
		}, aSubmodule},
		"a stash": {func(t *testing.T, lib string) {
			write(t, lib, "a.txt", "half\n")
			gitIn(t, lib, "stash", "--quiet")
		}, aSubmodule},
		"a commit that a tag has": {func(t *testing.T, lib string) {
			commit(t, lib, "new.txt", "x")
			gitIn(t, lib, "tag", "mine")
			gitIn(t, lib, "checkout", "-q", "HEAD~1")
		}, aSubmodule},
		"a program that its settings name": {func(t *testing.T, lib string) {
			gitIn(t, lib, "config", "filter.f.clean", "touch "+filepath.Join(lib, "..", "ran"))
			write(t, lib, ".git-attributes", "x")
			write(t, lib, "a.txt", "half\n")
			commit(t, lib, ".gitattributes", "* filter=f\n")
			_ = os.Remove(filepath.Join(lib, "..", "ran"))
			write(t, lib, "a.txt", "other\n")
		}, aSubmodule},
		"files in its place": {func(t *testing.T, lib string) {
			gitIn(t, filepath.Dir(lib), "submodule", "--quiet", "deinit", "-f", "lib")
			write(t, lib, "precious.txt", "x")
		}, inPlace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, lib := newHome(t), newHome(t)
			gitIn(t, h.Path, "submodule", "--quiet", "add", lib.Path, "lib")
			gitIn(t, h.Path, "commit", "-q", "-m", "lib")
			s := h.prepared(t, "topic", "T1")
			gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init")
			c.do(t, filepath.Join(s.Dir, "lib"))
			done := cleared(t, s, "T1")
			var wanted []string
			if c.want != "" {
				wanted = []string{"lib: " + c.want}
			}
			wantAside(t, done.Aside, wanted...)
			want(t, "a program ran", exists(s.Dir, "ran"), false)
			want(t, "clean", gitIn(t, s.Dir, "status", "--porcelain"), "")
		})
	}
}

// A name that git reads as a pattern is a name.
func TestRelease_setsARepositoryAsideWhateverItIsCalled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "init", "-q", ":(x)y")
	gitIn(t, s.Dir, "init", "-q", "b\xff")
	wantAside(t, cleared(t, s, "T1").Aside, ":(x)y: a repository of its own", "b\xff: a repository of its own")
	all := asidesOf(t, s, "T1")
	wantAside(t, all, ":(x)y: a repository of its own", "b\xff: a repository of its own")
	if err := (Worktrees{Repo: h.Repo}).Restore(t.Context(), all[1], filepath.Join(h.root, "back")); err != nil {
		t.Fatal(err)
	}
	want(t, "back", exists(h.root, "back/.git"), true)
}

// One note that cannot be read hides no other.
func TestAsides_listsTheOthersWhereANoteCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "init", "-q", "a")
	gitIn(t, s.Dir, "init", "-q", "b")
	cleared(t, s, "T1")
	workspaces := filepath.Dir(s.Dir)
	write(t, workspaces, ".aside/T1/1.json", "{nonsense")
	all, err := Asides(workspaces, "")
	wantError(t, err, "cannot list all that is set aside in", "1.json")
	wantAside(t, all, "b: a repository of its own")
}

// A worktree with nothing but files that git ignores is not removed: nothing else has them.
func TestRelease_keepsAWorktreeWithIgnoredFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "worktree", "add", "-q", "inside", "-b", "inside")
	write(t, s.Dir, "inside/cache/measured", "x")
	done := cleared(t, s, "T1")
	wantAside(t, done.Aside, "inside: a worktree that was added here")
	want(t, "its file", read(t, done.Aside[0].At, "cache/measured"), "x")
}

// A repository that lies where the base has a file is set aside before git has to write that file.
func TestRelease_setsAsideARepositoryInPlaceOfABaseFile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "rm", "-q", "a.txt")
	gitIn(t, s.Dir, "commit", "-q", "-m", "without")
	gitIn(t, s.Dir, "init", "-q", "a.txt")
	write(t, s.Dir, "a.txt/precious", "x")
	done := cleared(t, s, "T1")
	wantAside(t, done.Aside, "a.txt: a repository of its own")
	want(t, "its file", read(t, done.Aside[0].At, "precious"), "x")
	wantClean(t, s, gitIn(t, h.Path, "rev-parse", "main"))
}

// A worktree that lies aside is git's only where git lists it: what its own files say leads nowhere.
func TestRestore_saysHowToRegisterAWorktreeUnknownToGit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "worktree", "add", "-q", "inside", "-b", "inside")
	write(t, s.Dir, "inside/half", "x")
	a := cleared(t, s, "T1").Aside[0]
	if err := os.RemoveAll(filepath.Join(h.Path, ".git/worktrees/inside")); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(h.root, "there")
	err := Worktrees{Repo: h.Repo}.Restore(t.Context(), a, to)
	wantError(t, err, "it is at "+strconv.Quote(to)+" now", "git worktree repair")
	want(t, "its file", read(t, to, "half"), "x")
	want(t, "the list", len(asidesOf(t, s, "")), 0)
}
