package dashboard

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/tasks"
	"orange/internal/record"
	"orange/internal/task"
)

// job is something that takes its time: it runs beside the screen, and nothing waits for it.
type job struct {
	id    int
	what  string // "merge fix/login"
	began time.Time
}

// Messages of jobs.
type (
	spun     struct{}
	finished struct {
		id   int
		what string
		said string
		err  error
	}
)

// spinRate is how often the spinner moves while something runs.
const spinRate = 120 * time.Millisecond

// start runs work beside the screen. What it says is shown; what goes wrong stays until it is read.
func (m *Model) start(what string, work func(ctx context.Context) (said string, err error)) tea.Cmd {
	_, cmd := m.begin(what, func(ctx context.Context, id int) tea.Msg {
		said, err := work(ctx)
		return finished{id, what, said, err}
	})
	return cmd
}

// begin runs a job beside the screen. It ends with a message that finish is told of.
func (m *Model) begin(what string, work func(ctx context.Context, id int) tea.Msg) (id int, cmd tea.Cmd) {
	m.nextJob++
	one := job{id: m.nextJob, what: what, began: m.tasks.Now}
	m.jobs = append(append([]job(nil), m.jobs...), one)
	ctx := m.ctx
	run := func() tea.Msg { return work(ctx, one.id) }
	if m.spinning {
		return one.id, run
	}
	m.spinning = true
	return one.id, tea.Batch(run, spinning())
}

func spinning() tea.Cmd { return tea.Tick(spinRate, func(time.Time) tea.Msg { return spun{} }) }

// spin moves the spinner on while anything runs.
func (m *Model) spin() tea.Cmd {
	m.frame++
	if m.spinning = len(m.jobs) > 0; !m.spinning {
		return nil
	}
	return spinning()
}

func (m *Model) finish(msg finished) tea.Cmd {
	var left []job
	for _, j := range m.jobs {
		if j.id != msg.id {
			left = append(left, j)
		}
	}
	m.jobs = left
	var half *halfDone
	made := errors.As(msg.err, &half)
	if msg.err == nil || made {
		delete(m.unsent, msg.what)
	}
	switch {
	case errors.Is(msg.err, context.Canceled):
	case made:
		m.trouble = m.trouble.with("", half)
	case msg.err != nil:
		m.trouble = m.trouble.with(msg.what, msg.err)
	case msg.said != "":
		m.said = msg.said
	}
	return m.tasks.Reload()
}

// halfDone says that a wish was granted, and that something which follows from it was not done: nobody should
// wish again.
type halfDone struct{ text string }

func (h *halfDone) Error() string { return h.text }

// outcome tells a person what became of a wish. Hooks that failed are an error that says how to go on.
func outcome(out record.Outcome, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var failures []string
	for _, h := range out.Hooks {
		if h.State == task.HookFailed {
			failures = append(failures, h.Action+": "+h.Error)
		}
	}
	if out.Warning != "" {
		failures = append(failures, out.Warning)
	}
	name := tasks.Name(out.Task)
	if len(failures) > 0 {
		return "", &halfDone{name + " is " + string(out.Task.Status) + ", but " + strings.Join(failures, "; ") +
			"; t tries again"}
	}
	switch {
	case out.Queued:
		return name + " waits for a workspace and starts when one is free", nil
	case out.Event.IsMove():
		return name + ": " + string(out.Event.From) + " → " + string(out.Event.To), nil
	case out.Moved || len(out.Hooks) > 0:
		return name + " stays " + string(out.Task.Status), nil
	}
	return name + " is " + string(out.Task.Status) + " already", nil
}

// trouble is what went wrong and was not read yet, the newest last.
type trouble struct {
	told []told
}

// told is one failure: what could not be done, empty where the text says all.
type told struct{ what, text string }

// with adds a failure; the same one again is told once.
func (t trouble) with(what string, err error) trouble {
	one := told{what, err.Error()}
	for _, have := range t.told {
		if have == one {
			return t
		}
	}
	return trouble{append(append([]told(nil), t.told...), one)}
}

// line is the trouble in one line; empty when there is none.
func (t trouble) line() string {
	if len(t.told) == 0 {
		return ""
	}
	last := t.told[len(t.told)-1]
	first, _, more := strings.Cut(last.text, "\n")
	text := "cannot " + last.what + ": " + first
	if last.what == "" || strings.HasPrefix(first, "cannot ") {
		text = first
	}
	if more || len(t.told) > 1 {
		text += " (! shows all)"
	}
	return text
}
