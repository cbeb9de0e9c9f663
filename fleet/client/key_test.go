package client_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"orange/fleet/client"
	"orange/fleet/testkit"
)

// keys are files with keys of ada, and the socket of an ssh-agent that has hers.
func keys(t *testing.T) (dir, socket string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"plain": string(testkit.KeyFile(t, "ada", "")),
		"locked":  string(testkit.KeyFile(t, "ada", "secret")),
		"ada.pub": testkit.Public(t, "ada") + "\n", "eve.pub": testkit.Public(t, "eve") + "\n", "none": "nothing\n"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	short, err := os.MkdirTemp("/tmp", "ofa") //nolint:usetesting // the path of a socket must be short
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(short)) })
	socket = filepath.Join(short, "s")
	listener, err := net.Listen("unix", socket)
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, listener.Close()) })
	held := agent.NewKeyring()
	raw, err := ssh.ParseRawPrivateKey(testkit.KeyFile(t, "ada", ""))
	testkit.Must(t, err)
	testkit.Must(t, held.Add(agent.AddedKey{PrivateKey: raw}))
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(held, c) }()
		}
	}()
	return dir, socket
}

func TestSigningKey_isAFileOrWhatAnAgentHas(t *testing.T) {
	t.Parallel()
	dir, socket := keys(t)
	for _, one := range []struct{ file, socket, problem string }{
		{"plain", "", ""}, {"ada.pub", socket, ""}, {"locked", socket, ""},
		{"locked", "", "ssh-agent"}, {"ada.pub", "", "ssh-add"}, {"eve.pub", socket, "has no such key"},
		{"none", socket, "no ssh key"}, {"missing", socket, "no such file"},
	} {
		key, err := client.SigningKey(filepath.Join(dir, one.file), one.socket)
		switch {
		case one.problem == "" && err != nil:
			t.Errorf("%s: %v", one.file, err)
		case one.problem == "":
			if string(key.PublicKey().Marshal()) != string(testkit.Key(t, "ada").PublicKey().Marshal()) {
				t.Errorf("%s: it is another key", one.file)
			}
		case err == nil || !strings.Contains(err.Error(), one.problem):
			t.Errorf("%s: %v, want %q", one.file, err, one.problem)
		}
	}
	if _, err := client.SigningKey("", socket); err == nil || !strings.Contains(err.Error(), "signing_key") {
		t.Errorf("without a path: %v", err)
	}
}
