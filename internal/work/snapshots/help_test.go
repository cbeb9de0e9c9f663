package snapshots

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/ship"
	"orange/internal/work/worktree"
)

// TestMain keeps the configuration of those who run the tests out of git.
func TestMain(m *testing.M) { os.Exit(pinned(m)) }

func pinned(m *testing.M) int {
	home, err := os.MkdirTemp("", "snapshots-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_GLOBAL": "/dev/null",
		"GIT_CONFIG_SYSTEM": "/dev/null", // the same commits in every repository
		"GIT_AUTHOR_DATE":   "2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE": "2024-05-06T07:08:09Z"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// slots is one repository with a branch and no worktree.
type slots struct{ repo git.Repo }

func (s slots) Slot(task.Task) (worktree.Slot, error) { return worktree.Slot{Repo: s.repo}, nil }

// repository has one commit on main, and the branch topic there.
func repository(t *testing.T) slots {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q", "-b", "main")
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("one\n"), 0o600))
	gitIn(t, dir, "add", "file")
	gitIn(t, dir, "commit", "-q", "-m", "one")
	gitIn(t, dir, "branch", "topic")
	return slots{git.Repo{Path: dir, DefaultBranch: "main"}}
}

// vault is an empty repository for snapshots.
func vault(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault.git")
	gitIn(t, filepath.Dir(dir), "init", "-q", "--bare", dir)
	return dir
}

// shipped pushes a record of task T1 that says this, behind an earlier one.
func shipped(t *testing.T, s slots, to, earlier, says string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "TASK.md"), []byte("# A task\n"), 0o600))
	commit, err := ship.Snapshots{Repo: s.repo}.FolderCommit(t.Context(), dir, map[string]string{aboutName: says},
		"m\n", earlier)
	must(t, err)
	must(t, ship.Snapshots{Repo: s.repo}.Ship(t.Context(), to, ship.Shipment{Task: "T1", Acknowledged: earlier,
		Shipped: ship.Shipped{Record: commit}}))
	return commit
}
