package client_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/fleet/testkit"
	"orange/internal/testkit/parity"
)

// fleetOf is a fleet of the built programs, with a server of the program that ORANGE_FLEET_TEMPORAL names.
type fleetOf struct {
	t     *testing.T
	dir   string
	admin parity.Side
}

// says runs a command at a home, and answers the last line of what it printed.
func (f fleetOf) says(at parity.Side, words ...string) string {
	f.t.Helper()
	cmd := at.Program(words...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("%q: %v: %s%s", words, err, out, talk.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// keeps starts a command at a home that goes on until it is stopped, or the test ends.
func (f fleetOf) keeps(at parity.Side, words ...string) (stop func()) {
	f.t.Helper()
	cmd := at.Program(words...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	testkit.Must(f.t, cmd.Start())
	stop = sync.OnceFunc(func() {
		testkit.Must(f.t, cmd.Process.Signal(syscall.SIGTERM))
		var ended *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(func() {
		stop()
		if f.t.Failed() {
			f.t.Logf("%q said:\n%s", words, said.String())
		}
	})
	return stop
}

// fleetProgram is the same home with the program orange-fleet.
func fleetProgram(s parity.Side) parity.Side {
	s.Orange = filepath.Join(filepath.Dir(s.Orange), "orange-fleet")
	return s
}

// waits waits until a command at a home says a text.
func (f fleetOf) waits(at parity.Side, text string, words ...string) {
	f.t.Helper()
	late, tick := time.After(time.Minute), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for {
		out, err := at.Program(words...).CombinedOutput()
		if strings.Contains(string(out), text) {
			return
		}
		select {
		case <-late:
			f.t.Fatalf("%q does not say %q: %v: %s", words, text, err, out)
		case <-tick.C:
		}
	}
}

// newFleet begins a fleet at a server.
func newFleet(t *testing.T, l line, address string) fleetOf {
	t.Helper()
	f := fleetOf{t: t, dir: l.dir, admin: fleetProgram(l.at("admin", l.here.Orange, parity.AtHost))}
	testkit.Must(t, f.admin.MakeNotes())
	f.keeps(f.admin, "serve", "--init", "--server", address, "--namespace", testkit.Fleet)
	f.waits(f.admin, "orange-fleet-join-", "invite", "first", "--person") // the registry is there
	return f
}

// personJoins has ada join.
func (f fleetOf) personJoins(asker parity.Side) {
	f.t.Helper()
	testkit.Must(f.t, os.WriteFile(filepath.Join(asker.Dir, "id"), testkit.KeyFile(f.t, "ada", ""), 0o600))
	testkit.Must(f.t, os.WriteFile(filepath.Join(asker.Dir, "id.pub"), []byte(testkit.Public(f.t, "ada")+"\n"), 0o600))
	f.says(fleetProgram(asker), "join", f.says(f.admin, "invite", "ada", "--person"), "--signing-key",
		filepath.Join(asker.Dir, "id"))
}

// hostJoins has a host join, whose daemon goes on until it is stopped.
func (f fleetOf) hostJoins(at parity.Side, name, vault string) (stop func()) {
	f.t.Helper()
	at = fleetProgram(at)
	f.says(at, "join", f.says(f.admin, "invite", name, "--host"), "--snapshots", vault)
	return f.keeps(at, "host")
}

// A command says the same, and ends the same, at the host itself and through a server, with the programs as they are.
func TestFleetCommands_answerThroughARealServerAsTheHostItselfDoes(t *testing.T) {
	t.Parallel()
	address := testkit.Server(t)
	l := newLine(t, orange(t))
	f := newFleet(t, l, address)
	asker, vault := l.at("asker", l.here.Orange, parity.FromAfar("big")), filepath.Join(l.dir, "vault.git")
	asker.Person = "ada"
	testkit.Must(t, exec.Command("git", "init", "-q", "--bare", vault).Run())
	f.personJoins(asker)
	f.hostJoins(l.big, "big", vault)
	f.waits(asker, `"reached": true`, "fleet", "hosts", "--json")
	for _, one := range parity.Lines() {
		if one.Place {
			continue
		}
		one.Loose = one.Loose || one.Again
		if problem := parity.Compare(one, l.here, asker, false); problem != "" {
			t.Error(problem)
		}
	}
	const own = "5MZK2Q3RXW4T7YBN6VJP8" // it is created there while the fleet does not look, and joins it later
	f.says(l.big, "task", "create", "feat/offline", "Made offline", "--project", "coffee", "--workflow", "own",
		"--id", own)
	if said := f.says(fleetProgram(asker), "adopt", "big"); !strings.Contains(said, "that the fleet does not have: 1") {
		t.Error(said)
	}
	for range 2 {
		f.says(fleetProgram(asker), "adopt", "big", "--all")
		f.waits(asker, `"Made offline"`, "fleet", "show", own, "--json")
	}
	f.says(asker, "fleet", "say", own, "hello", "--key", "k1")
}
