package engine_test

import (
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// environmentClaims determine in whose environment the programs of a task may run: never in an agent's; in that of
// the last person who had the task started, for as long as it holds a workspace or waits for one. If the terminal
// server has lost that environment, or none is kept for sure, it is the one of the program's starter, most of all the
// service, and is the task's from then on. If two people act at once, either may be the last.
//
// The claims follow from what people ask, from what is committed, and from what the world does to the terminal server
// and to programs. They judge what the engine keeps and drops, and never derive from it.
type environmentClaims struct {
	claims map[string][]*claim
	holds  map[string]bool     // tasks that have a workspace, or wait for one, or for other tasks
	drops  map[string]*process // the process that dropped it last, or was refused
	// programs by which a task has stopped to hold one, or which have kept something since: they have to drop it
	owing  map[string][]*process
	lostAt int               // the length of the trace when the terminal server was lost last
	unable map[*process]bool // programs whose environment the world has refused to keep
	// tasks of which something may be left: the world has refused to drop it, or has ended the program that was
	// about to
	excused map[string]bool
}

// claim is a person's question by which a task's environment becomes theirs.
type claim struct {
	environment string
	by          *process // nil for one that found nothing kept, and had the task's programs run in its own from then on
	since       int      // the length of the trace when it was committed, or asked
	until       int      // and when its program had the hooks set going, or was ended; 0 while it has not
	retries     bool     // nothing need be committed for it: what is owed is performed for this person from now on
	granted     bool     // what was asked for is committed
	// the server was lost meanwhile: what was kept for it before is gone, and what is kept after is there
	serverLost bool
}

// What has run.
const (
	ranAgent = "agent"
	ranHook  = "hook"
	ranCheck = "check"
	ranBlind = "check that could not look for it"
)

func newEnvironmentClaims() *environmentClaims {
	return &environmentClaims{claims: map[string][]*claim{}, holds: map[string]bool{}, drops: map[string]*process{},
		owing: map[string][]*process{}, excused: map[string]bool{}, unable: map[*process]bool{}}
}

// over reports whether a claim's program has done all that it could for it.
func (c *claim) over() bool { return c.until > 0 || c.by.endedAt > 0 }

// ended is when a claim's program had done all that it could.
func (c *claim) ended() int {
	if c.until > 0 {
		return c.until
	}
	return c.by.endedAt
}

// must reports whether its environment is the task's in every case.
func (c *claim) must() bool { return c.until > 0 && c.granted && !c.serverLost }

// overtaken reports whether another claim began after this one was over, and succeeded; a claim that succeeds after
// a program has looked is too late for that program.
func (c *claim) overtaken(all []*claim, looked int) bool {
	return c.over() && slices.ContainsFunc(all, func(o *claim) bool {
		return o.must() && o.since > c.ended() && o.until <= looked
	})
}

// noteQuestion notes that a person asks for a start, or for a retry: if the task already waits for a workspace, or
// nothing has failed yet, there may be nothing to commit for that.
func (r *environmentClaims) noteQuestion(s *simulation, p *process, id string, retries bool) {
	r.claims[id] = append(r.claims[id], &claim{environment: p.environment, by: p, since: len(s.trace),
		retries: retries})
}

// noteAnswer notes the result of the questions of a person's program. A question is granted if its task waits for a
// workspace, or if its retry gets hooks. One that met an error may be granted, or not.
func (r *environmentClaims) noteAnswer(s *simulation, p *process, out record.Outcome, met error) {
	for one, all := range r.claims { // each for itself
		r.claims[one] = slices.DeleteFunc(all, func(c *claim) bool {
			if c.by != p || c.until > 0 {
				return false
			}
			c.granted = c.granted || out.Queued || c.retries && len(out.Hooks) > 0
			c.until = len(s.trace)
			return !c.granted && (met == nil || refused(met))
		})
	}
}

// noteStart notes that a program has the hooks of a task set going: what it had to keep for its person is kept.
func (r *environmentClaims) noteStart(s *simulation, p *process, id string) {
	for _, c := range r.claims[id] {
		if c.by == p && (c.granted || c.retries) && c.until == 0 {
			c.granted, c.until = true, len(s.trace)
		}
	}
}

// claimsEnvironment reports whether a person's event makes the task's environment theirs.
func claimsEnvironment(t task.Task, e history.Event) bool {
	if e.Person == "" || e.Actor != task.RoleHuman {
		return false
	}
	switch e.Type {
	case history.QueuedForSpace:
		return true
	case history.Created:
		if e.Data["waits_for"] != "" {
			return true
		}
	case history.HooksRetried:
		return t.Workspace != ""
	}
	return slices.ContainsFunc(e.Hooks, func(does string) bool {
		return does == action.AcquireWorkspace || strings.HasPrefix(does, "spawn_") && does != action.SpawnNext
	})
}

// noteCommit notes what a program has made durable.
func (r *environmentClaims) noteCommit(s *simulation, p *process, c record.Change, t task.Task) {
	if s.single { // one program does everything there, for everyone
		return
	}
	// A start that failed gives its workspace back too, and the next try runs in what is kept.
	over := c.Lease == record.LeaseFree && !slices.ContainsFunc(c.Settled, func(h record.Settled) bool {
		return h.State == task.HookFailed
	})
	if whose := s.server.kept[t.ID]; over && whose != "" && r.drops[t.ID] != p {
		s.breakf("%s gives its workspace back, and the environment of %s is kept for it still", s.short(t.ID), whose)
	}
	for _, e := range c.Events {
		retries := e.Type == history.HooksRetried && e.Person != "" && s.owesRoom(t.ID)
		if !claimsEnvironment(t, e) && !retries {
			if e.Type == history.Created && e.Actor == task.RoleHuman { // the same question may start it
				r.noteQuestion(s, p, t.ID, false)
			}
			continue
		}
		if e.Person != p.environment {
			s.breakf("an event of %s says that it is %s's, and %s asked: %+v", s.short(t.ID), e.Person,
				p.environment, e)
		}
		at := slices.IndexFunc(r.claims[t.ID], func(c *claim) bool { return c.by == p && c.until == 0 && !c.granted })
		if at < 0 {
			r.noteQuestion(s, p, t.ID, false)
			at = len(r.claims[t.ID]) - 1
		}
		r.claims[t.ID][at].granted, r.claims[t.ID][at].since = true, len(s.trace)
	}
	held := r.holds[t.ID]
	if r.holds[t.ID] = t.Workspace != "" || t.QueuedFor != "" || t.WaitsForTasks() || s.owesRoom(t.ID); held &&
		!r.holds[t.ID] {
		r.noteOver(p, t.ID)
	}
}

// owesRoom reports whether a task will have a workspace by a hook that it owes.
func (s *simulation) owesRoom(id string) bool {
	snapshot, err := s.store.Load(background, id)
	return err == nil && slices.ContainsFunc(snapshot.Owed, func(h task.OwedHook) bool {
		return h.Action == action.AcquireWorkspace
	})
}

// noteOver notes that a task no longer holds a workspace, nor waits for one.
func (r *environmentClaims) noteOver(p *process, id string) {
	delete(r.holds, id)
	delete(r.claims, id)
	r.owing[id] = append(r.owing[id], p)
}

// noteNotKept notes that the world has refused to keep the environment of a program for a task.
func (r *environmentClaims) noteNotKept(p *process, id string) {
	r.unable[p] = true
	r.claims[id] = slices.DeleteFunc(r.claims[id], func(c *claim) bool { return c.by == p && c.until == 0 })
}

func (r *environmentClaims) noteNotDropped(p *process, id string) {
	r.drops[id], r.excused[id] = p, true
}

func (r *environmentClaims) noteDropped(p *process, id string) {
	delete(r.excused, id)
	r.drops[id] = p
	r.owing[id] = slices.DeleteFunc(r.owing[id], func(o *process) bool { return o == p })
}

// noteKept looks at an environment that is kept for a task from now on.
func (r *environmentClaims) noteKept(s *simulation, p *process, id string) {
	if s.single {
		return
	}
	if strings.HasPrefix(p.environment, "agent ") {
		s.breakf("the environment of %s is kept for %s", p.environment, s.short(id))
	}
	if !r.holds[id] {
		r.owing[id] = append(r.owing[id], p)
	}
}

// noteLost notes that the terminal server has forgotten everything.
func (r *environmentClaims) noteLost(s *simulation) {
	r.lostAt = len(s.trace)
	for id, all := range r.claims { // each for itself
		r.claims[id] = slices.DeleteFunc(all, (*claim).over)
		for _, c := range r.claims[id] {
			c.serverLost = true
		}
	}
}

// checkEnvironment looks at a program of a task that was started in an environment.
func (s *simulation) checkEnvironment(what, id, whose string, p *process) {
	if s.single {
		return
	}
	s.counts.ran++
	s.logf(p, "the "+what+" of "+s.short(id)+" runs in the environment of "+whose)
	r := s.environments
	if whose == "" || strings.HasPrefix(whose, "agent ") {
		s.breakf("the %s of %s runs in the environment of %q", what, s.short(id), whose)
	}
	looked := p.lookedAt
	if what == ranAgent { // its launcher looks again
		looked = len(s.trace)
	}
	if !slices.ContainsFunc(r.claims[id], func(c *claim) bool { return c.must() && c.until <= looked }) {
		s.counts.unclaimed++ // none is kept for sure: the environment is its starter's, and then the task's
		if p.lookedAt > r.lostAt && (what == ranAgent || what == ranHook) {
			r.claims[id] = append(r.claims[id], &claim{environment: whose, since: p.lookedAt, until: len(s.trace),
				granted: true})
		}
		return
	}
	var may []string
	for _, c := range r.claims[id] {
		if !c.overtaken(r.claims[id], looked) {
			may = append(may, c.environment)
		}
	}
	if what != ranBlind && !slices.Contains(may, whose) {
		s.breakf("the %s of %s runs in the environment of %s, and the task was started by %q", what, s.short(id),
			whose, may)
	}
}

// checkEnvironments checks that no environment is kept that has no use any more.
func (s *simulation) checkEnvironments() {
	for id, whose := range s.server.kept { // one of them is reported
		owing := s.environments.owing[id]
		alive := len(owing) == 0 || slices.ContainsFunc(owing, func(p *process) bool { return !p.dead })
		if !s.environments.holds[id] && alive && !s.environments.excused[id] {
			s.breakf("the environment of %s is kept for %s, which holds no workspace and waits for none", whose,
				s.short(id))
		}
	}
}
