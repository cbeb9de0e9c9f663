package dashboard

import (
	"fmt"
	"strings"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
	"orange/internal/ui/dashboard/workspaces"
)

// fact is one thing that the header says.
type fact struct {
	text   string
	render func(...string) string
	weight int // where there is no room, the fact with the least weight is left out
}

// header is the first line of the screen: whose tasks they are, and what is to know of all of them.
type header struct {
	tasks      *tasks.Set
	workspaces *workspaces.Model
	style      *screen.Style
	unwatched  bool   // the store reports no changes any more: the clock makes the tasks be read again
	watcher    string // who watches the agents
}

// line has the project and as many facts as fit.
func (h *header) line(width int, failing bool) string {
	style, scope, facts := h.style, "all projects", h.facts(failing)
	if h.tasks.Project != "" {
		scope = screen.Clean(h.tasks.Project)
	}
	left := style.Title.Render("orange") + "  " + screen.Squeeze(scope, max(1, width/2-8))
	for {
		var parts []string
		for _, f := range facts {
			parts = append(parts, f.render(f.text))
		}
		right := strings.Join(parts, style.Faint.Render(" · "))
		if gap := width - screen.Width(left) - screen.Width(right); gap >= 2 || len(facts) == 0 {
			return left + strings.Repeat(" ", max(0, gap)) + right
		}
		facts = withoutLightest(facts)
	}
}

// withoutLightest leaves out the fact with the least weight.
func withoutLightest(facts []fact) []fact {
	least := 0
	for i, f := range facts {
		if f.weight < facts[least].weight {
			least = i
		}
	}
	return append(facts[:least:least], facts[least+1:]...)
}

// facts are what the header says about all tasks.
func (h *header) facts(failing bool) []fact {
	faint := h.style.Faint.Render
	if !h.tasks.Loaded {
		text := "reading…"
		if failing {
			text = "nothing was read"
		}
		return []fact{{text, faint, 9}}
	}
	out := []fact{{fmt.Sprintf("%d of %d active", h.tasks.Live, h.tasks.All), faint, 7}}
	if h.tasks.All == 0 {
		out[0].text = "no tasks yet"
	}
	switch {
	case h.tasks.Attention == 1:
		out = append(out, fact{"1 needs you", h.style.Bad.Render, 9})
	case h.tasks.Attention > 1:
		out = append(out, fact{fmt.Sprintf("%d need you", h.tasks.Attention), h.style.Bad.Render, 9})
	}
	if h.workspaces.SharedChanged() > 0 {
		out = append(out, fact{"shared settings changed", h.style.Bad.Render, 8})
	}
	if n := len(h.tasks.Picked()); n > 0 {
		out = append(out, fact{fmt.Sprintf("%d marked", n), h.style.Warn.Render, 8})
	}
	if h.tasks.Filter != tasks.ShowAll {
		out = append(out, fact{"shown: " + h.tasks.Filter.String(), h.style.Warn.Render, 8})
	}
	if h.tasks.Order != tasks.ByAge {
		out = append(out, fact{"by " + h.tasks.Order.String(), faint, 3})
	}
	if used, size := h.workspaces.Use(h.tasks.Project); size > 0 && h.tasks.All > 0 {
		out = append(out, fact{fmt.Sprintf("%d of %d workspaces", used, size), faint, 5})
	}
	if h.unwatched {
		out = append(out, fact{"changes are seen late", h.style.Bad.Render, 8})
	}
	if h.watcher != "" {
		out = append(out, fact{screen.Clean(h.watcher), faint, 2})
	}
	return out
}
