package decide_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// lostDeath is the end of a role with a reboot.
func lostDeath(role, resume string) task.Death {
	death := deathOf(role)
	death.Ending = task.Ending{}
	death.LostWith, death.Resume = "a reboot", resume
	return death
}

func TestALostMachineIsNoCrashAndItsAgentRestartsAtOnce(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	one.StalledAt = noon.Add(-time.Hour)
	c := decide.Exit(def, one, evidence(""), lostDeath("worker", record.ResumeAlways), noon)
	if got := shape(c); got != "machine.lost | working crashes=0 | " || !c.Task.UpdatedAt.Equal(noon) ||
		!c.Task.StalledAt.IsZero() || c.Task.Attention != "" || c.DeadHook != 4 {
		t.Fatalf("it leads to %s, %+v", got, c.Task)
	}
	due, wanted := decide.RespawnDue(def, c.Task, c.Events, noon.Add(time.Second))
	if !wanted || !due.Equal(noon) || !decide.Respawns(def, c.Task) {
		t.Errorf("it is due at %v, %v", due, wanted)
	}
	if reason := c.Events[0].Reason; reason != "the worker ended with a reboot" {
		t.Errorf("the reason is %q", reason)
	}
}

// What the agent left before counts as ever; only a verdict is never one of an agent whose end is not known.
func TestAnAgentThatLeftItsEvidenceMovesItsTaskHoweverItEnded(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	left := "## Handoff\n\nDONE: it\n"
	c := decide.Exit(def, newTask("working"), evidence(left), lostDeath("worker", record.ResumeAlways), noon)
	if c.Task.Status != "agent-review" {
		t.Errorf("with a Handoff it leads to %s", shape(c))
	}
	verdict := "## Review\n\nVerdict: PASS\n"
	c = decide.Exit(def, newTask("agent-review"), evidence(verdict), lostDeath("reviewer", record.ResumeAlways), noon)
	if got := shape(c); got != "machine.lost | agent-review crashes=0 | " {
		t.Errorf("with a verdict it leads to %s", got)
	}
}

func TestAResumeSettingLeavesLostAgentsToPeople(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, role := range []string{"worker", "reviewer"} { // the workflow itself starts reviewers again that crash
		leavesItToPeople(t, def, role)
	}
}

func leavesItToPeople(t *testing.T, def *workflow.Definition, role string) {
	t.Helper()
	one := newTask(map[string]task.Status{"worker": "working", "reviewer": "agent-review"}[role])
	for resume, want := range map[string]string{
		record.ResumeAsk: "the " + role + ` ended with a reboot; start it again with "orange task respawn T1"; ` +
			"its last words: out of paper",
		record.ResumeNever: "",
	} {
		c := decide.Exit(def, one, evidence(""), lostDeath(role, resume), noon)
		if got := shape(c); !strings.HasPrefix(got, "machine.lost | "+string(one.Status)+" crashes=0") ||
			c.Task.Attention != want {
			t.Errorf("%s: it leads to %s, %q", resume, got, c.Task.Attention)
		}
		// it was wanted before
		if _, wanted := decide.RespawnDue(def, c.Task, c.Events, noon); wanted {
			t.Errorf("%s: the %s is started again", resume, role)
		}
		before := decide.Exit(def, one, evidence(""), lostDeath(role, record.ResumeAlways), noon)
		again := decide.Exit(def, before.Task, evidence(""), lostDeath(role, resume), noon)
		if _, wanted := decide.RespawnDue(def, again.Task, again.Events, noon); wanted {
			t.Errorf("%s: it is started again, as it was before", resume)
		}
	}
}

// One that ends with its machine again and again may be what ends it. A move forgets them.
func TestTheSixthLossInOneStatusIsACrash(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	for range 5 {
		c := decide.Exit(def, one, evidence(""), lostDeath("worker", record.ResumeAlways), noon)
		if c.Events[0].Type != history.MachineLost {
			t.Fatalf("a loss leads to %s", shape(c))
		}
		one = c.Task
	}
	c := decide.Exit(def, one, evidence(""), lostDeath("worker", record.ResumeAlways), noon)
	if got := shape(c); !strings.HasPrefix(got, "agent.crashed | working crashes=1") {
		t.Errorf("the sixth leads to %s", got)
	}
	moved := decide.Exit(def, one, evidence("## Handoff\n\nDONE: it\n"), deathOf("worker"), noon)
	if n := moved.Task.Counters.Get(record.LossCount); moved.Task.Status != "agent-review" || n != 0 {
		t.Errorf("after a move there are %d losses, %s", n, shape(moved))
	}
}
