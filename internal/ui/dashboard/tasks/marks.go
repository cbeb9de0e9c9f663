package tasks

import (
	"strings"

	"charm.land/lipgloss/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
)

// SignWidth is the number of cells before a task: the cursor, its mark and a blank.
const SignWidth = 3

// CursorSign is before the mark of a task: the selected one is seen where a terminal has no reverse video.
func CursorSign(selected bool) string {
	if selected {
		return ">"
	}
	return " "
}

// Mark is a sign before a task.
type Mark struct {
	Sign  string
	Means string
	wrong bool // it is something that a person may have to do something about
	style func(*screen.Style) *lipgloss.Style
	holds func(r *Row, def *workflow.Definition) bool
}

// Style is the style of the sign.
func (m Mark) Style(s *screen.Style) *lipgloss.Style {
	if m.style == nil {
		return &s.Plain
	}
	return m.style(s)
}

// hasAgent reports whether an agent works in a status, as far as that is known.
func hasAgent(def *workflow.Definition, status task.Status) bool {
	if def == nil {
		return true
	}
	state, _ := def.State(status)
	return state.Role != ""
}

// AgentWorks reports whether an agent has its part in the status of a task and is not known to be gone.
func (s *Set) AgentWorks(r *Row) bool {
	return r.Task.Session != "" && r.Agent.State != record.AgentDead && r.Agent.State != record.AgentNone &&
		hasAgent(s.Workflow(*r.Task), r.Task.Status)
}

// personsTurn reports whether a task that was begun stays in a status until a person does something.
func personsTurn(def *workflow.Definition, status task.Status) bool {
	return status != def.Initial && def.WaitsForPerson(status)
}

// limitSign marks a task whose agent waits for its provider.
const limitSign = "$"

// Marks are all marks. A task has the first one that holds.
func Marks() []Mark {
	bad := func(s *screen.Style) *lipgloss.Style { return &s.Bad }
	faint := func(s *screen.Style) *lipgloss.Style { return &s.Faint }
	info := func(s *screen.Style) *lipgloss.Style { return &s.Info }
	warn := func(s *screen.Style) *lipgloss.Style { return &s.Warn }
	good := func(s *screen.Style) *lipgloss.Style { return &s.Good }
	return []Mark{
		{"!", "a person should look: the task says why", false, bad,
			func(r *Row, _ *workflow.Definition) bool { return r.Task.Attention != "" && r.limit() == "" }},
		{"◌", "it waits for a workspace, or for other tasks", true, faint,
			func(r *Row, _ *workflow.Definition) bool { return r.Task.Queued() || r.Task.WaitsForTasks() }},
		{limitSign, "its agent has reached its provider's limit", true, warn,
			func(r *Row, _ *workflow.Definition) bool { return r.limit() != "" }},
		{"✗", "its agent is dead", true, bad,
			func(r *Row, def *workflow.Definition) bool {
				return r.Task.Live && r.Agent.State == record.AgentDead && hasAgent(def, r.Task.Status)
			}},
		{"◆", "it is a person's turn: look at it, answer it, or move it on", false, info,
			func(r *Row, def *workflow.Definition) bool {
				return def != nil && r.Task.Live && (personsTurn(def, r.Task.Status) || r.Agent.Need.Kind != "")
			}},
		{"z", "its agent is running and has done nothing for a long time", true, warn,
			func(r *Row, _ *workflow.Definition) bool {
				return !r.Task.StalledAt.IsZero() && r.Agent.State == record.AgentAlive
			}},
		{"◷", "it has been in its status for longer than it should", true, warn,
			func(r *Row, _ *workflow.Definition) bool { return r.Task.Live && r.Task.Overdue >= task.LateAlert }},
		{"●", "its agent is at work", false, good,
			func(r *Row, _ *workflow.Definition) bool { return r.Agent.State == record.AgentAlive }},
		{"?", "its agent could not be looked at", true, warn,
			func(r *Row, _ *workflow.Definition) bool { return r.Agent.State == record.AgentUnknown }},
		{"⊘", "it was given up", false, faint,
			func(r *Row, def *workflow.Definition) bool {
				return !r.Task.Live && def != nil && !decide.Marks(def, r.Task.Status).Well
			}},
		{"✓", "it is done", false, good, func(r *Row, _ *workflow.Definition) bool { return !r.Task.Live }},
	}
}

// Sign is the mark of a task, and its colour, which is that of the task's status too.
func (s *Set) Sign(style *screen.Style, r *Row) (sign string, colour *lipgloss.Style) {
	if one, is := s.mark(r); is {
		return one.Sign, one.Style(style)
	}
	return " ", &style.Plain
}

func (s *Set) mark(r *Row) (Mark, bool) {
	def := s.Workflow(*r.Task)
	for _, one := range s.marks {
		if one.holds(r, def) {
			return one, true
		}
	}
	return Mark{}, false
}

// Marked reports whether a task that is shown has a mark.
func (s *Set) Marked(sign string) bool {
	for i := range s.Shown {
		if one, is := s.mark(s.At(i)); is && one.Sign == sign {
			return true
		}
	}
	return false
}

// Problems are the marks of a task that say what is wrong with it, in words.
func (s *Set) Problems(style *screen.Style, r *Row) []screen.Fragment {
	var out []screen.Fragment
	def := s.Workflow(*r.Task)
	for _, one := range s.marks {
		if !one.wrong || !one.holds(r, def) {
			continue
		}
		words := one.Means
		if one.Sign == limitSign {
			words += ": " + r.limit()
		}
		out = append(out, screen.Text(one.Style(style), one.Sign+" "+words))
	}
	return out
}

// Note is why a person should look at a task, or what the task waits for, or what it is about, and the style of that.
func (r *Row) Note(s *screen.Style) (string, *lipgloss.Style) {
	said := func(text string) string { return screen.Clean(InKeys(s.Keys, r.Task.ID, text)) }
	switch t := r.Task; {
	case t.Attention != "":
		return said(t.Attention), &s.Bad
	case t.Queued():
		text := "waits for a workspace, then " + screen.Clean(string(t.QueuedFor))
		if summary := screen.Clean(t.Summary); summary != "" {
			text += "; " + summary
		}
		return text, &s.Faint
	case t.WaitsForTasks():
		text := "waits for " + screen.Clean(strings.Join(t.After, ", "))
		if summary := screen.Clean(t.Summary); summary != "" {
			text = summary + "; " + text
		}
		return text, &s.Faint
	case r.Agent.Need.OnScreen() && r.Agent.Need.Kind != record.NeedsLimit:
		return said(r.Agent.Need.String()), &s.Info
	case r.limit() != "":
		return screen.Clean(r.limit()), &s.Warn
	case r.Agent.Need.Kind == "" && r.Agent.Need.Found != "":
		return said(r.Agent.Need.Found), &s.Warn
	case t.Summary == "":
		return "no summary yet", &s.Faint
	default:
		return screen.Clean(t.Summary), &s.Faint
	}
}

// Title is the name of a task, after its project where the screen shows those of all projects.
func (s *Set) Title(r *Row) string {
	name := screen.Clean(Name(*r.Task))
	if s.Project == "" {
		name = screen.Clean(r.Task.Project) + "/" + name
	}
	return name
}
