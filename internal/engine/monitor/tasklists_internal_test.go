package monitor

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// changing is a record in which a task changes before each look. It notes how many lists it has handed out that are
// still in memory when the next one is read.
type changing struct {
	Record
	number int64
	lists  []weak.Pointer[task.Task]
	kept   int
}

func (c *changing) Changed(context.Context) (int64, error) {
	c.number++
	return c.number, nil
}

func (c *changing) List(_ context.Context, f record.Filter) ([]task.Task, error) {
	if !f.Live {
		return nil, nil
	}
	runtime.GC()
	c.kept = 0
	for _, list := range c.lists {
		if list.Value() != nil {
			c.kept++
		}
	}
	tasks := make([]task.Task, 100)
	c.lists = append(c.lists, weak.Make(&tasks[0]))
	return tasks, nil
}

func TestTaskLists_freeOldTasksBeforeTheyReadNewOnes(t *testing.T) {
	t.Parallel()
	c := &changing{}
	m := &Monitor{Record: c, Now: time.Now}
	for range 3 {
		if _, err := m.taskLists(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.kept > 0 {
			t.Fatalf("%d lists were in memory when the next one was read, want none", c.kept)
		}
	}
	runtime.KeepAlive(m)
}
