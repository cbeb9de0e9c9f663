package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/screen"
)

const sampleDocument = `---
id: task00000000000000001
status: working
summary: Mend bug 1
---

# Mend the login

The login **fails** for names with an *umlaut*, see [the report](https://example.org/r/1) and ` + "`auth.go`" + `.
It must be mended before Friday.
DONE: found the spot
NEXT STEP: mend it

## Plan

1. Find out why
2. Mend it
   - [x] a test that fails
   - [ ] the mending of ` + "`normalise`" + `, which takes names apart in a way that nobody expects it to be taken apart
3. Tell people

> As the report says:
> nobody with an ö comes in.

` + "```go\nfunc normalise(name string) string {\n\treturn name // 日本語 as well\n}\n```" + `

| file | lines |
|------|------:|
| a.go | 12    |

---

<!-- the worker writes here -->
`

func sampleEvents() []history.Event {
	at := clock().Add(-26 * time.Hour)
	after := func(d time.Duration) time.Time { at = at.Add(d); return at }
	return []history.Event{
		{Seq: 1, Time: after(0), Type: history.Created, Actor: "human", Data: map[string]string{
			"status": "clarification", "branch": "fix/bug-1", "workflow": "default", "summary": "no"}},
		{Seq: 2, Time: after(time.Minute), Type: history.StatusChanged, Actor: "human", ActingAs: "worker",
			Person: "Ada <ada@example.com>", From: "clarification", To: "planning", Reason: "the task is clear",
			Evidence: []task.Evidence{{Source: "## Plan", Digest: strings.Repeat("ab", 32)}}, Hooks: []string{
				"acquire_workspace", "spawn_agent"}},
		{Seq: 3, Time: after(2 * time.Second), Type: history.AgentSpawned, Actor: "engine", Data: map[string]string{
			"role": "worker", "window": "work-1", "how": "claude"}},
		{Seq: 4, Time: after(24 * time.Hour), Type: history.AgentCrashed, Actor: "engine", In: "planning", Crash: 1,
			Reason: "it ended with status 1", Data: map[string]string{
				"role": "worker", "last_words": "panic: \x1b[31mno\x1b[0m such file"}},
		{Seq: 5, Time: after(time.Minute), Type: history.HookFailure, Actor: "engine",
			Reason: "run git push: exit status 128\nfatal: no such remote", Data: map[string]string{
				"hook": "push_branch"}},
		{Seq: 6, Time: after(time.Minute), Type: history.AutoAdvanced, Actor: "engine", From: "planning",
			To: "working"},
		{Seq: 7, Time: after(time.Minute), Type: history.PRChecked, Actor: "engine", Data: map[string]string{
			"url": "https://example.org/pr/12", "checks": "fail"}},
		{Seq: 8, Time: after(time.Minute), Type: "one.of.tomorrow", Actor: "engine"},
	}
}

func sampleWhy(t task.Task) decide.Explanation {
	return decide.Explanation{
		Task: t, About: "the worker mends it",
		Waits: []rejection.Detail{
			{Condition: "the worker", Found: "it is at work", Want: "let it work, or look: orange task attach " +
				t.ID}},
		Ways: []decide.Option{
			{To: "agent-review", By: []string{"worker", "human"}, Details: []rejection.Detail{
				{Condition: "section ## Handoff", Found: "no such section", Where: "TASK.md",
					Want: "write what was done beneath a heading ## Handoff"},
				{Condition: "commits > 0", Found: "0", Want: "commit"},
			}, Guards: []decide.Counted{{Guard: "review_round < 5", Value: 1, Holds: true},
				{Guard: "commits > 0", Value: 0}}, Override: true},
			{To: "blocked", By: []string{"worker"}, Open: true, Reason: true},
			{To: "cancelled", Open: true},
		},
		Passed: []guarantee.GoodEnd{{End: "done", Always: []string{"a person"}, Around: []guarantee.Around{
			{What: `"## Review" PASS`, Way: "agent-review -[2 crashes]-> reviewing -[a person]-> done", Line: 37}}}},
	}
}

const sampleDiff = ` a.txt                  |   4 +++-
 picture.bin            | Bin 0 -> 4 bytes
 2 files changed, 3 insertions(+), 1 deletion(-)
 new, not added: new one.txt

diff --git a/a.txt b/a.txt
index 5626abf..f719efd 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,5 @@ func main
 one
--- two
+two with a line that is so long that it does not fit into a screen of eighty columns, not at all
+	three
++++ four
diff --git a/picture.bin b/picture.bin
new file mode 100644
Binary files /dev/null and b/picture.bin differ
`

