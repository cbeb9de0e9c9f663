// Package projection makes the files that a workflow shows of a task's history, such as a state.json of its own form.
//
// They follow from the history alone: the same history gives the same bytes. This package writes none of them: the
// engine does, and asks this package which texts a file has had. It implements the key "projections" of
// docs/workflow-file.md.
package projection

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// File is a file that mirrors a task's history in the form which its workflow gives it.
type File struct {
	Path string // relative to the task's folder
	Text []byte
}

// Files makes the files that a workflow projects of a task, in the order of the workflow; nil where it projects none.
// They follow from the history alone: the same history gives the same bytes. Of t it takes what no history says,
// id and project.
func Files(def *workflow.Definition, t task.Task, events []history.Event) []File {
	if len(def.Projections) == 0 {
		return nil
	}
	s := notCreated(def, t)
	for i := range events {
		s = s.after(def, &events[i])
	}
	out := make([]File, len(def.Projections))
	for i, p := range def.Projections {
		out[i] = File{Path: p.File, Text: s.render(def, p.Value)}
	}
	return out
}

// Shown reports whether a file of the workflow's showed a text at any point of the history. It looks at the
// newest first: a file that lags does so by little.
func Shown(def *workflow.Definition, t task.Task, events []history.Event, file string, text []byte) bool {
	at := slices.IndexFunc(def.Projections, func(p workflow.Projection) bool { return p.File == file })
	if at < 0 {
		return false
	}
	past := make([]projectionState, 0, len(events))
	s := notCreated(def, t)
	for i := range events {
		s = s.after(def, &events[i])
		past = append(past, s)
	}
	for _, s := range slices.Backward(past) {
		if bytes.Equal(s.render(def, def.Projections[at].Value), text) {
			return true
		}
	}
	return false
}

// projectionState is what projections show of a task at one point of its history. It is a value: later events leave it
// as it was.
type projectionState struct {
	task   task.Task
	rounds []round  // of every state, in the workflow's order
	alive  []string // the roles whose agent lives
}

// round is how often a state was entered, and whether it was left for one that comes later.
type round struct {
	entries int
	done    bool
}

func notCreated(def *workflow.Definition, t task.Task) projectionState {
	return projectionState{task: task.Task{ID: t.ID, Project: t.Project}, rounds: make([]round, len(def.States))}
}

func startsAgent(does string) bool {
	return does == action.SpawnAgent || does == action.SpawnReviewer
}

// allRoles is the role of an event that tells of the end of a task's whole session.
const allRoles = "all"

func (s projectionState) after(def *workflow.Definition, e *history.Event) projectionState {
	s.task = history.Follow(s.task, *e)
	switch {
	case e.Type == history.Created:
		// Where an agent is to be at work, a task that waits to be started has not begun its first round.
		if state, _ := def.State(s.task.Status); state.Role == "" || slices.ContainsFunc(e.Hooks, startsAgent) {
			s.rounds = s.roundsAfter(def.Index(s.task.Status), -1)
		}
	case e.IsMove():
		s.rounds = s.roundsAfter(def.Index(e.To), def.Index(e.From))
	}
	// A move that ends agents owes their end from its commit on; those that it starts have events of their own.
	if slices.Contains(e.Hooks, action.KillSession) {
		s.alive = nil
	} else if slices.Contains(e.Hooks, action.KillReviewer) {
		s.alive = without(s.alive, task.RoleReviewer)
	}
	state, _ := def.State(s.task.Status)
	role := e.Data["role"]
	if role == "" {
		role = state.Role
	}
	switch e.Type {
	case history.AgentSpawned, history.AgentRespawned, history.ReviewStarted:
		s.alive = append(without(s.alive, role), role)
	case history.AgentStopped, history.AgentCrashed, history.AgentLimited, history.MachineLost:
		s.alive = without(s.alive, role)
		if role == allRoles {
			s.alive = nil
		}
	case history.HookFailure:
		if hook := e.Data["hook"]; hook == action.SpawnAgent || hook == action.SpawnReviewer {
			s.alive = without(s.alive, state.Role) // who was announced did not come
		}
	}
	return s
}

