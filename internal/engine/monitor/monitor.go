// Package monitor watches over the agents: it looks how they are, hands every death to the engine,
// and sees to what is owed, queued, orphaned or lagging.
//
// It owns when to look and what was seen. It does not own what follows from it: the engine has the exit rules
// judged and commits, so a monitor that looks twice, or two that look at once, change nothing twice. "Could not
// look" is an observation of its own here: it is reported, and nothing is concluded from it.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

// Agents are the agents of tasks: the windows that they run in, their processes, and what they leave in files.
type Agents interface {
	// Panes lists every window with one call. No server at all is an empty list; any trouble is an error.
	Panes(ctx context.Context) ([]tmux.Pane, error)
	KillWindow(ctx context.Context, id string) error
	// Orphaned reports whether a living agent has lost the terminal that it was started in.
	Orphaned(p task.Process) (bool, error)

	// Watch returns nil when the process has ended, and errors.ErrUnsupported where the system cannot tell.
	Watch(ctx context.Context, p task.Process) error
	Alive(p task.Process) (bool, error)
	EndGroup(ctx context.Context, leader int) error

	// Ending is the note that the launcher of the agent of a hook wrote at its end, by the agent's seat; found is false
	// where there is none that is its own.
	Ending(hook int64, seat string) (end task.Ending, found bool, err error)
	// Notes calls noted as soon as such a note may be there, until ctx ends.
	Notes(ctx context.Context, noted func(hook int64)) error
	// Stamp changes whenever one of a task's mirrors does, or the version of the task.
	Stamp(t *task.Task) uint64
	// Touched is when a task's document or branch last changed.
	Touched(ctx context.Context, t task.Task) (time.Time, error)
	// Stamps are the stamps of tasks that KeepStamps kept last; none where they cannot be read.
	Stamps() map[string]uint64
	KeepStamps(stamps map[string]uint64) error
	// Known reports whether a task that the record does not have has a folder all the same.
	Known(id string) (bool, error)
}

// Record is what the monitor reads of it.
type Record interface {
	OpenSeats(ctx context.Context, id string) ([]record.Seat, error)
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	// Changed is a number that stays the same while no task changes.
	Changed(ctx context.Context) (int64, error)
	// Writes is a number that changes with everything that is written to the record.
	Writes(ctx context.Context) (int64, error)
}

// Engine judges what was seen, and tends to what is owed.
type Engine interface {
	Died(ctx context.Context, death task.Death) (record.Outcome, error)
	RespawnDead(ctx context.Context, id string) (again time.Time, err error)
	Stalled(ctx context.Context, id string, since time.Time) (bool, error)
	EndUnusedSeats(ctx context.Context, id string, hook int64) error
	Timeouts(ctx context.Context, id string) (next time.Time, told string, err error)
	PRSeen(ctx context.Context, id string, pr record.PullRequest) (told string, err error)
	// PRJudged takes over what others say of a task's open pull request.
	PRJudged(ctx context.Context, id string, look record.PRLook) (told string, err error)
	// What follows tends to what is owed, queued, over or lagging.
	Resume(ctx context.Context) error
	Finish(ctx context.Context) error
	StartNext(ctx context.Context, project string) (string, error)
	StartWaiting(ctx context.Context, id string, fetch bool) (record.Outcome, error)
	// GoOnMerging makes good a merge that was cut short; open is false if there is nothing to make good.
	GoOnMerging(ctx context.Context, id string) (told string, open bool, err error)
	Free(ctx context.Context, id string) error
	Sync(ctx context.Context, id string) error
}

// Rules finds the workflow that a task was created under, and what its project says about time.
type Rules interface {
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	Timeouts(project string) (task.Timeouts, error)
}

