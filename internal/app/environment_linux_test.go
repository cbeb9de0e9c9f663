package app

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/home"
	"orange/internal/mirror"
	"orange/internal/task"
	"orange/internal/tmux"
)

// watchedTmux keeps nothing, and notes for every call whether somebody has the lock of the task's environment
// meanwhile.
const watchedTmux = `#!/bin/sh
inode=$(stat -c %i "$HOME_DIR/locks/abc.environment" 2>/dev/null)
has=nobody
grep -q ":${inode:-none} " /proc/locks && has=somebody
for word in "$@"; do
	case $word in
	save-buffer) echo "look: $has" >>"$HOME_DIR/calls"; echo "no buffer orange-abc" >&2; exit 1 ;;
	load-buffer) echo "keep: $has" >>"$HOME_DIR/calls"; cat >/dev/null ;;
	esac
done
`

// Found by the simulation: a person's respawn kept theirs between the look of the service, which found none, and
// the keeping of its own.
func TestTheEnvironmentOfATask_isKeptByOneAtATime(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME_DIR", dir)
	program := filepath.Join(dir, "tmux")
	if err := os.WriteFile(program, []byte(watchedTmux), 0o755); err != nil {
		t.Fatal(err)
	}
	h := &house{
		dir: dir, files: mirror.Files{Home: dir}, home: &home.Home{Dir: dir},
		server: tmux.Server{Program: program, Socket: "none", Config: filepath.Join(dir, "tmux.conf")},
	}
	if _, err := (environments{h}).of(t.Context(), task.Task{ID: "abc", Workspace: "garden--1"}); err != nil {
		t.Fatal(err)
	}
	if err := (environments{h}).Keep(t.Context(), "abc"); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if want := "look: somebody\nkeep: somebody\nkeep: somebody\n"; err != nil || string(calls) != want {
		t.Errorf("the calls are %q, want %q; %v", calls, want, err)
	}
}
