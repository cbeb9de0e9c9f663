package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
	"orange/internal/api/remote"
)

// Leave lets go of a task. The host forgets its right to it first, and what it has of it after. The fleet may ask for
// the same task twice at once, by a call and with a lease, and while the host takes it: one waits for the other.
func (h *Host) Leave(ctx context.Context, m wire.Message[wire.Leave]) (wire.Message[wire.LeaveAnswer], error) {
	gone, none := m.Body.Gone, wire.Message[wire.LeaveAnswer]{}
	if err := h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		return now.Lost(gone.Task, gone.Epoch), nil
	}); err != nil {
		return none, err
	}
	over, err := h.turn(ctx, gone.Task)
	if err != nil {
		return none, err
	}
	defer over()
	holder, err := h.Store.Read()
	if t := holder.Of(gone.Task); err == nil && !t.Has && !t.Left { // else it has a later epoch, or has left before
		if err = h.letGo(ctx, gone); err == nil {
			holder, err = h.Store.Read()
		}
	}
	if err != nil {
		return none, err
	}
	answer := wire.LeaveAnswer{Host: h.Name}
	if t := holder.Of(gone.Task); t.Epoch == gone.Epoch {
		answer.Ref = t.Ref
	}
	return wire.Of(answer), nil
}

// leaveEarlier lets go of what the host has of a task under an earlier epoch, before it brings the task back: another
// host may have gone on since, and what is here is not what it did.
func (h *Host) leaveEarlier(ctx context.Context, take wire.Take, t custody.Tenure) error {
	if take.From == "" || t.Epoch == 0 || t.Epoch == take.Epoch || t.Left {
		return nil
	}
	if err := h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		return now.Lost(t.Task, t.Epoch), nil
	}); err != nil {
		return err
	}
	return h.letGo(ctx, wire.Gone{Task: t.Task, Epoch: t.Epoch})
}

// leaveWait is how long a host waits for its work to be pushed before it takes a lease: without one it counts as lost,
// with all its other tasks.
const leaveWait = 15 * time.Second // twice at most in an arrival

// leaveAll lets go of tasks. It waits for none that another call has in hand, and of the others not for longer than
// leaveWait: they go on to leave, until ctx ends.
func (h *Host) leaveAll(ctx context.Context, all []wire.Gone) error {
	ended := make(chan error, 1)
	h.leaves.Go(func() { ended <- h.leaveEach(ctx, all) })
	select {
	case err := <-ended:
		return err
	case <-time.After(leaveWait):
		h.say("takes its lease while what was taken away is still pushed")
		h.leaves.Go(func() {
			if err := <-ended; err != nil && ctx.Err() == nil {
				h.say("cannot let go of all that was taken away; the next lease tries it again: %v", err)
			}
		})
		return nil
	}
}

func (h *Host) leaveEach(ctx context.Context, all []wire.Gone) error {
	for _, gone := range all {
		if h.inHand(gone.Task) {
			continue
		}
		_, err := h.Leave(ctx, wire.Of(wire.Leave{Gone: gone}))
		if err != nil && !errors.Is(err, ErrStays) {
			return err
		}
	}
	return nil
}

// turn waits until no other call takes the task, or lets go of it.
func (h *Host) turn(ctx context.Context, id string) (over func(), err error) {
	kept, _ := h.turns.LoadOrStore(id, make(chan struct{}, 1))
	one, _ := kept.(chan struct{})
	select {
	case one <- struct{}{}:
		return func() { <-one }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another call for task %s: %w", id, ctx.Err())
	}
}

// inHand reports whether a call takes the task, or lets go of it.
func (h *Host) inHand(id string) bool {
	kept, _ := h.turns.Load(id)
	one, _ := kept.(chan struct{})
	return len(one) > 0
}

// ErrStays says that the host has let go of a task and still has its work, which could not be pushed: its agents are
// ended, and the same call tries it again.
var ErrStays = errors.New("the work of the task could not be pushed")

// letGo ends what the host does for a task that was taken away, and pushes and keeps its work.
func (h *Host) letGo(ctx context.Context, gone wire.Gone) error {
	words := []string{"--json", "--yes",
		fmt.Sprintf("--reason=the fleet took it away from this host, which had it in epoch %d", gone.Epoch)}
	if h.Snapshots != "" {
		words = append(words, "--push-to="+h.Snapshots)
	}
	said, err := h.Program.Do(ctx, call("leave", "", "", append(words, "--", gone.Task)...))
	if err != nil {
		return err
	}
	if !done(said) && said.Exit != notFound {
		return h.stays(gone.Task, said)
	}
	if err := h.Store.DropBirth(gone.Task); err != nil {
		return err
	}
	var left struct{ Pushed string }
	if h.unpushed.Delete(gone.Task); done(said) {
		_ = json.Unmarshal([]byte(said.Stdout), &left) // what cannot be read names no place
		where := ""
		if left.Pushed != "" {
			where = "; what it had of it is at " + left.Pushed
		}
		h.say("has let go of task %s, which is not this host's any more%s", gone.Task, where)
	}
	return h.Store.Change(func(now custody.Holder) (custody.Holder, error) {
		return now.LetGo(gone.Task, gone.Epoch, left.Pushed), nil
	})
}

// stays is the error of a task that has not left, which the host says once.
func (h *Host) stays(id string, said remote.Reply) error {
	var failed struct{ Code, Error string }
	if json.Unmarshal([]byte(said.Stdout), &failed) != nil || failed.Code != "not_pushed" {
		return errors.New(said.Failure())
	}
	if before, said := h.unpushed.Swap(id, failed.Error); !said || before != failed.Error {
		h.say("%s", failed.Error)
	}
	return fmt.Errorf("%w: %s", ErrStays, failed.Error)
}

const notFound = 4 // the status of orange where there is no such task: it has left before
