package engine_test

import (
	"context"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// A task that waits for others starts by itself only once all of them are done and their commits are in the default
// branch, and none waits forever. The world knows what is in the default branch, and what became of each task.

// redCheck is why a red check of a pull request sends a task back.
const redCheck = "a check of the pull request is red"

// hasInBase reports whether the default branch has a commit. In the end a person has brought all of them there.
func (s *simulation) hasInBase(commit string) bool { return s.base[commit] || s.noFaults }

// Lacks returns the commits that the default branch does not have.
func (r simulatedRepository) Lacks(_ context.Context, _ task.Task, commits []string) (string, []string, error) {
	s := r.p.sim
	lacks, err := at(r.p, "looks what the default branch has", func() ([]string, error) {
		if err := r.p.Fail("look at the default branch"); err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(commits), s.hasInBase), nil
	})
	return "main", lacks, err
}

// Fetch asks origin, which may not answer.
func (r simulatedRepository) Fetch(context.Context, task.Task) error {
	return r.p.Fail("fetch from origin")
}

// Tip is the commit of a branch.
func (r simulatedRepository) Tip(_ context.Context, t task.Task) (string, error) {
	return r.p.sim.branch(t.ID).Commit(), nil
}

// bringWork is a person who brings the work of a task that is over into the default branch without Orange.
func (s *simulation) bringWork() {
	one := s.seen.tasks[s.random.IntN(len(s.seen.tasks))]
	if one.commit != "" {
		s.logf(nil, "a person brings the work of "+s.short(one.id)+" into the default branch")
		s.base[one.commit] = true
	}
}

// othersFirst are tasks that a new one is to wait for, if any.
func (s *simulation) othersFirst() []string {
	var out []string
	for _, one := range s.seen.tasks {
		if !one.deleted && s.random.IntN(2) == 0 {
			out = append(out, one.id)
		}
	}
	return out
}

// firstOther is a live task for which another one waits; empty if there is none.
func (s *simulation) firstOther() string {
	for _, one := range s.seen.tasks {
		for _, id := range one.after {
			if other := s.seen.find(id); !one.deleted && !other.deleted && other.status != "done" &&
				other.status != "cancelled" {
				return id
			}
		}
	}
	return ""
}

// pushOn is a person who leads a task to its end, step by step: others wait for it.
func (s *simulation) pushOn(id string) {
	snapshot, err := s.Load(background, id)
	if err != nil {
		return
	}
	text, to := "", task.Status("")
	switch snapshot.Task.Status {
	case "planning", "clarification":
		text, to = "\n## Plan\nAPPROACH: "+s.note("dig")+"\n", "working"
	case "working":
		text, to = "\n## Handoff\nDONE: "+s.note("all")+"\n", "agent-review"
	case "agent-review":
		text, to = "\n## Review\nVerdict: PASS\n"+s.note("finding")+"\n", "reviewing"
	default:
		s.personContinues(snapshot.Task)
		return
	}
	s.personCommand(func(p *process) {
		p.write(id, text)
		p.ask("request", id, to, task.RoleHuman, func(token string) (record.Outcome, error) {
			return p.engine.Request(background, task.Request{Task: id, To: to, Actor: p.actor(), Reason: token})
		})
	})
}

// checkTurnsRed is a red check of the pull request of a task that waits for its merge.
func (s *simulation) checkTurnsRed() {
	for _, one := range s.seen.tasks {
		snapshot, err := s.Load(background, one.id)
		if t := snapshot.Task; err == nil && t.Status == "reviewing" {
			back := decide.Setback{On: workflow.OnPRChecksFailed, Reason: redCheck, Text: s.note("mend"),
				Commit: t.Subject.Commit, Facts: []string{s.note("run")}}
			s.start("keeper", serviceEnvironment, nil, func(p *process) {
				_, _ = p.engine.SendBack(background, one.id, back)
			})
			return
		}
	}
	s.logf(nil, "time passes")
}

// noteWaiting checks a task that starts by itself, and notes what other ones may wait for.
func (s *simulation) noteWaiting(one *observedTask, t task.Task, c record.Change) {
	for _, e := range c.Events {
		if others := e.Data["waits_for"]; e.Type == history.Created && others != "" {
			one.after = strings.Split(others, ",")
		}
		if one.after == nil || !e.IsMove() && e.Type != history.QueuedForSpace {
			continue
		}
		if e.Actor == task.ActorEngine {
			s.counts.waited++
			s.checkOthers(one)
		}
		one.after = nil
	}
	if one.status = t.Status; !t.Live {
		one.commit = t.Subject.Commit
	}
	for _, e := range c.Events {
		if _, back := e.Data[workflow.OnMergeFailed]; back && e.IsMove() {
			s.counts.sentBack++
		}
		if _, back := e.Data[workflow.OnPRChecksFailed]; back && e.IsMove() {
			s.counts.sentBack++
		}
	}
}

func (s *simulation) checkOthers(one *observedTask) {
	for _, id := range one.after {
		switch other := s.seen.find(id); {
		case other == nil || other.status != "done":
			s.breakf("%s starts by itself, and %s is not done", s.short(one.id), s.short(id))
		case !s.hasInBase(other.commit):
			s.breakf("%s starts by itself, and the default branch does not have %s of %s", s.short(one.id),
				other.commit, s.short(id))
		}
	}
}

// checkWaiting checks a task in the end: it waits only for tasks that are not over, or has a mark.
func (s *simulation) checkWaiting(one *observedTask, t task.Task) {
	if !t.Live || one.after == nil {
		return
	}
	lost := false
	alive := slices.ContainsFunc(one.after, func(id string) bool {
		other := s.seen.find(id)
		over := other.deleted || other.status == "done" || other.status == "cancelled"
		lost = lost || other.deleted || other.status == "cancelled"
		return !over
	})
	switch {
	case lost && t.Attention == "":
		s.breakf("%s waits for what will not come, and has no mark", s.short(one.id))
	case !lost && !alive:
		s.breakf("%s waits forever: all that it waits for are done", s.short(one.id))
	}
}
