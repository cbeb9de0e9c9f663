package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// command is a program to be timed as a whole process.
type command struct {
	argv []string
	env  []string
	dir  string
}

// cost is what one run of a command took.
type cost struct {
	wall, cpu time.Duration
	peak      float64 // MB
}

func (c command) run() (cost, error) {
	var output bytes.Buffer
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, &output, &output
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", strings.Join(c.argv, " "), err, firstLine(output.String()))
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall: took, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		peak: float64(used.Maxrss) / 1024}, nil
}

// watched is run with the most memory that the program had, looked at again and again: the system counts for it what
// the program that starts it has had as well.
func (c command) watched() (cost, error) {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for most := 0.0; ; {
		select {
		case err := <-ended:
			return cost{wall: time.Since(began), peak: most}, err
		case <-time.After(time.Millisecond):
			if held, err := kilobytes(cmd.Process.Pid, "status", "VmHWM:"); err == nil {
				most = max(most, held/1024)
			}
		}
	}
}

// compared is what two commands took that ran in turn.
type compared struct {
	ours, theirs []cost
	ratios       []float64 // pair by pair
}

// inTurn runs two commands in turn, so that a machine whose speed changes changes both.
func inTurn(times int, ours, theirs func(i int) command) (compared, error) {
	var out compared
	for i := range times + 2 {
		a, err := ours(i).run()
		if err != nil {
			return out, err
		}
		b, err := theirs(i).run()
		if err != nil {
			return out, err
		}
		if i < 2 {
			continue // caches were cold
		}
		out.ours, out.theirs = append(out.ours, a), append(out.theirs, b)
		out.ratios = append(out.ratios, float64(a.wall)/float64(b.wall))
	}
	return out, nil
}

func always(c command) func(int) command { return func(int) command { return c } }

// row is the line of a comparison whose goal is a ratio.
func (c compared) row(what, against string, most float64) row {
	ratio := quantile(c.ratios, 0.5)
	return row{What: what, Ours: c.tell(c.ours), Against: against + ", " + millis(wall(c.theirs)),
		Ratio: c.spread(), Goal: fmt.Sprintf("at most %g", most), Verdict: judge(ratio, most)}
}

func (c compared) tell(costs []cost) string {
	peak := 0.0
	for _, one := range costs {
		peak = max(peak, one.peak)
	}
	if peak <= ownPeak() {
		return millis(wall(costs))
	}
	return fmt.Sprintf("%s, %.0f MB", millis(wall(costs)), peak)
}

// ownPeak is the most memory that this program has had, in MB. The system counts it for each program that it starts:
// a smaller peak of theirs is not seen.
func ownPeak() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return float64(used.Maxrss) / 1024
}

func (c compared) spread() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", quantile(c.ratios, 0.5), quantile(c.ratios, 0.25), quantile(c.ratios, 0.75))
}

func wall(costs []cost) time.Duration {
	var all []time.Duration
	for _, c := range costs {
		all = append(all, c.wall)
	}
	return quantile(all, 0.5)
}

func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 1:
		return fmt.Sprintf("%.3g µs", ms*1000)
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func quantile[T int | float64 | time.Duration](values []T, p float64) T {
	if len(values) == 0 {
		var none T
		return none
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// needs reports which of the programs are missing.
func needs(programs ...string) error {
	var missing []string
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return errors.New("there is no " + strings.Join(missing, " and no ") + " here")
	}
	return nil
}
