package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"orange/internal/proof/replay"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Settle performs the hooks that a task owes, in order, and settles each. One process at a time does this for a task.
// It notes a hook that fails and leaves it for later; the hooks after it wait if they depend on it.
func (e *hooks) Settle(ctx context.Context, id string) error {
	release, err := e.folder.Lock(ctx, hooksLock(id))
	if err != nil {
		return err
	}
	defer release()
	s, err := e.onRecord(ctx, id)
	var mirrors error // hooks run even if a mirror cannot be written
	for synced := false; err == nil; synced = true {
		hook, found := dueHook(s.Owed, e.now())
		if !found && synced {
			break
		}
		gave := false
		if found {
			if s, gave, err = e.tryHook(ctx, s, hook); err != nil {
				break
			}
		}
		// the next hook finds what a person has written into the header meanwhile
		if s.Snapshot, _, mirrors, err = e.files.refreshWith(ctx, id, headerAlone, true); gave && err == nil {
			e.turns.startNext(ctx, s.Task)
		}
	}
	switch {
	case isDeleted(err):
		return nil // deleted meanwhile, and its hooks with it
	case err == nil && !s.Task.Live && len(s.Owed) == 0:
		e.turns.startThoseAfter(ctx, id)
	}
	return errors.Join(err, mirrors)
}

// hooksLock is the name of the lock for performing a task's hooks.
func hooksLock(id string) string { return id + ".hooks" }

// dueHook is the first owed hook that may be tried now.
func dueHook(owed []task.OwedHook, now time.Time) (task.OwedHook, bool) {
	var failed []task.OwedHook
	for _, h := range owed {
		switch {
		case decide.Waits(failed, h):
		case h.State == task.HookFailed && decide.Later(h.NextTry, now):
			failed = append(failed, h)
		default:
			return h, true
		}
	}
	return task.OwedHook{}, false
}

// tryHook makes one attempt at a hook, and answers the task as it is then. gave says that the attempt failed, and that
// a workspace is free by it.
func (e *hooks) tryHook(ctx context.Context, s step, hook task.OwedHook) (then step, gave bool, err error) {
	id := s.Task.ID
	err = e.record.BeginHook(ctx, hook.ID, e.now())
	if errors.Is(err, task.ErrConflict) { // a later step has dropped it
		then, err = e.onRecord(ctx, id)
		return then, false, err
	}
	if err != nil {
		return s, false, err
	}
	e.log.Info("hook begins", "component", "hook", "task", id, "hook", hook.ID, "action", hook.Action,
		"attempt", hook.Attempts+1)
	s = s.withAttempt(hook.ID)
	s, failed := e.roomAgain(ctx, s, hook)
	var job record.Job
	var seat *record.Seat
	if failed == nil {
		s, job, seat, failed = e.job(ctx, s, hook)
	}
	if errors.Is(failed, errOvertaken) {
		then, err = e.onRecord(ctx, id)
		return then, false, err
	}
	var effect record.Effect
	if failed == nil {
		performing, end := e.whileOwed(ctx, hook)
		effect, failed = e.perform(performing, job)
		end()
	}
	e.log.Info("hook ends", "component", "hook", "task", id, "hook", hook.ID, "action", hook.Action, "said",
		effect.Said, "error", errorText(failed))
	then, err = e.settle(ctx, s, hook, effect, seat, failed)
	return then, failed != nil && effect.Lease == record.LeaseFree, err
}

// dropPoll is how often a hook that is performed is looked at: whether a later step has dropped it.
const dropPoll = 250 * time.Millisecond

// whileOwed is ctx until a later step has dropped the hook, or end is called: a program that runs for the hook ends
// then, and the next in turn for the task goes on.
func (e *hooks) whileOwed(ctx context.Context, hook task.OwedHook) (_ context.Context, end func()) {
	ctx, end = context.WithCancel(ctx)
	var look func()
	look = func() {
		if ctx.Err() != nil {
			return
		}
		all, err := e.record.Hooks(ctx, hook.Task, hook.Event)
		now := slices.IndexFunc(all, func(h task.OwedHook) bool { return h.ID == hook.ID })
		if err == nil && (now < 0 || all[now].State == task.HookSuperseded) {
			end()
			return
		}
		time.AfterFunc(dropPoll, look) // what cannot be read is asked again
	}
	time.AfterFunc(dropPoll, look)
	return ctx, end
}

