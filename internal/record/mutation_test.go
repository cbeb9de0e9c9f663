package record_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite {
	return mutation.Suite{Least: 10, Files: []string{"adoptee.go", "refusals.go"}}
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/adoptee.go_line_9' ./internal/record
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
