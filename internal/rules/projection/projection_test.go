package projection_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/projection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

const phases = `
name: phases
version: 1
fields: {tries: 2, luck: 0}
states:
  idle: {}
  plan: {role: worker}
  code: {role: worker}
  check: {role: reviewer}
  done: {terminal: true}
projections:
  state.json:
    phase: "{status}"
    of: "{project}/{branch} {task_id} <{summary}> {nothing} {states}"
    tries: "{tries}"
    luck: "{luck}"
    told: "try {tries}"
    empty: {}
    one: {only: "{tries}"}
    actors: "{states}"
  deep/round.json: "{review_round}"
transitions:
  - {from: idle, to: plan}
  - {from: plan, to: code}
  - {from: code, to: check}
  - {from: check, to: done}
`

func phasesWorkflow(tb testing.TB) *workflow.Definition {
	tb.Helper()
	return parse(tb, "phases.yml", []byte(phases))
}

func birth() history.Event {
	return history.Event{
		Type: history.Created, Counters: task.Counters{{Name: "tries", Value: 2}},
		Data: map[string]string{"status": "idle", "branch": "fix", "summary": "Say \"hi\" & <bye>",
			"workflow": "phases"},
	}
}

func moved(from, to task.Status, hooks ...string) history.Event {
	return history.Event{Type: history.StatusChanged, From: from, To: to, Hooks: hooks}
}

func agent(kind, role string) history.Event {
	return history.Event{Type: kind, Data: map[string]string{"role": role}}
}

func TestAProjectionKeepsTheWorkflowsOrderAndIsDeterministic(t *testing.T) {
	t.Parallel()
	def := phasesWorkflow(t)
	counted := moved("plan", "code")
	counted.Counters = task.Counters{{Name: "review_round", Value: 4}, {Name: "tries", Value: 3}}
	events := []history.Event{
		birth(), moved("idle", "plan"), agent(history.AgentSpawned, "worker"), counted, moved("code", "code"),
	}
	want := `{
  "phase": "code",
  "of": "shop/fix T1 <Say \"hi\" & <bye>> {nothing} {states}",
  "tries": 3,
  "luck": 0,
  "told": "try 3",
  "empty": {},
  "one": {
    "only": 3
  },
  "actors": {
    "idle": {
      "round": 1,
      "status": "done"
    },
    "plan": {
      "round": 1,
      "status": "done"
    },
    "code": {
      "round": 2,
      "status": "workshop"
    },
    "check": {
      "round": 0,
      "status": null
    },
    "done": {
      "round": 0,
      "status": null
    }
  }
}
`
	other := newTask("done") // the present record does not matter: the history tells
	for range 3 {
		got := projection.Files(def, other, events)
		if len(got) != 2 || got[0].Path != "state.json" || got[1].Path != "deep/round.json" {
			t.Fatalf("found %+v, want both files in the order of the workflow", got)
		}
		if string(got[0].Text) != want {
			t.Fatalf("found\n%s\nwant\n%s", got[0].Text, want)
		}
		if string(got[1].Text) != "4\n" {
			t.Errorf("found %q, want a number alone", got[1].Text)
		}
	}
}

func TestAWorkflowWithoutProjectionsProjectsNothing(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	if got := projection.Files(def, newTask("working"), []history.Event{birth()}); got != nil {
		t.Errorf("found %+v, want nothing", got)
	}
}

// told is what state.json says of every state, in short: "2:done".
func told(tb testing.TB, def *workflow.Definition, events []history.Event) map[string]string {
	tb.Helper()
	var file struct {
		Actors map[string]struct {
			Round  int
			Status *string
		}
	}
	text := projection.Files(def, newTask("idle"), events)[0].Text
	if err := json.Unmarshal(text, &file); err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	out := map[string]string{}
	for name, a := range file.Actors {
		word := "null"
		if a.Status != nil {
			word = *a.Status
		}
		out[name] = strconv.Itoa(a.Round) + ":" + word
	}
	return out
}

