package engine_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"orange/internal/action"
	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/explore"
	"orange/internal/simulate"
	"orange/internal/task"
	"orange/internal/workflow"
)

// stroll is one task on its way through the real engine, with the real record, files and hands in the world of
// the simulation. Nothing happens at once here: one thing comes after the other, so that after each it is plain
// how the task stands.
type stroll struct {
	*sim
	p      *process
	reach  *explore.Reach
	id     string
	dead   []*simulate.Agent // whose death nobody has told yet
	died   map[string]bool   // roles whose agent has died by itself and was not started since
	told   int               // events that were looked at
	met    map[int]bool      // configurations
	failed map[string]bool   // hooks that fail in this step
	asleep bool              // the runner of hooks dies before it has begun
	// what there is outside of the document, by the key of the part that looks at it; nil where the dice say
	aim map[string]bool
}

// runs performs hooks at once, or not at all.
func (w *stroll) runs(id string) error {
	if w.asleep {
		return nil
	}
	return w.p.engine.Settle(here, id)
}

func (w *stroll) fails(does string) bool {
	if class, _ := action.ClassOf(does); class == action.ClassApart || w.failed == nil {
		return false
	}
	if _, drawn := w.failed[does]; !drawn {
		w.failed[does] = w.dice.IntN(2) == 0
	}
	return w.failed[does]
}

// seen is what is looked at outside of the document: anything may be there, and anything may be said of it. Where
// there is no worktree there is no git, and no check.
type seen struct{ *stroll }

func (w seen) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	out := map[string]decide.Fact{}
	for _, p := range parts {
		f := decide.Fact{Source: simulate.SourceOf(p), Found: "something else", Want: "mend it"}
		holds, text := false, ""
		if w.aim != nil { // what somebody has seen to, and nothing else
			holds, text = w.aim[p.Key()], w.note("text")
		} else if holds = w.dice.IntN(4) > 0; holds && (t.Workspace != "" || p.Check+p.Git == "") {
			text = fmt.Sprintf("text %d", w.dice.IntN(400))
		}
		if holds && (t.Workspace != "" || p.Check+p.Git == "") {
			f.Holds, f.Text = true, text+"\n"
			f.Digest = document.Digest(f.Text)
		}
		out[p.Key()] = f
	}
	return out, nil
}

// leaves are the parts of all gates and exit rules of a workflow.
func leaves(def *workflow.Definition) []workflow.Part {
	var out []workflow.Part
	for i := range def.Transitions {
		out = append(out, workflow.Leaves(def.Transitions[i].Gate)...)
	}
	for _, rule := range def.Exit.Rules {
		if rule.HasArtifact != nil {
			out = append(out, workflow.Leaves([]workflow.Part{*rule.HasArtifact})...)
		}
	}
	return out
}

// writes has somebody write what gates ask for, or something else, in the place of all that was there.
func (w *stroll) writes() {
	var body strings.Builder
	var said []string
	for _, p := range leaves(w.law.def) {
		name := document.Key(p.Section)
		if p.Section == "" || slices.Contains(said, name) || w.dice.IntN(8) == 0 {
			continue
		}
		said = append(said, name)
		fmt.Fprintf(&body, "\n## %s\n", name)
		if verdict := []string{"PASS", "FAIL", ""}[w.dice.IntN(9)%4%3]; verdict != "" {
			fmt.Fprintf(&body, "Verdict: %s\n", verdict)
		}
		if w.dice.IntN(8) == 0 {
			continue
		}
		for _, other := range leaves(w.law.def) {
			if document.Key(other.Section) == name {
				for _, label := range other.Fields {
					fmt.Fprintf(&body, "%s: %s\n", label, w.note("something"))
				}
			}
		}
		body.WriteString(w.note("finding") + "\n")
	}
	w.saves(body.String())
}

// saves puts a text in the place of all that was in the document.
func (w *stroll) saves(body string) {
	path := w.files.Document(w.Project.Name, w.id)
	text, err := os.ReadFile(path)
	if err != nil {
		w.breaks("%v", err)
		return
	}
	end := strings.Index(string(text[4:]), "\n---\n") + 4 + len("\n---\n")
	if err := os.WriteFile(path, append(text[:end:end], body...), 0o644); err != nil {
		w.breaks("%v", err)
	}
}

func (w *stroll) actor() task.Actor {
	var roles []string
	for _, a := range w.Agents {
		if a.Alive {
			roles = append(roles, a.Role)
		}
	}
	switch n := w.dice.IntN(8); {
	case n < 5 && len(roles) > 0:
		return task.Actor{Role: roles[w.dice.IntN(len(roles))]}
	case n == 7 && len(w.law.def.Roles) > 0:
		return task.Actor{Role: task.RoleHuman, As: w.law.def.Roles[w.dice.IntN(len(w.law.def.Roles))].Name}
	case n == 6:
		return task.Actor{Role: task.RoleHuman, As: []string{task.RoleWorker, task.RoleReviewer}[w.dice.IntN(2)]}
	}
	return human
}

