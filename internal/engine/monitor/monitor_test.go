package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/engine/monitor"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

func TestLook_findsNothingToDoWhereEverybodyIsAtWork(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "build", "worker", 1)
	w.busy("two", "check", "reviewer", 2)
	must(t, m.Look(t.Context()))
	wantDid(t, w)
}

func TestLook_tellsHowEachKindOfDeathWasSeen(t *testing.T) {
	t.Parallel()
	crashed := task.Ending{Known: true, Status: 3}
	tests := map[string]struct {
		change func(w *world)
		want   []string
	}{
		"a dead window": {func(w *world) {
			w.panes[0].Dead, w.panes[0].Ending = true, crashed
		}, []string{"died one worker 1: exit status 3"}},
		"the launcher's note is better than what tmux lost": {func(w *world) {
			w.panes[0].Dead, w.notes[1] = true, task.Ending{Known: true, Status: 137, Signal: 9}
		}, []string{"died one worker 1: killed by signal 9"}},
		"a window that ended well, and no note": {func(w *world) { // launchers leave one: another program was there
			w.panes[0].Dead, w.panes[0].Ending = true, task.Ending{Known: true}
		}, []string{"died one worker 1: how is not known"}},
		"a dead session, or a dead server, or a machine that was started anew": {func(w *world) {
			w.panes, w.alive = nil, map[int]bool{}
		}, []string{"died one worker 1: how is not known"}},
		"a dead worker while its reviewer lives": {func(w *world) {
			w.seats = append(w.seats, record.Seat{Hash: "r", Task: "one", Role: "reviewer", Hook: 7, PID: 1007})
			w.panes[0].Dead = true
			w.panes = append(w.panes, tmux.Pane{Task: "one", Role: "reviewer", Hook: "7"})
		}, []string{"died one worker 1: how is not known"}},
		"an agent of another hook has the window now": {func(w *world) {
			w.panes[0].Hook, w.alive = "9", map[int]bool{}
		}, []string{"died one worker 1: how is not known"}},
		"it outlived its terminal": {func(w *world) {
			w.panes, w.orphaned[1001] = nil, true
		}, []string{"end 1001", "died one worker 1: how is not known"}},
		"its attempt was cut short and dropped, and had started it": {func(w *world) {
			w.panes[0].Dead, w.seats[0].PID, w.seats[0].Dropped = true, 0, true
		}, []string{"died one worker 1: how is not known"}},
		"it was gone before anybody knew its process": {func(w *world) {
			w.panes, w.seats[0].PID = nil, 0
		}, []string{"died one worker 1: how is not known"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, w := newMonitor()
			w.busy("one", "build", "worker", 1)
			tt.change(w)
			must(t, m.Look(t.Context()))
			wantDid(t, w, append(tt.want, "revive one")...)
			if len(w.told) != 1 || w.told[0] != "one: look; orange task why one" {
				t.Errorf("told was %q", w.told)
			}
		})
	}
}

func TestLook_findsNoDeathWhereNoAgentWasStarted(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "build", "worker", 1)
	w.panes, w.seats[0].PID, w.seats[0].Dropped = nil, 0, true
	must(t, m.Look(t.Context()))
	wantDid(t, w, "vacate one 1")
	watch(t, m)
	w.until(t, "vacate one 1")
}

// "Could not look" is not "nothing there".
func TestLook_concludesNothingFromALookThatFailed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(w *world)
		says   string
	}{
		"tmux does not answer": {func(w *world) {
			w.blind, w.panes = errors.New("permission denied"), nil
		}, "could not look at the sessions"},
		"the server that it lives in is not the one that was asked": {func(w *world) { w.panes = nil },
			"another terminal server"},
		"processes cannot be looked up": {func(w *world) {
			w.panes, w.fails["alive"] = nil, errors.New("no /proc")
		}, "no /proc"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, w := newMonitor()
			w.busy("one", "build", "worker", 1)
			tt.change(w)
			if err := m.Look(t.Context()); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v", err)
			}
			wantDid(t, w)
		})
	}
}

func TestLook_asksTheTerminalOnceHoweverManyTasksThereAre(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	for i := range 100 {
		w.busy(strings.Repeat("x", i+1), "build", "worker", i)
	}
	must(t, m.Look(t.Context()))
	if w.looks != 1 {
		t.Errorf("it looked %d times", w.looks)
	}
}

