package metrics_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"orange/fleet/metrics"
	"orange/fleet/testkit"
)

func TestTheManualHasEveryMetricAndNoOther(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/fleet-server.md")
	testkit.Must(t, err)
	name := regexp.MustCompile(`orange_fleet_[a-z_]+`)
	shown := metrics.Text(fleet(), map[string]int64{"answered": 1}, now)
	for _, one := range name.FindAllString(shown, -1) {
		if !strings.Contains(string(text), "`"+one+"`") {
			t.Errorf("the manual does not have %s", one)
		}
	}
	for _, one := range name.FindAllString(string(text), -1) {
		if !strings.Contains(shown, "# TYPE "+one+" ") {
			t.Errorf("there is no %s", one)
		}
	}
}
