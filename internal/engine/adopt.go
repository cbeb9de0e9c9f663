package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Bounds of the tasks that come back in one transaction. A commit waits for the disk, so that a rebuild with one commit
// a task waits for little else; another command waits until the transaction is over, so that it must not be long.
const (
	batchTasks = 500
	batchLines = 20_000
)

// Adopt takes tasks that Tell built into the record, in their order, and makes their mirrors equal to it. Which hooks
// they owed is unknown: they count as performed. An agent that has lost its seat cannot ask for anything: the task's
// attention mark says how to go on. Adopt does not take a workspace or a branch away from another task.
//
// Tasks come back in batches, each in one transaction. A process that is killed leaves whole batches on record, and
// every task of the others as it was: a folder that the next rebuild adopts. The files of the last batch may lack the
// event that tells of the rebuild, which the next rebuild adds, or the next command that looks at the task. Where a
// batch cannot be written its tasks are adopted one by one, so that one that cannot come back keeps no other away.
// Progress hears how many are done. Tasks whose workspace is not here wait for a free one and then go on.
func (e *arrivals) Adopt(ctx context.Context, told []record.Adoption,
	progress func(done int)) []record.Adopted {
	out := make([]record.Adopted, len(told))
	var taken *claims
	for from := 0; from < len(told); {
		progress(from)
		to := from + batchOf(told[from:])
		for i := from; i < to; i++ {
			out[i].Adoption = told[i]
		}
		taken = e.adoptBatch(ctx, out[from:to], taken)
		from = to
	}
	e.startDisplaced(ctx, out)
	return out
}

// batchOf is how many of the tasks come back next: at least one.
func batchOf(told []record.Adoption) int {
	lines := 0
	for i, a := range told {
		lines += len(a.Lines) + len(a.Events)
		if i == batchTasks || i > 0 && lines > batchLines {
			return i
		}
	}
	return len(told)
}

// adoptBatch adopts some tasks in one transaction. It goes by the claims that it is given, and returns them with those
// of the tasks; nil where they have to be looked at again.
func (e *arrivals) adoptBatch(ctx context.Context, some []record.Adopted,
	taken *claims) *claims {
	living, err := e.agents.Living(ctx)
	if err == nil && taken == nil {
		taken, err = claimsOn(ctx, e.record, record.Filter{Live: true, Brief: true})
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		for i := range some {
			some[i].Err = err
		}
		return nil
	}
	var ready []*record.Adopted
	var claiming []record.Adoption
	for i := range some {
		one := &some[i]
		def, err := e.seatsAndRules(ctx, &one.Adoption, living[one.Task.ID])
		if err == nil {
			err = e.displace(ctx, &one.Adoption)
		}
		if one.Err = err; err != nil {
			continue
		}
		settled := taken.settle(one.Adoption, e.now())
		settled.Task.Attention = attention(def, settled)
		taken.add(settled.Task)
		ready, claiming = append(ready, one), append(claiming, settled)
	}
	recorded, err := e.record.Adopt(ctx, claiming)
	if err != nil {
		taken = nil
		for _, one := range ready {
			one.Adoption, one.Err = e.adoptAlone(ctx, one.Adoption)
		}
	} else {
		for i, one := range ready {
			one.Adoption, one.Task = claiming[i], recorded[i]
		}
	}
	e.syncAdopted(ctx, ready)
	return taken
}

// seatsAndRules gives the task's living agents their seats, and answers its workflow.
func (e *arrivals) seatsAndRules(ctx context.Context, a *record.Adoption, living []record.Seat) (
	*workflow.Definition, error) {
	if err := reseat(e.random, a, living); err != nil {
		return nil, err
	}
	a.FirstHook = e.now().Unix()
	if a.Foreign { // the look at its folder kept nothing
		if _, err := e.present(ctx, e.rules, a.Task.Workflow.Name, task.Project{}); err != nil {
			return nil, err
		}
	}
	return e.workflow(ctx, a.Task.Workflow)
}

// adoptAlone adopts one task whose agents have their seats. It does not make its files equal to the record.
func (e *arrivals) adoptAlone(ctx context.Context, a record.Adoption) (record.Adoption, error) {
	def, err := e.workflow(ctx, a.Task.Workflow)
	if err != nil {
		return a, err
	}
	for range maxConflicts {
		taken, err := claimsOn(ctx, e.record, record.Filter{Project: a.Task.Project, Branch: a.Task.Branch, Live: true})
		if err != nil {
			return a, err
		}
		settled := taken.settle(a, e.now())
		settled.Task.Attention = attention(def, settled)
		recorded, err := e.record.Adopt(ctx, []record.Adoption{settled})
		if errors.Is(err, task.ErrConflict) || errors.Is(err, task.ErrBranchTaken) {
			if _, unknown := e.record.Load(ctx, a.Task.ID); errors.Is(unknown, task.ErrNotFound) {
				continue // another task was faster: look again at what it has now
			}
		}
		if err != nil {
			return a, err
		}
		settled.Task = recorded[0]
		return settled, nil
	}
	return a, task.Notef(task.ErrConflict,
		"cannot adopt task %s: other tasks keep taking its workspace or its branch; try again", a.Task.ID)
}

