package explore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/explore"
	"orange/internal/workflow"
)

func usual(t testing.TB) workflow.Usual {
	t.Helper()
	text, err := os.ReadFile("../../workflows/usual.yml")
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
			r := explore.Check(load(t, "../../workflows/"+name+".yml"), explore.Most)
			for _, v := range r.Failed() {
				t.Errorf("%v", v)
			}
			if !r.Proved() || len(r.Coarse) > 0 {
				t.Errorf("it is not proved: %d configurations, %v", r.Configurations, r.Coarse)
			}
			// The figures change with the workflow, and with every rule of decide that comes to mean something else.
			got := fmt.Sprintf("%d configurations; without a person at most: moves %d, agents %d, reviews %d\n",
				r.Configurations, r.Bound.Moves, r.Bound.Agents, r.Bound.Rounds)
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

func BenchmarkExplore(b *testing.B) {
	for _, name := range shipped() {
		b.Run(name, func(b *testing.B) {
			def := load(b, "../../workflows/"+name+".yml")
			b.ReportAllocs()
			configurations := 0
			for b.Loop() {
				configurations = explore.Check(def, explore.Most).Configurations
			}
			b.ReportMetric(float64(configurations), "configurations")
		})
	}
}

func TestTooMuchToFollowIsNeitherProvedNorBroken(t *testing.T) {
	t.Parallel()
	r := explore.Check(load(t, "../../workflows/default.yml"), 50)
	if !r.TooMany || r.Proved() || len(r.Failed()) > 0 || r.Configurations != 50 {
		t.Errorf("found %+v", r)
	}
}
