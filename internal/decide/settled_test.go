package decide_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/action"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

func TestRetry_isAPersonsActAndSetsBackWhatPeopleSetBack(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada"}
	one := newTask("agent-review")
	one.Counters = one.Counters.With("rereviews", 3).With(task.ReviewRound, 1)
	c := decide.Retry(def, one, "push_branch, notify", ada, noon)
	e := c.Events[0]
	if c.Task.Counters.Get("rereviews") != 0 || c.Task.Counters.Get(task.ReviewRound) != 1 ||
		!c.Task.UpdatedAt.Equal(noon) || c.Expect != one.Version {
		t.Errorf("it leaves %+v", c.Task)
	}
	if e.Type != history.HooksRetried || e.Person != "Ada" || e.Data["hook"] != "push_branch, notify" ||
		e.Counters.Get("rereviews") != 0 {
		t.Errorf("the history says %+v", e)
	}
	if c := decide.Retry(def, one, "notify", task.Actor{Role: task.RoleWorker}, noon); c.Task.Counters.Get(
		"rereviews") != 3 {
		t.Errorf("an agent set back %v", c.Task.Counters)
	}
	one.QueuedFor, one.UpdatedAt = "working", noon.Add(-time.Hour)
	if c := decide.Retry(def, one, "notify", ada, noon); !c.Task.UpdatedAt.Equal(one.UpdatedAt) {
		t.Errorf("it lost its place among those that wait: %v", c.Task.UpdatedAt)
	}
}

func TestCrashes_areForgottenWithTheLastHookOfAMove(t *testing.T) {
	t.Parallel()
	move := history.Event{Type: history.StatusChanged, From: "planning", To: "working"}
	forced := history.Event{Type: history.AutoAdvanced, From: "working", To: "stuck", Data: map[string]string{
		history.DataCrash: "2"}}
	crash := history.Event{Type: history.AgentCrashed}
	spawned := history.Event{Type: history.AgentSpawned}
	for _, tt := range []struct {
		what   string
		events []history.Event
		owed   int
		count  int
		want   bool
	}{
		{"after a move", []history.Event{crash, move, spawned}, 0, 1, true},
		{"while the move still owes a hook", []history.Event{crash, move, spawned}, 1, 1, false},
		{"where nobody has crashed", []history.Event{move, spawned}, 0, 0, false},
		{"after a crash behind the move", []history.Event{move, crash, spawned}, 0, 1, false},
		{"after the move of too many crashes", []history.Event{crash, crash, forced, spawned}, 0, 2, false},
		{"after a move from there", []history.Event{crash, crash, forced, move}, 0, 2, true},
		{"before any move", []history.Event{crash, spawned}, 0, 1, false},
	} {
		one := newTask("working")
		one.Counters = one.Counters.With(task.ReviewRound, 1).With(task.CrashCount, tt.count)
		c, due := decide.ForgetCrashes(one, make([]task.OwedHook, tt.owed), tt.events, noon)
		if due != tt.want {
			t.Errorf("%s: due is %v, want %v", tt.what, due, tt.want)
		}
		if !due {
			continue
		}
		want := task.Counters{}.With(task.CrashCount, 0).With(task.ReviewRound, 1)
		e := c.Events[0]
		if len(c.Events) != 1 || e.Type != history.CrashesForgotten || !slices.Equal(e.Counters, want) ||
			!slices.Equal(c.Task.Counters, want) || c.Expect != one.Version {
			t.Errorf("%s: %+v", tt.what, c)
		}
	}
}

func TestATaskThatIsOver_isFreedOnceAndOnlyOfWhatItHolds(t *testing.T) {
	t.Parallel()
	over := newTask("done")
	over.Live, over.Workspace = false, "garden--1"
	c, due := decide.Free(over, nil, noon)
	if !due || !slices.Equal(c.Events[0].Hooks, []string{action.KillSession, action.ReleaseWorkspace}) ||
		len(c.Hooks) != 2 {
		t.Errorf("one that holds a workspace: %v, %+v", due, c)
	}
	if _, due = decide.Free(over, make([]task.OwedHook, 1), noon); due {
		t.Error("one whose hooks may still do it is freed")
	}
	over.Workspace = ""
	if c, due = decide.Free(over, nil, noon); !due || !slices.Equal(c.Events[0].Hooks, []string{action.KillSession}) {
		t.Errorf("one without a workspace: %v, %+v", due, c)
	}
	over.Live = true
	if _, due = decide.Free(over, nil, noon); due {
		t.Error("one that lives is freed")
	}
}

