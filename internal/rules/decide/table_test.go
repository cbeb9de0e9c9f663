package decide_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func refusal(t *testing.T, err error) *rejection.Rejection {
	t.Helper()
	var no *rejection.Rejection
	if !errors.As(err, &no) {
		t.Fatalf("found %v, want a refusal", err)
	}
	return no
}

func actionsOf(hooks []task.Hook) string {
	var out []string
	for _, h := range hooks {
		out = append(out, describeHook(h))
	}
	return strings.Join(out, "; ")
}

func TestATaskMayBeCreatedInTheStatesThatTheWorkflowNames(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	const acquire = "acquire_workspace; "
	for _, c := range []struct {
		status task.Status
		hooks  string
		round  int
		lease  record.Lease
	}{
		{"pending", "", 0, record.LeaseKeep},
		{"clarification", acquire + "spawn_agent prompt=clarification harness=task permissions=full", 0,
			record.LeaseReserve},
		{"agent-review", acquire + "increment_review_round field=review_round; spawn_reviewer prompt=reviewer " +
			"harness=review permissions=reduced", 1, record.LeaseReserve},
		{"reviewing", "acquire_workspace", 0, record.LeaseReserve},
	} {
		t.Run(string(c.status), func(t *testing.T) {
			t.Parallel()
			change, err := decide.Create(def, task.Task{ID: "T1", Branch: "b", Summary: "s"}, c.status, human(), noon)
			if err != nil {
				t.Fatal(err)
			}
			got := change.Task
			if got.Status != c.status || got.Previous != "" || !got.Live || got.CreatedAt != noon ||
				got.EnteredAt != noon {
				t.Errorf("found the task %+v", got)
			}
			want := task.WorkflowRef{Name: "default", Version: def.Version, Digest: def.Digest}
			if got.Workflow != want {
				t.Errorf("found the workflow %+v, want %+v", got.Workflow, want)
			}
			if found := actionsOf(change.Hooks); found != c.hooks || change.Lease != c.lease ||
				got.Counters.Get(task.ReviewRound) != c.round {
				t.Errorf("found %q, lease %d, counters %v, want %+v", found, change.Lease, got.Counters, c)
			}
			if len(change.Events) != 1 || change.Events[0].Type != history.Created || change.Expect != 0 ||
				!change.Entered {
				t.Errorf("found the change %+v, want a new task with one event", change)
			}
		})
	}
}

func TestATaskIsNotCreatedInAnyOtherState(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, status := range []task.Status{"planning", "working", "stuck", "done", "cancelled", "nowhere", ""} {
		_, err := decide.Create(def, task.Task{ID: "T1"}, status, human(), noon)
		no := refusal(t, err)
		if no.Code != rejection.IllegalTransition || no.To != status ||
			!slices.Equal(no.MayAsk, []task.Status{"pending", "clarification", "agent-review", "reviewing"}) {
			t.Errorf("found %+v for %q", no, status)
		}
		if text := no.Error(); !strings.HasSuffix(text,
			"\n  a task may be created in: pending, clarification, agent-review, reviewing") {
			t.Errorf("found the answer %q, want the states that a task may be created in", text)
		}
	}
}

func TestCreate_withAWorkspaceIsForPeople(t *testing.T) {
	t.Parallel()
	def := tiny(nil)
	def.Initial = "todo"
	def.Births = []workflow.Birth{{To: "todo", Hooks: []workflow.Hook{{Hook: task.Hook{
		Action: action.AcquireWorkspace}}}}}
	if _, err := decide.Create(def, newTask(""), "todo", human(), noon); err != nil {
		t.Error(err)
	}
	_, err := decide.Create(def, newTask(""), "todo", worker(), noon)
	if no := refusal(t, err); no.Code != rejection.ActorDenied || lacks(no) != "who takes a workspace" {
		t.Errorf("an agent is told %v", no)
	}
}

