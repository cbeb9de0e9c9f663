// Package yaml reads YAML files with the place of every value, and tells all that is wrong with one at once.
//
// It owns reading and the wording of what was found and expected.
// It does not own what any file means: workflow, harness and home say which keys there are.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Node is one value of a YAML file.
type Node = yaml.Node

// SequenceNode is the kind of a list.
const SequenceNode = yaml.SequenceNode

// Pos is a place in a file. Lines and columns count from 1; a zero Pos means "filled in, not written".
type Pos struct {
	Line int
	Col  int
}

// Bounds of one reading, far above what a person writes. They keep a short file from costing minutes:
// aliases of aliases multiply its values, and a mistake that a file repeats is reported once for each pair.
const (
	maxProblems = 100
	maxValues   = 200_000
)

// Reader walks YAML nodes and collects every problem instead of stopping at the first; beyond a hundred it says
// that there are more.
type Reader struct {
	File     string
	lines    []string // of the file, for what is shown next to a problem
	problems Problems
	more     bool // there were more problems
	values   int  // read so far, those behind aliases each time
}

// Err is all that was found wrong, sorted by place; nil when nothing was.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	r.problems.sort()
	if last := r.problems[len(r.problems)-1]; r.more {
		last.Rule, last.Source, last.Message = "too-many", "",
			fmt.Sprintf("found more problems than the %d above, expected none; correct those first", maxProblems)
		return append(slices.Clip(r.problems), last)
	}
	return r.problems
}

// Full reports whether no further problem would be kept: what is looked for at great cost need not be.
func (r *Reader) Full() bool { return r.more }

// spend reports whether so many values more may be read.
func (r *Reader) spend(at *Node, values int) bool {
	if r.values > maxValues {
		return false // reported already
	}
	r.values += values
	if r.values > maxValues {
		r.Problem(PosOf(at), "too-long",
			"found more than %d values, those behind aliases counted each time, expected fewer", maxValues)
		return false
	}
	return true
}

// Problem notes one thing that is wrong, under the short name of the rule that it breaks.
func (r *Reader) Problem(at Pos, rule, format string, args ...any) {
	one := Problem{File: r.File, Line: at.Line, Col: at.Col, Rule: rule, Message: fmt.Sprintf(format, args...),
		Source: r.line(at.Line)}
	if slices.Contains(r.problems, one) {
		return // report a line once, however many aliases name it
	}
	if len(r.problems) >= maxProblems {
		r.more = true
		return
	}
	r.problems = append(r.problems, one)
}

// PosOf is where a node begins.
func PosOf(n *Node) Pos { return Pos{Line: n.Line, Col: n.Column} }

// Document reads the one YAML document of a file; nil when there is none that can be read.
func (r *Reader) Document(text []byte) *Node {
	r.lines = lineEnd.Split(string(text), -1)
	if at, found := firstRefused(string(text)); found != "" {
		r.Problem(at, "syntax", "found %s, expected plain text", found)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.syntax(err)
		return nil
	}
	var root, second Node
	switch err := loader.Load(&root); {
	case errors.Is(err, io.EOF):
		r.Problem(Pos{1, 1}, "syntax", "found an empty file, expected some keys")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
	default:
		r.Problem(Pos{max(second.Line, 1), max(second.Column, 1)}, "syntax",
			"found a second YAML document, expected one a file")
	}
	if len(root.Content) == 0 {
		r.Problem(Pos{1, 1}, "syntax", "found nothing, expected some keys")
		return nil
	}
	return root.Content[0]
}

