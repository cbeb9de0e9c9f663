package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/markdown"
	"orange/internal/dashboard/screen"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/task"
)

// tabKind is one part of what there is to see of a task.
type tabKind int

const (
	tabDocument tabKind = iota
	tabHistory
	tabWhy
	tabDiff
	tabAgent
	tabLog
	tabs // how many there are
)

func (k tabKind) String() string {
	return [...]string{"TASK.md", "History", "Why", "Diff", "Agent", "Log"}[k]
}

func (k tabKind) does() string {
	return [...]string{"TASK.md", "history", "why the task does not move, and what would move it",
		"what the branch changes", "the agent's terminal, as it is now", "the log about the task"}[k]
}

// opensAtEnd says whether the newest stands last, and is shown first.
func (k tabKind) opensAtEnd() bool { return k == tabHistory || k == tabAgent || k == tabLog }

// detail is one task seen closely.
type detail struct {
	beside bool // it is wanted beside the list
	tab    tabKind
	task   string           // whose it is
	seen   map[string]sight // what was looked up, by the task's id and the tab
	places map[string]screen.Scroll
	ticks  bool // the agent's terminal is looked at again and again
}

// content is what one tab shows of one task.
type content struct {
	document string
	beyond   int // bytes of the document that are not kept
	events   []history.Event
	why      decide.Explanation
	diff     string
	panes    []Pane
	log      []string
	err      error
}

// sight is a content as it is drawn. The old one stays until a new one is there.
type sight struct {
	id            string // of the task
	known         bool
	content       content
	lines         []string
	width, height int   // for which the lines are
	version       int64 // of the task when somebody looked
	asked         bool  // a look, or a drawing, is on its way
	stale         bool  // somebody wants another look
}

// Messages of the detail.
type (
	studied struct {
		id      string
		tab     tabKind
		version int64
		content content
		lines   []string
		width   int
		height  int
	}
	drawn struct {
		id            string
		tab           tabKind
		lines         []string
		width, height int
	}
	paneTick struct{}
)

func tabKey(id string, tab tabKind) string { return id + " " + tab.String() }

// closeUp says whether a task is looked at closely.
func (m *Model) closeUp() bool { return m.place == inDetail || m.split() }

// study looks up what the tab shows of the selected task: again if that is wanted fresh, else only what is not
// known as the task is now.
func (m *Model) study(fresh bool) tea.Cmd {
	t, found := m.selected()
	if !found || !m.closeUp() {
		return nil
	}
	if fresh && m.detail.seen != nil {
		key := tabKey(t.ID, m.detail.tab)
		one := m.detail.seen[key]
		one.id, one.stale = t.ID, true
		m.detail.seen[key] = one
	}
	return m.followDetail()
}

// Bounds of what is looked up, and kept, of many tasks.
const (
	mostLooks  = 6  // at once: who runs through the list waits for the last task, not for all
	mostSights = 60 // tabs of tasks that are kept
)

// followDetail sees to it that what is looked at closely is known, as it is now and for the width that it has.
// It is asked after every message, so that nothing that changes the selection has to think of it.
func (m *Model) followDetail() tea.Cmd {
	t, found := m.selected()
	if !found || !m.closeUp() {
		return nil
	}
	if m.detail.seen == nil {
		m.detail.seen, m.detail.places = map[string]sight{}, map[string]screen.Scroll{}
	}
	if m.detail.task != t.ID {
		m.detail.task = t.ID
		m.detail.forget()
	}
	width, height := m.detailSize(t)
	on := sheet{&m.style, width, height, m.now.Location()}
	cmds := []tea.Cmd{m.wantTab(t, m.detail.tab, on)}
	if m.detail.tab != tabHistory {
		cmds = append(cmds, m.wantTab(t, tabHistory, on)) // the head shows the way that the task took
	}
	if m.detail.tab == tabAgent && !m.detail.ticks {
		m.detail.ticks = true
		cmds = append(cmds, tickPane())
	}
	return tea.Batch(cmds...)
}

// forget lets go of other tasks once there are many.
func (d *detail) forget() {
	if len(d.seen) <= mostSights {
		return
	}
	for key, one := range d.seen {
		if one.id != d.task && !one.asked {
			delete(d.seen, key)
		}
	}
}

// wantTab looks a tab up, or draws it anew, where that is needed and not on its way already.
func (m *Model) wantTab(t task.Task, tab tabKind, on sheet) tea.Cmd {
	key := tabKey(t.ID, tab)
	one := m.detail.seen[key]
	if one.asked {
		return nil
	}
	fits := one.width == on.width && (one.height == on.height || tab != tabAgent)
	current := one.known && one.version == t.Version && !one.stale
	if current && (fits || tab != m.detail.tab) || !current && m.detail.looks() >= mostLooks {
		return nil
	}
	one.id, one.asked = t.ID, true
	if current {
		m.detail.seen[key] = one
		return func() tea.Msg { return drawn{t.ID, tab, on.lines(t, tab, one.content), on.width, on.height} }
	}
	one.stale = false
	m.detail.seen[key] = one
	ctx, study := m.ctx, m.house.Study
	return func() tea.Msg {
		c := lookUp(ctx, study, t, tab)
		lines := one.lines
		if !one.sameText(c) || one.width != on.width {
			lines = on.lines(t, tab, c)
		}
		return studied{t.ID, tab, t.Version, c, lines, on.width, on.height}
	}
}

