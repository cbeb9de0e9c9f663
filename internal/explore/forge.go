package explore

import (
	"slices"
	"strconv"
	"strings"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/task"
	"orange/internal/workflow"
)

// maxLooks is the number of combinations of evidence that are made for one state.
const maxLooks = 1024

// look is one combination of evidence, with the questions that it answers with yes.
type look struct {
	evidence decide.Evidence
	gates    []bool // by the place of the transition among those that leave the state
	rules    []bool // by the place of the exit rule among those of the state
}

// forge makes evidence: for each state all combinations that its gates and exit rules can tell apart.
type forge struct {
	def    *workflow.Definition
	looks  [][2][]look // by state, without a workspace and with one
	deaths [][2][]int  // those of them that a death can tell apart
	coarse []string
}

func newForge(def *workflow.Definition, leaving [][]int, rules [][]int) *forge {
	f := &forge{def: def, looks: make([][2][]look, len(def.States)), deaths: make([][2][]int, len(def.States))}
	for s := range def.States {
		var gates [][]workflow.Part
		for _, e := range leaving[s] {
			gates = append(gates, def.Transitions[e].Gate)
		}
		var artifacts [][]workflow.Part
		for _, r := range rules[s] {
			var parts []workflow.Part
			if p := def.Exit.Rules[r].HasArtifact; p != nil {
				parts = []workflow.Part{*p}
			}
			artifacts = append(artifacts, parts)
		}
		for held := range 2 {
			if held == 1 && !needsWorktree(gates, artifacts) {
				f.looks[s][1], f.deaths[s][1] = f.looks[s][0], f.deaths[s][0]
				continue
			}
			f.looks[s][held] = f.looksOf(string(def.States[s].Name), gates, artifacts, held == 1)
			f.deaths[s][held] = f.deathsOf(f.looks[s][held], leaving[s], rules[s])
		}
	}
	slices.Sort(f.coarse)
	f.coarse = slices.Compact(f.coarse)
	return f
}

// deathsOf are the looks that a death can tell apart: the first rule that is met counts, and the gates on the way that it leads.
func (f *forge) deathsOf(looks []look, leaving, rules []int) []int {
	type view struct {
		rule  int
		gates string
	}
	seen := map[view]bool{}
	var out []int
	for i, l := range looks {
		v := view{rule: slices.Index(l.rules, true)}
		if v.rule >= 0 {
			rule := &f.def.Exit.Rules[rules[v.rule]]
			for k, n := range leaving {
				to := f.def.Transitions[n].To
				leads := rule.Then == to || slices.ContainsFunc(rule.ThenWhen, func(b workflow.Branch) bool { return b.Then == to })
				if (leads || restarts(&f.def.Transitions[n])) && l.gates[k] {
					v.gates += strconv.Itoa(k) + " "
				}
			}
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, i)
		}
	}
	return out
}

// restarts says whether an edge starts its state anew because the tip moved: an exit rule may take it instead of its own move.
func restarts(edge *workflow.Transition) bool {
	return edge.From == edge.To && workflow.Asks(edge.Gate, workflow.GitMoved)
}

// piece is something that a combination chooses one of: the text of a section, or whether something else holds.
type piece struct {
	section string // its heading; empty where it is a fact
	texts   []string
	key     string // of the fact
	source  string
	git     string // the word that it asks git for
	fixed   bool   // it cannot hold: there is no worktree to look at
}

func (p piece) choices() int {
	if p.fixed {
		return 1
	}
	if p.section == "" {
		return 2
	}
	return 1 + len(p.texts)
}

// isOf says whether a part of a gate looks at the piece.
func (p piece) isOf(part workflow.Part) bool {
	if part.Section == "" {
		return p.section == "" && p.key == part.Key()
	}
	return p.section == document.Key(part.Section)
}

