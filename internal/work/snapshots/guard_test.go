package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orange/internal/engine"
	"orange/internal/engine/hook"
	"orange/internal/rules/action"
	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/ship"
)

const epoch1, epoch2 = `{"task": "T1", "epoch": 1}`, `{"task": "T1", "epoch": 2}`

// heldAt is a guard whose home holds task T1 in epoch 1, with what was acknowledged.
func heldAt(t *testing.T, s slots, acknowledged map[string]string) (OutwardGuard, *atomic.Int64) {
	t.Helper()
	up := &atomic.Int64{} // since the start of the machine
	up.Store(int64(time.Hour))
	g := OutwardGuard{Home: t.TempDir(), Slots: s, Clock: func() (fencing.Clock, error) {
		wall := time.Date(2024, 5, 6, 12, 9, 0, 0, time.UTC)
		return fencing.Clock{Boot: "b1", Up: time.Duration(up.Load()), Wall: wall}, nil
	}}
	must(t, Keeper{Home: g.Home}.hold("T1", holding{Epoch: 1, Acknowledged: acknowledged}))
	return g, up
}

func (g OutwardGuard) leased(t *testing.T, l fencing.HomeLease) {
	t.Helper()
	text, err := json.Marshal(l)
	must(t, err)
	must(t, proc.ReplaceFile(leasePath(g.Home), text))
}

// refusal is why an act for a task is held back; empty where it is not.
func (g OutwardGuard) refusal(t *testing.T, id string) string {
	t.Helper()
	within, done, err := g.Outward(t.Context(), task.Task{ID: id, Project: "garden"})
	if err == nil {
		done()
		if within == nil {
			t.Error("there is no context")
		}
		return ""
	}
	if !errors.Is(err, fencing.ErrHeldBack) {
		t.Errorf("%v is no act that is held back", err)
	}
	return err.Error()
}

func wants(t *testing.T, what, got, want string) {
	t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("%s: it says %q, want %q", what, got, want)
	}
}

func TestGuard_goesByTheEpochOfTheNewestSnapshot(t *testing.T) {
	t.Parallel()
	s, at := repository(t), vault(t)
	first := shipped(t, s, at, "", epoch1)
	g, _ := heldAt(t, s, map[string]string{at: first})
	wants(t, "another task", g.refusal(t, "T2"), "")
	wants(t, "its own snapshot", g.refusal(t, "T1"), "")
	own := shipped(t, s, at, first, `{"task": "T1", "epoch": 1, "event": 9}`) // whose acknowledgement was lost
	wants(t, "its own, not acknowledged", g.refusal(t, "T1"), "")
	other := repository(t)
	fetched, err := ship.Snapshots{Repo: other.repo}.FetchSnapshot(t.Context(), at, "T1")
	must(t, err)
	second := shipped(t, other, at, fetched.Record, epoch2)
	if fetched.Record != own || gitIn(t, s.repo.Path, "for-each-ref", "refs/orange/look") != "" {
		t.Errorf("another snapshot is there: %q", fetched.Record)
	}
	wants(t, "another home's", g.refusal(t, "T1"), "task T1 is at another home since epoch 2")
	shipped(t, other, at, second, `{"task": "T2", "epoch": 1}`)
	wants(t, "another task's", g.refusal(t, "T1"), "does not say its epoch")
	gitIn(t, at, "update-ref", "-d", "refs/orange/fleet/T1/record")
	wants(t, "none", g.refusal(t, "T1"), "there is none: the task may have been deleted at another home")
	must(t, os.RemoveAll(at))
	wants(t, "no repository", g.refusal(t, "T1"), "cannot read which home has task T1: cannot look at the snapshot")
	must(t, os.WriteFile(heldPath(g.Home, "T1"), []byte("{"), 0o600))
	wants(t, "a damaged note", g.refusal(t, "T1"), "cannot tell whether task T1 is at another home")
}

