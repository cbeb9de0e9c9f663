package snapshots

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestLooksSecret_knowsTheUsualNames(t *testing.T) {
	t.Parallel()
	for _, file := range []string{".env", "web/.env.local", "deploy.pem", "A.KEY", "id_ed25519", "x/id_rsa.old",
		".netrc", "credentials.json", "vault.kdbx"} {
		if !looksSecret(file) {
			t.Errorf("%q is taken into snapshots", file)
		}
	}
	for _, file := range []string{"main.go", ".env.example", "keys.go", "environment.md", "monkey", "README.md"} {
		if looksSecret(file) {
			t.Errorf("%q is left out", file)
		}
	}
}

func TestKeeps_takesInWhatIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		size int64
		want bool
	}{{"a", 1, true}, {".env", 1, false}, {"./b/../.env.prod", 1, false}, {"deploy.key", 1, true},
		{"film", biggestFile, true}, {"film", biggestFile + 1, false}, {"big", biggestFile + 1, true}} {
		if got := keeps(record.SnapshotOrder{Include: []string{"./deploy.key", "big"}}, c.file, c.size); got != c.want {
			t.Errorf("%q of %d bytes: %v", c.file, c.size, got)
		}
	}
}

func TestHeld_isWhatWasNotedLast(t *testing.T) {
	t.Parallel()
	k := Keeper{Home: t.TempDir()}
	h, err := k.holdingOf("T1")
	if err != nil || h.Epoch != 1 || len(h.Acknowledged) != 0 {
		t.Fatalf("at first %+v, %v", h, err)
	}
	h.Epoch, h.Acknowledged["origin"] = 3, "c0ffee"
	if err := k.hold("T1", h); err != nil {
		t.Fatal(err)
	}
	again, err := k.holdingOf("T1")
	if err != nil || again.Epoch != 3 || again.Acknowledged["origin"] != "c0ffee" {
		t.Errorf("it is %+v, %v", again, err)
	}
	path := filepath.Join(k.Home, "fleet", "held", "T1.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.holdingOf("T1"); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a damaged one: %v", err)
	}
}

// A snapshot of another task, or with other rules than it names, brings nothing back.
func TestASnapshotOfOtherTasksOrRulesIsRefused(t *testing.T) {
	t.Parallel()
	const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no text
	whole := map[string][]byte{aboutName: []byte(`{"task": "T1", "project": "web", "workflow": {"Digest": "` + digest +
		`"}, "work": ""}`), workflowName: nil}
	silent := map[string][]byte{aboutName: bytes.Replace(whole[aboutName], []byte(`, "work": ""`), nil, 1)}
	if _, err := (Keeper{}).readAbout(whole, "web", "T1"); err != nil {
		t.Errorf("the task's own: %v", err)
	}
	for name, c := range map[string]struct {
		texts       map[string][]byte
		project, id string
	}{
		"another task":    {whole, "web", "T2"},
		"another project": {whole, "shop", "T1"},
		"other rules":     {map[string][]byte{aboutName: whole[aboutName], workflowName: []byte("x")}, "web", "T1"},
		"nothing":         {nil, "web", "T1"},
		"no work named":   {silent, "web", "T1"},
	} {
		if said, err := (Keeper{}).readAbout(c.texts, c.project, c.id); err == nil {
			t.Errorf("%s: %+v", name, said)
		}
	}
}

// A task's id becomes a part of paths: one that leads elsewhere is refused before anything is looked at or made.
func TestRestore_takesNoIDThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../../evil", "a/b", "..", "", ".hidden"} {
		_, err := (Keeper{}).Restore(t.Context(), "web", id, "origin", fencing.RestoreOrder{})
		if !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
