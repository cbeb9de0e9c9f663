// Package dashboard is the screen where people spend their day: all tasks, one of them closely, and every key
// that does something.
//
// One model holds everything and is changed by messages alone; its parts only draw. Nothing here reads a file,
// asks a program or waits: that is done by what House holds, in commands that Bubble Tea runs beside the screen,
// and comes back as a message. It decides nothing: which keys are open is asked of decide, and every wish goes
// through the engine like anybody's.
package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Record is what stands on record of all tasks.
type Record interface {
	// First are the newest live tasks of a project, or of all where the name is empty: those that are seen first.
	First(ctx context.Context, project string, most int) ([]task.Task, error)
	// All are all tasks, the live ones first, the newest first, with a cursor to ask on with.
	All(ctx context.Context) (tasks []task.Task, cursor int64, err error)
	// Since are the tasks that changed behind a cursor, as they are now, and the ids of those that are gone.
	Since(ctx context.Context, cursor int64) (changed []task.Task, gone []string, next int64, err error)
	// Watch calls changed whenever a task was changed, whoever did it, until ctx ends. It costs nothing while
	// nobody does.
	Watch(ctx context.Context, changed func()) error
}

// Look shows what there is beside the record.
type Look interface {
	// Agents tells how the agents of tasks are, by the tasks' ids. "Could not look" is task.AgentUnknown. With an
	// error it tells what it knows.
	Agents(ctx context.Context, tasks []task.Task) (map[string]Agent, error)
	// Rules is the very workflow that a task was created under.
	Rules(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	// Timeouts are how long statuses should take in a project, where it says so itself.
	Timeouts(project string) (task.Timeouts, error)
	Workspaces(ctx context.Context, project string) ([]record.Holding, error)
	// Work measures what a task's branch holds that the default branch has not.
	Work(ctx context.Context, t task.Task) (Work, error)
}

// Study looks at one task closely.
type Study interface {
	History(ctx context.Context, id string) ([]history.Event, error)
	Why(ctx context.Context, id string) (decide.Explanation, error)
	// Document is the text of TASK.md.
	Document(ctx context.Context, t task.Task) (string, error)
	// Diff is what the task's branch and its workspace changed against the default branch, the summary of files first.
	Diff(ctx context.Context, t task.Task) (string, error)
	// Panes are the agents' terminals as they look now, colours kept.
	Panes(ctx context.Context, t task.Task) ([]Pane, error)
	// Log is what the program's log tells of the task, the oldest first.
	Log(ctx context.Context, t task.Task) ([]string, error)
}

// Moves asks for what changes a task, in the name of whoever sits at the terminal.
type Moves interface {
	Create(ctx context.Context, n task.New) (record.Outcome, error)
	Command(ctx context.Context, id, command, reason string) (record.Outcome, error)
	RequestChanges(ctx context.Context, id, text string) (record.Outcome, error)
	Merge(ctx context.Context, id string, m task.Merge) (out record.Outcome, how string, err error)
	RequestPR(ctx context.Context, id string) (record.Outcome, error)
	// Next makes the one move that the evidence supports; with a reason to override, the one to a status that the
	// workflow lets a person make in spite of it.
	Next(ctx context.Context, id string, to task.Status, override string) (record.Outcome, error)
}

// Care keeps tasks going.
type Care interface {
	Respawn(ctx context.Context, id string) (record.Outcome, error)
	Retry(ctx context.Context, id string) (record.Outcome, error)
	Delete(ctx context.Context, id string) (string, error)
	// Attach gives the terminal to the window of a task's agent, until the person leaves it.
	Attach(ctx context.Context, id, role string) error
	// Edit gives the terminal to the person's editor, and answers the text as they left it.
	Edit(ctx context.Context, text string) (string, error)
	// Choices are what a new task can be made from.
	Choices(ctx context.Context) (Choices, error)
}

// Agent is how the agent of a task's status is.
type Agent struct {
	State  string    // one of task's words for it; empty where nobody has looked yet
	Active time.Time // when its terminal last changed; zero when that is not known
	Limit  string    // what its terminal says of its provider's limit, which lets it do no more for now
}

// Work is what a branch holds that the default branch has not.
type Work struct {
	Commits int
	Added   int // lines
	Removed int
	// how the branch stands to the commit that the status's evidence is about; empty where nothing asks for that
	Judged string
}

// Pane is the terminal of one agent.
type Pane struct {
	Role  string
	Title string // the window's name
	Lines []string
	Dead  bool
}

// Choices are what a new task can be made from. The first of each is what it gets when nobody says.
type Choices struct {
	Projects  []task.Project
	Harnesses []string
	Review    string // the reviewer's harness when nobody says anything
	Workflows []Book
}

// Book is a workflow that a task can be created under.
type Book struct {
	Name  string
	Rules *workflow.Definition
}

// House is what the dashboard asks. Every field is required.
type House struct {
	Record Record
	Look   Look
	Study  Study
	Moves  Moves
	Care   Care
	Now    func() time.Time
}

// Dashboard is one sitting at the screen. House, In, Out and Environ are required.
type Dashboard struct {
	House   House
	In      io.Reader
	Out     io.Writer
	Environ []string
	Project string // whose tasks are shown at first; empty for those of all
	Word    string // what is said at first; empty when nothing is

	program *tea.Program
	guard   *guard
	post    *post
	off     context.CancelFunc // ends the screen, and not what it set going
}

// Broken is a fault of the program itself: something in the screen gave way. The terminal is as it was before.
type Broken struct {
	Where string // the message or view that was being worked on
	Why   any
	Trace []byte
}

// Spot is the line of this program that gave way, as the trace has it.
func (b *Broken) Spot() string {
	for line := range strings.Lines(string(b.Trace)) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "internal/dashboard/") && strings.Contains(line, ".go:") &&
			!strings.Contains(line, "internal/dashboard/dashboard.go:") {
			spot, _, _ := strings.Cut(line, " ")
			return spot[strings.Index(spot, "internal/dashboard/"):]
		}
	}
	return "an unknown place"
}

