package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestAReplay_tellsOfLostRulesAndOfTextsThatWereChanged(t *testing.T) {
	t.Parallel()
	def := shippedAndStrained(t)[0]
	w := newStroll(t, def, 1)
	for seed := uint64(2); len(w.texts) == 0; seed++ {
		w = newStroll(t, def, seed)
	}
	books := w.library()
	books.Rules = func(string) (*workflow.Definition, error) { return nil, task.Notef(task.ErrNotFound, "burnt") }
	got, err := replay.Replay(w.s.Task, w.lines, books, nil)
	if err != nil || got.Decisions > 0 || len(got.Untold) == 0 || !strings.Contains(got.Untold[0].Why, "burnt") {
		t.Errorf("lost rules: %v, %+v", err, got)
	}
	books = w.library()
	kept := books.Texts
	books.Texts = func(digest string) (string, bool, error) {
		text, there, err := kept(digest)
		return text + "!", there, err
	}
	got, err = replay.Replay(w.s.Task, w.lines, books, nil)
	if err != nil || len(got.Different) > 0 || len(got.Untold) == 0 ||
		!strings.Contains(got.Untold[0].Why, replay.ErrLost.Error()) {
		t.Errorf("changed texts: %v, %+v", err, got)
	}
}

func TestAReplay_skipsAnEndThatSomebodyWanted(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	stopped := history.Event{Time: noon, Type: history.AgentStopped, Actor: task.ActorEngine, Data: map[string]string{
		"role": "worker"}}
	sealed, err := history.Seal(stopped, len(w.events)+1, w.s.Task.Hash)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay.Replay(w.s.Task, append(w.lines, string(line)), w.library(), nil)
	if err != nil || got.Skipped != w.starts+1 || len(got.Untold) > 0 || got.Equal != got.Decisions ||
		len(got.Different) > 0 {
		t.Errorf("%v, %+v", err, got)
	}
}

// The clock was set back, and the status began again without an event.
func TestAReplay_knowsWhenTheStatusOfATimeoutBegan(t *testing.T) {
	t.Parallel()
	def := shippedAndStrained(t)[0]
	w := &stroll{t: t, def: def, dice: rand.New(rand.NewPCG(1, 5)),
		now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), texts: map[string]string{}}
	w.born()
	in := replay.Inputs{Ask: replay.AskTimeout}.By(task.Actor{Rule: true})
	for _, passes := range []time.Duration{-time.Hour, 90 * time.Second} {
		w.now = w.now.Add(passes)
		c, due := decide.Timer(def, nil, w.s.Task, w.now)
		if !due {
			t.Fatalf("nothing follows after %v", passes)
		}
		w.commit(in, decide.Evidence{}, c)
	}
	got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
	if err != nil || got.Decisions != 2 || got.Equal != 2 || len(got.Different) > 0 {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestAReplay_byOtherRulesNamesUnseenAndUnmetConditions(t *testing.T) {
	t.Parallel()
	w := newStroll(t, shippedAndStrained(t)[0], 3)
	other := *w.def
	other.Transitions = slices.Clone(other.Transitions)
	for i := range other.Transitions {
		other.Transitions[i].When = []workflow.Guard{{Field: "review_round", Op: ">=", Value: 99}}
	}
	lacks := false
	got, err := replay.Replay(w.s.Task, w.lines, w.library(), &other)
	for _, d := range got.Different {
		lacks = lacks || strings.Contains(d.Decided, "refused: "+rejection.GuardFailed+" (review_round >= 99: ")
	}
	if err != nil || !lacks {
		t.Errorf("%v, %+v", err, got.Different)
	}
	unseen := 0
	for seed := range uint64(10) { // a move whose document had the section
		w = newStroll(t, shippedAndStrained(t)[0], seed)
		other = *w.def
		other.Transitions = slices.Clone(other.Transitions)
		for i := range other.Transitions {
			other.Transitions[i].Gate = append(slices.Clone(other.Transitions[i].Gate), workflow.Part{
				Section: "## Notes"}, workflow.Part{File: "somewhere.json"})
		}
		got, err = replay.Replay(w.s.Task, w.lines, w.library(), &other)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Untold {
			if d.Why == `no one looked at "## Notes", somewhere.json` {
				unseen++
			}
		}
	}
	if unseen == 0 {
		t.Error("it is told of no decision that nobody looked at what the other rules ask for")
	}
}

// Where other rules want evidence that no move has relied on, a replay knows from the history what moves have.
func TestAReplay_byOtherRulesKnowsWhatWasSpent(t *testing.T) {
	t.Parallel()
	var fresh func([]workflow.Part) []workflow.Part
	fresh = func(parts []workflow.Part) []workflow.Part {
		out := slices.Clone(parts)
		for i := range out {
			out[i].Fresh, out[i].Any, out[i].All = true, fresh(out[i].Any), fresh(out[i].All)
		}
		return out
	}
	all := shippedAndStrained(t)
	spent := 0
	for seed := uint64(1400); spent == 0 && seed < 1500; seed++ { // a document seldom stays as it was over two moves
		w := newStroll(t, all[seed%uint64(len(all))], seed)
		other := *w.def
		other.Transitions = slices.Clone(other.Transitions)
		for i := range other.Transitions {
			other.Transitions[i].Gate = fresh(other.Transitions[i].Gate)
		}
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), &other)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Different {
			if strings.Contains(d.Decided, "a text identical to what moved the task at event ") {
				spent++
			}
		}
	}
	if spent == 0 {
		t.Error("no move was refused whose evidence had moved the task before")
	}
}

