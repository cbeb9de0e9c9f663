package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"orange/fleet/custody"
	"orange/fleet/wire"
	"orange/internal/rules/history"
)

// work is what the host still has to report and to ship.
type work struct {
	lock  sync.Mutex
	tasks map[string]*duty
	wake  chan struct{}
	again context.CancelFunc // ends the present lease, so that the host learns what is not its own any more
	asked time.Time          // when it did so last
	wants bool               // it is to do so with its next lease
}

// duty is what is due for one task.
type duty struct {
	changed bool      // there is something to report
	event   int       // the last event that it is about
	more    bool      // it is about more than events
	next    time.Time // not before
	again   time.Time // when a report is repeated that went with an answer; zero where there was none
	ship    time.Time // when a snapshot is due; zero for one that never was shipped
	alone   bool      // its snapshot goes alone
}

// notes that there is something to report: what happened, or anything else where that is nil.
func (one *duty) notes(e *history.Event) {
	one.changed = true
	if e == nil {
		one.more = true
		return
	}
	one.event = max(one.event, e.Seq)
}

func (w *work) begin() {
	w.tasks, w.wake = map[string]*duty{}, make(chan struct{}, 1)
}

func (w *work) of(id string) *duty {
	if w.tasks[id] == nil {
		w.tasks[id] = &duty{}
	}
	return w.tasks[id]
}

func (w *work) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// whenMoved says how to end the present lease.
func (w *work) whenMoved(again context.CancelFunc) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.again = again
	if w.wants {
		w.wants = false
		again()
	}
}

// moved has the host ask again what is its own, because another host seems to have a task.
func (w *work) moved() {
	w.lock.Lock()
	defer w.lock.Unlock()
	if time.Since(w.asked) < custody.LostAfter {
		return
	}
	w.asked = time.Now()
	if w.again == nil { // it may have arrived already
		w.wants = true
		return
	}
	w.again()
}

// important reports whether a person wants to see at once in the list what happened.
func important(e *history.Event) bool {
	return e == nil || e.IsMove() || slices.Contains([]string{history.Created, history.AgentCrashed,
		history.AgentStalled, history.AgentLimited, history.HookFailure, history.MergeFailed, history.Merged,
		history.PRLanded, history.WaitBroken, history.SendBackRefused, history.Rebuilt}, e.Type)
}

// noticed takes up what happened to a task.
func (d *Daemon) noticed(h Happening) {
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	one := d.of(h.Task)
	waits := one.changed
	one.notes(h.Event)
	if !important(h.Event) {
		return
	}
	if due := time.Now().Add(d.Pace.Gather); !waits || one.next.After(due) {
		one.next = due
	}
	if due := time.Now().Add(d.Pace.Settle); one.ship.After(due) {
		one.ship = due
	}
	time.AfterFunc(d.Pace.Gather, d.awake)
}

// all has every task reported that is not over for the fleet.
func (d *Daemon) all() {
	holder, err := d.Host.Store.Read()
	if err != nil {
		d.trouble("store", err.Error())
		return
	}
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	for _, t := range holder.Tasks {
		if t.Has {
			one := d.of(t.Task)
			one.notes(nil)
			one.next = time.Time{}
		}
	}
	d.awake()
}

// follow takes up what happens to the tasks of the home, as long as ctx lasts.
func (d *Daemon) follow(ctx context.Context) {
	const begins = 3 * time.Second // a follower is there by then: what happened before is reported once more
	since := "now"
	for wait := d.Pace.Again; ctx.Err() == nil; wait = min(2*wait, mostAgain) {
		late := time.AfterFunc(begins, d.all)
		heard := false
		err := d.Follow(ctx, since, func(h Happening) {
			since, heard, wait = strconv.FormatInt(h.Cursor, 10), true, d.Pace.Again
			d.trouble("record", "")
			d.noticed(h)
		})
		late.Stop()
		if ctx.Err() != nil {
			return
		}
		if !heard { // the cursor may be of a record that is there no more
			since = "now"
		}
		text := "the watch of the record ended"
		if err != nil {
			text = "cannot watch the record: " + err.Error()
		}
		d.trouble("record", text)
		sleep(ctx, wait)
	}
}

