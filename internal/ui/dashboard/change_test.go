package dashboard

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// without deletes the tasks of a branch.
func (f *fakeBackend) without(branch string) {
	f.tasks = slices.DeleteFunc(slices.Clone(f.tasks), func(t task.Task) bool { return t.Branch == branch })
}

func TestADeletedTaskInViewIsNotReplacedByAnother(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("j", "l")
	s.shows("basket-that-remembers")
	s.backend.without("feature/basket-that-remembers-what-was-in-it-yesterday")
	s.send(recordChange{})
	s.shows("is gone: it was deleted")
	if s.m.pages.page != pageList {
		t.Errorf("the screen shows %s", s.m.pages.page)
	}
	s.press("esc")
	s.shows("fix/login")
}

// News of the monitor and the answer to a key are in one line, and neither hides the other.
func TestNewsAndAnswersDoNotHideOneAnother(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 100, 24)
	s.press("j", "l")
	s.send(news{"shop/fix/login " + strings.Repeat("x", 90) + ": crash 1"})
	s.shows("crash 1")
	s.backend.without("feature/basket-that-remembers-what-was-in-it-yesterday")
	s.send(recordChange{})
	s.shows("the task that you looked at is gone: it was deleted")
	s.shows("crash 1")
	s.press("j")
	s.hides("it was deleted")
	s.hides("crash 1")
}

// Jobs, news and failures are in one line, and each of them can be read.
func TestJobsNewsAndFailuresDoNotHideOneAnother(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 100, 24)
	s.m.foot.jobs.running = append(s.m.foot.jobs.running, job{id: -1, what: "merge shop/fix/login"})
	s.send(news{"shop/fix/login " + strings.Repeat("x", 90) + ": crash 1"})
	s.shows("merge shop/fix/login")
	s.shows(": crash 1")
	s.send(failureNews{"look at the agents", errors.New("no harness")})
	s.shows("merge shop/fix/login")
	s.shows(": crash 1")
	s.shows("! cannot look at the agents")
	s.m.foot.jobs.running[0].what = strings.Repeat("y", 200)
	s.send(news{"crash 2"})
	s.shows("! cannot look")
	s.shows("crash 2")
}

// News of a task are shown from their beginning: the name of the task is shortened.
func TestNewsOfATaskBeginsWithWhatHappened(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 100, 24)
	s.send(news{
		`shop/feature/basket-that-remembers 9PTQs7q5PQkYWI3xtA93f: crash 1: the worker (exit status 1) has ended in "working"; start it again with "orange task respawn 9PTQs7q5PQkYWI3xtA93f"`})
	s.shows("\nshop/feature/basket-that-remembers 9PTQs7q5PQkYWI3xtA93f: crash 1: the worker (exit status 1) has\n" +
		`ended in "working"; start it again with "orange task respawn 9PTQs7q5PQkYWI3xtA93f"`)
	s.send(tea.WindowSizeMsg{Width: 100, Height: 5}) // there is one line
	s.shows("\nshop/feature/basket-that-remembers 9PTQs7q5PQkYWI3xtA93f: crash 1: the worker (exit status 1) has e…")
}

// A message that does not fit into the width takes lines from the tasks, and is cut only where there are none.
func TestMessages_takeTheLinesThatTheyNeed(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 16)
	s.press("G")
	why := "p: a program that opens pull requests there is not known, and the project says --forge none; " +
		"nothing was pushed"
	s.m.foot.answer = why
	s.send(recordChange{})
	s.shows("\np: a program that opens pull requests there is not known, and the project says\n" +
		"--forge none; nothing was pushed\n")
	s.shows("\n>⊘ shop/feature/blink") // the cursor stays on the screen
	s.m.foot.failures.add("look at the agents", errors.New("no tmux"))
	s.send(news{"fix/login: working → agent-review"})
	for _, line := range []string{"--forge none; nothing was pushed", "fix/login: working → agent-review",
		"! cannot look at the agents: no tmux"} {
		s.shows("\n" + line + "\n")
	}
	s.click(3, s.m.layout.height-2) // the line of the failure
	s.shows("What went wrong")
	s.press("esc", "j")
	s.hides("nothing was pushed")
	if left := len(s.m.foot.lines(s.m.layout.width, s.m.layout.height)); left != 1 {
		t.Errorf("the messages still have %d lines", left)
	}
}

