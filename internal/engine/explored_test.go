package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/proof/simulate"
	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// observe is the task as the explorer would describe it.
func (w *walk) observe(s record.Snapshot, events []history.Event) explore.Observed {
	o := explore.Observed{Task: s.Task}
	for _, h := range s.Owed {
		o.Owed = append(o.Owed, h.Hook)
	}
	for i := range events {
		e := &events[i]
		switch {
		case e.IsMove():
			o.Unsettled = e.Data[history.DataCrash] == ""
		case e.Type == history.AgentCrashed:
			o.Unsettled = false
		}
		if e.Seq > w.eventsSeen && e.Data["ended"] != "" &&
			(e.Type == history.AgentStopped || e.Type == history.AgentCrashed) {
			w.died[e.Data["role"]] = e.Data[task.DataUnstarted] == ""
		}
	}
	w.eventsSeen = len(events)
	for i := range events {
		switch e := &events[i]; {
		case e.Type == history.Created:
			o.Been = append(o.Been, task.Status(e.Data[history.DataStatus]))
		case e.IsMove():
			o.Been = append(o.Been, e.To)
		}
	}
	seats, err := w.store.OpenSeats(background, w.id)
	if err != nil {
		w.breakf("%v", err)
	}
	for _, seat := range seats {
		w.died[seat.Role] = false
		if !w.replaced(seat, s) {
			o.Alive = append(o.Alive, seat.Role)
		}
	}
	for role, died := range w.died { // any order will do
		if w.died[role] = died && w.reach.DeathMatters(s.Task.Status, role); w.died[role] {
			o.Died = append(o.Died, role)
		}
	}
	w.unreported = slices.DeleteFunc(w.unreported, func(a *simulate.Agent) bool { // those whose seat has ended
		return !slices.ContainsFunc(seats, func(s record.Seat) bool { return s.Hook == a.Hook })
	})
	return o
}

// replaced reports whether an agent is dead whose successor is owed: its death is overtaken. Any other agent whose
// death is not reported yet counts as alive: the consequences are still to come.
func (w *walk) replaced(seat record.Seat, s record.Snapshot) bool {
	state, _ := w.Workflow.State(s.Task.Status)
	return slices.ContainsFunc(w.unreported, func(a *simulate.Agent) bool { return a.Hook == seat.Hook }) &&
		slices.ContainsFunc(s.Owed, func(h task.OwedHook) bool { return workflow.RoleIn(state, h.Hook) == seat.Role })
}

// explored checks that the explorer has met the task as it is now. A hook that ends an agent or gives a workspace back
// is retried until it succeeds: the explorer does not look before that.
func (w *walk) explored() task.Task {
	s, err := w.store.Load(background, w.id)
	for ; err == nil && firstEndsAgent(s.Owed); s, err = w.store.Load(background, w.id) {
		w.failed, w.runnerDies = nil, false
		if err := w.p.engine.Finish(background); err != nil {
			w.breakf("%v", err)
			return s.Task
		}
	}
	if err != nil {
		w.breakf("%v", err)
		return s.Task
	}
	events, err := w.store.Events(background, w.id, 0)
	if err != nil {
		w.breakf("%v", err)
		return s.Task
	}
	at, reads := w.reach.Find(w.observe(s, events))
	w.logf(nil, fmt.Sprintf("is in configuration %d: %s", at, reads))
	if at < 0 {
		w.breakf("the explorer has never met this: %s", reads)
	}
	w.met[at] = true
	return s.Task
}

func firstEndsAgent(owed []task.OwedHook) bool {
	for _, h := range owed {
		if class, _ := action.ClassOf(h.Action); class != action.ClassApart {
			return class == action.ClassEnd
		}
	}
	return false
}

// steps makes the walk of the seed, and returns how often it looked.
func (w *walk) steps(steps int) (looks int) {
	w.p = &process{sim: w.simulation, number: 1, name: "walk"}
	w.p.buildEngine()
	w.p.engine.Facts = randomFacts{w}.Look
	w.create()
	for ; looks < steps && w.failure == ""; looks++ {
		t := w.explored()
		if !t.Live && len(w.Workflow.Redo) == 0 && w.random.IntN(4) == 0 {
			break
		}
		w.step(t)
	}
	return looks
}

// runWalk makes a walk in a world of its own, in which one program does everything, and reports what the walk
// found broken.
func runWalk(t *testing.T, of *setting, seed, salt uint64, do func(w *walk)) {
	t.Helper()
	inWorld(t, of, seed, func(s *simulation) {
		s.random = rand.New(rand.NewPCG(seed, salt))
		s.deathRate, s.failureRate, s.patience, s.single, s.Project.PoolSize = 0, 0, 45, true, 3
		s.walk = &walk{simulation: s, died: map[string]bool{}, met: map[int]bool{}}
		do(s.walk)
	})
}

