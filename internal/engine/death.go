package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Died applies the workflow's exit rules to an agent's death, by the same steps as every request.
// One death has one consequence, however often and by however many processes it is reported: the first report ends
// the agent's seat, and an agent without a seat cannot die. Died leaves a death for later while the task owes hooks:
// they may be the cause of it, or be about to start the next agent. It also leaves the death of an agent whose start
// is not on record yet. If a successor's start has begun, the exit of the agent before it does not matter: that
// start ends its seat. Died sets the hooks of the move going and does not wait for them.
func (e *crew) Died(ctx context.Context, death task.Death) (record.Outcome, error) {
	// what has begun runs to its end; and the database need not listen for a cancel at every step
	ctx = context.WithoutCancel(ctx)
	if starting, err := e.isStarting(ctx, death.Task, death.Hook); err != nil || starting {
		return record.Outcome{}, err
	}
	// a later agent of the same role may have a seat
	replaced, err := e.hasSeat(ctx, death.Task, func(s record.Seat) bool {
		return s.Role == death.Role && s.Hook > death.Hook
	})
	if err != nil {
		return record.Outcome{}, err
	}
	if replaced {
		return record.Outcome{}, e.EndUnusedSeats(ctx, death.Task, death.Hook)
	}
	look := func(ctx context.Context, id string) (step, error) { return e.lookAfterDeath(ctx, id, death) }
	var was step
	var c record.Change
	var met task.Death // with what it ended and said last, where that matters
	then, _, err := e.do(ctx, death.Task, look, func(s step) (_ *ruling, err error) {
		was, met = s, death
		c, err = e.consequence(ctx, s, &met)
		if err != nil {
			return nil, err
		}
		r := &ruling{change: c, in: replay.Inputs{Ask: replay.AskDeath}.Of(met)}
		if len(c.Hooks) > 0 {
			r.overtaken = "overtaken by the exit rules"
		}
		return r, nil
	})
	switch {
	case isDeleted(err), errors.Is(err, errNotNow):
		return record.Outcome{}, nil // the next look meets a death that waits for hooks or for evidence
	case errors.Is(err, task.ErrPoolFull):
		return record.Outcome{}, e.rooms.noRoom(ctx, was.Task)
	case errors.Is(err, task.ErrNobody):
		e.files.restoreFiles(ctx, death.Task)
		return record.Outcome{}, nil
	case err != nil:
		return record.Outcome{}, err
	}
	out, err := e.outcomes.announceAndRun(ctx, then.Task, len(c.Hooks) > 0)
	if then.Task.Attention != was.Task.Attention {
		out.Asks = then.Task.Attention
	}
	if c.Events[0].Type == history.MachineLost && decide.Respawns(was.def, c.Task) &&
		met.Resume == record.ResumeAlways {
		out.LostWith = met.LostWith
	}
	return out, err
}

// lookAfterDeath looks at the evidence that a dead agent has left. While the task owes hooks, or evidence is being
// gathered, the error is errNotNow.
func (e *crew) lookAfterDeath(ctx context.Context, id string, death task.Death) (s step, err error) {
	s.Snapshot, s.evidence, err = e.files.inspect(ctx, id, func(now record.Snapshot) (bool, error) {
		if decide.Explains(now.Owed) {
			return false, errNotNow
		}
		return true, nil
	})
	if err == nil {
		s.def, err = e.rulesOf(ctx, s.Task)
	}
	if err == nil {
		err = e.looks.addFacts(ctx, s.Snapshot, s.def, decide.DeathWantsTree(s.def, s.Task),
			decide.NeedsOfDeath(s.def, s.Task, death), &s.evidence)
	}
	if err == nil && isGathering(s.evidence) {
		err = errNotNow
	}
	return s, err
}

// consequence is what follows from a death. It adds the last words of the agent where they matter. The error is
// task.ErrNobody where another process has handled the death.
func (e *crew) consequence(ctx context.Context, s step, death *task.Death) (record.Change, error) {
	now := e.now()
	c := decide.Exit(s.def, s.Task, s.evidence, *death, now)
	if !decide.NeedsWords(c) {
		return c, nil
	}
	open, err := e.hasSeat(ctx, death.Task, func(s record.Seat) bool {
		return s.Hook == death.Hook && s.Role == death.Role
	})
	if err == nil && !open { // another process has handled it: its last words are needed only once
		err = task.ErrNobody
	}
	if err != nil {
		return c, err
	}
	if *death, err = e.lastWords(ctx, s.Task, s.evidence, *death, now); err != nil {
		return c, err
	}
	return decide.Exit(s.def, s.Task, s.evidence, *death, now), nil
}

// endedWith is with what a dead agent ended. Orange asks that only where it matters: where a person hears of the death,
// or it counts.
func (e *crew) endedWith(ctx context.Context, death task.Death) (with, resume string, _ error) {
	if death.Ending.Itself() {
		return "", "", nil
	}
	events, err := e.record.Events(ctx, death.Task, 0)
	if err != nil {
		return "", "", err
	}
	for i := len(events) - 1; i >= 0; i-- {
		started := events[i].Type == history.AgentSpawned || events[i].Type == history.ReviewStarted
		if started && events[i].Data["role"] == death.Role {
			return e.agents.Lost(ctx, death, events[i].Time)
		}
	}
	return "", "", nil
}

