package decide_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// The tests of this file guard the choices that were made where the documents disagree or say nothing, which
// docs/conformance.md has.

// Both refuse: the rejection has the guard's code, and includes the gate's detail.
func TestAGuardIsJudgedBeforeTheGate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic"} {
		one := newTask("agent-review")
		one.Counters = one.Counters.With(task.ReviewRound, 2)
		req := task.Request{Task: one.ID, To: "working", Actor: task.Actor{Role: task.RoleReviewer}}
		_, err := decide.Transition(shippedWorkflow(t, name), one, evidence(""), req, noon)
		no := refusal(t, err)
		if no.Code != rejection.GuardFailed || len(no.Details) != 2 || no.Details[0].Condition != "review_round < 2" {
			t.Errorf("%s: found %s with %+v, want %s first", name, no.Code, no.Details, rejection.GuardFailed)
		}
	}
}

func TestTheRoundIsCountedWithTheMoveBeforeAnyAgentStarts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic"} {
		def := shippedWorkflow(t, name)
		req := task.Request{Task: "T1", To: "agent-review", Actor: task.Actor{Role: task.RoleWorker}}
		d, err := decide.Transition(def, newTask("working"), evidence(aHandoffText), req, noon)
		if err != nil || d.Change.Task.Counters.Get(task.ReviewRound) != 1 ||
			d.Change.Events[0].Counters.Get(task.ReviewRound) != 1 {
			t.Errorf("%s: found %v (%v), want round 1 in the task and in its event", name, d.Change.Task.Counters, err)
		}
		counted := false
		for _, h := range d.Change.Hooks {
			counted = counted || h.Field == task.ReviewRound
			if workflow.SpawnRole(h) != "" && !counted {
				t.Errorf("%s: %s comes before the round is counted", name, h.Action)
			}
		}
		born, err := decide.Create(def, task.Task{ID: "T2"}, "agent-review", human(), noon)
		if err != nil || born.Task.Counters.Get(task.ReviewRound) != 1 {
			t.Errorf("%s: a task that begins with a review has %v (%v), want round 1", name, born.Task.Counters, err)
		}
	}
}

func TestClarificationLeadsToPlanningOrWithAPlanToWork(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ask := func(to task.Status, body string) error {
		req := task.Request{Task: "T1", To: to, Actor: task.Actor{Role: task.RoleWorker}}
		_, err := decide.Transition(def, newTask("clarification"), evidence(body), req, noon)
		return err
	}
	if err := errors.Join(ask("planning", ""), ask("working", aPlanText)); err != nil {
		t.Error(err)
	}
	if no := refusal(t, ask("working", "")); no.Code != rejection.GateUnmet {
		t.Errorf("without a plan: %+v", no)
	}
}

func TestStuck_isLeftByAPersonAlone(t *testing.T) {
	t.Parallel()
	for name, ways := range map[string][]task.Status{
		"default": {"reviewing", "cancelled"}, "classic": {"working", "agent-review", "cancelled"},
	} {
		def := shippedWorkflow(t, name)
		if open := decide.MayAsk(def, newTask("stuck"), human()); !slices.Equal(open, ways) {
			t.Errorf("%s: a person may go to %v, want %v", name, open, ways)
		}
		for _, role := range []string{task.RoleWorker, task.RoleReviewer} {
			if open := decide.MayAsk(def, newTask("stuck"), task.Actor{Role: role}); len(open) != 0 {
				t.Errorf("%s: the %s may go to %v", name, role, open)
			}
		}
	}
}

// By review, the worker of default lives on and gets a notice, and the session of classic ends. By crash, the
// reviewer is ended, and the worker gets a notice or starts, whatever guard and gate the declared edge has.
func TestStuck_isEnteredByReviewAndByCrashEachInItsWay(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]string{"default": "kill_reviewer notify_worker", "classic": "kill_session"} {
		one := newTask("agent-review")
		one.Counters = one.Counters.With(task.ReviewRound, 2)
		c := decide.Exit(shippedWorkflow(t, name), one, evidence(aFailText), deathOf("reviewer"), noon)
		if got := shape(c); got != "agent.stopped, auto.advanced agent-review->stuck | stuck crashes=0 | "+hooks {
			t.Errorf("%s, by review: %s", name, got)
		}
		one.Counters = task.Counters{}.With(task.ReviewRound, 1).With(task.CrashCount, 1)
		c = decide.Exit(shippedWorkflow(t, name), one, evidence(""), deathOf("reviewer"), noon)
		if got := shape(c); got != "agent.crashed, auto.advanced agent-review->stuck | stuck crashes=2 | "+
			"kill_reviewer notify_worker" {
			t.Errorf("%s, by crash: %s", name, got)
		}
	}
}

