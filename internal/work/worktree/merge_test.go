package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// topic makes a branch with one commit on top of main, in the pool, and frees the slot again.
func (h home) topic(t *testing.T, branch, file, content string) string {
	t.Helper()
	s := h.prepared(t, branch, "T1")
	head := commit(t, s.Dir, file, content)
	release(t, s, "T1")
	return head
}

// pushed is a merge of a branch that origin gets, with so many commits of the local default branch.
func pushed(branch string, with ...int) merge.Plan {
	order := record.MergeOrder{Push: true}
	if len(with) > 0 {
		order.With = with[0]
	}
	return merge.Plan{Branch: branch, MergeOrder: order}
}

func mergeIn(t *testing.T, h home, m merge.Plan) merge.Merged {
	t.Helper()
	done, err := h.into().Merge(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// snapshot is everything of the user's checkout and refs that a refused merge must leave as it was.
func snapshot(t *testing.T, h home) string {
	t.Helper()
	refs := gitIn(t, h.Path, "for-each-ref", "refs/heads", "refs/stash")
	return strings.Join([]string{refs, gitIn(t, h.Path, "symbolic-ref", "HEAD"),
		gitIn(t, h.Path, "status", "--porcelain"), gitIn(t, h.Path, "diff", "HEAD"),
		gitIn(t, h.Path, "ls-files", "-s")}, "\n")
}

// Defect 10 of the original: merge switched the user's own checkout.
func TestMerge_leavesADirtyCheckoutOnAnotherBranchUntouched(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "done\n")
	gitIn(t, h.Path, "switch", "-q", "-c", "mine")
	write(t, h.Path, "a.txt", "half\n")
	write(t, h.Path, "work.txt", "untracked\n")
	status := gitIn(t, h.Path, "status", "--porcelain")
	done := mergeIn(t, h, merge.Plan{Branch: "topic"})
	want(t, "merged", done, merge.Merged{Commit: head, How: "fast-forward"})
	want(t, "main", gitIn(t, h.Path, "rev-parse", "main"), head)
	want(t, "branch", gitIn(t, h.Path, "branch", "--show-current"), "mine")
	want(t, "status", gitIn(t, h.Path, "status", "--porcelain"), status)
	want(t, "again", mergeIn(t, h, merge.Plan{Branch: "topic"}), merge.Merged{Commit: head, How: "already merged"})
}

func TestMerge_fastForwardsTheCheckoutThatHasTheDefaultBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "done\n")
	write(t, h.Path, "a.txt", "half\n") // not in the way
	gitIn(t, h.Path, "config", "merge.autoStash", "true")
	done := mergeIn(t, h, merge.Plan{Branch: "topic"})
	want(t, "merged", done, merge.Merged{Commit: head, How: "fast-forward"})
	want(t, "file", read(t, h.Path, "work.txt"), "done\n")
	want(t, "half", read(t, h.Path, "a.txt"), "half\n")
	want(t, "status", gitIn(t, h.Path, "status", "--porcelain"), " M a.txt")
}

func TestMerge_refusesWhatWouldOverwriteTheUsersFiles(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*testing.T, home){
		"Changed": func(t *testing.T, h home) { write(t, h.Path, "a.txt", "mine\n") },
		"Staged": func(t *testing.T, h home) {
			write(t, h.Path, "a.txt", "mine\n")
			gitIn(t, h.Path, "add",
				"a.txt")
		},
		"Untracked": func(t *testing.T, h home) { write(t, h.Path, "new.txt", "mine\n") },
		"Ignored":   func(t *testing.T, h home) { write(t, h.Path, "kept.log", "mine\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			gitIn(t, h.Path, "config", "merge.autoStash", "true")
			s := h.prepared(t, "topic", "T1")
			commit(t, s.Dir, "a.txt", "topic\n")
			commit(t, s.Dir, "new.txt", "topic\n")
			commit(t, s.Dir, "kept.log", "topic\n")
			prepare(t, h)
			before := snapshot(t, h)
			_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"})
			wantError(t, err, "cannot merge", h.Path, "nothing was changed", "run this again")
			want(t, "nothing changed", snapshot(t, h), before)
			for _, file := range []string{"a.txt", "new.txt", "kept.log"} {
				if exists(h.Path, file) {
					want(t, file, read(t, h.Path, file) != "topic\n", true)
				}
			}
		})
	}
}

