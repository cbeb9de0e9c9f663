package worktree

import (
	"strings"
	"testing"

	"orange/internal/rules/diff"
)

func TestPatch_namesWhatItIsAChangeOf(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	gitIn(t, h.Path, "config", "diff.noprefix", "true") // a person's own habit
	commit(t, s.Dir, "a.txt", "uno\n")
	first := gitIn(t, s.Dir, "rev-parse", "HEAD")
	commit(t, s.Dir, "b c.txt", "due\n")
	second := gitIn(t, s.Dir, "rev-parse", "HEAD")
	start := gitIn(t, s.Dir, "rev-parse", "HEAD~2")
	patch := func(from string) diff.Patch {
		t.Helper()
		p, err := s.Files().Patch(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := patch("")
	names := func(p diff.Patch) (out []string) {
		for _, f := range diff.Parse(p.Text).Files {
			out = append(out, f.Name)
		}
		return out
	}
	want(t, "the files", strings.Join(names(all), ","), "a.txt,b c.txt")
	all.Text = ""
	want(t, "the whole", all, diff.Patch{Base: "main", From: start, To: second, Dir: s.Dir})
	write(t, s.Dir, "a.txt", "tre\n")
	since := patch(first)
	want(t, "the files since", strings.Join(names(since), ","), "a.txt,b c.txt")
	since.Text = ""
	want(t, "what is since", since, diff.Patch{From: first, To: second, Dir: s.Dir, Loose: true})
	if _, err := s.Files().Patch(t.Context(), strings.Repeat("1", 40)); err == nil ||
		!strings.Contains(err.Error(), "does not have that commit any more") {
		t.Errorf("of a commit that is gone: %v", err)
	}
	branch, err := h.BranchPatch(t.Context(), "work", "")
	want(t, "an error", err, nil)
	want(t, "the branch's files", strings.Join(names(branch), ","), "a.txt,b c.txt")
	branch.Text = ""
	want(t, "the branch", branch, diff.Patch{Base: "main", From: start, To: second})
	branch, err = h.BranchPatch(t.Context(), "work", first)
	want(t, "an error", err, nil)
	want(t, "the branch's files since", strings.Join(names(branch), ","), "b c.txt")
}
