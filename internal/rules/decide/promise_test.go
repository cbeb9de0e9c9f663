package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	ledger "orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// loosely is a workflow with a way around each thing that it could promise.
const loosely = `
name: loosely
version: 1
states:
  doing: {role: worker, respawn_prompt: go, timeout: {after: 1h, then: ready}}
  review: {role: reviewer, respawn_prompt: go}
  ready: {send_back: [{on: merge_failed, then: doing}]}
  late: {timeout: {after: 1h, then: done}}
  stuck: {escalation: true}
  done: {terminal: true, success: true}
  dropped: {terminal: true}
moves: {merge: done, cancel: dropped, pr_merged: done}
redo: [doing, review]
checks: {tests: {run: [make, test]}}
transitions:
  - {from: doing, to: review, by: [worker, human], gate: {check: tests}}
  - {from: doing, to: ready, by: human}
  - {from: review, to: ready, by: [reviewer, human], gate: {all: [{section: "## Review", verdict: PASS}, {git: unmoved}]}}
  - {from: ready, to: late, by: human}
  - {from: ready, to: doing}
  - {from: [ready, late], to: done}
  - {from: "*", to: dropped, by: human}
exit_monitoring:
  rules:
    - {status: review, no_artifact: true, action: crash, stuck_after: 2, then: ready}
    - {status: doing, no_artifact: true, action: crash, stuck_after: 2, then: done}
prompts: {go: Go.}
`

const promised = "promise: [check tests, '## Review PASS', a person]\n"

// life is a task from its creation on, with its history.
type life struct {
	t      *testing.T
	def    *workflow.Definition
	task   task.Task
	events []history.Event
	tip    string
}

func begin(t *testing.T, text string) *life {
	t.Helper()
	l := &life{t: t, def: parse(t, "loosely.yml", []byte(text)), tip: "c1"}
	c, err := decide.Create(l.def, newTask(""), "doing", human(), noon)
	if err != nil {
		t.Fatal(err)
	}
	l.follow(c)
	return l
}

func (l *life) follow(c record.Change) {
	l.task, l.events = c.Task, append(l.events, c.Events...)
}

// sees is what is there now: everything that the workflow asks for, about the tip.
func (l *life) sees(body string) decide.Evidence {
	ev := allThere(l.def, body)
	ev.Subject, ev.History = task.Subject{Commit: l.tip}, l.events
	for _, p := range decide.GatesTo(l.def, l.task, "review") {
		if p.Check != "" {
			ev.Facts[p.Key()] = decide.Fact{Holds: true, Source: "check " + p.Check, Digest: digestOf(l.tip)}
		}
	}
	return ev
}

func (l *life) ask(to task.Status, actor task.Actor, reason string) error {
	d, err := decide.Transition(l.def, l.task, l.sees(passed), task.Request{Task: "T1", To: to, Actor: actor,
		Reason: reason, Override: reason != ""}, noon)
	if err == nil {
		l.follow(d.Change)
	}
	return err
}

func (l *life) moves(to task.Status, actor task.Actor) {
	l.t.Helper()
	if err := l.ask(to, actor, ""); err != nil {
		l.t.Fatalf("to %s: %v", to, err)
	}
}

func (l *life) crashes(times int) {
	for range times {
		state, _ := l.def.State(l.task.Status)
		l.follow(decide.Exit(l.def, l.task, l.sees(""), deathOf(state.Role), noon))
	}
}

func (l *life) isLate() {
	l.task.EnteredAt, l.task.Overdue = noon.Add(-1e15), task.LateAlert
	c, _ := decide.Timer(l.def, nil, l.task, noon)
	l.follow(decide.Escalate(l.def, c, l.task, l.sees(""), noon))
}

func worker() task.Actor   { return task.Actor{Role: task.RoleWorker} }
func reviewer() task.Actor { return task.Actor{Role: task.RoleReviewer} }

// lacks are the conditions that a refusal names.
func lacks(err *rejection.Rejection) string {
	var out []string
	for _, d := range err.Details {
		out = append(out, d.Condition)
	}
	return strings.Join(out, ", ")
}

