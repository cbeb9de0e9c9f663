package postgres_test

import (
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/internal/testkit/parity"
)

// needServer skips a test where the full server is not on this machine.
func needServer(t *testing.T) {
	t.Helper()
	if os.Getenv("ORANGE_TEST_LONG") == "" {
		t.Skip("this starts a server on PostgreSQL: make test-fleet")
	}
	lacks, err := exec.Command("../../tools/fleet-server", "lacks").CombinedOutput()
	if err != nil || len(lacks) > 0 {
		t.Skipf("this machine has no server on PostgreSQL: %s", lacks)
	}
}

// With certificates of the fleet's authority a host joins and gets a task; the server takes no connection without one,
// and none with one that another authority has signed.
func TestAServerThatAsksForCertificatesTakesThoseOfItsAuthorityAlone(t *testing.T) {
	needServer(t)
	l := newLab(t, true, "h1")
	id := l.createdFromAfar("h1", "feat/secret")
	if c := l.custody(id); c.Phase != string(custody.PhaseHeld) || c.Host != "h1" {
		t.Errorf("the task is not at h1: %+v", c)
	}
	if said := l.does(l.hosts["ada"].Program("fleet", "show", id)); !strings.Contains(said, "What is measured") {
		t.Errorf("ada is shown %q", said)
	}
	own, err := setup.Read(l.home())
	testkit.Must(t, err)
	config, err := own.TLS.Config()
	testkit.Must(t, err)
	if said := l.hears(config); said != "" {
		t.Errorf("the server refuses ada: %s", said)
	}
	foreign := l.stranger(own)
	for want, certificates := range map[string][]tls.Certificate{"certificate required": nil,
		"unknown certificate authority": foreign} {
		config := config.Clone()
		config.Certificates = certificates
		if said := l.hears(config); !strings.Contains(said, want) {
			t.Errorf("a connection that lacks a certificate of the authority: %q, expected %q", said, want)
		}
	}
	if plain, err := net.Dial("tcp", l.server); err != nil {
		t.Error(err)
	} else if said := hears(t, plain); said == "" {
		t.Error("the server talks without encryption")
	}
}

// stranger is a machine with a fleet of its own, which knows everything of this one except a key. It answers the
// certificate that it has, and fails the test where a command at the machine gets an answer.
func (l *lab) stranger(own setup.Setup) []tls.Certificate {
	l.t.Helper()
	side := parity.At(l.dir, "stranger", l.admin.Orange, l.alone.Env, nil)
	testkit.Must(l.t, os.MkdirAll(side.Dir, 0o700))
	_ = l.serve(side, fleetName).Run() // the server does not have it
	home := filepath.Join(side.Dir, "orange")
	theirs, err := setup.Read(home)
	testkit.Must(l.t, err)
	certificate, err := tls.LoadX509KeyPair(theirs.TLS.Certificate, theirs.TLS.Key)
	testkit.Must(l.t, err)
	authority, err := os.ReadFile(own.TLS.CA)
	testkit.Must(l.t, err)
	testkit.Must(l.t, os.WriteFile(theirs.TLS.CA, authority, 0o600))
	out, err := side.Program("fleet", "hosts").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "certificate") {
		l.t.Errorf("a stranger's command: %v: %s", err, out)
	}
	theirs.TLS = setup.Files{}
	testkit.Must(l.t, setup.Write(home, theirs))
	if out, err := side.Program("fleet", "hosts").CombinedOutput(); err == nil {
		l.t.Errorf("a command without certificates gets an answer: %s", out)
	}
	return []tls.Certificate{certificate}
}

// hears connects to the server, and answers why it says nothing; empty where it does.
func (l *lab) hears(config *tls.Config) string {
	l.t.Helper()
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	connection, err := tls.Dial("tcp", l.server, config)
	if err != nil {
		return err.Error()
	}
	return hears(l.t, connection)
}

// hears begins to talk as its clients do, and waits for the first byte of the server's settings.
func hears(t *testing.T, connection net.Conn) string {
	t.Helper()
	defer connection.Close()
	testkit.Must(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := connection.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	if err == nil {
		_, err = connection.Read(make([]byte, 1))
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
