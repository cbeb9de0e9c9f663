package dashboard

import (
	"orange/internal/dashboard/screen"
	"orange/internal/decide"
)

// whyLines tells why a task does not move, or what would move it: what it waits for, and every move out of its status.
func (s sheet) whyLines(e decide.Explanation) []string {
	about := ""
	if e.About != "" {
		about = ": " + e.About
	}
	out := screen.Flow([]screen.Fragment{screen.Text(&s.style.Bold, string(e.Task.Status)), screen.Text(nil, about)},
		s.width, screen.Indent{})
	out = append(out, "", s.style.Header.Render("Waits for"))
	for _, d := range e.Waits {
		out = append(out, s.unmet("  ", d)...)
	}
	if len(e.Waits) == 0 {
		out = append(out, s.faint("  nothing"))
	}
	out = append(out, "", s.style.Header.Render("Moves"))
	if len(e.Ways) == 0 {
		out = append(out, s.faint("  no move leads out of here"))
	}
	for i := range e.Ways {
		if i == 0 || e.Ways[i].To != e.Ways[i-1].To {
			out = append(out, s.target(e.Ways, i))
		}
		out = append(out, s.wayLines(&e.Ways[i])...)
	}
	return out
}

// target is the status that one or several ways lead to, marked where one of them is open.
func (s sheet) target(ways []decide.Way, at int) string {
	for _, w := range ways[at:] {
		if w.To != ways[at].To {
			break
		}
		if w.Open {
			return screen.Cut("  "+s.style.Good.Render("✓ "+screen.CleanRaw(string(w.To))), s.width)
		}
	}
	return screen.Cut("  "+s.faint("○ ")+s.style.Bold.Render(screen.CleanRaw(string(ways[at].To))), s.width)
}

func (s sheet) wayLines(w *decide.Way) []string {
	look := &s.style.Warn
	if w.Open {
		look = &s.style.Good
	}
	extra := ""
	if w.Reason {
		extra += "; takes a reason"
	}
	if w.Override && !w.Open {
		extra += "; o overrides"
	}
	out := screen.Flow([]screen.Fragment{screen.Raw(look, w.State()), screen.Text(nil, " for "+w.Who()),
		screen.Raw(&s.style.Faint, extra)}, s.width,
		screen.IndentBy("    ", "    "))
	for _, g := range w.Guards {
		look := &s.style.Good
		if !g.Holds {
			look = &s.style.Warn
		}
		out = append(out, screen.Flow([]screen.Fragment{screen.Text(look, g.String())}, s.width,
			screen.IndentBy("      ", "        "))...)
	}
	for _, d := range w.Beside() {
		out = append(out, s.unmet("      ", d)...)
	}
	return out
}

// unmet is one condition: what was found, where, and what would do.
func (s sheet) unmet(indent string, d decide.Detail) []string {
	words := []screen.Fragment{screen.Text(&s.style.Bold, d.Condition), screen.Raw(nil, ": found "), screen.Text(nil,
		d.Found)}
	if d.Where != "" {
		words = append(words, screen.Text(&s.style.Faint, " ("+d.Where+")"))
	}
	out := screen.Flow(words, s.width, screen.IndentBy(indent, indent+"  "))
	if d.Want == "" {
		return out
	}
	return append(out, screen.Flow([]screen.Fragment{screen.Raw(&s.style.Info, "to do: "), screen.Text(nil, d.Want)},
		s.width,
		screen.IndentBy(indent+"  ", indent+"  "))...)
}
