package worktree

import "testing"

func TestBringRequest_makesABranchOfItsHeadAndLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	other := h.colleague(t)
	gitIn(t, other, "switch", "-q", "-c", "theirs")
	const ref = "refs/pull/7/head"
	head := commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "theirs:refs/pull/7/head")
	for range 2 {
		want(t, "error", h.BringRequest(t.Context(), ref, "feat/a", head), nil)
		want(t, "branch", gitIn(t, h.Path, "rev-parse", "refs/heads/feat/a"), head)
	}
	mine := h.topic(t, "feat/b", "mine.txt", "x")
	wantError(t, h.BringRequest(t.Context(), ref, "feat/b", head), "is here already, at "+mine[:7], "git branch -m")
	want(t, "branch", gitIn(t, h.Path, "rev-parse", "refs/heads/feat/b"), mine)
	gone := "0123456789012345678901234567890123456789"
	wantError(t, h.BringRequest(t.Context(), ref, "feat/c", gone), "origin does not have its head 0123456", "try again")
	wantError(t, h.BringRequest(t.Context(), "refs/pull/8/head", "feat/c", head),
		"cannot bring the pull request here that origin has as refs/pull/8/head")
	wantError(t, h.BringRequest(t.Context(), ref, "main", head), "it is the default branch")
	want(t, "branches", gitIn(t, h.Path, "for-each-ref", "--format=%(refname)", "refs/heads/feat"),
		"refs/heads/feat/a\nrefs/heads/feat/b")
}
