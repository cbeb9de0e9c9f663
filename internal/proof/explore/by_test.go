package explore_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/proof/explore"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// apart has two transitions between the same states, and no one who may take both.
const apart = `
name: apart
version: 1
states:
  todo: {}
  work: {role: worker, respawn_prompt: go}
  done: {terminal: true, success: true}
  dropped: {terminal: true}
moves: {spawn: work, cancel: dropped, complete: done}
transitions:
  - {from: todo, to: work, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - from: work
    to: dropped
    by: worker
    gate: {section: "## Hopeless"}
    hooks: [{action: kill_session}, {action: release_workspace}]
  - from: work
    to: done
    by: [worker, human]
    gate: {section: "## Handoff"}
    hooks: [{action: kill_session}, {action: release_workspace}]
  - {from: "*", to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  go: |
    Write ## Handoff, then run: orange task update --status done
    If it is hopeless, write ## Hopeless, then run: orange task update --status dropped
`

// Who asks separates transitions: a person gives up from everywhere, and an agent where it says why.
func TestTransitionsThatNoOneMayBothTake_areEachFollowed(t *testing.T) {
	t.Parallel()
	def := parseText(t, apart)
	persons := apart[strings.Index(apart, "  - {from: \"*\""):strings.Index(apart, "prompts:")]
	before := strings.Replace(strings.Replace(apart, persons, "", 1), "transitions:\n", "transitions:\n"+persons, 1)
	for _, one := range []*workflow.Definition{def, parseText(t, before)} {
		for _, v := range explore.Check(one, explore.Most).Failed() {
			t.Error(v.Tell("apart.yml"))
		}
	}
	noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		role, body string
		moved      bool
	}{
		{task.RoleHuman, "", true},
		{task.RoleWorker, "", false},
		{task.RoleWorker, "## Hopeless\n\nNo.\n", true},
	} {
		ev := decide.Evidence{Document: document.Read([]byte(tt.body))}
		d, err := decide.Transition(def, task.Task{ID: "1", Status: "work", Live: true}, ev,
			task.Request{Task: "1", To: "dropped", Actor: task.Actor{Role: tt.role}}, noon)
		if d.Moved != tt.moved {
			t.Errorf("the %s, with %q: moved %t, %v", tt.role, tt.body, d.Moved, err)
		}
	}
}

// A prompt that speaks of "## Ownership" does not ask for "## Owner".
func TestAPrompt_namesASectionAsAWhole(t *testing.T) {
	t.Parallel()
	for section, sound := range map[string]bool{"## Handoff": true, "## Hand": false, "## Handoff-2": false} {
		text := strings.Replace(apart, `gate: {section: "## Handoff"}`, `gate: {section: "`+section+`"}`, 1)
		var told []string
		for _, v := range explore.Check(parseText(t, text), explore.Most).Failed() {
			told = append(told, v.Message)
		}
		if sound != (len(told) == 0) || !sound && !strings.Contains(told[0], "the section") {
			t.Errorf("%s: found %q", section, told)
		}
	}
}
