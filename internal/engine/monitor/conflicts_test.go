package monitor_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// compares notes which projects' branches are looked at, with how many live tasks of all projects.
func (w *world) compares(_ context.Context, project string, live []task.Task) error {
	return w.note("conflicts %s %d", project, len(live))
}

func (w *world) planted(id, project string, live bool) {
	w.tasks = append(w.tasks, task.Task{ID: id, Project: project, Status: "build", Live: live, EnteredAt: noon,
		UpdatedAt: noon})
}

func TestConflicts_areLookedForInEveryProjectWithLiveTasks(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.planted("1", "garden", true)
	w.planted("2", "shed", true)
	w.planted("3", "garden", true)
	w.planted("4", "barn", false)
	must(t, m.Once(t.Context()))
	wantDid(t, w)
	m.Conflicts = w.compares
	w.fails["conflicts garden 3"] = errors.New("the repository is gone")
	must(t, m.Once(t.Context())) // anyone who asks for conflicts hears of it
	wantDid(t, w, "conflicts garden 3", "conflicts shed 3")
}

func TestRun_looksAgainAtPullRequestsAndConflicts(t *testing.T) {
	t.Parallel()
	for line, every := range map[string]time.Duration{
		"conflicts garden 1": 30 * time.Second, "standing garden 1": 2 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			m, w := newMonitor()
			m.Conflicts = w.compares
			w.asked("1", "garden", record.PROpen)
			ctx, off := context.WithCancel(t.Context())
			var crew sync.WaitGroup
			crew.Go(func() { m.Run(ctx) })
			for _, want := range []int{1, 2, 3} {
				synctest.Wait()
				w.mu.Lock()
				looks := len(slices.DeleteFunc(slices.Clone(w.did), func(did string) bool { return did != line }))
				w.mu.Unlock()
				if looks != want {
					t.Errorf("%s: looked %d times, want %d", line, looks, want)
				}
				<-time.After(every + time.Second/2)
			}
			off()
			crew.Wait()
		})
	}
}

// A git that takes its time holds up nothing else.
func TestConflicts_thatTakeTheirTimeHoldUpNoDeath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, w := newMonitor()
		m.Conflicts = func(ctx context.Context, _ string, _ []task.Task) error {
			<-ctx.Done()
			return ctx.Err()
		}
		w.planted("1", "garden", true)
		ctx, off := context.WithCancel(t.Context())
		var crew sync.WaitGroup
		crew.Go(func() { m.Run(ctx) })
		synctest.Wait()
		looks := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.looks
		}
		before := looks()
		<-time.After(11 * time.Minute)
		synctest.Wait()
		if looks() == before {
			t.Error("the monitor looked at no agent meanwhile")
		}
		off()
		crew.Wait()
	})
}
