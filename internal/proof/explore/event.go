package explore

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

type kind uint8

const (
	isBorn    kind = iota
	isRequest      // an actor asks for a status
	isDeath        // an agent's
	isRespawn      // a person starts the state's agent again
	isRevival      // the workflow starts it again
	isTimer        // the time of the status is long over
	isRefused      // an agent was refused too often
	isSettle       // the owed hooks are performed at last
	isRedo         // a person takes the task back
	isTouch        // a person changes the task without moving it
	isSetback      // something happens for which the workflow has a rule that sends the task back
	isPull         // the task's pull request was merged or closed
	isEdit         // an agent changes the work: a step of ways alone, see passed.go
)

// event is one event, kept small: every way has one.
type event struct {
	kind      kind
	role      int8  // who asks or dies; -1 is a person
	as        int8  // the role for which a person asks; -1 for a person's own
	on        int8  // what happens to the work, among workflow.SendBackEvents; pullMerged or pullClosed
	to        int16 // the state of the request; of a birth, which one
	look      int16 // the evidence, among those of the state; -1 for none
	failing   int8  // the hook that fails, among those that are owed after the decision; -1 for none
	edge      int16 // the transition that was taken; -1 for none
	override  bool
	dies      bool
	killed    bool // the agent did not end by itself with status 0
	unstarted bool // the agent could not even be started
	forced    bool // no gate was asked
	unvouched bool // no verdict accepted what it puts up to be merged, and no person asked for that
	carried   bool // the evidence of the next state is about what that of the last one was about
	met       bool // the gate of the transition was met: no force and no override led there
}

// byPerson reports whether the event needs a person.
func (e event) byPerson() bool {
	return e.kind == isBorn || e.kind == isRespawn || e.kind == isRedo || e.kind == isTouch || e.kind == isPull ||
		e.kind == isRequest && e.role < 0
}

// visit follows every event that can happen in a configuration.
func (w *walk) visit(at int32) {
	c := w.configs[at]
	w.here = c.view()
	w.redo(at, c)
	if w.def.States[c.status].Terminal {
		w.settleOwed(at, c)
		return
	}
	for i := range w.askers {
		if one := &w.askers[i]; one.role < 0 || c.agent(int(one.role)) == alive {
			w.requests(at, c, one)
		}
	}
	if c.owed == 0 { // else it comes again when nothing is owed: a hook may be the cause of it
		for r := range w.roles {
			if c.agent(r) == alive {
				w.deaths(at, c, r)
			}
		}
		w.revival(at, c)
	}
	w.respawn(at, c)
	w.timer(at, c)
	w.refusals(at, c)
	w.setbacks(at, c)
	w.pulls(at, c)
	w.settleOwed(at, c)
	w.touch(at, c)
}

// bit numbers what is one of two: evidence without a worktree and with one, agents that change the work and that
// review it.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// view is what decide sees of a configuration: living agents and owed hooks are not part of it.
type view struct {
	status, previous int16
	workspace        bool
	counters         int32
}

func (c config) view() view { return view{c.status, c.previous, c.workspace, c.counters} }

// moves returns the moves out of a status that an actor may ask for, once for each gate on the way that evidence can
// meet. A person's moves are apart: they reset some counters.
func (w *walk) moves(c config, person bool) []outcome {
	what, by := aMove, person && w.resets
	if by { // the request is judged on counters that the person has set back
		what = aPersonsMove
	}
	counters := c.counters
	if by {
		counters = w.countersAfterTouch(c)
	}
	return w.alikeIn(what, counters, func() []outcome { return w.movesBy(c, w.taskOf(c), by) })
}

// movesBy asks for every move out of a status.
func (w *walk) movesBy(c config, t task.Task, person bool) []outcome {
	var out []outcome
	looks := w.forge.looks[c.status][bit(c.workspace)]
	for i, n := range w.leaving[c.status] {
		edge := &w.def.Transitions[n]
		if !decide.Leads(edge, t) {
			continue
		}
		e := event{kind: isRequest, to: w.place(edge.To)}
		request := task.Request{Task: t.ID, To: edge.To, Actor: agentOf(edge), Reason: "there is one"}
		if person {
			request.Actor = task.Actor{Role: task.RoleHuman}
			if !decide.Allows(edge, request.Actor) {
				request.Actor.As = edge.By[0]
			}
		}
		if one := slices.IndexFunc(looks, func(l combination) bool { return l.gates[i] }); one >= 0 {
			e.look = int16(one)
			out = w.ask(out, t, looks[one].evidence, request, e, n)
		}
		if edge.Override && (person || !w.resets) { // a program's override is its person's
			request.Override, request.Actor = true, task.Actor{Role: task.RoleHuman}
			e.look, e.override = -1, true
			out = w.ask(out, t, looks[0].evidence, request, e, n)
		}
	}
	return out
}

