package decide_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// chain003 is the path of a task that never fails.
var chain003 = strings.Fields("pending " + working003 + " completed")

// build003 is a task of build on its path, with the record that a store would keep of it.
type build003 struct {
	walker
	number int // of the last text, so that each is new
}

func newBuild003(tb failer, def *workflow.Definition, fromPlan bool) *build003 {
	tb.Helper()
	c, err := decide.Create(def, task.Task{ID: "T1", Workspace: "w1"}, "pending", human(), noon)
	if fromPlan {
		c, err = decide.CreateFromPlan(def, task.Task{ID: "T1", Workspace: "w1"}, human(), noon)
	}
	if err != nil {
		tb.Fatalf("no birth: %v", err)
	}
	w := &build003{walker: walker{def: def, ev: evidence("")}}
	w.commit(c)
	for _, what := range git003 {
		w.says(what, true)
	}
	return w
}

// says is an answer of git's.
func (w *build003) says(what string, holds bool) { w.ev.Facts[gitKey(what)] = gitFact(what, holds) }

// write puts new text of a section into the document.
func (w *build003) write(name string) {
	for _, p := range papers003 {
		if p.name == name {
			w.number++
			w.body += fmt.Sprintf("## %s\n%s\nnumber %d\n\n", p.section, p.text, w.number)
			w.ev.Document = docOf(w.body)
		}
	}
}

// settle is what a store makes of a change, once the hooks of a move are done.
func (w *build003) settle(c record.Change) {
	moved, crashed := false, false
	for _, e := range c.Events {
		moved = moved || e.IsMove()
		crashed = crashed || e.Data[history.DataCrash] != ""
	}
	w.commit(c)
	if moved && !crashed {
		w.task.Counters = w.task.Counters.With(task.CrashCount, 0)
	}
}

// ask makes a move that must be open, with a reason.
func (w *build003) ask(tb failer, role string, to task.Status) {
	tb.Helper()
	req := task.Request{Task: "T1", To: to, Actor: actorFrom(role), Reason: "so it is"}
	d, err := judge(w.def, w.task, w.ev, req)
	if err != nil || !d.Moved {
		tb.Fatalf("%s cannot ask for %s in %s: %v", role, to, w.task.Status, err)
	}
	w.settle(d.Change)
}

// reach003 counts what the walks reached: a walk that never gets anywhere proves nothing.
type reach003 struct {
	sync.Mutex
	seen map[string]bool
}

func (r *reach003) note(what string) {
	r.Lock()
	defer r.Unlock()
	r.seen[what] = true
}

func TestLawsOfDocument003HoldOnEveryWalkThroughBuild(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	reached := &reach003{seen: map[string]bool{}}
	rapid.Check(t, func(rt *rapid.T) {
		w := newBuild003(rt, def, rapid.Bool().Draw(rt, "from a plan file"))
		temper := tempered(rt)
		for range rapid.IntRange(40, 120).Draw(rt, "steps") {
			w.wander(rt, temper, reached)
		}
	})
	if testing.Short() {
		return // these are too few walks to come everywhere
	}
	for _, s := range def.States {
		if !reached.seen[string(s.Name)] {
			t.Errorf("no walk came to %s", s.Name)
		}
	}
	for _, what := range []string{"third failure", "second attempt", "skip", "return", "crash escalation"} {
		if !reached.seen[what] {
			t.Errorf("no walk came to a %s", what)
		}
	}
}

// temper003 is the tendency of a whole walk. Without it, walks that fail often enough in one place would be too rare.
type temper003 struct {
	fails  task.Status // the state that fails most
	deaths int         // of ten steps
	skips  bool        // what the CTO does
}

func tempered(rt *rapid.T) temper003 {
	states := []task.Status{"planning", "in_progress", "testing", "quality_review", "committing"}
	return temper003{
		fails: rapid.SampledFrom(states).Draw(rt, "fails"), deaths: rapid.SampledFrom([]int{0, 1, 7}).Draw(rt,
			"deaths"),
		skips: rapid.Bool().Draw(rt, "skips"),
	}
}

// wander is one random step: a file changes, then a caller asks for a move, or an agent ends.
func (w *build003) wander(rt *rapid.T, temper temper003, reached *reach003) {
	state, _ := w.def.State(w.task.Status)
	row, req := w.wish(rt, temper)
	for _, what := range git003 {
		w.says(what, rapid.IntRange(0, 9).Draw(rt, what) > 0)
	}
	before := w.task
	if rapid.IntRange(0, 9).Draw(rt, "dies") < temper.deaths {
		role := rapid.SampledFrom([]string{state.Role, state.Role, state.Role, "cto"}).Draw(rt, "who dies")
		c := decide.Exit(w.def, w.task, w.ev, deathOf(role), noon)
		w.keeps(rt, before, c, task.Actor{Rule: true}, reached)
		w.settle(c)
		return
	}
	for _, name := range strings.Fields(row.needs) {
		if rapid.IntRange(0, 9).Draw(rt, "writes "+name) > 0 {
			w.write(name)
		}
	}
	d, err := judge(w.def, w.task, w.ev, req)
	var no *rejection.Rejection
	if err != nil && !errors.As(err, &no) {
		rt.Fatalf("found %v, want a refusal", err)
	}
	if err == nil && d.Moved {
		w.keeps(rt, before, d.Change, req.Actor, reached)
		w.settle(d.Change)
	}
}

