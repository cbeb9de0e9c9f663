// Package setup is what a person has set up for the programs of a fleet, in the folder "fleet" of the home.
//
// It owns what fleet.yml may say where the fleet has a server, and the lists of keys as this machine last saw them.
// Without a server the program orange reads fleet.yml itself.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/fleet/wire"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Setup is what fleet.yml says. The name of a fleet is that of its namespace at the server.
type Setup struct {
	Server    string // host and port
	Namespace string
	TLS       Files // empty where the connection is not encrypted

	Name          string   // of this host; empty at a machine that is only a person's
	Labels        []string // of this host; wire.AnyLabel is always one of them
	Projects      []string // that this host takes tasks of; empty for every registered one
	SSH           string   // how people reach this host: [USER@]HOST
	Snapshots     string   // where snapshots are pushed: a remote of each project, or an address
	SnapshotEvery time.Duration
	BiggestFile   int64 // bytes; larger files are in no snapshot
	Signed        bool  // whether requests have to be signed
	CodecKeyFile  string

	Person     string // the name of the person here; empty at a machine that is only a host
	SigningKey string // path of the person's ssh key: the private one, or a .pub whose private one an agent has
	Patience   time.Duration

	Earlier []string // keys of a fleet without a server, which mean nothing here
}

// Files are the paths of a certificate, of its key, and of the certificate of who signs certificates.
type Files struct{ CA, Certificate, Key string }

// What is so where fleet.yml does not say it.
const (
	UsualSnapshotEvery = time.Minute
	UsualBiggestFile   = 50 << 20
	UsualPatience      = 5 * time.Second

	longestPause    = 24 * time.Hour
	longestPatience = time.Minute
)

// Usual is the setup of a file that says nothing.
func Usual() Setup {
	return Setup{Labels: []string{wire.AnyLabel}, SnapshotEvery: UsualSnapshotEvery, BiggestFile: UsualBiggestFile,
		Signed: true, Patience: UsualPatience}
}

// Dir is the folder of the fleet below a home.
func Dir(home string) string { return filepath.Join(home, "fleet") }

// Path is the file with the setup below a home.
func Path(home string) string { return filepath.Join(Dir(home), "fleet.yml") }

// Read reads fleet.yml below a home. A path in it begins at the folder of the file.
func Read(home string) (Setup, error) {
	path := Path(home)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Setup{}, task.Notef(task.ErrUsage, "cannot reach a fleet: there is no file %q: write \"server: "+
			"HOST:PORT\" and \"namespace: NAME\" into it, or join a fleet with the line of an invitation", path)
	}
	if err != nil {
		return Setup{}, fmt.Errorf("read the setup of the fleet: %w", err)
	}
	s, err := Parse(path, text)
	for _, file := range s.paths() {
		*file = whole(Dir(home), *file)
	}
	return s, err
}

func (s *Setup) paths() []*string {
	return []*string{&s.TLS.CA, &s.TLS.Certificate, &s.TLS.Key, &s.CodecKeyFile, &s.SigningKey}
}

func whole(dir, path string) string {
	if rest, below := strings.CutPrefix(path, "~/"); below {
		if user, err := os.UserHomeDir(); err == nil {
			return filepath.Join(user, rest)
		}
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Parse reads the text of a fleet.yml.
func Parse(file string, text []byte) (Setup, error) {
	s := Usual()
	r := &yaml.Reader{File: file}
	root := r.Document(text)
	if root == nil {
		return s, r.Err()
	}
	var keys []yaml.Key
	for _, e := range s.entries(r) {
		keys = append(keys, e.Key)
	}
	keys = append(keys, yaml.May("hosts", func(*yaml.Node) { s.Earlier = append(s.Earlier, "hosts") }))
	r.Mapping(root, "fleet.yml", keys)
	return s, r.Err()
}

// ForHost refuses the setup of a machine that is no host yet.
func (s Setup) ForHost(home string) error {
	switch {
	case s.Name == "":
		return task.Notef(task.ErrUsage, "cannot be a host of the fleet %q: %q has no \"name\": join the fleet with "+
			"an invitation that \"orange-fleet invite NAME --host\" prints", s.Namespace, Path(home))
	case s.Snapshots == "":
		return task.Notef(task.ErrUsage, "cannot be a host of the fleet %q: %q does not say where \"snapshots\" are "+
			"pushed: name a remote that each project has, or an address", s.Namespace, Path(home))
	}
	return nil
}
