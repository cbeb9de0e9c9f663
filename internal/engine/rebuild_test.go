package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// agents are the living agents, as the test defines them.
type agents map[string][]record.Seat

// windows are the agents of a world.
type windows struct {
	fakeAgents
	agents
}

func (l *windows) Living(context.Context) (map[string][]record.Seat, error) {
	if l.agents == nil {
		return nil, errors.New("could not look")
	}
	return l.agents, nil
}

// lose is the same home with its record lost.
func (w *world) lose() *world {
	w.t.Helper()
	must(w.t, w.store.Close())
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(w.home, "orange.db"+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.t.Fatal(err)
		}
	}
	return w.another()
}

func (w *world) tell(id string) (record.Adoption, error) {
	w.t.Helper()
	history, err := w.files.ReadHistory("garden", id)
	must(w.t, err)
	return w.Tell(w.t.Context(), "garden", id, history)
}

func (w *world) adopt(id string, alive agents) record.Adoption {
	w.t.Helper()
	a, err := w.tell(id)
	must(w.t, err)
	w.rewire(func(p *engine.Ports) { p.Agents = &windows{agents: alive} })
	out := w.Adopt(w.t.Context(), []record.Adoption{a}, func(int) {})
	must(w.t, out[0].Err)
	return out[0].Adoption
}

// same is a task without what a rebuild may change: its version counts changes of the record, and its history and
// attention mark mention the rebuild.
func same(one task.Task) task.Task {
	one.Version, one.Attention, one.Seq, one.Hash = 0, "", 0, ""
	return one
}

func TestATaskThatWasRebuilt_isWhatItWas(t *testing.T) {
	t.Parallel()
	for _, status := range []task.Status{"pending", "planning", "working", "agent-review", "reviewing"} {
		w := newWorld(t)
		id := w.reach(status)
		before, events := w.load(id), w.events(id, "")
		w = w.lose()
		w.adopt(id, agents{})
		after := w.load(id)
		if !reflect.DeepEqual(same(after.Task), same(before.Task)) {
			t.Errorf("%s: it is  %+v\nand was %+v", status, after.Task, before.Task)
		}
		if !reflect.DeepEqual(after.Spent, before.Spent) || !reflect.DeepEqual(after.Entry, before.Entry) {
			t.Errorf("%s: spent %v, was %v; began with %v, was %v", status, after.Spent, before.Spent,
				after.Entry, before.Entry)
		}
		noted := w.events(id, "")
		if n := len(events); !reflect.DeepEqual(noted[:n], events) || len(noted) != n+1 ||
			noted[n].Type != history.Rebuilt {
			t.Errorf("%s: its history is %+v, and was %+v", status, noted, events)
		}
		if got := problems(w.verify(id, nil)); got != "" {
			t.Errorf("%s: after it was rebuilt its past does not hold:\n%s", status, got)
		}
		if waits := status == "planning" || status == "working" ||
			status == "agent-review"; waits != strings.Contains(after.Task.Attention,
			"does not live: orange task respawn "+id) {
			t.Errorf("%s: the attention is %q", status, after.Task.Attention)
		}
		if differs, err := w.files.Differs(after.Task, w.lines(id)); err != nil || len(differs) > 0 {
			t.Errorf("%s: its mirrors differ: %v, %v", status, differs, err)
		}
	}
}

// What it owed is unknown: just as its hooks count as performed, its crashes count as passed.
func TestARebuiltTask_forgetsCrashesBeforeAMoveWithPendingHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.die(w.death(id, task.RoleWorker))
	w.write(id, handoff)
	w.performer.fails[action.SpawnReviewer] = errPerformer
	if n := w.move(id, "agent-review", human).Task.Counters.Get(task.CrashCount); n != 1 {
		t.Fatalf("before, the count is %d, want 1", n)
	}
	w = w.lose()
	w.adopt(id, agents{})
	forgotten := w.events(id, history.CrashesForgotten)
	if n := w.task(id).Counters.Get(task.CrashCount); n != 0 || len(forgotten) != 1 ||
		forgotten[0].Counters.Get(task.CrashCount) != 0 {
		t.Errorf("the count is %d, and its end is told in %+v", n, forgotten)
	}
}

func (w *world) lines(id string) []string {
	w.t.Helper()
	lines, err := w.store.Lines(w.t.Context(), id)
	must(w.t, err)
	return lines
}

