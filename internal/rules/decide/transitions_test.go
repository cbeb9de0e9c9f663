package decide_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

const transitions = "testdata/transitions.txt"

// row is one move of the documents, or one that a workflow adds.
type row struct {
	name, from, to, by, gate, hooks string
}

// rowsOf reads the moves, in order.
func rowsOf(tb testing.TB) []row {
	tb.Helper()
	var out []row
	for line := range strings.Lines(string(read(tb, transitions))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 {
			tb.Fatalf("%s: found %d cells in %q, expected 6", transitions, len(cells), line)
		}
		out = append(out, row{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]})
	}
	return out
}

func (r row) move() string { return r.from + "->" + r.to }

func (r row) story() string {
	return "testdata/stories/" + strings.NewReplacer("/", "-", "->", "-to-").Replace(r.name) + ".txt"
}

// bookOf finds the book that a row or a story belongs to, by the beginning of its name. Rows that a workflow adds
// begin with its name; stories that belong to no row use default.
func bookOf(name string) book {
	plain := strings.ReplaceAll(name, "/", "-")
	found := books[0]
	for _, b := range books {
		if strings.HasPrefix(plain, strings.ReplaceAll(b.name, "/", "-")+"-") ||
			strings.HasPrefix(plain, b.workflow+"-") {
			found = b
		}
	}
	return found
}

// has reports whether a row is one of the book's: of its document, or one that its workflow adds.
func (b book) has(r row) bool {
	return bookOf(r.name).name == b.name || strings.HasPrefix(r.name, b.workflow+"/")
}

func TestTheMovesAreThoseOfTheDocumentsInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, b := range books {
		var found, want []string
		for _, r := range rowsOf(t) {
			move, ofDocument := strings.CutPrefix(r.name, b.name+"/")
			if !ofDocument || strings.Contains(move, "/") {
				continue
			}
			found = append(found, move)
			if move != r.move() {
				t.Errorf("row %s goes from %s to %s, want the move of its name", r.name, r.from, r.to)
			}
		}
		for _, l := range b.laws {
			if !l.added {
				want = append(want, string(l.from)+"->"+string(l.to))
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("found %d rows of document %s:\n%q\nwant these %d:\n%q", len(found), b.name, found,
				len(want), want)
		}
	}
}

func TestShippedWorkflowsHaveExactlyTheEdgesOfTheTables(t *testing.T) {
	t.Parallel()
	for _, b := range books {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			compareRows(t, b, shippedWorkflow(t, b.workflow))
		})
	}
}

func compareRows(t *testing.T, b book, def *workflow.Definition) {
	t.Helper()
	rows := map[string]row{}
	for _, r := range rowsOf(t) {
		if !b.has(r) {
			continue
		}
		if _, twice := rows[r.move()]; twice {
			t.Errorf("found two rows for %s", r.move())
		}
		rows[r.move()] = r
	}
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		move := fmt.Sprintf("%s->%s", edge.From, edge.To)
		r, exists := rows[move]
		if !exists {
			t.Errorf("found no row for %s", move)
			continue
		}
		delete(rows, move)
		compareCell(t, r.name, "by", r.by, strings.Join(edge.By, ", "))
		compareCell(t, r.name, "gate", r.gate, gateCell(edge))
		compareCell(t, r.name, "hooks", r.hooks, hooksCell(edge.Hooks))
	}
	for move := range rows {
		t.Errorf("found a row for %s, but %s.yml has no such edge", move, b.workflow)
	}
}

func compareCell(t *testing.T, name, column, found, want string) {
	t.Helper()
	if want == "" {
		want = "—"
	}
	if found != want {
		t.Errorf("row %s says %q as %s, the workflow says %q", name, found, column, want)
	}
}

