package setup

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// HostKeyPath is the file with the key of this host below a home.
func HostKeyPath(home string) string { return filepath.Join(Dir(home), "host.key") }

// HostKey is the key with which this host signs what it says.
func HostKey(home string) (ssh.Signer, error) {
	path := HostKeyPath(home)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(task.ErrUsage, "cannot be a host: there is no key %q: join the fleet with an "+
			"invitation that \"orange-fleet invite NAME --host\" prints", path)
	}
	var key ssh.Signer
	if err == nil {
		key, err = ssh.ParsePrivateKey(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of this host %q: %w", path, err)
	}
	return key, nil
}

// WriteSigners tells orange which hosts' snapshots count, in the form of ssh's allowed signers.
func WriteSigners(home string, hosts signed.List) error {
	var b strings.Builder
	for _, m := range hosts.Members {
		b.WriteString(m.Name + ` namespaces="` + string(signed.ForSnapshot) + `" ` + m.Key.Words() + "\n")
	}
	path := filepath.Join(Dir(home), "hosts")
	if had, err := os.ReadFile(path); err == nil && bytes.Equal(had, []byte(b.String())) {
		return nil
	}
	if err := proc.ReplaceFile(path, []byte(b.String())); err != nil {
		return fmt.Errorf("note which hosts are in the fleet: %w", err)
	}
	return nil
}

// Config is how a connection to the server is encrypted; nil where it is not.
func (f Files) Config() (*tls.Config, error) {
	if f == (Files{}) {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of this machine: %w", err)
	}
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the fleet's authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("cannot use %q as the certificate of the fleet's authority: found none in it", f.CA)
	}
	return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}
