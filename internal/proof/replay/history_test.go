package replay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/edition"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestAReplay_repeatsThePullRequestMoveWithItsGatesEvidence(t *testing.T) {
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
		w.commit(replay.Inputs{Ask: replay.AskCreate, To: "reviewing"}.By(human), decide.Evidence{}, birth)
		pr := record.PullRequest{URL: "u", State: record.PRMerged, Merge: "c1"}
		ev := decide.Evidence{Document: docOf(body)}
		w.commit(replay.Inputs{Ask: replay.AskPREnded}.About(pr, false), ev,
			decide.PREnded(&def, w.s.Task, ev, pr, "", noon))
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || w.s.Task.Status != want || got.Decisions != 2 || got.Equal != 2 {
			t.Errorf("%q: the task is %q, want %q; %v, %+v", body, w.s.Task.Status, want, err, got)
		}
	}
}

// resealed is a history after an intruder has changed some of its events and computed the chain again.
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
		traces, err := replay.Trace(events)
		if err != nil || !slices.Contains(traces.Stripped, victim.Seq) {
			t.Fatalf("event %d (%s) has lost its inputs, and these are named: %v, %v", victim.Seq, victim.Type,
				traces.Stripped, err)
		}
		got, err := replay.Replay(w.s.Task, lines, w.library(), nil)
		named := slices.ContainsFunc(got.Untold, func(d replay.Difference) bool { return d.Event == victim.Seq })
		if err != nil || !named {
			t.Fatalf("event %d (%s) has lost its inputs: %v, %+v", victim.Seq, victim.Type, err, got)
		}
	}
}

func TestAReplay_checksADecisionOfAnotherEditionWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	for seed := uint64(4); len(w.texts) == 0; seed++ {
		w = newStroll(t, w.def, seed)
	}
	_, lines := w.resealed(func(e *history.Event) {
		e.Inputs = json.RawMessage(strings.Replace(string(e.Inputs),
			`"rules":"`+edition.Rules+`"`, `"rules":"another"`, 1))
		if e.IsMove() {
			e.Hooks = append(slices.Clone(e.Hooks), "something_else") // as that edition had it
		}
	})
	got, err := replay.Replay(w.s.Task, lines, w.library(), nil)
	if err != nil || got.OtherEdition == 0 || got.Decisions+len(got.Different)+len(got.Untold) > 0 {
		t.Errorf("%v, %+v", err, got)
	}
	lost := w.library()
	lost.Texts = func(string) (string, bool, error) { return "", false, nil }
	if got, err = replay.Replay(w.s.Task, lines, lost, nil); err != nil || len(got.Untold) == 0 {
		t.Errorf("its texts are gone: %v, %+v", err, got)
	}
	lost.Texts = func(string) (string, bool, error) { return "", false, errors.New("the lamp is out") }
	if _, err = replay.Replay(w.s.Task, lines, lost, nil); err == nil {
		t.Error("a text that could not be looked at was taken for one that is there")
	}
	lines[0] = strings.Replace(lines[0], `"actor":"`, `"actor":"x`, 1)
	if got, err = replay.Replay(w.s.Task, lines, w.library(), nil); err != nil || len(got.Different) == 0 {
		t.Errorf("an event was changed: %v, %+v", err, got)
	}
}

// What a step drops of the hooks that are still owed is in no event. So a rule about it can change without a new
// edition: the history of a task has the same bytes, and its decisions the same outcome, whatever was dropped.
func TestAHistory_isTheSameWhateverOwedHooksAStepDrops(t *testing.T) {
	t.Parallel()
	owed := []task.OwedHook{
		{ID: 1, Hook: task.Hook{Action: action.PushBranch}, State: task.HookFailed},
		{ID: 2, Hook: task.Hook{Action: action.CreatePR}, State: task.HookPending},
		{ID: 3, Hook: task.Hook{Action: action.SpawnAgent}, State: task.HookFailed},
		{ID: 4, Hook: task.Hook{Action: action.Notify}, State: task.HookFailed},
	}
	var histories []string
	for _, owes := range [][]task.OwedHook{nil, owed[:2], owed} {
		w := &stroll{t: t, def: shippedWorkflow(t, "default"), dice: rand.New(rand.NewPCG(1, 5)),
			now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), texts: map[string]string{}}
		w.born()
		w.s.Owed = owes
		req := task.Request{Task: w.s.Task.ID, To: "cancelled", Actor: human(), Reason: "no one wants it"}
		decision, err := decide.Transition(w.def, w.s.Task, decide.Evidence{}, req, w.now)
		if err != nil {
			t.Fatal(err)
		}
		if dropped := decide.Overtaken(owes, decision.Change); len(dropped) != min(len(owes), 3) {
			t.Fatalf("of %d hooks it drops %v", len(owes), dropped)
		}
		w.commit(replay.Inputs{Ask: replay.AskMove, To: req.To}.By(req.Actor), decide.Evidence{}, decision.Change)
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || got.Decisions != 2 || got.Equal != 2 {
			t.Errorf("%d hooks were owed: %v, %+v", len(owes), err, got)
		}
		histories = append(histories, strings.Join(w.lines, "\n"))
	}
	if histories[1] != histories[0] || histories[2] != histories[0] {
		t.Errorf("the histories differ:\n%s", strings.Join(histories, "\n\n"))
	}
}

