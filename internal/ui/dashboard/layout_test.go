package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// The reasons of needy, each longer than the column of a list of 80 cells.
const (
	asksTwo  = "asks 2 questions: Which currency does a gift card have, where the basket has several"
	diedOut  = "crash 1: Error: not logged in. Run /login first."
	refused  = "refused 12 times: Handoff is the same as before"
	conflict = "cannot be merged: conflicts with fix/totals in shop/basket.go"
	reviewOK = "review passed"
)

// needy is a backend with a need of each kind, tasks at work and one that is done.
func needy(t testing.TB) *fakeBackend {
	t.Helper()
	named := func(branch, summary string) func(*task.Task) {
		return func(one *task.Task) {
			one.Branch, one.Summary, one.Workspace, one.Session = branch, summary, "shop--1", "orange-"+one.ID
		}
	}
	bare := func(one *task.Task) { one.Session, one.Workspace = "", "" }
	all := []task.Task{
		aTask(t, 9, "clarification", named("feature/cards", "Gift cards in every currency")),
		aTask(t, 8, "working", named("fix/login", "Log in again after the session ran out")),
		aTask(t, 7, "working", named("fix/search", "Search finds what is nearly right")),
		aTask(t, 6, "stuck", named("fix/flaky", "The test of the queue fails now and then")),
		aTask(t, 5, "reviewing", named("fix/totals", "Totals are rounded once, at the end"),
			func(one *task.Task) { one.PRURL, one.PRState = "https://example.org/shop/pull/41", record.PROpen }),
		aTask(t, 4, "working", named("feature/basket", "The basket keeps its items over night")),
		aTask(t, 3, "pending", named("feature/coupons", "Coupons"), bare),
		aTask(t, 2, "done", named("fix/prices", "Prices with taxes"), bare),
	}
	need := func(at int, kind, reason, text string) Agent {
		return Agent{State: record.AgentAlive, Need: record.Need{Kind: kind, Reason: reason, Text: text,
			Since: all[at].EnteredAt}}
	}
	backend := &fakeBackend{tasks: all, agents: map[string]Agent{
		all[0].ID: need(0, record.NeedsPerson, asksTwo, "1. Which currency does a gift card have, where the basket "+
			"has several and the shop sells to other countries too?\n2. Who pays for the ribbon?"),
		all[1].ID: need(1, record.NeedsAgent, diedOut, "crash 1: the worker (exit status 1) ended without what the "+
			"status asks for; its last words: Error: not logged in. Run /login first."),
		all[2].ID: need(2, record.NeedsRefused, refused, ""),
		all[3].ID: need(3, record.NeedsAttention, conflict, ""),
		all[4].ID: need(4, record.NeedsPerson, reviewOK, ""),
	}, works: map[string]Work{all[4].ID: {Commits: 3, Added: 120, Removed: 14}}}
	backend.documents = map[string]string{
		all[0].ID: "# Cards\n\nGift cards.\n\n## Questions\n\n1. Which currency?\n\n## Plan\n\n1. Ask first\n",
		all[4].ID: "# Totals\n\n" + strings.Repeat("What the report says.\n\n", 20) +
			"## Review\n\nVerdict: PASS\nIt adds up.\nThe rounding is at one place.\n" +
			strings.Repeat("\nMore words.\n", 20),
	}
	backend.histories = map[string][]history.Event{all[4].ID: {
		{Seq: 1, Type: history.Created, Actor: "human", Time: clock(), Data: map[string]string{"status": "working"}},
		{Seq: 2, Type: history.StatusChanged, Actor: "reviewer", Time: clock(), From: "agent-review", To: "reviewing"}}}
	backend.panes = map[string][]Pane{all[5].ID: {{Role: "worker", Title: "worker", Lines: []string{
		"● I read basket.go", "● go test ./basket", "> "}}}}
	return backend
}

// calmer has n more tasks of which no one needs a person.
func calmer(t testing.TB, backend *fakeBackend, n int) *fakeBackend {
	t.Helper()
	for i := range n {
		backend.tasks = append(backend.tasks, aTask(t, 20+i, "pending", func(one *task.Task) {
			one.Session, one.Workspace = "", ""
		}))
	}
	return backend
}

