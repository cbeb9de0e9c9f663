package simulation

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

	"orange/internal/action"
	"orange/internal/cli"
	"orange/internal/engine"
	"orange/internal/record"
	"orange/internal/simulate"
	"orange/internal/task"
	"orange/internal/workflow"
	"orange/workflows"
)

func simulatedWorkflow(t testing.TB, path string) *workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse(filepath.Base(path), text, usual)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func shippedWorkflow(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	return simulatedWorkflow(t, filepath.Join("..", "..", "..", "workflows", name+".yml"))
}

func simulation(t testing.TB, def *workflow.Definition, setup cli.SimulationSetup, join simulate.Join) simulate.Report {
	t.Helper()
	report, err := simulate.Run(t.Context(), def, simulationOf(setup), openMemory, join)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// stormy is a world in which much more goes wrong than in any real one.
func stormy() cli.SimulationSetup {
	return cli.SimulationSetup{
		Runs: 10, Seed: 3, People: cli.PeopleAct,
		Slow: 0.1, Lying: 0.2, Dying: 0.2, Stubborn: 0.1, ReviewersFail: 0.4, EngineDies: 0.02, HooksFail: 0.1,
	}
}

func TestSimulation_findsNothingBrokenInWhatShips(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			usual, storm := cli.UsualSimulation(), stormy()
			usual.Runs, storm.Runs = 12, 4
			switch long := os.Getenv("ORANGE_TEST_LONG") != ""; {
			case raced && !long:
				usual.Runs, storm.Runs = 2, 1
			case raced:
				usual.Runs, storm.Runs = 40, 20
			case long:
				usual.Runs, storm.Runs = 1000, 200
			}
			for _, setup := range []cli.SimulationSetup{usual, storm} {
				report := simulation(t, shippedWorkflow(t, name), setup, joinMonitor)
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

func TestSimulation_theSameSeedIsTheSameStory(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	setup := stormy()
	setup.Runs, setup.Trace = 4, true
	once, again := simulation(t, def, setup, joinMonitor), simulation(t, def, setup, joinMonitor)
	if !reflect.DeepEqual(once, again) {
		t.Errorf("the same seed told two stories:\n%s\n\n%s", strings.Join(once.Trace, "\n"),
			strings.Join(again.Trace, "\n"))
	}
	setup.Only = 4
	alone := simulation(t, def, setup, joinMonitor)
	if told := strings.Join(once.Trace, "\n"); len(alone.Trace) == 0 ||
		!strings.Contains(told, strings.Join(alone.Trace, "\n")) {
		t.Errorf("run 4 is another one when it is made alone:\n%s", strings.Join(alone.Trace, "\n"))
	}
	setup.Seed, setup.Only = 4, 0
	if other := simulation(t, def, setup, joinMonitor); slices.Equal(once.Trace, other.Trace) {
		t.Error("another seed told the same story")
	}
}

// Defect: the move that follows the end of a pull request kept no inputs, and every such workflow was called broken.
func TestSimulation_makesTheMoveAfterAPullRequestAgain(t *testing.T) {
	t.Parallel()
	def := *shippedWorkflow(t, "default")
	def.Transitions = slices.Clone(def.Transitions)
	for i := range def.Transitions {
		if edge := &def.Transitions[i]; edge.To == "reviewing" {
			edge.Hooks = append(slices.Clone(edge.Hooks), workflow.Hook{Hook: task.Hook{Action: action.CreatePR}})
		}
	}
	setup := stormy()
	setup.Trace = true
	if raced {
		setup.Runs = 4
	}
	report := simulation(t, &def, setup, joinMonitor)
	for _, b := range report.Breaches {
		t.Errorf("run %d: %s [%s]", b.Run, b.Message, b.Property)
	}
	told := strings.Join(report.Trace, "\n")
	if !strings.Contains(told, "the history notes pr.merged") ||
		!strings.Contains(told, `from "reviewing" to "done", by engine (merged as pull request`) {
		t.Errorf("no pull request was merged, so that this proves nothing:\n%s", told)
	}
}

func TestSimulation_reviewsThatDoNotPassBringTasksToPeople(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	runs := 20
	if raced {
		runs = 10
	}
	resting := func(share float64, state task.Status) int {
		report := simulation(t, def, cli.SimulationSetup{Runs: runs, Seed: 1, People: cli.PeopleNever,
			ReviewersFail: share}, joinMonitor)
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
func TestSimulation_goesOverARedCheckWhereTheWorkflowMeansIt(t *testing.T) {
	t.Parallel()
	report := simulation(t, testsFirst(t), cli.SimulationSetup{Runs: 20, Seed: 1, People: cli.PeopleAct}, joinMonitor)
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
func TestSimulation_takesARedCheckForAFailureWhereThereIsAMoveForTheGreenOne(t *testing.T) {
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
			report := simulation(t, &def, cli.SimulationSetup{Runs: 1, Seed: 1, People: cli.PeopleNever}, joinMonitor)
			if !slices.Equal(report.Path.States, states(c.want)) || len(report.Path.FailedChecks) != c.red {
				t.Errorf("the straight way is %+v, want %q with %d red checks", report.Path, c.want, c.red)
			}
		})
	}
}

func TestSimulation_takesTheWayThatIsNamed(t *testing.T) {
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
			setup := simulationOf(cli.SimulationSetup{Runs: 12, Seed: 1, People: cli.PeopleAct, Way: states(named)})
			setup.Trace = true
			report, err := simulate.Run(t.Context(), &def, setup, openMemory, joinMonitor)
			if err != nil {
				if !strings.Contains(err.Error(), want) || !errors.Is(err, task.ErrUsage) {
					t.Errorf("found %v, want %q", err, want)
				}
				return
			}
			if !slices.Equal(report.Path.States, states(want)) || len(report.Breaches) > 0 {
				t.Errorf("the straight way is %q, want %q; %+v", report.Path.States, want, report.Breaches)
			}
			told := strings.Join(report.Trace, "\n")
			for i, at := range report.Path.States[1:] {
				leg := fmt.Sprintf("the task moves from %q to %q", report.Path.States[i], at)
				if n := strings.Count(told, leg); n < 10 {
					t.Errorf("of 12 tasks %d went from %q to %q", n, report.Path.States[i], at)
				}
			}
		})
	}
}

