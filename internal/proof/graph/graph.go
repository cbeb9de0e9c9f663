// Package graph draws a workflow: a definition comes in, the text of a picture goes out.
//
// It owns which states and edges a picture shows, and in which words. It does not own what a workflow means (workflow),
// where things are in the picture (Mermaid and Graphviz), nor where the text goes (cli).
package graph

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Forms that a picture can have.
const (
	FormMermaid = "mermaid"
	FormDOT     = "dot"
)

// Forms lists the forms that Draw knows, the usual one first.
func Forms() []string { return []string{FormMermaid, FormDOT} }

// Draw is the picture of a workflow; ok is false for a form that is not known.
// The same workflow always has the same picture.
func Draw(d *workflow.Definition, form string) (text string, ok bool) {
	switch form {
	case FormMermaid:
		return mermaid(pictureOf(d)), true
	case FormDOT:
		return dot(pictureOf(d)), true
	}
	return "", false
}

// picture is what every form shows, in the order of the file.
type picture struct {
	title string
	nodes []node
	edges []edge
}

// node is one box: a state, or a small one that means something else.
type node struct {
	text     string
	about    string // what a form shows on a closer look
	initial  bool
	terminal bool
	small    bool  // not a state: several of them, or "previous"
	members  []int // the nodes that a small one means
}

// edge is one arrow. What several transitions between two states ask for are several labels.
type edge struct {
	from, to int
	labels   []string
	auto     bool // the workflow's own move, which needs no request
}

// move is one way from a state to another, before those that look alike are drawn as one.
type move struct {
	from, to task.Status
	label    string
	auto     bool
}

// many is the number of states from which one and the same move is drawn as a single arrow.
const many = 3

// most is the number of states that a small node names.
const most = 4

// sketch is a picture in the making.
type sketch struct {
	picture
	def   *workflow.Definition
	index map[task.Status]int
}

func pictureOf(d *workflow.Definition) picture {
	s := sketch{def: d, index: map[task.Status]int{}}
	ref := d.Ref()
	ref.Name = short(clean(d.Name))
	s.title = ref.String()
	for _, state := range d.States {
		s.index[state.Name] = len(s.nodes)
		s.nodes = append(s.nodes, node{
			text: short(clean(string(state.Name))), about: clean(state.About), initial: state.Name == d.Initial,
			terminal: state.Terminal,
		})
	}
	moves := append(movesOf(d), automatic(d)...)
	crowds := crowdsOf(moves)
	drawn := map[move]bool{}
	joined := map[edgeKey]int{}
	for _, m := range moves {
		as := m.fromAnywhere()
		from := crowds[as]
		switch {
		case len(from) < many:
			s.join(joined, edge{s.at(m.from), s.at(m.to), []string{short(m.label)}, m.auto})
		case !drawn[as]:
			drawn[as] = true
			s.join(joined, edge{s.group(from, m.to), s.at(m.to), []string{short(m.label)}, m.auto})
		}
	}
	return s.picture
}

// fromAnywhere is the move, whichever state it leaves.
func (m move) fromAnywhere() move {
	m.from = ""
	return m
}

// crowdsOf are the states that one and the same move leaves.
func crowdsOf(moves []move) map[move][]task.Status {
	out := map[move][]task.Status{}
	for _, m := range moves {
		if as := m.fromAnywhere(); !slices.Contains(out[as], m.from) {
			out[as] = append(out[as], m.from)
		}
	}
	return out
}

// at is the node of a state. What is no state has a small one, such as workflow.Previous.
func (s *sketch) at(name task.Status) int {
	i, known := s.index[name]
	if !known {
		i = len(s.nodes)
		s.index[name] = i
		s.nodes = append(s.nodes, node{text: short(clean(string(name))), small: true})
	}
	return i
}

// group is a small node that means several states.
func (s *sketch) group(from []task.Status, to task.Status) int {
	inside := map[task.Status]bool{}
	names := make([]string, len(from))
	n := node{small: true}
	for i, name := range from {
		inside[name] = true
		names[i] = clean(string(name))
		n.members = append(n.members, s.at(name))
	}
	var missing []string
	for _, state := range s.def.States {
		if !state.Terminal && state.Name != to && !inside[state.Name] {
			missing = append(missing, clean(string(state.Name)))
		}
	}
	switch {
	case len(missing) == 0:
		n.text = "any state"
	case len(missing) <= 2 && len(from) > len(missing)+2:
		n.text = "any state but " + strings.Join(missing, ", ")
	case len(names) > most:
		n.text = fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	default:
		n.text = strings.Join(names, ", ")
	}
	n.text, n.about = short(n.text), strings.Join(names, ", ")
	s.nodes = append(s.nodes, n)
	return len(s.nodes) - 1
}

// edgeKey distinguishes what is drawn as different arrows.
type edgeKey struct {
	from, to int
	auto     bool
}

// join adds an edge, or its label to the one that is there.
func (s *sketch) join(joined map[edgeKey]int, e edge) {
	key := edgeKey{e.from, e.to, e.auto}
	at, there := joined[key]
	if !there {
		joined[key] = len(s.edges)
		s.edges = append(s.edges, e)
		return
	}
	if known := &s.edges[at]; !slices.Contains(known.labels, e.labels[0]) {
		known.labels = append(known.labels, e.labels[0])
	}
}
