package decide_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	ledger "orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// wanderer is a task to which anything happens, with what its work has passed as a bystander notes it: a thing is
// passed where it was there when a move was made that may ask for it, for the commit that it is about.
type wanderer struct {
	def    *workflow.Definition
	dice   *rand.Rand
	task   task.Task
	events []history.Event
	tip    string
	passed map[string]map[string]bool // by thing and commit
	people map[string]bool            // who moved it
	ends   map[string]int             // good ends, by how the task came there
}

// there is what the world has at one moment: by part, whether it holds; by section, its text.
func (w *wanderer) there() (decide.Evidence, map[string]bool) {
	holds, texts := map[string]bool{}, map[string]string{}
	facts := map[string]decide.Fact{}
	for i := range w.def.Transitions {
		for _, p := range workflow.Leaves(w.def.Transitions[i].Gate) {
			if p.Section != "" {
				texts[p.Section] = "APPROACH: a\nTOUCHING: b\nDONE: c\n"
				if p.Verdict != "" || strings.HasPrefix(texts[p.Section], "Verdict") {
					texts[p.Section] = []string{"Verdict: PASS\n", "Verdict: PASS\n", "Verdict: FAIL\n"}[w.dice.IntN(3)]
				}
				if w.dice.IntN(6) == 0 {
					texts[p.Section] = ""
				}
				continue
			}
			if _, known := facts[p.Key()]; known {
				continue
			}
			is := w.dice.IntN(3) > 0
			switch p.Git {
			case workflow.GitUnmoved, workflow.GitAsReviewed:
				is = w.tip == w.task.Subject.Commit
			case workflow.GitMoved:
				is = w.tip != w.task.Subject.Commit
			}
			facts[p.Key()] = decide.Fact{Holds: is, Source: ledger.Name(&p), Digest: fmt.Sprint(w.dice.Int()),
				Found: "not"}
			if is && ledger.Good(&p) {
				holds[ledger.Name(&p)] = true
			}
		}
	}
	body := ""
	for section, text := range texts {
		if text != "" {
			body += section + "\n\n" + text + fmt.Sprintf("%d\n\n", w.dice.Int())
		}
		if strings.Contains(text, "Verdict: PASS") {
			holds[ledger.Called(section+" PASS")] = true
		}
	}
	ev := decide.Evidence{Document: docOf(body), Facts: facts, Subject: task.Subject{Commit: w.tip}, History: w.events}
	return ev, holds
}

// follow takes a change over, and notes what the work can have passed with its move.
func (w *wanderer) follow(c record.Change, holds map[string]bool, by task.Actor, how string) {
	noted := w.task.Subject.Commit
	from := w.task.Status
	for i := range c.Events {
		e := &c.Events[i]
		e.Seq = len(w.events) + 1
		w.events = append(w.events, *e)
		if !e.IsMove() {
			continue
		}
		for n := range w.def.Transitions {
			edge := &w.def.Transitions[n]
			if edge.From != from || edge.To != e.To || e.Data[history.DataOverride] != "" ||
				e.Data[history.DataCrash] != "" || e.Data[ledger.DataForced] != "" {
				continue
			}
			for _, p := range workflow.Leaves(edge.Gate) {
				name := ledger.Name(&p)
				if holds[name] {
					w.note(name, w.tip)
					w.note(name, noted)
				}
			}
		}
		w.noteActor(by, noted)
	}
	if by.Role == task.RoleHuman {
		w.people[by.Person] = true
	}
	w.task = c.Task
	if !w.task.Live && decide.Marks(w.def, w.task.Status).Good {
		w.ends[how]++
	}
}

// noteActor notes who has seen the task by now, with that move.
func (w *wanderer) noteActor(by task.Actor, noted string) {
	var seen []string
	switch by.Role {
	case task.RoleReviewer:
		seen = append(seen, ledger.Reviewer)
	case task.RoleHuman:
		seen = append(seen, ledger.Person)
		for name := range w.people {
			if name != by.Person {
				seen = append(seen, ledger.TwoPeople)
			}
		}
	}
	for _, what := range seen {
		w.note(what, w.tip)
		w.note(what, noted)
	}
}

func (w *wanderer) someone() task.Actor {
	return task.Actor{Role: task.RoleHuman, Person: []string{"Ann", "Ben", "Cid"}[w.dice.IntN(3)]}
}

func (w *wanderer) note(what, commit string) {
	if w.passed[what] == nil {
		w.passed[what] = map[string]bool{}
	}
	w.passed[what][commit] = true
}

