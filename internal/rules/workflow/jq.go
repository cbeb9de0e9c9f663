package workflow

import (
	"fmt"

	"github.com/itchyny/gojq"
)

// maxJQ is the length in bytes of the longest jq program: far above a predicate, and short enough to be compiled
// at once.
const maxJQ = 10_000

// clockless hides jq's clock: what a program answers of the same files must be the same tomorrow.
const clockless = `def now: error("a gate has no clock"); .`

// CompileJQ makes a jq program ready to run, with values for the variables, named without the dollar sign, in their
// order.
// It can read nothing but its input and these: no other input, no module, no environment, no clock.
func CompileJQ(program string, variables []string) (*gojq.Code, error) {
	if len(program) > maxJQ {
		return nil, fmt.Errorf("found a jq program of %d bytes, expected at most %d", len(program), maxJQ)
	}
	query, err := gojq.Parse(program)
	if err != nil {
		return nil, fmt.Errorf("cannot read the jq program: %w", err)
	}
	hidden, err := gojq.Parse(clockless)
	if err != nil {
		return nil, fmt.Errorf("hide the clock: %w", err)
	}
	query.FuncDefs = append(hidden.FuncDefs, query.FuncDefs...)
	names := make([]string, len(variables))
	for i, name := range variables {
		names[i] = "$" + name
	}
	code, err := gojq.Compile(query, gojq.WithVariables(names))
	if err != nil {
		return nil, fmt.Errorf("cannot use the jq program: %w", err)
	}
	return code, nil
}
