package worktree

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Git is led to files that no one can list beforehand. Each row has git wait for a pipe, and is ended.
func TestAGitThatIsLedToAPipe_isEnded(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, h home, pipe string){
		"by a setting that includes a file": func(t *testing.T, h home, pipe string) {
			t.Helper()
			git(t, h.Path, "config", "include.path", pipe)
		},
		"by a setting that names what is ignored": func(t *testing.T, h home, pipe string) {
			t.Helper()
			git(t, h.Path, "config", "core.excludesFile", pipe)
		},
		"by a setting that names attributes": func(t *testing.T, h home, pipe string) {
			t.Helper()
			git(t, h.Path, "config", "core.attributesFile", pipe)
		},
		"by a relative name": func(t *testing.T, h home, pipe string) {
			t.Helper()
			git(t, h.Path, "config", "core.excludesFile", "../"+filepath.Base(pipe))
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			pipe := filepath.Join(h.root, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			arrange(t, h, pipe)
			_, err := h.run(t.Context(), "status", "--porcelain")
			wantError(t, err, `git waits for "`+pipe+`"`, "move it away")
		})
	}
}
