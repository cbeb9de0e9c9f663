package simulate

import (
	"errors"
	"fmt"

	"orange/internal/decide"
)

// program is one run of Orange: a command, a runner of hooks, a look of the monitor. Once it has died, nothing
// that it does has an effect.
type program struct {
	name  string
	dead  bool
	upset bool // a fault was put in its way: its errors are no surprise
}

// errDied is what a dead program would hear if it heard anything.
var errDied = errors.New("the program has died")

// errFault is a failure of the world.
var errFault = errors.New("the world does not obey")

// program runs one, and answers its error; errDied where it did not live to the end.
func (r *run) program(name string, work func() error) error {
	before := r.at
	p := &program{name: name}
	r.at = p
	err := work()
	r.at = before
	r.locks.free(p)
	if before != nil && (p.dead || p.upset) {
		before.upset = true
	}
	if p.dead {
		return errDied
	}
	if err != nil && !p.upset && !refused(err) && !errors.Is(err, errFault) {
		r.breaks(propErrors, "%s fails, and nothing was in its way: %v", name, err)
	}
	return err
}

func refused(err error) bool {
	var no *decide.Rejection
	return errors.As(err, &no)
}

// at is one step of the program at work: it may die before the step has its effect, or after it and before it
// hears the answer.
func at[T any](r *run, what string, do func() (T, error)) (T, error) {
	var none T
	p := r.at
	if p == nil { // the world itself looks
		return do()
	}
	if p.dead {
		return none, errDied
	}
	dies := !r.calm && r.chance(r.setup.Shares.EngineDies)
	if dies && r.chance(0.5) {
		r.dies(p, "before: "+what)
		return none, errDied
	}
	out, err := do()
	if dies {
		r.dies(p, "after: "+what)
		return none, errDied
	}
	return out, err
}

func act(r *run, what string, do func() error) error {
	_, err := at(r, what, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (r *run) dies(p *program, when string) {
	p.dead = true
	r.locks.free(p)
	r.faults.EngineDeaths++
	r.tell("FAULT: Orange (%s) dies %s", p.name, when)
}

// troubled fails as often as the world does.
func (r *run) troubled(what string) error {
	if r.calm || !r.chance(r.setup.Shares.HooksFail) {
		return nil
	}
	r.faults.Failures++
	if r.at != nil {
		r.at.upset = true
	}
	r.tell("FAULT: %s fails", what)
	return fmt.Errorf("%s: %w", what, errFault)
}

// locks are held by programs and end with them.
type locks map[string]*program

func (l locks) free(p *program) {
	for name, owner := range l {
		if owner == p {
			delete(l, name)
		}
	}
}

func (l locks) take(name string, p *program) func() {
	l[name] = p
	return func() {
		if l[name] == p {
			delete(l, name)
		}
	}
}
