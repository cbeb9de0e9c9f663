package decide_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

var (
	everyStatus = []task.Status{
		"pending", "planning", "clarification", "working", "agent-review", "reviewing", "stuck", "done",
		"cancelled", "nowhere",
	}
	everyActor = []task.Actor{
		{Role: "worker"}, {Role: "reviewer"}, {Role: "human"}, {Role: "cto"}, {Role: "tester"}, {Rule: true},
		{Role: "human", As: "worker"}, {Role: "human", As: "reviewer"}, {Role: "human", As: "cto"},
	}
)

func TestTheJudgeAgreesWithALiteralLookupInTheDocuments(t *testing.T) {
	t.Parallel()
	for _, b := range books {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			agrees(t, shippedWorkflow(t, b.workflow), b)
		})
	}
}

func agrees(t *testing.T, def *workflow.Definition, b book) {
	t.Helper()
	laws := b.laws
	statuses := []task.Status{"nowhere"}
	for _, s := range def.States {
		statuses = append(statuses, s.Name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		tk := newTask(rapid.SampledFrom(statuses).Draw(rt, "from"))
		to := rapid.SampledFrom(statuses).Draw(rt, "to")
		if rapid.Bool().Draw(rt, "along a row") {
			l := rapid.SampledFrom(laws).Draw(rt, "row")
			tk.Status, to = l.from, l.to
		}
		round := rapid.SampledFrom(b.counts).Draw(rt, "round")
		tk.Counters = tk.Counters.With(b.counter, round)
		p := papers{
			plan:    rapid.SampledFrom([]string{"", "bare", "good"}).Draw(rt, "plan"),
			handoff: rapid.SampledFrom([]string{"", "bare", "good", "spent"}).Draw(rt, "handoff"),
			review:  rapid.SampledFrom([]string{"", "bare", "late", "fenced", "PASS", "FAIL"}).Draw(rt, "review"),
			old:     rapid.SampledFrom([]string{"", "", "spent", "entry"}).Draw(rt, "old"),
			files:   rapid.SampledFrom([]task.Status{"", to, to, "planning", "codegen"}).Draw(rt, "files"),
			moved:   rapid.IntRange(0, 3).Draw(rt, "moved") == 0,
			dirty:   rapid.IntRange(0, 3).Draw(rt, "dirty") == 0,
			again:   rapid.IntRange(0, mostAnew).Draw(rt, "again"),
		}
		tk.Counters = tk.Counters.With("rereviews", p.again)
		req := task.Request{Task: tk.ID, To: to, Actor: rapid.SampledFrom(everyActor).Draw(rt, "actor")}
		ev := evidenceFor(rt, p)
		ev.Facts = factsFor(def, tk.Status, p.files)
		ev = withGit(ev, p.moved, p.dirty)
		d, err := decide.Transition(def, tk, ev, req, noon)
		if found, want := err == nil && d.Moved, accepts(laws, tk.Status, to, req.Actor, p, round); found != want {
			rt.Fatalf("found moved = %t for %s -> %s in round %d with %+v by %+v (%v), want %t", found, tk.Status,
				to, round, p, req.Actor, err, want)
		}
		if err == nil && !d.Moved && to != tk.Status {
			rt.Fatalf("found a yes without a move from %s to %s", tk.Status, to)
		}
	})
}

func evidenceFor(rt *rapid.T, p papers) decide.Evidence {
	ev := evidence(p.text())
	if p.handoff == "spent" {
		ev.Spent = append(ev.Spent, spentSection(rt, ev.Document, "Handoff", 2))
	}
	if p.review != "" && p.old == "spent" {
		ev.Spent = append(ev.Spent, spentSection(rt, ev.Document, "Review", 4))
	}
	if p.review != "" && p.old == "entry" {
		ev.Entry = append(ev.Entry, sectionEvidence(rt, ev.Document, "Review"))
	}
	return ev
}

// walker is a task on its path, with the record that a store would keep of it.
type walker struct {
	def  *workflow.Definition
	task task.Task
	ev   decide.Evidence
	body string
}

