package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/engine/hook"
	"orange/internal/rules/action"
	"orange/internal/rules/conflict"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
	"orange/internal/work/worktree"
)

func ticketOf(t *testing.T, executor *hook.Executor) harness.Ticket {
	t.Helper()
	var ticket harness.Ticket
	must(t, json.Unmarshal([]byte(read(t, filepath.Join(executor.Home, "launch", "7.json"))), &ticket))
	return ticket
}

func TestSpawnAgent_startsTheWorker(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	effect, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	wantCalls(t, p, "equip garden--1", strays("worker"), "start worker")
	want := tmux.Start{
		Task: "abc", Role: task.RoleWorker, Hook: "7", Session: "garden/fix", Window: "worker", Dir: "/work/tree",
		Argv: []string{"/opt/orange", "launch", filepath.Join(executor.Home, "launch", "7.json")},
	}
	if got := p.last; got.Window != want.Window || got.Session != want.Session || got.Hook != want.Hook ||
		got.Role != want.Role ||
		got.Task != want.Task || got.Dir != want.Dir || !slices.Equal(got.Argv, want.Argv) {
		t.Errorf("started %+v\nwant %+v", got, want)
	}
	if effect.Seat == nil || !reflect.DeepEqual(*effect.Seat, record.Seat{
		Hash: "hash", PID: 100, Began: "began 100"}) || effect.Session == nil || *effect.Session != "garden/fix" {
		t.Errorf("the effect is %+v", effect)
	}
	if len(effect.Events) != 1 || effect.Events[0].Type != history.AgentSpawned ||
		effect.Events[0].Data["harness"] != "claude" {
		t.Errorf("the events are %+v", effect.Events)
	}
}

func TestSpawnAgent_startsInTheProjectsFolderWithTheTasksVariables(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.view = &worktree.View{Dir: "/work/tree", Start: "/work/tree/web", Env: []string{"ORANGE_PORT=20000"},
		TaskFile: "../TASK.md"}
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	ticket := ticketOf(t, executor)
	if p.last.Dir != "/work/tree/web" || ticket.Dir != "/work/tree/web" ||
		!slices.Contains(ticket.Set, "ORANGE_PORT=20000") || !slices.Contains(ticket.Set, "RULES=/work/tree/rules") {
		t.Errorf("it starts in %q with %+v", p.last.Dir, ticket)
	}
}

// A spawn hands on what it has seen, unless that holds no more.
func TestSpawn_looksAtTheSessionsOnce(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	other := aPane(task.RoleReviewer, "3")
	p.panes = []tmux.Pane{other}
	job := aJob(action.SpawnAgent, task.RoleWorker)
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if !slices.Equal(p.last.Seen, []tmux.Pane{other}) {
		t.Errorf("it handed on %+v", p.last.Seen)
	}
	job.Hook.ID++
	_, err = executor.Perform(t.Context(), job)
	must(t, err)
	if p.last.Seen != nil {
		t.Errorf("it ended a window and handed on %+v", p.last.Seen)
	}
}

func TestSpawn_byTheSameHookAgainReportsItsWindowAsStarted(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.SpawnAgent, task.RoleWorker)
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	p.calls = nil
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p)
	if effect.Seat.PID != 100 || effect.Seat.Hash != "hash" || len(effect.Events) != 1 ||
		effect.Events[0].Type != history.AgentSpawned {
		t.Errorf("the effect is %+v", effect)
	}
	p.panes[0].Dead = true // it started, and ended: the hook is done all the same
	effect, err = executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p)
	if effect.Seat == nil || effect.Seat.PID != 0 || effect.Session == nil {
		t.Errorf("the effect is %+v", effect)
	}
}

func TestSpawn_endsAWindowOfTheRoleThatAnotherHookStarted(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	other := aPane(task.RoleWorker, "9")
	other.Task = "abcd"
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "3"), aPane(task.RoleReviewer, "4"), other}
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	wantCalls(t, p, "kill-window @3", "end-group 50", "equip garden--1", strays("worker"), "start worker")
}

// Defect: the start that replaced an agent failed, a move dropped it, and the end of that agent was counted as
// its crash.
func TestSpawn_thatFailsTellsWhomItHasEnded(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.programs = nil
	for _, c := range []struct {
		panes []tmux.Pane
		want  []string
	}{
		{nil, nil},
		{[]tmux.Pane{aPane(task.RoleReviewer, "4")}, nil},
		{[]tmux.Pane{aPane(task.RoleWorker, "3")}, []string{task.RoleWorker}},
	} {
		p.panes = c.panes
		effect, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
		wantError(t, err, "cannot find the program")
		if !slices.Equal(effect.EndSeats, c.want) {
			t.Errorf("with %v it has ended the seats of %v, want %v", c.panes, effect.EndSeats, c.want)
		}
	}
}