// due are the tasks of the host for which something is due.
func (d *Daemon) due(is func(*duty, time.Time) bool) []custody.Tenure {
	holder, err := d.Host.Store.Read()
	if err != nil {
		d.trouble("store", err.Error())
		return nil
	}
	d.trouble("store", "")
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(holder.Tasks), func(t custody.Tenure) bool {
		return !t.Has || !is(d.of(t.Task), now)
	})
}

// report shows in the list of the fleet what happens to the host's tasks.
func (d *Daemon) report(ctx context.Context, link watchedLink) error {
	for {
		for _, t := range d.due(func(one *duty, now time.Time) bool { return one.changed && !now.Before(one.next) }) {
			d.reportOne(ctx, link, t)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.wake:
		case <-time.After(d.Pace.Look):
		}
	}
}

func (d *Daemon) reportOne(ctx context.Context, link watchedLink, t custody.Tenure) {
	if d.wentWithAnswer(t.Task) {
		return
	}
	row, err := d.Host.Report(ctx, link, t)
	d.shipsLater(t.Task, row)
	switch {
	case ctx.Err() != nil || err != nil && !errors.Is(err, ErrUnknown):
		d.work.lock.Lock()
		d.of(t.Task).notes(nil) // it is tried again
		d.work.lock.Unlock()
		if ctx.Err() == nil {
			d.trouble("report "+t.Task, "cannot report task "+t.Task+": "+err.Error())
		}
	case err != nil && !row.Over:
		d.trouble("report "+t.Task, "the fleet does not have task "+t.Task+", which is here: \"orange fleet doctor\" "+
			"says more")
	default:
		d.trouble("report "+t.Task, "")
	}
}

// shipsLater has a snapshot taken of a task of which there is more than in its last one. Of a task that is over none is
// due otherwise, and its last hooks end after its last move.
func (d *Daemon) shipsLater(id string, row wire.Row) {
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	one, due := d.of(id), time.Now().Add(d.Pace.Snapshot)
	if row.Head.Event > row.Shipped && one.ship.After(due) {
		one.ship = due
	}
}

// wentWithAnswer takes up what is to be reported of a task. It reports whether an answer to a request has told all of
// it already. An answer can be lost on its way: soon it is reported all the same.
func (d *Daemon) wentWithAnswer(id string) bool {
	row, err := d.Host.Store.Row(id)
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	one, now := d.of(id), time.Now()
	if err == nil && !one.more && one.event <= row.Head.Event {
		if one.again.IsZero() {
			one.again = now.Add(d.Pace.Report)
		}
		if one.next = one.again; now.Before(one.next) {
			return true
		}
	}
	one.changed, one.more, one.event, one.again = false, false, 0, time.Time{}
	one.next = now.Add(d.Pace.Report)
	return false
}

// ship takes snapshots of the host's tasks: soon after a move, and else where files changed.
func (d *Daemon) ship(ctx context.Context) {
	for sleep(ctx, d.Pace.Look) {
		for _, some := range d.toShip() {
			if ctx.Err() == nil {
				d.shipSome(ctx, some)
			}
		}
	}
}

const (
	never         = 1000 * time.Hour
	shippedAtOnce = 16 // tasks: no one else takes a snapshot of one of them meanwhile, or lets it go
)

// toShip are the tasks of which a snapshot is due, by the pushes that they go with. Those of which one is due soon are
// among them, so that the repository gets one push and not one for each task. A task that was refused while others were
// not goes alone: the others would be pushed twice because of it.
func (d *Daemon) toShip() [][]string {
	anyDue := false
	due := d.due(func(one *duty, now time.Time) bool {
		anyDue = anyDue || !now.Before(one.ship)
		return !now.Add(d.Pace.Settle).Before(one.ship)
	})
	if !anyDue {
		return nil
	}
	var pushes [][]string
	var together []string
	for _, t := range due {
		switch more, alone := d.reschedule(t.Task); {
		case !more:
		case alone:
			pushes = append(pushes, []string{t.Task})
		default:
			together = append(together, t.Task)
		}
	}
	return slices.AppendSeq(pushes, slices.Chunk(together, shippedAtOnce))
}

