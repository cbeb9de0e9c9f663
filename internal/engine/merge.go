package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/rejection"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Keys in the data of a merge's begin: the commit that Orange merges, and what git said of it then. With them
// a merge that was cut short and runs again can still be judged: once the branch is merged, git says
// something else of it.
const (
	dataGit    = "git"
	dataCommit = "commit"
)

// Merge merges the commit of the task's branch that the decision was about into the project's default branch and
// then moves the task. If its pull request is merged already, Merge merges nothing here; if that is open, it
// returns a *rejection.Rejection. It decides first; if it was cut short and runs again, it goes on.
func (e *Engine) Merge(ctx context.Context, id string, m task.Merge, actor task.Actor) (record.Outcome, string, error) {
	if err := e.finishPending(ctx, id, actor); err != nil {
		return record.Outcome{}, "", err
	}
	begun, err := e.mergeBegun(ctx, id)
	if err != nil {
		return record.Outcome{}, "", err
	}
	r := &request{
		Request: task.Request{Task: id, Actor: actor, Reason: m.Override, Override: m.Override != ""},
		target: func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			to, err := decide.MoveTarget(def, t, workflow.MoveMerge)
			return to, false, err
		},
		known: begun, waited: true,
	}
	s, decision, evidence, refused := e.judge(ctx, r)
	req := r.Request
	var refusal *rejection.Rejection
	if refused != nil && !errors.As(refused, &refusal) {
		return record.Outcome{}, "", refused
	}
	if refused == nil && !decision.Moved {
		return record.Outcome{Task: s.Task}, "already merged", nil
	}
	aside := ""
	// GitHub need not merge what was merged here already
	if !m.Local && begun == nil && (refused == nil || refusal.Code == rejection.GateUnmet) {
		pr, known, err := e.requested(ctx, s.Task)
		switch {
		case err != nil && refused == nil:
			return record.Outcome{}, "", err
		case err == nil && known && pr.State == record.PRMerged:
			return e.mergedThere(ctx, s, req, pr, evidence)
		// the person who merges it there answers for what has moved
		case err == nil && known && pr.State == record.PROpen && (refused == nil || refusal.Moved):
			return record.Outcome{}, "", e.stillOpen(ctx, s.Task, req, pr)
		case known:
			aside = "; its pull request " + pr.URL + " is closed and was not merged"
		}
	}
	if refused != nil {
		e.logRefusal(req, refused)
		e.restoreFiles(ctx, id)
		return record.Outcome{}, "", refused
	}
	git := gitFacts(evidence)
	if begun == nil {
		if err := e.worthMerging(ctx, s.Task, git.subject.Commit); err != nil {
			return record.Outcome{}, "", err
		}
	}
	out, how, err := e.mergeHere(ctx, s.Task, req, m.Strategy, git)
	if err == nil {
		how += aside
	}
	return out, how, err
}

// mergeHere notes which commit it merges and what git says of the branch before, merges it, and moves the task.
func (e *Engine) mergeHere(ctx context.Context, t task.Task, req task.Request, strategy string,
	git *known) (record.Outcome, string, error) {
	text, err := json.Marshal(git.facts)
	if err != nil {
		return record.Outcome{}, "", fmt.Errorf("note what git says: %w", err)
	}
	if git.subject.Commit == "" { // else it would merge what the branch holds by then
		return record.Outcome{}, "", fmt.Errorf("cannot merge task %s: its branch could not be read: %s", t.ID,
			cmp.Or(git.subject.Trouble, "it has no commit yet"))
	}
	data := map[string]string{"branch": t.Branch, dataCommit: git.subject.Commit}
	if len(git.facts) > 0 {
		data[dataGit] = string(text)
	}
	if err := e.begin(ctx, t, req.Actor, history.Event{Type: history.MergeBegun, Data: data}); err != nil {
		return record.Outcome{}, "", err
	}
	still := func(ctx context.Context) error { // the merge waits for other merges, and for origin
		s, err := e.Store.Load(ctx, t.ID)
		if err != nil {
			return err
		}
		return unmoved(s.Task, t)
	}
	commit, how, err := e.Merger.Merge(ctx, t, git.subject.Commit, strategy, still)
	if err != nil {
		e.restoreFiles(context.WithoutCancel(ctx), t.ID) // the begin of the merge is on record
		return record.Outcome{}, "", err
	}
	merged := history.Event{Type: history.Merged, Reason: how, Data: map[string]string{
		"branch": t.Branch, "commit": commit}}
	if err := e.note(ctx, t.ID, req.Actor, merged); err != nil {
		return record.Outcome{}, "", err
	}
	if !req.Override { // else the reason is the person's own
		req.Reason = how
	}
	out, err := e.request(ctx, &request{Request: req, known: git})
	return out, how, err
}

// begin records that a merge begins, unless the task has moved since it was judged.
func (e *Engine) begin(ctx context.Context, judged task.Task, actor task.Actor, event history.Event) error {
	_, err := e.change(ctx, judged.ID, func(s record.Snapshot) (*record.Change, error) {
		if err := unmoved(s.Task, judged); err != nil {
			return nil, err
		}
		return e.noted(ctx, s, s.Task, actor, event)
	})
	return err
}

// unmoved refuses a merge of a task that has moved since it was judged.
func unmoved(now, judged task.Task) error {
	if now.Status == judged.Status && now.EnteredAt.Equal(judged.EnteredAt) && now.Subject == judged.Subject {
		return nil
	}
	return task.Notef(task.ErrConflict, "cannot merge task %s: it was moved meanwhile, and it is %q now; "+
		"nothing was merged; look at it and try again",
		judged.ID, now.Status)
}

// gitFacts returns what git said, and of which commit.
func gitFacts(evidence decide.Evidence) *known {
	git := &known{facts: map[string]decide.Fact{}, subject: evidence.Subject}
	for key, fact := range evidence.Facts { // facts stay a map
		if strings.HasPrefix(fact.Source, "git ") {
			git.facts[key] = fact
		}
	}
	return git
}

// mergeBegun is what git said when a merge began that did its work and was cut short before the move; nil if
// there is none, or if the commit has something to merge: then the caller looks again.
func (e *Engine) mergeBegun(ctx context.Context, id string) (*known, error) {
	events, err := e.Index.Events(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	for _, event := range slices.Backward(events) {
		if event.IsMove() {
			return nil, nil
		}
		if event.Type != history.MergeBegun {
			continue
		}
		s, err := e.Store.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		commit := event.Data[dataCommit]
		ahead, err := e.Merger.Ahead(ctx, s.Task, commit)
		if err != nil || ahead {
			return nil, err
		}
		git := &known{facts: map[string]decide.Fact{}, subject: task.Subject{Commit: commit}}
		if text := event.Data[dataGit]; text != "" {
			if err := json.Unmarshal([]byte(text), &git.facts); err != nil {
				return nil, fmt.Errorf("read what git said when the merge of task %s began: %w", id, err)
			}
		}
		return git, nil
	}
	return nil, nil
}

// worthMerging refuses a merge that would finish a task whose commit adds nothing.
func (e *Engine) worthMerging(ctx context.Context, t task.Task, commit string) error {
	ahead, err := e.Merger.Ahead(ctx, t, commit)
	if err != nil || ahead {
		return err
	}
	return fmt.Errorf("cannot merge task %s: its branch %q holds no commit that the default branch has not; "+
		"commit the work there, or, if it was merged by other means, finish it with orange task update --status",
		t.ID, t.Branch)
}
