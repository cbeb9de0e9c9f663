package simulate

import (
	"errors"
	"fmt"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
)

// program is one process of a run. Once it has ended, nothing that it does has an effect.
type program struct {
	name      string
	ended     bool
	disturbed bool // a fault was put in its way: its errors are no surprise
}

// errFault is a failure of the world.
var errFault = errors.New("the simulated world does not work")

// runProgram runs one, and gives its error; errEnded if it did not live until its end.
func (r *run) runProgram(name string, work func() error) error {
	before := r.program
	p := &program{name: name}
	r.program = p
	err := work()
	r.program = before
	r.FreeLocks(p)
	if before != nil && (p.ended || p.disturbed) {
		before.disturbed = true
	}
	if p.ended {
		return errEnded
	}
	_, unfit := errors.AsType[*record.Unmerged](err)
	if err != nil && !p.disturbed && !unfit && !isRefusal(err) && !errors.Is(err, errFault) {
		r.breakf(propErrors, "%s fails, and nothing was in its way: %v", name, err)
	}
	return err
}

func isRefusal(err error) bool {
	var no *rejection.Rejection
	return errors.As(err, &no)
}

// Step takes a step of the program at work: it may end before the step has its effect, or after it and before it has
// the answer.
func (r *run) Step(s Step, do func() error) error {
	p := r.program
	if p == nil { // the world itself looks
		return do()
	}
	if p.ended {
		return errEnded
	}
	ends := !s.Poll && !r.calm && r.chance(r.setup.Shares.EngineDies)
	if ends && r.chance(0.5) {
		r.endProgram(p, "before: "+s.What)
		return errEnded
	}
	err := do()
	if ends {
		r.endProgram(p, "after: "+s.What)
		return errEnded
	}
	return err
}

// Identity is the program at work.
func (r *run) Identity() any { return r.program }

func (r *run) endProgram(p *program, when string) {
	p.ended = true
	r.FreeLocks(p)
	r.faults.EngineDeaths++
	r.logf("FAULT: Orange (%s) dies %s", p.name, when)
}

// Fail fails as often as the setup says.
func (r *run) Fail(what string) error {
	if r.calm || !r.chance(r.setup.Shares.HooksFail) {
		return nil
	}
	r.faults.Failures++
	if r.program != nil {
		r.program.disturbed = true
	}
	r.logf("FAULT: %s fails", what)
	return fmt.Errorf("%s: %w", what, errFault)
}
