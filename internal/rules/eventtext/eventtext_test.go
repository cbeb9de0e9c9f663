package eventtext

import (
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func TestEveryKindOfEvent_hasWordsThatAreNotItsName(t *testing.T) {
	t.Parallel()
	for _, name := range Types() {
		e := &history.Event{Type: name, Actor: "human", From: "a", To: "b"}
		if words := What(e); words == "" || words == name || strings.ContainsAny(words, "_%") {
			t.Errorf("%s: found %q, expected words for people", name, words)
		}
	}
}

func TestWhat_isSaidInFewWords(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]history.Event{
		"planning -> working":         {Type: history.StatusChanged, From: "planning", To: "working"},
		"worker started":              {Type: history.AgentSpawned, Data: map[string]string{"role": "worker"}},
		"agent ended":                 {Type: history.AgentStopped},
		"message to the worker":       {Type: history.AgentNotified, Data: map[string]string{"role": "worker"}},
		"from.another.edition":        {Type: "from.another.edition"},
		"spawn_agent failed":          {Type: history.HookFailure, Data: map[string]string{"hook": "spawn_agent"}},
		"said to the " + e(119) + "…": {Type: history.PersonSaid, Data: map[string]string{"role": e(500)}},
		"workflow changed: default 7 (aaaaaa) -> mine 1 (bbbbbb)": {Type: history.WorkflowMigrated,
			Data: map[string]string{"from_workflow": "default", "from_version": "7", "from": "aaaaaaaaaaaa",
				"workflow": "mine", "version": "1", "to": "bbbbbbbbbbbb"}},
	} {
		if got := What(&e); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

func e(n int) string { return strings.Repeat("e", n) }

func TestWho_isWhoAskedAndForWhom(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]history.Event{
		"by human (Ada <a@b>) for the worker": {Type: history.StatusChanged, Actor: "human", Person: "Ada <a@b>",
			ActingAs: "worker"},
		"by itself":  {Type: history.AutoAdvanced, Actor: task.ActorEngine},
		"by engine":  {Type: history.StatusChanged, Actor: task.ActorEngine},
		"":           {Type: history.AgentSpawned, Actor: task.ActorEngine},
		"by worker":  {Type: history.StatusChanged, Actor: "worker", ActingAs: "worker"},
		"by manager": {Type: history.Updated, Actor: "manager"},
	} {
		if got := Who(&e); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

func TestDetails_areWhatTheWordsDoNotHaveYet(t *testing.T) {
	t.Parallel()
	for want, one := range map[string]history.Event{
		"last words: …" + e(108) + " logged out; crash count: 2": {Type: history.AgentCrashed, In: "working", Crash: 2,
			Data: map[string]string{"role": "worker", "ended": "exit status 1",
				task.DataLastWords: e(300) + " logged\nout", "secret": "no"}},
		"branch: b": {Type: history.Created, Data: map[string]string{"status": "pending", "branch": "b",
			"role": "worker"}},
		"in spite of a rule; by force past one; two; merged elsewhere without three": {Type: history.StatusChanged,
			Data: map[string]string{history.DataOverride: "a rule", "skipped": "one\ntwo", "without": "three"}},
		"an override that was not needed: all conditions held": {Type: history.StatusChanged,
			Data: map[string]string{history.DataOverride: "nothing: all conditions held"}},
		"goes on with its conversation": {Type: history.AgentSpawned, Data: map[string]string{"role": "worker",
			history.DataResumed: "true"}},
		"begins a new conversation": {Type: history.ReviewStarted,
			Data: map[string]string{history.DataResumed: "false"}},
	} {
		if got := strings.Join(Details(&one), "; "); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
	start := history.Event{Type: history.AgentSpawned, Hooks: []string{"kill_agent", "spawn_agent"},
		Evidence: []task.Evidence{{Source: "## plan"}}}
	if got := strings.Join(Evidence(&start), "; "); got != "at its start: ## plan; hooks: kill_agent, spawn_agent" {
		t.Errorf("found %q", got)
	}
}

func TestRoutine_isWhatOnlyTellsOfAgents(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		e    history.Event
		want bool
	}{
		{history.Event{Type: history.WorkspaceReady}, true},
		{history.Event{Type: history.AgentSpawned}, true},
		{history.Event{Type: history.AgentStopped}, true},
		{history.Event{Type: history.AgentStopped, Reason: "its document is too large"}, false},
		{history.Event{Type: history.AgentRespawned, Person: "Ada"}, false},
		{history.Event{Type: history.AgentCrashed}, false},
		{history.Event{Type: history.StatusChanged}, false},
	} {
		if got := Routine(&one.e); got != one.want {
			t.Errorf("%+v: found %v, expected %v", one.e, got, one.want)
		}
	}
}

func TestWhat_namesAllAgentsTogether(t *testing.T) {
	t.Parallel()
	if got := What(&history.Event{Type: history.AgentStopped, Data: map[string]string{"role": "all"}}); got !=
		"all agents ended" {
		t.Errorf("found %q", got)
	}
}

func TestCounter_isNamedInWordsForPeople(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"rereviews": "repeat reviews", "crash_count": "crashes",
		"review_round": "review round", "own_name": "own name"} {
		if got := Counter(name); got != want {
			t.Errorf("found %q for %s, expected %q", got, name, want)
		}
	}
}
