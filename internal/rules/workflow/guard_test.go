package workflow_test

import (
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/workflow"
)

func TestParseGuard(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want, problem string }{
		{text: "review_round < 2", want: "review_round < 2"},
		{text: "a<=1", want: "a <= 1"},
		{text: " a  >= -3 ", want: "a >= -3"},
		{text: "a2 == 0", want: "a2 == 0"},
		{text: "a!=5", want: "a != 5"},
		{text: "a > 1000000000", want: "a > 1000000000"},
		{text: "a > 1000000001", problem: `found "1000000001" after ">", expected a whole number`},
		{text: "a > 99999999999999999999", problem: `found "99999999999999999999" after ">", expected a whole number`},
		{text: "a < 1.5", problem: `found "1.5" after "<", expected a whole number`},
		{text: "a <", problem: `found "" after "<", expected a whole number`},
		{text: "< 2", problem: `found "" before "<", expected the name of a counter such as review_round`},
		{text: "2a < 2", problem: `found "2a" before "<", expected the name of a counter such as review_round`},
		{text: "a => 2", problem: `found "a =" before ">", expected the name of a counter such as review_round`},
		{text: "a < 2 < 3", problem: `found "2 < 3" after "<", expected a whole number`},
		{
			text: "a = 2", problem: `found "a = 2", expected "field op integer" with one of < > <= >= == !=, such as "review_round < 2"`},
		{
			text: "", problem: `found "", expected "field op integer" with one of < > <= >= == !=, such as "review_round < 2"`},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			g, err := workflow.ParseGuard(test.text)
			switch {
			case test.problem == "" && (err != nil || g.String() != test.want):
				t.Errorf("got %q, %v", g, err)
			case test.problem != "" && (err == nil || err.Error() != test.problem):
				t.Errorf("got %v, want %s", err, test.problem)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op                   string
		below, equal, beyond bool
	}{
		{"<", true, false, false},
		{"<=", true, true, false},
		{">", false, false, true},
		{">=", false, true, true},
		{"==", false, true, false},
		{"!=", true, false, true},
		{"", false, false, false},
	}
	for _, test := range tests {
		g := workflow.Guard{Field: "n", Op: test.op, Value: 2}
		if g.Holds(1) != test.below || g.Holds(2) != test.equal || g.Holds(3) != test.beyond {
			t.Errorf("%q is wrong", test.op)
		}
	}
}

func guards() *rapid.Generator[[]workflow.Guard] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) workflow.Guard {
		return workflow.Guard{
			Field: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "field"),
			Op:    rapid.SampledFrom([]string{"<", ">", "<=", ">=", "==", "!="}).Draw(t, "op"),
			Value: rapid.IntRange(-6, 6).Draw(t, "value"),
		}
	}), 0, 3)
}

func all(list []workflow.Guard, a, b int) bool {
	for _, g := range list {
		value := a
		if g.Field == "b" {
			value = b
		}
		if !g.Holds(value) {
			return false
		}
	}
	return true
}

func TestOverlapAndUncoveredAgreeWithTryingEveryNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		arms := rapid.SliceOfN(guards(), 2, 4).Draw(t, "arms")
		overlap, uncovered := false, false
		for a := -20; a <= 20; a++ {
			for b := -20; b <= 20; b++ {
				covered := false
				for _, arm := range arms {
					covered = covered || all(arm, a, b)
				}
				uncovered = uncovered || !covered
				overlap = overlap || all(arms[0], a, b) && all(arms[1], a, b)
			}
		}
		if witness, found := workflow.Overlap(arms[0], arms[1]); found != overlap {
			t.Errorf("Overlap says %v (%s), trying says %v", found, witness, overlap)
		}
		if witness, found := workflow.Uncovered(arms...); found != uncovered {
			t.Errorf("Uncovered says %v (%s), trying says %v", found, witness, uncovered)
		}
	})
}