func TestGuard_endsActsWithTheLease(t *testing.T) {
	t.Parallel()
	g, up := heldAt(t, repository(t), nil)
	wants(t, "no lease is given here", g.refusal(t, "T1"), "")
	answered := time.Date(2024, 5, 6, 12, 3, 10, 0, time.UTC)
	g.leased(t, fencing.HomeLease{Boot: "b1", Until: time.Hour + time.Minute, Answered: answered})
	wants(t, "a lease", g.refusal(t, "T1"), "")
	up.Add(int64(time.Minute))
	wants(t, "a lease that is over", g.refusal(t, "T1"), "the fleet has not answered since 12:03")
	g.leased(t, fencing.HomeLease{Boot: "b0", Until: 99 * time.Hour, Answered: answered})
	wants(t, "one of another start", g.refusal(t, "T1"), "the fleet has not answered since 12:03")
	must(t, os.WriteFile(leasePath(g.Home), []byte("{"), 0o600))
	wants(t, "a damaged one", g.refusal(t, "T1"), "cannot tell whether")
	wants(t, "a task that is not held", g.refusal(t, "T2"), "")
}

// The context of an act ends with the lease, and goes on with one that was renewed.
func TestGuard_endsTheContextWithTheLease(t *testing.T) {
	t.Parallel()
	g, _ := heldAt(t, repository(t), nil)
	ups := make(chan time.Duration, 9)
	var renewed sync.Once
	g.Clock = func() (fencing.Clock, error) {
		renewed.Do(func() { // the guard has read the first lease
			g.leased(t, fencing.HomeLease{Boot: "b1", Until: time.Minute + time.Millisecond})
		})
		return fencing.Clock{Boot: "b1", Up: <-ups}, nil
	}
	g.leased(t, fencing.HomeLease{Boot: "b1", Until: time.Minute})
	ups <- time.Minute - time.Millisecond
	within, done, err := g.Outward(t.Context(), task.Task{ID: "T1"})
	must(t, err)
	defer done()
	ups <- time.Minute // renewed meanwhile: it goes on
	ups <- time.Hour
	<-within.Done()
	if err := context.Cause(within); !errors.Is(err, fencing.ErrHeldBack) || len(ups) > 0 {
		t.Errorf("it ended with %v", err)
	}
}

// origin is a remote that notes what it gets.
type origin struct {
	hook.Work
	pushed int
	during func(ctx context.Context) error
}

func (o *origin) Push(ctx context.Context, _ task.Task, _ string) (string, bool, error) {
	o.pushed++
	if o.during != nil {
		return "", false, o.during(ctx)
	}
	return "beef", true, nil
}

// The real hook gets no further than the guard where the task is at another home.
func TestPushBranch_isHeldBack(t *testing.T) {
	t.Parallel()
	s, at, to := repository(t), vault(t), &origin{}
	first := shipped(t, s, at, "", epoch1)
	g, up := heldAt(t, s, map[string]string{at: first})
	p := engine.GuardHooks(g, (&hook.Executor{Work: to}).Perform)
	job := record.Job{Task: task.Task{ID: "T1", Branch: "topic", Project: "garden"},
		Hook: task.OwedHook{Hook: task.Hook{Action: action.PushBranch}}}
	effect, err := p(t.Context(), job)
	if err != nil || effect.Said != "pushed topic" {
		t.Fatalf("its own task: %+v, %v", effect, err)
	}
	// The fleet stops to answer while the push is on its way.
	g.leased(t, fencing.HomeLease{Boot: "b1", Until: time.Hour + time.Millisecond})
	to.during = func(ctx context.Context) error {
		up.Add(int64(time.Hour))
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err = p(t.Context(), job); !errors.Is(err, fencing.ErrHeldBack) || to.pushed != 2 {
		t.Errorf("with the lease over: %v", err)
	}
	must(t, os.Remove(filepath.Join(g.Home, "fleet", "lease.json")))
	shipped(t, s, at, first, epoch2)
	if _, err = p(t.Context(), job); !errors.Is(err, fencing.ErrHeldBack) || to.pushed != 2 {
		t.Errorf("it was pushed %d times, %v", to.pushed, err)
	}
}
