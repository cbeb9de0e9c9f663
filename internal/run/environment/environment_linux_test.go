package environment

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/run/tmux"
	"orange/internal/store/mirror"
)

// watchedTmux keeps nothing, and notes for every call whether the lock of the task's environment is taken
// meanwhile.
const watchedTmux = `#!/bin/sh
inode=$(stat -c %i "$HOME_DIR/locks/abc.environment" 2>/dev/null)
has=no
grep -q ":${inode:-none} " /proc/locks && has=yes
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
	t.Setenv("TMUX_TMPDIR", dir)
	program := filepath.Join(dir, "tmux")
	if err := os.WriteFile(program, []byte(watchedTmux), 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "tmux.conf")
	k := &PerTask{
		Home: dir, Locks: mirror.Files{Home: dir}, Configure: func() error { return os.WriteFile(config, nil, 0o600) },
		Server: &tmux.Server{Getenv: os.Getenv, Program: program, Socket: "none", Config: config},
	}
	if _, err := k.Environment(t.Context(), task.Task{ID: "abc", Workspace: "garden--1"}); err != nil {
		t.Fatal(err)
	}
	if err := k.Keep(t.Context(), "abc"); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if want := "look: yes\nkeep: yes\nkeep: yes\n"; err != nil || string(calls) != want {
		t.Errorf("the calls are %q, want %q; %v", calls, want, err)
	}
}