// Many agents that are at work cost one question about tasks and one about seats.
func TestLook_overAHundredAgentsReadsNoTaskTwice(t *testing.T) {
	t.Parallel()
	const agents = 100
	m, w := newMonitor()
	for i := range agents {
		w.busy(fmt.Sprint("task", i), "build", "worker", i)
	}
	must(t, m.Look(t.Context()))
	w.did, w.lists, w.seatsRead = nil, 0, 0
	must(t, m.Look(t.Context()))
	if w.lists != 0 || w.seatsRead != 1 || w.looks != 2 {
		t.Errorf("it listed tasks %d times, seats %d times and windows %d times, want 0, 1 and 1", w.lists,
			w.seatsRead, w.looks-1)
	}
	wantDid(t, w)
	w.tasks[7].Version++
	must(t, m.Look(t.Context()))
	if want := []string{"resume", "sync task7"}; !slices.Equal(w.did, want) {
		t.Errorf("it did %q, want %q", w.did, want)
	}
}

// What a long watch does each second costs no more with a thousand agents than with one.
func TestRun_readsTheSeatsAgainOnlyWhereSomethingWasWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, w := newMonitor()
		w.busy("one", "build", "worker", 1)
		w.noted, w.wrote, w.heard, w.hint = make(chan int64), make(chan struct{}, 1), make(chan struct{}, 1),
			make(chan struct{})
		watch(t, m)
		read := func(seconds int) int {
			w.mu.Lock()
			before := w.seatsRead
			w.mu.Unlock()
			<-time.After(time.Duration(seconds) * time.Second) // of the clock of the bubble
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.seatsRead - before
		}
		<-time.After(time.Second / 2) // from now on it never counts at the instant of a look
		read(5)
		if found := read(100); found != 0 {
			t.Errorf("the seats were read %d times while nothing was written", found)
		}
		w.mu.Lock()
		w.busy("two", "build", "worker", 2)
		w.mu.Unlock()
		if found := read(5); found != 1 {
			t.Errorf("the seats were read %d times after a new one, want once", found)
		}
	})
}

func TestLook_hasADeadReviewerStartedAgain(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "check", "reviewer", 1)
	w.seats, w.panes = nil, nil // its death was dealt with before
	must(t, m.Look(t.Context()))
	wantDid(t, w, "revive one")
}

func TestLook_freesOrphansAndLeavesWhatTheRecordMayHaveLost(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.panes = []tmux.Pane{
		{WindowID: "@1", Task: "over", Role: "worker"}, {WindowID: "@2", Task: "deleted", Role: "worker"},
		{WindowID: "@3", Task: "lost", Role: "worker"}, {WindowID: "@4", Task: "deleted"}, // a window of a person's
	}
	w.tasks = []task.Task{{ID: "over", Workspace: "garden--1"}}
	w.fails["free deleted"], w.fails["free lost"] = task.ErrNotFound, task.ErrNotFound
	w.known["lost"] = true
	must(t, m.Look(t.Context()))
	wantDid(t, w, "free over", "free deleted", "end-window @2", "free lost", "free over")
}

func TestLook_startsQueuedTasksWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{
		{ID: "a", Project: "garden", Live: true, QueuedFor: "build"},
		{ID: "b", Project: "garden", Live: true, QueuedFor: "build"},
		{ID: "c", Project: "shed", Live: true, QueuedFor: "build"},
	}
	must(t, m.Look(t.Context()))
	wantDid(t, w, "start-next garden", "start-next shed")
}

func TestLook_renewsAMirrorOnlyWhenItOrItsTaskChanged(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{{ID: "one", Live: true, Version: 1}}
	syncs := func() int {
		must(t, m.Look(t.Context()))
		n := len(slices.DeleteFunc(slices.Clone(w.did), func(s string) bool { return s != "sync one" }))
		w.did = nil
		return n
	}
	for i, want := range []int{1, 0, 1, 0, 1} {
		switch i {
		case 2:
			w.tasks[0].Summary = "the file changed"
		case 4:
			w.tasks[0].Version++
		}
		if got := syncs(); got != want {
			t.Errorf("look %d: %d renewals, want %d", i, got, want)
		}
	}
}

func TestLook_marksAnAgentThatLivesAndDoesNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(w *world)
		want   []string
	}{
		"no output for long": {func(w *world) {
			w.panes[0].Activity = noon.Add(-20 * time.Minute)
		}, []string{"stalled one 11:40"}},
		"as was seen before": {func(w *world) {
			w.panes[0].Activity, w.tasks[0].StalledAt = noon.Add(-20*time.Minute), noon.Add(-20*time.Minute)
		}, nil},
		"it works again": {func(w *world) {
			w.tasks[0].StalledAt = noon.Add(-20 * time.Minute)
		}, []string{"works one"}},
		"but the document changed": {func(w *world) {
			w.panes[0].Activity, w.touched = noon.Add(-20*time.Minute), noon.Add(-time.Minute)
		}, nil},
		"the status began a moment ago": {func(w *world) {
			w.panes[0].Activity, w.tasks[0].EnteredAt = noon.Add(-time.Hour), noon
		}, nil},
		"a person is waited for": {func(w *world) {
			w.panes[0].Activity, w.tasks[0].Status = noon.Add(-time.Hour), "talk"
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, w := newMonitor()
			w.busy("one", "build", "worker", 1)
			tt.change(w)
			must(t, m.Look(t.Context()))
			wantDid(t, w, tt.want...)
		})
	}
}