func TestATaskWithAWorkspaceIsBornWithoutReservingAnother(t *testing.T) {
	t.Parallel()
	change, err := decide.Create(defaultWorkflow(t), task.Task{ID: "T1", Workspace: "w1"}, "reviewing", human(), noon)
	if err != nil || change.Lease != record.LeaseKeep {
		t.Errorf("found lease %d (%v), want none reserved", change.Lease, err)
	}
}

// bare is a workflow without moves: Orange implies what it can.
const bare = `
name: bare
version: 1
fields: {tries: 0}
states:
  new: {terminal: false}
  parked: {terminal: false}
  busy: {terminal: false}
  again: {terminal: false}
  finished: {terminal: true}
transitions:
  - {from: busy, to: finished, hooks: [{action: spawn_agent, prompt: go}]}
  - {from: new, to: parked}
  - {from: new, to: again, when: "tries > 0", hooks: [{action: spawn_agent, prompt: go}]}
  - {from: new, to: busy, hooks: [{action: spawn_agent, prompt: go}]}
prompts: {go: "Go."}
`

// idle is a workflow in which nothing starts an agent.
const idle = `
name: idle
version: 1
states:
  new: {terminal: false}
  done: {terminal: true}
transitions:
  - {from: new, to: done}
`

func TestCommandsLeadWhereTheWorkflowSaysOrImplies(t *testing.T) {
	t.Parallel()
	byName := map[string]*workflow.Definition{
		"default": defaultWorkflow(t), "bare": parse(t, "bare.yml", []byte(bare)),
		"idle": parse(t, "idle.yml", []byte(idle)),
	}
	for _, c := range []struct {
		workflow, command string
		tries             int
		want              task.Status // empty: no_move
	}{
		{"default", workflow.MoveSpawn, 0, "planning"},
		{"default", workflow.MoveComplete, 0, "agent-review"},
		{"default", workflow.MoveStuck, 0, "stuck"},
		{"default", workflow.MoveMerge, 0, "done"},
		{"default", workflow.MoveCancel, 0, "cancelled"},
		{"default", workflow.MoveRequestChanges, 0, "working"},
		{"default", workflow.MovePRMerged, 0, "done"},
		{"default", workflow.MovePRClosed, 0, "cancelled"},
		{"default", workflow.MoveClarify, 0, "clarification"},
		{"default", "dance", 0, ""},
		{"bare", workflow.MoveSpawn, 0, "busy"},
		{"bare", workflow.MoveSpawn, 1, "again"},
		{"bare", workflow.MoveMerge, 0, ""},
		{"bare", workflow.MoveCancel, 0, ""},
		{"idle", workflow.MoveSpawn, 0, ""},
		{"idle", workflow.MoveMerge, 0, "done"},
	} {
		def := byName[c.workflow]
		tk := newTask(def.Initial)
		tk.Counters = tk.Counters.With("tries", c.tries)
		got, _, err := decide.MoveTarget(def, tk, c.command)
		if c.want == "" {
			if no := refusal(t, err); no.Code != rejection.NoMove ||
				!strings.Contains(no.Message, `no "`+c.command+`"`) || len(no.MayAsk) == 0 {
				t.Errorf("found %+v for %s in %s, want %s and the open moves", no, c.command, c.workflow,
					rejection.NoMove)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("found %q (%v) for %s in %s, want %q", got, err, c.command, c.workflow, c.want)
		}
	}
}

func TestAQueuedTaskStaysWhereItIsAndSaysWhereItGoes(t *testing.T) {
	t.Parallel()
	tk := newTask("pending")
	c := decide.Queue(defaultWorkflow(t), tk, "planning", human(), noon)
	want := tk
	want.QueuedFor, want.UpdatedAt = "planning", noon
	if !reflect.DeepEqual(c.Task, want) || c.Expect != tk.Version || c.Entered || len(c.Hooks) != 0 ||
		c.Lease != record.LeaseKeep {
		t.Errorf("found %+v, want only the mark and the time changed", c)
	}
	if len(c.Events) != 1 || c.Events[0].Type != history.QueuedForSpace || c.Events[0].Data["for"] != "planning" ||
		c.Events[0].Actor != task.RoleHuman {
		t.Errorf("found the events %+v, want one that says where the task waits to go", c.Events)
	}
}

func TestATaskQueuedInItsStatusLosesItsHookMark(t *testing.T) {
	t.Parallel()
	def, tk := defaultWorkflow(t), newTask("working")
	tk.Workspace, tk.Attention = "", record.HookMark+"acquire_workspace: the set-up failed"
	if c := decide.Queue(def, tk, "working", task.Actor{Rule: true}, noon); c.Task.Attention != "" {
		t.Errorf("it keeps the mark %q of a hook that is gone", c.Task.Attention)
	}
	if c := decide.Queue(def, tk, "planning", human(), noon); c.Task.Attention == "" {
		t.Error("a task that waits to move has lost its mark")
	}
	tk.Attention = "2 new files"
	if c := decide.Queue(def, tk, "working", task.Actor{Rule: true}, noon); c.Task.Attention == "" {
		t.Error("it has lost another mark")
	}
}

func TestARespawnIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct {
		name      string
		status    task.Status
		workspace string
		alive     bool
		actor     task.Actor
		found     string
	}{
		{"an agent asks", "working", "w1", false, task.Actor{Role: task.RoleWorker}, `the role "worker" asking`},
		{"a status of a person", "reviewing", "w1", false, human(), "no agent that works in this status"},
		{"a status before any agent", "pending", "", false, human(), "a task that has not begun"},
		{"a final status", "done", "", false, human(), "a task that has ended"},
		{"an unknown status", "nowhere", "w1", false, human(), "no agent that works in this status"},
		{"the agent lives", "working", "w1", true, human(), "the agent still alive"},
		{"the agent lives and a rule asks", "agent-review", "w1", true, task.Actor{Rule: true},
			"the agent still alive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tk := newTask(c.status)
			tk.Workspace = c.workspace
			change, err := decide.Respawn(def, tk, c.alive, false, c.actor, noon)
			no := refusal(t, err)
			if no.Code != rejection.RespawnRefused || len(no.Details) != 1 || no.Details[0].Found != c.found ||
				no.Details[0].Want == "" {
				t.Errorf("found %+v, want %s because of %s", no, rejection.RespawnRefused, c.found)
			}
			if !reflect.DeepEqual(change, record.Change{}) {
				t.Errorf("found the change %+v beside a refusal", change)
			}
		})
	}
}

