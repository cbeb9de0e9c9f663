package engine_test

import (
	"slices"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// told asks as the agent with a seat, whose program tells a conversation.
func (w *world) told(id, secret, conversation string) error {
	w.t.Helper()
	_, err := w.Actor(w.t.Context(), id, task.Caller{Secret: secret, Conversation: conversation})
	return err
}

// has compares the conversations in a task's history: the roles that told them, and their names.
func (w *world) has(id string, want ...string) {
	w.t.Helper()
	var found []string
	for _, e := range w.events(id, history.ConversationNoted) {
		found = append(found, e.Actor+" "+e.Data[history.DataConversation])
	}
	if !slices.Equal(found, want) {
		w.t.Errorf("the history has %q, want %q", found, want)
	}
}

func TestActor_notesTheConversationThatAnAgentTellsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("first", true).Task.ID
	mine := w.performer.last(t, action.SpawnAgent).secret
	for _, name := range []string{"", "--yolo", "a/b", "mine", "mine", "another"} {
		must(t, w.told("", mine, name))
	}
	w.has(id, "worker mine")

	dead := func(task.Task, string) (bool, error) { return false, nil }
	_, err := w.Respawn(t.Context(), id, dead, human)
	must(t, err)
	again := w.performer.last(t, action.SpawnAgent)
	if again.conversation != "mine" || again.secret == mine {
		t.Fatalf("the agent in its place goes on with %q", again.conversation)
	}
	wantCode(t, w.told(id, mine, "late"), rejection.ActorDenied) // its seat has ended
	must(t, w.told(id, again.secret, "new"))
	w.has(id, "worker mine", "worker new")
}

func TestActor_notesAConversationForTheRoleOfTheSeatAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("first", true).Task.ID
	workers := w.performer.last(t, action.SpawnAgent).secret
	must(t, w.told(id, workers, "mine"))
	w.write(id, plan)
	w.move(id, "working", worker)
	w.write(id, handoff)
	w.move(id, "agent-review", worker)
	must(t, w.Resume(t.Context()))
	reviewers := w.performer.last(t, action.SpawnReviewer).secret
	must(t, w.told(id, reviewers, "mine")) // the worker's
	must(t, w.told(id, reviewers, "judged"))
	must(t, w.told(id, workers, "judged"))
	w.has(id, "worker mine", "reviewer judged")
	other := w.create("second", true).Task.ID
	wantCode(t, w.told(other, workers, "else"), rejection.ActorDenied)
	w.has(other)
}

func TestActor_ofACallerWithoutASeatHasNoConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("first", true).Task.ID
	_, err := w.Actor(t.Context(), id, task.Caller{Conversation: "a person's"})
	must(t, err)
	_, err = w.Actor(t.Context(), id, task.Caller{Above: []task.Process{{PID: 1001, Began: "then"}}, Conversation: "x"})
	must(t, err)
	w.has(id)
}
