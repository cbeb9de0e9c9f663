package members

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// JoiningMachine is a machine that is about to join. Setup is what fleet.yml is going to say.
type JoiningMachine struct {
	Home   string
	Ticket registry.Ticket
	Setup  setup.Setup

	key       string // the public key of the new member
	tlsKey    []byte
	tlsAsk    []byte
	authority signed.PublicKey
}

// Begin reads the line of an invitation, and what this machine has of the fleet already. A machine may be that of a
// person and a host: then it joins twice.
func Begin(home, line string) (*JoiningMachine, error) {
	ticket, err := registry.ReadTicket(line)
	if err != nil {
		return nil, err
	}
	j := &JoiningMachine{Home: home, Ticket: ticket, Setup: setup.Usual()}
	if j.authority, err = signed.ReadKey(ticket.Authority); err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot join: the line of the invitation is damaged: it has no key of "+
			"the fleet's authority: copy it whole")
	}
	if err := j.earlier(); err != nil {
		return nil, err
	}
	j.Setup.Server, j.Setup.Namespace = ticket.Server, ticket.Fleet
	if ticket.Of == signed.OfHosts {
		j.Setup.Name = ticket.Name
	} else {
		j.Setup.Person = ticket.Name
	}
	return j, nil
}

// earlier reads what this machine has of a fleet, which has to be the same one.
func (j *JoiningMachine) earlier() error {
	text, err := os.ReadFile(setup.AuthorityPath(j.Home))
	if err == nil && strings.TrimSpace(string(text)) != j.Ticket.Authority {
		return task.Notef(task.ErrUsage, "cannot join the fleet %q: this home belongs to a fleet with another "+
			"authority, whose key is in %q: use another ORANGE_HOME", j.Ticket.Fleet, setup.AuthorityPath(j.Home))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	if _, err := os.Stat(setup.Path(j.Home)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	had, err := setup.Read(j.Home)
	switch {
	case err != nil:
		return fmt.Errorf("cannot join the fleet %q: %q is there, and is not that of a fleet with a server: move it "+
			"away: %w", j.Ticket.Fleet, setup.Path(j.Home), err)
	case had.Namespace != j.Ticket.Fleet:
		return task.Notef(task.ErrUsage, "cannot join the fleet %q: this home belongs to the fleet %q: use another "+
			"ORANGE_HOME", j.Ticket.Fleet, had.Namespace)
	}
	j.Setup = had
	return nil
}

// HostKey has the host sign with its own key, which is made where there is none.
func (j *JoiningMachine) HostKey() error {
	path := setup.HostKeyPath(j.Home)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(setup.Dir(j.Home), task.PrivateFolder); err != nil {
			return fmt.Errorf("make the key of this host: %w", err)
		}
		if err := MakeKey(path, "host "+j.Ticket.Name); err != nil {
			return err
		}
	}
	key, err := setup.HostKey(j.Home)
	if err != nil {
		return err
	}
	j.key = sign.KeyOf(key.PublicKey()).Words()
	return nil
}

// PersonKey has the person sign with a key that is there: at a path, or at the path of its public half.
func (j *JoiningMachine) PersonKey(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find the key %q: %w", path, err)
	}
	key, err := PublicKey(absolute)
	if err != nil {
		return err
	}
	j.key, j.Setup.SigningKey = sign.KeyOf(key).Words(), absolute
	return nil
}

// PublicKey is the public half of a person's key, which is next to the private one.
func PublicKey(path string) (ssh.PublicKey, error) {
	public := strings.TrimSuffix(path, ".pub") + ".pub"
	text, err := os.ReadFile(public)
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot sign with the key %q: its public half cannot be read: %v; "+
			"\"ssh-keygen -t ed25519 -f PATH\" makes a key", path, err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot sign with the key %q: found no key in %q", path, public)
	}
	return key, nil
}

// Order is what the registry is asked. With an encrypted connection it asks for a certificate too, whose key is made
// here.
func (j *JoiningMachine) Order(projects []remote.HostProject) (registry.Order, error) {
	ask := registry.Join{Fleet: j.Ticket.Fleet, Of: j.Ticket.Of, Name: j.Ticket.Name, Key: j.key, Projects: projects}
	if j.Ticket.Cert != "" {
		if err := j.askCertificate(); err != nil {
			return registry.Order{}, err
		}
		ask.Request = string(j.tlsAsk)
	}
	once, err := j.Ticket.Once()
	if err != nil {
		return registry.Order{}, err
	}
	return ask.Sign(once)
}

func (j *JoiningMachine) askCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of this machine: %w", err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("make the key of this machine: %w", err)
	}
	ask, err := x509.CreateCertificateRequest(rand.Reader,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: j.Ticket.Name}}, key)
	if err != nil {
		return fmt.Errorf("ask for a certificate: %w", err)
	}
	j.tlsKey = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	j.tlsAsk = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: ask})
	return nil
}