// lastWords adds to a death with what the agent ended, what it said last, and the limit of its provider that this tells
// of.
func (e *crew) lastWords(ctx context.Context, t task.Task, evidence decide.Evidence, death task.Death,
	now time.Time) (task.Death, error) {
	var err error
	if death.LostWith, death.Resume, err = e.endedWith(ctx, death); err != nil {
		return death, err
	}
	said, err := e.agents.LastWords(ctx, death)
	if err != nil {
		death.LastWords = "could not be read: " + err.Error()
		return death, nil
	}
	death.LastWords = said
	if said == "" {
		return death, nil
	}
	events, err := e.record.Events(ctx, t.ID, 0)
	if err != nil {
		return death, err
	}
	limit, err := e.agents.Limit(t, death, events, now)
	if err != nil {
		death.LastWords += "\n(whether that tells of a limit is not known: " + err.Error() + ")"
		return death, nil
	}
	if limit.Line != "" {
		death.Limit = evidence.AtLimit(limit, events)
	}
	return death, nil
}

// Respawn starts the agent of the present status again. alive reports whether the earlier one still lives.
func (e *crew) Respawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error),
	actor task.Actor) (record.Outcome, error) {
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) { return e.respawn(ctx, id, alive, actor) })
}

func (e *crew) respawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error),
	actor task.Actor) (record.Outcome, error) {
	if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
		return record.Outcome{}, err
	}
	if _, _, err := e.files.refresh(ctx, id); err != nil {
		return record.Outcome{}, err
	}
	s, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		state, _ := s.def.State(s.Task.Status)
		lives, err := e.seatedAs(ctx, id, state.Role)
		if err == nil && lives { // an agent whose end is noted is dead, even while its window closes
			lives, err = alive(s.Task, state.Role)
		}
		if err != nil {
			return nil, err
		}
		if s.Task.Workspace == "" {
			if err := e.rooms.branchThere(ctx, s.Task); err != nil {
				return nil, err
			}
		}
		return e.rooms.respawnRuling(ctx, s, lives, actor)
	})
	if errors.Is(err, task.ErrPoolFull) {
		now, unread := e.record.Load(ctx, id)
		if unread != nil || now.Task.Displaced() {
			return record.Outcome{}, cmp.Or(unread, e.rooms.noRoom(ctx, now.Task))
		}
		return e.rooms.queue(ctx, now.Task, task.Request{Task: id, To: now.Task.Status, Actor: actor})
	}
	if err != nil {
		return record.Outcome{}, err
	}
	return e.outcomes.conclude(ctx, s.Task, s.Task.Seq, actor)
}

// RespawnDead starts the dead agent of a task's present status again if the workflow wants that and its time has
// come. It returns when to ask again; zero if there is nothing to wait for.
func (e *crew) RespawnDead(ctx context.Context, id string) (again time.Time, err error) {
	s, changed, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		again = time.Time{}
		if len(s.Owed) > 0 || s.Task.Displaced() || !decide.Respawns(s.def, s.Task) {
			return nil, nil
		}
		state, _ := s.def.State(s.Task.Status)
		seated, err := e.seatedAs(ctx, id, state.Role)
		if err != nil {
			return nil, err
		}
		if seated {
			return nil, nil // it lives, or no process has handled its death yet
		}
		events, err := e.record.Events(ctx, id, 0)
		if err != nil {
			return nil, err
		}
		now := e.now()
		due, wanted := decide.RespawnDue(s.def, s.Task, events, now)
		if !wanted {
			return nil, nil
		}
		if due.After(now) {
			again = due
			return nil, nil
		}
		return e.rooms.respawnRuling(ctx, s, false, task.Actor{Rule: true})
	})
	if err != nil || !changed {
		return again, err
	}
	_, err = e.outcomes.announceAndRun(ctx, s.Task, true)
	return time.Time{}, err
}

// Stalled marks a task whose agent lives and has done nothing since a moment; a zero moment removes the mark.
// It reports whether the mark is new.
func (e *crew) Stalled(ctx context.Context, id string, since time.Time) (bool, error) {
	_, changed, err := e.files.amend(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		c, due := decide.Stalled(s.Task, since, e.now())
		return c, due, nil
	})
	return changed && !since.IsZero(), err
}

// isStarting reports whether a process still performs a hook that was dropped meanwhile. That process records which
// agent it started when it is done, and no other process performs the hook again.
func (e *crew) isStarting(ctx context.Context, id string, hook int64) (bool, error) {
	dropped, err := e.hasSeat(ctx, id, func(s record.Seat) bool { return s.Hook == hook && s.Dropped && s.PID == 0 })
	if err != nil || !dropped {
		return false, err
	}
	release, idle, err := e.folder.TryLock(hooksLock(id))
	if idle {
		release()
	}
	return err == nil && !idle, err
}

// EndUnusedSeats ends the seats that were issued for a hook which started no agent. No agent has died. While a
// process still performs the hook, EndUnusedSeats leaves them for later.
func (e *crew) EndUnusedSeats(ctx context.Context, id string, hook int64) error {
	if starting, err := e.isStarting(ctx, id, hook); err != nil || starting {
		return err
	}
	_, _, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		return record.Change{Task: s.Task, Expect: s.Task.Version, DeadHook: hook}, true, nil
	})
	if errors.Is(err, task.ErrNotFound) || errors.Is(err, task.ErrNobody) {
		return nil // another process was first
	}
	return err
}
