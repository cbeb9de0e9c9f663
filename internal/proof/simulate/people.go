package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// How people act.
const (
	sendBackShare   = 0.1  // how often a person sends the task back
	giveUpShare     = 0.02 // how often one gives it up
	setbackShare    = 0.15 // how often the work turns out to be unfit for its merge, in each of two ways
	shortestWait    = 5 * time.Minute
	longestWait     = 6 * time.Hour
	maxFailedVisits = 12 // how often in a row a person comes without success
)

// personActs is the visit of a person to a task that waits for one.
func (r *run) personActs(ctx context.Context) error {
	s, err := r.load(ctx)
	if err != nil || !r.waitsForPerson(ctx, s) {
		return err
	}
	seq := s.Task.Seq
	r.help(ctx, s)
	if s, err = r.load(ctx); err != nil {
		return err
	}
	if r.failedVisits++; s.Task.Seq != seq {
		r.failedVisits = 0
	}
	return nil
}

func (r *run) help(ctx context.Context, s record.Snapshot) {
	t := s.Task
	state, _ := r.Workflow.State(t.Status)
	a := r.living(state.Role)
	options := r.options(t, r.human())
	own := r.options(t, task.Actor{Role: state.Role})
	// where only the person's own move leads on, they make it
	theirs := r.failedVisits == 0 && len(own) > 0 && (own[0].onPath || len(options) == 0 || !options[0].onPath)
	switch {
	case len(s.Owed) > 0:
		r.personCommand("has the hooks tried again that failed", func(string) (record.Outcome, error) {
			return r.engine.Retry(ctx, r.id, r.human())
		})
		return
	case a != nil && theirs:
		r.logf("a person talks to %s", a.name)
		r.movesAlone = 0
		a.kind, a.silent, a.tries, a.turn = quick, false, 0, r.moves
		r.wake(a, r.workTime(a))
		return
	case state.Role != "" && a == nil && t.Workspace != "" && theirs:
		r.personCommand("starts the "+state.Role+" again", func(string) (record.Outcome, error) {
			return r.engine.Respawn(ctx, r.id, func(_ task.Task, role string) (bool, error) {
				return r.living(role) != nil, nil
			}, r.human())
		})
		return
	}
	r.strayEdit(t) // while the person was awaited
	w, found := r.decide(options)
	if !found {
		if len(options) == 0 {
			r.failedVisits = maxFailedVisits // a person can do nothing
		}
		return
	}
	r.writeEvidence("a person", s, w.edge.Gate)
	if r.branch().Dirty() && workflow.Asks(w.edge.Gate, workflow.GitCommitted) {
		r.commit("a person")
		r.branch().Answered[r.branch().Commit()] = true
	}
	r.approve(w.to)
	if merge, said := r.Workflow.Move(workflow.MoveMerge); said && merge == w.to && t.Workspace != "" {
		r.personMerges(ctx)
		return
	}
	r.personCommand("asks for "+string(w.to), func(token string) (record.Outcome, error) {
		return r.engine.Request(ctx, task.Request{Task: r.id, To: w.edge.To, Actor: r.human(), Reason: token})
	})
}

func (r *run) decide(options []option) (option, bool) {
	if n := len(options); n > 0 && options[n-1].givesUp &&
		(r.chance(giveUpShare) || r.failedVisits > maxFailedVisits/2) {
		return options[n-1], true
	}
	w, found := r.pick(options, !r.chance(sendBackShare))
	if r.failedVisits > 1 && found { // after two failures a person tries something else
		w = options[r.random.IntN(len(options))]
	}
	return w, found && (!w.givesUp || r.failedVisits > 0)
}

func (r *run) personCommand(what string, do func(token string) (record.Outcome, error)) {
	token := r.token()
	r.logf("a person %s", what)
	var out record.Outcome
	err := r.runProgram("a person's command", func() (err error) {
		out, err = do(token)
		return err
	})
	r.noteAnswer(token, out, err)
}

