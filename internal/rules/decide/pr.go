package decide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// RequestPR judges a request for a pull request. It is no transition: the status stays. Ahead reports whether the
// task's branch has anything that the default branch does not have, origin whether there is a remote to push it to, and
// forge where pull requests of that remote are, record.ForgeNone where nothing opens them.
// Pending requests of the same kind are dropped: this one replaces them.
func RequestPR(def *workflow.Definition, s record.Snapshot, ahead, origin bool, forge string, actor task.Actor,
	now time.Time) (record.Change, error) {
	t := s.Task
	refuse := func(condition, found, want string) (record.Change, error) {
		return record.Change{}, &rejection.Rejection{
			Code: rejection.PRRefused, Task: t.ID, From: t.Status, To: t.Status, MayAsk: MayAsk(def, t, actor),
			Message: fmt.Sprintf("cannot open a pull request for task %s", t.ID),
			Details: []rejection.Detail{{Condition: condition, Found: found, Want: want}},
		}
	}
	switch {
	case actor.Role != task.RoleHuman:
		return refuse("who may ask", fmt.Sprintf("the role %q", actor.Role),
			"have a person ask: what leaves the machine is theirs to send")
	case !t.Live:
		return refuse("a task that is not over", fmt.Sprintf("one that is %q", t.Status),
			"make a new task for what is still to do")
	case t.Workspace == "":
		return refuse("a workspace", "none: no one has worked on the branch yet", "start the task first")
	case !ahead:
		return refuse("a commit on the branch", fmt.Sprintf("none on %q that the default branch has not",
			t.Branch), "commit the work there first")
	case !origin:
		return refuse("a remote called origin", "none", "add the one that pull requests are opened on with "+
			"git remote add origin URL, or merge here: orange task merge "+t.ID)
	case forge == record.ForgeNone:
		return refuse("a program that opens pull requests there", "none: origin is not on GitHub or GitLab, or its "+
			"project says --forge none; nothing was pushed",
			fmt.Sprintf("push the branch (git push origin %s) and open one there yourself, or merge here: orange "+
				"task merge %s; if it is one of them all the same: orange project update %s --forge github (or "+
				"gitlab)", t.Branch, t.ID, t.Project))
	}
	var dropped []record.Settled
	for _, h := range s.Owed {
		if h.Action == action.PushBranch || h.Action == action.CreatePR || h.Action == action.UpdatePR {
			dropped = append(dropped, record.Settled{ID: h.ID, State: task.HookSuperseded, Error: "asked for again"})
		}
	}
	t.UpdatedAt = now
	hooks := []task.Hook{{Action: action.PushBranch}, {Action: action.CreatePR}}
	t, event := signReset(def, t, actor, history.Event{
		Time: now, Type: history.PRRequested, Workflow: def.Digest, Hooks: actions(hooks), Data: map[string]string{
			"branch": t.Branch},
	})
	return record.Change{Task: t, Expect: s.Task.Version, Hooks: hooks, Settled: dropped, Events: []history.Event{
		event}}, nil
}

// updatesPR are the hooks of a move, and the push of the judged commit to the task's open pull request, if the task
// comes to where it can be merged with another commit than origin got. How the project pushes is for the hook to look
// up: the person may have changed it by then.
func updatesPR(def *workflow.Definition, t task.Task, to task.Status, subject task.Subject,
	hooks []task.Hook) []task.Hook {
	merge, said := def.Move(workflow.MoveMerge)
	leads := func(edge workflow.Transition) bool { return edge.From == to && edge.To == merge }
	if !said || t.PRURL == "" || t.PRState != record.PROpen || subject.Commit == "" || subject.Commit == t.Pushed ||
		to == t.Status || !slices.ContainsFunc(def.Transitions, leads) {
		return hooks
	}
	return append(hooks, task.Hook{Action: action.UpdatePR})
}

// PRMove is where the workflow leads a task whose pull request was merged or closed; said is false if the workflow
// does not say.
func PRMove(def *workflow.Definition, pr record.PullRequest) (to task.Status, said bool) {
	switch pr.State {
	case record.PRMerged:
		return def.Move(workflow.MovePRMerged)
	case record.PRClosed:
		return def.Move(workflow.MovePRClosed)
	}
	return "", false
}

// PRNews reports whether the end of a pull request is news for a task: it is the task's own, and the record still has
// it as open.
func PRNews(t task.Task, pr record.PullRequest) bool {
	return t.Live && t.PRURL == pr.URL && t.PRState == record.PROpen &&
		(pr.State == record.PRMerged || pr.State == record.PRClosed)
}

// notePR records the end of the task's pull request, and nothing else.
func notePR(def *workflow.Definition, t task.Task, pr record.PullRequest, now time.Time) record.Change {
	kind := history.PRLanded
	if pr.State == record.PRClosed {
		kind = history.PRDropped
	}
	data := map[string]string{"url": pr.URL, "branch": t.Branch}
	if pr.Merge != "" {
		data["commit"] = pr.Merge
	}
	c := record.Change{Task: t, Expect: t.Version, Events: []history.Event{{
		Time: now, Type: kind, Actor: task.ActorEngine, Workflow: def.Digest, Data: data, Reason: pr.Ended(),
	}}}
	c.Task.PRURL, c.Task.PRState = pr.URL, pr.State
	if !t.Queued() { // this time orders the tasks that wait for a workspace
		c.Task.UpdatedAt = now
	}
	return c
}

