package dashboard

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/tasks"
)

// marksOn is a session in which some tasks of an ordinary day are marked.
func marksOn(t testing.TB, backend *fakeBackend, branches ...string) *session {
	t.Helper()
	s := openSession(t, backend, 120, 40)
	for _, branch := range branches {
		s.selects(branch)
		s.press("*")
	}
	return s
}

// two is a day on which two tasks wait for a person's verdict.
func two(t testing.TB) *fakeBackend {
	t.Helper()
	backend := day(t)
	second := aTask(t, 14, "reviewing", func(one *task.Task) { one.Branch, one.Workspace = "fix/second", "shop--3" })
	backend.tasks = append(backend.tasks, second)
	return backend
}

// saysInBox fails the test unless a box shows the text, however its lines are wrapped.
func saysInBox(s *session, text string) {
	s.Helper()
	flat := ""
	for line := range strings.Lines(s.text()) {
		if parts := strings.Split(line, "│"); len(parts) == 3 {
			flat += strings.TrimSpace(parts[1])
		}
	}
	bare := func(text string) string { return strings.ReplaceAll(text, " ", "") }
	if !strings.Contains(bare(flat), bare(text)) {
		s.Errorf("the box does not say %q:\n%s", text, s.text())
	}
}

func asked(s *session, want ...string) {
	s.Helper()
	slices.Sort(s.backend.asked)
	slices.Sort(want)
	if !slices.Equal(s.backend.asked, want) {
		s.Errorf("asked %v, want %v", s.backend.asked, want)
	}
}

func TestOneQuestionActsOnAllThatAreMarked(t *testing.T) {
	t.Parallel()
	backend := two(t)
	id := func(at int) string { return backend.tasks[at].ID }
	for key, do := range map[string]struct{ title, leaves, method string }{
		"m":     {"Merge 2 tasks?", `feature/search: the workflow "default" leads nowhere`, "Merge"},
		"enter": {"Start 1 task?", "fix/totals: no agent works", "Command"},
		"d":     {"Delete 3 tasks?", "", "Delete"},
		"t":     {"Try again what failed of 1 task?", "fix/totals: nothing of the task is marked as failed", "Retry"},
		"p":     {"Open pull requests for 3 tasks?", "", "RequestPR"},
		"x":     {"Cancel 3 tasks?", "", "Command"},
	} {
		backend := two(t)
		backend.tasks[5].Attention = "hook push_branch: no remote"
		s := marksOn(t, backend, "fix/totals", "fix/second", "feature/search")
		s.shows("3 marked")
		s.press(key)
		s.shows(do.title)
		if do.leaves != "" {
			saysInBox(s, do.leaves)
		}
		asked(s)
		s.press("y")
		for _, one := range backend.asked {
			if !strings.HasPrefix(one, do.method) {
				t.Errorf("%s: asked %v", key, backend.asked)
			}
		}
		if len(backend.asked) == 0 {
			t.Errorf("%s: nothing was done", key)
		}
		if key == "m" {
			asked(s, "MergeMany shop "+id(2)+" "+id(13))
			s.shows("merge 2 tasks: done with 2 of 2")
		}
		s.hides(" marked")
	}
}

// Defect: a cancel and a delete said nothing of work that was rescued, and no one looked for it.
func TestACancelAndADeleteSayWhatWasRescued(t *testing.T) {
	t.Parallel()
	for key, of := range map[string]struct{ one, all string }{
		"x": {"fix/totals: reviewing → cancelled", "cancel 3 tasks: done with 3 of 3"},
		"d": {"fix/totals is deleted; its folder is in the trash", "delete 3 tasks: done with 3 of 3"},
	} {
		rescuing := func() *fakeBackend {
			backend := two(t)
			clean := backend.tasks[5].ID
			backend.answer = func(_, id string) (record.Outcome, error) {
				out := record.Outcome{Task: task.Task{ID: id, Branch: "fix/totals"}, Event: history.Event{
					Type: history.StatusChanged, From: "reviewing", To: "cancelled"}}
				if id != clean {
					out.Stayed = []string{`"a.txt", kept as refs/orange/rescue/1`}
				}
				return out, nil
			}
			return backend
		}
		s := marksOn(t, rescuing(), "fix/totals", "fix/second", "feature/search")
		s.press(key, "y")
		s.shows(of.all + "; work of 2 was rescued")
		s = openSession(t, rescuing(), 160, 40)
		s.selects("fix/totals")
		s.press(key, "y")
		s.shows(of.one + `; rescued: "a.txt", kept as refs/orange/rescue/1`)
	}
}