// personMerges has a person merge the branch, or its pull request if there is one.
func (r *run) personMerges(ctx context.Context) {
	if r.pr.State == record.PROpen {
		r.logf("a person merges the pull request")
		r.pr.State, r.pr.Merge = record.PRMerged, "beef"
		_ = r.runProgram("the monitor", func() error {
			_, err := r.engine.PRSeen(ctx, r.id, r.pr)
			return err
		})
		return
	}
	if r.setBack(ctx) {
		return
	}
	if s, err := r.load(ctx); err == nil && r.worksIn(s.Task.Status) {
		r.branch().Answered[r.branch().Commit()] = true // they take what they find there
	}
	merge := task.Merge{Strategy: "merge"}
	if r.failedVisits > 0 { // it was refused: the person takes responsibility for the tip
		merge.Override = "a person looked at it"
		r.branch().Answered[r.branch().Commit()] = true
	}
	r.personCommand("merges the branch", func(string) (record.Outcome, error) {
		out, _, err := r.engine.Merge(ctx, r.id, merge, r.human())
		return out, err
	})
}

// worksIn reports whether agents change the work in a state: none is looked at there.
func (r *run) worksIn(status task.Status) bool {
	state, _ := r.Workflow.State(status)
	if state.Role == "" || state.Role == task.RoleHuman || state.Role == task.RoleReviewer {
		return false
	}
	a := r.agent(func(a *Agent) bool { return a.Role == state.Role })
	return a == nil || !a.reads
}

// setBack has the pull request be red before a person merges, if the workflow has a rule for that.
func (r *run) setBack(ctx context.Context) bool {
	s, err := r.load(ctx)
	r.setErr(err)
	back := decide.Setback{On: workflow.OnPRChecksFailed, Reason: "a check of the pull request is red",
		Text: "Mend it.", Commit: r.branch().Commit(), Facts: []string{fmt.Sprintf("run %d", r.steps)}}
	if _, known := back.Target(r.Workflow, s.Task); err != nil || !known || !r.chance(setbackShare) {
		return false
	}
	r.logf("a check of the pull request is red")
	_ = r.runProgram("the monitor", func() error {
		_, err := r.engine.SendBack(ctx, r.id, back)
		return err
	})
	return true
}

// mergeFails reports whether a merge ends in a conflict, where the workflow has a rule for that.
func (r *run) mergeFails(t task.Task) bool {
	_, known := decide.Setback{On: workflow.OnMergeFailed}.Target(r.Workflow, t)
	return known && !r.calm && r.chance(setbackShare)
}

// waitsForPerson reports whether nothing happens to the task until a person acts.
func (r *run) waitsForPerson(ctx context.Context, s record.Snapshot) bool {
	t := s.Task
	if !t.Live || r.isPlanned(agentActs) || r.isPlanned(runnerStarts) || len(r.seatsOfDead(ctx)) > 0 {
		return false
	}
	if slices.ContainsFunc(s.Owed, func(h task.OwedHook) bool { return h.State == task.HookPending }) {
		return false
	}
	if len(s.Owed) > 0 {
		return s.Owed[0].Attempts > patience // Orange tries them again, less and less often
	}
	state, _ := r.Workflow.State(t.Status)
	if a := r.living(state.Role); a != nil {
		return a.silent || r.Workflow.Attended(t.Status)
	}
	if decide.Respawns(r.Workflow, t) {
		events, err := r.history(ctx)
		if err != nil {
			r.setErr(err)
			return false
		}
		if _, wanted := decide.RespawnDue(r.Workflow, t, events, r.clock); wanted {
			return false
		}
	}
	return true
}

// patience is after how many attempts at a hook a person has to act.
const patience = 5

// asPlanned reports whether the workflow has a person act here: the state has no role of an agent, and is no detour.
func (r *run) asPlanned(s record.Snapshot) bool {
	state, _ := r.Workflow.State(s.Task.Status)
	return (state.Role == "" || state.Role == task.RoleHuman) && !isDetour(r.Workflow, state.Name) && len(s.Owed) == 0
}
