package evidence_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

// evidenceRow is one case of document 004's section 3: these files on disk, and the moves that they open.
type evidenceRow struct {
	rule  string // its number in the document
	name  string
	from  task.Status
	files map[string]string
	open  string // the targets, with blanks between them
	says  string // what a refusal tells, where nothing is open
}

const (
	aPlan    = `{"title": "t", "brief": "b", "file_plan": [{"path": "a.go"}, {"path": "gone.go", "intent": "delete"}]}`
	planOnly = "planning/planning.ai.json"
	listOnly = "planning/plan.files.json"
	plans    = "review/plan-review.json"
	codes    = "review/code-review.json"
	patch    = "code/diff.patch"
	signal   = "code/codegen.json"
	report   = "test/report.json"
	decision = "accept/decision.json"
	record   = "revert/record.json"
)

// one is a task with a single file.
func one(name, text string) map[string]string { return map[string]string{name: text} }

// built is a task whose plan names a.go, with a patch and these generated files.
func built(generated ...string) map[string]string {
	files := map[string]string{planOnly: aPlan, patch: "--- a\n+++ b\n"}
	for _, name := range generated {
		files["code/files/"+name] = "package a\n"
	}
	return files
}

// and adds one file to others.
func and(files map[string]string, name, text string) map[string]string {
	out := map[string]string{name: text}
	for other, content := range files {
		if other != name {
			out[other] = content
		}
	}
	return out
}

func noted(note string) map[string]string {
	return one(planOnly, strings.Replace(aPlan, "}]}", "}], \"notes\": ["+note+"]}", 1))
}

func filed(list string) map[string]string {
	return and(one(planOnly, `{"title": "t", "brief": "b"}`), listOnly, `{"files": `+list+`}`)
}

// deleting is a task whose plan deletes one file and does nothing else, with a patch.
func deleting() map[string]string {
	return and(built(), listOnly, `{"files": [{"path": "gone.go", "intent": "delete"}]}`)
}

func planningRows() []evidenceRow {
	const from = "planning"
	return []evidenceRow{
		{"3.1", "nothing there", from, nil, "", "planning/planning.ai.json: found no such file"},
		{"3.1", "a plan with its files in it", from, one(planOnly, aPlan), "plan_review", ""},
		{"3.1", "no JSON", from, one(planOnly, "# Plan\n"), "", "no JSON"},
		{"3.1", "an empty file", from, one(planOnly, ""), "", "an empty file"},
		{"3.1", "a list", from, one(planOnly, "[]"), "", "an object with a title and a brief"},
		{"3.1", "a blank title", from, one(planOnly, strings.Replace(aPlan, `"t"`, `" "`, 1)), "",
			"an object with a title and a brief"},
		{"3.1", "an open question", from, noted(`{"kind": "open_question", "text": "?"}`), "", "no blocking question"},
		{"3.1", "an open question that does not block, without an answer", from,
			noted(`{"kind": "open_question", "blocking": false}`), "", "no blocking question"},
		{"3.1", "a question with an answer of blanks", from, noted(`{"kind": "open_question", "answer": " "}`),
			"", "no blocking question"},
		{"3.1", "a question that is answered and still blocks", from,
			noted(`{"kind": "open_question", "answer": "yes", "blocking": true}`), "", "no blocking question"},
		{"3.1", "a question with an answer", from, noted(`{"kind": "open_question", "answer": "yes"}`),
			"plan_review", ""},
		{"3.1", "a question that is said to be answered", from,
			noted(`{"kind": "open_question", "answered": true}`), "plan_review", ""},
		{"3.1", "other notes", from, noted(`{"kind": "background", "blocking": true}, {"kind": "decision"}`),
			"plan_review", ""},
		{"3.1", "notes that are no list", from,
			one(planOnly, `{"title": "t", "brief": "b", "notes": "none", "file_plan": [{"path": "a"}]}`), "",
			"no blocking question"},
		{"3.1", "notes that are an object", from,
			one(planOnly, strings.Replace(aPlan, "}]}", `}], "notes": {"q": {"kind": "decision"}}}`, 1)), "",
			"no blocking question"},
		{"3.1", "no list of files anywhere", from, one(planOnly, `{"title": "t", "brief": "b"}`), "",
			"a file_plan of the same form"},
		{"3.1", "a list of files apart", from, filed(`[{"path": "a.go"}]`), "plan_review", ""},
		{"3.1", "a list of files that is empty", from, filed(`[]`), "", "at least one file"},
		{"3.1", "a path that leads out", from, filed(`[{"path": "../a"}]`), "", "by its path in the repository"},
		{"3.1", "a path from the root", from, filed(`[{"path": "/a"}]`), "", "by its path in the repository"},
		{"3.1", "a path twice", from, filed(`[{"path": "a"}, {"path": "./a"}]`), "", "each once"},
		{"3.1", "an unknown intent", from, filed(`[{"path": "a", "intent": "paint"}]`), "", "at least one file"},
		{"3.1", "paths without objects", from, filed(`["a"]`), "", "at least one file"},
		{"3.1", "a wrong list of files is not made good by the plan", from,
			and(one(planOnly, aPlan), listOnly, `{"files": []}`), "", "at least one file"},
		{"3.1", "a list of files that is no JSON is not either", from,
			and(one(planOnly, aPlan), listOnly, "a.go\n"), "", "no JSON"},
	}
}