// Defect: the tester of phases changed files before it asked for a move that wants the work unmoved, and no task
// ever ended well.
func TestSimulation_agentsLeaveAloneWhatTheirMoveWantsUnmoved(t *testing.T) {
	t.Parallel()
	report := simulation(t, shippedWorkflow(t, "phases"), cli.SimulationSetup{
		Runs: 12, Seed: 1, People: cli.PeopleAct}, joinMonitor)
	if report.Well < 9 {
		t.Errorf("of 12 tasks whose agents do their work %d ended well: %+v", report.Well, report.Outcomes)
	}
}

func TestSimulation_tellsHowManyRunsAreOver(t *testing.T) {
	t.Parallel()
	var told atomic.Int64
	setup := simulationOf(cli.SimulationSetup{Runs: 6, Seed: 1, People: cli.PeopleAct})
	setup.Progress = func(done, of int) {
		if told.Add(int64(done)); done < 1 || of != 6 {
			t.Errorf("it is told that %d of %d are over", done, of)
		}
	}
	if _, err := simulate.Run(t.Context(), shippedWorkflow(t, "minimal"), setup, openMemory,
		joinMonitor); err != nil || told.Load() != 1+2+3+4+5+6 {
		t.Errorf("%v; the numbers that were told add up to %d", err, told.Load())
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

// blind is a record that knows of no lease.
type blind struct{ simulate.Record }

func (f blind) Load(ctx context.Context, id string) (record.Snapshot, error) {
	s, err := f.Record.Load(ctx, id)
	s.Task.Workspace = ""
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

func TestSimulation_findsAnEngineThatIsJoinedWrongly(t *testing.T) {
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
			join := func(s *simulate.Simulation) (*engine.Engine, simulate.Monitor) {
				return joinRecord(s, c.wrong(s.Store()))
			}
			setup := stormy()
			report := simulation(t, def, setup, join)
			at := slices.IndexFunc(report.Breaches, func(b simulate.Breach) bool { return b.Property == c.property })
			if at < 0 {
				t.Fatalf("nobody told of %q: %+v", c.property, report.Breaches)
			}
			found := report.Breaches[at]
			setup.Only, setup.Trace = found.Run, true
			again := simulation(t, def, setup, join)
			if len(again.Breaches) != 1 || !reflect.DeepEqual(again.Breaches[0], found) {
				t.Errorf("run %d does not show it again:\n%+v\n%+v", found.Run, found, again.Breaches)
			}
			if last := again.Trace[len(again.Trace)-1]; !strings.Contains(last, "BROKEN: "+found.Message) {
				t.Errorf("the trace ends with %q", last)
			}
		})
	}
}