func TestMerge_makesAMergeCommitInTheUsersName(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "done\n")
	mine := commit(t, h.Path, "mine.txt", "mine\n")
	done := mergeIn(t, h, merge.Plan{Branch: "topic", Message: "Merge branch 'topic'\n"})
	want(t, "how", done.How, "merge commit")
	want(t, "parents", gitIn(t, h.Path, "log", "-1", "--format=%P", "main"), mine+" "+head)
	want(t, "name", gitIn(t, h.Path, "log", "-1", "--format=%an %ce", "main"), "Ada ada@example.org")
	want(t, "message", gitIn(t, h.Path, "log", "-1", "--format=%B", "main"), "Merge branch 'topic'")
	want(t, "files", exists(h.Path, "work.txt") && exists(h.Path, "mine.txt"), true)
	want(t, "status", gitIn(t, h.Path, "status", "--porcelain"), "")
}

func TestMerge_strategies(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.topic(t, "first", "first.txt", "x")
	second := h.topic(t, "second", "second.txt", "x")
	done := mergeIn(t, h, merge.Plan{Branch: "first", Message: "Take it; $(x) `y`\n\nWith words",
		MergeOrder: record.MergeOrder{Strategy: "merge"}})
	want(t, "how", done.How, "merge commit")
	want(t, "second parent", gitIn(t, h.Path, "rev-parse", "main^2"), first)
	want(t, "message", gitIn(t, h.Path, "log", "-1", "--format=%B", "main"), "Take it; $(x) `y`\n\nWith words")
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "second", MergeOrder: record.MergeOrder{Strategy: "ff"}})
	wantError(t, err, "fast-forward is not possible", "nothing was changed")
	want(t, "nothing changed", snapshot(t, h), before)
	_, err = h.into().Merge(t.Context(), merge.Plan{Branch: "second",
		MergeOrder: record.MergeOrder{Strategy: "octopus"}})
	want(t, "usage", errors.Is(err, task.ErrUsage), true)
	_, err = h.into().Merge(t.Context(), merge.Plan{Branch: "nowhere"})
	want(t, "not found", errors.Is(err, task.ErrNotFound), true)
	_, err = h.into().Merge(t.Context(), merge.Plan{Branch: "--help"})
	want(t, "usage", errors.Is(err, task.ErrUsage), true)
	mergeIn(t, h, merge.Plan{Branch: "second"})
	want(t, "second", gitIn(t, h.Path, "rev-parse", "main^2"), second)
}

func TestMerge_conflictsAreNamedAndNothingChanges(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "a.txt", "topic\n")
	commit(t, s.Dir, "größe x.txt", "topic\n")
	commit(t, h.Path, "a.txt", "main\n")
	commit(t, h.Path, "größe x.txt", "main\n")
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"})
	wantError(t, err, `"a.txt"`, `"größe x.txt"`, "nothing was changed")
	want(t, "nothing changed", snapshot(t, h), before)
}

func TestMerge_withoutIdentityChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.topic(t, "topic", "work.txt", "x")
	commit(t, h.Path, "mine.txt", "x")
	gitIn(t, h.Path, "config", "user.useConfigOnly", "true")
	gitIn(t, h.Path, "config", "user.email", "")
	gitIn(t, h.Path, "config", "user.name", "")
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"})
	wantError(t, err, "user.name", "nothing was changed")
	want(t, "nothing changed", snapshot(t, h), before)
}

func TestMerge_keepsTheUsersSigning(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.topic(t, "topic", "work.txt", "x")
	commit(t, h.Path, "mine.txt", "x")
	gitIn(t, h.Path, "config", "commit.gpgSign", "true")
	gitIn(t, h.Path, "config", "gpg.program", "/bin/false")
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"})
	wantError(t, err, "gpg failed")
}