// agentOf is an agent that may take an edge. Where none may, it is no matter which.
func agentOf(edge *workflow.Transition) task.Actor {
	for _, role := range edge.By {
		if role != task.RoleHuman {
			return task.Actor{Role: role}
		}
	}
	return task.Actor{Rule: true}
}

// ask adds what follows from a request over an edge; a move that was made instead of the edge has a request of its own.
func (w *walk) ask(out []outcome, t task.Task, evidence decide.Evidence, request task.Request, e event,
	edge int) []outcome {
	decision, err := decide.Transition(w.def, t, evidence, request, anyTime())
	if err != nil || !decision.Moved {
		return out
	}
	taken := w.edgeMet(t, request.To, e, func(n int) bool {
		return decide.Allows(&w.def.Transitions[n], request.Actor) && w.gateMet(t, e, n)
	})
	if taken != edge {
		return out
	}
	return append(out, w.outcomeOf(e, edge, decision.Change))
}

// edgeOf finds the transition over which an event takes a task: the first one that its guards and gate let pass.
// If none passes, it is the first one whose gate does.
func (w *walk) edgeOf(t task.Task, to task.Status, e event) int {
	return w.edgeMet(t, to, e, func(edge int) bool { return w.gateMet(t, e, edge) })
}

// gateMet reports whether an event's evidence meets the gate of an edge, or no gate is asked.
func (w *walk) gateMet(t task.Task, e event, edge int) bool {
	status := w.place(t.Status)
	at := slices.Index(w.leaving[status], edge)
	return e.look < 0 || e.override || w.forge.looks[status][bit(t.Workspace != "")][e.look].gates[at]
}

// edgeMet is edgeOf for gates that something else may meet than the evidence alone.
func (w *walk) edgeMet(t task.Task, to task.Status, e event, met func(edge int) bool) int {
	found := -1
	for _, n := range w.leaving[w.place(t.Status)] {
		edge := &w.def.Transitions[n]
		if edge.To != to || !decide.Leads(edge, t) || !met(n) {
			continue
		}
		if decide.Passes(edge, t) {
			return n
		}
		if found < 0 && (!e.override || edge.Override) {
			found = n
		}
	}
	return found
}

// withoutGate is an event in the form that edgeOf needs: a move after too many crashes asks no gate.
func withoutGate(e event, move history.Event) event {
	if move.Data[history.DataCrash] != "" {
		e.look = -1
	}
	return e
}

// deaths ends an agent, with every evidence that it can leave.
func (w *walk) deaths(at int32, c config, role int) {
	w.followAll(at, c, w.endings(at, c, role))
}

// endings returns what follows from the death of an agent.
func (w *walk) endings(at int32, c config, role int) []outcome {
	return w.alikeIn(death(role), c.counters, func() []outcome { return w.endingsBy(at, c, w.taskOf(c), role) })
}

// endingsBy has the agent end in every way.
func (w *walk) endingsBy(at int32, c config, t task.Task, role int) []outcome {
	e := event{kind: isDeath, role: int8(role), as: -1, to: -1, look: -1, dies: true}
	death := task.Death{Task: t.ID, Role: w.roles[role], Hook: 1, Ending: task.Ending{Known: true}}
	var out []outcome
	if w.def.States[c.status].Role != w.roles[role] { // its rules do not apply to this role
		return append(out, w.outcomeOf(e, -1, decide.Exit(w.def, t, decide.Evidence{}, death, anyTime())))
	}
	refused := map[int]refusal{}
	for _, i := range w.forge.deaths[c.status][bit(c.workspace)] {
		l := w.forge.looks[c.status][bit(c.workspace)][i]
		e.look = int16(i)
		change, edge := decide.Exit(w.def, t, l.evidence, death, anyTime()), -1
		if last := change.Events[len(change.Events)-1]; last.IsMove() {
			edge = w.edgeOf(t, last.To, withoutGate(e, last)) // too many crashes may lead where no transition does
		}
		note(refused, slices.Index(l.rules, true), change, e)
		out = append(out, w.outcomeOf(e, edge, change))
	}
	w.tellRefused(at, t, refused)
	out = append(out, w.killings(c, t, e, death)...)
	e.look, e.unstarted = -1, true
	death.Ending.Unstarted = "its program is not there"
	out = append(out, w.outcomeOf(e, -1, decide.Exit(w.def, t, decide.Evidence{}, death, anyTime())))
	return toldApart(out)
}

