// Package setup is what a person has set up for the programs of a fleet, in the file fleet.yml of the home.
//
// It owns what that file may say where the fleet has a server. Without one the program orange reads the file itself.
package setup

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/fleet/wire"
	"orange/internal/task"
	"orange/internal/yaml"
)

// Setup is what fleet.yml says. The name of a fleet is that of its namespace at the server.
type Setup struct {
	Server    string // host and port
	Namespace string
	TLS       Files  // empty where the connection is not encrypted
	Name      string // of this host; empty where it is none
}

// Files are the paths of a certificate, of its key, and of the certificate of who signs certificates.
type Files struct{ CA, Certificate, Key string }

// Dir is the folder of the fleet below a home.
func Dir(home string) string { return filepath.Join(home, "fleet") }

// Read reads fleet.yml below a home.
func Read(home string) (Setup, error) {
	path := filepath.Join(Dir(home), "fleet.yml")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Setup{}, task.Notef(task.ErrUsage, "cannot reach a fleet: there is no file %q: write \"server: "+
			"HOST:PORT\" and \"namespace: NAME\" into it", path)
	}
	if err != nil {
		return Setup{}, fmt.Errorf("read the setup of the fleet: %w", err)
	}
	return Parse(path, text)
}

// Parse reads the text of a fleet.yml.
func Parse(file string, text []byte) (Setup, error) {
	var s Setup
	r := &yaml.Reader{File: file}
	root := r.Document(text)
	if root == nil {
		return s, r.Err()
	}
	named := func(what string) func(*yaml.Node) string {
		return func(n *yaml.Node) string {
			name := r.Name(n, what)
			if err := wire.CheckName(what, name); name != "" && err != nil {
				r.Problem(yaml.PosOf(n), "value", "%v", err)
			}
			return name
		}
	}
	r.Mapping(root, "fleet.yml", []yaml.Key{
		yaml.Must("server", func(n *yaml.Node) { s.Server = r.Name(n, "server") }),
		yaml.Must("namespace", func(n *yaml.Node) { s.Namespace = named("fleet")(n) }),
		yaml.May("tls", func(n *yaml.Node) { s.TLS = files(r, n) }),
		yaml.May("name", func(n *yaml.Node) { s.Name = named("host")(n) }),
	})
	return s, r.Err()
}

func files(r *yaml.Reader, n *yaml.Node) (f Files) {
	r.Mapping(n, "tls", []yaml.Key{
		yaml.Must("ca", func(n *yaml.Node) { f.CA = r.Text(n, "ca") }),
		yaml.Must("cert", func(n *yaml.Node) { f.Certificate = r.Text(n, "cert") }),
		yaml.Must("key", func(n *yaml.Node) { f.Key = r.Text(n, "key") }),
	})
	return f
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
