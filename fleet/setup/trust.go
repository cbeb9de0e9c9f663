package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/fleet/custody"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// AuthorityPath is the file with the public key of the fleet's authority below a home.
func AuthorityPath(home string) string { return filepath.Join(Dir(home), "authority.pub") }

func trustPath(home string) string { return filepath.Join(Dir(home), "trust.json") }

// Trust are the lists of keys as this machine last saw them, without a look at the server. They count only as the
// authority signed them: an edited copy is refused.
func Trust(home, fleet string) (custody.Trust, error) {
	authority, err := authorityKey(home)
	if err != nil {
		return custody.Trust{}, err
	}
	text, err := os.ReadFile(trustPath(home))
	if errors.Is(err, os.ErrNotExist) {
		return custody.Trust{}, task.Notef(task.ErrNotFound, "cannot tell whom the fleet %q trusts: this machine has "+
			"not seen its lists of keys yet, in %q: reach its server once", fleet, trustPath(home))
	}
	var t custody.Trust
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	t.Authority = authority
	if err == nil {
		_, err = t.Lists(fleet)
	}
	if err != nil {
		return custody.Trust{}, fmt.Errorf("read the lists of keys in %q: %w; remove the file, and the lists come "+
			"from the server again", trustPath(home), err)
	}
	return t, nil
}

func authorityKey(home string) (string, error) {
	text, err := os.ReadFile(AuthorityPath(home))
	if errors.Is(err, os.ErrNotExist) {
		return "", task.Notef(task.ErrUsage, "cannot tell whom the fleet trusts: there is no file %q with the key of "+
			"its authority: join the fleet with the line of an invitation", AuthorityPath(home))
	}
	if err != nil {
		return "", fmt.Errorf("read the key of the fleet's authority: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// KeepTrust takes over the lists that the server has. They have to be signed by the authority that this machine knows,
// and may not be older than those that it has seen: an older list may have someone in it who was taken off since.
func KeepTrust(ctx context.Context, home, fleet string, seen custody.Trust) (custody.Trust, error) {
	release, err := mirror.Files{Home: home}.Lock(ctx, "fleet-trust")
	if err != nil {
		return custody.Trust{}, err
	}
	defer release()
	authority, err := authorityKey(home)
	if err != nil {
		return custody.Trust{}, err
	}
	had, err := Trust(home, fleet)
	switch {
	case errors.Is(err, task.ErrNotFound):
		seen.Authority = authority
		_, err = seen.Lists(fleet)
	case err == nil:
		seen, err = had.Newer(seen, fleet)
	}
	if err != nil {
		return custody.Trust{}, fmt.Errorf("cannot use the lists of keys that the server has: %w", err)
	}
	if had == seen {
		return seen, nil
	}
	text, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = proc.ReplaceFile(trustPath(home), append(text, '\n'))
	}
	if err != nil {
		return custody.Trust{}, fmt.Errorf("note the lists of keys: %w", err)
	}
	return seen, nil
}
