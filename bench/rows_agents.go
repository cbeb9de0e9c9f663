package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// background starts a program that stays, and answers how to end it, and its number.
func (h *home) background(argv ...string) (end func(), pid int, err error) {
	c := h.command(argv...)
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	pause(time.Second) // it has something to do when it begins
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}, cmd.Process.Pid, nil
}

// idleness is what a program costs that has nothing to do.
type idleness struct {
	percent, megabytes float64
}

// idle runs a program for half a minute after its first ten seconds.
func (h *home) idle(argv ...string) (idleness, error) {
	const rest, during = 30 * time.Second, 60 * time.Second // a monitor that begins reads every terminal once
	end, pid, err := h.background(argv...)
	if err != nil {
		return idleness{}, err
	}
	defer end()
	pause(rest)
	before, err := ticks(pid)
	if err != nil {
		return idleness{}, err
	}
	pause(during)
	after, err := ticks(pid)
	if err != nil {
		return idleness{}, err
	}
	held, err := kilobytes(pid, "smaps_rollup", "Rss:")
	const ticksPerSecond = 100
	percent := 100 * float64(after-before) / ticksPerSecond / during.Seconds()
	return idleness{percent: percent, megabytes: held / 1024}, err
}

// pause lets time pass: what a program does in that time is what is measured.
func pause(d time.Duration) { <-time.After(d) }

func (i idleness) row(what string) row {
	return row{What: what, Ours: fmt.Sprintf("%.2f %% of a processor, %.0f MB", i.percent, i.megabytes),
		Goal: "under 0.5 %, 40 MB", Verdict: judge(max(i.percent/0.5, i.megabytes/40), 1)}
}

// ticks is the processor time that a process has had.
func ticks(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return user + system, err
}

// kilobytes adds up what a file of /proc says of a process's memory.
func kilobytes(pid int, name string, keys ...string) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum := 0.0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if !slices.Contains(keys, fields[0]) {
			continue
		}
		kilobytes, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return 0, err
		}
		sum += kilobytes
	}
	return sum, nil
}

// socket is where the terminal server of a home is found, once it has agents.
func (h *home) socket() (string, error) {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(h.dir), "tmux-*", "*"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("found the sockets %q: %w", found, err)
	}
	return found[0], nil
}

// agents measures a monitor over more and more living agents.
func agents(l *lab) ([]row, error) {
	if err := needs("tmux"); err != nil {
		return []row{absent("`monitor --once`", "", err)}, nil
	}
	h, err := l.home("agents")
	if err != nil {
		return nil, err
	}
	var rows []row
	have := 0
	for _, step := range []struct {
		many  int
		times int
		goal  float64
	}{{10, 20, 5}, {200, 10, 4}, {1000, 6, 4}} {
		if err := h.createAll(have, step.many, "--workflow", "agents", "--harness", "sleeper"); err != nil {
			return rows, err
		}
		have = step.many
		socket, err := h.socket()
		if err != nil {
			return rows, err
		}
		pairs, err := inTurn(step.times, always(h.command("orange", "monitor", "--once")),
			always(h.command("tmux", "-S", socket, "list-panes", "-a")))
		if err != nil {
			return rows, err
		}
		rows = append(rows, pairs.row(fmt.Sprintf("`monitor --once`, %d live agents", step.many),
			"`tmux list-panes -a`", step.goal))
	}
	idle, err := h.idle("orange", "monitor")
	if err != nil {
		return rows, err
	}
	rows = append(rows, idle.row("monitor idle, 1,000 agents"))
	told, err := h.told(have)
	if err != nil {
		return rows, err
	}
	launcher, err := launchers(l)
	return append(rows, told, launcher), err
}

// told measures how long people wait to hear of an agent at a dialog, among all that live. The monitor has read every
// terminal before.
func (h *home) told(agents int) (row, error) {
	what := fmt.Sprintf("an agent at a dialog among %d: until people hear of it", agents)
	socket, err := h.socket()
	if err != nil {
		return row{}, err
	}
	end, _, err := h.background("orange", "monitor")
	if err != nil {
		return row{}, err
	}
	defer end()
	pause(2 * time.Minute) // it reads fifty terminals at a look
	said, err := exec.Command("tmux", "-S", socket, "list-panes", "-a", "-F", "#{pane_id} #{@orange_task}").Output()
	if err != nil {
		return row{}, fmt.Errorf("look for agents: %w", err)
	}
	var waits []float64
	for _, line := range strings.Split(strings.TrimSpace(string(said)), "\n")[:9] {
		pane, task, _ := strings.Cut(line, " ")
		began := time.Now()
		if err := exec.Command("tmux", "-S", socket, "send-keys", "-t", pane, "-l", dialog).Run(); err != nil {
			return row{}, fmt.Errorf("type to an agent: %w", err)
		}
		for told := filepath.Join(h.dir, "told-"+task); ; pause(20 * time.Millisecond) {
			if _, err := os.Stat(told); err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				return row{What: what, Ours: "no one heard of it for a minute", Goal: "under 5 s", Verdict: missed}, nil
			}
		}
		waits = append(waits, time.Since(began).Seconds())
	}
	worst := slices.Max(waits)
	return row{What: what, Ours: fmt.Sprintf("%.1f s, at most %.1f s", quantile(waits, 0.5), worst),
		Goal: "under 5 s", Verdict: judge(worst/5, 1)}, nil
}

