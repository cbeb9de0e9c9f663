package answer_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite {
	return mutation.Suite{Least: 15}
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/answer.go_line_12' ./internal/answer
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
