package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
)

// A branch whose ref was deleted under HEAD has its commits nowhere but in a log, and its files in the worktree.
func TestRelease_keepsTheCommitsOfABranchThatIsGone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(t *testing.T, h home, s *Slot, head string)
		kept   string // the work, and how far above the lost commit it is
	}{
		"all committed": {kept: "unpushed commits"},
		"deleted in the slot": {change: func(t *testing.T, _ home, s *Slot, _ string) {
			gitIn(t, s.Dir, "update-ref", "-d", "refs/heads/topic")
		}, kept: "unpushed commits"},
		"and files beside": {change: func(t *testing.T, _ home, s *Slot, _ string) {
			write(t, s.Dir, "b.txt", "b\n")
		}, kept: "uncommitted changes"},
		"known to the record": {change: func(t *testing.T, h home, s *Slot, head string) {
			unlogged(t, *s)
			s.Noted = head
		}, kept: "unpushed commits"},
		"known to both": {change: func(_ *testing.T, _ home, s *Slot, head string) {
			s.Noted = head
		}, kept: "unpushed commits"},
		"the record knows wrong": {change: func(_ *testing.T, _ home, s *Slot, _ string) {
			s.Noted = strings.Repeat("7", 40)
		}, kept: "unpushed commits"},
		"held by another branch": {change: func(t *testing.T, h home, _ *Slot, head string) {
			gitIn(t, h.Path, "merge", "-q", "--ff-only", head)
		}},
		"known to nobody": {change: func(t *testing.T, _ home, s *Slot, _ string) {
			unlogged(t, *s)
		}, kept: "its files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			first := commit(t, s.Dir, "first.txt", "first\n")
			gitIn(t, s.Dir, "rm", "-q", "first.txt")
			head := commit(t, s.Dir, "a.txt", "second\n")
			if name != "deleted in the slot" {
				gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
			}
			if row.change != nil {
				row.change(t, h, &s, head)
			}
			kept := release(t, s, "T1")
			if row.kept == "" {
				want(t, "kept", len(kept), 0)
				return
			}
			if len(kept) != 1 {
				t.Fatalf("kept %v", kept)
			}
			told := gitIn(t, h.Path, "log", "--walk-reflogs", "--max-count=1", "--format=%gs", kept[0].Ref)
			want(t, "branch", strings.HasSuffix(told, " of branch topic"), true)
			want(t, "on a branch", kept[0].Held, false)
			if row.kept == "its files" {
				want(t, "file", gitIn(t, h.Path, "show", kept[0].Ref+":a.txt"), "second")
				return
			}
			want(t, "what", kept[0].What, row.kept)
			gitIn(t, h.Path, "merge-base", "--is-ancestor", first, kept[0].Ref)
			gitIn(t, h.Path, "merge-base", "--is-ancestor", head, kept[0].Ref)
			want(t, "again", len(release(t, s, "T1")), 0)
		})
	}
}

// unlogged takes away what git has written down of where HEAD was.
func unlogged(t *testing.T, s Slot) {
	t.Helper()
	dir, err := git.DirOf(s.Dir)
	if err == nil {
		err = os.Remove(filepath.Join(dir, "logs", "HEAD"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPrepare_keepsTheCommitsOfABranchThatIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	head := commit(t, s.Dir, "a.txt", "second\n")
	gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
	prepare(t, s, "other", "T2")
	gitIn(t, h.Path, "merge-base", "--is-ancestor", head, "refs/orange/rescue/T1/1")
	want(t, "branch", gitIn(t, s.Dir, "branch", "--show-current"), "other")
}