// A task comes to no good end without what was promised of it, whatever the workflow lets it do.
func TestAPromise_isCheckedBeforeEachGoodEnd(t *testing.T) {
	t.Parallel()
	const review = `"## Review" PASS`
	for name, c := range map[string]struct {
		lives func(l *life)
		lacks string // at done, asked for by a person
	}{
		"all of it":      {func(l *life) { l.moves("review", worker()); l.moves("ready", reviewer()) }, ""},
		"straight ahead": {func(l *life) { l.moves("ready", human()) }, "check tests, " + review},
		"two crashes": {func(l *life) {
			l.moves("review", worker())
			l.crashes(2)
		}, review},
		"an override": {func(l *life) {
			l.moves("review", worker())
			if err := l.ask("ready", human(), "I know it"); err != nil {
				l.t.Fatal(err)
			}
		}, review},
		"a commit after it": {func(l *life) {
			l.moves("review", worker())
			l.moves("ready", reviewer())
			l.tip = "c2"
		}, "check tests, " + review},
		"a commit that was taken back": {func(l *life) {
			l.moves("review", worker())
			l.moves("ready", reviewer())
			l.tip = "c2"
			l.moves("doing", human())
			l.tip = "c1"
			l.moves("ready", human())
		}, ""},
		"sent back": {func(l *life) {
			l.moves("review", worker())
			l.moves("ready", reviewer())
			back, _ := decide.Setback{On: workflow.OnMergeFailed, Reason: "a conflict"}.Change(l.def, l.task,
				l.sees(""), l.events, "", noon)
			l.follow(back)
			l.tip = "c2"
			l.moves("ready", human())
		}, "check tests, " + review},
		"done again": {func(l *life) {
			l.moves("review", worker())
			l.moves("ready", reviewer())
			c, err := decide.Redo(l.def, l.task, "doing", l.sees(""), l.events, human(), "anew", noon)
			if err != nil {
				l.t.Fatal(err)
			}
			l.follow(c)
			l.tip = "c2"
			l.moves("review", worker())
			l.crashes(2)
		}, review},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, loosely+promised)
			c.lives(l)
			err := l.ask("done", human(), "")
			if c.lacks == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			no := refusal(t, err)
			if got := lacks(no); got != c.lacks || no.Code != rejection.GateUnmet ||
				no.Override != "orange task merge T1 --override REASON" {
				t.Errorf("refused with %q (%s, %q), want %q", got, no.Code, no.Override, c.lacks)
			}
			if found := no.Details[0].Found; !strings.Contains(found, `the workflow "loosely" promises it`) &&
				!strings.Contains(found, "moved the task by force past it") ||
				!strings.HasPrefix(found, "that the work at "+l.tip+" has not passed it, and ") ||
				!strings.Contains(no.Details[0].Want, "it is passed on the way") ||
				!strings.HasSuffix(no.Details[0].Want, "; from here: orange task update T1 --status doing") {
				t.Errorf("it says %+v", no.Details[0])
			}
			if err := l.ask("done", human(), "I read every line"); err != nil {
				t.Fatal(err)
			}
			last := l.events[len(l.events)-1]
			if over := last.Data[history.DataOverride]; !strings.Contains(over, review) || last.Reason == "" {
				t.Errorf("the history says %q in spite of %q", last.Reason, over)
			}
			if l.task.Live {
				t.Error("it lives on")
			}
		})
	}
}