func TestARespawnStartsTheAgentOfTheStatusAndMovesNothing(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	const worker, reviewer = " harness=task permissions=full", " harness=review permissions=reduced"
	for _, c := range []struct {
		status task.Status
		actor  task.Actor
		hook   string
	}{
		{"planning", human(), "spawn_agent prompt=worker_respawn" + worker},
		{"clarification", human(), "spawn_agent prompt=clarification" + worker},
		{"working", human(), "spawn_agent prompt=worker_respawn" + worker},
		{"agent-review", task.Actor{Rule: true}, "spawn_reviewer prompt=reviewer" + reviewer},
		{"stuck", human(), "spawn_agent prompt=stuck_fix" + worker},
	} {
		tk := newTask(c.status)
		tk.Attention, tk.Counters = "the agent died", tk.Counters.With(task.CrashCount, 1).With(task.ReviewRound, 1)
		change, err := decide.Respawn(def, tk, false, false, c.actor, noon)
		if err != nil {
			t.Errorf("found %v for %s", err, c.status)
			continue
		}
		want := tk
		want.Attention, want.UpdatedAt = "", noon
		if !reflect.DeepEqual(change.Task, want) || change.Entered || change.Expect != tk.Version ||
			actionsOf(change.Hooks) != c.hook {
			t.Errorf("found %+v with %q for %s, want %q and the task as it is", change.Task,
				actionsOf(change.Hooks), c.status, c.hook)
		}
		if len(change.Events) != 1 || change.Events[0].Type != history.AgentRespawned || change.Events[0].IsMove() ||
			change.Events[0].Actor != c.actor.Name() {
			t.Errorf("found the events %+v, want one respawn", change.Events)
		}
	}
}

