package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/board"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/elsewhere"
	"orange/internal/ui/dashboard/list"
	"orange/internal/ui/dashboard/review"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/settings"
	"orange/internal/ui/dashboard/tasks"
	"orange/internal/ui/dashboard/workspaces"
)

// Model is everything that the screen shows. It gives each message to the part that it is for; the parts have what they
// need of each other.
type Model struct {
	style *screen.Style
	tasks *tasks.Set // the record, and which of its tasks is selected

	pages    *pages
	layout   *layout
	header   *header
	foot     *foot
	keyboard *keyboard
	asks     *asks
	choice   *choice
	away     *away

	list       *list.Model
	board      *board.Model
	detail     *detail.Model
	review     *review.Model
	reviewKeys *reviewKeys
	workspaces *workspaces.Model
	help       *help
}

// New is the screen before anything is known.
func New(ctx context.Context, backend Backend, project string) *Model {
	style := screen.NewStyle()
	set := tasks.New(ctx, backend.Store, backend.Inspector, project, backend.Now())
	m := &Model{
		style: style, tasks: set, pages: &pages{tasks: set},
		list: list.New(set, style), board: board.New(set, style),
		detail:     detail.New(ctx, backend.Reader, set, style),
		review:     review.New(ctx, backend.Reviews, backend.Comments, set, style, backend.Now),
		workspaces: workspaces.New(ctx, backend.Inspector, set, style),
	}
	m.header = &header{tasks: set, workspaces: m.workspaces, style: style}
	m.foot = &foot{style: style, tasks: set, pages: m.pages, searched: m.searched, failures: &failures{style: style}}
	m.layout = &layout{tasks: set, pages: m.pages, list: m.list, detail: m.detail, width: 80, height: 24,
		wantSplit: true}
	m.layout.foot = func() int { return len(m.foot.lines(m.layout.width, m.layout.height)) }
	m.asks = &asks{ctx: ctx, backend: backend, style: style, tasks: set, pages: m.pages, layout: m.layout,
		foot: m.foot, unsent: map[string]string{}, commands: command.Commands{Runner: backend.Runner,
			Comments: backend.Comments, Style: style, Edit: editor(ctx, backend.Terminal), Why: backend.Reader.Why}}
	m.reviewKeys = &reviewKeys{m.asks, m.review}
	m.away = &away{elsewhere.New(backend.Now()), backend.Inspector, set, m.board, m.pages, m.layout, m.foot}
	m.keyboard = &keyboard{style: style, tasks: set, pages: m.pages, foot: m.foot, asks: m.asks}
	m.help = &help{keyboard: m.keyboard, style: style}
	m.choice = &choice{tasks: set, pages: m.pages, foot: m.foot, keyboard: m.keyboard, style: style}
	m.keyboard.keys = m.table()
	style.Keys = m.keyboard.keys.named()
	set.Keys, set.History = style.Keys, m.detail.Events
	m.detail.NextToList, m.detail.BelowList = m.layout.nextToList, m.layout.belowList
	m.list.NextToTask, m.list.AboveTask = m.layout.besideList, m.layout.belowList
	m.list.Most, m.list.Answering = m.layout.mostList, m.pages.answering
	return m
}

// prefer takes the keys and colours of config.yml. Where something in it is wrong, all stay as usual, and the screen
// says so until the person has read it.
func (m *Model) prefer(read func() (path string, text []byte, err error)) {
	path, text, err := read()
	var wanted settings.Settings
	if err == nil {
		wanted, err = settings.Parse(path, text, m.keyboard.keys.settable())
	}
	if err != nil {
		m.foot.failures.add("use your keys and colours, so the usual ones are in use", err)
		return
	}
	for i, k := range m.keyboard.keys {
		if names, changed := wanted.Keys[k.action]; changed {
			m.keyboard.keys[i].names, m.style.Keys[k.action] = names, names
		}
	}
	m.style.Paint(wanted.Theme)
}

// Init reads the tasks that the screen shows first, and the workspaces.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.tasks.LoadFirst(), m.workspaces.Load(), tick(), elsewhere.Load(m.away.keeper, m.tasks.Project))
}