// Defect, found by the simulation: so was the end of an agent whose programs could not all be ended, and of one that
// had outlived its terminal. Who lives keeps the seat.
func TestSpawn_thatFailsEndsTheSeatOfWhomItEnded(t *testing.T) {
	t.Parallel()
	living, dead := aPane(task.RoleWorker, "3"), aPane(task.RoleWorker, "3")
	dead.Dead = true
	ended := []string{task.RoleWorker}
	for name, c := range map[string]struct {
		action, fails string
		panes         []tmux.Pane
		lives         bool
		want          []string
	}{
		"its programs do not all end":     {action.SpawnAgent, "end-group", []tmux.Pane{living}, false, ended},
		"it outlives its window":          {action.SpawnAgent, "end-group", []tmux.Pane{living}, true, nil},
		"its window stays":                {action.SpawnAgent, "kill-window", []tmux.Pane{living}, true, nil},
		"it was dead, its window stays":   {action.SpawnAgent, "kill-window", []tmux.Pane{dead}, false, nil},
		"its strays live on":              {action.SpawnAgent, "end-strays", []tmux.Pane{living}, false, ended},
		"it outlived its terminal":        {action.SpawnAgent, "start", nil, false, ended},
		"a notice finds no window":        {action.NotifyWorker, "start", nil, false, ended},
		"without a terminal it lives yet": {action.NotifyWorker, "end-strays", nil, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, p := newExecutor(t)
			p.panes, p.fails[c.fails], p.alive[living.PID] = slices.Clone(c.panes), errPort, c.lives
			job := aJob(c.action, task.RoleWorker)
			job.Respawn = "Go on."
			effect, err := executor.Perform(t.Context(), job)
			wantError(t, err, errPort.Error())
			if !slices.Equal(effect.EndSeats, c.want) || effect.Seat != nil {
				t.Errorf("the effect is %+v", effect)
			}
		})
	}
}

func TestSpawnReviewer_opensAWindowNamedAfterTheRound(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.SpawnReviewer, task.RoleReviewer)
	job.Hook.Harness, job.Hook.Permissions = task.HarnessReview, task.PermissionsReduced
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1")}
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "equip garden--1", strays("reviewer"), "start review-2")
	if effect.Events[0].Type != history.ReviewStarted || effect.Events[0].Data["harness"] != "codex" {
		t.Errorf("the events are %+v", effect.Events)
	}
	prompt := filepath.Join(p.taskDir, "prompts", "7-review-2.md")
	if want := []string{"codex-program", "--careful", prompt}; !slices.Equal(ticketOf(t, executor).Argv, want) {
		t.Errorf("the arguments are %q, want %q", ticketOf(t, executor).Argv, want)
	}
}

// From a history the task's own harnesses are found again, and which one an agent was started with.
func TestSpawn_recordsWhoseHarnessTheAgentHas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ role, which, agent, worker, reviewer, of string }{
		"the worker":                    {task.RoleWorker, task.HarnessTask, "", "claude", "", "claude"},
		"the reviewer":                  {task.RoleReviewer, task.HarnessReview, "", "", "codex", "codex"},
		"one with the reviewer's":       {"auditor", task.HarnessReview, "", "", "", "codex"},
		"a reviewer with the worker's":  {task.RoleReviewer, task.HarnessTask, "", "", "", "claude"},
		"one whose role has one":        {"auditor", task.HarnessTask, "codex", "", "", "codex"},
		"a reviewer whose role has one": {task.RoleReviewer, task.HarnessReview, "claude", "", "", "claude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, _ := newExecutor(t)
			job := aJob(action.SpawnAgent, c.role)
			job.Hook.Harness, job.Agent = c.which, c.agent
			effect, err := executor.Perform(t.Context(), job)
			must(t, err)
			events := append([]history.Event{
				{Seq: 1, Type: history.Created, Data: map[string]string{history.DataStatus: "x"}}}, effect.Events...)
			told, _, err := history.Fold(events)
			must(t, err)
			if told.Harness != c.worker || told.ReviewHarness != c.reviewer {
				t.Errorf("the history tells %q and %q, want %q and %q", told.Harness, told.ReviewHarness,
					c.worker, c.reviewer)
			}
			if got := history.HarnessOf(events, c.role); got != c.of {
				t.Errorf("it was started with %q, want %q", got, c.of)
			}
			if got := history.HarnessOf(events, "nobody"); got != "" {
				t.Errorf("nobody was started with %q", got)
			}
		})
	}
}

