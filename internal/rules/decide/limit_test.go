package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// limitedDeath is the end of a role at a limit with nothing new left, and until when that lasts as far as it said.
func limitedDeath(role string, until time.Time) task.Death {
	death := deathOf(role)
	death.Ending.Status = 1
	death.Limit = task.Limit{Line: "usage limit reached", Provider: "anthropic", Until: until, Work: "w1"}
	return death
}

func TestAnAgentRestartsAfterALimitAndHasNotCrashed(t *testing.T) {
	t.Parallel()
	def, one, until := defaultWorkflow(t), newTask("working"), noon.Add(3*time.Hour)
	one.StalledAt = noon.Add(-time.Hour)
	c := decide.Exit(def, one, evidence(""), limitedDeath("worker", until), noon)
	if got := shape(c); got != "agent.limited | working crashes=0 | " || !c.Task.UpdatedAt.Equal(noon) ||
		!c.Task.StalledAt.IsZero() || c.Events[0].Counters.Get(record.LimitCount) != 1 {
		t.Fatalf("it leads to %s", got)
	}
	if at, is := c.Task.LimitedUntil(); !is || !at.Equal(until) || c.DeadHook != 4 ||
		c.Task.Counters.Get(record.LimitCount) != 1 {
		t.Errorf("it is %+v", c.Task)
	}
	if strings.Contains(c.Task.Attention, "last words") {
		t.Errorf("the mark tells what the event has: %q", c.Task.Attention)
	}
	data := c.Events[0].Data
	if data["limit"] != "usage limit reached" || data["provider"] != "anthropic" ||
		data["work"] != "w1" || data[task.DataLastWords] != "out of paper" {
		t.Errorf("the event has %v", data)
	}
	for _, tt := range []struct {
		name string
		now  time.Time
		due  time.Time
	}{
		{"before the limit is over", noon.Add(time.Minute), until},
		{"after it is over", until.Add(time.Hour), until},
		{"after the clock was set back", noon.Add(-time.Hour), noon},
	} {
		if due, wanted := decide.RespawnDue(def, c.Task, c.Events, tt.now); !wanted || !due.Equal(tt.due) {
			t.Errorf("%s: it is due at %v, %v", tt.name, due, wanted)
		}
	}
	if !decide.Respawns(def, c.Task) || decide.Respawns(def, one) {
		t.Error("the monitor does not look after the task that waits for a limit alone")
	}
	found := decide.Awaits(def, record.Snapshot{Task: c.Task}, record.AgentDead, c.Events, nil, noon)
	if text := fmt.Sprint(found); !strings.Contains(text, "starts it again in 3h") ||
		!strings.Contains(text, "wait, or start it now: orange task respawn T1") ||
		strings.Contains(text, "put that right") {
		t.Errorf("it waits for %s", text)
	}
	torn := c.Events[0]
	torn.Data = map[string]string{"role": "worker", "ended": "exit status 1", history.DataUntil: "soon"}
	if due, wanted := decide.RespawnDue(def, c.Task, []history.Event{torn}, noon.Add(time.Hour)); !wanted ||
		!due.Equal(noon) {
		t.Errorf("one whose time cannot be read is due at %v, %v", due, wanted)
	}
}

func TestALimitIsWaitedForWhereverAnAgentCanBeStartedAgain(t *testing.T) {
	t.Parallel()
	def, marked := defaultWorkflow(t), false
	for _, s := range def.States {
		if s.Role == "" || s.RespawnPrompt.Name == "" {
			continue
		}
		c := decide.Exit(def, newTask(s.Name), evidence(""), limitedDeath(s.Role, time.Time{}), noon)
		if c.Events[0].Type != history.AgentLimited {
			t.Errorf("%s: it leads to %s", s.Name, shape(c))
		}
		plain := decide.Exit(def, newTask(s.Name), evidence(""), deathOf(s.Role), noon)
		marked = marked || plain.Events[0].Type == history.AgentStopped
		if plain.Task.Attention != "" && !strings.HasSuffix(plain.Task.Attention, "; its last words: out of paper") {
			t.Errorf("%s: the mark of a death is %q", s.Name, plain.Task.Attention)
		}
	}
	if !marked {
		t.Error("no status has a death that is no crash")
	}
}