func TestATaskThatWasRebuilt_goesOnAndItsEvidenceStaysSpent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	w = w.lose()
	w.adopt(id, agents{})
	w.write(id, fail)
	w.move(id, "working", reviewer)
	_, err := w.ask(id, "agent-review", worker)
	wantCode(t, err, "gate_unmet")
	w.write(id, "\n## Handoff\nDONE: the rest\n")
	w.move(id, "agent-review", worker)
	if _, err = w.ask(id, "reviewing", reviewer); err == nil ||
		!strings.Contains(err.Error(), "moved the task at event") {
		t.Errorf("the old review: %v", err)
	}
	if hook := w.performer.last(t, action.SpawnReviewer).hook; hook < 1_000_000 {
		t.Errorf("the hook has the number %d, which the lost record may have had", hook)
	}
}

func TestARebuiltTask_takesNoLivingAgentForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w = w.lose()
	w.adopt(id, agents{id: {{Role: "worker", Hook: 2, PID: 4711, Began: "then"}}})
	_, err := w.Actor(t.Context(), id, task.Caller{Above: []task.Process{{PID: 4711, Began: "then"}}})
	wantCode(t, err, "actor_denied")
	if got := w.task(id).Attention; !strings.Contains(got, "its worker lives and has lost its seat") ||
		!strings.Contains(got, "orange task respawn "+id) {
		t.Errorf("the attention is %q", got)
	}
}

func TestARebuiltTask_keepsALivingAgentThatHasASeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w = w.lose()
	w.adopt(id, agents{id: {{Hash: harness.SeatOf("secret"), Role: "worker", Hook: 2, PID: 4711, Began: "then"}}})
	actor, err := w.Actor(t.Context(), id, task.Caller{Secret: "secret"})
	must(t, err)
	if got := w.task(id).Attention; actor.Role != "worker" || got != "" {
		t.Errorf("it speaks as %+v, the attention is %q", actor, got)
	}
}

func TestARebuild_thatCannotLookAtTheAgentsAdoptsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w = w.lose()
	a, err := w.tell(id)
	must(t, err)
	w.rewire(func(p *engine.Ports) { p.Agents = &windows{} })
	if out := w.Adopt(t.Context(), []record.Adoption{a}, func(int) {}); out[0].Err == nil {
		t.Error("it was adopted")
	}
	if _, err := w.store.Load(t.Context(), id); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("it is on record: %v", err)
	}
}

func TestATaskThatWasRebuilt_ownsNothingThatAnotherHasByNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.reach("working")
	branch := w.task(first).Branch
	// A copy of the folder under another id, as a careless person makes it, with a header of its own.
	second := strings.Repeat("Z", task.IDLength)
	must(t, os.CopyFS(w.files.Dir("garden", second), os.DirFS(w.files.Dir("garden", first))))
	if _, err := w.tell(second); err == nil || !strings.Contains(err.Error(), "is it a copy?") {
		t.Errorf("a copy: %v", err)
	}
	w.edit(second, first, second)
	w = w.lose()
	w.adopt(first, agents{})
	w.adopt(second, agents{})
	kept, other := w.task(first), w.task(second)
	if kept.Workspace == "" || kept.Branch != branch {
		t.Errorf("the first has the workspace %q and the branch %q", kept.Workspace, kept.Branch)
	}
	if other.Workspace != "" || other.Branch != task.DefaultBranch(second) ||
		!strings.Contains(other.Attention, "belongs to the live task "+first) {
		t.Errorf("the second: %+v", other)
	}
	w.events(second, "")
	// The branch that it got is in its history: another rebuild has the same result.
	again := w.lose()
	again.adopt(second, agents{})
	if got := again.task(second).Branch; got != other.Branch {
		t.Errorf("the second rebuild says %q", got)
	}
}

func TestATaskWhoseWorkspaceIsTaken_isAdoptedWithoutOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.reach("working"), w.reach("reviewing")
	w.edit(second, "workspace: "+w.task(second).Workspace, "workspace: "+w.task(first).Workspace)
	w = w.lose()
	w.adopt(first, agents{})
	w.adopt(second, agents{})
	if got := w.task(second); got.Workspace != "" || !strings.Contains(got.Attention, `belongs to task `+first) {
		t.Errorf("the second: %+v", got)
	}
}