// detailBackend has one task with everything, and one with nothing.
func detailBackend(t testing.TB) *fakeBackend {
	one := aTask(t, 1, "working", func(t *task.Task) {
		t.PRURL, t.PRState = "https://example.org/pr/12", record.PROpen
		t.Attention = "the hook push_branch failed: no such remote"
	})
	other := aTask(t, 2, "clarification", func(t *task.Task) { t.Session, t.Workspace = "", "" })
	return &fakeBackend{
		tasks:     []task.Task{one, other},
		documents: map[string]string{one.ID: sampleDocument},
		histories: map[string][]history.Event{one.ID: sampleEvents()},
		whys:      map[string]decide.Explanation{one.ID: sampleWhy(one)},
		diffs:     map[string]string{one.ID: sampleDiff},
		panes: map[string][]Pane{one.ID: {
			{Role: "worker", Title: "work-1", Lines: numbered("\x1b[32mworker %d", 30)},
			{Role: "reviewer", Title: "review-1", Dead: true,
				Lines: append(numbered("reviewer %d\x1b[0m 日本語", 12), "", "Pane is dead (status 1, Fri Jan  2)")},
		}},
		logs: map[string][]string{one.ID: {
			`{"ts":"2026-01-01T23:59:58.000Z","level":"info","msg":"moved","component":"engine","task":"` +
				one.ID + `","from":"planning","to":"working","n":3}`,
			`{"ts":"2026-01-02T00:00:01.000Z","level":"warn","msg":"late","component":"monitor","why":"two words","task":"another","list":[1, 2]}`,
			`{"ts":"2026-01-02T00:00:02.000Z","level":"error","msg":"the hook failed and there is so much to say about it that it takes more than one line","component":"hook"}`,
			`this is no JSON`,
		}},
	}
}

func numbered(format string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1))
	}
	return out
}

func TestDetail_everyTabLooksAsItShould(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}} {
		for tab := range detail.Tabs {
			name := fmt.Sprintf("detail_%s_%dx%d", strings.ToLower(strings.TrimSuffix(tab.String(), ".md")),
				size.width, size.height)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := openAt(t, detailBackend(t), size.width, size.height)
				s.press(fmt.Sprint(int(tab)+1), "l")
				golden(t, name, s.text())
			})
			t.Run(name+" of nothing", func(t *testing.T) {
				t.Parallel()
				s := openAt(t, detailBackend(t), size.width, size.height)
				s.selects("fix/bug-2")
				s.press(fmt.Sprint(int(tab) + 1))
				if size.width == 80 {
					golden(t, strings.Replace(name, "_80x24", "_empty_80x24", 1), s.text())
				}
			})
		}
	}
}

func TestDetail_itsColoursAreWhatTheyAre(t *testing.T) {
	t.Parallel()
	for tab := range detail.Tabs {
		s := openAt(t, detailBackend(t), 80, 40)
		s.press(fmt.Sprint(int(tab) + 1))
		golden(t, "detail_"+strings.ToLower(strings.TrimSuffix(tab.String(), ".md"))+"_colours",
			painted(s.m.View().Content))
	}
}

func TestDetail_fitsNextToTheList(t *testing.T) {
	t.Parallel()
	for tab := range detail.Tabs {
		s := openAt(t, detailBackend(t), 140, 30)
		s.press(fmt.Sprint(int(tab) + 1))
		golden(t, "detail_"+strings.ToLower(strings.TrimSuffix(tab.String(), ".md"))+"_split_140x30", s.text())
	}
}

func TestDetail_fitsASmallScreen(t *testing.T) {
	t.Parallel()
	s := openAt(t, detailBackend(t), 50, 12)
	s.press("1")
	golden(t, "detail_task_50x12", s.text())
}

func TestDetail_agentsStandBesideEachOtherWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	s := openAt(t, detailBackend(t), 180, 50)
	s.press("5", "l")
	golden(t, "detail_agent_180x50", s.text())
}

func longDocument(lines int) string {
	return strings.ReplaceAll(strings.Join(numbered("line %d", lines), "\n"), "\n", "\n\n")
}

