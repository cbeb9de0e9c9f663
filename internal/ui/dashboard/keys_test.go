package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/tasks"
)

// The keys of a move are open exactly where the task's own workflow has an edge that a person may take to where
// that move leads.
func TestMergeAndCancelAreOpenWhereTheWorkflowHasTheMove(t *testing.T) {
	t.Parallel()
	commands := map[string]string{"m": workflow.MoveMerge, "x": workflow.MoveCancel, "r": workflow.MoveRequestChanges}
	open, closed := 0, 0
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		def := rulesOf(t, name)
		for _, state := range def.States {
			s := openSession(t, &fakeBackend{tasks: []task.Task{taskUnder(t, name, 1, state.Name)}}, 80, 24)
			for _, k := range s.m.keyboard.keys {
				command, asks := commands[k.names[0]]
				if !asks {
					continue
				}
				to, has := def.Move(command)
				free := command != workflow.MoveRequestChanges || def.WaitsForPerson(state.Name)
				want := has && to != state.Name &&
					slices.ContainsFunc(def.Transitions, func(e workflow.Transition) bool {
						return e.From == state.Name && e.To == to &&
							(free || len(e.Gate) == 0) && (len(e.By) == 0 || slices.Contains(e.By, task.RoleHuman))
					})
				if why := s.m.keyboard.why(k); want != (why == "") {
					t.Errorf("%s, %s: the key %s is closed because %q; that the workflow has the move is %t",
						name, state.Name, k.name(), why, want)
				}
				if want {
					open++
				} else {
					closed++
				}
			}
		}
	}
	if open == 0 || closed == 0 {
		t.Errorf("%d were open and %d closed: that tells nothing", open, closed)
	}
}

// These keys are about the list, or about any task at all: no workflow closes one of them.
func TestTheKeysThatNoWorkflowCloses(t *testing.T) {
	t.Parallel()
	fixed := []string{"j", "k", "q", "f", "c", "w", "y"}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		for _, state := range rulesOf(t, name).States {
			s := openSession(t, &fakeBackend{tasks: []task.Task{taskUnder(t, name, 1, state.Name)}}, 80, 24)
			open := 0
			for _, k := range s.m.keyboard.keys {
				if !slices.Contains(fixed, k.names[0]) || !slices.Contains(k.pages, pageList) {
					continue
				}
				open++
				if why := s.m.keyboard.why(k); why != "" {
					t.Errorf("%s, %s: the key %s is closed because %q", name, state.Name, k.name(), why)
				}
			}
			if open != len(fixed) {
				t.Errorf("found %d of the keys %q in the list", open, fixed)
			}
		}
	}
}

// Defect: the key of pull requests was open where no remote takes them.
func TestTheKeyOfPullRequestsAsksForAnOriginThatTakesThem(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		origin tasks.Origin
		want   string
	}{
		"no origin": {tasks.Origin{Forge: record.ForgeNone}, "a remote called origin: none"},
		"elsewhere": {tasks.Origin{There: true, Forge: record.ForgeNone}, "opens pull requests there: none: origin is"},
		"on GitLab": {tasks.Origin{There: true, Forge: record.ForgeGitLab}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := taskUnder(t, "default", 1, "working", func(t *task.Task) { t.Workspace = "shop--1" })
			backend := &fakeBackend{tasks: []task.Task{one}, origin: &row.origin, works: committed(one)}
			s := openSession(t, backend, 80, 24)
			at := slices.IndexFunc(s.m.keyboard.keys, func(k key) bool { return k.names[0] == "p" })
			why := s.m.keyboard.why(s.m.keyboard.keys[at])
			if !strings.Contains(why, row.want) || (why == "") != (row.want == "") {
				t.Errorf("the key p is closed because %q, want %q", why, row.want)
			}
		})
	}
}

// Whatever the workflow: a pull request is for a live task that has a workspace.
func TestTheKeyOfPullRequestsAsksForAWorkspaceAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		for _, state := range rulesOf(t, name).States {
			for _, workspace := range []string{"", "shop--1"} {
				one := taskUnder(t, name, 1, state.Name, func(t *task.Task) { t.Workspace = workspace })
				s := openSession(t, &fakeBackend{tasks: []task.Task{one}, works: committed(one)}, 80, 24)
				i := slices.IndexFunc(s.m.keyboard.keys, func(k key) bool { return k.names[0] == "p" })
				why, want := s.m.keyboard.why(s.m.keyboard.keys[i]), one.Live && workspace != ""
				if want != (why == "") {
					t.Errorf("%s, %s, workspace %q: the key p is closed because %q", name, state.Name, workspace, why)
				}
			}
		}
	}
	// What was measured of a branch may be old: the engine looks, and says that there is no commit.
	one := taskUnder(t, "default", 1, "working", func(t *task.Task) { t.Workspace = "shop--1" })
	s := openSession(t, &fakeBackend{tasks: []task.Task{one}}, 80, 24)
	s.press("p")
	s.shows("Open a pull request for fix/bug-1?")
}

// committed is the work on the branches of tasks that have a commit.
func committed(all ...task.Task) map[string]Work {
	out := map[string]Work{}
	for i := range all {
		out[all[i].ID] = Work{Commits: 1, Added: 1}
	}
	return out
}

// Where the request would be refused, and what is written be in TASK.md all the same, nothing is asked.
func TestChangesAreRequestedWhereAPersonJudgesTheWork(t *testing.T) {
	t.Parallel()
	for status, open := range map[task.Status]bool{"planning": false, "agent-review": false, "clarification": true,
		"reviewing": true} {
		s := openSession(t, &fakeBackend{tasks: []task.Task{aTask(t, 1, status)}}, 80, 24)
		s.press("r")
		if s.m.pages.form != nil != open {
			t.Errorf("in %s something is asked: %t", status, s.m.pages.form != nil)
		}
		if !open {
			s.shows(fmt.Sprintf("r: in %q no work waits for your judgement yet; M has the moves", status))
			s.hides("send back")
		}
	}
}
