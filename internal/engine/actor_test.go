package engine_test

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestActor_findsOutWhoAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("first", true).Task.ID
	mine := w.performer.last(t, action.SpawnAgent).secret
	other := w.create("second", true).Task.ID
	ended := w.create("third", true)
	if !ended.Queued {
		t.Fatal("the pool of 2 gave a third workspace")
	}
	w.move(other, "cancelled", human)
	over := w.performer.last(t, action.SpawnAgent).secret
	agent := []task.Process{{PID: 4, Began: "then"}, {PID: 1001, Began: "then"}, {PID: 5, Began: "then"}}
	tests := map[string]struct {
		id     string
		caller task.Caller
		want   task.Actor
		says   string
	}{
		"a person": {id, task.Caller{}, task.Actor{Role: "human"}, ""},
		"a person for a role": {id, task.Caller{As: "reviewer"}, task.Actor{
			Role: "human", As: "reviewer"}, ""},
		"an agent":                       {id, task.Caller{Secret: mine}, worker, ""},
		"an agent in general":            {"", task.Caller{Secret: mine}, worker, ""},
		"an agent of another task":       {other, task.Caller{Secret: mine}, task.Actor{}, "the agent of another task"},
		"an agent with --as":             {id, task.Caller{Secret: mine, As: "human"}, task.Actor{}, "without --as"},
		"an unknown seat":                {id, task.Caller{Secret: "guess"}, task.Actor{}, "unknown seat"},
		"an agent whose seat ended":      {other, task.Caller{Secret: over}, task.Actor{}, "time is over"},
		"below an agent without a seat":  {id, task.Caller{Above: agent}, worker, ""},
		"below an agent, with --as":      {id, task.Caller{Above: agent, As: "human"}, task.Actor{}, "without --as"},
		"below an agent of another task": {other, task.Caller{Above: agent}, task.Actor{}, "another task"},
		"below a process of its number": {id, task.Caller{Above: []task.Process{{PID: 1001, Began: "later"}}},
			task.Actor{Role: "human"}, ""},
		"with an agent's variables": {id, task.Caller{Task: id}, task.Actor{}, "the variables of an agent"},
		"inside the agents' terminal": {id, task.Caller{Inside: true, As: "reviewer"}, task.Actor{},
			"the terminal server"},
		"an agent inside its terminal": {id, task.Caller{Secret: mine, Task: id, Inside: true}, worker, ""},
		"below an agent, in there":     {id, task.Caller{Above: agent, Task: id, Inside: true}, worker, ""},
		"below strangers":              {id, task.Caller{Above: agent[:1]}, task.Actor{Role: "human"}, ""},
	}
	for name, tt := range tests {
		got, err := w.Actor(t.Context(), tt.id, tt.caller)
		if got != tt.want {
			t.Errorf("%s: the actor is %+v, want %+v", name, got, tt.want)
		}
		if tt.says == "" {
			must(t, err)
			continue
		}
		wantCode(t, err, rejection.ActorDenied)
		if err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: the error is %v, want one that says %q", name, err, tt.says)
		}
	}
}

func TestHome_refusesAgentsAndProgramsBelowThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("first", true)
	secret := w.performer.last(t, action.SpawnAgent).secret
	must(t, w.Home(t.Context(), "add a project", task.Caller{Above: []task.Process{{PID: 4, Began: "then"}}}))
	for name, caller := range map[string]task.Caller{
		"an agent":                {Secret: secret},
		"below an agent":          {Above: []task.Process{{PID: 4, Began: "then"}, {PID: 1001, Began: "then"}}},
		"an unknown seat":         {Secret: "guess"},
		"an agent's variables":    {Task: "abc"},
		"in the agents' terminal": {Inside: true},
	} {
		if err := w.Home(t.Context(), "add a project", caller); err == nil {
			t.Errorf("%s may", name)
		} else {
			wantCode(t, err, rejection.ActorDenied)
		}
	}
}

func TestARespawn_endsTheSeatOfTheAgentBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("fix", true).Task.ID
	before := w.performer.last(t, action.SpawnAgent).secret
	_, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	must(t, err)
	_, err = w.Actor(t.Context(), id, task.Caller{Secret: before})
	wantCode(t, err, rejection.ActorDenied)
	now, err := w.Actor(t.Context(), id, task.Caller{Secret: w.performer.last(t, action.SpawnAgent).secret})
	must(t, err)
	if now != worker {
		t.Errorf("the new agent is %+v", now)
	}
}

func TestTheSecretOfASeat_isNeverOnDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("fix", true)
	if secret := w.performer.last(t, action.SpawnAgent).secret; len(secret) != 64 ||
		strings.Contains(w.everything(), secret) {
		t.Errorf("the secret %q is kept", secret)
	}
}