func TestRespawnDue_waitsForNoClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	died := history.Event{Type: history.AgentCrashed, Time: noon.Add(10 * time.Hour), Data: map[string]string{
		"role": "reviewer", "ended": "exit status 1"}}
	due, wanted := decide.RespawnDue(defaultWorkflow(t), newTask("agent-review"), []history.Event{died}, noon)
	if !wanted || !due.Equal(noon) {
		t.Errorf("it is due at %v, %v", due, wanted)
	}
}

func TestOrangeWaitsLongerEachTimeForALimitOfUnknownEnd(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	for _, past := range []time.Time{{}, noon.Add(-time.Hour), noon} {
		now := one
		for n, want := range []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour, time.Hour} {
			c := decide.Exit(def, now, evidence(""), limitedDeath("worker", past), noon)
			due, _ := decide.RespawnDue(def, c.Task, c.Events, noon)
			if due.Sub(noon) != want {
				t.Errorf("time %d: it waits for %v, want %v", n+1, due.Sub(noon), want)
			}
			now = c.Task
		}
	}
}

func TestAShortLimitIsBelievedOnce(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	for n, want := range []time.Duration{20 * time.Second, 5 * time.Minute, 15 * time.Minute, time.Hour} {
		c := decide.Exit(def, one, evidence(""), limitedDeath("worker", noon.Add(20*time.Second)), noon)
		if due, _ := decide.RespawnDue(def, c.Task, c.Events, noon); due.Sub(noon) != want {
			t.Errorf("time %d: it waits for %v, want %v", n+1, due.Sub(noon), want)
		}
		one = c.Task
	}
	last := decide.Exit(def, one, evidence(""), limitedDeath("worker", noon.Add(5*time.Hour)), noon)
	if due, _ := decide.RespawnDue(def, last.Task, last.Events, noon); due.Sub(noon) != 5*time.Hour {
		t.Errorf("a long one: it waits for %v", due.Sub(noon))
	}
}

func TestTheSixthEndAtALimitWithNothingNewIsACrash(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	one.Counters = one.Counters.With(record.LimitCount, record.MostLimits)
	death := limitedDeath("worker", time.Time{})
	c := decide.Exit(def, one, evidence(""), death, noon)
	if got := shape(c); !strings.HasPrefix(got, "agent.crashed | working crashes=1") {
		t.Errorf("it leads to %s", got)
	}
	if _, wanted := decide.RespawnDue(def, c.Task, c.Events, noon); wanted {
		t.Error("after the crash the agent is started again by itself")
	}
	if again := decide.Exit(def, c.Task, evidence(""), death, noon); shape(again) == shape(c) ||
		again.Events[0].Type != history.AgentCrashed {
		t.Errorf("a crash makes room for more limits: %s", shape(again))
	}
	death.Limit.New = true // it left a commit or a text
	if c := decide.Exit(def, one, evidence(""), death, noon); c.Task.Counters.Get(record.LimitCount) != 1 {
		t.Errorf("with something new it counts %v", c.Task.Counters)
	}
}

func TestAMoveOrAPersonsRespawnResetsTheLimitCount(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	one.Counters = one.Counters.With(record.LimitCount, 3)
	by, err := decide.Respawn(def, one, false, false, task.Actor{Role: task.RoleHuman}, noon)
	if err != nil || by.Task.Counters.Get(record.LimitCount) != 0 || by.Events[0].Counters.Get(record.LimitCount) != 0 {
		t.Errorf("after a person's respawn it counts %v: %v", by.Task.Counters, err)
	}
	rule, err := decide.Respawn(def, one, false, false, task.Actor{Rule: true}, noon)
	if err != nil || rule.Task.Counters.Get(record.LimitCount) != 3 {
		t.Errorf("after the monitor's respawn it counts %v: %v", rule.Task.Counters, err)
	}
	d, err := decide.Transition(def, one, evidence(""), task.Request{Task: one.ID, To: "clarification",
		Actor: task.Actor{Role: task.RoleHuman}, Reason: "a question"}, noon)
	if err != nil || d.Change.Task.Counters.Get(record.LimitCount) != 0 {
		t.Errorf("after a move it counts %v: %v", d.Change.Task.Counters, err)
	}
}

