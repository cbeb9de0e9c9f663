package dashboard

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
)

type jobs struct {
	running  []job
	last     int // the id of the newest job
	frame    int // of the spinner
	spinning bool
}

type job struct {
	id   int
	what string // "merge fix/login"
}

// Messages of jobs.
type (
	spin      struct{}
	jobResult struct {
		id      int
		what    string
		message string
		err     error
	}
)

// start runs work. It ends with finished.
func (j *jobs) start(ctx context.Context, what string, work func(ctx context.Context) (string, error)) tea.Cmd {
	return j.run(what, func(id int) tea.Msg {
		message, err := work(ctx)
		return jobResult{id, what, message, err}
	})
}

// run runs work that ends with a message of its own.
func (j *jobs) run(what string, work func(id int) tea.Msg) tea.Cmd {
	j.last++
	id := j.last
	j.running = append(j.running, job{id, what})
	run := func() tea.Msg { return work(id) }
	if j.spinning {
		return run
	}
	j.spinning = true
	return tea.Batch(run, tickSpinner())
}

const spinRate = 120 * time.Millisecond

func tickSpinner() tea.Cmd { return tea.Tick(spinRate, func(time.Time) tea.Msg { return spin{} }) }

func (j *jobs) spin() tea.Cmd {
	j.frame++
	if j.spinning = len(j.running) > 0; !j.spinning {
		return nil
	}
	return tickSpinner()
}

func (j *jobs) end(id int) {
	j.running = slices.DeleteFunc(j.running, func(one job) bool { return one.id == id })
}

func (j *jobs) has(what string) bool {
	return slices.ContainsFunc(j.running, func(one job) bool { return one.what == what })
}

// text names the newest job with a spinner; empty where nothing runs.
func (j *jobs) text() string { return j.cut(1 << 20) }

// line is that in a width.
func (j *jobs) line(style *screen.Style, width int) string {
	if text := j.cut(width); text != "" {
		return style.Info.Render(text)
	}
	return ""
}

func (j *jobs) cut(width int) string {
	if len(j.running) == 0 {
		return ""
	}
	dots := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	what := j.running[len(j.running)-1].what
	if more := len(j.running) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return string(dots[j.frame%len(dots)]) + " " + screen.Squeeze(screen.Clean(what), width) + " …"
}