func TestSpawn_passesTheSeatInAFileThatOthersCannotRead(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	for _, name := range []string{filepath.Join(executor.Home, "launch", "7.json"),
		filepath.Join(p.taskDir, "prompts", "7-worker.md")} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
	ticket := ticketOf(t, executor)
	if !slices.Contains(ticket.Set, "ORANGE_SEAT=s3cret") || !slices.Contains(ticket.Set, "ORANGE_TASK_ID=abc") ||
		!slices.Contains(ticket.Set, "ORANGE_ROUND=2") {
		t.Errorf("the ticket sets %v", ticket.Set)
	}
	shown := strings.Join(slices.Concat(ticket.Argv, p.last.Argv, []string{p.last.Window, p.last.Session}), " ")
	if strings.Contains(shown, "s3cret") {
		t.Errorf("the secret shows in %s", shown)
	}
	if ticket.Task != "abc" || ticket.Home != p.home {
		t.Errorf("the ticket names the environment of task %q in %q", ticket.Task, ticket.Home)
	}
	if text := read(t, filepath.Join(executor.Home, "launch", "7.json")); strings.Contains(text, "HOME=/root") ||
		strings.Contains(text, "/usr/bin") {
		t.Errorf("the ticket holds the environment that is kept elsewhere: %s", text)
	}
}

func TestSpawn_namesTheConversationVariableAndUnsetsThePersonsOwn(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	if has := strings.Join(ticketOf(t, executor).Set, " "); strings.Contains(has, harness.ConversationInVariable) {
		t.Errorf("a program that tells none: the ticket sets %s", has)
	}
	p.harness = "name: NAME\nunset: [OTHER]\nsession_variable: TALK_ID\nworker:\n" +
		"  command: [PROGRAM, '{prompt}']\n  resume: [PROGRAM, --on, '{session_id}']\n"
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Task.ID, job.Hook.Task = "def", "def"
	_, err = executor.Perform(t.Context(), job)
	must(t, err)
	ticket := ticketOf(t, executor)
	if !slices.Contains(ticket.Set, harness.ConversationInVariable+"=TALK_ID") ||
		!slices.Equal(ticket.Unset, []string{"OTHER", "TALK_ID"}) {
		t.Errorf("the ticket sets %q and unsets %q", ticket.Set, ticket.Unset)
	}
}

// Defect: where the earlier conversation had broken off too early to go on, the new one was refused: it had the same
// name.
func TestSpawn_givesANewConversationAnotherNameThanTheBrokenOne(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.harness = "name: NAME\nworker:\n  command: [PROGRAM, --as, '{session_id}', '{prompt}']\n" +
		"  resume: [PROGRAM, --on, '{session_id}']\n"
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Conversation = "earlier"
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	ticket := ticketOf(t, executor)
	if !slices.Contains(ticket.Argv, "earlier") || len(ticket.Fresh) < 3 || slices.Contains(ticket.Fresh, "earlier") ||
		ticket.Fresh[1] != "--as" || ticket.Fresh[2] == "" {
		t.Errorf("it goes on with %q, else with %q", ticket.Argv, ticket.Fresh)
	}
}

func TestSpawn_withoutAnEnvironmentStartsNoAgent(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.fails["environment"] = errPort
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	wantError(t, err, errPort.Error())
	if len(p.panes) != 0 {
		t.Errorf("panes %v", p.panes)
	}
}

func TestSpawn_writesThePromptWithRealNewlines(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Task.Summary = "mend {branch}; $(touch x) \\n"
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	want := "# mend {branch}; $(touch x) \\n\n\nRead TASK.md.\n"
	if got := read(t, filepath.Join(p.taskDir, "prompts", "7-worker.md")); got != want {
		t.Errorf("the prompt is %q, want %q", got, want)
	}
	argv := ticketOf(t, executor).Argv
	if argv[0] != "claude-program" || argv[len(argv)-1] != want || slices.Contains(argv, "--effort") {
		t.Errorf("the arguments are %q", argv)
	}
}

