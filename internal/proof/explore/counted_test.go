package explore_test

import (
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
)

// countsFromWhereItCame has a move that leads on from one state alone, with a guard and a counter of its own, and a
// state that begins again, which forgets how often it has failed.
const countsFromWhereItCame = `
name: counted
version: 1
fields: {asked: 0}
states:
  todo: {}
  doing: {role: worker, respawn_prompt: work}
  other: {role: worker, respawn_prompt: work}
  help: {}
  hopeless: {}
  done: {terminal: true}
redo: [doing]
transitions:
  - {from: todo, to: doing, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: doing, to: other, by: worker, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: doing, to: help, by: worker, on: failure, when: failures < 3}
  - {from: doing, to: hopeless, by: worker, on: failure, when: failures >= 3}
  - {from: other, to: help, by: worker}
  - from: help
    to: doing
    came_from: doing
    by: human
    when: asked < 2
    hooks: [{increment: asked}, {action: spawn_agent, prompt: work}]
  - {from: help, to: hopeless, came_from: doing, by: human, when: asked >= 2}
  - {from: help, to: other, came_from: other, by: human, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: "*", to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {work: Build it until a person says otherwise.}
`

func TestCountsMatter_whereAMoveLeadsOnOrAStateBeginsAgain(t *testing.T) {
	t.Parallel()
	def, err := workflow.Parse("counted.yml", []byte(countsFromWhereItCame), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	if different := explore.Compare(def, explore.MostAtCreation); different != nil {
		t.Errorf("%s", strings.Join(different, "\n"))
	}
}