func (f *forge) looksOf(state string, gates, artifacts [][]workflow.Part, held bool) []look {
	pieces := piecesOf(slices.Concat(gates, artifacts), held)
	total := 1
	for _, p := range pieces {
		if total *= p.choices(); total > maxLooks {
			break
		}
	}
	var picks [][]int
	if total <= maxLooks {
		picks = product(pieces, total)
	} else {
		f.coarse = append(f.coarse, state)
		picks = alone(pieces, slices.Concat(gates, artifacts))
	}
	asks := make([]question, 0, len(gates)+len(artifacts))
	for _, g := range slices.Concat(gates, artifacts) {
		asks = append(asks, questionOf(g, pieces))
	}
	var out []look
	for _, pick := range picks {
		if !possible(pieces, pick) {
			continue
		}
		l := look{evidence: evidenceOf(pieces, pick)}
		for i := range asks {
			holds := asks[i].holds(pick, l.evidence)
			if i < len(gates) {
				l.gates = append(l.gates, holds)
			} else {
				l.rules = append(l.rules, len(asks[i].gate) > 0 && holds)
			}
		}
		if !slices.ContainsFunc(out, func(o look) bool { return slices.Equal(o.gates, l.gates) && slices.Equal(o.rules, l.rules) }) {
			out = append(out, l)
		}
	}
	return out
}

// needsWorktree says whether a worktree makes a difference to what can be found.
func needsWorktree(lists ...[][]workflow.Part) bool {
	for _, p := range piecesOf(slices.Concat(lists...), false) {
		if p.fixed {
			return true
		}
	}
	return false
}

// question is a gate with the answers to it that are known. They depend on those pieces alone that its parts look at.
type question struct {
	gate  []workflow.Part
	looks []int // at which pieces
	known map[string]bool
}

func questionOf(gate []workflow.Part, pieces []piece) question {
	q := question{gate: gate, known: map[string]bool{}}
	for i, p := range pieces {
		if slices.ContainsFunc(workflow.Leaves(gate), p.isOf) {
			q.looks = append(q.looks, i)
		}
	}
	return q
}

func (q question) holds(pick []int, evidence decide.Evidence) bool {
	var key []byte
	for _, i := range q.looks {
		key = append(strconv.AppendInt(key, int64(pick[i]), 10), ' ')
	}
	holds, known := q.known[string(key)]
	if !known {
		holds = met(q.gate, evidence)
		q.known[string(key)] = holds
	}
	return holds
}

// product is every way to choose, the poorest first.
func product(pieces []piece, total int) [][]int {
	out := make([][]int, 0, total)
	for n := range total {
		pick, rest := make([]int, len(pieces)), n
		for i := len(pieces) - 1; i >= 0; i-- {
			pick[i], rest = rest%pieces[i].choices(), rest/pieces[i].choices()
		}
		out = append(out, pick)
	}
	return out
}

// alone is nothing, everything, and for each gate what its parts ask for.
func alone(pieces []piece, gates [][]workflow.Part) [][]int {
	full := make([]int, len(pieces))
	for i, p := range pieces {
		full[i] = p.choices() - 1
	}
	out := [][]int{make([]int, len(pieces)), full}
	for _, gate := range gates {
		pick := make([]int, len(pieces))
		for _, leaf := range workflow.Leaves(gate) {
			for i, p := range pieces {
				switch {
				case !p.isOf(leaf):
				case p.section == "":
					pick[i] = p.choices() - 1
				default:
					pick[i] = 1 + slices.Index(p.texts, textFor(leaf))
				}
			}
		}
		out = append(out, pick)
	}
	return out
}

