package decide_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documentRows are the rows of the documents' tables and rules beside their transitions, by the part that they stand in.
var documentRows = []struct{ part, rows string }{
	{"000/gate", "handoff pass fail fail-late none verdict no-verdict at-a-command at-a-death"},
	{"000/command", "hand-over complete clarify passed failed failed-late"},
	{"000/step", "1 2 3 4 5"},
	{"000/exit", "detection working-handoff working-crash working-stuck review-pass review-fail review-fail-late review-crash review-stuck clarification reviewing stuck advance"},
	{"000/crash", "increment reset threshold event missing"},
	{"000/prompt", "states"},
	{"000/sequence", "happy no-signal crash double-crash"},
	{"001/gate", "plan handoff review"},
	{"001/hook", "acquire_workspace release_workspace spawn_agent spawn_reviewer kill_session kill_reviewer notify_worker spawn_next delete_remote_branch increment_review_round"},
	{"001/step", "1 2 3 4 5 6 7"},
	{"001/exit", "planning-plan planning-crash working-handoff working-crash review-pass review-fail review-fail-late review-crash others once"},
	{"001/round", "first second most"},
	{"002/file", "built-in own project unknown blocks"},
	{"002/gate", "required verdict sections at-a-command at-a-death"},
	{"002/when", "guard illegal one arms grammar"},
	{"002/hook", "acquire_workspace release_workspace spawn_agent kill_session spawn_next push_branch create_pr delete_remote_branch prompt harness permissions increment order failure twice"},
	{"002/create", "pending clarification agent-review reviewing spawn"},
	{"002/respawn", "1 2 3 4 5 6 7 prompt"},
	{"002/merge", "1 2 3 4 move"},
	{"002/agent", "boundary variables no-workflow"},
	{"002/exit", "working-handoff working-crash review-pass review-fail review-crash clarification reviewing stuck below threshold"},
	{"002/minimal/exit", "handoff crash reviewing"},
	{"002/keys", "merge cancel"},
	{"004/state", "phases terminal"},
	{"004/rule", "3.1 3.1-questions 3.1-files 3.2 3.2-aggregate 3.3 3.3-flaw 3.4 3.4-files 3.5-scope 3.5-missing 3.6 3.6-override 3.7-code 3.7-plan 3.8 3.9-tests 3.9-lint 3.10 3.11-request 3.11-regression 3.12"},
	{"004/file", "phase actors next update"},
	{"004/invariant", "1 2 3 4"},
	{"004/regression", "test review codegen signals"},
	{"004/override", "reason log reachable example"},
	{"004/command", "words shell"},
	{"002/validation", "1 2 3 4 5 6 7 8 9"},
	{"003/state", "pending assigned planning validated in_progress testing quality_review approved committing completed cto_intervention human_escalation"},
	{"003", "diagram crash"},
	{"003/forward", "1 2 3 4 5 6 7 8 9"},
	{"003/failure", "1 2 3 4 5 6"},
	{"003/validation", "1"},
	{"003/count", "1 2 3 4"},
	{"003/trigger", "1 2"},
	{"003/pattern", "1 2 3 4 5"},
	{"003/invariant", "1 2 3 4 5"},
	{"003/task", "id title currentState previousState assignedAgent failureCount ctoAttempts stateHistory createdAt timeInState"},
	{"003/transition", "states timestamp reason actor"},
	{"003/time", "monitored configurable soft entered in-state total by-state warning alert escalate"},
	{"003/event", "transition failure timeout assignment intervention format"},
	{"003/query", "state stuck review failures history"},
	{"003/practice", "state failure timeout cto"},
}

// decided are the choices between the documents that this page must tell.
var decided = []string{
	"9.1", "9.2", "9.3", "9.4", "9.5", "9.6", "9.7", "9.8", "9.9", "9.10", "9.11", "9.12", "9.13",
	"about/subject", "about/committed", "about/unmoved", "about/anew", "about/re-review", "about/override", "about/put-up", "about/verdict", "about/ending",
	"about/worktree", "about/pull-request", "about/version",
}

// guards are the last cells of the page's tables of four and of three columns, by the name in the first cell.
func guards(tb testing.TB) map[string]string {
	tb.Helper()
	out := map[string]string{}
	for _, line := range strings.Split(string(read(tb, conformance)), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		name := strings.Trim(cells[0], " `")
		if !strings.HasPrefix(line, "| `") || len(cells) < 3 || len(cells) > 4 {
			continue
		}
		if _, twice := out[name]; twice {
			tb.Errorf("found two rows %s in %s", name, conformance)
		}
		out[name] = strings.TrimSpace(cells[len(cells)-1])
	}
	return out
}

func TestEveryRowOfTheDocumentsStandsOnThePageWithWhatGuardsIt(t *testing.T) {
	t.Parallel()
	found := guards(t)
	var want []string
	for _, d := range documentRows {
		for _, row := range strings.Fields(d.rows) {
			want = append(want, d.part+"/"+row)
		}
	}
	want = append(want, decided...)
	for _, name := range want {
		guard, there := found[name]
		delete(found, name)
		switch {
		case !there:
			t.Errorf("found no row %s in %s", name, conformance)
		case len(named(guard)) == 0:
			t.Errorf("row %s names nothing that guards it: %q", name, guard)
		}
	}
	for name := range found {
		t.Errorf("found the row %s in %s, which no document has", name, conformance)
	}
}

func TestEveryTestAndStoryThatThePageNamesExists(t *testing.T) {
	t.Parallel()
	tests := testsOfTheTree(t)
	for _, n := range named(string(read(t, conformance))) {
		switch {
		case strings.HasPrefix(n, "Test"):
			if !tests[n] {
				t.Errorf("%s names the test %s, which is not there", conformance, n)
			}
		case !slices.ContainsFunc(places, func(p place) bool { return isFile(p.dir + n + p.ending) }):
			t.Errorf("%s names %q, which is neither a story nor a workflow file of the tests", conformance, n)
		}
	}
}

// place is a folder of what the page names, with what the name leaves out of the file's.
type place struct{ dir, ending string }

var places = []place{
	{"testdata/stories/", ""}, {"../workflow/testdata/err/", ""}, {"../../cmd/orange/testdata/script/", ".txtar"}, {"../../cmd/orange/testdata/long/", ".txtar"},
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

var (
	word    = regexp.MustCompile("`([^` ]+)`")
	stories = regexp.MustCompile("(?:story|stories) (`[a-z_0-9-]+`(?:,? and |, )?)+")
)

// named are the tests, stories and files of tests that a text names.
func named(text string) []string {
	var out []string
	for _, told := range stories.FindAllString(text, -1) {
		for _, match := range word.FindAllStringSubmatch(told, -1) {
			out = append(out, match[1])
		}
	}
	for _, match := range word.FindAllStringSubmatch(text, -1) {
		n := match[1]
		aFile := strings.HasSuffix(n, ".txt") || strings.HasPrefix(n, "rule-")
		if strings.HasPrefix(n, "Test") || aFile && !strings.Contains(n, "/") {
			out = append(out, n)
		}
	}
	return out
}

// testsOfTheTree are the names of all test functions of the module.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, line := range strings.Split(string(read(t, path)), "\n") {
				if name, isTest := strings.CutPrefix(line, "func Test"); isTest {
					name, _, _ = strings.Cut(name, "(")
					out["Test"+name] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
