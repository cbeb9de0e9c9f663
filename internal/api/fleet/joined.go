package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

// Joined is what this host is in a fleet with a server.
func (f Hosts) Joined() (remote.Joined, error) {
	text, err := proc.ReadFile(f.path())
	if errors.Is(err, os.ErrNotExist) {
		return remote.Joined{}, nil
	}
	if err != nil {
		return remote.Joined{}, fmt.Errorf("read the setup of the fleet: %w", err)
	}
	return parseJoined(f.path(), text)
}

// parseJoined reads what orange itself has to know of a fleet with a server; the rest is for orange-fleet.
func parseJoined(file string, text []byte) (remote.Joined, error) {
	j := remote.Joined{Signed: true}
	r := &yaml.Reader{File: file}
	root := r.Document(text)
	if root == nil || !r.IsMapping(root) {
		return remote.Joined{}, r.Err()
	}
	var server string
	for i := 0; i+1 < len(root.Content); i += 2 {
		value := root.Content[i+1]
		switch root.Content[i].Value {
		case "server":
			server = r.Name(value, "server")
		case "namespace":
			j.Fleet = r.Name(value, "namespace")
		case "name":
			j.Host = r.Name(value, "name")
		case "signed":
			j.Signed = r.OneOf(value, "signed", "required", "off") != "off"
		}
	}
	if server == "" {
		return remote.Joined{}, nil
	}
	if err := r.Err(); err != nil || j.Fleet != "" {
		return j, err
	}
	// A fleet without a name would be none, and its tasks would be free to all.
	return j, task.Notef(task.ErrUsage, "cannot tell which fleet this host is in: %q has a \"server\" and no "+
		"\"namespace\"", file)
}

// People are those whose requests count in the fleet, as this host has learnt it last. The authority of the fleet has
// signed the list: a copy that was changed here is refused.
func (f Hosts) People(j remote.Joined) (signed.People, error) {
	authority, err := proc.ReadFile(filepath.Join(f.folder(), "authority.pub"))
	var lists struct {
		People struct{ Text, Signature string }
	}
	if err == nil {
		err = proc.ReadJSON(filepath.Join(f.folder(), "trust.json"), &lists)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(signed.ErrUnsigned, "cannot tell whose requests count: this host has not learnt yet "+
			"who is in the fleet: start \"orange-fleet host\"")
	}
	if err != nil {
		return nil, fmt.Errorf("read who is in the fleet: %w", err)
	}
	key, err := signed.ReadKey(string(authority))
	if err != nil {
		return nil, fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	list, err := signed.Open(key, j.Fleet, signed.OfPeople, lists.People.Text, lists.People.Signature)
	return list.Members, err
}
