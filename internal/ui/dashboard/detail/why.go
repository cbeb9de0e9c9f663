package detail

import (
	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/rejection"
	"orange/internal/ui/dashboard/screen"
)

// whyLines draws what a task waits for, and the moves out of its status with their conditions.
func (r renderer) whyLines(e decide.Explanation) []string {
	about := ""
	if e.About != "" {
		about = ": " + e.About
	}
	out := r.flow("", "", screen.Text(&r.style.Bold, string(e.Task.Status)), screen.Text(nil, about))
	out = append(out, "", r.style.Header.Render("Waits for"))
	for _, d := range e.Waits {
		out = append(out, r.unmet("  ", d)...)
	}
	if len(e.Waits) == 0 {
		out = append(out, r.faint("  nothing"))
	}
	out = append(out, "", r.style.Header.Render("Moves"))
	if len(e.Ways) == 0 {
		out = append(out, r.faint("  no move leads out of here"))
	}
	for i := range e.Ways {
		if i == 0 || e.Ways[i].To != e.Ways[i-1].To {
			out = append(out, r.target(e.Ways, i))
		}
		out = append(out, r.moveLines(&e.Ways[i])...)
	}
	if len(e.Passed) > 0 {
		out = append(out, "", r.style.Header.Render("What its work has passed when it ends"))
	}
	for _, line := range guarantee.Tell(e.Passed) {
		out = append(out, r.flow("  ", "    ", screen.Text(nil, line))...)
	}
	return out
}

// target is the status that the moves from index at on lead to, with a mark where one of them is open.
func (r renderer) target(moves []decide.Option, at int) string {
	for _, w := range moves[at:] {
		if w.To != moves[at].To {
			break
		}
		if w.Open {
			return screen.Cut("  "+r.style.Good.Render("✓ "+screen.CleanRaw(string(w.To))), r.width)
		}
	}
	return screen.Cut("  "+r.faint("○ ")+r.style.Bold.Render(screen.CleanRaw(string(moves[at].To))), r.width)
}

func (r renderer) moveLines(w *decide.Option) []string {
	style := &r.style.Warn
	if w.Open {
		style = &r.style.Good
	}
	extra := ""
	if w.Reason {
		extra += "; takes a reason"
	}
	if w.Override && !w.Open {
		extra += "; " + r.style.Keys.Of("override") + " overrides"
	}
	out := r.flow("    ", "    ", screen.Raw(style, w.State()), screen.Text(nil, " for "+w.Who()),
		screen.Raw(&r.style.Faint, extra))
	for _, g := range w.Guards {
		style := &r.style.Good
		if !g.Holds {
			style = &r.style.Warn
		}
		out = append(out, r.flow("      ", "        ", screen.Text(style, g.String()))...)
	}
	for _, d := range w.OtherDetails() {
		out = append(out, r.unmet("      ", d)...)
	}
	return out
}

// unmet draws one unmet condition: what was found, where, and what to do.
func (r renderer) unmet(indent string, d rejection.Detail) []string {
	words := []screen.Fragment{screen.Text(&r.style.Bold, d.Condition), screen.Text(nil, ": found "+d.Found)}
	if d.Where != "" {
		words = append(words, screen.Text(&r.style.Faint, " ("+d.Where+")"))
	}
	below := indent + "  "
	out := r.flow(indent, below, words...)
	if d.Want == "" {
		return out
	}
	return append(out, r.flow(below, below, screen.Raw(&r.style.Info, "to do: "), screen.Text(nil, d.Want))...)
}
