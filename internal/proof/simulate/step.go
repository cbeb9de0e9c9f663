package simulate

import "errors"

// Process is one run of Orange: a command, a runner of hooks, a check by the monitor. It may end at any step.
type Process interface {
	// Step takes a step by calling do. It gives the error of do, or another one if the process has ended: then the
	// step had its effect or not.
	Step(s Step, do func() error) error
	// Fail gives an error if a part of the world does not work for the process at this moment.
	Fail(what string) error
	// Identity is the value by which locks know their process.
	Identity() any
}

// Step is one question or action of a process.
type Step struct {
	What  string      // such as "it reads the record"
	Task  string      // the task that it is about; empty if it is about many
	Poll  bool        // how often the process repeats it depends on the time that passes
	Ready func() bool // whether a step that waits for others can be taken; nil if it waits for none
}

// errEnded is what a process gets from each step after its end.
var errEnded = errors.New("the process has ended")

// step is a step of the process at a task.
func (v ProcessView) step(what, id string, do func() error) error {
	return v.Process.Step(Step{What: what, Task: id}, do)
}

// ask is a step of the process at a task that has an answer.
func ask[T any](v ProcessView, what, id string, do func() (T, error)) (T, error) {
	return take(v.Process, Step{What: what, Task: id}, do)
}

// take is a step of a process that has an answer.
func take[T any](p Process, s Step, do func() (T, error)) (T, error) {
	var out, none T
	err := p.Step(s, func() (err error) {
		out, err = do()
		return err
	})
	if errors.Is(err, errEnded) {
		return none, err
	}
	return out, err
}
