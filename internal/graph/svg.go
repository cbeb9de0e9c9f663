package graph

import (
	"fmt"
	"strings"
)

// colours of the drawing: on a ground of its own, light or dark as the reader's screen is.
const colours = `
  .ground { fill: #ffffff }
  .box { fill: #f3f5f8; stroke: #57606a }
  .end { fill: none; stroke: #57606a }
  .line { fill: none; stroke: #6e7781; stroke-linejoin: round }
  .auto { stroke-dasharray: 5 4 }
  .head, .start { fill: #57606a }
  text { font-family: sans-serif; font-size: 13px; fill: #1f2328 }
  .label { font-size: 11px; stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
  .small { font-size: 12px; font-style: italic }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 }
    .box { fill: #1c2128; stroke: #8b949e }
    .end { stroke: #8b949e }
    .line { stroke: #8b949e }
    .head, .start { fill: #8b949e }
    text { fill: #e6edf3 }
    .label { stroke: #0d1117 }
  }
`

// svg is the picture as a drawing of its own, without scripts and without fonts.
func svg(p picture) string {
	l := layoutOf(p)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "+
		"height=\"%d\" role=\"img\">\n", l.width, l.height, l.width, l.height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", escaped(p.title), colours)
	b.WriteString(
		`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">` +
			`<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", l.width, l.height)
	for i, e := range l.edges {
		class, r := "line", l.routes[i]
		if e.auto {
			class = "line auto"
		}
		from, to := l.boxes[e.from], l.boxes[e.to]
		fmt.Fprintf(&b, "<path class=\"%s\" marker-end=\"url(#head)\" d=\"M%d %dV%dH%dV%dH%dV%d\"/>\n",
			class, r.out, from.y+from.h, r.first, r.track, r.last, r.in, to.y)
	}
	for i := range l.nodes {
		l.drawBox(&b, i)
	}
	for i, e := range l.edges {
		at := l.routes[i].label
		x, anchor := at.x, "start"
		if l.routes[i].ends {
			x, anchor = at.x+at.w, "end"
		}
		for k, text := range e.labels {
			fmt.Fprintf(&b, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x,
				at.y+(k+1)*lineStep-3, anchor, escaped(text))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (l *layout) drawBox(b *strings.Builder, i int) {
	n, at := l.nodes[i], l.boxes[i]
	class, round := "", 8
	if n.small {
		class, round = ` class="small"`, at.h/2
	}
	b.WriteString("<g>")
	if n.about != "" {
		fmt.Fprintf(b, "<title>%s</title>", escaped(n.about))
	}
	fmt.Fprintf(b, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>", at.x, at.y,
		at.w, at.h, round)
	if n.terminal {
		fmt.Fprintf(b, "<rect class=\"end\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>", at.x+3,
			at.y+3, at.w-6, at.h-6)
	}
	if n.initial {
		fmt.Fprintf(b, "<circle class=\"start\" cx=\"%d\" cy=\"%d\" r=\"4\"/>", at.x+9, at.y+at.h/2)
	}
	fmt.Fprintf(b, "<text%s x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n", class, at.middle(),
		at.y+at.h/2+5, escaped(n.text))
}

// escaped is text as XML has it. What XML cannot hold is gone already: clean has seen every text.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(text)
}
