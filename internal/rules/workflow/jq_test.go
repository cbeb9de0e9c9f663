package workflow_test

import (
	"strings"
	"testing"

	"orange/internal/rules/workflow"
)

func TestCompileJQ_refusesWhatReachesOutOfItsInput(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`.a.b == "x" and ($plan.files | length > 0)`: "",
		`def f: . + 1; map(f) | add > 3`:             "",
		`.[`:                                         "cannot read the jq program",
		``:                                           "missing query",
		`$other`:                                     "variable not defined: $other",
		`input`:                                      "not allowed",
		`[inputs]`:                                   "not allowed",
		`import "a" as a; 1`:                         "cannot load module",
		`include "a"; 1`:                             "cannot load module",
		`debug`:                                      "function not defined: debug/0",
		`no_such_function(1)`:                        "function not defined",
		strings.Repeat("(", 20_000):                  "expected at most 10000",
		strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000): "",
	}
	for program, want := range tests {
		_, err := workflow.CompileJQ(program, []string{"plan"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %q", program, err, want)
		}
	}
}

func TestCompileJQ_hasNoClockAndNoEnvironment(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{`now`: "a gate has no clock", `$ENV | length`: "",
		`env | length`: "", `[now] | .[0]`: "a gate has no clock"} {
		code, err := workflow.CompileJQ(program, nil)
		if err != nil {
			t.Fatal(err)
		}
		value, _ := code.Run(nil).Next()
		failed, _ := value.(error)
		if want == "" && value != 0 || want != "" && (failed == nil || !strings.Contains(failed.Error(), want)) {
			t.Errorf("%q: %v", program, value)
		}
	}
}
