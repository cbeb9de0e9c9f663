package engine_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// The judge of a history shares nothing with what it judges.
func TestAHistorianSharesNoCodeWithTheProverOrTheJudge(t *testing.T) {
	t.Parallel()
	allowed := []string{`"orange/internal/rules/action"`, `"orange/internal/rules/history"`, `"orange/internal/rules/task"`,
		`"orange/internal/rules/workflow"`}
	for _, name := range []string{"simulation_history_test.go", "simulation_history_move_test.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		must(t, err)
		for _, one := range file.Imports {
			own := strings.HasPrefix(one.Path.Value, `"orange/`)
			if own && !slices.Contains(allowed, one.Path.Value) {
				t.Errorf("%s imports %s", name, one.Path.Value)
			}
		}
	}
}

func reviewed(t *testing.T) *workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	must(t, err)
	text, err := os.ReadFile(filepath.Join("..", "proof", "explore", "testdata", "good", "two-reviews.yml"))
	must(t, err)
	def, err := workflow.Parse("two-reviews.yml", text, usual)
	must(t, err)
	return def
}

// plainHistory is a task that is built, reviewed and finished.
func plainHistory() []history.Event {
	round := task.Counters{}.With(task.ReviewRound, 1)
	move := func(by string, from, to task.Status, hooks ...string) history.Event {
		return history.Event{Type: history.StatusChanged, Actor: by, From: from, To: to, Hooks: hooks}
	}
	handed := move(task.RoleWorker, "doing", "review", action.IncrementReviewRound, action.SpawnReviewer)
	handed.Evidence, handed.Counters = []task.Evidence{{Source: "## handoff", Digest: "one"}}, round
	passed := move(task.RoleReviewer, "review", "ready", action.KillReviewer)
	passed.Evidence, passed.Counters = []task.Evidence{{Source: "## review", Digest: "two"}}, round
	done := move(task.RoleHuman, "ready", "done", action.KillSession, action.ReleaseWorkspace)
	done.Counters = round
	engine := func(kind, role string) history.Event {
		return history.Event{Type: kind, Actor: task.ActorEngine, Data: map[string]string{"role": role}}
	}
	return []history.Event{
		{Type: history.Created, Actor: task.RoleHuman, Data: map[string]string{history.DataStatus: "todo"}},
		move(task.RoleHuman, "todo", "doing", action.AcquireWorkspace, action.SpawnAgent),
		engine(history.AgentSpawned, task.RoleWorker),
		handed,
		engine(history.ReviewStarted, task.RoleReviewer),
		passed,
		engine(history.AgentStopped, task.RoleReviewer),
		done,
		engine(history.AgentStopped, "all"),
	}
}

// Places in it.
const (
	began, worked, handedOver, readers, passedOn, readersEnd, finished, everyEnd = 1, 2, 3, 4, 5, 6, 7, 8
)

// wrongIn returns what a historian finds wrong with a history.
func wrongIn(def *workflow.Definition, most reach, events []history.Event) []string {
	h := newHistorian(def, most)
	for i, e := range events {
		e.Seq = i + 1
		h.reads(e)
	}
	h.rests()
	return h.wrong
}

func TestAHistorianLeavesAPlainHistoryInPeace(t *testing.T) {
	t.Parallel()
	if wrong := wrongIn(reviewed(t), reach{2, 2, 1}, plainHistory()); len(wrong) > 0 {
		t.Errorf("found %q", wrong)
	}
}

// forgery is a plain history with one change, and the property that the change breaks.
type forgery struct {
	name, property string
	forge          func(all []history.Event) []history.Event
}

