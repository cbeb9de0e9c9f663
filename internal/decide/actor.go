package decide

import (
	"fmt"

	"orange/internal/rejection"
	"orange/internal/task"
)

// Denied is the refusal of somebody who may not ask about a task; an empty id stands for no task in particular.
func Denied(id, found, want string) *rejection.Rejection {
	message := "cannot act here"
	if id != "" {
		message = fmt.Sprintf("cannot act on task %s", id)
	}
	return &rejection.Rejection{Code: rejection.ActorDenied, Task: id, Message: message, Details: []rejection.Detail{
		{Condition: conditionWho, Found: found, Want: want}}}
}

const conditionWho = "who asks"

// Person judges a caller that has no seat: it is a person, unless its process is one that only an agent has. What
// an agent starts without its seat, or has the terminal server start, would ask in a person's name otherwise.
func Person(id string, c task.Caller) error {
	if found := noPerson(c); found != "" {
		return Denied(id, found, wantPerson(c))
	}
	return nil
}

// noPerson is what shows that a caller without a seat is no person; empty where nothing does.
func noPerson(c task.Caller) string {
	switch {
	case c.Task != "":
		return fmt.Sprintf("no seat, and the variables of an agent of task %s (ORANGE_TASK_ID)", c.Task)
	case c.Inside:
		return "no seat, and a process of the terminal server that the agents run in"
	}
	return ""
}

func wantPerson(c task.Caller) string {
	return fmt.Sprintf("an agent asks with the seat that it was started with (ORANGE_SEAT); a person asks "+
		"from a terminal of their own: %s leads there from an agent's window", c.Back)
}

// Home judges who may do what is about the whole home and not about one task: a person. An agent that could would
// change the rules that it is judged by, adopt tasks of its own making, or stand in the place of whoever watches
// over it. Role is that of the agent that the caller is, or is below; empty where it is none. A seat is an
// agent's, whatever it is worth by now.
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
		{Condition: conditionWho, Found: found, Want: want}}}
}