// roundsAfter is the rounds after a move; a negative place is that of a state which the workflow does not have.
func (s projectionState) roundsAfter(to, from int) []round {
	out := slices.Clone(s.rounds)
	if from >= 0 {
		out[from].done = to > from
	}
	if to >= 0 {
		out[to].entries++
		out[to].done = false
	}
	return out
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(have string) bool { return have == one })
}

// varStates alone is a leaf that stands for all states.
const varStates = "{states}"

func (s projectionState) render(def *workflow.Definition, v workflow.Value) []byte {
	r := renderer{projectionState: s, def: def, values: s.variables()}
	r.counters = s.counters(def)
	for _, c := range r.counters {
		if _, taken := r.values[c.Name]; !taken {
			r.values[c.Name] = strconv.Itoa(c.Value)
		}
	}
	r.value(v, "\n")
	r.out.WriteByte('\n')
	return r.out.Bytes()
}

func (s projectionState) variables() map[string]string {
	t := s.task
	return map[string]string{
		workflow.VarSummary: t.Summary, workflow.VarProject: t.Project, workflow.VarBranch: t.Branch,
		workflow.VarStatus: string(t.Status), workflow.VarTaskID: t.ID,
	}
}

// counters are those of the task, and those that it has not counted yet.
func (s projectionState) counters(def *workflow.Definition) task.Counters {
	out := s.task.Counters
	names := []string{task.ReviewRound, task.CrashCount}
	for _, f := range def.Fields {
		names = append(names, f.Name)
	}
	for _, name := range names {
		out = out.With(name, out.Get(name))
	}
	return out
}

// renderer writes one projection as JSON, its keys in the order of the workflow.
type renderer struct {
	projectionState
	def      *workflow.Definition
	values   map[string]string
	counters task.Counters
	out      bytes.Buffer
}

// value writes a value; newline begins the line that its closing brace is on.
func (r *renderer) value(v workflow.Value, newline string) {
	switch {
	case v.Pairs != nil:
		r.object(len(v.Pairs), newline, func(i int, newline string) {
			r.key(v.Pairs[i].Key)
			r.value(v.Pairs[i].Value, newline)
		})
	case v.Text == varStates:
		r.states(newline)
	default:
		r.leaf(v.Text)
	}
}

func (r *renderer) object(pairs int, newline string, pair func(i int, newline string)) {
	r.out.WriteByte('{')
	for i := range pairs {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.out.WriteString(newline + "  ")
		pair(i, newline+"  ")
	}
	if pairs > 0 {
		r.out.WriteString(newline)
	}
	r.out.WriteByte('}')
}

func (r *renderer) states(newline string) {
	r.object(len(r.def.States), newline, func(i int, newline string) {
		r.key(string(r.def.States[i].Name))
		r.object(2, newline, func(j int, _ string) {
			if j == 0 {
				r.key("round")
				r.out.WriteString(strconv.Itoa(r.rounds[i].entries))
				return
			}
			r.key("status")
			if word := r.word(i); word != "" {
				r.text(word)
			} else {
				r.out.WriteString("null")
			}
		})
	})
}

// word is how far a state has come; empty for one that was never entered.
func (r *renderer) word(i int) string {
	state := r.def.States[i]
	switch {
	case r.rounds[i].entries == 0:
		return ""
	case state.Name == r.task.Status && state.Role != "" && slices.Contains(r.alive, state.Role):
		return "workshop"
	case r.rounds[i].done:
		return "done"
	}
	return "pending"
}

// leaf writes a text with its variables put in; one that is a single counter is a number.
func (r *renderer) leaf(text string) {
	if name, ok := strings.CutPrefix(text, "{"); ok {
		name, ok = strings.CutSuffix(name, "}")
		if ok && slices.ContainsFunc(r.counters, func(c task.Counter) bool { return c.Name == name }) {
			r.out.WriteString(strconv.Itoa(r.counters.Get(name)))
			return
		}
	}
	r.text(workflow.Expand(text, r.values))
}

func (r *renderer) key(name string) {
	r.text(name)
	r.out.WriteString(": ")
}

func (r *renderer) text(text string) {
	encoder := json.NewEncoder(&r.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err == nil { // a text always can be encoded
		r.out.Truncate(r.out.Len() - 1) // the newline of the encoder
	}
}
