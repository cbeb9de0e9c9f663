package members_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/members"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// fleet is the machine that has the authority, with certificates for the server "localhost" where they are wanted.
func fleet(t *testing.T, encrypted bool) (members.Authority, setup.Setup, string) {
	t.Helper()
	home := t.TempDir()
	var a members.Authority
	for range 2 { // a second time changes nothing
		var err error
		if a, err = members.Make(t.Context(), home, testkit.Fleet); err != nil {
			t.Fatal(err)
		}
	}
	s := setup.Usual()
	s.Server, s.Namespace = "127.0.0.1:7233", testkit.Fleet
	if encrypted {
		for range 2 {
			var err error
			s.TLS, err = a.MakeCertificates(testkit.Fleet, []string{"localhost", "127.0.0.1"}, time.Now())
			testkit.Must(t, err)
		}
	}
	return a, s, home
}

func inviteLine(t *testing.T, a members.Authority, s setup.Setup, of, name string) string {
	t.Helper()
	ticket, _, err := a.Invite(t.Context(), s, registry.Invite{Of: of, Name: name}, time.Now())
	testkit.Must(t, err)
	line, err := ticket.Line()
	testkit.Must(t, err)
	return line
}

func beginJoin(t *testing.T, home, line string) *members.JoiningMachine {
	t.Helper()
	j, err := members.Begin(home, line)
	testkit.Must(t, err)
	return j
}

// join is a host that has joined.
func join(t *testing.T, a members.Authority, s setup.Setup, home, name string) registry.Order {
	t.Helper()
	j := beginJoin(t, home, inviteLine(t, a, s, signed.OfHosts, name))
	j.Setup.Snapshots = "origin"
	testkit.Must(t, j.HostKey())
	order, err := j.Order(nil)
	testkit.Must(t, err)
	admitted, err := a.Admit(t.Context(), order, time.Now())
	testkit.Must(t, err)
	testkit.Must(t, j.Finish(t.Context(), admitted))
	return order
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	testkit.Must(t, err)
	return info.Mode().Perm()
}

