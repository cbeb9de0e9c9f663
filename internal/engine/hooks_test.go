package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// watched notes the jobs that the performer gets, and adds to what it did.
type watched struct {
	perform engine.Perform
	mu      sync.Mutex
	jobs    []record.Job
	adds    map[string]record.Effect // by action
}

func (p *watched) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs = append(p.jobs, job)
	effect, err := p.perform(ctx, job)
	if more, found := p.adds[job.Hook.Action]; found && err == nil {
		return more, nil
	}
	return effect, err
}

// watch watches the performer of the world.
func (w *world) watch() *watched {
	p := &watched{perform: w.performer.Perform, adds: map[string]record.Effect{}}
	w.rewire(func(to *engine.Ports) { to.Perform = p.Perform })
	return p
}

func (p *watched) job(t *testing.T, action string) record.Job {
	t.Helper()
	for i := len(p.jobs) - 1; i >= 0; i-- {
		if p.jobs[i].Hook.Action == action {
			return p.jobs[i]
		}
	}
	t.Fatalf("%s was never performed", action)
	return record.Job{}
}

// roles gives the role cto of every workflow a harness and permissions of its own.
type roles struct {
	engine.Rules
	harness, permissions string
}

func (r roles) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	def, err := r.Rules.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	copied := *def
	copied.Roles = nil
	for _, role := range def.Roles {
		role.Harness, role.Permissions = r.harness, r.permissions
		copied.Roles = append(copied.Roles, role)
	}
	return &copied, nil
}

const office = `name: office
version: 1
roles: [cto]
allow: {one-agent: a hook may start another role than the state's; what it starts is looked at}
states:
  open: {}
  busy: {role: cto, respawn_prompt: go}
  closed: {terminal: true}
create:
  open: [{action: notify, via: desktop, message: born}]
transitions:
  - from: open
    to: busy
    hooks:
      - {action: acquire_workspace}
      - {action: spawn_agent, prompt: go, HOOK}
  - from: busy
    to: closed
    hooks:
      - {action: kill_agent, role: cto}
      - {action: run_command, run: [make]}
      - {action: kill_session}
      - {action: release_workspace}
prompts: {go: Go.}
`

// work makes a task of the office workflow and lets it begin.
func (w *world) work(hook string) string {
	w.t.Helper()
	dir := filepath.Join(w.home, "workflows")
	must(w.t, os.MkdirAll(dir, 0o755))
	must(w.t, os.WriteFile(filepath.Join(dir, "office.yml"), []byte(strings.Replace(office, "HOOK", hook, 1)), 0o644))
	out, err := w.Create(w.t.Context(), task.New{
		Project: w.repository.project, Branch: "fix", Summary: "mend the gate", Harness: "claude",
		ReviewHarness: "codex", Workflow: "office", Actor: human,
	})
	must(w.t, err)
	w.move(out.Task.ID, "busy", human)
	return out.Task.ID
}

func TestAHook_startsTheRoleAndTheHarnessThatAreMeant(t *testing.T) {
	t.Parallel()
	const full, reduced = task.PermissionsFull, task.PermissionsReduced
	tests := map[string]struct {
		hook                      string
		harness, permissions      string // of the role cto
		role, agent, mayDoAtWorst string
	}{
		"a state's role":                  {"", "", "", "cto", "", full},
		"a state's role, as the role has": {"", "aider", reduced, "cto", "aider", reduced},
		"the hook's role":                 {"role: cto", "aider", "", "cto", "aider", full},
		"the hook's role and harness":     {"role: cto, harness: pi", "aider", reduced, "cto", "pi", reduced},
		"the hook's harness":              {"harness: pi, permissions: reduced", "", "", "cto", "pi", reduced},
		"another role than the state's":   {"role: worker", "aider", reduced, task.RoleWorker, "", full},
		"a role that reviews":             {"role: cto, harness: review", "", "", "cto", "", full},
		"a reviewer":                      {"harness: review", "aider", "", task.RoleReviewer, "", full},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			seen := w.watch()
			w.rewire(func(p *engine.Ports) { p.Rules = roles{p.Rules, tt.harness, tt.permissions} })
			id := w.work(tt.hook)
			job := seen.job(t, action.SpawnAgent)
			wantText(t, "role", job.Role, tt.role)
			wantText(t, "agent", job.Agent, tt.agent)
			wantText(t, "permissions", job.Hook.Permissions, tt.mayDoAtWorst)
			seats, err := w.store.OpenSeats(t.Context(), id)
			must(t, err)
			if len(seats) != 1 || seats[0].Role != tt.role {
				t.Errorf("the seats are %+v", seats)
			}
		})
	}
}

func TestARespawn_startsTheRolesOwnHarness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.watch()
	w.rewire(func(p *engine.Ports) { p.Rules = roles{p.Rules, "aider", ""} })
	id := w.work("")
	seen.jobs = nil
	_, err := w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	must(t, err)
	job := seen.job(t, action.SpawnAgent)
	wantText(t, "role", job.Role, "cto")
	wantText(t, "agent", job.Agent, "aider")
}

