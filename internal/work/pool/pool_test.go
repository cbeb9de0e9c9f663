package pool

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/mirror"
)

// setup is one project with two workspaces, and a record in which a task may hold one of them.
type setup struct {
	events  []history.Event
	project task.Project
	holders []record.Holder
	tasks   []task.Task
	def     workflow.Definition
}

func (s *setup) Project(name string) (task.Project, error) {
	if name != s.project.Name {
		return task.Project{}, task.Notef(task.ErrNotFound, "there is no project %q", name)
	}
	return s.project, nil
}

func (s *setup) Projects() ([]task.Project, error) { return []task.Project{s.project}, nil }

func (s *setup) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	def := s.def
	def.Initial = "todo"
	return &def, nil
}

func (s *setup) Holders(context.Context, string) ([]record.Holder, error) { return s.holders, nil }

func (s *setup) Load(_ context.Context, id string) (record.Snapshot, error) {
	return record.Snapshot{Task: task.Task{ID: id, Project: "garden"}}, nil
}

func (s *setup) List(context.Context, record.Filter) ([]task.Task, error) { return s.tasks, nil }

func (s *setup) Events(context.Context, string, int) ([]history.Event, error) { return s.events, nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newPool has a repository with one commit as its only project. change is what is outside in another way.
func newPool(t *testing.T, change ...func(*Surroundings)) (*Pool, *setup) {
	t.Helper()
	o, s := aroundProject(t)
	for _, one := range change {
		one(&o)
	}
	return New(o), s
}

func aroundProject(t *testing.T) (Surroundings, *setup) {
	t.Helper()
	home, repo := t.TempDir(), t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	must(t, os.WriteFile(filepath.Join(repo, "file"), []byte("one\n"), 0o600))
	gitIn(t, repo, "add", "file")
	gitIn(t, repo, "commit", "-q", "-m", "one")
	s := &setup{project: task.Project{Name: "garden", Path: repo, DefaultBranch: "main", PoolSize: 2}}
	must(t, os.MkdirAll(filepath.Join(home, "tasks", "garden", "abc"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, "tasks", "garden", "abc", "TASK.md"), []byte("# Task\n"), 0o600))
	return Surroundings{Home: home, Setup: s, Record: s, Files: mirror.Files{Home: home},
		Log: slog.New(slog.DiscardHandler)}, s
}

func aTask() task.Task {
	return task.Task{ID: "abc", Project: "garden", Branch: "fix", Status: "todo", Workspace: "garden--1", Live: true}
}

func TestWorkspaces_areThoseOfTheProjectWithTheirHolders(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	all, err := p.InitWorkspaces(t.Context(), s.project)
	must(t, err)
	if len(all) != 2 || all[0].Workspace != "garden--1" || !all[0].Exists || !all[1].Exists || all[0].Task != "" {
		t.Errorf("made %+v", all)
	}
	s.holders = []record.Holder{{Workspace: "garden--1", Task: "abc", Branch: "fix", Status: "todo"}}
	s.project.PoolSize = 1 // the second is still there
	all, err = p.Workspaces(t.Context(), "garden")
	if err != nil || len(all) != 2 || all[0].Task != "abc" || all[1].Task != "" {
		t.Errorf("found %+v, %v", all, err)
	}
	removed, err := p.CollectWorkspaces(t.Context(), "")
	if err != nil || !slices.Equal(removed, []string{"garden--2"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	left, err := p.Worktrees()
	if err != nil || !slices.Equal(left, []string{"garden--1"}) {
		t.Errorf("left are %q, %v", left, err)
	}
	for dir, want := range map[string]string{
		filepath.Join(p.Dir("garden--1"), "below"): "abc garden", p.Dir("garden--11"): " ",
		filepath.Join(s.project.Path, "below"): " garden", t.TempDir(): " ",
	} {
		if id, project, err := p.Locate(t.Context(), dir); id+" "+project != want || err != nil {
			t.Errorf("in %q it is %q of %q, %v", dir, id, project, err)
		}
	}
}

func TestLocate_followsAWorkspaceThatIsALink(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	s.holders = []record.Holder{{Workspace: "garden--1", Task: "abc", Branch: "fix", Status: "todo"}}
	elsewhere := t.TempDir()
	must(t, os.MkdirAll(p.Dir(""), 0o700))
	must(t, os.Symlink(elsewhere, p.Dir("garden--1")))
	for dir, want := range map[string]string{filepath.Join(elsewhere, "below"): "abc", t.TempDir(): ""} {
		if id, _, err := p.Locate(t.Context(), dir); id != want || err != nil {
			t.Errorf("in %q it is %q, %v; want %q", dir, id, err, want)
		}
	}
}

func TestPrepare_linksTheDocumentAndWorkShowsWhatWasAdded(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t)
	one := aTask()
	_, err := p.Prepare(t.Context(), one)
	must(t, err)
	view, err := p.View(t.Context(), one)
	if err != nil || view.Dir != p.Dir("garden--1") || view.TaskFile == "" {
		t.Errorf("the view is %+v, %v", view, err)
	}
	if text, err := os.ReadFile(filepath.Join(view.Dir, view.TaskFile)); err != nil || string(text) != "# Task\n" {
		t.Errorf("the document is %q, %v", text, err)
	}
	must(t, os.WriteFile(filepath.Join(view.Dir, "new"), []byte("two\n"), 0o600))
	gitIn(t, view.Dir, "add", "new")
	gitIn(t, view.Dir, "commit", "-q", "-m", "two")
	tip, err := p.Tip(t.Context(), one)
	if err != nil || tip != gitIn(t, view.Dir, "rev-parse", "HEAD") {
		t.Errorf("the tip is %q, %v", tip, err)
	}
	work, err := p.Work(t.Context(), one)
	if err != nil || work.Commits != 1 || work.Added != 1 {
		t.Errorf("the work is %+v, %v", work, err)
	}
	if text, err := p.Diff(t.Context(), one); err != nil || !strings.Contains(text, "+two") {
		t.Errorf("the diff is %q, %v", text, err)
	}
	if ahead, err := p.Ahead(t.Context(), one, ""); err != nil || !ahead {
		t.Errorf("it is ahead: %v, %v", ahead, err)
	}
	gitIn(t, view.Dir, "switch", "-q", "-c", "elsewhere")
	if _, err := p.Tip(t.Context(), one); err == nil || !strings.Contains(err.Error(), `"elsewhere"`) {
		t.Errorf("on another branch: %v", err)
	}
}

func TestScratch_isRemovedByTheTaskThatGivesItsWorkspaceBack(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t)
	one := aTask()
	_, err := p.Prepare(t.Context(), one)
	must(t, err)
	head := gitIn(t, p.Dir("garden--1"), "rev-parse", "HEAD")
	made, err := p.Scratch(t.Context(), one, "abc-unit", head)
	must(t, err)
	must(t, made.Away(t.Context()))
	for _, name := range []string{"abc-unit", "abc-lint"} {
		_, err := p.Scratch(t.Context(), one, name, head)
		must(t, err)
	}
	must(t, p.RemoveScratch(t.Context(), "abc-lint"))
	if names, err := p.Scratches(); err != nil || !slices.Equal(names, []string{"abc-unit"}) {
		t.Errorf("there are %q, %v", names, err)
	}
	_, err = p.Release(t.Context(), one)
	must(t, err)
	if names, err := p.Scratches(); err != nil || len(names) != 0 {
		t.Errorf("left are %q, %v", names, err)
	}
}

func TestATaskWithoutAWorkspaceHasNoDiffUntilItBegins(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t)
	one := aTask()
	one.Workspace = ""
	if text, err := p.Diff(t.Context(), one); text != "" || err != nil {
		t.Errorf("the diff is %q, %v", text, err)
	}
	if _, err := p.Work(t.Context(), one); err == nil {
		t.Error("it has work without a workspace")
	}
	one.Status = "working"
	if _, err := p.Diff(t.Context(), one); err == nil {
		t.Error("a task that has begun and has no branch has a diff")
	}
}
