package dashboard

import (
	"errors"
	"testing"
)

// A failure takes lines from the tasks: it goes with the next key that does something, and can be read on.
func TestAFailureGoesWithTheNextKeyThatDoesSomething(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.send(failureNews{"keep it", errLook})
	s.shows("! cannot keep it")
	s.press("m") // it is closed, and says why
	s.shows("! cannot keep it")
	s.press("j")
	s.hides("cannot keep it")
	s.shows("! what went wrong")
	s.send(failureNews{"keep it", errLook}) // it goes on
	s.hides("cannot keep it")
	s.press("!")
	s.shows("cannot keep it")
	s.press("esc")
	s.hides("! what went wrong")
}

// Who asks for the same again gets the same answer again.
func TestAFailureOfTheSameKeyIsToldAgain(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.fails = map[string]error{"Retry": errors.New("the disk is full")}
	s := openAt(t, backend, 80, 24)
	s.selects("fix/flaky")
	for range 2 {
		s.press("t", "y")
		s.shows("the disk is full")
		s.press("j", "k")
		s.hides("the disk is full")
	}
	s.press("!")
	s.shows("the disk is full")
}

func TestAFailureIsOverOnceTheLookSucceeds(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.fails = map[string]error{"Agents": errLook, "Workspaces": errLook}
	s := openSession(t, backend, 80, 24)
	s.shows("! cannot look at")
	backend.fails = nil
	s.press("R")
	s.hides("cannot look at")
	s.hides("! what went wrong")
}