// sameText says whether a long text is still what it was: then it need not be drawn anew.
func (one sight) sameText(c content) bool {
	return one.known && one.content.err == nil && c.err == nil &&
		(c.document != "" && c.document == one.content.document && c.beyond == one.content.beyond ||
			c.diff != "" && c.diff == one.content.diff)
}

// looks is how many looks are on their way.
func (d *detail) looks() int {
	n := 0
	for _, one := range d.seen {
		if one.asked {
			n++
		}
	}
	return n
}

// paneRate is how often the agent's terminal is looked at while somebody watches it.
const paneRate = 500 * time.Millisecond

func tickPane() tea.Cmd { return tea.Tick(paneRate, func(time.Time) tea.Msg { return paneTick{} }) }

func lookUp(ctx context.Context, study Study, t task.Task, tab tabKind) (c content) {
	switch tab {
	case tabDocument:
		c.document, c.err = study.Document(ctx, t)
		c.document, c.beyond = markdown.Limit(c.document)
	case tabHistory:
		c.events, c.err = study.History(ctx, t.ID)
	case tabWhy:
		c.why, c.err = study.Why(ctx, t.ID)
	case tabDiff:
		c.diff, c.err = study.Diff(ctx, t)
	case tabAgent:
		c.panes, c.err = study.Panes(ctx, t)
	case tabLog:
		c.log, c.err = study.Log(ctx, t)
	}
	return c
}

// lines draws what was looked up.
func (s sheet) lines(t task.Task, tab tabKind, c content) []string {
	if c.err != nil {
		var out []string
		for _, line := range screen.CleanRawLines(c.err.Error()) {
			out = append(out, screen.Flow([]screen.Fragment{screen.Raw(&s.style.Bad, line)}, s.width,
				screen.Indent{})...)
		}
		return append(out, "", s.faint("R looks again"))
	}
	switch tab {
	case tabDocument:
		return markdown.Document(s.style, c.document, c.beyond, s.width)
	case tabHistory:
		return s.historyLines(c.events)
	case tabWhy:
		return s.whyLines(c.why)
	case tabDiff:
		return s.diffLines(c.diff, t.Live)
	case tabAgent:
		return s.paneLines(c.panes)
	case tabLog:
		return s.logLines(c.log, t.ID)
	}
	return nil
}

func (m *Model) learnDetail(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case studied:
		key := tabKey(msg.id, msg.tab)
		one := m.detail.seen[key]
		one.known, one.content, one.version = true, msg.content, msg.version
		m.detail.show(key, one, msg.tab, drawn{msg.id, msg.tab, msg.lines, msg.width, msg.height})
	case drawn:
		key := tabKey(msg.id, msg.tab)
		m.detail.show(key, m.detail.seen[key], msg.tab, msg)
	case paneTick:
		if m.detail.ticks = m.detail.tab == tabAgent && m.closeUp(); !m.detail.ticks {
			return nil
		}
		cmd := m.study(true)
		return tea.Batch(cmd, tickPane())
	}
	return nil
}

// show takes new lines in. Who reads in the middle stays there, also when a line takes more or less room now.
func (d *detail) show(key string, one sight, tab tabKind, new drawn) {
	if at, read := d.places[key]; read && at.Top > 0 && one.width != new.width && len(one.lines) > 0 {
		d.places[key] = screen.Scroll{Top: at.Top * len(new.lines) / len(one.lines)}
	}
	one.lines, one.width, one.height, one.asked = new.lines, new.width, new.height, false
	d.seen[key] = one
}

// showTab shows one part of the selected task: beside the list where that is open, else alone.
func (m *Model) showTab(tab tabKind) tea.Cmd {
	m.detail.tab = tab
	if !m.split() {
		m.visit(inDetail)
	}
	return m.study(true)
}

func (m *Model) nextTab() tea.Cmd     { return m.showTab((m.detail.tab + 1) % tabs) }
func (m *Model) previousTab() tea.Cmd { return m.showTab((m.detail.tab + tabs - 1) % tabs) }

// reading is where in a text of so many lines the person reads. A text that is read from its end has no place in
// places.
func (d *detail) reading(key string, lines, height int) screen.Scroll {
	at, moved := d.places[key]
	if !moved && d.tab.opensAtEnd() {
		at.Top = lines
	}
	return screen.Scroll{Top: at.Clamp(lines, height)}
}

func (m *Model) scrollDetail(n int) {
	t, found := m.selected()
	if !found || m.detail.places == nil {
		return
	}
	key := tabKey(t.ID, m.detail.tab)
	lines := len(m.detail.seen[key].lines)
	_, height := m.detailSize(t)
	to := m.detail.reading(key, lines, height).By(n, lines, height)
	if m.detail.tab.opensAtEnd() && to.Top >= lines-height {
		delete(m.detail.places, key) // what comes is followed again
	} else {
		m.detail.places[key] = to
	}
}
