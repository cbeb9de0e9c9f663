package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orange/internal/api"
	"orange/internal/testkit/parity"
)

// A command says the same, and ends the same, at the host itself and from another one.
func TestFleetCommands_answerAsTheHostItselfDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs a hundred commands")
	}
	compareBothWays(t, standIn)
}

func compareBothWays(t *testing.T, connect func(dir string) (func(), error)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here, asker := twins(t, dir)
	stop, err := connect(dir)
	t.Cleanup(stop)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := asker.Program("fleet", "join", "big", "--ssh", "big", "--as", "here").CombinedOutput(); err != nil {
		t.Fatalf("join: %v\n%s", err, out)
	}
	left := map[string]bool{}
	for _, name := range api.Names(api.Host) {
		left[name] = true
	}
	for _, one := range parity.Lines() {
		if problem := parity.Compare(one, here, asker, true); problem != "" {
			t.Error(problem)
		}
		delete(left, one.Words[0])
	}
	// a list has the hosts in it, and a rescue restores
	for _, name := range []string{"list", "restore"} {
		delete(left, name)
	}
	if len(left) > 0 {
		t.Errorf("no line runs %q", slices.Sorted(maps.Keys(left)))
	}
}

// twins are two homes with the same project, of which a third one reaches the second: that is the one which asks.
func twins(t *testing.T, dir string) (here, asker parity.Side) {
	t.Helper()
	sockets, err := os.MkdirTemp("/tmp", "ot") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	environment, err := parity.Environment(dir, filepath.Join(dir, "bin")+":"+built.dir, sockets)
	if err == nil {
		err = writeLogin(dir, environment)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string, words func([]string) []string) parity.Side {
		one := parity.At(dir, name, filepath.Join(built.dir, "orange"), environment, words)
		t.Cleanup(func() { endServers(sockets, filepath.Join(one.Dir, "orange")) })
		return one
	}
	here, there, asker := at("one", parity.AtHost), at("big", parity.AtHost), at("asker", parity.FromAfar("big"))
	for _, make := range []func() error{here.Make, there.Make, asker.MakeNotes} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
	}
	return here, asker
}
