// Package detail is the view of one task: its document, history, changes, terminal and log, each in a tab.
package detail

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/markdown"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Reader reads everything about one task.
type Reader interface {
	// History is a task's history from the event after the given number on.
	History(ctx context.Context, id string, after int) ([]history.Event, error)
	Why(ctx context.Context, id string) (decide.Explanation, error)
	// Document is the text of TASK.md.
	Document(ctx context.Context, t task.Task) (string, error)
	// Diff is what the task's branch and its workspace changed against the default branch, the summary of files first.
	Diff(ctx context.Context, t task.Task) (string, error)
	// Panes are the present screens of the agents' terminals, with colours.
	Panes(ctx context.Context, t task.Task) ([]Pane, error)
	// Log is what the program's log has about the task, the oldest line first.
	Log(ctx context.Context, t task.Task) ([]string, error)
}

// Pane is the terminal of one agent.
type Pane struct {
	Role  string
	Title string // the window's name
	Lines []string
	Dead  bool
}

// Tab is one part of the view.
type Tab int

// The tabs.
const (
	Document Tab = iota
	History
	Why
	Diff
	Terminal
	Log
	Tabs // how many there are
)

func (t Tab) String() string {
	return [...]string{"TASK.md", "History", "Why", "Diff", "Agent", "Log"}[t]
}

// Shows is what the tab shows, in words.
func (t Tab) Shows() string {
	return [...]string{"TASK.md", "history", "why the task does not move, and what would move it",
		"what the branch changes", "the agent's terminal, as it is now", "the log about the task"}[t]
}

// opensAtEnd reports whether the newest part of the tab is at its end, and is shown first.
func (t Tab) opensAtEnd() bool { return t == History || t == Terminal || t == Log }

// Model is the view of the selected task.
type Model struct {
	Tab Tab
	// Chosen reports whether the person chose the tab. Until then, next to a list, the tab is the one that fits what
	// the selected task does.
	Chosen bool
	// NextToList reports whether the view is next to a list.
	NextToList func() bool
	// BelowList reports whether it is below that list: it then begins with all of why the task needs the person.
	BelowList func() bool

	ctx       context.Context
	reader    Reader
	tasks     *tasks.Set
	style     *screen.Style
	followed  string                   // the key of what was visible at the last message
	task      string                   // the id of the task that was shown last
	contents  map[string]content       // by key
	positions map[string]screen.Scroll // by key, where the person scrolled
	ticking   bool                     // what changes without the task is read again and again
	still     int                      // how many reads in a row found nothing new
}

// New makes the view of the selected task.
func New(ctx context.Context, reader Reader, set *tasks.Set, style *screen.Style) *Model {
	never := func() bool { return false }
	return &Model{ctx: ctx, reader: reader, tasks: set, style: style, NextToList: never, BelowList: never,
		contents: map[string]content{}, positions: map[string]screen.Scroll{}}
}

type source struct {
	document string
	omitted  int // bytes of the document that were not kept
	events   []history.Event
	why      decide.Explanation
	diff     string
	panes    []Pane
	log      []string
	err      error
}

// content is a source and its lines. The old one stays until a new one is there.
type content struct {
	id            string // of the task
	known         bool
	source        source
	lines         []string
	width, height int            // the size that the lines were drawn for
	version       int64          // of the task when the source was read
	sections      map[string]int // the lines of the headings in a document
	undrawn       bool           // the lines are older than the source: they were not shown when it was read
	running       bool           // a read or a drawing runs
	stale         bool           // another read is wanted
}

// Messages of the view.
type (
	// Read has what was read for a tab.
	Read struct {
		version int64
		source  source
		drawn   Drawn
		undrawn bool // nothing was drawn: the tab is not the one that is shown
	}
	// Drawn has the new lines of a tab.
	Drawn struct {
		id            string
		tab           Tab
		lines         []string
		width, height int
	}
	// Tick is a tick of the clock that reads again what changes without the task: a terminal, TASK.md.
	Tick struct{}
)

func key(id string, tab Tab) string { return id + " " + tab.String() }