func TestTheScreensOfTasksThatNeedThePerson(t *testing.T) {
	t.Parallel()
	for size, cells := range map[string][2]int{"50x12": {50, 12}, "80x24": {80, 24}, "120x40": {120, 40},
		"200x60": {200, 60}} {
		for name, branch := range map[string]string{"asks": "feature/cards", "died": "fix/login",
			"passed": "fix/totals", "works": "feature/basket"} {
			t.Run(name+"_"+size, func(t *testing.T) {
				t.Parallel()
				s := openSession(t, needy(t), cells[0], cells[1])
				s.selects(branch)
				golden(t, "needs_"+name+"_"+size, s.text())
			})
		}
		t.Run("many_"+size, func(t *testing.T) {
			t.Parallel()
			s := openSession(t, calmer(t, needy(t), 60), cells[0], cells[1])
			golden(t, "needs_many_"+size, s.text())
		})
		t.Run("say_"+size, func(t *testing.T) {
			t.Parallel()
			s := openSession(t, needy(t), cells[0], cells[1])
			s.selects("feature/cards")
			s.press("S")
			s.write("Euro")
			golden(t, "needs_say_"+size, s.text())
		})
	}
}

// Defect: in a list of 80, 120 and 200 cells a reason was cut at 29, 21 and 45 letters, next to twenty empty lines.
func TestATaskInNeedShowsItsReasonOnItsOwnLine(t *testing.T) {
	t.Parallel()
	for width, room := range map[int]int{80: 75, 120: 43, 200: 95} {
		s := openSession(t, needy(t), width, 40)
		s.selects("feature/basket")
		for _, reason := range []string{asksTwo, diedOut, refused, conflict, reviewOK} {
			s.shows("\n     " + screen.Cut(reason, room))
		}
	}
	s := openSession(t, needy(t), 80, 24)
	for _, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "◆ shop/fix/totals") && (!strings.Contains(line, "#41") ||
			!strings.Contains(line, "+120 -14")) {
			t.Errorf("the row has lost its figures: %q", line)
		}
	}
}

// Where not all rows fit with two lines each, those on top have them, and where not all tasks fit, none but the
// selected one.
func TestNeedsGetSecondLinesWhereTheyFitElseInAThird(t *testing.T) {
	t.Parallel()
	lines := func(more int) (out []string) {
		s := openSession(t, calmer(t, needy(t), more), 80, 24)
		s.press("space") // the list alone: 19 lines below its titles
		s.selects("feature/basket")
		for _, line := range strings.Split(s.text(), "\n") {
			if text := strings.TrimSpace(line); strings.HasPrefix(line, "     ") && text != "" {
				out = append(out, text)
			}
		}
		return slices.DeleteFunc(out, func(text string) bool { return strings.Contains(text, "● working") })
	}
	for more, want := range map[int]int{0: 5, 6: 5, 7: 5, 11: 5, 60: 5} {
		got := lines(more)
		if len(got) != want || want > 0 && !strings.HasPrefix(got[0], "asks 2 questions") {
			t.Errorf("with %d more tasks %d of them have a second line, want %d: %q", more, len(got), want, got)
		}
	}
}

// Defect: at 80 cells there was a list with twenty empty lines below it, and nothing of the task.
func TestWhereTheSideHasNoRoomTheTaskIsBelowTheList(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 24}, {80, 24}, {80, 16}, {99, 50}, {119, 30}, {130, 18}} {
		s := openSession(t, needy(t), size[0], size[1])
		s.selects("feature/basket")
		lines := strings.Split(s.text(), "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "──  feature/basket") })
		if at < 0 {
			t.Errorf("at %v there is no task below the list:\n%s", size, s.text())
			continue
		}
		s.shows("\n● go test ./basket\n") // the agent's terminal
		if row := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ">●") }); row < 0 ||
			row > at {
			t.Errorf("at %v the selected task is in line %d, and it is shown in line %d", size, row, at)
		}
		if s.press("space"); strings.Contains(s.text(), "──  ") {
			t.Errorf("at %v the list is not alone:\n%s", size, s.text())
		}
	}
	for _, size := range [][2]int{{80, 15}, {50, 12}} {
		s := openSession(t, needy(t), size[0], size[1])
		s.hides("──  ")
	}
}

// Of many tasks the list has at least half of the lines, and the selected one is always in them.
func TestTheListKeepsHalfOfTheLinesAndTheSelectedTask(t *testing.T) {
	t.Parallel()
	for _, height := range []int{16, 24, 40, 60} {
		s := openSession(t, calmer(t, needy(t), 60), 80, height)
		for _, key := range []string{"g", "j", "pgdown", "j", "pgdown", "G", "k", "pgup", "ctrl+d", "ctrl+u", "g"} {
			s.press(key)
			list, detail := s.m.layout.sizes(s.m.pages.page, 0)
			body := s.m.layout.body().Height
			if list.Height < body/2 || list.Height+detail.Height != body || detail.Height < 6 {
				t.Errorf("of %d lines the list has %d and the task %d", body, list.Height, detail.Height)
			}
			one, _ := s.m.tasks.Selected()
			rows := strings.Split(s.text(), "\n")[2 : 1+list.Height]
			if !slices.ContainsFunc(rows, func(row string) bool {
				return strings.HasPrefix(row, ">") && strings.Contains(row, one.Branch+" ")
			}) {
				t.Fatalf("after %s the selected task is not in sight:\n%s", key, s.text())
			}
		}
	}
}

