package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

// run is the simulation of one task, from its creation to its end.
type run struct {
	*World
	setup   Setup
	number  int
	engine  *engine.Engine
	look    Look // of the monitor
	paths   *pathMap
	random  *rand.Rand
	secrets *rand.ChaCha8
	calm    bool // nothing goes wrong any more
	people  int  // how many have asked

	id      string
	clock   time.Time
	queue   []plannedStep
	steps   int
	program *program

	folders   memory
	artifacts map[string]artifact
	notes     int
	pr        record.PullRequest

	audit   *Audit
	numbers map[int64]int64 // of hooks, as the trace has them
	answers
	result
	failedVisits int // how often in a row a person came without success
	movesAlone   int // moves since the last act of a person
	visited      map[task.Status]bool
	err          error     // why the simulation itself cannot go on
	final        task.Task // as it is at the end
	afterLook    bool      // the last step was a look
	version      int64     // of the task before the last step
}

// Faults are what was put in the way of tasks.
type Faults struct {
	EngineDeaths int `json:"engine_deaths"` // Orange died
	AgentDeaths  int `json:"agent_deaths"`
	Failures     int `json:"failures"` // hooks and looks that failed
	Late         int `json:"late"`     // late reports of deaths, and late runners
	Repeated     int `json:"twice"`    // repeated reports of deaths
}

type stepKind int

const (
	agentActs stepKind = iota
	deathReported
	runnerStarts
	monitorLooks
	personComes
)

type plannedStep struct {
	at   time.Time
	kind stepKind
	of   *Agent
	do   func(ctx context.Context)
}

// Bounds of one run.
const (
	maxSteps = 4000
	horizon  = 90 * 24 * time.Hour
	maxAlone = 300 // moves without a person, if none was proved
)

func newRun(c *pathMap, setup Setup, number int, rec Record) *run {
	var key [32]byte
	for i := range 8 {
		key[i], key[8+i] = byte(setup.Seed>>(8*i)), byte(uint64(number)>>(8*i))
	}
	r := &run{
		setup: setup, number: number, paths: c, clock: start(),
		random: rand.New(rand.NewPCG(setup.Seed, uint64(number))), secrets: rand.NewChaCha8(key),
		visited: map[task.Status]bool{}, artifacts: map[string]artifact{}, folders: memory{},
		numbers: map[int64]int64{}, answers: answers{granted: map[string]history.Event{}, denied: map[string]bool{}},
	}
	r.World = &World{
		Workflow: c.def, Project: project(), Record: rec, Folders: r.folders, Observer: r,
		Now: func() time.Time { return r.clock },
	}
	r.audit = NewAudit(r.World, func(_, property, format string, args ...any) { r.breakf(property, format, args...) })
	r.audit.HookNumber = r.hookNumber
	return r
}

func (r *run) view() ProcessView { return ProcessView{r.World, r} }

func (r *run) folder() *folder { return r.folders.of(r.id) }

func (r *run) branch() *TaskBranch { return r.Branch(r.id) }

func (r *run) load(ctx context.Context) (record.Snapshot, error) { return r.Load(ctx, r.id) }

func (r *run) history(ctx context.Context) ([]history.Event, error) { return r.Events(ctx, r.id) }

func (r *run) chance(share float64) bool { return share > 0 && r.random.Float64() < share }

// within is a random duration, more often a short one.
func (r *run) within(least, most time.Duration) time.Duration {
	x := r.random.Float64()
	return (least + time.Duration(x*x*float64(most-least))).Truncate(time.Second)
}

// plan plans a step; of is the agent that acts, if it is one's.
func (r *run) plan(what stepKind, after time.Duration, of *Agent, do func(ctx context.Context)) {
	r.queue = append(r.queue, plannedStep{r.clock.Add(after), what, of, do})
}

func (r *run) isPlanned(what stepKind) bool {
	return slices.ContainsFunc(r.queue, func(s plannedStep) bool { return s.kind == what })
}

// unplan removes the next act of an agent that is gone.
func (r *run) unplan(a *Agent) {
	a.planned = false
	r.queue = slices.DeleteFunc(r.queue, func(s plannedStep) bool { return s.kind == agentActs && s.of == a })
}

