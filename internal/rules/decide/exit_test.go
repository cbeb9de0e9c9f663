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
	"orange/internal/rules/workflow"
)

const (
	aPlanText    = "## Plan\nAPPROACH: dig\n"
	aHandoffText = "## Handoff\nDONE: all\n"
	aPassText    = "## Review\nVerdict: PASS\n"
	aFailText    = "## Review\nVerdict: FAIL\n- the door sticks\n"
)

func deathOf(role string) task.Death {
	return task.Death{Task: "T1", Role: role, Hook: 4, Ending: task.Ending{Known: true}, LastWords: "out of paper"}
}

// shape writes what an exit leads to in one line: events with their moves, the status, the count of crashes, hooks.
func shape(c record.Change) string {
	var out []string
	for _, e := range c.Events {
		word := e.Type
		if e.IsMove() {
			word += fmt.Sprintf(" %s->%s", e.From, e.To)
		}
		out = append(out, word)
	}
	var hooks []string
	for _, h := range c.Hooks {
		hooks = append(hooks, h.Action)
	}
	return fmt.Sprintf("%s | %s crashes=%d | %s", strings.Join(out, ", "), c.Task.Status,
		c.Task.Counters.Get(task.CrashCount), strings.Join(hooks, " "))
}

// Every row of the auto-advance rules of documents 000 and 001, with the default workflow's states.
func TestExit_rulesOfDocument001(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	tests := []struct {
		row     string
		status  task.Status
		role    string
		body    string
		round   int
		crashes int
		want    string
	}{
		{"planning: has valid Plan -> working", "planning", "worker", aPlanText, 0, 0,
			"agent.stopped, auto.advanced planning->working | working crashes=0 | "},
		{"planning: no plan -> crash", "planning", "worker", "", 0, 0, "agent.crashed | planning crashes=1 | "},
		{"planning: an empty plan is no plan", "planning", "worker", "## Plan\nAPPROACH:\n", 0, 0,
			"agent.crashed | planning crashes=1 | "},
		{"planning: crash_count >= 2 -> stuck", "planning", "worker", "", 0, 1,
			"agent.crashed, auto.advanced planning->stuck | stuck crashes=2 | kill_reviewer notify_worker"},
		{"working: has valid Handoff -> agent-review, spawn reviewer", "working", "worker", aHandoffText, 0, 1,
			"agent.stopped, auto.advanced working->agent-review | agent-review crashes=1 | set_field " +
				"increment_review_round spawn_reviewer"},
		{"working: no handoff -> crash", "working", "worker", aPlanText, 0, 0, "agent.crashed | working crashes=1 | "},
		{"working: crash_count >= 2 -> stuck", "working", "worker", "", 1, 1,
			"agent.crashed, auto.advanced working->stuck | stuck crashes=2 | kill_reviewer notify_worker"},
		{"agent-review: Verdict PASS -> reviewing", "agent-review", "reviewer", aPassText, 1, 0,
			"agent.stopped, auto.advanced agent-review->reviewing | reviewing crashes=0 | kill_reviewer"},
		{"agent-review: Verdict FAIL, round < 2 -> working, notify worker", "agent-review", "reviewer", aFailText, 1, 0,
			"agent.stopped, auto.advanced agent-review->working | working crashes=0 | kill_reviewer notify_worker"},
		{"agent-review: Verdict FAIL, round >= 2 -> stuck", "agent-review", "reviewer", aFailText, 2, 0,
			"agent.stopped, auto.advanced agent-review->stuck | stuck crashes=0 | kill_reviewer notify_worker"},
		{"agent-review: no verdict -> crash", "agent-review", "reviewer", "## Review\nnice work\n", 1, 0,
			"agent.crashed | agent-review crashes=1 | "},
		{"agent-review: crash_count >= 2 -> stuck, whatever gate and guard the declared edge has", "agent-review",
			"reviewer", "", 1, 1,
			"agent.crashed, auto.advanced agent-review->stuck | stuck crashes=2 | kill_reviewer notify_worker"},
		{"clarification: mark, no advance", "clarification", "worker", aPlanText, 0, 5,
			"agent.stopped | clarification crashes=5 | "},
		{"reviewing: mark, no advance", "reviewing", "worker", aPassText + aHandoffText, 1, 0,
			"agent.stopped | reviewing crashes=0 | "},
		{"stuck: mark, no advance", "stuck", "worker", aPassText + aHandoffText, 1, 2,
			"agent.stopped | stuck crashes=2 | "},
		{"a dead worker moves nothing while its reviewer is at work", "agent-review", "worker", aPassText, 1, 0,
			"agent.stopped | agent-review crashes=0 | "},
		{"a dead reviewer moves nothing while the worker is at work", "working", "reviewer", aHandoffText, 1, 0,
			"agent.stopped | working crashes=0 | "},
		{"an agent that outlived its task moves nothing", "done", "worker", aHandoffText, 1, 0,
			"agent.stopped | done crashes=0 | "},
	}
	for _, tt := range tests {
		one := newTask(tt.status)
		one.Counters = task.Counters{}.With(task.ReviewRound, tt.round).With(task.CrashCount, tt.crashes)
		one.StalledAt = noon.Add(-time.Hour)
		c := decide.Exit(def, one, evidence(tt.body), deathOf(tt.role), noon)
		if got := shape(c); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.row, got, tt.want)
		}
		if !c.Task.UpdatedAt.Equal(noon) || !c.Task.StalledAt.IsZero() {
			t.Errorf("%s: changed at %s, stalled since %s", tt.row, c.Task.UpdatedAt, c.Task.StalledAt)
		}
		if c.DeadHook != 4 || len(c.EndSeats) != 0 || c.Expect != one.Version {
			t.Errorf("%s: the seats of hook %d and of %v end, decided on version %d", tt.row, c.DeadHook,
				c.EndSeats, c.Expect)
		}
		first := c.Events[0]
		if first.Data["exit_status"] != "0" || first.Data["last_words"] != "out of paper" ||
			first.Told()["status"] != string(tt.status) {
			t.Errorf("%s: the event keeps %v", tt.row, first.Data)
		}
		if _, among := first.Data["status"]; first.Type == history.AgentCrashed &&
			(first.In != tt.status || first.Crash != tt.crashes+1 || among) {
			t.Errorf("%s: the crash is number %d in %q, and keeps %v", tt.row, first.Crash, first.In, first.Data)
		}
		needs := c.Events[0].Type == history.AgentCrashed || len(c.Events) == 1
		if decide.NeedsWords(c) != needs {
			t.Errorf("%s: last words are wanted: %v", tt.row, !needs)
		}
	}
}

