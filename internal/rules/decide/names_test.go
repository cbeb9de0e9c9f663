package decide_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What a task has under other names is under the new ones from then on, in the record as in the history.
func TestMigrate_replacesEveryOldNameOfAStatus(t *testing.T) {
	t.Parallel()
	def := parse(t, "named.yml", []byte(`{version: 1, states: {a: {}, b: {}, c: {}, over: {terminal: true}},
		transitions: [{from: a, to: b}, {from: b, to: c}, {from: c, to: over}]}`))
	one := newTask("old")
	one.Previous, one.QueuedFor, one.After, one.Workspace = "before", "next", []string{"x", "y"}, ""
	stands := map[task.Status]task.Status{"old": "b", "before": "a", "next": "c"}
	c, err := decide.Migrate(def, one, nil, stands, decide.Evidence{}, human(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if c.Task.Status != "b" || c.Task.Previous != "a" || c.Task.QueuedFor != "c" || len(c.Task.After) != 2 ||
		!c.Task.UpdatedAt.Equal(noon) || !c.Entered || len(c.Events) != 2 {
		t.Fatalf("the task is %+v, and %d events tell of it", c.Task, len(c.Events))
	}
	if said := c.Events[1].Data; said[history.DataPrevious] != "a" || said[history.DataQueued] != "c" ||
		said["waits_for"] != "x,y" {
		t.Errorf("the event says %v", said)
	}
	if _, said := c.Events[0].Data[history.DataPrevious]; said {
		t.Errorf("both events say it: %v", c.Events[0].Data)
	}
	delete(stands, "before") // no state stands for where it came from
	if c, err = decide.Migrate(def, one, nil, stands, decide.Evidence{}, human(), noon); err != nil ||
		c.Task.Previous != "" {
		t.Errorf("it comes from %q, %v", c.Task.Previous, err)
	}
	same := newTask("b")
	same.Previous = "a"
	c, err = decide.Migrate(def, same, nil, nil, decide.Evidence{}, human(), noon)
	if _, said := c.Events[0].Data[history.DataPrevious]; err != nil || said || c.Task.Previous != "a" || c.Entered ||
		!c.Task.UpdatedAt.Equal(noon) {
		t.Errorf("where every name is the same: %+v, %v", c, err)
	}
	same.After, same.Previous = []string{"x"}, "before"
	before := map[task.Status]task.Status{"before": "a"}
	c, err = decide.Migrate(def, same, nil, before, decide.Evidence{}, human(), noon)
	if said := c.Events[0].Data; err != nil || c.Task.Previous != "a" || said[history.DataPrevious] != "a" ||
		said["waits_for"] != "" {
		t.Errorf("where it came from has another name: %+v, %v", c, err)
	}
	other := newTask("old")
	other.Previous, other.QueuedFor = "a", "c"
	c, err = decide.Migrate(def, other, nil, stands, decide.Evidence{}, human(), noon)
	if said := c.Events[1].Data; err != nil || said[history.DataPrevious] != "a" || said[history.DataQueued] != "c" {
		t.Errorf("where its status alone has another name: %+v, %v", c, err)
	}
	other.QueuedFor = ""
	c, err = decide.Migrate(def, other, nil, stands, decide.Evidence{}, human(), noon)
	if _, said := c.Events[1].Data[history.DataQueued]; err != nil || said {
		t.Errorf("where it waits for no place: %+v, %v", c, err)
	}
	same.QueuedFor = "next"
	c, err = decide.Migrate(def, same, nil, stands, decide.Evidence{}, human(), noon)
	if err != nil || c.Task.QueuedFor != "c" || c.Events[0].Data[history.DataQueued] != "c" || len(c.Events) != 1 {
		t.Errorf("where another status waits for a place: %+v, %v", c, err)
	}
}

func TestMissing_saysOfEachTaskWhatHelps(t *testing.T) {
	t.Parallel()
	w := decide.Waiting{Task: task.Task{ID: "T", After: []string{"a", "b"}}, Before: []record.Before{
		{ID: "a", State: record.BeforeLive, Found: "alive"}, {ID: "b", State: record.BeforeLost, Found: "gone"},
		{ID: "c", State: record.BeforeElsewhere, Found: "elsewhere"}, {ID: "d", Found: "unreadable"}, {ID: "e"}}}
	var got []string
	for _, d := range w.Missing() {
		got = append(got, d.Condition+" "+d.Found+": "+d.Want)
	}
	want := []string{
		"task a, done and in the default branch alive: it starts by itself then; to start it now: orange task spawn T",
		"task b, done and in the default branch gone: start it all the same (orange task spawn T), or give it up " +
			"(orange task cancel T)",
		"task c, done and in the default branch elsewhere: bring that commit there; the monitor looks every minute. " +
			"To start it without: orange task spawn T"}
	if len(got) != 4 || !slices.Equal(got[:3], want) || !strings.HasSuffix(got[3], "orange task spawn T") {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
	if got, want := w.StartReason(), "done is what it waited for: a, b"; got != want {
		t.Errorf("it starts because %q, want %q", got, want)
	}
}

func TestOption_saysWhoMayTakeItAndWhatElseIsUnmet(t *testing.T) {
	t.Parallel()
	guard, gate := rejection.Detail{Condition: "tries < 2"}, rejection.Detail{Condition: `section "## Plan"`}
	w := decide.Option{By: []string{"worker", "human"}, Details: []rejection.Detail{guard, gate},
		Guards: []decide.Counted{{Guard: "tries < 2"}}}
	if got := w.OtherDetails(); len(got) != 1 || got[0].Condition != gate.Condition || w.State() != "not open" ||
		w.Who() != "worker, human" {
		t.Errorf("%+v, %s, %s", got, w.State(), w.Who())
	}
	w = decide.Option{Open: true}
	if w.State() != "open" || w.Who() != "the workflow's own rules alone" {
		t.Errorf("%s, %s", w.State(), w.Who())
	}
}

func TestWithRedo_hasTheStatesThatAPersonCanLetBeginAgain(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	one := newTask("codegen")
	events := []history.Event{{Type: history.Created, Data: map[string]string{"status": "planning"}},
		{Type: history.StatusChanged, From: "planning", To: "plan_review"},
		{Type: history.StatusChanged, From: "plan_review", To: "codegen"}}
	got := decide.Explanation{Task: one}.WithRedo(def, events).Redo
	if !slices.Contains(got, "plan_review") || slices.Contains(got, "test") {
		t.Errorf("it may begin again in %q", got)
	}
}

func TestText_isThatOfTheFileOrOfTheSection(t *testing.T) {
	t.Parallel()
	ev := evidence("## Plan\nAPPROACH: small steps\n")
	ev.Facts["x"] = decide.Fact{Source: "a.json", Digest: "1", Text: "{}"}
	if text, found := ev.Text(task.Evidence{Source: "a.json", Digest: "1"}); !found || text != "{}" {
		t.Errorf("a file: %q, %t", text, found)
	}
	for _, other := range []task.Evidence{{Source: "a.json", Digest: "2"}, {Source: "b.json", Digest: "1"}} {
		if text, found := ev.Text(other); found {
			t.Errorf("%+v is %q", other, text)
		}
	}
	if text, found := ev.Text(task.Evidence{Source: "## Plan"}); !found || !strings.Contains(text, "small steps") {
		t.Errorf("a section: %q, %t", text, found)
	}
	ev.Document = nil
	if text, found := ev.Text(task.Evidence{Source: "## Plan"}); found {
		t.Errorf("without a document: %q", text)
	}
	if decide.NeedsDocument([]workflow.Part{{File: "x"}}) || !decide.NeedsDocument([]workflow.Part{{File: "x"},
		{Section: "## Plan"}}) {
		t.Error("a document is needed for files, or not for sections")
	}
}

func TestPREnded_namesHowThePullRequestEnded(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	one := newTask("reviewing")
	one.PRURL, one.PRState = "url", record.PROpen
	for state, want := range map[string]string{record.PRClosed: history.PRDropped, record.PRMerged: history.PRLanded} {
		c := decide.PREnded(def, one, evidence(""), record.PullRequest{URL: "url", State: state}, "it may not", noon)
		if c.Events[0].Type != want {
			t.Errorf("%s: the event is %s, want %s", state, c.Events[0].Type, want)
		}
		again := map[string]string{record.PRClosed: "cancel", record.PRMerged: "merge"}[state]
		if at := c.Task.Attention; at != "" && !strings.HasSuffix(at, "orange task "+again+" T1") {
			t.Errorf("%s: it says %q", state, at)
		}
	}
}

func TestMayForgetCrashes_whereNoOtherHookHoldsItUp(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Counters = task.Counters{}.With(task.CrashCount, 1)
	spawn := task.OwedHook{ID: 7, Hook: task.Hook{Action: "spawn_agent"}}
	if others, may := decide.MayForgetCrashes(record.Snapshot{Task: one, Owed: []task.OwedHook{spawn}}, 7); !may ||
		len(others) > 0 {
		t.Errorf("its last hook is done: %t, %+v", may, others)
	}
	if others, may := decide.MayForgetCrashes(record.Snapshot{Task: one, Owed: []task.OwedHook{spawn}}, 8); may ||
		len(others) != 1 {
		t.Errorf("another one is pending: %t, %+v", may, others)
	}
	one.Counters = task.Counters{}
	if _, may := decide.MayForgetCrashes(record.Snapshot{Task: one, Owed: []task.OwedHook{spawn}}, 7); may {
		t.Error("there is no crash to forget")
	}
}