func TestAPromise_ofAPersonIsKeptByAPersonAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		actor task.Actor
		lacks string
	}{
		"a person":           {human(), ""},
		"a person, as it":    {task.Actor{Role: task.RoleHuman, As: task.RoleWorker}, ""},
		"an agent":           {worker(), "a person"},
		"a program for them": {program(workflow.Permissions()...), "a person"},
		"the workflow":       {task.Actor{Rule: true}, "a person"},
	} {
		l := begin(t, loosely+promised)
		l.moves("review", worker())
		l.moves("ready", reviewer())
		err := l.ask("done", tt.actor, "")
		if tt.lacks == "" && err != nil || tt.lacks != "" && lacks(refusal(t, err)) != tt.lacks {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Time ends nothing without what was promised; the task waits for a person.
func TestAPromise_isKeptWhenTimeIsOver(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely+promised)
	l.moves("review", worker())
	l.moves("ready", reviewer())
	l.moves("late", human())
	l.tip = "c2"
	l.isLate()
	if l.task.Status != "late" || !strings.Contains(l.task.Attention, `could not be moved to "done"`) ||
		!strings.Contains(l.task.Attention, `"## Review" PASS`) {
		t.Errorf("it is %s, marked %q", l.task.Status, l.task.Attention)
	}
}

// A merge elsewhere is a fact: it ends the task, under a mark that says what the work has not passed.
func TestAPromise_marksWorkThatWasMergedElsewhere(t *testing.T) {
	t.Parallel()
	pr := record.PullRequest{URL: "https://example.com/1", State: record.PRMerged, Commit: "c1"}
	for name, ends := range map[string]func(l *life) record.Change{
		"seen": func(l *life) record.Change {
			l.task.PRURL, l.task.PRState = pr.URL, record.PROpen
			return decide.PREnded(l.def, l.task, l.sees("").Merged(l.def, l.task, "done", pr), pr, "", noon)
		},
		"asked for": func(l *life) record.Change {
			d, err := decide.Transition(l.def, l.task, l.sees("").Merged(l.def, l.task, "done", pr),
				task.Request{Task: "T1", To: "done", Actor: human()}, noon)
			if err != nil {
				l.t.Fatal(err)
			}
			return d.Change
		},
	} {
		l := begin(t, loosely+promised)
		l.moves("review", worker())
		l.crashes(2)
		c := ends(l)
		want := `merged elsewhere without "## Review" PASS`
		if name == "seen" {
			want += "; a person"
		}
		if c.Task.Status != "done" || c.Task.Attention != want {
			t.Errorf("%s: it is %s, marked %q, want %q", name, c.Task.Status, c.Task.Attention, want)
		}
		last := c.Events[len(c.Events)-1]
		if last.Data[ledger.DataWithout] == "" || last.Data[history.DataOverride] != "" {
			t.Errorf("%s: the history says %v", name, last.Data)
		}
	}
}

// A task has the promise that its project had when it was created, until it is given another one.
func TestAPromise_ofAProjectIsPinnedByTheTask(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely)
	ledger.Pin(&l.events[0], []string{"## Review PASS"})
	l.moves("ready", human())
	no := refusal(t, l.ask("done", human(), ""))
	if lacks(no) != `"## Review" PASS` || !strings.Contains(no.Details[0].Found, "its project promises it") {
		t.Errorf("refused with %+v", no.Details)
	}
	other := history.Event{Type: history.Updated}
	ledger.Pin(&other, nil)
	l.events = append(l.events, other)
	if err := l.ask("done", human(), ""); err != nil {
		t.Error("without a promise:", err)
	}
}

// A task that is given the rules of a workflow with a promise is held to it.
func TestAPromise_holdsForATaskThatComesUnderIt(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely)
	l.moves("ready", human())
	l.def = parse(t, "other.yml", []byte(loosely+promised))
	c, err := decide.Migrate(l.def, l.task, nil, nil, l.sees(""), human(), noon)
	if err != nil {
		t.Fatal(err)
	}
	l.follow(c)
	if no := refusal(t, l.ask("done", human(), "")); lacks(no) != `check tests, "## Review" PASS` {
		t.Errorf("refused with %+v", no.Details)
	}
}

// What a task was moved past by force keeps it from each good end, without any promise, until it has passed that.
func TestForce_isNotedAndKeepsATaskFromAGoodEnd(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely)
	l.moves("review", worker())
	l.crashes(2)
	forced := l.events[len(l.events)-1]
	if l.task.Status != "ready" || forced.Data[ledger.DataSkipped] != `"## Review" PASS` {
		t.Fatalf("it is %s by %v", l.task.Status, forced.Data)
	}
	no := refusal(t, l.ask("done", human(), ""))
	if lacks(no) != `"## Review" PASS` || !strings.Contains(no.Details[0].Found, "moved the task by force past it") {
		t.Errorf("refused with %+v", no.Details)
	}
	if err := l.ask("dropped", human(), ""); err != nil {
		t.Error("it cannot be given up:", err)
	}
	l = begin(t, loosely)
	l.moves("review", worker())
	l.crashes(2)
	l.moves("doing", human())
	l.tip = "c2"
	l.moves("review", worker())
	l.moves("ready", reviewer())
	if err := l.ask("done", human(), ""); err != nil {
		t.Error("it has passed the review since:", err)
	}
}

