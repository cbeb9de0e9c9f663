package client_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"orange/internal/api"
	"orange/internal/api/client"
	"orange/internal/api/remote"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// home answers every call with one reply.
type home struct {
	reply remote.Reply
	err   error
	asked remote.Call
}

func (h *home) client() client.Client {
	return client.Client{Run: func(_ context.Context, c remote.Call) (remote.Reply, error) {
		h.asked = c
		return h.reply, h.err
	}}
}

func TestEachOperationIsACommandLineOfTheTable(t *testing.T) {
	t.Parallel()
	h := &home{reply: remote.Reply{Stdout: `{"task": {"id": "abc"}}`}}
	c, ctx, asked := h.client(), t.Context(), map[string]bool{}
	is := func(_ any, err error) error { return err }
	for _, op := range []struct {
		want string
		do   func() error
	}{
		{"task spawn --json -- abc",
			func() error { return is(c.Command(ctx, "abc", "spawn", "")) }},
		{"task cancel --json --reason=why --yes -- abc",
			func() error { return is(c.Command(ctx, "abc", "cancel", "why")) }},
		{"task move --json -- abc done",
			func() error { return is(c.Move(ctx, "abc", "done", "")) }},
		{"task redo --json --reason=a b -- abc planning",
			func() error { return is(c.Redo(ctx, "abc", "planning", "a b")) }},
		{"task request-changes --json -- abc -x",
			func() error { return is(c.RequestChanges(ctx, "abc", "-x")) }},
		{"task create-pr --json -- abc",
			func() error { return is(c.RequestPR(ctx, "abc")) }},
		{"task next --json -- abc",
			func() error { return is(c.Next(ctx, "abc", "done", "")) }},
		{"task next --json --override=why --to=done -- abc",
			func() error {
				return is(c.Next(ctx, "abc", "done", "why"))
			}},
		{"task retry --json -- abc",
			func() error { return is(c.Retry(ctx, "abc")) }},
		{"task merge --json --strategy=ff --no-push --with=2 --override=why --local -- abc",
			func() error {
				_, _, err := c.Merge(ctx, "abc",
					task.Merge{Strategy: "ff", Push: "never", With: 2, Override: "why", Local: true})
				return err
			}},
		{"task say --json -- abc hello",
			func() error { return is(c.Say(ctx, "abc", "hello")) }},
		{"task delete --json --yes -- abc",
			func() error { return is(c.Delete(ctx, "abc")) }},
		{"task create --json --summary=S --no-spawn --after=x --context=context.md --project=garden",
			func() error {
				_, err := c.Create(ctx, task.New{Project: task.Project{Name: "garden"}, Summary: "S", NameBranch: true,
					After: []string{"x"}, Context: "more"})
				return err
			}},
	} {
		if err := op.do(); err != nil {
			t.Errorf("%s: %v", op.want, err)
		}
		if got := strings.Join(h.asked.Argv, " "); got != op.want {
			t.Errorf("found %q, want %q", got, op.want)
		}
		asked[h.asked.Argv[1]] = true
	}
	offered := api.Names(api.Screen)
	if slices.Sort(offered); !slices.Equal(slices.Sorted(maps.Keys(asked)), offered) {
		t.Errorf("it asks for %v, and the table offers %v", slices.Sorted(maps.Keys(asked)), offered)
	}
	train := record.MergeMany{Project: "garden", Tasks: []string{"a", "b"}, Bisect: true}
	if err := c.MergeMany(ctx, train, nil); err != nil {
		t.Error(err)
	}
	if got := strings.Join(h.asked.Argv, " "); got != "merge --json --project=garden --bisect -- a b" {
		t.Errorf("found %q", got)
	}
}