func TestAReplay_tellsOfHooksThatWereToDoSomethingElse(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	traces, err := replay.Trace(w.events)
	if err != nil || len(traces.Hooks) == 0 {
		t.Fatalf("%+v, %v", traces, err)
	}
	_, lines := w.resealed(func(e *history.Event) {
		for _, digest := range traces.Hooks {
			e.Inputs = json.RawMessage(strings.Replace(string(e.Inputs), digest, strings.Repeat("0", len(digest)), 1))
		}
	})
	got, err := replay.Replay(w.s.Task, lines, w.library(), nil)
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
	c, err := replay.Inputs{Ask: replay.AskAdopt}.Keep(nil, record.Snapshot{}, decide.Evidence{}, record.Change{
		Events: []history.Event{birth}, Entry: entry})
	if err != nil {
		t.Fatal(err)
	}
	later := history.Event{Seq: 2, Time: noon.Add(time.Hour), Type: history.Updated}
	traces, err := replay.Trace(append(c.Events, later))
	if err != nil || !slices.Equal(traces.Entry, entry) || len(traces.Stripped) > 0 {
		t.Errorf("%+v, %v", traces, err)
	}
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	w.events = c.Events
	_, lines := w.resealed(func(*history.Event) {})
	if got, err := replay.Replay(w.s.Task, lines, w.library(), nil); err != nil || got.Skipped != 1 ||
		got.Decisions+len(got.Untold) > 0 {
		t.Errorf("its birth was decided by nobody: %v, %+v", err, got)
	}
	if _, err := replay.Trace([]history.Event{{Seq: 4, Inputs: []byte("{")}}); err == nil ||
		!strings.Contains(err.Error(), "event 4") {
		t.Errorf("inputs that cannot be read: %v", err)
	}
}

func TestAReplay_tellsWhatItCannotMakeAgain(t *testing.T) {
	t.Parallel()
	def := shippedAndStrained(t)[0]
	w := newStroll(t, def, 1)
	for seed := uint64(2); len(w.texts) == 0; seed++ {
		w = newStroll(t, def, seed)
	}
	old := make([]string, len(w.lines)) // an intruder has removed their inputs
	for i, line := range w.lines {
		at := strings.Index(line, `"inputs":{`)
		if at >= 0 {
			line = line[:at] + line[strings.Index(line, `"prev":`):]
		}
		old[i] = line
	}
	got, err := replay.Replay(w.s.Task, old, w.library(), nil)
	if err != nil || len(got.Untold) != len(old)-w.starts || got.Decisions+len(got.Different) > 0 ||
		!strings.Contains(got.Untold[0].Why, "these were taken away") {
		t.Errorf("stripped events: %v, %+v", err, got)
	}
	for _, other := range []*workflow.Definition{nil, def} {
		lost := w.library()
		lost.Texts = func(string) (string, bool, error) { return "", false, nil }
		if got, err = replay.Replay(w.s.Task, w.lines, lost, other); err != nil || len(got.Untold) == 0 ||
			len(got.Different) > 0 || !strings.Contains(got.Untold[0].Why, replay.ErrLost.Error()) {
			t.Errorf("lost texts: %v, %+v", err, got)
		}
		lost.Texts = func(string) (string, bool, error) { return "", false, errors.New("the lamp is out") }
		if _, err = replay.Replay(w.s.Task, w.lines, lost, other); err == nil {
			t.Error("a text that could not be looked at was taken for one that is lost")
		}
		lost.Rules = func(string) (*workflow.Definition, error) { return nil, errors.New("the lamp is out") }
		if _, err = replay.Replay(w.s.Task, w.lines, lost, other); err == nil {
			t.Error("rules that could not be looked at were taken for lost ones")
		}
	}
	if _, err = replay.Replay(w.s.Task, []string{"{"}, w.library(), nil); err == nil {
		t.Error("a line that cannot be read was taken for an event")
	}
}

