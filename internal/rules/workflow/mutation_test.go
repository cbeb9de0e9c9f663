package workflow_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// choice is a line that may be dropped: without it there is another sound machine, and only a person knows which
// one is meant.
type choice struct {
	line  string
	times int // how often it is dropped in silence
	why   string
}

// choices are all lines of the workflows that ship whose loss no one can tell.
func choices() map[string][]choice {
	return map[string][]choice{
		"default": {
			{"success: true", 1, "whether a task that was finished without a merge lets others start"},
			{"respawn: auto", 1, "whether a dead agent is started again by itself"},
			{"- action: delete_remote_branch", 1, "whether the branch stays on origin"},
			{"- action: spawn_next", 1, "whether the next task begins by itself"},
			{"- action: kill_reviewer", 1, "before kill_session, which ends the reviewer too"},
			{"- {action: set_field, field: rereviews, value: 0}", 1,
				"whether the reviews that were begun anew are counted for each hand-over"},
			{"override: allowed", 1, "whether the refusal of a merge names the override"},
			{"override: strict", 1, "whether a person may set a verdict aside"},
		},
		"classic": {
			{"success: true", 1, "whether a task that was finished without a merge lets others start"},
			{"respawn: auto", 1, "whether a dead agent is started again by itself"},
			{"- action: delete_remote_branch", 1, "whether the branch stays on origin"},
			{"- action: spawn_next", 1, "whether the next task begins by itself"},
			{"- action: kill_session", 2, "whether the worker lives while its work is reviewed; where a person " +
				"looks, nobody is alive"},
			{"override: strict", 1, "whether a person may set a verdict aside"},
		},
		"minimal": {
			{"success: true", 1, "whether a task that was finished without a merge lets others start"},
			{"complete: reviewing", 1, "whether there is a task complete"},
			{"- action: delete_remote_branch", 1, "whether the branch stays on origin"},
			{"- action: spawn_next", 1, "whether the next task begins by itself"},
			{"- action: kill_session", 1, "where a person looks, nobody is alive"},
		},
	}
}

func TestDroppingALineOfAShippedWorkflowIsHarmlessOrReported(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	for name, allowed := range choices() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dropEach(t, "../../../workflows/"+name+".yml", allowed)
		})
	}
}

func dropEach(t *testing.T, file string, allowed []choice) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names, whole := usual(t), load(t, file)
	before, told := machineOf(whole), rules(whole.Warnings())
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	refused, warned, unproved, harmless := 0, 0, 0, 0
	silent := map[string]int{}
	for i, line := range lines {
		less := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		d, err := workflow.Parse(file, []byte(less), names)
		switch {
		case err != nil:
			refused++
		case more(rules(d.Warnings()), told):
			warned++
		case machineOf(d) == before:
			harmless++
			problems, _ := senseless(d)
			for _, problem := range problems {
				t.Errorf("without line %d, %q: %s", i+1, line, problem)
			}
		case len(explore.Check(d, explore.MostAtCreation).Failed()) > 0:
			unproved++
		default:
			silent[strings.TrimSpace(line)]++
			if !slices.ContainsFunc(allowed, func(c choice) bool { return c.line == strings.TrimSpace(line) }) {
				t.Errorf("without line %d, %q, it is another machine, and nothing tells so", i+1, line)
			}
		}
	}
	chosen := 0
	for _, c := range allowed {
		if chosen += c.times; silent[c.line] != c.times {
			t.Errorf("%q is dropped in silence %d times, not %d: %s", c.line, silent[c.line], c.times, c.why)
		}
	}
	t.Logf("%s: %d lines, %d refused, %d warned, %d not proved, %d harmless, %d choices", file, len(lines),
		refused, warned, unproved, harmless, chosen)
}

// rules counts warnings by their rule.
func rules(warnings yaml.Problems) map[string]int {
	out := map[string]int{}
	for _, w := range warnings {
		out[w.Rule]++
	}
	return out
}

// more reports whether there are warnings of a rule that there were not.
func more(now, before map[string]int) bool {
	for rule, n := range now {
		if n > before[rule] {
			return true
		}
	}
	return false
}

// machineOf is all of a definition that makes a difference to a task, as text.
func machineOf(d *workflow.Definition) string {
	moves := slices.Clone(d.Moves)
	if _, said := d.Move(workflow.MoveSpawn); !said { // it follows from the transitions then, as decide reads them
		for _, edge := range d.Transitions {
			if edge.From == d.Initial && edge.Spawns() && len(edge.When) == 0 {
				moves = append(moves, workflow.Move{Command: workflow.MoveSpawn, To: edge.To})
				break
			}
		}
	}
	slices.SortFunc(moves, func(a, b workflow.Move) int { return strings.Compare(a.Command, b.Command) })
	one := *d
	one.Digest, one.File, one.Moves = "", "", moves
	return show(reflect.ValueOf(one))
}

// show is a value as text, without places and what is for people alone; without no_artifact, which says nothing
// more than the place of its rule, and required of a section, which never may be empty.
func show(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			text := f.Name == "Text" && v.Type() == reflect.TypeFor[workflow.Prompt]()
			implied := f.Name == "Required" && v.FieldByName("Section").String() != ""
			if !f.IsExported() || f.Type == reflect.TypeFor[yaml.Pos]() || f.Name == "About" ||
				f.Name == "NoArtifact" || text || implied {
				continue
			}
			parts = append(parts, f.Name+"="+show(v.Field(i)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return show(v.Elem())
	}
	return fmt.Sprintf("%q", fmt.Sprint(v.Interface()))
}