// Others can remove what a task works in: a respawn makes it again, in each status that is not the end.
func TestARespawnMakesAWorktreeAgainThatIsGone(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for status, hooks := range map[task.Status]string{
		"working":   "acquire_workspace; spawn_agent prompt=worker_respawn harness=task permissions=full",
		"reviewing": "acquire_workspace",
	} {
		tk := newTask(status)
		tk.Attention = "look"
		change, err := decide.Respawn(def, tk, false, true, human(), noon)
		if err != nil {
			t.Errorf("found %v for %s", err, status)
			continue
		}
		if actionsOf(change.Hooks) != hooks || change.Lease != record.LeaseKeep || change.Task.Attention != "" ||
			change.Task.Workspace != tk.Workspace || change.Entered || len(change.Events) != 1 {
			t.Errorf("found %+v with %q for %s", change, actionsOf(change.Hooks), status)
		}
		if e := change.Events[0]; status == "reviewing" && (e.Type != history.Updated || e.Data != nil ||
			e.Reason != "its worktree is made again") {
			t.Errorf("found the event %+v", e)
		}
	}
	if _, err := decide.Respawn(def, newTask("done"), false, true, human(), noon); err == nil {
		t.Error("a task that has ended got a worktree")
	}
	if _, err := decide.Respawn(def, newTask("working"), true, true, human(), noon); err != nil {
		t.Errorf("an agent in a folder that is gone keeps it so: %v", err)
	}
}

func TestACallerWaitsWhileAnotherAgentIsAtWork(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	for _, c := range []struct {
		status                  task.Status
		worker, reviewer, human bool
	}{
		{"pending", false, false, false},
		{"planning", false, true, true},
		{"clarification", false, true, false},
		{"working", false, true, true},
		{"agent-review", true, false, true},
		{"reviewing", false, false, false},
		{"stuck", false, true, false},
		{"done", false, false, false},
		{"nowhere", false, false, false},
	} {
		found := [3]bool{
			decide.Blocks(def, c.status, task.RoleWorker), decide.Blocks(def, c.status, task.RoleReviewer),
			decide.Blocks(def, c.status, task.RoleHuman),
		}
		if want := [3]bool{c.worker, c.reviewer, c.human}; found != want {
			t.Errorf("found %v for worker, reviewer, human in %s, want %v", found, c.status, want)
		}
	}
}

func owed(id int64, action string) task.OwedHook {
	return task.OwedHook{ID: id, Hook: task.Hook{Action: action}}
}

func TestOnlyHooksThatWouldStartSomethingAreOvertaken(t *testing.T) {
	t.Parallel()
	var all []task.OwedHook
	var want []int64
	starts := []string{action.AcquireWorkspace, action.SpawnAgent, action.SpawnReviewer, action.NotifyWorker,
		action.RunCommand, action.SetAside}
	for i, name := range append(action.Names(), "paint") {
		all = append(all, owed(int64(i), name))
		if slices.Contains(starts, name) {
			want = append(want, int64(i))
		}
	}
	if found := decide.Overtaken(all, record.Change{Task: task.Task{Live: true}, Hooks: []task.Hook{
		{Action: action.ReleaseWorkspace}}}); !slices.Equal(found, want) || len(found) != len(starts) {
		t.Errorf("found %v overtaken, want %v", found, want)
	}
	if found := decide.Overtaken(nil, record.Change{}); found != nil {
		t.Errorf("found %v overtaken of nothing", found)
	}
}

