package decide

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// lacking lists the permissions that an actor lacks for a move. Only a program that asks for a person needs any:
// without them it does what an orchestrator does, and what a person answers for stays with the person.
func lacking(def *workflow.Definition, edge *workflow.Transition, actor task.Actor, override bool) []string {
	var needed []string
	marks := Marks(def, edge.To)
	if slices.ContainsFunc(workflow.Leaves(edge.Gate), func(p workflow.Part) bool { return p.IsVerdict() }) {
		needed = append(needed, workflow.MayVerdict)
	}
	switch {
	case marks.Terminal && marks.Well:
		needed = append(needed, workflow.MayDone)
	case marks.Terminal:
		needed = append(needed, workflow.MayCancel)
	}
	if override {
		needed = append(needed, workflow.MayOverride)
	}
	return slices.DeleteFunc(needed, func(word string) bool { return may(actor, word) })
}

// may reports whether an actor may do what takes a permission of a program that asks for a person.
func may(actor task.Actor, word string) bool {
	return actor.Via == "" || slices.Contains(strings.Split(actor.May, ","), word)
}

// notAllowed tells a program that asks for a person which permission it lacks.
func notAllowed(actor task.Actor, word string) rejection.Detail {
	return rejection.Detail{Condition: "who asks",
		Found: fmt.Sprintf("%s, without the permission %q", asker(actor), word),
		Want: fmt.Sprintf("have the person do it; they may also allow it to their program: orange %s --may %s",
			actor.Via, word)}
}
