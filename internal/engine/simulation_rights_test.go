package engine_test

import (
	"slices"
	"strings"

	"orange/internal/action"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// rights tell in whose environment the programs of a task may run: never in an agent's; in that of the last
// person who had it started, for as long as it holds a workspace or waits for one. Where the terminal server has
// lost that, or nobody's is kept for sure, it is the one of whoever starts the program, the service above all,
// and is the task's from then on. Two people at once may both be the last.
//
// They are told from what people ask, from what is committed, and from what the world does to the terminal server
// and to programs. What the engine keeps and drops is what they judge, and never a reason.
type rights struct {
	claims map[string][]*claim
	holds  map[string]bool     // tasks that have a workspace, or wait for one
	drops  map[string]*process // who has dropped it last, or was refused
	// programs by which a task has stopped to hold one, or which have kept something since: they have to drop it
	owing  map[string][]*process
	lostAt int               // the length of the trace when the terminal server was lost last
	unable map[*process]bool // programs whose environment the world has refused to keep
	// tasks of which something may be left: the world has refused to drop it, or has ended whoever was about to
	excused map[string]bool
}

// claim is a person's question by which a task's environment becomes theirs.
type claim struct {
	whose   string
	by      *process // nil for whoever found nothing kept, and so had the task's programs run in their own from then on
	since   int      // the length of the trace when it was committed, or asked
	until   int      // and when its program had the hooks set going, or was ended; 0 while it has not
	retries bool     // nothing need be committed for it: what is owed is performed for this person from now on
	granted bool     // what was asked for is committed
	// the server was lost meanwhile: what was kept for it before is gone, and what is kept after is there
	shaken bool
}

// What has run.
const (
	ranAgent = "agent"
	ranHook  = "hook"
	ranCheck = "check"
	ranBlind = "check that could not look for it"
)

func newRights() *rights {
	return &rights{claims: map[string][]*claim{}, holds: map[string]bool{}, drops: map[string]*process{},
		owing: map[string][]*process{}, excused: map[string]bool{}, unable: map[*process]bool{}}
}

// over says whether a claim's program has done all that it could for it.
func (c *claim) over() bool { return c.until > 0 || c.by.gone > 0 }

// ended is when a claim's program had done so.
func (c *claim) ended() int {
	if c.until > 0 {
		return c.until
	}
	return c.by.gone
}

// must says whether its environment is the task's, whatever the dice said.
func (c *claim) must() bool { return c.until > 0 && c.granted && !c.shaken }

// overtaken says whether another claim began after this one was over, and came about; one that came about after a
// program had looked is too late for it.
func (c *claim) overtaken(all []*claim, looked int) bool {
	return c.over() && slices.ContainsFunc(all, func(o *claim) bool {
		return o.must() && o.since > c.ended() && o.until <= looked
	})
}

// asks notes that a person asks for a start, or for another try: where the task waits for a workspace already, or
// nothing has failed yet, nothing may be committed for them.
func (r *rights) asks(s *sim, p *process, id string, retries bool) {
	r.claims[id] = append(r.claims[id], &claim{whose: p.whose, by: p, since: len(s.trace), retries: retries})
}

// answered notes what came of the questions of a person's program. One that waits for a workspace, or whose retry
// is told of hooks, is granted. One that met an error may be, or not.
func (r *rights) answered(s *sim, p *process, out record.Outcome, met error) {
	id := out.Task.ID
	if asked := func(c *claim) bool { return c.by == p }; out.Queued && p.asked.kind == "create" &&
		!r.unable[p] && !slices.ContainsFunc(r.claims[id], asked) {
		// Its task was made and started in one question, and waited for a workspace already by the time it got there.
		r.claims[id] = append(r.claims[id], &claim{whose: p.whose, by: p})
	}
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

// starts notes that a program has the hooks of a task set going: what it had to keep for its person is kept.
func (r *rights) starts(s *sim, p *process, id string) {
	for _, c := range r.claims[id] {
		if c.by == p && (c.granted || c.retries) && c.until == 0 {
			c.granted, c.until = true, len(s.trace)
		}
	}
}

// renews says whether an event of a person's makes the task's environment theirs.
func renews(t task.Task, e history.Event) bool {
	if e.Person == "" || e.Actor != task.RoleHuman {
		return false
	}
	switch e.Type {
	case history.QueuedForSpace:
		return true
	case history.HooksRetried:
		return t.Workspace != ""
	}
	return slices.ContainsFunc(e.Hooks, func(does string) bool {
		return does == action.AcquireWorkspace || strings.HasPrefix(does, "spawn_") && does != action.SpawnNext
	})
}

// committed notes what a program has made durable.
func (r *rights) committed(s *sim, p *process, c record.Change, t task.Task) {
	if s.alone { // one program does everything there, for everybody
		return
	}
	if whose := s.server.kept[t.ID]; c.Lease == record.LeaseFree && whose != "" && r.drops[t.ID] != p {
		s.breaks("%s gives its workspace back, and the environment of %s is kept for it still", s.short(t.ID), whose)
	}
	for _, e := range c.Events {
		if !renews(t, e) {
			continue
		}
		if e.Person != p.whose {
			s.breaks("an event of %s says that it is %s's, and %s asked: %+v", s.short(t.ID), e.Person, p.whose, e)
		}
		at := slices.IndexFunc(r.claims[t.ID], func(c *claim) bool { return c.by == p && c.until == 0 && !c.granted })
		if at < 0 {
			r.asks(s, p, t.ID, false)
			at = len(r.claims[t.ID]) - 1
		}
		r.claims[t.ID][at].granted, r.claims[t.ID][at].since = true, len(s.trace)
	}
	held := r.holds[t.ID]
	if r.holds[t.ID] = t.Workspace != "" || t.QueuedFor != ""; held && !r.holds[t.ID] {
		r.over(p, t.ID)
	}
}

// over notes that a task holds no workspace any more, and waits for none.
func (r *rights) over(p *process, id string) {
	delete(r.holds, id)
	delete(r.claims, id)
	r.owing[id] = append(r.owing[id], p)
}

// unkept notes that the world has refused to keep the environment of a program for a task.
func (r *rights) unkept(p *process, id string) {
	r.unable[p] = true
	r.claims[id] = slices.DeleteFunc(r.claims[id], func(c *claim) bool { return c.by == p && c.until == 0 })
}

func (r *rights) undropped(p *process, id string) { r.drops[id], r.excused[id] = p, true }

func (r *rights) dropped(p *process, id string) {
	delete(r.excused, id)
	r.drops[id] = p
	r.owing[id] = slices.DeleteFunc(r.owing[id], func(o *process) bool { return o == p })
}

// kept looks at an environment that is kept for a task from now on.
func (r *rights) kept(s *sim, p *process, id string) {
	if s.alone {
		return
	}
	if strings.HasPrefix(p.whose, "agent ") {
		s.breaks("the environment of %s is kept for %s", p.whose, s.short(id))
	}
	if !r.holds[id] {
		r.owing[id] = append(r.owing[id], p)
	}
}

// lost notes that the terminal server has forgotten everything.
func (r *rights) lost(s *sim) {
	r.lostAt = len(s.trace)
	for id, all := range r.claims { // each for itself
		r.claims[id] = slices.DeleteFunc(all, (*claim).over)
		for _, c := range r.claims[id] {
			c.shaken = true
		}
	}
}

// ran looks at a program of a task that was started in an environment.
func (s *sim) ran(what, id, whose string, p *process) {
	if s.alone {
		return
	}
	s.figures.ran++
	s.tell(p, "the "+what+" of "+s.short(id)+" runs in the environment of "+whose)
	r := s.rights
	if whose == "" || strings.HasPrefix(whose, "agent ") {
		s.breaks("the %s of %s runs in the environment of %q", what, s.short(id), whose)
	}
	looked := p.looked
	if what == ranAgent { // its launcher looks anew
		looked = len(s.trace)
	}
	if !slices.ContainsFunc(r.claims[id], func(c *claim) bool { return c.must() && c.until <= looked }) {
		s.figures.unclaimed++ // none is kept for sure: it is the one of whoever starts it, and then the task's
		if p.looked > r.lostAt && (what == ranAgent || what == ranHook) {
			r.claims[id] = append(r.claims[id], &claim{whose: whose, since: p.looked, until: len(s.trace),
				granted: true})
		}
		return
	}
	var may []string
	for _, c := range r.claims[id] {
		if !c.overtaken(r.claims[id], looked) {
			may = append(may, c.whose)
		}
	}
	if what != ranBlind && !slices.Contains(may, whose) {
		s.breaks("the %s of %s runs in the environment of %s, and the task was started by %q", what, s.short(id),
			whose, may)
	}
}

// checkKept looks whether something is kept that nobody has a use for.
func (s *sim) checkKept() {
	for id, whose := range s.server.kept { // one of them is told
		owing := s.rights.owing[id]
		alive := len(owing) == 0 || slices.ContainsFunc(owing, func(p *process) bool { return !p.dead })
		if !s.rights.holds[id] && alive && !s.rights.excused[id] {
			s.breaks("the environment of %s is kept for %s, which holds no workspace and waits for none", whose,
				s.short(id))
		}
	}
}