// Where there is too little room, the longest message is cut at its end, and each is there.
func TestMessages_areCutAtTheirEnd(t *testing.T) {
	t.Parallel()
	style, long := screen.NewStyle(), strings.Repeat("some words ", 40)+"the end"
	f := foot{style: style, answer: long, news: "fix/login: done",
		failures: &failures{all: []failure{{"", "it broke"}}}}
	got := f.messages(40, 4)
	want := []string{"some words some words some words some", "words some words some words some words …",
		"fix/login: done", "! it broke"}
	for i := range got {
		got[i] = ansi.Strip(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := func(name string) string {
			return rapid.StringMatching(`([a-zé日]{1,30}[ :/-]){0,30}`).Draw(r, name)
		}
		width, most := rapid.IntRange(1, 60).Draw(r, "width"), rapid.IntRange(-1, 6).Draw(r, "most")
		j := jobs{}
		if what := text("job"); what != "" {
			j.running = []job{{what: what}}
		}
		f := foot{style: style, jobs: j, answer: text("answer"), news: text("news"),
			failures: &failures{all: []failure{{"", text("bad")}}}}
		lines := f.messages(width, most)
		if len(lines) == 0 || len(lines) > max(1, most) {
			r.Fatalf("%d lines, at most %d", len(lines), most)
		}
		for _, line := range lines {
			if screen.Width(line) > width {
				r.Fatalf("%q has %d cells, at most %d", line, screen.Width(line), width)
			}
		}
	})
}

func TestAKeyThatCameTooEarlyIsPressedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile []string
		early     func(s *session) (known func())
		want      []string
	}{
		"once the workflow is read": {early: unreadRules, want: []string{"Attach " + few(t)[0].ID}},
		"once the terminal is seen": {early: unseenAgent, want: []string{"Attach " + few(t)[0].ID}},
		"unless another came":       {early: unreadRules, meanwhile: []string{"!"}},
		"unless the task changed":   {early: unseenAgent, meanwhile: []string{"j"}},
		"unless the task is gone":   {early: gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := atForms(t, 80, 24)
			s.selects("fix/bug-1")
			known := c.early(s)
			s.press("enter")
			s.shows("Enter: ")
			s.asked()
			s.press(c.meanwhile...)
			known()
			s.asked(c.want...)
			s.send(recordChange{}, tasks.AgentsChecked{})
			s.asked(c.want...) // it was pressed once
		})
	}
}

// The person has read nothing since they pressed the key: messages that came meanwhile stay, and
// whatever else they did took the key's place.
func TestAKeyThatRunsLaterHidesNoMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *session)
		known     bool
		says      string
		want      []string
	}{
		"what was told": {
			meanwhile: func(s *session) { s.send(news{"shop/fix/login: crash 1"}) }, known: true,
			says: "crash 1", want: []string{"Attach " + few(t)[0].ID},
		},
		"what was told while nothing is known yet": {
			meanwhile: func(s *session) { s.send(news{"shop/fix/login: crash 1"}, tasks.WorkflowRead{}) },
			says:      "crash 1",
		},
		"what became of an earlier key": {
			meanwhile: func(s *session) { s.send(jobResult{id: -1, message: "it is merged"}) }, known: true,
			says: "it is merged", want: []string{"Attach " + few(t)[0].ID},
		},
		"what would be cut short": {
			meanwhile: func(s *session) {
				s.m.foot.jobs.running = append(s.m.foot.jobs.running, job{id: -1, what: "merge"})
				s.press("ctrl+c")
			}, known: true,
			says: "press again to leave it",
		},
		"where the wheel went to another task and back": {
			meanwhile: func(s *session) {
				was := s.m.tasks.Cursor
				s.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 3, Y: 4})
				s.m.tasks.Cursor = was
			}, known: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := atForms(t, 100, 24)
			s.selects("fix/bug-1")
			known := unreadRules(s)
			s.press("enter")
			c.meanwhile(s)
			if c.known {
				known()
			}
			s.shows(c.says)
			s.asked(c.want...)
		})
	}
}

