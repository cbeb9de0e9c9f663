package dashboard

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// day is a backend on an ordinary day: tasks of two projects and two workflows, with every mark that there is.
func day(t testing.TB) *fakeBackend {
	t.Helper()
	in := func(workspace string) func(*task.Task) { return func(one *task.Task) { one.Workspace = workspace } }
	named := func(branch, summary string) func(*task.Task) {
		return func(one *task.Task) { one.Branch, one.Summary = branch, summary }
	}
	pr := func(number int, state string) func(*task.Task) {
		return func(one *task.Task) {
			one.PRURL, one.PRState = fmt.Sprintf("https://example.org/shop/pull/%d", number), state
		}
	}
	tasks := []task.Task{
		aTask(t, 1, "working", named("fix/login", "Log in again after the session ran out"), in("shop--1")),
		aTask(t, 2, "agent-review", named("feature/basket-that-remembers-what-was-in-it-yesterday",
			"The basket keeps its items over night"), in("shop--2")),
		aTask(t, 3, "reviewing", named("fix/totals", "Totals are rounded once, at the end"), in("shop--3"),
			pr(41, record.PROpen)),
		aTask(t, 4, "planning", named("feature/发票-导出", "发票可以导出 📄"), func(one *task.Task) {
			one.QueuedFor = "planning"
			one.Session, one.Workspace = "", ""
		}),
		aTask(t, 5, "stuck", named("fix/flaky", "The test of the queue fails now and then"), in("shop--4"),
			func(one *task.Task) {
				one.Attention = "the worker died 3 times; see its terminal, then r or x"
			}),
		aTask(t, 6, "working", named("feature/search", "Search finds what is nearly right"), in("shop--5")),
		aTask(t, 7, "clarification", named("feature/gifts", ""), in("shop--6"), func(one *task.Task) {
			one.StalledAt = clock().Add(-time.Hour)
		}),
		aTask(t, 8, "working", named("chore/go-1.26", "Go 1.26"), in("shop--7"), func(one *task.Task) {
			one.Overdue = task.LateAlert
		}),
		aTask(t, 9, "pending", named("feature/coupons", "Coupons")),
		taskUnder(t, "minimal", 10, rulesOf(t, "minimal").Initial, func(one *task.Task) {
			one.Project, one.Branch, one.Summary = "site", "texts", "New texts"
		}),
		aTask(t, 11, "working", named("fix/unseen", "Nobody could look"), in("shop--8")),
		aTask(t, 12, "done", named("fix/prices", "Prices with taxes"), pr(40, record.PRMerged)),
		aTask(t, 13, "cancelled", named("feature/blink", "Blinking"), pr(39, record.PRClosed)),
	}
	backend := &fakeBackend{tasks: tasks, agents: map[string]Agent{
		tasks[4].ID:  {State: record.AgentAlive},
		tasks[5].ID:  {State: record.AgentDead},
		tasks[10].ID: {State: record.AgentUnknown},
		tasks[6].ID: {State: record.AgentAlive, Need: record.Need{Kind: record.NeedsPerson,
			Reason: "asks: which currency?", Since: tasks[6].EnteredAt}},
	}, works: map[string]Work{
		tasks[0].ID: {Commits: 3, Added: 120, Removed: 14},
		tasks[1].ID: {Commits: 12, Added: 15210, Removed: 9876},
		tasks[2].ID: {Commits: 1, Added: 2},
	}, documents: map[string]string{tasks[6].ID: "# Gifts\n\nA basket can be a gift.\n\n## Questions\n\n" +
		"1. Which currency?\n2. Who pays for the ribbon?\n"}}
	for n := 1; n <= 9; n++ {
		h := record.Holding{Project: "shop", Workspace: fmt.Sprintf("shop--%d", n),
			Path: fmt.Sprintf("/home/ann/.orange/workspaces/shop--%d", n), Exists: n < 9}
		for _, one := range tasks {
			if one.Workspace == h.Workspace {
				h.Task, h.Branch, h.Status = one.ID, one.Branch, one.Status
			}
		}
		backend.workspaces = append(backend.workspaces, h)
	}
	backend.workspaces = append(backend.workspaces, record.Holding{Project: "site", Workspace: "site--1",
		Path: "/home/ann/.orange/workspaces/site--1", Exists: true})
	return backend
}

