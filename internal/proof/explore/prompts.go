package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// ask is one command in a prompt that asks for a move.
type ask struct {
	words string // as the prompt has them
	to    task.Status
	any   bool   // what the evidence supports: task next
	line  int    // within the text, from 0
	says  string // the verdict that its clause names, if that is one of the two
}

// asking finds the commands that ask for a move. A command in one line with "person" is for a person.
var asking = regexp.MustCompile(`orange task (update[^\n` + "`" +
	`]*?--status[ =]"?([A-Za-z0-9_-]+)"?|next|complete|stuck)\b`)

// forPeople finds lines about what people do.
var forPeople = regexp.MustCompile(`(?i)\b(person|human|only they)\b`)

func asksOf(def *workflow.Definition, text string) []ask {
	var out []ask
	for n, line := range strings.Split(text, "\n") {
		for _, m := range asking.FindAllStringSubmatchIndex(line, -1) {
			clause := line[:m[0]]
			if forPeople.MatchString(clause[strings.LastIndexAny(clause, ".;:")+1:]) {
				continue
			}
			a := ask{words: line[m[0]:m[1]], line: n, says: verdictIn(clause[clauseStart(clause):])}
			switch command := line[m[2]:m[3]]; command {
			case "next":
				a.any = true
			case workflow.MoveComplete, workflow.MoveStuck:
				a.to, _ = def.Move(command)
			default:
				a.to = task.Status(line[m[4]:m[5]])
			}
			out = append(out, a)
		}
	}
	return out
}

// clauseStart is where the clause begins that ends with a command: behind a full stop, or behind the command before it.
func clauseStart(before string) int {
	start := strings.LastIndexAny(before, ".;") + 1
	if all := asking.FindAllStringIndex(before, -1); len(all) > 0 {
		start = max(start, all[len(all)-1][1])
	}
	return start
}

// verdictIn is the one verdict that a clause names; empty where it names none, or both.
func verdictIn(clause string) string {
	pass, fail := verdicts.MatchString(clause), refusals.MatchString(clause)
	switch {
	case pass && !fail:
		return "PASS"
	case fail && !pass:
		return "FAIL"
	}
	return ""
}

// verdicts and refusals find the words of a verdict that accepts the work, and of one that refuses it.
var (
	verdicts = regexp.MustCompile(`\bPASS\b`)
	refusals = regexp.MustCompile(`\bFAIL\b`)
)

// otherVerdict reports whether each way of a command asks for the other verdict than the one that its clause names.
func otherVerdict(ways []*workflow.Transition, says string) bool {
	return says != "" && !slices.ContainsFunc(ways, func(edge *workflow.Transition) bool {
		wanted := workflow.Verdicts(workflow.Certain(edge.Gate))
		return len(wanted) == 0 || slices.ContainsFunc(wanted, func(p workflow.Part) bool {
			return p.Verdict == "" || p.Verdict == says
		})
	})
}

// reader is an agent that reads a prompt: its role, and the states in which it may begin.
type reader struct {
	prompt string
	role   string
	from   []task.Status
	told   bool // it lives already, and knows what it is about
}

// readersOfPrompts are the agents that each prompt is for.
func (w *walk) readersOfPrompts() []reader {
	var out []reader
	add := func(prompt, role string, at task.Status, told bool) {
		if prompt == "" {
			return
		}
		i := slices.IndexFunc(out, func(r reader) bool { return r.prompt == prompt && r.role == role })
		if i < 0 {
			i, out = len(out), append(out, reader{prompt: prompt, role: role, told: told})
		}
		out[i].told = out[i].told && told
		if !slices.Contains(out[i].from, at) {
			out[i].from = append(out[i].from, at)
		}
	}
	eachStart(w.def, func(state workflow.State, h task.Hook, _ yaml.Pos) {
		role := workflow.RoleIn(state, h)
		if h.Action == action.NotifyWorker && state.Role != "" && state.Role != task.RoleReviewer {
			role = state.Role // the role that does the work
		}
		add(h.Prompt, role, state.Name, h.Action == action.NotifyWorker)
	})
	for _, s := range w.def.States {
		add(s.RespawnPrompt.Name, s.Role, s.Name, false)
	}
	return out
}