// The workflow has no prompt for a move after too many crashes: the worker hears whose turn it is.
func TestAfterTwoCrashesTheWorkerHearsThatAPersonIsNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.watch()
	id := w.reach("working")
	for range 2 {
		w.die(w.death(id, task.RoleWorker))
		_, _ = w.Respawn(t.Context(), id, func(task.Task, string) (bool, error) { return false, nil }, human)
	}
	if got := seen.job(t, action.NotifyWorker).Prompt; !strings.Contains(got, "wait for them") {
		t.Errorf("it hears %q", got)
	}
}

func TestNotifyAndRunCommand_knowTheEventOfTheirMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.watch()
	id := w.work("")
	wantText(t, "type", seen.job(t, action.Notify).Event.Type, history.Created)
	w.move(id, "closed", human)
	ran := seen.job(t, action.RunCommand)
	wantText(t, "from", string(ran.Event.From), "busy")
	wantText(t, "to", string(ran.Event.To), "closed")
	wantText(t, "role", ran.Role+seen.job(t, action.KillAgent).Role+ran.Secret, "")
}

func TestRequestPR_pushesAndNotesThePullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.watch()
	id := w.reach("working")
	commit := "c0ffee"
	seen.adds[action.PushBranch] = record.Effect{Pushed: &commit}
	seen.adds[action.CreatePR] = record.Effect{
		Pushed: &commit, PR: &record.PullRequest{URL: "https://github.com/a/b/pull/1", State: record.PROpen},
		Events: []history.Event{
			{Type: history.PRCreated, Data: map[string]string{"url": "https://github.com/a/b/pull/1"}}},
	}
	_, err := w.RequestPR(t.Context(), id, worker)
	wantCode(t, err, rejection.PRRefused) // only a person may send what leaves the machine
	out, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	wantText(t, "hooks", w.states(id, out.Event.Seq), "push_branch=done create_pr=done")
	if out.Moved || out.Event.Type != history.PRRequested || out.Event.Actor != task.RoleHuman ||
		out.Task.Status != "working" {
		t.Errorf("the outcome is %+v", out)
	}
	for _, have := range []task.Task{out.Task, w.task(id)} {
		if have.PRURL != "https://github.com/a/b/pull/1" || have.PRState != record.PROpen || have.Pushed != commit {
			t.Errorf("the task is %+v", have)
		}
	}
	if text := w.document(id); !strings.Contains(text, "https://github.com/a/b/pull/1") {
		t.Errorf("TASK.md does not show it:\n%s", text)
	}
}

func TestRequestPR_takesThePlaceOfOneThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.CreatePR] = errPerformer
	first, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	wantText(t, "hooks", w.states(id, first.Event.Seq), "push_branch=done create_pr=failed")
	wantText(t, "attention", first.Task.Attention, "hook create_pr: "+errPerformer.Error())
	delete(w.performer.fails, action.CreatePR)
	second, err := w.RequestPR(t.Context(), id, human)
	must(t, err)
	wantText(t, "hooks of the first", w.states(id, first.Event.Seq), "push_branch=done create_pr=superseded")
	wantText(t, "hooks of the second", w.states(id, second.Event.Seq), "push_branch=done create_pr=done")
	wantText(t, "attention", second.Task.Attention, "")
}

func TestRequestPR_isRefusedWhereItMakesNoSense(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.watch()
	waiting := w.reach("pending")
	bare := w.reach("planning")
	over := w.reach("working")
	w.move(over, "cancelled", human)
	w.rewire(func(p *engine.Ports) { p.Work = behind{w.repository} })
	seen.jobs = nil
	for id, says := range map[string]string{waiting: "no one has worked on the branch", over: "one that is",
		bare: "commit the work there first"} {
		before := w.task(id)
		_, err := w.RequestPR(t.Context(), id, human)
		var refused *rejection.Rejection
		if !errors.As(err, &refused) || refused.Code != rejection.PRRefused || !strings.Contains(err.Error(), says) {
			t.Errorf("the answer is %v, want one that says %q", err, says)
		}
		if now := w.task(id); now.Seq != before.Seq || len(seen.jobs) != 0 {
			t.Errorf("something changed: %+v", now)
		}
	}
}

func TestRequestPR_isRefusedWhereThereIsNoOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.rewire(func(p *engine.Ports) { p.Work = alone{w.repository} })
	before := w.everything()
	_, err := w.RequestPR(t.Context(), id, human)
	wantCode(t, err, rejection.PRRefused)
	if err == nil || !strings.Contains(err.Error(), "git remote add origin URL") || w.everything() != before {
		t.Errorf("the answer is %v", err)
	}
}

// alone is a repository without a remote.
type alone struct{ *fakeRepository }

func (alone) Forge(context.Context, task.Task) (bool, string, error) {
	return false, "none", nil
}

// behind is a repository where no branch has anything new.
type behind struct{ *fakeRepository }

func (behind) Ahead(context.Context, task.Task, string) (bool, error) { return false, nil }

func TestARequestThatWaitsForItsHooks_saysForWhich(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.dead = true // until the patience is over
	var said []string
	w.OnWait(func(what string, _ time.Duration) {
		if len(said) == 0 || said[len(said)-1] != what {
			said = append(said, what)
		}
	})
	w.create("fix", true)
	if got := strings.Join(said, " "); got != action.AcquireWorkspace+" " {
		t.Errorf("it said %q", got)
	}
}
