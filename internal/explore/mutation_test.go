package explore_test

import (
	"testing"

	"orange/internal/mutation"
)

func rulesBroken() mutation.Suite {
	return mutation.Suite{Least: 100,
		Heavy: "TestAPlainTwin|TestGenerated|TestNotOnlyConfigurations|TestWhatIsLookedAt|" +
			"TestEveryPropertyCanBe|TestTheShippedWorkflows|TestAPromptIsFollowed"}
}

func TestEveryMutationStillFitsTheSource(t *testing.T) {
	t.Parallel()
	rulesBroken().Fits(t)
}

// One of them: ORANGE_TEST_LONG=1 go test -run 'TestEveryRule.*/bound.go_line_500' ./internal/explore
func TestEveryRuleThatIsBrokenOnPurposeMakesATestFail(t *testing.T) {
	t.Parallel()
	rulesBroken().AreFound(t)
}