// The same deaths under the eight states of documents 000 and 002: with classic, and with a file of document
// 002's structure, which gives a crash no place to go.
func TestExit_rulesOfDocuments000And002(t *testing.T) {
	t.Parallel()
	tests := []death{
		{"working, Handoff -> agent-review, a reviewer starts", "working", "worker", aHandoffText, 0, 1,
			"agent.stopped, auto.advanced working->agent-review | agent-review crashes=1 | kill_session spawn_agent"},
		{"working, none -> crash", "working", "worker", "", 0, 0, "agent.crashed | working crashes=1 | "},
		{"working, an empty Handoff is none", "working", "worker", "## Handoff\n\n", 0, 0,
			"agent.crashed | working crashes=1 | "},
		{"working, none -> second crash -> stuck", "working", "worker", "", 0, 1,
			"agent.crashed, auto.advanced working->stuck | stuck crashes=2 | kill_reviewer notify_worker"},
		{"agent-review, PASS anywhere -> reviewing", "agent-review", "reviewer",
			"## Review\nAll tests PASS here.\n", 1, 1,
			"agent.stopped, auto.advanced agent-review->reviewing | reviewing crashes=1 | kill_session"},
		{"agent-review, FAIL, round < 2 -> working, a worker starts", "agent-review", "reviewer",
			"## Review\nfail\n", 1, 1,
			"agent.stopped, auto.advanced agent-review->working | working crashes=1 | kill_session spawn_agent"},
		{"agent-review, FAIL, round >= 2 -> stuck", "agent-review", "reviewer", "## Review\nfail\n", 2, 1,
			"agent.stopped, auto.advanced agent-review->stuck | stuck crashes=1 | kill_session"},
		{"agent-review, no verdict -> crash", "agent-review", "reviewer", "## Review\nnice\n", 1, 0,
			"agent.crashed | agent-review crashes=1 | "},
		{"agent-review, no verdict -> second crash -> stuck", "agent-review", "reviewer", "", 1, 1,
			"agent.crashed, auto.advanced agent-review->stuck | stuck crashes=2 | kill_reviewer notify_worker"},
		{"clarification: mark, no advance", "clarification", "worker", aHandoffText, 0, 1,
			"agent.stopped | clarification crashes=1 | "},
		{"reviewing: mark, no advance", "reviewing", "worker", aHandoffText, 1, 1,
			"agent.stopped | reviewing crashes=1 | "},
		{"stuck: mark, no advance", "stuck", "worker", aHandoffText, 1, 1, "agent.stopped | stuck crashes=1 | "},
	}
	classic, like := shippedWorkflow(t, "classic"),
		parse(t, "classic-like.yml", read(t, "../workflow/testdata/ok/classic-like.yml"))
	for _, tt := range tests {
		tt.check(t, like)
		tt.check(t, classic)
	}
}

