package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// hooks does to the simulated world what each hook does to the real one. The engine may ask again for what is done:
// it looks first.
type hooks struct{ r *run }

type script struct {
	name   string
	reads  bool   // it only looks: a reviewer, or one with reduced permissions
	commit string // the commit that it was started on

	kind    kind
	turn    int // the move after which it began its present turn
	tries   int // how often it was refused in that turn
	planned bool
	silent  bool // it does nothing more in this turn
}

// Run starts a runner: a program of its own, which nothing that it ends can end. It may come late.
func (h hooks) Run(ctx context.Context, id string, _ bool) error {
	r := h.r
	return r.Step(Step{What: "it starts a runner of hooks", Task: id}, func() error {
		if err := r.Fail("the start of a runner"); err != nil {
			return err
		}
		settle := func(ctx context.Context) {
			// What it cannot do stays pending.
			_ = r.runProgram("a runner of hooks", func() error { return r.engine.Settle(ctx, id) })
		}
		if !r.calm && r.chance(lateShare) {
			r.faults.Late++
			r.logf("FAULT: the runner of hooks comes late")
			r.plan(runnerStarts, r.within(time.Second, time.Minute), nil, settle)
			return nil
		}
		settle(ctx)
		return nil
	})
}

func (h hooks) Perform(ctx context.Context, job record.Job) (record.Effect, error) {
	r := h.r
	what := fmt.Sprintf("hook %d (%s)", r.hookNumber(job.Hook.ID), job.Hook.Action)
	return take(r, Step{What: "it performs " + what, Task: job.Task.ID}, func() (record.Effect, error) {
		r.audit.Performs(ctx, job)
		early := r.Fail(what)
		if early != nil && r.chance(0.5) {
			return record.Effect{}, early
		}
		effect, err := h.do(job)
		if err != nil {
			r.program.disturbed = true // a breach has reported that the workflow asks for the impossible
			r.logf("%s fails: %v", what, err)
			return effect, err
		}
		r.audit.Hook(job.Hook.ID).Performed++
		if early != nil {
			return record.Effect{}, early // it has done its work, and the engine does not know
		}
		r.logf("%s is performed: %s", what, effect.Said)
		return effect, nil
	})
}

func (h hooks) do(job record.Job) (record.Effect, error) {
	r := h.r
	spec, _ := action.Of(job.Hook.Action)
	//exhaustive:enforce
	switch spec.Means {
	case action.MakesWorkspace:
		return record.Effect{Said: "the workspace is ready"}, nil
	case action.FreesWorkspace:
		return h.release(job)
	case action.StartsAgent:
		return h.spawn(job)
	case action.NotifiesWorker:
		return h.notifyWorker(job)
	case action.EndsAll:
		none := ""
		h.end(func(*Agent) bool { return true })
		return record.Effect{EndSeats: []string{record.EveryRole}, Session: &none, Said: "every agent is ended"}, nil
	case action.EndsAgent:
		role := job.Hook.Role
		if role == "" && job.Hook.Action == action.KillReviewer {
			role = task.RoleReviewer
		}
		h.end(func(a *Agent) bool { return a.Role == role })
		return record.Effect{EndSeats: []string{role}, Said: "the " + role + " is ended"}, nil
	case action.SetsAside:
		r.setAside(job.Hook.Folder)
	case action.Pushes:
		pushed := "c0ffee"
		return record.Effect{Pushed: &pushed, Said: "the branch is pushed"}, nil
	case action.OpensPR:
		if r.pr.URL == "" {
			r.pr = record.PullRequest{URL: "https://forge.invalid/simulated/pull/1", State: record.PROpen,
				Commit: "c0ffee"}
		}
		pr := r.pr
		return record.Effect{PR: &pr, Said: "the pull request is open"}, nil
	case action.MeansNothing:
	}
	return record.Effect{Said: "done"}, nil // what is left touches neither agents nor workspace
}

func (h hooks) end(which func(*Agent) bool) {
	for _, a := range h.r.Agents {
		if !which(a) {
			continue
		}
		a.Window = ""
		if a.Alive {
			a.Alive = false
			h.r.unplan(a)
		}
	}
}

func (h hooks) release(job record.Job) (record.Effect, error) {
	if job.Task.Workspace == "" {
		return record.Effect{Said: "no workspace to release"}, nil
	}
	if a := h.r.anyone(); a != nil {
		property := propWorkspace
		if !job.Task.Live && !h.endedLater(job) {
			property = propNobodyLeft
		}
		h.r.breakf(property, "the workspace is given back while %s lives in it", a.name)
		return record.Effect{}, fmt.Errorf("cannot release the workspace: %s still runs in it", a.name)
	}
	return record.Effect{Lease: record.LeaseFree, Said: "the workspace is given back"}, nil
}