func TestTheWordsForAState(t *testing.T) {
	t.Parallel()
	def := phasesWorkflow(t)
	failed := agent(history.HookFailure, "")
	failed.Data = map[string]string{"hook": action.SpawnAgent}
	unreviewed := agent(history.HookFailure, "")
	unreviewed.Data = map[string]string{"hook": action.SpawnReviewer}
	for _, c := range []struct {
		name   string
		events []history.Event
		state  string
		want   string
	}{
		{"never entered is null", nil, "plan", "0:null"},
		{"born in it counts as entering", nil, "idle", "1:pending"},
		{"entered without an agent is pending", []history.Event{moved("idle", "plan")}, "plan", "1:pending"},
		{"left for a later one is done", []history.Event{moved("idle", "plan")}, "idle", "1:done"},
		{"an agent at work is a workshop", []history.Event{
			moved("idle", "plan"), agent(history.AgentSpawned, "worker")}, "plan", "1:workshop"},
		{"another role's agent is none of its own", []history.Event{
			moved("idle", "plan"), agent(history.ReviewStarted, "reviewer")}, "plan", "1:pending"},
		{"a reviewer in the state of reviewers", []history.Event{
			moved("idle", "check"), agent(history.ReviewStarted, "reviewer")}, "check", "1:workshop"},
		{"an agent that stopped", []history.Event{moved("idle", "plan"), agent(history.AgentSpawned, "worker"),
			agent(history.AgentStopped, "worker")}, "plan", "1:pending"},
		{"an agent that crashed", []history.Event{moved("idle", "plan"), agent(history.AgentSpawned, "worker"),
			agent(history.AgentCrashed, "worker")}, "plan", "1:pending"},
		{"a session that ended", []history.Event{moved("idle", "plan"), agent(history.AgentSpawned, "worker"),
			agent(history.AgentStopped, "all")}, "plan", "1:pending"},
		{"a crash and a respawn", []history.Event{moved("idle", "plan"), agent(history.AgentCrashed, "worker"),
			agent(history.AgentRespawned, "worker")}, "plan", "1:workshop"},
		{"a respawn that failed", []history.Event{moved("idle", "plan"), agent(history.AgentRespawned, "worker"),
			failed}, "plan", "1:pending"},
		{"a reviewer that did not come", []history.Event{moved("idle", "check"),
			agent(history.ReviewStarted, "reviewer"), unreviewed}, "check", "1:pending"},
		{"an agent of which no one says the role is that of the state", []history.Event{
			moved("idle", "check"), agent(history.AgentSpawned, "")}, "check", "1:workshop"},
		{"one of two agents stopped", []history.Event{moved("idle", "plan"), agent(history.AgentSpawned, "worker"),
			agent(history.ReviewStarted, "reviewer"), agent(history.AgentStopped, "reviewer")}, "plan", "1:workshop"},
		{"a worker that lives on in the next state", []history.Event{
			moved("idle", "plan"), agent(history.AgentSpawned, "worker"), moved("plan", "code")}, "code", "1:workshop"},
		{"a move that kills", []history.Event{moved("idle", "plan"), agent(history.AgentSpawned, "worker"),
			moved("plan", "code", action.KillSession)}, "code", "1:pending"},
		{"a move that kills the reviewer", []history.Event{agent(history.ReviewStarted, "reviewer"),
			moved("idle", "check", action.KillReviewer)}, "check", "1:pending"},
		{"left forward while its agent lives is done", []history.Event{
			moved("idle", "plan"), agent(history.AgentSpawned, "worker"), moved("plan", "check")}, "plan", "1:done"},
		{"left backward is pending", []history.Event{moved("idle", "code"), moved("code", "plan")}, "code",
			"1:pending"},
		{"a self edge counts", []history.Event{moved("idle", "plan"), moved("plan", "plan")}, "plan", "2:pending"},
		{"back again after it was done", []history.Event{moved("idle", "plan"), moved("plan", "code"),
			moved("code", "plan")}, "plan", "2:pending"},
		{"done again", []history.Event{moved("idle", "plan"), moved("plan", "code"), moved("code", "plan"),
			moved("plan", "check")}, "plan", "2:done"},
		{"redo out of the end", []history.Event{moved("idle", "done"), moved("done", "plan", action.KillSession)},
			"done", "1:pending"},
		{"the end is entered and has nobody", []history.Event{moved("idle", "done")}, "done", "1:pending"},
		{"a move out of a state that an earlier workflow had", []history.Event{moved("idle", "code")}, "code",
			"1:pending"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			events := append([]history.Event{birth()}, c.events...)
			if got := told(t, def, events)[c.state]; got != c.want {
				t.Errorf("found %q of %s, want %q", got, c.state, c.want)
			}
		})
	}
}

