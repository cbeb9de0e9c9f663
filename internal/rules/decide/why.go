package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Option is an edge out of a task's present status, as it applies to those who may ask for it.
type Option struct {
	To task.Status `json:"to"`
	By []string    `json:"by"` // the roles that may ask
	// people who may not, each with what they did: the person is another one
	OtherThan []string           `json:"other_than,omitempty"`
	Open      bool               `json:"open"` // a request for it would succeed now
	Guards    []Counted          `json:"guards"`
	Details   []rejection.Detail `json:"details"`  // what is unmet
	Reason    bool               `json:"reason"`   // the request must give a reason
	Override  bool               `json:"override"` // a person may take it in spite of what is unmet, with a reason
	Command   string             `json:"command"`  // how a person does so; empty if they may not
	Hooks     []string           `json:"hooks"`    // what is done after the move
	Line      int                `json:"line"`     // of the workflow file
}

// Counted is a guard with the counter that it looks at.
type Counted struct {
	Guard string `json:"guard"`
	Value int    `json:"value"`
	Holds bool   `json:"holds"`
	// ToCome means that the value includes the failure that the move itself would count: it has not happened yet.
	ToCome bool `json:"to_come,omitempty"`
}

// Explanation says why a task does not move, or what would move it.
type Explanation struct {
	Task   task.Task
	About  string              // what the present status is, in the workflow's words
	Ways   []Option            // by target, in the order of the file
	Waits  []rejection.Detail  // who or what the task waits for, the most immediate first
	Need   record.Need         // why a person should look after it now; zero if no one should, or no one has looked
	Redo   []task.Status       // the states that a person can let begin again
	Seen   []task.Evidence     // the texts that this rests on: those of other evidence are others
	Before []record.Before     // the tasks that it waits for
	Passed []guarantee.GoodEnd // what a task has passed at each good end of the workflow, where it was found out
}

// Why judges every edge out of a task's status as Transition does, and supplies a reason if the edge wants one.
func Why(def *workflow.Definition, t task.Task, ev Evidence) []Option {
	roles := []string{task.RoleWorker, task.RoleReviewer}
	for _, r := range def.Roles {
		if !slices.Contains(roles, r.Name) && r.Name != task.RoleHuman {
			roles = append(roles, r.Name)
		}
	}
	roles = append(roles, task.RoleHuman)
	var ways []Option
	var seen []task.Status
	for _, first := range outgoing(def, t) {
		if slices.Contains(seen, first.To) {
			continue
		}
		seen = append(seen, first.To)
		for _, edge := range edges(def, t, first.To) {
			ways = append(ways, over(def, t, edge, roles, ev)...)
		}
	}
	return ways
}

// over describes an edge once for all who may ask. If a person's request resets a counter that its guards look at,
// the person gets an option apart.
func over(def *workflow.Definition, t task.Task, edge *workflow.Transition, roles []string, ev Evidence) []Option {
	by := slices.DeleteFunc(slices.Clone(roles), func(role string) bool {
		return !Allows(edge, task.Actor{Role: role})
	})
	human := task.Actor{Role: task.RoleHuman}
	theirs := t
	theirs.Counters = resetBy(def, t.Counters, human)
	if !slices.Contains(by, human.Role) || Passes(edge, t) == Passes(edge, theirs) {
		return []Option{withCommand(def, t, way(def, t, edge, by, ev))}
	}
	ways := []Option{withCommand(def, t, way(def, theirs, edge, []string{human.Role}, ev))}
	if agents := slices.DeleteFunc(by, func(role string) bool { return role == human.Role }); len(agents) > 0 {
		ways = append([]Option{way(def, t, edge, agents, ev)}, ways...)
	}
	return ways
}

// withCommand adds the command of a person who takes an option in spite of what is unmet.
func withCommand(def *workflow.Definition, t task.Task, w Option) Option {
	if w.Override && slices.Contains(w.By, task.RoleHuman) {
		w.Command = overrideCommand(def, t.ID, w.To)
	}
	return w
}

// mayOverride reports whether a person among those who may ask has something to set aside on an edge, and may.
func mayOverride(def *workflow.Definition, t task.Task, edge *workflow.Transition, by []string, ev Evidence) bool {
	if !slices.Contains(by, task.RoleHuman) || edge.From == edge.To && workflow.Asks(edge.Gate, workflow.GitMoved) {
		return false // where the tip is the same, asking for the same status changes nothing
	}
	j := judgeGate(edge.Gate, ev)
	person := task.Request{Actor: task.Actor{Role: task.RoleHuman}}
	conditions := len(edge.Gate)+len(edge.When) > 0 || len(j.refusedBesides(def, t, edge, person, ev)) > 0
	return conditions && (def.Overridable(edge) || j.onlyEnded()) &&
		len(sameEyes(def, edge, strangerAsks(), ev.History)) == 0
}