func (b *Broken) Error() string {
	return fmt.Sprintf("the dashboard broke while %s: %v", b.Where, b.Why)
}

// Open makes the screen ready: from then on it can be told things. Call it once, and Run after it.
func (d *Dashboard) Open(ctx context.Context) {
	d.post = newPost()
	p := newPainter(d.Out, d.Environ)
	house := d.House
	house.Care = host{house.Care, p}
	model := New(ctx, house, d.Project)
	model.said = d.Word
	d.guard = &guard{model: model, painter: p}
	out := io.Discard
	if t, is := d.Out.(terminal); is {
		out = muted{t}
	}
	ctx, d.off = context.WithCancel(ctx)
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(d.In), tea.WithOutput(out), tea.WithEnvironment(d.Environ),
		tea.WithFPS(1), tea.WithoutCatchPanics(),
		// signals end ctx: beside that, Bubble Tea's own handler waits for ever for a program that ended
		tea.WithoutSignalHandler(),
	}
	d.program = tea.NewProgram(d.guard, options...)
	d.guard.quit = d.program.Quit
}

// Run shows the screen until the person leaves it or ctx ends. A *Broken says that a fault ended it.
// Nothing of the screen runs after it but the work that the person left running, which ends with the ctx of Open.
func (d *Dashboard) Run(ctx context.Context) error {
	beside, off := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { d.post.deliver(beside, d.program.Send) })
	all.Go(func() {
		if err := d.House.Record.Watch(beside, func() { d.program.Send(changed{}) }); err != nil &&
			beside.Err() == nil {
			d.post.put(deafened{err})
		}
	})
	err := d.guard.painter.begin()
	if err == nil {
		_, err = d.program.Run()
		err = errors.Join(err, d.guard.painter.end())
	}
	off()
	d.off() // from here on nobody waits for a screen that reads no more
	all.Wait()
	if d.guard.broken != nil {
		return d.guard.broken
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// Say shows a word to the person. Say, Watches and Fail may be called by anybody at any time after Open, and
// never wait.
func (d *Dashboard) Say(text string) { d.post.put(word{text}) }

// Watches tells who watches over the agents.
func (d *Dashboard) Watches(who string) { d.post.put(watching{who}) }

// Fail tells of something that went wrong beside the screen: it stays until it is read.
func (d *Dashboard) Fail(what string, err error) { d.post.put(failed{what, err}) }

// guard stands between Bubble Tea and the model: a fault in either ends the screen in good order.
type guard struct {
	model   *Model
	painter *painter
	broken  *Broken
	quit    func() // ends the program from where no command can be answered
}

func (g *guard) Init() tea.Cmd { return g.watched(g.model.Init()) }

func (g *guard) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	if b, is := msg.(*Broken); is {
		g.broken = b
	}
	if g.broken != nil {
		return g, tea.Quit
	}
	defer func() {
		if why := recover(); why != nil {
			g.broken = &Broken{Where: fmt.Sprintf("it worked on a %T", msg), Why: why, Trace: debug.Stack()}
			cmd = tea.Quit
		}
	}()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		g.painter.resize(msg.Width, msg.Height)
	case copied:
		g.painter.copy(msg.text)
	}
	cmd = g.model.Update(msg)
	return g, g.watched(cmd)
}

func (g *guard) View() (v tea.View) {
	defer func() {
		if why := recover(); why != nil {
			if g.broken == nil {
				g.broken = &Broken{Where: "it drew " + g.model.place.String(), Why: why, Trace: debug.Stack()}
				go g.quit()
			}
		}
	}()
	if g.broken != nil {
		return v
	}
	v = g.model.View()
	if err := g.painter.draw(v); err != nil {
		go g.quit() // nobody can see anything any more
	}
	return v
}

// watched lets a command that gives way end the screen instead of the process.
func (g *guard) watched(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if why := recover(); why != nil {
				msg = &Broken{Where: "it looked something up", Why: why, Trace: debug.Stack()}
			}
		}()
		msg = cmd()
		if many, is := msg.(tea.BatchMsg); is {
			for i := range many {
				many[i] = g.watched(many[i])
			}
		}
		return msg
	}
}