// endedLater reports whether a later hook of a task ends agents.
func (h hooks) endedLater(job record.Job) bool {
	s, err := h.r.Load(context.Background(), job.Task.ID)
	h.r.setErr(err)
	return slices.ContainsFunc(s.Owed, func(o task.OwedHook) bool {
		return o.ID > job.Hook.ID && slices.Contains([]string{action.KillSession, action.KillAgent,
			action.KillReviewer}, o.Action)
	})
}

// notifyWorker tells the worker that it is its turn; it starts one if none lives.
func (h hooks) notifyWorker(job record.Job) (record.Effect, error) {
	notice := &record.Notice{Seq: job.Hook.Event, Role: task.RoleWorker, Text: "go on"}
	if h.startedBy(job) == nil {
		if a := h.r.agent(func(a *Agent) bool { return a.Alive && a.Role != task.RoleReviewer }); a != nil {
			return record.Effect{NewNotice: notice, Said: a.name + " is notified"}, nil
		}
		if job.Respawn == "" {
			return record.Effect{NewNotice: notice, Said: "there is no one to notify"}, nil
		}
	}
	effect, err := h.spawn(job)
	effect.NewNotice = notice
	return effect, err
}

// startedBy is the agent that an earlier attempt at the same hook has started.
func (h hooks) startedBy(job record.Job) *Agent {
	return h.r.agent(func(a *Agent) bool { return a.Hook == job.Hook.ID && a.Window != "" })
}

func (h hooks) spawn(job record.Job) (record.Effect, error) {
	r := h.r
	if a := h.startedBy(job); a != nil {
		return effectOfStart(job, a), nil
	}
	h.end(func(a *Agent) bool { return a.Role == job.Role })
	if job.Task.Workspace == "" {
		r.breakf(propWorkspace, "the %s is started, and the task has no workspace", job.Role)
		return record.Effect{}, fmt.Errorf("cannot start the %s: the task has no workspace", job.Role)
	}
	reads := job.Role == task.RoleReviewer || job.Hook.Permissions == task.PermissionsReduced
	for _, other := range r.Agents {
		if other.Alive && other.reads == reads {
			r.breakf(propOneAgent, "the %s is started while %s lives, and both %s", job.Role, other.name,
				map[bool]string{true: "review", false: "change the work"}[reads])
		}
	}
	a := &Agent{
		Task: job.Task.ID, PID: 1000 + len(r.Agents), Role: job.Role, Hook: job.Hook.ID, Seat: job.Seat,
		Secret: job.Secret, Workspace: job.Task.Workspace, Window: job.Role, Alive: true, Touched: r.clock,
		script: script{name: fmt.Sprintf("%s %d", job.Role, len(r.Agents)+1), reads: reads, turn: -1,
			commit: r.branch().Commit()},
	}
	a.kind = r.draw()
	r.Agents = append(r.Agents, a)
	if reads {
		r.reviews++
	}
	r.logf("%s is started, a %s one", a.name, a.kind)
	if a.kind == dying && r.chance(0.2) {
		r.end(a, task.Ending{Unstarted: "no such program"})
	}
	return effectOfStart(job, a), nil
}

func effectOfStart(job record.Job, a *Agent) record.Effect {
	event := history.AgentSpawned
	if a.Role == task.RoleReviewer {
		event = history.ReviewStarted
	}
	session := "simulated"
	seat := &record.Seat{Hash: a.Seat}
	data := map[string]string{"role": a.Role, "window": a.Role, "session": session, history.DataHarness: scripted}
	if job.Agent != "" {
		delete(data, history.DataHarness)
		data[history.DataNamedHarness] = job.Agent
	}
	if a.Alive {
		seat.PID, seat.Began = a.PID, a.Began()
	}
	return record.Effect{
		Events:  []history.Event{{Type: event, Data: data}},
		Session: &session, Seat: seat, Said: a.name + " is at work",
	}
}

// end is the end of an agent that no hook ended.
func (r *run) end(a *Agent, ending task.Ending) {
	if !a.Alive {
		return
	}
	a.Alive, a.ByItself, a.Ending = false, true, ending
	a.Noted = ending.Unstarted != "" || r.chance(0.5)
	// dead windows stay; no one closes a window that the hook which started it has still to find
	if stays := r.chance(0.5) || r.audit.Hook(a.Hook).Settled == 0; !stays {
		a.Window = ""
	}
	r.faults.AgentDeaths++
	r.unplan(a)
	r.logf("%s dies: %v", a.name, ending)
	late := r.within(time.Second, 10*time.Second)
	if r.chance(lateShare) {
		r.faults.Late++
		late = r.within(time.Minute, 2*time.Hour)
	}
	r.reportDeath(a, late)
	if r.chance(lateShare) {
		r.faults.Repeated++
		r.reportDeath(a, r.within(time.Second, 3*time.Hour))
	}
}

func (r *run) setAside(folder string) {
	maps.DeleteFunc(r.artifacts, func(source string, _ artifact) bool { return strings.HasPrefix(source, folder+"/") })
}
