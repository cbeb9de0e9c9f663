package main_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Two monitors, three that want to look once again and again, and eight command lines on the same tasks: exactly
// one action per fact.
func TestTwoMonitorsAndEightCommandLines(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	size := size{tasks: 10, people: 8, dying: 20, rest: 30 * time.Millisecond}
	lasts, limit := 4*time.Second, 60*time.Second
	if isLong() {
		size.tasks, lasts, limit = 50, time.Minute, 10*time.Minute
	}
	s := newStorm(t, size)
	before := s.checkout()
	ctx, off := s.within(limit)
	defer off()
	began := time.Now()

	storm, calm := context.WithTimeout(ctx, lasts)
	defer calm()
	var crew sync.WaitGroup
	for _, args := range [][]string{{"monitor"}, {"monitor"}, {"monitor", "--once"}, {"monitor", "--once"},
		{"monitor", "--once"}} {
		// the second monitor waits for the first one's end; those that look once do nothing while one runs
		crew.Go(func() { s.keep(storm, args...) })
	}
	crew.Go(func() { s.watch(storm) })
	for number := range size.people {
		crew.Go(func() { s.person(storm, uint64(number+1)) })
	}
	crew.Wait()
	s.settle(ctx)
	f := s.look(ctx)
	s.check(f, before)
	s.checkStarts(f)
	s.checkDeaths(f)
	s.tell(f, time.Since(began))
}

// watch looks again and again whether a task ever has two live windows of a role.
func (s *storm) watch(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		live := map[string]int64{}
		for _, p := range s.panes(ctx) {
			if p.dead || p.role == "" {
				continue
			}
			key := p.task + " " + p.role
			if other, two := live[key]; two {
				s.fault(p.task, "for a while it had two live windows of its %s, of hooks %d and %d", p.role,
					other, p.hook)
			}
			live[key] = p.hook
		}
		s.count("looks at the windows")
	}
}

// checkStarts: a hook starts one agent, and each start is reported once.
func (s *storm) checkStarts(f *found) {
	hooks, started := map[string]int{}, map[string]int{}
	for _, words := range s.noted("starts") {
		hook, id := words[0], words[1]
		if hooks[hook]++; hooks[hook] == 2 {
			s.fault(id, "hook %s started its agent twice", hook)
		}
		started[id]++
		s.count("agents")
	}
	for id := range f.tasks {
		told, spawning := 0, 0
		for _, e := range f.events[id] {
			if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
				told++
			}
		}
		for _, h := range f.hooks[id] {
			switch h.action {
			case action.SpawnAgent, action.SpawnReviewer, action.NotifyWorker:
				spawning++
			}
		}
		if started[id] > told || told > spawning {
			s.fault(id, "%d hooks may start an agent, its history tells of %d, and %d began", spawning, told,
				started[id])
		}
	}
}

// death is one kind of end of an agent. Its status is the agent's own, which distinguishes the ends.
type death struct{ task, role, status string }

// checkDeaths: each agent that died has one event; one that a hook ended at that moment may have none.
// No death is reported that did not happen, and every move of a rule follows from a death of its own.
func (s *storm) checkDeaths(f *found) {
	told := map[death]int{}
	starts := map[string]int{}
	for _, words := range s.noted("starts") {
		starts[words[1]+" "+words[2]]++
	}
	for id, events := range f.events {
		ends := map[string]int{}
		for i, e := range events {
			if e.Data["ended"] != "" {
				ends[e.Data["role"]]++
				told[death{id, e.Data["role"], e.Data["exit_status"]}]++
			}
			if e.Type == history.AutoAdvanced && (i == 0 || events[i-1].Data["ended"] == "") {
				s.fault(id, "event %d is a move of a rule that follows from no death", e.Seq)
			}
		}
		for role, n := range ends {
			if n > starts[id+" "+role] {
				s.fault(id, "%d deaths of a %s are told, and %d were started", n, role, starts[id+" "+role])
			}
		}
	}
	for _, words := range s.noted("deaths") {
		d := death{words[0], words[1], words[3]}
		hook, _ := strconv.ParseInt(words[2], 10, 64)
		switch {
		case told[d] > 0:
			told[d]--
			s.count("deaths with one event")
		case endedBy(f.hooks[d.task], d.role, hook):
			s.count("deaths that a hook overtook")
		default:
			s.fault(d.task, "the death of its %s of hook %d (exit status %s) is not told", d.role, hook, d.status)
		}
	}
	for d, n := range told {
		if status, err := strconv.Atoi(d.status); err == nil && status >= firstDeath && n > 0 {
			s.fault(d.task, "a death of its %s with exit status %s is told %d times more often than it happened",
				d.role, d.status, n)
		}
	}
}

// firstDeath is the least status with which a scripted agent ends on purpose.
const firstDeath = 20

// endedBy reports whether a later hook ended an agent that an earlier one had started.
func endedBy(hooks []hookRow, role string, since int64) bool {
	for _, h := range hooks {
		if h.id <= since {
			continue
		}
		switch h.action {
		case action.KillSession:
			return true
		case action.KillReviewer, action.SpawnReviewer:
			if role == task.RoleReviewer {
				return true
			}
		case action.SpawnAgent, action.NotifyWorker:
			if role == task.RoleWorker {
				return true
			}
		}
	}
	return false
}
