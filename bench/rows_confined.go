package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const confinedWorkflow = `
name: confined
version: 1
allow: {bounded: to go round is what is measured here}
states:
  pending: {}
  a: {role: worker}
  b: {role: worker}
  over: {terminal: true}
transitions:
  - {from: pending, to: a, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: go}]}
  - {from: a, to: b}
  - {from: b, to: a}
  - {from: [a, b], to: over, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  go: Go.
`

// confinedAgent moves its task to and fro. Of two moves its launcher makes one, and it makes the other one itself; the
// file has a line of nanoseconds for each. It does that so often: times more than are counted, for the caches.
const confinedAgent = `#!/bin/sh
through() { orange task update --status "$1" >>"$OUT.said" 2>&1 || exit 1; }
direct() { (unset ORANGE_REQUESTS; exec orange task update --status "$1") >>"$OUT.said" 2>&1 || exit 1; }
timed() {
	began=$(date +%s%N)
	"$1" "$2"
	echo "$1 $(($(date +%s%N) - began))" >>"$OUT"
}
i=0
while test $i -lt 31; do
	timed through b; timed direct a
	timed direct b; timed through a
	i=$((i + 1))
done
echo over over >>"$OUT"
exec sleep 100000
`

// confined compares a move that an agent in a sandbox asks its launcher for with the same move without.
func confined(l *lab) ([]row, error) {
	const what, against = "a move by an agent in a sandbox", "by an agent in none"
	if err := needs("tmux"); err != nil {
		return []row{absent(what, "adds under 50 ms", err)}, nil
	}
	h, err := l.home("confined")
	if err != nil {
		return nil, err
	}
	out := filepath.Join(h.dir, "moves")
	for path, text := range map[string]string{
		"workflows/confined.yml": confinedWorkflow,
		"agent.sh":               strings.ReplaceAll(confinedAgent, "$OUT", out),
		"harnesses/confined.yml": fmt.Sprintf("name: confined\nworker: {sandboxed: true, command: [sh, %q]}\n",
			filepath.Join(h.dir, "agent.sh")),
	} {
		if err := os.WriteFile(filepath.Join(h.dir, path), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if _, err := h.create("confined", "--workflow", "confined", "--harness", "confined"); err != nil {
		return nil, err
	}
	through, direct, err := timesOf(out)
	if err != nil {
		return nil, err
	}
	var adds []float64
	for i := range min(len(through), len(direct)) {
		adds = append(adds, float64(through[i]-direct[i])/float64(time.Millisecond))
	}
	middle := quantile(adds, 0.5)
	return []row{{What: what, Ours: millis(quantile(through, 0.5)),
		Against: against + ", " + millis(quantile(direct, 0.5)),
		Ratio:   fmt.Sprintf("%+.1f ms (%+.1f–%+.1f)", middle, quantile(adds, 0.25), quantile(adds, 0.75)),
		Goal:    "adds under 50 ms", Verdict: judge(middle, 50)}}, nil
}

// timesOf waits for the file of an agent, and reads what its moves took but for the first two.
func timesOf(path string) (through, direct []time.Duration, err error) {
	var lines []string
	for late := time.Now().Add(time.Minute); ; pause(100 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		if lines = strings.Split(strings.TrimSpace(string(text)), "\n"); lines[len(lines)-1] == "over over" {
			break
		}
		if time.Now().After(late) {
			said, _ := os.ReadFile(path + ".said")
			return nil, nil, fmt.Errorf("the agent made %d moves in a minute: %s", len(lines), firstLine(string(said)))
		}
	}
	for _, line := range lines[4 : len(lines)-1] {
		kind, took, _ := strings.Cut(line, " ")
		ns, err := strconv.ParseInt(took, 10, 64)
		if err != nil {
			return nil, nil, err
		}
		if kind == "through" {
			through = append(through, time.Duration(ns))
		} else {
			direct = append(direct, time.Duration(ns))
		}
	}
	return through, direct, nil
}
