package decide

import (
	"fmt"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Person judges a caller that has no seat. The caller is a person, unless its process is one that only an agent has.
// Without this check, a program that an agent starts without its seat, or through the terminal server, could ask in a
// person's name.
func Person(id string, c task.Caller) error {
	if found := noPerson(c); found != "" {
		return rejection.Denied(id, found, wantPerson(c))
	}
	return nil
}

// noPerson returns the evidence that a caller without a seat is not a person; empty if there is none.
func noPerson(c task.Caller) string {
	switch {
	case c.Task != "":
		return fmt.Sprintf("no seat, and the variables of an agent of task %s (ORANGE_TASK_ID)", c.Task)
	case c.Inside:
		return "no seat, and a process of the terminal server that the agents run in, or of the server of the home"
	}
	return ""
}

func wantPerson(c task.Caller) string {
	return fmt.Sprintf("an agent asks with the seat that it was started with (ORANGE_SEAT); a person asks "+
		"from a terminal of their own: %s leads there from an agent's window", c.Back)
}

// Home judges who may change the whole home rather than one task: only a person may. An agent that could would change
// the rules that Orange judges it by, adopt tasks that it made up, or take the place of the person who supervises it.
// Role is the role of the agent that calls or that started the caller; empty if there is none. A seat belongs to an
// agent, even if it is no longer valid.
func Home(what string, c task.Caller, role string) error {
	found, want := noPerson(c), wantPerson(c)
	switch {
	case role != "":
		found, want = fmt.Sprintf("the role %q", role), "ask a person to"
	case c.Secret != "":
		found, want = "an agent's seat (ORANGE_SEAT)", "ask a person to"
	}
	if found == "" {
		return nil
	}
	return &rejection.Rejection{Code: rejection.ActorDenied, Message: "cannot " + what, Details: []rejection.Detail{
		{Condition: "who asks", Found: found, Want: want}}}
}
