package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Keys in the data of a merge's begin: the commit that Orange merges, and what git said of it then, and how it is
// merged. With them a merge that was cut short and runs again can still be judged: once the branch is merged, git says
// something else of it.
const (
	dataGit      = "git"
	dataCommit   = "commit"
	dataResult   = "result" // the commit that the default branch gets
	dataPush     = "push"   // pushAlways or pushNever
	dataStrategy = "strategy"
)

// Whether origin gets a merge.
const (
	pushAlways = "always"
	pushNever  = "never"
)

const alreadyMerged = "already merged"

// Merge merges the commit of the task's branch that the decision was about into the project's default branch and
// then moves the task. If its pull request is merged already, Merge merges nothing here; if that is open, it
// returns a *rejection.Rejection. It decides first; if it was cut short and runs again, it goes on, and so does
// GoOnMerging. Where the merge fails by a conflict or a red result, the workflow may send the task back: the
// *record.Unmerged says so.
func (e *merges) Merge(ctx context.Context, id string, m task.Merge, actor task.Actor) (
	out record.Outcome, how string, err error) {
	out, err = e.outcomes.once(ctx, id, actor, func() (out record.Outcome, err error) {
		out, how, err = (&merging{e, m, actor}).merge(ctx, id)
		return out, err
	})
	if err == nil && how == "" { // it was made before
		_, how, _, err = e.outcomes.Answered(ctx, id, actor)
		how = cmp.Or(how, alreadyMerged)
	}
	return out, how, err
}

// merging is what someone asks for of one task or several.
type merging struct {
	*merges
	asked task.Merge
	actor task.Actor
}

func (e *merging) merge(ctx context.Context, id string) (record.Outcome, string, error) {
	release, err := e.folder.Lock(ctx, mergeLock(id))
	if err != nil {
		return record.Outcome{}, "", err
	}
	defer release()
	if err := e.outcomes.finishPending(ctx, id, e.actor); err != nil {
		return record.Outcome{}, "", err
	}
	earlier, err := e.mergeBegun(ctx, id)
	if err != nil {
		return record.Outcome{}, "", err
	}
	out, how, err := e.mergeAfter(ctx, id, earlier)
	_, refused := errors.AsType[*rejection.Rejection](err)
	if earlier.git == nil && len(earlier.tries) > 0 && (refused || errors.Is(err, errNothingToMerge)) {
		// A fetch for another task may have shown meanwhile that the push of an earlier try landed.
		again, unknown := e.mergeBegun(ctx, id)
		if unknown == nil && again.git != nil {
			return e.mergeAfter(ctx, id, again)
		}
	}
	return out, how, err
}

// mergeAfter merges a task, after what is known of earlier tries.
func (e *merging) mergeAfter(ctx context.Context, id string, earlier earlierMerge) (record.Outcome, string, error) {
	m, actor := e.asked, e.actor
	r := mergeRequest(id, m, actor)
	r.known = earlier.git
	s, decision, refused := e.requests.judge(ctx, r)
	req := r.Request
	var refusal *rejection.Rejection
	if refused != nil && !errors.As(refused, &refusal) {
		return record.Outcome{}, "", refused
	}
	if refused == nil && !decision.Moved {
		return record.Outcome{Task: s.Task}, alreadyMerged, nil
	}
	in, aside := record.Merging{Asked: m}, ""
	// the host need not merge what was merged here already
	if !m.Local && earlier.git == nil && (refused == nil || refusal.Code == rejection.GateUnmet) {
		pr, other, err := e.pulls.presentPR(ctx, s.Task)
		switch {
		case err != nil && refused == nil:
			return record.Outcome{}, "", err
		case err == nil && pr.State == record.PRMerged:
			return e.pulls.moveAfterPR(ctx, s, req, pr)
		case err == nil && pr.State == record.PROpen:
			in.PR = pr
			if refused != nil && refusal.Moved { // the person who merges it there answers for what has moved
				refused = nil
			}
		case other != "":
			aside = "; " + other
		}
	}
	order := record.MergeOrder{Strategy: cmp.Or(m.Strategy, earlier.strategy), Push: earlier.push == pushAlways,
		With: m.With}
	if refused == nil && earlier.git == nil {
		order, refused = e.mergeWay(ctx, s.Task, req, in)
	}
	if refused != nil && !errors.As(refused, &refusal) {
		return record.Outcome{}, "", refused
	}
	if refused != nil {
		if refusal.Override != "" { // a line that would be refused for something else is none
			in.Asked.Override = "REASON"
			refusal.Override = e.mergeLine(ctx, s.Task, in)
		}
		refused = e.reactions.noteRefusal(ctx, req, refused)
		e.files.restoreFiles(ctx, id)
		return record.Outcome{}, "", refused
	}
	git := gitFacts(s.evidence)
	order.Results = earlier.resultsOf(git.subject.Commit)
	if earlier.git == nil {
		if err := e.worthMerging(ctx, s.Task, req.To, git.subject.Commit); err != nil {
			return record.Outcome{}, "", err
		}
	}
	e.tellChecks(s.Task, order)
	out, how, err := e.mergeHere(ctx, s.Task, req, order, git)
	if err == nil {
		how += aside
	}
	if errors.Is(err, fencing.ErrWaits) {
		err = whoRetries(err, "no program merges it later: run it again when that is over: "+
			e.mergeLine(ctx, s.Task, in))
	}
	return out, how, err
}

