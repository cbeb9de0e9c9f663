package explore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/record"
	"orange/internal/rules/workflow"
)

func usual(t testing.TB) workflow.Usual {
	t.Helper()
	text, err := os.ReadFile("../../../workflows/usual.yml")
	if err != nil {
		t.Fatal(err)
	}
	u, err := workflow.ParseUsual("usual.yml", text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func parse(t testing.TB, file string) (*workflow.Definition, error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return workflow.Parse(filepath.Base(file), text, usual(t))
}

func load(t testing.TB, file string) *workflow.Definition {
	t.Helper()
	def, err := parse(t, file)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func shipped() []string { return []string{"default", "classic", "minimal", "build", "phases"} }

func TestTheShippedWorkflowsKeepEveryProperty(t *testing.T) {
	t.Parallel()
	for _, name := range shipped() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Within half of the limit of a creation: so a slightly larger copy is proved at once too.
			r := explore.Check(load(t, "../../../workflows/"+name+".yml"), explore.MostAtCreation/2)
			for _, v := range r.Failed() {
				t.Errorf("%v", v)
			}
			if !r.Proved() || len(r.Vast) > 0 {
				t.Errorf("it is not proved: %d configurations, %v", r.Configurations, r.Vast)
			}
			// The figures change with the workflow, and with every changed rule of decide.
			got := fmt.Sprintf("%d configurations; without a person at most: moves %d, agents %d, reviews %d\n",
				r.Configurations, r.Bound.Moves, r.Bound.Agents, r.Bound.Rounds)
			got += strings.Join(guarantee.Tell(r.Passed), "\n") + "\n"
			golden := "testdata/shipped/" + name + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || got != string(want) {
				t.Errorf("found %swant  %s(%v)", got, want, err)
			}
		})
	}
}

// TestWhatShipsCarriesItsTables keeps workflows/passed.json: what a task has passed is printed without following one
// through a workflow that ships.
func TestWhatShipsCarriesItsTables(t *testing.T) {
	t.Parallel()
	tables := map[string][]guarantee.GoodEnd{}
	for _, name := range shipped() {
		tables[name] = explore.Check(load(t, "../../../workflows/"+name+".yml"), explore.MostAtCreation).Passed
	}
	const file = "../../../workflows/passed.json"
	want, err := json.MarshalIndent(tables, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if want = append(want, '\n'); *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what a check finds (%v): run this test with -update", file, err)
	}
}

func BenchmarkExplore(b *testing.B) {
	for _, name := range shipped() {
		b.Run(name, func(b *testing.B) {
			def := load(b, "../../../workflows/"+name+".yml")
			b.ReportAllocs()
			configurations := 0
			for b.Loop() {
				configurations = explore.Check(def, explore.Most).Configurations
			}
			b.ReportMetric(float64(configurations), "configurations")
		})
	}
}

