package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// shallow is a clone that has the newest commit alone, and a branch on it with one commit more.
func shallow(t *testing.T) (clone git.Repo, tip string) {
	t.Helper()
	h := newHomeWithOrigin(t)
	commit(t, h.Path, "b.txt", "two\n")
	gitIn(t, h.Path, "push", "-q", "origin", "main")
	top := filepath.Join(h.root, "shallow")
	gitIn(t, h.root, "clone", "-q", "--depth=1", "file://"+h.origin(), top)
	clone, err := git.Inspect(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, top, "switch", "-q", "-c", "work")
	tip = commit(t, top, "c.txt", "three\n")
	gitIn(t, top, "switch", "-q", "main")
	commit(t, h.Path, "d.txt", "four\n")
	gitIn(t, h.Path, "push", "-q", "origin", "main")
	return clone, tip
}

func TestAShallowClone_isComparedWhereItsHistoryReachesFarEnough(t *testing.T) {
	t.Parallel()
	r, tip := shallow(t)
	if err := r.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	base, err := r.Base(t.Context())
	if err != nil || base.Ref != "origin/main" {
		t.Errorf("the base is %+v, %v", base, err)
	}
	more, fewer, err := r.Between(t.Context(), base.Commit, tip)
	if err != nil || more != 1 || fewer != 1 {
		t.Errorf("found %d more and %d fewer, %v", more, fewer, err)
	}
	changed, _, err := r.Changed(t.Context(), base.Commit, tip)
	if err != nil || strings.Join(changed, " ") != "c.txt" {
		t.Errorf("changed are %q, %v", changed, err)
	}
	if ahead, err := r.Ahead(t.Context(), "work", ""); err != nil || !ahead {
		t.Errorf("ahead: %v, %v", ahead, err)
	}
}

// The newest commit of origin is fetched alone: whether it holds the older one git cannot know, and would deny.
func TestAShallowClone_saysWhereItsHistoryIsTooShort(t *testing.T) {
	t.Parallel()
	r, tip := shallow(t)
	s := Slot{Repo: r, Dir: filepath.Join(filepath.Dir(r.Path), "pool", "shallow--1")}
	prepare(t, s, "other", "abc")
	gitIn(t, r.Path, "fetch", "-q", "--depth=1", "origin", "+main:refs/remotes/origin/main")
	newest, old := gitIn(t, r.Path, "rev-parse", "origin/main"), gitIn(t, r.Path, "rev-parse", "main")
	gitIn(t, r.Path, "update-ref", "refs/heads/main", newest) // else the base alone would be in doubt
	for name, look := range map[string]func() error{
		"between":      func() error { _, _, err := r.Between(t.Context(), newest, tip); return err },
		"changed":      func() error { _, _, err := r.Changed(t.Context(), newest, tip); return err },
		"ahead":        func() error { _, err := r.Ahead(t.Context(), "work", ""); return err },
		"ahead of old": func() error { _, err := r.Ahead(t.Context(), "work", old); return err },
		"contains":     func() error { _, err := r.Contains(t.Context(), newest, old); return err },
		"within":       func() error { _, _, err := r.Within(t.Context(), "work", newest); return err },
		"work":         func() error { _, err := s.Files().Work(t.Context()); return err },
		"diff":         func() error { _, err := s.Files().Diff(t.Context()); return err },
		"branch diff":  func() error { _, err := r.BranchDiff(t.Context(), "work"); return err },
		"merge": func() error {
			_, err := merge.Into{Repo: r}.Merge(t.Context(), merge.Plan{Branch: "work", Message: "merge"})
			return err
		},
	} {
		err := look()
		if err == nil || !strings.Contains(err.Error(), "the history here is too short to compare") ||
			!strings.Contains(err.Error(), "fetch --unshallow") {
			t.Errorf("%s: found %v", name, err)
		}
	}
	if held, err := r.Contains(t.Context(), tip, old); err != nil || !held {
		t.Errorf("what git knows it must say: %v, %v", held, err)
	}
	gitIn(t, r.Path, "fetch", "-q", "--unshallow")
	if more, fewer, err := r.Between(t.Context(), newest, tip); err != nil || more != 1 || fewer != 1 {
		t.Errorf("with all of it found %d more and %d fewer, %v", more, fewer, err)
	}
}
