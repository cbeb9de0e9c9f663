package flow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/registry"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

var update = flag.Bool("update", false, "write the digests of the states again")

func digest(t *testing.T, s any) string {
	t.Helper()
	text, err := json.Marshal(s)
	testkit.Must(t, err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// A replayer compares the calls of a workflow, and not what it has decided. The digest of each state does.
func TestRecordedHistoriesLeadToTheStatesThatTheyLedTo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no history: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var states []string
			f := flow.Flow{Watch: func(s custody.State) { states = append(states, digest(t, s)) },
				Members: func(s registry.State) { states = append(states, digest(t, s)) }}
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(f.Task, workflow.RegisterOptions{Name: wire.TaskWorkflow})
			r.RegisterWorkflowWithOptions(f.Registry, workflow.RegisterOptions{Name: wire.RegistryWorkflow})
			testkit.Must(t, r.ReplayWorkflowHistoryFromJSONFile(testkit.Silence{}, file))
			stored := strings.TrimSuffix(file, ".json") + ".digests"
			got := strings.Join(states, "\n") + "\n"
			if *update {
				testkit.Must(t, os.WriteFile(stored, []byte(got), 0o600))
			}
			want, err := os.ReadFile(stored)
			testkit.Must(t, err)
			if got != string(want) {
				t.Errorf("the states are\n%swant\n%s", got, want)
			}
		})
	}
}
