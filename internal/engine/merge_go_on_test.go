package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// killed is a merge whose program is ended in the middle of it: from then on its context is over.
type killed struct {
	*branch
	before  bool // its work was not done yet
	off     context.CancelFunc
	offline error
	fetches int
}

func (k *killed) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if k.off == nil {
		return k.branch.Merge(ctx, t, order, begin)
	}
	if err := begin(ctx, "c0ffee"); err != nil {
		return record.MergeResult{}, err
	}
	k.merged = !k.before
	k.off()
	return record.MergeResult{}, ctx.Err()
}

func (k *killed) Fetch(context.Context, task.Task) error {
	k.fetches++
	return k.offline
}

// cutShort is a world with a task whose merge was killed.
func cutShort(t *testing.T, before bool, m task.Merge) (*world, *killed, string) {
	t.Helper()
	w := newWorld(t)
	k := &killed{branch: &branch{fakeRepository: w.repository}, before: before}
	w.rewire(func(p *engine.Ports) { p.Work, p.Facts, p.Rules = k, k.Look, gated{p.Rules} })
	id := w.reach("reviewing")
	ctx, off := context.WithCancel(t.Context())
	k.off = off
	if _, _, err := w.Merge(ctx, id, m, human); err == nil {
		t.Fatal("the merge was not cut short")
	}
	k.off = nil
	return w, k, id
}

func (w *world) goesOn(id string) (told string, open bool) {
	w.t.Helper()
	told, open, err := w.GoOnMerging(w.t.Context(), id)
	must(w.t, err)
	return told, open
}

// Defect: a merge that was cut short after its work was gone on with only by a run that named its task.
func TestGoOnMerging_movesATaskWhoseWorkIsAlreadyMerged(t *testing.T) {
	t.Parallel()
	w, _, id := cutShort(t, false, task.Merge{Strategy: "squash"})
	if told, open := w.goesOn(id); !open || told != `its merge had been cut short, and the default branch has the `+
		`work; it was moved to "done"` {
		t.Errorf("told is %q, open %t", told, open)
	}
	one, merged := w.task(id), w.events(id, history.Merged)
	if one.Status != "done" || one.Attention != "" || len(merged) != 1 {
		t.Fatalf("it is %q, marked %q, and merged %d times", one.Status, one.Attention, len(merged))
	}
	if e := merged[0]; e.Person != human.Person || e.Data["commit"] != "c0ffee" ||
		e.Data[history.DataJudged] != w.events(id, history.MergeBegun)[0].Data["commit"] {
		t.Errorf("the merge is told as %+v", e)
	}
	moves := w.events(id, history.StatusChanged)
	if last := moves[len(moves)-1]; last.Person != human.Person || last.Actor != task.RoleHuman ||
		last.Evidence[0].Source != "git ahead" {
		t.Errorf("the move is %+v", last)
	}
	if len(w.events(id, history.MergeFailed)) != 0 {
		t.Error("its merge is told to have failed")
	}
	if told, open := w.goesOn(id); told != "" || open {
		t.Errorf("once more: %q, %t", told, open)
	}
}

// Who overrode the conditions of a merge has answered for it.
func TestGoOnMerging_heedsAPersonsOverrideOfConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := &killed{branch: &branch{fakeRepository: w.repository}}
	w.rewire(func(p *engine.Ports) { p.Work = k })
	id := w.reach("reviewing")
	w.repository.dirty = true
	ctx, off := context.WithCancel(t.Context())
	k.off = off
	if _, _, err := w.Merge(ctx, id, task.Merge{Override: "It is mine"}, human); err == nil {
		t.Fatal("the merge was not cut short")
	}
	w.goesOn(id)
	moves := w.events(id, history.StatusChanged)
	if last := moves[len(moves)-1]; last.To != "done" || last.Reason != "It is mine" ||
		last.Data[history.DataOverride] == "" {
		t.Errorf("the move is %+v", last)
	}
}

