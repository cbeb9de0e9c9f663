package engine_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"orange/internal/proof/simulate"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// walk is one task on its way through the real engine, with the real record, files and hooks in the world of
// the simulation. Nothing happens at once here: one thing comes after the other, so that after each it is plain
// what state the task is in.
type walk struct {
	*simulation
	p          *process
	reach      *explored
	id         string
	unreported []*simulate.Agent // whose death is not reported yet
	died       map[string]bool   // roles whose agent has died by itself and was not started since
	eventsSeen int               // events that were looked at
	failed     map[string]bool   // hooks that fail in this step
	runnerDies bool              // the runner of hooks dies before it has begun
	// what there is outside of the document, by the key of the part that looks at it; nil where it is random
	provided map[string]bool
}

// runHooks performs hooks at once, or not at all.
func (w *walk) runHooks(id string) error {
	if w.runnerDies {
		return nil
	}
	return w.p.engine.Settle(background, id)
}

func (w *walk) hookFails(does string) bool {
	if class, _ := action.ClassOf(does); class == action.ClassApart || w.failed == nil {
		return false
	}
	if _, drawn := w.failed[does]; !drawn {
		w.failed[does] = w.random.IntN(2) == 0
	}
	return w.failed[does]
}

// randomFacts are the facts outside of the document: anything may be there, with any result. Without a worktree
// there is no git, and no check.
type randomFacts struct{ *walk }