// reschedule says when the next snapshot of a task is due. It reports whether there may be more in this one than in the
// last, and whether the task goes alone.
func (d *Daemon) reschedule(id string) (more, alone bool) {
	row, err := d.Host.Store.Row(id)
	over := err == nil && row.Over && row.Shipped >= row.Head.Event // nothing happens any more
	d.work.lock.Lock()
	defer d.work.lock.Unlock()
	one, wait := d.of(id), d.Pace.Snapshot
	if over {
		wait = never
	}
	one.ship = time.Now().Add(wait)
	return !over, one.alone
}

func (d *Daemon) shipSome(ctx context.Context, ids []string) {
	all, err := d.Host.Ship(ctx, ids...)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		d.trouble("snapshots", "cannot take snapshots: "+err.Error())
		return
	}
	d.trouble("snapshots", "")
	some := slices.ContainsFunc(all, func(one SnapshotAnswer) bool { return one.Code == "" })
	for _, said := range all {
		d.noteSnapshot(said, some)
	}
}

// noteSnapshot takes up what became of the snapshot of a task; some reports whether one of those with it was taken.
func (d *Daemon) noteSnapshot(said SnapshotAnswer, some bool) {
	id := said.Task
	d.work.lock.Lock()
	one := d.of(id)
	if said.Code == "" || some {
		one.alone = said.Code != ""
	}
	if said.Code == "" && !said.Unchanged {
		one.notes(nil) // the list shows how old the snapshot is
	}
	d.work.lock.Unlock()
	switch said.Code {
	case "":
		d.trouble("snapshot "+id, "")
	case codeMoved:
		d.trouble("snapshot "+id, "cannot take a snapshot of task "+id+": another host has pushed one; the fleet is "+
			"asked whose task it is")
		d.moved()
	default:
		d.trouble("snapshot "+id, "cannot take a snapshot of task "+id+": "+said.Error)
	}
}

// SnapshotAnswer is what became of the snapshot of a task.
type SnapshotAnswer struct {
	Task      string   `json:"task"`
	Event     int      `json:"event"` // the newest one in it
	Left      []string `json:"left_out"`
	Unchanged bool     `json:"unchanged"` // there was nothing new since the last one
	Error     string   `json:"error"`
	Code      string   `json:"code"` // of the error; empty where there is none
}

// codeMoved is that of the error that another host has pushed a snapshot of the task.
const codeMoved = "snapshot_moved"

// Ship takes a snapshot of each task, if there is something new since its last one, and answers for each of them. An
// error is one of all.
func (h *Host) Ship(ctx context.Context, ids ...string) ([]SnapshotAnswer, error) {
	words := []string{"--json", "--if-changed", "--to=" + h.Snapshots}
	if h.Biggest > 0 {
		words = append(words, "--biggest="+strconv.FormatInt(h.Biggest, 10))
	}
	said, err := h.Program.Do(ctx, call("snapshot", "", "", append(append(words, "--"), ids...)...))
	if err != nil {
		return nil, err
	}
	var answer struct {
		SnapshotAnswer                  // of one task
		Snapshots      []SnapshotAnswer // of several
	}
	if err := json.Unmarshal([]byte(said.Stdout), &answer); err != nil {
		return nil, errors.Join(errors.New(said.Failure()), err)
	}
	all := answer.Snapshots
	if len(ids) == 1 {
		answer.Task = ids[0]
		all = []SnapshotAnswer{answer.SnapshotAnswer}
	}
	if len(all) != len(ids) {
		return nil, fmt.Errorf("orange answers for %d of %d tasks: %s", len(all), len(ids), said.Failure())
	}
	for i, one := range all {
		row, err := h.Store.Row(one.Task)
		if one.Code != "" || one.Unchanged && err == nil && row.Shipped == one.Event {
			continue
		}
		if err := h.Store.Shipped(one.Task, one.Event); err != nil {
			all[i].Error, all[i].Code = err.Error(), "failed"
		}
	}
	return all, nil
}
