package engine_test

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// elsewhere is a home at another machine to which the folders of tasks were brought.
func (w *world) elsewhere() *world {
	w.t.Helper()
	w.performer.forget()
	w.repository.elsewhere = true
	return w.lose()
}

func TestATaskFromAnotherMachine_getsAWorkspaceAndItsAgent(t *testing.T) {
	t.Parallel()
	for status, hooks := range map[task.Status]string{
		"planning": "acquire_workspace spawn_agent", "agent-review": "acquire_workspace spawn_reviewer",
		"reviewing": "acquire_workspace", "pending": "",
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.reach(status)
			w = w.elsewhere()
			a := w.adopt(id, agents{})
			wantText(t, "hooks", w.performer.done(), hooks)
			got := w.task(id)
			if got.Status != status || got.Queued() || got.Attention != "" || (got.Workspace == "") != (hooks == "") ||
				(got.Session == "") != (status == "reviewing" || status == "pending") || a.Task.Version != got.Version {
				t.Errorf("it is %+v", got)
			}
			if bad, err := history.Disagree(got, w.events(id, "")); err != nil || len(bad) > 0 {
				t.Errorf("record and history: %v, %v", bad, err)
			}
		})
	}
}

func TestATaskFromAnotherMachine_waitsForAWorkspaceAndIsNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.reach("working"), w.reach("planning")
	w = w.elsewhere()
	w.repository.project.PoolSize = 1
	w.adopt(first, agents{})
	w.adopt(second, agents{})
	if got := w.task(second); !got.Displaced() || got.Attention == "" {
		t.Fatalf("it waits for nothing: %+v", got)
	}
	_, err := w.Respawn(t.Context(), second, func(task.Task, string) (bool, error) { return false, nil }, human)
	if err == nil || !strings.Contains(err.Error(), "cannot give task "+second+" a workspace") {
		t.Errorf("respawn: %v", err)
	}
	w.write(second, plan)
	if _, err := w.ask(second, "working", worker); err == nil || !strings.Contains(err.Error(), "a workspace") {
		t.Errorf("it moved without a workspace: %v", err)
	}
	w.performer.forget()
	_, err = w.Command(t.Context(), first, "cancel", human, "")
	must(t, err)
	_, err = w.StartNext(t.Context(), "garden")
	must(t, err)
	if got := w.task(second); got.Displaced() || got.Workspace == "" || got.Session == "" || got.Status != "planning" {
		t.Errorf("it did not go on: %+v", got)
	}
	w.move(second, "working", worker)
}

// A move to a status that needs a workspace takes one first.
func TestATaskFromAnotherMachine_hasAWorkspaceBeforeItMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.reach("working"), w.reach("reviewing")
	w = w.elsewhere()
	w.repository.project.PoolSize = 1
	w.adopt(first, agents{})
	w.adopt(second, agents{})
	w.repository.project.PoolSize = 2
	w.performer.forget()
	out, err := w.RequestChanges(t.Context(), second, "use the helper", human)
	must(t, err)
	if out.Task.Status != "working" || out.Task.Workspace == "" {
		t.Errorf("it is %+v", out.Task)
	}
	wantText(t, "hooks", w.performer.done(), action.AcquireWorkspace+" "+action.NotifyWorker)
}

func TestATaskFromAnotherMachine_doesNotRestartWithoutItsBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w = w.elsewhere()
	w.repository.unborn = true
	w.adopt(id, agents{})
	if got := w.task(id); !got.Displaced() || !strings.Contains(got.Attention, "git fetch") {
		t.Errorf("it is %+v", got)
	}
	alive := func(task.Task, string) (bool, error) { return false, nil }
	if _, err := w.Respawn(t.Context(), id, alive, human); err == nil {
		t.Error("it was started")
	}
	w.repository.unborn = false
	out, err := w.Respawn(t.Context(), id, alive, human)
	must(t, err)
	if out.Task.Workspace == "" || out.Task.Attention != "" || out.Event.Type != history.AgentRespawned {
		t.Errorf("it is %+v", out.Task)
	}
}

// Whose agents live has its worktree, whatever can be seen of it.
func TestATaskWithALivingAgent_keepsItsWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	before := w.task(id).Workspace
	living := agents{id: {{Role: "worker", Hook: 2, PID: 4711, Began: "then"}}}
	w = w.elsewhere()
	w.adopt(id, living)
	if got := w.task(id); got.Workspace != before || got.Queued() {
		t.Errorf("it is %+v", got)
	}
	wantText(t, "hooks", w.performer.done(), "")
}
