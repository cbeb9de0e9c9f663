// Package dashboard is the screen of the program: all tasks, one of them in detail, and keys for everything that a
// person does with tasks.
//
// Its parts are packages below it: the views of the tasks, the forms, and the commands behind the keys. A part never
// imports this package. Nothing here reads a file, starts a program or waits: the Backend does that, in commands that
// Bubble Tea runs concurrently, and the answers come back as messages. The dashboard makes no decisions about tasks:
// package decide knows which keys are open, and every change goes through the engine.
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
	"github.com/charmbracelet/colorprofile"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/elsewhere"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/review"
	"orange/internal/ui/dashboard/tasks"
	"orange/internal/ui/dashboard/workspaces"
)

// Inspector looks up what the store of the tasks does not have.
type Inspector interface {
	tasks.Inspector
	workspaces.Reader
	elsewhere.Keeper
}

// The types of the parts that the interfaces of Backend have.
type (
	// Agent is the state of the agent of a task.
	Agent = tasks.Agent
	// Work is what a task's branch has that the default branch does not have.
	Work = tasks.Work
	// Pane is the terminal of one agent.
	Pane = detail.Pane
	// Choices are what a new task can be made from.
	Choices = form.Choices
	// WorkflowChoice is a workflow that a new task can have.
	WorkflowChoice = form.WorkflowChoice
)

// Backend is what the dashboard needs from the rest of the program. Every field is required.
type Backend struct {
	Store     tasks.Store
	Inspector Inspector
	Reader    detail.Reader
	Reviews   review.Reader
	Comments  review.Comments
	Runner    command.Runner
	Chooser   form.Chooser
	Terminal  Terminal
	Now       func() time.Time
}

// Dashboard is one run of the screen. Backend, In, Out and Environ are required.
type Dashboard struct {
	Backend Backend
	In      io.Reader
	Out     io.Writer
	Environ []string
	Project string // whose tasks are shown at first; empty for those of all projects
	Message string // the first message; empty for none
	// Settings has the text of config.yml, and the path of that file; nil for none.
	Settings func() (path string, text []byte, err error)

	program *tea.Program
	guard   *guard
	mailbox *mailbox
	cancel  context.CancelFunc // ends the screen, but not the work that it started
}

// Fault is a panic in the screen. The terminal is as it was before.
type Fault struct {
	Where string // what the screen was doing
	Why   any
	Trace []byte
}

// Location is the line of this program that panicked, from the trace.
func (f *Fault) Location() string {
	for line := range strings.Lines(string(f.Trace)) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "internal/ui/dashboard/") && strings.Contains(line, ".go:") &&
			!strings.Contains(line, "internal/ui/dashboard/dashboard.go:") {
			spot, _, _ := strings.Cut(line, " ")
			return spot[strings.Index(spot, "internal/ui/dashboard/"):]
		}
	}
	return "an unknown place"
}

func (f *Fault) Error() string {
	return fmt.Sprintf("the dashboard broke while %s: %v", f.Where, f.Why)
}

// Open makes the screen ready to receive Say, SetWatcher and Fail. Call it once, before Run.
func (d *Dashboard) Open(ctx context.Context) {
	d.mailbox = newMailbox()
	model := New(ctx, d.Backend, d.Project)
	model.foot.answer = d.Message
	model.style.Links = colorprofile.Detect(d.Out, d.Environ) > colorprofile.ASCII // no more than colours
	if d.Settings != nil {
		model.prefer(d.Settings)
	}
	model.away.Environ = d.Environ
	d.guard = &guard{model: model, read: make(chan struct{})}
	ctx, d.cancel = context.WithCancel(ctx)
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(d.In), tea.WithOutput(d.Out), tea.WithEnvironment(d.Environ),
		tea.WithoutCatchPanics(),
		// signals end ctx; Bubble Tea's own handler would wait forever for a program that ended
		tea.WithoutSignalHandler(),
	}
	d.program = tea.NewProgram(d.guard, options...)
	d.guard.quit = d.program.Quit
}

