package decide_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	ledger "orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// secondLook is a workflow in which a second person looks after a first one, and both are others than the author.
const secondLook = `
name: looked
version: 1
states:
  todo: {}
  doing: {role: worker, respawn_prompt: go}
  first: {role: human}
  second: {role: human}
  third: {role: human}
  fourth: {role: human}
  done: {terminal: true, success: true}
  dropped: {terminal: true}
moves: {cancel: dropped}
promise: two people
transitions:
  - {from: todo, to: doing, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: doing, to: first, by: [worker, human]}
  - {from: first, to: second, by: {human: {other_than: author}}, override: allowed}
  - {from: first, to: doing, by: human}
  - {from: second, to: done, by: [{human: {other_than: [author, first]}}]}
  - {from: third, to: done, by: {human: {other_than: [first]}}}
  - {from: fourth, to: done, by: {human: {other_than: author}}}
  - {from: [first, second], to: third, by: [worker, human]}
  - {from: "*", to: dropped, by: human}
prompts: {go: Go.}
`

func named(person string) task.Actor { return task.Actor{Role: task.RoleHuman, Person: person} }

// lookedAt is a life that Ann created, Ben started, and Cid sent on from its first look.
func lookedAt(t *testing.T, first task.Actor) *life {
	t.Helper()
	l := &life{t: t, def: parse(t, "secondLook.yml", []byte(secondLook)), tip: "c1"}
	c, err := decide.Create(l.def, newTask(""), "todo", named("Ann <ann@x>"), noon)
	if err != nil {
		t.Fatal(err)
	}
	l.follow(c)
	for _, step := range []struct {
		to task.Status
		by task.Actor
	}{{"doing", named("Ben")}, {"first", task.Actor{Role: task.RoleWorker}}, {"second", first}} {
		if err := l.ask(step.to, step.by, ""); err != nil {
			t.Fatal(err)
		}
		for i := range l.events {
			l.events[i].Seq = i + 1
		}
	}
	return l
}

func TestAnotherPerson_isNoneWhoDecidedBefore(t *testing.T) {
	t.Parallel()
	signer := named("Dora")
	signer.Via = "mcp"
	for _, tt := range []struct {
		by   task.Actor
		want string // empty where the move is granted
	}{
		{named("Dora <dora@x>"), ""},
		{named("Ann <dora@x>"), ""},
		{named("Ann <ann@x>"), "Ann <ann@x>, who created the task (event 1)"},
		{named("Anna <ANN@X>"), "Ann <ann@x>, who created the task (event 1)"},
		{named("Ann <ann@x> via ssh"), "who created the task (event 1)"},
		{named("Ben via ssh"), "Ben, who started the task (event 2)"},
		{named("Ben"), "Ben, who started the task (event 2)"},
		{named("Cid"), `Cid, who moved the task out of "first" (event 4)`},
		{task.Actor{Role: task.RoleHuman}, "no name of who asks"},
		{signer, "a program that asks for a person: mcp"},
	} {
		err := lookedAt(t, named("Cid")).ask("done", tt.by, "")
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error()+details(err), tt.want) {
			t.Errorf("%+v: got %v %s, want %q", tt.by, err, details(err), tt.want)
		}
	}
}

func details(err error) string {
	var no *rejection.Rejection
	if !errors.As(err, &no) {
		return ""
	}
	return no.Code + ": " + rejection.Reasons(no.Details)
}

func TestAnotherPerson_isNotTheAuthorWhereNothingElseHappened(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.events, l.task.Status = l.events[:1], "first"
	no := refusal(t, l.ask("second", named("Ann <ann@x>"), ""))
	if no.Code != rejection.ActorDenied || !strings.HasSuffix(no.Message, ": it takes another person") {
		t.Errorf("got %v", no)
	}
}

func TestAnotherPerson_isNotSetAsideByAnOverride(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.task.Status = "first"
	err := l.ask("second", named("Ben"), "I am the only one here")
	if !strings.HasPrefix(details(err), rejection.ActorDenied) {
		t.Errorf("got %v", err)
	}
	var no *rejection.Rejection
	if !errors.As(l.ask("second", named("Ben"), ""), &no) || no.Override != "" || slices.Contains(no.MayAsk, "second") {
		t.Errorf("it is offered: %+v", no)
	}
}

