package hook_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
	"orange/internal/work/worktree"
)

func TestPerform_refusesAnActionItDoesNotKnow(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	_, err := executor.Perform(t.Context(), aJob("make_coffee", ""))
	wantError(t, err, "make_coffee")
	wantCalls(t, p)
}

func TestPerform_knowsEveryActionThatIsNotTheRecordsOwn(t *testing.T) {
	t.Parallel()
	for _, does := range action.Names() {
		if class, _ := action.ClassOf(does); class == action.ClassRecord {
			continue
		}
		executor, p := newExecutor(t)
		p.tree = t.TempDir()
		job := aJob(does, task.RoleWorker)
		job.Hook.Role, job.Hook.Via, job.Hook.Run = task.RoleWorker, action.ViaDesktop, []string{"true"}
		if _, err := executor.Perform(t.Context(), job); err != nil {
			t.Errorf("%s: %v", does, err)
		}
	}
}

// What a port answers with an error is the hook's error, and the effect is empty: nothing is believed to be done. But
// before a start no earlier agent of the role lives any more.
func TestPerform_handsOnTheErrorsOfItsPorts(t *testing.T) {
	t.Parallel()
	tests := []struct{ action, call string }{
		{action.AcquireWorkspace, "prepare"}, {action.ReleaseWorkspace, "release"}, {action.ReleaseWorkspace, "panes"},
		{action.SpawnAgent, "panes"}, {action.SpawnAgent, "equip"}, {action.SpawnAgent, "start"},
		{action.SpawnReviewer, "start"},
		{action.KillSession, "panes"}, {action.KillSession, "end-strays"}, {action.KillReviewer, "end-strays"},
		{action.NotifyWorker, "waiters"}, {action.NotifyWorker, "panes"}, {action.SpawnNext, "start-next"},
		{action.DeleteRemoteBranch, "delete-remote"},
		{action.KillAgent, "panes"}, {action.KillAgent, "end-strays"}, {action.PushBranch, "push"},
		{action.CreatePR, "push"}, {action.CreatePR, "pull-requests"},
		{action.CreatePR, "view"}, {action.CreatePR, "document"}, {action.CreatePR, "open"}, {action.Notify, "run"},
		{action.RunCommand, "view"}, {action.RunCommand, "run"},
	}
	for _, tt := range tests {
		executor, p := newExecutor(t)
		p.fails[tt.call], p.tree = errPort, t.TempDir()
		job := aJob(tt.action, task.RoleWorker)
		job.Hook.Role, job.Hook.Via, job.Hook.Run = task.RoleWorker, action.ViaDesktop, []string{"true"}
		effect, err := executor.Perform(t.Context(), job)
		wantError(t, err, errPort.Error())
		if effect.Lease != record.LeaseKeep || effect.Session != nil || effect.Seat != nil ||
			effect.Pushed != nil || effect.PR != nil || len(effect.Events) != 0 ||
			len(effect.EndSeats) != 0 && tt.call != "start" {
			t.Errorf("%s with a shut %s: the effect is %+v", tt.action, tt.call, effect)
		}
	}
}

// A workspace that could not be made ready goes back, but not one in which agents of the task have worked, and not
// where one lives there.
func TestAcquireWorkspace_givesBackWhatItCouldNotMakeReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fresh bool
		fails string
		lease record.Lease
	}{
		"a fresh one":                {true, "", record.LeaseFree},
		"one that it worked in":      {false, "", record.LeaseKeep},
		"one that is not left clean": {true, "release", record.LeaseKeep},
		"no look at its agents":      {true, "panes", record.LeaseKeep},
	} {
		executor, p := newExecutor(t)
		p.cleared.Fresh = c.fresh
		p.fails["prepare"], p.fails[c.fails] = errPort, errPort
		effect, err := executor.Perform(t.Context(), aJob(action.AcquireWorkspace, ""))
		wantError(t, err, errPort.Error())
		if effect.Lease != c.lease {
			t.Errorf("%s: the effect is %+v", name, effect)
		}
	}
}

func TestAcquireWorkspace_preparesTheTreeAndTellsWhatWasRescued(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.cleared = worktree.Cleared{
		Rescued:   []worktree.Rescue{{Ref: "refs/orange/rescue/abc/1", Files: []string{"a", "b c"}}},
		Aside:     []record.Aside{{Path: "lib", Why: "a repository of its own", Files: 2, Bytes: 1200}},
		TakenBack: []string{"core.hookspath"},
	}
	effect, err := executor.Perform(t.Context(), aJob(action.AcquireWorkspace, ""))
	must(t, err)
	wantCalls(t, p, "prepare garden--1")
	var said []string
	for _, e := range effect.Events {
		said = append(said, fmt.Sprintf("%s %v", e.Type, e.Data))
	}
	want := []string{`work.rescued map[files:"a", "b c" ref:refs/orange/rescue/abc/1]`,
		"work.rescued map[aside:lib (a repository of its own; 2 files, 1.2 kB)]",
		"work.rescued map[taken_back:core.hookspath, which was changed in the worktree's own git configuration]"}
	if !slices.Equal(said, want) {
		t.Errorf("the events are %+v", effect.Events)
	}
}