func TestMerge_withOrigin(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	other := h.colleague(t)
	theirs := commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "main")
	done := mergeIn(t, h, pushed("topic"))
	want(t, "merged", done, merge.Merged{Commit: done.Commit, How: "merge commit", Pushed: true})
	want(t, "from origin's", gitIn(t, h.Path, "rev-parse", "main^1"), theirs)
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "main"), done.Commit)
	again := mergeIn(t, h, pushed("topic"))
	want(t, "again", again, merge.Merged{Commit: done.Commit, How: "already merged", Pushed: true})
}

func TestMerge_divergedChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	other := h.colleague(t)
	commit(t, other, "theirs.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "main")
	commit(t, h.Path, "mine.txt", "x")
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), pushed("topic"))
	wantError(t, err, "have diverged", "nothing was changed")
	want(t, "nothing changed", snapshot(t, h), before)
}

func TestMerge_unreachableOriginIsNotNoOrigin(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	if err := os.RemoveAll(h.origin()); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), pushed("topic"))
	wantError(t, err, "nothing was changed", "cannot fetch")
	want(t, "nothing changed", snapshot(t, h), before)
	_, err = h.DeleteRemoteBranch(t.Context(), "topic", "abc", "", time.Time{})
	wantError(t, err, "cannot delete", "ask origin")
}

// Defect: the local default branch moved first, and the push was refused after it.
func TestMerge_thatOriginRefusesLeavesAllAsItWas(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	head := h.topic(t, "topic", "work.txt", "x")
	hook := filepath.Join(h.origin(), "hooks", "pre-receive")
	write(t, filepath.Dir(hook), "pre-receive", "#!/bin/sh\necho main is protected >&2\nexit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), pushed("topic"))
	wantError(t, err, "origin did not take it", "nothing was changed", "main is protected")
	if _, refused := errors.AsType[*merge.PushRefused](err); !refused {
		t.Errorf("the error is %T, not a refused push", err)
	}
	want(t, "nothing changed", snapshot(t, h), before)
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	want(t, "goes on", mergeIn(t, h, pushed("topic")),
		merge.Merged{Commit: head, How: "fast-forward", Pushed: true})
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "main"), head)
}

func TestMerge_takesCommitsAlongOnlyIfTheirNumberIsNamed(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	commit(t, h.Path, "mine.txt", "x")
	commit(t, h.Path, "half.txt", "x")
	count, newest, err := h.Unpushed(t.Context())
	if err != nil || count != 2 || len(newest) != 2 {
		t.Fatalf("there are %d unpushed, %q: %v", count, newest, err)
	}
	before := snapshot(t, h)
	for _, with := range []int{0, 1, 3} {
		_, err := h.into().Merge(t.Context(), pushed("topic", with))
		wantError(t, err, "2 commits that origin has not", "nothing was changed")
	}
	want(t, "nothing changed", snapshot(t, h), before)
	want(t, "here only", mergeIn(t, h, merge.Plan{Branch: "topic", Message: "Merge"}).Pushed, false)
	count, _, err = h.Unpushed(t.Context())
	if err != nil || count != 4 {
		t.Fatalf("there are %d unpushed: %v", count, err)
	}
	done := mergeIn(t, h, pushed("topic", 4))
	want(t, "pushed later", done, merge.Merged{Commit: done.Commit, How: "already merged", Pushed: true})
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "main"), done.Commit)
}