// toldApart leaves those ends of an agent out from which the same follows as from an earlier one, which left other
// evidence, or was killed.
func toldApart(all []outcome) []outcome {
	var out []outcome
	for _, o := range all {
		same := o
		if !slices.ContainsFunc(out, func(have outcome) bool {
			same.event.look, same.event.killed = have.event.look, have.event.killed
			return have == same
		}) {
			out = append(out, o)
		}
	}
	return out
}

// killings returns what follows if the agent is killed after some agent has written a verdict.
func (w *walk) killings(c config, t task.Task, e event, death task.Death) []outcome {
	var out []outcome
	e.killed, death.Ending.Signal = true, 9
	for _, i := range w.forge.deaths[c.status][bit(c.workspace)] {
		l := w.forge.looks[c.status][bit(c.workspace)][i]
		at := slices.Index(l.rules, true)
		if at < 0 || !decide.TakesVerdict(w.def, t, &w.def.Exit.Rules[w.rules[c.status][at]]) {
			continue // the same as if the agent had ended by itself
		}
		e.look = int16(i)
		change, edge := decide.Exit(w.def, t, l.evidence, death, anyTime()), -1
		if last := change.Events[len(change.Events)-1]; last.IsMove() {
			edge = w.edgeOf(t, last.To, withoutGate(e, last))
		}
		out = append(out, w.outcomeOf(e, edge, change))
	}
	return out
}

func (w *walk) respawn(at int32, c config) {
	r := w.roleOf[c.status]
	what, lives := aRespawn, r >= 0 && c.agent(r) == alive
	if lives { // where none works, a task that has no workspace gets one
		what = restart(r)
	}
	w.followAll(at, c, w.alikeIn(what, w.countersAfterTouch(c), func() (out []outcome) {
		change, err := decide.Respawn(w.def, w.taskOf(c), lives, false, task.Actor{Role: task.RoleHuman}, anyTime())
		if err == nil {
			e := event{kind: isRespawn, role: int8(r), as: -1, to: -1, look: -1}
			out = append(out, w.outcomeOf(e, -1, change))
		}
		return out
	}))
}

// revival starts the state's dead agent again if the workflow wants that.
func (w *walk) revival(at int32, c config) {
	r := w.roleOf[c.status]
	if r < 0 || c.agent(r) != died {
		return
	}
	w.followAll(at, c, w.alikeIn(aRevival, c.counters, func() []outcome { return w.revivals(w.taskOf(c), r) }))
}

// revivals returns what follows when the workflow starts the agent again.
func (w *walk) revivals(t task.Task, role int) []outcome {
	history := []history.Event{{Type: history.AgentStopped, Time: anyTime(),
		Data: map[string]string{"role": w.roles[role], "ended": "exit status 1"}}}
	_, due := decide.RespawnDue(w.def, t, history, anyTime())
	change, err := decide.Respawn(w.def, t, false, false, task.Actor{Rule: true}, anyTime())
	if !due || err != nil {
		return nil
	}
	e := event{kind: isRevival, role: int8(role), as: -1, to: -1, look: -1}
	return []outcome{w.outcomeOf(e, -1, change)}
}

func (w *walk) timer(at int32, c config) {
	if w.def.States[c.status].Timeout.Then == "" {
		return // it only marks the task
	}
	w.followAll(at, c, w.alikeIn(aTimer, c.counters, func() []outcome { return w.lateness(at, c, w.taskOf(c)) }))
}

// refusals has the agent of the status refused until the workflow has had enough of that.
func (w *walk) refusals(at int32, c config) {
	if w.def.States[c.status].Refused.Then == "" || c.livesAtMost(0) {
		return
	}
	w.followAll(at, c, w.alikeIn(aRefusal, c.counters, func() []outcome { return w.refusalMoves(at, c, w.taskOf(c)) }))
}

// lateness returns what follows when the time of the status is long over.
func (w *walk) lateness(at int32, c config, t task.Task) []outcome {
	state := w.def.States[c.status]
	late := anyTime().Add(2 * time.Duration(state.Timeout.After) * time.Second)
	level, due := decide.Timer(w.def, nil, t, late)
	if !due {
		return nil
	}
	return w.escalations(at, c, t, escalation{isTimer, level, late, "timeout", state.Timeout.Pos})
}