func TestDetail_everyTabOfEveryTaskKeepsItsPlace(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	id := backend.tasks[0].ID
	backend.documents[id] = longDocument(200)
	s := openAt(t, backend, 80, 24)
	s.press("1", "pgdown", "pgdown", "j")
	place := s.text()
	s.hides("line 1\n")
	s.press("2", "1")
	if s.text() != place {
		t.Errorf("another tab moved it:\n%s", s.text())
	}
	backend.documents[id] += "\n\nand one line more"
	backend.tasks[0].Version++
	s.send(recordChange{})
	if s.text() != strings.ReplaceAll(place, "of 399", "of 401") {
		t.Errorf("new content moved it:\n%s\nbefore:\n%s", s.text(), place)
	}
	s.press("h", "k", "1", "h", "j", "1")
	if s.text() != strings.ReplaceAll(place, "of 399", "of 401") {
		t.Errorf("another task moved it:\n%s", s.text())
	}
	s.press("G")
	s.shows("and one line more")
	s.press("g")
	s.shows("line 1\n")
}

// Defect: a key for a page went on by the height of the screen, and the head of the task has some of that.
func TestDetail_pagesPassNoLineUnseen(t *testing.T) {
	t.Parallel()
	const lines = 100
	for _, height := range []int{12, 24, 50} {
		for _, key := range []string{"pgdown", "pgup"} {
			backend := detailBackend(t)
			backend.documents[backend.tasks[0].ID] = longDocument(lines)
			s := openAt(t, backend, 80, height)
			s.press("1")
			if key == "pgup" {
				s.press("G")
			}
			seen := s.text()
			for range lines { // more than enough pages
				s.press(key)
				seen += s.text()
			}
			for _, line := range numbered("line %d\n", lines) {
				if !strings.Contains(seen, line) {
					t.Errorf("%d lines high, %s: it never showed %q", height, key, line)
				}
			}
		}
	}
}

func TestDetail_whatGrowsAtItsEndIsFollowedUntilOneScrollsUp(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	id := backend.tasks[0].ID
	s := openAt(t, backend, 80, 24)
	add := func(text string) {
		backend.histories[id] = append(backend.histories[id], history.Event{Time: clock(), Type: history.Updated,
			Actor: "human", Reason: text})
		backend.tasks[0].Version++
		s.send(recordChange{})
	}
	s.press("2")
	add("the first addition")
	s.shows("the first addition")
	s.press("k", "k")
	add("the second addition")
	s.hides("the second addition")
	s.press("G")
	s.shows("the second addition")
	add("the third addition")
	s.shows("the third addition")
}

func TestDetail_isLookedUpAgainOnlyWhenTheTaskChanged(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	s := openAt(t, backend, 80, 24)
	s.press("4")
	looks := func() int { return strings.Count(strings.Join(backend.calls, " "), "Diff") }
	before := looks()
	s.send(recordChange{}, recordChange{}, clockTick(clock()), tea.WindowSizeMsg{Width: 100, Height: 30})
	if looks() != before {
		t.Errorf("it was looked up %d times though nothing changed", looks()-before)
	}
	backend.tasks[0].Version++
	s.send(recordChange{})
	if looks() != before+1 {
		t.Errorf("it was looked up %d times after a change", looks()-before)
	}
	s.press("R")
	if looks() != before+2 {
		t.Errorf("R looked it up %d times", looks()-before-1)
	}
}

// The old lines stay until new ones are there: nothing is blank in between.
func TestDetail_showsWhatItHasUntilThereIsMore(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	s := openAt(t, backend, 80, 24)
	s.press("1")
	before := s.text()
	backend.tasks[0].Version++
	s.m.tasks.Replace(backend.tasks)
	cmd := s.m.Update(news{""}) // the look is asked for, and not performed yet
	if cmd == nil {
		t.Fatal("nobody looks")
	}
	if now := plainScreen(s.m.View().Content); now != before {
		t.Errorf("it flickers:\n%s", now)
	}
	if again := s.m.Update(news{""}); again != nil {
		t.Error("a second look is asked for while the first is on its way")
	}
}

func TestDetail_followsTheSelectionHoweverItChanges(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	backend.documents[backend.tasks[1].ID] = "the other document"
	s := openAt(t, backend, 140, 30)
	s.press("1")
	s.shows("Mend the login")
	s.press("k")
	s.shows("the other document")
	s.press("/")
	s.write("bug-1")
	s.shows("Mend the login")
	s.press("esc", "esc")
	backend.tasks = backend.tasks[1:]
	s.send(recordChange{})
	s.shows("the other document")
}

