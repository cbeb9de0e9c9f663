package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Waiting is a task that waits for others before it starts, with what is known of those.
type Waiting struct {
	Task   task.Task
	Before []record.Before // in the order of Task.After
	others []task.Task
}

// maxAfter is how many tasks one can wait for.
const maxAfter = 50

// Gone adds a task that the record does not have any more.
func (w *Waiting) Gone(id string) {
	w.others = append(w.others, task.Task{ID: id})
	w.Before = append(w.Before, record.Before{ID: id, State: record.BeforeLost, Found: "it was deleted"})
}

// Add adds a task of the workflow def. Events are its whole history; of a live task they are not needed.
func (w *Waiting) Add(def *workflow.Definition, t task.Task, events []history.Event) {
	b := record.Before{ID: t.ID, Status: t.Status, State: record.BeforeLive, Found: fmt.Sprintf("it is %q", t.Status)}
	if !t.Live {
		commit, well := landing(def, t, events)
		b.State, b.Commit, b.Found = record.BeforeOver, commit, ""
		if !well {
			b.State = record.BeforeLost
			b.Found = fmt.Sprintf("it is %q, which is neither merged nor a good end", t.Status)
		}
	}
	w.others, w.Before = append(w.others, t), append(w.Before, b)
}

// landing says of a task that is over whether it ended well: merged, or in a state with success: true. Commit is the
// one that has its work: what it was merged as, else what its branch held at its end; empty where the history does
// not say.
func landing(def *workflow.Definition, t task.Task, events []history.Event) (commit string, well bool) {
	state, _ := def.State(t.Status)
	merged := false
	first, last := "", "" // what the moves after the merge were about
	for _, e := range slices.Backward(events) {
		if e.Data[history.DataRedo] != "" {
			break // what was merged before is not what was done since
		}
		if e.Type == history.Merged || e.Type == history.PRLanded {
			if first == last { // else the work went on, as where the task was not moved after the merge
				merged, commit = true, e.Data["commit"]
			}
			break
		}
		if about := e.Subject.Commit; e.IsMove() && about != "" {
			first, last = about, cmp.Or(last, about)
		}
	}
	return cmp.Or(commit, t.Subject.Commit), state.Success || merged && Marks(def, t.Status).Well
}

// MayBegin judges whether a new task can wait for the others: it begins where starting it leads on from, it is to be
// started, and the others are tasks of its project that may still end well.
func (w *Waiting) MayBegin(def *workflow.Definition, n task.New, status task.Status) error {
	no := func(format string, args ...any) error {
		return task.Notef(task.ErrUsage, "cannot create a task that waits for others: "+format, args...)
	}
	birth, _ := def.Birth(def.Initial)
	switch {
	case !n.Spawn:
		return no("--after starts it by itself, and --no-spawn leaves that to a person; leave one of them out")
	case n.Plan != "":
		return no("one with a plan file is at work from the beginning; give the plan as its context instead")
	case status != def.Initial:
		return no("it would begin in %q, and one that waits begins in %q: give it a summary, and leave --status out",
			status, def.Initial)
	case birth.Spawns():
		return no("in the workflow %q a task in %q is at work from the beginning", def.Name, def.Initial)
	case len(w.Before) > maxAfter:
		return no("found %d of them, at most %d can be", len(w.Before), maxAfter)
	}
	for i, other := range w.others {
		if w.Before[i].State == record.BeforeLost {
			return no("task %s will not come first: %s", other.ID, w.Before[i].Found)
		}
		if other.Project != n.Project.Name {
			return no("task %s is one of %q, and the new one of %q; only a task of the same project can come first",
				other.ID, other.Project, n.Project.Name)
		}
	}
	return nil
}

// Landed adds what a new task would start from: base names it, and it lacks these commits.
func (w *Waiting) Landed(base string, lacks []string) {
	for i := range w.Before {
		switch b := &w.Before[i]; {
		case b.State != record.BeforeOver:
		case slices.Contains(lacks, b.Commit):
			b.State = record.BeforeElsewhere
			b.Found = fmt.Sprintf("it is %q, and its commit %.7s is not in %s", b.Status, b.Commit, base)
		default:
			b.State = record.BeforeDone
		}
	}
}

// MayStart reports whether all that the task waits for is there.
func (w *Waiting) MayStart() bool {
	return !slices.ContainsFunc(w.Before, func(b record.Before) bool { return b.State != record.BeforeDone })
}

// AllWell reports whether all of the others ended well, wherever their commits are.
func (w *Waiting) AllWell() bool {
	return !slices.ContainsFunc(w.Before, func(b record.Before) bool {
		return b.State == record.BeforeLive || b.State == record.BeforeLost
	})
}

// StartReason is why the task starts.
func (w *Waiting) StartReason() string {
	return "done is what it waited for: " + strings.Join(w.Task.After, ", ")
}

// Missing says of each of the others what is not as it must be, and what helps.
func (w *Waiting) Missing() []rejection.Detail {
	spawn := "orange task spawn " + w.Task.ID
	var out []rejection.Detail
	for _, b := range w.Before {
		if b.Found == "" {
			continue
		}
		d := rejection.Detail{Condition: "task " + b.ID + ", done and in the default branch", Found: b.Found}
		switch b.State {
		case record.BeforeLive:
			d.Want = "it starts by itself then; to start it now: " + spawn
		case record.BeforeLost:
			d.Want = fmt.Sprintf("start it all the same (%s), or give it up (orange task cancel %s)", spawn, w.Task.ID)
		case record.BeforeElsewhere:
			d.Want = "bring that commit there; the monitor looks every minute. To start it without: " + spawn
		default:
			d.Want = "put that right; the monitor looks every minute. To start it without: " + spawn
		}
		out = append(out, d)
	}
	return out
}

// waitMark is the start of the attention mark of a task that waits for what will not come.
const waitMark = "it cannot start by itself: "

// Stays is what follows if the task does not start: it gets a mark if one of the others will not come, or if the
// workflow refuses its start (against says why, else it is empty), and loses the mark if that has changed. Due is false
// if nothing follows.
func (w *Waiting) Stays(against string, now time.Time) (c record.Change, due bool) {
	t := w.Task
	var lost, why []string
	for _, b := range w.Before {
		if b.State == record.BeforeLost {
			lost, why = append(lost, b.ID), append(why, fmt.Sprintf("it waits for task %s; %s", b.ID, b.Found))
		}
	}
	if against != "" {
		why = append(why, against)
	}
	mark := ""
	if len(why) > 0 {
		mark = fmt.Sprintf("%s%s; start it all the same (orange task spawn %s), or give it up (orange task cancel %s)",
			waitMark, strings.Join(why, "; "), t.ID, t.ID)
	}
	had := strings.HasPrefix(t.Attention, waitMark)
	if !t.WaitsForTasks() || mark == t.Attention || mark == "" && !had {
		return c, false
	}
	c = record.Change{Task: t, Expect: t.Version}
	c.Task.Attention, c.Task.UpdatedAt = mark, now
	if mark != "" {
		c.Events = []history.Event{{
			Time: now, Type: history.WaitBroken, Actor: task.ActorEngine, Reason: strings.Join(why, "; "),
			Data: map[string]string{"tasks": strings.Join(lost, ",")},
		}}
	}
	return c, true
}
