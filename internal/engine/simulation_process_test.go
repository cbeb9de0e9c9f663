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
	"orange/internal/hook"
	"orange/internal/mirror"
	"orange/internal/simulate"
	"orange/internal/sqlite"
)

// sim is one seed's world. One program has the turn at a time, and keeps it until its next call of a port:
// who is next, who dies and what fails is all told by the dice.
type sim struct {
	*simulate.World
	law   *law
	seed  uint64
	dice  *rand.Rand
	dir   string
	store *sqlite.Store
	files mirror.Files

	mortality float64 // how likely a program dies at a step
	trouble   float64 // how likely a look at the world, or an act in it, fails
	patience  int     // how long requests wait for their hooks, in milliseconds
	stay      float64 // how likely the same program goes on
	crowd     int     // how many programs are at work at most, runners apart
	tasks     int     // how many tasks there will be
	acts      int     // what is still to happen
	calm      bool    // nobody dies and nothing fails any more
	alone     bool    // one program is at work, and waits for no turn
	stroll    *stroll // then

	mu       sync.Mutex
	waiting  []*turn
	programs []*process
	last     *process

	slots   map[string]string // workspace: the task that it is prepared for
	remote  map[string]bool   // tasks that have a branch on origin
	work    map[string]*simBranch
	twin    *twin
	audit   *simulate.Audit
	server  server
	rights  *rights
	trace   []string
	broken  string
	figures figures
}

// process is one program at work: a command, a runner of hooks, a monitor.
type process struct {
	sim    *sim
	number int
	name   string
	under  *simulate.Agent // the agent that started it; nil for those of people and for runners
	whose  string          // whose environment it has
	born   int             // the length of the trace when it was started,
	looked int             // when it looked for a task's environment last,
	gone   int             // and when it was killed, or came to its end
	engine *engine.Engine
	hands  *hook.Hands
	asked  *ask
	dead   bool
	ended  bool
}

// turn is a program before its next step.
type turn struct {
	of   *process
	what string
	open func() bool // nil: at once
	go_  chan struct{}
}