func TestSimulation_findsWorkflowsThatDoNotKeepWhatIsProved(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	for file, property := range map[string]string{
		"no-dead-end-1": "no-dead-end", "nobody-left-1": "workspace", "one-agent-1": "one-agent",
		"one-agent-3": "one-agent",
		"workspace-1": "workspace", "workspace-2": "workspace",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			setup := cli.UsualSimulation()
			setup.Runs, setup.ReviewersFail = 24, 0.7
			report := simulation(t,
				simulatedWorkflow(t, filepath.Join("..", "..", "explore", "testdata", "bad", file+".yml")), setup,
				joinMonitor)
			if !slices.ContainsFunc(report.Breaches, func(b simulate.Breach) bool { return b.Property == property }) {
				t.Errorf("nobody told of %q: %+v", property, report)
			}
		})
	}
}

func TestSimulation_findsAgentsThatGoRound(t *testing.T) {
	t.Parallel()
	def := simulatedWorkflow(t, filepath.Join("..", "..", "explore", "testdata", "bad", "bounded-1.yml"))
	report, err := simulate.Run(t.Context(), def, simulate.Setup{
		Runs: 4, Seed: 1, Bound: 12, Shares: simulate.Shares{ReviewersFail: 1}}, openMemory, joinMonitor)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Breaches) == 0 || report.Breaches[0].Property != "bounded" {
		t.Errorf("nobody told of it: %+v", report)
	}
}

// Defect: where a state waits for a person, every agent was taken to wait there, and each of its moves for a person's.
func TestSimulation_findsAgentsThatGoRoundWhereAPersonIsWaitedFor(t *testing.T) {
	t.Parallel()
	def := simulatedWorkflow(t, filepath.Join("..", "..", "explore", "testdata", "bad", "bounded-6.yml"))
	setup := simulate.Setup{Runs: 4, Seed: 1, Bound: 12, NoPeople: true, Shares: simulate.Shares{Restless: 1}}
	report, err := simulate.Run(t.Context(), def, setup, openMemory, joinMonitor)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Breaches) == 0 || report.Breaches[0].Property != "bounded" {
		t.Errorf("nobody told of it: %+v", report)
	}
	shipped := shippedWorkflow(t, "default")
	setup.Bound, setup.Runs = provedBound(shipped), 12
	if report, err = simulate.Run(t.Context(), shipped, setup, openMemory, joinMonitor); err != nil ||
		len(report.Breaches) > 0 {
		t.Errorf("default lets them ask %d times: %v, %+v", setup.Bound, err, report.Breaches)
	}
}

// What is proved of a workflow is kept by the real engine: no agent goes further without a person.
func TestSimulation_keepsTheBoundThatIsProved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic", "minimal"} {
		def, setup := shippedWorkflow(t, name), simulationOf(stormy())
		setup.Runs, setup.Bound = 4, provedBound(def)
		report, err := simulate.Run(t.Context(), def, setup, openMemory, joinMonitor)
		if err != nil {
			t.Fatal(err)
		}
		if setup.Bound == 0 || len(report.Breaches) > 0 {
			t.Errorf("%s: %d moves were proved: %+v", name, setup.Bound, report.Breaches)
		}
	}
}

func BenchmarkSimulation(b *testing.B) {
	def := shippedWorkflow(b, "default")
	setup := cli.UsualSimulation()
	setup.Runs = 100
	for b.Loop() {
		simulation(b, def, setup, joinMonitor)
	}
}
