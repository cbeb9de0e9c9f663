package tasks

import (
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
)

// shortest is the shortest path from a status to the first one at which it ends, with both of them; empty where there
// is none.
func shortest(def *workflow.Definition, from task.Status, ends func(task.Status) bool) []task.Status {
	came := map[task.Status]task.Status{from: from}
	for queue := []task.Status{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if ends(at) {
			path := []task.Status{at}
			for ; at != from; at = came[at] {
				path = append(path, came[at])
			}
			slices.Reverse(path)
			return path
		}
		for n := range def.Transitions {
			e := &def.Transitions[n]
			if _, seen := came[e.To]; e.From == at && !seen && len(e.CameFrom) == 0 {
				came[e.To] = at
				queue = append(queue, e.To)
			}
		}
	}
	return nil
}

// Ahead is the shortest path from a status, without that status, to a successful end; empty where there is none.
func Ahead(def *workflow.Definition, from task.Status) []task.Status {
	path := shortest(def, from, func(s task.Status) bool {
		marks := decide.Marks(def, s)
		return marks.Terminal && marks.Well
	})
	return path[min(1, len(path)):]
}

// behind is the shortest path from the initial status to a status, without that status.
func behind(def *workflow.Definition, to task.Status) []task.Status {
	path := shortest(def, def.Initial, func(s task.Status) bool { return s == to })
	return path[:max(0, len(path)-1)]
}

// past is the path that a task took to its status, without that status and without the loops that it went back on.
// It is unknown where the events do not lead to the status, such as when newer ones are not read yet.
func past(events []history.Event, to task.Status) (path []task.Status, known bool) {
	for i := range events {
		next := events[i].To
		if events[i].Type == history.Created {
			next = task.Status(events[i].Data["status"])
		} else if !events[i].IsMove() {
			continue
		}
		if again := slices.Index(path, next); again >= 0 {
			path = path[:again]
		}
		path = append(path, next)
	}
	if len(path) == 0 || path[len(path)-1] != to {
		return nil, false
	}
	return path[:len(path)-1], true
}

// future is the path that a task has before it. Some moves lead back to a status and are open only to tasks that came
// from there.
func future(def *workflow.Definition, t task.Task) []task.Status {
	if !t.Live {
		return nil
	}
	path := Ahead(def, t.Status)
	for _, e := range def.Transitions {
		if e.From != t.Status || !slices.Contains(e.CameFrom, t.Previous) {
			continue
		}
		back := append([]task.Status{e.To}, Ahead(def, e.To)...)
		if e.To == t.Previous || len(path) == 0 || len(back) < len(path) {
			path = back
		}
		if e.To == t.Previous {
			break
		}
	}
	return path
}

// judges reports whether a verdict in a status accepts the work, so that it was passed or was not.
func judges(def *workflow.Definition, status task.Status) bool {
	return slices.ContainsFunc(def.Transitions, func(e workflow.Transition) bool {
		return e.From == status && e.Accepts()
	})
}

// notPassed reports whether a task left a status that judges the work without a verdict that accepted it: after
// crashes, or because a person moved it on. Without the history it is so where the work was handed in without a review.
func notPassed(def *workflow.Definition, events []history.Event, t task.Task, status task.Status) bool {
	if !judges(def, status) {
		return false
	}
	for _, e := range slices.Backward(events) {
		if e.IsMove() && e.From == status {
			return e.Subject.UnreviewedText() != "" || !e.Subject.Reviewed && !def.Accepts(e.From, e.To)
		}
	}
	return t.Subject.UnreviewedText() != ""
}

// steps are the statuses of a task's path through its workflow as the screen shows them, and the index of the present
// one. The path to that is the task's history where that was read, else the shortest one.
func (s *Set) steps(style *screen.Style, t task.Task) (parts []string, here int) {
	def := s.Workflow(t)
	if def == nil {
		return nil, 0
	}
	events := s.History(t.ID)
	done, known := past(events, t.Status)
	if !known {
		done, events = behind(def, t.Status), nil
	}
	ahead := future(def, t)
	for _, status := range done {
		switch name := screen.CleanRaw(string(status)); {
		case !notPassed(def, events, t, status):
			parts = append(parts, style.Faint.Render("✓ "+name))
		case !slices.Contains(ahead, status): // else it is still to be passed
			parts = append(parts, style.Warn.Render("✗ "+name))
		}
	}
	here = len(parts)
	parts = append(parts, style.Bold.Render("● "+screen.CleanRaw(string(t.Status))))
	for _, status := range ahead {
		parts = append(parts, style.Faint.Render("○ "+screen.CleanRaw(string(status))))
	}
	return parts, here
}

// Progress is the part of a task's path around its present status that fits into a width.
func (s *Set) Progress(style *screen.Style, t task.Task, width int) string {
	parts, here := s.steps(style, t)
	if len(parts) == 0 {
		return ""
	}
	from, to := here, here+1 // the parts that are shown
	line := func(from, to int) string {
		text := strings.Join(parts[from:to], " ")
		if from > 0 {
			text = style.Faint.Render("…") + " " + text
		}
		if to < len(parts) {
			text += " " + style.Faint.Render("…")
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
