package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/board"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/elsewhere"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/list"
	"orange/internal/ui/dashboard/review"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
	"orange/internal/ui/dashboard/workspaces"
)

// Model is everything that the screen shows. Its views and forms are parts of their own; it has what they have in
// common: the page that the person is on, the keys, what runs, and what is reported.
type Model struct {
	ctx           context.Context // of the dashboard; commands end with it
	backend       Backend
	width, height int
	style         *screen.Style
	keys          keymap
	commands      command.Commands

	tasks     *tasks.Set
	newTask   string // a task that was just created: it is selected once it is known
	unwatched bool   // the store reports no changes any more: the clock makes the tasks be read again
	watcher   string // who watches the agents

	page       page
	back       pageStack
	list       *list.Model
	board      *board.Model
	detail     *detail.Model
	review     *review.Model
	workspaces *workspaces.Model
	help       *help
	failures   *failures
	wantSplit  bool // the detail is next to the list where there is room
	lent       int  // lines of the body that a line for an answer has taken

	form    form.Form         // nil while none is open
	unsent  map[string]string // texts that were sent and did not arrive, by the names of their jobs
	refused *form.Creation    // a task that was refused after the person left its form

	elsewhere *elsewhere.Model

	jobs     jobs
	messages messages
	pending  pendingKey
	warned   bool // the person knows that to quit would lose something
}

// New is the screen before anything is known.
func New(ctx context.Context, backend Backend, project string) *Model {
	style := screen.NewStyle()
	set := tasks.New(ctx, backend.Store, backend.Inspector, project, backend.Now())
	all := keys()
	style.Keys = all.named()
	set.Keys = style.Keys
	m := &Model{
		ctx: ctx, backend: backend, width: 80, height: 24, style: style, keys: all, tasks: set,
		commands: command.Commands{Runner: backend.Runner, Comments: backend.Comments, Style: style,
			Edit: editor(ctx, backend.Terminal), Why: backend.Reader.Why},
		list: list.New(set, style), board: board.New(set, style),
		detail:     detail.New(ctx, backend.Reader, set, style),
		review:     review.New(ctx, backend.Reviews, backend.Comments, set, style, backend.Now),
		workspaces: workspaces.New(ctx, backend.Inspector, set, style),
		failures:   &failures{style: style}, unsent: map[string]string{}, wantSplit: true,
		elsewhere: elsewhere.New(backend.Now()),
	}
	m.detail.NextToList, m.detail.BelowList = func() bool { return nextToList(m) }, func() bool { return stacked(m) }
	m.list.NextToTask = func() bool { return nextToList(m) && !stacked(m) }
	m.list.Most = func() int { return mostList(m) }
	m.list.AboveTask, m.list.Answering = m.detail.BelowList, func() bool { return answering(m) }
	m.help = &help{style: style, keys: m.keys, closed: func(k key) string {
		if !k.works(m.back.top()) {
			return ""
		}
		return k.why(m)
	}, now: func() []key { return openKeys(m, m.back.top()) }, from: func() page { return m.back.top() },
		marked: set.Marked}
	set.History = m.detail.Events
	return m
}

// Init reads the tasks that the screen shows first, and the workspaces.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.tasks.LoadFirst(), m.workspaces.Load(), tick(),
		elsewhere.Load(m.backend.Inspector, m.tasks.Project))
}

// tickRate is how often the clock ticks: ages grow, and agents change without a change of the store.
const tickRate = 5 * time.Second

func tick() tea.Cmd { return tea.Tick(tickRate, func(t time.Time) tea.Msg { return ticked(t) }) }

// Messages.
type (
	ticked      time.Time
	changed     struct{}
	news        struct{ text string }
	watching    struct{ who string }
	watchFailed struct{ err error }
	failed      struct {
		what string
		err  error
	}
)

// Update takes a message, and returns the commands that follow from it.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	cmd := tea.Batch(m.handle(msg), attend(m, msg))
	if m.page == pageList { // messages may have taken lines from it
		m.list.KeepVisible(listSize(m))
	}
	if reviewing(m) {
		return tea.Batch(cmd, m.review.Follow(m.body()))
	}
	if m.detailVisible() {
		behind := *m
		if behind.page == pageForm {
			behind.page = m.back.top()
		}
		_, size := behind.splitSizes()
		return tea.Batch(cmd, m.detail.Follow(size))
	}
	return cmd
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.list.KeepVisible(listSize(m))
		return tea.Batch(m.updateForm(msg), m.lookUp())
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case ticked:
		// It asks for the size: of a change in the instant when the screen begins, no signal reaches it.
		cmds := []tea.Cmd{tick(), m.tasks.Tick(time.Time(msg)), m.lookUp(), tea.RequestWindowSize}
		if m.tasks.Failing || m.unwatched {
			cmds = append(cmds, m.tasks.Reload())
		}
		return tea.Batch(cmds...)
	case changed:
		return m.tasks.Reload()
	case news:
		m.messages.news = msg.text
	case watching:
		m.watcher = msg.who
	case watchFailed:
		m.unwatched = true
		m.failures.add("watch for changes", msg.err)
	case failed:
		m.failures.add(msg.what, msg.err)
	case browsed:
		msg.toldOf(m)
	case spin:
		return m.jobs.spin()
	case finished:
		return m.finish(msg)
	case created:
		return m.created(msg)
	default:
		return m.updateParts(msg)
	}
	return nil
}

// updateParts gives a message to the part that it is for.
func (m *Model) updateParts(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tasks.Read, tasks.AgentsChecked, tasks.WorkflowRead, tasks.TimeoutsRead, tasks.WorkMeasured,
		tasks.OriginRead, tasks.StepsRead:
		return m.updateTasks(msg)
	case detail.Read, detail.Drawn, detail.Tick:
		return m.detail.Update(msg, m.detailVisible())
	case review.Read, review.Reread:
		m.review.Update(msg)
		return nil
	case workspaces.Read:
		if err := m.workspaces.Update(msg, m.body()); err != nil {
			m.failures.add(lookAtWorkspaces, err)
		} else {
			m.failures.over(lookAtWorkspaces)
		}
		return nil
	case tea.PasteMsg:
		if m.form == nil && m.page == pageReview && m.review.Searching {
			return searchReview(m, msg)
		}
		if m.form == nil && m.page == pageHelp && m.help.searching {
			return searchHelp(m, msg)
		}
		if m.form == nil && m.list.Searching {
			return m.search(msg)
		}
	}
	return m.updateForm(msg)
}

// lookAtWorkspaces is what failed where the workspaces could not be read.
const lookAtWorkspaces = "look at the workspaces"

// updateTasks takes an answer about the tasks, and presses the key that waited for it.
func (m *Model) updateTasks(msg tea.Msg) tea.Cmd {
	cmd, look := m.tasks.Update(msg)
	cmds := []tea.Cmd{cmd}
	switch _, read := msg.(tasks.Read); {
	case look.Err != nil:
		m.failures.add(look.What, look.Err)
	case look.What != "":
		m.failures.over(look.What)
		if !read {
			break
		}
		m.leaveDeleted()
		tellPullRequest(m)
		cmds = append(cmds, m.selectNew())
		m.list.KeepVisible(listSize(m))
		cmds = append(cmds, m.workspaces.TasksChanged(m.page == pageWorkspaces), m.lookUp())
	}
	return tea.Batch(append(cmds, m.pressPending())...)
}

// lookUp looks up what the screen needs and what is unknown.
func (m *Model) lookUp() tea.Cmd { return m.tasks.LookUp(m.list.Visible(listSize(m))) }
