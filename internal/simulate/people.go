package simulate

import (
	"context"
	"time"

	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// How people are.
const (
	sendsBack = 0.1  // how often a person does not send the task on
	givesUp   = 0.02 // how often one gives it up
	soon      = 5 * time.Minute
	notSoSoon = 6 * time.Hour
	maxVain   = 12 // how often in a row a person tries in vain
)

// comes is a person who looks at a task that waits for one.
func (r *run) comes(ctx context.Context) error {
	s, err := r.load(ctx)
	if err != nil || !r.waits(ctx, s) {
		return err
	}
	seq := s.Task.Seq
	if err := r.helps(ctx, s); err != nil {
		return err
	}
	if s, err = r.load(ctx); err != nil {
		return err
	}
	if r.vain++; s.Task.Seq != seq {
		r.vain = 0
	}
	return nil
}

func (r *run) helps(ctx context.Context, s record.Snapshot) error {
	t := s.Task
	state, _ := r.Workflow.State(t.Status)
	a := r.living(state.Role)
	ways := r.ways(t, human())
	own := r.ways(t, task.Actor{Role: state.Role})
	switch {
	case len(s.Owed) > 0:
		r.person(ctx, "has the hooks tried again that failed", func(string) (record.Outcome, error) {
			return r.engine.Retry(ctx, r.id, human())
		})
		return nil
	case a != nil && len(own) > 0 && r.vain == 0:
		r.tell("a person talks to %s", a.name)
		r.alone = 0
		a.kind, a.silent, a.tries, a.turn = quick, false, 0, r.moves
		r.wakes(a, r.thinks(a))
		return nil
	case state.Role != "" && a == nil && len(own) > 0 && t.Workspace != "" && r.vain == 0:
		r.person(ctx, "starts the "+state.Role+" again", func(string) (record.Outcome, error) {
			return r.engine.Respawn(ctx, r.id, func(_ task.Task, role string) (bool, error) {
				return r.living(role) != nil, nil
			}, human())
		})
		return nil
	}
	w, found := r.decides(ways)
	if !found {
		if len(ways) == 0 {
			r.vain = maxVain // there is nothing that a person could do
		}
		return nil
	}
	r.writes("a person", s, w.edge.Gate)
	if r.branch().Dirty() && workflow.Asks(w.edge.Gate, workflow.GitCommitted) {
		r.commits("a person")
	}
	r.putUp(w.to)
	if merge, said := r.Workflow.Move(workflow.MoveMerge); said && merge == w.to && t.Workspace != "" {
		return r.merges(ctx)
	}
	r.person(ctx, "asks for "+string(w.to), func(token string) (record.Outcome, error) {
		return r.engine.Request(ctx, task.Request{Task: r.id, To: w.edge.To, Actor: human(), Reason: token})
	})
	return nil
}

// decides is the way that a person takes.
func (r *run) decides(ways []way) (way, bool) {
	if n := len(ways); n > 0 && ways[n-1].givesUp && (r.chance(givesUp) || r.vain > maxVain/2) {
		return ways[n-1], true
	}
	w, found := r.pick(ways, !r.chance(sendsBack))
	if r.vain > 1 && found { // what was tried in vain is not tried again and again
		w = ways[r.dice.IntN(len(ways))]
	}
	return w, found && (!w.givesUp || r.vain > 0)
}

func (r *run) person(ctx context.Context, what string, do func(token string) (record.Outcome, error)) {
	token := r.token()
	r.tell("a person %s", what)
	var out record.Outcome
	err := r.program("a person's command", func() (err error) {
		out, err = do(token)
		return err
	})
	r.answered(token, out, err)
}

// merges has a person merge the branch, or its pull request where there is one.
func (r *run) merges(ctx context.Context) error {
	if r.pr.State == record.PROpen {
		r.tell("a person merges the pull request")
		r.pr.State, r.pr.Merge = record.PRMerged, "beef"
		_ = r.program("the monitor", func() error {
			_, err := r.engine.PRSeen(ctx, r.id, r.pr)
			return err
		})
		return nil
	}
	wish := task.Merge{Strategy: "merge"}
	if r.vain > 0 { // it was refused: whoever merges it all the same answers for the tip
		wish.Override = "a person looked at it"
		r.branch().Answered[r.branch().Commit()] = true
	}
	r.person(ctx, "merges the branch", func(string) (record.Outcome, error) {
		out, _, err := r.engine.Merge(ctx, r.id, wish, human())
		return out, err
	})
	return nil
}

// waits says whether nothing goes on without a person.
func (r *run) waits(ctx context.Context, s record.Snapshot) bool {
	t := s.Task
	if !t.Live || r.isPlanned(agentActs) || r.isPlanned(runnerComes) || len(r.unseen(ctx)) > 0 {
		return false
	}
	for _, h := range s.Owed {
		if h.State == task.HookPending {
			return false
		}
	}
	if len(s.Owed) > 0 {
		return s.Owed[0].Attempts > patient // they are tried again by themselves, ever more seldom
	}
	state, _ := r.Workflow.State(t.Status)
	if a := r.living(state.Role); a != nil {
		return a.silent || r.Workflow.Attended(t.Status)
	}
	if decide.Revives(r.Workflow, t) {
		events, err := r.history(ctx)
		if err != nil {
			r.failed(err)
			return false
		}
		if _, wanted := decide.RespawnDue(r.Workflow, t, events); wanted {
			return false
		}
	}
	return true
}

// patient is after how many attempts at a hook a person is asked.
const patient = 5

// asPlanned says whether the workflow itself has a person come here: nobody is at work in the state, and it is on
// the straight way.
func (r *run) asPlanned(s record.Snapshot) bool {
	state, _ := r.Workflow.State(s.Task.Status)
	return (state.Role == "" || state.Role == task.RoleHuman) && !aside(r.Workflow, state.Name) && len(s.Owed) == 0
}