// Defect: a part that Orange had not looked at hid one that was known to be missing, so that replay could not report
// the refusal.
func TestAReplay_reportsARefusalEvenWhereOtherPartsAreUnknown(t *testing.T) {
	t.Parallel()
	with := func(w *stroll, gate func(workflow.Transition) []workflow.Part) *workflow.Definition {
		other := *w.def
		other.Transitions = slices.Clone(other.Transitions)
		for i := range other.Transitions {
			other.Transitions[i].Gate = gate(other.Transitions[i])
		}
		return &other
	}
	somewhere, notes := workflow.Part{File: "somewhere.json"}, workflow.Part{Section: "## Notes", Fresh: true}
	all := shippedAndStrained(t)
	refused, told, untold := [2]int{}, 0, 0
	for seed := range uint64(60) {
		w := newStroll(t, all[seed/2%4], seed)
		// The other rules ask for a section that no document has, and for a part that Orange did not look at.
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), with(w, func(e workflow.Transition) []workflow.Part {
			gate := append(slices.Clone(e.Gate), somewhere, notes, workflow.Part{Section: "## Never"})
			for n := range 9 * int(seed%2) { // more than can be supposed one by one
				gate = append(gate, workflow.Part{File: fmt.Sprintf("somewhere else %d.json", n)})
			}
			return gate
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Different {
			if strings.HasPrefix(d.Decided, "refused: "+rejection.GateUnmet) {
				refused[seed%2]++
				if strings.Contains(d.Decided, "somewhere") ||
					strings.Contains(d.Decided, `section "## Notes"`) ||
					!strings.Contains(d.Decided, `section "## Never": `) {
					t.Errorf("what nobody looked at is told as missing, or what is missing is not: %s", d.Decided)
				}
			}
		}
		for _, d := range got.Untold {
			untold++
			if !slices.Contains(d.Parts, "somewhere.json") || d.State == "" || d.Reason != "no one looked at it" {
				t.Errorf("%+v", d)
			}
		}
		// One of two alternatives was seen to be open: the other one makes no difference.
		got, err = replay.Replay(w.s.Task, w.lines, w.library(), with(w, func(e workflow.Transition) []workflow.Part {
			if len(e.Gate) == 0 {
				return nil
			}
			return []workflow.Part{{Any: []workflow.Part{{All: e.Gate}, somewhere}}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Different {
			if !strings.Contains(d.Recorded, "crashed") && !strings.Contains(d.Recorded, "stopped") {
				t.Errorf("%+v", d)
			}
		}
		told += got.Equal
	}
	if refused[0] == 0 || refused[1] == 0 || told == 0 || untold == 0 {
		t.Errorf("%v were refused, %d told, %d could not be told", refused, told, untold)
	}
}

// What replay reports in spite of parts that Orange did not look at is also the result once it has looked: the same
// history, with the part looked at.
func TestAReplay_claimsNothingThatALookWouldContradict(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	told, untold := 0, 0
	for seed := range uint64(60) {
		all := shippedAndStrained(t)
		w := newStroll(t, all[seed%uint64(len(all))], seed)
		want, err := replay.Replay(w.s.Task, w.lines, w.library(), w.def)
		if err != nil || want.Equal != want.Decisions {
			t.Fatalf("%v, %+v", err, want)
		}
		blinded := forgetting(t, w.lines, w.dice)
		got, err := replay.Replay(w.s.Task, blinded, w.library(), w.def)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got.Different {
			t.Errorf("seed %d, %s: with less that was looked at event %d comes out as %q, and it was %q", seed,
				w.def.Name, d.Event, d.Decided, d.Recorded)
		}
		told, untold = told+got.Equal, untold+len(got.Untold)
	}
	if told == 0 || untold == 0 {
		t.Errorf("%d decisions were told, %d could not be", told, untold)
	}
}

// forgetting removes some of what was looked at from the inputs of a history.
func forgetting(t *testing.T, lines []string, dice *rand.Rand) []string {
	t.Helper()
	out := make([]string, len(lines))
	for i, line := range lines {
		var e history.Event
		var in replay.Inputs
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		out[i] = line
		if len(e.Inputs) == 0 || json.Unmarshal(e.Inputs, &in) != nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(in.Facts)) {
			if dice.IntN(2) == 0 {
				delete(in.Facts, key)
			}
		}
		in.Read = slices.DeleteFunc(in.Read, func(replay.Section) bool { return dice.IntN(3) == 0 })
		var err error
		if e.Inputs, err = json.Marshal(in); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(text)
	}
	return out
}

func TestBy_keepsHowTheActorCame(t *testing.T) {
	t.Parallel()
	in := replay.Inputs{}.By(task.Actor{Role: task.RoleHuman, Person: "Ada", Via: "ssh", May: "done"})
	if in.Role != task.RoleHuman || in.Person != "Ada" || in.Via != "ssh" || in.May != "done" {
		t.Errorf("it keeps %+v", in)
	}
}

// An event has one sign for a run of bytes that are no text, and JSON would have one for each of them.
func TestInputs_haveTextInPlaceOfBytesThatAreNone(t *testing.T) {
	t.Parallel()
	const bad = "\xff\xfe"
	limit := task.Limit{Line: bad, Provider: bad}
	back := decide.Setback{Commit: bad, Facts: []string{bad}}
	in := replay.Inputs{Ask: replay.AskMove, To: "busy", Against: bad}.By(
		task.Actor{Person: bad, Via: bad, May: bad}).Of(task.Death{Ending: task.Ending{Unstarted: bad}, Limit: limit}).
		Resting(record.Rest{}, limit).About(record.PullRequest{URL: bad, State: bad, Commit: bad, Merge: bad}, false).
		After(back)
	file := workflow.Part{File: "a"}
	def := tiny([]workflow.Transition{{From: "todo", To: "busy", Gate: []workflow.Part{{Section: "## Note"}, file}}})
	s := record.Snapshot{Task: newTask("todo")}
	unread := decide.Evidence{Trouble: bad, Subject: task.Subject{Branch: bad}, Facts: map[string]decide.Fact{
		file.Key(): {Source: bad, Found: bad}}}
	for what, ev := range map[string]decide.Evidence{
		"unread": unread, "read": evidence("## Odd" + bad + "\n\n##" + bad + " Note\n"),
	} {
		c, err := in.Keep(def, s, ev, record.Change{Events: []history.Event{{Time: noon}}})
		if err != nil || len(c.Events) != 1 {
			t.Fatal(err)
		}
		if text := string(c.Events[0].Inputs); strings.Contains(text, `\ufffd`) { // what JSON makes of them
			t.Errorf("%s: it keeps %s", what, text)
		}
	}
	if back.Facts[0] != bad {
		t.Error("its caller's facts were changed")
	}
}

func TestKept_namesEveryTextOnce(t *testing.T) {
	t.Parallel()
	rested := task.Evidence{Source: "## plan", Digest: "1"}
	inputs, err := json.Marshal(replay.Inputs{
		Read: []replay.Section{{Name: "Plan", Digest: "1"}, {Name: "Hand Off", Digest: "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		event history.Event
		want  []task.Evidence
	}{
		{history.Event{Type: history.StatusChanged, Evidence: []task.Evidence{rested}, Inputs: inputs}, []task.Evidence{
			rested, {Source: "## hand off", Digest: "2"}}},
		{history.Event{Type: history.DocumentAdopted, Data: map[string]string{"before": "3"}}, []task.Evidence{
			{Source: "TASK.md as it was before", Digest: "3"}}},
		{
			history.Event{Type: history.ProjectionRestored, Data: map[string]string{
				history.DataFile: "state.json", history.DataFound: "4"}}, []task.Evidence{
				{Source: "state.json", Digest: "4"}}},
		{history.Event{Type: history.ProjectionRestored, Data: map[string]string{history.DataFile: "state.json"}}, nil},
		{history.Event{Type: history.AgentSpawned, Evidence: []task.Evidence{rested}}, nil},
		{history.Event{Type: history.ReviewStarted, Evidence: []task.Evidence{rested}}, nil},
	} {
		if got, err := replay.Kept(c.event); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.event.Type, got, err)
		}
	}
	if _, err := replay.Kept(history.Event{Seq: 3, Inputs: []byte("{")}); err == nil ||
		!strings.Contains(err.Error(), "event 3") {
		t.Errorf("inputs that cannot be read: %v", err)
	}
}

func TestAwaits_saysWhenTheMonitorStartsAnAgentAgain(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "default")
	crash := history.Event{Type: history.AgentCrashed, Time: noon, Data: map[string]string{
		"role": "reviewer", "ended": "exit status 1"}}
	respawn := history.Event{Type: history.AgentRespawned, Time: noon, Data: map[string]string{"role": "reviewer"}}
	for want, events := range map[string][]history.Event{
		"the monitor starts it again now":   {crash},
		"the monitor starts it again in 5s": {crash, respawn, crash},
		"orange task respawn T1":            nil,
	} {
		got := decide.Awaits(def, record.Snapshot{Task: newTask("agent-review")}, record.AgentDead, events, nil, noon)
		if len(got) != 1 || !strings.Contains(got[0].Want, want) {
			t.Errorf("%q: %+v", want, got)
		}
	}
}

// decided is a task of a tiny workflow, with the decisions that are made from then on.
func decided(t *testing.T, def *workflow.Definition) *stroll {
	t.Helper()
	def.Digest, def.Births = "of tiny", []workflow.Birth{{To: "todo"}}
	w := &stroll{t: t, def: def, dice: rand.New(rand.NewPCG(1, 5)), now: noon, texts: map[string]string{}}
	w.born()
	return w
}

// asked makes a move that a person asks for.
func (w *stroll) asked(to task.Status, override bool, ev decide.Evidence) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	ev.Entry, ev.Start, ev.Spent = w.s.Entry, w.s.Start, w.s.Spent
	d, err := decide.Transition(w.def, w.s.Task, ev, task.Request{Task: "abc", To: to, Actor: human(), Reason: "so",
		Override: override}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(replay.Inputs{Ask: replay.AskMove, To: to, Override: override}.By(human()), ev, d.Change)
}

// What has moved a task twice has done so by the later move, as the record has it.
func TestAReplay_knowsTheLastMoveOfATextThatMovedTwice(t *testing.T) {
	t.Parallel()
	gate := []workflow.Part{{Section: "## Note"}}
	fresh := workflow.Part{Section: "## Note", Fresh: true}
	w := decided(t, tiny([]workflow.Transition{{From: "todo", To: "busy", Gate: gate},
		{From: "busy", To: "todo", Gate: gate}, {From: "busy", To: "help", Gate: []workflow.Part{fresh}}},
		workflow.Rule{Status: "busy", HasArtifact: &fresh, Then: "help"},
		workflow.Rule{Status: "busy", NoArtifact: true, Action: workflow.ActionCrash}))
	ev := evidence("## Note\n\nyes\n")
	w.asked("busy", false, ev)
	w.asked("todo", false, ev)
	w.asked("busy", false, ev)
	ev.Spent = w.s.Spent
	death := task.Death{Role: "worker", Ending: task.Ending{Known: true}}
	w.commit(replay.Inputs{Ask: replay.AskDeath}.Of(death), ev, decide.Exit(w.def, w.s.Task, ev, death, w.now))
	if last := w.lines[len(w.lines)-1]; !strings.Contains(last, "what moved the task at event 4") {
		t.Fatal(last)
	}
	if got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil); err != nil || got.Equal != 5 {
		t.Errorf("%v, %+v", err, got)
	}
}

// An override needs no look at what other rules ask for, and to wait in line is no question to them.
func TestAReplay_byOtherRulesDecidesOverridesAndSkipsTheRest(t *testing.T) {
	t.Parallel()
	w := decided(t, tiny([]workflow.Transition{{From: "todo", To: "busy", Override: true}}))
	w.commit(replay.Inputs{Ask: replay.AskQueue, To: "busy"}.By(human()), decide.Evidence{},
		decide.Queue(w.def, w.s.Task, "busy", human(), w.now))
	w.asked("busy", true, evidence(""))
	var many []workflow.Part // more than replay tries where the answer depends on them
	for i := range 9 {
		many = append(many, workflow.Part{File: fmt.Sprint(i)})
	}
	for what, gate := range map[string][]workflow.Part{
		"one file": {{File: "somewhere.json"}}, "many files": many,
		"one file in two ways": {{File: "a"}, {File: "a", Fresh: true}},
	} {
		other := *w.def
		other.Transitions = []workflow.Transition{{From: "todo", To: "busy", Override: true, Gate: gate,
			Hooks: []workflow.Hook{{Hook: task.Hook{Action: action.IncrementReviewRound, Field: task.ReviewRound}}}}}
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), &other)
		want := []replay.Difference{{Event: 3, Type: history.StatusChanged, Recorded: "todo -> busy",
			Decided: "todo -> busy, hooks: increment_review_round, review_round = 1"}}
		if err != nil || got.Equal != 1 || got.Skipped != 1 || len(got.Untold) > 0 ||
			!reflect.DeepEqual(got.Different, want) {
			t.Errorf("%s: %v, %+v", what, err, got)
		}
	}
}

// What no one looked at matters only where the answer depends on it; where too much is open, replay does not try.
func TestAReplay_byOtherRulesIsSureWhereEveryPartAgrees(t *testing.T) {
	t.Parallel()
	note, file := workflow.Part{Section: "## Note"}, workflow.Part{File: "a"}
	orFiles := func(n int) []workflow.Part {
		all := []workflow.Part{note}
		for i := range n {
			all = append(all, workflow.Part{File: fmt.Sprint(i)})
		}
		return []workflow.Part{{Any: all}}
	}
	w := decided(t, tiny([]workflow.Transition{{From: "todo", To: "busy", Gate: []workflow.Part{note}}}))
	w.asked("busy", false, evidence("## Note\n\nyes\n"))
	for what, c := range map[string]struct {
		gate  []workflow.Part
		equal int
	}{
		"it decides":            {[]workflow.Part{file}, 1},
		"another part is there": {orFiles(1), 2},
		"as much as is tried":   {orFiles(8), 2},
		"too much is open":      {orFiles(9), 1},
		"one file in two ways":  {[]workflow.Part{{Any: []workflow.Part{note, file, {File: "a", Fresh: true}}}}, 1},
	} {
		other := *w.def
		other.Transitions = []workflow.Transition{{From: "todo", To: "busy", Gate: c.gate}}
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), &other)
		if err != nil || got.Equal != c.equal || len(got.Untold) != 2-c.equal || len(got.Different) > 0 {
			t.Errorf("%s: %v, %+v", what, err, got)
		}
	}
}

