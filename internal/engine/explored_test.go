package engine_test

import (
	"cmp"
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
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// explored are the configurations in which a workflow lets a task be, by its status.
type explored struct {
	all map[task.Status][]explore.Configuration
	// how far each counter comes: the explorer follows none beyond what guards distinguish
	most map[string]int
	// the counters and the dead that some configuration of a status has
	has  map[task.Status]map[string]bool
	met  map[*explore.Configuration]bool
	many int
}

// exploredIn explores a workflow. It gives up after so many configurations: whole is false then.
func exploredIn(def *workflow.Definition, most int) (x *explored, whole bool) {
	x = &explored{all: map[task.Status][]explore.Configuration{}, most: map[string]int{},
		has: map[task.Status]map[string]bool{}, met: map[*explore.Configuration]bool{}}
	r := explore.CheckWithProgress(def, most, func(_ int, c explore.Configuration) {
		if x.has[c.Task.Status] == nil {
			x.has[c.Task.Status] = map[string]bool{}
		}
		x.all[c.Task.Status] = append(x.all[c.Task.Status], c)
		for _, count := range c.Task.Counters {
			x.most[count.Name] = max(x.most[count.Name], count.Value)
			x.has[c.Task.Status][count.Name] = true
		}
		for _, role := range c.Died {
			x.has[c.Task.Status]["dead "+role] = true
		}
	})
	x.many = r.Configurations
	return x, !r.TooMany
}

// meets reports whether a task is in a configuration that was explored, and notes that. What no configuration of its
// status has makes no difference there.
func (x *explored) meets(now explore.Configuration) bool {
	all, has := x.all[now.Task.Status], x.has[now.Task.Status]
	var counters task.Counters
	for name, most := range x.most { // in any order
		if has[name] {
			counters = counters.With(name, min(now.Task.Counters.Get(name), most))
		}
	}
	now.Unsettled = now.Unsettled && len(now.Owed) > 0 && counters.Get(task.CrashCount) > 0
	for i := range all {
		c := &all[i]
		if (c.Task.Previous == "" || c.Task.Previous == now.Task.Previous) &&
			(c.Task.Workspace != "") == (now.Task.Workspace != "") && c.Unsettled == now.Unsettled &&
			sameCounts(c.Task.Counters, counters) && slices.Equal(owedAs(c.Owed), owedAs(now.Owed)) &&
			sameIn(c.Alive, now.Alive) && sameIn(c.Died, now.Died) && sameIn(c.Been, now.Been) {
			x.met[c] = true
			return true
		}
	}
	return false
}

func sameCounts(a, b task.Counters) bool {
	within := func(a, b task.Counters) bool {
		return !slices.ContainsFunc(a, func(c task.Counter) bool { return b.Get(c.Name) != c.Value })
	}
	return within(a, b) && within(b, a)
}

// sameIn reports whether two lists have the same, in any order.
func sameIn[T cmp.Ordered](a, b []T) bool {
	set := func(all []T) []T { return slices.Compact(slices.Sorted(slices.Values(all))) }
	return slices.Equal(set(a), set(b))
}

// owedAs are owed hooks by what tells them apart.
func owedAs(hooks []task.Hook) []string {
	var out []string
	for _, h := range hooks {
		out = append(out, strings.Join([]string{h.Action, h.Role, h.Prompt, h.Harness, h.Permissions}, " "))
	}
	return out
}

// observe is the task as the explorer would describe it.
func (w *walk) observe(s record.Snapshot, events []history.Event) explore.Configuration {
	o := explore.Configuration{Task: s.Task}
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
		been := e.To
		if e.Type == history.Created {
			been = task.Status(e.Data[history.DataStatus])
		}
		again := func(n workflow.Named) bool { return n.Name == string(been) }
		if (e.Type == history.Created || e.IsMove()) && slices.ContainsFunc(w.Workflow.Redo, again) {
			o.Been = append(o.Been, been)
		}
	}
	w.eventsSeen = len(events)
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
	for role, died := range w.died { // in any order; where no configuration has the death it is forgotten
		if w.died[role] = died && w.reach.has[s.Task.Status]["dead "+role]; w.died[role] {
			o.Died = append(o.Died, role)
		}
	}
	o.Owed = owedBy(s.Owed, len(o.Alive) > 0)
	w.unreported = slices.DeleteFunc(w.unreported, func(a *simulate.Agent) bool { // those whose seat has ended
		return !slices.ContainsFunc(seats, func(s record.Seat) bool { return s.Hook == a.Hook })
	})
	return o
}

// owedBy are owed hooks as a configuration has them: those for which something waits. Where no agent lives, the
// preparation of a workspace is none: its failure holds up only the start of an agent, which fails then, and there is
// none to end before that.
func owedBy(owed []task.OwedHook, living bool) []task.Hook {
	var out []task.Hook
	for _, h := range owed {
		if decide.HoldsUp(h.Hook) {
			out = append(out, h.Hook)
		}
	}
	means := func(all ...action.Meaning) bool {
		if len(out) == 0 {
			return false
		}
		spec, _ := action.Of(out[0].Action)
		return slices.Contains(all, spec.Means)
	}
	for !living && means(action.MakesWorkspace) {
		for out = out[1:]; means(action.EndsAgent, action.EndsAll); {
			out = out[1:]
		}
	}
	return out
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
	now := w.observe(s, events)
	reads := fmt.Sprintf("%s, from %s, workspace %v, alive %v, died %v, been in %v, counters %v, owes %v, unsettled %v",
		s.Task.Status, s.Task.Previous, s.Task.Workspace != "", now.Alive, now.Died, now.Been, s.Task.Counters,
		owedAs(now.Owed), now.Unsettled)
	w.logf(nil, "is "+reads)
	if !w.reach.meets(now) {
		w.breakf("the explorer has never met this: %s", reads)
	}
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
	w.p.buildEngine(randomFacts{w}.Look)
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
		s.walk = &walk{simulation: s, died: map[string]bool{}}
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
			reach, whole := exploredIn(def, most)
			if !whole && raced {
				t.Skip("it is too large for the race detector")
			}
			if !whole {
				t.Fatalf("the explorer gave up after %d configurations", reach.many)
			}
			looks := 0
			for seed := first; seed < first+walks && !t.Failed(); seed++ {
				runWalk(t, common.under(def), seed, 0xe4, func(w *walk) {
					w.reach = reach
					looks += w.steps(100)
				})
			}
			t.Logf("%d walks looked %d times and met %d of %d configurations", walks, looks, len(reach.met), reach.many)
		})
	}
}

// Defect: the explorer took a workspace that is not made ready for a failed start, also where an agent lives: then what
// later moves have to end waits for the workspace, and the agent lives on and may ask.
func TestSimulation_meetsAnAgentThatLivesUntilItsWorkspaceIsReady(t *testing.T) {
	t.Parallel()
	def := exploredWorkflows(t)["made-ready-again"]
	reach, whole := exploredIn(def, explore.Most)
	if !whole {
		t.Fatal("the explorer gave up")
	}
	runWalk(t, readSetting(t).under(def), 1, 0xe5, func(w *walk) {
		w.reach, w.p = reach, &process{sim: w.simulation, number: 1, name: "walk"}
		w.p.buildEngine(gateFacts{w.p}.Look)
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