// Defect: a respawn dropped a pending acquire_workspace, and its agent began in a workspace that was not ready.
func TestAWorkspaceThatTheTaskKeepsIsMadeReadyWhateverComes(t *testing.T) {
	t.Parallel()
	all := []task.OwedHook{owed(1, action.AcquireWorkspace), owed(2, action.SpawnAgent)}
	for _, c := range []struct {
		what string
		next record.Change
		want []int64
	}{
		{"a respawn", record.Change{Task: task.Task{Live: true}, Hooks: []task.Hook{{Action: action.SpawnAgent}}},
			[]int64{2}},
		{"a step that makes it ready itself", record.Change{Task: task.Task{Live: true}, Hooks: []task.Hook{
			{Action: action.KillSession}, {Action: action.AcquireWorkspace}}}, []int64{1, 2}},
		{"a step that starts somebody sooner", record.Change{Task: task.Task{Live: true}, Hooks: []task.Hook{
			{Action: action.SpawnAgent}, {Action: action.AcquireWorkspace}}}, []int64{2}},
		{"a step that gives it back", record.Change{Task: task.Task{Live: true}, Hooks: []task.Hook{
			{Action: action.ReleaseWorkspace}}}, []int64{1, 2}},
		{"a wait in line for a workspace", record.Change{Task: task.Task{Live: true, Status: "b", QueuedFor: "b"}},
			[]int64{1, 2}},
		{"the end", record.Change{}, []int64{1, 2}},
		{"an end that keeps it: the task may be redone", record.Change{Task: task.Task{Workspace: "one"}}, []int64{2}},
		{"the end, with a push that failed", record.Change{}, []int64{3, 4}},
		{"a move, with a push that failed", record.Change{Task: task.Task{Live: true}}, nil},
	} {
		owes := all
		if strings.Contains(c.what, "a push that failed") {
			owes = []task.OwedHook{owed(3, action.PushBranch), owed(4, action.CreatePR),
				owed(5, action.DeleteRemoteBranch)}
		}
		if found := decide.Overtaken(owes, c.next); !slices.Equal(found, c.want) {
			t.Errorf("%s overtakes %v, want %v", c.what, found, c.want)
		}
	}
}

func TestAHookWaitsForAFailedOneUnlessEitherIsIndependent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failed []string
		action string
		want   bool
	}{
		{nil, action.SpawnAgent, false},
		{[]string{action.AcquireWorkspace}, action.SpawnAgent, true},
		{[]string{action.KillSession}, action.ReleaseWorkspace, true},
		{[]string{action.KillSession}, action.SpawnNext, false},
		{[]string{action.KillSession}, action.DeleteRemoteBranch, false},
		{[]string{action.DeleteRemoteBranch}, action.SpawnNext, false},
		{[]string{action.DeleteRemoteBranch}, action.KillSession, false},
		{[]string{action.DeleteRemoteBranch, action.KillReviewer}, action.NotifyWorker, true},
		{[]string{"paint"}, action.KillSession, true},
		{[]string{action.KillSession}, "paint", true},
	} {
		var failed []task.OwedHook
		for i, action := range c.failed {
			failed = append(failed, owed(int64(i), action))
		}
		if found := decide.Waits(failed, owed(9, c.action)); found != c.want {
			t.Errorf("found waits = %t for %s behind failed %v, want %t", found, c.action, c.failed, c.want)
		}
	}
}

func TestBackOffDoublesUpToFiveMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempts int
		want     time.Duration
	}{
		{0, 5 * time.Second},
		{1, 5 * time.Second},
		{2, 10 * time.Second},
		{3, 20 * time.Second},
		{6, 160 * time.Second},
		{7, 5 * time.Minute},
		{8, 5 * time.Minute},
		{1 << 30, 5 * time.Minute},
	} {
		if found := decide.BackOff(c.attempts); found != c.want {
			t.Errorf("found %v after %d attempts, want %v", found, c.attempts, c.want)
		}
	}
}
