package decide_test

import (
	"slices"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// One command brings a live task on from every status, without a workspace and without an agent. Where a person is next
// it is each move that starts one.
func TestEveryLiveStatus_goesOnByOneCommandWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	all := shippedWorkflows(t)
	for _, name := range []string{"classic-like", "minimal-like"} { // the two files of document 002
		all[name] = parse(t, name+".yml", read(t, "../workflow/testdata/ok/"+name+".yml"))
	}
	for name, def := range all {
		for i := range def.States {
			state := &def.States[i]
			if state.Terminal {
				continue
			}
			lost := newTask(state.Name)
			lost.Workspace = ""
			begun := state.Name != def.Initial
			if state.Role == "" && begun {
				c, err := decide.Respawn(def, lost, false, false, human(), noon)
				if err != nil || c.Lease != record.LeaseReserve {
					t.Errorf("%s, %s: it gets no workspace: %v", name, state.Name, err)
				}
				movesWithRoom(t, def, lost)
				continue
			}
			var hooks []task.Hook
			var lease record.Lease
			if begun {
				c, err := decide.Respawn(def, lost, false, false, human(), noon)
				if err != nil {
					t.Errorf("%s, %s: %v", name, state.Name, err)
				}
				hooks, lease = c.Hooks, c.Lease
			} else {
				to, _, err := decide.MoveTarget(def, lost, workflow.MoveSpawn)
				if err != nil {
					t.Errorf("%s, %s: %v", name, state.Name, err)
				}
				d, err := decide.Transition(def, lost, evidence(""), task.Request{Task: lost.ID, To: to,
					Actor: human(), Command: true}, noon)
				if err != nil || !d.Moved {
					t.Errorf("%s, %s to %s: %v", name, state.Name, to, err)
				}
				hooks, lease = d.Change.Hooks, d.Change.Lease
			}
			if lease != record.LeaseReserve || len(hooks) == 0 || hooks[0].Action != action.AcquireWorkspace {
				t.Errorf("%s, %s: it gets no workspace first: %v", name, state.Name, actionsOf(hooks))
			}
			if starts := slices.ContainsFunc(hooks, func(h task.Hook) bool {
				row, _ := action.Of(h.Action)
				return row.Means == action.StartsAgent
			}); starts != (state.Role != "") && begun {
				t.Errorf("%s, %s: an agent starts: %t", name, state.Name, starts)
			}
		}
	}
}

// movesWithRoom checks that each move of a person that starts an agent gets the task a workspace first.
func movesWithRoom(t *testing.T, def *workflow.Definition, lost task.Task) {
	t.Helper()
	tried, made := 0, 0
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		if !decide.Leads(edge, lost) || !edge.Spawns() {
			continue
		}
		tried++
		facts := map[string]decide.Fact{}
		for _, p := range workflow.Leaves(edge.Gate) {
			facts[p.Key()] = decide.Fact{Holds: true, Source: p.Name(), Digest: "1"}
		}
		d, err := decide.Transition(def, lost, still(decide.Evidence{Document: docOf(""), Facts: facts}), task.Request{
			Task: lost.ID, To: edge.To, Actor: human(), Reason: "go on"}, noon)
		if err == nil && (len(d.Change.Hooks) == 0 || d.Change.Lease != record.LeaseReserve) {
			t.Errorf("%s, %s to %s: no workspace", def.Name, lost.Status, edge.To)
		}
		if err == nil {
			made++
		}
	}
	if tried > 0 && made == 0 {
		t.Errorf("%s, %s: no move that starts an agent could be made", def.Name, lost.Status)
	}
}