func TestExit_rulesOfTheMinimalExampleOfDocument002(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "minimal")
	for _, tt := range []death{
		{"working, Handoff -> reviewing", "working", "worker", aHandoffText, 0, 0,
			"agent.stopped, auto.advanced working->reviewing | reviewing crashes=0 | kill_session"},
		{"working, none -> crash", "working", "worker", "", 0, 0, "agent.crashed | working crashes=1 | "},
		{"working, none -> second crash: there is no stuck, it stays", "working", "worker", "", 0, 1,
			"agent.crashed | working crashes=2 | "},
		{"reviewing: mark, no advance", "reviewing", "worker", aHandoffText, 0, 0,
			"agent.stopped | reviewing crashes=0 | "},
	} {
		c := tt.check(t, def)
		if tt.crashes == 1 && !strings.Contains(c.Task.Attention, "orange task respawn T1") {
			t.Errorf("%s: the mark is %q", tt.row, c.Task.Attention)
		}
	}
}

// death is one row of a document's exit rules.
type death struct {
	row     string
	status  task.Status
	role    string
	body    string
	round   int
	crashes int
	want    string
}

func (d death) check(t *testing.T, def *workflow.Definition) record.Change {
	t.Helper()
	one := newTask(d.status)
	one.Counters = task.Counters{}.With(task.ReviewRound, d.round).With(task.CrashCount, d.crashes)
	c := decide.Exit(def, one, evidence(d.body), deathOf(d.role), noon)
	if got := shape(c); got != d.want {
		t.Errorf("%s, by %s:\n got %s\nwant %s", d.row, def.Name, got, d.want)
	}
	return c
}

func TestExit_saysThatTheNewStatusNeedsTheDeadAgent(t *testing.T) {
	t.Parallel()
	c := decide.Exit(defaultWorkflow(t), newTask("planning"), evidence(aPlanText), deathOf("worker"), noon)
	if c.Task.Status != "working" || !strings.Contains(c.Task.Attention, "orange task respawn T1") {
		t.Errorf("in %s the mark is %q", c.Task.Status, c.Task.Attention)
	}
	c = decide.Exit(defaultWorkflow(t), newTask("agent-review"), evidence(aFailText), deathOf("reviewer"), noon)
	if c.Task.Status != "working" || c.Task.Attention != "" {
		t.Errorf("in %s the mark is %q", c.Task.Status, c.Task.Attention)
	}
}