// dense is a workflow in which every state leads to every other one.
func dense(t *testing.T, states int) *workflow.Definition {
	t.Helper()
	text := "name: dense\nversion: 1\nstates:\n  todo: {}\n  done: {terminal: true}\n"
	moves := "transitions:\n  - {from: todo, to: s0, hooks: [{action: acquire_workspace}, {action: " +
		"spawn_agent, prompt: go}]}\n" +
		"  - {from: \"*\", to: done, hooks: [{action: kill_session}, {action: release_workspace}]}\n"
	for from := range states {
		text += fmt.Sprintf("  s%d: {role: worker, respawn_prompt: go}\n", from)
		for to := range states {
			if from != to {
				moves += fmt.Sprintf("  - {from: s%d, to: s%d, hooks: [{action: spawn_agent, prompt: go}]}\n", from, to)
			}
		}
	}
	def, err := workflow.Parse("dense.yml", []byte(text+moves+"prompts: {go: Go.}\n"), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestNotOnlyConfigurationsAreCountedButWhatIsFollowedFromThem(t *testing.T) {
	t.Parallel()
	def := dense(t, 40)
	told := -1
	whole := explore.CheckWithProgress(def, explore.Most, func(configurations int, _ explore.Configuration) {
		if configurations <= told {
			t.Errorf("it is told to be at %d after %d", configurations, told)
		}
		told = configurations
	})
	if told < whole.Configurations/2 || told > whole.Configurations {
		t.Errorf("of %d configurations %d were told", whole.Configurations, told)
	}
	if whole.TooMany {
		t.Fatalf("found %d configurations and more", whole.Configurations)
	}
	if r := explore.Check(def, whole.Configurations+1); !r.TooMany || r.Configurations > whole.Configurations {
		t.Errorf("found %d of %d configurations, and it came to an end", r.Configurations, whole.Configurations)
	}
}

// crowd is a workflow in which every state leads to every other one, and many roles may ask for each move: there
// are many steps, and few ways.
func crowd(t *testing.T, states, roles int) *workflow.Definition {
	t.Helper()
	var names []string
	text := "name: crowd\nversion: 1\nroles:\n"
	for i := range roles {
		names = append(names, fmt.Sprintf("r%d", i))
		text += fmt.Sprintf("  r%d: {about: asks}\n", i)
	}
	moves := "transitions:\n  - {from: \"*\", to: done, by: human}\n"
	text += "states:\n"
	for from := range states {
		text += fmt.Sprintf("  s%d: {}\n", from)
		for to := range states {
			if from != to {
				moves += fmt.Sprintf("  - {from: s%d, to: s%d, by: [%s]}\n", from, to, strings.Join(names, ", "))
			}
		}
	}
	def, err := workflow.Parse("crowd.yml", []byte(text+"  done: {terminal: true}\n"+moves+"prompts: {}\n"), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestStepsAreCountedThatLeadNowhereNew(t *testing.T) {
	t.Parallel()
	const most = 30
	if r := explore.Check(crowd(t, 8, 2), most); r.TooMany || r.Configurations != 9 {
		t.Fatalf("found %d configurations, and that it gave up: %v", r.Configurations, r.TooMany)
	}
	if r := explore.Check(crowd(t, 8, 25), most); !r.TooMany {
		t.Errorf("found %d configurations, each with more than a hundred steps, and it came to an end",
			r.Configurations)
	}
}

func TestWhatIsFoundBrokenBeforeTheSearchGivesUpIsBroken(t *testing.T) {
	t.Parallel()
	def := load(t, "testdata/bad/workspace-1.yml")
	whole := explore.Check(def, explore.Most)
	r := explore.Check(def, whole.Configurations-1)
	if !r.TooMany || r.Proved() || len(r.Verdicts) != 1 || len(r.Failed()) != 1 ||
		r.Verdicts[0].Tell("") != whole.Failed()[0].Tell("") {
		t.Errorf("found %+v, want what is found in the whole: %+v", r.Verdicts, whole.Failed())
	}
}

func TestTooMuchToFollowIsNeitherProvedNorBroken(t *testing.T) {
	t.Parallel()
	r := explore.Check(load(t, "../../../workflows/default.yml"), 50)
	if !r.TooMany || r.Proved() || len(r.Failed()) > 0 || r.Configurations != 50 {
		t.Errorf("found %+v", r)
	}
}

func TestTheBoundSaysHowOftenALimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := explore.Check(load(t, "../../../workflows/default.yml"), 1_000_000)
	if r.Bound.Limits != record.MostLimits {
		t.Errorf("it is waited for %d times, want %d", r.Bound.Limits, record.MostLimits)
	}
}

func TestWhatGoesRoundForEverHasNoBound(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/bad/bounded-*.yml") {
		def, err := parse(t, file)
		if err != nil {
			continue
		}
		r := explore.Check(def, explore.Most)
		round := slices.ContainsFunc(r.Failed(), func(v explore.Verdict) bool { return v.Name == explore.Bounded })
		if round != (r.Bound == explore.Bound{}) {
			t.Errorf("%s: goes round: %v, and its bound is %+v", file, round, r.Bound)
		}
	}
}

// Each time that a rule may send a task back allows one cycle of reviews more, and nothing else.
func TestTheBoundGrowsByTheCyclesThatSendBackAllows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ once, cycle explore.Bound }{
		"default": {explore.Bound{Moves: 27, Agents: 19, Rounds: 16}, explore.Bound{Moves: 11, Agents: 18, Rounds: 16}},
		"testdata/sessions": {explore.Bound{Moves: 21, Agents: 19, Rounds: 16},
			explore.Bound{Moves: 11, Agents: 18, Rounds: 16}},
	} {
		text, err := os.ReadFile("../../../workflows/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		for times := range 4 {
			def, err := workflow.Parse(name+".yml", []byte(strings.ReplaceAll(string(text), "when: sent_back < 3",
				fmt.Sprintf("when: sent_back < %d", max(times, 1)))), usual(t))
			if err != nil {
				t.Fatal(err)
			}
			for i := range def.States {
				if times == 0 {
					def.States[i].SendBack = nil
				}
			}
			got := explore.Check(def, explore.Most)
			bound := explore.Bound{Moves: want.once.Moves + times*want.cycle.Moves,
				Agents: want.once.Agents + times*want.cycle.Agents,
				Rounds: want.once.Rounds + times*want.cycle.Rounds, Limits: record.MostLimits,
				Because: "rereviews comes to 3, review_round comes to 2"}
			if times > 1 {
				bound.Because += fmt.Sprintf(", sent_back comes to %d", times)
			}
			if got.Bound != bound || len(got.Failed()) > 0 {
				t.Errorf("%s, sent back %d times at most: the bound is %+v, want %+v; broken: %v", name, times,
					got.Bound, bound, got.Failed())
			}
		}
	}
}

// Counters that make no difference in a status come along with what decide answers for another count of theirs: the
// result is what it answers for each.
func TestWhatIsCarriedAlongMakesNoDifference(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	all := append(files(t, "testdata/good/*.yml"), files(t, "testdata/bad/*.yml")...)
	for _, name := range shipped() {
		all = append(all, "../../../workflows/"+name+".yml")
	}
	for _, file := range all {
		def, err := parse(t, file)
		if err != nil {
			continue
		}
		if different := explore.Compare(def, explore.MostAtCreation); different != nil {
			t.Errorf("%s: %s", file, strings.Join(different, "\n"))
		}
	}
}
