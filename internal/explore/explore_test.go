package explore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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
			def := load(t, "../../workflows/"+name+".yml")
			began := time.Now()
			r := explore.Check(def, explore.Most)
			t.Logf("%d configurations in %v; %+v; coarse %v; too many: %v", r.Configurations, time.Since(began), r.Bound, r.Coarse, r.TooMany)
			for _, v := range r.Verdicts {
				if v.OK {
					continue
				}
				t.Logf("%s: %s\n  line %d, %d more; allowed %q; %s", v.Name, v.Message, v.Line, v.More, v.Allowed, v.Suggestion)
				for i, s := range v.Steps {
					t.Logf("    %d. %s", i+1, s)
				}
			}
			if !r.Proved() {
				t.Errorf("it is not proved")
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