// roomAgain is the task with a workspace for another try to make one ready: the try before gave its own back.
func (e *hooks) roomAgain(ctx context.Context, s step, hook task.OwedHook) (step, error) {
	if hook.Action != action.AcquireWorkspace || s.Task.Workspace != "" {
		return s, nil
	}
	then, _, err := e.do(ctx, s.Task.ID, e.startingFrom(s), func(s step) (*ruling, error) {
		if s.Task.Workspace != "" || !isOwed(s.Owed, hook.ID) {
			return nil, nil
		}
		return &ruling{change: record.Change{Task: s.Task, Expect: s.Task.Version, Lease: record.LeaseReserve}}, nil
	})
	if errors.Is(err, task.ErrPoolFull) {
		err = e.waitAgain(ctx, s.Task.ID, hook.ID)
	}
	if err != nil {
		return s, err
	}
	return then, nil
}

// waitAgain has a task wait in line in its own status, where other tasks have all workspaces by now: its turn makes one
// ready and starts the agent of the status. A task that has ended, or owes a command in its workspace, which no turn
// runs, does not wait in line: its hook is tried again. The error says what became of this attempt.
func (e *hooks) waitAgain(ctx context.Context, id string, hook int64) error {
	tryAgain := false
	s, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		if s.Task.Workspace != "" || !isOwed(s.Owed, hook) {
			return nil, nil
		}
		if tryAgain = !s.Task.Live || slices.ContainsFunc(s.Owed, runsCommand); tryAgain {
			return nil, nil
		}
		r := queueRuling(s, s.Task.Status, task.Actor{Rule: true}, e.now())
		r.overtaken = "it waits in line for a workspace"
		return r, nil
	})
	switch {
	case err != nil:
		return err
	case tryAgain:
		return e.rooms.noRoom(ctx, s.Task)
	}
	return errOvertaken
}

func runsCommand(h task.OwedHook) bool { return h.Action == action.RunCommand }

// errOvertaken reports that a later step has dropped a hook which was about to be performed.
var errOvertaken = errors.New("a later step has dropped the hook")

