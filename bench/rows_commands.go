package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// quick is how often a command of some milliseconds runs.
const quick = 60

func start(l *lab) ([]row, error) {
	h, err := l.home("small")
	if err != nil {
		return nil, err
	}
	pairs, err := inTurn(quick, always(h.command("orange", "version")), always(h.command(l.program("empty"))))
	if err != nil {
		return nil, err
	}
	return []row{pairs.row("start: `orange version`", "an empty Go program", 3)}, nil
}

// toAndFro asks for the other of two states each time.
func toAndFro(h *home, id string) func(int) command {
	return func(i int) command {
		return h.command("orange", "task", "update", id, "--status", [...]string{"b", "a"}[i%2])
	}
}

func updates(l *lab) ([]row, error) {
	ctx := context.Background()
	var h [3]*home
	var id [3]string
	for i, name := range []string{"small", "hundred-thousand", "long-history"} {
		var err error
		if h[i], err = l.home(name); err != nil {
			return nil, err
		}
		for n := range 12 {
			if id[i], err = h[i].create(fmt.Sprintf("move-%d", n), "--no-spawn", "--workflow", "moves"); err != nil {
				return nil, err
			}
		}
	}
	if err := h[1].crowd(ctx, 100_000, 12); err != nil {
		return nil, err
	}
	if err := h[2].lengthen(ctx, id[2], 10_000); err != nil {
		return nil, err
	}
	bare, err := bareCommits(l, h[0])
	if err != nil {
		return nil, err
	}
	pairs, err := inTurn(quick, toAndFro(h[0], id[0]), always(bare))
	if err != nil {
		return nil, err
	}
	const what = "move: `task update --status`"
	rows := []row{pairs.row(what+", 12 tasks", "a bare process with one durable commit", 1.7)}
	for i, name := range []string{"", ", 100,000 tasks", ", history of 10,000 events"} {
		if i == 0 {
			continue
		}
		if pairs, err = inTurn(quick, toAndFro(h[i], id[i]), toAndFro(h[0], id[0])); err != nil {
			return rows, err
		}
		rows = append(rows, pairs.row(what+name, "12 tasks", 1.2))
	}
	return rows, nil
}

// bareCommits is the floor of a move: a process that commits one row.
func bareCommits(l *lab, h *home) (command, error) {
	path := filepath.Join(l.dir, "bare.db")
	if _, err := os.Stat(path); err != nil {
		if _, err := h.run(l.program("commit"), path, "new"); err != nil {
			return command{}, err
		}
	}
	return h.command(l.program("commit"), path), nil
}

func lists(l *lab) ([]row, error) {
	if err := needs("sqlite3"); err != nil {
		return []row{absent("list", "at most 3", err)}, nil
	}
	var rows []row
	for _, many := range []int{2_000, 10_000} {
		h, err := l.home(fmt.Sprint("list-", many))
		if err != nil {
			return rows, err
		}
		if _, err := h.create("first", "--no-spawn", "--workflow", "moves"); err != nil {
			return rows, err
		}
		if err := h.crowd(context.Background(), many, 100); err != nil {
			return rows, err
		}
		const columns = "select id, project, status, session, branch, updated_at, summary from tasks " +
			"order by live desc, created_at desc, id"
		pairs, err := inTurn(quick/2, always(h.command("orange", "task", "list")),
			always(h.command("sqlite3", "-column", h.database(), columns)))
		if err != nil {
			return rows, err
		}
		rows = append(rows, pairs.row(fmt.Sprintf("`task list` of %d", many), "`sqlite3 -column`, the same columns", 3))
	}
	return rows, nil
}

