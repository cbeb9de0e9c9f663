package decide_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite {
	return mutation.Suite{
		List: "testdata/mutations.txt", Least: 60, Skip: "TestEveryMutation",
		Heavy: "TestLaws",
	}
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/exit.go_line_500' ./internal/decide
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