func planReviewRows() []evidenceRow {
	const from = "plan_review"
	return []evidenceRow{
		{"3.2", "no review", from, nil, "", "found no such file"},
		{"3.2", "ok and not blocked", from, one(plans, `{"ok": true, "blocked": false}`), "codegen", ""},
		{"3.2", "ok, and nothing about being blocked", from, one(plans, `{"ok": true}`), "",
			"ok: true and blocked: false"},
		{"3.2", "ok as a text", from, one(plans, `{"ok": "true", "blocked": false}`), "",
			"ok: true and blocked: false"},
		{"3.2", "ok and blocked", from, one(plans, `{"ok": true, "blocked": true}`), "planning", ""},
		{"3.2", "ok beside a blocking issue", from,
			one(plans, `{"ok": true, "blocked": false, "issues": [{"severity": "blocking"}]}`), "",
			"nothing in it that is blocking"},
		{"3.2", "under aggregate", from, one(plans, `{"aggregate": {"ok": true, "blocked": false}}`), "codegen", ""},
		{"3.2", "an accepted aggregate", from, one(plans, `{"aggregate": {"ok": true, "decision": "accepted"}}`),
			"codegen", ""},
		{"3.2", "blocked is no word", from, one(plans, `{"ok": true, "blocked": "no", "decision": "accepted"}`),
			"", "ok: true and blocked: false"},
		{"3.2", "blocked is null, and the decision says it", from,
			one(plans, `{"ok": true, "blocked": null, "decision": "accepted"}`), "codegen", ""},
		{"3.2", "the top says nothing of ok", from,
			one(plans, `{"ok": null, "aggregate": {"ok": true, "blocked": false}}`), "codegen", ""},
		{"3.2", "a severity of null is none", from, one(plans, `{"ok": false, "severity": null}`), "planning", ""},
		{"3.2", "an aggregate with blocking issues", from,
			one(plans, `{"aggregate": {"ok": true, "decision": "accepted", "blocking_issues": ["x"]}}`), "",
			"nothing in it that is blocking"},
		{"3.2", "top and aggregate disagree", from,
			one(plans, `{"ok": true, "blocked": false, "aggregate": {"ok": false}}`), "planning", ""},
		{"3.2", "one reviewer has wishes, and all together accept", from, one(plans,
			`{"reviewers": [{"id": "a", "ok": false, "decision": "needs_changes"}], "aggregate": {"ok": true, "decision": "accepted"}}`), "codegen", ""},
		{"3.2", "a list", from, one(plans, `[{"ok": true, "blocked": false}]`), "", "ok: true"},
		{"3.3", "not ok, severity blocking", from, one(plans, `{"ok": false, "severity": "blocking"}`), "planning", ""},
		{"3.3", "one of the reviewers is not ok, with severity blocking", from, one(plans,
			`{"reviewers": [{"ok": true}, {"ok": false, "severity": "blocking"}], "aggregate": {"ok": true, "decision": "accepted"}}`), "planning", ""},
		{"3.3", "one of the reviewers has a blocking issue", from, one(plans,
			`{"reviewers": [{"ok": false, "decision": "blocked", "blocking_issues": ["x"]}], "aggregate": {"ok": false, "decision": "blocked"}}`), "planning", ""},
		{"3.3", "one of the reviewers says blocked, with a lesser severity", from, one(plans,
			`{"reviewers": [{"ok": false, "decision": "blocked", "severity": "minor"}], "aggregate": {"ok": true, "decision": "accepted"}}`), "planning", ""},
		{"3.3", "the aggregate asks for changes", from,
			one(plans, `{"aggregate": {"ok": false, "decision": "needs_changes"}}`), "planning", ""},
		{"3.3", "the aggregate asks for changes, with lesser severities", from, one(plans,
			`{"aggregate": {"ok": false, "decision": "needs_changes"}, "issues": [{"severity": "minor"}]}`),
			"planning", ""},
		{"3.3", "needs_changes beside lesser severities", from,
			one(plans, `{"ok": false, "needs_changes": true, "issues": [{"severity": "minor"}]}`), "planning", ""},
		{"3.3", "not ok, and not blocked", from, one(plans, `{"ok": false, "blocked": false}`), "planning", ""},
		{"3.3", "blocked", from, one(plans, `{"ok": false, "blocked": true}`), "planning", ""},
		{"3.3", "not ok, with lesser severities only", from,
			one(plans, `{"ok": false, "blocked": false, "issues": [{"severity": "minor"}]}`), "",
			"ok: false with what is blocking"},
		{"3.3", "a structural flaw", from, one(plans, `{"ok": true, "blocked": false, "structural_flaw": true}`),
			"planning", ""},
		{"3.3", "a structural issue", from,
			one(
				plans, `{"ok": false, "severity": "minor", "issues": [{"kind": "structural", "severity": "minor"}]}`), "planning", ""},
	}
}

