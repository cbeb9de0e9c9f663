package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// gated asks git for commits before a task is done.
type gated struct{ engine.Rules }

func (g gated) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	def, err := g.Rules.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	with := *def
	with.Transitions = append([]workflow.Transition(nil), def.Transitions...)
	for i := range with.Transitions {
		if with.Transitions[i].To == "done" {
			with.Transitions[i].Gate = []workflow.Part{{Git: workflow.GitAhead}}
		}
	}
	return &with, nil
}

// branch is a task's branch, which is ahead until it is merged. The merge may be cut short right after its work.
type branch struct {
	*fakeRepository
	merged, cut bool
	merges      int
	meanwhile   func() // runs while the merge waits for its turn
	unpushed    []string
	order       record.MergeOrder // of the last merge
	hidden      int               // for how many looks it is not known that it is merged
}

func (b *branch) Ahead(context.Context, task.Task, string) (bool, error) { return !b.known(), nil }

func (b *branch) Landed(_ context.Context, _ task.Task, commits []string) (bool, error) {
	return len(commits) > 0 && b.known(), nil
}

func (b *branch) known() bool {
	b.hidden--
	return b.merged && b.hidden < 0
}

func (b *branch) Unpushed(context.Context, task.Task) (int, []string, error) {
	return len(b.unpushed), b.unpushed, nil
}

func (b *branch) Merge(ctx context.Context, _ task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if b.meanwhile != nil {
		b.meanwhile()
	}
	if err := begin(ctx, "c0ffee"); err != nil {
		return record.MergeResult{}, err
	}
	b.merges++
	b.merged, b.order = true, order
	if b.cut {
		b.cut = false
		return record.MergeResult{}, errors.New("the power went")
	}
	return record.MergeResult{Commit: "c0ffee", How: "merged"}, nil
}

func (b *branch) Look(_ context.Context, _ task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	out := map[string]decide.Fact{}
	for _, p := range parts {
		out[p.Key()] = decide.Fact{Holds: !b.known(), Source: "git ahead", Digest: "of three commits",
			Text: "ahead 3", Found: "no commit of its own", Want: "commit"}
	}
	return out, nil
}

// Defect: where a fetch for another task showed between two looks that its push had landed, a merge that was run again
// said that there was nothing to merge, or that its gate did not hold.
func TestMerge_learnsAtAnyLookThatItLandedBefore(t *testing.T) {
	t.Parallel()
	for hidden := range 6 {
		w := newWorld(t)
		b := &branch{fakeRepository: w.repository, cut: true}
		w.rewire(func(p *engine.Ports) { p.Work, p.Facts, p.Rules = b, b.Look, gated{p.Rules} })
		id := w.reach("reviewing")
		if _, _, err := w.Merge(t.Context(), id, task.Merge{}, human); err == nil {
			t.Fatal("it was not cut short")
		}
		b.hidden = hidden
		out, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
		if err != nil || out.Event.To != "done" {
			t.Errorf("known after %d looks: %+v, %v", hidden, out.Event, err)
		}
	}
}

// Defect: the move was judged again after the merge, when git says something else of the branch: it was in main,
// and its task could not move.
func TestMerge_movesTheTaskOnWhatGitSaidBeforeIt(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]bool{"at once": false, "run again after it was cut short": true} {
		w := newWorld(t)
		b := &branch{fakeRepository: w.repository, cut: cut}
		w.rewire(func(p *engine.Ports) { p.Work, p.Facts, p.Rules = b, b.Look, gated{p.Rules} })
		id := w.reach("reviewing")
		out, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
		if cut {
			if err == nil || w.task(id).Status != "reviewing" {
				t.Fatalf("%s: the cut merge ended with %v and left the task %q", name, err, w.task(id).Status)
			}
			out, _, err = w.Merge(t.Context(), id, task.Merge{}, human)
		}
		must(t, err)
		if out.Task.Status != "done" || len(out.Event.Evidence) != 1 || out.Event.Evidence[0].Source != "git ahead" {
			t.Errorf("%s: the task is %q, on %v", name, out.Task.Status, out.Event.Evidence)
		}
	}
}

func TestMerge_looksAgainWhereTheBranchHasSomethingToMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &branch{fakeRepository: w.repository}
	w.rewire(func(p *engine.Ports) { p.Work, p.Facts, p.Rules = b, b.Look, gated{p.Rules} })
	id := w.reach("reviewing")
	b.merged = true // by other means, without a note that a merge began
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	wantCode(t, err, rejection.GateUnmet)
	if b.merges != 0 {
		t.Errorf("it merged %d times", b.merges)
	}
}

// A merge waits for that of another task, and for origin: a task that a person gave up meanwhile is not merged.
func TestMerge_mergesNothingOfATaskThatWasMovedWhileItWaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &branch{fakeRepository: w.repository}
	w.rewire(func(p *engine.Ports) { p.Work, p.Facts, p.Rules = b, b.Look, gated{p.Rules} })
	id := w.reach("reviewing")
	b.meanwhile = func() { w.move(id, "cancelled", human) }
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if !errors.Is(err, task.ErrConflict) || b.merges != 0 {
		t.Errorf("it merged %d times, and ended with %v", b.merges, err)
	}
	if status := w.task(id).Status; status != "cancelled" {
		t.Errorf("the task is %q", status)
	}
}

// Defect: a hook of the last move that was still owed (a reviewer to be ended) ran during the merge.
func TestMerge_letsTheHooksOfTheLastMoveFinishFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w.runner.dead = true
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	w.runner.dead = false
	b := &branch{fakeRepository: w.repository, meanwhile: func() {
		if owed := w.load(id).Owed; len(owed) > 0 {
			t.Errorf("it began with %v owed", owed)
		}
	}}
	w.rewire(func(p *engine.Ports) { p.Work = b })
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
}

// unnamed is a repository where a task conflicts with what was merged before it, and with whom cannot be found out.
type unnamed struct {
	*fakeRepository
	conflicts string // the task
}

func (u unnamed) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if t.ID == u.conflicts {
		return record.MergeResult{}, &record.Unmerged{Files: []string{"a.txt"}}
	}
	return u.fakeRepository.Merge(ctx, t, order, begin)
}

func (unnamed) Rehearse(context.Context, task.Task, []string) ([]record.Rehearsal, string, error) {
	return nil, "", errors.New("origin does not answer")
}

// One that is left out holds up no other, also where it cannot be found out whom it is in conflict with.
func TestMergeMany_goesOnWhereAConflictCannotBeNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository.project.PoolSize = 3
	w.reach("reviewing")
	second, third := handedIn(w, "second"), handedIn(w, "third")
	w.rewire(func(p *engine.Ports) { p.Work = unnamed{w.repository, second} })
	var told []string
	must(t, w.MergeMany(t.Context(), record.MergeMany{Project: "garden"}, human, func(one record.MergedOne) {
		if one.Left != nil {
			told = append(told, one.Left.Error())
		}
	}))
	if len(told) != 1 || !strings.Contains(told[0], "is not known: origin does not answer") ||
		w.task(third).Status != "done" {
		t.Errorf("told is %q, and the third is %q", told, w.task(third).Status)
	}
}

// handedIn is a new task that waits for its merge.
func handedIn(w *world, branch string) string {
	id := w.create(branch, true).Task.ID
	w.write(id, plan)
	w.move(id, "working", worker)
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	return id
}
