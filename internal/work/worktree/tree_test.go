package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judged is a slot with work of every kind, whose trees were written down.
func judged(t *testing.T) (home, Slot, Trees) {
	t.Helper()
	h := newHome(t)
	commit(t, h.Path, "gone.txt", "gone\n")
	commit(t, h.Path, "same.txt", "same\n")
	s := h.prepared(t, "topic", "T1")
	write(t, h.root, "TASK.md", "# Task\n")
	if _, err := s.Document().Link(t.Context(), filepath.Join(h.root, "TASK.md")); err != nil {
		t.Fatal(err)
	}
	write(t, s.Dir, "a.txt", "two\n")
	write(t, s.Dir, "new/ä b.txt", "new\n")
	write(t, s.Dir, "staged.txt", "staged\n")
	gitIn(t, s.Dir, "add", "staged.txt")
	write(t, s.Dir, "noise.log", "ignored\n")
	gitIn(t, s.Dir, "update-index", "--skip-worktree", "sub/deep.txt")
	write(t, s.Dir, "sub/deep.txt", "hidden\n")
	if err := os.Remove(filepath.Join(s.Dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	status := gitIn(t, s.Dir, "status", "--porcelain")
	made, err := s.Files().Trees(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), status)
	return h, s, made
}

func TestTrees_holdWhatLiesInTheWorktree(t *testing.T) {
	t.Parallel()
	h, s, made := judged(t)
	names := func(tree string) string {
		return strings.ReplaceAll(gitIn(t, h.Path, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only",
			tree), "\n", "|")
	}
	want(t, "whole", names(made.Whole), ".gitignore|a.txt|new/ä b.txt|same.txt|staged.txt|sub/deep.txt")
	want(t, "tracked", names(made.Tracked), ".gitignore|a.txt|same.txt|staged.txt|sub/deep.txt")
	want(t, "a hidden change", gitIn(t, h.Path, "show", made.Whole+":sub/deep.txt"), "hidden")
	gitIn(t, s.Dir, "add", "-A")
	gitIn(t, s.Dir, "update-index", "--no-skip-worktree", "sub/deep.txt")
	gitIn(t, s.Dir, "reset", "-q", "--hard")
	gitIn(t, h.Path, "gc", "-q", "--prune=now")
	want(t, "kept", gitIn(t, h.Path, "rev-parse", "refs/orange/judged/T1", "refs/orange/judged-tracked/T1"),
		made.Whole+"\n"+made.Tracked)
	want(t, "with what is in it", gitIn(t, h.Path, "show", made.Whole+":new/ä b.txt"), "new")
}

func TestChangedSince_looksAtTheTreesFilesAndAtTrackedOnes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, s Slot)
		found  string
	}{
		"nothing":         {},
		"a new file":      {change: func(t *testing.T, s Slot) { write(t, s.Dir, "later.txt", "x") }},
		"an ignored file": {change: func(t *testing.T, s Slot) { write(t, s.Dir, "noise.log", "more") }},
		"a new file that git knows": {found: "later.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "later.txt", "x")
			gitIn(t, s.Dir, "add", "later.txt")
		}},
		"an unknown file of the tree": {found: "new/ä b.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "new/ä b.txt", "x")
		}},
		"which is gone": {found: "new/ä b.txt", change: func(t *testing.T, s Slot) {
			_ = os.RemoveAll(filepath.Join(s.Dir, "new"))
		}},
		"which is a link's folder now": {found: "new/ä b.txt", change: func(t *testing.T, s Slot) {
			_ = os.Rename(filepath.Join(s.Dir, "new"), filepath.Join(s.Dir, "cache"))
			_ = os.Symlink("cache", filepath.Join(s.Dir, "new"))
		}},
		"which git knows by now": {change: func(t *testing.T, s Slot) { gitIn(t, s.Dir, "add", "new") }},
		"a known file": {found: "same.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "same.txt", "x")
		}},
		"a hidden file": {found: "sub/deep.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "sub/deep.txt", "x")
		}},
		"a mode": {found: "a.txt", change: func(t *testing.T, s Slot) {
			_ = os.Chmod(filepath.Join(s.Dir, "a.txt"), 0o755)
		}},
		"a file that is back": {found: "gone.txt", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "restore", "gone.txt")
		}},
		"all of it committed": {change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "add", "-A")
			gitIn(t, s.Dir, "commit", "-q", "-m", "all")
		}},
		"a file that git forgot": {change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "rm", "-q", "--cached", "same.txt")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, made := judged(t)
			if row.change != nil {
				row.change(t, s)
			}
			changed, err := s.Files().ChangedSince(t.Context(), made.Whole)
			want(t, "changed", strings.Join(changed, "|"), row.found)
			want(t, "error", err, nil)
		})
	}
}