// entered is a history in which a task comes to a status whose verdict is already there, once when the status begins
// and once when its agent starts. Forget removes one of the two records before the move that must not rely on it.
func entered(t *testing.T, forget string) *stroll {
	t.Helper()
	verdict := workflow.Part{Section: "## Review", Verdict: "PASS", VerdictIn: workflow.VerdictFirstLine}
	def := tiny([]workflow.Transition{
		{From: "todo", To: "busy"}, {From: "busy", To: "help", Gate: []workflow.Part{verdict}}})
	w := decided(t, def)
	before := evidence(aPassText)
	if forget == "start" {
		before = evidence("")
	}
	w.asked("busy", false, before)
	found := task.Start{Subject: task.Subject{Commit: "first"},
		Evidence: evidence(aPassText).VerdictsNow(def, "busy")}
	one, verdicts, _ := decide.Began(def, w.s.Task, "worker", found)
	w.record(one, []history.Event{
		{Time: noon, Type: history.AgentSpawned, Actor: task.ActorEngine, Subject: one.Subject, Evidence: verdicts}})
	if w.s.Start = nil; forget == "entry" {
		w.s.Entry = nil
	}
	if forget == "" {
		w.asked("help", false, evidence(aPassText+"Read anew.\n"))
	} else {
		w.asked("help", false, evidence(aPassText))
	}
	return w
}