// Refresh makes the next Follow read the shown tab again.
func (m *Model) Refresh() {
	t, found := m.tasks.Selected()
	if !found {
		return
	}
	key := key(t.ID, m.Shown())
	one := m.contents[key]
	one.id, one.stale = t.ID, true
	m.contents[key] = one
}

// Limits of what is read, and kept, of many tasks.
const (
	maxRunning  = 6  // reads at once: a person who runs through the list waits for the last task, not for all
	maxContents = 60 // tabs of tasks that are kept
)

// Follow reads and draws what the view lacks for the selected task, as it is now and in this size. Call it after every
// message, so that nothing that changes the selection has to call it. What becomes visible is read again.
func (m *Model) Follow(size screen.Size, visible bool) tea.Cmd {
	t, found := m.tasks.Selected()
	if !found || !visible {
		m.followed = ""
		return nil
	}
	if key := key(t.ID, m.Shown()); key != m.followed {
		m.followed = key
		m.Refresh()
	}
	if m.task != t.ID {
		m.task, m.still = t.ID, 0
		m.forget()
	}
	shown := m.Shown()
	size = m.textSize(t, size)
	r := renderer{m.style, size.Width, size.Height, m.tasks.Now.Location()}
	cmds := []tea.Cmd{m.read(t, shown, r)}
	if shown != History {
		cmds = append(cmds, m.read(t, History, r)) // the head shows the path that the task took
	}
	if shown.changesAlone() && !m.ticking {
		m.ticking = true
		cmds = append(cmds, m.tick())
	}
	return tea.Batch(cmds...)
}

// forget drops the contents of other tasks once there are many.
func (m *Model) forget() {
	if len(m.contents) <= maxContents {
		return
	}
	for key, one := range m.contents {
		if one.id != m.task && !one.running {
			delete(m.contents, key)
		}
	}
}

// read reads a tab, or only draws it again, where that is needed and does not run already.
func (m *Model) read(t task.Task, tab Tab, r renderer) tea.Cmd {
	key := key(t.ID, tab)
	one := m.contents[key]
	if one.running {
		return nil
	}
	fits := !one.undrawn && one.width == r.width && (one.height == r.height || tab != Terminal)
	current := one.known && one.version == t.Version && !one.stale
	if current && (fits || tab != m.Shown()) || !current && m.running() >= maxRunning {
		return nil
	}
	one.id, one.running = t.ID, true
	if current {
		m.contents[key] = one
		return func() tea.Msg { return Drawn{t.ID, tab, r.lines(t, tab, one.source), r.width, r.height} }
	}
	var known []history.Event // a history grows, unless the task was deleted and brought back; R reads all of it again
	if !one.stale && t.Version > one.version {
		known = one.source.events
	}
	one.stale = false
	m.contents[key] = one
	ctx, reader, shown := m.ctx, m.reader, tab == m.Shown()
	return func() tea.Msg {
		s := readSource(ctx, reader, t, tab, known)
		read := Read{t.Version, s, Drawn{t.ID, tab, one.lines, r.width, r.height}, !shown}
		if shown && (!one.sameText(s) || !fits) {
			read.drawn.lines = r.lines(t, tab, s)
		}
		return read
	}
}

// sameText reports whether a long text did not change: then it need not be drawn again.
func (c content) sameText(s source) bool {
	return c.known && c.source.err == nil && s.err == nil &&
		(s.document != "" && s.document == c.source.document && s.omitted == c.source.omitted ||
			s.diff != "" && s.diff == c.source.diff)
}

// same reports whether a read of a terminal or of TASK.md found what was there before.
func (c content) same(s source) bool {
	same := func(a, b Pane) bool {
		return a.Title == b.Title && a.Dead == b.Dead && slices.Equal(a.Lines, b.Lines)
	}
	return c.known && s.document == c.source.document && slices.EqualFunc(s.panes, c.source.panes, same)
}

func (m *Model) running() int {
	n := 0
	for _, one := range m.contents {
		if one.running {
			n++
		}
	}
	return n
}

