package passed_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite { return mutation.Suite{Least: 25} }

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/plan.go_line_50' ./internal/passed
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
