package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Target is the selected task with what commands depend on.
type Target struct {
	Task       task.Task
	Selected   bool                 // there is a task
	Workflow   *workflow.Definition // nil while it is unknown
	Unreadable string               // why the workflow cannot be read
	Agent      tasks.Agent
	Keys       screen.KeyTable
	Judged     string        // how the branch compares with the commit that was judged; empty where that is unknown
	Origin     *tasks.Origin // nil while it is unknown
}

// Reasons that last for a moment: what the command depends on is being looked up.
const (
	ReadingWorkflow  = "the task's workflow is being read"
	CheckingTerminal = "its terminal is being looked at"
)

// person is the person at the terminal, as far as conditions need it. The Runner finds out who it is.
func person() task.Actor { return task.Actor{Role: task.RoleHuman} }

func firstLine(err error) string {
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// NoTask is why nothing can be done: no task is selected.
func (on Target) NoTask() string {
	if !on.Selected {
		return "no task is selected"
	}
	return ""
}

// known is why a command cannot be decided on; empty where the task and its workflow are known.
func (on Target) known() string {
	switch {
	case !on.Selected:
		return on.NoTask()
	case on.Workflow == nil && on.Unreadable != "":
		return fmt.Sprintf("the task's workflow cannot be read, %s tries again: %s", on.Keys.Of("look-again"),
			on.Unreadable)
	case on.Workflow == nil:
		return ReadingWorkflow
	}
	return ""
}

// NoCommand is why a command of the workflow leads nowhere; empty where it does lead somewhere.
func (on Target) NoCommand(command string) string {
	if why := on.known(); why != "" {
		return why
	}
	def, t := on.Workflow, on.Task
	to, _, err := decide.MoveTarget(def, t, command)
	switch {
	case err != nil:
		return firstLine(err)
	case to == t.Status:
		return fmt.Sprintf("the task is %q already", to)
	case !slices.Contains(decide.MayAsk(def, t, person()), to):
		return fmt.Sprintf("the workflow %q leads nowhere from %q to %q", def.Name, t.Status, to)
	}
	return ""
}

// NoChanges is why no changes can be requested; empty where they can: where a person judges the work, or where the
// workflow lets them go back without a condition. Elsewhere the request would be refused, and its text be in TASK.md.
func (on Target) NoChanges() string {
	if why := on.NoCommand(workflow.MoveRequestChanges); why != "" {
		return why
	}
	def, t := on.Workflow, on.Task
	to, _, _ := decide.MoveTarget(def, t, workflow.MoveRequestChanges)
	if def.WaitsForPerson(t.Status) || slices.ContainsFunc(def.Transitions, func(edge workflow.Transition) bool {
		return edge.From == t.Status && edge.To == to && len(edge.Gate) == 0
	}) {
		return ""
	}
	return fmt.Sprintf("in %q no work waits for your judgement yet; %s has the moves", t.Status, on.Keys.Of("move"))
}

// NoRetry is why nothing can be tried again; empty where something has failed, as far as the task is marked with it.
func (on Target) NoRetry() string {
	switch {
	case !on.Selected:
		return on.NoTask()
	case on.Task.Attention == "":
		return "nothing of the task is marked as failed"
	}
	return ""
}

// NoMoves is why no move can be chosen; empty where one may be.
func (on Target) NoMoves() string {
	if why := on.known(); why != "" {
		return why
	}
	if len(decide.MayAsk(on.Workflow, on.Task, person())) == 0 && len(on.Workflow.Redo) == 0 {
		return fmt.Sprintf("no move leads out of %q", on.Task.Status)
	}
	return ""
}

// NoSay is why nothing can be said to the task's agent; empty where something can.
func (on Target) NoSay() string {
	if why := on.known(); why != "" {
		return why
	}
	role, err := decide.Say(on.Workflow, on.Task, "", person())
	switch {
	case err != nil:
		return "the task is over: no agent is left to hear it"
	case on.Agent.State == "" && on.Task.Session != "":
		return CheckingTerminal
	case on.Agent.State == record.AgentDead, on.Agent.State == record.AgentNone, on.Agent.State == "":
		return fmt.Sprintf("no %s is running that could hear it; %s has what you can do", role, on.Keys.Of("move"))
	}
	return ""
}

// NoOverride is why no move can be overridden; empty where one can.
func (on Target) NoOverride() string {
	if why := on.known(); why != "" {
		return why
	}
	_, err := decide.Overridable(on.Workflow, on.Task, person())
	return firstLine(err)
}

// lands says where the task's branch goes when a person merges it, and whether origin gets that.
func (on Target) lands() string {
	if on.Task.PRState == record.PROpen && on.Task.PRURL != "" {
		return "its pull request " + prNumber(on.Task) + " is open, so Orange merges nothing here"
	}
	if on.Origin == nil {
		return "its branch goes into the default branch, and to origin where its project says so"
	}
	project := on.Origin.Project
	into := "its branch goes into " + project.DefaultBranch
	switch {
	case project.Merge == "pr":
		return "its project merges by pull requests: its own is merged there"
	case !on.Origin.There, project.Push == "never":
		return into + ", which is not pushed"
	case project.Push == "ask":
		return into + "; whether origin gets that, its project asks each time"
	}
	return into + ", which is pushed to origin"
}

// prNumber is the number of a task's pull request: "#41".
func prNumber(t task.Task) string {
	return "#" + printable.Line(t.PRURL[strings.LastIndexByte(t.PRURL, '/')+1:])
}

// meets says what the branch is known to be in conflict with, in sentences; empty where nothing is known.
func (on Target) meets() string {
	switch need := on.Agent.Need; {
	case len(need.Conflicts) > 0:
		return " It is in conflict with " + strings.Join(need.Conflicts, ", ") + "."
	case need.Apart:
		return " It was not compared with all other branches."
	}
	return ""
}

// NoPR is why no pull request can be opened; empty where one can.
func (on Target) NoPR() string {
	if why := on.known(); why != "" {
		return why
	}
	switch {
	case !on.Task.Live:
		return "the task is over"
	case on.Task.Workspace == "":
		return "the task has no workspace: no agent has worked on the branch yet"
	case on.Origin == nil:
		return ""
	}
	_, err := decide.RequestPR(on.Workflow, record.Snapshot{Task: on.Task}, true, on.Origin.There, on.Origin.Forge,
		person(), time.Time{})
	if refused, is := errors.AsType[*rejection.Rejection](err); is && len(refused.Details) > 0 {
		return fmt.Sprintf("%s: %s", refused.Details[0].Condition, refused.Details[0].Found)
	}
	return firstLine(err)
}

// NoAddress is why the task has no pull request that can be opened or copied; empty where it has one.
func (on Target) NoAddress() string {
	switch t := on.Task; {
	case !on.Selected:
		return on.NoTask()
	case t.PRURL == "" && on.NoPR() != "":
		return "the task has no pull request"
	case t.PRURL == "":
		return "the task has no pull request; " + on.Keys.Of("pull-request") + " opens one"
	case printable.Address(t.PRURL) == "":
		return "this is no address of the web: " + printable.Line(t.PRURL)
	}
	return ""
}

// NoEnter is why Enter does nothing; empty where it does something.
func (on Target) NoEnter() string {
	if why := on.known(); why != "" {
		return why
	}
	_, why := on.enter()
	return why
}

// EnterMeans is what Enter does with a task.
type EnterMeans int

// What Enter does.
const (
	EnterNothing EnterMeans = iota
	EnterStart
	EnterAttach
	EnterRestart
)

func (e EnterMeans) String() string { return [...]string{"start", "start", "attach", "start again"}[e] }

// EnterMeans is what Enter does; EnterNothing where it does nothing or where that is unknown.
func (on Target) EnterMeans() EnterMeans {
	if on.known() != "" {
		return EnterNothing
	}
	means, _ := on.enter()
	return means
}

// enter is what Enter does, or why it does nothing.
func (on Target) enter() (EnterMeans, string) {
	def, t := on.Workflow, on.Task
	state, _ := def.State(t.Status)
	to, err := decide.SpawnTarget(def, t)
	switch {
	case on.Agent.State == record.AgentAlive:
		return EnterAttach, ""
	case on.Agent.State == "" && t.Session != "":
		return EnterNothing, CheckingTerminal
	case on.Agent.State == record.AgentUnknown:
		return EnterNothing, "the terminals could not be looked at; " + on.Keys.Of("look-again") + " looks again"
	case t.Queued():
		return EnterNothing, fmt.Sprintf("the task waits for a workspace and starts when one is free; %s shows who "+
			"has them", on.Keys.Of("workspaces"))
	case t.Status == def.Initial && err == nil && slices.Contains(decide.MayAsk(def, t, person()), to):
		return EnterStart, ""
	case !t.Live:
		return EnterNothing, fmt.Sprintf("the task is over; %s shows it", on.Keys.Of("document"))
	case state.Role == "":
		return EnterNothing, fmt.Sprintf("no agent works in %q; %s shows the task, %s has its moves", t.Status,
			on.Keys.Of("document"), on.Keys.Of("move"))
	}
	return EnterRestart, ""
}