func TestAMergeNamesWhereItGoesAndWhatItMeets(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		project task.Project
		there   bool
		needs   []record.Need // of the two
	}{
		"Each: its branch goes into main, which is pushed to origin.": {there: true},
		"Each: its branch goes into main, which is not pushed.":       {},
		"its branch goes into main; whether origin gets that, its project asks each time.": {there: true,
			project: task.Project{Push: "ask"}},
		"its project merges by pull requests: its own is merged there.": {there: true,
			project: task.Project{Merge: "pr"}},
		"Each: its branch goes into main, which is not pushed. fix/second: it is in conflict with a, b. fix/totals: " +
			"it was not compared with all other branches.": {there: true,
			project: task.Project{Push: "never"}, needs: []record.Need{{Conflicts: []string{"a", "b"}}, {Apart: true}}},
	} {
		backend := two(t)
		backend.tasks[2].PRURL, backend.tasks[2].PRState = "", ""
		c.project.DefaultBranch = "main"
		backend.origin = &tasks.Origin{There: c.there, Project: c.project}
		for i, branch := range []string{"fix/second", "fix/totals"} {
			at := slices.IndexFunc(backend.tasks, func(one task.Task) bool { return one.Branch == branch })
			if c.needs != nil {
				need := c.needs[i]
				need.Kind, need.Reason = record.NeedsPerson, "review passed"
				if backend.agents == nil {
					backend.agents = map[string]Agent{}
				}
				backend.tasks[at].Session = "shop"
				backend.agents[backend.tasks[at].ID] = Agent{State: record.AgentAlive, Need: need}
			}
		}
		s := marksOn(t, backend, "fix/second", "fix/totals")
		s.press("m")
		saysInBox(s, "fix/second, fix/totals. One after the other.")
		saysInBox(s, want)
		s.press("n")
		s.press("esc")
		s.selects("fix/second")
		s.press("m")
		if c.needs != nil {
			saysInBox(s, "The task is finished then. It is in conflict with a, b.")
		}
	}
}

func TestAFailureOfOneTaskIsShownForThatTask(t *testing.T) {
	t.Parallel()
	backend := two(t)
	backend.answer = func(what, id string) (record.Outcome, error) {
		if id == backend.tasks[2].ID {
			return record.Outcome{}, errors.New("cannot merge: it conflicts in basket.go")
		}
		return record.Outcome{Task: backend.tasks[13]}, nil
	}
	s := marksOn(t, backend, "fix/totals", "fix/second")
	s.press("m", "y")
	s.shows("merge 2 tasks: done with 1 of 2")
	s.press("!")
	s.shows("cannot merge fix/totals")
	s.shows("in conflict with fix/second: cannot merge: it conflicts in basket.go")
	s.hides("cannot merge fix/second")
}

func TestAFailureOfAllMergesIsShownOnceWithTheirNames(t *testing.T) {
	t.Parallel()
	backend := two(t)
	backend.fails = map[string]error{"MergeMany": errors.New("origin does not answer")}
	s := marksOn(t, backend, "fix/totals", "fix/second")
	s.press("m", "y")
	s.shows("merge 2 tasks: done with 0 of 2")
	s.press("!")
	s.shows("cannot merge 2 tasks (fix/totals, fix/second)")
	if n := strings.Count(s.text(), "origin does not answer"); n != 1 {
		t.Errorf("the reason is there %d times:\n%s", n, s.text())
	}
}

