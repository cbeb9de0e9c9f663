package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"orange/internal/app/simulation"
	"orange/internal/engine"
	"orange/internal/proof/explore"
	"orange/internal/proof/simulate"
	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

func usualNames(t testing.TB) workflow.Usual {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	return usual
}

func simulatedWorkflow(t testing.TB, path string) *workflow.Definition {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse(filepath.Base(path), text, usualNames(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func shippedWorkflow(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	return simulatedWorkflow(t, filepath.Join("..", "..", "..", "workflows", name+".yml"))
}

func run(t testing.TB, def *workflow.Definition, setup simulate.Setup) simulate.Report {
	t.Helper()
	return joined(t, def, setup, simulation.Join)
}

func joined(t testing.TB, def *workflow.Definition, setup simulate.Setup, join simulate.Join) simulate.Report {
	t.Helper()
	report, err := simulate.Run(t.Context(), def, setup, simulation.OpenMemory, join)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// usual has the faults of the command without options.
func usual(runs int) simulate.Setup {
	return simulate.Setup{Runs: runs, Seed: 1, Shares: simulate.Shares{
		Slow: 0.2, Lying: 0.1, Dying: 0.05, Stubborn: 0.03, Restless: 0.02, ReviewersFail: 0.2, EngineDies: 0.002,
		HooksFail: 0.02,
	}}
}

// faulty has many more faults than a real world.
func faulty(runs int) simulate.Setup {
	return simulate.Setup{Runs: runs, Seed: 3, Shares: simulate.Shares{
		Slow: 0.1, Lying: 0.2, Dying: 0.2, Stubborn: 0.1, ReviewersFail: 0.4, EngineDies: 0.02, HooksFail: 0.1,
	}}
}

// provedMoves is how many moves a task makes at most without a person.
func provedMoves(def *workflow.Definition) int {
	report := explore.Check(def, explore.Most)
	if !report.Proved() {
		return 0
	}
	return report.Bound.Moves
}

func TestRun_findsNothingBrokenInWhatShips(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			some, few := 12, 4
			switch long := os.Getenv("ORANGE_TEST_LONG") != ""; {
			case raced && !long:
				some, few = 2, 1
			case raced:
				some, few = 40, 20
			case long:
				some, few = 1000, 200
			}
			for _, setup := range []simulate.Setup{usual(some), faulty(few)} {
				report := run(t, shippedWorkflow(t, name), setup)
				for _, b := range report.Breaches {
					t.Errorf("run %d of %+v: %s [%s]\n%s", b.Run, setup, b.Message, b.Property,
						strings.Join(b.Last, "\n"))
				}
				if report.Moves.Median == 0 || report.Runs != setup.Runs {
					t.Errorf("nobody came anywhere: %+v", report)
				}
			}
		})
	}
}

func TestRun_theSameSeedIsTheSameStory(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	setup := faulty(40)
	setup.Runs, setup.Trace = 4, true
	once, again := run(t, def, setup), run(t, def, setup)
	if !reflect.DeepEqual(once, again) {
		t.Errorf("the same seed has two results:\n%s\n\n%s", strings.Join(once.Trace, "\n"),
			strings.Join(again.Trace, "\n"))
	}
	setup.Only = 4
	alone := run(t, def, setup)
	if trace := strings.Join(once.Trace, "\n"); len(alone.Trace) == 0 ||
		!strings.Contains(trace, strings.Join(alone.Trace, "\n")) {
		t.Errorf("run 4 is another one when it is made alone:\n%s", strings.Join(alone.Trace, "\n"))
	}
	setup.Seed, setup.Only = 4, 0
	if other := run(t, def, setup); slices.Equal(once.Trace, other.Trace) {
		t.Error("another seed has the same trace")
	}
}

// Defect: the move that follows the end of a pull request kept no inputs, and every such workflow was called broken.
func TestRun_makesTheMoveAfterAPullRequestAgain(t *testing.T) {
	t.Parallel()
	def := *shippedWorkflow(t, "default")
	def.Transitions = slices.Clone(def.Transitions)
	for i := range def.Transitions {
		if edge := &def.Transitions[i]; edge.To == "reviewing" {
			edge.Hooks = append(slices.Clone(edge.Hooks), workflow.Hook{Hook: task.Hook{Action: action.CreatePR}})
		}
	}
	setup := faulty(40)
	setup.Trace = true
	if raced {
		setup.Runs = 4
	}
	report := run(t, &def, setup)
	for _, b := range report.Breaches {
		t.Errorf("run %d: %s [%s]", b.Run, b.Message, b.Property)
	}
	trace := strings.Join(report.Trace, "\n")
	if !strings.Contains(trace, "the history notes pr.merged") ||
		!strings.Contains(trace, `from "reviewing" to "done", by engine (merged as pull request`) {
		t.Errorf("no pull request was merged, so that this proves nothing:\n%s", trace)
	}
}

func TestRun_reviewsThatDoNotPassBringTasksToPeople(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	def := shippedWorkflow(t, "default")
	runs := 20
	if raced {
		runs = 10
	}
	resting := func(share float64, state task.Status) int {
		report := run(t, def, simulate.Setup{Runs: runs, Seed: 1, NoPeople: true,
			Shares: simulate.Shares{ReviewersFail: share}})
		for _, o := range report.Outcomes {
			if o.Status == state && o.End == "waits for a person" {
				return o.Runs
			}
		}
		return 0
	}
	none, some, all := resting(0, "stuck"), resting(0.5, "stuck"), resting(1, "stuck")
	if none > some || some >= all || all <= runs/2 {
		t.Errorf(
			"stuck are %d of %d tasks where every review passes, %d where half of them do, %d where none does",
			none, runs, some, all)
	}
	if passed := resting(0, "reviewing"); passed <= runs/2 {
		t.Errorf("%d of %d tasks wait for a person's review where every review passes", passed, runs)
	}
}

// states are those of a text with blanks between them.
func states(text string) []task.Status {
	var out []task.Status
	for one := range strings.FieldsSeq(text) {
		out = append(out, task.Status(one))
	}
	return out
}

// testsFirst is a flow in which the tests have to fail before there is code.
func testsFirst(t testing.TB) *workflow.Definition {
	return simulatedWorkflow(t, filepath.Join("testdata", "tests-first.yml"))
}

// Defect: a check that has to fail was no part of the straight way, so that nearly every task of a test-first
// flow was put aside as stuck.
func TestRun_goesOverARedCheckWhereTheWorkflowMeansIt(t *testing.T) {
	t.Parallel()
	report := run(t, testsFirst(t), simulate.Setup{Runs: 20, Seed: 1})
	if report.Well < 18 || len(report.Breaches) > 0 {
		t.Errorf("of 20 tasks whose agents do their work %d ended well: %+v", report.Well, report.Outcomes)
	}
	if want := states("todo tests coding reviewing done"); !slices.Equal(report.Path.States, want) {
		t.Errorf("the straight way is %q, want %q", report.Path.States, want)
	}
	want := []simulate.FailedCheck{{From: "tests", To: "coding", Check: "unit"}}
	if !slices.Equal(report.Path.FailedChecks, want) {
		t.Errorf("red checks on the way are %+v, want %+v", report.Path.FailedChecks, want)
	}
}

// Where a state has a move for a check that passes, the red one is what went wrong; unless nothing else leads to
// a good end.
func TestRun_countsARedCheckAsFailureIfAMoveNeedsGreen(t *testing.T) {
	t.Parallel()
	edge := func(from, to task.Status, result string) workflow.Transition {
		return workflow.Transition{From: from, To: to, By: []string{"tester", task.RoleHuman},
			Gate: []workflow.Part{{Check: "unit", Result: result}}}
	}
	for name, c := range map[string]struct {
		more []workflow.Transition
		want string
		red  int
	}{
		"nothing for green": {nil, "todo tests coding reviewing done", 1},
		"green leads on, and is shorter": {
			[]workflow.Transition{edge("tests", "reviewing", workflow.CheckPassed)}, "todo tests reviewing done", 0},
		"green is longer, and red a failure": {
			[]workflow.Transition{edge("tests", "waiting", workflow.CheckPassed),
				edge("waiting", "more", workflow.CheckPassed), edge("more", "reviewing", workflow.CheckPassed)},
			"todo tests waiting more reviewing done", 0},
		"green leads back, and only red leads on": {
			[]workflow.Transition{edge("tests", "todo", workflow.CheckPassed)}, "todo tests coding reviewing done", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := *testsFirst(t)
			def.States = append(slices.Clone(def.States), workflow.State{Name: "waiting"}, workflow.State{Name: "more"})
			def.Transitions = append(slices.Clone(def.Transitions), c.more...)
			report := run(t, &def, simulate.Setup{Runs: 1, Seed: 1, NoPeople: true})
			if !slices.Equal(report.Path.States, states(c.want)) || len(report.Path.FailedChecks) != c.red {
				t.Errorf("the straight way is %+v, want %q with %d red checks", report.Path, c.want, c.red)
			}
		})
	}
}

