package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/work/git"
)

// Git writes zeros as the commit of a worktree that it makes. Killed then, it leaves a repository in which no git
// fetches, for any task.
func TestAGitKilledWhileMakingAWorktree_stopsNoFetch(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	s := h.prepared(t, "topic", "T1")
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "HEAD", strings.Repeat("0", 40)+"\n")
	// an agent's doing, and its work is there
	wantError(t, h.FetchOrigin(t.Context()), "bad object", "has no commit", "git -C")
	write(t, dir, "locked", git.Initializing+"\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	want(t, "a fetch", h.FetchOrigin(t.Context()), nil)
	want(t, "what was begun", exists(filepath.Dir(dir), filepath.Base(dir)), false)
}
