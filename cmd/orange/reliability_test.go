package main_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// With -update the test writes docs/reliability.md; without, it compares.
var update = flag.Bool("update", false, "write docs/reliability.md as the faults were seen")

const reliabilityPage = "../../docs/reliability.md"

// fault is one thing that goes wrong beneath a task while two others live in the same home, and what must come of it.
// docs/reliability.md is made of these, and of what the program said.
type fault struct {
	name string
	// inflict brings the fault about, and answers what takes it away. A nil answer: this machine cannot have the fault.
	inflict func(w *faultWorld) (lift func())
	// run is what a person asks for meanwhile; ID stands for the task.
	run []string
	// how is how it is asked, where that is more than running it.
	how func(w *faultWorld, run []string) (said string, code int)
	// says is what the program must answer. The page shows what matches.
	says string
	exit int
	// exitLike is the status where the fault is only like the one that is meant; 0 where that makes no difference.
	exitLike int
	// whole: all of the home is hit. Then the other tasks are looked at when the fault has gone.
	whole bool
	// long: it takes so much time that only ORANGE_TEST_LONG=1 runs it.
	long bool
	// repair is what a person runs after the fault has gone, where more than the next command is needed.
	repair []string

	becomes string // what happens to the task, for the page
	goesOn  string // how it continues, for the page
}

// area is a family of faults that share one home, one after the other: what one of them broke for good would hit
// the next.
type area struct {
	name    string
	private bool // its home is a small disk of its own, where the machine allows that
	long    bool // only ORANGE_TEST_LONG=1 runs it; what is on the page of its rows stays until then
	faults  []fault
}

func areas() []area {
	return []area{
		{name: "disk", private: true, faults: diskFaults()},
		{name: "record", faults: recordFaults()},
		{name: "clock", faults: clockFaults()},
		{name: "document", faults: documentFaults()},
		{name: "history", long: true, faults: historyFaults()},
		{name: "git", long: true, faults: gitFaults()},
		{name: "tmux", long: true, faults: tmuxFaults()},
		{name: "setup", long: true, faults: setupFaults()},
		{name: "home", long: true, faults: homeFaults()},
	}
}

func TestEveryFault_isReportedLosesNothingAndLeavesOtherTasksAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	seen := &sightings{said: map[string]string{}}
	complete := t.Run("areas", func(t *testing.T) {
		for _, a := range areas() {
			if a.long && os.Getenv("ORANGE_TEST_LONG") == "" {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				w := newFaultWorld(t, a.private)
				for _, f := range a.faults {
					t.Run(f.name, func(t *testing.T) { w.meet(t, f, seen) })
				}
			})
		}
	})
	if !complete || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // some faults are not in this run
	}
	have, err := os.ReadFile(reliabilityPage)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := page(seen, string(have))
	if *update {
		if err := os.WriteFile(reliabilityPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(have) {
		t.Errorf(
			"docs/reliability.md is not what was seen; go test ./cmd/orange -run EveryFault -update writes it.\n%s",
			firstDifference(string(have), want))
	}
}

// sightings are what the program said to each fault.
type sightings struct {
	lock sync.Mutex
	said map[string]string
}

func (s *sightings) add(name, text string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.said[name] = text
}

const pageIntroduction = `# When something breaks

A test (` + "`cmd/orange/reliability_test.go`" + `) writes this page: it causes each fault for the first of three tasks in one home, and runs the command in the first column.
The second column has the answer, with ` + "`ID`" + `, ` + "`HOME`" + ` and ` + "`REPO`" + ` for the task, the home and the repository. After every row it checks that

- a move is in the history if and only if the program said that it was made;
- the history is whole, and what the agents wrote into TASK.md is there, byte for byte;
- the other two tasks can be listed, shown and moved, during the fault or, if it hits the whole home (marked ●), after it;
- the task moves again when the fault is gone.

## A power cut

A command that reports a move has waited until the disk has the move and the texts that it rests on. Three things do not wait, because Orange makes them again:

- ` + "`history.jsonl`" + ` and the header of TASK.md are copies of the record;
- that an attempt at a hook begins, or has ended while other hooks of the same move follow: the hook is performed again;
- that a process waits for a task: no process outlives a power cut.

A commit is in ` + "`orange.db-wal`" + ` first: a copy of the record is both files, or what ` + "`sqlite3 orange.db \".backup COPY\"`" + ` makes of them.
To put a copy back, end the server (` + "`orange server stop`" + `), every monitor and dashboard, delete ` + "`orange.db-wal`" + ` and ` + "`orange.db-shm`" + `, and then copy.

`

func page(seen *sightings, before string) string {
	var b strings.Builder
	b.WriteString(pageIntroduction)
	for _, a := range areas() {
		fmt.Fprintf(&b, "## %s\n\n| fault, and what is run | what you see | what happens to the task | how it "+
			"continues |\n|---|---|---|---|\n", strings.ToUpper(a.name[:1])+a.name[1:])
		for _, f := range a.faults {
			text, ran := seen.said[f.name]
			if !ran { // this run could not have the fault: what was seen elsewhere stays
				text = cell(before, f.name)
			}
			mark := ""
			if f.whole {
				mark = " ●"
			}
			fmt.Fprintf(&b, "| %s%s: `orange %s` | %s (exit %d) | %s | %s |\n", f.name, mark, typed(f.run),
				quoted(text), f.exit, f.becomes, f.goesOn)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// typed is a command as a person types it.
func typed(words []string) string {
	var out []string
	for _, word := range words {
		if strings.Contains(word, " ") {
			word = "'" + word + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func quoted(text string) string {
	if text == "" {
		return "(not seen yet)"
	}
	return "`" + text + "`"
}

// cell is what the page has as the words of a fault.
func cell(page, name string) string {
	found := regexp.MustCompile("(?m)^\\| " + regexp.QuoteMeta(name) +
		"(?: ●)?: `[^|]*\\| `(.*)` \\(exit").FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return found[1]
}

func firstDifference(have, want string) string {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d:\n  the page: %s\n  was seen: %s", i+1, x, y)
		}
	}
	return ""
}