// mergeRequest asks for the move of a merge. The hooks of the last move were waited for.
func mergeRequest(id string, m task.Merge, actor task.Actor) *request {
	return &request{
		Request: task.Request{Task: id, Actor: actor, Reason: m.Override, Override: m.Override != ""},
		target: func(def *workflow.Definition, t task.Task) (task.Status, bool, error) {
			to, _, err := decide.MoveTarget(def, t, workflow.MoveMerge)
			return to, false, err
		},
		waited: true,
	}
}

// mergeWay is how the task is merged here, by what the project and the person say.
func (e *merging) mergeWay(ctx context.Context, t task.Task, req task.Request,
	in record.Merging) (record.MergeOrder, error) {
	def, err := e.rulesOf(ctx, t)
	if err != nil {
		return record.MergeOrder{}, err
	}
	if in, err = e.mergeWants(ctx, t, in); err != nil {
		return record.MergeOrder{}, err
	}
	return decide.MergeWay(def, t, req.To, in, req.Actor)
}

// mergeWants adds to a merge that is asked for what the project says of it, and what origin lacks.
func (e *merging) mergeWants(ctx context.Context, t task.Task, in record.Merging) (_ record.Merging, err error) {
	if in.Project, err = e.project(t.Project); err != nil && !errors.Is(err, task.ErrNotFound) {
		return in, err
	}
	in.Unpushed, in.Newest, err = e.work.Unpushed(ctx, t)
	return in, err
}

// mergeLine is the line with which a person asks for a merge again, with what it needs as far as that can be found out.
func (e *merging) mergeLine(ctx context.Context, t task.Task, in record.Merging) string {
	if all, err := e.mergeWants(ctx, t, in); err == nil {
		in = all
	}
	return strings.Join(in.Commands(t.ID, e.actor.As), ", or ")
}

// tellChecks says what the person waits for.
func (e *merging) tellChecks(t task.Task, order record.MergeOrder) {
	if len(order.Checks) == 0 || len(order.Checked) > 0 {
		return
	}
	e.hear(fmt.Sprintf("what the merge of %q results in is checked before anything moves: %s", t.Branch,
		strings.Join(order.ChecksInWords(), ", ")))
}

