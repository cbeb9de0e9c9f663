package postgres_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/client"
	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/testkit/parity"
)

// lab is a fleet of the built programs: a server on PostgreSQL, a core worker, hosts, a person, and one home that is in
// no fleet.
type lab struct {
	t           *testing.T // of the part that is measured
	whole       *testing.T
	dir, server string
	admin       parity.Side
	alone       parity.Side
	hosts       map[string]parity.Side
	daemons     map[string]*process
	worker      *process // the core worker
	encrypted   bool     // the server asks for certificates
	remote      *client.Remote
	trust       custody.Trust
	key         ssh.Signer
	rows        []row
}

const (
	project   = "web"
	longAgo   = 10 * time.Millisecond // between two looks at what is waited for
	longest   = 10 * time.Minute
	fleetName = "home"
)

// files are what a home has.
func files() map[string]string {
	return map[string]string{
		"web/README.md": "# A repository\n",
		"orange/workflows/moves.yml": "name: moves\nversion: 1\nallow: {bounded: to go round is what is measured}\n" +
			"states:\n  a: {}\n  b: {}\n  over: {terminal: true}\ntransitions:\n  - {from: a, to: b}\n" +
			"  - {from: b, to: a}\n  - {from: [a, b], to: over}\n",
		"orange/workflows/agents.yml": "name: agents\nversion: 1\nstates:\n  pending: {}\n" +
			"  working: {role: worker, respawn_prompt: go}\n  over: {terminal: true}\nmoves: {spawn: working}\n" +
			"transitions:\n  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, " +
			"{action: spawn_agent, prompt: go}]}\n  - {from: working, to: over, hooks: [{action: kill_session}, " +
			"{action: release_workspace}]}\nprompts:\n  go: Go.\n",
		"orange/harnesses/idle.yml": "name: idle\nworker: {command: [tail, -f, \"{prompt_file}\"]}\n",
	}
}

func newLab(t *testing.T, encrypted bool, hosts ...string) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ofb") //nolint:usetesting // the paths of sockets must be short
	testkit.Must(t, err)
	testkit.Must(t, os.Chmod(dir, 0o711)) // the database may run as a user of its own
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(dir)) })
	l := &lab{t: t, whole: t, dir: dir, encrypted: encrypted, hosts: map[string]parity.Side{},
		daemons: map[string]*process{}}
	bin := filepath.Join(dir, "bin")
	testkit.Build(t, bin, []string{"-trimpath"})
	t.Cleanup(l.endAgents)
	l.server = l.serverDoes("start")
	t.Cleanup(func() { l.serverDoes("end") })
	env, err := parity.Environment(dir, bin, dir)
	testkit.Must(t, err)
	at := func(name string) parity.Side {
		side := parity.At(dir, name, filepath.Join(bin, "orange"), env, nil)
		testkit.Must(t, os.MkdirAll(side.Dir, 0o700))
		return side
	}
	l.admin, l.alone = at("admin"), at("alone")
	l.furnish(l.alone)
	l.starts(l.alone.Program("monitor")) // as every host has one
	if encrypted {
		l.encrypts()
	}
	l.worker = l.core(l.admin, fleetName)
	l.join(at, hosts)
	return l
}

// encrypts has the server ask for certificates, in the order of the manual: they are made before it runs.
func (l *lab) encrypts() {
	l.t.Helper()
	l.serverDoes("stop")
	lines, err := l.serve(l.admin, fleetName).Output()
	if err == nil || !strings.Contains(string(lines), "requireClientAuth: true") {
		l.t.Fatalf("it serves without a server, or says nothing: %v: %s", err, lines)
	}
	path := filepath.Join(l.dir, "tls.yml")
	testkit.Must(l.t, os.WriteFile(path, lines, 0o600))
	l.server = l.serverDoes("start", path)
}

// endAgents ends the terminal servers in which agents run, and waits for what their commands left at work.
func (l *lab) endAgents() {
	var homes []string
	for _, side := range l.hosts {
		homes = append(homes, filepath.Join(side.Dir, "orange"))
	}
	testkit.EndTerminals(l.whole, l.dir, longest, homes...)
}

