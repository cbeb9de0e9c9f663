package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

var errElsewhere = task.Notef(fencing.ErrHeldBack, "the task is at another home since epoch 2")

var errUnanswered = fencing.Waits("the fleet has not answered since 12:03")

// guard has something against acts outside of this machine for the tasks that it holds, or nothing.
type guard struct {
	held    []string // tasks; all of them where there are none
	free    bool     // no task is held
	refuses error
	end     context.CancelCauseFunc // of the first act
	asked   int
}

func (g *guard) Holds(id string) bool {
	return !g.free && (len(g.held) == 0 || slices.Contains(g.held, id))
}

func (g *guard) Outward(ctx context.Context, _ task.Task) (context.Context, func(), error) {
	if g.asked++; g.refuses != nil {
		return nil, nil, g.refuses
	}
	within, end := context.WithCancelCause(ctx)
	if g.end == nil {
		g.end = end
	}
	return within, func() { end(context.Canceled) }, nil
}

// acted notes which hooks were performed; how one ends may be said.
type acted struct {
	hooks []string
	as    func(ctx context.Context) error
}

func (a *acted) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	a.hooks = append(a.hooks, job.Hook.Action+job.Hook.Via)
	if a.as != nil {
		return record.Effect{}, a.as(ctx)
	}
	return record.Effect{Said: "done"}, nil
}

func TestGuardHooks_holdsBackHooksWithOutsideEffects(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*guard{
		"held": {refuses: errElsewhere}, "held, and its own": {}, "not held": {free: true, refuses: errElsewhere}} {
		a := &acted{}
		p := engine.GuardHooks(g, a.Perform)
		hooks := []task.Hook{{Action: action.Notify, Via: action.ViaDesktop}}
		for _, one := range action.Names() {
			hooks = append(hooks, task.Hook{Action: one})
		}
		var refused, want []string
		for _, h := range hooks {
			_, err := p(t.Context(), record.Job{Hook: task.OwedHook{Hook: h}})
			if errors.Is(err, fencing.ErrHeldBack) {
				refused = append(refused, h.Action)
			}
		}
		if name == "held" {
			want = action.With(func(s action.Spec) bool { return s.Scope == action.Remote })
		}
		if !slices.Equal(refused, want) || len(a.hooks)+len(refused) != len(hooks) {
			t.Errorf("%s: refused are %q, performed %q", name, refused, a.hooks)
		}
	}
}

// What becomes of an act that waits is said by who wanted it: a hook is tried again, and a merge is not.
func TestAHeldBackAct_saysWhetherOrangeRepeatsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := &guard{refuses: errUnanswered}
	b := &branch{fakeRepository: w.repository, unpushed: []string{"one", "two"}}
	w.rewire(func(p *engine.Ports) { p.Work = engine.GuardedWork{Work: b, Guard: g} })
	id := w.reach("reviewing")
	p := engine.GuardHooks(g, (&acted{}).Perform)
	_, hook := p(t.Context(), record.Job{Hook: task.OwedHook{Hook: task.Hook{Action: action.PushBranch}}})
	_, _, merge := w.Merge(t.Context(), id, task.Merge{Strategy: "squash", With: 2}, human)
	for _, c := range []struct {
		err  error
		says string
	}{
		{hook, errUnanswered.Error() + "; it is tried again"},
		{merge, errUnanswered.Error() + "; no program merges it later: run it again when that is over: " +
			"orange task merge " + id + " --strategy squash --with 2, or orange task merge " + id +
			" --strategy squash --no-push"},
	} {
		if !errors.Is(c.err, fencing.ErrHeldBack) || c.err.Error() != c.says {
			t.Errorf("found %v, want %s", c.err, c.says)
		}
	}
}

// An act that is on its way when the lease ends is ended, and says so; what was done by then stays done.
func TestGuardHooks_endsARunningHookWithTheLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails error
		says  string
	}{"cut short": {errors.New("killed"), "since epoch 2; the act was cut short: killed"}, "done by then": {nil, ""}} {
		g := &guard{}
		a := &acted{as: func(ctx context.Context) error {
			g.end(errElsewhere)
			<-ctx.Done()
			return c.fails
		}}
		p := engine.GuardHooks(g, a.Perform)
		_, err := p(t.Context(), record.Job{Hook: task.OwedHook{Hook: task.Hook{Action: action.PushBranch}}})
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, fencing.ErrHeldBack) ||
			!strings.HasSuffix(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One that fails by itself says only that.
	alone := &acted{as: func(context.Context) error { return errors.New("no network") }}
	p := engine.GuardHooks(&guard{}, alone.Perform)
	_, err := p(t.Context(), record.Job{Hook: task.OwedHook{Hook: task.Hook{Action: action.PushBranch}}})
	if err == nil || err.Error() != "no network" {
		t.Errorf("it failed with %v", err)
	}
}

