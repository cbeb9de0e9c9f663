package engine

import (
	"context"
	"io"
	"log/slog"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Engine makes every change of a task: it is the one door to its parts, and has no work of its own.
type Engine struct {
	*core
	*files
	*outcomes
	*looks
	*reactions
	*rooms
	*crew
	*requests
	*turns
	*hooks
	*pulls
	*merges
	*arrivals
	*departures
	*questions
}

// New wires an engine. A part gets the ports that it asks, and the parts above it that it calls.
func New(p Ports) *Engine {
	e := &Engine{core: &core{record: p.Record, folder: p.Folder, workflow: p.Rules.Pinned, project: p.Work.Project,
		now: p.Now, log: p.Log, hear: func(string) {}}}
	e.files = &files{core: e.core, work: p.Work}
	e.outcomes = &outcomes{core: e.core, files: e.files, environments: p.Environments, runHooks: p.RunHooks,
		patience: p.Patience, sharedNews: p.SharedNews, holdBack: p.HoldBack, tellWait: func(string, time.Duration) {}}
	a := act{e.core, e.files, e.outcomes}
	e.looks = &looks{core: e.core, files: e.files, work: p.Work, agents: p.Agents, facts: p.Facts}
	e.reactions = &reactions{act: a, looks: e.looks}
	e.rooms = &rooms{act: a, looks: e.looks, work: p.Work, ready: p.Ready}
	e.crew = &crew{act: a, looks: e.looks, reactions: e.reactions, rooms: e.rooms, agents: p.Agents}
	e.requests = &requests{act: a, looks: e.looks, reactions: e.reactions, rooms: e.rooms, crew: e.crew, rules: p.Rules}
	e.turns = &turns{act: a, rooms: e.rooms, requests: e.requests, work: p.Work}
	e.hooks = &hooks{act: a, looks: e.looks, rooms: e.rooms, turns: e.turns, work: p.Work, perform: p.Perform,
		runHooks: p.RunHooks, random: p.Random}
	e.pulls = &pulls{act: a, looks: e.looks, reactions: e.reactions, requests: e.requests, work: p.Work}
	e.merges = &merges{act: a, reactions: e.reactions, requests: e.requests, pulls: e.pulls, work: p.Work}
	e.arrivals = &arrivals{act: a, looks: e.looks, rooms: e.rooms, requests: e.requests, turns: e.turns, rules: p.Rules,
		work: p.Work, agents: p.Agents, environments: p.Environments, random: p.Random}
	e.departures = &departures{act: a, requests: e.requests, turns: e.turns, hooks: e.hooks,
		environments: p.Environments}
	e.questions = &questions{core: e.core, looks: e.looks, turns: e.turns, hooks: e.hooks, peek: p.Peek, needs: p.Needs}
	e.whenOver = e.startThoseAfter // the one call that leads back: see there
	return e
}

// core is the ritual of every act: load a task and its rules, decide, commit.
type core struct {
	record   Record
	folder   Folder
	workflow func(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	project  func(name string) (task.Project, error)
	now      func() time.Time
	log      *slog.Logger
	hear     func(text string) // what a person should know
}

// files makes the files of a task equal to the record, and takes over what people and programs changed in them.
type files struct {
	*core
	work Work
}

// outcomes is what follows a commit, and what its caller is answered: the files, the hooks, and how long they are
// waited for. A request with a key that is asked again is answered here too.
type outcomes struct {
	*core
	files        *files
	environments Environments
	runHooks     func(ctx context.Context, id string, person bool) error
	patience     time.Duration
	sharedNews   func(ctx context.Context, t task.Task) ([]string, error)
	holdBack     func(ctx context.Context, wait time.Duration)

	// is called for a task that is over and owes nothing. It starts those that wait for the task, by requests, whose
	// outcomes are made here: of all that the parts do, this alone leads back.
	whenOver func(ctx context.Context, id string)
	// is called while a request waits for its hooks, and once more with an empty action when it waits no longer
	tellWait func(action string, waited time.Duration)
}

// act is what those parts have in common that change a task: they decide and commit, and see to what follows.
type act struct {
	*core
	files    *files
	outcomes *outcomes
}

// looks finds out what is decided on: the evidence of a task, and the branch that it is about.
type looks struct {
	*core
	files  *files
	work   Work
	agents Agents
	facts  Facts
}

// reactions are what a workflow does by itself: when a task has had enough of time or of refusals, or its work was
// sent back.
type reactions struct {
	act
	looks *looks
}

// rooms gives tasks their workspaces, or a place in the queue for one.
type rooms struct {
	act
	looks *looks
	work  Work
	ready func(ctx context.Context, t task.Task) ([]rejection.Readiness, error)
}

// crew is the agents of tasks: who speaks for whom, what is said to them, how they die and are started again.
type crew struct {
	act
	looks     *looks
	reactions *reactions
	rooms     *rooms
	agents    Agents
}

// requests judges what people and agents ask for of a task, and does it.
type requests struct {
	act
	looks     *looks
	reactions *reactions
	rooms     *rooms
	crew      *crew
	rules     Rules
}

// turns starts tasks that wait: for other tasks, or for a workspace.
type turns struct {
	act
	rooms    *rooms
	requests *requests
	work     Work
}

// hooks performs what tasks owe, and settles it.
type hooks struct {
	act
	looks    *looks
	rooms    *rooms
	turns    *turns
	work     Work
	perform  Perform
	runHooks func(ctx context.Context, id string, person bool) error
	random   io.Reader
}

// pulls is the pull requests of tasks.
type pulls struct {
	act
	looks     *looks
	reactions *reactions
	requests  *requests
	work      Work
}

// merges brings the work of tasks to the default branch.
type merges struct {
	act
	reactions *reactions
	requests  *requests
	pulls     *pulls
	work      Work
}

// arrivals is how tasks get on record: as new ones, or from their files.
type arrivals struct {
	act
	looks        *looks
	rooms        *rooms
	requests     *requests
	turns        *turns
	rules        Rules
	work         Work
	agents       Agents
	environments Environments
	random       io.Reader
}

// departures is how tasks get off the record.
type departures struct {
	act
	requests     *requests
	turns        *turns
	hooks        *hooks
	environments Environments
}

// questions tells how a task is, and when that has changed.
type questions struct {
	*core
	looks *looks
	turns *turns
	hooks *hooks
	peek  Facts
	needs func(ctx context.Context, t task.Task) (record.Need, error)
}