func TestDetail_whatCannotBeLookedUpIsTold(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	backend.fails = map[string]error{
		"Document": errors.New("cannot read TASK.md: \x1b[2Jpermission denied\nask somebody")}
	s := openAt(t, backend, 80, 24)
	s.press("1")
	s.shows("cannot read TASK.md: permission denied\nask somebody\n")
	backend.fails = nil
	s.press("R")
	s.shows("Mend the login")
}

func TestDetail_saysHowLongAStatusMayTake(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	backend.tasks = []task.Task{taskUnder(t, "build", 1, rulesOf(t, "build").Initial)}
	def := rulesOf(t, "build")
	for _, state := range def.States {
		if state.Timeout.After > 0 {
			backend.tasks[0] = taskUnder(t, "build", 1, state.Name, func(t *task.Task) { t.Overdue = task.LateAlert })
			s := openAt(t, backend, 80, 24)
			s.press("1")
			s.shows(" for 14m of 1h")
			s.shows("◷ it has been in its status for longer than it should")
			return
		}
	}
	t.Error("no state of the workflow has a timeout")
}

func TestDetail_theWayIsTheOneThatTheTaskTook(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	s := openAt(t, backend, 120, 40)
	s.press("2", "l")
	s.shows("✓ clarification ✓ planning ● working ○ ")
	backend.histories[backend.tasks[0].ID] = []history.Event{
		{Type: history.Created, Data: map[string]string{"status": "planning"}},
		{Type: history.StatusChanged, From: "planning", To: "working"},
		{Type: history.StatusChanged, From: "working", To: "agent-review"},
		{Type: history.StatusChanged, From: "agent-review", To: "working"},
	}
	backend.tasks[0].Version++
	s.send(recordChange{})
	s.press("R") // another history is read from its first event on
	s.shows("\n✓ planning ● working ○ agent-review")
}

func TestProgress_isCutAroundThePresentStatus(t *testing.T) {
	t.Parallel()
	backend := detailBackend(t)
	backend.histories = nil
	s := openAt(t, backend, 80, 24)
	one := backend.tasks[0]
	for width, want := range map[int]string{
		200: "✓ pending ✓ planning ● working ○ agent-review ○ reviewing ○ done",
		40:  "… ✓ planning ● working ○ agent-review …", 20: "… ● working …", 8: "… ● wor…",
	} {
		if got := ansi.Strip(s.m.tasks.Progress(s.m.style, one, width)); got != want || screen.Width(got) > width {
			t.Errorf("%d cells: got %q, want %q", width, got, want)
		}
	}
}

// The way of a task says what the head and the question before a merge say: its review passed nothing.
func TestProgress_aReviewThatOnlyCrashedIsNotPassed(t *testing.T) {
	t.Parallel()
	one := aTask(t, 1, "reviewing", func(one *task.Task) { one.Subject = task.Subject{Commit: "1234567", By: "ada"} })
	backend := &fakeBackend{tasks: []task.Task{one}, histories: map[string][]history.Event{}}
	at := task.Status("")
	for _, to := range []task.Status{"planning", "working", "agent-review", "stuck", "reviewing"} {
		e := history.Event{Type: history.StatusChanged, From: at, To: to}
		if at == "" {
			e = history.Event{Type: history.Created, Data: map[string]string{"status": string(to)}}
		}
		backend.histories[one.ID] = append(backend.histories[one.ID], e)
		at = to
	}
	s := openAt(t, backend, 80, 24)
	s.press("2")
	s.shows("✓ planning ✓ working ✗ agent-review ✓ stuck ● reviewing ○ done")
}

// What is next to the list fits the task, until the person chooses; TASK.md is read again without a change of the task.
func TestDetail_fitsTheTaskUntilThePersonChooses(t *testing.T) {
	t.Parallel()
	backend := living(t)
	s := openSession(t, backend, 120, 40)
	s.selects("fix/login")
	s.shows("the token is kept for an hour")
	s.selects("feature/search")
	s.shows("panic: out of range")
	s.selects("fix/totals")
	s.shows("## Plan")
	backend.documents[backend.tasks[2].ID] += "\nNEXT STEP: tell them\n"
	s.send(detail.Tick{})
	s.shows("NEXT STEP: tell them")
	s.press("2")
	s.selects("fix/login")
	s.hides("the token is kept for an hour")
	s.press("0")
	s.shows("the token is kept for an hour")
	s.press("l")
	s.shows("\nworker\n● I read auth/session.go")
	s.press("esc", "space")
	s.hides("the token is kept for an hour")
}
