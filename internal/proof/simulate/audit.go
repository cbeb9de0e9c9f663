package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What must be true of every task at every step. A workflow can break those up to merges: its check knows them by the
// same names, with the line. The others are Orange's own, whatever the workflow says.
const (
	propNoDeadEnd  = "no-dead-end"
	propBounded    = "bounded"
	propOneAgent   = "one-agent"
	propNobodyLeft = "nobody-left"
	propWorkspace  = "workspace"
	propMerges     = "merges"  // what is merged was passed, or a person approved it or took responsibility for it
	propHistory    = "history" // it is complete, and agrees with the record
	propReplay     = "replay"  // every decision made again has the same result, to the byte
	propHooks      = "hooks"   // pending hooks are performed, and settled once
	propDeaths     = "deaths"  // one death has one consequence
	propAnswers    = "answers" // what was granted is in the history, and what was refused is not
	propMirrors    = "mirrors" // the files show what the record has
	propErrors     = "errors"  // without a fault nothing fails
)

// Audit counts for itself what happens to tasks and hooks, without any rule of the engine, and reports where the
// record or the folders do not agree with that.
type Audit struct {
	*World
	// Report notes a broken property of a task.
	Report func(id, property, format string, args ...any)
	// HookNumber is the number by which reports name a hook.
	HookNumber func(hook int64) int64

	versions map[string]int64
	events   map[string][]history.Event // as they were committed
	hooks    map[int64]*HookCount
}

// HookCount is what happened to a hook.
type HookCount struct {
	Performed  int
	Settled    int
	Superseded bool // it was settled without being performed

	Deaths    int  // how often the death of the agent that it started had a consequence
	SeatEnded bool // a hook ended the seat of that agent
}

// NewAudit is an audit of a world in which nothing has happened yet.
func NewAudit(w *World, report func(id, property, format string, args ...any)) *Audit {
	return &Audit{World: w, Report: report, HookNumber: func(hook int64) int64 { return hook },
		versions: map[string]int64{}, events: map[string][]history.Event{}, hooks: map[int64]*HookCount{}}
}

// Hook is what happened to a hook so far.
func (a *Audit) Hook(id int64) *HookCount {
	if a.hooks[id] == nil {
		a.hooks[id] = &HookCount{}
	}
	return a.hooks[id]
}

// Committed checks a change of a task that was made durable. Open are the seats before it, as an Observer gets them.
func (a *Audit) Committed(c record.Change, t task.Task, open []record.Seat) {
	if before := a.versions[t.ID]; c.Expect != before || t.Version != before+1 {
		a.Report(t.ID, propHistory, "a change that was decided on version %d was made on version %d: what was "+
			"between is lost", c.Expect, before)
	}
	a.versions[t.ID] = t.Version
	a.seal(c, t)
	for _, one := range c.Settled {
		if one.State != task.HookDone && one.State != task.HookSuperseded {
			continue
		}
		h := a.Hook(one.ID)
		h.Settled++
		h.Superseded = one.State == task.HookSuperseded
		if h.Settled > 1 {
			a.Report(t.ID, propHooks, "hook %d is settled a second time", a.HookNumber(one.ID))
		}
		if !h.Superseded && h.Performed == 0 {
			a.Report(t.ID, propHooks, "hook %d is done, and was not performed", a.HookNumber(one.ID))
		}
	}
	a.endSeats(c, t, open)
}

// Events are the history of a task, as it was committed.
func (a *Audit) Events(id string) []history.Event { return a.events[id] }

// seal adds the events of a change to the history, and checks whether it agrees with the record.
func (a *Audit) seal(c record.Change, t task.Task) {
	for _, e := range c.Events {
		all, before := a.events[t.ID], ""
		a.checkLimit(t.ID, all, e)
		a.checkSentBack(t.ID, all, e)
		if len(all) > 0 {
			before = all[len(all)-1].Hash
		}
		sealed, err := history.Seal(e, len(all)+1, before)
		if err != nil {
			a.Report(t.ID, propHistory, "%v", err)
		}
		a.events[t.ID] = append(all, sealed)
	}
	a.checkAgrees(t, a.events[t.ID])
}

// checkLimit checks that an agent which ended at a limit is not started again by itself before that is over, nor waited
// for too often.
func (a *Audit) checkLimit(id string, before []history.Event, e history.Event) {
	end, until := history.LimitEnd(before)
	if end != nil && e.Type == history.AgentRespawned && e.Actor == task.ActorEngine && e.Time.Before(until) {
		a.Report(id, propDeaths, "an agent that ended at a limit until %s was started again at %s", until, e.Time)
	}
	if n := e.Counters.Get(record.LimitCount); n > record.MostLimits {
		a.Report(id, propDeaths, "the task has waited for a limit %d times in a row", n)
	}
}