func resolve(n *Node) *Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// kindOf names what a node is, in the terms of the file's author.
func kindOf(n *Node) string {
	n = resolve(n)
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

// IsMapping reports whether a value has keys, where a file may say something shortly or at length.
func (r *Reader) IsMapping(n *Node) bool { return resolve(n).Kind == yaml.MappingNode }

// IsList reports whether a value can be read as a list; nothing at all is an empty one.
func (r *Reader) IsList(n *Node) bool {
	node := resolve(n)
	return node.Kind == yaml.SequenceNode || node.Tag == "!!null"
}

// Key is one allowed key of a mapping with what reads its value.
type Key struct {
	Name     string
	Required bool
	Read     func(value *Node)
}

// Must is a key that has to be there.
func Must(name string, read func(value *Node)) Key {
	return Key{Name: name, Required: true, Read: read}
}

// May is a key that can be left out.
func May(name string, read func(value *Node)) Key { return Key{Name: name, Read: read} }

// Mapping reads a mapping whose keys are known. Unknown, repeated and missing keys are problems.
func (r *Reader) Mapping(n *Node, what string, keys []Key) bool {
	node := resolve(n)
	if node.Kind != yaml.MappingNode {
		r.Problem(PosOf(n), "type", "found %s as %s, expected a mapping", kindOf(n), what)
		return false
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	seen := map[string]bool{}
	r.Pairs(node, what, func(name, value *Node) {
		seen[name.Value] = true
		for _, k := range keys {
			if k.Name == name.Value {
				k.Read(value)
				return
			}
		}
		r.Problem(PosOf(name), "unknown-key", "found the unknown key %q in %s, %s", name.Value, what,
			Expected(name.Value, names))
	})
	for _, k := range keys {
		if k.Required && !seen[k.Name] {
			r.Problem(PosOf(node), "missing-key", "found no %q in %s, expected it", k.Name, what)
		}
	}
	return true
}

// Pairs visits the keys and values of a mapping in the file's order, each key once.
func (r *Reader) Pairs(n *Node, what string, visit func(name, value *Node)) {
	node := resolve(n)
	if node.Kind != yaml.MappingNode {
		r.Problem(PosOf(n), "type", "found %s as %s, expected a mapping", kindOf(n), what)
		return
	}
	if !r.spend(n, len(node.Content)) {
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		if name.Kind != yaml.ScalarNode || name.Value == "" {
			r.Problem(PosOf(name), "type", "found %s as a key of %s, expected a name", kindOf(name), what)
			continue
		}
		if name.Tag == "!!merge" {
			r.Problem(PosOf(name), "unknown-key", "found << in %s, expected its keys: nothing is merged here; "+
				"write them out, or give the whole value with *name", what)
			continue
		}
		if line, twice := first[name.Value]; twice {
			r.Problem(PosOf(name), "duplicate",
				"found %q a second time in %s, expected it once (first on line %d)", name.Value, what, line)
			continue
		}
		first[name.Value] = name.Line
		visit(name, value)
	}
}

// List visits the elements of a list. Nothing at all counts as an empty list.
func (r *Reader) List(n *Node, what string, visit func(*Node)) {
	node := resolve(n)
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		if at, comment := r.swallowedComment(n); strings.HasPrefix(comment, "##") {
			r.Problem(at, "type",
				"found a comment as %s, expected a list: what begins with # belongs in quotes: %q", what, comment)
		}
		return
	}
	if node.Kind != yaml.SequenceNode {
		r.Problem(PosOf(n), "type", "found %s as %s, expected a list", kindOf(n), what)
		return
	}
	if !r.spend(n, len(node.Content)) {
		return
	}
	for _, element := range node.Content {
		visit(element)
	}
}

// OneOrMore visits a single value, or each of a list.
func (r *Reader) OneOrMore(n *Node, what string, visit func(*Node)) {
	if resolve(n).Kind == yaml.SequenceNode {
		r.List(n, what, visit)
		return
	}
	visit(n)
}

// Text reads a plain value.
func (r *Reader) Text(n *Node, what string) string {
	node := resolve(n)
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		if at, comment := r.swallowedComment(n); comment != "" {
			r.Problem(at, "type",
				"found a comment as %s, expected text: what begins with # belongs in quotes: %q", what, comment)
			return ""
		}
		r.Problem(PosOf(n), "type", "found %s as %s, expected text", kindOf(n), what)
		return ""
	}
	return node.Value
}

// Name reads a plain value that must not be empty.
func (r *Reader) Name(n *Node, what string) string {
	text := r.Text(n, what)
	if node := resolve(n); text == "" && node.Kind == yaml.ScalarNode && node.Tag != "!!null" {
		r.Problem(PosOf(n), "value", "found empty text as %s, expected a name", what)
	}
	return text
}

// OneOf reads one of a few words; empty when it was another.
func (r *Reader) OneOf(n *Node, what string, allowed ...string) string {
	found := r.Name(n, what)
	if slices.Contains(allowed, found) {
		return found
	}
	if found != "" {
		r.Problem(PosOf(n), "value", "found %q as %s, %s", found, what, Expected(found, allowed))
	}
	return ""
}

// Boolean reads true or false.
func (r *Reader) Boolean(n *Node, what string) bool {
	node := resolve(n)
	if node.Kind != yaml.ScalarNode || node.Tag != "!!bool" {
		r.Problem(PosOf(n), "type", "found %s as %s, expected true or false", kindOf(n), what)
		return false
	}
	return strings.EqualFold(node.Value, "true")
}

// Integer reads a whole number within bounds; the least when it was none.
func (r *Reader) Integer(n *Node, what string, least, most int) int {
	node := resolve(n)
	value, err := strconv.Atoi(node.Value)
	if node.Kind != yaml.ScalarNode || node.Tag != "!!int" || err != nil {
		r.Problem(PosOf(n), "type", "found %s as %s, expected a whole number", kindOf(n), what)
		return least
	}
	if value < least || value > most {
		r.Problem(PosOf(n), "value", "found %d as %s, expected a number from %d to %d", value, what, least, most)
		return least
	}
	return value
}