// watch runs the monitor until the test is over.
func watch(t *testing.T, m *monitor.Monitor) {
	t.Helper()
	ctx, off := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	t.Cleanup(func() { off(); <-done })
}

// until waits for a line among what was done.
func (w *world) until(t *testing.T, line string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		found := slices.Contains(w.did, line)
		w.mu.Unlock()
		if found {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("it never did %q, but %q", line, w.did)
		}
	}
}

func TestRun_hearsOfADeathAtOnce(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "build", "worker", 1)
	watch(t, m)
	w.until(t, "sync one") // it has looked, and the next look is far away
	w.mu.Lock()
	w.notes[1] = task.Ending{Known: true, Status: 2}
	w.mu.Unlock()
	close(w.ends[1001])
	w.until(t, "died one worker 1: exit status 2")
}

func TestRun_letsOthersHearThatItGoesOn(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	watch(t, m)
	late := time.After(20 * time.Second)
	for range 2 {
		select {
		case <-w.heard:
		case <-late:
			t.Fatal("nobody heard of it")
		}
	}
}

func TestRun_learnsOfADeathFromTheLivingLaunchersNote(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		m, w := newMonitor()
		w.busy("one", "build", "worker", 1)
		w.deaf = deaf
		watch(t, m)
		w.until(t, "sync one")
		w.noted <- 1 // that is none of its launcher's
		w.noted <- 7 // another agent's
		w.mu.Lock()
		if slices.ContainsFunc(w.did, func(did string) bool { return strings.HasPrefix(did, "died") }) {
			t.Errorf("another program's note ended it: %q", w.did)
		}
		w.notes[1] = task.Ending{Known: true, Status: 2}
		w.mu.Unlock()
		heard := make(chan struct{})
		go func() { // again and again: the first may come before the monitor waits for this agent, whose process stays
			for {
				select {
				case w.noted <- 1:
				case <-heard:
					return
				}
			}
		}()
		w.until(t, "died one worker 1: exit status 2")
		close(heard)
	}
}

func TestRun_watchesAnAgentAsSoonAsTheRecordHasIt(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	watch(t, m)
	w.until(t, "resume")
	w.mu.Lock()
	w.busy("one", "build", "worker", 1)
	w.panes[0].Dead, w.panes[0].Ending = true, task.Ending{Known: true, Signal: 9}
	w.mu.Unlock()
	w.wrote <- struct{}{}
	close(w.ends[1001])
	w.until(t, "died one worker 1: killed by signal 9")
}

func TestRun_looksAtAHintWhereProcessesCannotBeWatched(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "build", "worker", 1)
	w.deaf = true
	watch(t, m)
	w.until(t, "sync one")
	w.mu.Lock()
	w.panes[0].Dead = true
	w.mu.Unlock()
	w.hint <- struct{}{}
	w.until(t, "died one worker 1: how is not known")
}

func TestRun_goesOnAfterAnError(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "build", "worker", 1)
	w.fails["died one worker 1: exit status 2"] = errors.New("the disk is full")
	w.notes[1] = task.Ending{Known: true, Status: 2}
	watch(t, m)
	close(w.ends[1001])
	w.until(t, "died one worker 1: exit status 2")
	w.mu.Lock()
	w.fails, w.did = nil, nil
	w.mu.Unlock()
	w.wrote <- struct{}{}
	w.until(t, "died one worker 1: exit status 2")
	w.until(t, "revive one")
}