func (r *run) next() (plannedStep, bool) {
	if len(r.queue) == 0 {
		return plannedStep{}, false
	}
	first := 0
	for i := range r.queue {
		if r.queue[i].at.Before(r.queue[first].at) {
			first = i
		}
	}
	s := r.queue[first]
	r.queue = slices.Delete(r.queue, first, first+1)
	return s, true
}

func (r *run) logf(format string, args ...any) {
	if r.breach != nil {
		return // what comes after it explains nothing
	}
	since := r.clock.Sub(start())
	r.trace = append(r.trace, fmt.Sprintf("%4d  day %d %s  %s", len(r.trace)+1, 1+int(since.Hours()+9)/24,
		r.clock.Format("15:04:05"), fmt.Sprintf(format, args...)))
}

// setErr notes that the simulation itself cannot go on.
func (r *run) setErr(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *run) play(ctx context.Context) error {
	r.createTask(ctx)
	for r.id != "" && r.breach == nil && r.err == nil && r.steps < maxSteps && r.clock.Sub(start()) < horizon {
		if err := r.planNext(ctx); err != nil {
			return err
		}
		s, found := r.next()
		if !found || r.breach != nil {
			break
		}
		if s.at.After(r.clock) {
			r.clock = s.at
		}
		r.steps++
		r.afterLook = s.kind == monitorLooks
		before, err := r.load(ctx)
		if err != nil {
			return err
		}
		r.version = before.Task.Version
		s.do(ctx)
	}
	if r.err != nil {
		return r.err
	}
	if r.id == "" {
		return errors.New("no task could be created")
	}
	return r.finish(ctx)
}

// createTask has a person create the task, again if there was no answer and no task.
func (r *run) createTask(ctx context.Context) {
	for tries := range 20 {
		r.calm = tries > 10
		if r.id != "" || r.err != nil || r.breach != nil {
			break
		}
		r.logf("a person creates the task")
		err := r.runProgram("the command that creates the task", func() error {
			_, err := r.engine.Create(ctx, task.New{
				Project: project(), Summary: "a simulated task", Harness: scripted, ReviewHarness: scripted,
				Workflow: r.Workflow.Name, Spawn: r.paths.start == "", Reason: "it is wanted", Actor: r.human(),
			})
			return err
		})
		if isRefusal(err) {
			r.setErr(err)
		}
	}
	if r.id != "" && r.paths.start != "" {
		r.personCommand("starts the task in "+string(r.paths.start), func(token string) (record.Outcome, error) {
			return r.engine.Request(ctx, task.Request{Task: r.id, To: r.paths.start, Actor: r.human(),
				Reason: token})
		})
	}
	r.calm = false
}

const scripted = "scripted"

func (r *run) planNext(ctx context.Context) error {
	s, err := r.load(ctx)
	if err != nil {
		return err
	}
	r.checkOver(s)
	quiet := r.afterLook && s.Task.Version == r.version
	if !r.isPlanned(monitorLooks) {
		after, wanted := r.within(time.Second, 30*time.Second), true
		if quiet {
			after, wanted = r.nextLook(ctx, s)
		}
		if wanted {
			r.plan(monitorLooks, after, nil, r.looks)
		}
	}
	state, _ := r.Workflow.State(s.Task.Status)
	for _, a := range r.Agents {
		if !a.Alive || a.Role != state.Role || a.turn == r.moves {
			continue
		}
		a.turn, a.tries, a.silent = r.moves, 0, false
		if !r.Workflow.Attended(state.Name) || a.kind == restless { // else it waits for a person there
			r.wake(a, r.workTime(a))
		}
	}
	r.waiting = quiet && r.waitsForPerson(ctx, s)
	if !r.waiting {
		return nil
	}
	r.needed, r.unplanned = true, r.unplanned || !r.asPlanned(s)
	r.checkDeadEnd(s)
	if !r.setup.NoPeople && r.failedVisits < maxFailedVisits && !r.isPlanned(personComes) {
		because := ""
		if s.Task.Attention != "" {
			because = ": " + s.Task.Attention
		}
		r.logf("the task waits for a person in %q%s", s.Task.Status, because)
		visit := func(ctx context.Context) { r.setErr(r.personActs(ctx)) }
		r.plan(personComes, r.within(shortestWait, longestWait), nil, visit)
	}
	return nil
}

