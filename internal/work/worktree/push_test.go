package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPushBranch_bringsTheCommitsToOriginOnce(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	first := h.topic(t, "topic", "work.txt", "x")
	for _, at := range []bool{true, false} {
		commit, moved, err := h.PushBranch(t.Context(), "topic", "")
		want(t, "error", err, nil)
		want(t, "pushed", commit, first)
		want(t, "moved", moved, at)
		want(t, "origin", gitIn(t, h.origin(), "rev-parse", "refs/heads/topic"), first)
	}
	s := h.prepared(t, "topic", "T1")
	second := commit(t, s.Dir, "more.txt", "y")
	write(t, s.Dir, "uncommitted.txt", "z")
	pushed, moved, err := h.PushBranch(t.Context(), "topic", "")
	want(t, "error", err, nil)
	want(t, "pushed", pushed, second)
	want(t, "moved", moved, true)
	want(t, "uncommitted", exists(s.Dir, "uncommitted.txt"), true)
	want(t, "branches of origin", gitIn(t, h.origin(), "for-each-ref", "--format=%(refname)", "refs/heads"),
		"refs/heads/main\nrefs/heads/topic")
}

func TestPushBranch_withoutAnOriginIsDoneAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.topic(t, "topic", "work.txt", "x")
	commit, moved, err := h.PushBranch(t.Context(), "topic", "")
	want(t, "error", err, nil)
	want(t, "pushed", commit, "")
	want(t, "moved", moved, false)
}

func TestPushBranch_neverForces(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	_, _, err := h.PushBranch(t.Context(), "topic", "")
	want(t, "error", err, nil)
	other := h.colleague(t)
	gitIn(t, other, "switch", "-q", "topic")
	theirs := commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "topic")
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "ours.txt", "x")
	// Not even where a person's configuration forces every push.
	gitIn(t, h.Path, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
	_, _, err = h.PushBranch(t.Context(), "topic", "")
	wantError(t, err, `cannot push "topic" to origin`, "origin has commits there", "try again")
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "refs/heads/topic"), theirs)
}

func TestPushBranch_refusesWhatIsNoBranchOfATask(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	_, _, err := h.PushBranch(t.Context(), "main", "")
	wantError(t, err, "default branch")
	_, _, err = h.PushBranch(t.Context(), "nowhere", "")
	wantError(t, err, "no such branch")
	_, _, err = h.PushBranch(t.Context(), "-x", "")
	wantError(t, err, "-x")
	h.topic(t, "topic", "work.txt", "x")
	gitIn(t, h.Path, "remote", "set-url", "origin", filepath.Join(h.root, "gone.git"))
	_, _, err = h.PushBranch(t.Context(), "topic", "")
	wantError(t, err, "ask origin")
}

func TestPushBranch_letsTheRepositorysOwnHooksRun(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	write(t, h.Path, ".git/hooks/pre-push", "#!/bin/sh\necho no pushing on Fridays >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(h.Path, ".git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err := h.PushBranch(t.Context(), "topic", "")
	wantError(t, err, "no pushing on Fridays")
}

func TestPushBranch_bringsNoMoreThanIsWanted(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	first := h.topic(t, "topic", "work.txt", "x")
	s := h.prepared(t, "topic", "T1")
	second := commit(t, s.Dir, "more.txt", "y")
	pushed, moved, err := h.PushBranch(t.Context(), "topic", first)
	want(t, "error", err, nil)
	want(t, "pushed", pushed, first)
	want(t, "moved", moved, true)
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "refs/heads/topic"), first)
	gitIn(t, s.Dir, "reset", "-q", "--hard", first)
	_, _, err = h.PushBranch(t.Context(), "topic", second)
	wantError(t, err, "the branch no longer has "+second[:7])
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "refs/heads/topic"), first)
}