func TestLanded_putsEachPartOfAMergeOnRecordOnce(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	pr := record.PullRequest{URL: "u", State: record.PRMerged, Merge: "c1"}
	human := task.Actor{Role: task.RoleHuman}
	told := []history.Event{{Type: history.Merged, Data: map[string]string{"url": "u"}}}
	elsewhere := []history.Event{{Type: history.Merged, Data: map[string]string{"commit": "c1"}}}
	for _, tt := range []struct {
		noted  bool
		events []history.Event
		want   string
	}{
		{false, nil, "pr.merged task.merged"}, {true, nil, "task.merged"}, {false, told, "pr.merged"},
		{true, told, ""}, {true, elsewhere, "task.merged"},
	} {
		var got []string
		for _, e := range decide.Landed(def, newTask("reviewing"), pr, tt.noted, tt.events, human, noon).Events {
			got = append(got, e.Type)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("noted %v, told %v: %v, want %q", tt.noted, tt.events, got, tt.want)
		}
	}
}

func TestTheMoveAfterAPullRequest_isMadeAgainWithWhatItsGateLookedAt(t *testing.T) {
	t.Parallel()
	def := *shippedAndStrained(t)[0]
	def.Transitions = slices.Clone(def.Transitions)
	for i := range def.Transitions {
		if def.Transitions[i].To == "done" {
			def.Transitions[i].Gate = []workflow.Part{{Section: "## Signed"}}
		}
	}
	for body, want := range map[string]task.Status{
		"\n## Signed\n\nby me\n": "done", "\n## Notes\n\nnothing\n": "reviewing"} {
		w := &stroll{t: t, def: &def, now: noon, texts: map[string]string{}}
		human := task.Actor{Role: task.RoleHuman}
		birth, err := decide.Create(&def, task.Task{ID: "abc", Project: "garden", Branch: "b"}, "reviewing",
			human, noon)
		if err != nil {
			t.Fatal(err)
		}
		w.commit(decide.Inputs{Ask: decide.AskCreate, To: "reviewing"}.By(human), decide.Evidence{}, birth)
		pr := record.PullRequest{URL: "u", State: record.PRMerged, Merge: "c1"}
		ev := decide.Evidence{Document: docOf(body)}
		w.commit(decide.Inputs{Ask: decide.AskPREnded}.About(pr, false), ev,
			decide.PREnded(&def, w.s.Task, ev, pr, "", noon))
		got, err := decide.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || w.s.Task.Status != want || got.Decisions != 2 || got.Equal != 2 {
			t.Errorf("%q: the task is %q, want %q; %v, %+v", body, w.s.Task.Status, want, err, got)
		}
	}
}

// resealed is a history after somebody has changed some of its events and computed the chain anew.
func (w *stroll) resealed(change func(e *history.Event)) (events []history.Event, lines []string) {
	w.t.Helper()
	prev := ""
	for i, e := range w.events {
		change(&e)
		sealed, err := history.Seal(e, i+1, prev)
		if err != nil {
			w.t.Fatal(err)
		}
		line, err := json.Marshal(sealed)
		if err != nil {
			w.t.Fatal(err)
		}
		prev = sealed.Hash
		events, lines = append(events, sealed), append(lines, string(line))
	}
	return events, lines
}

func TestADecision_thatHasLostItsInputsIsNamed(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	for _, victim := range w.events {
		if len(victim.Inputs) == 0 {
			continue
		}
		events, lines := w.resealed(func(e *history.Event) {
			if e.Seq == victim.Seq {
				e.Inputs = nil
			}
		})
		traces, err := decide.Trace(events)
		if err != nil || !slices.Contains(traces.Stripped, victim.Seq) {
			t.Fatalf("event %d (%s) has lost its inputs, and these are named: %v, %v", victim.Seq, victim.Type,
				traces.Stripped, err)
		}
		got, err := decide.Replay(w.s.Task, lines, w.library(), nil)
		named := slices.ContainsFunc(got.Untold, func(d decide.Difference) bool { return d.Event == victim.Seq })
		if err != nil || !named {
			t.Fatalf("event %d (%s) has lost its inputs: %v, %+v", victim.Seq, victim.Type, err, got)
		}
	}
}

