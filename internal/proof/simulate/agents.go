package simulate

import (
	"context"
	"fmt"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

type kind int

const (
	quick    kind = iota
	slow          // it takes hours
	lying         // it asks before it has the evidence, or with something that looks like it
	dying         // it dies before it has asked, with its evidence written or without
	stubborn      // it asks for what was refused again and again, and then does nothing
	restless      // it waits for no one, and goes back to where the task has been wherever it may
)

func (k kind) String() string {
	return [...]string{"quick", "slow", "lying", "dying", "stubborn", "restless"}[k]
}

// How agents act.
const (
	maxTries = 3 // how often one asks for what is refused
	// how often one that does not review leaves the straight path: it has questions, or is stuck
	detourShare = 0.04
	limitShare  = 0.3 // how often one that dies does so at a limit of its provider
	lateShare   = 0.1 // how often a report of a death is late, or is repeated, and how often a runner starts late
)

func (r *run) draw() kind {
	x, shares := r.random.Float64(), r.setup.Shares
	for _, one := range []struct {
		kind  kind
		share float64
	}{{slow, shares.Slow}, {lying, shares.Lying}, {dying, shares.Dying}, {stubborn, shares.Stubborn},
		{restless, shares.Restless}} {
		if x < one.share {
			return one.kind
		}
		x -= one.share
	}
	return quick
}

func (r *run) workTime(a *Agent) time.Duration {
	if a.kind == slow {
		return r.within(30*time.Minute, 5*time.Hour)
	}
	return r.within(time.Minute, 20*time.Minute)
}

func (r *run) act(ctx context.Context, a *Agent) error {
	a.planned = false
	if !a.Alive {
		return nil
	}
	s, err := r.load(ctx)
	if err != nil {
		return err
	}
	state, _ := r.Workflow.State(s.Task.Status)
	options := r.options(s.Task, task.Actor{Role: a.Role})
	if state.Role != a.Role || len(options) == 0 {
		a.silent = true
		return nil
	}
	a.Touched = r.clock
	onward := !r.chance(detourShare)
	if a.reads {
		onward = !r.chance(r.setup.Shares.ReviewersFail)
	}
	w, _ := r.pick(options, onward)
	if a.kind == restless {
		w = r.wander(options)
	}
	r.strayEdit(s.Task)
	again, moved := r.restart(s.Task, options)
	switch {
	case a.kind == stubborn: // it asks with whatever there is
	case moved:
		w = again
	case a.kind == dying:
		r.dieEarly(a, s, w)
		return nil
	case a.kind == lying && a.tries < maxTries && r.chance(0.7):
		if r.chance(0.5) {
			r.fakeEvidence(a.name, w.edge.Gate)
		}
	default:
		r.work(a, s, w)
	}
	r.ask(ctx, a, w)
	return nil
}

// work is what an agent does before it asks for a move.
func (r *run) work(a *Agent, s record.Snapshot, w option) {
	r.prepareBranch(a, s.Task, w.edge.Gate)
	r.writeEvidence(a.name, s, w.edge.Gate)
	r.noteVerdict(a, w.edge.Gate)
}

// dieEarly is the end of an agent before it has asked.
func (r *run) dieEarly(a *Agent, s record.Snapshot, w option) {
	if r.chance(0.5) {
		r.work(a, s, w)
	}
	ending := task.Ending{Known: true, Status: r.random.IntN(2)}
	if r.chance(0.3) {
		ending = task.Ending{Known: true, Signal: 9}
	}
	if r.chance(limitShare) {
		a.Limit = task.Limit{Line: "usage limit reached", Provider: "simulated"}
		if r.chance(0.7) {
			a.Limit.Until = r.clock.Add(r.within(time.Minute, 5*time.Hour))
		}
	}
	r.end(a, ending)
}

// ask is an agent's command, and what it does after the answer.
func (r *run) ask(ctx context.Context, a *Agent, w option) {
	token := r.token()
	var out record.Outcome
	var nobody bool
	r.logf("%s asks for %q", a.name, w.to)
	err := r.runProgram("the command of "+a.name, func() error {
		actor, err := r.engine.Actor(ctx, r.id, task.Caller{Secret: a.Secret})
		if err != nil {
			nobody = isRefusal(err)
			return err
		}
		out, err = r.engine.Request(ctx, task.Request{Task: r.id, To: w.edge.To, Actor: actor, Reason: token})
		return err
	})
	r.noteAnswer(token, out, err)
	switch {
	case nobody:
		a.silent = true
	case isRefusal(err):
		r.refusals++
		a.tries++
		a.silent = a.tries >= maxTries && a.kind == stubborn || a.tries >= 2*maxTries
	case err == nil && out.Moved:
		return
	}
	if a.Alive && !a.silent && a.turn == r.moves { // else it has moved, and sees that it is its turn or not
		r.wake(a, r.within(time.Minute, 5*time.Minute))
	}
}

func (r *run) wake(a *Agent, after time.Duration) {
	if a.planned || !a.Alive {
		return
	}
	a.planned = true
	r.plan(agentActs, after, a, func(ctx context.Context) { r.setErr(r.act(ctx, a)) })
}

// token is a reason that no other request has: by it the move is known in the history.
func (r *run) token() string {
	r.tokens++
	return fmt.Sprintf("request %d", r.tokens)
}
