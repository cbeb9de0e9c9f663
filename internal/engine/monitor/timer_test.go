package monitor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestLook_asksForTheTasksWhoseTimeHasCome(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{
		{ID: "late", Live: true, Status: "build", EnteredAt: noon.Add(-80 * time.Second)},
		{ID: "told", Live: true, Status: "build", EnteredAt: noon.Add(-90 * time.Second), Overdue: 80},
		{ID: "later", Live: true, Status: "build", EnteredAt: noon.Add(-79 * time.Second)},
		{ID: "free", Live: true, Status: "check", EnteredAt: noon.Add(-time.Hour)},
		{ID: "queued", Live: true, Status: "build", QueuedFor: "check", EnteredAt: noon.Add(-time.Hour), Overdue: 100},
		{ID: "done", Live: true, Status: "build", EnteredAt: noon.Add(-time.Hour), Overdue: 150},
		{ID: "over", Status: "build", EnteredAt: noon.Add(-time.Hour)},
	}
	w.limits = task.Timeouts{"build": 100 * time.Second}
	must(t, m.Look(t.Context()))
	wantDid(t, w, "timeouts late", "timeouts queued", "start-next ")
	if want := []string{"late: late", "queued: late; orange task why queued"}; !slices.Equal(w.told, want) {
		t.Errorf("told was %q, want %q", w.told, want)
	}
}

func TestLook_goesOnWhereTimesCannotBeRead(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{{ID: "one", Live: true, Status: "build"}}
	w.fails["limits"] = errors.New("projects.json is torn")
	if err := m.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "is torn") {
		t.Errorf("the error is %v", err)
	}
	if !slices.Contains(w.did, "sync one") {
		t.Errorf("it did %q", w.did)
	}
}

func TestRun_asksWhenTheTimeHasComeWithoutALook(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	begun := time.Now()
	m.Now = func() time.Time { return noon.Add(time.Since(begun)) }
	w.limits = task.Timeouts{"build": time.Second}
	w.tasks = []task.Task{{ID: "one", Live: true, Status: "build", EnteredAt: noon}}
	watch(t, m)
	w.until(t, "sync one") // the next look is half a minute away
	w.until(t, "timeouts one")
}

func TestRun_startsAQueuedTaskAtOnceWhenAWorkspaceIsFree(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.limits = task.Timeouts{"build": time.Second} // a late task is how the clock is heard
	late := noon.Add(-time.Minute)
	waits := task.Task{ID: "waits", Project: "shed", Live: true, Status: "build", EnteredAt: late, QueuedFor: "build"}
	holds := task.Task{ID: "holds", Project: "shed", Live: true, Status: "build", EnteredAt: late, Workspace: "shed--1"}
	w.tasks = []task.Task{waits, holds}
	watch(t, m)
	w.until(t, "start-next shed") // of the first look; the next one is half a minute away
	w.until(t, "sync holds")
	wrote := func(tasks ...task.Task) {
		w.mu.Lock()
		w.tasks = tasks
		w.mu.Unlock()
		w.wrote <- struct{}{}
	}
	wrote(waits, holds) // the clock knows who has what
	w.until(t, "timeouts holds")
	w.mu.Lock()
	w.did = nil
	w.mu.Unlock()
	holds.Live = false
	wrote(waits, holds) // it is over, and its workspace is not given back yet
	w.until(t, "timeouts waits")
	w.mu.Lock()
	if slices.Contains(w.did, "start-next shed") {
		t.Error("it was started while the workspace was taken")
	}
	w.mu.Unlock()
	holds.Workspace = ""
	wrote(waits, holds)
	w.until(t, "start-next shed")
}

func TestRun_checksTimeoutsOfATaskAddedSinceTheLastLook(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.limits = task.Timeouts{"build": time.Second}
	watch(t, m)
	w.until(t, "resume")
	w.mu.Lock()
	w.tasks = []task.Task{{ID: "one", Live: true, Status: "build", EnteredAt: noon.Add(-time.Minute)}}
	w.mu.Unlock()
	w.wrote <- struct{}{}
	w.until(t, "timeouts one")
}
