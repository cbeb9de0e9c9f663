package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// person is someone whom a transition wants another person than, with what they did.
type person struct{ name, did string }

func (p person) String() string { return p.name + ", who " + p.did }

// strangerAsks is a person who has done nothing to any task. No one can have the name.
func strangerAsks() task.Actor {
	const name = "\x00"
	return task.Actor{Role: task.RoleHuman, Person: name, Signature: name}
}

// movedBy are the people who moved a task, by the number of the event: empty for a move that no person asked for. Who
// had a move wait for a free workspace made it. What a migration calls a move has only another name.
func movedBy(events []history.Event) map[int]string {
	out := map[int]string{}
	waits, whose, renamed := "", "", false
	for _, e := range events {
		switch {
		case e.Type == history.QueuedForSpace && e.Actor == task.RoleHuman:
			waits, whose = e.Data["for"], e.Person
		case e.IsMove():
			switch {
			case renamed:
			case e.Actor == task.RoleHuman:
				out[e.Seq] = e.Person
			case waits == string(e.To):
				out[e.Seq] = whose
			default:
				out[e.Seq] = ""
			}
			waits = ""
		}
		renamed = e.Type == history.WorkflowMigrated
	}
	return out
}

// othersThan are the people whom a transition wants another person than: those who began the task, and those who moved
// it out of the states that it names when it was there last. Missing are the states that no person moved it out of.
func othersThan(def *workflow.Definition, edge *workflow.Transition, events []history.Event) (out []person,
	missing []string) {
	if len(edge.OtherThan) == 0 || len(events) == 0 {
		return nil, nil
	}
	movers := movedBy(events)
	add := func(e *history.Event, name, did string) {
		if !slices.ContainsFunc(out, func(p person) bool { return whoIs(p.name) == whoIs(name) }) {
			out = append(out, person{name, fmt.Sprintf("%s (event %d)", did, e.Seq)})
		}
	}
	first := cmp.Or(events[0].Data[history.DataStatus], string(def.Initial))
	for _, n := range edge.OtherThan {
		if n.Name == workflow.Author && events[0].Actor == task.RoleHuman {
			add(&events[0], events[0].Person, "created the task")
		}
		found := n.Name == workflow.Author
		for i := range slices.Backward(events) {
			e := &events[i]
			who, moved := movers[e.Seq]
			switch {
			case !moved || found && n.Name != workflow.Author:
			case n.Name == workflow.Author && string(e.From) == first && who != "":
				add(e, who, "started the task")
			case string(e.From) == n.Name:
				if found = true; who == "" {
					missing = append(missing, n.Name)
					continue
				}
				add(e, who, fmt.Sprintf("moved the task out of %q", e.From))
			}
		}
		if !found {
			missing = append(missing, n.Name)
		}
	}
	return out, missing
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
	others, missing := othersThan(def, edge, events)
	switch {
	case actor.Via != "":
		return no("a program that asks for a person: "+actor.Via, "have a person ask themself")
	case actor.Person == "":
		return no("no name of who asks", "set one: git config --global user.name NAME")
	case len(missing) > 0:
		return no(fmt.Sprintf("no person who moved the task out of %q", missing[0]),
			"take the way on which another person decides first")
	case len(events) > 0 && signature(events[0]) != "" && actor.Signature == "":
		return no("a request without a signature, of a task that was created with one",
			"sign it as the task was signed when it was created")
	}
	for _, other := range others {
		switch whoIs(other.name) {
		case "":
			return no("no name on record of who "+other.did, "have someone do that again under their name")
		case whoIs(actor.Person):
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