func TestSpawn_tellsTheProgramWhichModelToUse(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Task.Model, job.Task.ReviewModel = "opus", "sonnet"
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if argv := ticketOf(t, executor).Argv; !slices.Contains(argv, "--model=opus") {
		t.Errorf("the arguments are %q", argv)
	}
	// a list without a place for it, and a word that a program would take for a flag
	job.Hook.ID, job.Hook.Permissions = 8, task.PermissionsReduced
	started := len(p.panes)
	_, err = executor.Perform(t.Context(), job)
	wantError(t, err, `cannot use the model "opus" for the worker: the harness "claude" does not say`)
	job.Task.Model = "--yolo"
	_, err = executor.Perform(t.Context(), job)
	wantError(t, err, `cannot use the model "--yolo"`)
	job.Task.Model, job.Task.Effort = "", "--yolo"
	_, err = executor.Perform(t.Context(), job)
	wantError(t, err, `cannot use the effort "--yolo"`)
	if len(p.panes) > started {
		t.Errorf("panes %v", p.panes)
	}
}

func TestSpawn_tellsTheAgentOfItsTask(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Prompt = "{summary}|{project}|{branch}|{review_round}|{status}\n"
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if got, want := read(t, filepath.Join(p.taskDir, "prompts", "7-worker.md")),
		"mend the gate|garden|fix|2|working\n"; got != want {
		t.Errorf("the prompt is %q, want %q", got, want)
	}
}

func TestSpawn_startsNothingWithoutTheProgramOrTheWorkspace(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.programs = nil
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	wantError(t, err, `cannot start the harness "claude": cannot find the program "claude-program" on PATH`)
	wantCalls(t, p, "equip garden--1")
	if _, err := os.Stat(filepath.Join(executor.Home, "launch", "7.json")); !os.IsNotExist(err) {
		t.Errorf("a ticket was written: %v", err)
	}
	job := aJob(action.SpawnAgent, task.RoleWorker)
	job.Task.Workspace = ""
	_, err = executor.Perform(t.Context(), job)
	wantError(t, err, "has no workspace")
	wantCalls(t, p)
}

func TestSpawn_makesOrangeReachableForAgents(t *testing.T) {
	t.Parallel()
	executor, _ := newExecutor(t)
	link := filepath.Join(executor.Home, "bin", "orange")
	for _, self := range []string{"/opt/orange", "/opt/newer"} {
		executor.Self = self
		job := aJob(action.SpawnAgent, task.RoleWorker)
		job.Hook.ID++
		_, err := executor.Perform(t.Context(), job)
		must(t, err)
		executor.Sessions.(*ports).panes = nil
		if target, err := os.Readlink(link); err != nil || target != self {
			t.Errorf("the link leads to %q, %v", target, err)
		}
	}
}

func TestSpawn_ofAnAgentThatIsGoneAtOnceSucceeds(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.fails["began"] = errPort
	effect, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	if effect.Seat.PID != 0 || len(effect.Events) != 1 {
		t.Errorf("the effect is %+v", effect)
	}
}

func TestANamedRole_hasAWindowOfItsOwn(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1")}
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, "cto"))
	must(t, err)
	wantCalls(t, p, "equip garden--1", strays("cto"), "start cto")
	if !slices.Contains(ticketOf(t, executor).Set, "ORANGE_ROLE=cto") {
		t.Errorf("the ticket sets %v", ticketOf(t, executor).Set)
	}
}

// An agent that changes files should know whose lines they are.
func TestSpawn_namesWhatTheBranchConflictsWith(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	known := conflict.Overview{Of: map[string][]conflict.Conflict{"abc": {{Branch: "feat/b", Task: "xyz",
		Files: []string{"a.go"}}}, "xyz": {{Branch: "fix", Task: "abc", Files: []string{"other.go"}}}}}
	var unread error
	executor.Conflicts = func(_ context.Context, project string) (conflict.Overview, error) {
		if project != "garden" {
			t.Errorf("asked for project %q", project)
		}
		return known, unread
	}
	_, err := executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
	prompt := read(t, filepath.Join(p.taskDir, "prompts", "7-worker.md"))
	if !strings.Contains(prompt, `"feat/b" (task xyz) changes the same lines of "a.go"`) ||
		strings.Contains(prompt, "other.go") {
		t.Errorf("the worker reads %q", prompt)
	}
	_, err = executor.Perform(t.Context(), aJob(action.SpawnReviewer, task.RoleReviewer))
	must(t, err)
	if prompt := read(t, filepath.Join(p.taskDir, "prompts", "7-review-2.md")); strings.Contains(prompt, "feat/b") {
		t.Errorf("the reviewer reads %q", prompt)
	}
	unread = errors.New("the record is closed")
	_, err = executor.Perform(t.Context(), aJob(action.SpawnAgent, task.RoleWorker))
	must(t, err)
}
