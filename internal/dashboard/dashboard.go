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

	"orange/internal/dashboard/detail"
	"orange/internal/dashboard/tasks"
	"orange/internal/dashboard/workspaces"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Look looks up what the record does not have.
type Look interface {
	tasks.Inspector
	workspaces.Reader
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

// The types of the parts that the interfaces have.
type (
	// Agent is the state of the agent of a task.
	Agent = tasks.Agent
	// Work is what a task's branch has that the default branch does not have.
	Work = tasks.Work
	// Pane is the terminal of one agent.
	Pane = detail.Pane
)

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
	Record tasks.Store
	Look   Look
	Study  detail.Reader
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
			d.post.put(watchFailed{err})
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
