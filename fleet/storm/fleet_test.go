package storm_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	fleet "orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/internal/rules/fencing"
	"orange/internal/run/proc"
)

// people are those who ask. Mallory has the connection of the others, and signs with a key that is in no list.
func people() []string { return []string{"ada", "bob", "mallory"} }

// fleet has hosts and people join a fleet at the server.
func (w *world) fleet() {
	w.t.Helper()
	office := w.env("office")
	for _, name := range []string{"core1", "core2"} {
		words := []string{filepath.Join(w.bin, "orange-fleet"), "serve"}
		if name == "core1" {
			words = append(words, "--init", "--server", serverAt, "--namespace", testkit.Fleet)
		} else {
			w.write("core2/orange/fleet/fleet.yml", "server: \""+serverAt+"\"\nnamespace: "+testkit.Fleet+"\n", 0o600)
		}
		env := office
		if name == "core2" {
			env = w.env("core2")
		}
		w.core = append(w.core, w.program(name, "hub", env, words...))
	}
	w.until("a server with a registry", time.Minute, func() bool {
		if w.core[0].ended() {
			w.core[0].signal(9)
		}
		w.core[0].start()
		line, err := w.tries("hub", office, "orange-fleet", "invite", "first", "--person")
		return err == nil && strings.Contains(line, "orange-fleet-join-")
	})
	w.core[0].words = w.core[0].words[:2] // it is not begun again
	w.core[1].start()
	for _, h := range w.hosts {
		w.hostJoins(h, office)
	}
	for _, name := range people() {
		w.personJoins(name, office)
	}
	w.until("three hosts with a lease", time.Minute, func() bool {
		for _, h := range w.hosts {
			if _, until := h.lease(); until == 0 {
				return false
			}
		}
		return true
	})
}

// tries runs a command at a machine, and answers the last line that it printed.
func (w *world) tries(space string, env []string, words ...string) (string, error) {
	words[0] = filepath.Join(w.bin, words[0])
	words = w.in(space, words...)
	ctx, off := context.WithTimeout(w.t.Context(), time.Minute)
	defer off()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, w.dir, time.Second
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], err
}

func (w *world) has(space string, env []string, words ...string) string {
	w.t.Helper()
	last, err := w.tries(space, env, words...)
	if err != nil {
		w.t.Fatalf("%q: %v: %s", words, err, last)
	}
	return last
}

func (w *world) hostJoins(h *host, office []string) {
	w.t.Helper()
	dir := filepath.Dir(h.home)
	w.says(dir, h.env, w.in(h.space, "git", "clone", "-q", repository, filepath.Join(dir, "web"))...)
	w.has(h.space, h.env, "orange", "project", "add", filepath.Join(dir, "web"), "--name", "web", "--yes",
		"--pool-size", "5")
	line := w.has("hub", office, "orange-fleet", "invite", h.name, "--host")
	w.has(h.space, h.env, "orange-fleet", "join", line, "--snapshots", repository)
	path := filepath.Join(h.home, "fleet", "fleet.yml")
	text, err := os.ReadFile(path)
	testkit.Must(w.t, err)
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "snapshot_every:") || line == ""
	})
	testkit.Must(w.t, os.WriteFile(path, []byte(strings.Join(append(lines, "snapshot_every: 3s\n"), "\n")), 0o600))
	h.daemon = w.program(h.name+"-daemon", h.space, h.env, filepath.Join(w.bin, "orange-fleet"), "host")
	h.monitor = w.program(h.name+"-monitor", h.space, h.env, filepath.Join(w.bin, "orange"), "monitor")
	h.daemon.start()
	h.monitor.start()
}

func (w *world) personJoins(name string, office []string) {
	w.t.Helper()
	d := &desk{person: name, dir: filepath.Join(w.dir, name), env: w.env(name)}
	w.desks = append(w.desks, d)
	w.write(name+"/id", string(testkit.KeyFile(w.t, name, "")), 0o600)
	w.write(name+"/id.pub", testkit.Public(w.t, name)+"\n", 0o600)
	w.write(name+"/orange/workflows/storm.yml", w.given("storm.yml"), 0o600)
	if name == "mallory" { // who says to be ada
		of := filepath.Join(w.dir, "ada", "orange", "fleet")
		testkit.Must(w.t, os.CopyFS(filepath.Join(d.dir, "orange", "fleet"), os.DirFS(of)))
		path := filepath.Join(d.dir, "orange", "fleet", "fleet.yml")
		text, err := os.ReadFile(path)
		testkit.Must(w.t, err)
		testkit.Must(w.t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), filepath.Join(w.dir, "ada", "id"),
			filepath.Join(d.dir, "id"))), 0o600))
		return
	}
	w.has("hub", d.env, "orange-fleet", "join", w.has("hub", office, "orange-fleet", "invite", name, "--person"),
		"--signing-key", filepath.Join(d.dir, "id"))
	path := filepath.Join(d.dir, "orange", "fleet", "fleet.yml")
	text, err := os.ReadFile(path)
	testkit.Must(w.t, err)
	testkit.Must(w.t, os.WriteFile(path, append(text, "patience: 20s\n"...), 0o600)) // the machine is a busy one
}

// lease is the lease of the host, as orange there reads it.
func (h *host) lease() (l fencing.HomeLease, until time.Duration) {
	text, err := os.ReadFile(filepath.Join(h.home, "fleet", "lease.json"))
	if err != nil || json.Unmarshal(text, &l) != nil {
		return fencing.HomeLease{}, 0
	}
	return l, l.Until
}

// has is how many tasks the host has that are not over, as it knows itself.
func (h *host) has() (n int) {
	var kept struct {
		Holder fleet.Holder
		Rows   map[string]struct{ Over bool }
	}
	text, err := os.ReadFile(filepath.Join(h.home, "fleet", "host.json"))
	if err != nil || json.Unmarshal(text, &kept) != nil {
		return 0
	}
	for _, t := range kept.Holder.Tasks {
		if t.Has && !kept.Rows[t.Task].Over {
			n++
		}
	}
	return n
}

// leases are all leases that a host has had, in their order.
type leases struct {
	lock sync.Mutex
	all  []leaseAt
}

type leaseAt struct{ seen, until time.Duration }

// watchLeases notes every lease of the hosts until ctx ends.
func (w *world) watchLeases(ctx context.Context) {
	for ; ctx.Err() == nil; rest(ctx, 50*time.Millisecond) {
		for _, h := range w.hosts {
			_, until := h.lease()
			_, up, err := proc.SinceBoot()
			if err != nil || until == 0 {
				continue
			}
			h.leases.lock.Lock()
			if n := len(h.leases.all); n == 0 || h.leases.all[n-1].until != until {
				h.leases.all = append(h.leases.all, leaseAt{up, until})
			}
			h.leases.lock.Unlock()
		}
	}
}

// at is until when the host might act, as it was known at a time.
func (l *leases) at(up time.Duration) (until time.Duration) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, one := range l.all {
		if one.seen <= up+100*time.Millisecond {
			until = max(until, one.until)
		}
	}
	return until
}