func TestALimitStopsNoVerdictAndIsNothingToOtherRoles(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	if c := decide.Exit(def, newTask("working"), evidence(""), limitedDeath("reviewer", time.Time{}), noon); shape(
		c) != "agent.stopped | working crashes=0 | " {
		t.Errorf("the death of another role leads to %s", shape(c))
	}
	if c := decide.Exit(def, newTask("stuck"), evidence(""), limitedDeath("worker", time.Time{}), noon); c.Events[0].
		Type == history.AgentCrashed {
		t.Errorf("in a status of a person it leads to %s", shape(c))
	}
	homeless := newTask("working")
	homeless.Workspace = ""
	if c := decide.Exit(def, homeless, evidence(""), limitedDeath("worker", time.Time{}), noon); c.Events[0].Type ==
		history.AgentLimited {
		t.Error("a task that cannot start an agent waits for a limit")
	}
}

func TestAtLimit_isNewWhereACommitOrATextIs(t *testing.T) {
	t.Parallel()
	seen := task.Limit{Line: "usage limit reached", Provider: "anthropic"}
	at := func(commit, body string, events ...history.Event) task.Limit {
		ev := evidence(body)
		ev.Subject.Commit = commit
		return ev.AtLimit(seen, events)
	}
	first := at("c1", "a plan")
	if !first.New || first.Work == "" || first.Line != seen.Line {
		t.Errorf("the first one is %+v", first)
	}
	end := history.Event{Type: history.AgentLimited, Data: map[string]string{"work": first.Work}}
	move := history.Event{Type: history.StatusChanged, From: "working", To: "working"}
	for _, tt := range []struct {
		name   string
		got    task.Limit
		wanted bool
	}{
		{"the same", at("c1", "a plan", end, history.Event{Type: history.AgentRespawned}), false},
		{"another commit", at("c2", "a plan", end), true},
		{"another text", at("c1", "a plan and more", end), true},
		{"an earlier status", at("c1", "a plan", end, move), true},
		{"what was there before the last time", at("c1", "a plan", end, history.Event{Type: history.AgentLimited,
			Data: map[string]string{"work": "other"}}), true},
	} {
		if tt.got.New != tt.wanted {
			t.Errorf("%s: new is %v", tt.name, tt.got.New)
		}
	}
}

