package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/record"
	"orange/internal/replay"
	"orange/internal/task"
	"orange/internal/workflow"
)

// SendBack applies the rules of a task's status after something happened to its work, such as a red check of its pull
// request: it sends the task back and appends the setback's text to its document, or marks the task for a person where
// the workflow allows no more. It returns the notice for people; empty if nothing follows, because there is no rule for
// it, the fact was used before, or it is about another commit than the judged tip. If several processes report the
// same, one of them gets the notice. SendBack does nothing while hooks are owed, and while evidence is being gathered:
// the caller asks again. It sets the hooks of the move going and does not wait for them.
func (e *Engine) SendBack(ctx context.Context, id string, back decide.Setback) (told string, err error) {
	s := sendingBack{Engine: e, id: id, back: back}
	return s.do(context.WithoutCancel(ctx))
}

// sendingBack is a setback on its way to a move.
type sendingBack struct {
	*Engine
	id      string
	back    decide.Setback
	judged  *task.Task // nil, or the task as it has to be still
	written bool       // the document has the text
	against string     // what prevents the move
	then    string     // what became of the task
}

func (s *sendingBack) do(ctx context.Context) (told string, err error) {
	for range maxConflicts {
		told, err = s.attempt(ctx)
		switch {
		case errors.Is(err, errNotNow), errors.Is(err, task.ErrNotFound):
			return "", nil
		case errors.Is(err, task.ErrPoolFull):
			s.against = decide.NoWorkspace
		case !errors.Is(err, task.ErrConflict):
			return told, err
		}
	}
	return "", task.Notef(task.ErrConflict, "cannot send task %s back: others change it all the time; try again", s.id)
}

func (s *sendingBack) attempt(ctx context.Context) (string, error) {
	first, err := s.Store.Load(ctx, s.id)
	if err != nil {
		return "", err
	}
	def, err := s.rules(ctx, first.Task)
	if err != nil {
		return "", err
	}
	to, known := s.back.Target(def, first.Task)
	if !known {
		return "", nil
	}
	now, def, evidence, err := s.look(ctx, ruleTo(s.id, to))
	if err != nil {
		return "", err
	}
	if still, _ := s.back.Target(def, now.Task); still != to {
		return "", task.ErrConflict // what was read is about another move
	}
	if _, pending := firstPending(now.Owed); pending || unsettled(evidence) || now.Task.Displaced() {
		return "", errNotNow
	}
	if s.judged != nil && unmoved(now.Task, *s.judged) != nil {
		return "", nil
	}
	return s.commit(ctx, now, evidence)
}

// unsettled reports whether evidence is still being gathered.
func unsettled(evidence decide.Evidence) bool {
	for _, fact := range evidence.Facts { // in any order
		if fact.Pending {
			return true
		}
	}
	return false
}

// commit decides, writes what the worker has to know, commits, and has the hooks performed.
func (s *sendingBack) commit(ctx context.Context, now record.Snapshot, evidence decide.Evidence) (string, error) {
	def, err := s.rules(ctx, now.Task)
	if err != nil {
		return "", err
	}
	events, err := s.Index.Events(ctx, s.id, 0)
	if err != nil {
		return "", err
	}
	_, size, err := s.projectSettings(now.Task.Project)
	if err != nil {
		return "", err
	}
	c, due := s.back.Change(def, now.Task, evidence, events, s.against, s.Now())
	if !due {
		return "", nil
	}
	became, told := decide.SentBack(c)
	in := replay.Inputs{Ask: replay.AskBack, Against: s.against}.By(task.Actor{Rule: true}).After(s.back)
	if c, err = in.Keep(def, now, evidence, c); err != nil {
		return "", err
	}
	if c.Entered && !s.written && s.back.Text != "" {
		text := "\n" + decide.FixInstructions + "\n\n" + document.Demote(s.back.Text) + "\n"
		if err := s.Documents.Append(now.Task.Project, s.id, text); err != nil {
			return "", fmt.Errorf("write what the worker of task %s has to know: %w", s.id, err)
		}
		s.written = true
	}
	t, err := s.commitLate(ctx, def, now, c, evidence, size, "overtaken by a rule that sends back")
	if err != nil {
		return "", err
	}
	s.then = became
	if c.Entered && t.Attention != "" {
		told += "; " + t.Attention
	}
	_, err = s.announce(ctx, t, t.Seq)
	if err == nil && len(c.Hooks) > 0 {
		err = s.Runner.Run(ctx, s.id, false)
	}
	return told, err
}

// mergeFailed sends a task back whose merge failed by a conflict or a red result, if its workflow has a rule for that,
// and returns the error with what became of the task.
func (e *Engine) mergeFailed(ctx context.Context, judged task.Task, commit string, failed error) error {
	unmerged, is := errors.AsType[*record.Unmerged](failed)
	if !is {
		return failed
	}
	ctx = context.WithoutCancel(ctx)
	back := decide.Setback{On: workflow.OnMergeFailed, Commit: commit}.OfMerge(unmerged)
	s := sendingBack{Engine: e, id: judged.ID, back: back, judged: &judged}
	told, err := s.do(ctx)
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