func TestGoOnMerging_marksATaskOfWhichNothingWasMerged(t *testing.T) {
	t.Parallel()
	w, k, id := cutShort(t, true, task.Merge{})
	mark := "its merge was cut short; the default branch has not got the work; merge it again: orange task merge " + id
	if told, open := w.goesOn(id); told != mark || !open {
		t.Errorf("told is %q, open %t", told, open)
	}
	failed := w.events(id, history.MergeFailed)
	if one := w.task(id); one.Status != "reviewing" || one.Attention != mark || len(failed) != 1 ||
		failed[0].Actor != task.ActorEngine {
		t.Errorf("it is %q, marked %q: %+v", one.Status, one.Attention, failed)
	}
	if told, open := w.goesOn(id); told != "" || !open || len(w.events(id, history.MergeFailed)) != 1 {
		t.Errorf("once more: %q, %t", told, open)
	}
	k.merged = true // a push that was on its way has arrived
	if told, _ := w.goesOn(id); !strings.Contains(told, `moved to "done"`) || w.task(id).Attention != "" {
		t.Errorf("told is %q, marked %q", told, w.task(id).Attention)
	}
}

func TestGoOnMerging_saysWhereNoOneKnowsHowItEnded(t *testing.T) {
	t.Parallel()
	w, k, id := cutShort(t, false, task.Merge{})
	k.offline = errors.New("no route to origin")
	told, open, err := w.GoOnMerging(t.Context(), id)
	if !errors.Is(err, k.offline) || !open || !strings.Contains(told, "is not known: no route to origin") ||
		w.task(id).Attention != told || len(w.events(id, history.MergeFailed)) != 0 {
		t.Errorf("told is %q, open %t, %v, marked %q", told, open, err, w.task(id).Attention)
	}
	if told, _, _ := w.GoOnMerging(t.Context(), id); told != "" {
		t.Errorf("told again is %q", told)
	}
	k.offline = nil
	w.goesOn(id)
	if one := w.task(id); one.Status != "done" || one.Attention != "" {
		t.Errorf("it is %q, marked %q", one.Status, one.Attention)
	}
}

func TestGoOnMerging_asksNoOriginThatWasLeftOut(t *testing.T) {
	t.Parallel()
	w, k, id := cutShort(t, false, task.Merge{Push: "never"})
	if w.goesOn(id); k.fetches != 0 || w.task(id).Status != "done" {
		t.Errorf("it fetched %d times, and the task is %q", k.fetches, w.task(id).Status)
	}
}

func TestGoOnMerging_leavesAMergeThatAnotherProcessPerforms(t *testing.T) {
	t.Parallel()
	w, k, id := cutShort(t, false, task.Merge{})
	release, free, err := w.files.TryLock(id + ".merging")
	if must(t, err); !free {
		t.Fatal("someone has the lock of the merge still")
	}
	if told, open := w.goesOn(id); told != "" || !open || w.task(id).Status != "reviewing" {
		t.Errorf("told is %q, open %t, and it is %q", told, open, w.task(id).Status)
	}
	release()
	k.meanwhile = func() {
		if told, open := w.goesOn(id); told != "" || !open {
			t.Errorf("while another merges it: %q, %t", told, open)
		}
	}
	_, _, err = w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
}

func TestGoOnMerging_marksATaskThatCannotBeMoved(t *testing.T) {
	t.Parallel()
	w, _, id := cutShort(t, false, task.Merge{})
	rules := w.ports.Rules
	w.rewire(func(p *engine.Ports) { p.Rules = closed{rules} })
	told, open := w.goesOn(id)
	if !open || !strings.Contains(told, "the default branch has the work, and the task could not be moved: ") ||
		!strings.Contains(told, "orange task merge "+id) || w.task(id).Attention != told {
		t.Errorf("told is %q, open %t, marked %q", told, open, w.task(id).Attention)
	}
	if told, _ := w.goesOn(id); told != "" || len(w.events(id, history.Merged)) != 1 {
		t.Errorf("once more: %q, and it is merged %d times", told, len(w.events(id, history.Merged)))
	}
	w.rewire(func(p *engine.Ports) { p.Rules = rules })
	if w.goesOn(id); w.task(id).Status != "done" || len(w.events(id, history.Merged)) != 1 {
		t.Errorf("it is %q, and merged %d times", w.task(id).Status, len(w.events(id, history.Merged)))
	}
}