// refusalMoves returns what follows when the agent of the status was refused as often as the workflow bears.
func (w *walk) refusalMoves(at int32, c config, t task.Task) []outcome {
	state := w.def.States[c.status]
	often := record.Refusals{Status: t.Status, Entered: t.EnteredAt, Count: state.Refused.Most,
		Same: state.Refused.Most}
	enough, due := decide.RefusedOften(w.def, t, often, anyTime())
	if !due {
		return nil
	}
	return w.escalations(at, c, t, escalation{isRefused, enough, anyTime(), "refused_after", state.Refused.Pos})
}

// escalation is a change after which the workflow may want a move that no one asks for.
type escalation struct {
	kind   kind
	change record.Change
	now    time.Time
	key    string // of the workflow file, and its place
	pos    yaml.Pos
}

// escalations returns the move that the workflow wants after a change, if it wants one.
func (w *walk) escalations(at int32, c config, t task.Task, after escalation) []outcome {
	to, wanted := decide.Escalation(w.def, after.change)
	if !wanted {
		return nil
	}
	state := w.def.States[c.status]
	f := flaw{
		at: at, pos: after.pos,
		suggestion: "let the " + after.key + " lead where a transition is open whatever the counters say",
		message: fmt.Sprintf("the %s of %q leads to %q, and that move is refused%s", after.key, state.Name, to,
			w.standing(c)),
	}
	var out []outcome
	for i, l := range w.forge.looks[c.status][bit(c.workspace)] { // the first is without any text
		change := decide.Escalate(w.def, after.change, t, l.evidence, after.now)
		if !change.Entered {
			continue
		}
		e := event{kind: after.kind, role: -1, as: -1, to: w.place(to), look: int16(i)}
		n := w.edgeOf(t, to, e)
		out = append(out, w.outcomeOf(e, n, change))
		if i == 0 {
			return out
		}
		f.suggestion = "let the " + after.key + " lead where a transition asks for no evidence"
		f.message = fmt.Sprintf("the %s of %q leads to %q, and that move is refused where no one has left %s%s",
			after.key, state.Name, to, asks(w.def.Transitions[n].Gate), w.standing(c))
		break
	}
	w.report(RulesLegal, f)
	return out
}

func (w *walk) settleOwed(at int32, c config) {
	if c.owed == 0 {
		return
	}
	after := c
	p := w.perform(after, w.owedDeeds(c))
	w.settle(&p.config)
	w.enter(at, event{kind: isSettle, role: -1, as: -1, to: -1, look: -1, failing: -1, edge: -1}, p, false)
}

// owedDeeds are the hooks that are owed in a configuration.
func (w *walk) owedDeeds(c config) []deed {
	return w.deedsOf(w.lists[c.owed], c.status)
}

// touch makes a person change the task without moving it, such as a field, the retry of a hook, or a word to an
// agent: that resets some counters.
func (w *walk) touch(at int32, c config) {
	if !w.resets {
		return
	}
	after := c
	after.counters = w.countersAfterTouch(c)
	if after.counters != c.counters {
		w.enter(at, event{kind: isTouch, role: -1, as: -1, to: -1, look: -1, failing: -1, edge: -1}, performed{
			config: after}, false)
	}
}

// countersAfterTouch are the counters after a person has changed the task without moving it.
func (w *walk) countersAfterTouch(c config) int32 {
	if !w.resets {
		return c.counters
	}
	t := w.taskOf(c)
	change := decide.Note(w.def, t, t, task.Actor{Role: task.RoleHuman}, history.Event{
		Type: history.Updated, Time: anyTime()})
	return w.configOf(change.Task).counters
}

func (w *walk) redo(at int32, c config) {
	for i, again := range w.def.Redo {
		if c.visited&(1<<i) == 0 {
			continue // it is refused
		}
		w.followAll(at, c, w.alikeIn(w.aRedo(i), w.countersAfterTouch(c), func() []outcome {
			return w.beginning(w.taskOf(c), task.Status(again.Name))
		}))
	}
}

// beginning returns what follows when a person takes a task back to a state in which it has been.
func (w *walk) beginning(t task.Task, to task.Status) []outcome {
	been := []history.Event{{Type: history.Created, Data: map[string]string{"status": string(to)}}}
	change, err := decide.Redo(w.def, t, to, decide.Evidence{}, been, task.Actor{Role: task.RoleHuman},
		"there is one", anyTime())
	if err != nil {
		return nil
	}
	return []outcome{w.outcomeOf(event{kind: isRedo, role: -1, as: -1, to: w.place(to), look: -1}, -1, change)}
}
