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
	e := &Engine{core: &core{record: p.Record, folder: p.Folder, pinned: p.Rules.Pinned, registered: p.Work.Project,
		now: p.Now, log: p.Log, hear: p.Warn}}
	e.files = &files{core: e.core, work: p.Work}
	e.outcomes = &outcomes{core: e.core, files: e.files, environments: p.Environments, runHooks: p.RunHooks,
		patience: p.Patience, sharedNews: p.SharedNews, holdBack: p.HoldBack}
	e.looks = &looks{core: e.core, files: e.files, work: p.Work, agents: p.Agents, facts: p.Facts}
	e.reactions = &reactions{core: e.core, outcomes: e.outcomes, looks: e.looks}
	e.rooms = &rooms{core: e.core, files: e.files, outcomes: e.outcomes, looks: e.looks, work: p.Work, ready: p.Ready}
	e.crew = &crew{core: e.core, files: e.files, outcomes: e.outcomes, looks: e.looks, reactions: e.reactions,
		rooms: e.rooms, work: p.Work, agents: p.Agents}
	e.requests = &requests{core: e.core, files: e.files, outcomes: e.outcomes, looks: e.looks,
		reactions: e.reactions, rooms: e.rooms, crew: e.crew, rules: p.Rules}
	e.turns = &turns{core: e.core, files: e.files, outcomes: e.outcomes, rooms: e.rooms, requests: e.requests,
		work: p.Work}
	e.hooks = &hooks{core: e.core, files: e.files, outcomes: e.outcomes, rooms: e.rooms, turns: e.turns, work: p.Work,
		facts: p.Facts, perform: p.Perform, runHooks: p.RunHooks, random: p.Random}
	e.pulls = &pulls{core: e.core, files: e.files, outcomes: e.outcomes, looks: e.looks, reactions: e.reactions,
		requests: e.requests, work: p.Work}
	e.merges = &merges{core: e.core, files: e.files, outcomes: e.outcomes, reactions: e.reactions,
		requests: e.requests, pulls: e.pulls, work: p.Work}
	e.arrivals = &arrivals{core: e.core, files: e.files, outcomes: e.outcomes, looks: e.looks, rooms: e.rooms,
		requests: e.requests, turns: e.turns, rules: p.Rules, work: p.Work, agents: p.Agents,
		environments: p.Environments, random: p.Random}
	e.departures = &departures{core: e.core, files: e.files, outcomes: e.outcomes, requests: e.requests,
		turns: e.turns, hooks: e.hooks, environments: p.Environments}
	e.questions = &questions{core: e.core, turns: e.turns, hooks: e.hooks, work: p.Work, peek: p.Peek, needs: p.Needs}
	e.outcomes.whenOver = e.turns.startThoseAfter
	return e
}

// core is the ritual of every act: load a task and its rules, decide, commit.
type core struct {
	record     Record
	folder     Folder
	pinned     func(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	registered func(project string) (task.Project, error)
	now        func() time.Time
	log        *slog.Logger
	hear       func(text string) // nil if no one listens
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
	// is called while a request waits for its hooks, and once more with an empty action when it waits no longer;
	// nil if no one looks
	waiting func(action string, waited time.Duration)
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
	*core
	outcomes *outcomes
	looks    *looks
}

// rooms gives tasks their workspaces, or a place in the queue for one.
type rooms struct {
	*core
	files    *files
	outcomes *outcomes
	looks    *looks
	work     Work
	ready    func(ctx context.Context, t task.Task) ([]rejection.Readiness, error)
}

// crew is the agents of tasks: who speaks for whom, what is said to them, how they die and are started again.
type crew struct {
	*core
	files     *files
	outcomes  *outcomes
	looks     *looks
	reactions *reactions
	rooms     *rooms
	work      Work
	agents    Agents
}

// requests judges what people and agents ask for of a task, and does it.
type requests struct {
	*core
	files     *files
	outcomes  *outcomes
	looks     *looks
	reactions *reactions
	rooms     *rooms
	crew      *crew
	rules     Rules
}

// turns starts tasks that wait: for other tasks, or for a workspace.
type turns struct {
	*core
	files    *files
	outcomes *outcomes
	rooms    *rooms
	requests *requests
	work     Work
}

// hooks performs what tasks owe, and settles it.
type hooks struct {
	*core
	files    *files
	outcomes *outcomes
	rooms    *rooms
	turns    *turns
	work     Work
	facts    Facts
	perform  Perform
	runHooks func(ctx context.Context, id string, person bool) error
	random   io.Reader
}

// pulls is the pull requests of tasks.
type pulls struct {
	*core
	files     *files
	outcomes  *outcomes
	looks     *looks
	reactions *reactions
	requests  *requests
	work      Work
}

// merges brings the work of tasks to the default branch.
type merges struct {
	*core
	files     *files
	outcomes  *outcomes
	reactions *reactions
	requests  *requests
	pulls     *pulls
	work      Work
}

// arrivals is how tasks get on record: as new ones, or from their files.
type arrivals struct {
	*core
	files        *files
	outcomes     *outcomes
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
	*core
	files        *files
	outcomes     *outcomes
	requests     *requests
	turns        *turns
	hooks        *hooks
	environments Environments
}

// questions tells how a task is, and when that has changed.
type questions struct {
	*core
	turns *turns
	hooks *hooks
	work  Work
	peek  Facts
	needs func(ctx context.Context, t task.Task) (record.Need, error)
}