// The history has what was there when a status began, and when its agent started. Removing it from the record for one
// decision changes nothing there.
func TestAReplay_knowsWhatStoodThereFromTheHistoryAlone(t *testing.T) {
	t.Parallel()
	for _, forget := range []string{"", "entry", "start"} {
		w := entered(t, forget)
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || len(got.Untold) > 0 || (len(got.Different) > 0) != (forget != "") {
			t.Errorf("forgotten: %q: %v, %+v", forget, err, got)
		}
		if forget != "" && (len(got.Different) != 1 || !strings.Contains(got.Different[0].Decided, "refused: ")) {
			t.Errorf("forgotten: %q: %+v", forget, got.Different)
		}
	}
}

// Without the inputs of the event that began the status, what was there is lost: replay cannot know whether the move
// was right.
func TestAReplay_doesNotGuessWhatStoodThere(t *testing.T) {
	t.Parallel()
	w := entered(t, "")
	for what, change := range map[string]func(e *history.Event){
		"gone":           func(e *history.Event) { e.Inputs = nil },
		"not to be read": func(e *history.Event) { e.Inputs = json.RawMessage(`{"ask":7}`) },
	} {
		_, lines := w.resealed(func(e *history.Event) {
			if e.To == "busy" {
				change(e)
			}
		})
		got, err := replay.Replay(w.s.Task, lines, w.library(), nil)
		if err != nil || len(got.Untold) != 2 || len(got.Different) > 0 || got.Skipped != 1 ||
			!strings.Contains(got.Untold[1].Why, "what stood there when its status began is gone") {
			t.Errorf("%s: %v, %+v", what, err, got)
		}
	}
}