// loosened is a workflow in which more may happen: a person may override some moves, some count as failures. It has no
// rules of send_back: with these there would be more configurations than the explorer follows.
func loosened(t *testing.T, name string, text []byte, usual workflow.Usual, every int) *workflow.Definition {
	t.Helper()
	def, err := workflow.Parse(name, text, usual)
	must(t, err)
	for i := range def.Transitions {
		def.Transitions[i].Override = def.Transitions[i].Override || i%every == 0
	}
	for i := range def.States {
		if def.States[i].Respawn == "" && i%2 == 0 {
			def.States[i].Respawn = workflow.RespawnAuto
		}
		def.States[i].SendBack = nil
		def.Redo = append(def.Redo, workflow.Named{Name: string(def.States[i].Name)})
	}
	return def
}

// exploredWorkflows are the workflows of the walks: those that ship, those of the explorer's own tests, and variants
// of them.
func exploredWorkflows(t *testing.T) map[string]*workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	must(t, err)
	out := map[string]*workflow.Definition{}
	long := os.Getenv("ORANGE_TEST_LONG") != ""
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		if name == "build" && !long { // it takes some seconds to explore
			continue
		}
		text, err := workflows.Files.ReadFile(name + ".yml")
		must(t, err)
		out[name], err = workflow.Parse(name+".yml", text, usual)
		must(t, err)
		if name != "build" && (name != "phases" || long) { // their walks would take too long
			out["strained "+name] = loosened(t, name+".yml", text, usual, 3)
		}
	}
	toys, err := filepath.Glob("../proof/explore/testdata/good/*.yml")
	must(t, err)
	for _, path := range toys {
		text, err := os.ReadFile(path)
		must(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".yml")
		def, err := workflow.Parse(name+".yml", text, usual)
		must(t, err)
		if pushes(def) {
			continue // this world has no place to push to
		}
		if out[name] = def; long {
			out["strained "+name] = loosened(t, name+".yml", text, usual, 2)
		}
	}
	return out
}

// pushes reports whether a workflow sends anything to a remote.
func pushes(def *workflow.Definition) bool {
	return slices.ContainsFunc(def.Transitions, func(e workflow.Transition) bool {
		return slices.ContainsFunc(e.Hooks, func(h workflow.Hook) bool {
			return h.Action == action.PushBranch || h.Action == action.CreatePR
		})
	})
}

// One seed is one walk and always the same one: ORANGE_SEED=17 go test -run TestSimulation_meets.*/default
// ./internal/engine
func TestSimulation_meetsOnlyConfigurationsThatWereExplored(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	common := readSetting(t)
	first, walks, most := uint64(0), uint64(3), explore.Most
	switch long := os.Getenv("ORANGE_TEST_LONG") != ""; {
	case raced: // the explorer has tests of its own under the race detector
		walks, most = 1, 1000
	case long:
		walks = 60
	}
	if seed, given := givenSeed(t); given {
		first, walks = seed, 1
	}
	for name, def := range exploredWorkflows(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reach, whole := explore.Explore(def, most)
			if !whole && raced {
				t.Skip("it is too large for the race detector")
			}
			if !whole {
				t.Fatalf("the explorer gave up after %d configurations", reach.Len())
			}
			met, looks := map[int]bool{}, 0
			for seed := first; seed < first+walks && !t.Failed(); seed++ {
				runWalk(t, common.under(def), seed, 0xe4, func(w *walk) {
					w.reach, w.met = reach, met
					looks += w.steps(100)
				})
			}
			t.Logf("%d walks looked %d times and met %d of %d configurations", walks, looks, len(met), reach.Len())
		})
	}
}

// Defect: the explorer took a workspace that is not made ready for a failed start, also where an agent lives: then what
// later moves have to end waits for the workspace, and the agent lives on and may ask.
func TestSimulation_meetsAnAgentThatLivesUntilItsWorkspaceIsReady(t *testing.T) {
	t.Parallel()
	def := exploredWorkflows(t)["made-ready-again"]
	reach, whole := explore.Explore(def, explore.Most)
	if !whole {
		t.Fatal("the explorer gave up")
	}
	runWalk(t, readSetting(t).under(def), 1, 0xe5, func(w *walk) {
		w.reach, w.p = reach, &process{sim: w.simulation, number: 1, name: "walk"}
		w.p.buildEngine()
		out, err := w.p.engine.Create(background, task.New{Project: w.Project, Summary: "mend the gate",
			Harness: "claude", ReviewHarness: "codex", Workflow: "any", Actor: human, Spawn: true})
		if w.id = out.Task.ID; err != nil {
			w.breakf("%v", err)
			return
		}
		w.explored()
		w.saveDocument("\n## Handoff\n" + w.note("all") + "\n")
		for _, step := range []struct {
			by task.Actor
			to task.Status
		}{{human, "doing"}, {task.Actor{Role: task.RoleWorker}, "review"}, {human, "doing"}} {
			w.failed = map[string]bool{action.AcquireWorkspace: true, action.KillSession: false,
				action.KillReviewer: false, action.SpawnAgent: false, action.SpawnReviewer: false}
			if _, err := w.p.engine.Request(background, task.Request{Task: w.id, To: step.to, Actor: step.by,
				Reason: "because"}); err != nil {
				w.breakf("%s is refused: %v", step.to, err)
			}
			if w.Living(w.id, task.RoleWorker) == nil {
				w.breakf("the worker has ended")
			}
			w.explored()
		}
	})
}
