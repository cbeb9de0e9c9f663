package explore

import (
	"fmt"
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// refusal is the result of an exit rule's move in one configuration.
type refusal struct {
	moved  bool
	event  event  // a death after which the move was not made
	reason string // why not
}

// note keeps the result of the exit rule that a death's evidence meets.
func note(refused map[int]refusal, rule int, c record.Change, e event) {
	if rule < 0 {
		return
	}
	last := c.Events[len(c.Events)-1]
	known, before := refused[rule]
	if last.IsMove() && last.Data[history.DataCrash] == "" {
		known.moved = true
	} else if !before {
		known.event, known.reason = e, c.Events[0].Reason
	}
	refused[rule] = known
}

// tellRefused reports exit rules whose move the workflow lacks here, or whose evidence leads elsewhere here.
// A move that is only refused here, because of a counter, is a crash as the author may have meant it, if it
// is made elsewhere.
func (w *walk) tellRefused(at int32, t task.Task, refused map[int]refusal) {
	status := w.configs[at].status
	for k, n := range w.rules[status] {
		r, asked := refused[k]
		if !asked {
			continue
		}
		if r.moved {
			w.made[n] = true
			continue
		}
		rule := &w.def.Exit.Rules[n]
		f := flaw{
			at: at, last: &step{to: at, event: r.event}, pos: rule.Pos,
			message: fmt.Sprintf("the exit rule of %q leads to no legal move%s: %s", rule.Status,
				w.standing(w.configs[at]), r.reason),
			suggestion: "let it lead where a transition is open with that evidence; then_when tells cases " +
				"apart by a counter",
		}
		to, _ := decide.RuleTarget(w.def, t, rule)
		edge := w.edgeOf(t, to, event{look: -1})
		if edge < 0 || w.elsewhere(t, edge) {
			w.report(RulesLegal, f)
		} else if _, known := w.pending[n]; !known {
			w.pending[n] = f
		}
	}
}

// elsewhere reports whether the evidence for a transition that its guards close opens another one.
func (w *walk) elsewhere(t task.Task, edge int) bool {
	return slices.ContainsFunc(w.alike[edge], func(m int) bool {
		other := &w.def.Transitions[m]
		return decide.Leads(other, t) && decide.Passes(other, t)
	})
}

// judgeRules reports crashes that lead nowhere however many there are.
func (w *walk) judgeRules() {
	for n := range w.def.Exit.Rules { // in the order of the file
		if f, refused := w.pending[n]; refused && !w.made[n] {
			w.report(RulesLegal, f)
		}
	}
	for n := range w.def.Exit.Rules {
		rule := &w.def.Exit.Rules[n]
		if rule.Action != workflow.ActionCrash || rule.Then != "" || len(rule.ThenWhen) > 0 {
			continue
		}
		state, _ := w.def.State(rule.Status)
		at := w.firstOf(state.Role, rule.Status)
		if at < 0 {
			continue // no agent is there to crash
		}
		w.report(RulesLegal, flaw{
			at: at, pos: rule.Pos, mild: true, suggestion: "say where a person finds the task: then: STATE",
			message: fmt.Sprintf(
				"after %d crashes in %q the task goes nowhere: it stays, with a mark for a person",
				rule.StuckAfter, rule.Status),
		})
	}
}

// judgeRoles reports roles that the file names and that no actor can ever have.
func (w *walk) judgeRoles() {
	act := map[string]bool{task.RoleHuman: true}
	eachStart(w.def, func(state workflow.State, h task.Hook, _ yaml.Pos) {
		if h.Action != action.NotifyWorker || state.RespawnPrompt.Name != "" {
			act[workflow.RoleIn(state, h)] = true
		}
	})
	for _, s := range w.def.States {
		if s.Role != "" && s.RespawnPrompt.Name != "" {
			act[s.Role] = true
		}
	}
	tell := func(role, where string, pos yaml.Pos) {
		if role != "" && !act[role] {
			w.report(RolesAct, flaw{
				at: -1, pos: pos,
				message:    fmt.Sprintf("the role %q is named in %s, and no agent of it is ever started", role, where),
				suggestion: "start one with spawn_agent and role, or name a role that acts",
			})
		}
	}
	for _, s := range w.def.States {
		tell(s.Role, fmt.Sprintf("the state %q", s.Name), s.Pos)
	}
	for i := range w.def.Transitions {
		t := &w.def.Transitions[i]
		for _, role := range t.By {
			tell(role, fmt.Sprintf("by of the transition from %q to %q", t.From, t.To), t.Pos)
		}
		for _, h := range t.Hooks {
			if h.Action == action.KillAgent {
				tell(h.Role, "the hook "+h.Action, h.Pos)
			}
		}
	}
}
