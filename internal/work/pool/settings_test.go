package pool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/gitconfig"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func wantShared(t *testing.T, p *Pool, s *setup, what string, want ...string) {
	t.Helper()
	changes, err := p.SharedChanges(t.Context(), s.project)
	if got := inWords(changes); err != nil || got != strings.Join(want, "; ") {
		t.Errorf("%s: got %q, %v, want %q", what, got, err, strings.Join(want, "; "))
	}
}

// Until a task had a worktree nothing is noted, and nothing differs, whatever a person asks for.
func TestShared_nothingIsNotedBeforeATaskHasAWorktree(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	kept, err := p.AcceptShared(t.Context(), s.project, nil)
	must(t, err)
	back, err := p.RestoreShared(t.Context(), s.project, nil)
	must(t, err)
	if _, err := os.Lstat(filepath.Join(p.home, "workspaces", ".shared")); len(kept)+len(back) > 0 || err == nil {
		t.Errorf("kept %v, back %v, and there is a note: %v", kept, back, err == nil)
	}
}

// A person's changes are theirs while no task has a worktree, Orange says an agent's once, and what a set-up changes
// counts as the project's only while no other task has one.
func TestShared_whoseAChangeIs(t *testing.T) {
	t.Parallel()
	p, s := newPool(t, func(o *Surroundings) {
		o.Environment = func(context.Context, task.Task) ([]string, error) { return os.Environ(), nil }
	})
	one := aTask()
	_, err := p.Prepare(t.Context(), one)
	must(t, err)
	wantShared(t, p, s, "Orange's own")
	s.holders = []record.Holder{{Workspace: one.Workspace, Task: one.ID}}
	gitIn(t, p.Dir(one.Workspace), "config", "core.pager", "evil")
	const evil = `core.pager was not set, is "evil"`
	wantShared(t, p, s, "an agent's", evil)
	for i, want := range []string{evil, ""} {
		news, err := p.SharedNews(t.Context(), one)
		if err != nil || strings.Join(news, "; ") != want {
			t.Errorf("look %d: told %q, %v", i, news, err)
		}
	}
	_, err = p.Release(t.Context(), one)
	must(t, err)
	s.holders = nil
	wantShared(t, p, s, "an agent's, after it", evil)

	gitIn(t, s.project.Path, "config", "user.name", "Mine")
	wantShared(t, p, s, "a person's", evil)
	one.ID, one.Branch = "def", "other"
	_, err = p.Prepare(t.Context(), one)
	must(t, err)
	wantShared(t, p, s, "a person's is noted", evil)
	back, err := p.RestoreShared(t.Context(), s.project, []string{"core.pager"})
	must(t, err)
	if inWords(back) != evil {
		t.Errorf("put back %v", back)
	}
	wantShared(t, p, s, "put back")
	if _, err := p.RestoreShared(t.Context(), s.project, []string{"core.pager"}); err == nil {
		t.Error("a key of which nothing changed was put back")
	}

	s.holders = []record.Holder{{Workspace: one.Workspace, Task: one.ID}, {Workspace: "garden--2", Task: "ghi"}}
	s.project.Worktree.Commands = [][]string{{"git", "config", "core.editor", "theirs"}}
	one.ID, one.Branch = "jkl", "third"
	_, err = p.Prepare(t.Context(), one)
	must(t, err)
	wantShared(t, p, s, "a set-up's, beside another task", `core.editor was not set, is "theirs"`)
	kept, err := p.AcceptShared(t.Context(), s.project, nil)
	must(t, err)
	if len(kept) != 1 || !kept[0].Equal(gitconfig.Change{Key: "core.editor", Is: []string{"theirs"}, Added: true}) {
		t.Errorf("kept %v", kept)
	}
	wantShared(t, p, s, "kept")
}
