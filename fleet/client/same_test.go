package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/client"
	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/testkit/parity"
)

// wireVariable has this program be "orange-fleet" with a wire of its own: the value is the file with the wire.
const wireVariable = "ORANGE_FLEET_TEST_WIRE"

// strung is what a process has to know of the wire.
type strung struct {
	Dir    string        `json:"dir"`    // of the custodies
	Home   string        `json:"home"`   // of the host
	Orange string        `json:"orange"` // the program there
	Trust  custody.Trust `json:"trust"`
	Person string        `json:"person"`
	Key    string        `json:"key"`      // the path of the person's key
	Host   []byte        `json:"host_key"` // the host's key
}

func TestMain(m *testing.M) {
	if file := os.Getenv(wireVariable); file != "" {
		os.Exit(orangeFleet(file, os.Args[2:])) // behind the word "fleet"
	}
	os.Exit(m.Run())
}

// orangeFleet is the program with the wire in the place of the server.
func orangeFleet(file string, args []string) int {
	text, err := os.ReadFile(file)
	var s strung
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	key, err := ssh.ParsePrivateKey(s.Host)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	program := host.Orange{Path: s.Orange, Home: s.Home}
	store := &host.Store{Dir: filepath.Join(s.Home, "fleet"), Clock: clock, Now: time.Now}
	h := &host.Host{Fleet: testkit.Fleet, Name: "big", Snapshots: "origin", Key: key, People: people(s.Trust),
		Program: program, Store: store, Now: func(context.Context) time.Time { return time.Now() }}
	w := wireServer{s.Dir, h, s.Trust, wire.Here{Host: "big", Projects: []string{"coffee"}, Harness: []string{"idle"},
		Free: 2, Labels: []string{"gpu"}}}
	usual := setup.Usual()
	usual.Server, usual.Namespace, usual.Person, usual.SigningKey = "wire", testkit.Fleet, s.Person, s.Key
	return client.RunWith(os.Getenv("ORANGE_HOME"), usual, w, nil, args)
}

// line is the wire of a test, with the homes at its ends.
type line struct {
	here, big, asker parity.Side
	dir              string
	wire             strung
	at               func(name, program string, words func([]string) []string) parity.Side
}

// newLine strings a wire between a home that asks and one that has tasks; a third one differs from that in nothing.
func newLine(t *testing.T, program string) line {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	sockets, err := os.MkdirTemp("/tmp", "ofc") //nolint:usetesting // the path of a socket must be short
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(sockets)) }) // after all that is still at work there
	self, err := os.Executable()
	testkit.Must(t, err)
	env, err := parity.Environment(dir, filepath.Dir(program), sockets)
	testkit.Must(t, err)
	at := func(name, program string, words func([]string) []string) parity.Side {
		one := parity.At(dir, name, program, env, words)
		t.Cleanup(func() { testkit.EndTerminals(t, sockets, 20*time.Second, filepath.Join(one.Dir, "orange")) })
		return one
	}
	l := line{here: at("one", program, parity.AtHost), big: at("big", program, parity.AtHost),
		asker: at("asker", self, parity.FromAfar("big")), dir: dir, at: at}
	testkit.Must(t, l.here.Make())
	testkit.Must(t, l.big.Make())
	testkit.Must(t, l.asker.MakeNotes())
	s := strung{Dir: filepath.Join(dir, "custodies"), Home: filepath.Join(l.big.Dir, "orange"), Orange: program,
		Person: "ada", Key: filepath.Join(dir, "ada"), Host: testkit.KeyFile(t, "big", ""),
		Trust: testkit.Trust(t, "big")}
	testkit.Must(t, os.Mkdir(s.Dir, 0o700))
	testkit.Must(t, os.WriteFile(s.Key, testkit.KeyFile(t, "ada", ""), 0o600))
	l.wire, l.asker.Person = s, s.Person
	text, err := json.Marshal(s)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "wire.json"), text, 0o600))
	l.asker.Env = append(l.asker.Env, wireVariable+"="+filepath.Join(dir, "wire.json"))
	return l
}

// makeMember makes the host one of the fleet, as orange there looks for it: who may ask is in its files.
func makeMember(t *testing.T, s strung) {
	t.Helper()
	dir := filepath.Join(s.Home, "fleet")
	testkit.Must(t, os.MkdirAll(dir, 0o700))
	trust, err := json.Marshal(s.Trust)
	testkit.Must(t, err)
	for name, text := range map[string]string{"authority.pub": s.Trust.Authority + "\n", "trust.json": string(trust),
		"fleet.yml": "server: \"wire:1\"\nnamespace: " + testkit.Fleet + "\nname: big\n"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// orange is the program, with orange-fleet in its folder, built from what is here.
func orange(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Build(t, dir, nil)
	return filepath.Join(dir, "orange")
}

// A command says the same, and ends the same, at the host itself and through the custody of its task.
func TestFleetCommands_answerThroughTheServerAsTheHostItselfDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs a hundred commands")
	}
	l := newLine(t, orange(t))
	makeMember(t, l.wire)
	for _, one := range parity.Lines() {
		if one.Place {
			continue
		}
		// the custody keeps one answer: to a repeat that asks for another one Orange says that the task is there
		one.Loose = one.Loose || one.Again
		if problem := parity.Compare(one, l.here, l.asker, false); problem != "" {
			t.Error(problem)
		}
	}
}
