package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"orange/internal/engine"
	"orange/internal/engine/hook"
	"orange/internal/proof/simulate"
	"orange/internal/store/mirror"
	"orange/internal/store/sqlite"
)

// simulation is one seed's world. One program runs at a time, until its next call of a port: random numbers choose
// which is next, which dies and what fails.
type simulation struct {
	*simulate.World
	setting *setting
	seed    uint64
	random  *rand.Rand
	dir     string
	store   *sqlite.Store
	files   mirror.Files

	deathRate   float64 // how likely a program dies at a step
	failureRate float64 // how likely a look at the world, or an act in it, fails
	patience    int     // how long requests wait for their hooks, in milliseconds
	stayRate    float64 // how likely the same program goes on
	maxBusy     int     // how many programs are at work at most, runners apart
	maxTasks    int     // how many tasks there will be
	actsLeft    int     // what is still to happen
	noFaults    bool    // no program dies and nothing fails any more
	single      bool    // one program is at work, and waits for no turn
	walk        *walk   // then

	mu       sync.Mutex
	waiting  []*turn
	programs []*process
	last     *process

	prepared     map[string]string // workspace: the task that it is prepared for
	pushed       map[string]bool   // tasks that have a branch on origin
	branches     map[string]*simBranch
	base         map[string]bool // the commits that the default branch has
	seen         *observed
	audit        *simulate.Audit
	server       server
	environments *environmentClaims
	trace        []string
	failure      string
	counts       counts
}

// process is one program at work: a command, a runner of hooks, a monitor.
type process struct {
	sim         *simulation
	number      int
	name        string
	agent       *simulate.Agent // the agent that started it; nil for those of people and for runners
	environment string          // whose environment it has
	startedAt   int             // the length of the trace when it was started,
	lookedAt    int             // when it looked for a task's environment last,
	endedAt     int             // and when it was killed, or came to its end
	engine      *engine.Engine
	hooks       *hook.Executor
	question    *question
	dead        bool
	ended       bool
}

// turn is a program before its next step.
type turn struct {
	process *process
	what    string
	ready   func() bool // nil: at once
	go_     chan struct{}
}

// start starts a program in an environment. It begins when it has the turn.
func (s *simulation) start(name, whose string, under *simulate.Agent, body func(p *process)) *process {
	s.mu.Lock()
	p := &process{sim: s, number: len(s.programs) + 1, name: name, environment: whose, agent: under,
		startedAt: len(s.trace)}
	s.programs = append(s.programs, p)
	s.mu.Unlock()
	s.counts.programs++
	p.buildEngine(gateFacts{p}.Look)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				s.breakf("a program panics: %v\n%s", r, debug.Stack())
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			p.ended = true
			s.release(p)
		}()
		p.waitTurn("begins", nil)
		body(p)
	}()
	return p
}

func (p *process) buildEngine(facts engine.Facts) {
	r, f := p.record(), simulatedFolders{p.view().TaskFolders(), p}
	repository := simulatedRepository{p.view().Repository(), p}
	key := [32]byte{byte(p.number), byte(p.number >> 8), byte(p.sim.seed), byte(p.sim.seed >> 8),
		byte(p.sim.seed >> 16)}
	e := p.view().Ports(r)
	e.Folder, e.Work, e.Facts, e.Agents = f, repository, facts, &fakeAgents{}
	e.RunHooks, e.Environments, e.Random = runnerStarter{p}.Run, environmentStore{p}, rand.NewChaCha8(key)
	e.Patience = time.Duration(p.sim.patience) * time.Millisecond
	p.hooks = &hook.Executor{
		Sessions: p.terminal(), Processes: programs{p.terminal(), hookCommands{p}}, Work: pool{p: p},
		Setup: setup{p}, Record: r, Now: p.view().Now,
		StartNext: func(ctx context.Context, of string) (string, error) { return p.engine.StartNext(ctx, of) },
		Home:      p.sim.dir, Self: "/opt/orange",
	}
	e.Perform = countedPerformer{p}.Perform
	if p.sim.setting.guarded {
		e.Work = engine.GuardedWork{Work: repository, Guard: &guard{}}
		e.Perform = engine.GuardHooks(&guard{}, e.Perform)
	}
	p.engine = engine.New(e)
}

// waitTurn waits for the turn. A program that is dead by then goes no further: the kernel frees its locks, and
// nothing else of it remains.
func (p *process) waitTurn(what string, open func() bool) {
	s := p.sim
	if s.single {
		s.logf(p, what)
		return
	}
	s.mu.Lock()
	if p.dead {
		s.mu.Unlock()
		runtime.Goexit()
	}
	t := &turn{process: p, what: what, ready: open, go_: make(chan struct{})}
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	<-t.go_
	s.mu.Lock()
	dead := p.dead
	s.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	s.logf(p, what)
	p.mayDie("before it takes effect")
}

// mayDie ends the program here, at random.
func (p *process) mayDie(when string) {
	s := p.sim
	if s.noFaults || s.random.Float64() >= s.deathRate {
		return
	}
	s.logf(p, "DIES "+when)
	s.counts.deaths++
	s.mu.Lock()
	s.kill(p)
	s.mu.Unlock()
	runtime.Goexit()
}