// moving is day with the moves of a task that was reviewed.
func moving(t testing.TB) *fakeBackend {
	t.Helper()
	backend := day(t)
	human := []string{task.RoleHuman}
	backend.whys = map[string]decide.Explanation{backend.tasks[2].ID: {Task: backend.tasks[2], Ways: []decide.Option{
		{To: "working", By: human, Open: true, Hooks: []string{"set_field", "notify_worker"}},
		{To: "agent-review", By: human, Open: true, Hooks: []string{"spawn_reviewer"}},
		{To: "done", By: human, Override: true, Hooks: []string{"kill_session"}, Details: []rejection.Detail{{
			Condition: "no commit since the review", Found: "1 commit", Want: "have it reviewed too"}}},
		{To: "stuck", By: []string{"reviewer"}},
	}, Redo: []task.Status{"planning"}}}
	return backend
}

// living is day with what an agent shows, what one said last, and a plan.
func living(t testing.TB) *fakeBackend {
	t.Helper()
	backend := day(t)
	backend.panes = map[string][]Pane{backend.tasks[0].ID: {{Role: "worker", Title: "worker", Lines: []string{
		"● I read auth/session.go: the token is kept for an hour.", "", "\x1b[32m● go test ./auth\x1b[0m",
		"  ok  shop/auth  0.41s", "", "✻ Writing the migration… (2m 14s)", "", "> "}}}}
	backend.histories = map[string][]history.Event{backend.tasks[5].ID: {
		{Seq: 1, Type: history.Created, Actor: "human", Time: clock(), Data: map[string]string{"status": "working"}},
		{Seq: 2, Type: history.AgentCrashed, Actor: "engine", In: "working", Crash: 1, Time: clock(),
			Data: map[string]string{"role": "worker", task.DataLastWords: "> search near misses\npanic: out of range"}},
	}}
	backend.documents[backend.tasks[2].ID] = "# Totals\n\n" +
		strings.Repeat("What the report says.\n\n", 20) + "## Plan\n\n1. Add up in cents\n2. Round once, at the end\n"
	return backend
}

// crowd is a backend with many tasks.
func crowd(t testing.TB, n int) *fakeBackend {
	t.Helper()
	states := []task.Status{"working", "agent-review", "reviewing", "planning", "pending"}
	backend := &fakeBackend{}
	for i := range n {
		status := states[i%len(states)]
		if i > n*3/4 {
			status = "done"
		}
		backend.tasks = append(backend.tasks, aTask(t, i, status))
	}
	return backend
}

// sizes of the screens that are kept as golden files.
func sizes() map[string][2]int {
	return map[string][2]int{"50x12": {50, 12}, "80x24": {80, 24}, "120x40": {120, 40}, "200x50": {200, 50}}
}

