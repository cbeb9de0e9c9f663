package guarantee

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// Called is the name of a thing that a line of a promise means: "## Owner PASS" is "## Owner" PASS in the table.
func Called(line string) string {
	line = strings.TrimSpace(line)
	if verdict := " PASS"; strings.HasPrefix(line, "#") && strings.HasSuffix(line, verdict) {
		section := strings.TrimSpace(strings.TrimLeft(strings.TrimSuffix(line, verdict), "# "))
		return fmt.Sprintf("%q%s", "## "+section, verdict)
	}
	return line
}

// Broken lists what is wrong with the promise of a workflow, by its table: names that no transition asks for, and good
// ends to which ways lead around a thing. A person who creates a task in another state, overrides a move or merges
// elsewhere breaks no promise of the file: the end is refused then, or says so.
func Broken(def *workflow.Definition, table []GoodEnd) yaml.Problems {
	var out yaml.Problems
	tell := func(line workflow.Named, format string, args ...any) {
		out = append(out, yaml.Problem{File: def.File, Line: line.Pos.Line, Col: line.Pos.Col, Rule: "promise",
			Message: fmt.Sprintf(format, args...)})
	}
	for _, line := range def.Promise {
		what := Called(line.Name)
		if !isKnown(def, what) {
			tell(line, "%s", unknownThing(def, line.Name))
			continue
		}
		for _, end := range table {
			if slices.Contains(end.Always, what) {
				continue
			}
			n := slices.IndexFunc(end.Around, func(a Around) bool { return a.What == what })
			switch {
			case n < 0:
				tell(line, "found the promise %q, and no way to %q has it: have a transition on each way ask for it",
					line.Name, end.End)
			case end.Around[n].By == "":
				tell(line, "found the promise %q, and a way to %q leads around it: %s (line %d)", line.Name, end.End,
					end.Around[n].Way, end.Around[n].Line)
			}
		}
	}
	return out
}

// Unkept lists the lines of a project's promise that no way of a workflow to a good end has.
func Unkept(def *workflow.Definition, promise []string, table []GoodEnd) []string {
	var out []string
	for _, line := range promise {
		what := Called(line)
		has := func(end GoodEnd) bool {
			return slices.Contains(end.Always, what) ||
				slices.ContainsFunc(end.Around, func(a Around) bool { return a.What == what })
		}
		switch {
		case !isKnown(def, what):
			out = append(out, unknownThing(def, line))
		case !slices.ContainsFunc(table, has):
			out = append(out, fmt.Sprintf("found the promise %q, and no way to a good end has it", line))
		}
	}
	return out
}

func isKnown(def *workflow.Definition, what string) bool {
	names, _ := Things(def)
	return slices.Contains(names, what)
}

func unknownThing(def *workflow.Definition, line string) string {
	names, _ := Things(def)
	return fmt.Sprintf("found the promise %q, and no transition asks for it%s; what can be promised here: %s", line,
		yaml.Guess(Called(line), names), strings.Join(names, "; "))
}
