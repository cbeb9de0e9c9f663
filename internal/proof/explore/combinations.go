package explore

import (
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// maxLooks is the largest number of combinations of evidence that Orange makes for one state.
const maxLooks = 1024

// TooMany is a state whose parts have more combinations than Orange tries: nothing is proved of it.
type TooMany struct {
	State string   `json:"state"`
	Parts []string `json:"parts"` // that gates look at together
}

// combination is one combination of evidence, with the questions that it answers with yes.
type combination struct {
	evidence decide.Evidence
	gates    []bool // by the place of the transition among those that leave the state
	rules    []bool // by the place of the exit rule among those of the state
}

// evidenceMaker makes evidence: for each state all combinations that its gates and exit rules can tell apart.
type evidenceMaker struct {
	def    *workflow.Definition
	looks  [][2][]combination // by state, without a workspace and with one
	deaths [][2][]int         // those of them that a death can tell apart
	vast   []TooMany
}

func newEvidenceMaker(def *workflow.Definition, leaving [][]int, rules [][]int) *evidenceMaker {
	f := &evidenceMaker{
		def: def, looks: make([][2][]combination, len(def.States)), deaths: make([][2][]int, len(def.States)),
	}
	for s := range def.States {
		for held := range 2 {
			if held == 1 && !f.needsWorktree(leaving[s], rules[s]) {
				f.looks[s][1], f.deaths[s][1] = f.looks[s][0], f.deaths[s][0]
				continue
			}
			looks, vast := combinationsOf(f.questionsOf(leaving[s], rules[s], held == 1))
			name := string(def.States[s].Name)
			known := slices.ContainsFunc(f.vast, func(v TooMany) bool { return v.State == name })
			if f.looks[s][held] = looks; len(vast) > 0 && !known {
				f.vast = append(f.vast, TooMany{name, vast})
			}
			f.deaths[s][held] = f.deathsOf(looks, leaving[s], rules[s])
		}
	}
	return f
}

// deathsOf returns the looks that a death can distinguish: what counts is the first rule that is met, and the gates
// on the way that it leads.
func (f *evidenceMaker) deathsOf(looks []combination, leaving, rules []int) []int {
	type view struct {
		rule  int
		gates string
	}
	seen := map[view]bool{}
	var out []int
	for i, l := range looks {
		v := view{rule: slices.Index(l.rules, true)}
		if v.rule >= 0 {
			for k, n := range leaving {
				if l.gates[k] && f.asks(rules[v.rule], n) {
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

// asks reports whether what follows from an exit rule can depend on the gate of a transition.
func (f *evidenceMaker) asks(rule, edge int) bool {
	r, t := &f.def.Exit.Rules[rule], &f.def.Transitions[edge]
	return restarts(t) || slices.Contains(r.LeadsTo(), t.To)
}

// restarts reports whether an edge starts its state again because the tip moved: an exit rule may take it instead of
// its own move.
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

// isOf reports whether a part of a gate looks at the piece.
func (p piece) isOf(part workflow.Part) bool {
	if part.Section == "" {
		return p.section == "" && p.key == part.Key()
	}
	return p.section == document.Key(part.Section)
}

// product returns every choice from some of the pieces, the poorest first.
func product(pieces []piece, some []int, total int) [][]int {
	out := make([][]int, 0, total)
	for n := range total {
		pick, rest := make([]int, len(pieces)), n
		for k := len(some) - 1; k >= 0; k-- {
			i := some[k]
			pick[i], rest = rest%pieces[i].choices(), rest/pieces[i].choices()
		}
		out = append(out, pick)
	}
	return out
}

// alone returns nothing, and for each gate what its parts ask for.
func alone(pieces []piece, gates [][]workflow.Part) [][]int {
	out := [][]int{make([]int, len(pieces))}
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

// piecesOf returns the pieces that parts look at, in order of first use.
func piecesOf(gates [][]workflow.Part, held bool) []piece {
	var out []piece
	for _, gate := range gates {
		for _, p := range workflow.Leaves(gate) {
			if p.Section == "" {
				key := p.Key()
				if !slices.ContainsFunc(out, func(have piece) bool { return have.key == key }) {
					source := strings.TrimSpace(strings.Join([]string{p.File, p.Glob, p.Check, p.Git}, " "))
					out = append(out, piece{key: key, source: source, git: p.Git, fixed: !held &&
						(p.Check != "" || p.Git != "")})
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

// textFor is a text that meets a part of a gate, with as little else as possible.
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
		all := strings.Join(append(slices.DeleteFunc([]string{v}, func(s string) bool { return s == "" }),
			labels...), "\n")
		if !slices.Contains(texts, all) {
			texts = append(texts, all)
		}
	}
	return texts
}

// possible reports whether a choice can occur: a tip that has not moved and one that has exclude each other.
func possible(pieces []piece, pick []int) bool {
	return !saysYes(pieces, pick, workflow.GitMoved) || !saysYes(pieces, pick, workflow.GitUnmoved)
}

// saysYes reports whether git answers a word with yes.
func saysYes(pieces []piece, pick []int, git string) bool {
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
	moved := saysYes(pieces, pick, workflow.GitMoved)
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
	return decide.Evidence{Document: document.Read([]byte(text.String())), Facts: facts,
		Subject: task.Subject{Commit: presentCommit}}
}

// meetsGate reports whether evidence meets a gate. It asks decide for the one move of a workflow that has no other.
func meetsGate(gate []workflow.Part, evidence decide.Evidence) bool {
	const here, there task.Status = "here", "there"
	def := &workflow.Definition{
		States:      []workflow.State{{Name: here}, {Name: there}},
		Transitions: []workflow.Transition{{From: here, To: there, Gate: gate}},
	}
	_, err := decide.Transition(def, task.Task{Status: here, Live: true}, evidence,
		task.Request{To: there, Actor: task.Actor{Rule: true}}, anyTime())
	return err == nil
}
