package pool

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWorktreesAndCheckoutsOfChecks_getTheProjectsFiles(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	s.project.Worktree.Copy = []string{".env"}
	must(t, os.WriteFile(filepath.Join(s.project.Path, ".env"), []byte("KEY=1\n"), 0o600))
	_, err := p.Prepare(t.Context(), aTask())
	must(t, err)
	made, err := p.Scratch(t.Context(), aTask(), "abc-tests", gitIn(t, s.project.Path, "rev-parse", "HEAD"))
	must(t, err)
	for _, folder := range []string{p.Dir("garden--1"), made.Dir} {
		text, err := os.ReadFile(filepath.Join(folder, ".env"))
		if string(text) != "KEY=1\n" {
			t.Errorf("in %q: %q, %v", folder, text, err)
		}
	}
	must(t, made.Away(t.Context()))
	names, err := p.Scratches()
	if len(names) != 0 || err != nil {
		t.Errorf("left behind: %q, %v", names, err)
	}
}