// endSeats notes whose death had a consequence, and which seats a hook ended.
func (a *Audit) endSeats(c record.Change, t task.Task, open []record.Seat) {
	dead := ""
	for _, e := range c.Events {
		_, ended := e.Data["ended"]
		if ended {
			dead = e.Data["role"]
		}
	}
	found := false
	for _, seat := range open {
		ends := seat.Hook == c.DeadHook || slices.Contains(c.EndSeats, seat.Role) ||
			slices.Contains(c.EndSeats, record.EveryRole) ||
			c.TakenSeat != nil && c.TakenSeat.Role == seat.Role && c.TakenSeat.Hash != seat.Hash
		switch {
		case !ends:
		case dead == seat.Role && !found:
			found = true
			a.died(seat, t)
		default:
			a.Hook(seat.Hook).SeatEnded = true
		}
	}
	if dead != "" && !found {
		a.Report(t.ID, propDeaths, "the death of a %s had a consequence, and its seat had ended before", dead)
	}
}

// died checks a death that had a consequence.
func (a *Audit) died(seat record.Seat, t task.Task) {
	h, agent := a.Hook(seat.Hook), a.Started(seat.Hook)
	h.Deaths++
	wrong := ""
	switch {
	case h.Deaths > 1:
		wrong = "had a second consequence"
	case agent == nil && !h.Superseded:
		wrong = "had a consequence, and it was never started"
	case agent != nil && agent.Alive:
		wrong = "had a consequence, and it lives"
	case agent != nil && !agent.ByItself:
		wrong = "had a consequence, and a hook ended it"
	}
	if wrong != "" {
		a.Report(t.ID, propDeaths, "the death of the %s of hook %d %s", seat.Role, a.HookNumber(seat.Hook), wrong)
	}
}

// Begun checks a hook that is about to be performed.
func (a *Audit) Begun(id string, hook int64) {
	if a.Hook(hook).Settled > 0 {
		a.Report(id, propHooks, "hook %d is begun after it was settled", a.HookNumber(hook))
	}
}

// Performs checks whether a hook is performed in its turn. The task may have been deleted: then there are no turns.
func (a *Audit) Performs(ctx context.Context, job record.Job) {
	if apart(job.Hook.Action) {
		return
	}
	s, err := a.Load(ctx, job.Task.ID)
	if err != nil {
		return
	}
	for _, other := range s.Owed {
		if other.ID < job.Hook.ID && !apart(other.Action) {
			a.Report(job.Task.ID, propHooks, "hook %d (%s) is performed before hook %d (%s), which is pending",
				a.HookNumber(job.Hook.ID), job.Hook.Action, a.HookNumber(other.ID), other.Action)
		}
	}
}

// apart reports whether a hook has no turn.
func apart(does string) bool {
	class, _ := action.ClassOf(does)
	return class == action.ClassApart
}

// Check reports what is wrong with a task for which everything is done.
func (a *Audit) Check(ctx context.Context, s record.Snapshot, events []history.Event) error {
	lines, _, err := a.Record.Tail(ctx, s.Task.ID, 0)
	if err != nil {
		return err
	}
	a.checkHistory(s.Task, events)
	if err := a.checkKept(s.Task, events); err != nil {
		return err
	}
	if err := a.checkHooks(ctx, s, events); err != nil {
		return err
	}
	return a.checkMirrors(s.Task, lines)
}

func (a *Audit) checkHistory(t task.Task, events []history.Event) {
	if err := history.VerifyChain(events); err != nil {
		a.Report(t.ID, propHistory, "%v", err)
	}
	a.checkAgrees(t, events)
}

func (a *Audit) checkAgrees(t task.Task, events []history.Event) {
	differs, err := history.Disagree(t, events)
	switch {
	case err != nil:
		a.Report(t.ID, propHistory, "%v", err)
	case len(differs) > 0:
		a.Report(t.ID, propHistory, "the record and the history disagree: %s", strings.Join(differs, "; "))
	}
}

// checkKept looks for the texts that moves rested on.
func (a *Audit) checkKept(t task.Task, events []history.Event) error {
	for _, e := range events {
		names, err := replay.Kept(e)
		if err != nil {
			a.Report(t.ID, propHistory, "%v", err)
		}
		for _, one := range names {
			text, kept, err := a.Folders.Kept(t.Project, t.ID, one.Digest)
			if err != nil {
				return err
			}
			if !kept || document.Digest(text) != one.Digest {
				a.Report(t.ID, propHistory, "the %s of event %d is not kept", one.Source, e.Seq)
			}
		}
	}
	return nil
}

