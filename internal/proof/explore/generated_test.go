package explore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
)

// sound draws a workflow that keeps every property by construction: stages of work and review, a count and a bound
// for every review, a state for every crash, and at the end no agent and no workspace.
func sound(t *rapid.T) string {
	kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"review", "work", "person"}), 0, 2).Draw(t, "stages")
	kinds = append([]string{"work"}, kinds...)
	states := "  todo: {}\n"
	fields, moves, rules, work, judge := "", "", "", "", ""
	first := "{action: acquire_workspace}, {action: spawn_agent, prompt: work}"
	name := func(i int) string {
		if i == len(kinds) {
			return "ready"
		}
		return fmt.Sprintf("stage%d", i)
	}
	entering := func(i int) string {
		switch {
		case i == len(kinds) || kinds[i] == "person":
			return ""
		case kinds[i] == "review":
			return fmt.Sprintf("{increment: round%d}, {action: spawn_reviewer, prompt: judge}", i)
		}
		return "{action: notify_worker}"
	}
	hooks := func(list ...string) string {
		var some []string
		for _, h := range list {
			if h != "" {
				some = append(some, h)
			}
		}
		return "[" + strings.Join(some, ", ") + "]"
	}
	moves += fmt.Sprintf("  - {from: todo, to: stage0, by: human, hooks: [%s]}\n", first)
	at := 0 // the last stage of work
	for i, kind := range kinds {
		here, next := name(i), name(i+1)
		auto := rapid.SampledFrom([]string{"", ", respawn: auto"}).Draw(t, "respawn")
		crash := fmt.Sprintf(
			"    - {status: %s, no_artifact: true, action: crash, stuck_after: %d, then: stuck}\n", here,
			rapid.IntRange(1, 3).Draw(t, "crashes"))
		switch kind {
		case "work":
			at = i
			form := rapid.SampledFrom([]string{"required: true", "fields: [DONE]", "fields: [DONE, LEFT]"}).Draw(
				t, "form")
			gate := fmt.Sprintf("{section: \"## Part %d\", %s}", i, form)
			timeout := rapid.SampledFrom([]string{
				"", ", timeout: 1h", ", timeout: {after: 1h, then: stuck}"}).Draw(t, "timeout")
			states += fmt.Sprintf("  %s: {role: worker, respawn_prompt: work%s%s}\n", here, auto, timeout)
			moves += fmt.Sprintf("  - {from: %s, to: %s, by: [worker, human], gate: %s, hooks: %s}\n", here, next,
				gate, hooks(entering(i+1)))
			if strings.Contains(timeout, "then") {
				moves += fmt.Sprintf("  - {from: %s, to: stuck, by: human}\n", here)
			}
			rules += fmt.Sprintf("    - {status: %s, has_artifact: %s, then: %s}\n", here, gate, next) + crash
			work += fmt.Sprintf("    In %s write `## Part %d` with `Verdict: PASS` and DONE: what, then "+
				"`orange task update --status %s`\n", here, i, next)
		case "review":
			most := rapid.IntRange(2, 3).Draw(t, "rounds")
			fields += fmt.Sprintf("  round%d: 0\n", i)
			states += fmt.Sprintf("  %s: {role: reviewer, respawn_prompt: judge%s}\n", here, auto)
			gate := func(verdict string) string {
				return "{section: \"## Review\", verdict: " + verdict + ", since: entry}"
			}
			moves += fmt.Sprintf("  - {from: %s, to: %s, by: [reviewer, human], gate: %s, hooks: %s}\n", here,
				next, gate("PASS"), hooks("{action: kill_reviewer}", entering(i+1)))
			moves += fmt.Sprintf("  - {from: %s, to: %s, by: [reviewer, human], when: round%d < %d, gate: %s, "+
				"hooks: [{action: kill_reviewer}, {action: notify_worker}]}\n", here, name(at), i, most, gate("FAIL"))
			moves += fmt.Sprintf("  - {from: %s, to: stuck, by: [reviewer, human], when: round%d >= %d, gate: "+
				"%s, hooks: [{action: kill_reviewer}]}\n", here, i, most, gate("FAIL"))
			rules += fmt.Sprintf("    - {status: %s, has_artifact: %s, then: %s}\n", here, gate("PASS"), next)
			rules += fmt.Sprintf("    - {status: %s, has_artifact: %s, then_when: [{when: round%d < %d, then: "+
				"%s}, {when: round%d >= %d, then: stuck}]}\n", here, gate("FAIL"), i, most, name(at), i, most)
			rules += crash
			judge += fmt.Sprintf("    In %s write `## Review` with PASS or FAIL, then `orange task update "+
				"--status %s`, `orange task update --status %s` or `orange task update --status stuck`\n", here,
				next, name(at))
		case "person":
			states += fmt.Sprintf("  %s: {}\n", here)
			moves += fmt.Sprintf("  - {from: %s, to: %s, by: human, hooks: %s}\n", here, next, hooks(entering(i+1)))
		}
	}
	states += "  ready: {}\n  stuck: {role: worker, respawn_prompt: work}\n  done: {terminal: true}\n  " +
		"dropped: {terminal: true}\nallow: {merges: they are about something else}\n"
	moves += "  - {from: stuck, to: ready, by: human}\n  - {from: ready, to: done, by: human, hooks: " +
		"[{action: kill_session}, {action: release_workspace}]}\n"
	moves += "  - {from: \"*\", to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}\n"
	text := "name: generated\nversion: 1\nmoves: {cancel: dropped}\nstates:\n" + states + "transitions:\n" + moves +
		"exit_monitoring:\n  rules:\n" + rules +
		"    - {status: stuck, action: mark_dead}\nprompts:\n  work: |\n" + work
	if fields != "" {
		text += "  judge: |\n" + judge + "fields:\n" + fields
	}
	return text
}

func TestGeneratedSoundWorkflowsPassTheProverAndItsTwin(t *testing.T) {
	t.Parallel()
	names := usual(t)
	most := 14 // the twin is slow
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		most = 24
	}
	rapid.Check(t, func(t *rapid.T) {
		text := sound(t)
		def, err := workflow.Parse("generated.yml", []byte(text), names)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		r := explore.Check(def, explore.Most)
		for _, v := range r.Failed() {
			t.Errorf("%s, line %d: %s\n  %s\n%s", v.Name, v.Line, v.Message, strings.Join(v.Steps, "\n  "), text)
		}
		if r.TooMany || r.Bound == (explore.Bound{}) {
			t.Errorf("found %+v\n%s", r, text)
		}
		if strings.Count(text, "stage") < most {
			t.Logf("compared: %v", compare(t, def))
		}
	})
}