func TestTheScreens(t *testing.T) {
	t.Parallel()
	screens := []struct {
		name    string
		backend func(t testing.TB) *fakeBackend
		do      func(s *session)
	}{
		{"list_empty", func(testing.TB) *fakeBackend { return &fakeBackend{} }, nil},
		{"list", day, nil},
		{"list_attention", day, func(s *session) { s.selects("fix/flaky") }},
		{"list_say", day, func(s *session) { s.selects("feature/gifts"); s.press("S"); s.write("Euro") }},
		{"detail_say", day, func(s *session) { s.selects("feature/gifts"); s.press("5", "l", "S"); s.write("Euro") }},
		{"list_beside", living, func(s *session) { s.selects("fix/login") }},
		{"list_last_words", living, func(s *session) { s.selects("feature/search") }},
		{"list_plan", living, func(s *session) { s.selects("fix/totals") }},
		{"list_alone", day, func(s *session) { s.press("space") }},
		{"menu", moving, func(s *session) { s.selects("fix/totals"); s.press("M", "j", "j") }},
		{"start", day, func(s *session) { s.selects("feature/coupons"); s.press("enter") }},
		{"list_many", func(t testing.TB) *fakeBackend { return crowd(t, 200) }, func(s *session) {
			s.press("pgdown", "pgdown")
		}},
		{"list_text", day, func(s *session) { s.press("/"); s.write("fix") }},
		{"list_nothing_holds_it", day, func(s *session) { s.press("/"); s.write("nothing"); s.press("enter") }},
		{"list_active", day, func(s *session) {
			s.press("f", "s", "a")
			s.send(watcherName{"watched by process 4711"})
		}},
		{"board", day, func(s *session) { s.press("b") }},
		{"board_right", day, func(s *session) { s.press("b", "l", "l", "l", "l") }},
		{"board_many", func(t testing.TB) *fakeBackend { return crowd(t, 200) }, func(s *session) {
			s.press("b",
				"G")
		}},
		{"board_active", day, func(s *session) { s.press("b", "f", "l") }},
		{"workspaces", day, func(s *session) { s.press("w", "j") }},
		{"many", day, func(s *session) {
			s.selects("fix/totals")
			s.press("*", "*", "x")
		}},
		{"palette", day, func(s *session) { s.selects("fix/totals"); s.press(":") }},
		{"palette_found", day, func(s *session) { s.selects("fix/totals"); s.press(":"); s.write("changes") }},
		{"help", day, func(s *session) { s.press("?") }},
		{"help_search", day, func(s *session) { s.press("?", "/"); s.write("WORKSPACE") }},
		{"help_end", day, func(s *session) { s.press("?", "G") }},
		{"trouble", day, func(s *session) {
			s.send(failureNews{"merge fix/login", errors.New("cannot merge \"fix/login\": it does not apply to " +
				"\"main\"\nCONFLICT in shop/basket.go\nrebase the branch, or press r and ask the worker to")})
			s.press("!")
		}},
		{"trouble_line", day, func(s *session) {
			s.send(failureNews{"look at the agents", errors.New("tmux does not answer")})
		}},
	}
	for _, screen := range screens {
		for size, cells := range sizes() {
			t.Run(screen.name+"_"+size, func(t *testing.T) {
				t.Parallel()
				s := openSession(t, screen.backend(t), cells[0], cells[1])
				if screen.do != nil {
					screen.do(s)
				}
				golden(t, screen.name+"_"+size, s.text())
			})
		}
	}
}

func TestTheScreenBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	m := New(t.Context(), day(t).backend(), "")
	golden(t, "list_reading_80x24", plainScreen(m.View().Content))
}

func TestTheListOnASmallScreen(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 50, 12)
	s.shows("asks: which currency?")
	s.press("b", "?")
	s.shows("Keys")
}

func TestTheTaskBesideTheList(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 120, 40)
	golden(t, "split_120x40", s.text())
	golden(t, "split_colours", painted(s.m.View().Content))
}

func TestTheColoursOfTheList(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	golden(t, "list_colours", painted(s.m.View().Content))
}

// Without colours the marks are signs of their own, and what is selected is still seen.
func TestTheListWithoutColours(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	var b bytes.Buffer
	out := colorprofile.Writer{Forward: &b, Profile: colorprofile.Env([]string{"TERM=xterm-256color", "NO_COLOR=1"})}
	if _, err := out.WriteString(s.m.View().Content); err != nil {
		t.Fatal(err)
	}
	golden(t, "list_no_color", painted(b.String()))
	for _, sgr := range strings.Split(b.String(), "\x1b[")[1:] {
		codes, _, _ := strings.Cut(sgr, "m")
		for _, code := range strings.Split(codes, ";") {
			if len(code) == 2 && (code[0] == '3' || code[0] == '4') || len(code) > 2 {
				t.Fatalf("there is a colour: %q", codes)
			}
		}
	}
}

