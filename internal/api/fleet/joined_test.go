package fleet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/api/remote"
)

// What is not said is the careful one: only a word that is spelled right lets requests in that no one has signed.
func TestJoined_asksForSignaturesUnlessTheyAreOff(t *testing.T) {
	t.Parallel()
	const server = "server: s:1\nnamespace: home\nname: h1\n"
	for text, want := range map[string]remote.Joined{
		"name: h1\nsigned: off\n":        {}, // without a server the login is the proof anyway
		server:                           {Fleet: "home", Host: "h1", Signed: true},
		server + "signed: required\n":    {Fleet: "home", Host: "h1", Signed: true},
		server + "signed: off\n":         {Fleet: "home", Host: "h1"},
		server + "sined: off\n":          {Fleet: "home", Host: "h1", Signed: true},
		"server: s:1\nnamespace: home\n": {Fleet: "home", Signed: true},
	} {
		if got, err := joinedBy(t, text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"":                              "empty file",
		server + "signed: no\n":         "signed",
		server + "signed:\n":            "signed",
		"server: s:1\nname: h1\n":       "no \"namespace\"",
		"server: s:1\nnamespace: [a]\n": "namespace",
	} {
		if got, err := joinedBy(t, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func joinedBy(t *testing.T, text string) (remote.Joined, error) {
	t.Helper()
	h := hosts(t)
	file := filepath.Join(h.Home, "fleet", "fleet.yml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return h.Joined()
}
