package explore_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"orange/internal/explore"
	"orange/internal/workflow"
)

// chain is a workflow of so many states in a row. Each is left by evidence to the next, and back to the one before by one of the counters,
// in turn, as often as the bound says.
func chain(states, counters, bound int) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("name: chain\nversion: 1\ninitial: todo\nfields:")
	for k := range counters {
		say("  c%d: {start: 0, reset: person}", k)
	}
	say("states:\n  todo: {}")
	for i := range states {
		say("  s%d: {role: worker, respawn_prompt: work}", i)
	}
	say("  stuck: {role: worker, respawn_prompt: work}\n  done: {terminal: true}\n  dropped: {terminal: true}\nmoves: {cancel: dropped, merge: done}\ntransitions:")
	say("  - {from: todo, to: s0, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}")
	for i := range states {
		if i+1 < states {
			say("  - {from: s%d, to: s%d, by: [worker, human], gate: {section: '## S%d'}}", i, i+1, i)
		}
		if i > 0 {
			k := i % counters
			say("  - {from: s%d, to: s%d, by: [worker, human], when: c%d < %d, hooks: [{increment: c%d}]}", i, i-1, k, bound, k)
		}
	}
	say("  - {from: s%d, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}", states-1)
	say("  - {from: stuck, to: s0, by: human}")
	say("  - {from: '*', to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}")
	say("exit_monitoring:\n  rules:")
	for i := range states {
		say("    - {status: s%d, no_artifact: true, action: crash, stuck_after: 2, then: stuck}", i)
	}
	say("    - {status: stuck, action: mark_dead}\nprompts:\n  work: |\n    Work.")
	return b.String()
}

func parseText(t testing.TB, text string) *workflow.Definition {
	t.Helper()
	def, err := workflow.Parse("chain.yml", []byte(text), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestChainsTable(t *testing.T) {
	if os.Getenv("ORANGE_TEST_TABLE") == "" {
		t.Skip()
	}
	for _, states := range []int{10, 20, 40, 80} {
		for counters := 1; counters <= 4; counters++ {
			for _, bound := range []int{3, 5} {
				def := parseText(t, chain(states, counters, bound))
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				r := explore.Check(def, explore.Most)
				took := time.Since(began)
				runtime.ReadMemStats(&after)
				fmt.Printf("| %d | %d | %d | %d | %v | %.1f s | %d MB sys %d MB alloc |\n", states, counters, bound, r.Configurations, r.Proved(), took.Seconds(),
					(after.Sys)>>20, (after.TotalAlloc-before.TotalAlloc)>>20)
				for _, v := range r.Failed() {
					fmt.Println(v.Tell("chain"))
				}
			}
		}
	}
}