// A page goes on by the tasks that the list shows above the task, not by all lines of the screen.
func TestAPageIsWhatTheListShowsAboveTheTask(t *testing.T) {
	t.Parallel()
	s := openSession(t, calmer(t, needy(t), 60), 80, 24)
	list, detail := s.m.layout.sizes(s.m.pages.page, 0)
	if list.Height+detail.Height != s.m.layout.body().Height {
		t.Fatalf("the list has %d lines and the task %d", list.Height, detail.Height)
	}
	s.press("g", "ctrl+d")
	if got, want := s.m.tasks.Cursor, list.Height-3; got != want {
		t.Errorf("a page goes to the task %d, want %d", got, want)
	}
}

// What a task needs comes first, whole; then what its document has after that, not the same words once more. A review's
// preview begins at the review, whose lines end where they ended.
func TestAllThatATaskNeedsComesBeforeWhatIsShownOfIt(t *testing.T) {
	t.Parallel()
	s := openSession(t, needy(t), 80, 30)
	s.selects("feature/cards")
	s.shows("  1. Which currency does a gift card have, where the basket has several and the\n" +
		"  shop sells to other countries too?\n  2. Who pays for the ribbon?\n[1 TASK.md]")
	s.selects("fix/login")
	s.shows("\n  crash 1: the worker (exit status 1) ended without what the status asks for;\n" +
		"  its last words: Error: not logged in. Run /login first.\n[1 TASK.md]")
	s.selects("fix/totals")
	s.shows("[1 TASK.md] 2 History  3 Why  4 Diff  5 Agent  6 Log\n## Review\n\nVerdict: PASS\nIt adds up.\n" +
		"The rounding is at one place.\n")
	backend := needy(t)
	backend.documents[backend.tasks[0].ID] = strings.Replace(backend.documents[backend.tasks[0].ID], "## Plan",
		"## Plan\n"+strings.Repeat("\nOne more.\n", 40), 1)
	s = openSession(t, backend, 80, 24)
	s.selects("feature/cards")
	s.shows("[1 TASK.md] 2 History  3 Why  4 Diff  5 Agent  6 Log\n## Plan")
}

// While a person answers, all that the task asks is in sight, right above the line that they write, however many tasks
// there are.
func TestNothingThatAPersonNeedsIsHiddenWhileTheyAnswer(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 60} {
		backend := calmer(t, needy(t), more)
		var asked []string
		for n := range 9 {
			asked = append(asked, fmt.Sprintf("%d. A question?", n+1))
		}
		one := backend.agents[backend.tasks[0].ID]
		one.Need.Text = strings.Join(asked, "\n")
		backend.agents[backend.tasks[0].ID] = one
		s := openSession(t, backend, 80, 24)
		s.selects("feature/cards")
		s.press("S")
		s.write("Euro")
		s.shows("\n>◆ shop/feature/cards")
		s.shows("  " + strings.Join(asked, "\n  ") + "\nSay to the worker of feature/cards")
		s.shows("\n> Euro\n")
		s.press("esc", "esc")
		s.shows("\n>◆ shop/feature/cards")
	}
	for _, size := range [][2]int{{80, 24}, {80, 16}} { // what it asks is only in TASK.md: that stays
		backend := day(t)
		s := openSession(t, backend, size[0], size[1])
		s.selects("feature/gifts")
		s.press("S")
		s.shows("\n1. Which currency?\n")
		s.shows("\nSay to the worker of feature/gifts")
	}
}

// Defect: the heads "Commits" and "Changes" were over a list in which nothing was committed, and over reasons.
func TestNoHeadIsOverAColumnThatIsEmptyInAllRows(t *testing.T) {
	t.Parallel()
	head := func(s *session) string { return strings.Split(s.text(), "\n")[1] }
	backend := needy(t)
	s := openSession(t, backend, 110, 50)
	for _, title := range []string{"PR", "Changes", "Summary"} {
		if !strings.Contains(head(s), title) {
			t.Errorf("there is no %s: %q", title, head(s))
		}
	}
	backend = needy(t)
	backend.works, backend.tasks[4].PRURL = nil, ""
	s = openSession(t, backend, 80, 24)
	for _, title := range []string{"PR", "Commits", "Changes"} {
		if strings.Contains(head(s), title) {
			t.Errorf("there is %s: %q", title, head(s))
		}
	}
	s.shows("Search finds what is nearly r") // the summary has their room
	backend = calmer(t, needy(t), 60)
	s = openSession(t, backend, 80, 24)
	s.press("G")
	if got := head(s); !strings.Contains(got, "PR") {
		t.Errorf("what one row has is without its head where others are visible: %q", got)
	}
}