func TestAnActThatFitsNoMarkedTaskSaysSo(t *testing.T) {
	t.Parallel()
	s := marksOn(t, two(t), "feature/search", "feature/coupons")
	s.press("m")
	s.shows("cannot merge any of the marked tasks: feature/search:")
	s.shows("2 marked")
	if s.m.pages.form != nil {
		t.Error("something is asked")
	}
}

func TestATextIsWrittenOnceForAll(t *testing.T) {
	t.Parallel()
	backend := two(t)
	s := marksOn(t, backend, "fix/totals", "fix/second", "feature/search")
	s.press("r")
	s.shows("Send back 2 tasks: what is to change?")
	s.write("Round once")
	s.press("ctrl+s")
	asked(s, "RequestChanges "+backend.tasks[2].ID+" Round once", "RequestChanges "+backend.tasks[13].ID+" Round once")

	backend = two(t)
	s = marksOn(t, backend, "fix/login", "feature/gifts", "feature/search")
	s.press("S")
	s.shows("Say it to 2 tasks: what?")
	saysInBox(s, "feature/search: no worker is running that could hear it")
	s.write("Euro")
	s.press("enter")
	asked(s, "Say "+backend.tasks[0].ID+" Euro", "Say "+backend.tasks[6].ID+" Euro")
}

func TestMarksComeAndGo(t *testing.T) {
	t.Parallel()
	s := marksOn(t, two(t), "fix/totals")
	s.shows("◆*shop/fix/totals")
	s.shows("1 marked: Enter r m p M S x d t act on all of them; Esc takes the marks away")
	s.selects("fix/totals")
	s.press("*")
	s.hides("*shop")
	s.press("A")
	s.shows("14 marked")
	s.press("A")
	s.hides(" marked:")
	s.press("A", "b")
	s.shows("*fix/login")
	s.press("esc")
	s.shows("no task is marked any more")
	s.hides("*fix/login")

	// Where one task is looked at closely, keys are about that one.
	s = marksOn(t, two(t), "feature/search", "fix/second")
	s.selects("fix/totals")
	s.press("l", "m")
	s.shows("Merge fix/totals?")

	// A question that is left leaves the marks.
	s = marksOn(t, two(t), "fix/second", "fix/totals")
	s.press("m", "n")
	s.shows("2 marked")
	asked(s)
}

func TestTheMovesOfManyAreOneMenu(t *testing.T) {
	t.Parallel()
	backend := two(t)
	human := []string{task.RoleHuman}
	way := func(at int, ways ...decide.Option) {
		if backend.whys == nil {
			backend.whys = map[string]decide.Explanation{}
		}
		one := backend.tasks[at]
		backend.whys[one.ID] = decide.Explanation{Task: one, Ways: ways}
	}
	again := decide.Option{To: "agent-review", By: human, Open: true, Hooks: []string{"spawn_reviewer"}}
	way(2, again)
	way(13, again)
	way(5, decide.Option{To: "agent-review", By: human, Details: []rejection.Detail{{Condition: "Handoff is there",
		Found: "none"}}})
	s := marksOn(t, backend, "fix/totals", "fix/second", "feature/search")
	s.press("M")
	s.shows("3 tasks are marked: move them to")
	s.shows("agent-review  open for 2 of 3")
	s.shows("feature/search: missing: Handoff is there")
	s.press("enter")
	s.shows("Move 2 tasks?")
	saysInBox(s, "They move to agent-review; a reviewer starts. Left out: feature/search: missing")
	asked(s)
	s.press("y")
	asked(s, "Move "+backend.tasks[2].ID+" agent-review", "Move "+backend.tasks[13].ID+" agent-review")
}
