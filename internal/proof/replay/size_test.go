package replay_test

import (
	"encoding/json"
	"testing"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// The end of an agent whose document was too large is decided again as it was, however large the document is now.
func TestAReplay_knowsThatTheDocumentWasTooLarge(t *testing.T) {
	t.Parallel()
	def, one := shippedWorkflow(t, "default"), newTask("working")
	death := task.Death{Task: one.ID, Role: task.RoleWorker, Hook: 2, Ending: task.Ending{Known: true}}
	ev := decide.Evidence{Trouble: "TASK.md is larger than 32 MiB", TooLarge: true}
	c, err := replay.Inputs{Ask: replay.AskDeath}.Of(death).Keep(def, record.Snapshot{Task: one}, ev,
		decide.Exit(def, one, ev, death, noon))
	if err != nil {
		t.Fatal(err)
	}
	var in replay.Inputs
	if err := json.Unmarshal(c.Events[0].Inputs, &in); err != nil {
		t.Fatal(err)
	}
	again, err := in.Again(def, replay.Past{Task: one, Event: c.Events[0]})
	if err != nil || len(again.Events) != 1 || again.Events[0].Type != history.AgentStopped ||
		again.Events[0].Reason != c.Events[0].Reason || again.Task.Attention != c.Task.Attention {
		t.Errorf("%v: %+v, want %+v", err, again.Events, c.Events)
	}
}
