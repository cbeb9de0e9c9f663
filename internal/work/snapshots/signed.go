package snapshots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/rules/fencing"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

// hostKey is the file with the ssh key that this home signs its snapshots with; empty where it has none. Where the home
// has joined a fleet with a server, that is the key which was made then.
func (k Keeper) hostKey() (string, error) {
	path, err := present(k.Home, "host.key")
	if err != nil || path != "" {
		return path, err
	}
	return present(k.Home, "host_key")
}

// signersOf is the file with the hosts whose snapshots a home takes, and their keys; empty where it takes those of
// anyone.
func signersOf(home string) (string, error) { return present(home, "hosts") }

// present is the path of a file that a person may put next to the notes of snapshots; empty where there is none.
func present(home, name string) (string, error) {
	path := filepath.Join(home, "fleet", name)
	_, err := proc.ReadSettings(path) // ssh-keygen would wait for a pipe
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the keys of hosts: %w", err)
	}
	return path, nil
}

// signer is the host that has signed the record of a snapshot; empty where this home takes those of anyone. The work is
// signed too, by that host or by an earlier one: a host that brings a task back pushes a record first, and has no work
// of its own yet.
func (k Keeper) signer(ctx context.Context, repo git.Repo, said about, s ship.Shipped) (string, error) {
	signers, err := signersOf(k.Home)
	if err != nil || signers == "" {
		return "", err
	}
	host, err := repo.Signer(ctx, s.Record, signers)
	if err == nil && s.Work != "" {
		_, err = repo.Signer(ctx, s.Work, signers)
	}
	if err != nil {
		return "", task.Notef(fencing.ErrUnexpected, "cannot restore task %s: %v; nothing of its snapshot was taken",
			said.Task, err)
	}
	return host, nil
}