// mergeHere merges the commit that was judged, and moves the task. Right before the default branch moves it notes
// which commit it merges, what git says of the branch, and what the default branch gets.
func (e *merging) mergeHere(ctx context.Context, t task.Task, req task.Request, order record.MergeOrder,
	git *earlierLook) (record.Outcome, string, error) {
	text, err := json.Marshal(git.facts)
	if err != nil {
		return record.Outcome{}, "", fmt.Errorf("note what git says: %w", err)
	}
	if git.subject.Commit == "" && t.Workspace == "" {
		return record.Outcome{}, "", fmt.Errorf("cannot merge task %s: it has no workspace, so that no one has looked "+
			"at its branch; get it one: orange task respawn %s", t.ID, t.ID)
	}
	if git.subject.Commit == "" { // else it would merge what the branch holds by then
		return record.Outcome{}, "", fmt.Errorf("cannot merge task %s: its branch could not be read: %s", t.ID,
			cmp.Or(git.subject.Trouble, "it has no commit yet"))
	}
	order.Commit = git.subject.Commit
	noted := false
	begin := func(ctx context.Context, result string) error { // other merges, origin and checks were waited for
		event := history.Event{Type: history.MergeBegun, Data: map[string]string{"branch": t.Branch,
			dataCommit: order.Commit, dataResult: result, dataPush: pushNever, dataStrategy: order.Strategy}}
		if order.Push {
			event.Data[dataPush] = pushAlways
		}
		if len(git.facts) > 0 {
			event.Data[dataGit] = string(text)
		}
		if req.Override {
			event.Reason = req.Reason
		}
		err := e.begin(ctx, t, req.Actor, event)
		noted = noted || err == nil
		return err
	}
	done, err := e.work.Merge(ctx, t, order, begin)
	cut := ctx.Err() != nil || errors.Is(err, fencing.ErrHeldBack) // then it is not known how it ended
	if err != nil && noted && !cut {
		why, _, _ := strings.Cut(err.Error(), "\n")
		if failed := e.note(ctx, t.ID, task.Actor{Rule: true}, history.Event{Type: history.MergeFailed,
			Reason: printable.Line(why), Data: map[string]string{"branch": t.Branch}}); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		e.files.restoreFiles(context.WithoutCancel(ctx), t.ID) // the begin of the merge may be on record
		return record.Outcome{}, "", e.reactions.mergeFailed(ctx, t, order.Commit, err)
	}
	if err := e.noteMerge(ctx, t, req.Actor, order.Commit, done); err != nil {
		return record.Outcome{}, "", err
	}
	if !req.Override { // else the reason is the person's own
		req.Reason = done.How
	}
	out, err := e.requests.request(ctx, &request{Request: req, known: git})
	return out, done.How, err
}

// noteMerge records that a commit of the task's branch was merged.
func (e *merges) noteMerge(ctx context.Context, t task.Task, actor task.Actor, judged string,
	done record.MergeResult) error {
	merged := history.Event{Type: history.Merged, Reason: done.How, Data: map[string]string{
		"branch": t.Branch, "commit": done.Commit}}
	if done.Squash {
		merged.Data[history.DataJudged] = judged
	}
	return e.note(ctx, t.ID, actor, merged)
}

// begin records that a merge begins, unless the task has moved since it was judged.
func (e *merging) begin(ctx context.Context, judged task.Task, actor task.Actor, event history.Event) error {
	_, _, err := e.do(ctx, judged.ID, e.withRules, func(s step) (*ruling, error) {
		if err := refuseIfMoved(s.Task, judged); err != nil {
			return nil, err
		}
		return noteRuling(s, s.Task, actor, event, e.now()), nil
	})
	return err
}

// refuseIfMoved refuses a merge of a task that has moved since it was judged.
func refuseIfMoved(now, judged task.Task) error {
	if now.Status == judged.Status && now.EnteredAt.Equal(judged.EnteredAt) && now.Subject == judged.Subject {
		return nil
	}
	return task.Notef(task.ErrConflict, "cannot merge task %s: it was moved meanwhile, and it is %q now; "+
		"nothing was merged; look at it and try again",
		judged.ID, now.Status)
}

// gitFacts returns what git said, and of which commit.
func gitFacts(evidence decide.Evidence) *earlierLook {
	git := &earlierLook{facts: map[string]decide.Fact{}, subject: evidence.Subject, landed: evidence.Landed}
	for key, fact := range evidence.Facts { // facts stay a map
		if strings.HasPrefix(fact.Source, "git ") {
			git.facts[key] = fact
		}
	}
	return git
}

// worthMerging refuses a merge that would finish a task whose commit adds nothing.
func (e *merging) worthMerging(ctx context.Context, t task.Task, to task.Status, commit string) error {
	ahead, err := e.work.Ahead(ctx, t, commit)
	if err != nil || ahead {
		return err
	}
	return fmt.Errorf("cannot merge task %s: its branch %q %w; commit the work there, or, if it was merged by other "+
		"means, finish it: orange task update %s --status %s", t.ID, t.Branch, errNothingToMerge, t.ID, to)
}

// errNothingToMerge is why a task is not merged whose branch adds nothing.
var errNothingToMerge = errors.New("holds no commit that the default branch has not")