// A hook that is held back is tried again as every hook that fails, and what is inward goes on.
func TestAHookThatIsHeldBack_isTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := &guard{refuses: errElsewhere}
	w.rewire(func(p *engine.Ports) { p.Perform = engine.GuardHooks(g, w.performer.Perform) })
	w.rewire(func(p *engine.Ports) { p.Work = &branch{fakeRepository: w.repository} })
	id := w.reach("reviewing")
	out, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
	failed := func() (said string) {
		for _, h := range w.load(id).Owed {
			said += h.Action + ": " + h.Error
		}
		return said
	}
	if got := failed(); got != "delete_remote_branch: the task is at another home since epoch 2" {
		t.Errorf("owed is %q", got)
	}
	one := w.task(id)
	if one.Status != out.Task.Status || one.Workspace != "" || !strings.Contains(one.Attention, "epoch 2") {
		t.Errorf("the task is %+v", one)
	}
	asked := g.asked
	must(t, w.Settle(t.Context(), id))
	if g.asked != asked {
		t.Error("it was tried again at once")
	}
	g.refuses = nil
	w.clock.pass(time.Hour)
	must(t, w.Settle(t.Context(), id))
	if got := failed(); got != "" || w.task(id).Attention != "" {
		t.Errorf("owed is %q, and it is marked %q", got, w.task(id).Attention)
	}
}

// local is a repository without an origin.
type local struct{ *branch }

func (local) Forge(context.Context, task.Task) (bool, string, error) { return false, "", nil }

func TestGuardedWork_holdsBackWhatOriginGets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		guard  *guard
		asked  task.Merge
		local  bool
		merged bool
	}{
		"held":               {guard: &guard{refuses: errElsewhere}},
		"its own":            {guard: &guard{}, merged: true},
		"not held":           {guard: &guard{free: true, refuses: errElsewhere}, merged: true},
		"without a push":     {guard: &guard{refuses: errElsewhere}, asked: task.Merge{Push: "never"}, merged: true},
		"there is no origin": {guard: &guard{refuses: errElsewhere}, local: true, merged: true},
	} {
		w := newWorld(t)
		b := &branch{fakeRepository: w.repository}
		var m engine.Work = b
		if c.local {
			m = local{b}
		}
		w.rewire(func(p *engine.Ports) { p.Work = engine.GuardedWork{Work: m, Guard: c.guard} })
		id := w.reach("reviewing")
		_, _, err := w.Merge(t.Context(), id, c.asked, human)
		begun := len(w.events(id, history.MergeBegun))
		switch {
		case c.merged && (err != nil || b.merges != 1 || w.task(id).Status != "done"):
			t.Errorf("%s: merged %d times, %v", name, b.merges, err)
		case !c.merged && (!errors.Is(err, fencing.ErrHeldBack) || b.merges+begun != 0 ||
			w.task(id).Status != "reviewing"):
			t.Errorf("%s: merged %d times, begun %d times, %v", name, b.merges, begun, err)
		}
	}
}

// The checks of a merge take long: the guard is asked again when they are done.
func TestGuardedWork_asksOnceMoreBeforeTheDefaultBranchMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := &guard{}
	b := &branch{fakeRepository: w.repository, meanwhile: func() { g.refuses = errElsewhere }}
	w.rewire(func(p *engine.Ports) { p.Work = engine.GuardedWork{Work: b, Guard: g} })
	id := w.reach("reviewing")
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if !errors.Is(err, fencing.ErrHeldBack) || b.merges != 0 || len(w.events(id, history.MergeBegun)) > 0 {
		t.Errorf("merged %d times, %v", b.merges, err)
	}
}

// leased is a merge in the middle of which the lease ends.
type leased struct {
	*branch
	guard *guard
}

func (l leased) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if err := begin(ctx, "c0ffee"); err != nil {
		return record.MergeResult{}, err
	}
	if l.guard.end(errElsewhere); ctx.Err() == nil {
		return record.MergeResult{}, errors.New("it goes on")
	}
	return record.MergeResult{}, errors.New("it is not known whether origin has it now")
}

// Whether origin got it is not known: the history does not say that nothing was merged, and the merge is made good once
// origin can be asked.
func TestAMergeThatLosesItsLeaseMidway_isNoFailedMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := leased{&branch{fakeRepository: w.repository}, &guard{}}
	w.rewire(func(p *engine.Ports) { p.Facts, p.Rules = l.Look, gated{p.Rules} })
	w.rewire(func(p *engine.Ports) { p.Work = engine.GuardedWork{Work: l, Guard: l.guard} })
	id := w.reach("reviewing")
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if !errors.Is(err, fencing.ErrHeldBack) || !strings.Contains(err.Error(), "it is not known") {
		t.Errorf("it ended with %v", err)
	}
	if len(w.events(id, history.MergeBegun)) != 1 || len(w.events(id, history.MergeFailed)) != 0 {
		t.Error("the history says that it failed, or not that it was begun")
	}
	l.merged = true
	if told, open := w.goesOn(id); !open || !strings.Contains(told, `moved to "done"`) {
		t.Errorf("told is %q, open %t", told, open)
	}
}

func TestMergeMany_leavesOutWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &branch{fakeRepository: w.repository}
	held := w.reach("reviewing")
	w.rewire(func(p *engine.Ports) {
		p.Work = engine.GuardedWork{Work: b, Guard: &guard{held: []string{held}, refuses: errElsewhere}}
	})
	other := handedIn(w, "other")
	var told []string
	err := w.MergeMany(t.Context(), record.MergeMany{Project: "garden"}, human, func(one record.MergedOne) {
		how := "merged"
		if one.Left != nil {
			how = one.Left.Error()
		}
		told = append(told, how)
	})
	must(t, err)
	if !slices.Equal(told, []string{errElsewhere.Error(), "merged"}) || w.task(held).Status != "reviewing" ||
		w.task(other).Status != "done" {
		t.Errorf("told is %q", told)
	}
}
