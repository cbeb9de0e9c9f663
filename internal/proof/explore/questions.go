package explore

import (
	"slices"

	"orange/internal/rules/workflow"
)

// questions are all questions about the evidence in one state: the gates of its transitions, then what its exit
// rules look for.
type questions struct {
	pieces []piece
	asked  []question
	gates  int      // how many of them are gates
	after  [][]bool // by exit rule and gate: whether what follows from the rule can depend on the gate
}

// question is a gate. The answer to it depends on those pieces alone that its parts look at.
type question struct {
	gate  []workflow.Part
	looks []int // at which pieces
}

func (f *evidenceMaker) questionsOf(leaving, rules []int, held bool) questions {
	var gates [][]workflow.Part
	for _, e := range leaving {
		gates = append(gates, f.def.Transitions[e].Gate)
	}
	q := questions{gates: len(gates)}
	for _, r := range rules {
		var parts []workflow.Part
		if p := f.def.Exit.Rules[r].HasArtifact; p != nil {
			parts = []workflow.Part{*p}
		}
		gates = append(gates, parts)
		after := make([]bool, len(leaving))
		for k, e := range leaving {
			after[k] = f.asks(r, e)
		}
		q.after = append(q.after, after)
	}
	q.pieces = piecesOf(gates, held)
	for _, gate := range gates {
		one := question{gate: gate}
		for i, p := range q.pieces {
			if slices.ContainsFunc(workflow.Leaves(gate), p.isOf) {
				one.looks = append(one.looks, i)
			}
		}
		q.asked = append(q.asked, one)
	}
	return q
}

// needsWorktree reports whether a worktree makes a difference to what can be found in a state.
func (f *evidenceMaker) needsWorktree(leaving, rules []int) bool {
	return slices.ContainsFunc(f.questionsOf(leaving, rules, false).pieces, func(p piece) bool {
		return p.fixed
	})
}

// answers are those to all questions; an exit rule that looks for nothing is not met by evidence.
func (q *questions) answers(pick []int) []bool {
	out, evidence := make([]bool, len(q.asked)), evidenceOf(q.pieces, pick)
	for i, one := range q.asked {
		out[i] = (i < q.gates || len(one.gate) > 0) && meetsGate(one.gate, evidence)
	}
	return out
}

// group is some pieces that questions look at together, and all their contents, as far as the questions distinguish
// them: the content of one group makes no difference to the questions of another.
type group struct {
	pieces []int
	asked  []int
	picks  [][]int  // the poorest first; all other pieces are empty
	says   [][]bool // the answers, for each
	vast   bool     // there are too many combinations: each question was answered on its own
}

// combinationsOf makes the evidence of a state: every combination, if these are few. If they are many, all that
// requests and deaths can distinguish: a request asks one gate, and a death the first rule that is met and the
// gates on the way that it leads. vast are the parts that still have too many combinations.
func combinationsOf(q questions) (looks []combination, vast []string) {
	groups := q.groups()
	total := 1
	for _, g := range groups {
		if g.vast {
			vast = append(vast, q.names(g)...)
		}
		total = min(total*len(g.picks), maxLooks+1)
	}
	if total <= maxLooks {
		every := make([][]int, len(groups))
		for i, g := range groups {
			every[i] = all(len(g.picks))
		}
		return q.lookAt(groups, every, nil), vast
	}
	for i := range groups { // each of them alone, all others empty
		looks = q.lookAt(groups, only(groups, i), looks)
	}
	for rule := -1; rule < len(q.asked)-q.gates; rule++ { // -1: no rule is met
		every, many := make([][]int, len(groups)), 1
		for i, g := range groups {
			every[i] = q.tellsApart(g, rule)
			many = min(many*len(every[i]), maxLooks+1)
		}
		if many > maxLooks {
			for _, g := range groups {
				vast = append(vast, q.names(g)...)
			}
			break
		}
		looks = q.lookAt(groups, every, looks)
	}
	slices.Sort(vast)
	return looks, slices.Compact(vast)
}

