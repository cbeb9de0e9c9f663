package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

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
	if _, _, _, err := e.files.refresh(ctx, id, headerAlone); err != nil {
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

// respawnRuling has the agent of a task started again.
func (e *rooms) respawnRuling(ctx context.Context, s step, lives bool, actor task.Actor) (*ruling, error) {
	missing, err := e.work.Missing(ctx, s.Task)
	if err != nil {
		return nil, err
	}
	c, err := decide.Respawn(s.def, s.Task, lives, missing != "", actor, e.now())
	if err == nil && c.Lease == record.LeaseReserve {
		_, err = e.registered(s.Task.Project) // one that is gone has no workspaces, and never will
	}
	return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRespawn, Missing: missing != ""}.By(actor),
		overtaken: "overtaken by a respawn"}, err
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