func TestLook_looksAfterTheFilesOfATaskThatHasEndedLately(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{
		{ID: "ends", Version: 3, Live: true}, {ID: "is-deleted", Version: 1, Live: true},
		{ID: "ended-lately", Version: 3, UpdatedAt: m.Now().Add(-time.Hour)},
		{ID: "ended-long-ago", Version: 3, UpdatedAt: m.Now().Add(-25 * time.Hour)},
	}
	syncs := func() []string {
		t.Helper()
		w.did = nil
		err := m.Look(t.Context())
		if err != nil && len(w.fails) == 0 {
			t.Error(err)
		}
		return slices.DeleteFunc(w.did, func(one string) bool { return !strings.HasPrefix(one, "sync ") })
	}
	same := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("it did %q, want %q", got, want)
		}
	}
	w.fails = map[string]error{"sync ended-lately": errors.New("the disk is full")}
	same(syncs(), "sync ends", "sync is-deleted", "sync ended-lately")
	w.fails = nil
	same(syncs(), "sync ended-lately")
	same(syncs())
	w.tasks = append(w.tasks, task.Task{ID: "was-made-and-ended", Version: 2, UpdatedAt: m.Now()})
	same(syncs(), "sync was-made-and-ended")
	same(syncs())
	w.tasks[0].Live, w.tasks[0].Version, w.tasks[0].UpdatedAt = false, 4, m.Now()
	w.tasks = slices.Delete(w.tasks, 1, 2)
	w.fails = map[string]error{"sync ends": errors.New("the disk is full")}
	same(syncs(), "sync ends")
	w.fails = nil
	same(syncs(), "sync ends")
	same(syncs())
	w.tasks[0].Version, w.tasks[0].UpdatedAt = 5, m.Now() // what it owed was settled
	same(syncs(), "sync ends")
	same(syncs())
	w.tasks[0].Version, w.tasks[0].UpdatedAt = 6, m.Now().Add(-25*time.Hour)
	same(syncs())
}

func TestOnce_finishesBeforeAndAfterItLooks(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{{ID: "over", Version: 3}}
	must(t, m.Once(t.Context()))
	if want := []string{"finish", "resume", "sync over", "finish"}; !slices.Equal(w.did, want) {
		t.Errorf("it did %q, want %q", w.did, want)
	}
}

func TestOnce_triesAHookThatFailsForGoodTwiceAndNoMore(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{{ID: "over", Version: 3}}
	w.failing = true
	must(t, m.Once(t.Context()))
	if want := []string{"finish", "resume", "sync over", "finish", "sync over"}; !slices.Equal(w.did, want) {
		t.Errorf("it did %q, want %q", w.did, want)
	}
}

// The judgment ends the agent's seat, and the monitor ends the watching when it hears of that: what is still to be
// done is done.
func TestRun_startsTheAgentAgainAlthoughItsSeatHasEndedMeanwhile(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.busy("one", "check", "reviewer", 1)
	w.notes[1] = task.Ending{Known: true, Status: 2}
	w.judging = func() {
		w.mu.Lock()
		w.seats, w.judging = nil, nil
		w.mu.Unlock()
		w.wrote <- struct{}{}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range 50 { // until the monitor has heard of it
			<-tick.C
		}
	}
	watch(t, m)
	close(w.ends[1001])
	w.until(t, "revive one")
}

// What one process compared, and no one has written since, the next one does not compare again.
func TestOnce_comparesAgainOnlyWhatWasWrittenSince(t *testing.T) {
	t.Parallel()
	var stamps map[string]uint64
	for _, pass := range []struct {
		what string
		edit func(tasks []task.Task)
		want []string
		kept int
	}{
		{"the first", func([]task.Task) {}, []string{"sync one", "sync two"}, 1},
		{"nothing happened", func([]task.Task) {}, nil, 0},
		{"a file changed", func(tasks []task.Task) { tasks[1].Summary = "another stamp" }, []string{"sync two"}, 1},
		{"the record changed", func(tasks []task.Task) { tasks[0].Version++ }, []string{"sync one"}, 1},
	} {
		m, w := newMonitor()
		w.tasks = []task.Task{{ID: "one", Version: 3}, {ID: "two", Version: 4}}
		w.stamps = stamps
		pass.edit(w.tasks)
		must(t, m.Once(t.Context()))
		synced := slices.DeleteFunc(w.did, func(what string) bool { return !strings.HasPrefix(what, "sync ") })
		if !slices.Equal(synced, pass.want) || w.kept != pass.kept {
			t.Errorf("%s: it did %q and kept stamps %d times, want %q and %d", pass.what, synced, w.kept, pass.want,
				pass.kept)
		}
		if pass.what == "the first" {
			stamps = w.stamps
		}
	}
}

func TestOnce_forgetsTheStampsOfTasksThatAreGone(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.tasks = []task.Task{{ID: "one", Version: 3}}
	w.stamps = map[string]uint64{"one": w.Stamp(&w.tasks[0]), "deleted": 7}
	must(t, m.Once(t.Context()))
	if _, kept := w.stamps["deleted"]; kept || len(w.stamps) != 1 || w.kept != 1 {
		t.Errorf("it kept %v, %d times", w.stamps, w.kept)
	}
}
