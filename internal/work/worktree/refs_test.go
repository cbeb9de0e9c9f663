package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALookAtAWorkspace_findsWhatGitWouldSay(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, h home, s Slot)
	}{
		"on a branch": {},
		"packed": {change: func(t *testing.T, h home, _ Slot) {
			gitIn(t, h.Path, "pack-refs", "--all")
		}},
		"packed and then moved": {change: func(t *testing.T, h home, s Slot) {
			gitIn(t, h.Path, "pack-refs", "--all")
			commit(t, s.Dir, "b.txt", "b\n")
		}},
		"detached": {change: func(t *testing.T, _ home, s Slot) { gitIn(t, s.Dir, "switch", "-q", "--detach") }},
		"before its first commit": {change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "switch", "-q", "--orphan", "born-later")
		}},
		"a name that is not plain": {change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "branch", "-m", "v1.2")
		}},
		"a symbolic ref": {change: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "branch", "elsewhere")
			gitIn(t, s.Dir, "symbolic-ref", "refs/heads/work/topic", "refs/heads/elsewhere")
		}},
		"settings of its own": {change: func(t *testing.T, h home, s Slot) {
			gitIn(t, h.Path, "config", "extensions.worktreeConfig", "true")
			gitIn(t, s.Dir, "config", "--worktree", "core.bare", "false")
		}},
		"HEAD is a link": {change: func(t *testing.T, _ home, s Slot) {
			head := gitIn(t, s.Dir, "rev-parse", "--path-format=absolute", "--git-path", "HEAD")
			if err := os.Remove(head); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("refs/heads/work/topic", head); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "work/topic", "T1")
			commit(t, s.Dir, "mine.txt", "mine\n")
			if row.change != nil {
				row.change(t, h, s)
			}
			here, present, err := s.look(t.Context())
			if err != nil || !present {
				t.Fatalf("present: %v, %v", present, err)
			}
			head, _ := try(s.Dir, "rev-parse", "--verify", "--quiet", "HEAD") // empty before the first commit
			want(t, "commit", here.head, head)
			on, _ := try(s.Dir, "symbolic-ref", "--short", "HEAD") // empty on none
			want(t, "branch", here.branch, on)
			branch, err := s.Branch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want(t, "the branch alone", branch, on)
		})
	}
}

// An agent that leads git to other files by a setting of its own is found out, on a branch as on none.
func TestALookAtAWorkspace_refusesOneWhoseFilesLieElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work/topic", "T1")
	gitIn(t, h.Path, "config", "extensions.worktreeConfig", "true")
	gitIn(t, s.Dir, "config", "--worktree", "core.worktree", t.TempDir())
	if _, _, err := s.look(t.Context()); err == nil {
		t.Error("it was taken for the workspace")
	}
}

func TestRefs_areWhatGitSays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, h home)
	}{
		"here alone": {change: func(t *testing.T, h home) { gitIn(t, h.Path, "update-ref", "-d", h.OriginDefault()) }},
		"on origin alone": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "switch", "-q", "--detach")
			gitIn(t, h.Path, "branch", "-q", "-D", "main")
		}},
		"both":   {},
		"packed": {change: func(t *testing.T, h home) { gitIn(t, h.Path, "pack-refs", "--all") }},
		"neither": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "update-ref", "-d", h.OriginDefault())
			gitIn(t, h.Path, "update-ref", "-d", h.LocalDefault())
		}},
		"a tag of the same name": {change: func(t *testing.T, h home) { gitIn(t, h.Path, "tag", "main") }},
		"a packed tag of the same name": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "tag", "main")
			gitIn(t, h.Path, "pack-refs", "--all")
		}},
		"a branch with the short name of origin's": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "branch", "origin/main")
		}},
		"a file with the short name": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "update-ref", "refs/main", "HEAD")
		}},
		"a remote with the short name": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "symbolic-ref", "refs/remotes/main/HEAD", "refs/heads/main")
		}},
		"a symbolic ref": {change: func(t *testing.T, h home) {
			gitIn(t, h.Path, "branch", "trunk")
			gitIn(t, h.Path, "symbolic-ref", "refs/heads/main", "refs/heads/trunk")
		}},
		"the name of no commit": {change: func(t *testing.T, h home) {
			write(t, h.Path, ".git/refs/heads/main", "0000000000000000000000000000000000000000\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomeWithOrigin(t)
			if row.change != nil {
				row.change(t, h)
			}
			known, err := h.Refs(t.Context(), h.DefaultRefs()...)
			if err != nil {
				t.Fatal(err)
			}
			for _, full := range h.DefaultRefs() {
				tip, _ := try(h.Path, "rev-parse", "--verify", "--quiet", full+"^{commit}")
				if want(t, full, known[full].Commit, tip); tip != "" { // the short name means no other ref
					want(t, "the short name", gitIn(t, h.Path, "rev-parse", known[full].Short), tip)
				}
			}
		})
	}
}

// Git refuses a branch that another worktree has; Prepare names that one before it moves anything.
func TestPrepare_namesTheCheckoutThatHasTheBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := filepath.Join(h.root, "other")
	gitIn(t, h.Path, "worktree", "add", "-q", "-b", "topic", other)
	if _, err := h.slot(1).Prepare(t.Context(), "topic", "T1"); err == nil ||
		!strings.Contains(err.Error(), other) {
		t.Errorf("it said %v", err)
	}
}
