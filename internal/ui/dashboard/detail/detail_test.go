package detail

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// fakeReader counts how often the terminals are read, and keeps from which event on histories were.
type fakeReader struct {
	panes   int
	history []history.Event
	after   []int
}

func (f *fakeReader) History(_ context.Context, _ string, after int) ([]history.Event, error) {
	f.after = append(f.after, after)
	return f.history[min(after, len(f.history)):], nil
}
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
	if m.Follow(room(), true) == nil || !m.ticking {
		t.Error("the clock does not tick again")
	}
}

func TestScrollingThroughTheListDoesNotWaitForEveryTask(t *testing.T) {
	t.Parallel()
	m, set := newModel(t, &fakeReader{}, 60)
	m.Tab = Diff
	for range 50 { // none of the reads is performed
		m.Follow(room(), true)
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

func TestAHistoryIsReadFromItsLastKnownEventOn(t *testing.T) {
	t.Parallel()
	reader := &fakeReader{history: []history.Event{{Type: history.Created}}}
	m, _ := newModel(t, reader, 1)
	m.Tab = History
	r := renderer{m.style, 80, 20, time.UTC}
	read := func(version int64) { run(m, m.read(task.Task{ID: "0", Version: version}, History, r)) }
	read(1)
	reader.history = append(reader.history, history.Event{Type: history.Updated})
	read(2)
	if got := m.Events("0"); len(got) != 2 || got[0].Type != history.Created || got[1].Type != history.Updated {
		t.Errorf("the history is %+v", got)
	}
	m.Refresh()
	read(2)
	read(1) // deleted, and brought back
	if want := []int{0, 1, 0, 0}; !slices.Equal(reader.after, want) {
		t.Errorf("read after %v, want %v", reader.after, want)
	}
}

func TestAHistoryThatIsNotShownIsNotDrawn(t *testing.T) {
	t.Parallel()
	reader := &fakeReader{history: []history.Event{{Type: history.Created}}}
	m, _ := newModel(t, reader, 1)
	m.Tab = Document
	run(m, m.Follow(room(), true))
	if one := m.contents[key("0", History)]; len(one.source.events) != 1 || one.lines != nil {
		t.Errorf("the history has %d events and the lines %q", len(one.source.events), one.lines)
	}
	m.Tab = History
	run(m, m.Follow(room(), true))
	if one := m.contents[key("0", History)]; len(one.lines) == 0 || len(reader.after) != 2 { // it is read again
		t.Errorf("the shown history has the lines %q after %d reads", one.lines, len(reader.after))
	}
}