func TestRun_takesTheWayThatIsNamed(t *testing.T) {
	t.Parallel()
	def := *testsFirst(t)
	def.Transitions = append(slices.Clone(def.Transitions),
		workflow.Transition{From: "tests", To: "reviewing", By: []string{"tester", task.RoleHuman}},
		workflow.Transition{From: "todo", To: "reviewing", By: []string{task.RoleHuman}})
	for named, want := range map[string]string{
		"":                               "todo tests reviewing done",
		"coding":                         "todo tests coding reviewing done",
		"tests coding":                   "todo tests coding reviewing done",
		"todo tests coding reviewing":    "todo tests coding reviewing done",
		"todo reviewing":                 "todo reviewing done",
		"todo tests stuck tests":         `found the state "tests" twice in --way`,
		"tests stuck":                    `no straight way leads on from "stuck" to a good end`,
		"todo coding":                    `found the move from "todo" to "coding" in --way, which the workflow does not have; from "todo", expected one of "tests", "reviewing"`,
		"codin":                          `found the state "codin" in --way, expected one of "todo", "tests", "coding", "reviewing", "stuck", "done", "dropped"; did you mean "coding"?`,
		"tests coding reviewing dropped": `no straight way leads on from "dropped" to a good end; name more of it, up to one of: done`,
	} {
		t.Run(named, func(t *testing.T) {
			t.Parallel()
			setup := simulate.Setup{Runs: 12, Seed: 1, Path: states(named)}
			setup.Trace = true
			report, err := simulate.Run(t.Context(), &def, setup, simulation.OpenMemory, simulation.Join)
			if err != nil {
				if !strings.Contains(err.Error(), want) || !errors.Is(err, task.ErrUsage) {
					t.Errorf("found %v, want %q", err, want)
				}
				return
			}
			if !slices.Equal(report.Path.States, states(want)) || len(report.Breaches) > 0 {
				t.Errorf("the straight way is %q, want %q; %+v", report.Path.States, want, report.Breaches)
			}
			trace := strings.Join(report.Trace, "\n")
			for i, at := range report.Path.States[1:] {
				leg := fmt.Sprintf("the task moves from %q to %q", report.Path.States[i], at)
				if n := strings.Count(trace, leg); n < 10 {
					t.Errorf("of 12 tasks %d went from %q to %q", n, report.Path.States[i], at)
				}
			}
		})
	}
}