func forgeries() []forgery {
	at := func(n int, change func(e *history.Event)) func([]history.Event) []history.Event {
		return func(all []history.Event) []history.Event {
			change(&all[n])
			return all
		}
	}
	without := func(n int) func([]history.Event) []history.Event {
		return func(all []history.Event) []history.Event { return slices.Delete(all, n, n+1) }
	}
	instead := func(n int, others ...history.Event) func([]history.Event) []history.Event {
		return func(all []history.Event) []history.Event { return append(all[:n:n], others...) }
	}
	crash := func(n int) history.Event {
		return history.Event{
			Type: history.AgentCrashed, Actor: task.ActorEngine, In: "doing", Crash: n,
			Counters: task.Counters{}.With(task.CrashCount, n),
			Data:     map[string]string{"role": task.RoleWorker},
		}
	}
	early := history.Event{
		Type: history.AutoAdvanced, Actor: task.ActorEngine, From: "doing", To: "stuck",
		Counters: task.Counters{}.With(task.CrashCount, 2),
		Hooks:    []string{action.KillReviewer, action.NotifyWorker}, Data: map[string]string{history.DataCrash: "1"},
	}
	onItsOwn := func(all []history.Event, died map[string]string) []history.Event {
		rule := all[passedOn]
		rule.Type, rule.Actor = history.AutoAdvanced, task.ActorEngine
		if died == nil {
			return append(all[:passedOn:passedOn], rule)
		}
		return append(all[:passedOn:passedOn], history.Event{Type: history.AgentStopped, Actor: task.ActorEngine,
			Data: died}, rule)
	}
	return []forgery{
		{"the worker passes the review", "reachable", at(passedOn, func(e *history.Event) {
			e.Actor = task.RoleWorker
		})},
		{"a move that there is not", "reachable", at(passedOn, func(e *history.Event) { e.To = "done" })},
		{"no evidence", "reachable", at(handedOver, func(e *history.Event) { e.Evidence = nil })},
		{"evidence of another name", "reachable", at(handedOver, func(e *history.Event) {
			e.Evidence[0].Source = "## plan"
		})},
		{"hooks of another move", "reachable", at(passedOn, func(e *history.Event) { e.Hooks = nil })},
		{"an agent asks that was never started", "reachable", without(worked)},
		{"a guard that does not hold", "reachable", at(passedOn, func(e *history.Event) {
			e.To, e.Hooks = "stuck", []string{action.KillReviewer}
		})},
		{"an agent overrides", "reachable", at(handedOver, func(e *history.Event) {
			e.Data = map[string]string{history.DataOverride: "it"}
		})},
		{"it moves from where it is not", "reachable", at(passedOn, func(e *history.Event) { e.From = "doing" })},
		{"a person redoes what there is not to redo", "reachable", at(finished, func(e *history.Event) {
			e.To, e.Data = "doing", map[string]string{history.DataRedo: "doing"}
		})},
		{"it goes on after its end", "terminating", func(all []history.Event) []history.Event {
			return append(all, history.Event{Type: history.StatusChanged, Actor: task.RoleHuman, From: "done",
				To: "ready"})
		}},
		{"a round is not counted", "bounded", at(handedOver, func(e *history.Event) {
			e.Counters = task.Counters{}.With(task.ReviewRound, 0)
		})},
		{"the agents go further than said", "bounded", func(all []history.Event) []history.Event {
			return append(all[:passedOn:passedOn], all[readers], all[readers])
		}},
		{
			"two who work", "one-agent",
			instead(readers, history.Event{Type: history.AgentSpawned, Actor: task.ActorEngine, Data: map[string]string{
				"role": "builder"}})},
		{"an agent is left", "nobody-left", without(everyEnd)},
		{"no hook gave it a workspace", "workspace", at(began, func(e *history.Event) {
			e.Hooks = []string{action.SpawnAgent}
		})},
		{"it keeps its workspace", "workspace", at(finished, func(e *history.Event) {
			e.Hooks = []string{action.KillSession}
		})},
		{"crashes are not counted", "rules-legal", instead(handedOver, crash(2))},
		{"too many crashes lead nowhere", "rules-legal", func(all []history.Event) []history.Event {
			return append(all[:handedOver:handedOver], crash(1), all[worked], crash(2), all[worked])
		}},
		{"too few crashes lead on", "rules-legal", instead(handedOver, crash(1), early)},
		{"no one has asked", "rules-legal", func(all []history.Event) []history.Event { return onItsOwn(all, nil) }},
		{"the reviewer was killed", "rules-legal", func(all []history.Event) []history.Event {
			return onItsOwn(all, map[string]string{"role": task.RoleReviewer, "ended": "killed by signal 9",
				"signal": "9"})
		}},
		{"another agent has ended", "rules-legal", func(all []history.Event) []history.Event {
			return onItsOwn(all, map[string]string{"role": task.RoleWorker, "ended": "exit status 0",
				"exit_status": "0"})
		}},
		{"crashes are forgotten, and nothing came after them", "rules-legal", instead(handedOver, crash(1),
			history.Event{Type: history.CrashesForgotten, Actor: task.ActorEngine})},
		{"the task waited for a workspace of another move", "rules-legal", func(all []history.Event) []history.Event {
			all[began].Actor = task.ActorEngine
			return slices.Insert(all, began, history.Event{Type: history.QueuedForSpace, Actor: task.RoleHuman,
				Data: map[string]string{"for": "review"}})
		}},
		{"the move of a timeout is refused", "rules-legal", instead(handedOver, history.Event{
			Type: history.TimeoutEscalated, Actor: task.ActorEngine, Data: map[string]string{
				history.DataRefused: "a condition does not hold"},
		})},
	}
}

func TestAHistorianFindsWhatIsForged(t *testing.T) {
	t.Parallel()
	def := reviewed(t)
	for _, one := range forgeries() {
		wrong := wrongIn(def, reach{2, 2, 1}, one.forge(plainHistory()))
		if !slices.ContainsFunc(wrong, func(text string) bool {
			return strings.HasPrefix(text, "["+one.property+"]")
		}) {
			t.Errorf("%s: found %q, want that %s is broken", one.name, wrong, one.property)
		}
	}
}

// A history that a wrong workflow allows is no forgery: these histories follow their workflow, and the
// workflow is wrong.
func TestAHistorianFindsWhatAWorkflowShouldNotHave(t *testing.T) {
	t.Parallel()
	change := func(from task.Status, to task.Status, how func(edge *workflow.Transition)) *workflow.Definition {
		def := reviewed(t)
		for i := range def.Transitions {
			if edge := &def.Transitions[i]; edge.From == from && edge.To == to {
				how(edge)
			}
		}
		return def
	}
	own := plainHistory()
	own[passedOn].Actor = task.RoleWorker
	open := change("review", "ready", func(edge *workflow.Transition) { edge.By = nil })
	twice := change("doing", "review", func(*workflow.Transition) {})
	for _, edge := range slices.Clone(twice.Transitions) {
		if edge.From == "doing" && edge.To == "review" {
			twice.Transitions = append(twice.Transitions, edge)
		}
	}
	for _, row := range []struct {
		def      *workflow.Definition
		events   []history.Event
		property string
	}{
		{open, own, "own-work"},
		{twice, plainHistory(), "disjoint"},
	} {
		wrong := fmt.Sprintf("%q", wrongIn(row.def, reach{2, 2, 1}, row.events))
		if !strings.Contains(wrong, "["+row.property+"]") {
			t.Errorf("found %s, want %s", wrong, row.property)
		}
		row.def.Allow = append(row.def.Allow, workflow.Allowance{Property: row.property, Reason: "a test"})
		if wrong := wrongIn(row.def, reach{2, 2, 1}, row.events); len(wrong) > 0 {
			t.Errorf("allowed, and found %q", wrong)
		}
	}
}