// A person's colleague pushes between the fetch and the push.
func TestMerge_isMadeAgainWhereTheDefaultBranchMoves(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	head := h.topic(t, "topic", "work.txt", "x")
	other := h.colleague(t)
	begun := 0
	request := pushed("topic")
	request.Begin = func(context.Context, string) error {
		if begun++; begun < 3 {
			commit(t, other, strings.Repeat("theirs", begun), "x")
			gitIn(t, other, "push", "-q", "origin", "HEAD:main")
		}
		return nil
	}
	done := mergeIn(t, h, request)
	want(t, "tries", begun, 3)
	want(t, "how", done.How, "merge commit")
	want(t, "theirs", gitIn(t, h.Path, "rev-parse", "main^1"), gitIn(t, other, "rev-parse", "HEAD"))
	want(t, "ours", gitIn(t, h.Path, "rev-parse", "main^2"), head)
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "main"), done.Commit)

	h.topic(t, "next", "next.txt", "x")
	before := snapshot(t, h)
	request = pushed("next")
	request.Begin = func(context.Context, string) error {
		gitIn(t, other, "fetch", "-q")
		gitIn(t, other, "reset", "-q", "--hard", "origin/main")
		commit(t, other, "once more", strings.Repeat("x", begun))
		gitIn(t, other, "push", "-q", "origin", "HEAD:main")
		begun++
		return nil
	}
	_, err := h.into().Merge(t.Context(), request)
	wantError(t, err, "moved meanwhile", "nothing was changed")
	want(t, "tries", begun, 6)
	want(t, "nothing changed", snapshot(t, h), before)
}

// A push whose answer is lost is known by what origin has.
func TestMerge_asksOriginWhereTheAnswerOfAPushIsLost(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	head := h.topic(t, "topic", "work.txt", "x")
	// The hook ends the connection after the refs have moved.
	hooks := filepath.Join(h.origin(), "hooks")
	write(t, hooks, "post-receive", "#!/bin/sh\nkill -9 $PPID\n")
	if err := os.Chmod(filepath.Join(hooks, "post-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, "merged", mergeIn(t, h, pushed("topic")),
		merge.Merged{Commit: head, How: "fast-forward", Pushed: true})
	want(t, "main", gitIn(t, h.Path, "rev-parse", "main"), head)
}

func TestMerge_squash(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "one.txt", "1\n")
	head := commit(t, s.Dir, "two.txt", "2\n")
	mine := commit(t, h.Path, "mine.txt", "mine\n")
	request := merge.Plan{Branch: "topic", Message: "Two files\n\nOrange-Task: T1",
		MergeOrder: record.MergeOrder{Strategy: "squash"}}
	var result string
	request.Begin = func(_ context.Context, commit string) error { result = commit; return nil }
	done := mergeIn(t, h, request)
	want(t, "merged", done, merge.Merged{Commit: result, How: "squash", Squash: true})
	want(t, "parents", gitIn(t, h.Path, "log", "-1", "--format=%P", "main"), mine)
	want(t, "message", gitIn(t, h.Path, "log", "-1", "--format=%B", "main"), "Two files\n\nOrange-Task: T1")
	want(t, "the branch", gitIn(t, h.Path, "rev-parse", "topic"), head)
	want(t, "files", exists(h.Path, "one.txt") && exists(h.Path, "two.txt") && exists(h.Path, "mine.txt"), true)

	commit(t, h.Path, "one.txt", "changed since\n")
	request.Results = []string{strings.Repeat("1", 40), result}
	after := gitIn(t, h.Path, "rev-parse", "main")
	want(t, "again", mergeIn(t, h, request), merge.Merged{Commit: after, How: "already merged", Landed: result,
		Squash: true})

	n := h.prepared(t, "straight", "T2")
	commit(t, n.Dir, "three.txt", "3\n")
	done = mergeIn(t, h, merge.Plan{Branch: "straight", Message: "Three",
		MergeOrder: record.MergeOrder{Strategy: "squash"}})
	want(t, "parents", gitIn(t, h.Path, "log", "-1", "--format=%P", "main"), after)
	want(t, "how", done.How, "squash")
}

func TestMerge_thatItsCheckRefusesLeavesAllAsItWas(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	h.topic(t, "topic", "work.txt", "x")
	commit(t, h.Path, "mine.txt", "x")
	gitIn(t, h.Path, "push", "-q", "origin", "main")
	before := snapshot(t, h)
	request := pushed("topic")
	request.Message = "Merge"
	request.Check = func(_ context.Context, commit string) error {
		want(t, "the files of both", gitIn(t, h.Path, "ls-tree", "--name-only", commit, "work.txt", "mine.txt"),
			"mine.txt\nwork.txt")
		return errors.New("two tests fail")
	}
	request.Begin = func(context.Context, string) error { t.Error("it began"); return nil }
	_, err := h.into().Merge(t.Context(), request)
	wantError(t, err, "two tests fail")
	want(t, "nothing changed", snapshot(t, h), before)
}

