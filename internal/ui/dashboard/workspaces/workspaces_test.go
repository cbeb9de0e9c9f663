package workspaces

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// fakeReader reads the workspaces of one project, two of which tasks have.
type fakeReader struct{}

func (fakeReader) Workspaces(context.Context, string) ([]record.Holding, error) {
	return []record.Holding{
		{Project: "shop", Workspace: "shop--1", Task: "1"},
		{Project: "shop", Workspace: "shop--2", Task: "unknown"},
		{Project: "shop", Workspace: "shop--3"},
	}, nil
}

func (fakeReader) Asides(string) ([]record.Aside, error) {
	return []record.Aside{{Task: "1", Path: "lib", Why: "a repository of its own", Files: 2, Bytes: 3}}, nil
}

func (fakeReader) SharedWords(context.Context, string) ([]string, error) {
	return []string{"project shop: user.name was not set, is \"Bot\""}, nil
}

func newModel(t *testing.T) (*Model, *tasks.Set) {
	t.Helper()
	set := tasks.New(t.Context(), nil, nil, "", time.Time{})
	set.Replace([]task.Task{{ID: "1", Project: "shop", Workspace: "shop--1"}, {ID: "2", Project: "site"}})
	style := screen.NewStyle()
	style.Keys["look-again"] = []string{"f5"}
	m := New(t.Context(), fakeReader{}, set, style)
	if err := m.Update(m.Load()().(Read), room()); err != nil {
		t.Fatal(err)
	}
	return m, set
}

func room() screen.Size { return screen.Size{Width: 80, Height: 10} }

func TestAWorkspaceLeadsToItsTask(t *testing.T) {
	t.Parallel()
	m, set := newModel(t)
	set.Text, set.Filter, set.Project = "something else", tasks.ShowDone, "site"
	set.Choose()
	if why := m.NoTask(); why != "" {
		t.Fatal(why)
	}
	m.SelectTask()
	if one, found := set.Selected(); !found || one.ID != "1" {
		t.Errorf("selected is %q", one.ID)
	}
	for _, want := range []string{"its task is not among those that were read; f5 looks again",
		"no task has this workspace"} {
		m.Move(1, room())
		if why := m.NoTask(); why != want {
			t.Errorf("got %q, want %q", why, want)
		}
	}
}

func TestUse(t *testing.T) {
	t.Parallel()
	m, _ := newModel(t)
	if used, size := m.Use("shop"); used != 2 || size != 3 {
		t.Errorf("%d of %d are used", used, size)
	}
	if _, size := m.Use("site"); size != 0 {
		t.Errorf("another project has %d", size)
	}
}

func TestTheWorkspacesAreReadAgainOnlyForOtherTasks(t *testing.T) {
	t.Parallel()
	m, set := newModel(t)
	if m.TasksChanged(false) == nil {
		t.Error("they are not read for the first tasks")
	}
	if m.TasksChanged(false) != nil {
		t.Error("they are read again though nothing changed")
	}
	if m.TasksChanged(true) == nil {
		t.Error("they are not read again while they are visible")
	}
	set.Change([]task.Task{{ID: "1", Project: "shop"}}, nil)
	if m.TasksChanged(false) == nil {
		t.Error("they are not read after a task gave its workspace back")
	}
}

func TestAFailedReadIsAnError(t *testing.T) {
	t.Parallel()
	m, _ := newModel(t)
	if err := m.Update(Read{err: errors.New("no")}, room()); err == nil || len(m.all) != 3 {
		t.Errorf("got %v, and %d workspaces", err, len(m.all))
	}
}

func TestView_namesWhatIsSetAside(t *testing.T) {
	t.Parallel()
	m, _ := newModel(t)
	size := screen.Size{Width: 80, Height: 9}
	if err := m.Update(m.Load()().(Read), size); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(m.View(size), "\n")
	if !strings.Contains(text, `shared settings changed, project shop: user.name was not set, is "Bot"`) {
		t.Errorf("the view does not have what all worktrees share:\n%s", text)
	}
	if !strings.Contains(text, "set aside of task 1: lib (a repository of its own; 2 files, 3 B)") {
		t.Errorf("it shows\n%s", text)
	}
}
