package pool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

var errNoLock = errors.New("no space left for the lock")

// files are those of a home in which a lock, or the document of a task, cannot be had.
type files struct {
	document string
	refuse   error
	held     string // the name of the lock that someone has
	asked    []string
}

func (f *files) Document(string, string) string { return f.document }

func (f *files) Lock(_ context.Context, name string) (release func(), err error) {
	f.asked = append(f.asked, name)
	if f.refuse != nil {
		return nil, f.refuse
	}
	before := f.held
	f.held = name
	return func() { f.held = before }, nil
}

func TestMerge_holdsTheLockOfItsProjectUntilItEnds(t *testing.T) {
	t.Parallel()
	errStale := errors.New("the task has moved on")
	tests := map[string]struct {
		refuse  error  // of the lock
		stale   error  // of the last look at the task
		branch  string // that is merged
		want    error
		looked  bool // at the task, for the last time
		changed bool // the default branch
	}{
		"the lock is had":        {branch: "fix", looked: true, changed: true},
		"the lock is refused":    {branch: "fix", refuse: errNoLock, want: errNoLock},
		"the task has moved on":  {branch: "fix", stale: errStale, want: errStale, looked: true},
		"the branch is not here": {branch: "gone", want: task.ErrNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &files{refuse: tt.refuse}
			p, s := newPool(t, func(o *Surroundings) { o.Files = f })
			repo := s.project.Path
			gitIn(t, repo, "switch", "-q", "-c", "fix")
			gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "two")
			gitIn(t, repo, "switch", "-q", "main")
			before, held := gitIn(t, repo, "rev-parse", "main"), ""
			begin := func(context.Context, string) error {
				held = f.held
				return tt.stale
			}
			one := task.Task{ID: "abc", Project: "garden", Branch: tt.branch}
			_, err := p.Merge(t.Context(), one, record.MergeOrder{Strategy: "ff"}, begin)
			if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("it ends with %v, want %v", err, tt.want)
			}
			asked := slices.DeleteFunc(slices.Clone(f.asked), func(name string) bool { return name == "garden.shared" })
			if looked := held == "garden.merge"; looked != tt.looked || strings.Join(asked, " ") != "garden.merge" {
				t.Errorf("it asked for the locks %q, and held %q at its last look", f.asked, held)
			}
			if f.held != "" {
				t.Errorf("the lock %q is held after its end", f.held)
			}
			if changed := gitIn(t, repo, "rev-parse", "main") != before; changed != tt.changed {
				t.Errorf("the default branch has changed: %v, want %v", changed, tt.changed)
			}
		})
	}
}

// The work of an earlier task is taken out of a worktree before the document is linked into it. Another try finds
// nothing to take out any more: only the first one can report it.
func TestPrepare_reportsWhatItKeptAlsoWhereTheDocumentCannotBeLinked(t *testing.T) {
	t.Parallel()
	o, _ := aroundProject(t)
	p, one := New(o), aTask()
	_, err := p.Prepare(t.Context(), one)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.Dir(one.Workspace), "left"), []byte("work\n"), 0o600))

	one.ID, one.Branch = "def", "other"
	o.Files = &files{document: "not/absolute"}
	kept, err := New(o).Prepare(t.Context(), one)
	if err == nil || !strings.Contains(err.Error(), "not/absolute") || len(kept.Rescued) != 1 {
		t.Fatalf("it kept %+v, and ends with %v", kept, err)
	}
	if text := gitIn(t, p.Dir(one.Workspace), "show", kept.Rescued[0].Ref+":left"); text != "work" {
		t.Errorf("kept is %q", text)
	}
	if kept, err = p.Prepare(t.Context(), one); err != nil || len(kept.Rescued) != 0 {
		t.Errorf("the second try kept %+v, %v", kept, err)
	}
}
