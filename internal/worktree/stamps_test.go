package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestStamps_tellAlsoOfFilesThatAreAsTheyWereAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(dir string) error
		want []string
	}{
		"nothing":      {func(string) error { return nil }, nil},
		"another file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }, nil},
		"a file that is put right and back": {func(dir string) error {
			file := filepath.Join(dir, "a.txt")
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte("right"), 0o600)
			}
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err == nil {
				err = os.Chtimes(file, info.ModTime(), info.ModTime())
			}
			return err
		}, []string{"a.txt"}},
		"a file that is moved away and back": {func(dir string) error {
			file := filepath.Join(dir, "a.txt")
			if err := os.Rename(file, file+".away"); err != nil {
				return err
			}
			return os.Rename(file+".away", file)
		}, []string{"a.txt"}},
		"a file that is gone": {func(dir string) error { return os.Remove(filepath.Join(dir, "a.txt")) },
			[]string{"a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slot := newHome(t).prepared(t, "fix", "abc")
			before, err := slot.Stamps(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.do(slot.Dir); err != nil {
				t.Fatal(err)
			}
			if got := before.Changed(); !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