// launchers measures what stays of Orange with each agent.
func launchers(l *lab) (row, error) {
	said, err := exec.Command("pgrep", "-f", "^"+regexp.QuoteMeta(l.orange)+" launch ").Output()
	if err != nil {
		return row{}, fmt.Errorf("look for launchers: %w", err)
	}
	var private, threads []float64
	for _, word := range strings.Fields(string(said)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return row{}, err
		}
		kilobytes, err := kilobytes(pid, "smaps_rollup", "Private_Clean:", "Private_Dirty:")
		if err != nil {
			return row{}, err
		}
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return row{}, err
		}
		private, threads = append(private, kilobytes/1024), append(threads, float64(len(tasks)))
	}
	memory, count := quantile(private, 0.5), quantile(threads, 0.5)
	return row{What: "an agent's launcher", Ours: fmt.Sprintf("%.1f MB private, %.0f threads", memory, count),
		Goal: "under 2 MB, 3 threads", Verdict: judge(max(memory/2, count/3), 1)}, nil
}

// spawns compares the start of one more agent where there are 1,000 worktrees with where there are 10.
func spawns(l *lab) ([]row, error) {
	many, few := l.homes["agents"], (*home)(nil)
	if many == nil {
		return nil, nil
	}
	few, err := l.home("few-agents")
	if err != nil {
		return nil, err
	}
	flags := []string{"--workflow", "agents", "--harness", "sleeper"}
	if err := few.createAll(0, 10, flags...); err != nil {
		return nil, err
	}
	var pairs compared
	for i := range 12 {
		var costs [2]cost
		for n, h := range []*home{many, few} {
			id, err := h.newest()
			if err != nil {
				return nil, err
			}
			if _, err := h.run("orange", "task", "update", id, "--status", "over"); err != nil {
				return nil, err
			}
			began := time.Now()
			if _, err := h.create(fmt.Sprintf("again-%d", i), flags...); err != nil {
				return nil, err
			}
			costs[n].wall = time.Since(began)
		}
		pairs.ours, pairs.theirs = append(pairs.ours, costs[0]), append(pairs.theirs, costs[1])
		pairs.ratios = append(pairs.ratios, float64(costs[0].wall)/float64(costs[1].wall))
	}
	return []row{pairs.row("create and spawn, 1,000 worktrees", "10 worktrees", 1.3)}, nil
}

// newest is the id of the live task that was made last.
func (h *home) newest() (string, error) {
	said, err := h.run("orange", "task", "list", "--json")
	if err != nil {
		return "", err
	}
	var list struct{ Tasks []struct{ ID string } }
	if err := json.Unmarshal([]byte(said), &list); err != nil || len(list.Tasks) == 0 {
		return "", fmt.Errorf("found no task in %q: %w", firstLine(said), err)
	}
	return list.Tasks[0].ID, nil
}

// life counts what Orange asks of the machine in the life of one task.
func life(l *lab) ([]row, error) {
	const what, goal = "a whole life, scripted agent", "at most 25 fsyncs, 20 git calls, 8 tmux calls"
	if err := needs("strace", "tmux"); err != nil {
		return []row{absent(what, goal, err)}, nil
	}
	h, err := l.home("life")
	if err != nil {
		return nil, err
	}
	agent := filepath.Join(l.root, "demo", "agent")
	harness := fmt.Sprintf("name: scripted\nworker: {command: [%q, \"{prompt_file}\"]}\nreviewer: {command: [%[1]q, "+
		"\"{prompt_file}\"]}\n", agent)
	if err := os.WriteFile(filepath.Join(h.dir, "harnesses", "scripted.yml"), []byte(harness), 0o600); err != nil {
		return nil, err
	}
	traces := filepath.Join(l.dir, "traces")
	if err := os.MkdirAll(traces, 0o700); err != nil {
		return nil, err
	}
	trace := func(part string, argv ...string) (*exec.Cmd, error) {
		c := h.command(append([]string{"strace", "-ff", "-qq", "-e",
			"trace=fsync,fdatasync,execve,clone,clone3,fork,vfork", "-s", "4096", "-o", filepath.Join(traces, part),
			l.orange}, argv...)...)
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.Env, cmd.Dir = c.env, c.dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd, cmd.Start()
	}
	began := time.Now()
	create, err := trace("create", "task", "create", "life", "A life", "--harness", "scripted")
	if err != nil {
		return nil, err
	}
	id, err := h.first()
	if err != nil {
		return nil, err
	}
	if _, err := h.run("orange", "task", "wait", id, "--timeout", "60s"); err != nil {
		return nil, err
	}
	merge, err := trace("merge", "task", "merge", id)
	if err != nil {
		return nil, err
	}
	if err := merge.Wait(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	took := time.Since(began)
	h.end()
	_ = create.Wait()
	counted, err := countTraces(traces)
	if err != nil {
		return nil, err
	}
	result := judge(max(float64(counted.fsyncs)/25, float64(counted.git)/20, float64(counted.tmux)/8), 1)
	ours := fmt.Sprintf("%d fsyncs, %d git calls, %d tmux calls; %s under strace", counted.fsyncs, counted.git,
		counted.tmux, millis(took))
	return []row{{What: what, Ours: ours, Goal: goal, Verdict: result}}, nil
}

// first waits for the first task, and answers its id.
func (h *home) first() (id string, err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); pause(100 * time.Millisecond) {
		if id, err = h.newest(); err == nil {
			return id, nil
		}
	}
	return "", err
}
