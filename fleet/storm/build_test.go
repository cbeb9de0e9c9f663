package storm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/fleet/testkit"
)

// change is a place of the programs that a storm has built in another way. Nothing of it is in the repository: the
// compiler reads another file in the place of the one that is there.
type change struct{ file, from, to string }

// faster makes the times of a fleet shorter, so that a lease ends in a storm of a minute.
func faster() ([]change, times) {
	const file = "fleet/custody/host.go"
	return []change{{file, "BeatEvery = 10 * time.Second", "BeatEvery = 2 * time.Second"},
		{file, "LeaseFor  = 60 * time.Second", "LeaseFor  = 12 * time.Second"},
		{file, "LostAfter = 90 * time.Second", "LostAfter = 18 * time.Second"},
	}, times{beat: 2 * time.Second, lease: 12 * time.Second, lost: 18 * time.Second}
}

// buildPrograms builds the programs with changes into a folder.
func buildPrograms(t *testing.T, changes []change) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	testkit.Must(t, err)
	replaced := map[string]string{}
	for _, c := range changes {
		path := filepath.Join(root, c.file)
		read, is := replaced[path]
		if !is {
			read = path
		}
		text, err := os.ReadFile(read)
		testkit.Must(t, err)
		if strings.Count(string(text), c.from) != 1 {
			t.Fatalf("%s has %q %d times, expected once", c.file, c.from, strings.Count(string(text), c.from))
		}
		replaced[path] = filepath.Join(dir, strings.ReplaceAll(c.file, "/", "-"))
		testkit.Must(t, os.WriteFile(replaced[path], []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	bin := filepath.Join(dir, "bin")
	testkit.Must(t, os.Mkdir(bin, 0o755))
	testkit.Build(t, bin, []string{"-overlay", filepath.Join(dir, "overlay.json")})
	return bin
}
