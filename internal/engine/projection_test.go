package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/projection"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const phases = `
name: phases
version: 1
states:
  plan: {role: worker}
  code: {role: worker}
  done: {terminal: true}
projections:
  state.json: {phase: "{status}", actors: "{states}"}
  deep/short.json: {phase: "{status}"}
transitions:
  - {from: plan, to: code, gate: {section: "## Plan"}, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: code, to: plan, by: human}
  - {from: code, to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {go: "go on"}
`

// projecting is a world with a task whose workflow projects files, and the warnings of the engine.
func projecting(t *testing.T) (w *world, id string, warned func() []string) {
	t.Helper()
	w = newWorld(t)
	dir := filepath.Join(w.home, "workflows")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "phases.yml"), []byte(phases), 0o644))
	var mu sync.Mutex
	var all []string
	w.OnWarn(func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(text, "orange workflow check") { // its workflow has findings
			all = append(all, text)
		}
	})
	out, err := w.Create(t.Context(), task.New{
		Project: w.repository.project, Branch: "gate", Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex", Workflow: "phases", Actor: human,
	})
	must(t, err)
	return w, out.Task.ID, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

func (w *world) state(id string) string {
	return filepath.Join(w.files.Dir("garden", id), "state.json")
}

// showsHistory checks that the projections are what the history says.
func (w *world) showsHistory(id string) {
	w.t.Helper()
	def, err := w.ports.Rules.Pinned(w.t.Context(), w.task(id).Workflow)
	must(w.t, err)
	for _, want := range projection.Files(def, w.task(id), w.events(id, "")) {
		got, err := os.ReadFile(filepath.Join(w.files.Dir("garden", id), want.Path))
		must(w.t, err)
		wantText(w.t, want.Path, string(got), string(want.Text))
	}
}

func phaseOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var file struct{ Phase string }
	must(t, json.Unmarshal(text, &file))
	return file.Phase
}

func TestProjections_followEveryMove(t *testing.T) {
	t.Parallel()
	w, id, warned := projecting(t)
	w.showsHistory(id)
	w.write(id, plan)
	w.move(id, "code", human)
	w.showsHistory(id)
	wantText(t, "phase", phaseOf(t, w.state(id)), "code")
	w.move(id, "done", human)
	w.showsHistory(id)
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 0 || len(warned()) != 0 {
		t.Errorf("nobody edited, and the history tells %+v, the engine warned %q", noted, warned())
	}
}

func TestAnEditOfAProjection_isKeptNotedOnceAndRestored(t *testing.T) {
	t.Parallel()
	for _, moment := range []struct {
		name string
		come func(w *world, id string) // brings the task to the moment of the edit
		meet func(w *world, id string) // the first command after it
	}{
		{"a look", func(*world, string) {}, func(w *world, id string) {
			_, _, err := w.Refresh(w.t.Context(), id)
			must(w.t, err)
		}},
		{"a move", func(*world, string) {}, func(w *world, id string) { w.write(id, plan); w.move(id, "code", human) }},
		{"a refusal", func(*world, string) {}, func(w *world, id string) {
			_, err := w.ask(id, "code", human)
			wantCode(w.t, err, "gate_unmet")
		}},
		{"hooks", func(w *world, id string) {
			w.runner.dead = true
			w.write(id, plan)
			w.move(id, "code", human)
			w.runner.dead = false
		}, func(w *world, id string) { must(w.t, w.Settle(w.t.Context(), id)) }},
		{"a look at a task that is over", func(w *world, id string) {
			w.write(id, plan)
			w.move(id, "code", human)
			w.move(id, "done", human)
		}, func(w *world, id string) { must(w.t, w.Sync(w.t.Context(), id)) }},
	} {
		for _, edit := range []struct{ name, text, why string }{
			{"a forged phase", "{\"phase\": \"done\"}\n", "never said"},
			{"broken JSON", "{\"phase\": ", "no JSON"},
			{"nothing", "", "no JSON"},
		} {
			t.Run(moment.name+" "+edit.name, func(t *testing.T) {
				t.Parallel()
				w, id, warned := projecting(t)
				moment.come(w, id)
				before := w.task(id).Status
				must(t, os.WriteFile(w.state(id), []byte(edit.text), 0o644))
				moment.meet(w, id)
				for range 2 {
					must(t, w.another().Sync(t.Context(), id))
				}
				noted := w.events(id, history.ProjectionRestored)
				sum := sha256.Sum256([]byte(edit.text))
				digest := hex.EncodeToString(sum[:])
				if len(noted) != 1 || noted[0].Data["file"] != "state.json" || noted[0].Data["found"] != digest ||
					noted[0].Actor != task.ActorEngine ||
					!strings.Contains(noted[0].Reason, edit.why) {
					t.Errorf("the history tells %+v", noted)
				}
				kept, err := os.ReadFile(filepath.Join(w.files.Dir("garden", id), "evidence", digest))
				must(t, err)
				wantText(t, "kept", string(kept), edit.text)
				if said := warned(); len(said) != 1 || !strings.Contains(said[0], "state.json of task "+id) ||
					!strings.Contains(said[0], digest) {
					t.Errorf("the engine warned %q", said)
				}
				if after := w.task(id).Status; after != before && after != "code" {
					t.Errorf("the status is %s, it was %s", after, before)
				}
				w.showsHistory(id)
			})
		}
	}
}

func TestTheSameEditAgain_isNotedAgain(t *testing.T) {
	t.Parallel()
	w, id, _ := projecting(t)
	for range 3 { // someone insists
		must(t, os.WriteFile(w.state(id), []byte("{}"), 0o644))
		must(t, w.Sync(t.Context(), id))
	}
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 3 {
		t.Errorf("the history tells %d edits, want 3", len(noted))
	}
}

func TestAProjectionThatLagsOrIsMissing_isRenewedInSilence(t *testing.T) {
	t.Parallel()
	w, id, warned := projecting(t)
	var old []string
	keep := func() {
		text, err := os.ReadFile(w.state(id))
		must(t, err)
		old = append(old, string(text))
	}
	keep()
	w.write(id, plan)
	w.move(id, "code", human)
	keep()
	w.move(id, "plan", human)
	for _, text := range old {
		must(t, os.WriteFile(w.state(id), []byte(text), 0o644)) // saved by an editor that read it before a move
		must(t, w.Sync(t.Context(), id))
		w.showsHistory(id)
	}
	must(t, os.RemoveAll(filepath.Join(w.files.Dir("garden", id), "deep")))
	must(t, w.Sync(t.Context(), id))
	w.showsHistory(id)
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 0 || len(warned()) != 0 {
		t.Errorf("the history tells %+v, the engine warned %q", noted, warned())
	}
}

func TestSomethingElseInPlaceOfAProjection_isRefusedAndKept(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	t.Cleanup(func() {
		if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
			t.Errorf("found %v outside of the task's folder (%v), want nothing", left, err)
		}
	})
	for _, c := range []struct {
		name, file, want string
		put              func(path string) error
	}{
		{"folder", "state.json", "is a folder", func(path string) error { return os.Mkdir(path, 0o755) }},
		{"link", "state.json", "is a link", func(path string) error {
			return os.Symlink(filepath.Join(outside, "state.json"), path)
		}},
		{"a link above it", "deep", "is a link", func(path string) error { return os.Symlink(outside, path) }},
		{"a file above it", "deep", "is a file", func(path string) error { return os.WriteFile(path, nil, 0o644) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, id, _ := projecting(t)
			path := filepath.Join(w.files.Dir("garden", id), c.file)
			must(t, os.RemoveAll(path))
			must(t, c.put(path))
			err := w.Sync(t.Context(), id)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "move that away") {
				t.Errorf("the error is %v", err)
			}
			w.runner.dead = true // the real one is another process, and its failure is not this one's
			w.write(id, plan)
			out, err := w.ask(id, "code", human)
			must(t, err)
			if !strings.Contains(out.Warning, c.want) {
				t.Errorf("the warning of the move is %q", out.Warning)
			}
			must(t, os.RemoveAll(path))
			must(t, w.Sync(t.Context(), id))
			w.showsHistory(id)
		})
	}
}

func TestOneEdit_isOneEventHoweverManyMeetIt(t *testing.T) {
	t.Parallel()
	w, id, _ := projecting(t)
	must(t, os.WriteFile(w.state(id), []byte("[]"), 0o644))
	w.many(8, func(program *world) error { return program.Sync(t.Context(), id) })
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 1 {
		t.Errorf("the history tells %d edits, want 1", len(noted))
	}
	w.showsHistory(id)
}

// brittle files end the program before a projection is put back.
type brittle struct {
	engine.Folder
}

func (brittle) Project(task.Task, string, []byte) error { return context.Canceled }

func TestAnEdit_isNotedOnceWhereARestoreWasCutShort(t *testing.T) {
	t.Parallel()
	w, id, _ := projecting(t)
	must(t, os.WriteFile(w.state(id), []byte("[]"), 0o644))
	cut := w.another()
	cut.rewire(func(p *engine.Ports) { p.Folder = brittle{w.files} })
	if err := cut.Sync(t.Context(), id); err == nil {
		t.Error("it was not cut short")
	}
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 1 {
		t.Fatalf("the history has %d edits, want 1: it notes the edit before it restores the file", len(noted))
	}
	must(t, w.Sync(t.Context(), id))
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 1 {
		t.Errorf("the history tells %d edits, want 1", len(noted))
	}
	w.showsHistory(id)
}

// unasked fails the test when it is asked.
type unasked struct {
	engine.Folder
	t *testing.T
}

func (n unasked) Projection(task.Task, string) (record.ProjectionFile, error) {
	n.t.Error("a projection was read")
	return record.ProjectionFile{}, nil
}

func (n unasked) Project(task.Task, string, []byte) error {
	n.t.Error("a projection was written")
	return nil
}

func TestAWorkflowWithoutProjections_paysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rewire(func(p *engine.Ports) { p.Folder = unasked{p.Folder, t} })
	w.reach("reviewing")
}

func TestTheDoctorOfAWorkflowWithoutProjections_readsNoHistoryForThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	differs, err := w.Differ(t.Context(), w.task(w.reach("working")), []string{"a line that would have to be read"})
	if err != nil || len(differs) > 0 {
		t.Errorf("it tells %q, %v", differs, err)
	}
}

func TestTheDoctorLearnsTheStateOfEachProjection(t *testing.T) {
	t.Parallel()
	w, id, _ := projecting(t)
	old, err := os.ReadFile(w.state(id))
	must(t, err)
	w.write(id, plan)
	w.move(id, "code", human)
	for _, c := range []struct {
		text, want string
	}{
		{string(old), "state.json shows an earlier point of the history"},
		{"oops", "state.json holds what the record never said: someone changed it"},
	} {
		must(t, os.WriteFile(w.state(id), []byte(c.text), 0o644))
		before := w.everything()
		lines, err := w.store.Lines(t.Context(), id)
		must(t, err)
		found, err := w.Differ(t.Context(), w.task(id), lines)
		must(t, err)
		wantText(t, "found", strings.Join(found, "; "), c.want)
		wantText(t, "everything", w.everything(), before)
	}
}

func TestAProjectionOfTheOldWorkflow_isOutdatedAndNoEdit(t *testing.T) {
	t.Parallel()
	w, id, warned := projecting(t)
	other := strings.NewReplacer("version: 1", "version: 2", `{phase: "{status}", actors`,
		`{stage: "{status}", actors`).Replace(phases)
	must(t, os.WriteFile(filepath.Join(w.home, "workflows", "phases.yml"), []byte(other), 0o644))
	before, err := os.ReadFile(w.state(id))
	must(t, err)
	out, err := w.Migrate(t.Context(), id, "phases", nil, human)
	must(t, err)
	if !out.Moved || out.Task.Workflow.Version != 2 {
		t.Fatalf("found %+v, want version 2", out.Task.Workflow)
	}
	w.showsHistory(id)
	after, err := os.ReadFile(w.state(id))
	must(t, err)
	if string(after) == string(before) || !strings.Contains(string(after), `"stage": "plan"`) {
		t.Errorf("the projection is\n%s", after)
	}
	must(t, os.WriteFile(w.state(id), before, 0o644))
	must(t, w.another().Sync(t.Context(), id))
	w.showsHistory(id)
	if noted := w.events(id, history.ProjectionRestored); len(noted) != 0 || len(warned()) != 0 {
		t.Errorf("the history tells %+v, the engine warned %q", noted, warned())
	}
}