func TestMerge_pushesToAnEmptyOriginAndMakesAMissingLocalBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "x")
	gitIn(t, h.root, "init", "-q", "--bare", "origin.git")
	gitIn(t, h.Path, "remote", "add", "origin", h.origin())
	want(t, "merged", mergeIn(t, h, pushed("topic", 1)).Pushed, true)
	want(t, "origin", gitIn(t, h.origin(), "rev-parse", "main"), head)
	next := h.topic(t, "next", "next.txt", "x")
	gitIn(t, h.Path, "switch", "-q", "--detach")
	gitIn(t, h.Path, "branch", "-q", "-D", "main")
	want(t, "merged", mergeIn(t, h, pushed("next")).How, "fast-forward")
	want(t, "main", gitIn(t, h.Path, "rev-parse", "main"), next)
}

func TestDeleteRemoteBranch_onlyWhatIsMerged(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	ctx := t.Context()
	head := h.topic(t, "topic", "work.txt", "x")
	out, err := h.DeleteRemoteBranch(ctx, "topic", head, "", time.Time{})
	want(t, "nothing there", out == git.Deleted{} && err == nil, true)
	gitIn(t, h.Path, "push", "-q", "origin", "topic", "topic:refs/heads/deep/refs/heads/topic")
	_, err = h.DeleteRemoteBranch(ctx, "topic", head, "", time.Time{})
	wantError(t, err, "left alone", "not merged")
	_, err = h.DeleteRemoteBranch(ctx, "topic", head, strings.Repeat("1", 40), time.Time{})
	wantError(t, err, "left alone", "not merged")
	out, err = h.DeleteRemoteBranch(ctx, "topic", head, head, time.Time{})
	want(t, "squashed on GitHub", out == git.Deleted{Tip: head} && err == nil, true)
	gitIn(t, h.Path, "push", "-q", "origin", "topic")
	_, err = h.DeleteRemoteBranch(ctx, "main", head, "", time.Time{})
	wantError(t, err, "default branch")

	other := h.colleague(t)
	gitIn(t, other, "switch", "-q", "topic")
	commit(t, other, "more.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "topic")
	mergeIn(t, h, pushed("topic"))
	_, err = h.DeleteRemoteBranch(ctx, "topic", head, "", time.Time{})
	wantError(t, err, "left alone", "another clone")
	gitIn(t, other, "push", "-q", "-f", "origin", head+":topic")
	out, err = h.DeleteRemoteBranch(ctx, "topic", head, "", time.Time{})
	want(t, "error", err, nil)
	want(t, "deleted", out, git.Deleted{Tip: head})
	want(t, "on origin", gitIn(t, h.origin(), "for-each-ref", "--format=%(refname)", "refs/heads/topic",
		"refs/heads/deep"), "refs/heads/deep/refs/heads/topic")
	want(t, "here", gitIn(t, h.Path, "rev-parse", "topic"), head)
	out, err = newHome(t).DeleteRemoteBranch(ctx, "topic", head, "", time.Time{})
	want(t, "no origin", out == git.Deleted{} && err == nil, true)
}

// What Orange did not push is deleted where nothing is on it but what the task merged, and is no failure elsewhere.
func TestDeleteRemoteBranch_ofSomeoneElseIsNoFailure(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	first := gitIn(t, h.Path, "rev-parse", "main")
	head := h.topic(t, "topic", "work.txt", "x")
	gitIn(t, h.Path, "push", "-q", "origin", "topic")
	left := func(what, why string) {
		t.Helper()
		out, err := h.DeleteRemoteBranch(t.Context(), "topic", "", "", time.Time{})
		want(t, what, err, nil)
		if out.Tip != "" || !strings.Contains(out.Left, why) {
			t.Errorf("%s: %+v, want it to say %q", what, out, why)
		}
	}
	left("not merged", "not merged")
	other := h.colleague(t)
	gitIn(t, other, "switch", "-q", "topic")
	theirs := commit(t, other, "more.txt", "x")
	gitIn(t, other, "push", "-q", "origin", "topic")
	mergeIn(t, h, pushed("topic"))
	left("with a commit of someone else", "another clone")
	gitIn(t, other, "switch", "-q", "main")
	gitIn(t, other, "pull", "-q")
	gitIn(t, other, "merge", "-q", "topic")
	gitIn(t, other, "push", "-q", "origin", "main")
	left("with a merged commit of someone else", "not on the branch here")
	want(t, "on origin", gitIn(t, h.origin(), "rev-parse", "topic"), theirs)
	gitIn(t, h.Path, "branch", "-q", "-m", "topic", "aside")
	left("without the branch here", "not on the branch here")
	gitIn(t, h.Path, "branch", "-q", "-m", "aside", "topic")
	later := time.Now().Add(time.Hour) // of the task: the branch was there before
	gitIn(t, other, "push", "-q", "-f", "origin", head+":refs/heads/topic")
	out, err := h.DeleteRemoteBranch(t.Context(), "topic", "", "", later)
	want(t, "older than the task", err, nil)
	want(t, "older than the task", strings.Contains(out.Left, "older than the task"), true)
	for name, tip := range map[string]string{"its tip": head, "an earlier push": first} {
		gitIn(t, other, "push", "-q", "-f", "origin", tip+":refs/heads/topic")
		out, err := h.DeleteRemoteBranch(t.Context(), "topic", "", "", time.Time{})
		want(t, name, err, nil)
		want(t, name, out, git.Deleted{Tip: tip})
	}
}

func TestMerge_whereTheDefaultBranchIsCheckedOut(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "x")
	second := filepath.Join(h.root, "second")
	gitIn(t, h.Path, "worktree", "add", "-q", "--force", second, "main")
	before := snapshot(t, h)
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"})
	wantError(t, err, h.Path, second, "nothing was changed")
	want(t, "nothing changed", snapshot(t, h), before)

	gitIn(t, h.Path, "switch", "-q", "-c", "mine")
	want(t, "the linked one", mergeIn(t, h, merge.Plan{Branch: "topic"}),
		merge.Merged{Commit: head, How: "fast-forward"})
	next := h.topic(t, "next", "next.txt", "x")
	if err := os.RemoveAll(second); err != nil {
		t.Fatal(err)
	}
	want(t, "one that is gone", mergeIn(t, h, merge.Plan{Branch: "next"}), merge.Merged{Commit: next,
		How: "fast-forward"})
}