// step has one thing happen.
func (w *stroll) step(t task.Task) {
	w.failed, w.asleep = nil, w.dice.IntN(25) == 0
	if w.dice.IntN(5) == 0 {
		w.failed = map[string]bool{}
	}
	if w.dice.IntN(5) > 0 {
		w.writes()
	}
	e := w.p.engine
	switch n := w.dice.IntN(40); {
	case n < 18:
		w.asksFor(t)
	case n < 20:
		_, err := e.Next(here, w.id, w.actor(), false, "", "because")
		w.tell(w.p, fmt.Sprintf("hears of next: %v", err))
	case n < 21:
		_, err := e.Next(here, w.id, human, true, "", "because")
		w.tell(w.p, fmt.Sprintf("hears of an override: %v", err))
	case n < 26:
		w.perishes()
	case n < 29:
		w.respawns()
	case n < 31:
		pause(time.Duration(w.dice.IntN(10)) * time.Minute)
		_, err := e.RespawnDead(here, w.id)
		w.tell(w.p, fmt.Sprintf("hears of a revival: %v", err))
	case n < 33:
		state, _ := w.law.def.State(t.Status)
		pause(time.Duration(state.Timeout.After) * time.Second * time.Duration(w.dice.IntN(3)))
		_, told, err := e.Timeouts(here, w.id)
		w.tell(w.p, fmt.Sprintf("hears of the time: %s %v", told, err))
	case n < 35 && len(w.law.def.Redo) > 0:
		w.redoes()
	case n < 36:
		_, err := e.Retry(here, w.id, human)
		w.tell(w.p, fmt.Sprintf("hears of a retry: %v", err))
	case n < 37:
		pause(time.Duration(w.dice.IntN(400)) * time.Second)
		w.tell(w.p, fmt.Sprintf("resumes: %v", e.Resume(here)))
	case n < 38:
		command := []string{workflow.MoveSpawn, workflow.MoveRequestChanges, workflow.MoveSpawn,
			workflow.MoveComplete, workflow.MoveCancel}[w.dice.IntN(5)]
		_, err := e.Command(here, w.id, command, human, "because")
		w.tell(w.p, fmt.Sprintf("hears of %s: %v", command, err))
	default:
		w.tellsOne()
	}
}

// asksFor has somebody ask for a move that leads out of here, or for any other.
func (w *stroll) asksFor(t task.Task) {
	actor := w.actor()
	req := task.Request{Task: w.id, To: w.law.def.States[w.dice.IntN(len(w.law.def.States))].Name, Actor: actor,
		Reason: "because"}
	open := slices.DeleteFunc(decide.Open(w.law.def, t, actor), func(to task.Status) bool { // not to an end so soon
		state, _ := w.law.def.State(to)
		return state.Terminal && w.dice.IntN(10) > 0
	})
	if len(open) > 0 && w.dice.IntN(12) > 0 {
		req.To = open[w.dice.IntN(len(open))]
	}
	req.Override = w.dice.IntN(6) == 0
	out, err := w.p.engine.Request(here, req)
	w.tell(w.p, fmt.Sprintf("%+v asks for %s (override %v): %v %v", actor, req.To, req.Override, out.Moved, err))
}

// perishes is the death of an agent. It is told at once, or later.
func (w *stroll) perishes() {
	var alive []*simulate.Agent
	for _, a := range w.Agents {
		if a.Alive {
			alive = append(alive, a)
		}
	}
	if len(alive) == 0 {
		return
	}
	a := alive[w.dice.IntN(len(alive))]
	a.Ending = []task.Ending{{}, {Known: true}, {Known: true, Status: 1}, {Known: true, Signal: 9},
		{Unstarted: "no such program"}}[w.dice.IntN(5)]
	w.ends(a, true)
	w.dead = append(w.dead, a)
	if w.dice.IntN(4) > 0 {
		w.tellsOne()
	}
}

// tellsOne tells the engine of a death. One that it leaves for later is told again.
func (w *stroll) tellsOne() {
	if len(w.dead) == 0 {
		return
	}
	a := w.dead[w.dice.IntN(len(w.dead))]
	out, err := w.p.engine.Died(here, task.Death{Task: w.id, Role: a.Role, Hook: a.Hook, Ending: a.Ending})
	w.tell(w.p, fmt.Sprintf("tells of the death of %v: %v %v", a, out.Moved, err))
}

func (w *stroll) respawns() {
	_, err := w.p.engine.Respawn(here, w.id, func(_ task.Task, role string) (bool, error) {
		return w.Living(w.id, role) != nil, nil
	}, human)
	w.tell(w.p, fmt.Sprintf("hears of a respawn: %v", err))
}

func (w *stroll) redoes() {
	again := w.law.def.Redo[w.dice.IntN(len(w.law.def.Redo))].Name
	_, err := w.p.engine.Redo(here, w.id, task.Status(again), human, "anew")
	w.tell(w.p, fmt.Sprintf("hears of a redo of %s: %v", again, err))
}

// begins has the task born anywhere where it may be.
func (w *stroll) begins() {
	births := w.law.def.Births
	n := task.New{
		Project: w.Project, Summary: "mend the gate", Harness: "claude", ReviewHarness: "codex", Workflow: "any",
		Actor:  human,
		Status: births[w.dice.IntN(len(births))].To, Spawn: w.dice.IntN(2) == 0,
	}
	if w.law.def.PlanFile != nil && w.dice.IntN(3) == 0 {
		n.Plan = "dig"
	}
	if _, err := decide.SpawnTarget(w.law.def, task.Task{}); err != nil {
		n.Spawn = false
	}
	out, err := w.p.engine.Create(here, n)
	if w.id = out.Task.ID; err != nil && w.id == "" {
		w.breaks("cannot create a task in %s: %v", n.Status, err)
	}
}