func TestAHostThatJoinedHasAllThatItNeeds(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, true)
	home := t.TempDir()
	join(t, a, s, home, "h1")
	got, err := setup.Read(home)
	if err != nil || got.Name != "h1" || got.Server != s.Server || got.Snapshots != "origin" ||
		got.ForHost(home) != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	key, err := setup.HostKey(home)
	testkit.Must(t, err)
	trust, err := setup.Trust(home, testkit.Fleet)
	if err != nil || !strings.Contains(trust.Hosts.Text, "\nh1 create=no "+sign.KeyOf(key.PublicKey()).Words()) {
		t.Errorf("%q, %v", trust.Hosts.Text, err)
	}
	for _, path := range []string{setup.HostKeyPath(home), got.TLS.Key} {
		if mode(t, path) != task.PrivateFile {
			t.Errorf("%s can be read by others", path)
		}
	}
	left, err := filepath.Glob(filepath.Join(setup.Dir(home), ".join-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

// server takes one encrypted connection of a client that has a certificate of the fleet.
func server(t *testing.T, home string) string {
	t.Helper()
	own, err := tls.LoadX509KeyPair(filepath.Join(members.AuthorityDir(home), "server.pem"),
		filepath.Join(members.AuthorityDir(home), "server.key"))
	testkit.Must(t, err)
	ca, err := os.ReadFile(filepath.Join(members.AuthorityDir(home), "ca.pem"))
	testkit.Must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13})
	testkit.Must(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if secure, is := c.(*tls.Conn); is && secure.Handshake() == nil {
				_, _ = io.WriteString(c, secure.ConnectionState().PeerCertificates[0].Subject.CommonName)
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// reach is the name under which a server knows who connects.
func reach(t *testing.T, address string, files setup.Files) string {
	t.Helper()
	config, err := files.Config()
	testkit.Must(t, err)
	config.ServerName, _, _ = net.SplitHostPort(address)
	c, err := tls.Dial("tcp", address, config)
	testkit.Must(t, err)
	name, _ := io.ReadAll(c)
	if err := c.Close(); err != nil {
		t.Log(err)
	}
	return string(name)
}

func TestTheCertificatesOpenTheServerToThoseWhoWereInvited(t *testing.T) {
	t.Parallel()
	a, s, at := fleet(t, true)
	address := server(t, at)
	if got := reach(t, address, s.TLS); got != "authority" {
		t.Errorf("the authority's own: %q", got)
	}
	home := t.TempDir()
	j := beginJoin(t, home, inviteLine(t, a, s, signed.OfHosts, "h2"))
	way, done, err := j.Way()
	testkit.Must(t, err)
	if got := reach(t, address, way.TLS); got != "h2" {
		t.Errorf("the invited one's: %q", got)
	}
	testkit.Must(t, done())
	if _, err := os.Stat(way.TLS.Key); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key of the invitation is still there: %v", err)
	}
	join(t, a, s, home, "h1")
	got, err := setup.Read(home)
	testkit.Must(t, err)
	if name := reach(t, address, got.TLS); name != "h1" {
		t.Errorf("the host's: %q", name)
	}
	_, other, _ := fleet(t, true)
	if name := reach(t, address, setup.Files{CA: s.TLS.CA, Certificate: other.TLS.Certificate,
		Key: other.TLS.Key}); name != "" {
		t.Errorf("a certificate of another fleet opens it to %q", name)
	}
}

// Attackers cannot (docs/proof.md): join with an invitation that is void, or change a join that passes by.
func TestTheAuthorityJudgesByItsOwnFiles(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, false)
	home := t.TempDir()
	order := join(t, a, s, home, "h1")
	if again, err := a.Admit(t.Context(), order, time.Now()); err != nil || !strings.Contains(again.Trust.Hosts.Text,
		"version 2") {
		t.Errorf("a repeat of the same join, whose answer was lost: %q, %v", again.Trust.Hosts.Text, err)
	}
	// an invitation that the authority made for another fleet, or that someone else made, is none of its own
	ticket := registry.Ticket{Seed: []byte(strings.Repeat("x", 32))}
	once, err := ticket.Once()
	testkit.Must(t, err)
	forged, err := registry.Join{Fleet: testkit.Fleet, Of: signed.OfPeople, Name: "eve",
		Key: testkit.Public(t, "eve")}.Sign(once)
	testkit.Must(t, err)
	if _, err := a.Admit(t.Context(), forged, time.Now()); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("forged: %v", err)
	}
	state, err := a.Remove(t.Context(), "h1", false, time.Now())
	if err != nil || strings.Contains(state.Trust.Hosts.Text, "h1") {
		t.Errorf("%q, %v", state.Trust.Hosts.Text, err)
	}
	if _, err := a.Admit(t.Context(), order, time.Now()); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("a repeat after the host was removed: %v", err)
	}
}

func TestAnEncryptedFleetRefusesAJoinWithoutACertificateRequest(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, true)
	j := beginJoin(t, t.TempDir(), inviteLine(t, a, s, signed.OfHosts, "h1"))
	testkit.Must(t, j.HostKey())
	j.Ticket.Cert = ""
	order, err := j.Order(nil)
	testkit.Must(t, err)
	if _, err := a.Admit(t.Context(), order, time.Now()); !errors.Is(err, registry.ErrRefused) {
		t.Error(err)
	}
}

func TestBeginRefusesAHomeOfAnotherFleet(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, false)
	home := t.TempDir()
	join(t, a, s, home, "h1")
	other, setupOther, _ := fleet(t, false)
	line := inviteLine(t, other, setupOther, signed.OfPeople, "ada")
	if _, err := members.Begin(home, line); !errors.Is(err, task.ErrUsage) ||
		!strings.Contains(err.Error(), "another authority") {
		t.Error(err)
	}
	overSSH := t.TempDir()
	testkit.Must(t, os.MkdirAll(setup.Dir(overSSH), task.PrivateFolder))
	testkit.Must(t, os.WriteFile(setup.Path(overSSH), []byte("name: x\nhosts: []\n"), task.PrivateFile))
	if _, err := members.Begin(overSSH, inviteLine(t, a, s, signed.OfPeople, "ada")); err == nil ||
		!strings.Contains(err.Error(), "move it away") {
		t.Error(err)
	}
}