func codegenRows() []evidenceRow {
	const from = "codegen"
	blocked := func(more string) map[string]string {
		return and(built(), signal, `{"blocked": true, "reason": "unclear"`+more+`}`)
	}
	return []evidenceRow{
		{"3.4", "a patch and what was planned", from, built("a.go"), "review", ""},
		{"3.4", "no patch", from, and(built("a.go"), patch, "-"), "", "code/diff.patch: found no such file"},
		{"3.4", "an empty patch", from, and(built("a.go"), patch, "\n"), "", "code/diff.patch: found an empty file"},
		{"3.4", "a patch and no files", from, built(), "", "code/files/**: found no such file"},
		{"3.4", "a patch, no files and no plan", from, and(built(), planOnly, "-"), "",
			"code/files/**: found no such file"},
		{"3.4", "a planned file that is empty", from, and(built(), "code/files/a.go", ""), "review", ""},
		{"3.4", "a plan that only deletes", from, deleting(), "review", ""},
		{"3.4", "a plan that only deletes, without a patch", from, and(deleting(), patch, "-"), "",
			"code/diff.patch: found no such file"},
		{"3.4", "a plan that only deletes, and the coder is blocked", from,
			and(deleting(), signal, `{"blocked": true, "reason": "it is used"}`), "plan_review", ""},
		{"3.4", "the list apart counts", from, and(built("b.go"), listOnly, `{"files": [{"path": "b.go"}]}`),
			"review", ""},
		{"3.4", "a plan that begins its paths with a dot", from,
			and(built("a.go"), listOnly, `{"files": [{"path": "./a.go"}]}`), "review", ""},
		{"3.5", "a file beyond the plan", from, built("a.go", "b.go"), "planning", ""},
		{"3.5", "an empty file beyond the plan", from, and(built("a.go"), "code/files/b.go", ""), "planning", ""},
		{"3.5", "a file beyond a plan that only deletes", from, and(deleting(), "code/files/a.go", "package a\n"),
			"planning", ""},
		{"3.5", "of two planned files the empty one alone", from,
			and(and(built(), "code/files/a.go", ""), listOnly, `{"files": [{"path": "a.go"}, {"path": "b.go"}]}`),
			"plan_review", ""},
		{"3.5", "a file in a folder beyond the plan", from, built("a.go", "deep/down/a.go"), "planning", ""},
		{"3.5", "a file that the plan deletes is there", from, built("a.go", "gone.go"), "review", ""},
		{"3.5", "a hidden file beyond the plan", from, built("a.go", ".env"), "planning", ""},
		{"3.5", "another file in the place of the planned one", from, built("b.go"), "planning", ""},
		{"3.5", "a planned file is missing", from,
			and(built("a.go"), listOnly, `{"files": [{"path": "a.go"}, {"path": "b.go"}]}`), "plan_review", ""},
		{"3.5", "no plan at all", from, and(built("a.go"), planOnly, "-"), "planning", ""},
		{"3.5", "a plan that is no JSON", from, and(built("a.go"), planOnly, "?"), "", "no JSON"},
		{"3.5", "a mismatch before the coder has handed over", from, and(built("b.go"), patch, "-"), "",
			"code/diff.patch: found no such file"},
		{"3.5", "the coder is blocked", from, blocked(""), "plan_review", ""},
		{"3.5", "the coder needs another plan", from, blocked(`, "back_to": "planning"`), "planning", ""},
		{"3.5", "back to where no way leads", from, blocked(`, "back_to": "done"`), "", "blocked: true with a reason"},
		{"3.5", "blocked without a reason", from, and(built("a.go"), signal, `{"blocked": true, "reason": " "}`),
			"", "no code/codegen.json that says blocked"},
		{"3.5", "blocked, although all is there", from,
			and(built("a.go"), signal, `{"needs_changes": true, "reason": "odd"}`), "plan_review", ""},
		{"3.5", "not blocked", from, and(built("a.go"), signal, `{"blocked": false}`), "review", ""},
	}
}

