package hook_test

import (
	"slices"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

func TestKillAgent_endsOnlyTheRoleThatItNames(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	other := aPane("cto", "4")
	other.Task = "abcd"
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1"), aPane("cto", "2"), aPane(task.RoleReviewer, "3"),
		aPane("", "5"), other}
	job := aJob(action.KillAgent, "")
	job.Hook.Role = "cto"
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "kill-window @2", "end-group 50", strays("cto"))
	if !slices.Equal(effect.EndSeats, []string{"cto"}) || len(effect.Events) != 1 ||
		effect.Events[0].Data["role"] != "cto" || effect.Said != "ended the cto" {
		t.Errorf("the effect is %+v", effect)
	}
	effect, err = executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, strays("cto"))
	if len(effect.Events) != 0 || effect.Said != "no cto to end" {
		t.Errorf("again: the effect is %+v", effect)
	}
}

func TestKillAgent_withoutARoleLeavesAPersonsWindowAlone(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.panes = []tmux.Pane{aPane("", "1")}
	_, err := executor.Perform(t.Context(), aJob(action.KillAgent, ""))
	wantError(t, err, "does not say whose")
	wantCalls(t, p)
}

func TestANamedRole_takesThePlaceOfItsOwnKindOnly(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1"), aPane("cto", "2"), aPane(task.RoleReviewer, "3")}
	job := aJob(action.SpawnReviewer, "cto")
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "kill-window @2", "end-group 50", "equip garden--1", strays("cto"), "start cto")
	if effect.Events[0].Type != history.AgentSpawned {
		t.Errorf("the events are %+v", effect.Events)
	}
}

// What an event calls the harness becomes the task's own again when its record is lost.
func TestANamedHarness_isNotRecordedAsTheTasksOwn(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.programs["aider-program"] = true
	job := aJob(action.SpawnAgent, "cto")
	job.Agent, job.Task.Effort, job.Task.Model = "aider", "high", "opus"
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	argv := ticketOf(t, executor).Argv
	if argv[0] != "aider-program" || slices.Contains(argv, "--effort") || slices.Contains(argv, "--model=opus") {
		t.Errorf("the arguments are %q", argv)
	}
	if data := effect.Events[0].Data; data[history.DataNamedHarness] != "aider" || data[history.DataHarness] != "" {
		t.Errorf("the event says %v", data)
	}
}

func TestNotifyWorker_startsTheWorkerWithItsOwnHarness(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.programs["aider-program"] = true
	job := aJob(action.NotifyWorker, task.RoleWorker)
	job.Respawn, job.Agent, job.Hook.Permissions = "Go on.", "aider", task.PermissionsReduced
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if argv := ticketOf(t, executor).Argv; !slices.Equal(argv[:2], []string{"aider-program", "--careful"}) {
		t.Errorf("the arguments are %q", argv)
	}
}