// Merged is the evidence for a move of a task whose pull request was merged. The merge replaces everything
// that the gates on the way ask git for, because the work is merged, whatever is in the worktree. A pull request that
// is not merged replaces nothing.
func (ev Evidence) Merged(def *workflow.Definition, t task.Task, to task.Status, pr record.PullRequest) Evidence {
	if pr.State != record.PRMerged {
		return ev
	}
	facts := map[string]Fact{}
	maps.Copy(facts, ev.Facts)
	for _, p := range GatesTo(def, t, to) {
		if p.Git == "" {
			continue
		}
		text := document.Normalise(fmt.Sprintf("merged as %s with the head %s\n", pr.URL, pr.Commit))
		facts[p.Key()] = Fact{Holds: true, Source: "git " + p.Git, Where: pr.URL, Text: text,
			Digest: document.Digest(text)}
	}
	ev.Facts, ev.Landed = facts, cmp.Or(pr.Commit, ev.Subject.Commit, "unknown")
	return ev
}

// MarkOtherHead marks a task that ended with the merge of a pull request whose head is not the commit that was
// reviewed.
func MarkOtherHead(before, after task.Task, pr record.PullRequest) task.Task {
	if pr.State == record.PRMerged && before.Subject.Reviewed && pr.Commit != "" && pr.Commit != before.Subject.Commit {
		other := fmt.Sprintf("merged %.7s, reviewed %.7s: look at what lies between", pr.Commit, before.Subject.Commit)
		after.Attention = strings.TrimPrefix(after.Attention+"; "+other, "; ")
	}
	return after
}

// NoteMerged records, for an actor who asks to merge here, that the task's pull request is merged. It records each
// part once: noted means that the record already has the pull request as merged. Events are the task's whole history.
// A change without an event is no change.
func NoteMerged(def *workflow.Definition, t task.Task, pr record.PullRequest, noted bool, events []history.Event,
	actor task.Actor, now time.Time) record.Change {
	c := record.Change{Task: t, Expect: t.Version}
	if !noted {
		c = notePR(def, t, pr, now)
	}
	told := func(event history.Event) bool { return event.Type == history.Merged && event.Data["url"] == pr.URL }
	if !slices.ContainsFunc(events, told) {
		after, event := signReset(def, c.Task, actor, history.Event{
			Time: now, Type: history.Merged, Workflow: def.Digest, Reason: pr.Ended(),
			Data: map[string]string{"branch": t.Branch, "commit": pr.Merge, "url": pr.URL},
		})
		c.Task, c.Events = after, append(c.Events, event)
	}
	return c
}

// Elsewhere is why a pull request that was merged finishes no task of a project with that default branch: it went into
// another branch. It is empty where it does not, and where no one knows.
func Elsewhere(t task.Task, pr record.PullRequest, branch string) string {
	if pr.State != record.PRMerged || pr.Base == "" || branch == "" || pr.Base == branch {
		return ""
	}
	return fmt.Sprintf("it was merged into %q, and tasks of this project go into %q: open another one for that "+
		"(orange task create-pr %s), or merge here", pr.Base, branch, t.ID)
}

// PREnded is what follows from the end of the task's pull request. Orange records it together with the move that the
// workflow wants, under the same conditions as any other request. If the move is refused, Orange marks the task and
// does not try again. The evidence already contains the pull request, see Merged. Against is what prevents
// the move in addition to the workflow's rules; empty if nothing does.
func PREnded(def *workflow.Definition, t task.Task, ev Evidence, pr record.PullRequest, against string,
	now time.Time) record.Change {
	c := notePR(def, t, pr, now)
	to, said := PRMove(def, pr)
	if !said || to == t.Status {
		return c
	}
	if against == "" {
		noted := c.Task
		decision, err := Transition(def, noted, ev, task.Request{
			Task: t.ID, To: to, Actor: task.Actor{Rule: true}, Reason: pr.Ended()}, now)
		if err == nil {
			moved := decision.Change
			move := moved.Events[len(moved.Events)-1]
			move.Type = history.AutoAdvanced
			moved.Events = append(c.Events, move)
			moved.Task = MarkOtherHead(t, moved.Task, pr)
			return moved
		}
		against = refusal(err)
		if open := MayAsk(def, t, task.Actor{Role: task.RoleHuman}); len(open) > 0 {
			against += fmt.Sprintf(" (moves that lead on from %q: %s)", t.Status, task.JoinStatuses(open))
		}
	}
	again := "orange task merge "
	if pr.State == record.PRClosed {
		again = "orange task cancel "
	}
	c.Task.Attention = fmt.Sprintf("%s; it could not be moved to %q: %s; put that right, then: %s", pr.Ended(), to,
		against, again+t.ID)
	c.Events[0].Data[history.DataRefused] = against
	return c
}
