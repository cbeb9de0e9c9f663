// Package workspaces is the view of the pools of workspaces, and of the tasks that have them.
package workspaces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/record"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Reader reads which workspaces there are.
type Reader interface {
	// Workspaces are the workspaces of a project, or of all projects where its name is empty.
	Workspaces(ctx context.Context, project string) ([]record.Holding, error)
	// Asides are what was set aside of the workspaces of all tasks, where id is empty.
	Asides(id string) ([]record.Aside, error)
	// SharedWords are what all worktrees of a project, or of all, share and neither Orange nor a person changed.
	SharedWords(ctx context.Context, project string) ([]string, error)
}

// Model is the view of the workspaces.
type Model struct {
	ctx     context.Context
	reader  Reader
	tasks   *tasks.Set
	style   *screen.Style
	all     []record.Holding
	asides  []record.Aside
	shared  []string
	known   bool // all was read
	cursor  int
	top     int    // the first visible workspace
	holders string // which task has which workspace, as the tasks said at the last read
}

// New makes the view of the workspaces of some tasks.
func New(ctx context.Context, reader Reader, set *tasks.Set, style *screen.Style) *Model {
	return &Model{ctx: ctx, reader: reader, tasks: set, style: style}
}

// Read is the answer of the reader.
type Read struct {
	all    []record.Holding
	asides []record.Aside
	shared []string
	err    error
}

// Load reads the workspaces.
func (m *Model) Load() tea.Cmd {
	ctx, reader := m.ctx, m.reader
	return func() tea.Msg {
		all, err := reader.Workspaces(ctx, "")
		asides, asideErr := reader.Asides("")
		changed, sharedErr := reader.SharedWords(ctx, "")
		return Read{all, asides, changed, errors.Join(err, asideErr, sharedErr)}
	}
}

// TasksChanged reads the workspaces again where other tasks have them now, or where the view is visible.
func (m *Model) TasksChanged(visible bool) tea.Cmd {
	var b strings.Builder
	for _, r := range m.tasks.Rows {
		if r.Task.Workspace != "" {
			b.WriteString(r.Task.ID + " " + r.Task.Workspace + "\n")
		}
	}
	if b.String() == m.holders && !visible {
		return nil
	}
	m.holders = b.String()
	return m.Load()
}

// Update takes the answer of the reader. The cursor stays on its workspace.
func (m *Model) Update(msg Read, size screen.Size) error {
	if msg.err != nil {
		return msg.err
	}
	before, had := m.selected()
	m.all, m.asides, m.shared, m.known = msg.all, msg.asides, msg.shared, true
	if at := slices.IndexFunc(msg.all, func(h record.Holding) bool {
		return h.Project == before.Project && h.Workspace == before.Workspace
	}); had && at >= 0 {
		m.cursor = at
	}
	m.Move(0, size)
	return nil
}

// Use is how many workspaces of a project, or of all projects, tasks have, and how many there are.
func (m *Model) Use(project string) (used, size int) {
	for _, h := range m.all {
		if project != "" && h.Project != project {
			continue
		}
		size++
		if h.Task != "" {
			used++
		}
	}
	return used, size
}

// SharedChanged is how many settings that all worktrees of a repository share have changed.
func (m *Model) SharedChanged() int { return len(m.shared) }

func (m *Model) selected() (record.Holding, bool) {
	if m.cursor >= len(m.all) {
		return record.Holding{}, false
	}
	return m.all[m.cursor], true
}

// Move moves the cursor by n workspaces.
func (m *Model) Move(n int, size screen.Size) {
	m.cursor = max(0, min(m.cursor+n, len(m.all)-1))
	m.top = screen.Follow(m.top, m.cursor, max(1, size.Height-2), len(m.all))
}

// Open begins with the workspace of the selected task, if it has one.
func (m *Model) Open(size screen.Size) tea.Cmd {
	if t, found := m.tasks.Selected(); found {
		if at := slices.IndexFunc(m.all, func(h record.Holding) bool { return h.Task == t.ID }); at >= 0 {
			m.cursor = at
		}
	}
	m.Move(0, size)
	return m.Load()
}

