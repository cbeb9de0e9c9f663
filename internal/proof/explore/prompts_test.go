package explore_test

import (
	"fmt"
	"strings"
	"testing"

	"orange/internal/proof/explore"
)

// prompted is a workflow with one gate and one prompt.
func prompted(gate, prompt string) string {
	return fmt.Sprintf(`name: prompted
version: 1
states:
  todo: {}
  doing: {role: worker, respawn_prompt: work}
  ready: {}
  done: {terminal: true}
allow: {merges: it is not about that}
transitions:
  - {from: todo, to: doing, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: doing, to: ready, by: [worker, human], gate: %s}
  - {from: [doing, ready], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  work: |
    %s
    Run %sorange task update --status ready%s.
`, gate, prompt, "`", "`")
}

func TestAPromptNamesWhatItsMoveAsksFor(t *testing.T) {
	t.Parallel()
	const labels, verdict, file, all = "{section: '## A', fields: [ONE, TWO]}",
		"{section: '## A', verdict: FAIL}", "{file: code/result.json}", "{all: [{section: '## A'}, {section: '## B'}]}"
	const some = "{any: [{section: '## A'}, {section: '## B'}]}"
	for _, row := range []struct{ gate, prompt, lacks string }{
		{labels, "Write `## A`.", "one of the labels ONE, TWO"},
		{labels, "Write `## A` with TWO: what.", ""},
		{verdict, "Write `## A`.", "the verdict FAIL"},
		{verdict, "Write `## A` with `Verdict: FAIL`.", ""},
		{file, "Write what came of it.", "the file code/result.json"},
		{file, "Write what came of it into code/result.json.", ""},
		{all, "Write `## A`.", `the section "## B"`},
		{all, "Write `## B`.", `the section "## A"`},
		{all, "Write `## A` and `## B`.", ""},
		{some, "Write.", `the section "## B"`},
		{some, "Write `## A`.", ""},
		{some, "Write `## B`.", ""},
	} {
		failed := explore.Check(parseText(t, prompted(row.gate, row.prompt)), explore.Most).Failed()
		if row.lacks == "" {
			if len(failed) > 0 {
				t.Errorf("%s, %s: found %v", row.gate, row.prompt, failed)
			}
			continue
		}
		if len(failed) != 1 || failed[0].Name != explore.PromptsLegal ||
			!strings.HasSuffix(failed[0].Message, "does not name what that move asks for: "+row.lacks) {
			t.Errorf("%s, %s: found %v, want that it lacks %s", row.gate, row.prompt, failed, row.lacks)
		}
	}
}

// An agent that lives already knows the form. One that starts with the same prompt does not.
func TestAPromptNamesTheForm_unlessAllWhoReadItLive(t *testing.T) {
	t.Parallel()
	const labels = "{section: '## A', fields: [ONE, TWO]}"
	const again = "  again: |\n    Write `## A` anew.\n    Run `orange task update --status ready`.\n"
	for prompt, row := range map[string]struct {
		first string
		lacks bool
	}{"again": {"Write `## A` with TWO: what.", false}, "work": {"Write `## A`.", true}} {
		text := strings.Replace(prompted(labels, row.first)+again, "  - {from: [doing, ready]",
			"  - {from: ready, to: doing, by: human, hooks: [{action: notify_worker, prompt: "+prompt+
				"}]}\n  - {from: [doing, ready]", 1)
		failed := explore.Check(parseText(t, text), explore.Most).Failed()
		if is := len(failed) == 1 && strings.Contains(failed[0].Message, "one of the labels"); is != row.lacks ||
			!is && len(failed) > 0 {
			t.Errorf("%s: found %v", prompt, failed)
		}
	}
}

// Where the end of the agent moves the task by what the prompt has it write, it needs to ask for nothing.
func TestAPrompt_needsNoRequestIfTheAgentsEndMovesTheTask(t *testing.T) {
	t.Parallel()
	for rule, told := range map[string]bool{
		"{status: doing, has_artifact: {section: '## A'}, then: ready}": false,
		"{status: doing, has_artifact: {section: '## B'}, then: ready}": true, // it does not hear of that
	} {
		text := strings.Replace(prompted("{section: '## A'}", "Write `## A`, and end."),
			"    Run `orange task update --status ready`.\n", "", 1)
		failed := explore.Check(parseText(t, text+"exit_monitoring: {rules: ["+rule+"]}\n"), explore.Most).Failed()
		if is := len(failed) > 0 && strings.Contains(failed[0].Message, "ask for no move"); is != told {
			t.Errorf("%s: found %v", rule, failed)
		}
	}
}

func TestACommandIsForThePersonOfWhomItsSentenceSpeaks(t *testing.T) {
	t.Parallel()
	const command = "`orange task update --status todo`"
	for prompt, told := range map[string]bool{
		"Write `## A`. A person runs " + command + ".":          false,
		"Write `## A`. A person may look. Run " + command + ".": true,
		"Write `## A`. Run " + command + ".":                    true,
	} {
		failed := explore.Check(parseText(t, prompted("{section: '## A'}", prompt)), explore.Most).Failed()
		if is := len(failed) == 1 &&
			strings.Contains(failed[0].Message, "that is no move which it may make"); is != told {
			t.Errorf("%s: found %v", prompt, failed)
		}
	}
}

func TestAPromptNamesTheVerdictOfItsMove(t *testing.T) {
	t.Parallel()
	const ready, verdict = "`orange task update --status ready`", "{section: '## A', verdict: FAIL}"
	for prompt, told := range map[string]bool{
		"Write `## A`: where it is bad FAIL, and run " + ready + ".":              false,
		"Write `## A` with PASS or FAIL. Then run " + ready + ".":                 false,
		"Write `## A` with FAIL, else PASS and run " + ready + ".":                false,
		"Write `## A` with FAIL. Where it is good PASS: run " + ready + ".":       true,
		"Write `## A`. With PASS run " + ready + ", with FAIL run " + ready + ".": true,
	} {
		text := strings.Replace(prompted(verdict, prompt), "    Run `orange task update --status ready`.\n", "", 1)
		failed := explore.Check(parseText(t, text), explore.Most).Failed()
		if is := len(failed) == 1 && strings.Contains(failed[0].Message, "asks for the other verdict"); is != told ||
			!told && len(failed) > 0 {
			t.Errorf("%s: found %v", prompt, failed)
		}
	}
}