func TestExit_countsEvidenceThatWasSpentAsACrashAndSaysSo(t *testing.T) {
	t.Parallel()
	doc := docOf(aHandoffText)
	ev := decide.Evidence{Document: doc, Spent: []task.Spent{spentSection(t, doc, "Handoff", 5)}}
	c := decide.Exit(defaultWorkflow(t), newTask("working"), ev, deathOf("worker"), noon)
	if c.Events[0].Type != history.AgentCrashed ||
		!strings.Contains(c.Events[0].Reason, "identical to what moved the task at event 5") {
		t.Errorf("the event is %+v", c.Events[0])
	}
	if !strings.Contains(c.Task.Attention, "orange task respawn T1") {
		t.Errorf("the attention mark is %q", c.Task.Attention)
	}
}

// The rule finds its section; the edge that it leads to asks for more.
func TestExit_withARefusedMoveIsACrashForThatReason(t *testing.T) {
	t.Parallel()
	def := parse(t, "strict.yml", []byte(strings.Replace(string(read(t, "../../../workflows/default.yml")),
		"        fields: [DONE, REMAINING, DECISIONS, UNCERTAIN]\n      then: agent-review",
		"      then: agent-review", 1)))
	c := decide.Exit(def, newTask("working"), evidence("## Handoff\nI did it\n"), deathOf("worker"), noon)
	if got := shape(c); got != "agent.crashed | working crashes=1 | " ||
		!strings.Contains(c.Events[0].Reason, "none of these labels") {
		t.Errorf("it leads to %s, because %q", got, c.Events[0].Reason)
	}
}

// An agent that did its work and left a file that no commit has did not crash: a person says what is to become of it.
func TestExit_whoseMoveFilesAloneRefuseIsNoCrash(t *testing.T) {
	t.Parallel()
	files := func(word string, n int) decide.Evidence {
		ev := evidence(aHandoffText + aPassText)
		fact := gitFact(word, false)
		fact.Files, fact.Found, fact.Want = n, `new files that no commit has: "a.go"`, "add it, ignore it, or delete it"
		ev.Facts[gitKey(word)] = fact
		return ev
	}
	for _, c := range []struct {
		status task.Status
		word   string
		role   string
		n      int
		files  string
	}{
		{"working", workflow.GitCommitted, task.RoleWorker, 1, "1 new or changed file"},
		{"working", workflow.GitCommitted, task.RoleWorker, 12, "12 new or changed files"},
		{"agent-review", workflow.GitUnmoved, "reviewer", 2, "2 new or changed files"},
	} {
		got := decide.Exit(defaultWorkflow(t), newTask(c.status), files(c.word, c.n), deathOf(c.role), noon)
		event := got.Events[0]
		if want := fmt.Sprintf("agent.stopped | %s crashes=0 | ", c.status); shape(got) != want {
			t.Errorf("%s: it leads to %s, want %s", c.status, shape(got), want)
		}
		if !strings.Contains(event.Reason, c.files) || !strings.Contains(event.Reason, `"a.go"`) ||
			!strings.HasPrefix(got.Task.Attention, c.files) || !strings.Contains(got.Task.Attention, "ignore it") {
			t.Errorf("%s: the event says %q, the mark %q", c.status, event.Reason, got.Task.Attention)
		}
		held := decide.Conversations{event}.HeldBack(c.role)
		held, _, _ = strings.Cut(held, ". Commit each of these files")
		moved := decide.Conversations{event, {Type: history.StatusChanged, From: "a", To: "b"}}.HeldBack(c.role)
		if held != event.Reason || moved != "" || (decide.Conversations{event}).HeldBack("other") != "" {
			t.Errorf("%s: its successor hears %q, and after a move %q", c.status, held, moved)
		}
	}
	// Files and something else besides are a crash, and so is what is refused for no files.
	both := files(workflow.GitCommitted, 1)
	both.Document = docOf("## Handoff\nI did it\n")
	if got := decide.Exit(defaultWorkflow(t), newTask("working"), both, deathOf("worker"), noon); !strings.HasPrefix(
		shape(got), "agent.crashed") {
		t.Errorf("it leads to %s", shape(got))
	}
	none := files(workflow.GitCommitted, 0)
	if got := decide.Exit(defaultWorkflow(t), newTask("working"), none, deathOf("worker"), noon); !strings.HasPrefix(
		shape(got), "agent.crashed") {
		t.Errorf("it leads to %s", shape(got))
	}
	// With respawn: auto the agent starts once to answer, and not again.
	def, one := defaultWorkflow(t), newTask("agent-review")
	stopped := decide.Exit(def, one, files(workflow.GitUnmoved, 1), deathOf("reviewer"), noon).Events[0]
	large := decide.Exit(def, one, decide.Evidence{Trouble: "TASK.md is larger than 8 MiB", TooLarge: true},
		deathOf("reviewer"), noon).Events[0]
	again := history.Event{Type: history.AgentRespawned, Time: noon, Data: map[string]string{"role": "reviewer"}}
	for _, events := range [][]history.Event{{stopped}, {large}, {stopped, again, stopped}, {large, again, large},
		{stopped, again, large}} {
		if _, wanted := decide.RespawnDue(def, one, events, noon); wanted != (len(events) == 1) {
			t.Errorf("after %d events it is started again: %v", len(events), wanted)
		}
	}
}

