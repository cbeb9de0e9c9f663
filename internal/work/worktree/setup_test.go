package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
)

// What one task sets in the folder that git keeps for a slot alone would be obeyed in the hands of the next.
func TestASlotsOwnConfiguration_isTakenBackBeforeTheNextTask(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, s Slot)
		told   string
	}{
		"a folder of hooks": {told: "core.hookspath", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "config", "extensions.worktreeConfig", "true")
			gitIn(t, s.Dir, "config", "--worktree", "core.hooksPath", "/tmp/hooks")
		}},
		"a monitor of files": {told: "core.fsmonitor", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "config", "extensions.worktreeConfig", "true")
			gitIn(t, s.Dir, "config", "--worktree", "core.fsmonitor", "/tmp/monitor")
		}},
		"another worktree": {told: "core.worktree", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "config", "extensions.worktreeConfig", "true")
			gitIn(t, s.Dir, "config", "--worktree", "core.worktree", t.TempDir())
		}},
		"patterns": {told: "sparse-checkout", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "sparse-checkout", "set", "elsewhere")
		}},
		"patterns that are not those of folders": {told: "sparse-checkout", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "sparse-checkout", "set", "--no-cone", "a.txt")
		}},
		"a sparse index": {told: "sparse-checkout", change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "sparse-checkout", "set", "--sparse-index", "elsewhere")
		}},
		"patterns that were taken back": {change: func(t *testing.T, s Slot) {
			gitIn(t, s.Dir, "sparse-checkout", "set", "elsewhere")
			gitIn(t, s.Dir, "sparse-checkout", "disable")
		}},
		"what git cannot read": {told: "its own configuration, which git cannot read",
			change: func(t *testing.T, s Slot) {
				gitIn(t, s.Dir, "config", "extensions.worktreeConfig", "true")
				gitDir, err := git.DirOf(s.Dir)
				if err != nil {
					t.Fatal(err)
				}
				write(t, gitDir, "config.worktree", "[core\n")
			}},
	} {
		for _, when := range []string{"while it is held", "after its release"} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				commit(t, h.Path, "elsewhere/far.txt", "far\n")
				s := h.prepared(t, "topic", "T1")
				var took []string
				if when == "while it is held" {
					row.change(t, s)
					if !strings.Contains(name, "cannot") && name != "another worktree" {
						want(t, "what a look tells", strings.Join(stand(t, s).Setup, "|"), row.told)
					}
					done, err := s.Release(t.Context(), "T1")
					if err != nil {
						t.Fatal(err)
					}
					want(t, "rescued", len(done.Rescued), 0)
					took = done.TakenBack
				} else {
					release(t, s, "T1")
					row.change(t, s)
				}
				done := prepare(t, s, "next", "T2")
				want(t, "taken back", strings.Join(append(took, done.TakenBack...), "|"), row.told)
				want(t, "rescued", len(done.Rescued), 0)
				gitDir, err := git.DirOf(s.Dir)
				want(t, "its own configuration", exists(gitDir, "config.worktree") || err != nil, false)
				want(t, "flags", strings.Contains(gitIn(t, s.Dir, "ls-files", "-v"), "S "), false)
				want(t, "all files", exists(s.Dir, "elsewhere/far.txt") && exists(s.Dir, "sub/deep.txt") &&
					exists(s.Dir, "a.txt"), true)
				at := stand(t, s)
				want(t, "what is left", len(at.Modified)+len(at.New)+len(at.Setup)+len(at.Hidden), 0)
			})
		}
	}
}

// A person's sparse checkout is what the slots have, too, and is no one's change.
func TestASparseProject_worksAsItWasPrepared(t *testing.T) {
	t.Parallel()
	for _, row := range [][]string{{"set", "sub"}, {"set", "--no-cone", "/*", "!/elsewhere/"}} {
		for _, before := range []bool{false, true} {
			h := newHome(t)
			commit(t, h.Path, "elsewhere/far.txt", "far\n")
			commit(t, h.Path, "elsewhere/sub/farther.txt", "farther\n")
			gitIn(t, h.Path, append([]string{"sparse-checkout"}, row...)...)
			s := h.prepared(t, "topic", "T1")
			if before { // notes were kept
				if err := os.Remove(s.noteFile()); err != nil {
					t.Fatal(err)
				}
			}
			nothing := func(at Snapshot) {
				t.Helper()
				want(t, "what differs", len(at.Modified)+len(at.New)+len(at.Setup)+len(at.Hidden), 0)
			}
			want(t, "not laid out", exists(s.Dir, "elsewhere"), false)
			nothing(stand(t, s))
			commit(t, s.Dir, "sub/new.txt", "new\n")
			nothing(stand(t, s))
			write(t, s.Dir, "elsewhere/far.txt", "changed\n")
			want(t, "a file that was not laid out", strings.Join(stand(t, s).Modified, "|"), "elsewhere/far.txt")
			if err := os.RemoveAll(filepath.Join(s.Dir, "elsewhere")); err != nil {
				t.Fatal(err)
			}
			gitIn(t, s.Dir, "sparse-checkout", "reapply")
			nothing(stand(t, s))
			gitIn(t, s.Dir, "update-index", "--skip-worktree", "sub/deep.txt")
			if err := os.Remove(filepath.Join(s.Dir, "sub/deep.txt")); err != nil {
				t.Fatal(err)
			}
			want(t, "one that was, and is gone", strings.Join(stand(t, s).Modified, "|"), "sub/deep.txt")
			gitIn(t, s.Dir, "sparse-checkout", "set", "elsewhere")
			want(t, "other patterns", strings.Join(stand(t, s).Setup, "|"), "sparse-checkout")
			release(t, s, "T1")
			done := prepare(t, s, "next", "T2")
			want(t, "nothing more", len(done.TakenBack)+len(done.Rescued), 0)
			want(t, "not laid out", exists(s.Dir, "elsewhere"), false)
			want(t, "laid out", exists(s.Dir, "sub/deep.txt"), true)
			nothing(stand(t, s))
		}
	}
}