// groups divides the pieces: two that one question looks at belong together, and so do the words of git that
// exclude each other.
func (q *questions) groups() []group {
	of := all(len(q.pieces)) // the group of each piece, named by its first
	join := func(a, b int) {
		low, high := min(of[a], of[b]), max(of[a], of[b])
		for i := range of {
			if of[i] == high {
				of[i] = low
			}
		}
	}
	for _, one := range q.asked {
		for _, i := range one.looks {
			join(one.looks[0], i)
		}
	}
	exclude := -1
	for i, p := range q.pieces {
		if p.git != workflow.GitMoved && p.git != workflow.GitUnmoved {
			continue
		}
		if exclude >= 0 {
			join(exclude, i)
		}
		exclude = i
	}
	var out []group
	for first := range q.pieces {
		if of[first] != first {
			continue
		}
		var g group
		for i := range q.pieces {
			if of[i] == first {
				g.pieces = append(g.pieces, i)
			}
		}
		q.fill(&g)
		out = append(out, g)
	}
	return out
}

func (q *questions) fill(g *group) {
	var gates [][]workflow.Part
	for i, one := range q.asked {
		if len(one.looks) > 0 && slices.Contains(g.pieces, one.looks[0]) {
			g.asked, gates = append(g.asked, i), append(gates, one.gate)
		}
	}
	total := 1
	for _, i := range g.pieces {
		total = min(total*q.pieces[i].choices(), maxLooks+1)
	}
	picks := alone(q.pieces, gates)
	if total <= maxLooks {
		picks = product(q.pieces, g.pieces, total)
	}
	g.vast = total > maxLooks && len(g.asked) > 1 // one question has two answers, and both were tried
	for _, pick := range picks {
		if !possible(q.pieces, pick) {
			continue
		}
		says, evidence := make([]bool, 0, len(g.asked)), evidenceOf(q.pieces, pick)
		for _, i := range g.asked {
			says = append(says, meetsGate(q.asked[i].gate, evidence))
		}
		if !slices.ContainsFunc(g.says, func(have []bool) bool { return slices.Equal(have, says) }) {
			g.picks, g.says = append(g.picks, pick), append(g.says, says)
		}
	}
}

// tellsApart returns those of a group's picks with which an exit rule is the first that is met, as far as what
// follows from it can depend on them. For no rule it is at most one.
func (q *questions) tellsApart(g group, rule int) []int {
	var out []int
	var seen [][]bool
	for n, says := range g.says {
		fits := true
		var matters []bool
		for k, i := range g.asked {
			switch at := i - q.gates; {
			case at < 0:
				matters = append(matters, rule >= 0 && q.after[rule][i] && says[k])
			case at == rule:
				fits = fits && says[k]
			case at < rule || rule < 0:
				fits = fits && !says[k]
			}
		}
		if fits && !slices.ContainsFunc(seen, func(have []bool) bool { return slices.Equal(have, matters) }) {
			out, seen = append(out, n), append(seen, matters)
		}
	}
	return out
}

// lookAt adds every combination of the named picks of each group, unless its answers are known already.
func (q *questions) lookAt(groups []group, picks [][]int, looks []combination) []combination {
	total := 1
	for i := range groups {
		total *= len(picks[i])
	}
	for n := range total {
		pick, rest := make([]int, len(q.pieces)), n
		for i := len(groups) - 1; i >= 0; i-- {
			one := groups[i].picks[picks[i][rest%len(picks[i])]]
			rest /= len(picks[i])
			for _, p := range groups[i].pieces {
				pick[p] = one[p]
			}
		}
		says := q.answers(pick)
		same := func(o combination) bool {
			return slices.Equal(o.gates, says[:q.gates]) && slices.Equal(o.rules, says[q.gates:])
		}
		if !slices.ContainsFunc(looks, same) {
			looks = append(looks, combination{evidence: evidenceOf(q.pieces, pick), gates: says[:q.gates],
				rules: says[q.gates:]})
		}
	}
	return looks
}

func (q *questions) names(g group) []string {
	var out []string
	for _, i := range g.pieces {
		name := q.pieces[i].source
		if q.pieces[i].section != "" {
			name = "## " + q.pieces[i].section
		}
		out = append(out, name)
	}
	return out
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// only returns all picks of one group, and of the others the poorest.
func only(groups []group, at int) [][]int {
	out := make([][]int, len(groups))
	for i := range groups {
		out[i] = []int{0}
	}
	out[at] = all(len(groups[at].picks))
	return out
}