func TestADecision_ofAnotherEditionIsNotMadeAgainAndLookedAtAllTheSame(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	for seed := uint64(4); len(w.texts) == 0; seed++ {
		w = newStroll(t, w.def, seed)
	}
	_, lines := w.resealed(func(e *history.Event) {
		e.Inputs = json.RawMessage(strings.Replace(string(e.Inputs), `"edition":2`, `"edition":7`, 1))
		if e.IsMove() {
			e.Hooks = append(slices.Clone(e.Hooks), "something_else") // as that edition had it
		}
	})
	got, err := decide.Replay(w.s.Task, lines, w.library(), nil)
	if err != nil || got.OtherEdition == 0 || got.Decisions+len(got.Different)+len(got.Untold) > 0 {
		t.Errorf("%v, %+v", err, got)
	}
	lost := w.library()
	lost.Texts = func(string) (string, bool, error) { return "", false, nil }
	if got, err = decide.Replay(w.s.Task, lines, lost, nil); err != nil || len(got.Untold) == 0 {
		t.Errorf("its texts are gone: %v, %+v", err, got)
	}
	lines[0] = strings.Replace(lines[0], `"actor":"`, `"actor":"x`, 1)
	if got, err = decide.Replay(w.s.Task, lines, w.library(), nil); err != nil || len(got.Different) == 0 {
		t.Errorf("an event was changed: %v, %+v", err, got)
	}
}

func TestAReplay_tellsOfHooksThatWereToDoSomethingElse(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	traces, err := decide.Trace(w.events)
	if err != nil || len(traces.Hooks) == 0 {
		t.Fatalf("%+v, %v", traces, err)
	}
	_, lines := w.resealed(func(e *history.Event) {
		for _, digest := range traces.Hooks {
			e.Inputs = json.RawMessage(strings.Replace(string(e.Inputs), digest, strings.Repeat("0", len(digest)), 1))
		}
	})
	got, err := decide.Replay(w.s.Task, lines, w.library(), nil)
	if err != nil || len(got.Different) != len(traces.Hooks) ||
		!strings.Contains(got.Different[0].Recorded, "digest 000") {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestATrace_knowsWhatWasThereWhenATaskWasTakenOver(t *testing.T) {
	t.Parallel()
	entry := []task.Evidence{{Source: "## review", Digest: "1"}}
	birth := history.Event{Seq: 1, Time: noon, Type: history.Created, Data: map[string]string{
		history.DataAdopted: "true", history.DataStatus: "agent-review"}}
	c, err := decide.Inputs{Ask: decide.AskAdopt}.Keep(nil, record.Snapshot{}, decide.Evidence{}, record.Change{
		Events: []history.Event{birth}, Entry: entry})
	if err != nil {
		t.Fatal(err)
	}
	later := history.Event{Seq: 2, Time: noon.Add(time.Hour), Type: history.Updated}
	traces, err := decide.Trace(append(c.Events, later))
	if err != nil || !slices.Equal(traces.Entry, entry) || len(traces.Stripped) > 0 {
		t.Errorf("%+v, %v", traces, err)
	}
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	w.events = c.Events
	_, lines := w.resealed(func(*history.Event) {})
	if got, err := decide.Replay(w.s.Task, lines, w.library(), nil); err != nil || got.Skipped != 1 ||
		got.Decisions+len(got.Untold) > 0 {
		t.Errorf("its birth was decided by nobody: %v, %+v", err, got)
	}
	if _, err := decide.Trace([]history.Event{{Seq: 4, Inputs: []byte("{")}}); err == nil ||
		!strings.Contains(err.Error(), "event 4") {
		t.Errorf("inputs that cannot be read: %v", err)
	}
}

// Defect: a message that could not be sent kept the crashes of before a move counted, which the prover takes for
// forgotten.
func TestForgetCrashes_waitsForNoHookThatHoldsUpNothing(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Counters = one.Counters.With(task.CrashCount, 1)
	moved := []history.Event{{Type: history.StatusChanged, From: "planning", To: "working"}}
	for action, want := range map[string]bool{action.Notify: true, action.PushBranch: true, action.SpawnNext: true,
		action.SpawnAgent: false, action.KillSession: false} {
		if _, due := decide.ForgetCrashes(one, []task.OwedHook{owed(1, action)}, moved, noon); due != want {
			t.Errorf("while %s is owed, crashes are forgotten: %v, want %v", action, due, want)
		}
	}
}
