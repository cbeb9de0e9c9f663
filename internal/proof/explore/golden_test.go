package explore_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
)

var update = flag.Bool("update", false, "write what is found now into the golden files")

// found returns what a check finds wrong with a file, as text, and the broken properties.
func found(t *testing.T, file string) (text string, broken []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse(filepath.Base(file), source, usual(t))
	if err != nil {
		return err.Error() + "\n", nil
	}
	var b strings.Builder
	for _, v := range explore.Check(def, explore.Most).Failed() {
		broken = append(broken, v.Name)
		b.WriteString(v.Tell(filepath.Base(file)) + "\n")
	}
	return b.String(), broken
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("found %v, %v", all, err)
	}
	return all
}

func TestEveryFaultIsFoundWithTheShortestWayToIt(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/bad/*.yml") {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, broken := found(t, file)
			meant := name[:strings.LastIndex(name, "-")]
			read := len(broken) > 0 // the rules of the file report what does not even load
			if read && slices.Contains(workflow.Properties(), meant) && !slices.Contains(broken, meant) {
				t.Errorf("found broken: %v, want %s", broken, meant)
			}
			golden := strings.TrimSuffix(file, ".yml") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) || got == "" {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func TestEveryPropertyHasThreeFaultyWorkflows(t *testing.T) {
	t.Parallel()
	for _, p := range explore.Properties() {
		n := 0
		for _, file := range files(t, "testdata/bad/"+p.Name+"-*.yml") {
			// what does not even load is no fault of this kind
			if _, broken := found(t, file); slices.Contains(broken, p.Name) {
				n++
			}
		}
		if n < 3 {
			t.Errorf("%s has %d, want 3", p.Name, n)
		}
	}
}

func TestEveryPropertyCanBeDoneWithoutForAReason(t *testing.T) {
	t.Parallel()
	names := usual(t)
	check := func(file string, without []string) explore.Report {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, "allow:\n"...)
		for _, p := range without {
			text = append(text, "  "+p+": it is known of "+p+"\n"...)
		}
		def, err := workflow.Parse(file, text, names)
		if err != nil {
			t.Fatal(err)
		}
		return explore.Check(def, explore.Most)
	}
	for _, p := range explore.Properties() {
		tried := 0
		for _, file := range files(t, "testdata/bad/"+p.Name+"-*.yml") {
			_, broken := found(t, file)
			if !slices.Contains(broken, p.Name) {
				continue
			}
			tried++
			r := check(file, broken)
			if !r.Proved() {
				t.Errorf("%s: still broken are %+v", file, r.Failed())
			}
			for _, v := range r.Verdicts {
				if v.Name == p.Name &&
					(v.OK || v.Failed() ||
						!strings.HasSuffix(v.Tell(file), "["+p.Name+"]\n  because: it is known of "+p.Name)) {
					t.Errorf("%s: found %s", file, v.Tell(file))
				}
			}
			others := slices.DeleteFunc(broken, func(name string) bool { return name == p.Name })
			if len(others) == 0 {
				continue // allow is not empty
			}
			if failed := check(file, others).Failed(); len(failed) != 1 || failed[0].Name != p.Name {
				t.Errorf("%s: without a reason for %s alone found broken: %+v", file, p.Name, failed)
			}
		}
		if tried == 0 {
			t.Errorf("%s was not tried", p.Name)
		}
	}
}

func TestSoundWorkflowsAreLeftInPeace(t *testing.T) {
	t.Parallel()
	all := files(t, "testdata/good/*.yml")
	if len(all) < 20 {
		t.Errorf("found %d, want 20", len(all))
	}
	var figures strings.Builder
	for _, file := range all {
		if got, _ := found(t, file); got != "" {
			t.Errorf("found:\n%s", got)
		}
		r := explore.Check(load(t, file), explore.Most)
		fmt.Fprintf(&figures, "%s: %d configurations; without a person at most: moves %d, agents %d, reviews %d\n",
			filepath.Base(file), r.Configurations, r.Bound.Moves, r.Bound.Agents, r.Bound.Rounds)
	}
	const golden = "testdata/good/figures.out"
	if *update {
		if err := os.WriteFile(golden, []byte(figures.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || figures.String() != string(want) {
		t.Errorf("found:\n%swant:\n%s(%v)", figures.String(), want, err)
	}
}

// A file never leads to two transitions that are open at once: Orange refuses them when it reads the file.
func TestTwoTransitionsThatAreOpenAtOnceAreTold(t *testing.T) {
	t.Parallel()
	for verdicts, told := range map[[2]string]bool{{"PASS", "PASS"}: true, {"PASS", "FAIL"}: false} {
		def := load(t, "testdata/good/two-reviews.yml")
		at := slices.IndexFunc(def.Transitions, func(e workflow.Transition) bool {
			return e.From == "review" && e.To == "ready"
		})
		again := def.Transitions[at]
		again.Gate = slices.Clone(again.Gate)
		def.Transitions[at].Gate[0].Verdict, again.Gate[0].Verdict = verdicts[0], verdicts[1]
		def.Transitions = append(def.Transitions, again)
		failed := explore.Check(def, explore.Most).Failed()
		if is := slices.ContainsFunc(failed, func(v explore.Verdict) bool {
			return v.Name == explore.Disjoint
		}); is != told {
			t.Errorf("%v: found %v", verdicts, failed)
		}
	}
}
