package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Why explains the state of a task: every move out of its status, for all who may ask, and who or what it waits for.
// It judges by the same code as a request, on evidence as it is now, and changes nothing. alive reports whether the
// status's agent lives.
func (e *questions) Why(ctx context.Context, id string,
	alive func(task.Task, string) (bool, error)) (decide.Explanation, error) {
	s, err := e.withRules(ctx, id)
	if err != nil {
		return decide.Explanation{}, err
	}
	def := s.def
	state, _ := def.State(s.Task.Status)
	out := decide.Explanation{Task: s.Task, About: state.About}
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return out, err
	}
	_, evidence := readDocument(e.folder, s.Task, true)
	evidence.History, evidence.Subject = events, e.looks.subjectOf(ctx, s.Snapshot, false)
	evidence.Spent, evidence.Entry, evidence.Start = s.Spent, s.Entry, s.Start
	parts := slices.DeleteFunc(decide.NeedsOfAll(def, s.Task), func(p workflow.Part) bool { return p.Section != "" })
	if len(parts) > 0 {
		if evidence.Facts, err = e.peek(ctx, s.Task, def, parts); err != nil {
			return out, fmt.Errorf("look at the evidence of task %s: %w", id, err)
		}
	}
	out.Ways, out.Seen = decide.Why(def, s.Task, evidence), textsSeen(evidence)
	out = out.WithRedo(def, events)
	w, err := e.turns.waitingFor(ctx, s.Task, true)
	if err != nil {
		return out, err
	}
	out.Waits, err = e.awaits(ctx, def, s.Snapshot, state.Role, alive, events)
	out.Before, out.Waits = w.Before, append(w.Missing(), out.Waits...)
	out.Waits = append(out.Waits, lostRequests(events)...)
	return out, err
}

// lostRequests are those that another home has acknowledged and that are lost, for a person to make again.
func lostRequests(events []history.Event) []rejection.Detail {
	var out []rejection.Detail
	for _, lost := range fencing.StillLost(events) {
		found := "it was acknowledged, and is lost with the home that had the task"
		if lost.Host != "" {
			found = "it was acknowledged, and is lost with " + lost.Host
		}
		out = append(out, rejection.Detail{Condition: fmt.Sprintf("the request %q", lost.Key), Found: found,
			Want: "see whether it is still wanted, and make it again: --key " + lost.Key})
	}
	return out
}

func (e *questions) awaits(ctx context.Context, def *workflow.Definition, s record.Snapshot, role string,
	alive func(task.Task, string) (bool, error), events []history.Event) ([]rejection.Detail, error) {
	seated, err := e.seatedAs(ctx, s.Task.ID, role)
	if err != nil {
		return nil, err
	}
	lives := record.AgentDead
	if seated { // an agent whose end is noted is dead, even while its window closes
		switch is, unseen := alive(s.Task, role); {
		case unseen != nil: // who shows the explanation says why
			lives = record.AgentUnknown
		case is:
			lives = record.AgentAlive
		}
	}
	own, err := e.timeoutsOf(s.Task)
	if err != nil {
		return nil, err
	}
	waits := decide.Awaits(def, s, lives, events, own, e.now())
	if !s.Task.Queued() {
		return waits, nil
	}
	holders, err := e.record.Holders(ctx, s.Task.Project)
	for _, h := range holders {
		waits = append(waits, rejection.Detail{
			Condition: "the workspace " + h.Workspace, Found: fmt.Sprintf("task %s has it, %q", h.Task, h.Status),
			Want: "finish or cancel that one",
		})
	}
	return waits, err
}

// textsSeen are the texts of evidence: the document's, and those of the files and checks that gates look at. What git
// says is no text: uncommitted work changes with every file that an agent touches.
func textsSeen(evidence decide.Evidence) []task.Evidence {
	body := evidence.Trouble
	if evidence.Document != nil {
		body = evidence.Document.Body
	}
	out := []task.Evidence{{Source: "the document", Digest: document.Digest(body)}}
	for _, key := range slices.Sorted(maps.Keys(evidence.Facts)) {
		if fact := evidence.Facts[key]; !strings.HasPrefix(fact.Source, "git ") {
			out = append(out, task.Evidence{Source: fact.Source, Digest: fact.Digest})
		}
	}
	return out
}
