package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// mermaid is the picture as a state diagram. Mermaid knows no dashed lines there: the words tell the workflow's
// own moves.
func mermaid(p picture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    %%%% %s\n", encode(p.title))
	for i, n := range p.nodes {
		fmt.Fprintf(&b, "    state \"%s\" as s%d\n", encode(n.text), i+1)
	}
	for i, n := range p.nodes {
		if n.initial {
			fmt.Fprintf(&b, "    [*] --> s%d\n", i+1)
		}
	}
	for _, e := range p.edges {
		for _, label := range e.labels {
			fmt.Fprintf(&b, "    s%d --> s%d : %s\n", e.from+1, e.to+1, encode(label))
		}
	}
	for i, n := range p.nodes {
		if n.terminal {
			fmt.Fprintf(&b, "    s%d --> [*]\n", i+1)
		}
	}
	return b.String()
}

// encode writes everything that could mean something to Mermaid as its number.
func encode(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,._-/()", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}

func dot(p picture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph workflow {\n  label=%s;\n  labelloc=t;\n", quote(p.title))
	b.WriteString("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n  edge " +
		"[fontname=\"sans-serif\", fontsize=10];\n")
	for i, n := range p.nodes {
		more := ""
		switch {
		case n.small:
			more = ", shape=plaintext, fontsize=10"
		case n.terminal:
			more = ", peripheries=2"
		}
		if n.about != "" {
			more += ", tooltip=" + quote(n.about)
		}
		fmt.Fprintf(&b, "  s%d [label=%s%s];\n", i+1, quote(n.text), more)
	}
	for i, n := range p.nodes {
		if n.initial {
			fmt.Fprintf(&b, "  start [shape=point, width=0.15];\n  start -> s%d;\n", i+1)
		}
	}
	for _, e := range p.edges {
		style := ""
		if e.auto {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  s%d -> s%d [label=%s%s];\n", e.from+1, e.to+1, quote(e.labels...), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// quote is one text of several lines as Graphviz reads it.
func quote(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}
