package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/api/remote"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// longest is the most patience that a person can have.
const longest = time.Minute

func (f Hosts) path() string { return filepath.Join(f.folder(), "fleet.yml") }

// Read reads fleet.yml. None is a fleet without another host.
func (f Hosts) Read() (remote.Fleet, error) {
	text, err := proc.ReadFile(f.path())
	if errors.Is(err, os.ErrNotExist) {
		return remote.Fleet{Patience: remote.UsualPatience}, nil
	}
	if err != nil {
		return remote.Fleet{}, fmt.Errorf("read the hosts of the fleet: %w", err)
	}
	return Parse(f.path(), text)
}

// Parse reads the text of a fleet.yml.
func Parse(file string, text []byte) (remote.Fleet, error) {
	f := remote.Fleet{Patience: remote.UsualPatience}
	r := &yaml.Reader{File: file}
	root := r.Document(text)
	if root == nil {
		return f, r.Err()
	}
	keys := []yaml.Key{
		yaml.Must("name", func(n *yaml.Node) { f.Name = name(r, n) }),
		yaml.May("snapshots", func(n *yaml.Node) { f.Snapshots = r.Name(n, "snapshots") }),
		yaml.May("patience", func(n *yaml.Node) { f.Patience = r.Duration(n, "patience", longest) }),
		yaml.May("hosts", func(n *yaml.Node) {
			r.List(n, "hosts", func(n *yaml.Node) { f.Hosts = append(f.Hosts, host(r, n)) })
		}),
	}
	if r.IsMapping(root) && hasServer(r, root, &f) {
		return f, nil // the rest of the file is for the program that speaks with the server
	}
	r.Mapping(root, "fleet.yml", keys)
	seen := map[string]bool{f.Name: true}
	for _, h := range f.Hosts {
		if h.Name != "" && seen[h.Name] {
			r.Problem(yaml.PosOf(root), "value", "found two hosts %q, expected each name once", h.Name)
		}
		seen[h.Name] = true
	}
	return f, r.Err()
}

// hasServer reports whether the fleet has a server, which has its address in the file.
func hasServer(r *yaml.Reader, root *yaml.Node, f *remote.Fleet) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "server" {
			f.Server = r.Name(root.Content[i+1], "server")
		}
	}
	return f.Server != ""
}

func name(r *yaml.Reader, n *yaml.Node) string {
	text := r.Name(n, "name")
	if err := remote.CheckName(text); text != "" && err != nil {
		r.Problem(yaml.PosOf(n), "value", "%v", err)
	}
	return text
}

func host(r *yaml.Reader, n *yaml.Node) (h remote.Host) {
	whole := r.Mapping(n, "a host", []yaml.Key{
		yaml.Must("name", func(n *yaml.Node) { h.Name = r.Name(n, "name") }),
		yaml.Must("ssh", func(n *yaml.Node) { h.SSH = r.Name(n, "ssh") }),
		yaml.May("command", func(n *yaml.Node) { h.Command = r.Name(n, "command") }),
	})
	if err := h.Check(); whole && h.Name != "" && h.SSH != "" && err != nil {
		r.Problem(yaml.PosOf(n), "value", "%v", err)
	}
	return h
}

// Change changes fleet.yml, one process after the other. The change gets the fleet as it is in the file.
func (f Hosts) Change(ctx context.Context, change func(remote.Fleet) (remote.Fleet, error)) error {
	release, err := mirror.Files{Home: f.Home}.Lock(ctx, "fleet")
	if err != nil {
		return err
	}
	defer release()
	now, err := f.Read()
	if err != nil {
		return err
	}
	if now, err = change(now); err != nil {
		return err
	}
	text := Format(now)
	if _, err := Parse(f.path(), text); err != nil { // it could not be read any more
		return err
	}
	if err := os.MkdirAll(f.folder(), task.PrivateFolder); err != nil {
		return fmt.Errorf("write the hosts of the fleet: %w", err)
	}
	return proc.ReplaceFile(f.path(), text)
}

// Format is a fleet as fleet.yml has it.
func Format(f remote.Fleet) []byte {
	var b strings.Builder
	line := func(indent, key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", indent, key, quote(value))
		}
	}
	b.WriteString("# \"orange fleet join\" and \"forget\" write this file; comments are not kept.\n")
	line("", "name", f.Name)
	line("", "snapshots", f.Snapshots)
	if f.Patience != remote.UsualPatience {
		line("", "patience", f.Patience.String())
	}
	if len(f.Hosts) > 0 {
		b.WriteString("hosts:\n")
	}
	for _, h := range f.Hosts {
		line("  - ", "name", h.Name)
		line("    ", "ssh", h.SSH)
		line("    ", "command", h.Command)
	}
	return []byte(b.String())
}

// quote is a text as a YAML file has it; JSON is YAML.
func quote(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil { // a text can always be encoded
		return ""
	}
	return string(encoded)
}
