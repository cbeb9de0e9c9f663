package dashboard

import (
	"context"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/task"
	"orange/internal/workflow"
)

// place is what the person looks at.
type place int

const (
	inList place = iota
	inBoard
	inDetail
	inWorkspaces
	inHelp
	inForm
	inTrouble // the whole text of what went wrong last
)

func (p place) String() string {
	return [...]string{"the list", "the board", "a task", "the workspaces", "the help", "a form", "what went wrong"}[p]
}

// Model is everything that the screen shows. It is a value: Update answers the next one. What was looked up
// stands in maps that all values of a sitting share.
type Model struct {
	ctx   context.Context // of the sitting; commands end with it
	house House

	place          place
	trail          []place // where Escape leads, the next one last
	width, height  int
	style          screen.Style
	keys           []key // the tables, made once
	marks          []mark
	now            time.Time
	beats          int // how often the clock was heard
	loaded         bool
	loading, again bool  // a look at the record is on its way; another one is wanted after it
	looking        bool  // a look at the agents is on its way
	lookAgain      bool  // another one is wanted after it
	deaf           bool  // nobody tells of changes any more: they are looked for with the clock
	failing        bool  // the record could not be read the last time: it is tried again with the clock
	cursor         int64 // how far the record was read; 0 where all of it is still to be read

	list       list
	detail     detail
	board      board
	workspaces workspaces
	form       *form
	unsent     map[string]string // texts that were sent and did not arrive, by their jobs' names
	unmade     *creation         // a task that was refused when its form was gone
	wanted     string            // a new task that the cursor goes to once the list has it
	help       screen.Scroll

	rules    map[string]*workflow.Definition // by digest; nil while it is being looked up, or cannot be
	unread   map[string]string               // by digest: why rules cannot be read
	limits   map[string]task.Timeouts        // of projects that have their own, by their names
	works    map[string]measured             // by task
	jobs     []job
	nextJob  int
	frame    int // of the spinner
	spinning bool
	said     string // the answer to the last key, until the next one
	told     string // what was told meanwhile without having been asked, until the next key
	waits    waiting
	warned   bool // that leaving would cut something short
	trouble  trouble
	watches  string // who watches over the agents
}

// New is the screen before anything is known.
func New(ctx context.Context, house House, project string) *Model {
	return &Model{
		ctx: ctx, house: house, now: house.Now(), loading: true, style: screen.NewStyle(), keys: keys(), marks: marks(),
		width: 80, height: 24,
		list:  list{project: project, turns: map[string]map[task.Status]bool{}},
		rules: map[string]*workflow.Definition{}, limits: map[string]task.Timeouts{}, works: map[string]measured{},
		unsent: map[string]string{}, unread: map[string]string{},
	}
}

// Init asks for the tasks, first for those that are seen first since there may be very many, and for who has the
// workspaces.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.loadFirst(), m.loadWorkspaces(), beat()) }

// heart is how often the clock is heard: ages grow, and agents are looked at that nobody told of.
const heart = 5 * time.Second

func beat() tea.Cmd { return tea.Tick(heart, func(t time.Time) tea.Msg { return beaten(t) }) }

// Update is what follows from a message. It touches nothing outside the model.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	wanted := m.followDetail()
	return tea.Batch(cmd, wanted)
}

// take takes one message in.
func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.list.keepInSight(m.listHeight())
		m.fitForm()
		return m.wantSeen()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case beaten:
		return m.hearClock(time.Time(msg))
	case changed:
		return m.reload()
	case word:
		m.told = msg.text
	case watching:
		m.watches = msg.who
	case deafened:
		m.deaf = true
		m.trouble = m.trouble.with("watch for changes", msg.err)
	case failed:
		m.trouble = m.trouble.with(msg.what, msg.err)
	case spun:
		return m.spin()
	case finished:
		return m.finish(msg)
	case tasksLoaded, agentsSeen, rulesRead, limitsRead, workMeasured:
		cmd := m.learn(msg)
		pressed := m.pressAgain()
		return tea.Batch(cmd, pressed)
	default:
		return m.updateParts(msg)
	}
	return nil
}