// judgePrompts reports prompts that ask for what their agent may not do, or do not name what it has to write for it.
func (w *walk) judgePrompts() {
	for _, p := range w.readersOfPrompts() {
		at := slices.IndexFunc(w.def.Prompts, func(have workflow.Prompt) bool { return have.Name == p.prompt })
		if at < 0 {
			continue
		}
		prompt := w.def.Prompts[at]
		asks := asksOf(w.def, prompt.Text)
		reach := w.reach(p.role, asks, p.from)
		for _, a := range asks {
			w.judgeAsk(p, prompt, a, reach)
		}
		for _, from := range p.from {
			w.judgeStart(p, prompt, asks, from)
		}
	}
}

// placeOfLine is the place of a prompt's line, which follows the line of its name in the usual form.
func placeOfLine(p workflow.Prompt, line int) yaml.Pos {
	if strings.Count(p.Text, "\n") < 2 { // it is next to its name
		return p.Pos
	}
	return yaml.Pos{Line: p.Pos.Line + 1 + line, Col: p.Pos.Col}
}

func (w *walk) judgeAsk(p reader, prompt workflow.Prompt, a ask, reach []task.Status) {
	ways := w.answers(p.role, a, reach)
	where := "in " + quoteAll(p.from)
	if len(ways) == 0 {
		w.report(PromptsLegal, flaw{
			at: w.firstOf(p.role, p.from...), pos: placeOfLine(prompt, a.line),
			message: fmt.Sprintf("the prompt %q has the %s that begins %s run %q, and that is no move "+
				"which it may make from there on", prompt.Name, p.role, where, a.words),
			suggestion: "name a state that a transition leads to with this role in its by, or leave it to a " +
				"person in words",
		})
		return
	}
	if a.any {
		return
	}
	if otherVerdict(ways, a.says) {
		w.report(PromptsLegal, flaw{
			at: w.firstOf(p.role, p.from...), pos: placeOfLine(prompt, a.line),
			message: fmt.Sprintf("the prompt %q has the %s write %s and run %q, and that move asks for the other "+
				"verdict", prompt.Name, p.role, a.says, a.words),
			suggestion: "name the verdict that the move asks for, or the move that goes with the verdict",
		})
		return
	}
	var lacks string
	for _, edge := range ways {
		if lacks = lacking(edge.Gate, prompt.Text, p.told); lacks == "" {
			return
		}
	}
	w.report(PromptsLegal, flaw{
		at: w.firstOf(p.role, p.from...), pos: placeOfLine(prompt, a.line),
		message: fmt.Sprintf("the prompt %q has the %s run %q, and does not name what that move asks for: %s",
			prompt.Name, p.role, a.words, lacks),
		suggestion: "say in the prompt what has to be written, and how",
	})
}

// judgeStart reports a state in which the agent begins and can do none of what its prompt asks for.
func (w *walk) judgeStart(p reader, prompt workflow.Prompt, asks []ask, from task.Status) {
	if w.def.WaitsForPerson(from) {
		return
	}
	if state, _ := w.def.State(from); len(asks) == 0 && !p.told && state.Role == p.role && !w.endMoves(from, prompt) &&
		len(w.answers(p.role, ask{any: true}, []task.Status{from})) > 0 {
		w.report(PromptsLegal, flaw{
			at: w.firstOf(p.role, from), pos: prompt.Pos, mild: true,
			message: fmt.Sprintf("the prompt %q has the %s that begins in %q ask for no move: the task "+
				"goes on when it ends, or by a person", prompt.Name, p.role, from),
			suggestion: "say in the prompt which move to ask for, and with which command",
		})
	}
	if len(asks) == 0 {
		return
	}
	reach := w.reach(p.role, asks, []task.Status{from})
	if slices.ContainsFunc(asks, func(a ask) bool { return len(w.answers(p.role, a, reach)) > 0 }) {
		return
	}
	w.report(PromptsLegal, flaw{
		at: w.firstOf(p.role, from), pos: prompt.Pos,
		message: fmt.Sprintf("the %s that begins in %q with the prompt %q can make none of the moves that "+
			"it asks for", p.role, from, prompt.Name),
		suggestion: "give that state a prompt of its own",
	})
}

