package simulate

import (
	"context"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// Book is a record with nothing in it but what is simulated.
type Book interface {
	Record
	Index
	Seats
	Close() error
}

// Record is what is kept of one task.
type Record interface {
	Load(ctx context.Context, id string) (record.Snapshot, error)
	Commit(ctx context.Context, c record.Change) (task.Task, error)
	Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error)
	BeginHook(ctx context.Context, hook int64, now time.Time) error
	Delete(ctx context.Context, id string) error
}

// Index finds tasks and tells their past.
type Index interface {
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	Debtors(ctx context.Context, now time.Time) ([]string, error)
	Events(ctx context.Context, id string, after int) ([]history.Event, error)
	Lines(ctx context.Context, id string) ([]string, error)
	WasRendered(ctx context.Context, id, field, value string) (bool, error)
}

// Seats tell who is who.
type Seats interface {
	Seat(ctx context.Context, hash string) (record.Seat, error)
	SeatOf(ctx context.Context, pid int, began string) (record.Seat, error)
	OpenSeats(ctx context.Context, id string) ([]record.Seat, error)
}

// Moves is the engine for whoever wants something of a task.
type Moves interface {
	Create(ctx context.Context, n task.New) (record.Outcome, error)
	Actor(ctx context.Context, id string, caller task.Caller) (task.Actor, error)
	Request(ctx context.Context, req task.Request) (record.Outcome, error)
	Merge(ctx context.Context, id string, m task.Merge, actor task.Actor) (record.Outcome, string, error)
	Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	Respawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error), actor task.Actor) (
		record.Outcome, error)
}

// Care is the engine for whoever sees to it that tasks go on.
type Care interface {
	Died(ctx context.Context, death task.Death) (record.Outcome, error)
	Settle(ctx context.Context, id string) error
	PRSeen(ctx context.Context, id string, pr record.PullRequest) (told string, err error)
}

// Watch is the monitor: one look sees to everything that is due.
type Watch interface {
	Look(ctx context.Context) error
}

// House is the engine with its monitor, as they were joined to a world.
type House struct {
	Moves Moves
	Care  Care
	Watch Watch
}
