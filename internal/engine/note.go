package engine

import (
	"context"
	"strconv"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// dataDigest is, in the data of a finished check, the digest of what it printed.
const dataDigest = "digest"

// NoteCheck adds the end of a check to the task's history, with the digest of the result that is kept in the
// task's folder.
func (e *looks) NoteCheck(ctx context.Context, id string, result task.CheckResult, digest string) error {
	err := e.note(ctx, id, task.Actor{Rule: true}, history.Event{Type: history.CheckFinished, Reason: result.Trouble,
		Data: map[string]string{
			history.DataCheck: result.Name, "head": result.Head, "status": strconv.Itoa(result.Status),
			"took": result.Took, dataDigest: digest,
		}})
	if err != nil {
		return err
	}
	return e.files.Sync(ctx, id)
}

// NotedCheck returns the digest of a check's last result from the history; empty if the check never ran.
// An agent can write to the file with the result: it counts only if its digest is the one in the history.
func (e *looks) NotedCheck(ctx context.Context, id, check string) (string, error) {
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return "", err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.CheckFinished && events[i].Data[history.DataCheck] == check {
			return events[i].Data[dataDigest], nil
		}
	}
	return "", nil
}

// note adds an event to a task's history that changes nothing else, except for what every act of a person resets.
func (e *core) note(ctx context.Context, id string, actor task.Actor, event history.Event) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		return noteRuling(s, s.Task, actor, event, e.now()), nil
	})
	return err
}

// noteRuling is the ruling of an event that moves nothing; it leaves the task as after.
func noteRuling(s step, after task.Task, actor task.Actor, event history.Event, now time.Time) *ruling {
	after.UpdatedAt, event.Time = now, now
	r := &ruling{change: decide.Note(s.def, s.Task, after, actor, event)}
	if len(r.change.Events[0].Counters) > 0 { // else it tells of what was done, and nothing was decided
		r.in = replay.Inputs{Ask: replay.AskNote}.By(actor)
	}
	return r
}