// wish picks a row out of the task's status, with a request for it; sometimes a caller that the row does not name
// makes the request.
func (w *build003) wish(rt *rapid.T, temper temper003) (row003, task.Request) {
	req := task.Request{Task: "T1", To: task.Status(rapid.SampledFrom(chain003).Draw(rt, "to")), Reason: "so it is"}
	role := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(roles003), func(r string) bool {
		return r == "rule"
	})).Draw(rt, "role")
	var row row003
	if ways := w.ways(temper); len(ways) > 0 && rapid.IntRange(0, 19).Draw(rt, "astray") > 0 {
		way := rapid.SampledFrom(ways).Draw(rt, "way")
		row, req.To = way.row, way.to
		if rapid.IntRange(0, 9).Draw(rt, "usurps") > 0 {
			role = rapid.SampledFrom(strings.Fields(row.by)).Draw(rt, "by")
		}
	}
	if rapid.IntRange(0, 9).Draw(rt, "without a reason") == 0 {
		req.Reason = ""
	}
	req.Actor = actorFrom(role)
	return row, req
}

type way003 struct {
	row row003
	to  task.Status
}

// ways are the rows that counters leave open; those that suit the walk's temper come more often than others.
func (w *build003) ways(temper temper003) []way003 {
	all := map[string]bool{}
	for _, what := range git003 {
		all[what] = true
	}
	for _, p := range papers003 {
		all[p.name] = true
	}
	var out []way003
	for _, r := range document003 {
		for _, to := range strings.Fields(r.to) {
			c := case003{
				from: string(w.task.Status), to: to, came: string(w.task.Previous), role: "rule", reason: true,
				papers:   all,
				failures: w.task.Counters.Failures(w.task.Status), attempts: w.task.Counters.Get("cto_attempts"),
				plan: w.task.Counters.Get("from_plan") == 1,
			}
			if !r.accepts(c) {
				continue
			}
			times := 3
			switch {
			case to == "abandoned":
				times = 1
			case r.came && (r.by == "cto") == temper.skips, r.failures != "" && w.task.Status == temper.fails:
				times = 20
			}
			for range times {
				out = append(out, way003{r, task.Status(to)})
			}
		}
	}
	return out
}

// keeps checks the five invariants of document 003 over one change.
func (w *build003) keeps(rt *rapid.T, before task.Task, c record.Change, actor task.Actor, reached *reach003) {
	var move history.Event
	moves := 0
	for _, e := range c.Events {
		if e.IsMove() {
			move, moves = e, moves+1
		}
	}
	state, exists := w.def.State(c.Task.Status)
	from, _ := w.def.State(before.Status)
	switch {
	case !exists || moves > 1 || moves == 0 && c.Task.Status != before.Status:
		rt.Fatalf("found %d moves from %q to %q, want one current state", moves, before.Status, c.Task.Status)
	case moves == 1 && from.Terminal:
		rt.Fatalf("found a move out of %q, which is final", from.Name)
	case c.Task.Counters.Get("cto_attempts") > 2:
		rt.Fatalf("found %d attempts of the CTO after %s -> %s", c.Task.Counters.Get("cto_attempts"), move.From,
			move.To)
	}
	for _, s := range w.def.States {
		n := c.Task.Counters.Failures(s.Name)
		if n > 3 {
			rt.Fatalf("found %d failures of %q after %s -> %s", n, s.Name, move.From, move.To)
		}
		if n == 3 {
			reached.note("third failure")
		}
	}
	if c.Task.Counters.Get("cto_attempts") == 2 {
		reached.note("second attempt")
	}
	reached.note(string(state.Name))
	if moves == 1 {
		noSkip003(rt, before, move, actor, reached)
	}
}

// noSkip003: only the CTO may skip a state, and only the one that failed; a person resolves what was escalated.
func noSkip003(rt *rapid.T, before task.Task, move history.Event, actor task.Actor, reached *reach003) {
	place := func(s task.Status) int { return slices.Index(chain003, string(s)) }
	if move.Data[history.DataCrash] != "" {
		reached.note("crash escalation")
	}
	if move.To == "cto_intervention" || move.To == "human_escalation" || move.To == "abandoned" {
		return
	}
	switch move.From {
	case "cto_intervention":
		switch place(move.To) - place(before.Previous) {
		case 0:
			reached.note("return")
		case 1:
			reached.note("skip")
			if actor.Speaks() != "cto" || move.Reason == "" {
				rt.Fatalf("found %q skipping %s for %q", actor.Speaks(), before.Previous, move.Reason)
			}
		default:
			rt.Fatalf("found %s -> %s for a task that came from %s", move.From, move.To, before.Previous)
		}
	case "human_escalation":
		if actor.Speaks() != task.RoleHuman {
			rt.Fatalf("found %q resolving what is a person's", actor.Speaks())
		}
	default:
		if place(move.To) > place(move.From)+1 {
			rt.Fatalf("found %s -> %s, which leaves a state out", move.From, move.To)
		}
	}
}