// Defect: the tester of phases changed files before it asked for a move that wants the work unmoved, and no task
// ever ended well.
func TestRun_agentsLeaveAloneWhatTheirMoveWantsUnmoved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	report := run(t, shippedWorkflow(t, "phases"), simulate.Setup{Runs: 12, Seed: 1})
	if report.Well < 9 {
		t.Errorf("of 12 tasks whose agents do their work %d ended well: %+v", report.Well, report.Outcomes)
	}
}

func TestRun_reportsHowManyRunsAreOver(t *testing.T) {
	t.Parallel()
	var sum atomic.Int64
	setup := simulate.Setup{Runs: 6, Seed: 1}
	setup.Progress = func(done, of int) {
		if sum.Add(int64(done)); done < 1 || of != 6 {
			t.Errorf("it reports that %d of %d are over", done, of)
		}
	}
	if _, err := simulate.Run(t.Context(), shippedWorkflow(t, "minimal"), setup, simulation.OpenMemory,
		simulation.Join); err != nil || sum.Load() != 1+2+3+4+5+6 {
		t.Errorf("%v; the numbers add up to %d", err, sum.Load())
	}
}

// forgetful is a record that loses the last hook of every move that has several.
type forgetful struct{ simulate.Record }

func (f forgetful) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	if len(c.Hooks) > 1 {
		c.Hooks = c.Hooks[:len(c.Hooks)-1]
	}
	return f.Record.Commit(ctx, c)
}