func TestAHeader_cannotGiveARebuiltTaskWhatItsHistoryDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.edit(id, "status: working", "status: done")
	w.edit(id, "review_round: 0", "review_round: 7")
	w.edit(id, "workspace: "+w.task(id).Workspace, "workspace: ../../escaped")
	w.edit(id, `summary: "mend the gate"`, `summary: "mend the fence"`)
	w = w.lose()
	w.adopt(id, agents{})
	got := w.task(id)
	if got.Status != "working" || got.Counters.Get(task.ReviewRound) != 0 || got.Workspace != "" ||
		got.Summary != "mend the fence" {
		t.Errorf("it is %+v", got)
	}
	if !strings.Contains(w.document(id), "\nstatus: working\n") {
		t.Errorf("the header still says\n%.400s", w.document(id))
	}
}

func TestATask_withABrokenHeaderIsRebuiltFromItsHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	must(t, os.WriteFile(w.files.Document("garden", id),
		[]byte("---\nstatus: [oops\n---\n\n## Plan\nAPPROACH: mine\n"), 0o644))
	w = w.lose()
	w.adopt(id, agents{})
	got := w.task(id)
	if got.Status != "working" || got.Branch != "branch-working" || got.Workspace != "" ||
		!strings.Contains(got.Attention, "header of its TASK.md cannot be read") {
		t.Errorf("it is %+v", got)
	}
	if !strings.Contains(w.document(id), "APPROACH: mine") {
		t.Errorf("the body is lost:\n%s", w.document(id))
	}
}

func TestARebuild_adoptsATornHistoryAndNoBrokenOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	path := w.files.History("garden", id)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"to":"planning"`, `"to":"planninG"`, 1)), 0o644))
	_, err = w.tell(id)
	var broken *history.BrokenHistory
	if !errors.As(err, &broken) || broken.Line != 2 {
		t.Errorf("touched: %v", err)
	}
	must(t, os.WriteFile(path, text[:len(text)-20], 0o644))
	a, err := w.tell(id)
	must(t, err)
	if !a.Torn || len(a.Lines) != strings.Count(string(text), "\n")-1 || a.Task.Status == "" {
		t.Errorf("torn: %+v", a)
	}
}

func TestAFolderOfAnEarlierProgram_isAdoptedAsItsHeaderSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := strings.Repeat("z", task.IDLength)
	must(t, os.MkdirAll(w.files.Dir("garden", id), 0o755))
	document := func(status string) {
		must(t, os.WriteFile(w.files.Document("garden", id),
			[]byte("---\nid: "+id+"\nproject: garden\nbranch: feat/old\nharness: claude\nreview_harness: codex\n"+
				"status: "+status+"\nreview_round: 1\nsummary: An old thing\nworkspace: garden--1\ntmux_session: "+
				"old\ncreated_at: \"2023-01-02T03:04:05.678Z\"\n---\n\n## Handoff\nDONE: x\n"), 0o644))
	}
	document("sleeping")
	must(t, os.WriteFile(w.files.History("garden", id),
		[]byte(`{"type":"task.created","timestamp":"2023-01-02T03:04:05.678Z"}`+"\n"), 0o644))
	if _, err := w.tell(id); err == nil || !strings.Contains(err.Error(), `it is in "sleeping"`) {
		t.Errorf("an unknown state: %v", err)
	}
	document("reviewing")
	a := w.adopt(id, agents{})
	got := w.task(id)
	if !a.Foreign || got.Status != "reviewing" || !got.Live || got.Branch != "feat/old" ||
		got.Counters.Get(task.ReviewRound) != 1 ||
		got.Workspace != "garden--1" || got.Session != "" || got.CreatedAt.Year() != 2023 || got.Harness != "claude" {
		t.Errorf("it is %+v", got)
	}
	// For what its header lacks the documents define a value: no crash, and the workflow default.
	if got.Counters.Get(task.CrashCount) != 0 || got.Workflow.Name != "default" {
		t.Errorf("it has %d crashes and the workflow %q", got.Counters.Get(task.CrashCount), got.Workflow.Name)
	}
	if events := w.events(id, ""); len(events) != 1 || events[0].Type != history.Created ||
		events[0].Data["adopted"] != "true" {
		t.Errorf("its history is %+v", events)
	}
	// What was adopted once comes back the same.
	again := w.lose()
	again.adopt(id, agents{})
	if !reflect.DeepEqual(same(again.task(id)), same(got)) {
		t.Errorf("it is  %+v\nand was %+v", again.task(id), got)
	}
}

func TestForget_leavesATaskThatIsThereAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	if err := w.Forget(t.Context(), id); err == nil {
		t.Error("a task on record was forgotten")
	}
	must(t, w.Forget(t.Context(), "nobody"))
	if w.task(id).Workspace == "" {
		t.Error("it lost its workspace")
	}
}
