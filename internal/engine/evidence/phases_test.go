package evidence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

const phasesManual = "../../../docs/phases.md"

func phases(t *testing.T) *workflow.Definition {
	t.Helper()
	names, err := os.ReadFile("../../../workflows/usual.yml")
	must(t, err)
	usual, err := workflow.ParseUsual("usual.yml", names)
	must(t, err)
	text, err := os.ReadFile("../../../workflows/phases.yml")
	must(t, err)
	def, err := workflow.Parse("phases.yml", text, usual)
	must(t, err)
	return def
}

// open writes the files of a task in a status and answers the moves that they open; a text of "-" is no file.
// Moves that ask for nothing are left out.
func open(t *testing.T, def *workflow.Definition, status task.Status, files ...map[string]string) (
	open []task.Status, refusals string) {
	t.Helper()
	w := newWorld(t)
	w.looker.Programs = atOnce{w}
	w.tip = task.Subject{Commit: head}
	all := map[string]string{}
	for _, some := range files {
		for name, text := range some {
			all[name] = text
		}
	}
	for name, text := range all {
		if text != "-" {
			w.write(name, text)
		}
	}
	one := task.Task{ID: w.task.ID, Project: w.task.Project, Workspace: w.task.Workspace, Branch: w.task.Branch,
		Subject: task.Subject{Commit: head}, Status: status, Live: true}
	facts, err := w.looker.Look(t.Context(), one, def, decide.NeedsOfAll(def, one))
	must(t, err)
	ev := decide.Evidence{Facts: facts}
	actor := task.Actor{Role: task.RoleHuman}
	for _, to := range decide.MayAsk(def, one, actor) {
		if edge, _ := def.Edge(status, to); len(edge.Gate) == 0 {
			continue
		}
		_, err := decide.Transition(def, one, ev, task.Request{Task: one.ID, To: to, Actor: actor}, time.Unix(0, 0))
		if err == nil {
			open = append(open, to)
			continue
		}
		refusals += err.Error() + "\n"
	}
	return open, refusals
}

// atOnce runs jq programs where they are asked for: they are those that ship, and need no one to keep them in bounds.
type atOnce struct{ *world }

func (atOnce) RunJQ(_ context.Context, request []byte, _ time.Duration) (string, error) {
	var asked struct {
		Programs []struct {
			Program string
			Names   []string
			Values  []any
			Input   any
		}
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return "", err
	}
	var said strings.Builder
	for i, p := range asked.Programs {
		code, err := workflow.CompileJQ(p.Program, p.Names)
		if err != nil {
			return "", err
		}
		answer, _ := code.Run(p.Input, p.Values...).Next()
		line, err := json.Marshal(map[string]any{"number": i, "holds": answer == true,
			"found": fmt.Sprintf("that its jq program answers %v", answer)})
		if err != nil {
			return "", err
		}
		said.Write(append(line, '\n'))
	}
	return said.String(), nil
}

// before is what the earlier phases have left, for a phase whose files are looked at in its light.
func before(status task.Status, file string) map[string]string {
	const plan = `{"title": "t", "brief": "b", "file_plan": [{"path": "src/login.go"}, {"path": "./src/page.go", "intent": "update"}, {"path": "old.go", "intent": "delete"}]}`
	switch {
	case file == "planning/plan.files.json":
		return map[string]string{"planning/planning.ai.json": `{"title": "t", "brief": "b"}`}
	case status == "codegen":
		return map[string]string{"planning/planning.ai.json": plan}
	}
	return nil
}

// example is a block of JSON in the manual, with what the line before it says.
type example struct {
	line     int
	file     string
	from, to task.Status
	required []string
	text     string
}

func phasesExamples(t *testing.T) []example {
	t.Helper()
	page, err := os.ReadFile(phasesManual)
	must(t, err)
	blocks := regexp.MustCompile("(?s)```json\n.*?```")
	marked := regexp.MustCompile("(?s)<!-- (\\S+): (\\w+) -> (\\w+): ([^\n]*) -->\n```json\n(.*?)```")
	var out []example
	for _, at := range marked.FindAllSubmatchIndex(page, -1) {
		part := func(n int) string { return string(page[at[2*n]:at[2*n+1]]) }
		out = append(out, example{
			line: 1 + strings.Count(string(page[:at[0]]), "\n"), file: part(1), from: task.Status(part(2)),
			to:       task.Status(part(3)),
			required: strings.Split(part(4), ", "), text: part(5),
		})
	}
	if all := len(blocks.FindAll(page, -1)); all != len(out) || all < 15 {
		t.Fatalf("found %d examples in %s, of which %d say what they open", all, phasesManual, len(out))
	}
	return out
}

func TestTheExamplesOfThePhasesManualOpenTheirMoveAndNoOther(t *testing.T) {
	t.Parallel()
	def := phases(t)
	opened := map[string]bool{}
	for _, e := range phasesExamples(t) {
		opened[string(e.from)+" -> "+string(e.to)] = true
		t.Run(e.file+" to "+string(e.to)+" on line "+strconv.Itoa(e.line), func(t *testing.T) {
			t.Parallel()
			found, refusals := open(t, def, e.from, before(e.from, e.file), map[string]string{e.file: e.text})
			if !slices.Equal(found, []task.Status{e.to}) {
				t.Errorf("it opens %v, want %s alone:\n%s", found, e.to, refusals)
			}
			for _, key := range e.required {
				found, refusals := open(t, def, e.from, before(e.from, e.file), map[string]string{
					e.file: without(t, e.text, key)})
				if slices.Contains(found, e.to) {
					t.Errorf("without %s it still opens %v", key, found)
				}
				if !strings.Contains(refusals, e.file) || strings.Contains(refusals, "make this true of it") {
					t.Errorf("without %s nobody says in words what %s lacks:\n%s", key, e.file, refusals)
				}
			}
		})
	}
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		move := string(edge.From) + " -> " + string(edge.To)
		if len(edge.Gate) > 0 && !opened[move] && move != "codegen -> review" { // which no JSON opens
			t.Errorf("no example in %s opens %s", phasesManual, move)
		}
	}
}

// without is JSON with one key less, named with dots between the keys and numbers that lead to it.
func without(t *testing.T, text, key string) string {
	t.Helper()
	var value any
	must(t, json.Unmarshal([]byte(text), &value))
	steps := strings.Split(key, ".")
	at := value
	for _, step := range steps[:len(steps)-1] {
		if list, is := at.([]any); is {
			n, err := strconv.Atoi(step)
			must(t, err)
			at = list[n]
			continue
		}
		at = at.(map[string]any)[step] //nolint:forcetypeassert // the manual is wrong then, and the test tells where
	}
	object, last := at.(map[string]any), steps[len(steps)-1] //nolint:forcetypeassert // likewise
	if _, there := object[last]; !there {
		t.Fatalf("found no %s in %s", key, text)
	}
	delete(object, last)
	out, err := json.Marshal(value)
	must(t, err)
	return string(out)
}