// NoTask is why no task can be selected by SelectTask; empty where one can.
func (m *Model) NoTask() string {
	h, found := m.selected()
	switch {
	case !found:
		return "there is no workspace"
	case h.Task == "":
		return "no task has this workspace"
	case !m.tasks.Has(h.Task):
		return "its task is not among those that were read; " + m.style.Keys.Of("look-again") + " looks again"
	}
	return ""
}

// SelectTask selects the task that has the workspace. It removes the filters that hide the task.
func (m *Model) SelectTask() {
	h, _ := m.selected()
	if m.tasks.Find(h.Task) {
		return
	}
	m.tasks.Text, m.tasks.Filter = "", tasks.ShowAll
	if m.tasks.Project != h.Project {
		m.tasks.Project = ""
	}
	m.tasks.Choose()
	m.tasks.Find(h.Task)
}

// Click selects the workspace on a line, counted from the titles. It reports whether that was selected already.
func (m *Model) Click(line int, size screen.Size) (again bool) {
	at := m.top + line - 1
	if widths(size.Width).path == 0 && at > m.cursor {
		at-- // the selected workspace has two lines
	}
	switch {
	case line < 1 || at >= len(m.all):
		return false
	case at == m.cursor:
		return true
	}
	m.Move(at-m.cursor, size)
	return false
}

// View draws the table of workspaces.
func (m *Model) View(size screen.Size) []string {
	columns := widths(size.Width)
	out := []string{m.style.Header.Render(columns.line("Project", "Workspace", "Branch", "Status", "Path"))}
	switch {
	case !m.known:
		return append(out, "", m.style.Faint.Render(screen.Cut("  looking…", size.Width)))
	case len(m.all) == 0:
		return append(out, "", screen.Cut("  no workspaces: no project is known yet", size.Width))
	}
	for i := m.top; i < len(m.all) && len(out) < size.Height; i++ {
		h := m.all[i]
		text := columns.line(screen.Clean(h.Project), screen.Clean(h.Workspace), holder(h),
			screen.Clean(string(h.Status)), path(h))
		switch {
		case i == m.cursor:
			text = ">" + strings.TrimPrefix(text, " ")
			text = m.style.Chosen.Render(screen.Fit(text, size.Width))
		case h.Task == "":
			text = m.style.Faint.Render(text)
		}
		out = append(out, text)
		if i == m.cursor && columns.path == 0 && len(out) < size.Height {
			out = append(out, "    "+m.style.Faint.Render(screen.Squeeze(path(h), max(1, size.Width-4))))
		}
	}
	for _, changed := range m.shared {
		if len(out) < size.Height {
			out = append(out, m.style.Bad.Render(screen.Cut("  shared settings changed, "+screen.Clean(changed)+
				": orange project restore, or accept", size.Width)))
		}
	}
	for _, a := range m.asides {
		if len(out) < size.Height {
			out = append(out, m.style.Faint.Render(screen.Cut(fmt.Sprintf("  set aside of task %s: %s", a.Task,
				screen.Clean(a.String())), size.Width)))
		}
	}
	return out
}

// columns are the widths of the table. A column that has no room has the width 0.
type columns struct{ screen, project, workspace, branch, status, path int }

// wideScreen is the width from which the table has a column for paths.
const wideScreen = 100

func widths(width int) columns {
	c := columns{screen: width, project: 12, workspace: 16, status: 14}
	if width >= wideScreen {
		c.path = (width - c.project - c.workspace - c.status - 5) / 2
	}
	if width < 70 {
		c.project = 0 // a workspace has its project in its name
	}
	branch := width - c.workspace - c.status - 3
	for _, w := range []int{c.project, c.path} {
		if w > 0 {
			branch -= w + 1
		}
	}
	c.branch = max(1, branch)
	return c
}

func (c columns) line(cells ...string) string {
	var out []string
	for i, w := range []int{c.project, c.workspace, c.branch, c.status, c.path} {
		if w > 0 {
			out = append(out, screen.SqueezeTo(cells[i], w))
		}
	}
	return screen.Cut(" "+strings.Join(out, " "), c.screen) // the cursor is before them
}

func holder(h record.Holding) string {
	switch {
	case h.Task == "":
		return "free"
	case h.Branch == "":
		return h.Task
	}
	return screen.Clean(h.Branch)
}

func path(h record.Holding) string {
	if !h.Exists {
		return "not made yet"
	}
	return screen.Clean(h.Path)
}