func isOwed(owed []task.OwedHook, id int64) bool {
	return slices.ContainsFunc(owed, func(h task.OwedHook) bool { return h.ID == id })
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// event reads one event of a task's history.
func (e *hooks) event(ctx context.Context, id string, seq int) (history.Event, error) {
	events, err := e.record.Events(ctx, id, seq-1)
	if err != nil {
		return history.Event{}, err
	}
	if len(events) == 0 {
		return history.Event{}, task.Notef(task.ErrNotFound, "cannot find event %d of task %s", seq, id)
	}
	return events[0], nil
}

// settle commits the end of one attempt together with its effect. A hook that a later step has dropped meanwhile is
// settled already: settle records its effect all the same.
func (e *hooks) settle(ctx context.Context, s step, hook task.OwedHook, effect record.Effect, issued *record.Seat,
	failure error) (step, error) {
	start, err := e.startOf(ctx, effect, issued)
	if err != nil {
		return s, err
	}
	frees := failure == nil && effect.Lease == record.LeaseFree
	if frees {
		e.outcomes.dropEnvironment(ctx, hook.Task) // now, so that it is done again if this program is ended
	}
	then, _, err := e.do(ctx, hook.Task, e.startingFrom(s), func(s step) (*ruling, error) {
		c, owed := decide.HookEnded(s.Snapshot, hook, effect, failure, e.now())
		if owed && failure == nil {
			if err := e.forgetCrashes(ctx, s.Snapshot, hook, &c); err != nil {
				return nil, err
			}
		}
		if failure != nil {
			effect = record.Effect{} // the hook started no agent that needs a seat
		}
		seat(&c, issued, effect.Seat)
		c.Hurried = slices.ContainsFunc(s.Owed, func(other task.OwedHook) bool {
			return other.ID != hook.ID && other.Event == hook.Event // the last one waits for the disk for all of them
		})
		if failure == nil && owed { // else the present status has no new subject
			if err := e.addSubject(ctx, &c, s.Snapshot, hook, effect, start); err != nil {
				return nil, err
			}
		}
		return &ruling{change: c}, nil
	})
	if frees && err == nil {
		e.outcomes.dropEnvironment(ctx, hook.Task) // and what a person who saw the workspace has kept meanwhile
	}
	return then, err
}

// seat records in the change which seat the agent has that the hook started. The one that was issued for this attempt
// is lost if the hook started no agent, or found the agent of an earlier attempt, who has the seat of that attempt.
func seat(c *record.Change, issued, taken *record.Seat) {
	if issued == nil {
		return
	}
	if taken != nil {
		c.TakenSeat = &record.Seat{Hash: taken.Hash, Role: issued.Role, Hook: issued.Hook, PID: taken.PID,
			Began: taken.Began}
		if taken.Hash == "" {
			c.TakenSeat.Hash = issued.Hash
		}
	}
	if c.TakenSeat == nil || c.TakenSeat.Hash != issued.Hash {
		c.LostSeat = issued.Hash
	}
}

// forgetCrashes adds to the change of a performed hook what follows for the count of crashes. It reads the task's
// history only if something may follow.
func (e *hooks) forgetCrashes(ctx context.Context, s record.Snapshot, hook task.OwedHook, c *record.Change) error {
	others, may := decide.MayForgetCrashes(s, hook.ID)
	if !may {
		return nil
	}
	events, err := e.record.Events(ctx, s.Task.ID, 0)
	if err != nil {
		return err
	}
	forgotten, due := decide.ForgetCrashes(s.Task, others, events, c.Task.UpdatedAt)
	if !due {
		return nil
	}
	forgotten, err = ruling{change: forgotten, in: replay.Inputs{Ask: replay.AskSettled}}.withInputs(step{Snapshot: s})
	c.Task.Counters = forgotten.Task.Counters
	c.Events = append(c.Events, forgotten.Events...)
	return err
}

// Retry makes every failed hook of a task due now and has them performed.
func (e *hooks) Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return e.retriedOnce(ctx, id, actor, func() (record.Outcome, error) { return e.retry(ctx, id, actor, true) })
}

// retriedOnce is once for hooks that are tried again or dropped. The answer to a repeat names none of them: the monitor
// performs what is still due.
func (e *hooks) retriedOnce(ctx context.Context, id string, actor task.Actor,
	do func() (record.Outcome, error)) (record.Outcome, error) {
	out, err := e.outcomes.once(ctx, id, actor, do)
	if err == nil && out.Event.Type == history.HooksRetried {
		out.Moved = false
	}
	return out, err
}

// retry is Retry for who holds the key. Where a retry is not what they asked for, the task gets their environment only
// if something had failed: what is on its way anyway is of the one who began it.
func (e *hooks) retry(ctx context.Context, id string, actor task.Actor, asked bool) (record.Outcome, error) {
	// A person may have corrected what failed in the document's header: Orange takes it over first.
	if _, _, err := e.files.refresh(ctx, id); err != nil {
		return record.Outcome{}, err
	}
	t, again, noted, err := e.dueAgain(ctx, id, actor)
	if err != nil || len(again) == 0 {
		return record.Outcome{Task: t}, err
	}
	if (asked || noted) && (t.Workspace != "" || owesRoom(again)) {
		e.outcomes.keepEnvironment(ctx, id, actor)
	}
	if _, err := e.outcomes.awaitHooks(ctx, ctx.Done(), id, again[len(again)-1].Event, actor); err != nil {
		return record.Outcome{}, err
	}
	out := record.Outcome{}
	for _, h := range again {
		hooks, err := e.record.Hooks(ctx, id, h.Event)
		if err != nil {
			return out, err
		}
		for _, now := range hooks {
			if now.ID == h.ID {
				out.Hooks = append(out.Hooks, now)
			}
		}
	}
	s, err := e.record.Load(ctx, id)
	out.Task = s.Task
	return out, err
}

