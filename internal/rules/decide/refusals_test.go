package decide_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestRefusedOften_asksAPersonToLook(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{States: []workflow.State{{Name: "working", Role: "worker"},
		{Name: "strict", Role: "worker", Refused: workflow.RefusedAfter{Most: 3}}}}
	for name, c := range map[string]struct {
		status            task.Status
		count, same, told int
		mark              string
		over, elsewhere   bool
		want              string // the mark; empty where nothing follows
	}{
		"four":            {status: "working", count: 4, same: 4},
		"five equal ones": {status: "working", count: 5, same: 5, want: "refused 5 times: why"},
		"nineteen":        {status: "working", count: 19, same: 1},
		"twenty":          {status: "working", count: 20, same: 1, want: "refused 20 times, the last time: why"},
		"told":            {status: "working", count: 9, same: 9, told: 5, mark: "refused 5 times: why"},
		"twice as many": {status: "working", count: 10, same: 10, told: 5, mark: "refused 5 times: why",
			want: "refused 10 times: why"},
		"another mark":       {status: "working", count: 5, same: 5, mark: "hook x: no", want: "hook x: no"},
		"the file says more": {status: "strict", count: 2, same: 2},
		"as the file says":   {status: "strict", count: 3, same: 1, want: "refused 3 times, the last time: why"},
		"over":               {status: "working", count: 5, same: 5, over: true},
		"in another stay":    {status: "working", count: 5, same: 5, elsewhere: true},
	} {
		r := record.Refusals{Status: c.status, Entered: noon, Count: c.count, Same: c.same, Told: c.told, Reason: "why"}
		at := task.Task{ID: "T", Status: c.status, EnteredAt: noon, Live: !c.over, Attention: c.mark, Version: 7}
		if c.elsewhere {
			at.EnteredAt = noon.Add(time.Second)
		}
		change, due := decide.RefusedOften(def, at, r, noon)
		switch {
		case due != (c.want != ""):
			t.Errorf("%s: due %t", name, due)
		case due && (change.Task.Attention != c.want || change.Expect != 7 ||
			change.Events[0].Type != history.AgentRefused || !strings.Contains(change.Events[0].Reason, "why")):
			t.Errorf("%s: %+v", name, change)
		}
	}
}

func TestNote_takesAwayTheMarkOfRefusalsWhenAPersonAnswers(t *testing.T) {
	t.Parallel()
	person := task.Actor{Role: task.RoleHuman}
	def := &workflow.Definition{}
	for _, c := range []struct {
		mark, kind, want string
	}{
		{"refused 5 times: x", history.PersonSaid, ""},
		{"refused 5 times: x", history.Updated, "refused 5 times: x"},
		{"hook x: no", history.PersonSaid, "hook x: no"},
	} {
		at := task.Task{ID: "T", Status: "working", Live: true, Attention: c.mark}
		change := decide.Note(def, at, at, person, history.Event{Type: c.kind, Time: noon})
		if change.Task.Attention != c.want {
			t.Errorf("%s after %s: %q", c.mark, c.kind, change.Task.Attention)
		}
	}
	live := task.Task{ID: "T", Status: "working", Live: true, Attention: "refused 5 times: x"}
	if err := decide.MaySee(live, person); err != nil {
		t.Errorf("a person who has looked at refusals may not say so: %v", err)
	}
	live.Attention = "hook x: no"
	if err := decide.MaySee(live, person); err == nil {
		t.Error("the mark of a hook may be taken away while the task lives")
	}
}

// Where the workflow names a state, the task goes there like after a timeout; else it stays, with its mark.
func TestRefusedOften_movesTheTaskAsTheWorkflowSays(t *testing.T) {
	t.Parallel()
	def := timed()
	at := digging(0)
	for then, want := range map[task.Status]string{"": "dig", "help": "help"} {
		def.States[1].Refused = workflow.RefusedAfter{Most: 3, Then: then}
		r := record.Refusals{Status: "dig", Entered: at.EnteredAt, Count: 3, Same: 3, Reason: "why"}
		c, due := decide.RefusedOften(def, at, r, noon)
		if to, wanted := decide.Escalation(def, c); !due || wanted != (then != "") || to != then {
			t.Errorf("then %q: it wants %q", then, to)
		}
		c = decide.Escalate(def, c, at, decide.Evidence{}, noon)
		if string(c.Task.Status) != want {
			t.Errorf("then %q: %+v", then, c)
		}
		if then != "" && (kinds(c) != "agent.refused auto.advanced" || c.Events[1].Reason != "refused 3 times: why" ||
			c.Task.Attention != "refused 3 times: why") {
			t.Errorf("the move is %+v", c.Events)
		}
	}
}

func TestRespawn_byARuleLeavesTheMarkOfRefusals(t *testing.T) {
	t.Parallel()
	def := timed()
	for i := range def.States {
		def.States[i].RespawnPrompt.Name = "go"
	}
	at := digging(0)
	at.Workspace = "w"
	for _, c := range []struct {
		by         task.Actor
		mark, want string
	}{
		{task.Actor{Rule: true}, "refused 5 times: x", "refused 5 times: x"},
		{task.Actor{Role: task.RoleHuman}, "refused 5 times: x", ""},
		{task.Actor{Rule: true}, "crash 1: x", ""},
	} {
		at.Attention = c.mark
		change, err := decide.Respawn(def, at, false, false, c.by, noon)
		if err != nil || change.Task.Attention != c.want {
			t.Errorf("%+v: %q, %v", c, change.Task.Attention, err)
		}
	}
}

func TestRefusedOften_saysWhyTheMoveWasNotMade(t *testing.T) {
	t.Parallel()
	def := timed()
	def.States[1].Refused = workflow.RefusedAfter{Most: 3, Then: "help"}
	at := digging(0)
	r := record.Refusals{Status: "dig", Entered: at.EnteredAt, Count: 3, Same: 3, Reason: "why"}
	c, _ := decide.RefusedOften(def, at, r, noon)
	c = decide.Escalate(def, c, at, decide.Evidence{NoRoom: true}, noon)
	if !strings.HasPrefix(c.Task.Attention, "refused 3 times: why; it could not be moved to") {
		t.Errorf("the mark is %q", c.Task.Attention)
	}
}

func TestNote_ofAProgramLeavesTheMarkOfRefusals(t *testing.T) {
	t.Parallel()
	at := task.Task{ID: "T", Status: "working", Live: true, Attention: "refused 5 times: x"}
	program := task.Actor{Role: task.RoleHuman, Via: "mcp"}
	c := decide.Note(&workflow.Definition{}, at, at, program, history.Event{Type: history.PersonSaid, Time: noon})
	if c.Task.Attention != at.Attention {
		t.Errorf("the mark is %q", c.Task.Attention)
	}
}