// edge is one out of the present status, seldom one that gives the task up.
func (w *wanderer) edge() *workflow.Transition {
	for {
		edge := &w.def.Transitions[w.dice.IntN(len(w.def.Transitions))]
		into, _ := w.def.State(edge.To)
		gives := into.Terminal && !decide.Marks(w.def, edge.To).Good
		if edge.From == w.task.Status && (!gives || w.dice.IntN(40) == 0) {
			return edge
		}
	}
}

// step has one thing happen; how says what a good end is due to.
func (w *wanderer) step(now time.Time) {
	if w.dice.IntN(4) == 0 {
		w.tip = fmt.Sprintf("c%d", w.dice.IntN(3))
	}
	ev, holds := w.there()
	switch w.dice.IntN(14) {
	case 0:
		state, _ := w.def.State(w.task.Status)
		death := deathOf(state.Role)
		death.Ending.Status = w.dice.IntN(2)
		w.follow(decide.Exit(w.def, w.task, ev, death, now), holds, task.Actor{}, "by a rule")
	case 1:
		late := w.task
		late.EnteredAt, late.Overdue = now.Add(-1e15), task.LateAlert
		if c, due := decide.Timer(w.def, nil, late, now); due {
			w.follow(decide.Escalate(w.def, c, late, ev, now), holds, task.Actor{}, "in time")
		}
	case 2:
		if len(w.def.Redo) > 0 {
			to := task.Status(w.def.Redo[w.dice.IntN(len(w.def.Redo))].Name)
			if c, err := decide.Redo(w.def, w.task, to, ev, w.events, human(), "again", now); err == nil {
				w.follow(c, holds, task.Actor{}, "done again")
			}
		}
	default:
		edge := w.edge()
		actor := w.someone()
		if role := w.dice.IntN(len(edge.By) + 1); role < len(edge.By) && edge.By[role] != task.RoleHuman {
			actor = task.Actor{Role: edge.By[role]}
		}
		req := task.Request{Task: "T1", To: edge.To, Actor: actor, Reason: "why"}
		how := "asked for"
		if w.dice.IntN(12) == 0 && actor.Role == task.RoleHuman {
			req.Override, how = true, "overridden"
		}
		if d, err := decide.Transition(w.def, w.task, ev, req, now); err == nil && d.Moved {
			w.follow(d.Change, holds, actor, how)
		}
	}
}

// Whatever happens to a task, it comes to no good end without all that was promised of it, unless a person sets that
// aside by name. The bystander knows neither the record nor its rules.
func TestAPromise_isKeptInEveryLife(t *testing.T) {
	t.Parallel()
	lives := 60
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		lives = 2000
	}
	rules := []*workflow.Definition{parse(t, "loosely.yml", []byte(loosely))}
	for _, name := range []string{"default", "classic", "minimal", "build"} {
		rules = append(rules, shippedWorkflow(t, name))
	}
	files, err := filepath.Glob("../../proof/explore/testdata/passed/*.yml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		rules = append(rules, parse(t, file, read(t, file)))
	}
	for n, def := range rules {
		promising := *def
		things, _ := ledger.Things(def)
		ends := map[string]int{}
		for life := range lives {
			dice := rand.New(rand.NewPCG(uint64(n), uint64(life)))
			promising.Promise = nil
			for _, what := range things {
				plan, _ := ledger.Plan(def, what)
				if !plan && dice.IntN(3) == 0 {
					promising.Promise = append(promising.Promise, workflow.Named{Name: what})
				}
			}
			w := &wanderer{def: &promising, dice: dice, tip: "c0", passed: map[string]map[string]bool{}, ends: ends,
				people: map[string]bool{}}
			birth := def.Initial
			if dice.IntN(4) == 0 {
				birth = def.Births[dice.IntN(len(def.Births))].To
			}
			c, err := decide.Create(&promising, newTask(""), birth, human(), noon)
			if err != nil {
				t.Fatal(err)
			}
			w.follow(c, nil, w.someone(), "born")
			for step := 0; step < 80 && w.task.Live; step++ {
				w.task.Workspace = "w1"
				w.step(noon.Add(time.Duration(step) * time.Hour))
			}
			last := w.events[len(w.events)-1]
			if w.task.Live || !decide.Marks(def, w.task.Status).Good || last.Data[history.DataOverride] != "" {
				continue
			}
			for _, line := range promising.Promise {
				if !w.passed[line.Name][w.tip] {
					t.Fatalf("%s, life %d: it came to %q at %s without %s: %v\n%+v", def.Name, life, w.task.Status,
						w.tip, line.Name, w.passed, w.events)
				}
			}
		}
		t.Logf("%s: %v", def.Name, ends)
		// In "closed" no workspace is left at the end; in "either" no one vouches for what an agent put up.
		if ends["asked for"] == 0 && !slices.Contains([]string{"closed", "either"}, def.Name) {
			t.Errorf("%s: no life ended well", def.Name)
		}
	}
}