// writers lets 16 writers move tasks at once, each with a process a move, and compares them with bare processes.
func writers(l *lab) ([]row, error) {
	const many, rounds, each = 16, 4, 160
	h, err := l.home("writers")
	if err != nil {
		return nil, err
	}
	var ids []string
	for i := range many {
		id, err := h.create(fmt.Sprintf("writer-%d", i), "--no-spawn", "--workflow", "moves")
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	bare, err := bareCommits(l, h)
	if err != nil {
		return nil, err
	}
	var ours, theirs []time.Duration
	var ratios []float64
	var speed [2]float64
	for range rounds {
		a, took, err := storm(many, each, func(writer, i int) command { return toAndFro(h, ids[writer])(i) })
		if err != nil {
			return nil, err
		}
		b, bareTook, err := storm(many, each, func(writer, _ int) command {
			return command{argv: append(bare.argv, fmt.Sprint(writer)), env: bare.env, dir: bare.dir}
		})
		if err != nil {
			return nil, err
		}
		ours, theirs = append(ours, a...), append(theirs, b...)
		ratios = append(ratios, float64(bareTook)/float64(took))
		speed[0], speed[1] = float64(len(a))/took.Seconds(), float64(len(b))/bareTook.Seconds()
	}
	slow := float64(quantile(ours, 0.99)) / float64(quantile(theirs, 0.99))
	ratio := quantile(ratios, 0.5)
	result := missed
	if ratio >= 0.5 {
		result = met
	}
	return []row{
		{What: "16 writers, a process a move: moves", Ours: fmt.Sprintf("%.0f/s, no error in %d", speed[0], len(ours)),
			Against: fmt.Sprintf("bare processes, %.0f/s", speed[1]), Ratio: fmt.Sprintf("%.2f", ratio),
			Goal: "at least 0.5", Verdict: result},
		{What: "– p99 of one command", Ours: millis(quantile(ours, 0.99)),
			Against: "bare processes, " + millis(quantile(theirs, 0.99)), Ratio: fmt.Sprintf("%.2f", slow),
			Goal: "at most 1.5", Verdict: judge(slow, 1.5)},
	}, nil
}

// storm runs commands from many writers at once.
func storm(many, each int, next func(writer, i int) command) (walls []time.Duration, took time.Duration, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	began := time.Now()
	for writer := range many {
		wait.Go(func() {
			for i := range each {
				c, failed := next(writer, i).run()
				mu.Lock()
				err = cmp.Or(err, failed)
				walls = append(walls, c.wall)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return walls, time.Since(began), err
}

// gate moves a task whose document is large, over a gate that reads one section of it.
func gate(l *lab) ([]row, error) {
	h, err := l.home("gate")
	if err != nil {
		return nil, err
	}
	id, err := h.create("large", "--no-spawn", "--workflow", "gated")
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(h.dir, "tasks", "*", id, "TASK.md"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("found the documents %q: %w", found, err)
	}
	before, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	var walls []time.Duration
	peak := 0.0
	for i := range 7 {
		text := string(before) + "\n## Log\n\n" + listsAndFences(2_000_000) +
			fmt.Sprintf("\n## Handoff\n\nDONE: round %d\n", i)
		if err := os.WriteFile(found[0], []byte(text), 0o600); err != nil {
			return nil, err
		}
		c, err := h.command("orange", "task", "update", id, "--status", "b").watched()
		if err != nil {
			return nil, err
		}
		if _, err := h.run("orange", "task", "update", id, "--status", "a"); err != nil {
			return nil, err
		}
		walls, peak = append(walls, c.wall), max(peak, c.peak)
	}
	took := quantile(walls, 0.5)
	result := judge(float64(took)/float64(time.Second), 1)
	if peak > 100 {
		result = missed
	}
	return []row{{What: "move over a gate, TASK.md of 2 MB", Ours: fmt.Sprintf("%s, %.0f MB", millis(took), peak),
		Goal: "under 1 s, 100 MB", Verdict: result}}, nil
}

func checks(l *lab) ([]row, error) {
	h, err := l.home("small")
	if err != nil {
		return nil, err
	}
	var all []string
	slowest := time.Duration(0)
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		var walls []time.Duration
		for range 3 {
			c, err := h.command("orange", "workflow", "check", name).run()
			if err != nil {
				return nil, err
			}
			walls = append(walls, c.wall)
		}
		took := quantile(walls, 0.5)
		slowest = max(slowest, took)
		all = append(all, name+" "+millis(took))
	}
	return []row{{What: "`workflow check`, all configurations", Ours: strings.Join(all, ", "), Goal: "each under 1 s",
		Verdict: judge(slowest.Seconds(), 1)}}, nil
}

// whole checks and rebuilds the record of 10,000 real tasks.
func whole(l *lab) ([]row, error) {
	h, err := l.tenThousand()
	if err != nil {
		return nil, err
	}
	verified, err := h.command("orange", "task", "verify", "--all").run()
	if err != nil {
		return nil, err
	}
	idle, err := h.idle("orange", "monitor")
	if err != nil {
		return nil, err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(h.database() + suffix); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	rebuilt, err := h.command("orange", "doctor", "--rebuild").run()
	if err != nil {
		return nil, err
	}
	return []row{
		{What: "`task verify --all`, 10,000 tasks", Ours: fmt.Sprintf("%s, %.0f MB", millis(verified.wall),
			verified.peak), Goal: "under 2 s", Verdict: judge(verified.wall.Seconds(), 2)},
		idle.row("monitor idle, 10,000 waiting tasks"),
		{What: "`doctor --rebuild`, 10,000 tasks", Ours: fmt.Sprintf("%s, %.0f MB", millis(rebuilt.wall),
			rebuilt.peak), Goal: "under 10 s", Verdict: judge(rebuilt.wall.Seconds(), 10)},
	}, nil
}

func (l *lab) tenThousand() (*home, error) {
	h, err := l.home("ten-thousand")
	if err != nil {
		return nil, err
	}
	return h, h.createAll(0, 10_000, "--no-spawn", "--workflow", "moves")
}

func binary(l *lab) ([]row, error) {
	info, err := os.Stat(l.orange)
	if err != nil {
		return nil, err
	}
	megabytes := float64(info.Size()) / (1 << 20)
	return []row{{What: "the binary", Ours: fmt.Sprintf("one file, %.1f MB", megabytes), Goal: "under 40 MB",
		Verdict: judge(megabytes, 40)}}, nil
}