func TestLawsHoldOnEveryWalkThroughAWorkflowThatShips(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic", "minimal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walk(t, shippedWorkflow(t, name), shippedWorkflow(t, name))
		})
	}
}

func walk(t *testing.T, def, untouched *workflow.Definition) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		w := createdIn(rt, def)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.edit(rt)
			w.touch(rt)
			w.step(rt)
		}
		if !reflect.DeepEqual(def, untouched) {
			rt.Fatal("found the definition changed by deciding")
		}
	})
}

func createdIn(rt *rapid.T, def *workflow.Definition) *walker {
	birth := rapid.SampledFrom(def.Births).Draw(rt, "birth")
	c, err := decide.Create(def, task.Task{ID: "T1"}, birth.To, human(), noon)
	if err != nil {
		rt.Fatal(err)
	}
	w := &walker{def: def, ev: evidence("")}
	w.commit(c)
	return w
}

// edit writes the document again, with texts that repeat often, so that old evidence comes back.
func (w *walker) edit(rt *rapid.T) {
	number := rapid.IntRange(1, 3).Draw(rt, "number")
	switch rapid.SampledFrom([]string{"keep", "all", "handoff", "pass", "fail", "none", "unreadable"}).Draw(rt,
		"edit") {
	case "keep":
		return
	case "all":
		w.body = fmt.Sprintf("## Plan\nTOUCHING: all\n## Handoff\nDONE: part %d\n## Review\nVerdict: FAIL\n%d\n",
			number, number)
	case "handoff":
		w.body += fmt.Sprintf("## Handoff\nDONE: part %d\n", number)
	case "pass":
		w.body += fmt.Sprintf("## Review\nVerdict: PASS\n%d\n", number)
	case "fail":
		w.body += fmt.Sprintf("## Review\nVerdict: FAIL\n%d\n", number)
	case "none":
		w.body = ""
	case "unreadable":
		w.ev.Document, w.ev.Trouble = nil, "permission denied"
		return
	}
	w.ev.Document, w.ev.Trouble = docOf(w.body), ""
}

// touch sometimes moves the tip of the branch to another commit, or changes files of the worktree.
func (w *walker) touch(rt *rapid.T) {
	w.ev = withGit(w.ev, rapid.IntRange(0, 2).Draw(rt, "moved") == 0, rapid.IntRange(0, 5).Draw(rt, "dirty") == 0)
}

func (w *walker) step(rt *rapid.T) {
	to := rapid.SampledFrom(everyStatus).Draw(rt, "to")
	if open := decide.MayAsk(w.def, w.task, human()); len(open) > 0 && rapid.IntRange(0, 9).Draw(rt, "wander") > 0 {
		to = rapid.SampledFrom(open).Draw(rt, "open")
	}
	req := task.Request{Task: w.task.ID, To: to, Actor: rapid.SampledFrom(everyActor).Draw(rt, "actor")}
	before, evBefore := copyTask(w.task), w.copyEvidence()
	d, err := decide.Transition(w.def, w.task, w.ev, req, noon)
	again, errAgain := decide.Transition(w.def, w.task, w.ev, req, noon)
	if !reflect.DeepEqual(d, again) || !reflect.DeepEqual(err, errAgain) {
		rt.Fatalf("found two answers to one question:\n%+v %v\n%+v %v", d, err, again, errAgain)
	}
	if !reflect.DeepEqual(w.task, before) || !reflect.DeepEqual(w.ev, evBefore) {
		rt.Fatal("found the task or its evidence changed by deciding")
	}
	if err != nil {
		w.refused(rt, d, err)
		return
	}
	if d.Moved {
		w.accepted(rt, d.Change, req)
	} else if !reflect.DeepEqual(d.Change, record.Change{Task: before}) {
		rt.Fatalf("found a success that does something: %+v", d.Change)
	}
	w.commit(d.Change)
}

func copyTask(t task.Task) task.Task {
	t.Counters = slices.Clone(t.Counters)
	return t
}

