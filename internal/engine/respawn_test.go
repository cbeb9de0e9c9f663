package engine_test

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func dead(task.Task, string) (bool, error) { return false, nil }

func living(task.Task, string) (bool, error) { return true, nil }

// stranded is a task in a status whose folder an earlier program left without a workspace.
func (w *world) stranded(status task.Status) (*world, string) {
	w.t.Helper()
	id := w.reach(status)
	w.edit(id, "workspace: "+w.task(id).Workspace, "workspace: \"\"")
	w = w.lose()
	w.adopt(id, agents{})
	w.performer.forget()
	if one := w.task(id); one.Workspace != "" {
		w.t.Fatalf("it has a workspace: %+v", one)
	}
	return w, id
}

func TestATaskWithoutAWorkspace_goesOnFromWhereItIs(t *testing.T) {
	t.Parallel()
	for status, hooks := range map[task.Status]string{
		"planning": "acquire_workspace spawn_agent", "working": "acquire_workspace spawn_agent",
		"agent-review": "acquire_workspace spawn_reviewer",
	} {
		for _, command := range []string{"respawn", "spawn"} {
			w, id := newWorld(t).stranded(status)
			out, err := w.Respawn(t.Context(), id, dead, human)
			if command == "spawn" {
				w, id = newWorld(t).stranded(status)
				out, err = w.Spawn(t.Context(), id, dead, human, "")
			}
			must(t, err)
			wantText(t, command+" in "+string(status), w.performer.done(), hooks)
			if one := w.task(id); one.Status != status || one.Workspace == "" || out.Task.Workspace == "" {
				t.Errorf("%s in %s: it is %+v", command, status, one)
			}
			if bad, err := history.Disagree(w.task(id), w.events(id, "")); err != nil || len(bad) > 0 {
				t.Errorf("record and history: %v, %v", bad, err)
			}
		}
	}
}

func TestATaskWithoutAWorkspace_waitsForOneInItsStatus(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t).stranded("working")
	w.repository.project.PoolSize = 1
	other := w.create("other", true).Task.ID
	out, err := w.Respawn(t.Context(), id, dead, human)
	must(t, err)
	if one := w.task(id); !out.Queued || !one.Displaced() {
		t.Fatalf("it waits for nothing: %+v", one)
	}
	w.performer.forget()
	_, err = w.Command(t.Context(), other, workflow.MoveCancel, human, "")
	must(t, err)
	_, err = w.StartNext(t.Context(), "garden")
	must(t, err)
	if one := w.task(id); one.Status != "working" || one.Workspace == "" || one.Queued() {
		t.Errorf("it did not go on: %+v", one)
	}
}

// What tells a worker something gets it a workspace first, and starts one.
func TestAMoveOfATaskWithoutAWorkspace_getsItOne(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t).stranded("agent-review")
	w.write(id, fail)
	w.move(id, "working", human)
	wantText(t, "hooks", w.performer.done(), "acquire_workspace kill_reviewer notify_worker")
	if one := w.task(id); one.Workspace == "" {
		t.Errorf("it is %+v", one)
	}
}

func TestSpawn_leavesATaskAloneThatRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	before := len(w.events(id, ""))
	out, err := w.Spawn(t.Context(), id, living, human, "")
	must(t, err)
	if out.Moved || len(w.events(id, "")) != before {
		t.Errorf("it did something: %+v", out)
	}
	w.die(w.death(id, task.RoleWorker)) // and begins one again whose agent is dead
	w.performer.forget()
	_, err = w.Spawn(t.Context(), id, dead, human, "")
	must(t, err)
	wantText(t, "hooks", w.performer.done(), action.SpawnAgent)
	if _, err := w.Spawn(t.Context(), id, dead, worker, ""); err == nil || !strings.Contains(err.Error(), "worker") {
		t.Errorf("an agent: %v", err)
	}
}
