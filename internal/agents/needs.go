package agents

import (
	"fmt"
	"time"

	"orange/internal/harness"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// sight is what the screen of an agent that is still says to people. It never moves a task.
type sight struct {
	kind string      // NeedsAnswer, NeedsLimit or NeedsWord; empty if it says nothing
	rest record.Rest // at a limit; of a dialog that tells of one only the line
}

// read reads a screen that has not changed since a time. A program is at rest only if its harness tells its rest from
// its work.
func read(h *harness.Harness, screen string, since time.Time) sight {
	limit := h.Limit(screen)
	switch {
	case h.Dialog != nil && h.Dialog.MatchString(screen):
		return sight{kind: record.NeedsAnswer, rest: record.Rest{Line: limit}}
	case limit != "" && (h.Busy == nil || !h.Busy.MatchString(screen)):
		until, _ := harness.LimitTime(limit, since, time.LoadLocation)
		return sight{record.NeedsLimit, record.Rest{Harness: h.Name, Provider: h.Provider, Line: limit, Since: since,
			Until: until}}
	case h.Ready != nil && h.Busy != nil && h.Ready.MatchString(screen) && !h.Busy.MatchString(screen):
		return sight{kind: record.NeedsWord}
	}
	return sight{}
}

// need says why a person should look after a task now. agent is how the agent of its status is, and seen what the
// agent's screen says.
func need(def *workflow.Definition, t task.Task, agent string, seen sight) record.Need {
	state, _ := def.State(t.Status)
	attach := fmt.Sprintf("orange task attach %s --role %s", t.ID, state.Role)
	until, limited := record.LimitOf(t.Attention)
	rests := t.Status != def.Initial && def.WaitsForPerson(t.Status)
	switch {
	case !t.Live || t.Queued():
		return record.Need{}
	case limited:
		return record.Need{Kind: record.NeedsLimit, Found: t.Attention, Until: until,
			Want: "wait, or start it now: orange task respawn " + t.ID}
	case t.Attention != "":
		return record.Need{Kind: record.NeedsAttention, Found: t.Attention, Want: "orange task why " + t.ID}
	case state.Role != "" && agent == record.AgentDead && state.Respawn != workflow.RespawnAuto:
		return record.Need{Kind: record.NeedsAgent, Found: "its " + state.Role + " has died",
			Want: "start it again: orange task respawn " + t.ID}
	case seen.kind == record.NeedsAnswer:
		found := "its " + state.Role + " is at a dialog"
		if seen.rest.Line != "" {
			found += ": " + seen.rest.Line
		}
		return record.Need{Kind: seen.kind, Found: found, Want: "answer it: " + attach}
	case seen.kind == record.NeedsLimit:
		rest := seen.rest
		rest.Role = state.Role
		return record.Need{Kind: seen.kind, Found: "its " + state.Role + " is at a limit: " + rest.Line,
			Want: "wait, or look: " + attach, Until: rest.Until, Rest: &rest}
	case rests:
		return record.Need{Kind: record.NeedsPerson, Found: fmt.Sprintf("%q waits for a person", t.Status),
			Want: "orange task why " + t.ID}
	case seen.kind == record.NeedsWord:
		return record.Need{Kind: seen.kind,
			Found: "its " + state.Role + " rests at its prompt and has not moved the task",
			Want:  fmt.Sprintf("say what to do: orange task say %s TEXT, or there: %s", t.ID, attach)}
	}
	return record.Need{}
}