func (w *walker) copyEvidence() decide.Evidence {
	ev := decide.Evidence{Trouble: w.ev.Trouble, Spent: slices.Clone(w.ev.Spent), Entry: slices.Clone(w.ev.Entry),
		Facts: maps.Clone(w.ev.Facts)}
	if w.ev.Document != nil {
		ev.Document = document.Read([]byte(frontmatter + w.body))
	}
	return ev
}

func (w *walker) refused(rt *rapid.T, d decide.Decision, err error) {
	var no *rejection.Rejection
	if !errors.As(err, &no) {
		rt.Fatalf("found %v, want a refusal", err)
	}
	if !reflect.DeepEqual(d, decide.Decision{}) {
		rt.Fatalf("found a change beside a refusal: %+v", d)
	}
	if (no.Code == rejection.IllegalTransition) == (len(no.Details) > 0) {
		rt.Fatalf("found %d details for %s", len(no.Details), no.Code)
	}
}

func (w *walker) accepted(rt *rapid.T, c record.Change, req task.Request) {
	from, _ := w.def.State(w.task.Status)
	to, declared := w.def.State(c.Task.Status)
	edge, exists := w.def.Edge(w.task.Status, req.To)
	switch {
	case !declared || c.Task.Status != req.To || !exists:
		rt.Fatalf("found the status %q, want the declared one that was asked for, %q", c.Task.Status, req.To)
	case from.Terminal:
		rt.Fatalf("found a move out of the terminal state %q", from.Name)
	case c.Task.Live == to.Terminal:
		rt.Fatalf("found live = %t in %q", c.Task.Live, to.Name)
	case !req.Actor.Rule && !slices.Contains(edge.By, req.Actor.Speaks()):
		rt.Fatalf("found %s -> %s taken by %+v, want one of %q", edge.From, edge.To, req.Actor, edge.By)
	case len(c.Events) != 1 || !c.Events[0].IsMove():
		rt.Fatalf("found the events %+v, want exactly one move", c.Events)
	case from.Name == to.Name &&
		(c.Task.Previous != w.task.Previous ||
			c.Task.Counters.Get(task.ReviewRound) != w.task.Counters.Get(task.ReviewRound)):
		rt.Fatalf("found %+v, want a status that begins anew in the same round", c.Task)
	case c.Task.Counters.Get("rereviews") > mostAnew || req.Actor.Role == task.RoleHuman &&
		c.Task.Counters.Get("rereviews") != 0:
		rt.Fatalf("found a review that was begun anew %d times, by %+v", c.Task.Counters.Get("rereviews"), req.Actor)
	case c.Events[0].From != w.task.Status || c.Events[0].To != req.To || from.Name != to.Name &&
		c.Task.Previous != w.task.Status:
		rt.Fatalf("found %+v, want a move from %q to %q", c.Events[0], w.task.Status, req.To)
	case c.Expect != w.task.Version || !c.Entered || !c.Events[0].Counters.Equal(c.Task.Counters):
		rt.Fatalf("found a change that does not fit its task: %+v", c)
	// in classic a person may have a third one after stuck
	case w.def.Name == "default" && c.Task.Counters.Get(task.ReviewRound) > 2:
		rt.Fatalf("found round %d, want no more than 2 in one cycle", c.Task.Counters.Get(task.ReviewRound))
	case len(c.Spent) != len(edge.Gate):
		rt.Fatalf("found %d pieces of evidence for a gate of %d parts", len(c.Spent), len(edge.Gate))
	}
	for _, p := range edge.Gate {
		for _, s := range w.ev.Spent {
			if p.Fresh && strings.HasPrefix(s.Source, "## ") && slices.Contains(c.Spent, s.Evidence) {
				rt.Fatalf("found %s used again for %s -> %s", s.Source, edge.From, edge.To)
			}
		}
	}
}

// commit is what a store makes of a change.
func (w *walker) commit(c record.Change) {
	w.task = c.Task
	w.task.Version++
	w.task.Seq += len(c.Events)
	for _, e := range c.Spent {
		w.ev.Spent = append(w.ev.Spent, task.Spent{Evidence: e, Seq: w.task.Seq})
	}
	if c.Entered {
		w.ev.Entry = c.Entry
	}
}