// Monitor is one watch. Every exported field but Needs, GoOn and Conflicts is required.
type Monitor struct {
	Agents Agents
	Record Record
	Engine Engine
	Rules  Rules

	// WatchRecord calls changed soon after a process has written the record, until ctx ends.
	WatchRecord func(ctx context.Context, changed func()) error
	// PullRequests reads with one call how the pull requests with these addresses are; nothing where that cannot be
	// asked.
	PullRequests func(ctx context.Context, project string, addresses []string) ([]record.PRLook, error)
	// waits for a sign that an agent may have died, where the system cannot watch processes
	Hint func(ctx context.Context) error
	// what a person should know of a task; of all of them where it is empty
	Tell func(ctx context.Context, t task.Task, text string)
	// Needs says why people should look after tasks now, as far as their agents' screens say: with an empty need for a
	// task that it looked at and that needs no one. It looks at all of them where since is zero, else at those alone
	// whose screens have changed then or later. More reports that it left some for the next time. It is nil if no one
	// knows.
	Needs func(ctx context.Context, tasks []task.Task, since time.Time) (_ map[string]record.Need, more bool, _ error)
	// GoOn tells an agent that rests at its limit to go on once that is over, and returns when to ask again; zero if
	// there is nothing to wait for. It is required with Needs.
	GoOn func(ctx context.Context, id string, rest record.Rest) (again time.Time, err error)
	// Conflicts finds out which live tasks of a project conflict, where a branch has moved; nil if no one does. live
	// has those of all projects.
	Conflicts func(ctx context.Context, project string, live []task.Task) error
	// lets others hear that the watch goes on; called about every second
	Heartbeat func()
	Now       func() time.Time
	Spent     func() time.Duration // the processor time that this process has had
	Log       *slog.Logger
	Stall     time.Duration // how long an agent may do nothing before it is marked

	unwatchable sync.Once     // the first time that the system says it cannot watch processes
	hinted      chan struct{} // closed then: hints are waited for
	// written has a sign when the record was written and the clock has not looked since.
	written chan struct{}
	mu      sync.Mutex
	guards  map[string]guard     // who is watched, by seat
	guarded int64                // Writes of the record when everyone was watched who has to be; -1 where some are not
	due     map[string]time.Time // when to ask again whether a task's agent is to be started again

	stamps    map[string]uint64 // the mirrors of tasks as they were seen last, by task
	restamped bool              // they are other ones than those that were kept
	interval  time.Duration     // the shortest that a workflow of a live task asks for

	listing  sync.Mutex
	listed   *taskLists // the tasks as they were listed last
	everyone bool       // the files of all tasks are looked after, however long they are over
	compared int64      // the number of the lists whose files were looked at last

	waits   map[string]waits     // the tasks that wait for others, as they were looked at last
	fetched map[string]time.Time // when origin was asked for such tasks, by project

	merges map[string]merge // the tasks that can be merged, as they were looked at last

	lost lost // what people have not heard yet

	held map[string]bool // the clock's: who had which workspace when it looked last while a task waited for one
}

type guard struct {
	hook int64
	off  context.CancelCauseFunc
}

// errNoted ends the waiting for an agent's process, because its launcher has noted the agent's end.
var errNoted = errors.New("its end is noted")

const (
	firstWait       = 2 * time.Millisecond  // after the record was written; then twice as long, and so on
	maintainEvery   = time.Second           // how often owed hooks and due agents are seen to
	hintRest        = 20 * time.Millisecond // between two hints, so that a storm of them costs little
	defaultInterval = 30 * time.Second      // where no workflow says how often to look
)