func TestDiffers_letsOnlyFilesBeMissingThatGitDidNotKnow(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, s Slot)
		found  string
	}{
		"all of it":                {change: func(t *testing.T, s Slot) { gitIn(t, s.Dir, "add", "new") }},
		"without the unknown file": {},
		"with another unknown file": {found: "later.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "later.txt", "x")
			gitIn(t, s.Dir, "add", "later.txt")
		}},
		"with the unknown file changed": {found: "new/ä b.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "new/ä b.txt", "x")
			gitIn(t, s.Dir, "add", "new")
		}},
		"without a known file": {found: "same.txt", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "rm", "-q", "same.txt")
		}},
		"reformatted": {found: "a.txt", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "a.txt", "TWO\n")
			gitIn(t, s.Dir, "add", "a.txt")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s, made := judged(t)
			gitIn(t, s.Dir, "update-index", "--no-skip-worktree", "sub/deep.txt")
			gitIn(t, s.Dir, "add", "--update")
			if row.change != nil {
				row.change(t, s)
			}
			gitIn(t, s.Dir, "commit", "-q", "-m", "work")
			differs, err := Judged{Repo: h.Repo}.Differs(t.Context(), made, gitIn(t, s.Dir, "rev-parse", "HEAD"))
			want(t, "differs", strings.Join(differs, "|"), row.found)
			want(t, "error", err, nil)
		})
	}
}

func TestForgetJudged_keepsWorkThatNoOtherRefHas(t *testing.T) {
	t.Parallel()
	committed := func(t *testing.T, s Slot) {
		gitIn(t, s.Dir, "update-index", "--no-skip-worktree", "sub/deep.txt")
		gitIn(t, s.Dir, "add", "--update")
		gitIn(t, s.Dir, "commit", "-q", "-m", "work")
	}
	for name, row := range map[string]struct {
		change func(t *testing.T, s Slot)
		branch string
		well   bool
		kept   string
	}{
		"committed, and a file that nobody wanted deleted": {
			branch: "topic", well: true, change: func(t *testing.T, s Slot) {
				committed(t, s)
				_ = os.RemoveAll(filepath.Join(s.Dir, "new"))
			}},
		"committed but for a new file, and given up": {branch: "topic", change: committed,
			kept: "refs/orange/rescue/T1/1"},
		"all of it committed, with something more": {branch: "topic", change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "more.txt", "more\n")
			gitIn(t, s.Dir, "add", "-A")
			committed(t, s)
		}},
		"rescued already": {branch: "topic", change: func(t *testing.T, s Slot) {
			if _, err := s.Release(t.Context(), "T1"); err != nil {
				t.Fatal(err)
			}
		}},
		"taken back": {branch: "topic", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "reset", "-q", "--hard")
		}, kept: "refs/orange/rescue/T1/1"},
		"committed otherwise": {branch: "topic", well: true, change: func(t *testing.T, s Slot) {
			write(t, s.Dir, "a.txt", "three\n")
			committed(t, s)
		}, kept: "refs/orange/rescue/T1/1"},
		"a branch that is gone": {branch: "no-such", change: committed, kept: "refs/orange/rescue/T1/1"},
		"of an unknown task":    {change: committed, kept: "refs/orange/rescue/T1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s, made := judged(t)
			want(t, "judged", strings.Join(judgedTasks(t, h), "|"), "T1")
			row.change(t, s)
			kept, err := Judged{Repo: h.Repo}.Forget(t.Context(), "T1", row.branch, row.well)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "refs", gitIn(t, h.Path, "for-each-ref", "--format=%(refname)", "refs/orange/judged",
				"refs/orange/judged-tracked"), "")
			want(t, "judged", strings.Join(judgedTasks(t, h), "|"), "")
			var refs []string
			for _, one := range kept {
				refs = append(refs, one.Ref)
				want(t, "its files", gitIn(t, h.Path, "rev-parse", one.Ref+"^{tree}"), made.Whole)
			}
			want(t, "kept", strings.Join(refs, "|"), row.kept)
			again, err := Judged{Repo: h.Repo}.Forget(t.Context(), "T1", row.branch, row.well)
			want(t, "kept again", len(again), 0)
			want(t, "error", err, nil)
		})
	}
}