func TestReleaseWorkspace_givesTheLeaseBack(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	dead := aPane(task.RoleWorker, "3")
	dead.Dead = true
	other := aPane(task.RoleWorker, "4")
	other.Task = "another"
	p.panes = []tmux.Pane{dead, other}
	job := aJob(action.ReleaseWorkspace, "")
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "release garden--1")
	if effect.Lease != record.LeaseFree {
		t.Errorf("the effect is %+v", effect)
	}
	job.Task.Workspace = ""
	effect, err = executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p)
	if effect.Lease != record.LeaseKeep {
		t.Errorf("again: the effect is %+v", effect)
	}
}

func TestReleaseWorkspace_refusesWhileAnAgentRuns(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.panes = []tmux.Pane{aPane(task.RoleReviewer, "3")}
	effect, err := executor.Perform(t.Context(), aJob(action.ReleaseWorkspace, ""))
	wantError(t, err, "the reviewer of the task still runs")
	wantCalls(t, p)
	if effect.Lease != record.LeaseKeep {
		t.Errorf("the effect is %+v", effect)
	}
}

func TestKillSession_endsAllAgentsOfTheTaskAndNoOthers(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	worker, reviewer, named, other := aPane(task.RoleWorker, "1"), aPane(task.RoleReviewer, "2"),
		aPane("cto", "3"), aPane(task.RoleWorker, "4")
	reviewer.PID, named.PID, named.Dead = 51, 52, true
	other.Task, other.SessionID = "abcd", "$2"
	p.panes = []tmux.Pane{worker, reviewer, named, other}
	effect, err := executor.Perform(t.Context(), aJob(action.KillSession, ""))
	must(t, err)
	wantCalls(t, p, "kill-session $1", "end-group 50", "end-group 51", "end-strays at home ORANGE_TASK_ID=abc")
	if !slices.Equal(effect.EndSeats, []string{record.EveryRole}) {
		t.Errorf("the seats of %v end, want those of every role", effect.EndSeats)
	}
	if effect.Session == nil || *effect.Session != "" || len(effect.Events) != 1 ||
		effect.Events[0].Type != history.AgentStopped {
		t.Errorf("the effect is %+v", effect)
	}
	effect, err = executor.Perform(t.Context(), aJob(action.KillSession, ""))
	must(t, err)
	wantCalls(t, p, "end-strays at home ORANGE_TASK_ID=abc")
	if len(effect.Events) != 0 || effect.Session == nil {
		t.Errorf("again: the effect is %+v", effect)
	}
}

func TestKillReviewer_leavesTheWorkerAlone(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	dead := aPane(task.RoleReviewer, "3")
	dead.Dead = true
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1"), aPane(task.RoleReviewer, "2"), dead}
	effect, err := executor.Perform(t.Context(), aJob(action.KillReviewer, ""))
	must(t, err)
	wantCalls(t, p, "kill-window @2", "end-group 50", "kill-window @3", strays("reviewer"))
	if !slices.Equal(effect.EndSeats, []string{task.RoleReviewer}) || effect.Session != nil || len(effect.Events) != 2 {
		t.Errorf("the effect is %+v", effect)
	}
	_, err = executor.Perform(t.Context(), aJob(action.KillReviewer, ""))
	must(t, err)
	wantCalls(t, p, strays("reviewer"))
}