// Run watches until ctx ends. The caller holds the lease. What goes wrong is logged and tried again
// with the next look: the watch ends for no other reason.
func (m *Monitor) Run(ctx context.Context) {
	var crew sync.WaitGroup
	defer crew.Wait()
	ctx, off := context.WithCancel(ctx)
	defer off()
	look := make(chan struct{}, 1)
	m.interval, m.guarded = defaultInterval, -1
	m.hinted = make(chan struct{})
	m.written = make(chan struct{}, 1)
	m.stamps = m.Agents.Stamps()
	defer func() { m.report(ctx, "stamps", m.keepStamps()) }()
	crew.Go(func() { m.listen(ctx, &crew) })
	crew.Go(func() { m.report(ctx, "notes", m.Agents.Notes(ctx, m.endWait)) })
	crew.Go(func() { m.maintain(ctx, &crew) })
	crew.Go(func() { m.hints(ctx, look) })
	m.report(ctx, "look", m.Look(ctx))
	// After the first look, which sees to the deadlines too: each of them reads all live tasks.
	crew.Go(func() { m.watchDeadlines(ctx) })
	crew.Go(func() { m.watchScreens(ctx) })
	crew.Go(func() { m.again(ctx, "pull requests", requestsEvery, m.pullRequests) })
	crew.Go(func() { m.again(ctx, "tasks that wait for others", waitingEvery, ofAll(m.waiting)) })
	crew.Go(func() { m.again(ctx, "merges that were cut short", mergesEvery, ofAll(m.goOnMerging)) })
	if m.Conflicts != nil {
		crew.Go(func() { m.again(ctx, "conflicts", conflictsEvery, m.conflicts) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
		case <-time.After(m.interval):
		}
		m.report(ctx, "look", m.Look(ctx))
	}
}

// Once looks and sees to everything until there is nothing left to do, and answers every error that it met.
// Hooks are performed by this process, and those that failed are tried at once.
func (m *Monitor) Once(ctx context.Context) error {
	// a move may start an agent that dies at once, and so on; what is left after so many waits for the next pass
	const rounds = 10
	var asked error // of GitHub, once
	// What the last process compared with the record, and no one has written since, need not be compared again.
	m.stamps, m.everyone, m.compared = m.Agents.Stamps(), true, -1
	tasks, all := m.taskLists(ctx)
	for round := range rounds {
		err := errors.Join(all, m.Engine.Finish(ctx), m.Look(ctx), m.goOnMerging(ctx, tasks.live),
			m.waiting(ctx, tasks.live))
		if round == 0 {
			now, unread := m.taskLists(ctx)
			for _, met := range m.pullRequests(ctx, now.live) {
				asked = errors.Join(asked, met)
			}
			asked = errors.Join(asked, unread)
		}
		err = errors.Join(err, m.Engine.Finish(ctx))
		had := tasks.sumOfChanges()
		tasks, all = m.taskLists(ctx)
		if all = errors.Join(err, all); all != nil || had == tasks.sumOfChanges() {
			break
		}
	}
	m.tellLost(ctx, 0)
	if tasks.number != m.compared {
		all = errors.Join(all, m.mirrors(ctx, tasks))
	}
	if all == nil {
		m.forget(tasks)
	}
	if m.Conflicts != nil {
		for _, met := range m.conflicts(ctx, tasks.live) { // the order of what is logged does not matter
			m.report(ctx, "conflicts", met)
		}
	}
	return errors.Join(all, asked, m.keepStamps())
}

// keepStamps keeps what was seen of the files of tasks for a later process, where that is not what the last one kept.
func (m *Monitor) keepStamps() error {
	if !m.restamped {
		return nil
	}
	return m.Agents.KeepStamps(m.stamps)
}

// forget drops the stamps of all tasks but these.
func (m *Monitor) forget(but taskLists) {
	known := make(map[string]bool, len(m.stamps))
	for _, some := range [][]task.Task{but.live, but.over} {
		for i := range some {
			known[some[i].ID] = true
		}
	}
	maps.DeleteFunc(m.stamps, func(id string, _ uint64) bool {
		m.restamped = m.restamped || !known[id]
		return !known[id]
	})
}

// reportEnd tells the engine of an agent whose process is gone. How it ended is in its launcher's note;
// a launcher that was killed left none, and then the window knows.
func (m *Monitor) reportEnd(ctx context.Context, seat record.Seat) error {
	note, found, err := m.Agents.Ending(seat.Hook, seat.Hash)
	if err != nil {
		return err
	}
	if found {
		return m.reportDeath(ctx, seat, note)
	}
	p, there, err := m.window(ctx, seat)
	if err != nil {
		return err
	}
	if there && !p.Dead && seat.PID == 0 {
		return nil // its process is not known, but its window shows that it lives
	}
	return m.reportUnexplained(ctx, seat, p, there)
}

// reportUnexplained deals with an agent whose launcher left no note: the window, where there is one, knows how it
// ended.
func (m *Monitor) reportUnexplained(ctx context.Context, seat record.Seat, p tmux.Pane, there bool) error {
	if !there && seat.PID == 0 && seat.Dropped { // the hook was cut short before it started an agent, and then dropped
		return m.Engine.EndUnusedSeats(ctx, seat.Task, seat.Hook)
	}
	end := p.Ending
	if end.Known && end.Status == 0 && end.Signal == 0 {
		end = task.Ending{} // a launcher that ends so leaves a note
	}
	return m.reportDeath(ctx, seat, end)
}

// window asks the window of an agent whose process is gone how it ended. The terminal may hear of it a moment
// later than we do.
func (m *Monitor) window(ctx context.Context, seat record.Seat) (p tmux.Pane, there bool, err error) {
	const tries = 10
	tick := time.NewTicker(hintRest)
	defer tick.Stop()
	for range tries {
		panes, err := m.Agents.Panes(ctx)
		if err != nil {
			return p, false, fmt.Errorf("look at the sessions: %w", err)
		}
		if p, there = windowsOf(panes).of(seat); !there || p.Dead {
			break
		}
		select {
		case <-ctx.Done():
			return p, there, ctx.Err()
		case <-tick.C:
		}
	}
	return p, there, nil
}

// reportDeath has a death judged, tells of what people should know, and starts the agent again where the workflow wants
// that.
func (m *Monitor) reportDeath(ctx context.Context, seat record.Seat, end task.Ending) error {
	out, err := m.Engine.Died(ctx, task.Death{Task: seat.Task, Role: seat.Role, Hook: seat.Hook, Ending: end})
	if err != nil || !out.Moved {
		return err
	}
	if out.LostWith != "" {
		m.noteLost(out.LostWith)
	}
	err = m.revive(ctx, seat.Task)
	if out.Asks != "" {
		m.tell(ctx, out.Task, out.Asks)
	}
	return err
}

// tell tells people of a task. The text names it, or they could not answer where they read no more than that.
func (m *Monitor) tell(ctx context.Context, t task.Task, text string) {
	if !strings.Contains(text, t.ID) {
		text += "; orange task why " + t.ID
	}
	m.Tell(ctx, t, text)
}

func (m *Monitor) revive(ctx context.Context, id string) error {
	again, err := m.Engine.RespawnDead(ctx, id)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.due == nil {
		m.due = map[string]time.Time{}
	}
	delete(m.due, id)
	if err == nil && !again.IsZero() {
		m.due[id] = again
	}
	return err
}

// maintain sees to owed hooks whose runner is gone or whose time has come, to agents that wait to be started again,
// and to deaths that were left for later.
func (m *Monitor) maintain(ctx context.Context, crew *sync.WaitGroup) {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m.Heartbeat()
		m.tellLost(ctx, lostRest)
		err := errors.Join(m.Engine.Resume(ctx), m.guard(ctx, crew))
		for _, id := range m.nowDue() {
			err = errors.Join(err, m.revive(ctx, id))
			m.Heartbeat() // an agent may take its time to start
		}
		m.report(ctx, "care", err)
	}
}

func (m *Monitor) nowDue() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for id, at := range m.due {
		if !at.After(m.Now()) {
			out = append(out, id)
		}
	}
	return out
}

// hints asks for a look whenever the terminal's server gives a sign, where processes cannot be watched.
func (m *Monitor) hints(ctx context.Context, look chan<- struct{}) {
	select {
	case <-ctx.Done():
	case <-m.hinted:
	}
	for ctx.Err() == nil {
		rest := hintRest
		if err := m.Hint(ctx); err != nil {
			rest = maintainEvery // no server, most likely: there is no agent to die
		} else {
			signal(look)
		}
		pause(ctx, rest)
	}
}

// signal leaves a sign for the one who waits. Where one is there already, or no one ever waits, it does nothing.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// pause waits, but not beyond ctx.
func pause(ctx context.Context, rest time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(rest):
	}
}

// report logs what went wrong: the watch goes on, and the next look tries again.
func (m *Monitor) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		m.Log.Error(what, "component", "monitor", "error", err.Error())
	}
}
