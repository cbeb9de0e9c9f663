package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

func lists(t *testing.T, version int, people ...string) custody.Trust {
	t.Helper()
	return custody.Trust{People: testkit.List(t, signed.OfPeople, version, people...),
		Hosts: testkit.List(t, signed.OfHosts, 1, "h1")}
}

// knowAuthority is a home that knows the fleet's authority.
func knowAuthority(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	testkit.Must(t, os.Mkdir(setup.Dir(home), task.PrivateFolder))
	key := []byte(testkit.Public(t, testkit.Authority) + "\n")
	testkit.Must(t, os.WriteFile(setup.AuthorityPath(home), key, task.PrivateFile))
	return home
}

// Attackers cannot (docs/proof.md): make the machine of someone else trust another registry, or an older list.
func TestKeepTrust_keepsTheNewestListsThatTheAuthoritySigned(t *testing.T) {
	t.Parallel()
	home := knowAuthority(t)
	if _, err := setup.Trust(home, testkit.Fleet); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("none yet: %v", err)
	}
	for _, version := range []int{2, 2, 3} {
		if _, err := setup.KeepTrust(t.Context(), home, testkit.Fleet, lists(t, version, "ada")); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
	_, err := setup.KeepTrust(t.Context(), home, testkit.Fleet, lists(t, 2, "ada", "eve"))
	if !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("an older list: %v", err)
	}
	_, err = setup.KeepTrust(t.Context(), home, testkit.Fleet, lists(t, 3, "eve"))
	if !errors.Is(err, wire.CodeStaleEpoch) {
		t.Errorf("another list of the version: %v", err)
	}
	got, err := setup.Trust(home, testkit.Fleet)
	if err != nil || !strings.Contains(got.People.Text, "version 3") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := setup.Trust(home, "office"); !errors.Is(err, sign.ErrNotTheList) {
		t.Errorf("another fleet: %v", err)
	}
}

func TestKeepTrust_refusesTheListsOfAnotherAuthority(t *testing.T) {
	t.Parallel()
	home, other := knowAuthority(t), lists(t, 9, "ada")
	var err error
	if other.People, err = sign.List(testkit.Key(t, "eve"), other.People.Text); err != nil {
		t.Fatal(err)
	}
	other.Authority = testkit.Public(t, "eve")
	if _, err := setup.KeepTrust(t.Context(), home, testkit.Fleet, other); !errors.Is(err, sign.ErrNotTheList) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(setup.Dir(home), "trust.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was kept: %v", err)
	}
}

func TestTrust_ofAnEditedCopyIsRefused(t *testing.T) {
	t.Parallel()
	home := knowAuthority(t)
	if _, err := setup.KeepTrust(t.Context(), home, testkit.Fleet, lists(t, 1, "ada")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(setup.Dir(home), "trust.json")
	text, err := os.ReadFile(path)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(path, []byte(strings.Replace(string(text), "ada", "eve", 1)), task.PrivateFile))
	if _, err := setup.Trust(home, testkit.Fleet); !errors.Is(err, sign.ErrNotTheList) {
		t.Error(err)
	}
	if _, err := setup.KeepTrust(t.Context(), home, testkit.Fleet, lists(t, 1, "ada")); err == nil {
		t.Error("a damaged copy counts as none, and an older list could come back")
	}
}