// A document that is too large says nothing of the work: its size is no crash, and the next agent hears of it.
func TestExit_whereTheDocumentIsTooLargeIsNoCrash(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("working")
	got := decide.Exit(def, one, decide.Evidence{Trouble: "TASK.md is larger than 8 MiB", TooLarge: true},
		deathOf("worker"), noon)
	if want := "working crashes=0 | "; shape(got) != "agent.stopped | "+want {
		t.Errorf("it leads to %s", shape(got))
	}
	if !strings.HasPrefix(got.Task.Attention, "its document is too large: TASK.md is larger than 8 MiB; ") {
		t.Errorf("the mark is %q", got.Task.Attention)
	}
	if held := (decide.Conversations{got.Events[0]}).HeldBack("worker"); !strings.Contains(held, "larger than 8 MiB") {
		t.Errorf("its successor hears %q", held)
	}
	lost := decide.Exit(def, one, decide.Evidence{Trouble: "it is a folder"}, deathOf("worker"), noon)
	if !strings.HasPrefix(shape(lost), "agent.crashed") {
		t.Errorf("one that cannot be read at all leads to %s", shape(lost))
	}
}

func TestExit_callsNoPersonWhereTheAgentRestartsByItself(t *testing.T) {
	t.Parallel()
	c := decide.Exit(defaultWorkflow(t), newTask("agent-review"), evidence(""), deathOf("reviewer"), noon)
	if c.Events[0].Type != history.AgentCrashed || c.Task.Attention != "" {
		t.Errorf("the event is %s, the mark %q", c.Events[0].Type, c.Task.Attention)
	}
}

func TestExit_ofAProgramThatCannotBeStartedIsNoCrash(t *testing.T) {
	t.Parallel()
	death := deathOf("reviewer")
	death.Ending = task.Ending{Known: true, Status: 127, Unstarted: "no such program"}
	one := newTask("agent-review")
	one.Counters = one.Counters.With(task.CrashCount, 1)
	c := decide.Exit(defaultWorkflow(t), one, evidence(aPassText), death, noon)
	if got := shape(c); got != "agent.stopped | agent-review crashes=1 | " ||
		!strings.Contains(c.Task.Attention, "could not be started: no such program") {
		t.Errorf("it leads to %s with the mark %q", got, c.Task.Attention)
	}
	c.Task.Workspace = "w1"
	if _, wanted := decide.RespawnDue(defaultWorkflow(t), c.Task, c.Events, noon); wanted {
		t.Error("it would be started again, and fail again, for ever")
	}
}

func TestExit_whoseThresholdLeadsNowhereKeepsTheTaskWithAMark(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		Name:   "tiny",
		States: []workflow.State{{Name: "busy", Role: "worker"}},
		Exit: workflow.Exit{
			Rules: []workflow.Rule{{Status: "busy", Action: workflow.ActionCrash, StuckAfter: 1, Then: "stuck"}}},
	}
	c := decide.Exit(def, newTask("busy"), evidence(""), deathOf("worker"), noon)
	const why = "crash 1: the worker (exit status 0) ended without having asked for a move; start it again"
	if got := shape(c); got != "agent.crashed | busy crashes=1 | " || !strings.HasPrefix(c.Task.Attention, why) {
		t.Errorf("it leads to %s with the mark %q", got, c.Task.Attention)
	}
}