func TestAnotherPerson_isTheOneOfTheLastLook(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.task.Status = "first"
	for _, e := range []struct {
		to task.Status
		by task.Actor
	}{{"doing", named("Cid")}, {"first", task.Actor{Role: task.RoleWorker}}, {"second", named("Dora")}} {
		if err := l.ask(e.to, e.by, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.ask("done", named("Cid"), ""); err != nil {
		t.Errorf("one whose look is over is refused: %v %s", err, details(err))
	}
}

func TestAnotherPerson_isAConditionThatWhyNames(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.task.Status = "first"
	if !decide.LooksBack(l.def, l.task) || decide.LooksBack(l.def, l.task, "doing") {
		t.Error("the move does not depend on its history")
	}
	for _, way := range decide.Why(l.def, l.task, l.sees(passed)) {
		want := "human"
		if way.To == "second" {
			want += ", another person than Ann <ann@x>, who created the task (event 1); " +
				"Ben, who started the task (event 2)"
		}
		if way.Who() != want && way.To != "third" {
			t.Errorf("%s is open to %s, want %s", way.To, way.Who(), want)
		}
	}
}

// One who had a task wait for a free workspace has started it.
func TestAnotherPerson_isNotTheOneWhoQueuedTheTask(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	queued := history.Event{Seq: 9, Type: history.QueuedForSpace, Actor: task.RoleHuman, Person: "Ben",
		Data: map[string]string{"for": "doing"}}
	l.events[1].Actor, l.events[1].Person = task.ActorEngine, ""
	l.events = slices.Insert(l.events, 1, queued)
	if err := l.ask("done", named("Ben"), ""); !strings.Contains(details(err), "Ben, who started the task") {
		t.Errorf("got %v", err)
	}
	if err := l.ask("done", named("Dora"), ""); err != nil {
		t.Errorf("%v %s", err, details(err))
	}
	l = lookedAt(t, named("Cid"))
	queued.Data["for"], queued.Person = "second", "Cid"
	at := len(l.events) - 1
	l.events[at].Actor, l.events[at].Person = task.ActorEngine, ""
	l.events = slices.Insert(l.events, at, queued)
	if err := l.ask("done", named("Cid"), ""); !strings.Contains(details(err), "Cid, who moved the task out of") {
		t.Errorf("who looked first looks again: %v", err)
	}
	queued.Data["for"] = "third"
	if err := l.ask("done", named("Dora"), ""); !strings.Contains(details(err), `moved the task out of "first"`) {
		t.Errorf("a move that waited for another one has its person: %v", err)
	}
}

// A migration gives a state another name: that is no look at the work. Nor is anyone told apart from a person of whom
// no name is on record.
func TestAnotherPerson_isOfARealMoveWithAName(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.events = append(l.events,
		history.Event{Seq: 8, Type: history.WorkflowMigrated, Actor: task.RoleHuman, Person: "Dora"},
		history.Event{Seq: 9, Type: history.StatusChanged, Actor: task.RoleHuman, Person: "Dora",
			From: "first", To: "second"})
	if err := l.ask("done", named("Dora"), ""); err != nil {
		t.Errorf("who migrated has looked: %v %s", err, details(err))
	}
	l = lookedAt(t, named("Cid"))
	l.events[0].Person = ""
	const nameless = "no name on record of who created the task"
	if err := l.ask("done", named("Dora"), ""); !strings.Contains(details(err), nameless) {
		t.Errorf("got %v", err)
	}
}

// Where no person decided before there is no one from whom to be another.
func TestAnotherPerson_needsOneWhoDecidedBefore(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	l.task.Status = "first"
	if err := l.ask("third", task.Actor{Role: task.RoleWorker}, ""); err != nil {
		t.Fatal(err)
	}
	err := l.ask("done", named("Dora"), "")
	if !strings.Contains(details(err), `no person who moved the task out of "first"`) {
		t.Errorf("got %v %s", err, details(err))
	}
}

func TestAnotherPerson_signsWhereTheAuthorSigned(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	signed := named("Ann <ann@x>")
	signed.Signed, signed.Signature = "what", "so"
	l.events[0] = history.Sign(signed, l.events[0])
	if err := l.ask("done", named("Dora"), ""); !strings.Contains(details(err), "without a signature") {
		t.Errorf("got %v %s", err, details(err))
	}
	dora := named("Dora")
	dora.Signed, dora.Signature = "this", "thus"
	if err := l.ask("done", dora, ""); err != nil {
		t.Errorf("%v %s", err, details(err))
	}
}

// A task that an agent started has no author: one person who looks are not two.
func TestTwoPeople_areAskedForAndOneIsNotEnough(t *testing.T) {
	t.Parallel()
	l := lookedAt(t, named("Cid"))
	for i := range l.events {
		l.events[i].Actor, l.events[i].Person = task.RoleWorker, ""
		delete(l.events[i].Data, ledger.DataPassed)
	}
	l.task.Status = "fourth"
	err := l.ask("done", named("Dora"), "")
	if !strings.HasPrefix(details(err), rejection.GateUnmet) || !strings.Contains(details(err), "two people") {
		t.Errorf("got %v %s", err, details(err))
	}
	var no *rejection.Rejection
	const where = `it is passed on the way from "first" to "second", or from "second" to "done", or from "third"`
	if errors.As(err, &no); no == nil || !strings.Contains(no.Details[0].Want, where) {
		t.Errorf("it does not say where: %+v", no)
	}
}
