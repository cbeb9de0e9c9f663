package doctor

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/task"
)

// Past is what there is of a task's past.
type Past interface {
	// History is a task with its history on record, one event a line.
	History(ctx context.Context, id string) (task.Task, []string, error)
	// Kept is the text that is kept for a task under a digest, as it stands there now.
	Kept(project, id, digest string) (text string, kept bool, err error)
}

// Verify looks whether the past of some tasks holds: that their histories are whole and unchanged, that they say what is on record,
// that the files say the same, and that every text which an event names is kept as it was. It changes nothing.
// What a command is in the middle of at this moment is no finding.
func (d *Doctor) Verify(ctx context.Context, past Past, ids []string) ([]task.Finding, error) {
	found, err := d.lasting(ctx, func(ctx context.Context) []finding {
		var out []finding
		var count verified
		for _, id := range ids {
			if ctx.Err() != nil {
				break
			}
			out = append(out, d.verify(ctx, past, id, &count)...)
		}
		return orOK(out, checkChain, "tasks", "verified: %d, with %d events and %d kept texts", count.tasks, count.events, count.texts)
	})
	if err == nil {
		err = ctx.Err()
	}
	return plain(found), err
}

// verified counts what was looked at.
type verified struct{ tasks, events, texts int }

func (d *Doctor) verify(ctx context.Context, past Past, id string, count *verified) []finding {
	t, lines, err := past.History(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return nil // it was deleted meanwhile
	}
	if err != nil {
		return []finding{blind(checkChain, id, err)}
	}
	count.tasks++
	count.events += len(lines)
	out := d.mirrors(t, lines)
	events, broken := d.chain(t, lines)
	if len(broken) > 0 {
		return append(broken, out...) // what a changed history says is worth no further look
	}
	differs, err := task.Disagree(t, events)
	if err != nil {
		return append(out, blind(checkChain, id, err))
	}
	for _, what := range differs {
		out = append(out, problem(checkDatabase, id, what, adviceChanged))
	}
	out = append(out, d.projections(ctx, []shown{{t, lines}})...)
	return append(out, d.texts(past, t, events, count)...)
}

// texts looks whether every text that an event names is there, and is what it was.
func (d *Doctor) texts(past Past, t task.Task, events []task.Event, count *verified) []finding {
	var out []finding
	for _, e := range events {
		named, err := decide.Kept(e)
		if err != nil {
			out = append(out, blind(checkEvidence, t.ID, err))
		}
		for _, one := range named {
			count.texts++
			text, kept, err := past.Kept(t.Project, t.ID, one.Digest)
			what := fmt.Sprintf("event %d: %s, evidence/%s", e.Seq, one.Source, one.Digest)
			const advice = "bring the file back from a backup: the history says what it was, and nobody else knows"
			switch {
			case err != nil:
				out = append(out, blind(checkEvidence, t.ID, fmt.Errorf("%s: %w", what, err)))
			case !kept:
				out = append(out, problem(checkEvidence, t.ID, what+" is not kept any more", advice))
			case document.Digest(text) != one.Digest:
				out = append(out, problem(checkEvidence, t.ID, what+" is not what it was: it was changed afterwards", advice))
			}
		}
	}
	return out
}