func TestAMoveThatNeedsAWorkspace_replacesALostOne(t *testing.T) {
	t.Parallel()
	def := parse(t, "w.yml", []byte(`name: w
version: 1
states:
  todo: {}
  doing: {role: worker, respawn_prompt: work}
  review: {role: reviewer}
  done: {terminal: true}
  over: {terminal: true}
moves: {cancel: done}
transitions:
  - {from: todo, to: doing, by: human, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: doing, to: review, by: human, hooks: [{action: spawn_reviewer, prompt: judge}]}
  - {from: review, to: doing, by: human, hooks: [{action: notify_worker}]}
  - {from: doing, to: done, by: human, hooks: [{action: release_workspace}, {action: notify_worker, prompt: work}]}
  - {from: doing, to: over, by: human, hooks: [{action: notify_worker, prompt: work}]}
  - {from: review, to: todo, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
prompts: {work: "work", judge: "judge"}
`))
	for _, c := range []struct {
		from, to  task.Status
		workspace string
		want      string
	}{
		{"review", "doing", "", "acquire_workspace notify_worker"},
		{"review", "doing", "w1", "notify_worker"},
		{"review", "todo", "", "acquire_workspace spawn_agent"},
		{"doing", "review", "", "acquire_workspace spawn_reviewer"},
		{"doing", "done", "", "acquire_workspace release_workspace notify_worker"},
		{"doing", "over", "", "notify_worker"}, // no hook would give the workspace back
		{"todo", "doing", "", "spawn_agent"},   // the workflow says what a start needs
	} {
		one := newTask(c.from)
		one.Workspace = c.workspace
		d, err := decide.Transition(def, one, evidence(""), task.Request{Task: one.ID, To: c.to, Actor: human()}, noon)
		if err != nil {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
			continue
		}
		var got string
		for _, h := range d.Change.Hooks {
			got += " " + h.Action
		}
		if got != " "+c.want || (d.Change.Lease == record.LeaseReserve) != (d.Change.Hooks[0].Action ==
			action.AcquireWorkspace) {
			t.Errorf("%s to %s: it does%s, want %s", c.from, c.to, got, c.want)
		}
	}
	// An agent without a respawn_prompt reads what the move into its status had it read.
	lost := newTask("review")
	lost.Workspace = ""
	c, err := decide.Respawn(def, lost, false, false, human(), noon)
	if err != nil || len(c.Hooks) != 2 || c.Hooks[1].Prompt != "judge" || c.Hooks[1].Field != "" {
		t.Errorf("it starts %+v: %v", c.Hooks, err)
	}
}

func TestSpawn_ofATaskThatHasBegunIsNoMove(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct {
		status    task.Status
		workspace string
		to        task.Status
		begun     bool
	}{
		{"pending", "", "planning", false},
		{"planning", "", "planning", true},
		{"planning", "w1", "planning", true},
		{"clarification", "", "clarification", true},
		{"reviewing", "", "reviewing", true}, // no agent works there, and no edge leads from it to planning
		{"done", "", "planning", false},      // which is refused
	} {
		one := newTask(c.status)
		one.Workspace = c.workspace
		to, begun, err := decide.MoveTarget(def, one, workflow.MoveSpawn)
		if err != nil || to != c.to || begun != c.begun {
			t.Errorf("%s: %s, %t, %v", c.status, to, begun, err)
		}
	}
}

// Where an end keeps the workspace, a task that has given it back gets none again: no one would have it back.
func TestATaskGetsNoWorkspaceWhereAnEndWouldKeepIt(t *testing.T) {
	t.Parallel()
	releases := workflow.Transition{From: "help", To: "lost", Hooks: []workflow.Hook{{Hook: task.Hook{
		Action: action.ReleaseWorkspace}}}}
	keeps := workflow.Transition{From: "help", To: "lost"}
	for name, c := range map[string]struct {
		edges []workflow.Transition
		gets  bool
	}{
		"each end gives it back": {[]workflow.Transition{releases, {From: "help", To: "busy"}}, true},
		"one end keeps it":       {[]workflow.Transition{releases, keeps}, false},
		"no end":                 {[]workflow.Transition{{From: "help", To: "busy"}}, false},
	} {
		lost := newTask("help")
		lost.Workspace = ""
		if _, err := decide.Respawn(tiny(c.edges), lost, false, false, human(), noon); (err == nil) != c.gets {
			t.Errorf("%s: %v", name, err)
		}
	}
}