// unreadRules is a screen that has not read its tasks' workflow yet.
func unreadRules(s *session) (known func()) {
	t, _ := s.m.tasks.Selected()
	def := s.m.tasks.Workflow(t)
	s.m.tasks.SetWorkflow(t.Workflow.Digest, nil)
	return func() { s.send(tasks.WorkflowRead{Digest: t.Workflow.Digest, Workflow: def}) }
}

// gone deletes the task before its workflow is read: a task that Enter would start takes its place.
func gone(s *session) (known func()) {
	s.press("j")
	t, _ := s.m.tasks.Selected()
	learn := unreadRules(s)
	return func() {
		s.backend.without(t.Branch)
		s.send(recordChange{})
		learn()
	}
}

// unseenAgent is a screen that has not looked at the agent of its task yet.
func unseenAgent(s *session) (known func()) {
	t, _ := s.m.tasks.Selected()
	s.m.tasks.SetAgents(map[string]Agent{t.ID: {}})
	return func() { s.send(tasks.AgentsChecked{Agents: map[string]Agent{t.ID: {State: record.AgentAlive}}}) }
}

// The cursor goes with its task, but not to the end of the list with one that the person has just given up.
func TestTheCursorStaysWhereATaskWasGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		next string
	}{
		"by the person":     {[]string{"x", "y"}, "feature/basket-that-remembers-what-was-in-it-yesterday"},
		"by somebody else":  {nil, "fix/login"},
		"asked, and left":   {[]string{"x", "n", "j", "k"}, "fix/login"},
		"while looked into": {[]string{"l", "x", "y", "esc"}, "fix/login"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, day(t), 80, 24)
			s.chosen("fix/login")
			s.press(c.keys...)
			s.backend.tasks = slices.Clone(s.backend.tasks)
			s.backend.tasks[0].Status, s.backend.tasks[0].Live = "cancelled", false
			s.backend.tasks[0].Version++
			s.send(recordChange{})
			s.chosen(c.next)
		})
	}
}

func TestAFormOutlivesItsTaskAndDoesNotLeadToAnother(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.selects("fix/totals")
	s.press("l", "r")
	s.write("Use the other clock")
	s.backend.without("fix/totals")
	s.send(recordChange{})
	s.shows("Use the other clock")
	s.press("esc", "esc")
	if s.m.pages.page != pageList {
		t.Errorf("the screen shows %s", s.m.pages.page)
	}
}

func TestAFilterDoesNotHideWhatIsLookedAtClosely(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("f")
	s.selects("fix/totals")
	s.press("l")
	s.shows("fix/totals")
	s.backend.tasks = slices.Clone(s.backend.tasks)
	s.backend.tasks[2].Status, s.backend.tasks[2].Live = "done", false
	s.backend.tasks[2].Version++
	s.send(recordChange{})
	s.chosen("fix/totals")
	s.shows("Totals are rounded once")
	s.press("x")
	s.shows("x: ") // closed: it is over
	s.press("esc")
	s.hides("fix/totals")
}

func TestTheTaskThatWasSoughtStaysSelected(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("/")
	s.write("totals")
	s.press("enter")
	s.chosen("fix/totals")
	s.press("esc")
	s.chosen("fix/totals")
	s.press("/")
	s.write("flaky")
	s.press("esc")
	s.chosen("fix/flaky")
}

func TestKeysStayClosedWithAReasonWhileAWorkflowIsUnreadable(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.fails = map[string]error{"Rules": errors.New("cannot read the workflow: line 3 is no key")}
	s := openAt(t, backend, 120, 24)
	s.press("!", "esc", "m")
	s.shows("m: the task's workflow cannot be read, R tries again: cannot read the workflow: line 3 is no key")
	backend.fails = nil
	s.press("R")
	s.selects("fix/totals")
	s.press("m")
	s.shows("Merge fix/totals?")
}

func TestAnAgentNotYetLookedAtIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	backend := day(t)
	session := backend.tasks[0].Session
	backend.tasks[0].Session = ""
	s := openAt(t, backend, 80, 24)
	backend.tasks = slices.Clone(backend.tasks)
	backend.tasks[0].Session = session
	s.m.tasks.Change(backend.tasks[:1], nil) // what the look at the terminals will say is on its way
	s.press("enter")
	s.shows("Enter: its terminal is being looked at")
	if len(backend.asked) > 0 {
		t.Errorf("asked: %q", backend.asked)
	}
}