// piecesOf are the pieces that parts look at, in the order in which they are met.
func piecesOf(gates [][]workflow.Part, held bool) []piece {
	var out []piece
	for _, gate := range gates {
		for _, p := range workflow.Leaves(gate) {
			if p.Section == "" {
				key := p.Key()
				if !slices.ContainsFunc(out, func(have piece) bool { return have.key == key }) {
					source := strings.TrimSpace(strings.Join([]string{p.File, p.Glob, p.Check, p.Git}, " "))
					out = append(out, piece{key: key, source: source, git: p.Git, fixed: !held && (p.Check != "" || p.Git != "")})
				}
				continue
			}
			name := document.Key(p.Section)
			at := slices.IndexFunc(out, func(have piece) bool { return have.section == name })
			if at < 0 {
				at, out = len(out), append(out, piece{section: name})
			}
			if text := textFor(p); !slices.Contains(out[at].texts, text) {
				out[at].texts = append(out[at].texts, text)
			}
		}
	}
	for i := range out {
		out[i].texts = together(out[i].texts)
	}
	return out
}

// textFor is a text that meets a part of a gate, and as little beyond it as can be.
func textFor(p workflow.Part) string {
	var lines []string
	if p.Verdict != "" {
		lines = append(lines, "Verdict: "+p.Verdict)
	}
	for _, label := range p.Fields {
		lines = append(lines, label+": something")
	}
	if len(lines) == 0 {
		lines = []string{"Something."}
	}
	return strings.Join(lines, "\n")
}

// together adds, for each verdict and for none, a text that has all labels which any of the texts has.
func together(texts []string) []string {
	var verdicts, labels []string
	for _, text := range texts {
		verdict := ""
		for line := range strings.SplitSeq(text, "\n") {
			switch {
			case strings.HasPrefix(line, "Verdict: "):
				verdict = line
			case strings.HasSuffix(line, ": something") && !slices.Contains(labels, line):
				labels = append(labels, line)
			}
		}
		if !slices.Contains(verdicts, verdict) {
			verdicts = append(verdicts, verdict)
		}
	}
	if len(labels) == 0 {
		return texts
	}
	for _, v := range verdicts {
		all := strings.Join(append(slices.DeleteFunc([]string{v}, func(s string) bool { return s == "" }), labels...), "\n")
		if !slices.Contains(texts, all) {
			texts = append(texts, all)
		}
	}
	return texts
}

// possible says whether a choice is one that can be found: a tip that is where it was is none that moved.
func possible(pieces []piece, pick []int) bool {
	return !chosen(pieces, pick, workflow.GitMoved) || !chosen(pieces, pick, workflow.GitUnmoved)
}

// chosen says whether git answers a word with yes.
func chosen(pieces []piece, pick []int, git string) bool {
	for i, p := range pieces {
		if p.git == git && pick[i] == 1 {
			return true
		}
	}
	return false
}

func evidenceOf(pieces []piece, pick []int) decide.Evidence {
	var text strings.Builder
	facts := map[string]decide.Fact{}
	moved := chosen(pieces, pick, workflow.GitMoved)
	for i, p := range pieces {
		switch {
		case p.section == "":
			fact := decide.Fact{Source: p.source, Found: "something else", Moved: moved && p.git == workflow.GitUnmoved}
			if pick[i] == 1 {
				fact = decide.Fact{Source: p.source, Holds: true, Digest: p.key, Text: p.key}
			}
			facts[p.key] = fact
		case pick[i] > 0:
			text.WriteString("## " + p.section + "\n\n" + p.texts[pick[i]-1] + "\n\n")
		}
	}
	return decide.Evidence{Document: document.Read([]byte(text.String())), Facts: facts}
}

// met says whether a gate is met by evidence, as decide sees it: it asks for the one move of a workflow that has no other.
func met(gate []workflow.Part, evidence decide.Evidence) bool {
	const here, there task.Status = "here", "there"
	def := &workflow.Definition{
		States:      []workflow.State{{Name: here}, {Name: there}},
		Transitions: []workflow.Transition{{From: here, To: there, Gate: gate}},
	}
	_, err := decide.Transition(def, task.Task{Status: here, Live: true}, evidence,
		task.Request{To: there, Actor: task.Actor{Rule: true}}, born())
	return err == nil
}
