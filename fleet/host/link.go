package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"orange/fleet/core"
	"orange/fleet/setup"
	"orange/fleet/wire"
)

// Temporal is a connection to the server of a fleet.
type Temporal struct {
	Client client.Client
	Home   string // $ORANGE_HOME
	Setup  setup.Setup
}

const (
	callsAtOnce = 16
	stopWait    = 10 * time.Second // how long calls may go on that are under way at the end
)

// Close ends the connection.
func (l Temporal) Close() { l.Client.Close() }

// Learn brings the lists of people and hosts up to date, and tells orange of the hosts whose snapshots count.
func (l Temporal) Learn(ctx context.Context) error {
	trust, err := core.Trust(ctx, l.Client, l.Home, l.Setup)
	if err != nil {
		return err
	}
	lists, err := trust.Lists(l.Setup.Namespace)
	if err != nil {
		return err
	}
	return setup.WriteSigners(l.Home, lists.Hosts)
}

// Here says that the host is there, and gets a lease.
func (l Temporal) Here(ctx context.Context, h wire.Here) (wire.Lease, error) {
	var lease wire.Message[wire.Lease]
	err := core.UpdateHost(ctx, l.Client, h.Host, wire.HereUpdate, wire.Of(h), &lease)
	return lease.Body, err
}

// Told says again what the host is.
func (l Temporal) Told(ctx context.Context, h wire.Here) error {
	err := l.Client.SignalWorkflow(ctx, wire.HostID(h.Host), "", wire.ToldSignal, wire.Of(h))
	if err != nil {
		return fmt.Errorf("tell the fleet what the host %q has: %w", h.Host, err)
	}
	return nil
}

// Beat says that the host lives.
func (l Temporal) Beat(ctx context.Context, token []byte) error {
	err := l.Client.RecordActivityHeartbeat(ctx, token)
	var gone *serviceerror.NotFound
	var emptied *serviceerror.NamespaceNotFound // a server that has lost everything: the hold is of its time before
	var invalid *serviceerror.InvalidArgument
	switch {
	case err == nil:
		return nil
	case errors.As(err, &gone), errors.As(err, &emptied), errors.As(err, &invalid),
		temporal.IsCanceledError(err) && ctx.Err() == nil:
		return ErrOver
	}
	return fmt.Errorf("tell the fleet that this host lives: %w", err)
}

// Report shows a report in the list of the fleet.
func (l Temporal) Report(ctx context.Context, r wire.Report) error {
	err := l.Client.SignalWorkflow(ctx, wire.TaskID(r.Task), "", wire.ReportSignal, wire.Of(r))
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}

// Serve takes the calls that are meant for this host.
func (l Temporal) Serve(ctx context.Context, h *Host, leases chan<- Lease) error {
	failed := make(chan error, 2)
	calls := l.worker(wire.HostQueue(h.Name), failed, worker.Options{MaxConcurrentActivityExecutionSize: callsAtOnce,
		MaxHeartbeatThrottleInterval: stillThere})
	for name, call := range map[string]any{wire.TakeActivity: h.Take, wire.AnswerActivity: answerActivity(h),
		wire.LookActivity: h.Look, wire.LeaveActivity: h.Leave, wire.DrainActivity: h.OfHost} {
		calls.RegisterActivityWithOptions(call, activity.RegisterOptions{Name: name})
	}
	holds := l.worker(wire.HoldQueue(h.Name), failed, worker.Options{MaxConcurrentActivityExecutionSize: 1})
	holds.RegisterActivityWithOptions(func(ctx context.Context, number int) error {
		select {
		case leases <- Lease{number, activity.GetInfo(ctx).TaskToken}:
		case <-ctx.Done():
		}
		return activity.ErrResultPending // its beats come by the token
	}, activity.RegisterOptions{Name: wire.HoldActivity})
	return run(ctx, failed, calls, holds)
}

// stillThere is how often a host says that it is at a request.
const stillThere = 2 * time.Second

// answerActivity does what a person asks, and says all the while that it is at it: where the host dies, the person
// learns soon that it is not known what became of the request. What has begun goes on where the server has given up.
func answerActivity(h *Host) func(context.Context, wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	return func(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
		call, off := context.WithDeadline(context.WithoutCancel(ctx), activity.GetInfo(ctx).Deadline)
		defer off()
		over := make(chan struct{})
		defer close(over)
		go func() {
			beats := time.NewTicker(stillThere)
			defer beats.Stop()
			for {
				select {
				case <-over:
					return
				case <-beats.C:
					activity.RecordHeartbeat(ctx)
				}
			}
		}()
		return h.Answer(call, m)
	}
}

// Place waits for tasks of a project with a label.
func (l Temporal) Place(ctx context.Context, h *Host, project, label string) error {
	failed := make(chan error, 1)
	tuner, err := worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier:        fixedSlots(2),
		LocalActivitySlotSupplier:   fixedSlots(1),
		NexusSlotSupplier:           fixedSlots(1),
		SessionActivitySlotSupplier: fixedSlots(1),
		ActivitySlotSupplier:        &slots{host: h, project: project},
	})
	if err != nil {
		return fmt.Errorf("wait for tasks of %q: %w", project, err)
	}
	w := l.worker(wire.PlaceQueue(project, label), failed, worker.Options{Tuner: tuner,
		MaxConcurrentActivityTaskPollers: 1})
	w.RegisterActivityWithOptions(h.Accept, activity.RegisterOptions{Name: wire.AcceptActivity})
	return run(ctx, failed, w)
}

func fixedSlots(slots int) worker.SlotSupplier {
	s, err := worker.NewFixedSizeSlotSupplier(slots)
	if err != nil { // a number above 0 is none
		return nil
	}
	return s
}

func (l Temporal) worker(queue string, failed chan<- error, o worker.Options) worker.Worker {
	o.DisableWorkflowWorker, o.DisableRegistrationAliasing, o.WorkerStopTimeout = true, true, stopWait
	o.OnFatalError = func(err error) {
		select {
		case failed <- fmt.Errorf("take calls of the fleet: %w", err):
		default:
		}
	}
	return worker.New(l.Client, queue, o)
}

// run has workers work until ctx ends or the server refuses one.
func run(ctx context.Context, failed <-chan error, workers ...worker.Worker) error {
	for _, w := range workers {
		if err := w.Start(); err != nil {
			return fmt.Errorf("take calls of the fleet: %w", err)
		}
		defer w.Stop()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-failed:
		return err
	}
}

// slots are the places of a project as the library asks for them: it looks for a task only while there is one.
type slots struct {
	host    *Host
	project string
}

// ReserveSlot waits for a place.
func (s *slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	if err := s.host.awaitPlace(ctx, s.project); err != nil {
		return nil, err
	}
	return &worker.SlotPermit{}, nil
}

// TryReserveSlot takes no task that comes with the answer to another one.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit { return nil }

// MarkSlotUsed does nothing: a place is kept by the answer to an offer.
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot does nothing.
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) {}

// MaxSlots is 0: the number is not fixed.
func (s *slots) MaxSlots() int { return 0 }

// ServerTime is the time by the clock of the fleet's server where a call came from it, and else that of this machine,
// which may be wrong.
func ServerTime(ctx context.Context) time.Time {
	if activity.IsActivity(ctx) {
		return activity.GetInfo(ctx).StartedTime
	}
	return time.Now()
}