// A click finds the task that it is on, on either of its lines, and none below the list.
func TestAClickFindsATaskOnEitherOfItsLines(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		s := openSession(t, needy(t), size[0], size[1])
		for _, branch := range []string{"fix/flaky", "feature/basket", "fix/totals", "fix/login"} {
			s.selects("fix/search")
			x, y := s.find("shop/" + branch)
			s.click(x, y)
			s.chosen(branch)
			s.selects("fix/search")
			if branch == "feature/basket" {
				continue
			}
			s.click(x, y+1)
			s.chosen(branch)
		}
	}
	s := openSession(t, needy(t), 80, 24)
	s.selects("fix/search")
	list, _ := s.m.layout.sizes(s.m.pages.page, 0)
	s.click(5, list.Height+3)
	s.chosen("fix/search")
	if s.m.pages.page != pageList {
		t.Errorf("a click on the task leads to %s", s.m.pages.page)
	}
}

// The wheel scrolls what it is over, also where the task is below the list; J and K scroll the task.
func TestTheTaskBelowTheListIsScrolled(t *testing.T) {
	t.Parallel()
	s := openSession(t, needy(t), 80, 24)
	s.selects("fix/totals")
	s.shows("Verdict: PASS")
	list, _ := s.m.layout.sizes(s.m.pages.page, 0)
	for range 3 {
		s.wheel(5, list.Height+4, tea.MouseWheelUp)
	}
	s.hides("Verdict: PASS")
	s.shows("What the report says.")
	s.chosen("fix/totals")
	s.press("J", "J", "J", "J", "J")
	s.shows("Verdict: PASS")
	s.press("K", "K", "K", "K", "K")
	s.hides("Verdict: PASS")
	s.chosen("fix/totals")
}

// The screen has as many lines and cells as there are, and no size of it breaks it, whatever is open.
func TestNoSizeBreaksTheScreen(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"list": {"g"}, "answer": {"g", "S"}, "form": {"c"}, "search": {"/"},
		"alone": {"space"}, "question": {"x"}, "task": {"l"}, "end": {"G"}} {
		for _, more := range []int{0, 60} {
			t.Run(fmt.Sprint(name, more), func(t *testing.T) {
				t.Parallel()
				s := openSession(t, calmer(t, needy(t), more), 80, 24)
				s.press(keys...)
				for _, width := range []int{1, 2, 5, 13, 34, 50, 66, 80, 119, 120} {
					for height := 1; height <= 30; height += 1 + height/18*5 {
						s.send(tea.WindowSizeMsg{Width: width, Height: height})
						lines := strings.Split(s.m.View().Content, "\n")
						if len(lines) != height && height > 2 {
							t.Fatalf("%dx%d: there are %d lines:\n%s", width, height, len(lines), s.text())
						}
						for _, line := range lines {
							if screen.Width(line) > width {
								t.Fatalf("%dx%d: a line is %d wide: %q", width, height, screen.Width(line), line)
							}
						}
						if name == "list" || name == "end" {
							s.press("j", "k", "pgdown", "J", "K", "pgup", keys[0])
							s.wheel(0, height/2, tea.MouseWheelDown)
							s.wheel(0, height-2, tea.MouseWheelUp)
						}
					}
				}
			})
		}
	}
}

// A long list has no lines to spare: the needs of its beginning give theirs where the selected task is further down.
func TestTheSelectedTaskOfALongListStaysVisibleDespiteNeeds(t *testing.T) {
	t.Parallel()
	s := openSession(t, calmer(t, needy(t), 60), 80, 24)
	for range 70 {
		s.press("j")
		if at := strings.Index(s.text(), "\n>"); at < 0 {
			t.Fatalf("no task is selected on the screen:\n%s", s.text())
		}
	}
	for range 70 {
		s.press("k")
		if at := strings.Index(s.text(), "\n>"); at < 0 {
			t.Fatalf("no task is selected on the screen:\n%s", s.text())
		}
	}
	s.shows("     asks 2 questions")
	s.shows("     refused 12 times")
}

// Defect: at 120 columns the reason was cut at three lines above twenty empty ones, and next to a history or a why the
// second question was nowhere.
func TestTheSideShowsAllOfANeedWhicheverPartIsOpen(t *testing.T) {
	t.Parallel()
	s := openSession(t, needy(t), 120, 40)
	s.selects("feature/cards")
	s.press("2")
	s.shows("2 History]")
	s.shows("Who pays for the ribbon?")
	s.press("space", "space")
	s.shows("Who pays for the ribbon?")
}