func reviewRows() []evidenceRow {
	const from = "review"
	return []evidenceRow{
		{"3.6", "no review", from, nil, "", "found no such file"},
		{"3.6", "no issues", from, one(codes, `{"issues": []}`), "test", ""},
		{"3.6", "issues that do not block", from,
			one(codes, `{"issues": [{"severity": "minor"}, {"blocking": false}]}`), "test", ""},
		{"3.6", "nothing about issues", from, one(codes, `{"ok": true}`), "", "a list of issues"},
		{"3.6", "issues that are an object", from, one(codes, `{"issues": {}}`), "", "a list of issues"},
		{"3.6", "an issue without severity", from, one(codes, `{"issues": [{"text": "bad"}]}`), "",
			"each with its severity"},
		{"3.6", "issues as texts", from, one(codes, `{"issues": ["bad"]}`), "", "each with its severity"},
		{"3.7", "a blocking issue", from, one(codes, `{"issues": [{"severity": "blocking", "file": "a.go"}]}`),
			"codegen", ""},
		{"3.7", "an issue that says that it blocks", from, one(codes, `{"issues": [{"blocking": true}]}`),
			"codegen", ""},
		{"3.7", "needs_changes", from, one(codes, `{"issues": [], "needs_changes": true}`), "codegen", ""},
		{"3.7", "blocked", from, one(codes, `{"issues": [], "blocked": true}`), "codegen", ""},
		{"3.7", "not ok", from, one(codes, `{"issues": [], "ok": false}`), "codegen", ""},
		{"3.7", "a blocking issue of the plan", from,
			one(codes, `{"issues": [{"severity": "blocking", "kind": "plan"}]}`), "planning", ""},
		{"3.7", "a blocking issue with the plan as its target", from,
			one(codes, `{"issues": [{"severity": "blocking", "target": "plan"}]}`), "planning", ""},
		{"3.7", "issues of both: the plan comes first", from,
			one(
				codes, `{"issues": [{"severity": "blocking", "kind": "code"}, {"severity": "blocking", "kind": "plan"}]}`), "planning", ""},
		{"3.7", "an issue of the plan that does not block", from,
			one(codes, `{"issues": [{"severity": "minor", "kind": "plan"}]}`), "test", ""},
		{"3.7", "a flawed plan", from, one(codes, `{"issues": [], "plan_flawed": true}`), "planning", ""},
	}
}

func testRows() []evidenceRow {
	const from, good = "test", `{"status": "completed", "overall_pass": true, "summary": {"passed": 3, "failed": 0}`
	return []evidenceRow{
		{"3.8", "no report", from, nil, "", "found no such file"},
		{"3.8", "passed", from, one(report, good+`}`), "accept", ""},
		{"3.8", "still running", from, one(report, strings.Replace(good, "completed", "running", 1)+`}`), "",
			"status: completed"},
		{"3.8", "pending", from, one(report, strings.Replace(good, "completed", "pending", 1)+`}`), "",
			"status: completed"},
		{"3.8", "no summary", from, one(report, `{"status": "completed", "overall_pass": true}`), "", "a summary"},
		{"3.8", "no tests, and not a word about it", from,
			one(report, strings.Replace(good, "3", "0", 1)+`, "suites": []}`), "", "no_tests"},
		{"3.8", "no tests, with the reason", from,
			one(report, strings.Replace(good, "3", "0", 1)+`, "no_tests": "a manual"}`), "accept", ""},
		{"3.8", "no tests, and a linter that passed", from,
			one(report, strings.Replace(good, "3", "0", 1)+
				`, "suites": [{"kind": "lint", "overall_pass": true}]}`), "accept", ""},
		{"3.9", "not passed", from, one(report, strings.Replace(good, "true", "false", 1)+`}`), "codegen", ""},
		{"3.9", "the run failed", from, one(report, strings.Replace(good, "completed", "failed", 1)+`}`),
			"codegen", ""},
		{"3.9", "a failure that the whole does not admit", from,
			one(report, strings.Replace(good, `"failed": 0`, `"failed": 1`, 1)+`}`), "codegen", ""},
		{"3.9", "an error that the whole does not admit", from,
			one(report, strings.Replace(good, `"failed": 0`, `"failed": 0, "error": 1`, 1)+`}`), "codegen", ""},
		{"3.9", "a suite of tests that failed", from,
			one(report, good+`, "suites": [{"kind": "test", "overall_pass": false}]}`), "codegen", ""},
		{"3.9", "a linter that failed", from,
			one(
				report, good+`, "suites": [{"kind": "test", "overall_pass": true}, {"kind": "lint", "overall_pass": false}]}`), "codegen", ""},
		{"3.9", "a suite that broke", from,
			one(report, good+`, "suites": [{"kind": "lint", "status": "failed"}]}`), "codegen", ""},
	}
}