func TestForce_leadsToNoGoodEnd(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely)
	l.crashes(2)
	if l.task.Status != "doing" || !strings.Contains(l.task.Attention, "no task comes to a good end by force") {
		t.Errorf("it is %s, marked %q", l.task.Status, l.task.Attention)
	}
}

// Time moves a task by force to where a person decides, and past nothing that has to be passed.
func TestForce_ofATimeoutPassesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then, gate string
		forced     bool
	}{
		"past a text":      {"ready", `{section: "## Other"}`, true},
		"past a check":     {"ready", "{check: tests}", false},
		"to an escalation": {"stuck", `{section: "## Other"}`, true},
		"to an agent":      {"late", `{section: "## Other"}`, false},
	} {
		text := strings.Replace(loosely, "then: ready}}\n  review", "then: "+c.then+"}}\n  review", 1)
		text = strings.Replace(text, "  late: {", "  late: {role: worker, ", 1)
		text = strings.Replace(text, "  - {from: doing, to: ready, by: human}\n", "", 1)
		if c.gate != "" {
			text = strings.Replace(text, "  - {from: review, to: ready",
				"  - {from: doing, to: "+c.then+", gate: "+c.gate+"}\n  - {from: review, to: ready", 1)
		}
		l := begin(t, text)
		l.task.EnteredAt, l.task.Overdue = noon.Add(-1e15), task.LateAlert
		change, _ := decide.Timer(l.def, nil, l.task, noon)
		ev := evidenceAbout("", task.Subject{Commit: "c1"})
		l.follow(decide.Escalate(l.def, change, l.task, ev, noon))
		last := l.events[len(l.events)-1]
		is := l.task.Status == task.Status(c.then)
		if is != c.forced || is != last.IsMove() || (last.Data[ledger.DataForced] != "") != is ||
			l.task.Attention == "" {
			t.Errorf("%s: it is %s by %+v, marked %q", name, l.task.Status, last, l.task.Attention)
		}
	}
}

