package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orange/fleet/custody"
	"orange/fleet/wire"
	"orange/internal/answer"
)

// Leave lets go of a task. The host forgets its right to it first, and what it has of it after. The fleet may ask for
// the same task twice at once, by a call and with a lease: the second one waits for the first.
func (h *Host) Leave(ctx context.Context, m wire.Message[wire.Leave]) (wire.Message[wire.Left], error) {
	gone, none := m.Body.Gone, wire.Message[wire.Left]{}
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
	answer := wire.Left{Host: h.Name}
	if t := holder.Of(gone.Task); t.Epoch == gone.Epoch {
		answer.Ref = t.Ref
	}
	return wire.Of(answer), nil
}

// turn waits until no other call lets go of the task.
func (h *Host) turn(ctx context.Context, id string) (over func(), err error) {
	kept, _ := h.leaving.LoadOrStore(id, make(chan struct{}, 1))
	one, _ := kept.(chan struct{})
	select {
	case one <- struct{}{}:
		return func() { <-one }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait until task %s has left: %w", id, ctx.Err())
	}
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
		_ = json.Unmarshal([]byte(said.Stdout), &left) // an earlier orange says nothing of it
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
func (h *Host) stays(id string, said answer.Reply) error {
	var failed struct{ Code, Error string }
	if json.Unmarshal([]byte(said.Stdout), &failed) != nil || failed.Code != "not_pushed" {
		return errors.New(said.Failure())
	}
	if before, said := h.unpushed.Swap(id, failed.Error); !said || before != failed.Error {
		h.say("%s", failed.Error)
	}
	return fmt.Errorf("%w: %s", ErrStays, failed.Error)
}

// tooLate is the error of letting go of a task that was taken away while the host took it; nil also where its work
// stays, to be pushed later.
func (h *Host) tooLate(ctx context.Context, take wire.Take) error {
	over, err := h.turn(ctx, take.Task)
	if err != nil {
		return err
	}
	defer over()
	if err = h.letGo(ctx, wire.Gone{Task: take.Task, Epoch: take.Epoch}); errors.Is(err, ErrStays) {
		return nil
	}
	return err
}

const notFound = 4 // the status of orange where there is no such task: it has left before
