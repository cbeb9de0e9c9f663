package dashboard

import "orange/internal/decide"

// whyLines tells why a task does not move, or what would move it: what it waits for, and every move out of its status.
func (s sheet) whyLines(e decide.Explanation) []string {
	about := ""
	if e.About != "" {
		about = ": " + e.About
	}
	out := flow([]ink{inked(&s.style.bold, string(e.Task.Status)), inked(nil, about)}, s.width, margin{})
	out = append(out, "", s.style.header.Render("Waits for"))
	for _, d := range e.Waits {
		out = append(out, s.unmet("  ", d)...)
	}
	if len(e.Waits) == 0 {
		out = append(out, s.faint("  nothing"))
	}
	out = append(out, "", s.style.header.Render("Moves"))
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
			return cut("  "+s.style.good.Render("✓ "+proper(string(w.To))), s.width)
		}
	}
	return cut("  "+s.faint("○ ")+s.style.bold.Render(proper(string(ways[at].To))), s.width)
}

func (s sheet) wayLines(w *decide.Way) []string {
	look := &s.style.warn
	if w.Open {
		look = &s.style.good
	}
	extra := ""
	if w.Reason {
		extra += "; takes a reason"
	}
	if w.Override && !w.Open {
		extra += "; o overrides"
	}
	out := flow([]ink{{w.State(), look}, inked(nil, " for "+w.Who()), {extra, &s.style.faint}}, s.width,
		margin{"    ", "    "})
	for _, g := range w.Guards {
		look := &s.style.good
		if !g.Holds {
			look = &s.style.warn
		}
		out = append(out, flow([]ink{inked(look, g.String())}, s.width, margin{"      ", "        "})...)
	}
	for _, d := range w.Beside() {
		out = append(out, s.unmet("      ", d)...)
	}
	return out
}

// unmet is one condition: what was found, where, and what would do.
func (s sheet) unmet(indent string, d decide.Detail) []string {
	words := []ink{inked(&s.style.bold, d.Condition), {": found ", nil}, inked(nil, d.Found)}
	if d.Where != "" {
		words = append(words, inked(&s.style.faint, " ("+d.Where+")"))
	}
	out := flow(words, s.width, margin{indent, indent + "  "})
	if d.Want == "" {
		return out
	}
	return append(out, flow([]ink{{"to do: ", &s.style.info}, inked(nil, d.Want)}, s.width,
		margin{indent + "  ", indent + "  "})...)
}