func TestTheTasksAreReadAgainWhereTheyCouldNotBe(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.fails = map[string]error{"First": errors.New("the disk is away"), "All": errors.New("the disk is away")}
	s := openAt(t, backend, 80, 24)
	s.shows("nothing was read")
	backend.fails = nil
	s.send(clockTick(clock()))
	s.shows("fix/login")
}

func TestTheTaskBesideTheListIsReadByKeys(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.documents = map[string]string{backend.tasks[0].ID: strings.Repeat("a line\n\n", 100)}
	s := openAt(t, backend, 120, 24)
	s.press("space", "J")
	s.shows("J: no task is shown next to the list")
	s.press("space", "1", "J")
	s.shows("line 11 of 199")
	s.chosen("fix/login")
	s.shows("J down in the task")
	s.press("K")
	s.hides("line 11 of 199")
	s.press("J", "J", "l", "J")
	s.shows("line 31 of 199")
}

func TestAnAgentAtItsProvidersLimitShowsItsOwnWords(t *testing.T) {
	t.Parallel()
	backend := day(t)
	limit := "You've hit your session limit · resets 5pm\x1b[2J"
	backend.agents[backend.tasks[0].ID] = Agent{State: record.AgentAlive, Limit: limit}
	backend.agents[backend.tasks[5].ID] = Agent{State: record.AgentDead, Limit: limit}
	s := openAt(t, backend, 80, 24)
	s.shows("$ shop/fix/login")
	s.shows("    You've hit your session limit · resets 5pm")
	s.shows("✗ shop/feature/search")
	s.press("l")
	s.shows("$ its agent has reached its provider's limit: You've hit your session limit ·\n  resets 5pm")
}

func TestKnownAgentsAreShownWhereOthersCouldNotBeRead(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.send(tasks.AgentsChecked{Agents: map[string]Agent{s.backend.tasks[0].ID: {State: record.AgentDead}},
		Err: errors.New("no harness")})
	s.shows("✗ shop/fix/login")
	s.shows("no harness")
}

func TestTryingAgainSaysWhenNothingIsOwed(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.press("t")
	s.shows("t: nothing of the task is marked as failed")
	s.selects("fix/flaky") // it is marked for what is no hook
	s.press("t", "y")
	s.shows("nothing of fix/flaky has failed")
}

func TestAFailedWatchFallsBackToLooksByTheClock(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.send(watchFailed{errors.New("cannot follow the record any longer")})
	s.shows("changes are seen late")
	s.shows("! cannot follow the record any longer")
	s.backend.without("fix/login")
	s.send(clockTick(clock()))
	s.hides("fix/login")
}

func TestATaskIsNotCreatedInAnotherProjectWithoutAWord(t *testing.T) {
	t.Parallel()
	backend := day(t)
	backend.choices.Projects = []task.Project{{Name: "site", Path: "/site"}}
	s := openAt(t, backend, 80, 24)
	s.press("c")
	s.shows(`There is no project "shop" any more: choose another one.`)
}

func TestLookingAgainLooksAtThePoolToo(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	s.shows("8 of 10 workspaces")
	s.backend.workspaces = nil
	s.press("l", "R")
	s.hides("pool")
}

func TestChecksOfTheAgentsDoNotPileUp(t *testing.T) {
	t.Parallel()
	s := openAt(t, day(t), 80, 24)
	first := s.m.tasks.CheckAgents()
	second := s.m.tasks.CheckAgents()
	if first == nil || second != nil {
		t.Fatalf("the first check is %v, the second %v", first != nil, second != nil)
	}
	if third := s.m.Update(tasks.AgentsChecked{}); third == nil {
		t.Error("after the first check there is no other one")
	}
	if s.m.tasks.CheckAgents() != nil {
		t.Error("two checks run")
	}
	_ = s.m.Update(tasks.AgentsChecked{})
	if fourth := s.m.Update(tasks.AgentsChecked{Err: errors.New("no")}); fourth != nil {
		t.Error("a check follows that no one asked for")
	}
	if s.m.tasks.CheckAgents() == nil {
		t.Error("a check that failed is waited for")
	}
}
