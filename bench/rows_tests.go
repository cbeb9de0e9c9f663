package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// benchmark runs a benchmark of Orange's own tests, and answers its metrics by the name of the benchmark and the unit.
func benchmark(l *lab, pkg, name, times string) (map[string]map[string]float64, error) {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", name, "-benchtime", times, "-timeout", "20m", pkg)
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "TMPDIR="+l.dir)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("benchmark %s: %w: %s", name, err, firstLine(string(said)))
	}
	out := map[string]map[string]float64{}
	for line := range strings.Lines(string(said)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		metrics := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			if metrics[fields[i+1]], err = strconv.ParseFloat(fields[i], 64); err != nil {
				return nil, fmt.Errorf("read %q: %w", line, err)
			}
		}
		out[processors.ReplaceAllString(fields[0], "")] = metrics
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the benchmark %s measured nothing: %s", name, said)
	}
	return out, nil
}

// processors is what Go writes behind the name of a benchmark.
var processors = regexp.MustCompile(`-\d+$`)

func death(l *lab) ([]row, error) {
	found, err := benchmark(l, "./cmd/orange", "^BenchmarkDeathToNextState$", "100x")
	if err != nil {
		return nil, err
	}
	m := found["BenchmarkDeathToNextState"]
	times := func(what string) string {
		return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", m[what+"-p50-ms"], m[what+"-p99-ms"])
	}
	return []row{{What: "an agent's death to the next state on record", Ours: times("death"),
		Against: "a commit in the same run, " + times("commit"),
		Goal:    "p50 5 ms, p99 20 ms", Verdict: judge(max(m["death-p50-ms"]/5, m["death-p99-ms"]/20), 1)}}, nil
}

func warm(l *lab) ([]row, error) {
	found, err := benchmark(l, "./internal/work/worktree", "^BenchmarkWarm$", "60x")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, files := range []string{"50", "20000"} {
		ours := found["BenchmarkWarm/"+files+"/Prepare"]["ns/op"] / 1e6
		theirs := found["BenchmarkWarm/"+files+"/SwitchAndClean"]["ns/op"] / 1e6
		if ours == 0 || theirs == 0 {
			return rows, fmt.Errorf("no figures for %s files", files)
		}
		rows = append(rows, row{What: "warm acquire, " + files + " files", Ours: fmt.Sprintf("%.1f ms", ours),
			Against: fmt.Sprintf("`git switch` and `git clean`, %.1f ms", theirs),
			Ratio:   fmt.Sprintf("%.2f", ours/theirs),
			Goal:    "at most 1.3", Verdict: judge(ours/theirs, 1.3)})
	}
	return rows, nil
}

func dashboard(l *lab) ([]row, error) {
	found, err := benchmark(l, "./cmd/orange", "^BenchmarkDashboard$", "20x")
	if err != nil {
		return nil, err
	}
	m := found["BenchmarkDashboard"]
	ours := fmt.Sprintf("first paint %.0f ms, key p99 %.1f ms, %.0f MB", m["first-paint-p50-ms"], m["key-p99-ms"],
		m["MB"])
	return []row{{What: "dashboard, 10,000 live tasks", Ours: ours, Goal: "100 ms, 16 ms, 60 MB",
		Verdict: judge(max(m["first-paint-p50-ms"]/100, m["key-p99-ms"]/16, m["MB"]/60), 1)}}, nil
}