func TestMerge_thatFailsSaysSoInTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &branch{fakeRepository: w.repository, cut: true}
	w.rewire(func(p *engine.Ports) { p.Work = b })
	id := w.reach("reviewing")
	if _, _, err := w.Merge(t.Context(), id, task.Merge{}, human); err == nil {
		t.Fatal("it did not fail")
	}
	b.merged = false
	if failed := w.events(id, history.MergeFailed); len(failed) != 1 || failed[0].Reason != "the power went" ||
		failed[0].Person != "" {
		t.Errorf("told is %+v", failed)
	}
	if told, open := w.goesOn(id); told != "" || !open || w.task(id).Attention != "" {
		t.Errorf("told is %q, open %t, marked %q", told, open, w.task(id).Attention)
	}
}

// Defect: what the branch has beyond the merged commit was named to a person who merges, and not where the monitor
// makes the merge good.
func TestGoOnMerging_saysThatTheBranchHasMovedOn(t *testing.T) {
	t.Parallel()
	for name, tip := range map[string]string{"moved on": "facade1234", "as it was": "beef", "unread": ""} {
		w, k, id := cutShort(t, false, task.Merge{})
		w.rewire(func(p *engine.Ports) { p.Work = movedOn{k, tip} })
		told, _ := w.goesOn(id)
		want := "; the branch has moved on to facade1 since, and what it has beyond beef is kept there, not merged"
		moves, merged := w.events(id, history.StatusChanged), w.events(id, history.Merged)
		last := moves[len(moves)-1]
		for _, text := range []string{told, last.Reason, merged[0].Reason} {
			moved := name == "moved on"
			if strings.HasSuffix(text, want) != moved || strings.Contains(text, "beyond") != moved {
				t.Errorf("%s: it says %q", name, text)
			}
		}
		if last.To != "done" || last.Subject.Commit != "beef" {
			t.Errorf("%s: the move is %+v", name, last)
		}
	}
}

// movedOn is a repository where the task's branch has got another tip.
type movedOn struct {
	engine.Work
	tip string
}

func (m movedOn) Subject(context.Context, task.Task, bool) task.Subject {
	return task.Subject{Commit: m.tip}
}

// Defect: where a merge of an earlier commit of the branch came through late, a merge of a later commit, which had
// begun meanwhile and was cut short, counted as done: the task was finished by a commit that no one had merged.
func TestMerge_ofAnEarlierCommitEndsNoMergeOfALaterOne(t *testing.T) {
	t.Parallel()
	w, k, id := cutShort(t, true, task.Merge{})
	late := &lateMerge{movedOn: movedOn{k, "facade"}, killed: k, landed: map[string]bool{}}
	w.rewire(func(p *engine.Ports) { p.Work = late })
	ctx, off := context.WithCancel(t.Context())
	k.off = off
	if _, _, err := w.Merge(ctx, id, task.Merge{Override: "It is mine"}, human); err == nil {
		t.Fatal("the merge was not cut short")
	}
	late.landed["c0ffee"] = true
	told, open := w.goesOn(id)
	if one := w.task(id); one.Status != "reviewing" || !open || one.Attention != told ||
		!strings.Contains(told, "the default branch has not got the work") {
		t.Errorf("it is %q, told is %q, marked %q", one.Status, told, one.Attention)
	}
	k.off = nil
	_, _, err := w.Merge(t.Context(), id, task.Merge{Override: "It is mine"}, human)
	must(t, err)
	if last := late.orders[1]; last.Commit != "facade" || !slices.Equal(last.Results, []string{"result of facade"}) {
		t.Errorf("it is ordered again as %+v", last)
	}
}

// lateMerge is a repository that knows which commits have landed.
type lateMerge struct {
	movedOn
	killed *killed
	landed map[string]bool
	orders []record.MergeOrder
}

func (l *lateMerge) Landed(_ context.Context, _ task.Task, commits []string) (bool, error) {
	return slices.ContainsFunc(commits, func(commit string) bool { return l.landed[commit] }), nil
}

func (l *lateMerge) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	l.orders = append(l.orders, order)
	return l.killed.Merge(ctx, t, order, func(ctx context.Context, _ string) error {
		return begin(ctx, "result of "+order.Commit)
	})
}

// closed has a guard in the way of every good end.
type closed struct{ engine.Rules }

func (c closed) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	def, err := c.Rules.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	with := *def
	with.Transitions = slices.Clone(def.Transitions)
	for i := range with.Transitions {
		if with.Transitions[i].To == "done" {
			with.Transitions[i].When = []workflow.Guard{{Field: task.ReviewRound, Op: ">", Value: 99}}
		}
	}
	return &with, nil
}