// gateCell is what the column "Gate" says of an edge: first its guards, then its sections and files, then whether
// it can be overridden.
func gateCell(edge *workflow.Transition) string {
	var parts []string
	for _, g := range edge.When {
		parts = append(parts, g.String())
	}
	for _, p := range workflow.Leaves(edge.Gate) {
		text := p.Section + p.File + p.Glob
		if p.Git != "" {
			text = "git: " + p.Git
		}
		if p.Judges {
			text += ", a verdict"
		}
		if len(p.Fields) > 0 {
			text += " with " + strings.Join(p.Fields, " or ")
		}
		switch p.VerdictIn {
		case workflow.VerdictFirstLine:
			text += fmt.Sprintf(" with Verdict: %s in its first line", p.Verdict)
		case workflow.VerdictAnywhere:
			text += fmt.Sprintf(" whose first verdict is %s", p.Verdict)
		}
		switch {
		case p.Since == workflow.SinceEntry && p.Fresh:
			text += ", unused and written since entry"
		case p.Fresh:
			text += ", unused"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if edge.Override {
		parts = append(parts, "override allowed")
	}
	return strings.Join(parts, "; ")
}

func hooksCell(hooks []workflow.Hook) string {
	var out []string
	for _, h := range hooks {
		switch {
		case h.Action == action.SetField:
			out = append(out, fmt.Sprintf("%s(%s = %d)", h.Action, h.Field, h.Value))
		case h.Action == action.Increment:
			out = append(out, fmt.Sprintf("%s(%s)", h.Action, h.Field))
		case h.Prompt != "" && h.Field != "":
			out = append(out, fmt.Sprintf("%s(%s, %s + 1)", h.Action, h.Prompt, h.Field))
		case h.Prompt != "":
			out = append(out, fmt.Sprintf("%s(%s)", h.Action, h.Prompt))
		default:
			out = append(out, h.Action)
		}
	}
	return strings.Join(out, ", ")
}

func TestEveryRowHasAStoryOfItsAcceptanceAndEachRefusal(t *testing.T) {
	t.Parallel()
	shelf := shippedWorkflows(t)
	for _, r := range rowsOf(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			def := shelf[bookOf(r.name).workflow]
			edge, exists := def.Edge(task.Status(r.from), task.Status(r.to))
			if !exists {
				t.Fatalf("found no edge %s", r.move())
			}
			text := string(read(t, r.story()))
			for _, want := range needed(r, edge) {
				if !strings.Contains(text, want) {
					t.Errorf("found nothing in %s that says %q", r.story(), want)
				}
			}
		})
	}
}

// needed is what the story of a row must show.
func needed(r row, edge *workflow.Transition) []string {
	want := []string{"# " + r.name + ": taken\n"}
	restarts := r.from == r.to && workflow.Asks(edge.Gate, workflow.GitMoved)
	for _, role := range []string{task.RoleWorker, task.RoleReviewer, task.RoleHuman} {
		switch {
		case slices.Contains(edge.By, role):
			want = append(want, fmt.Sprintf("moved %s -> %s by %s\n", r.from, r.to, role))
		case restarts: // a role that may not take it finds the task where it wants it
			want = append(want, "# an actor that may not begin it again finds the task there already\n")
		default:
			want = append(want, fmt.Sprintf("who may ask: found the role %q", role))
		}
	}
	for _, g := range edge.When {
		want = append(want, "refused guard_failed", fmt.Sprintf("%s: found %s = ", g, g.Field))
	}
	if strings.HasPrefix(r.name, "002/") && bookOf(r.name).name == "002" {
		return want // its gates are those of document 000, whose stories show each refusal
	}
	if edge.Override {
		want = append(want, "\n  in spite of ", "a reason: found none", "who may override: found the role")
	}
	for _, p := range workflow.Leaves(edge.Gate) {
		if p.Fresh {
			want = append(want, "identical to what moved the task at event ")
		}
		if p.Verdict == "FAIL" {
			want = append(want, "# it counts also where it stood there when the reviewer was started\n",
				"# and from a reviewer that did not end by itself\n")
		} else if p.IsVerdict() {
			want = append(want, "or when the last one was started",
				"agent.crashed | "+r.from+" crashes=1")
		}
		if p.Since != "" {
			want = append(want, "there already when the present status began")
		}
		switch {
		case restarts:
			want = append(want, "stays in "+r.to+": 0 events, 0 hooks\n",
				"# files that are not committed alone are no move\n",
				"# so is a command of the workflow's moves, whoever gives it\n")
			continue
		case p.Git != "":
			want = append(want, "refused gate_unmet", "git "+p.Git+": found ")
			continue
		case p.Section == "":
			want = append(want, "refused gate_unmet", "found no such file")
			continue
		}
		want = append(want, "refused gate_unmet", "found no such section", "found an empty section",
			"found no readable document", "is there 2 times")
		if len(p.Fields) > 0 {
			want = append(want, "found none of these labels")
		}
		if p.Verdict != "" {
			want = append(want, "| **Verdict: "+p.Verdict+"** (nits only)\n", "found the verdict ", "found no verdict")
		}
		if p.VerdictIn == workflow.VerdictAnywhere {
			want = append(want, "# a verdict below the first line\n", "# the first verdict counts\n")
		}
	}
	return want
}

func TestEveryStoryOfARowBelongsToARow(t *testing.T) {
	t.Parallel()
	stories := map[string]bool{}
	for _, r := range rowsOf(t) {
		stories[strings.TrimPrefix(r.story(), "testdata/stories/")] = true
	}
	files, err := os.ReadDir("testdata/stories")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(f.Name(), "-to-") && !stories[f.Name()] {
			t.Errorf("found the story %s, but no row of its name in %s", f.Name(), transitions)
		}
	}
}
