package stats_test

import (
	"reflect"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

// meanings are those of a workflow with an escalation to an agent and one to a person.
func meanings(status task.Status) stats.Marks {
	return map[task.Status]stats.Marks{
		"cto": {Escalation: true}, "person": {Escalation: true, Human: true},
		"done": {Terminal: true, Well: true}, "given-up": {Terminal: true},
	}[status]
}

func day(n int) time.Time { return time.Date(2024, 5, n, 7, 8, 9, 0, time.UTC) }

func at(minutes int) time.Time { return day(1).Add(time.Duration(minutes) * time.Minute) }

func born(status string) history.Event {
	return history.Event{Seq: 1, Time: at(0), Type: history.Created, Actor: "human", Data: map[string]string{
		"status": status}}
}

func moved(minutes int, from, to task.Status, round int, data map[string]string) history.Event {
	return history.Event{
		Time: at(minutes), Type: history.StatusChanged, Actor: "worker", From: from, To: to, Reason: "because",
		Data:     data,
		Counters: task.Counters{{Name: task.ReviewRound, Value: round}},
	}
}

func ofKind(minutes int, kind string, data map[string]string) history.Event {
	return history.Event{Time: at(minutes), Type: kind, Actor: task.ActorEngine, Data: data}
}

func failed(n string) map[string]string { return map[string]string{"failure": n} }

// troubled is a history with about everything in it.
func troubled() []history.Event {
	return []history.Event{
		born("plan"),
		moved(10, "plan", "plan", 0, failed("1")),
		ofKind(10, history.AgentRespawned, map[string]string{"role": "worker"}),
		ofKind(11, history.AgentSpawned, map[string]string{"role": "worker", "harness": "claude"}),
		moved(30, "plan", "work", 0, nil),
		ofKind(40, history.TimeoutWarning, map[string]string{"level": "80", "status": "work"}),
		ofKind(45, history.AgentCrashed, nil),
		moved(60, "work", "review", 1, nil),
		ofKind(61, history.ReviewStarted, map[string]string{"role": "reviewer"}),
		moved(70, "review", "work", 1, failed("1")),
		moved(80, "work", "review", 2, nil),
		moved(85, "review", "cto", 2, failed("2")),
		moved(95, "cto", "work", 0, nil), // the count of rounds begins again
		moved(100, "work", "review", 1, nil),
	}
}

func TestOf_addsUpWhatAHistoryTells(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "t", Status: "review", Live: true, CreatedAt: at(0), EnteredAt: at(100)}
	got := stats.Of(one, troubled(), meanings, at(103))
	want := stats.Stats{
		Task: "t", Status: "review", InState: 3 * time.Minute, Total: 103 * time.Minute,
		Spans: []stats.Span{
			{Status: "plan", Visits: 2, Time: 30 * time.Minute}, {Status: "work", Visits: 3, Time: 45 * time.Minute},
			{Status: "review", Visits: 3, Time: 18 * time.Minute, Open: true},
			{Status: "cto", Visits: 1, Time: 10 * time.Minute},
		},
		Rounds: 3, Failures: task.Counters{{Name: "plan", Value: 1}, {Name: "review", Value: 2}}, Crashes: 1,
		Spawns: 2, Late: 1, Needs: 1,
		Created: true, Begun: true, Escalated: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var sum time.Duration
	for _, span := range got.Spans {
		sum += span.Time
	}
	if sum != got.Total {
		t.Errorf("the spans take %s of %s", sum, got.Total)
	}
}

func TestOf_countsNoTimeOfATaskThatIsOver(t *testing.T) {
	t.Parallel()
	one := task.Task{Status: "done", CreatedAt: at(0), EnteredAt: at(20)}
	events := []history.Event{born("work"), moved(20, "work", "done", 1, nil)}
	got := stats.Of(one, events, meanings, at(500))
	if got.Total != 20*time.Minute || len(got.Spans) != 1 || got.Spans[0].Time != 20*time.Minute || !got.Over ||
		!got.FirstAttempt() {
		t.Errorf("got %+v", got)
	}
	// it was taken up again
	events = append(events, moved(30, "done", "work", 1, nil), moved(35, "work", "given-up", 1, nil))
	one.Status, one.EnteredAt = "given-up", at(35)
	got = stats.Of(one, events, meanings, at(500))
	if got.Total != 35*time.Minute || got.Spans[0].Time != 25*time.Minute || got.Spans[0].Visits != 2 ||
		got.Well || got.FirstAttempt() {
		t.Errorf("got %+v", got)
	}
}

func TestOf_hasNoNegativeTimesAfterAClockWasSetBack(t *testing.T) {
	t.Parallel()
	one := task.Task{Status: "review", Live: true, CreatedAt: at(0), EnteredAt: at(-50)}
	got := stats.Of(one, []history.Event{born("work"), moved(-50, "work", "review", 1, nil)}, meanings, at(-100))
	if got.InState != 0 || got.Total != 0 || got.Spans[0].Time != 0 || got.Spans[1].Time != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFirstAttempt_isWithoutFailureSecondReviewAndEscalation(t *testing.T) {
	t.Parallel()
	good := stats.Stats{Well: true, Rounds: 1}
	tests := map[string]struct {
		change func(*stats.Stats)
		want   bool
	}{
		"good": {func(*stats.Stats) {}, true}, "no review": {func(s *stats.Stats) { s.Rounds = 0 }, true},
		"given up": {func(s *stats.Stats) { s.Well = false }, false}, "two reviews": {func(s *stats.Stats) {
			s.Rounds = 2
		}, false},
		"a failure": {func(s *stats.Stats) { s.Failures = s.Failures.With("x", 1) }, false}, "escalated": {
			func(s *stats.Stats) { s.Escalated = true }, false},
	}
	for name, tt := range tests {
		one := good
		if tt.change(&one); one.FirstAttempt() != tt.want {
			t.Errorf("%s: %t", name, !tt.want)
		}
	}
}

// Defect: "needed a person 0%" of tasks that had asked, or were stuck.
func TestOf_countsEachNeedOfAPerson(t *testing.T) {
	t.Parallel()
	asks := func(status task.Status) stats.Marks { return stats.Marks{Asks: status == "stuck"} }
	by := func(e history.Event, actor string) history.Event { e.Actor = actor; return e }
	died := ofKind(5, history.AgentCrashed, nil)
	for name, c := range map[string]struct {
		events []history.Event
		want   int
	}{
		"the usual look": {[]history.Event{moved(1, "work", "review", 1, nil)}, 0},
		"stuck twice": {[]history.Event{moved(1, "a", "stuck", 0, nil), moved(2, "stuck", "a", 0, nil),
			moved(3, "a", "stuck", 0, nil)}, 2},
		"it stays there":   {[]history.Event{moved(1, "stuck", "stuck", 0, nil)}, 0},
		"died":             {[]history.Event{died}, 1},
		"a person helped":  {[]history.Event{died, by(ofKind(6, history.AgentRespawned, nil), "human")}, 1},
		"the rules helped": {[]history.Event{died, by(ofKind(6, history.AgentRespawned, nil), task.ActorEngine)}, 0},
		"died into stuck":  {[]history.Event{died, by(moved(6, "a", "stuck", 0, nil), task.ActorEngine)}, 1},
		"sent back": {[]history.Event{ofKind(1, history.MergeFailed, nil),
			by(moved(2, "r", "a", 0, nil), task.ActorEngine)}, 0},
		"in conflict": {[]history.Event{ofKind(1, history.MergeFailed, nil), moved(2, "r", "a", 0, nil)}, 1},
		"refused":     {[]history.Event{ofKind(1, history.AgentRefused, nil)}, 1},
		"a hook, and a day": {[]history.Event{ofKind(1, history.HookFailure, nil),
			ofKind(2, history.TimeoutAlert, nil)}, 2},
	} {
		one := task.Task{ID: "t", Status: "a", Live: true, CreatedAt: at(0), EnteredAt: at(0)}
		if got := stats.Of(one, append([]history.Event{born("a")}, c.events...), asks, at(9)); got.Needs != c.want {
			t.Errorf("%s: found %d, want %d", name, got.Needs, c.want)
		}
	}
}

func TestSummarize_addsUpManyTasks(t *testing.T) {
	t.Parallel()
	span := func(status task.Status, minutes int, open bool) []stats.Span {
		return []stats.Span{{Status: status, Visits: 1, Time: time.Duration(minutes) * time.Minute, Open: open}}
	}
	all := []stats.Stats{
		{Status: "pending", Spans: span("pending", 500, true)},
		{Status: "done", Begun: true, Over: true, Well: true, Rounds: 1, Spans: span("work", 10, false)},
		{Status: "done", Begun: true, Over: true, Well: true, Rounds: 2, Escalated: true, Failures: task.Counters{
			{Name: "work", Value: 2}}, Spans: span("work", 30, false), Late: 3},
		{Status: "given-up", Begun: true, Over: true, Escalated: true, ReachedHuman: true, Needs: 3, Spawns: 4,
			Crashes: 2, Spans: span("work", 20, false)},
		{Status: "work", Begun: true, Failures: task.Counters{{Name: "work", Value: 1}},
			Spans: span("work", 999, true)},
	}
	got := stats.Summarize(all)
	want := stats.Summary{
		Tasks: 5, ByStatus: task.Counters{{Name: "done", Value: 2}, {Name: "given-up", Value: 1},
			{Name: "pending", Value: 1}, {Name: "work", Value: 1}},
		Spans:     []stats.Typical{{Status: "work", Tasks: 3, Median: 20 * time.Minute, P90: 30 * time.Minute}},
		EndedWell: stats.Share{Count: 2, Of: 3}, FirstAttempt: stats.Share{Count: 1, Of: 2},
		Escalated: stats.Share{Count: 2, Of: 4}, ReachedHuman: stats.Share{Count: 1, Of: 4},
		Needed: stats.Share{Count: 1, Of: 4}, Needs: 3,
		Failures: task.Counters{{Name: "work", Value: 3}}, Crashes: 2, Spawns: 4, Late: 3,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if none := stats.Summarize(nil); !reflect.DeepEqual(none, stats.Summary{}) {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestSummarize_takesTheNearestRank(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]int{1: {1, 1}, 2: {1, 2}, 3: {2, 3}, 10: {5, 9}, 11: {6, 10}, 100: {50, 90}} {
		var all []stats.Stats
		for i := n; i >= 1; i-- {
			all = append(all, stats.Stats{Spans: []stats.Span{{Status: "work", Time: time.Duration(i)}}})
		}
		if got := stats.Summarize(all).Spans[0]; got.Median != time.Duration(want[0]) ||
			got.P90 != time.Duration(want[1]) {
			t.Errorf("of %d: %d and %d, want %v", n, got.Median, got.P90, want)
		}
	}
}

func TestLogEntries_tellTheFiveKinds(t *testing.T) {
	t.Parallel()
	var got []string
	entries := stats.LogEntries("t1", troubled(), meanings)
	for _, e := range entries {
		got = append(got, e.Timestamp[11:16]+" "+e.Event+" "+string(e.From)+" "+string(e.To))
		if e.TaskID != "t1" || e.Metadata == nil {
			t.Errorf("the entry is %+v", e)
		}
	}
	want := []string{
		"07:18 STATE_TRANSITION plan plan", "07:18 FAILURE_INCREMENT plan plan", "07:19 AGENT_ASSIGNMENT plan plan",
		"07:38 STATE_TRANSITION plan work", "07:48 TIMEOUT_WARNING work work",
		"08:08 STATE_TRANSITION work review", "08:09 AGENT_ASSIGNMENT review review",
		"08:18 STATE_TRANSITION review work", "08:18 FAILURE_INCREMENT review work",
		"08:28 STATE_TRANSITION work review",
		"08:33 STATE_TRANSITION review cto", "08:33 FAILURE_INCREMENT review cto", "08:33 CTO_INTERVENTION review cto",
		"08:43 STATE_TRANSITION cto work", "08:48 STATE_TRANSITION work review",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	first := stats.LogEntry{
		Timestamp: "2024-05-01T07:18:09Z", TaskID: "t1", Event: "STATE_TRANSITION", From: "plan", To: "plan",
		Actor: "@agent-worker", Reason: "because", Metadata: map[string]string{"failure": "1"},
	}
	if !reflect.DeepEqual(entries[0], first) {
		t.Errorf("the first is %+v, want %+v", entries[0], first)
	}
}

// Document 003 gives each entry a reason and the name of the agent that asked.
func TestLogEntries_sayWhoAskedAndWhy(t *testing.T) {
	t.Parallel()
	rests := []task.Evidence{{Source: "## approach"}, {Source: "## validation"}}
	for _, tt := range []struct {
		e             history.Event
		actor, reason string
		by            string
	}{
		{history.Event{Type: history.StatusChanged, Actor: "solution-validator", Evidence: rests},
			"@agent-solution-validator", "it rests on ## approach, ## validation", ""},
		{history.Event{Type: history.StatusChanged, Actor: "cto", Reason: "not needed"}, "@agent-cto",
			"not needed", ""},
		{history.Event{Type: history.StatusChanged, Actor: "fullstack-developer"}, "@agent-fullstack-developer",
			"asked for; the move needs no evidence", ""},
		{history.Event{Type: history.StatusChanged, Actor: task.RoleHuman, ActingAs: "orchestrator"}, "orchestrator",
			"asked for; the move needs no evidence", task.RoleHuman},
		{history.Event{Type: history.StatusChanged, Actor: task.RoleHuman, Evidence: rests[:1]}, "human",
			"it rests on ## approach", ""},
		{history.Event{Type: history.AutoAdvanced, Actor: task.ActorEngine, Reason: "three crashes"}, "engine",
			"three crashes", ""},
		{history.Event{Type: history.AgentSpawned, Actor: task.ActorEngine, Data: map[string]string{"role": "cto"}},
			"engine", "the cto begins", ""},
	} {
		got := stats.LogEntries("t1", []history.Event{tt.e}, meanings)
		if len(got) != 1 || got[0].Actor != tt.actor || got[0].Reason != tt.reason ||
			got[0].Metadata["asked_by"] != tt.by {
			t.Errorf("of %+v: %+v", tt.e, got)
		}
	}
}

// What versions of the work have passed is no matter for the logs of other programs.
func TestLogEntries_leaveOutWhatTheWorkHasPassed(t *testing.T) {
	t.Parallel()
	data := map[string]string{"failure": "1", "passed": "a person @c1", "refused_by": "check tests @c1", "same": " @c1"}
	got := stats.LogEntries("t1", []history.Event{{Type: history.StatusChanged, From: "a", To: "b", Data: data}},
		func(task.Status) stats.Marks { return stats.Marks{} })
	if len(got) != 2 || len(got[0].Metadata) != 1 || got[0].Metadata["failure"] != "1" {
		t.Errorf("found %+v", got)
	}
}

func TestOf_countsTheRefusalsOfEachStay(t *testing.T) {
	t.Parallel()
	refused := func(after int, times string) history.Event {
		return history.Event{Time: at(after), Type: history.AgentRefused, Data: map[string]string{"refusals": times}}
	}
	events := []history.Event{born("work"), refused(1, "5"), refused(2, "10"), refused(3, "5"), refused(3, "5"),
		moved(4, "work", "review", 0, nil), refused(5, "20")}
	one := task.Task{ID: "t", Status: "review", Live: true, CreatedAt: at(0), EnteredAt: at(4)}
	got := stats.Of(one, events, meanings, at(9))
	if want := 10 + 5 + 5 + 20; got.Refusals != want || stats.Summarize([]stats.Stats{got, got}).Refusals != 2*want {
		t.Errorf("found %d, want %d", got.Refusals, want)
	}
	if got, _ := stats.Within(one, events, meanings, at(9), stats.Window{Since: at(2)}); got.Refusals != 5+5+5+20 {
		t.Errorf("from the second on: %d", got.Refusals)
	}
}

func TestWithin_countsWhatHappenedThen(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "t", Status: "done", CreatedAt: at(0), EnteredAt: at(110)}
	events := append(troubled(), moved(110, "review", "done", 1, nil))
	got, happened := stats.Within(one, events, meanings, at(200), stats.Window{Since: at(70), Until: at(95)})
	if !happened || got.Created || got.Over || got.Well || got.Crashes != 0 || got.Spawns != 0 || got.Late != 0 ||
		got.Rounds != 1 || !got.Begun || !got.Escalated ||
		!reflect.DeepEqual(got.Failures, task.Counters{{Name: "review", Value: 2}}) ||
		!reflect.DeepEqual(got.Spans, []stats.Span{{Status: "review", Visits: 2, Time: 15 * time.Minute},
			{Status: "work", Visits: 1, Time: 10 * time.Minute}}) {
		t.Errorf("in its middle: %+v", got)
	}
	got, happened = stats.Within(one, events, meanings, at(200), stats.Window{Since: at(96)})
	if !happened || !got.Over || !got.Well || got.Escalated || len(got.Failures) > 0 || got.FirstAttempt() {
		t.Errorf("at its end: %+v; its first attempt was not enough", got)
	}
	smooth := []history.Event{born("work"), moved(20, "work", "done", 1, nil)}
	got, happened = stats.Within(one, smooth, meanings, at(200), stats.Window{Until: at(20)})
	if !happened || !got.Created || got.Over || got.Begun || len(got.Spans) > 0 {
		t.Errorf("at its beginning: %+v", got)
	}
	if got, _ = stats.Within(one, smooth, meanings, at(200), stats.Window{Since: at(20)}); !got.FirstAttempt() ||
		got.Created {
		t.Errorf("a straight life: %+v", got)
	}
	if got, happened = stats.Within(one, events, meanings, at(200), stats.Window{Since: at(111)}); happened {
		t.Errorf("after its end: %+v", got)
	}
}