// A graft in the repository's info/grafts gives a commit other parents than it has. A merge that believed it
// would move the default branch to a commit that has not what the person committed there, and their files would
// go with it.
func TestMerge_believesNoGraft(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := h.topic(t, "topic", "work.txt", "done\n")
	mine := commit(t, h.Path, "mine.txt", "a person's\n")
	write(t, h.Path, ".git/info/grafts", head+" "+mine+"\n")
	_, err := h.into().Merge(t.Context(), merge.Plan{Branch: "topic"}) // who reviewed it saw other changes
	wantError(t, err, "other parents", "nothing was changed")
	write(t, h.Path, ".git/info/grafts", gitIn(t, h.Path, "rev-parse", "main~1")+" "+mine+"\n")
	done := mergeIn(t, h, merge.Plan{Branch: "topic"})
	want(t, "how", done.How, "merge commit")
	want(t, "the person's file", read(t, h.Path, "mine.txt"), "a person's\n")
	want(t, "the work", read(t, h.Path, "work.txt"), "done\n")

	head = h.topic(t, "next", "more.txt", "more\n")
	write(t, h.Path, ".git/info/grafts", done.Commit+" "+head+"\n")
	ahead, err := h.Ahead(t.Context(), "next", "")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the branch brings something", ahead, true)
	mergeIn(t, h, merge.Plan{Branch: "next"})
	want(t, "its file", read(t, h.Path, "more.txt"), "more\n")
}
