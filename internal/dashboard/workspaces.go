package dashboard

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/record"
)

// workspaces are the pools and who has what of them.
type workspaces struct {
	all    []record.Holding
	known  bool // somebody looked
	cursor int
	top    int
	told   string // what the tasks said of who has which, when somebody looked last
}

type held struct {
	all []record.Holding
	err error
}

// use is how many workspaces of a project, or of all, are held, and how many there are.
func (w workspaces) use(project string) (used, size int) {
	for _, h := range w.all {
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

func (m *Model) loadWorkspaces() tea.Cmd {
	ctx, look := m.ctx, m.house.Look
	return func() tea.Msg {
		all, err := look.Workspaces(ctx, "")
		return held{all, err}
	}
}

// workspacesAgain looks at the pools where the tasks tell that somebody else may have them now.
func (m *Model) workspacesAgain() tea.Cmd {
	var b strings.Builder
	for i := range m.list.rows {
		if t := m.list.rows[i].task; t.Workspace != "" {
			b.WriteString(t.ID + " " + t.Workspace + "\n")
		}
	}
	if b.String() == m.workspaces.told && m.place != inWorkspaces {
		return nil
	}
	m.workspaces.told = b.String()
	return m.loadWorkspaces()
}

// learnWorkspaces takes in who has what. The cursor stays on its workspace.
func (m *Model) learnWorkspaces(msg held) tea.Cmd {
	if msg.err != nil {
		m.trouble = m.trouble.with("look at the workspaces", msg.err)
		return nil
	}
	was, had := m.workspaces.selected()
	m.workspaces.all, m.workspaces.known = msg.all, true
	if at := slices.IndexFunc(msg.all, func(h record.Holding) bool {
		return h.Project == was.Project && h.Workspace == was.Workspace
	}); had && at >= 0 {
		m.workspaces.cursor = at
	}
	m.workspaceStep(0)
	return nil
}

func (w workspaces) selected() (record.Holding, bool) {
	if w.cursor >= len(w.all) {
		return record.Holding{}, false
	}
	return w.all[w.cursor], true
}

// workspaceStep goes some lines down.
func (m *Model) workspaceStep(n int) {
	w, visible := m.workspaces, max(1, m.bodyHeight()-1)
	w.cursor = max(0, min(w.cursor+n, len(w.all)-1))
	w.top = max(0, min(max(w.top, w.cursor-visible+1), w.cursor, max(0, len(w.all)-visible)))
	m.workspaces = w
}

// showWorkspaces begins with the workspace of the selected task, if it has one.
func (m *Model) showWorkspaces() tea.Cmd {
	m.visit(inWorkspaces)
	if t, found := m.selected(); found {
		if at := slices.IndexFunc(m.workspaces.all, func(h record.Holding) bool { return h.Task == t.ID }); at >= 0 {
			m.workspaces.cursor = at
		}
	}
	m.workspaceStep(0)
	return m.loadWorkspaces()
}

func (m *Model) whyNoHolder() string {
	h, found := m.workspaces.selected()
	switch {
	case !found:
		return "there is no workspace"
	case h.Task == "":
		return "nobody has this workspace"
	case !m.list.has(h.Task):
		return "its task is not among those that were read; R looks again"
	}
	return ""
}

// showHolder goes to the task that has the workspace. Whatever hides it is taken away.
func (m *Model) showHolder() tea.Cmd {
	h, _ := m.workspaces.selected()
	if !m.list.find(h.Task) {
		m.list.text, m.list.filter = "", showAll
		if m.list.project != h.Project {
			m.list.project = ""
		}
		m.list.choose()
		m.list.find(h.Task)
	}
	m.place, m.trail = inList, nil
	m.letGo()
	return m.afterMove()
}

func (m *Model) drawWorkspaces(width, height int) []string {
	project, workspace, branch, status, path := workspaceColumns(width)
	line := func(cells ...string) string {
		var out []string
		for i, w := range []int{project, workspace, branch, status, path} {
			if w > 0 {
				out = append(out, screen.SqueezeTo(cells[i], w))
			}
		}
		return screen.Cut(strings.Join(out, " "), width)
	}
	out := []string{m.style.Header.Render(line("Project", "Workspace", "Branch", "Status", "Path"))}
	switch {
	case !m.workspaces.known:
		return append(out, "", m.style.Faint.Render(screen.Cut("  looking…", width)))
	case len(m.workspaces.all) == 0:
		return append(out, "", screen.Cut("  no workspaces: no project is known yet", width))
	}
	for i := m.workspaces.top; i < len(m.workspaces.all) && len(out) < height; i++ {
		h := m.workspaces.all[i]
		text := line(screen.Clean(h.Project), screen.Clean(h.Workspace), holderOf(h), screen.Clean(string(h.Status)),
			placeOf(h))
		switch {
		case i == m.workspaces.cursor:
			text = m.style.Chosen.Render(screen.Fit(text, width))
		case h.Task == "":
			text = m.style.Faint.Render(text)
		}
		out = append(out, text)
		if i == m.workspaces.cursor && path == 0 && len(out) < height {
			out = append(out, "    "+m.style.Faint.Render(screen.Squeeze(placeOf(h), max(1, width-4))))
		}
	}
	return out
}

// workspaceColumns are the widths of the table; what has no room has none.
func workspaceColumns(width int) (project, workspace, branch, status, path int) {
	project, workspace, status = 12, 16, 14
	if width >= wide {
		path = (width - project - workspace - status - 4) / 2
	}
	if width < 70 {
		project = 0 // a workspace is named after its project
	}
	branch = width - workspace - status - 2
	for _, w := range []int{project, path} {
		if w > 0 {
			branch -= w + 1
		}
	}
	return project, workspace, max(1, branch), status, path
}

func holderOf(h record.Holding) string {
	switch {
	case h.Task == "":
		return "free"
	case h.Branch == "":
		return h.Task
	}
	return screen.Clean(h.Branch)
}

func placeOf(h record.Holding) string {
	if !h.Exists {
		return "not made yet"
	}
	return screen.Clean(h.Path)
}