func acceptRows() []evidenceRow {
	const from = "accept"
	return []evidenceRow{
		{"3.10", "no decision", from, nil, "", "accept/decision.json: found no such file"},
		{"3.10", "accepted", from, one(decision, `{"verdict": "accepted"}`), "done", ""},
		{"3.10", "accepted, in the document's word", from, one(decision, `{"decision": "accepted"}`), "done", ""},
		{"3.10", "rejected", from, one(decision, `{"verdict": "rejected"}`), "codegen", ""},
		{"3.10", "rejected, back to codegen", from,
			one(decision, `{"verdict": "rejected", "back_to": "codegen"}`), "codegen", ""},
		{"3.10", "back to the review", from, one(decision, `{"verdict": "rejected", "back_to": "review"}`),
			"review", ""},
		{"3.10", "back to the plan", from, one(decision, `{"verdict": "rejected", "back_to": "planning"}`),
			"planning", ""},
		{"3.10", "back to where no way leads", from, one(decision, `{"verdict": "rejected", "back_to": "test"}`),
			"", "back_to"},
		{"3.10", "deferred", from, one(decision, `{"verdict": "deferred"}`), "", "verdict: accepted"},
		{"3.10", "deferred until it is reviewed", from,
			one(decision, `{"verdict": "deferred", "back_to": "review"}`), "review", ""},
		{"3.10", "no verdict", from, one(decision, `{}`), "", "verdict: accepted"},
		{"3.11", "a reversal is asked for", from, one(decision, `{"verdict": "rejected", "revert": true}`),
			"revert", ""},
		{"3.11", "a regression", from, one(decision, `{"verdict": "rejected", "regression": true}`), "revert", ""},
		{
			"3.11", "regressions", from,
			one(decision, `{"verdict": "rejected", "regressions": ["orders are empty"]}`), "revert", ""},
		{"3.11", "accepted, with a regression", from,
			one(decision, `{"verdict": "accepted", "regression": true}`), "revert", ""},
		{"3.11", "no regressions", from, one(decision, `{"verdict": "accepted", "regressions": []}`), "done", ""},
		{"3.12", "no record", "revert", nil, "", "revert/record.json: found no such file"},
		{"3.12", "a record", "revert", one(record, `{"reason": "it broke the shop"}`), "done", ""},
		{"3.12", "a record without a reason", "revert", one(record, `{"reason": ""}`), "",
			"a reason that has words in it"},
	}
}

// Document 004, section 3: which files on disk open which moves, and that never two are open.
func TestPhasesOfDocument004_openExactlyTheMovesThatFilesSupport(t *testing.T) {
	t.Parallel()
	def := phases(t)
	rules := map[string]int{}
	for _, rows := range [][]evidenceRow{planningRows(), planReviewRows(), codegenRows(), reviewRows(),
		testRows(), acceptRows()} {
		for _, r := range rows {
			rules[r.rule]++
			t.Run(r.rule+" "+r.name, func(t *testing.T) {
				t.Parallel()
				found, refusals := open(t, def, r.from, r.files)
				var want []task.Status
				for _, to := range strings.Fields(r.open) {
					want = append(want, task.Status(to))
				}
				if !slices.Equal(found, want) {
					t.Errorf("open are %v, want %v:\n%s", found, want, refusals)
				}
				if !strings.Contains(refusals, r.says) {
					t.Errorf("nothing says %q in\n%s", r.says, refusals)
				}
			})
		}
	}
	for _, rule := range strings.Fields("3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 3.10 3.11 3.12") {
		if rules[rule] == 0 {
			t.Errorf("found no case of rule %s", rule)
		}
	}
}
