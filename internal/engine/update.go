package engine

import (
	"context"
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
	if len(u.MayChange) > 0 {
		allowed, err := mayChange(s.Task, u)
		if err == nil {
			err = e.note(ctx, id, u.Actor, allowed)
		}
		if err != nil {
			return task.Task{}, err
		}
	}
	if u.Promise != nil {
		pinned := history.Event{Type: history.Updated, Reason: "the promise of its project is another one now"}
		guarantee.Pin(&pinned, *u.Promise)
		if err := e.note(ctx, id, u.Actor, pinned); err != nil {
			return task.Task{}, err
		}
	}
	if u.Seen {
		if err := e.takeMark(ctx, id, u); err != nil {
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

// inOneLine is a text without ends of lines: what follows one in a summary would be a text of its own in a prompt.
func inOneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// atCreation is the reason for what a person allows a task when they create it.
const atCreation = "said when the task was created"

// mayChange is the event of a person who allows a task to change what its project protects.
func mayChange(t task.Task, u task.Update) (history.Event, error) {
	if err := decide.MayAllow(t, u.Actor, u.Reason); err != nil {
		return history.Event{}, err
	}
	return history.Event{Type: history.Updated, Reason: u.Reason,
		Data: map[string]string{replay.DataMayChange: strings.Join(u.MayChange, "\n")}}, nil
}

// takeMark takes away the mark of a task that is over.
func (e *requests) takeMark(ctx context.Context, id string, u task.Update) error {
	_, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if err := decide.MaySee(s.Task, u.Actor); err != nil || s.Task.Attention == "" {
			return nil, err
		}
		after := s.Task
		after.Attention = ""
		return noteRuling(s, after, u.Actor, history.Event{Type: history.Updated, Reason: u.Reason,
			Data: map[string]string{"seen": s.Task.Attention}}, e.now()), nil
	})
	if err != nil {
		return err
	}
	return e.reactions.resetRefusals(ctx, id, u.Actor)
}
