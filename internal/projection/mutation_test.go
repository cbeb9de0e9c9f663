package projection_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite {
	return mutation.Suite{Least: 10, Heavy: "TestEveryEarlierProjection"}
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/projection.go_line_20' ./internal/projection
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