// blind is a record that knows of no lease, once its workspace is ready: for the next try to make it ready the engine
// would only take another one.
type blind struct{ simulate.Record }

func (f blind) Load(ctx context.Context, id string) (record.Snapshot, error) {
	s, err := f.Record.Load(ctx, id)
	if !slices.ContainsFunc(s.Owed, func(h task.OwedHook) bool { return h.Action == action.AcquireWorkspace }) {
		s.Task.Workspace = ""
	}
	return s, err
}

// silent is a record that changes a task without an event.
type silent struct{ simulate.Record }

func (f silent) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	c.Task.Overdue++
	return f.Record.Commit(ctx, c)
}

// twice is a record that writes what follows from a death down again.
type twice struct{ simulate.Record }

func (f twice) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	t, err := f.Record.Commit(ctx, c)
	if err == nil && c.DeadHook != 0 && len(c.Events) > 0 {
		c.DeadHook, c.Expect = 0, t.Version
		c.Task = t
		t, err = f.Record.Commit(ctx, c)
	}
	return t, err
}

func TestRun_findsAnEngineWithAWrongRecord(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "classic")
	for _, c := range []struct {
		name, property string
		wrong          func(simulate.Record) simulate.Record
	}{
		{"a hook is lost", "hooks", func(b simulate.Record) simulate.Record { return forgetful{b} }},
		{"a lease is not seen", "workspace", func(b simulate.Record) simulate.Record { return blind{b} }},
		{"a death has two consequences", "deaths", func(b simulate.Record) simulate.Record { return twice{b} }},
		{"a change is in no event", "history", func(b simulate.Record) simulate.Record { return silent{b} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			join := func(s *simulate.Simulation) (*engine.Engine, simulate.Look) {
				return simulation.JoinRecord(s, c.wrong(s.Store()))
			}
			setup := faulty(40)
			report := joined(t, def, setup, join)
			at := slices.IndexFunc(report.Breaches, func(b simulate.Breach) bool { return b.Property == c.property })
			if at < 0 {
				t.Fatalf("no run reports %q: %+v", c.property, report.Breaches)
			}
			found := report.Breaches[at]
			setup.Only, setup.Trace = found.Run, true
			again := joined(t, def, setup, join)
			if len(again.Breaches) != 1 || !reflect.DeepEqual(again.Breaches[0], found) {
				t.Errorf("run %d does not show it again:\n%+v\n%+v", found.Run, found, again.Breaches)
			}
			if last := again.Trace[len(again.Trace)-1]; !strings.Contains(last, "BROKEN: "+found.Message) {
				t.Errorf("the trace ends with %q", last)
			}
		})
	}
}

// What a workflow can break has one name, in a simulation and in a check, and the check has its line.
func TestRun_breaksWhatTheCheckOfTheFileFinds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	for property, names := range map[string][]string{
		"no-dead-end": {"no-dead-end-1"}, "nobody-left": {"nobody-left-1", "nobody-left-5"},
		"one-agent": {"one-agent-1", "one-agent-3"},
		"workspace": {"workspace-1", "workspace-2", "workspace-3"}, "merges": {"merges-1", "merges-2"},
		"bounded": {"bounded-3", "bounded-6"},
	} {
		for _, name := range names {
			t.Run(property+"/"+name, func(t *testing.T) {
				t.Parallel()
				setup := usual(150)
				setup.Shares.ReviewersFail = 0.5
				def := simulatedWorkflow(t, filepath.Join("..", "explore", "testdata", "bad", name+".yml"))
				if !breaks(run(t, def, setup), property) {
					t.Error("no run reports it")
				}
				if at := foundAt(def, property); at == 0 {
					t.Error("the check does not find it, with its line")
				}
			})
		}
	}
}