// tickRate is how often the clock ticks: ages grow, and agents change without a change of the store.
const tickRate = 5 * time.Second

func tick() tea.Cmd { return tea.Tick(tickRate, func(t time.Time) tea.Msg { return clockTick(t) }) }

// Messages about the record.
type (
	clockTick    time.Time
	recordChange struct{}
	watcherName  struct{ who string }
	watchFailed  struct{ err error }
)

// Update gives a message to the part that it is for, and then has each part look up what the screen needs now: nothing
// that changes what is shown has to ask for that.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	before, _ := m.tasks.Selected()
	cmds := []tea.Cmd{m.handle(msg), m.away.update(msg)}
	if now, _ := m.tasks.Selected(); now.ID != before.ID {
		m.keyboard.pending = pendingKey{}
	}
	if m.pages.page == pageList { // messages may have taken lines from it
		m.list.KeepVisible(m.layout.listSize())
	}
	if m.pages.behind() == pageReview {
		cmds = append(cmds, m.review.Follow(m.layout.body()))
	}
	return tea.Batch(append(cmds, m.tasks.LookUp(m.list.Visible(m.layout.listSize())),
		m.detail.Follow(m.layout.detailSize(), m.layout.detailVisible()))...)
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.layout.width, m.layout.height = msg.Width, msg.Height
		return m.asks.update(msg)
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.PasteMsg:
		if m.pages.form != nil {
			return m.asks.update(msg)
		}
		m.search(msg)
	case news:
		m.foot.news = msg.text
	case failureNews:
		m.foot.failures.add(msg.what, msg.err)
	case browseResult:
		m.asks.sayBrowsed(msg)
	case spin:
		return m.foot.jobs.spin()
	case creationResult:
		m.asks.finishCreation(msg)
		return m.jobEnded()
	case jobResult:
		m.asks.finish(msg)
		return m.jobEnded()
	case clockTick, recordChange, watcherName, watchFailed, tasks.Read, tasks.AgentsChecked,
		tasks.WorkflowRead, tasks.Answer:
		return m.aboutTasks(msg)
	case detail.Read, detail.Drawn, detail.Tick:
		return m.detail.Update(msg, m.layout.detailVisible())
	case review.Read, review.Reread:
		m.review.Update(msg)
	case workspaces.Read:
		m.foot.failures.looked("look at the workspaces", m.workspaces.Update(msg, m.layout.body()))
	default:
		return m.asks.update(msg)
	}
	return nil
}

// jobEnded reads what a job may have changed.
func (m *Model) jobEnded() tea.Cmd {
	m.review.RefreshComments()
	return m.tasks.Reload()
}

// aboutTasks takes news of the record, and presses the key that waited for it.
func (m *Model) aboutTasks(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case clockTick:
		// It asks for the size: of a change in the instant when the screen begins, no signal reaches it.
		cmds := []tea.Cmd{tick(), m.tasks.Tick(time.Time(msg)), tea.RequestWindowSize}
		if m.tasks.Failing || m.header.unwatched {
			cmds = append(cmds, m.tasks.Reload())
		}
		return tea.Batch(cmds...)
	case recordChange:
		return m.tasks.Reload()
	case watcherName:
		m.header.watcher = msg.who
	case watchFailed:
		m.header.unwatched = true
		m.foot.failures.add("watch for changes", msg.err)
	default:
		cmd, look := m.tasks.Update(msg)
		m.foot.failures.looked(look.What, look.Err)
		cmds := []tea.Cmd{cmd}
		if read, is := msg.(tasks.Read); is && read.Err == nil {
			cmds = append(cmds, m.tasksRead())
		}
		return tea.Batch(append(cmds, m.keyboard.pressPending())...)
	}
	return nil
}

// tasksRead does what follows from tasks that came, changed or went.
func (m *Model) tasksRead() tea.Cmd {
	if m.pages.leaveDeleted() && m.foot.answer == "" {
		m.foot.answer = "the task that you looked at is gone: it was deleted"
	}
	m.asks.sayOpened()
	m.asks.selectNew()
	return m.workspaces.TasksChanged(m.pages.page == pageWorkspaces)
}