// does runs a command to its end, and answers what it printed.
func (l *lab) does(cmd *exec.Cmd) string {
	l.t.Helper()
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("%q: %v: %s%s", cmd.Args, err, out, talk.String())
	}
	return strings.TrimSpace(string(out))
}

// serverDoes starts, stops, kills or ends the server.
func (l *lab) serverDoes(what string, lines ...string) string {
	l.t.Helper()
	return l.does(exec.Command("../../tools/fleet-server", append([]string{what, filepath.Join(l.dir, "server")},
		lines...)...))
}

// fleetProgram is a command of orange-fleet at a home.
func fleetProgram(at parity.Side, words ...string) *exec.Cmd {
	at.Orange = filepath.Join(filepath.Dir(at.Orange), "orange-fleet")
	return at.Program(words...)
}

// furnish gives a home a project, workflows and an agent program that waits.
func (l *lab) furnish(at parity.Side) {
	l.t.Helper()
	for path, text := range files() {
		path = filepath.Join(at.Dir, path)
		testkit.Must(l.t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(l.t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, words := range [][]string{{"init", "-q", project}, {"-C", project, "add", "."},
		{"-C", project, "commit", "-q", "-m", "Begin"}} {
		cmd := at.Program(words...)
		git, err := exec.LookPath("git")
		testkit.Must(l.t, err)
		cmd.Path, cmd.Args[0] = git, "git"
		l.does(cmd)
	}
	l.does(at.Program("project", "add", project, "--pool-size", "40"))
}

// serve is the command of a core worker that makes what a fleet needs first.
func (l *lab) serve(at parity.Side, fleet string) *exec.Cmd {
	words := []string{"serve", "--init", "--server", l.server, "--namespace", fleet}
	if l.encrypted {
		words = append(words, "--tls", "127.0.0.1")
	}
	return fleetProgram(at, words...)
}

// core starts a core worker of a fleet, and waits until it serves.
func (l *lab) core(at parity.Side, fleet string) *process {
	l.t.Helper()
	p := l.starts(l.serve(at, fleet))
	l.until("a core worker", func() bool {
		if p.exited() {
			l.t.Fatalf("the core worker ended: %s", p.said.String())
		}
		return fleetProgram(at, "invite", "first", "--person").Run() == nil
	})
	return p
}

// join has a person and hosts join the fleet.
func (l *lab) join(at func(string) parity.Side, hosts []string) {
	l.t.Helper()
	invited := func(words ...string) string {
		lines := strings.Split(l.does(fleetProgram(l.admin, append([]string{"invite"}, words...)...)), "\n")
		return lines[len(lines)-1]
	}
	ada := at("ada")
	l.key = testkit.Key(l.t, "ada")
	testkit.Must(l.t, os.WriteFile(filepath.Join(ada.Dir, "id"), testkit.KeyFile(l.t, "ada", ""), 0o600))
	testkit.Must(l.t, os.WriteFile(filepath.Join(ada.Dir, "id.pub"), []byte(testkit.Public(l.t, "ada")+"\n"), 0o600))
	l.does(fleetProgram(ada, "join", invited("ada", "--person"), "--signing-key", filepath.Join(ada.Dir, "id")))
	vault := filepath.Join(l.dir, "vault.git")
	l.does(exec.Command("git", "init", "-q", "--bare", vault))
	testkit.Must(l.t, os.WriteFile(filepath.Join(vault, "hooks", "post-receive"), // pushes are counted
		[]byte("#!/bin/sh\ngrep -c /record$ >>pushes\n"), 0o700))
	for _, name := range hosts {
		side := at(name)
		l.furnish(side)
		l.does(fleetProgram(side, "join", invited(name, "--host"), "--snapshots", vault))
		l.hosts[name] = side
		l.starts(side.Program("monitor"))
		l.daemons[name] = l.starts(fleetProgram(side, "host"))
	}
	l.hosts["ada"] = ada
	l.remote = l.connects()
	var err error
	l.trust, err = l.remote.Trust(l.t.Context())
	testkit.Must(l.t, err)
	for _, name := range hosts {
		l.until("the host "+name, func() bool { return l.here(name) })
	}
}

// home is $ORANGE_HOME of the person.
func (l *lab) home() string { return filepath.Join(l.hosts["ada"].Dir, "orange") }

// connects is a connection of the person to the server.
func (l *lab) connects() *client.Remote {
	l.t.Helper()
	s, err := setup.Read(l.home())
	testkit.Must(l.t, err)
	r := &client.Remote{Home: l.home(), Setup: s}
	l.t.Cleanup(r.Close)
	return r
}

// here reports whether the server counts a host as there.
func (l *lab) here(name string) bool {
	hosts, err := l.remote.Hosts(l.t.Context())
	for _, h := range hosts {
		if err == nil && h.Host == name {
			return h.Here
		}
	}
	return false
}

// until waits for a fact, and answers how long that took.
func (l *lab) until(what string, is func() bool) time.Duration {
	l.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > longest {
			l.t.Fatalf("no %s in %s", what, longest)
		}
		<-time.After(longAgo)
	}
	return time.Since(began)
}

// process is a program that goes on until it is stopped.
type process struct {
	*exec.Cmd
	said  bytes.Buffer
	ended bool
}

// starts starts a program that goes on until the end.
func (l *lab) starts(cmd *exec.Cmd) *process {
	l.t.Helper()
	p := &process{Cmd: cmd}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	testkit.Must(l.t, cmd.Start())
	l.whole.Cleanup(func() {
		p.ends(syscall.SIGTERM)
		if l.whole.Failed() {
			l.whole.Logf("%q said:\n%s", cmd.Args, p.said.String())
		}
	})
	return p
}

// exited reports whether a program has ended by itself.
func (p *process) exited() bool {
	state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Process.Pid), "stat"))
	return err != nil || strings.Contains(string(state), ") Z ")
}