// No simulation calls anything broken that the check of the file does not know by that name.
func TestRun_breaksNothingThatTheCheckDoesNotKnow(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	var files []string
	for _, pattern := range []string{"../../../workflows/*.yml", "../explore/testdata/*/*.yml"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	if len(files) < 100 {
		t.Fatalf("found %d workflows", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "usual.yml") {
			continue // no workflow of its own
		}
		def, err := workflow.Parse(file, text, usualNames(t))
		if err != nil {
			continue // what the rules of the file refuse is simulated by no one
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), "../"), func(t *testing.T) {
			t.Parallel()
			setup := usual(4)
			report, err := simulate.Run(t.Context(), def, setup, simulation.OpenMemory, simulation.Join)
			if err != nil {
				return // none of its tasks can be started
			}
			for _, broken := range report.Breaches {
				if foundAt(def, broken.Property) == 0 {
					t.Errorf("run %d: %s [%s], and the check does not know it", broken.Run, broken.Message,
						broken.Property)
				}
			}
		})
	}
}

func breaks(report simulate.Report, property string) bool {
	return slices.ContainsFunc(report.Breaches, func(b simulate.Breach) bool { return b.Property == property })
}

// foundAt is the line on which a check finds a property broken; 0 where it does not.
func foundAt(def *workflow.Definition, property string) int {
	for _, v := range explore.Check(def, explore.MostAtCreation).Verdicts {
		if v.Name == property && !v.OK {
			return v.Line
		}
	}
	return 0
}

func TestRun_findsAgentsThatGoRound(t *testing.T) {
	t.Parallel()
	def := simulatedWorkflow(t, filepath.Join("..", "explore", "testdata", "bad", "bounded-1.yml"))
	report, err := simulate.Run(t.Context(), def, simulate.Setup{
		Runs: 4, Seed: 1, Bound: 12, Shares: simulate.Shares{ReviewersFail: 1}}, simulation.OpenMemory, simulation.Join)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Breaches) == 0 || report.Breaches[0].Property != "bounded" {
		t.Errorf("no run reports it: %+v", report)
	}
}

// Defect: where a state waits for a person, every agent was taken to wait there, and each of its moves for a person's.
func TestRun_findsAgentsThatGoRoundWhereAPersonIsWaitedFor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	def := simulatedWorkflow(t, filepath.Join("..", "explore", "testdata", "bad", "bounded-6.yml"))
	setup := simulate.Setup{Runs: 4, Seed: 1, Bound: 12, NoPeople: true, Shares: simulate.Shares{Restless: 1}}
	report, err := simulate.Run(t.Context(), def, setup, simulation.OpenMemory, simulation.Join)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Breaches) == 0 || report.Breaches[0].Property != "bounded" {
		t.Errorf("no run reports it: %+v", report)
	}
	shipped := shippedWorkflow(t, "default")
	setup.Bound, setup.Runs = provedMoves(shipped), 12
	if report, err = simulate.Run(t.Context(), shipped, setup, simulation.OpenMemory, simulation.Join); err != nil ||
		len(report.Breaches) > 0 {
		t.Errorf("default lets them ask %d times: %v, %+v", setup.Bound, err, report.Breaches)
	}
}

// What is proved of a workflow is kept by the real engine: no task goes further without a person.
func TestRun_keepsTheBoundThatIsProved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "minimal"} {
		def, setup := shippedWorkflow(t, name), faulty(10)
		setup.Runs, setup.Bound = 4, provedMoves(def)
		report, err := simulate.Run(t.Context(), def, setup, simulation.OpenMemory, simulation.Join)
		if err != nil {
			t.Fatal(err)
		}
		if setup.Bound == 0 || len(report.Breaches) > 0 {
			t.Errorf("%s: %d moves were proved: %+v", name, setup.Bound, report.Breaches)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	def := shippedWorkflow(b, "default")
	for b.Loop() {
		run(b, def, usual(100))
	}
}