// kill ends a program as a signal would. The caller holds mu.
func (s *simulation) kill(p *process) {
	if !p.ended {
		p.dead = true
		s.release(p)
	}
}

// release frees what a dead program held. The caller holds mu.
func (s *simulation) release(p *process) {
	if p.endedAt == 0 {
		p.endedAt = len(s.trace)
	}
	s.FreeLocks(p)
}

// at is a step that the simulation itself defines: the program may die before it takes effect, or after it and before
// the program has the answer.
func at[T any](p *process, what string, do func() (T, error)) (out T, err error) {
	err = act(p, what, func() (err error) {
		out, err = do()
		return err
	})
	return out, err
}

func act(p *process, what string, do func() error) error {
	return p.Step(simulate.Step{What: what}, do)
}

// Step is one call of an interface of the engine.
func (p *process) Step(step simulate.Step, do func() error) error {
	if step.Poll { // how often a waiting program looks depends on the time that passes
		return do()
	}
	what := strings.TrimPrefix(step.What, "it ")
	if step.Task != "" {
		what += " of " + p.sim.short(step.Task)
	}
	p.waitTurn(what, step.Ready)
	err := do()
	p.mayDie("after it took effect")
	return err
}

// Identity is the program's name in locks.
func (p *process) Identity() any { return p }

func (p *process) view() simulate.ProcessView {
	return simulate.ProcessView{World: p.sim.World, Process: p}
}

func (p *process) record() simulatedRecord { return simulatedRecord{p.view().Store(), p} }

// Fail fails as often as the world does.
func (p *process) Fail(what string) error {
	s := p.sim
	if s.noFaults || s.random.Float64() >= s.failureRate {
		return nil
	}
	s.counts.failures++
	s.logf(p, "FAILS: "+what)
	return fmt.Errorf("the world does not obey: %s", what)
}

func (s *simulation) logf(p *process, what string) {
	who := "world"
	if p != nil {
		who = fmt.Sprintf("%d %s", p.number, p.name)
	}
	line := fmt.Sprintf("%s  [%s] %s", time.Now().Format("15:04:05.000"), who, what)
	s.trace = append(s.trace, line)
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", s.counts.story, line)
	s.counts.story = h.Sum64()
}

// breakf notes the first thing that is wrong.
func (s *simulation) breakf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == "" {
		s.failure = fmt.Sprintf(format, args...)
	}
}

func (s *simulation) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure != ""
}

// run runs the story, finishes all that is left to do, and checks the result.
func (s *simulation) run() {
	defer s.killAll()
	for s.actsLeft > 0 && !s.isBroken() {
		s.step(true)
	}
	s.noFaults = true
	s.finish("those who are still at work")
	for round := 0; round < 12 && !s.isBroken() && (round < 1 || s.anyPending()); round++ {
		pause(10 * time.Minute)
		s.start("last monitor", serviceEnvironment, nil, func(p *process) {
			if err := s.monitor(p).Once(context.Background()); err != nil {
				s.breakf("the last monitor met an error in a world without faults: %v", err)
			}
		})
		s.finish("the last monitor")
	}
	if !s.isBroken() {
		s.check()
	}
}

// finish waits until all programs have ended.
func (s *simulation) finish(who string) {
	const most = 60_000
	for range most {
		synctest.Wait()
		if s.busy() == 0 || s.isBroken() {
			return
		}
		s.step(false)
	}
	s.breakf("%s never come to an end", who)
}

// killAll ends all programs, so that nothing of this seed is left.
func (s *simulation) killAll() {
	for {
		synctest.Wait()
		s.mu.Lock()
		left := 0
		for _, p := range s.programs {
			s.kill(p)
			if !p.ended {
				left++
			}
		}
		for _, t := range s.waiting {
			close(t.go_)
		}
		s.waiting = nil
		s.mu.Unlock()
		if left == 0 {
			return
		}
		pause(time.Second)
	}
}

// busy is how many programs are at work.
func (s *simulation) busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, p := range s.programs {
		if !p.ended {
			n++
		}
	}
	return n
}

func pause(d time.Duration) { <-time.After(d) }

// step gives a program the turn, or makes something new happen.
func (s *simulation) step(more bool) {
	synctest.Wait()
	pause(time.Millisecond)
	synctest.Wait()
	busy := s.busy()
	if more && (busy == 0 || busy < s.maxBusy && s.random.IntN(6) == 0) {
		s.actsLeft--
		s.newEvent()
		return
	}
	if t := s.next(); t != nil {
		s.counts.steps++
		close(t.go_)
		synctest.Wait()
		return
	}
	pause(5 * time.Millisecond) // all wait for time to pass
}

// next takes one program out of the queue of those that can go on.
func (s *simulation) next() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.waiting, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.process.number, b.process.number), strings.Compare(a.what, b.what))
	})
	var ready []*turn
	for _, t := range s.waiting {
		switch {
		case t.process.dead:
			return s.take(t)
		case t.ready == nil || t.ready():
			ready = append(ready, t)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	if s.random.Float64() < s.stayRate {
		for _, t := range ready {
			if t.process == s.last {
				return s.take(t)
			}
		}
	}
	t := ready[s.random.IntN(len(ready))]
	s.last = t.process
	return s.take(t)
}

func (s *simulation) take(t *turn) *turn {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *turn) bool { return o == t })
	return t
}