// syncAdopted makes the files of tasks that came back equal to the record, on all processors.
func (e *arrivals) syncAdopted(ctx context.Context, some []*record.Adopted) {
	var crew errgroup.Group
	crew.SetLimit(runtime.GOMAXPROCS(0))
	for _, one := range some {
		if one.Err != nil {
			continue
		}
		crew.Go(func() error {
			e.log.Info("adopted", "component", "engine", "task", one.Task.ID, "status", string(one.Task.Status))
			if err := e.files.Sync(ctx, one.Task.ID); err != nil { // it is on record all the same
				one.Notes = append(one.Notes, "its files could not be made equal to the record: "+err.Error())
			}
			return nil
		})
	}
	_ = crew.Wait() // no task fails the others
}

// reseat gives living agents back the seats that their windows name. An agent whose window does not name its seat
// gets a seat that has already ended: its place is known but not its secret, and Orange must never take what it
// starts for a person.
func reseat(random io.Reader, a *record.Adoption, living []record.Seat) error {
	for _, seat := range living {
		if seat.Hash == "" {
			secret, err := newSecret(random)
			if err != nil {
				return err
			}
			seat.Hash, seat.Ended = harness.SeatOf(secret), true
		}
		a.Seats = append(a.Seats, seat)
	}
	return nil
}

// claims are the tasks that have a branch, by its project and its name, or a workspace, by its name.
type claims struct {
	branches   map[[2]string]string
	workspaces map[string]string
}

// claimsOn looks at what tasks have, and at the branches of those alone that the filter names.
func claimsOn(ctx context.Context, on Record, f record.Filter) (*claims, error) {
	live, err := on.List(ctx, f)
	if err != nil {
		return nil, err
	}
	holders, err := on.Holders(ctx, f.Project)
	if err != nil {
		return nil, err
	}
	c := &claims{branches: map[[2]string]string{}, workspaces: map[string]string{}}
	for _, t := range live {
		c.branches[[2]string{t.Project, t.Branch}] = t.ID
	}
	for _, h := range holders {
		c.workspaces[h.Workspace] = h.Task
	}
	return c, nil
}

// add notes what a task has that comes back.
func (c *claims) add(t task.Task) {
	if t.Live {
		c.branches[[2]string{t.Project, t.Branch}] = t.ID
	}
	if t.Workspace != "" {
		c.workspaces[t.Workspace] = t.ID
	}
}

// settle leaves to other tasks what they already have.
func (c *claims) settle(a record.Adoption, now time.Time) record.Adoption {
	a.Notes = append([]string(nil), a.Notes...)
	t := &a.Task
	if other, there := c.branches[[2]string{t.Project, t.Branch}]; there && t.Live {
		lost := t.Branch
		if t.Branch = task.DefaultBranch(t.ID); t.Branch == lost {
			t.Branch += "-2"
		}
		t.Workspace = ""
		a.Notes = append(a.Notes, fmt.Sprintf("its branch %q belongs to the live task %s: it got the "+
			"branch %q and no workspace; cancel the one that is not wanted", lost, other, t.Branch))
		a.Events = append(append([]history.Event(nil), a.Events...), history.Event{
			Time: now, Type: history.Updated, Actor: task.ActorEngine,
			Reason: "another live task had its branch when it was adopted",
			Data:   map[string]string{history.DataBranch: t.Branch},
		})
	}
	if other, there := c.workspaces[t.Workspace]; there && t.Workspace != "" {
		a.Notes = append(a.Notes, fmt.Sprintf("its workspace %q belongs to task %s, so it has none; cancel the one "+
			"that is not wanted", t.Workspace, other))
		t.Workspace = ""
	}
	return a
}

// displace has a task that comes back wait for a workspace in its own status, where the one that its header names is
// not here or not its own: the folder came from another machine, or the worktree was removed. A task with a living
// agent keeps what it has. Where the workspace cannot be looked at, nothing is known, and the task keeps it too.
func (e *arrivals) displace(ctx context.Context, a *record.Adoption) error {
	t := &a.Task
	if a.Foreign || !t.Live || t.Workspace == "" || len(a.Seats) > 0 {
		return nil
	}
	if held, err := e.work.Holds(ctx, *t); err != nil || held {
		return nil // the doctor reports a worktree that cannot be looked at
	}
	def, err := e.rulesOf(ctx, *t)
	if err != nil {
		return err
	}
	a.Notes = append(a.Notes, fmt.Sprintf("its workspace %q is not here or not its own: it goes on in a free one",
		t.Workspace))
	t.Workspace, t.Session = "", ""
	s := step{Snapshot: record.Snapshot{Task: *t}, def: def}
	c, err := queueRuling(s, t.Status, task.Actor{Rule: true}, e.now()).withInputs(s)
	*t, a.Events = c.Task, append(a.Events, c.Events...)
	return err
}

// startDisplaced has those go on that came back without their workspace, and reads them again.
func (e *arrivals) startDisplaced(ctx context.Context, all []record.Adopted) {
	projects := map[string]bool{}
	for i := range all {
		if t := all[i].Task; all[i].Err == nil && t.Displaced() {
			projects[t.Project] = true
			// Only people have tasks brought back.
			e.outcomes.keepEnvironment(ctx, t.ID, task.Actor{Role: task.RoleHuman})
		}
	}
	for project := range projects { // each independently
		for {
			started, err := e.turns.StartNext(ctx, project)
			if err != nil {
				e.log.Warn("a task that came back could not go on", "component", "engine", "project", project, "error",
					err.Error())
			}
			if started == "" {
				break
			}
		}
	}
	for i := range all {
		if t := all[i].Task; all[i].Err != nil || !projects[t.Project] || !t.Displaced() {
			continue
		}
		if s, err := e.record.Load(ctx, all[i].Task.ID); err == nil {
			all[i].Task = s.Task
		}
	}
}