// endMoves reports whether the end of an agent that does what a prompt says moves the task on: it needs to ask for
// nothing.
func (w *walk) endMoves(from task.Status, prompt workflow.Prompt) bool {
	return slices.ContainsFunc(w.rules[w.place(from)], func(n int) bool {
		artifact := w.def.Exit.Rules[n].HasArtifact
		return artifact != nil && lacking([]workflow.Part{*artifact}, prompt.Text, false) == ""
	})
}

// reach are the states to which a task comes while an agent does what its prompt asks for: by the moves that the
// prompt names, where it is the agent's turn, and by those that others make.
func (w *walk) reach(role string, asks []ask, from []task.Status) []task.Status {
	out := slices.Clone(from)
	add := func(to task.Status) {
		if to != "" && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	for i := 0; i < len(out); i++ { // out grows meanwhile
		state, _ := w.def.State(out[i])
		add(state.Timeout.Then)
		add(state.Refused.Then)
		for _, rule := range state.SendBack {
			add(rule.Then)
		}
		for n := range w.def.Transitions {
			edge := &w.def.Transitions[n]
			own := state.Role == role && mayAsk(edge, role)
			asked := func(a ask) bool { return slices.Contains(w.answers(role, a, out[i:i+1]), edge) }
			if edge.From == out[i] && (!own || slices.ContainsFunc(asks, asked)) {
				add(edge.To)
			}
		}
	}
	return out
}

func mayAsk(edge *workflow.Transition, role string) bool {
	return len(edge.By) == 0 || slices.Contains(edge.By, role)
}

// answers are the moves that a command can mean in one of the states.
func (w *walk) answers(role string, a ask, reach []task.Status) []*workflow.Transition {
	var out []*workflow.Transition
	for n := range w.def.Transitions {
		edge := &w.def.Transitions[n]
		back := a.to == workflow.Previous && slices.Contains(edge.CameFrom, edge.To)
		if slices.Contains(reach, edge.From) && mayAsk(edge, role) && (a.any || edge.To == a.to || back) {
			out = append(out, edge)
		}
	}
	return out
}

// firstOf is the first configuration in which an agent of the role lives in one of the states; -1 if there is none.
func (w *walk) firstOf(role string, states ...task.Status) int32 {
	r := slices.Index(w.roles, role)
	return int32(slices.IndexFunc(w.configs, func(c config) bool {
		return slices.Contains(states, w.def.States[c.status].Name) && r >= 0 && c.agent(r) == alive
	}))
}

// lacking is what of a gate a prompt does not name; empty if it names all. An agent that already lives knows the
// forms.
func lacking(gate []workflow.Part, text string, told bool) string {
	text = strings.ToLower(text)
	for _, p := range gate {
		switch {
		case len(p.All) > 0:
			if lacks := lacking(p.All, text, told); lacks != "" {
				return lacks
			}
		case len(p.Any) > 0:
			lacks := ""
			for _, one := range p.Any {
				if lacks = lacking([]workflow.Part{one}, text, told); lacks == "" {
					break
				}
			}
			if lacks != "" {
				return lacks
			}
		case p.Section != "":
			if !names(text, "## "+document.Key(p.Section)) {
				return fmt.Sprintf("the section %q", p.Section)
			}
			if p.Verdict != "" && !told && !strings.Contains(text, strings.ToLower(p.Verdict)) {
				return "the verdict " + p.Verdict
			}
			named := func(label string) bool { return strings.Contains(text, strings.ToLower(label)) }
			if len(p.Fields) > 0 && !told && !slices.ContainsFunc(p.Fields, named) {
				return "one of the labels " + strings.Join(p.Fields, ", ")
			}
		case p.File != "" && !strings.Contains(text, strings.ToLower(p.File)):
			return "the file " + p.File
		}
	}
	return ""
}

// names reports whether a text has a heading as whole words: "## Ownership" is not "## Owner".
func names(text, heading string) bool {
	for _, after := range strings.Split(text, heading)[1:] {
		next, _ := utf8.DecodeRuneInString(after)
		if after == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '-' && next != '_' {
			return true
		}
	}
	return false
}

func quoteAll(names []task.Status) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, ", ")
}
