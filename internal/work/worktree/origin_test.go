package worktree

import (
	"strings"
	"testing"

	"orange/internal/work/git"
)

func TestOrigin_isTheAddressAsWrittenAndAsGitGoesThere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	none, err := h.Origin(t.Context())
	want(t, "without origin", len(none) == 0 && err == nil, true)
	gitIn(t, h.Path, "remote", "add", "origin", "gh:a/b")
	gitIn(t, h.Path, "config", "url.https://github.com/.insteadOf", "gh:")
	found, err := h.Origin(t.Context())
	want(t, "error", err, nil)
	want(t, "addresses", strings.Join(found, " "), "https://github.com/a/b gh:a/b")
}

func TestWithin_saysWhetherACommitHoldsTheBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := gitIn(t, h.Path, "rev-parse", "main")
	head := h.topic(t, "topic", "work.txt", "x")
	tests := map[string]struct {
		branch, commit string
		within, known  bool
	}{
		"its tip":        {"topic", head, true, true},
		"what is behind": {"topic", first, false, true},
		"what is ahead":  {"main", head, true, true},
		"nobody knows":   {"topic", strings.Repeat("1", 40), false, false},
		"no commit":      {"topic", "", false, false},
		"no branch":      {"gone", first, true, true},
	}
	for name, tt := range tests {
		within, known, err := h.Within(t.Context(), tt.branch, tt.commit)
		want(t, name+": error", err, nil)
		want(t, name+": within", within, tt.within)
		want(t, name+": known", known, tt.known)
	}
}

func TestRoot_isTheFirstCommitWhereverTheRepositoryIs(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	first, err := h.Root(t.Context())
	want(t, "error", err, nil)
	want(t, "the first commit", first, gitIn(t, h.Path, "rev-list", "--max-parents=0", "main"))
	commit(t, h.Path, "b.txt", "two\n")
	again, err := h.Root(t.Context())
	want(t, "error", err, nil)
	want(t, "after another commit", again, first)
	part, _ := shallow(t)
	unknown, err := part.Root(t.Context())
	want(t, "error", err, nil)
	want(t, "of a shallow clone", unknown, "")
	empty, err := git.Repo{Path: h.Path, DefaultBranch: "no-such"}.Root(t.Context())
	want(t, "error", err, nil)
	want(t, "of no branch", empty, "")
}
