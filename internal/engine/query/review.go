package query

import (
	"context"
	"fmt"

	"orange/internal/rules/diff"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// reviewSection is the section of TASK.md in which a reviewer says what they found.
const reviewSection = "Review"

// Patch is the work of a task as a person reviews it: all of it, or what changed since another commit was judged.
func (q *Service) Patch(ctx context.Context, t task.Task, since bool) (diff.Patch, error) {
	p, err := q.Work.Patch(ctx, t, "")
	if err != nil {
		return p, err
	}
	events, err := q.Record.Events(ctx, t.ID, 0)
	if err != nil {
		return p, err
	}
	def, err := q.Setup.Pinned(ctx, t.Workflow)
	if err != nil {
		return p, err
	}
	last, judged := lastJudged(def, events, p.To)
	if since && last != "" {
		if p, err = q.Work.Patch(ctx, t, last); err != nil {
			return p, err
		}
	}
	p.Last, p.Judged = last, judged
	// without a document, what is changed can be seen all the same
	if text, err := q.Files.Read(t.Project, t.ID, true); err == nil {
		section, _ := document.Read(text).Section(reviewSection)
		p.Review = section.Text
	}
	return p, nil
}

// lastJudged is the commit that was judged last, and by which move: by a verdict, or by a person who asked for
// changes. A judgement of the present commit does not count: nothing has changed since.
func lastJudged(def *workflow.Definition, events []history.Event, present string) (commit, by string) {
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if !e.IsMove() || e.Subject.Commit == "" || e.Subject.Commit == present || !judges(def, e) {
			continue
		}
		who := e.Person
		if who == "" {
			who = e.Actor
		}
		return e.Subject.Commit, fmt.Sprintf("%s → %s by %s", e.From, e.To, who)
	}
	return "", ""
}

// judges reports whether a move was made on a verdict, or was a person's request for changes.
func judges(def *workflow.Definition, e *history.Event) bool {
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if edge.From == e.From && edge.To == e.To && len(workflow.Verdicts(edge.Gate)) > 0 {
			return true
		}
	}
	back, said := def.Move(workflow.MoveRequestChanges)
	return said && back == e.To && e.From != e.To && e.Actor == task.RoleHuman
}
