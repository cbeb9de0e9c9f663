package dashboard

import (
	"slices"
	"strings"

	"orange/internal/dashboard/screen"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/task"
	"orange/internal/workflow"
)

// ahead is the shortest way from a status to where a task ends well; empty where no way leads there.
func ahead(def *workflow.Definition, from task.Status) []task.Status {
	type step struct {
		at   task.Status
		from int
	}
	steps := []step{{from, -1}}
	seen := map[task.Status]bool{from: true}
	for i := 0; i < len(steps); i++ {
		if marks := decide.Marks(def, steps[i].at); marks.Terminal && marks.Well {
			var way []task.Status
			for at := i; at > 0; at = steps[at].from {
				way = append(way, steps[at].at)
			}
			slices.Reverse(way)
			return way
		}
		for n := range def.Transitions {
			e := &def.Transitions[n]
			if e.From == steps[i].at && !seen[e.To] && len(e.CameFrom) == 0 {
				seen[e.To] = true
				steps = append(steps, step{e.To, i})
			}
		}
	}
	return nil
}

// behind is the shortest way from where tasks begin to a status, without it.
func behind(def *workflow.Definition, to task.Status) []task.Status {
	at := map[task.Status]task.Status{def.Initial: ""}
	queue := []task.Status{def.Initial}
	for len(queue) > 0 && queue[0] != to {
		for n := range def.Transitions {
			e := &def.Transitions[n]
			if _, seen := at[e.To]; e.From == queue[0] && !seen && len(e.CameFrom) == 0 {
				at[e.To] = e.From
				queue = append(queue, e.To)
			}
		}
		queue = queue[1:]
	}
	if len(queue) == 0 {
		return nil
	}
	var way []task.Status
	for s := at[to]; s != ""; s = at[s] {
		way = append(way, s)
	}
	slices.Reverse(way)
	return way
}

// went is the way that a task took to where it is, without that, and without what it had to do anew;
// false where the events do not lead there, as when newer ones are not read yet.
func went(events []history.Event, to task.Status) (way []task.Status, known bool) {
	for i := range events {
		next := events[i].To
		if events[i].Type == history.Created {
			next = task.Status(events[i].Data["status"])
		} else if !events[i].IsMove() {
			continue
		}
		if again := slices.Index(way, next); again >= 0 {
			way = way[:again]
		}
		way = append(way, next)
	}
	if len(way) == 0 || way[len(way)-1] != to {
		return nil, false
	}
	return way[:len(way)-1], true
}

// onward is the way that a task has before it. A move that leads back to where a task was is open to those that
// were there.
func onward(def *workflow.Definition, t task.Task) []task.Status {
	if !t.Live {
		return nil
	}
	way := ahead(def, t.Status)
	for _, e := range def.Transitions {
		if e.From != t.Status || !slices.Contains(e.CameFrom, t.Previous) {
			continue
		}
		back := append([]task.Status{e.To}, ahead(def, e.To)...)
		if e.To == t.Previous || len(way) == 0 || len(back) < len(way) {
			way = back
		}
		if e.To == t.Previous {
			break
		}
	}
	return way
}

// pathParts are the statuses of a task's way through its workflow as they are drawn, and which of them is the
// present one. What it has behind it is its real past where that was read, else the usual way there.
func (m *Model) pathParts(t task.Task) (parts []string, here int) {
	def := m.definition(t)
	if def == nil {
		return nil, 0
	}
	done, known := went(m.detail.seen[tabKey(t.ID, tabHistory)].content.events, t.Status)
	if !known {
		done = behind(def, t.Status)
	}
	for _, s := range done {
		parts = append(parts, m.style.Faint.Render("✓ "+screen.CleanRaw(string(s))))
	}
	parts = append(parts, m.style.Bold.Render("● "+screen.CleanRaw(string(t.Status))))
	for _, s := range onward(def, t) {
		parts = append(parts, m.style.Faint.Render("○ "+screen.CleanRaw(string(s))))
	}
	return parts, len(done)
}

// pathWithin is the part of a task's way around its present status that fits into a width.
func (m *Model) pathWithin(t task.Task, width int) string {
	parts, here := m.pathParts(t)
	if len(parts) == 0 {
		return ""
	}
	from, to := here, here+1 // what is shown
	line := func(from, to int) string {
		text := strings.Join(parts[from:to], " ")
		if from > 0 {
			text = m.style.Faint.Render("…") + " " + text
		}
		if to < len(parts) {
			text += " " + m.style.Faint.Render("…")
		}
		return text
	}
	for grown := true; grown; {
		grown = false
		if to < len(parts) && screen.Width(line(from, to+1)) <= width {
			to, grown = to+1, true
		}
		if from > 0 && screen.Width(line(from-1, to)) <= width {
			from, grown = from-1, true
		}
	}
	return screen.Cut(line(from, to), width)
}