// Drop drops the failed hooks of a task that nothing waits for. A refusal is a *rejection.Rejection.
func (e *hooks) Drop(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return e.retriedOnce(ctx, id, actor, func() (record.Outcome, error) { return e.drop(ctx, id, actor) })
}

func (e *hooks) drop(ctx context.Context, id string, actor task.Actor) (out record.Outcome, err error) {
	then, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		c, err := decide.Retry(s.def, s.Snapshot, true, actor, e.now())
		if err != nil {
			return nil, err
		}
		out.Hooks = nil
		for _, h := range s.Owed {
			for _, dropped := range c.Settled {
				if dropped.ID == h.ID {
					h.State, h.Error = dropped.State, ""
					out.Hooks = append(out.Hooks, h)
				}
			}
		}
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRetry}.By(actor)}, nil
	})
	out.Task = then.Task
	return out, err
}

// Resume has the owed hooks of every task performed that a process left undone when it died, and those that are due
// again. It starts runners and does not wait for them. It leaves a task alone while a process performs its hooks.
func (e *hooks) Resume(ctx context.Context) error {
	debtors, err := e.record.PendingTasks(ctx, e.now())
	if err != nil {
		return err
	}
	var all error // a task that fails must not stop the others
	for _, id := range debtors {
		if err := e.resume(ctx, id); err != nil {
			all = errors.Join(all, fmt.Errorf("resume task %s: %w", id, err))
		}
	}
	return all
}

func (e *hooks) resume(ctx context.Context, id string) error {
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, found := dueHook(s.Owed, e.now()); !found {
		return nil // all hooks wait for one whose retry is not due yet
	}
	release, idle, err := e.folder.TryLock(hooksLock(id))
	if err != nil || !idle {
		return err
	}
	release()
	return e.runHooks(ctx, id, false)
}

// Finish performs every owed hook here and now, also those that failed and whose retry is not due yet.
// It serves several tasks at once, and returns every error.
func (e *hooks) Finish(ctx context.Context) error {
	debtors, err := e.record.PendingTasks(ctx, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)) // due or not
	if err != nil {
		return err
	}
	const atOnce = 4
	errs := make([]error, len(debtors))
	var crew errgroup.Group
	crew.SetLimit(atOnce)
	for i, id := range debtors {
		crew.Go(func() error {
			_, _, _, err := e.dueAgain(ctx, id, task.Actor{})
			if errors.Is(err, task.ErrNotFound) { // it was deleted meanwhile, and its hooks with it
				return nil
			}
			if err == nil {
				if err = e.Settle(ctx, id); err != nil {
					err = fmt.Errorf("finish task %s: %w", id, err)
				}
			}
			errs[i] = err
			return nil
		})
	}
	_ = crew.Wait() // no task fails the others
	return errors.Join(errs...)
}

// dueAgain makes every failed hook of a task due now, and records that a person wants it; noted is false where none has
// failed. It returns all that the task owes.
func (e *hooks) dueAgain(ctx context.Context, id string, actor task.Actor) (t task.Task, owed []task.OwedHook,
	noted bool, err error) {
	look := e.onRecord
	if actor.Role == task.RoleHuman {
		look = e.withRules
	}
	s, noted, err := e.do(ctx, id, look, func(s step) (*ruling, error) {
		owed = s.Owed
		var again []record.Settled
		for _, h := range s.Owed {
			if h.State == task.HookFailed {
				again = append(again, record.Settled{ID: h.ID, State: task.HookPending, Error: h.Error})
			}
		}
		if len(again) == 0 {
			return nil, nil
		}
		if actor.Role != task.RoleHuman {
			return &ruling{change: record.Change{Task: s.Task, Expect: s.Task.Version, Settled: again}}, nil
		}
		c, err := decide.Retry(s.def, s.Snapshot, false, actor, e.now())
		c.Settled = again
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRetry}.By(actor)}, err
	})
	return s.Task, owed, noted, err
}