// hearClock looks at what changes without a word: the agents, and the work on branches.
func (m *Model) hearClock(now time.Time) tea.Cmd {
	m.now = now
	m.beats++
	agents := m.lookAtAgents()
	cmds := []tea.Cmd{beat(), agents, m.wantSeen()}
	if m.failing || m.deaf {
		var cmd tea.Cmd
		cmd = m.reload()
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// updateParts hands a message to the part that it belongs to.
func (m *Model) updateParts(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case studied, drawn, paneTick:
		return m.learnDetail(msg)
	case held:
		return m.learnWorkspaces(msg)
	case choicesRead, edited, created:
		return m.learnForm(msg)
	default:
		if m.place == inForm && m.form != nil {
			return m.updateForm(msg)
		}
	}
	return nil
}

// Messages.
type (
	beaten     time.Time
	changed    struct{}
	word       struct{ text string }
	watching   struct{ who string }
	deafened   struct{ err error }
	agentsSeen struct {
		agents map[string]Agent
		err    error
	}
	rulesRead struct {
		digest string
		def    *workflow.Definition
		err    error
	}
	limitsRead struct {
		project string
		limits  task.Timeouts
		err     error
	}
	workMeasured struct {
		id   string
		work Work
		err  error
	}
	failed struct {
		what string
		err  error
	}
)

// lookAtAgents looks at the sessions of those tasks that have one: at once, or after the look that is on its way.
// An older answer would else come after a newer one, and looks that take long would pile up.
func (m *Model) lookAtAgents() tea.Cmd {
	if m.looking {
		m.lookAgain = true
		return nil
	}
	ctx, look := m.ctx, m.house.Look
	var asked []task.Task
	for i := range m.list.rows {
		if t := m.list.rows[i].task; t.Session != "" {
			asked = append(asked, *t)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	m.looking = true
	return func() tea.Msg {
		agents, err := look.Agents(ctx, asked)
		return agentsSeen{agents, err}
	}
}

// learn takes in what was looked up for the list.
func (m *Model) learn(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tasksLoaded:
		return m.learnTasks(msg)
	case agentsSeen:
		again := m.lookAgain
		m.looking, m.lookAgain = false, false
		if msg.err != nil {
			// those that could be looked at are told nevertheless
			m.trouble = m.trouble.with("look at the agents", msg.err)
		}
		m.list.setAgents(msg.agents)
		if again {
			return m.lookAtAgents()
		}
	case rulesRead:
		if msg.err != nil {
			m.trouble = m.trouble.with("read the workflow of a task", msg.err)
			m.unread[msg.digest] = firstLine(msg.err)
			return nil
		}
		m.rules[msg.digest] = msg.def
		m.list.learn(msg.digest, msg.def)
		delete(m.unread, msg.digest)
	case limitsRead:
		if msg.err != nil {
			m.trouble = m.trouble.with("read the timeouts of a project", msg.err)
			return nil
		}
		m.limits[msg.project] = msg.limits
	case workMeasured:
		one := m.works[msg.id]
		// what could not be measured is told as unknown; the task's diff says why
		one.known, one.work = msg.err == nil, msg.work
		m.works[msg.id] = one
	}
	return nil
}

// wantSeen asks for what the screen shows and is not known: rules, and the work on the branches of visible rows.
func (m *Model) wantSeen() tea.Cmd {
	ctx, look := m.ctx, m.house.Look
	cmds := m.wantRules()
	for _, t := range m.list.seen(m.listHeight()) {
		if t.Workspace == "" || !m.works[t.ID].stale(t, m.beats) {
			continue
		}
		one := m.works[t.ID]
		one.version, one.beat = t.Version, m.beats
		m.works[t.ID] = one
		cmds = append(cmds, func() tea.Msg {
			work, err := look.Work(ctx, *t)
			return workMeasured{t.ID, work, err}
		})
	}
	return tea.Batch(cmds...)
}

// wantRules asks for the workflows of all tasks that are shown: they are few, and the board has a column for each
// of their states.
func (m *Model) wantRules() []tea.Cmd {
	ctx, look := m.ctx, m.house.Look
	var cmds []tea.Cmd
	for _, one := range m.list.kinds {
		project, ref := one.project, one.rules
		if _, known := m.limits[project]; !known {
			m.limits[project] = nil
			cmds = append(cmds, func() tea.Msg {
				limits, err := look.Timeouts(project)
				return limitsRead{project, limits, err}
			})
		}
		if _, known := m.rules[ref.Digest]; known {
			continue
		}
		m.rules[ref.Digest] = nil
		cmds = append(cmds, func() tea.Msg {
			def, err := look.Rules(ctx, ref)
			return rulesRead{ref.Digest, def, err}
		})
	}
	return cmds
}

// forgetWork has the work of all tasks measured anew. What is shown stays until then.
func (m *Model) forgetWork() {
	for id, one := range m.works {
		one.version = -1
		m.works[id] = one
	}
}

// forgetUnread has looked up again what could not be read.
func (m *Model) forgetUnread() {
	maps.DeleteFunc(m.rules, func(_ string, def *workflow.Definition) bool { return def == nil })
	maps.DeleteFunc(m.limits, func(_ string, limits task.Timeouts) bool { return limits == nil })
}

// measured is the work of a task as it was when somebody looked last.
type measured struct {
	work    Work
	known   bool
	version int64
	beat    int
}

// workLasts is how many beats pass before the work of a task that did not move is measured anew: its agent
// commits without a word.
const workLasts = 6

func (one measured) stale(t *task.Task, beat int) bool {
	return one.version != t.Version || t.Live && beat-one.beat >= workLasts
}

// selected is the task that keys are about; false where there is none.
func (m *Model) selected() (task.Task, bool) {
	return m.list.selected()
}

// definition is the workflow of a task; nil while it is not known.
func (m *Model) definition(t task.Task) *workflow.Definition { return m.rules[t.Workflow.Digest] }