func TestAnAnswerIsReadAsTheCommandMeansIt(t *testing.T) {
	t.Parallel()
	const moved = `{"task": {"id": "abc", "status": "done"}, "from": "working", "to": "done", "moved": true,
		"hooks": [{"action": "notify", "state": "failed", "error": "no answer"}], "stayed_behind": ["x"], "how": "merged"}`
	h := &home{reply: remote.Reply{Exit: 1, Stdout: moved}}
	out, how, err := h.client().Merge(t.Context(), "abc", task.Merge{})
	if err != nil || how != "merged" || !out.Event.IsMove() || out.Task.Status != "done" || len(out.Stayed) != 1 {
		t.Errorf("a move whose hook failed: %+v, %q, %v", out, how, err)
	}
	if failed, _ := out.HookFailures(); len(failed) != 1 || failed[0] != "notify: no answer" {
		t.Errorf("found %q", failed)
	}
	h.reply = remote.Reply{Exit: 3, Stdout: `{"error": "not yet", "code": "gate", "details": [{"found": "nothing"}],
		"from": "working", "to": "done", "may_ask": ["cancelled"], "override": "orange task next"}`}
	_, err = h.client().Retry(t.Context(), "abc")
	if refused := (*rejection.Rejection)(nil); !errors.As(err, &refused) || refused.Code != "gate" ||
		len(refused.Details) != 1 || refused.Override != "orange task next" ||
		!strings.Contains(err.Error(), `moves out of "working" that you may ask for: cancelled`) {
		t.Errorf("a refusal: %v", err)
	}
	h.reply = remote.Reply{Exit: 3, Stdout: `{"error": "it was created, but", "code": "not_ready", "task": {"id": "abc"}}`}
	if out, err := h.client().Create(t.Context(), task.New{}); err == nil || out.Task.ID != "abc" {
		t.Errorf("a task that was created and not started: %+v, %v", out, err)
	}
	for name, reply := range map[string]remote.Reply{
		"it failed":           {Exit: 1, Stdout: `{"error": "boom", "code": "failed"}`},
		"it was not taken":    {Exit: 2, Refused: "boom"},
		"it said it in words": {Exit: 1, Stderr: "boom\n"},
	} {
		h.reply = reply
		if _, err := h.client().Retry(t.Context(), "abc"); err == nil || err.Error() != "boom" {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.reply, h.err = remote.Reply{}, errors.New("no way")
	if _, err := h.client().Retry(t.Context(), "abc"); err == nil || err.Error() != "no way" {
		t.Errorf("the home was not reached: %v", err)
	}
	h.reply, h.err = remote.Reply{Stdout: "?"}, nil
	if _, err := h.client().Retry(t.Context(), "abc"); err == nil || !strings.Contains(err.Error(), "it was done") {
		t.Errorf("an answer that cannot be read: %v", err)
	}
}

func TestWhatBecameOfEachTaskOfATrain(t *testing.T) {
	t.Parallel()
	h := &home{reply: remote.Reply{Exit: 1, Stdout: `{"merged": [{"id": "a", "how": "merged", "stayed_behind": ["x"]}],
		"left": [{"id": "b", "error": "it conflicts\n  c: found f\n    to do: w", "code": "conflict", "with": ["c"],
			"details": [{"condition": "c", "found": "f", "want": "w"}]}], "error": "1 more task was not tried"}`}}
	var all []record.MergedOne
	err := h.client().MergeMany(t.Context(), record.MergeMany{}, func(one record.MergedOne) { all = append(all, one) })
	if err == nil || err.Error() != "1 more task was not tried" || len(all) != 2 {
		t.Fatalf("found %+v, %v", all, err)
	}
	merged, left := all[0], all[1]
	if merged.How != "merged" || merged.Left != nil || !slices.Equal(merged.Outcome.Stayed, []string{"x"}) ||
		left.Left == nil || !slices.Equal(left.With, []string{"c"}) ||
		!strings.HasPrefix(left.Left.Error(), "it conflicts\n  c: found f\n    to do: w") ||
		strings.Count(left.Left.Error(), "found f") != 1 {
		t.Errorf("found %+v", all)
	}
}