func TestExit_thatIsFinalGivesBackWhatTheTaskHolds(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		Name:   "tiny",
		States: []workflow.State{{Name: "busy", Role: "worker"}, {Name: "lost", Terminal: true}},
		Moves:  []workflow.Move{{Command: workflow.MoveCancel, To: "lost"}},
		Exit: workflow.Exit{
			Rules: []workflow.Rule{{Status: "busy", Action: workflow.ActionCrash, StuckAfter: 1, Then: "lost"}}},
	}
	c := decide.Exit(def, newTask("busy"), evidence(""), deathOf("worker"), noon)
	if got := shape(c); got != "agent.crashed, auto.advanced busy->lost | lost crashes=1 | kill_session "+
		"release_workspace" || c.Task.Live {
		t.Errorf("it leads to %s", got)
	}
	const once = `a crash in "busy"`
	if reason := c.Events[1].Reason; reason != once ||
		!strings.HasPrefix(c.Task.Attention, once+": the worker (exit status 0) ended without") {
		t.Errorf("it says %q, and %q", reason, c.Task.Attention)
	}
}

func TestExit_withoutAReadableDocumentIsACrashThatNamesTheTrouble(t *testing.T) {
	t.Parallel()
	c := decide.Exit(defaultWorkflow(t), newTask("working"), decide.Evidence{Trouble: "it is a folder"},
		deathOf("worker"), noon)
	if got := shape(c); got != "agent.crashed | working crashes=1 | " ||
		!strings.Contains(c.Events[0].Reason, "it is a folder") {
		t.Errorf("it leads to %s, because %q", got, c.Events[0].Reason)
	}
}

func TestRespawnDue_isAtOnceAndThenLaterAndLater(t *testing.T) {
	t.Parallel()
	def, one := defaultWorkflow(t), newTask("agent-review")
	event := func(kind string, after time.Duration) history.Event {
		data := map[string]string{"role": "reviewer"}
		if kind != history.AgentRespawned {
			data["ended"] = "exit status 1"
		}
		return history.Event{Type: kind, Time: noon.Add(after), Data: data}
	}
	entered := history.Event{Type: history.StatusChanged, Time: noon.Add(-time.Hour)}
	crash, respawn := event(history.AgentCrashed, 0), event(history.AgentRespawned, time.Second)
	other := event(history.AgentStopped, time.Minute)
	other.Data["role"] = "worker"
	tests := []struct {
		name   string
		events []history.Event
		due    time.Time
		wanted bool
	}{
		{"nobody died", []history.Event{entered}, time.Time{}, false},
		{"the first death", []history.Event{entered, crash}, noon, true},
		{"the worker's death is not the reviewer's", []history.Event{entered, other}, time.Time{}, false},
		{"it was started again", []history.Event{entered, crash, respawn}, time.Time{}, false},
		{"the second death", []history.Event{entered, crash, respawn, event(history.AgentCrashed, time.Minute)},
			noon.Add(time.Minute + 5*time.Second), true},
		{
			"the third death", []history.Event{entered, crash, respawn, crash, respawn,
				event(history.AgentStopped, time.Minute)}, noon.Add(time.Minute + 10*time.Second), true},
		{"in a new status the first time is at once again", []history.Event{crash, respawn, crash, entered}, noon,
			true},
		{"one that was ended on purpose", []history.Event{
			entered, {Type: history.AgentStopped, Data: map[string]string{"role": "reviewer"}}}, time.Time{}, false},
		{"the next round has a reviewer of its own", []history.Event{
			crash, entered, {Type: history.ReviewStarted, Data: map[string]string{"role": "reviewer"}}}, time.Time{},
			false},
	}
	for _, tt := range tests {
		if due, wanted := decide.RespawnDue(def, one, tt.events, noon); wanted != tt.wanted || !due.Equal(tt.due) {
			t.Errorf("%s: due %v, wanted %v", tt.name, due, wanted)
		}
	}
	for _, status := range []task.Status{"working", "planning", "clarification", "stuck", "reviewing"} {
		if _, wanted := decide.RespawnDue(def, newTask(status), []history.Event{
			{Type: history.AgentCrashed, Data: map[string]string{
				"role": "worker", "ended": "exit status 1"}}}, noon); wanted {
			t.Errorf("in %s a dead agent is started again without being asked for", status)
		}
	}
}

