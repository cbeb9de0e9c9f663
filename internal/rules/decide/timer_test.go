package decide_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	ledger "orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// timed is a workflow where digging should take 100 seconds.
func timed() *workflow.Definition {
	return &workflow.Definition{
		Name: "timed", Digest: "d",
		States: []workflow.State{
			{Name: "rest"}, {Name: "dig", Role: "worker", Timeout: workflow.Timeout{After: 100, Then: "help"}},
			{Name: "help", Escalation: true}, {Name: "over", Terminal: true, Timeout: workflow.Timeout{After: 100}},
		},
		Transitions: []workflow.Transition{
			{From: "rest", To: "dig"}, {From: "dig", To: "dig"},
			{From: "dig", To: "help", By: []string{"worker"}, Hooks: []workflow.Hook{
				{Hook: task.Hook{Action: action.KillReviewer}}}},
		},
	}
}

func digging(told int) task.Task {
	return task.Task{ID: "t1", Status: "dig", Live: true, Version: 7, CreatedAt: noon.Add(-time.Minute),
		EnteredAt: noon, UpdatedAt: noon, Overdue: told}
}

func kinds(c record.Change) string {
	var out []string
	for _, e := range c.Events {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

func TestTimer_tellsEachLevelAsItIsReached(t *testing.T) {
	t.Parallel()
	day := task.Timeouts{"dig": 24 * time.Hour}
	tests := []struct {
		told  int
		in    time.Duration
		own   task.Timeouts
		level int
		want  string
	}{
		{0, 0, nil, 0, ""},
		{0, 80*time.Second - 1, nil, 0, ""},
		{0, 80 * time.Second, nil, 80, "timeout.warning"},
		{80, 99 * time.Second, nil, 80, ""},
		{80, 100 * time.Second, nil, 100, "timeout.alert"},
		{100, 149 * time.Second, nil, 100, ""},
		{100, 150 * time.Second, nil, 150, "timeout.escalated"},
		{150, time.Hour, nil, 150, ""},
		{0, time.Hour, nil, 150, "timeout.warning timeout.alert timeout.escalated"}, // Orange did not look meanwhile
		{80, time.Hour, nil, 150, "timeout.alert timeout.escalated"},
		{0, time.Hour, day, 0, ""},
		{0, 24 * time.Hour, day, 100, "timeout.warning timeout.alert"},
		{0, time.Hour, task.Timeouts{"dig": 0}, 0, ""},
		{0, time.Hour, task.Timeouts{"rest": 0}, 150, "timeout.warning timeout.alert timeout.escalated"},
		{100, 10 * time.Second, nil, 0, ""},  // the clock was set back
		{0, -50 * time.Second, nil, 0, ""},   // before the entry
		{100, 90 * time.Second, nil, 80, ""}, // the project gave more time after the alert
	}
	for _, tt := range tests {
		one, now := digging(tt.told), noon.Add(tt.in)
		level := decide.TimingOf(timed(), tt.own, one, now).Overdue
		c, due := decide.Timer(timed(), tt.own, one, now)
		if level != tt.level || kinds(c) != tt.want || due != (tt.want != "") || c.Expect != 7 {
			t.Errorf("told %d, after %s: level %d, %q, want %d, %q", tt.told, tt.in, level, kinds(c), tt.level, tt.want)
		}
		if due && (c.Task.Overdue != tt.level || c.Task.Status != "dig" || !c.Task.EnteredAt.Equal(noon) ||
			!c.Task.UpdatedAt.Equal(now)) {
			t.Errorf("the task became %+v", c.Task)
		}
	}
}

func TestTimer_saysWhatPeopleNeed(t *testing.T) {
	t.Parallel()
	c, _ := decide.Timer(timed(), nil, digging(0), noon.Add(101*time.Second))
	want := map[string]string{"status": "dig", "after": "1m40s", "in_state": "1m41s", "level": "100"}
	if last := c.Events[1]; !reflect.DeepEqual(last.Data, want) || last.Actor != task.ActorEngine ||
		last.Workflow != "d" {
		t.Errorf("the event is %+v", last)
	}
	if got, want := c.LateNotice(),
		`its time is over: it has been "dig" for 1m41s and should have been no longer than 1m40s; look at it with "orange task show t1"`; got != want {
		t.Errorf("people are told\n%s\nwant\n%s", got, want)
	}
	if text := (record.Change{}).LateNotice(); text != "" {
		t.Errorf("nothing is told as %q", text)
	}
}

func TestTimer_knowsWhichTasksHaveNoTimeout(t *testing.T) {
	t.Parallel()
	own := task.Timeouts{"over": time.Second, "nowhere": time.Second}
	for _, status := range []task.Status{"rest", "over", "nowhere"} {
		one := digging(0)
		one.Status, one.Live = status, status != "over"
		c, due := decide.Timer(timed(), own, one, noon.Add(time.Hour))
		if at, wanted := decide.NextDeadline(timed(), own, one, noon); due || wanted || len(c.Events) > 0 {
			t.Errorf("in %q: %+v, next %s", status, c, at)
		}
	}
}

func TestTimer_keepsThePlaceOfATaskThatWaitsForAWorkspace(t *testing.T) {
	t.Parallel()
	one := digging(0)
	one.QueuedFor = "help"
	if c, due := decide.Timer(timed(), nil, one, noon.Add(time.Hour)); !due || !c.Task.UpdatedAt.Equal(noon) ||
		c.Task.Overdue != 150 {
		t.Errorf("it became %+v", c.Task)
	}
}

// escalated is what follows when the last level is reached.
func escalated(def *workflow.Definition) record.Change {
	now := noon.Add(150 * time.Second)
	c, _ := decide.Timer(def, nil, digging(100), now)
	return decide.Escalate(def, c, digging(100), decide.Evidence{}, now)
}

func TestEscalate_movesByTheSameRulesAsARequest(t *testing.T) {
	t.Parallel()
	def := timed()
	c := escalated(def)
	if kinds(c) != "timeout.escalated auto.advanced" || c.Task.Status != "help" || c.Task.Previous != "dig" ||
		c.Task.Overdue != 0 || c.Expect != 7 || len(c.Hooks) != 1 || !c.Entered {
		t.Errorf("the change is %+v", c)
	}
	if move := c.Events[1]; move.From != "dig" || move.To != "help" || move.Actor != task.ActorEngine ||
		!strings.Contains(move.Reason, "long over") {
		t.Errorf("the move is %+v", move)
	}
	if text := c.LateNotice(); !strings.HasSuffix(text, `; it was moved to "help"`) {
		t.Errorf("people are told %q", text)
	}
}

func TestEscalate_withoutAFreeWorkspaceLeavesTheTaskWithAMark(t *testing.T) {
	t.Parallel()
	now := noon.Add(150 * time.Second)
	c, _ := decide.Timer(timed(), nil, digging(100), now)
	c = decide.Escalate(timed(), c, digging(100), decide.Evidence{NoRoom: true}, now)
	if kinds(c) != "timeout.escalated" || c.Task.Status != "dig" ||
		!strings.Contains(c.Task.Attention, decide.NoWorkspace) {
		t.Errorf("the change is %+v", c)
	}
}

func TestEscalate_isByForceWhereAPersonDecides(t *testing.T) {
	t.Parallel()
	guarded := timed()
	guarded.Transitions[2].When = []workflow.Guard{{Field: "tries", Op: "<", Value: 0}}
	gated := timed()
	gated.Transitions[2].Gate = []workflow.Part{{Section: "## Handoff", Required: true}}
	unlinked := timed()
	unlinked.Transitions = nil
	same := timed()
	same.Transitions, same.States[1].Timeout.Then = nil, "dig"
	for what, tt := range map[string]struct {
		def *workflow.Definition
		why string
	}{
		"a guard": {guarded, "tries"}, "a gate": {gated, "## Handoff"}, "no edge": {
			unlinked, "no such transition"}, "where it is": {same, "stay the same"},
	} {
		if what != "where it is" {
			c := escalated(tt.def)
			last := c.Events[len(c.Events)-1]
			if kinds(c) != "timeout.escalated auto.advanced" || c.Task.Status != "help" || !c.Entered ||
				!strings.Contains(last.Data[ledger.DataForced], tt.why) || c.Task.Attention == "" {
				t.Errorf("%s: %+v", what, c)
			}
		}
		for i := range tt.def.States { // an agent is at work in each: no one decides
			tt.def.States[i].Role, tt.def.States[i].Escalation = task.RoleWorker, false
		}
		c := escalated(tt.def)
		last := c.Events[len(c.Events)-1]
		if kinds(c) != "timeout.escalated" || c.Task.Status != "dig" || c.Task.Overdue != 150 || c.Entered ||
			len(c.Hooks) > 0 || !strings.Contains(c.Task.Attention, tt.why) ||
			!strings.Contains(last.Data[history.DataRefused], tt.why) ||
			!strings.Contains(c.LateNotice(), "it could not be moved to") {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

func TestEscalation_isWantedOfTheLastLevelAlone(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]bool{80 * time.Second: false, 120 * time.Second: false,
		150 * time.Second: true} {
		c, _ := decide.Timer(timed(), nil, digging(0), noon.Add(in))
		if to, wanted := decide.Escalation(timed(), c); wanted != want || wanted && to != "help" {
			t.Errorf("after %s: %q, %t", in, to, wanted)
		}
	}
	quiet := timed()
	quiet.States[1].Timeout.Then = ""
	c, _ := decide.Timer(quiet, nil, digging(0), noon.Add(time.Hour))
	if to, wanted := decide.Escalation(quiet, c); wanted {
		t.Errorf("nobody asked for %q", to)
	}
	if same := decide.Escalate(quiet, c, digging(0), decide.Evidence{}, noon.Add(time.Hour)); !reflect.DeepEqual(
		same, c) {
		t.Errorf("it became %+v", same)
	}
}

// A clock may jump freely. Orange reports each level at most once for each entry, in order, and never before its time
// by that clock. A caller that asks whenever NextDeadline says so gets all of them.
func TestTimeoutLevelsAreReportedOncePerEntryUnderEveryClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		def := timed()
		def.States[1].Timeout.Then = rapid.SampledFrom([]task.Status{"", "dig", "rest"}).Draw(rt, "then")
		one, now := digging(0), noon
		told := map[string]int{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0: // into the status again
				one.EnteredAt, one.Overdue = now, 0
				told = map[string]int{}
			case 1: // the clock is set
				now = now.Add(time.Duration(rapid.IntRange(-1000, 1000).Draw(rt, "jump")) * time.Second)
			case 2, 3: // time passes
				now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "seconds")) * time.Second)
			default: // a caller waited for the next deadline
				if at, wanted := decide.NextDeadline(def, nil, one, now); wanted && at.After(now) {
					if at.Sub(now) > 250*time.Second {
						rt.Fatalf("the next deadline is %s away", at.Sub(now))
					}
					now = at
				}
			}
			at, wanted := decide.NextDeadline(def, nil, one, now)
			c, due := decide.Timer(def, nil, one, now)
			if due != (wanted && !at.After(now)) {
				rt.Fatalf("due is %t, and the next deadline %s, %t at %s", due, at, wanted, now)
			}
			level := one.Overdue
			for _, e := range c.Events {
				if told[e.Type]++; told[e.Type] > 1 {
					rt.Fatalf("%s was told twice", e.Type)
				}
				level = max(level, c.Task.Overdue)
			}
			if due && len(c.Events) > 0 && (c.Task.Overdue <= one.Overdue || now.Sub(one.EnteredAt) < 80*time.Second) {
				rt.Fatalf("from %d to %d after %s", one.Overdue, c.Task.Overdue, now.Sub(one.EnteredAt))
			}
			if again, twice := decide.Timer(def, nil, c.Task, now); twice {
				rt.Fatalf("asked twice at one moment: %s", kinds(again))
			}
			c = decide.Escalate(def, c, one, decide.Evidence{}, now)
			if one = c.Task; strings.HasSuffix(kinds(c), history.AutoAdvanced) {
				told = map[string]int{} // it entered the status again
			}
			one.Version = 7
		}
		var all []string
		for range 6 { // from here on time only passes
			at, wanted := decide.NextDeadline(def, nil, one, now)
			if !wanted || one.Status != "dig" {
				break
			}
			if at.After(now) {
				now = at
			}
			c, _ := decide.Timer(def, nil, one, now)
			one = c.Task
			all = append(all, fmt.Sprint(one.Overdue))
		}
		if one.Status == "dig" && one.Overdue != 150 {
			rt.Fatalf("it was never told of more than %d: %v", one.Overdue, slices.Compact(all))
		}
	})
}

func TestTiming_isKnownForLiveAndEndedTasks(t *testing.T) {
	t.Parallel()
	got := decide.TimingOf(timed(), nil, digging(80), noon.Add(100*time.Second))
	want := task.Timing{InState: 100 * time.Second, Total: 160 * time.Second, Timeout: 100 * time.Second,
		Overdue: 100, Role: "worker"}
	if got != want {
		t.Errorf("it stands at %+v, want %+v", got, want)
	}
	over := digging(0)
	over.Status, over.Live = "over", false
	if got, want := decide.TimingOf(timed(), nil, over, noon.Add(time.Hour)),
		(task.Timing{InState: time.Hour, Total: time.Minute}); got != want {
		t.Errorf("one that is over stands at %+v, want %+v", got, want)
	}
	help := digging(0)
	help.Status = "help"
	if got, want := decide.TimingOf(timed(), nil, help, noon.Add(-time.Hour)),
		(task.Timing{Escalated: true}); got != want {
		t.Errorf("before its entry it stands at %+v, want %+v", got, want)
	}
}