func (r *run) looks(ctx context.Context) {
	// what it could not do it does the next time
	_ = r.runProgram("the monitor", func() error { return r.look(ctx) })
}

// nextLook is how long it takes until the monitor has something to do.
func (r *run) nextLook(ctx context.Context, s record.Snapshot) (time.Duration, bool) {
	const usual = 30 * time.Second
	var next time.Time
	sooner := func(at time.Time) {
		if at.Before(r.clock) {
			at = r.clock.Add(usual)
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	t := s.Task
	for _, h := range s.Owed {
		sooner(h.NextTry)
	}
	state, _ := r.Workflow.State(t.Status)
	a := r.living(state.Role)
	switch {
	case len(r.seatsOfDead(ctx)) > 0, !t.Live && (t.Workspace != "" || r.anyone() != nil):
		sooner(r.clock.Add(usual))
	case a != nil && a.silent && !r.Workflow.Attended(t.Status) && t.StalledAt.IsZero():
		sooner(a.Touched.Add(Stall + time.Minute))
	}
	if at, wanted := decide.NextDeadline(r.Workflow, nil, t, r.clock); wanted {
		sooner(at.Add(r.within(0, 5*time.Minute))) // timers are late
	}
	if a == nil && decide.Respawns(r.Workflow, t) {
		events, err := r.history(ctx)
		r.setErr(err)
		if due, wanted := decide.RespawnDue(r.Workflow, t, events, r.clock); wanted {
			sooner(due)
		}
	}
	return next.Sub(r.clock), !next.IsZero()
}

// Stall is how long an agent may do nothing before the monitor marks its task.
const Stall = 15 * time.Minute

// reportDeath plans a report of an agent's death to the engine.
func (r *run) reportDeath(a *Agent, after time.Duration) {
	r.plan(deathReported, after, a, func(ctx context.Context) {
		_ = r.runProgram("the program that reports a death", func() error {
			_, err := r.engine.Died(ctx, task.Death{Task: r.id, Role: a.Role, Hook: a.Hook, Ending: a.Ending})
			return err
		})
	})
}

func (r *run) living(role string) *Agent { return r.Living(r.id, role) }

// anyone is the oldest agent that lives; nil if none does.
func (r *run) anyone() *Agent {
	return r.agent(func(a *Agent) bool { return a.Alive })
}

// seatsOfDead are the open seats of dead agents.
func (r *run) seatsOfDead(ctx context.Context) []record.Seat {
	open, err := r.OpenSeats(ctx, r.id)
	r.setErr(err)
	return slices.DeleteFunc(open, func(seat record.Seat) bool {
		a := r.Started(seat.Hook)
		return a != nil && a.Alive
	})
}

// finish lets the monitor finish everything in a world without faults, and checks the result.
func (r *run) finish(ctx context.Context) error {
	r.calm = true
	r.queue = nil
	for range 60 {
		s, err := r.load(ctx)
		if err != nil {
			return err
		}
		if r.breach != nil || len(s.Owed) == 0 && len(r.seatsOfDead(ctx)) == 0 &&
			(s.Task.Live || s.Task.Workspace == "" && r.anyone() == nil) {
			break
		}
		r.clock = r.clock.Add(10 * time.Minute)
		r.looks(ctx)
	}
	if r.breach == nil {
		r.looks(ctx) // it writes the files whose writer died
	}
	s, err := r.load(ctx)
	if err != nil {
		return err
	}
	events, err := r.history(ctx)
	if err != nil {
		return err
	}
	r.final = s.Task
	r.stats = stats.Of(s.Task, events, func(status task.Status) stats.Marks {
		return decide.Marks(r.Workflow, status)
	}, r.clock)
	if r.breach == nil {
		return r.check(ctx, s, events)
	}
	return nil
}
