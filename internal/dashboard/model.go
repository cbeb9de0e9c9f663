package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/board"
	"orange/internal/dashboard/detail"
	"orange/internal/dashboard/list"
	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/dashboard/workspaces"
	"orange/internal/task"
)

// place is what the body of the screen shows.
type place int

const (
	inList place = iota
	inBoard
	inDetail
	inWorkspaces
	inHelp
	inForm
	inTrouble // the whole text of the failures
)

func (p place) String() string {
	return [...]string{"the list", "the board", "a task", "the workspaces", "the help", "a form", "what went wrong"}[p]
}

// Model is everything that the screen shows. Its views are parts of their own; it has what they have in common: where
// the person is, what runs, and what is reported.
type Model struct {
	ctx   context.Context // of the dashboard; commands end with it
	house House

	place         place
	trail         []place // where Escape leads, the next one last
	width, height int
	style         *screen.Style
	keys          []key
	missesChanges bool // the store reports no changes any more: the clock makes the tasks be read again

	tasks      *tasks.Set
	list       *list.Model
	board      *board.Model
	detail     *detail.Model
	workspaces *workspaces.Model
	wantSplit  bool // the detail is wanted next to the list
	form       *form
	unsent     map[string]string // texts that were sent and did not arrive, by their jobs' names
	unmade     *creation         // a task that was refused when its form was gone
	wanted     string            // a new task that the cursor goes to once the list has it
	help       screen.Scroll

	jobs     []job
	nextJob  int
	frame    int // of the spinner
	spinning bool
	said     string // the answer to the last key, until the next one
	told     string // what was reported meanwhile, until the next key
	waits    waiting
	warned   bool // that leaving would cut something short
	trouble  trouble
	watches  string // who watches over the agents
}

// New is the screen before anything is known.
func New(ctx context.Context, house House, project string) *Model {
	style := screen.NewStyle()
	set := tasks.New(ctx, house.Record, house.Look, project, house.Now())
	m := &Model{
		ctx: ctx, house: house, style: style, keys: keys(), width: 80, height: 24, tasks: set,
		list: list.New(set, style), board: board.New(set, style),
		detail:     detail.New(ctx, house.Study, set, style),
		workspaces: workspaces.New(ctx, house.Look, set, style),
		unsent:     map[string]string{},
	}
	set.History = m.detail.Events
	return m
}

// Init reads the tasks that the screen shows first, and the workspaces.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.tasks.LoadFirst(), m.workspaces.Load(), tick()) }

// tickRate is how often the clock ticks: ages grow, and agents change without a change of the store.
const tickRate = 5 * time.Second

func tick() tea.Cmd { return tea.Tick(tickRate, func(t time.Time) tea.Msg { return ticked(t) }) }

// Update takes a message, and returns the commands that follow from it.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	if m.detailVisible() {
		return tea.Batch(cmd, m.detail.Follow(m.detailSize()))
	}
	return cmd
}

func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.list.KeepVisible(m.body())
		m.fitForm()
		return m.lookUp()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case ticked:
		cmds := []tea.Cmd{tick(), m.tasks.Tick(time.Time(msg)), m.lookUp()}
		if m.tasks.Failing() || m.missesChanges {
			cmds = append(cmds, m.tasks.Reload())
		}
		return tea.Batch(cmds...)
	case changed:
		return m.tasks.Reload()
	case word:
		m.told = msg.text
	case watching:
		m.watches = msg.who
	case watchFailed:
		m.missesChanges = true
		m.trouble = m.trouble.with("watch for changes", msg.err)
	case failed:
		m.trouble = m.trouble.with(msg.what, msg.err)
	case spun:
		return m.spin()
	case finished:
		return m.finish(msg)
	default:
		return m.updateParts(msg)
	}
	return nil
}

// updateParts gives a message to the part that it is for.
func (m *Model) updateParts(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tasks.Read, tasks.AgentsChecked, tasks.WorkflowRead, tasks.TimeoutsRead, tasks.WorkMeasured:
		return m.updateTasks(msg)
	case detail.Read, detail.Drawn, detail.Tick:
		return m.detail.Update(msg, m.detailVisible())
	case workspaces.Read:
		if err := m.workspaces.Update(msg, m.body()); err != nil {
			m.trouble = m.trouble.with("look at the workspaces", err)
		}
	case choicesRead, edited, created:
		return m.learnForm(msg)
	default:
		if m.place == inForm && m.form != nil {
			return m.updateForm(msg)
		}
	}
	return nil
}

// updateTasks takes an answer about the tasks, and presses the key that waited for it.
func (m *Model) updateTasks(msg tea.Msg) tea.Cmd {
	cmd, failure := m.tasks.Update(msg)
	cmds := []tea.Cmd{cmd}
	if failure != nil {
		m.trouble = m.trouble.with(failure.What, failure.Err)
	} else if _, is := msg.(tasks.Read); is {
		m.lose()
		cmds = append(cmds, m.seek())
		m.list.KeepVisible(m.body())
		cmds = append(cmds, m.workspaces.TasksChanged(m.place == inWorkspaces), m.lookUp())
	}
	return tea.Batch(append(cmds, m.pressAgain())...)
}

// lookUp looks up what the screen needs and what is unknown.
func (m *Model) lookUp() tea.Cmd { return m.tasks.LookUp(m.list.Visible(m.body())) }

// Messages.
type (
	ticked      time.Time
	changed     struct{}
	word        struct{ text string }
	watching    struct{ who string }
	watchFailed struct{ err error }
	failed      struct {
		what string
		err  error
	}
)

// selected is the task that keys are about; false where there is none.
func (m *Model) selected() (task.Task, bool) { return m.tasks.Selected() }
