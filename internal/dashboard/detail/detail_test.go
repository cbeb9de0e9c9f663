package detail

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/task"
)

// fakeReader counts how often the terminals are read.
type fakeReader struct{ panes int }

func (f *fakeReader) History(context.Context, string) ([]history.Event, error)    { return nil, nil }
func (f *fakeReader) Why(context.Context, string) (e decide.Explanation, _ error) { return e, nil }
func (f *fakeReader) Document(context.Context, task.Task) (string, error)         { return "", nil }
func (f *fakeReader) Diff(context.Context, task.Task) (string, error)             { return "", nil }
func (f *fakeReader) Log(context.Context, task.Task) ([]string, error)            { return nil, nil }
func (f *fakeReader) Panes(context.Context, task.Task) ([]Pane, error) {
	f.panes++
	return nil, nil
}

// room is the size of the view in these tests.
func room() screen.Size { return screen.Size{Width: 80, Height: 20} }

func newModel(t *testing.T, reader Reader, n int) (*Model, *tasks.Set) {
	t.Helper()
	set := tasks.New(t.Context(), nil, nil, "", time.Time{})
	var all []task.Task
	for i := range n {
		all = append(all, task.Task{ID: fmt.Sprint(i)})
	}
	set.Replace(all)
	return New(t.Context(), reader, set, screen.NewStyle()), set
}

// run performs the reads of a command and gives the answers to the view.
func run(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range msg {
			run(m, one)
		}
	case Read, Drawn:
		m.Update(msg, true)
	}
}

func TestTheTerminalIsReadOnlyWhileItIsVisible(t *testing.T) {
	t.Parallel()
	reader := &fakeReader{}
	m, _ := newModel(t, reader, 1)
	m.Tab = Terminal
	for range 3 {
		if m.Update(Tick{}, true) == nil {
			t.Error("the clock stops")
		}
		run(m, m.read(task.Task{ID: "0"}, Terminal, renderer{m.style, 80, 20, time.UTC}))
	}
	if reader.panes != 3 {
		t.Errorf("3 ticks are %d reads", reader.panes)
	}
	if m.Update(Tick{}, false) != nil || m.ticking {
		t.Error("the clock ticks for a view that is not visible")
	}
	if m.Follow(room()) == nil || !m.ticking {
		t.Error("the clock does not tick again")
	}
}

func TestAPersonWhoRunsThroughTheListDoesNotWaitForEveryTask(t *testing.T) {
	t.Parallel()
	m, set := newModel(t, &fakeReader{}, 60)
	m.Tab = Diff
	for range 50 { // none of the reads is performed
		m.Follow(room())
		set.Select(set.Cursor + 1)
	}
	if n := m.running(); n != maxRunning {
		t.Errorf("%d reads run, want %d", n, maxRunning)
	}
	m.Update(Read{drawn: Drawn{id: "another", tab: Diff}}, true)
	if m.contents[key(m.task, Diff)].known {
		t.Error("a tab is known that was not read")
	}
}