func TestOrangeTellsARestingAgentToGoOnAfterItsLimit(t *testing.T) {
	t.Parallel()
	def, one, hour := defaultWorkflow(t), newTask("working"), noon.Add(time.Hour)
	limit := limitedDeath("worker", hour).Limit
	unnamed := limit
	unnamed.Until = noon.Add(-time.Minute)
	worn := one
	worn.Counters = one.Counters.With(record.LimitCount, record.MostLimits)
	fresh := limit
	fresh.New = true
	over, marked := one, one
	over.Live, marked.Attention = false, "a hook failed"
	for _, tt := range []struct {
		name  string
		task  task.Task
		role  string
		limit task.Limit
		now   time.Time
		due   bool
		again time.Time
	}{
		{"before it is over", one, "worker", limit, noon, false, hour},
		{"when it is over", one, "worker", limit, hour, true, time.Time{}},
		{"no time is named", one, "worker", unnamed, noon.Add(4 * time.Minute), false, noon.Add(5 * time.Minute)},
		{"it was waited for, and no time is named", one, "worker", unnamed, noon.Add(5 * time.Minute), true,
			time.Time{}},
		{"another role", one, "reviewer", limit, hour, false, time.Time{}},
		{"no role", newTask("stuck"), "", limit, hour, false, time.Time{}},
		{"no limit", one, "worker", task.Limit{}, hour, false, time.Time{}},
		{"too often with nothing new", worn, "worker", limit, hour, false, time.Time{}},
		{"too often, and there is something new", worn, "worker", fresh, hour, true, time.Time{}},
		{"a task that is over", over, "worker", limit, hour, false, time.Time{}},
		{"a task with a mark", marked, "worker", limit, hour, false, time.Time{}},
		{"a status of a person", newTask("clarification"), "worker", limit, hour, false, time.Time{}},
	} {
		c, due, again := decide.GoOn(def, tt.task, tt.role, tt.limit, noon, tt.now)
		if due != tt.due || !again.Equal(tt.again) {
			t.Errorf("%s: due %v, again at %v", tt.name, due, again)
		}
		if !due {
			continue
		}
		e := c.Events[0]
		if len(c.Events) != 1 || e.Type != history.AgentNotified || e.Data["role"] != "worker" ||
			e.Data["work"] != "w1" || e.Counters.Get(record.LimitCount) == 0 || c.Task.Status != one.Status ||
			!e.Counters.Equal(c.Task.Counters) {
			t.Errorf("%s: it leads to %+v", tt.name, c)
		}
		if end, _ := history.LimitEnd(c.Events); end != nil {
			t.Errorf("%s: others of the provider wait for one that lives", tt.name)
		}
	}
}

func TestHeld_whileAnotherTaskWaitsForALimitOfTheSameProvider(t *testing.T) {
	t.Parallel()
	until := noon.Add(5 * time.Hour)
	end := history.Event{Type: history.AgentLimited, Time: noon, Data: map[string]string{
		"provider": "anthropic", history.DataUntil: task.FormatTime(until)}}
	by := func(kind, actor string) history.Event { return history.Event{Type: kind, Actor: actor} }
	human, engine := task.RoleHuman, task.ActorEngine
	for _, tt := range []struct {
		name     string
		provider string
		limited  []history.Event
		own      []history.Event
		now      time.Time
		held     bool
	}{
		{"the same provider", "anthropic", []history.Event{end}, nil, noon, true},
		{"another provider", "openai", []history.Event{end}, nil, noon, false},
		{"no limit", "anthropic", nil, nil, noon, false},
		{"its agent was started again", "anthropic", []history.Event{end, by(history.AgentRespawned, human)}, nil, noon,
			false},
		{"it is over", "anthropic", []history.Event{end}, nil, until, false},
		{"it is waited for long already", "anthropic", []history.Event{end}, nil, noon.Add(time.Hour), false},
		{"the clock was set back", "anthropic", []history.Event{end}, nil, noon.Add(-time.Minute), false},
		{"a person respawns", "anthropic", []history.Event{end}, []history.Event{by(history.AgentRespawned, human)},
			noon, false},
		{"a person tries it again", "anthropic", []history.Event{end}, []history.Event{by(history.HooksRetried, human)},
			noon, false},
		{"the monitor respawns", "anthropic", []history.Event{end}, []history.Event{by(history.AgentRespawned, engine)},
			noon, true},
		{"a person asked for the move", "anthropic", []history.Event{end}, []history.Event{by(history.StatusChanged,
			human)}, noon, true},
	} {
		got, held := decide.Held(tt.provider, tt.limited, tt.own, tt.now)
		if held != tt.held || held && !got.Equal(until) {
			t.Errorf("%s: held %v until %v", tt.name, held, got)
		}
	}
	short := end
	short.Data = map[string]string{"provider": "anthropic",
		history.DataUntil: task.FormatTime(noon.Add(time.Minute))}
	if _, held := decide.Held("anthropic", []history.Event{short}, nil, noon.Add(2*time.Minute)); held {
		t.Error("a limit that is over within the hour holds up")
	}
}
