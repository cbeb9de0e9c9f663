package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// thePage is what the tasks build, in a file that the plan names.
const thePage = `{"files": [{"path": "the page.txt", "intent": "create"}]}`

// filesOfPhases are the files of the workflow phases that speak for the work, by their paths in the task's folder.
var filesOfPhases = map[string]string{
	"planning/planning.ai.json": `{"title": "A page", "brief": "It says hello"}`,
	"planning/plan.files.json":  thePage,
	"review/plan-review.json":   `{"ok": true, "blocked": false}`,
	"review/code-review.json":   `{"issues": []}`,
	"test/report.json": `{"status": "completed", "overall_pass": true, ` +
		`"summary": {"passed": 1, "failed": 0}}`,
	"accept/decision.json":        `{"verdict": "accepted"}`,
	"accept/decision.json revert": `{"verdict": "rejected", "revert": true}`,
	"revert/record.json":          `{"reason": "It broke the front page"}`,
}

var isSection = regexp.MustCompile(`^"## (.+)"(?: with the verdict (\S+))?$`)

// evidence writes what a move to a status asks for.
func (w *walker) evidence(part, status string) {
	w.t.Helper()
	w.wrote++
	section := isSection.FindStringSubmatch(part)
	switch {
	case part == "":
	case section != nil:
		if section[1] == "Handoff" {
			w.commit()
		}
		text := fmt.Sprintf("\n## %s\n\nAPPROACH: plain\nTOUCHING: README.md\nDONE: part %d\n", section[1], w.wrote)
		if section[2] != "" {
			text = fmt.Sprintf("\n## %s\n\nVerdict: %s\nLooked %d times.\n", section[1], section[2], w.wrote)
		}
		file, err := os.OpenFile(w.document(w.id), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := file.WriteString(text); err != nil {
			w.t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			w.t.Fatal(err)
		}
	case part == "code/diff.patch":
		w.commit()
		w.inFolder(part, fmt.Sprintf("the change, as it is the %dth time\n", w.wrote))
	case part == "code/files/**":
		w.inFolder("planning/plan.files.json", thePage)
		w.inFolder("code/files/the page.txt", fmt.Sprintln("hello", w.wrote))
	case strings.HasPrefix(part, "a worktree that is "):
		if what := strings.TrimPrefix(part, "a worktree that is "); what == "committed" || what == "ahead" {
			w.commit()
		}
	case strings.HasPrefix(part, "the check "): // it passes by itself
	default:
		text, known := filesOfPhases[part+" "+status]
		if !known {
			text, known = filesOfPhases[part]
		}
		if !known {
			w.t.Fatalf("no one knows how to show %s", part)
		}
		w.inFolder(part, fmt.Sprint(text, strings.Repeat(" ", w.wrote), "\n"))
	}
}

func (w *walker) inFolder(name, text string) {
	w.t.Helper()
	w.write(filepath.Join("orange", "tasks", "coffee", w.id, name), text)
}

// commit has all work committed, and something where there is none.
func (w *walker) commit() {
	w.t.Helper()
	w.inWorktree(`test -e 'the page.txt' || echo hello >'the page.txt'
git add -A
git diff --cached --quiet || git -c user.name=Agent -c user.email=agent@localhost commit -q -m 'Say hello'`)
}
