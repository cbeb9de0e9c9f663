package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// SendBack applies the rules of a task's status after something happened to its work, such as a red check of its pull
// request: it sends the task back and appends the setback's text to its document, or marks the task for a person where
// the workflow allows no more. It returns the notice for people; empty if nothing follows, because there is no rule for
// it, the fact was used before, or it is about another commit than the judged tip. If several processes report the
// same, one of them gets the notice. SendBack does nothing while hooks are owed, and while evidence is being gathered:
// the caller asks again. It sets the hooks of the move going and does not wait for them.
func (e *reactions) SendBack(ctx context.Context, id string, back decide.Setback) (told string, err error) {
	s := sendingBack{reactions: e, id: id, back: back}
	return s.send(context.WithoutCancel(ctx))
}

// sendingBack is a setback on its way to a move.
type sendingBack struct {
	*reactions
	id      string
	back    decide.Setback
	judged  *task.Task // nil, or the task as it has to be still
	written bool       // the document has the text
	against string     // what prevents the move
	then    string     // what became of the task
}

func (s *sendingBack) send(ctx context.Context) (told string, err error) {
	return evenIfFull(func(against string) (string, error) {
		s.against = against
		return s.attempt(ctx)
	})
}

// evenIfFull makes a move by a rule, or notes that no workspace is free for it. What cannot be looked at now is looked
// at again, and a task that was deleted needs nothing.
func evenIfFull(move func(against string) (told string, err error)) (told string, err error) {
	told, err = move("")
	if errors.Is(err, task.ErrPoolFull) {
		told, err = move(decide.NoWorkspace)
	}
	if errors.Is(err, errNotNow) || isDeleted(err) {
		return "", nil
	}
	return told, err
}

// look looks at what the move back asks for. While the task owes hooks, or evidence is being gathered, the error is
// errNotNow.
func (s *sendingBack) look(ctx context.Context, id string) (step, error) {
	first, err := s.withRules(ctx, id)
	if err != nil {
		return first, err
	}
	to, known := s.back.Target(first.def, first.Task)
	if !known {
		return first, nil // nothing follows
	}
	now, err := s.looks.lookFor(ruleTo(id, to))(ctx, id)
	if err != nil {
		return now, err
	}
	if still, _ := s.back.Target(now.def, now.Task); still != to {
		return now, errAgain // what was read is about another move
	}
	if _, pending := firstPending(now.Owed); pending || isGathering(now.evidence) || now.Task.Displaced() {
		return now, errNotNow
	}
	return now, nil
}

// attempt decides, writes what the worker has to know, commits, and has the hooks performed.
func (s *sendingBack) attempt(ctx context.Context) (told string, err error) {
	var c record.Change
	then, changed, err := s.do(ctx, s.id, s.look, func(now step) (_ *ruling, err error) {
		due := false
		if c, due, err = s.decide(ctx, now); err != nil || !due {
			return nil, err
		}
		s.then, told = decide.SentBack(c)
		if err := s.write(c); err != nil {
			return nil, err
		}
		in := replay.Inputs{Ask: replay.AskBack, Against: s.against}.By(task.Actor{Rule: true}).After(s.back)
		return mayMove(now, &c, in, "overtaken by a rule that sends back"), nil
	})
	if err != nil || !changed {
		return "", err
	}
	if c.Entered && then.Task.Attention != "" {
		told += "; " + then.Task.Attention
	}
	_, err = s.outcomes.announceAndRun(ctx, then.Task, len(c.Hooks) > 0)
	return told, err
}

// decide is what follows from the setback. A task that has moved since it was judged is left alone.
func (s *sendingBack) decide(ctx context.Context, now step) (c record.Change, due bool, err error) {
	if s.judged != nil && refuseIfMoved(now.Task, *s.judged) != nil {
		return c, false, nil
	}
	events, err := s.record.Events(ctx, s.id, 0)
	if err != nil {
		return c, false, err
	}
	c, due = s.back.Change(now.def, now.Task, now.evidence, events, s.against, s.now())
	return c, due, nil
}

// write writes what the worker has to know into the task's document, once.
func (s *sendingBack) write(c record.Change) error {
	if !c.Entered || s.written || s.back.Text == "" {
		return nil
	}
	if err := s.folder.Append(c.Task.Project, s.id, toMend(s.back.Text)); err != nil {
		return fmt.Errorf("write what the worker of task %s has to know: %w", s.id, err)
	}
	s.written = true
	return nil
}

// toMend is the part of a document that says what its worker is to mend.
func toMend(text string) string {
	return "\n" + decide.FixInstructions + "\n\n" + document.Demote(text) + "\n"
}

// isGathering reports whether evidence is still being gathered.
func isGathering(evidence decide.Evidence) bool {
	for _, fact := range evidence.Facts { // in any order
		if fact.Pending {
			return true
		}
	}
	return false
}

// mergeFailed sends a task back whose merge failed by a conflict or a red result, if its workflow has a rule for that,
// and returns the error with what became of the task.
func (e *reactions) mergeFailed(ctx context.Context, judged task.Task, commit string, failed error) error {
	unmerged, is := errors.AsType[*record.Unmerged](failed)
	if !is {
		return failed
	}
	ctx = context.WithoutCancel(ctx)
	back := decide.Setback{On: workflow.OnMergeFailed, Commit: commit}.OfMerge(unmerged)
	s := sendingBack{reactions: e, id: judged.ID, back: back, judged: &judged}
	told, err := s.send(ctx)
	if err != nil {
		return errors.Join(failed, fmt.Errorf("send task %s back: %w", judged.ID, err))
	}
	if told == "" {
		return failed
	}
	said := *unmerged
	said.Then = s.then
	about, _, _ := strings.Cut(failed.Error(), unmerged.Error())
	return fmt.Errorf("%s%w", about, &said)
}