// Run shows the screen until the person quits or ctx ends. A *Fault ends it too. After it nothing runs any more but the
// work that the person left running, which ends with the ctx of Open.
func (d *Dashboard) Run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { d.mailbox.deliver(running, d.program.Send) })
	all.Go(func() {
		if err := d.Backend.Store.Watch(running, func() { d.recordChanged(running) }); err != nil &&
			running.Err() == nil {
			d.mailbox.put(watchFailed{err})
		}
	})
	_, err := d.program.Run()
	stop()
	d.cancel() // no command waits for a screen that reads no messages any more
	all.Wait()
	m := d.guard.model
	err = errors.Join(err, m.away.Flush(m.away.keeper, m.tasks.Project))
	if d.guard.fault != nil {
		return d.guard.fault
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// changesRest is how long the screen waits after it took one change of the record, before it takes the next: what
// other processes write in a row is read and drawn together, and they have the processor for themselves.
const changesRest = 100 * time.Millisecond

// recordChanged has the screen read what changed, and returns when it may read again.
func (d *Dashboard) recordChanged(ctx context.Context) {
	d.program.Send(recordChange{})
	rest := time.NewTimer(changesRest)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
}

// AwaitTasks waits until the screen has read all tasks, or could not read them, but not beyond ctx.
func (d *Dashboard) AwaitTasks(ctx context.Context) {
	select {
	case <-d.guard.read:
	case <-ctx.Done():
	}
}

// Say shows news to the person. Say, SetWatcher and Fail may be called concurrently after Open. They never wait.
func (d *Dashboard) Say(text string) { d.mailbox.put(news{text}) }

// SetWatcher shows who watches the agents.
func (d *Dashboard) SetWatcher(who string) { d.mailbox.put(watcherName{who}) }

// Fail shows a failure. It stays until the person has read it.
func (d *Dashboard) Fail(what string, err error) { d.mailbox.put(failureNews{what, err}) }

// handOnPanic hands on a panic of the function that defers it, as a fault.
func handOnPanic(where string, take func(*Fault)) {
	if why := recover(); why != nil {
		take(&Fault{Where: where, Why: why, Trace: debug.Stack()})
	}
}

// guard is between Bubble Tea and the model: it makes a panic end the screen in good order.
type guard struct {
	model *Model
	fault *Fault
	quit  func() // ends the program where no command can be returned

	readOnce sync.Once
	read     chan struct{} // closed once all tasks were read, or could not be
}

func (g *guard) Init() tea.Cmd { return g.guarded(g.model.Init()) }

func (g *guard) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	if b, is := msg.(*Fault); is {
		g.fault = b
	}
	if g.fault != nil {
		return g, tea.Quit
	}
	defer handOnPanic(fmt.Sprintf("it worked on a %T", msg), func(f *Fault) { g.fault, cmd = f, tea.Quit })
	if read, is := msg.(tasks.Read); is && (!read.Part || read.Err != nil) {
		g.readOnce.Do(func() { close(g.read) })
	}
	cmd = g.model.Update(msg)
	return g, g.guarded(cmd)
}

func (g *guard) View() (v tea.View) {
	if g.fault != nil {
		return tea.View{AltScreen: true} // the end of the program leaves it
	}
	defer handOnPanic("it drew "+g.model.pages.page.String(), func(f *Fault) {
		g.fault, v = f, tea.View{AltScreen: true}
		go g.quit()
	})
	v = g.model.View()
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	return v
}

// guarded makes a panic in a command end the screen instead of the process.
func (g *guard) guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer handOnPanic("it looked something up", func(f *Fault) { msg = f })
		msg = cmd()
		if many, is := msg.(tea.BatchMsg); is {
			for i := range many {
				many[i] = g.guarded(many[i])
			}
		}
		return msg
	}
}
