package decide

import (
	"fmt"
	"time"

	"orange/internal/task"
	"orange/internal/workflow"
)

// RequestPR judges the wish for a pull request. It is no transition: the status stays. ahead says whether the task's branch holds
// anything that the default branch has not. Requests of the same kind that are still owed are dropped: this one stands for them.
func RequestPR(def *workflow.Definition, s task.Snapshot, ahead bool, actor task.Actor, now time.Time) (task.Change, error) {
	t := s.Task
	refuse := func(condition, found, want string) (task.Change, error) {
		return task.Change{}, &Rejection{
			Code: PRRefused, Task: t.ID, From: t.Status, To: t.Status, Open: Open(def, t, actor),
			Message: fmt.Sprintf("cannot open a pull request for task %s", t.ID),
			Details: []Detail{{Condition: condition, Found: found, Want: want}},
		}
	}
	switch {
	case actor.Role != task.RoleHuman:
		return refuse("who may ask", fmt.Sprintf("the role %q", actor.Role), "have a person ask: what leaves the machine is theirs to send")
	case !t.Live:
		return refuse("a task that is not over", fmt.Sprintf("one that is %q", t.Status), "make a new task for what is still to do")
	case t.Workspace == "":
		return refuse("a workspace", "none: nobody has worked on the branch yet", "start the task first")
	case !ahead:
		return refuse("a commit on the branch", fmt.Sprintf("none on %q that the default branch has not", t.Branch), "commit the work there first")
	}
	var dropped []task.Settled
	for _, h := range s.Owed {
		if h.Action == task.PushBranch || h.Action == task.CreatePR {
			dropped = append(dropped, task.Settled{ID: h.ID, State: task.HookSuperseded, Error: "asked for again"})
		}
	}
	t.UpdatedAt = now
	hooks := []task.Hook{{Action: task.PushBranch}, {Action: task.CreatePR}}
	return task.Change{Task: t, Expect: s.Task.Version, Hooks: hooks, Settled: dropped, Events: []task.Event{{
		Time: now, Type: task.PRRequested, Actor: actor.Name(), ActingAs: actor.As, Workflow: def.Digest, Hooks: actions(hooks),
		Data: map[string]string{"branch": t.Branch},
	}}}, nil
}
