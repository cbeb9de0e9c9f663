package engine

import (
	"context"
	"slices"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Update changes what people and agents may change of a task without moving it.
func (e *requests) Update(ctx context.Context, id string, u task.Update) (task.Task, error) {
	out, err := e.outcomes.once(ctx, id, u.Actor, func() (record.Outcome, error) {
		t, err := e.update(ctx, id, u)
		return record.Outcome{Task: t}, err
	})
	return out.Task, err
}

func (e *requests) update(ctx context.Context, id string, u task.Update) (task.Task, error) {
	s, err := e.record.Load(ctx, id)
	if err != nil {
		return task.Task{}, err
	}
	if u.Summary != nil {
		if err := task.CheckSummary(*u.Summary); err != nil {
			return task.Task{}, err
		}
	}
	asks := partsOf(u)
	if len(u.MayChange) > 0 {
		if err := e.allow(ctx, s.Task, u, asks()); err != nil {
			return task.Task{}, err
		}
	}
	if u.Promise != nil {
		pinned := history.Event{Type: history.Updated, Reason: "the promise of its project is another one now"}
		guarantee.Pin(&pinned, *u.Promise)
		if err := e.note(ctx, id, asks(), pinned); err != nil {
			return task.Task{}, err
		}
	}
	if u.Seen {
		if err := e.takeMark(ctx, id, u, asks()); err != nil {
			return task.Task{}, err
		}
	}
	data := map[string]string{}
	if u.Branch != nil {
		branch, err := e.looks.setBranch(ctx, s.Task, *u.Branch)
		if err != nil {
			return task.Task{}, err
		}
		data[history.DataBranch] = branch
		if name := e.looks.renameSession(ctx, s.Task, branch); name != "" {
			data[history.DataSession] = name
		}
	}
	for key, value := range map[string]*string{history.DataSummary: u.Summary, history.DataHarness: u.Harness,
		history.DataReviewHarness: u.ReviewHarness} {
		if value != nil {
			data[key] = inOneLine(*value)
		}
	}
	_, _, err = e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		t := s.Task
		if branch, asked := data[history.DataBranch]; asked {
			t.Branch = branch
		}
		told := inSession(&t, data)
		same := t.Branch == s.Task.Branch && t.Session == s.Task.Session
		for key, field := range peoplesFields(&t) {
			if value, asked := data[key]; asked {
				same = same && *field == value
				*field = value
			}
		}
		if same {
			return nil, nil
		}
		return noteRuling(s, t, u.Actor, history.Event{Type: history.Updated, Data: told}, e.now()), nil
	})
	if err != nil {
		return task.Task{}, err
	}
	s, _, err = e.files.refresh(ctx, id)
	return s.Task, err
}

// partsOf answers with each call who asks for the next part of an update that has a commit of its own: only the last
// part answers a repeat, so that none is left out where the program was ended before it.
func partsOf(u task.Update) (next func() task.Actor) {
	left := 0
	for _, has := range []bool{len(u.MayChange) > 0, u.Promise != nil, u.Seen,
		u.Branch != nil || u.Summary != nil || u.Harness != nil || u.ReviewHarness != nil} {
		if has {
			left++
		}
	}
	return func() task.Actor {
		if left--; left > 0 {
			return u.Actor.Unmarked()
		}
		return u.Actor
	}
}

// inOneLine is a text without ends of lines: what follows one in a summary would be a text of its own in a prompt.
func inOneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// atCreation is the reason for what a person allows a task when they create it.
const atCreation = "said when the task was created"

// allow notes that a person allows a task to change what its project protects. A repeat finds that.
func (e *requests) allow(ctx context.Context, t task.Task, u task.Update, actor task.Actor) error {
	if err := decide.MayAllow(t, u.Actor, u.Reason); err != nil {
		return err
	}
	allowed := history.Event{Type: history.Updated, Reason: u.Reason,
		Data: map[string]string{replay.DataMayChange: strings.Join(u.MayChange, "\n")}}
	if u.Actor.Repeats() {
		events, err := e.record.Events(ctx, t.ID, 0)
		if err != nil || allows(events, u.MayChange) {
			return err
		}
	}
	return e.note(ctx, t.ID, actor, allowed)
}

// allows reports whether a history has an event that allows just these patterns.
func allows(events []history.Event, patterns []string) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Data[replay.DataMayChange] == strings.Join(patterns, "\n")
	})
}

// takeMark takes away the mark of a task that is over.
func (e *requests) takeMark(ctx context.Context, id string, u task.Update, actor task.Actor) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if err := decide.MaySee(s.Task, u.Actor); err != nil || s.Task.Attention == "" {
			return nil, err
		}
		after := s.Task
		after.Attention = ""
		return noteRuling(s, after, actor, history.Event{Type: history.Updated, Reason: u.Reason,
			Data: map[string]string{"seen": s.Task.Attention}}, e.now()), nil
	})
	if err != nil {
		return err
	}
	return e.reactions.resetRefusals(ctx, id, u.Actor)
}