// checkHooks checks whether every hook that an event set going is in the record, and done.
func (a *Audit) checkHooks(ctx context.Context, s record.Snapshot, events []history.Event) error {
	for _, h := range s.Owed {
		a.Report(s.Task.ID, propHooks, "hook %d (%s) is still pending when everything else is done: %s",
			a.HookNumber(h.ID), h.Action, h.Error)
	}
	for _, e := range events {
		if len(e.Hooks) == 0 {
			continue
		}
		hooks, err := a.Record.Hooks(ctx, s.Task.ID, e.Seq)
		if err != nil {
			return err
		}
		var have []string
		for _, h := range hooks {
			have = append(have, h.Action)
			if wrong := a.wrongEnd(h); wrong != "" {
				a.Report(s.Task.ID, propHooks, "hook %d (%s) %s", a.HookNumber(h.ID), h.Action, wrong)
			}
		}
		if !slices.Equal(have, e.Hooks) {
			a.Report(s.Task.ID, propHooks, "event %d has set going %v, and the record has %v", e.Seq, e.Hooks, have)
		}
	}
	return nil
}

// leaves reports whether an action sends something out of this machine that no one wants of a task that is over.
func leaves(name string) bool {
	return name == action.PushBranch || name == action.CreatePR || name == action.UpdatePR
}

// wrongEnd is what is wrong with the end of a hook; empty if nothing is.
func (a *Audit) wrongEnd(h task.OwedHook) string {
	class, _ := action.ClassOf(h.Action)
	counted := a.Hook(h.ID)
	switch {
	case class == action.ClassRecord:
		if h.State != task.HookDone {
			return fmt.Sprintf("is %s", h.State)
		}
	case counted.Settled != 1:
		return fmt.Sprintf("was settled %d times", counted.Settled)
	case h.State == task.HookSuperseded && class != action.ClassStart && !leaves(h.Action):
		return "was dropped, and it is not one that may be"
	case h.State == task.HookDone && counted.Performed == 0:
		return "was never performed"
	case (h.State == task.HookSuperseded) != counted.Superseded:
		return fmt.Sprintf("is %s, and it was settled otherwise", h.State)
	}
	return ""
}

func (a *Audit) checkMirrors(t task.Task, lines []string) error {
	text, err := a.Folders.Read(t.Project, t.ID, true)
	if err != nil {
		return err
	}
	d := document.Read(text)
	for _, want := range document.Fields(t) {
		if found, _ := d.Front.Get(want.Key); found != want.Text {
			a.Report(t.ID, propMirrors, "TASK.md says %s: %q, and the record %q", want.Key, found, want.Text)
		}
	}
	mirror, err := a.Folders.ReadHistory(t.Project, t.ID)
	if err != nil {
		return err
	}
	if string(mirror) != strings.Join(lines, "\n")+"\n" {
		a.Report(t.ID, propMirrors, "history.jsonl is not the history in the record")
	}
	return nil
}

// Replay makes every decision on a task again, and gives how many there were: the result must be the same, to the
// byte. Under is the workflow to decide by; nil for the one that each decision was made by.
func (a *Audit) Replay(ctx context.Context, t task.Task, under *workflow.Definition) (decisions int, err error) {
	lines, _, err := a.Record.Tail(ctx, t.ID, 0)
	if err != nil {
		return 0, err
	}
	replayed, err := replay.Replay(t, lines, replay.Library{
		Rules: func(digest string) (*workflow.Definition, error) {
			if digest != a.Workflow.Digest {
				return nil, task.Notef(task.ErrNotFound, "no workflow %q", digest)
			}
			return a.Workflow, nil
		},
		Texts: func(digest string) (string, bool, error) { return a.Folders.Kept(t.Project, t.ID, digest) },
	}, under)
	switch {
	case err != nil:
		a.Report(t.ID, propReplay, "the history cannot be replayed: %v", err)
	case replayed.Equal != replayed.Decisions || len(replayed.Untold) > 0:
		a.Report(t.ID, propReplay,
			"of %d decisions %d have the same result when they are made again, and %d cannot be made: %+v",
			replayed.Decisions, replayed.Equal, len(replayed.Untold),
			slices.Concat(replayed.Different, replayed.Untold))
	}
	return replayed.Decisions, nil
}