func TestAReplay_tellsBothLinesOfADecisionThatComesOutOtherwise(t *testing.T) {
	t.Parallel()
	def := shippedAndStrained(t)[0]
	var w *stroll
	at := -1
	for seed := uint64(3); at < 0; seed++ {
		w = newStroll(t, def, seed)
		at = slices.IndexFunc(w.lines, func(line string) bool {
			return strings.Contains(line, `"type":"status.changed"`) && strings.Contains(line, `"hooks":["`)
		})
	}
	w.lines[at] = strings.Replace(w.lines[at], `"hooks":["`, `"hooks":["nothing","`, 1)
	at++ // events are counted from 1
	got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
	if err != nil || len(got.Different) != 1 || got.Different[0].Event != at || got.Equal != got.Decisions-1 ||
		got.Different[0].Recorded != w.lines[at-1] || strings.Contains(got.Different[0].Decided, `"nothing"`) {
		t.Errorf("event %d: %v, %+v", at, err, got)
	}
}

// A decision of two events, at the end of a history that has lost the second one, or has it twice.
func TestAReplay_placesTheEventsThatADecisionHasMoreOrFewer(t *testing.T) {
	t.Parallel()
	var w *stroll
	at := -1
	for seed := uint64(3); at < 0; seed++ {
		w = newStroll(t, shippedAndStrained(t)[0], seed)
		at = slices.IndexFunc(w.events, func(e history.Event) bool {
			return e.Type == history.AutoAdvanced && len(e.Inputs) == 0
		})
	}
	twice, err := history.Seal(w.events[at], at+2, w.events[at].Hash)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(twice)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		lines []string
		want  replay.Difference
	}{
		"lost": {w.lines[:at], replay.Difference{Event: at + 1, Type: w.events[at-1].Type, Decided: w.lines[at]}},
		"twice": {append(slices.Clip(w.lines[:at+1]), string(line)),
			replay.Difference{Event: at + 2, Type: history.AutoAdvanced, Recorded: string(line)}},
	} {
		got, err := replay.Replay(w.s.Task, c.lines, w.library(), nil)
		if err != nil || len(got.Different) != 1 || !reflect.DeepEqual(got.Different[0], c.want) {
			t.Errorf("%s: %v, %+v, want %+v", what, err, got.Different, c.want)
		}
	}
}

func TestAReplay_byOtherRulesSaysWhatTheyWouldHaveDecided(t *testing.T) {
	t.Parallel()
	all := shippedAndStrained(t)
	w := newStroll(t, all[0], 3)
	other := *w.def
	other.Transitions = slices.Clone(other.Transitions)
	for i := range other.Transitions {
		other.Transitions[i].When = []workflow.Guard{{Field: "review_round", Op: ">=", Value: 99}}
		other.Transitions[i].Override = false
	}
	got, err := replay.Replay(w.s.Task, w.lines, w.library(), &other)
	if err != nil || len(got.Different) == 0 {
		t.Fatalf("%v, %+v", err, got)
	}
	moves := func(d replay.Difference) bool { return strings.Contains(d.Recorded, " -> ") }
	if !slices.ContainsFunc(got.Different, moves) {
		t.Errorf("no difference says which move was recorded: %+v", got.Different)
	}
	for _, d := range got.Different {
		if !strings.Contains(d.Decided, "refused: ") && !strings.Contains(d.Decided, history.AgentCrashed) &&
			!strings.Contains(d.Decided, history.TimeoutEscalated) {
			t.Errorf("%+v", d)
		}
	}
	foreign, err := replay.Replay(w.s.Task, w.lines, w.library(), all[4])
	if err != nil || len(foreign.Untold) == 0 || !strings.Contains(fmt.Sprint(foreign.Untold), "has no state") ||
		strings.HasPrefix(foreign.Untold[0].Recorded, "{") {
		t.Errorf("%v, %+v", err, foreign)
	}
}