func way(def *workflow.Definition, t task.Task, edge *workflow.Transition, by []string, ev Evidence) Option {
	w := Option{To: edge.To, By: append([]string{}, by...), Guards: []Counted{}, Details: []rejection.Detail{},
		Reason: edge.Reason, Override: mayOverride(def, t, edge, by, ev), Hooks: []string{}, Line: edge.Pos.Line}
	for _, h := range edge.Hooks {
		w.Hooks = append(w.Hooks, h.Action)
	}
	for _, g := range edge.When {
		value := countWith(t, edge, g.Field)
		w.Guards = append(w.Guards, Counted{Guard: g.String(), Value: value, Holds: g.Holds(value),
			ToCome: toCome(edge, g.Field)})
	}
	if len(w.By) == 0 {
		return w // only the workflow's own rules take it
	}
	role := w.By[0]
	if Marks(def, edge.To).Good && slices.Contains(w.By, task.RoleHuman) {
		role = task.RoleHuman // who merges is a person, and may be promised to be one
	}
	actor := task.Actor{Role: role}
	if role == task.RoleHuman {
		actor = strangerAsks()
	}
	if slices.Contains(w.By, task.RoleHuman) {
		others, _ := othersThan(def, edge, ev.History)
		for _, other := range others {
			w.OtherThan = append(w.OtherThan, other.String())
		}
	}
	req := task.Request{Task: t.ID, To: edge.To, Actor: actor, Reason: "to see whether it is open"}
	refused := judge(def, t, edge, req, ev, judgeGate(edge.Gate, ev))
	if w.Open = refused == nil; !w.Open {
		w.Details = withHints(def, t, req.Actor, refused.Details)
	}
	return w
}

// Awaits says who or what a task waits for, and what would help. Lives is record's word for how the agent of the
// present status is. Events are the task's whole history.
func Awaits(def *workflow.Definition, s record.Snapshot, lives string, events []history.Event, own task.Timeouts,
	now time.Time) []rejection.Detail {
	t := s.Task
	state, _ := def.State(t.Status)
	var list []rejection.Detail
	for _, h := range s.Owed {
		list = append(list, owes(t, h, now))
	}
	switch {
	case t.Queued():
		list = append(list, rejection.Detail{
			Condition: "a free workspace", Found: fmt.Sprintf("none for the move to %q", t.QueuedFor),
			Want: "it starts by itself when one is free"})
	case t.WaitsForTasks(): // Missing says for what
	case state.Terminal:
		list = append(list, rejection.Detail{Condition: "no one", Found: fmt.Sprintf("%q, which is final", t.Status),
			Want: "there is nothing to do", Idle: true})
	case state.Role == "" || state.Role == task.RoleHuman:
		list = append(list, rejection.Detail{Condition: "a person",
			Found: fmt.Sprintf("no agent works in %q", t.Status), Want: "choose one of the moves that are open"})
	case len(s.Owed) == 0:
		list = append(list, agent(def, t, state, lives, events, now))
	}
	if level, after := overdueLevel(def, own, t, now); after > 0 {
		found := fmt.Sprintf("%s in %q", roundOff(now.Sub(t.EnteredAt)), t.Status)
		if level < task.LateAlert {
			list = append(list, rejection.Detail{Condition: fmt.Sprintf("no more than %s in the status", after),
				Found: found, Want: "nothing yet", Idle: true})
		} else {
			list = append(list, rejection.Detail{Condition: fmt.Sprintf("no more than %s in the status", after),
				Found: found, Want: lateWant(state)})
		}
	}
	for i := range state.SendBack {
		list = append(list, sendsBack(def, t, &state.SendBack[i]))
	}
	if _, limited := t.LimitedUntil(); limited {
		list = append(list, rejection.Detail{Condition: "the end of a limit", Found: t.Attention,
			Want: "wait, or start it now: orange task respawn " + t.ID})
	} else if t.Attention != "" {
		mark := t.Attention
		if lives == record.AgentDead { // the agent's last words are above
			mark, _ = t.MarkParts()
		}
		list = append(list, rejection.Detail{Condition: "a person's attention", Found: mark,
			Want: "put that right; the next move removes the mark"})
	}
	return list
}

func lateWant(state workflow.State) string {
	if state.Timeout.Then != "" {
		return fmt.Sprintf("look after it; at %d per cent the workflow asks for %q", task.LateEscalated,
			state.Timeout.Then)
	}
	return "look after it; the workflow does nothing by itself"
}

