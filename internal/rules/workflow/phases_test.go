package workflow_test

import (
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Programs that ask the same files out of one state answer with one word each and differ in the word that they want:
// so no two of its moves can be open at once.
func TestThePhasesAskEachFileForOneWord(t *testing.T) {
	t.Parallel()
	type asked struct {
		from   task.Status
		source string
	}
	programs := map[asked]map[string]string{} // by what they want: the rest of the program
	d := load(t, "../../../workflows/phases.yml")
	for _, edge := range d.Transitions {
		for _, p := range workflow.Leaves(edge.Gate) {
			lines := strings.Split(strings.TrimSpace(p.JQ), "\n")
			last := lines[len(lines)-1]
			if !strings.Contains(p.JQ, "def way:") {
				continue
			}
			if want := `way == "` + string(edge.To) + `"`; strings.TrimSpace(last) != want {
				t.Errorf("the program on line %d ends with %q, want %q", p.Pos.Line, last, want)
			}
			of := asked{edge.From, p.File + p.Glob}
			if programs[of] == nil {
				programs[of] = map[string]string{}
			}
			programs[of][last] = strings.Join(lines[:len(lines)-1], "\n")
		}
	}
	if len(programs) != 6 {
		t.Errorf(
			"found programs of %d files, want 6: plan review, code, its signal, code review, report, decision",
			len(programs))
	}
	for of, bodies := range programs {
		first := ""
		for _, body := range bodies {
			if first == "" {
				first = body
			}
			if body != first {
				t.Errorf("two programs that ask %s in %s read it differently:\n%s\n\n%s", of.source, of.from,
					first, body)
			}
		}
	}
}

// Document 004's phases, in their order, each with its folder; another folder is no phase.
func TestThePhasesAreThoseOfDocument004(t *testing.T) {
	t.Parallel()
	d := load(t, "../../../workflows/phases.yml")
	var found, redo, folders []string
	for _, s := range d.States {
		found = append(found, string(s.Name))
		folders = append(folders, s.Folder)
	}
	for _, r := range d.Redo {
		redo = append(redo, r.Name)
	}
	if got := strings.Join(found, " "); got != "planning plan_review codegen review test accept revert done cancelled" {
		t.Errorf("found the states %s", got)
	}
	if got := strings.Join(folders, ","); got != "planning,review,code,review,test,accept,revert,," {
		t.Errorf("found the folders %s", got)
	}
	if got := strings.Join(redo, " "); d.Initial != "planning" ||
		got != "planning plan_review codegen review test accept revert" {
		t.Errorf("it begins in %s, and what may be done anew is %s", d.Initial, got)
	}
	var commands []string
	for _, c := range d.Commands {
		commands = append(commands, c.Text+"="+string(c.To))
	}
	if got := strings.Join(commands, ", "); got != "/plan=planning, /review plan=plan_review, "+
		"/codegen=codegen, /review code=review, /test=test, /accept=accept, /revert=revert" {
		t.Errorf("found the commands %s", got)
	}
}

// A person who overrides names no target: out of each phase at most one move may be overridden.
func TestThePhasesLetOneMoveOfEachBeOverridden(t *testing.T) {
	t.Parallel()
	found := map[task.Status]task.Status{}
	for _, edge := range load(t, "../../../workflows/phases.yml").Transitions {
		if !edge.Override {
			continue
		}
		if other, twice := found[edge.From]; twice {
			t.Errorf("out of %s both %s and %s may be overridden", edge.From, other, edge.To)
		}
		found[edge.From] = edge.To
	}
	want := map[task.Status]task.Status{"planning": "plan_review", "plan_review": "codegen", "codegen": "review",
		"review": "test", "test": "accept"}
	for from, to := range want {
		if found[from] != to {
			t.Errorf("out of %s the move to %q may be overridden, want %s", from, found[from], to)
		}
	}
	if len(found) != len(want) {
		t.Errorf("found overrides %v, want %v", found, want)
	}
}