func judgedTasks(t *testing.T, h home) []string {
	t.Helper()
	all, err := Judged{Repo: h.Repo}.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestForgetJudged_leavesThoseOfOthers(t *testing.T) {
	t.Parallel()
	h, s, _ := judged(t)
	if _, err := s.Files().Trees(t.Context(), "T10"); err != nil {
		t.Fatal(err)
	}
	if _, err := (Judged{Repo: h.Repo}).Forget(t.Context(), "T1", "topic", false); err != nil {
		t.Fatal(err)
	}
	want(t, "judged", strings.Join(judgedTasks(t, h), "|"), "T10")
}

func TestScratch_hasTheCommitAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	tip := commit(t, s.Dir, "work.txt", "work\n")
	write(t, s.Dir, "new.txt", "new\n")
	write(t, s.Dir, "cache/old", "ignored\n")
	dir := filepath.Join(h.root, "pool", ".scratch", "T1-all tests")
	for range 2 { // what a killed run has left is in no one's way
		if err := (Worktrees{Repo: h.Repo}).Scratch(t.Context(), dir, tip); err != nil {
			t.Fatal(err)
		}
		want(t, "files", pool(t, Slot{Dir: filepath.Join(dir, ".git")}), ".git|.gitignore|a.txt|sub|work.txt")
		write(t, dir, "left.txt", "x")
		if err := os.Chmod(filepath.Join(dir, "sub"), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "the branch", gitIn(t, s.Dir, "branch", "--show-current"), "topic")
	for range 2 {
		if err := (Worktrees{Repo: h.Repo}).Unscratch(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "gone", exists(dir, "."), false)
	want(t, "forgotten", strings.Contains(gitIn(t, h.Path, "worktree", "list"), "scratch"), false)
	write(t, dir, "something.txt", "of a maker that was killed before git knew\n")
	if err := (Worktrees{Repo: h.Repo}).Scratch(t.Context(), dir, tip); err != nil {
		t.Fatal(err)
	}
}

func TestBetween_countsBothWays(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	first := commit(t, s.Dir, "b.txt", "b\n")
	commit(t, s.Dir, "c.txt", "c\n")
	last := commit(t, s.Dir, "d.txt", "d\n")
	more, fewer, err := h.Between(t.Context(), first, last)
	want(t, "more", more, 2)
	want(t, "fewer", fewer, 0)
	want(t, "error", err, nil)
	gitIn(t, s.Dir, "reset", "-q", "--hard", "main")
	other := commit(t, s.Dir, "e.txt", "e\n")
	more, fewer, err = h.Between(t.Context(), first, other)
	want(t, "more of another history", more, 1)
	want(t, "fewer", fewer, 1)
	want(t, "error", err, nil)
	_, _, err = h.Between(t.Context(), strings.Repeat("7", 40), other)
	wantError(t, err, "cannot count the commits between")
}