// start starts a program in somebody's environment. It begins when it has the turn.
func (s *sim) start(name, whose string, under *simulate.Agent, body func(p *process)) *process {
	s.mu.Lock()
	p := &process{sim: s, number: len(s.programs) + 1, name: name, whose: whose, under: under, born: len(s.trace)}
	s.programs = append(s.programs, p)
	s.mu.Unlock()
	s.figures.programs++
	p.equip()
	go func() {
		defer func() {
			if r := recover(); r != nil {
				s.breaks("a program panics: %v\n%s", r, debug.Stack())
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			p.ended = true
			s.leaves(p)
		}()
		p.arrive("begins", nil)
		body(p)
	}()
	return p
}

func (p *process) equip() {
	r, f := p.record(), simulatedFolders{p.view().TaskFolders(), p}
	repository := simulatedRepository{p.view().Repository(), p}
	key := [32]byte{byte(p.number), byte(p.number >> 8), byte(p.sim.seed), byte(p.sim.seed >> 8),
		byte(p.sim.seed >> 16)}
	e := p.view().Engine(r)
	e.Documents, e.Mirror, e.Workspaces, e.Merger, e.Facts = f, f, repository, repository, sights{p}
	e.Witness, e.Runner, e.Environments, e.Random = witness{}, starter{p}, shelf{p}, rand.NewChaCha8(key)
	e.Patience = time.Duration(p.sim.patience) * time.Millisecond
	hands := &hook.Hands{
		Sessions: p.terminal(), Processes: programs{p.terminal(), commands{p}}, Workspaces: pool{p}, Setup: setup{p}, Waiting: r, Next: e,
		Home: p.sim.dir, Self: "/opt/orange",
	}
	e.Performer = performer{p}
	p.engine, p.hands = e, hands
}

// arrive waits for the turn. Whoever is dead by then goes no further: locks are freed by the kernel, and nothing
// else of it stays.
func (p *process) arrive(what string, open func() bool) {
	s := p.sim
	if s.alone {
		s.tell(p, what)
		return
	}
	s.mu.Lock()
	if p.dead {
		s.mu.Unlock()
		runtime.Goexit()
	}
	t := &turn{of: p, what: what, open: open, go_: make(chan struct{})}
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	<-t.go_
	s.mu.Lock()
	dead := p.dead
	s.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	s.tell(p, what)
	p.mayDie("before it takes effect")
}

// mayDie lets the dice end the program here.
func (p *process) mayDie(when string) {
	s := p.sim
	if s.calm || s.dice.Float64() >= s.mortality {
		return
	}
	s.tell(p, "DIES "+when)
	s.figures.deaths++
	s.mu.Lock()
	s.kill(p)
	s.mu.Unlock()
	runtime.Goexit()
}

// kill ends a program as a signal would. The caller holds mu.
func (s *sim) kill(p *process) {
	if !p.ended {
		p.dead = true
		s.leaves(p)
	}
}

// leaves frees what a program has that is no more. The caller holds mu.
func (s *sim) leaves(p *process) {
	if p.gone == 0 {
		p.gone = len(s.trace)
	}
	s.FreeLocks(p)
}

// at is one call of a port: the program may die before it takes effect, or after it and before it hears the answer.
func at[T any](p *process, what string, do func() (T, error)) (T, error) {
	p.arrive(what, nil)
	out, err := do()
	p.mayDie("after it took effect")
	return out, err
}

func act(p *process, what string, do func() error) error {
	_, err := at(p, what, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// Step is one call of an interface of the engine.
func (p *process) Step(step simulate.Step, do func() error) error {
	if step.Poll { // how often a waiting program looks depends on nothing that the dice decide
		return do()
	}
	what := strings.TrimPrefix(step.What, "it ")
	if step.Task != "" {
		what += " of " + p.sim.short(step.Task)
	}
	p.arrive(what, step.Ready)
	err := do()
	p.mayDie("after it took effect")
	return err
}

// Identity is what locks know the program by.
func (p *process) Identity() any { return p }

func (p *process) view() simulate.ProcessView {
	return simulate.ProcessView{World: p.sim.World, Process: p}
}

func (p *process) record() simulatedRecord { return simulatedRecord{p.view().Store(), p} }

// Fail fails as often as the world does.
func (p *process) Fail(what string) error {
	s := p.sim
	if s.calm || s.dice.Float64() >= s.trouble {
		return nil
	}
	s.figures.failures++
	s.tell(p, "FAILS: "+what)
	return fmt.Errorf("the world does not obey: %s", what)
}

func (s *sim) tell(p *process, what string) {
	who := "world"
	if p != nil {
		who = fmt.Sprintf("%d %s", p.number, p.name)
	}
	line := fmt.Sprintf("%s  [%s] %s", time.Now().Format("15:04:05.000"), who, what)
	s.trace = append(s.trace, line)
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", s.figures.story, line)
	s.figures.story = h.Sum64()
}

// breaks notes the first thing that is not as it must be.
func (s *sim) breaks(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == "" {
		s.broken = fmt.Sprintf(format, args...)
	}
}

func (s *sim) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken != ""
}

// run lets the story happen, has everything seen to, and checks.
func (s *sim) run() {
	defer s.bury()
	for s.acts > 0 && !s.isBroken() {
		s.step(true)
	}
	s.calm = true
	s.finish("those who are still at work")
	for round := 0; round < 12 && !s.isBroken() && (round < 1 || s.owes()); round++ {
		pause(10 * time.Minute)
		s.start("last monitor", service, nil, func(p *process) {
			if err := s.monitor(p).Once(context.Background()); err != nil {
				s.breaks("the last monitor met an error in a world without faults: %v", err)
			}
		})
		s.finish("the last monitor")
	}
	if !s.isBroken() {
		s.check()
	}
}

// finish waits until all programs have ended.
func (s *sim) finish(who string) {
	const most = 60_000
	for range most {
		synctest.Wait()
		if s.busy() == 0 || s.isBroken() {
			return
		}
		s.step(false)
	}
	s.breaks("%s never come to an end", who)
}

// bury ends all programs, so that nothing of this seed is left.
func (s *sim) bury() {
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
func (s *sim) busy() int {
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

// step gives somebody the turn, or has something new happen.
func (s *sim) step(more bool) {
	synctest.Wait()
	pause(time.Millisecond)
	synctest.Wait()
	busy := s.busy()
	if more && (busy == 0 || busy < s.crowd && s.dice.IntN(6) == 0) {
		s.acts--
		s.happen()
		return
	}
	if t := s.next(); t != nil {
		s.figures.steps++
		close(t.go_)
		synctest.Wait()
		return
	}
	pause(5 * time.Millisecond) // all wait for time to pass
}

// next takes one out of the queue of those who can go on.
func (s *sim) next() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.waiting, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.of.number, b.of.number), strings.Compare(a.what, b.what))
	})
	var ready []*turn
	for _, t := range s.waiting {
		switch {
		case t.of.dead:
			return s.take(t)
		case t.open == nil || t.open():
			ready = append(ready, t)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	if s.dice.Float64() < s.stay {
		for _, t := range ready {
			if t.of == s.last {
				return s.take(t)
			}
		}
	}
	t := ready[s.dice.IntN(len(ready))]
	s.last = t.of
	return s.take(t)
}

func (s *sim) take(t *turn) *turn {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *turn) bool { return o == t })
	return t
}