// How often what changes without the task is read again while it is visible: less often where nothing changed for long.
const (
	tickRate  = 500 * time.Millisecond
	restRate  = time.Second
	restAfter = 20 // reads that found nothing new
)

func (m *Model) tick() tea.Cmd {
	rate := tickRate
	if m.still >= restAfter {
		rate = restRate
	}
	return tea.Tick(rate, func(time.Time) tea.Msg { return Tick{} })
}

func readSource(ctx context.Context, reader Reader, t task.Task, tab Tab, known []history.Event) (s source) {
	switch tab {
	case Document:
		s.document, s.err = reader.Document(ctx, t)
		s.document, s.omitted = markdown.Limit(s.document)
	case History:
		var more []history.Event
		more, s.err = reader.History(ctx, t.ID, len(known))
		s.events = slices.Concat(known, more)
	case Why:
		s.why, s.err = reader.Why(ctx, t.ID)
	case Diff:
		s.diff, s.err = reader.Diff(ctx, t)
	case Terminal:
		s.panes, s.err = reader.Panes(ctx, t)
	case Log:
		s.log, s.err = reader.Log(ctx, t)
	}
	return s
}

// Update takes the answer of a read or a drawing, or a tick. visible reports whether the screen shows the view.
func (m *Model) Update(msg tea.Msg, visible bool) tea.Cmd {
	switch msg := msg.(type) {
	case Read:
		key := key(msg.drawn.id, msg.drawn.tab)
		one := m.contents[key]
		if m.still++; !one.same(msg.source) {
			m.still = 0
		}
		one.known, one.source, one.version = true, msg.source, msg.version
		if one.undrawn = msg.undrawn; one.undrawn {
			one.running = false
			m.contents[key] = one
			return nil
		}
		m.show(key, one, msg.drawn)
	case Drawn:
		key := key(msg.id, msg.tab)
		one := m.contents[key]
		one.undrawn = false
		m.show(key, one, msg)
	case Tick:
		if m.ticking = visible && m.Shown().changesAlone(); m.ticking {
			m.Refresh()
			return m.tick()
		}
	}
	return nil
}

// show takes new lines. Where the person scrolled, the same part of the text stays visible when its lines are wrapped
// differently.
func (m *Model) show(key string, one content, drawn Drawn) {
	if at, moved := m.positions[key]; moved && at.Top > 0 && one.width != drawn.width && len(one.lines) > 0 {
		m.positions[key] = screen.Scroll{Top: at.Top * len(drawn.lines) / len(one.lines)}
	}
	if drawn.tab == Document && (one.width != drawn.width || len(one.lines) != len(drawn.lines)) {
		one.sections = sections(drawn.lines)
	}
	one.lines, one.width, one.height, one.running = drawn.lines, drawn.width, drawn.height, false
	m.contents[key] = one
}

// NextTab is the tab that is n tabs on.
func (m *Model) NextTab(n int) Tab { return (m.Shown() + Tab(n) + Tabs) % Tabs }

// Events is the history of a task as far as it was read.
func (m *Model) Events(id string) []history.Event { return m.contents[key(id, History)].source.events }

// position is the first visible line of a text of some lines. A text that follows its end has no entry in positions.
func (m *Model) position(key string, lines, height int) screen.Scroll {
	at, moved := m.positions[key]
	switch {
	case moved:
	case m.Shown().opensAtEnd():
		at.Top = lines
	case m.fits():
		at.Top = m.begins(m.contents[key])
	}
	return screen.Scroll{Top: at.Clamp(lines, height)}
}

// Move scrolls by n lines.
func (m *Model) Move(n int, size screen.Size) {
	t, found := m.tasks.Selected()
	if !found {
		return
	}
	key := key(t.ID, m.Shown())
	lines := len(m.textOf(t, m.contents[key], size.Width))
	height := m.textSize(t, size).Height
	to := m.position(key, lines, height).By(n, lines, height)
	if m.Shown().opensAtEnd() && to.Top >= lines-height {
		delete(m.positions, key) // follows the end again
	} else {
		m.positions[key] = to
	}
}