// A clock that was set back must not delay what was due shortly.
func TestLater_isNoTimeThatABackOffNeverReaches(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]bool{-time.Second: false, 0: false, time.Second: true,
		5 * time.Minute: true, 6 * time.Minute: false, time.Hour: false} {
		if got := decide.Later(noon.Add(ahead), noon); got != want {
			t.Errorf("%v ahead: %v, want %v", ahead, got, want)
		}
	}
}

// A crash rule may choose between two branches, as a rule that found evidence may.
func TestExit_afterTooManyCrashesFollowsTheArmsOfItsRule(t *testing.T) {
	t.Parallel()
	def := parse(t, "arms.yml", []byte(`
name: arms
version: 1
fields: {calls: 0}
states: {working: {role: worker}, help: {role: cto}, person: {}, done: {terminal: true}}
roles: [cto]
transitions:
  - {from: working, to: done}
  - {from: help, to: previous, by: cto}
  - {from: person, to: done}
exit_monitoring:
  rules:
    - status: working
      action: crash
      stuck_after: 2
      then_when: [{when: calls < 1, then: help}, {when: calls >= 1, then: person}]
`))
	for calls, want := range []string{
		"agent.crashed, auto.advanced working->help | help crashes=2 | kill_reviewer notify_worker",
		"agent.crashed, auto.advanced working->person | person crashes=2 | kill_reviewer notify_worker",
	} {
		one := newTask("working")
		one.Counters = task.Counters{}.With(task.CrashCount, 1).With("calls", calls)
		if got := shape(decide.Exit(def, one, evidence(""), deathOf("worker"), noon)); got != want {
			t.Errorf("calls = %d:\n got %s\nwant %s", calls, got, want)
		}
	}
	if edge, found := def.Edge("help", "working"); !found || len(edge.CameFrom) != 1 {
		t.Errorf("found %+v, want a way back to where an arm leads from", edge)
	}
}

func TestACrash_isAnEventAndTheSecondCallsAPerson(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "classic"} {
		one := newTask("working")
		for count := 1; count <= 2; count++ {
			c := decide.Exit(shippedWorkflow(t, name), one, evidence(""), deathOf("worker"), noon)
			crash := c.Events[0]
			if crash.Type != history.AgentCrashed || crash.In != "working" ||
				crash.Counters.Get(task.CrashCount) != count ||
				crash.Crash != count || !strings.Contains(crash.Reason, "## Handoff") {
				t.Errorf("%s, crash %d: found the event %+v", name, count, crash)
			}
			if want := []string{`crash 1: `, `2 crashes in "working"`}[count-1]; !strings.HasPrefix(
				c.Task.Attention, want) {
				t.Errorf("%s, crash %d: found the mark %q, want one that begins with %q", name, count,
					c.Task.Attention, want)
			}
			one = c.Task
		}
	}
}

// Several rules ask for one section: Orange says once what it lacks.
func TestExit_tellsOneFactOnce(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ev := evidence(aFailText)
	ev.Spent = []task.Spent{{Evidence: decide.Digests(def, "agent-review", ev)[0], Seq: 8}}
	ev.Entry = decide.Digests(def, "agent-review", ev)
	c := decide.Exit(def, newTask("agent-review"), ev, deathOf(task.RoleReviewer), noon)
	reason := c.Events[0].Reason
	if strings.Count(reason, "is new") != 1 || strings.Count(reason, "the verdict FAIL") != 1 {
		t.Errorf("it says %q", reason)
	}
}
