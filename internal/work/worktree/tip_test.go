package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tip is noted with every decision and every start of an agent; it is what git would say.
func TestReadTip_isWhatGitWouldSay(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		change  func(t *testing.T, h home, s Slot)
		here    bool   // whether the task has its workspace
		branch  string // that was followed
		trouble string
	}{
		"a branch":               {here: true},
		"a branch, no workspace": {},
		"packed": {here: true, change: func(t *testing.T, h home, _ Slot) {
			gitIn(t, h.Path, "pack-refs", "--all")
		}},
		"packed and then moved": {here: true, change: func(t *testing.T, h home, s Slot) {
			gitIn(t, h.Path, "pack-refs", "--all")
			commit(t, s.Dir, "b.txt", "b\n")
		}},
		"in the middle of a rebase": {here: true, change: func(t *testing.T, h home, s Slot) {
			commit(t, s.Dir, "a.txt", "ours\n")
			commit(t, h.Path, "a.txt", "theirs\n")
			if _, err := try(s.Dir, "rebase", "-q", "main"); err == nil {
				t.Fatal("the rebase met no conflict")
			}
		}},
		"detached": {here: true, change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "switch", "-q", "--detach")
		}},
		"on another branch while the task's exists": {here: true, change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "switch", "-q", "-c", "other")
			commit(t, s.Dir, "b.txt", "b\n")
		}},
		"renamed": {here: true, branch: "fix/better-name", change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "branch", "-m", "fix/better-name")
			commit(t, s.Dir, "b.txt", "b\n")
		}},
		"renamed and packed": {here: true, branch: "other", change: func(t *testing.T, h home, s Slot) {
			gitIn(t, s.Dir, "branch", "-m", "other")
			gitIn(t, h.Path, "pack-refs", "--all")
		}},
		"renamed, and the workspace is gone": {trouble: `there is no branch "work/topic"`,
			change: func(t *testing.T, _ home, s Slot) {
				gitIn(t, s.Dir, "branch", "-m", "other")
			}},
		"deleted": {here: true, trouble: "the workspace is on none", change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "switch", "-q", "--detach")
			gitIn(t, s.Dir, "branch", "-q", "-D", "work/topic")
		}},
		"deleted, and the default branch checked out": {here: true, trouble: `the workspace is on "main"`,
			change: func(t *testing.T, h home, s Slot) {
				gitIn(t, h.Path, "switch", "-q", "--detach")
				gitIn(t, s.Dir, "switch", "-q", "main")
				gitIn(t, s.Dir, "branch", "-q", "-D", "work/topic")
			}},
		"without a commit": {here: true, trouble: "has no commit yet", change: func(t *testing.T, h home, s Slot) {
			gitIn(t, s.Dir, "update-ref", "-d", "refs/heads/work/topic")
		}},
		"the folder of the workspace is gone": {here: true, change: func(t *testing.T, _ home, s Slot) {
			if err := os.RemoveAll(s.Dir); err != nil {
				t.Fatal(err)
			}
		}},
		"a symbolic ref": {here: true, change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "branch", "elsewhere")
			gitIn(t, s.Dir, "symbolic-ref", "refs/heads/work/topic", "refs/heads/elsewhere")
		}},
		"refs in tables": {here: true, change: func(t *testing.T, h home, _ Slot) {
			write(t, h.Path, ".git/reftable/tables.list", "")
		}},
		"a broken ref": {here: true, trouble: `branch "work/topic"`,
			change: func(t *testing.T, h home, _ Slot) {
				write(t, h.Path, ".git/refs/heads/work/topic", "no commit\n")
			}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "work/topic", "T1")
			commit(t, s.Dir, "mine.txt", "mine\n")
			if row.change != nil {
				row.change(t, h, s)
			}
			dir := ""
			if row.here {
				dir = s.Dir
			}
			tip := Worktrees{Repo: h.Repo}.ReadTip(t.Context(), dir, "work/topic")
			want(t, "branch", tip.Branch, row.branch)
			if row.trouble != "" {
				if tip.Commit != "" || !strings.Contains(tip.Trouble, row.trouble) {
					t.Errorf("got %+v, want trouble that says %q", tip, row.trouble)
				}
				return
			}
			followed := "work/topic"
			if tip.Branch != "" {
				followed = tip.Branch
			}
			want(t, "trouble", tip.Trouble, "")
			want(t, "commit", tip.Commit, gitIn(t, h.Path, "rev-parse", "refs/heads/"+followed))
		})
	}
}

func TestReadTip_whereTheRepositoryLiesElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.root, "init", "-q", "--separate-git-dir", filepath.Join(h.root, "apart.git"), h.Path)
	tip := Worktrees{Repo: h.Repo}.ReadTip(t.Context(), "", "main")
	want(t, "tip", tip, Tip{Commit: gitIn(t, h.Path, "rev-parse", "main")})
}
