package workflow

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Guard is a comparison of one of the task's integers with a number.
type Guard struct {
	Field string
	Op    string // < > <= >= == !=
	Value int
	Pos   yaml.Pos
}

func (g Guard) String() string { return fmt.Sprintf("%s %s %d", g.Field, g.Op, g.Value) }

// Holds reports whether the guard is true of the field's value.
func (g Guard) Holds(value int) bool {
	switch g.Op {
	case "<":
		return value < g.Value
	case ">":
		return value > g.Value
	case "<=":
		return value <= g.Value
	case ">=":
		return value >= g.Value
	case "==":
		return value == g.Value
	case "!=":
		return value != g.Value
	}
	return false
}

// maxGuard bounds the numbers of guards, so that their neighbours exist too.
const maxGuard = 1_000_000_000

// joins is how other languages join two comparisons.
var joins = regexp.MustCompile(`\b(?i:and|or|not)\b|&&|\|\|`)

// ParseGuard reads "field op integer".
func ParseGuard(text string) (Guard, error) {
	for _, op := range []string{"<=", ">=", "==", "!=", "<", ">"} {
		field, number, found := strings.Cut(text, op)
		if !found {
			continue
		}
		field, number = strings.TrimSpace(field), strings.TrimSpace(number)
		if joined := joins.FindString(text); joined != "" {
			return Guard{}, fmt.Errorf("found %q in %q, expected one comparison: give a list where all must "+
				"hold, as in [%s < 2, tries < 3], and two transitions where one of them is enough",
				joined, text, task.ReviewRound)
		}
		if !isFieldName(field) {
			return Guard{}, fmt.Errorf("found %q before %q, expected the name of a counter such as review_round",
				field, op)
		}
		value, err := strconv.Atoi(number)
		if err != nil || value > maxGuard || value < -maxGuard {
			return Guard{}, fmt.Errorf("found %q after %q, expected a whole number", number, op)
		}
		return Guard{Field: field, Op: op, Value: value}, nil
	}
	return Guard{}, fmt.Errorf(
		`found %q, expected "field op integer" with one of < > <= >= == !=, such as "review_round < 2"`, text)
}

// maxFieldName keeps the name of a counter short enough to be a key in the header of TASK.md: YAML ends those at
// 1024 bytes.
const maxFieldName = 100

func isFieldName(text string) bool {
	for i, r := range text {
		letter := r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return text != "" && len(text) <= maxFieldName
}

// eachWhen visits the guards of every transition, of every arm of an exit rule, and of every rule that sends back.
func (d *Definition) eachWhen(visit func([]Guard)) {
	for i := range d.Transitions {
		visit(d.Transitions[i].When)
	}
	for _, rule := range d.Exit.Rules {
		for _, b := range rule.ThenWhen {
			visit(b.When)
		}
	}
	for _, s := range d.States {
		for _, rule := range s.SendBack {
			visit(rule.When)
		}
	}
}

// point is one assignment of values to fields, in the order of a field list.
type point []int

func holdsAll(guards []Guard, fields []string, at point) bool {
	return !slices.ContainsFunc(guards, func(g Guard) bool {
		i := slices.Index(fields, g.Field)
		return i >= 0 && !g.Holds(at[i])
	})
}

// samples gives, for the fields that the guards name, all values that any of them can tell apart.
// Between two neighbouring numbers of a field's guards every integer answers alike, so the numbers themselves
// and those directly next to them stand for all: what holds on the samples holds on every integer.
func samples(arms ...[]Guard) (fields []string, values [][]int) {
	byField := map[string]map[int]bool{}
	for _, guards := range arms {
		for _, g := range guards {
			if byField[g.Field] == nil {
				byField[g.Field] = map[int]bool{}
				fields = append(fields, g.Field)
			}
			for v := g.Value - 1; v <= g.Value+1; v++ {
				byField[g.Field][v] = true
			}
		}
	}
	slices.Sort(fields)
	for _, field := range fields {
		values = append(values, slices.Sorted(maps.Keys(byField[field])))
	}
	return fields, values
}

// each calls visit with every combination of values until it answers false.
func each(values [][]int, visit func(point) bool) {
	at := make(point, len(values))
	var walk func(depth int) bool
	walk = func(depth int) bool {
		if depth == len(values) {
			return visit(at)
		}
		for _, v := range values[depth] {
			at[depth] = v
			if !walk(depth + 1) {
				return false
			}
		}
		return true
	}
	walk(0)
}

// Overlap finds values at which both guard lists hold. It is exact over all integers.
// Each guard speaks of one field, so the fields can be looked at one by one.
func Overlap(a, b []Guard) (witness string, found bool) {
	fields, values := samples(a, b)
	at := make(point, len(fields))
	for i := range fields {
		one := fields[i : i+1]
		fits := slices.IndexFunc(values[i], func(v int) bool {
			return holdsAll(a, one, point{v}) && holdsAll(b, one, point{v})
		})
		if fits < 0 {
			return "", false
		}
		at[i] = values[i][fits]
	}
	return describe(fields, at), true
}

// casesOf is the number of combinations that Uncovered has to look at, or more than most.
func casesOf(most int, arms ...[]Guard) int {
	_, values := samples(arms...)
	cases := 1
	for _, list := range values {
		if cases > most {
			break
		}
		cases *= len(list)
	}
	return cases
}

// Uncovered finds values at which none of the guard lists holds. It is exact over all integers.
// What it costs grows with casesOf.
func Uncovered(arms ...[]Guard) (witness string, found bool) {
	fields, values := samples(arms...)
	each(values, func(at point) bool {
		if slices.ContainsFunc(arms, func(guards []Guard) bool { return holdsAll(guards, fields, at) }) {
			return true
		}
		witness, found = describe(fields, at), true
		return false
	})
	return witness, found
}

func describe(fields []string, at point) string {
	if len(fields) == 0 {
		return "always"
	}
	parts := make([]string, len(fields))
	for i, field := range fields {
		parts[i] = fmt.Sprintf("%s = %d", field, at[i])
	}
	return strings.Join(parts, ", ")
}