func TestFinishTrustsOnlyWhatTheAuthorityOfTheInvitationSigned(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, false)
	home := t.TempDir()
	j := beginJoin(t, home, inviteLine(t, a, s, signed.OfHosts, "h1"))
	j.Setup.Snapshots = "origin"
	testkit.Must(t, j.HostKey())
	forged := registry.Admission{}
	forged.Trust.People = testkit.List(t, signed.OfPeople, 1)
	forged.Trust.Hosts = testkit.List(t, signed.OfHosts, 1, "h1")
	if err := j.Finish(t.Context(), forged); !errors.Is(err, sign.ErrNotTheList) {
		t.Errorf("another authority: %v", err)
	}
	state, err := a.State()
	testkit.Must(t, err)
	if err := j.Finish(t.Context(), registry.Admission{Trust: state.Trust}); err == nil ||
		!strings.Contains(err.Error(), `does not have the key of "h1"`) {
		t.Errorf("lists without the host: %v", err)
	}
	if _, err := os.Stat(setup.AuthorityPath(home)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// keyOf is a file with the key of a person.
func keyOf(t *testing.T, passphrase string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	testkit.Must(t, members.MakeKey(path, "ada"))
	if passphrase == "" {
		return path
	}
	text, err := os.ReadFile(path)
	testkit.Must(t, err)
	key, err := ssh.ParseRawPrivateKey(text)
	testkit.Must(t, err)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "ada", []byte(passphrase))
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(path, pem.EncodeToMemory(block), task.PrivateFile))
	return path
}

func TestAJoinWarnsWhereAgentsCouldReachAPersonsKeys(t *testing.T) {
	t.Parallel()
	a, s, _ := fleet(t, false)
	home := t.TempDir()
	join(t, a, s, home, "h1")
	j := beginJoin(t, home, inviteLine(t, a, s, signed.OfPeople, "ada"))
	testkit.Must(t, j.PersonKey(keyOf(t, "")))
	if all := strings.Join(members.Warnings(j.Setup), "\n"); !strings.Contains(all, "share an account") ||
		!strings.Contains(all, "no passphrase") {
		t.Errorf("%q", all)
	}
	order, err := j.Order(nil)
	testkit.Must(t, err)
	admitted, err := a.Admit(t.Context(), order, time.Now())
	if err == nil {
		err = j.Finish(t.Context(), admitted)
	}
	if got, read := setup.Read(home); err != nil || read != nil || got.Name != "h1" || got.Person != "ada" {
		t.Errorf("%+v, %v, %v", got, err, read)
	}
	safe := setup.Setup{Person: "ada", SigningKey: keyOf(t, "a passphrase")}
	if all := members.Warnings(safe); len(all) > 0 {
		t.Errorf("a person's own machine, with a passphrase: %q", all)
	}
	if err := j.PersonKey(filepath.Join(home, "none")); !errors.Is(err, task.ErrUsage) {
		t.Error(err)
	}
}

// Who closes the server to the certificates of the past makes another authority for them.
func TestAnotherAuthorityForCertificatesMakesAllOfThemAgain(t *testing.T) {
	t.Parallel()
	a, s, at := fleet(t, true)
	old := t.TempDir()
	join(t, a, s, old, "h1")
	for _, name := range []string{"ca.pem", "ca.key"} {
		testkit.Must(t, os.Remove(filepath.Join(members.AuthorityDir(at), name)))
	}
	files, err := a.MakeCertificates(testkit.Fleet, []string{"localhost", "127.0.0.1"}, time.Now())
	testkit.Must(t, err)
	address := server(t, at)
	if got := reach(t, address, files); got != "authority" {
		t.Errorf("the new one of the authority: %q", got)
	}
	before, err := setup.Read(old)
	testkit.Must(t, err)
	before.TLS.CA = files.CA
	if got := reach(t, address, before.TLS); got != "" {
		t.Errorf("the certificate of a host from before opens the server to %q", got)
	}
}
