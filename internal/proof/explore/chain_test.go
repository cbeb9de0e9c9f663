package explore_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
)

// chain is a workflow of so many states in a row. Evidence leads from each to the next, and one of the counters, in
// turn, leads back to the one before, as often as the bound says.
func chain(states, counters, bound int) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("name: chain\nversion: 1\ninitial: todo\nfields:")
	for k := range counters {
		say("  c%d: {start: 0, reset: person}", k)
	}
	say("states:\n  todo: {}")
	for i := range states {
		say("  s%d: {role: worker, respawn_prompt: work}", i)
	}
	say("  stuck: {role: worker, respawn_prompt: work}\n  done: {terminal: true}\n  dropped: {terminal: " +
		"true}\nmoves: {cancel: dropped, merge: done}\ntransitions:")
	say(
		"  - {from: todo, to: s0, by: human, " +
			"hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}")
	for i := range states {
		if i+1 < states {
			say("  - {from: s%d, to: s%d, by: [worker, human], gate: {section: '## S%d'}}", i, i+1, i)
		}
		if i > 0 {
			k := i % counters
			say("  - {from: s%d, to: s%d, by: [worker, human], when: c%d < %d, hooks: [{increment: c%d}]}", i,
				i-1, k, bound, k)
		}
	}
	say("  - {from: s%d, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}", states-1)
	say("  - {from: stuck, to: s0, by: human}")
	say("  - {from: '*', to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}")
	say("exit_monitoring:\n  rules:")
	for i := range states {
		say("    - {status: s%d, no_artifact: true, action: crash, stuck_after: 2, then: stuck}", i)
	}
	say("    - {status: stuck, action: mark_dead}\nprompts:\n  work: |\n    Work, then run `orange task next`.")
	return b.String()
}

func parseText(t testing.TB, text string) *workflow.Definition {
	t.Helper()
	def, err := workflow.Parse("chain.yml", []byte(text), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// crossroads is a state with an exit rule for one section whose move asks for another section, and so many more
// moves, each with a section of its own. The task can go on where the rule leads; or it cannot, and then only a
// dying agent that left both sections shows it.
func crossroads(more int, sound bool) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("name: chain\nversion: 1\nstates:\n  todo: {}\n  doing: {role: worker, respawn_prompt: work}\n  rare: " +
		"{}\n  stuck: {}\n  done: {terminal: true}\n  dropped: {terminal: true}")
	say("moves: {cancel: dropped, merge: done}\ntransitions:")
	say("  - {from: todo, to: doing, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, " +
		"prompt: work}]}")
	say("  - {from: doing, to: rare, by: reviewer, gate: {section: '## B'}}")
	say("  - {from: doing, to: stuck, by: [worker, human], gate: {section: '## Z'}}")
	if sound {
		say("  - {from: rare, to: stuck, by: human}")
	}
	for i := range more {
		say("  - {from: doing, to: e%d, by: [worker, human], gate: {section: '## E%d'}}", i, i)
		say("  - {from: e%d, to: stuck, by: human}", i)
	}
	say("  - {from: stuck, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}")
	say("  - {from: '*', to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}")
	say("exit_monitoring:\n  rules:\n    - {status: doing, has_artifact: {section: '## Z'}, then: stuck}\n    " +
		"- {status: doing, has_artifact: {section: '## A'}, then: rare}")
	say("    - {status: doing, no_artifact: true, action: crash, stuck_after: 2, then: stuck}\nprompts: " +
		"{work: Work.}\nallow: {roles-act: a test, prompts-legal: a test, reachable: a test, merges: a test}")
	text := b.String()
	for i := range more {
		text = strings.Replace(text, "  stuck: {}\n", fmt.Sprintf("  e%d: {}\n  stuck: {}\n", i), 1)
	}
	return text
}

// Defect: over 1,024 combinations the check met each gate alone, and called the result proved.
func TestWhatNoGateLooksAtTogetherIsProvedHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	for _, more := range []int{1, 11, 40} {
		if r := explore.Check(parseText(t, crossroads(more, true)), explore.Most); !r.Proved() {
			t.Errorf("%d more, and it is sound: %v %v", more, r.Failed(), r.NotProved())
		}
		r := explore.Check(parseText(t, crossroads(more, false)), explore.Most)
		if failed := r.Failed(); len(failed) != 1 || failed[0].Name != explore.NoDeadEnd {
			t.Errorf("%d more, and from rare nothing leads on: %v %v", more, failed, r.NotProved())
		}
	}
}

// If gates look at too many parts together, the check names these parts and proves nothing.
func TestWhatIsLookedAtTogetherAndTooMuchIsNotProved(t *testing.T) {
	t.Parallel()
	for parts, proved := range map[int]bool{10: true, 11: false} {
		var sections, names []string
		for i := range parts {
			sections = append(sections, fmt.Sprintf("{section: '## P%02d'}", i))
			names = append(names, fmt.Sprintf("## p%02d", i))
		}
		text := strings.Replace(crossroads(2, true), "gate: {section: '## E0'}",
			"gate: ["+strings.Join(sections, ", ")+"]", 1)
		if r := explore.Check(parseText(t, text), explore.Most); !r.Proved() {
			t.Errorf("%d parts of one gate alone: %v %v", parts, r.Failed(), r.NotProved())
		}
		text = strings.Replace(text, "{section: '## E1'}", "{section: '## P00'}", 1)
		r := explore.Check(parseText(t, text), explore.Most)
		if r.Proved() != proved || len(r.Failed()) > 0 {
			t.Errorf("%d parts: %v %v", parts, r.Failed(), r.NotProved())
		}
		if proved {
			continue
		}
		if len(r.Vast) != 1 || r.Vast[0].State != "doing" || !slices.Equal(r.Vast[0].Parts, names) ||
			r.Bound != (explore.Bound{}) {
			t.Errorf("%d parts: found %+v and %+v", parts, r.Vast, r.Bound)
		}
		if slices.ContainsFunc(r.Verdicts, func(v explore.Verdict) bool { return v.OK }) {
			t.Errorf("it says of a property that it holds: %v", r.Verdicts)
		}
	}
}

// Defect: the check assumed every move that the agent's role may ask for, whether or not the prompt names it: Orange
// refused the first command of a worker that followed its prompt.
func TestAPromptIsFollowedByTheMovesThatItAsksFor(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../workflows/default.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"    5. Run `orange task update --status working`.\n",
		"    2. Run `orange task update --status working`, then build it.\n"} {
		less := strings.Replace(string(text), step, "", 1)
		if less == string(text) {
			t.Fatalf("default does not say %q", step)
		}
		failed := explore.Check(parseText(t, less), explore.Most).Failed()
		if len(failed) != 1 || failed[0].Name != explore.PromptsLegal {
			t.Errorf("without %q: %v", step, failed)
		}
	}
}
