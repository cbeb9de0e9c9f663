package workflow_test

import (
	"regexp"
	"strings"
	"testing"
)

// told is what a prompt must say for one thing that a document has its agent told, in our words: patterns over
// the text in one line.
type told struct {
	workflow, prompt string
	says             []string
}

// What more than one prompt says.
const (
	header   = `^# .*\{summary\}.* Project: \{project\} Branch: \{branch\}`
	noPush   = `Do not push\.`
	notMine  = `Do not ask for reviewing yourself\.`
	handOff  = "Write `## Handoff`.*DONE.*REMAINING.*DECISIONS.*UNCERTAIN"
	reviewIt = "`orange task update --status agent-review`"
	refusals = `A command that refuses says what is missing`
	skill    = `The skill orange-worker has more\.`
	praise   = `Say what was done well, too\.`
	noHand   = "It fails if `## Handoff` is missing"
	noReview = "It fails if `## Review` is missing or has no verdict"
	ask      = "two or three (precise )?questions under `## Questions`"
	named    = "If the branch is still called orange-tasks/\\{task_id\\}.*`git branch -m NAME`, then `orange " +
		"task update --branch`"
)

// promptsOfTheDocuments are the prompts of documents 000, 001 and 002, one step after the other.
var promptsOfTheDocuments = []told{
	{"default", "worker", []string{
		header, `First, plan`, `1\. Read \{task_file\}, and the rules.*AGENTS\.md`,
		`the summary is in its header`, named,
		ask + ".*`orange task update --status clarification`, and wait",
		"4\\. Write `## Plan`.*RISKS may be left out.*APPROACH.*TOUCHING",
		"5\\. Run `orange task update --status working`", `Then, build`,
		`6\. Do what you planned\. Test it\. Commit it`, "7\\. " + handOff, `with at least one of these lines`,
		"8\\. Run " + reviewIt, noHand, skill, "9\\. Run `orange task wait`. It returns when the review is over",
		"If the task is back in working: read `## Review`, fix what it found.*write `## Handoff` again.*continue " +
			"with step 8", `If it is in reviewing: the review passed and you are finished`,
		noPush, notMine,
	}},
	{"default", "worker_respawn", []string{
		header, `Status: \{status\}`, `Review round: \{review_round\}`,
		"Read \\{task_file\\} first: `## Plan`, `## Handoff` and `## Review` show how far the work is",
		"If the status is planning: 1\\. Write `## Plan`.*unless a good one is there",
		"2\\. Run `orange task update --status working`, then build it",
		"If the status is working: 1\\. If there is a `## Review` whose findings are still open, fix those first",
		`2\. Finish the work`, "3\\. Write `## Handoff` again", "4\\. Run " + reviewIt, noHand,
		"After that run `orange task wait` until it says how the review ended, and act on it", noPush,
	}},
	{"default", "reviewer", []string{
		header, `Round \{review_round\} of 2`, "1\\. Read \\{task_file\\}: what was wanted, `## Plan` for the " +
			"chosen approach, `## Handoff` for what the worker claims",
		"2\\. Read the change: `git diff \\{base\\}\\.\\.\\.HEAD`",
		`3\. Look twice at everything under UNCERTAIN`, "4\\. Write a new `## Review` section.*Its first line " +
			"is the verdict, nothing else: `Verdict: PASS` or `Verdict: FAIL`",
		`say what you found: file and line, what is wrong, and what would be correct`, praise, noReview,
		"PASS: `orange task update --status reviewing`", "FAIL in round 1: `orange task update --status working`",
		"FAIL in round 2: `orange task update --status stuck`",
		`Write nothing to the code host: the review belongs only in \{task_file\}`, refusals,
	}},
	{"default", "clarification", []string{
		header, `It is not clear yet what this task wants\.`, ask, "`orange task update --status clarification`",
		`Wait for a person to attach, and talk it through`, `1\. Run .orange task update --summary`,
		"2\\. Write `## Plan` \\(APPROACH and TOUCHING\\)", "3\\. Run `orange task update --status working`",
	}},
	{"default", "stuck_fix", []string{
		header, `Review round: \{review_round\}`, `Two reviews failed, or agents stopped too often`,
		`You work together with a person now`, "Read `## Review`, `## Plan` and `## Handoff`",
		`1\. Say in a few sentences what went wrong, and how you would fix it`,
		`2\. Change nothing before the person has answered`,
		`3\. When it is fixed and committed, ask: "Shall this go to your review\?"`,
		"4\\. The person then runs `orange task update --status reviewing`",
	}},
	{"default", "review_failed", []string{"Read ## Review in \\{task_file\\}, fix what it found"}},
	{
		"default", "changes_requested", []string{
			"A person asks for changes.*Read ## Fix Instructions in \\{task_file\\}"}},
	{"classic", "worker", []string{
		header, `You build this task\.`, `1\. Read \{task_file\}, and the rules.*AGENTS\.md`,
		`the summary is in its header`, named, ask + ".*`orange task update --status clarification`, and wait",
		"If there is no `## Context`, write down under `## Notes` how you will do it",
		`5\. Build it, test it, commit it`, "6\\. " + handOff, "7\\. Run " + reviewIt, noHand, noPush, notMine,
		refusals, skill,
	}},
	{"classic", "worker_respawn", []string{
		header, `Status: \{status\}`, `Review round: \{review_round\}`,
		"1\\. Read \\{task_file\\}: `## Handoff` shows how far the work is",
		"If there is a `## Review` whose findings are still open, fix those first",
		`3\. Finish the work, test it, commit it`, "4\\. Write `## Handoff` again", "5\\. Run " + reviewIt, noHand,
		skill, noPush, notMine,
	}},
	{"classic", "worker_fix", []string{
		`you fix what it found`, `^# .*\{summary\}`, `The review of round \{review_round\} failed`,
		`Project: \{project\} Branch: \{branch\}`, "1\\. Read `## Review`", `2\. Fix each finding`,
		"3\\. Write `## Handoff` again and say what you changed",
		"4\\. Run " + reviewIt, noHand, skill, noPush, notMine,
	}},
	{"classic", "reviewer", []string{
		header, `You review another agent's work\.`, `Round \{review_round\} of 2`,
		"1\\. Read \\{task_file\\}: what was wanted, and `## Handoff` for what the worker claims",
		"2\\. Read the change: `git diff \\{base\\}\\.\\.\\.HEAD`",
		`3\. Look twice at everything under UNCERTAIN`,
		"4\\. Write a new `## Review` section.*Its first line is the verdict",
		`say what you found: file and line, what is wrong`, praise, noReview, skill,
		"PASS: `orange task update --status reviewing`", "FAIL in round 1: `orange task update --status working`",
		"FAIL in round 2 or later: `orange task update --status stuck`",
		refusals, `Write nothing to the code host: the review belongs only in \{task_file\}`,
	}},
	{"classic", "clarification", []string{
		header, `It is not clear yet what this task wants\.`, ask,
		`Wait for a person to attach, and talk it through`, `1\. Run .orange task update --summary`,
		"2\\. Write down under `## Notes`.*how it will be done", "3\\. Run `orange task update --status working`",
	}},
	{"classic", "stuck_fix", []string{
		header, `^# Stuck`, `Review round: \{review_round\}`, `Two reviews failed, or agents stopped too often`,
		"1\\. Read all of \\{task_file\\}: `## Review` and `## Handoff` show what went wrong", `3\. Fix it`,
		"4\\. Write `## Handoff` again and say what you changed", "run " + reviewIt,
	}},
	{"minimal", "worker", []string{
		header, `1\. Read \{task_file\}`, `2\. Build it, test it, commit it`,
		"3\\. Write `## Handoff` into \\{task_file\\}", "4\\. Run `orange task update --status reviewing`", noPush,
	}},
}

// Every step of the documents' prompts reaches the agent that it is for.
func TestThePromptsContainEveryStepOfTheDocumentsPrompts(t *testing.T) {
	t.Parallel()
	for _, p := range promptsOfTheDocuments {
		text, found := load(t, "../../../workflows/"+p.workflow+".yml").Prompt(p.prompt)
		if !found {
			t.Errorf("%s has no prompt %s", p.workflow, p.prompt)
			continue
		}
		line := strings.Join(strings.Fields(text), " ")
		for _, says := range p.says {
			if !regexp.MustCompile(says).MatchString(line) {
				t.Errorf("%s of %s does not say %q", p.prompt, p.workflow, says)
			}
		}
	}
}