func (w randomFacts) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	out := map[string]decide.Fact{}
	for _, p := range parts {
		f := decide.Fact{Source: simulate.SourceOf(p), Found: "something else", Want: "mend it"}
		holds, text := false, ""
		if w.provided != nil { // what an actor has provided, and nothing else
			holds, text = w.provided[p.Key()], w.note("text")
		} else if holds = w.random.IntN(4) > 0; holds && (t.Workspace != "" || p.Check+p.Git == "") {
			text = fmt.Sprintf("text %d", w.random.IntN(400))
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

// writeDocument replaces the document with what gates ask for, or something else.
func (w *walk) writeDocument() {
	var body strings.Builder
	var said []string
	for _, p := range leaves(w.Workflow) {
		name := document.Key(p.Section)
		if p.Section == "" || slices.Contains(said, name) || w.random.IntN(8) == 0 {
			continue
		}
		said = append(said, name)
		verdict := []string{"PASS", "FAIL", ""}[w.random.IntN(9)%4%3]
		body.WriteString(w.section(name, verdict, w.random.IntN(8) != 0))
	}
	w.saveDocument(body.String())
}

// section is a section with every label that a gate asks for in it, or without a content.
func (w *walk) section(name, verdict string, content bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n## %s\n", name)
	if verdict != "" {
		fmt.Fprintf(&out, "Verdict: %s\n", verdict)
	}
	if !content {
		return out.String()
	}
	for _, p := range leaves(w.Workflow) {
		if document.Key(p.Section) == name {
			for _, label := range p.Fields {
				fmt.Fprintf(&out, "%s: %s\n", label, w.note("something"))
			}
		}
	}
	out.WriteString(w.note("finding") + "\n")
	return out.String()
}

// saveDocument replaces the whole document with a text.
func (w *walk) saveDocument(body string) {
	path := w.files.Document(w.Project.Name, w.id)
	text, err := os.ReadFile(path)
	if err != nil {
		w.breakf("%v", err)
		return
	}
	end := strings.Index(string(text[4:]), "\n---\n") + 4 + len("\n---\n")
	if err := os.WriteFile(path, append(text[:end:end], body...), 0o644); err != nil {
		w.breakf("%v", err)
	}
}

func (w *walk) actor() task.Actor {
	alive := w.AllLiving()
	switch n := w.random.IntN(8); {
	case n < 5 && len(alive) > 0:
		return task.Actor{Role: alive[w.random.IntN(len(alive))].Role}
	case n == 7 && len(w.Workflow.Roles) > 0:
		return task.Actor{Role: task.RoleHuman, As: w.Workflow.Roles[w.random.IntN(len(w.Workflow.Roles))].Name}
	case n == 6:
		return task.Actor{Role: task.RoleHuman, As: []string{task.RoleWorker, task.RoleReviewer}[w.random.IntN(2)]}
	}
	return human
}

// step makes one thing happen.
func (w *walk) step(t task.Task) {
	w.failed, w.runnerDies = nil, w.random.IntN(25) == 0
	if w.random.IntN(5) == 0 {
		w.failed = map[string]bool{}
	}
	if w.random.IntN(5) > 0 {
		w.writeDocument()
	}
	e := w.p.engine
	if state, _ := w.Workflow.State(t.Status); len(state.SendBack) > 0 && w.random.IntN(4) == 0 {
		w.sendBack(t)
		return
	}
	switch n := w.random.IntN(40); {
	case n < 18:
		w.request(t)
	case n < 20:
		_, err := e.Next(background, w.id, w.actor(), false, "", "because")
		w.logf(w.p, fmt.Sprintf("hears of next: %v", err))
	case n < 21:
		_, err := e.Next(background, w.id, human, true, "", "because")
		w.logf(w.p, fmt.Sprintf("hears of an override: %v", err))
	case n < 26:
		w.killAgent()
	case n < 29:
		w.respawnAgent()
	case n < 31:
		pause(time.Duration(w.random.IntN(10)) * time.Minute)
		_, err := e.RespawnDead(background, w.id)
		w.logf(w.p, fmt.Sprintf("hears of a revival: %v", err))
	case n < 33:
		state, _ := w.Workflow.State(t.Status)
		pause(time.Duration(state.Timeout.After) * time.Second * time.Duration(w.random.IntN(3)))
		_, message, err := e.Timeouts(background, w.id)
		w.logf(w.p, fmt.Sprintf("hears of the time: %s %v", message, err))
	case n < 35 && len(w.Workflow.Redo) > 0:
		w.redo()
	case n < 36:
		_, err := e.Retry(background, w.id, human)
		w.logf(w.p, fmt.Sprintf("hears of a retry: %v", err))
	case n < 37:
		pause(time.Duration(w.random.IntN(400)) * time.Second)
		w.logf(w.p, fmt.Sprintf("resumes: %v", e.Resume(background)))
	case n < 38:
		command := []string{workflow.MoveSpawn, workflow.MoveRequestChanges, workflow.MoveSpawn,
			workflow.MoveComplete, workflow.MoveCancel}[w.random.IntN(5)]
		_, err := e.Command(background, w.id, command, human, "because")
		w.logf(w.p, fmt.Sprintf("hears of %s: %v", command, err))
	default:
		w.reportOneDeath()
	}
}

// sendBack is something that happens to the work, where the status has a rule for it that applies.
func (w *walk) sendBack(t task.Task) {
	back := decide.Setback{On: workflow.SendBackEvents()[w.random.IntN(3)], Reason: "the work is unfit",
		Text: w.note("mend"), Commit: t.Subject.Commit, Facts: []string{w.note("run")}}
	if to, _ := back.Target(w.Workflow, t); to == "" {
		return
	}
	told, err := w.p.engine.SendBack(background, w.id, back)
	w.logf(w.p, fmt.Sprintf("hears of a setback: %s %v", told, err))
}

// request is a request for a move that leads out of the status, or for any other.
func (w *walk) request(t task.Task) {
	actor := w.actor()
	states := w.Workflow.States
	req := task.Request{Task: w.id, To: states[w.random.IntN(len(states))].Name, Actor: actor, Reason: "because"}
	open := slices.DeleteFunc(decide.MayAsk(w.Workflow, t, actor), func(to task.Status) bool { // not to an end so soon
		state, _ := w.Workflow.State(to)
		return state.Terminal && w.random.IntN(10) > 0
	})
	if len(open) > 0 && w.random.IntN(12) > 0 {
		req.To = open[w.random.IntN(len(open))]
	}
	// What is proved leaves out that a person may take any edge in spite of its conditions.
	req.Override = w.random.IntN(6) == 0 && (actor.Role != task.RoleHuman || w.offersOverride(t.Status, req.To))
	out, err := w.p.engine.Request(background, req)
	w.logf(w.p, fmt.Sprintf("%+v asks for %s (override %v): %v %v", actor, req.To, req.Override, out.Moved, err))
}

// offersOverride reports whether each edge between two states says "override: allowed".
func (w *walk) offersOverride(from, to task.Status) bool {
	return !slices.ContainsFunc(w.Workflow.Transitions, func(e workflow.Transition) bool {
		return e.From == from && e.To == to && !e.Override
	})
}

// killAgent is the death of an agent. It is reported at once, or later.
func (w *walk) killAgent() {
	alive := w.AllLiving()
	if len(alive) == 0 {
		return
	}
	a := alive[w.random.IntN(len(alive))]
	a.Ending = []task.Ending{{}, {Known: true}, {Known: true, Status: 1}, {Known: true, Signal: 9},
		{Unstarted: "no such program"}}[w.random.IntN(5)]
	w.endAgent(a, true)
	w.unreported = append(w.unreported, a)
	if w.random.IntN(4) > 0 {
		w.reportOneDeath()
	}
}

// reportOneDeath reports a death to the engine. One that the engine leaves for later is reported again.
func (w *walk) reportOneDeath() {
	if len(w.unreported) == 0 {
		return
	}
	a := w.unreported[w.random.IntN(len(w.unreported))]
	out, err := w.p.engine.Died(background, task.Death{Task: w.id, Role: a.Role, Hook: a.Hook, Ending: a.Ending})
	w.logf(w.p, fmt.Sprintf("tells of the death of %v: %v %v", a, out.Moved, err))
}

func (w *walk) respawnAgent() {
	_, err := w.p.engine.Respawn(background, w.id, func(_ task.Task, role string) (bool, error) {
		return w.Living(w.id, role) != nil, nil
	}, human)
	w.logf(w.p, fmt.Sprintf("hears of a respawn: %v", err))
}

func (w *walk) redo() {
	again := w.Workflow.Redo[w.random.IntN(len(w.Workflow.Redo))].Name
	_, err := w.p.engine.Redo(background, w.id, task.Status(again), human, "anew")
	w.logf(w.p, fmt.Sprintf("hears of a redo of %s: %v", again, err))
}

// create creates the task in any state where the workflow allows that.
func (w *walk) create() {
	births := w.Workflow.Births
	n := task.New{
		Project: w.Project, Summary: "mend the gate", Harness: "claude", ReviewHarness: "codex", Workflow: "any",
		Actor:  human,
		Status: births[w.random.IntN(len(births))].To, Spawn: w.random.IntN(2) == 0,
	}
	if w.Workflow.PlanFile != nil && w.random.IntN(3) == 0 {
		n.Plan = "dig"
	}
	if _, err := decide.SpawnTarget(w.Workflow, task.Task{}); err != nil {
		n.Spawn = false
	}
	out, err := w.p.engine.Create(background, n)
	if w.id = out.Task.ID; err != nil && w.id == "" {
		w.breakf("cannot create a task in %s: %v", n.Status, err)
	}
}