// Each move says in the record what versions of the work passed with it.
func TestALedger_hasWhatAMovePassedOfWhichVersion(t *testing.T) {
	t.Parallel()
	l := begin(t, loosely)
	l.moves("review", worker())
	l.moves("ready", human())
	var found []string
	for _, e := range l.events {
		found = append(found, strings.ReplaceAll(e.Data[ledger.DataPassed], "\n", "; "))
	}
	want := []string{"", "check tests @c1", `"## Review" PASS @c1; a person @c1`}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// A refusal says once what the gate itself lacks.
func TestAPromise_thatTheGateAlsoAsksForIsNamedOnce(t *testing.T) {
	t.Parallel()
	l := begin(t, strings.Replace(loosely, "{from: [ready, late], to: done}",
		"{from: [ready, late], to: done, gate: {check: tests}}", 1)+"promise: [check tests]\n")
	l.moves("ready", human())
	ev := l.sees("")
	for _, p := range decide.GatesTo(l.def, l.task, "done") {
		ev.Facts[p.Key()] = decide.Fact{Source: "check tests", Found: "red"}
	}
	_, err := decide.Transition(l.def, l.task, ev, task.Request{Task: "T1", To: "done", Actor: human()}, noon)
	if no := refusal(t, err); len(no.Details) != 1 {
		t.Errorf("refused with %+v", no.Details)
	}
}

func TestAPromise_isOwedNextToGatesThatDoNotShowIt(t *testing.T) {
	t.Parallel()
	const review, other, both = `{section: "## Review", verdict: PASS}`, `{section: "## Other"}`, "{all: [%s, %s]}"
	const lacking = `section "## Other": no such section; there are Review`
	for name, tt := range map[string]struct{ gate, reason, lacks, over string }{
		"the gate lacks something else":     {other, "", `"## Review" PASS, section "## Other"`, ""},
		"its verdict is about other work":   {review, "", `"## Review" PASS`, ""},
		"a person sets aside what it lacks": {fmt.Sprintf(both, other, review), "so", "", lacking},
		"a person sets aside the promise too": {fmt.Sprintf(both, other, "{check: tests}"), "so", "",
			`"## Review" PASS: that the work at c2 has not passed it, and the workflow "loosely" promises it, ` + lacking},
	} {
		text := strings.Replace(loosely, "{from: [ready, late], to: done}",
			"{from: late, to: done}\n  - {from: ready, to: done, gate: "+tt.gate+"}", 1)
		l := begin(t, text+"promise: ['## Review PASS']\n")
		l.moves("ready", human())
		l.tip = "c2"
		got := ""
		if err := l.ask("done", human(), tt.reason); err != nil {
			got = lacks(refusal(t, err))
		}
		if over := l.events[len(l.events)-1].Data[history.DataOverride]; got != tt.lacks || over != tt.over {
			t.Errorf("%s: refused with %q, set aside %q", name, got, over)
		}
	}
}

// A verdict is about the work that its judge found; what git shows, and who asks, is about the work as it is now. Work
// that was judged as files, and is committed now, is the same.
func TestALedger_isOfTheVersionThatEachThingIsAbout(t *testing.T) {
	t.Parallel()
	verdict, committed := `{section: "## Review", verdict: PASS}`, "{git: committed}"
	noted := task.Subject{Commit: "c1", Tree: "t1"}
	for name, tt := range map[string]struct {
		gate   string
		landed string
		want   string
	}{
		"apart": {"{all: [" + verdict + ", " + committed + "]}", "",
			`"## Review" PASS @c1 t1; git committed @c2; a person @c2`},
		"compared": {"{all: [" + verdict + ", " + committed + ", {git: as-reviewed}]}", "",
			`"## Review" PASS @c2; "## Review" PASS @c1 t1; git committed @c2; git committed @c1 t1; ` +
				"a person @c2; a person @c1 t1"},
		"merged elsewhere": {"{all: [" + verdict + ", " + committed + ", {git: as-reviewed}]}", "c3",
			`"## Review" PASS @c3; a person @c3`},
	} {
		text := strings.Replace(loosely, "{all: [{section: \"## Review\", verdict: PASS}, {git: unmoved}]}", tt.gate, 1)
		text = strings.Replace(text, "  review: {", "  review: {subject: worktree, ", 1)
		def := parse(t, "loosely.yml", []byte(text))
		one := newTask("review")
		one.Subject = noted
		ev := evidenceAbout(passed, task.Subject{Commit: "c2"})
		ev.Landed = tt.landed
		d, err := decide.Transition(def, one, ev, task.Request{Task: "T1", To: "ready", Actor: human()}, noon)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := strings.ReplaceAll(d.Change.Events[0].Data[ledger.DataPassed], "\n", "; ")
		if got != tt.want {
			t.Errorf("%s: found %s\nwant %s", name, got, tt.want)
		}
	}
}

func TestLooksBack_beforeAGoodEndAndWhereNoOneVouches(t *testing.T) {
	t.Parallel()
	def := parse(t, "loosely.yml", []byte(loosely))
	unvouched := newTask("doing")
	unvouched.Subject.Unvouched = true
	for name, tt := range map[string]struct {
		task task.Task
		want bool
	}{
		"at work":        {newTask("doing"), false},
		"before its end": {newTask("ready"), true},
		"unvouched":      {unvouched, true},
	} {
		if got := decide.LooksBack(def, tt.task); got != tt.want {
			t.Errorf("%s: found %t, want %t", name, got, tt.want)
		}
	}
	if decide.LooksBack(def, newTask("ready"), "doing") || !decide.LooksBack(def, newTask("ready"), "doing", "done") {
		t.Error("it is not the targets that count")
	}
}

func TestMaySee_isForAPersonAndATaskThatIsOver(t *testing.T) {
	t.Parallel()
	over := newTask("done")
	over.Live = false
	if err := decide.MaySee(over, human()); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"an agent": decide.MaySee(over, worker()),
		"a program": decide.MaySee(over, program(workflow.Permissions()...)), "a live task": decide.MaySee(
			newTask("ready"), human())} {
		if codeOf(err) != rejection.ActorDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A verdict that refuses the work takes back what an earlier one said of the same.
func TestALedger_hasWhatAVerdictRefuses(t *testing.T) {
	t.Parallel()
	def := parse(t, "loosely.yml", []byte(strings.Replace(loosely, "  - {from: ready, to: late",
		"  - {from: review, to: doing, by: reviewer, gate: {section: \"## Review\", verdict: FAIL}}\n"+
			"  - {from: ready, to: late", 1)))
	one := newTask("review")
	one.Subject = task.Subject{Commit: "c1"}
	d, err := decide.Transition(def, one, evidenceAbout(failed, task.Subject{Commit: "c2"}),
		task.Request{Task: "T1", To: "doing", Actor: reviewer()}, noon)
	if err != nil {
		t.Fatal(err)
	}
	data := d.Change.Events[0].Data
	if data[ledger.DataRefused] != `"## Review" PASS @c1` || data[ledger.DataPassed] != "" {
		t.Errorf("the history has %v", data)
	}
}

// A check that failed takes back that it passed for the same work.
func TestALedger_hasTheCheckThatFailed(t *testing.T) {
	t.Parallel()
	l := begin(t, strings.Replace(loosely, "  - {from: ready, to: late",
		"  - {from: doing, to: stuck, by: human, gate: {check: tests, result: failed}}\n  - {from: ready, to: late", 1))
	l.moves("stuck", human())
	last := l.events[len(l.events)-1]
	if got := last.Data[ledger.DataRefused]; last.To != "stuck" || got != "check tests @c1" {
		t.Errorf("the move to %q refuses %q", last.To, got)
	}
}

// An agent that has done what it was to do has not crashed where only a promise keeps its task.
func TestExit_thatAPromiseAloneRefusesIsNoCrash(t *testing.T) {
	t.Parallel()
	text := strings.Replace(loosely, "exit_monitoring:\n  rules:\n", "exit_monitoring:\n  rules:\n"+
		"    - {status: late, has_artifact: {section: \"## Note\"}, then: done}\n", 1)
	text = strings.Replace(text, "  late: {", "  late: {role: worker, respawn_prompt: go, ", 1)
	l := begin(t, text+"promise: [a person]\n")
	l.moves("ready", human())
	l.tip = "c2"
	l.task.Status = "late"
	c := decide.Exit(l.def, l.task, l.sees("## Note\n\nx\n"), deathOf(task.RoleWorker), noon)
	if got := shape(c); got != "agent.stopped | late crashes=0 | " || !strings.Contains(c.Task.Attention, "a person") {
		t.Errorf("it leads to %s with the mark %q", got, c.Task.Attention)
	}
}

// A workflow may forget the transition: a person gives a task up in each live status all the same.
func TestATask_canAlwaysBeCancelled(t *testing.T) {
	t.Parallel()
	text := strings.Replace(loosely, `  - {from: "*", to: dropped, by: human}`+"\n", "", 1)
	for _, status := range []task.Status{"doing", "review", "ready", "stuck"} {
		l := begin(t, text)
		l.task.Status = status
		cancel := task.Request{Task: "T1", To: "dropped", Actor: human(), Command: true}
		d, err := decide.Transition(l.def, l.task, l.sees(""), cancel, noon)
		if err != nil || d.Change.Task.Status != "dropped" || d.Change.Task.Live || len(d.Change.Hooks) != 2 {
			t.Errorf("%s: %v, %+v", status, err, d.Change)
		}
		for name, other := range map[string]func(r *task.Request){
			"an agent":            func(r *task.Request) { r.Actor = worker() },
			"a rule":              func(r *task.Request) { r.Actor = task.Actor{Rule: true} },
			"another state":       func(r *task.Request) { r.To = "late" },
			"a task that is over": func(*task.Request) { l.task.Status = "done" },
		} {
			r := cancel
			other(&r)
			if _, err := decide.Transition(l.def, l.task, l.sees(""), r, noon); err == nil && status != "ready" {
				t.Errorf("%s, %s: granted", status, name)
			}
			l.task.Status = status
		}
	}
}