func TestNotifyWorker_reachesTheWorkerWhereItIs(t *testing.T) {
	t.Parallel()
	dead := aPane(task.RoleWorker, "1")
	dead.Dead = true
	const said = "# mend the gate\n\nRead TASK.md."
	tests := map[string]struct {
		panes   []tmux.Pane
		waits   bool
		respawn string
		calls   []string
		how     string
	}{
		"it waits": {[]tmux.Pane{aPane(task.RoleWorker, "1")}, true, "again", nil, "wait"},
		"it sits at a prompt": {[]tmux.Pane{aPane(task.RoleReviewer, "2"), aPane(task.RoleWorker, "1")},
			false, "again", []string{"type %1 " + said}, "typed"},
		"beside another role": {[]tmux.Pane{aPane("tester", "2"), aPane(task.RoleWorker, "1")}, false,
			"again", []string{"type %1 " + said}, "typed"},
		"in another role's part": {[]tmux.Pane{aPane("tester", "2")}, false, "again", []string{
			"type %2 " + said}, "typed"},
		"it died": {[]tmux.Pane{dead}, false, "again", []string{
			"kill-window @1", "equip garden--1", strays("worker"), "start worker"}, ""},
		"only a reviewer": {[]tmux.Pane{aPane(task.RoleReviewer, "2")}, false, "again", []string{
			"equip garden--1", strays("worker"), "start worker"}, ""},
		"only a person's own window": {[]tmux.Pane{aPane("", "1")}, false, "again", []string{
			"equip garden--1", strays("worker"), "start worker"}, ""},
		"nobody to start": {nil, false, "", nil, ""},
		"nobody is there, yet": {
			nil, false, "again", []string{"equip garden--1", strays("worker"), "start worker"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, p := newExecutor(t)
			p.panes = tt.panes
			p.waiters, p.alive = []task.Process{{PID: 8}, {PID: 9}}, map[int]bool{9: tt.waits}
			job := aJob(action.NotifyWorker, task.RoleWorker)
			job.Respawn = tt.respawn
			effect, err := executor.Perform(t.Context(), job)
			must(t, err)
			wantCalls(t, p, tt.calls...)
			if want := (record.Notice{Seq: 5, Role: task.RoleWorker, Text: said}); effect.NewNotice == nil ||
				*effect.NewNotice != want {
				t.Errorf("the notice is %+v, want %+v", effect.NewNotice, want)
			}
			if tt.how != "" && (len(effect.Events) != 1 || effect.Events[0].Type != history.AgentNotified ||
				effect.Events[0].Data["how"] != tt.how) {
				t.Errorf("the events are %+v", effect.Events)
			}
			if started := strings.Contains(strings.Join(tt.calls, " "), "start"); started != (effect.Seat != nil) {
				t.Errorf("the seat is %+v", effect.Seat)
			}
		})
	}
}

func TestNotifyWorker_findsTheWorkerThatAnInterruptedAttemptStarted(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	started := aPane(task.RoleWorker, "7")
	p.panes = []tmux.Pane{started}
	p.waiters, p.alive = []task.Process{{PID: 9}}, map[int]bool{9: true}
	job := aJob(action.NotifyWorker, task.RoleWorker)
	job.Hook.Attempts = 1
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p)
	if effect.Seat == nil || effect.Seat.Hash != started.Seat || effect.Seat.PID != started.PID ||
		effect.NewNotice == nil || len(effect.Events) != 1 {
		t.Errorf("the effect is %+v", effect)
	}
}

func TestNotifyWorker_failsWhenTypingDoes(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.panes = []tmux.Pane{aPane(task.RoleWorker, "1")}
	p.fails["type"] = errPort
	effect, err := executor.Perform(t.Context(), aJob(action.NotifyWorker, task.RoleWorker))
	wantError(t, err, errPort.Error())
	if len(effect.Events) != 0 {
		t.Errorf("the events are %+v", effect.Events)
	}
}

// What a program shows while it waits differs between its versions: a person has to see that a file does not fit.
func TestNotifyWorker_namesTheWindowThatItCannotTypeInto(t *testing.T) {
	t.Parallel()
	window := "orange task attach " + aJob(action.NotifyWorker, task.RoleWorker).Task.ID + " --role worker"
	file := `"ready" in the file of the harness`
	for reason, names := range map[tmux.Reason]bool{tmux.NotReady: true, tmux.DialogOpen: false} {
		executor, p := newExecutor(t)
		p.panes = []tmux.Pane{aPane(task.RoleWorker, "1")}
		p.fails["type"] = &tmux.NotSafe{Reason: reason}
		_, err := executor.Perform(t.Context(), aJob(action.NotifyWorker, task.RoleWorker))
		wantError(t, err, window)
		if strings.Contains(err.Error(), file) != names {
			t.Errorf("where %s the error is %q, want it to name the file: %t", reason, err, names)
		}
	}
}

func TestSpawnNextAndDeleteRemoteBranch_sayWhatTheyDid(t *testing.T) {
	t.Parallel()
	tests := []struct{ action, started, deleted, left, call, said string }{
		{action.SpawnNext, "xyz", "", "", "start-next garden", "started task xyz"},
		{action.SpawnNext, "", "", "", "start-next garden", "no task waits"},
		{action.DeleteRemoteBranch, "", "origin/fix", "", "delete-remote fix", "deleted origin/fix"},
		{action.DeleteRemoteBranch, "", "", "", "delete-remote fix", "no remote branch to delete"},
		{action.DeleteRemoteBranch, "", "", "it is not merged", "delete-remote fix",
			"left the remote branch alone: it is not merged"},
	}
	for _, tt := range tests {
		executor, p := newExecutor(t)
		p.started, p.deleted, p.left = tt.started, tt.deleted, tt.left
		effect, err := executor.Perform(t.Context(), aJob(tt.action, ""))
		must(t, err)
		wantCalls(t, p, tt.call)
		if effect.Said != tt.said {
			t.Errorf("it said %q, want %q", effect.Said, tt.said)
		}
	}
}