// Way is how the server is reached for the one connection that joins. Done removes its files.
func (j *JoiningMachine) Way() (s setup.Setup, done func() error, err error) {
	s, done = j.Setup, func() error { return nil }
	if j.Ticket.CA == "" {
		s.TLS = setup.Files{}
		return s, done, nil
	}
	if j.Ticket.Cert == "" {
		if s.TLS == (setup.Files{}) {
			return s, done, task.Notef(task.ErrUsage, "cannot join the fleet %q: its certificates are not made by "+
				"its own authority: write \"server\", \"namespace\" and \"tls\" with a certificate of this machine "+
				"into %q first",
				j.Ticket.Fleet, setup.Path(j.Home))
		}
		return s, done, nil
	}
	if err := os.MkdirAll(setup.Dir(j.Home), task.PrivateFolder); err != nil {
		return s, done, fmt.Errorf("make the folder of the fleet: %w", err)
	}
	dir, err := os.MkdirTemp(setup.Dir(j.Home), ".join-")
	if err != nil {
		return s, done, fmt.Errorf("keep the certificate of the invitation: %w", err)
	}
	done = func() error { return os.RemoveAll(dir) }
	s.TLS = setup.Files{CA: filepath.Join(dir, "ca.pem"), Certificate: filepath.Join(dir, "this.pem"),
		Key: filepath.Join(dir, "this.key")}
	for path, text := range map[string]string{s.TLS.CA: j.Ticket.CA, s.TLS.Certificate: j.Ticket.Cert,
		s.TLS.Key: j.Ticket.Key} {
		if err := os.WriteFile(path, []byte(text), task.PrivateFile); err != nil {
			return s, done, errors.Join(fmt.Errorf("keep the certificate of the invitation: %w", err), done())
		}
	}
	return s, done, nil
}

// Finish writes what the fleet answered, if the authority of the invitation signed it for this machine's key.
func (j *JoiningMachine) Finish(ctx context.Context, a registry.Admission) error {
	if err := j.admitted(a); err != nil {
		return err
	}
	if err := os.MkdirAll(setup.Dir(j.Home), task.PrivateFolder); err != nil {
		return fmt.Errorf("make the folder of the fleet: %w", err)
	}
	if err := proc.ReplaceFile(setup.AuthorityPath(j.Home), []byte(j.Ticket.Authority+"\n")); err != nil {
		return err
	}
	if _, err := setup.KeepTrust(ctx, j.Home, j.Ticket.Fleet, a.Trust); err != nil {
		return err
	}
	if a.Certificate != "" {
		if err := j.keepCertificate(a.Certificate); err != nil {
			return err
		}
	}
	return setup.Write(j.Home, j.Setup)
}

// admitted checks that this machine's key is in the list under its name.
func (j *JoiningMachine) admitted(a registry.Admission) error {
	list := a.Trust.People
	if j.Ticket.Of == signed.OfHosts {
		list = a.Trust.Hosts
	}
	members, err := list.Open(j.authority, j.Ticket.Fleet, j.Ticket.Of)
	if err != nil {
		return fmt.Errorf("cannot join the fleet %q: the answer of its server does not count: %w", j.Ticket.Fleet, err)
	}
	for _, m := range members.Members {
		if m.Name == j.Ticket.Name && m.Key.Words() == j.key {
			return nil
		}
	}
	return fmt.Errorf("cannot join the fleet %q: its list of %s, version %d, does not have the key of %q: ask for "+
		"another invitation", j.Ticket.Fleet, j.Ticket.Of, members.Version, j.Ticket.Name)
}

func (j *JoiningMachine) keepCertificate(text string) error {
	files := tlsFiles(j.Home)
	if err := os.MkdirAll(filepath.Dir(files.CA), task.PrivateFolder); err != nil {
		return fmt.Errorf("keep the certificate of this machine: %w", err)
	}
	for _, f := range []struct {
		path string
		text []byte
	}{{files.CA, []byte(j.Ticket.CA)}, {files.Key, j.tlsKey}, {files.Certificate, []byte(text)}} {
		if err := proc.ReplaceFile(f.path, f.text); err != nil {
			return err
		}
	}
	if _, err := files.Config(); err != nil {
		return fmt.Errorf("cannot use the certificate that the fleet made for this machine: %w", err)
	}
	j.Setup.TLS = files
	return nil
}

// Warnings are what a person should know of keys that agents could reach: agents run under the account of their host.
func Warnings(s setup.Setup) []string {
	var all []string
	if s.Name != "" && s.Person != "" {
		all = append(all, fmt.Sprintf("the person %q and the host %q share an account: an agent here can use the "+
			"person's key unless it needs a finger (ed25519-sk), a passphrase, or a confirmation (ssh-add -c)",
			s.Person,
			s.Name))
	}
	if s.SigningKey == "" || strings.HasSuffix(s.SigningKey, ".pub") {
		return all
	}
	text, err := os.ReadFile(s.SigningKey)
	if err != nil {
		return append(all, fmt.Sprintf("the key of %q cannot be read: %v", s.Person, err))
	}
	_, err = ssh.ParseRawPrivateKey(text)
	if err == nil {
		all = append(all, fmt.Sprintf("the key %q has no passphrase: any program under this account can sign as %q; "+
			"\"ssh-keygen -p -f PATH\" gives it one", s.SigningKey, s.Person))
	}
	return all
}