func TestATaskBeforeItsStartHasNotBegunItsFirstRound(t *testing.T) {
	t.Parallel()
	def := phasesWorkflow(t)
	for hooks, want := range map[string]string{action.Notify: "0:null", action.SpawnAgent: "1:pending",
		action.SpawnReviewer: "1:pending"} {
		born := birth()
		born.Data["status"], born.Hooks = "plan", []string{hooks}
		if got := told(t, def, []history.Event{born})["plan"]; got != want {
			t.Errorf("born with %s: found %q, want %q", hooks, got, want)
		}
	}
}

func drawHistory(rt *rapid.T, def *workflow.Definition) []history.Event {
	events := []history.Event{birth()}
	at := task.Status("idle")
	for range rapid.IntRange(0, 30).Draw(rt, "events") {
		role := rapid.SampledFrom([]string{"worker", "reviewer", "all", ""}).Draw(rt, "role")
		switch rapid.IntRange(0, 4).Draw(rt, "what") {
		case 0:
			to := def.States[rapid.IntRange(0, len(def.States)-1).Draw(rt, "to")].Name
			e := moved(at, to)
			e.Counters = task.Counters{{Name: "tries", Value: rapid.IntRange(0, 3).Draw(rt, "tries")}}
			if rapid.Bool().Draw(rt, "kills") {
				e.Hooks = []string{action.KillSession}
			}
			events, at = append(events, e), to
		case 1:
			events = append(events, agent(history.AgentSpawned, role))
		case 2:
			events = append(events, agent(history.AgentStopped, role))
		case 3:
			events = append(events, history.Event{Type: history.Updated, Data: map[string]string{
				"summary": rapid.String().Draw(rt, "summary")}})
		default:
			events = append(events, history.Event{Type: "something.new", Data: map[string]string{"role": role}})
		}
	}
	return events
}

func TestEveryEarlierProjectionIsKnownAgain_andNoOther(t *testing.T) {
	t.Parallel()
	def := phasesWorkflow(t)
	rapid.Check(t, func(rt *rapid.T) {
		events := drawHistory(rt, def)
		all := projection.Files(def, newTask("idle"), events)
		entries := 0
		for n := 1; n <= len(events); n++ {
			for _, p := range projection.Files(def, newTask("idle"), events[:n]) {
				if !json.Valid(p.Text) || p.Text[len(p.Text)-1] != '\n' {
					rt.Fatalf("%s is no JSON with a newline at its end:\n%s", p.Path, p.Text)
				}
				if !projection.Shown(def, newTask("idle"), events, p.Path, p.Text) {
					rt.Fatalf("%s after event %d is not known again:\n%s", p.Path, n, p.Text)
				}
				if projection.Shown(def, newTask("idle"), events, p.Path, append(slices.Clone(p.Text), ' ')) {
					rt.Fatal("a file with a blank behind it is taken for an earlier one")
				}
			}
			if events[n-1].IsMove() || n == 1 {
				entries++
			}
		}
		if again := projection.Files(def, newTask("idle"), events); string(again[0].Text) != string(all[0].Text) {
			rt.Fatalf("the same history gives\n%s\nand then\n%s", all[0].Text, again[0].Text)
		}
		var file struct {
			Actors map[string]struct{ Round int }
		}
		if err := json.Unmarshal(all[0].Text, &file); err != nil {
			rt.Fatal(err)
		}
		sum := 0
		for _, a := range file.Actors {
			sum += a.Round
		}
		if sum != entries {
			rt.Fatalf("found %d rounds, want one for the birth and for each move: %d", sum, entries)
		}
		if projection.Shown(def, newTask("idle"), events, "other.json", all[0].Text) {
			rt.Fatal("a file that the workflow does not project is taken for one")
		}
	})
}