// owes describes the state of a hook that has to be settled first.
func owes(t task.Task, h task.OwedHook, now time.Time) rejection.Detail {
	d := rejection.Detail{Condition: "the hook " + h.Action, Found: "it is pending, and about to be performed",
		Want: "wait a moment"}
	if !h.Began.IsZero() {
		d.Found = action.UnderWay(h.Action, now.Sub(h.Began))
		return d
	}
	if h.State == task.HookFailed {
		d.Found = fmt.Sprintf("it failed: %s (attempts: %d)", h.Error, max(h.Attempts, 1))
		d.Want = "put that right, then: orange task retry " + t.ID
		if Later(h.NextTry, now) {
			d.Want += fmt.Sprintf(" (the monitor tries it again in %s)", roundOff(h.NextTry.Sub(now)))
		}
	}
	return d
}

// agent describes the state of the agent that a status needs.
func agent(def *workflow.Definition, t task.Task, state workflow.State, lives string, events []history.Event,
	now time.Time) rejection.Detail {
	d := rejection.Detail{Condition: "the " + state.Role}
	alive := lives == record.AgentAlive
	switch {
	case t.Workspace == "":
		d.Found, d.Want = "it was not started yet", "orange task spawn "+t.ID
		if t.Status != def.Initial {
			d.Found, d.Want = "the task has no workspace", "get it one and start the agent: orange task respawn "+t.ID
		}
	case lives == record.AgentUnknown:
		d.Found, d.Want = "whether it lives is unknown", "look again: orange task why "+t.ID
	case alive && !t.StalledAt.IsZero():
		d.Found = "it lives, and has done nothing since " + task.FormatTime(t.StalledAt)
		d.Want = fmt.Sprintf("look at it: orange task attach %s --role %s", t.ID, state.Role)
	case alive && def.WaitsForPerson(t.Status):
		d.Condition, d.Found = "a person", fmt.Sprintf("the %s lives, and the status waits for a person", state.Role)
		d.Want = fmt.Sprintf("answer it: orange task say %s TEXT, or there: orange task attach %s", t.ID, t.ID)
	case alive:
		d.Found, d.Want = record.AtWork, "let it work, or look: orange task attach "+t.ID
	default:
		d.Found = "it is dead" + task.Death{LastWords: history.LastWords(events)}.Said()
		d.Want = "start it again: orange task respawn " + t.ID
		if _, starts := def.StartIn(state); !starts {
			d.Want = "choose one of the moves that are open: this status has no agent to start again"
		}
		if due, wanted := RespawnDue(def, t, events, now); wanted {
			d.Want = "the monitor starts it again now"
			if due.After(now) {
				d.Want = fmt.Sprintf("the monitor starts it again in %s", roundOff(due.Sub(now)))
			}
		}
	}
	return d
}

// WithRedo adds the states that a person can let begin again, in the order of the workflow. Events are the task's whole
// history.
func (e Explanation) WithRedo(def *workflow.Definition, events []history.Event) Explanation {
	for _, s := range def.Redo {
		to := task.Status(s.Name)
		if redoRefused(def, e.Task, to, events, task.Actor{Role: task.RoleHuman}) == nil {
			e.Redo = append(e.Redo, to)
		}
	}
	return e
}

// For keeps the options that a role may ask for.
func (e Explanation) For(role string) Explanation {
	e.Ways = slices.DeleteFunc(slices.Clone(e.Ways), func(w Option) bool { return !slices.Contains(w.By, role) })
	return e
}

// State describes the state of an option.
func (w Option) State() string {
	if w.Open {
		return "open"
	}
	return "not open"
}

// Who names everyone who may ask for the option.
func (w Option) Who() string {
	if len(w.By) == 0 {
		return "the workflow's own rules alone"
	}
	who := strings.Join(w.By, ", ")
	if len(w.OtherThan) > 0 {
		who += ", another person than " + strings.Join(w.OtherThan, "; ")
	}
	return who
}

// OtherDetails are the unmet conditions that are not guards.
func (w Option) OtherDetails() []rejection.Detail {
	return slices.DeleteFunc(slices.Clone(w.Details), func(d rejection.Detail) bool {
		return slices.ContainsFunc(w.Guards, func(g Counted) bool { return g.Guard == d.Condition })
	})
}

// String is a guard with the value that it found.
func (c Counted) String() string {
	mark := "holds"
	if !c.Holds {
		mark = "does not hold"
	}
	text := fmt.Sprintf("%s %s at %d", c.Guard, mark, c.Value)
	if c.ToCome {
		text = fmt.Sprintf("%s %s at %d, %d with this one", c.Guard, mark, c.Value-1, c.Value)
	}
	return text
}