// What waits for the person and what runs is on a board that is too narrow for all of its columns; those without a task
// give way first, and the foot names the others.
func TestTheBoardHasWhatNeedsThePersonAndWhatRunsFirst(t *testing.T) {
	t.Parallel()
	s := openAt(t, crowd(t, 40), 80, 24)
	s.press("b")
	for _, column := range []string{"working 7 ", "agent-review 6 ", "reviewing 6\n"} {
		s.shows(column)
	}
	s.shows("hidden: pending 6 · done 9\n")
	s.press("l", "l", "l") // to what is over
	s.shows("done 9\n")
	s.shows("hidden: agent-review 6 · pending 6\n")
	s = openAt(t, day(t), 80, 24)
	s.press("b")
	for _, column := range []string{"clarification 1 ", "working 4 ", "agent-review 1 ", "reviewing 1 ", "stuck 1\n"} {
		s.shows(column)
	}
	s.shows("hidden: pending 1 · planning 1 · pending 1 · done 1 · cancelled 1 · 3 empty\n")
	s = openAt(t, day(t), 50, 12)
	s.press("b")
	s.shows("hidden: stuck 1! · 6 more · 3 empty\n")
}

// A card says all that it can in the room that its column has, and names its project where that is not at the head.
func TestACardUsesTheRoomOfItsColumn(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("b")
	s.shows("default · shop")
	s.hides("shop: ")
	s.shows("Log in again")
	s.shows("after the")
	one := aTask(t, 1, "working", func(one *task.Task) { one.Project = "shop" })
	other := aTask(t, 2, "working", func(one *task.Task) { one.Project = "site" })
	s = openAt(t, &fakeBackend{tasks: []task.Task{one, other}}, 80, 24)
	s.press("b")
	s.shows("shop: Mend")
	s.shows("site: Mend")
}

// Next to the list is what the task's agent asks, and no empty terminal; the list has summaries where it is wide.
func TestWhatIsNextToTheListIsOfUse(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 200, 50)
	s.selects("feature/gifts")
	s.shows("[1 TASK.md]")
	s.shows("Who pays for the ribbon?")
	s.shows("Summary")
	s.shows("Log in again after the ses")
	s.selects("fix/login")
	s.hides("no agent has a terminal now")
	s.press("5")
	s.shows("[5 Agent]")
	s.shows("no agent has a terminal now")
}

// The foot has keys that do something now, and none in part.
func TestTheFootHasWhatCanBeDone(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 200, 50)
	s.selects("fix/login")
	s.hides("m merge")
	s.selects("fix/totals")
	s.shows("m merge")
	s = openSession(t, &fakeBackend{}, 200, 50)
	s.hides("Enter start")
	s.hides("/ find")
	s.shows("c create")
	s = openSession(t, day(t), 50, 12)
	s.selects("fix/totals")
	s.press("r")
	s.shows("ctrl+s send  ctrl+e your editor  Esc leave it")
	s.hides("leave it  E")
}

// Where the line of an action is too short for what it does, the foot of the palette has all of it.
func TestThePaletteSaysAllThatAnActionDoes(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	for _, k := range table(t) {
		if k.usual == ":" || s.m.keyboard.why(k) != "" || !k.works(pageList) {
			continue
		}
		s.press(":")
		s.write(k.action)
		text := strings.Join(strings.Fields(strings.ReplaceAll(s.text(), "│", " ")), " ")
		if !strings.Contains(text, k.does) {
			t.Errorf("%q is nowhere in full:\n%s", k.does, s.text())
		}
		s.press("esc")
	}
}
