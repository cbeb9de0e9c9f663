package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/merge"
	"orange/internal/work/shared"
	"orange/internal/work/ship"
)

// TestMain pins git's surroundings once, so that the tests can run side by side.
func TestMain(m *testing.M) { os.Exit(pinned(m)) }

func pinned(m *testing.M) int {
	home, err := os.MkdirTemp("", "worktree-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	config := "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol " +
		"\"file\"]\n\tallow = always\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ignore := filepath.Join(home, "git", "ignore") // what the person excludes everywhere
	err = errors.Join(os.Mkdir(filepath.Dir(ignore), 0o700), os.WriteFile(ignore, []byte("*.swp\n"), 0o600))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_SYSTEM": "/dev/null",
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// try runs git as a person or an agent would.
func try(dir string, args ...string) (string, error) {
	out, err := proc.Run(context.Background(), proc.Command{Name: "git", Args: args, Dir: dir, Env: []string{
		"LC_ALL=C"}, Unset: []string{"GIT_NO_REPLACE_OBJECTS"}})
	return strings.TrimRight(string(out.Stdout), "\n"), err
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := try(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func commit(t *testing.T, dir, name, content string) string {
	t.Helper()
	write(t, dir, name, content)
	gitIn(t, dir, "add", "-f", "--", name)
	gitIn(t, dir, "commit", "-q", "-m", "change "+name)
	return gitIn(t, dir, "rev-parse", "HEAD")
}

// home is one user's repository, in a folder with an awkward name, and room for a pool.
type home struct {
	git.Repo
	root string
}

// inShortRuns are the tests that make test runs: what happens to a slot on an ordinary day. Each of them runs
// git dozens of times; make test-all runs the others too.
func inShortRuns() []string {
	return []string{
		"TestCancelThenAcquireAgain_keepsTheBranchesCommits",
		"TestHooksOfTheRepositoryDoNotRun", "TestInspect_leadsToTheMainCheckout", "TestLink_isExcludedAndMadeOnce",
		"TestLinked_aProgramReplacedTheLinkByAFile", "TestMerge_conflictsAreNamedAndNothingChanges",
		"TestMerge_strategies", "TestMerge_withOrigin", "TestPrepare_keepsWhatIsLeftOver",
		"TestPrepare_startsWhereTheBranchIs",
		"TestRelease_keepsEverythingAndLeavesACleanTree", "TestRelease_pushedCommitsNeedNoRescue",
		"TestSnapshot_tellsWhatACommitWouldBeAbout", "TestTrees_holdWhatLiesInTheWorktree",
		"TestWork_countsWhatIsCommittedAndWhatIsNot",
	}
}

func newHome(t *testing.T) home {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && !slices.Contains(inShortRuns(), name) {
		t.Skip("takes long; make test-all runs it")
	}
	root := t.TempDir()
	top := filepath.Join(root, "my repo v1.2")
	gitIn(t, root, "init", "-q", top)
	write(t, top, ".gitignore", "*.log\n/cache/\n")
	write(t, top, "sub/deep.txt", "deep\n")
	gitIn(t, top, "add", "-A")
	commit(t, top, "a.txt", "one\n")
	r, err := git.Inspect(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	return home{Repo: r, root: root}
}

func (h home) into() merge.Into          { return merge.Into{Repo: h.Repo} }
func (h home) common() shared.Common     { return shared.Common{Repo: h.Repo} }
func (h home) snapshots() ship.Snapshots { return ship.Snapshots{Repo: h.Repo} }

func shipment(acknowledged string, s ship.Shipped) ship.Shipment {
	return ship.Shipment{Task: "T1", Acknowledged: acknowledged, Shipped: s}
}

// newHomeWithOrigin has a bare origin next to it, to which main is pushed.
func newHomeWithOrigin(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	gitIn(t, h.root, "init", "-q", "--bare", "origin.git")
	gitIn(t, h.Path, "remote", "add", "origin", h.origin())
	gitIn(t, h.Path, "push", "-q", "origin", "main")
	return h
}

func (h home) origin() string { return filepath.Join(h.root, "origin.git") }

// colleague is another clone, from which others push.
func (h home) colleague(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(h.root, "colleague")
	gitIn(t, h.root, "clone", "-q", h.origin(), dir)
	return dir
}

func (h home) slot(n int) Slot {
	return Slot{Repo: h.Repo, Dir: filepath.Join(h.root, "pool", fmt.Sprintf("my repo--%d", n))}
}

func (h home) prepared(t *testing.T, branch, task string) Slot {
	t.Helper()
	s := h.slot(1)
	prepare(t, s, branch, task)
	return s
}

func prepare(t *testing.T, s Slot, branch, task string) Cleared {
	t.Helper()
	done, err := s.Prepare(t.Context(), branch, task)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func release(t *testing.T, s Slot, task string) []Rescue {
	t.Helper()
	done, err := s.Release(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return done.Rescued
}

// wantClean says that the slot is detached at a commit, with nothing that git would call a change.
func wantClean(t *testing.T, s Slot, commit string) {
	t.Helper()
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
	want(t, "HEAD", gitIn(t, s.Dir, "rev-parse", "HEAD"), commit)
	want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), "")
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

// pool lists what lies next to a slot.
func pool(t *testing.T, s Slot) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.Dir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, "|")
}
