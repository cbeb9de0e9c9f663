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

func load(t testing.TB, file string) *workflow.Definition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse(filepath.Base(file), text, usual(t))
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
