package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/printable"
	"orange/internal/rules/stats"
)

func TestStats_haveEachTimeUnderItsOwnName(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &printer{Out: printable.NewWriter(&out), json: true}
	s := stats.Stats{Task: "1", Status: "working", InState: 2 * time.Minute, Total: time.Hour, Spans: []stats.Span{
		{Status: "working", Visits: 3, Time: 5 * time.Minute}}}
	if err := sayStats(p, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"time_in_state": 120`, `"total_time": 3600`, `"time": 300`, `"visits": 3`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("found no %s in\n%s", want, out.String())
		}
	}
}