// ends ends a program by a signal, and waits for it.
func (p *process) ends(by syscall.Signal) {
	if !p.ended {
		p.ended = true
		_ = p.Process.Signal(by)
		_ = p.Wait() // how it ended is of no account
	}
}

// megabytes is the memory that a process has now, by its number.
func (l *lab) megabytes(pid string) float64 {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	testkit.Must(l.t, err)
	for _, line := range strings.Split(string(text), "\n") {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "VmRSS:" {
			kilobytes, err := strconv.Atoi(words[1])
			testkit.Must(l.t, err)
			return float64(kilobytes) / 1024
		}
	}
	l.t.Fatalf("no VmRSS of %s", pid)
	return 0
}

// serverMegabytes is the memory of the server.
func (l *lab) serverMegabytes() float64 {
	l.t.Helper()
	pid, err := os.ReadFile(filepath.Join(l.dir, "server", "server.pid"))
	testkit.Must(l.t, err)
	return l.megabytes(strings.TrimSpace(string(pid)))
}

// created creates a task at a home by its own program, and answers the id.
func (l *lab) created(at parity.Side, words ...string) string {
	l.t.Helper()
	var made struct{ Task struct{ ID string } }
	testkit.Must(l.t, json.Unmarshal([]byte(l.does(at.Program(append(words, "--json")...))), &made))
	return made.Task.ID
}

// custody is what the server knows of a task; nothing, where it does not.
func (l *lab) custody(id string) wire.Custody {
	c, err := l.remote.Task(l.t.Context(), id)
	var failure *wire.Refusal
	if err != nil && !errors.As(err, &failure) && !errors.Is(err, remote.ErrNotReached) {
		l.t.Error(err)
	}
	return c
}

func id(kind string, number int) string {
	return fmt.Sprintf("Figure%s%0*d", kind, 15-len(kind), number)
}

// createdFromAfar is a task with an agent that waits, which a person creates at a host.
func (l *lab) createdFromAfar(host, branch string) string {
	l.t.Helper()
	return l.created(l.hosts["ada"], "fleet", "create", "--project", project, "--workflow", "agents", "--harness",
		"idle", "--on", host, branch, "What is measured")
}

// worktree is the folder of a task's files at a host.
func (l *lab) worktree(at parity.Side, id string) string {
	l.t.Helper()
	var said struct {
		Workspaces []struct{ Path, Task string }
	}
	testkit.Must(l.t, json.Unmarshal([]byte(l.does(at.Program("workspace", "list", "--all", "--json"))), &said))
	for _, w := range said.Workspaces {
		if w.Task == id {
			return w.Path
		}
	}
	l.t.Fatalf("task %s has no worktree: %+v", id, said)
	return ""
}
