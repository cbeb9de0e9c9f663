package worktree

import (
	"errors"
	"path/filepath"
	"testing"

	"orange/internal/rules/task"
)

// Git keeps no branch below another, and checks none out twice: that is known before a task is made.
func TestCheckRoom_refusesABranchThatCannotBeMadeOrCheckedOut(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gitIn(t, h.Path, "branch", "release/1")
	gitIn(t, h.Path, "branch", "fix")
	gitIn(t, h.Path, "worktree", "add", "-q", filepath.Join(h.root, "mine"), "-b", "mine")
	s := h.prepared(t, "topic", "T1")
	for _, c := range []struct {
		branch, own string
		words       []string
	}{
		{branch: "new"},
		{branch: "release/2"},
		{branch: "rel"},
		{branch: "fix"},
		{branch: "topic", own: s.Dir},
		{"topic", "", []string{"checked out in", s.Dir, `"topic-2"`}},
		{"mine", "", []string{"checked out in", "mine"}},
		{"main", "", []string{"checked out in", h.Path}},
		{"release", "", []string{`the branch "release/1" below that name`, `"release-2"`}},
		{"fix/login/x", "", []string{`there is the branch "fix"`, `"fix-login-x"`}},
	} {
		err := h.CheckRoom(t.Context(), c.branch, c.own)
		if len(c.words) == 0 {
			if err != nil {
				t.Errorf("%s: %v", c.branch, err)
			}
			continue
		}
		wantError(t, err, c.words...)
		want(t, "its kind", errors.Is(err, task.ErrBranchTaken), true)
	}
}
