package decide_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// program is one that asks for a person, who allows it some moves.
func program(may ...string) task.Actor {
	return task.Actor{Role: task.RoleHuman, Person: "Ada via mcp", Via: "mcp", May: strings.Join(may, ",")}
}

const passed, failed = "## Review\nVerdict: PASS\n", "## Review\nVerdict: FAIL\n"

func TestAProgram_needsAPermissionForWhatAPersonAnswersFor(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for name, tt := range map[string]struct {
		status, to task.Status
		body       string
		over       bool
		needs      []string
	}{
		"a verdict":       {"agent-review", "reviewing", passed, false, []string{workflow.MayVerdict}},
		"a bad verdict":   {"agent-review", "working", failed, false, []string{workflow.MayVerdict}},
		"a good end":      {"reviewing", "done", "", false, []string{workflow.MayDone}},
		"a task given up": {"pending", "cancelled", "", false, []string{workflow.MayCancel}},
		"an override":     {"reviewing", "done", "", true, []string{workflow.MayDone, workflow.MayOverride}},
		"anything else":   {"pending", "planning", "", false, nil},
	} {
		req := task.Request{To: tt.to, Override: tt.over, Reason: "because"}
		ask := func(actor task.Actor) error {
			req.Actor = actor
			_, err := decide.Transition(def, newTask(tt.status), evidence(tt.body), req, noon)
			return err
		}
		if err := ask(program(tt.needs...)); err != nil {
			t.Errorf("%s, allowed: %v", name, err)
		}
		if err := ask(human()); err != nil {
			t.Errorf("%s, by the person: %v", name, err)
		}
		for _, word := range tt.needs {
			others := slices.DeleteFunc(workflow.Permissions(), func(other string) bool { return other == word })
			no := refusal(t, ask(program(others...)))
			if no.Code != rejection.ActorDenied || len(no.Details) != 1 ||
				!strings.Contains(no.Details[0].Want, "orange mcp --may "+word) {
				t.Errorf("%s without %q: found %+v", name, word, no)
			}
		}
	}
}

func TestAProgram_findsOpenWhatItMayAskFor(t *testing.T) {
	t.Parallel()
	def, tk := defaultWorkflow(t), newTask("reviewing")
	if open := decide.MayAsk(def, tk, program()); slices.Contains(open, "done") || slices.Contains(open, "cancelled") ||
		!slices.Contains(open, "working") {
		t.Errorf("without permissions: found %q", open)
	}
	if open := decide.MayAsk(def, tk, program(workflow.MayDone)); !slices.Contains(open, "done") {
		t.Errorf("with the permission: found %q", open)
	}
	moved := withGit(evidence(""), true, false)
	for _, tt := range []struct {
		actor task.Actor
		named bool
	}{
		{human(), true}, {program(workflow.MayDone), false}, {program(workflow.MayDone, workflow.MayOverride), true},
	} {
		_, err := decide.Transition(def, tk, moved, task.Request{To: "done", Actor: tt.actor}, noon)
		if no := refusal(t, err); (no.Override != "") != tt.named {
			t.Errorf("%+v: the override %q is named", tt.actor, no.Override)
		}
	}
}

// Which move the evidence supports does not depend on who may make it: otherwise "next" would make another one.
func TestAProgram_hasTheNextMoveOfAPerson(t *testing.T) {
	t.Parallel()
	def, tk := defaultWorkflow(t), newTask("agent-review")
	to, _, err := decide.Next(def, tk, evidence(passed), program(), "", noon)
	if err != nil || to != "reviewing" {
		t.Errorf("with a verdict: found %q, %v", to, err)
	}
	_, _, err = decide.Next(def, newTask("pending"), evidence(""), program(), "", noon)
	_, _, same := decide.Next(def, newTask("pending"), evidence(""), human(), "", noon)
	if (err == nil) != (same == nil) {
		t.Errorf("found %v, and for a person %v", err, same)
	}
}

func TestAProgram_setsNoCounterBack(t *testing.T) {
	t.Parallel()
	def, tk := defaultWorkflow(t), newTask("planning")
	tk.Counters = tk.Counters.With("questions", 5)
	ask := func(actor task.Actor) error {
		_, err := decide.Transition(def, tk, evidence(""), task.Request{To: "clarification", Actor: actor}, noon)
		return err
	}
	if err := ask(human()); err != nil {
		t.Errorf("a person: %v", err)
	}
	if no := refusal(t, ask(program(workflow.Permissions()...))); no.Code != rejection.GuardFailed {
		t.Errorf("a program: found %+v", no)
	}
}
