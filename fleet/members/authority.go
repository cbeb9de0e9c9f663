// Package members makes people and hosts members of a fleet: at the machine that has the key of the fleet's authority,
// which alone can sign who belongs to it, and at the machine that joins with the line of an invitation.
//
// It owns what is made and written there: the authority's files below the folder of the fleet in the home, with its
// key, the lists and invitations that it judges by, and a small authority for certificates; and at a member its keys,
// which never travel, its certificate, and fleet.yml. Neither trusts the server's word: who can write to the server
// could add a signer else. What an invitation may do is of package registry.
package members

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
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
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// Authority signs the lists of keys of a fleet.
type Authority struct {
	home string
	Key  ssh.Signer
}

// AuthorityDir is the folder of the authority below a home.
func AuthorityDir(home string) string { return filepath.Join(setup.Dir(home), "authority") }

func (a Authority) membersPath() string { return filepath.Join(AuthorityDir(a.home), "members.json") }

func keyPath(home string) string { return filepath.Join(AuthorityDir(home), "authority.key") }

// Open is the authority of a home; task.ErrNotFound where its key is on another machine.
func Open(home string) (Authority, error) {
	text, err := os.ReadFile(keyPath(home))
	if errors.Is(err, os.ErrNotExist) {
		return Authority{}, task.Notef(task.ErrNotFound, "cannot sign for the fleet: its authority's key is not on "+
			"this machine: there is no file %q", keyPath(home))
	}
	a := Authority{home: home}
	if err == nil {
		a.Key, err = ssh.ParsePrivateKey(text)
	}
	if err != nil {
		return Authority{}, fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	return a, nil
}

// Make makes the authority of a fleet, with lists that no one is in. What is there stays.
func Make(ctx context.Context, home, fleet string) (Authority, error) {
	release, err := lock(ctx, home)
	if err != nil {
		return Authority{}, err
	}
	defer release()
	if err := os.MkdirAll(AuthorityDir(home), task.PrivateFolder); err != nil {
		return Authority{}, fmt.Errorf("make the authority of the fleet: %w", err)
	}
	a, err := Open(home)
	if errors.Is(err, task.ErrNotFound) {
		err = MakeKey(keyPath(home), "authority of the fleet "+fleet)
		if err == nil {
			a, err = Open(home)
		}
	}
	if err != nil {
		return Authority{}, err
	}
	if err := a.tell(home); err != nil {
		return Authority{}, err
	}
	if _, err := os.Stat(a.membersPath()); !errors.Is(err, os.ErrNotExist) {
		return a, err
	}
	lists, err := registry.Empty(fleet, a.Key)
	if err != nil {
		return Authority{}, fmt.Errorf("make the lists of keys: %w", err)
	}
	state, err := registry.New(fleet, lists)
	if err != nil {
		return Authority{}, err
	}
	return a, a.write(state)
}

// tell has this machine trust its own authority.
func (a Authority) tell(home string) error {
	path, line := setup.AuthorityPath(home), sign.KeyOf(a.Key.PublicKey()).Words()
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return proc.ReplaceFile(path, []byte(line+"\n"))
	case err != nil:
		return fmt.Errorf("read the key of the fleet's authority: %w", err)
	case strings.TrimSpace(string(text)) != line:
		return task.Notef(task.ErrUsage, "cannot be the authority of the fleet: this machine belongs to one with "+
			"another authority, whose key is in %q: use another ORANGE_HOME", path)
	}
	return nil
}

// MakeKey makes a key of the form of ssh in a file that is not there yet, and the public one next to it.
func MakeKey(path, comment string) error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	shown, err := ssh.NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	_, err = file.Write(pem.EncodeToMemory(block))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = proc.ReplaceFile(path+".pub", []byte(sign.KeyOf(shown).Words()+" "+comment+"\n"))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make a key in %q: %w", path, err), os.Remove(path))
	}
	return nil
}

func lock(ctx context.Context, home string) (release func(), err error) {
	return mirror.Files{Home: home}.Lock(ctx, "fleet-authority")
}

// State are the members and the invitations of the fleet, as the authority itself knows them.
func (a Authority) State() (registry.State, error) {
	var s registry.State
	text, err := os.ReadFile(a.membersPath())
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the members of the fleet: %w", err)
	}
	return registry.Read(s, sign.KeyOf(a.Key.PublicKey()).Words())
}

// change changes the members or the invitations, one process after the other.
func (a Authority) change(ctx context.Context, change func(registry.State) (registry.State, error)) error {
	release, err := lock(ctx, a.home)
	if err != nil {
		return err
	}
	defer release()
	state, err := a.State()
	if err == nil {
		state, err = change(state)
	}
	if err != nil {
		return err
	}
	return a.write(state)
}

func (a Authority) write(s registry.State) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = proc.ReplaceFile(a.membersPath(), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note the members of the fleet: %w", err)
	}
	return nil
}