func TestOnlyDeadReviewersRestartByThemselvesUnlessAStateSaysSo(t *testing.T) {
	t.Parallel()
	dead := func(role string) []history.Event {
		return []history.Event{
			{Type: history.AgentCrashed, Time: noon, Data: map[string]string{"role": role, "ended": "exit status 1"}}}
	}
	for _, name := range []string{"default", "classic", "minimal"} {
		def := shippedWorkflow(t, name)
		for _, s := range def.States {
			_, wanted := decide.RespawnDue(def, newTask(s.Name), dead(s.Role), noon)
			if wanted != (s.Role == task.RoleReviewer) {
				t.Errorf("%s: in %s a dead %q is started again: %v", name, s.Name, s.Role, wanted)
			}
		}
	}
	text := strings.Replace(string(read(t, "../../../workflows/minimal.yml")), "    respawn_prompt: worker\n",
		"    respawn_prompt: worker\n    respawn: auto\n", 1)
	def := parse(t, "minimal.yml", []byte(text))
	if _, wanted := decide.RespawnDue(def, newTask("working"), dead("worker"), noon); !wanted {
		t.Error("a workflow that asks for it does not get its worker back")
	}
}

// The prompts with which the states of each workflow start an agent again; empty if they cannot.
func TestEveryStateIsRespawnedWithItsOwnPrompt(t *testing.T) {
	t.Parallel()
	for name, prompts := range map[string]map[task.Status]string{
		"default": {"planning": "worker_respawn", "working": "worker_respawn", "clarification": "clarification",
			"agent-review": "reviewer", "stuck": "stuck_fix"},
		"classic": {"working": "worker_respawn", "clarification": "clarification", "agent-review": "reviewer",
			"stuck": "stuck_fix"},
		"minimal": {"working": "worker"},
	} {
		def := shippedWorkflow(t, name)
		for _, s := range def.States {
			c, err := decide.Respawn(def, newTask(s.Name), false, false, human(), noon)
			found := ""
			if err == nil {
				found = c.Hooks[0].Prompt
			}
			if found != prompts[s.Name] {
				t.Errorf("%s: in %s an agent is started with %q (%v), want %q", name, s.Name, found, err,
					prompts[s.Name])
			}
		}
	}
}

// The table of document 002 that lists the statuses in which a task may be created, and where the commands lead from
// there.
func TestClassicAndMinimal_begetTasksAsDocument002Says(t *testing.T) {
	t.Parallel()
	const acquire = "acquire_workspace; "
	for _, c := range []struct {
		workflow string
		status   task.Status
		hooks    string
		refused  bool
	}{
		{"classic", "pending", "", false},
		{"classic", "clarification", acquire + "spawn_agent prompt=clarification harness=task permissions=full", false},
		{"classic", "agent-review", acquire + "spawn_agent field=review_round prompt=reviewer harness=review " +
			"permissions=reduced", false},
		{"classic", "reviewing", "acquire_workspace", false},
		{"classic", "working", "", true},
		{"classic", "stuck", "", true},
		{"minimal", "pending", "", false},
		{"minimal", "reviewing", "acquire_workspace", false},
		{"minimal", "working", "", true},
	} {
		change, err := decide.Create(shippedWorkflow(t, c.workflow), task.Task{ID: "T1"}, c.status, human(), noon)
		if found := actionsOf(change.Hooks); (err != nil) != c.refused || found != c.hooks {
			t.Errorf("%s in %s: found %q (%v), want %q", c.workflow, c.status, found, err, c.hooks)
		}
	}
	for command, want := range map[string][2]task.Status{
		workflow.MoveSpawn: {"working", "working"}, workflow.MoveComplete: {"agent-review", "reviewing"},
		workflow.MoveMerge:  {"done", "done"},
		workflow.MoveCancel: {"cancelled", "cancelled"}, workflow.MoveClarify: {"clarification", ""},
		workflow.MoveStuck: {"stuck", ""},
	} {
		for i, name := range []string{"classic", "minimal"} {
			if to, _, err := decide.MoveTarget(shippedWorkflow(t, name), newTask("pending"),
				command); to != want[i] || (err != nil) != (want[i] == "") {
				t.Errorf("%s in %s leads to %q (%v), want %q", command, name, to, err, want[i])
			}
		}
	}
}
