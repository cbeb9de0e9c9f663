package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// watched compares what commands take while a monitor or a dashboard is at work with what they take alone.
func watched(l *lab) ([]row, error) {
	h, id, err := l.thousand()
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, other := range []struct {
		name  string
		begin func(*home) (end func(), err error)
	}{
		{"monitor", withMonitor}, {"dashboard", withDashboard},
	} {
		for _, c := range []struct {
			what string
			next func(int) command
		}{
			{"move", toAndFro(h, id)},
			{"`task list` of 1,000", always(h.command("orange", "task", "list"))},
			{"`task show`", always(h.command("orange", "task", "show", id))},
			{"`task why`", always(h.command("orange", "task", "why", id))},
			{"`task history`", always(h.command("orange", "task", "history", id))},
		} {
			pairs, err := accompanied(c.next, func() (func(), error) { return other.begin(h) })
			if err != nil {
				return append(rows, absent(c.what+" with a "+other.name+" at work", "at most 1.15", err)), nil
			}
			rows = append(rows, pairs.row(c.what+" with a "+other.name+" at work", "without", 1.15))
		}
	}
	return rows, nil
}

// thousand is a home with 1,000 tasks, the first of which moves.
func (l *lab) thousand() (*home, string, error) {
	h, err := l.home("watched")
	if err != nil {
		return nil, "", err
	}
	id, err := h.create("first", "--no-spawn", "--workflow", "moves")
	if err != nil {
		return nil, "", err
	}
	return h, id, h.crowd(context.Background(), 1_000, 100)
}

// accompanied runs a command with another program at work and without it, in turn.
func accompanied(next func(int) command, begin func() (end func(), err error)) (compared, error) {
	const rounds, each, cold = 8, 10, 2
	var out compared
	for round := range rounds {
		var walls [2]time.Duration
		for _, with := range []bool{round%2 == 0, round%2 == 1} {
			end := func() {}
			if with {
				var err error
				if end, err = begin(); err != nil {
					return out, err
				}
			}
			these, err := runAll(next, each)
			end()
			if err != nil {
				return out, err
			}
			these = these[cold:]
			if with {
				out.ours, walls[0] = append(out.ours, these...), wall(these)
			} else {
				out.theirs, walls[1] = append(out.theirs, these...), wall(these)
			}
		}
		out.ratios = append(out.ratios, float64(walls[0])/float64(walls[1]))
	}
	return out, nil
}

func runAll(next func(int) command, times int) (costs []cost, err error) {
	for n := range times {
		c, err := next(n).run()
		if err != nil {
			return nil, err
		}
		costs = append(costs, c)
	}
	return costs, nil
}

func withMonitor(h *home) (end func(), err error) {
	end, _, err = h.background("orange", "monitor")
	return end, err
}

// withDashboard opens the dashboard in a terminal of its own. There it watches, as no monitor does.
func withDashboard(h *home) (end func(), err error) {
	if err := needs("tmux"); err != nil {
		return nil, err
	}
	// a socket of its own: at that of an earlier one a server may be ending
	folder, err := os.MkdirTemp(filepath.Dir(h.dir), "screen")
	if err != nil {
		return nil, err
	}
	tmux := func(argv ...string) (string, error) {
		argv = append([]string{"-S", filepath.Join(folder, "socket"), "-f", "/dev/null"}, argv...)
		c := exec.Command("tmux", argv...)
		c.Env, c.Dir = h.env, h.repo
		said, err := c.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", argv[4], err, firstLine(string(said)))
		}
		return string(said), nil
	}
	end = func() { _, _ = tmux("kill-server") }
	if _, err := tmux("new-session", "-d", "-x", "120", "-y", "40", h.lab.orange+" --all"); err != nil {
		return nil, err
	}
	for range 100 {
		pause(100 * time.Millisecond)
		screen, err := tmux("capture-pane", "-p")
		if err != nil {
			end()
			return nil, err
		}
		if strings.Contains(screen, "watching") {
			pause(time.Second) // it has something to do when it begins
			return end, nil
		}
	}
	end()
	return nil, errors.New("the dashboard watched over nothing within ten seconds")
}
