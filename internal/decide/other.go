package decide

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/history"
	"orange/internal/rejection"
	"orange/internal/task"
	"orange/internal/workflow"
)

// person is someone whom a transition wants another person than, with what they did.
type person struct{ name, did string }

func (p person) String() string { return p.name + ", who " + p.did }

// stranger is the name of a person who has done nothing to any task: no one can have it.
const stranger = "\x00"

// othersThan are the people whom a transition wants another person than: those who began the task, and those who moved
// it out of the states that it names when it was there last.
func othersThan(def *workflow.Definition, edge *workflow.Transition, events []history.Event) []person {
	var out []person
	add := func(e *history.Event, did string) {
		if !slices.ContainsFunc(out, func(p person) bool { return whoIs(p.name) == whoIs(e.Person) }) {
			out = append(out, person{e.Person, fmt.Sprintf("%s (event %d)", did, e.Seq)})
		}
	}
	for _, n := range edge.OtherThan {
		if n.Name == workflow.Author {
			for i := range events {
				if did := beganBy(def, events, i); did != "" {
					add(&events[i], did)
				}
			}
			continue
		}
		for _, e := range slices.Backward(events) {
			if !e.IsMove() || string(e.From) != n.Name {
				continue
			}
			if e.Actor == task.RoleHuman {
				add(&e, fmt.Sprintf("moved the task out of %q", e.From))
			}
			break
		}
	}
	return out
}

// beganBy says how a person began a task by an event: they created it, or moved it out of its first state. What its
// agents did is theirs. It is empty where they did not.
func beganBy(def *workflow.Definition, events []history.Event, i int) string {
	e := &events[i]
	switch {
	case e.Actor != task.RoleHuman:
		return ""
	case i == 0:
		return "created the task"
	case e.Type == history.QueuedForSpace, e.IsMove() && e.From == def.Initial:
		return "started the task"
	}
	return ""
}

// sameEyes is why a person is not the other one that a transition asks for; none where they are, or where it asks for
// none. A name is what someone says of themself, except where they sign: where the task was created with a signature,
// only a signed request is another person's.
func sameEyes(def *workflow.Definition, edge *workflow.Transition, actor task.Actor,
	events []history.Event) []rejection.Detail {
	if len(edge.OtherThan) == 0 || actor.Rule || actor.Role != task.RoleHuman {
		return nil
	}
	than := make([]string, len(edge.OtherThan))
	for i, n := range edge.OtherThan {
		than[i] = n.Name
	}
	no := func(found, want string) []rejection.Detail {
		another := "another person than " + strings.Join(than, ", ")
		return []rejection.Detail{{Condition: another, Found: found, Want: want}}
	}
	others := othersThan(def, edge, events)
	switch {
	case actor.Via != "":
		return no("a program that asks for a person: "+actor.Via, "have a person ask themself")
	case actor.Person == "":
		return no("no name of who asks", "set one: git config --global user.name NAME")
	case len(others) == 0 && !slices.Contains(than, workflow.Author):
		return no("no person who moved the task there", "take the way on which another person decides first")
	case len(events) > 0 && signature(events[0]) != "" && actor.Signature == "":
		return no("a request without a signature, of a task that was created with one",
			"sign it as the task was signed when it was created")
	}
	for _, other := range others {
		if whoIs(other.name) == whoIs(actor.Person) {
			return no(other.String(), "ask another person to make the move")
		}
	}
	return nil
}

// whoIs tells people apart: by their address where their name has one. Small and capital letters are the same, and a
// program that asked for them does not count.
func whoIs(name string) string {
	if via := strings.LastIndex(name, " via "); via >= 0 {
		name = name[:via]
	}
	if from, to := strings.LastIndex(name, "<"), strings.LastIndex(name, ">"); from >= 0 && from+1 < to {
		name = name[from+1 : to]
	}
	return strings.ToLower(strings.TrimSpace(name))
}

func signature(e history.Event) string {
	_, signature := e.Proof()
	return signature
}
