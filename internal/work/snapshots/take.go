package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/ship"
	"orange/internal/work/worktree"
)

// pending is a snapshot that is made and pushed.
type pending struct {
	taken   record.TakenSnapshot
	repo    git.Repo
	held    holding
	last    ship.Shipped // that it goes behind
	release func()       // lets another program take a snapshot of the task; may be called twice
}

func (p *pending) isOpen() bool { return p.taken.Err == nil && !p.taken.Unchanged }

// Take takes snapshots of tasks and pushes each to a repository, a remote or an address, if no one else has pushed one
// since the last that was acknowledged here. New files that look like secrets, or are very large, stay out of a
// snapshot unless they are named. Snapshots of one project are pushed with one call of git; where the repository
// refuses one of them, the others are pushed all the same. The answer has one for each task, in the order of their ids.
func (k Keeper) Take(ctx context.Context, ids []string, o record.SnapshotOrder) []record.TakenSnapshot {
	var all []*pending
	var repos [][]*pending
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		p := k.find(ctx, id)
		all = append(all, p)
		if p.taken.Err != nil {
			continue
		}
		i := slices.IndexFunc(repos, func(some []*pending) bool { return some[0].repo.Path == p.repo.Path })
		if i < 0 {
			i, repos = len(repos), append(repos, nil)
		}
		repos[i] = append(repos[i], p)
	}
	for _, some := range repos {
		k.takeOf(ctx, some, o)
	}
	taken := make([]record.TakenSnapshot, len(all))
	for i, p := range all {
		taken[i] = p.taken
	}
	return taken
}

// find finds the repository of a task.
func (k Keeper) find(ctx context.Context, id string) *pending {
	p := &pending{release: func() {}}
	err := k.Sync(ctx, id)
	if err == nil {
		var s record.Snapshot
		if s, err = k.Load(ctx, id); err == nil {
			var slot worktree.Slot
			slot, err = k.Slots.Slot(s.Task)
			p.repo = slot.Repo
		}
	}
	p.taken.Task, p.taken.Err = id, err
	return p
}

// takeOf takes snapshots of tasks of one repository. It locks the tasks in the order of their ids, as every program
// does, and no other program takes a snapshot of one meanwhile.
func (k Keeper) takeOf(ctx context.Context, all []*pending, o record.SnapshotOrder) {
	for _, p := range all {
		release, err := k.Files.Lock(ctx, p.taken.Task+".snapshot")
		if err == nil {
			p.release = release
			defer release()
			p.held, err = k.holdingOf(p.taken.Task)
		}
		p.taken.Err = err
	}
	k.settleSent(ctx, o.To, all)
	var ready []*pending
	for _, p := range all {
		if p.isOpen() {
			id := p.taken.Task
			var err error
			if p.last, err = k.last(ctx, p.repo, o.To, id, p.held); err == nil {
				p.taken, err = k.commits(ctx, id, p.held.Epoch, p.last, o)
			}
			p.taken.Task, p.taken.Err = id, err
		}
		if p.isOpen() {
			ready = append(ready, p)
		} else {
			p.release()
		}
	}
	k.pushAll(ctx, o.To, ready)
}

// pushAll pushes snapshots of one repository, together if that goes.
func (k Keeper) pushAll(ctx context.Context, to string, all []*pending) {
	if len(all) == 0 {
		return
	}
	if err := k.push(ctx, to, all); len(all) == 1 || !ship.Refused(err) {
		fail(all, err)
		return
	}
	for i, p := range all { // one of them is the reason
		if !p.isOpen() {
			continue
		}
		err := k.push(ctx, to, all[i:i+1])
		if err != nil && !ship.Refused(err) { // the repository does not answer any more
			fail(all[i:], err)
			return
		}
		fail(all[i:i+1], err)
		p.release()
	}
}

// fail notes why snapshots could not be pushed, for those that had no error so far.
func fail(all []*pending, err error) {
	for _, p := range all {
		switch {
		case p.taken.Err != nil:
		case errors.Is(err, ship.ErrSnapshotMoved):
			p.taken.Err = fmt.Errorf("%w; nothing was pushed; if the task goes on elsewhere, let it go here: orange "+
				"task leave %s", err, p.taken.Task)
		default:
			p.taken.Err = err
		}
	}
}

// push pushes snapshots, all or none. One that cannot be noted has its own error, and is not among them.
func (k Keeper) push(ctx context.Context, to string, all []*pending) error {
	var noted []*pending
	var shipments []ship.Shipment
	for _, p := range all {
		id := p.taken.Task
		p.held.Sent[to] = p.taken.Record // it may get there, and this program may not learn so
		if p.taken.Err = k.hold(id, p.held); p.taken.Err != nil {
			continue
		}
		noted = append(noted, p)
		shipments = append(shipments, ship.Shipment{Task: id, Acknowledged: p.last.Record,
			Shipped: ship.Shipped{Record: p.taken.Record, Work: p.taken.Work}})
	}
	if len(noted) == 0 {
		return nil
	}
	if err := (ship.Snapshots{Repo: noted[0].repo}).Ship(ctx, to, shipments...); err != nil {
		return err
	}
	for _, p := range noted {
		delete(p.held.Sent, to)
		p.held.Acknowledged[to] = p.taken.Record
		p.taken.Err = k.hold(p.taken.Task, p.held) // where it fails the next snapshot finds out
	}
	return nil
}

// settleSent finds out what became of snapshots that a program had sent to a repository and that was ended then, or got
// no answer: one that is the newest there was acknowledged.
func (k Keeper) settleSent(ctx context.Context, to string, all []*pending) {
	var sent []*pending
	var ids []string
	for _, p := range all {
		if p.isOpen() && p.held.Sent[to] != "" {
			sent, ids = append(sent, p), append(ids, p.taken.Task)
		}
	}
	if len(sent) == 0 {
		return
	}
	newest, err := ship.Snapshots{Repo: sent[0].repo}.Records(ctx, to, ids...)
	if err != nil {
		fail(sent, err)
		return
	}
	for _, p := range sent {
		p.taken.Err = k.settle(ctx, to, p, newest[p.taken.Task])
	}
}

// settle notes what became of a snapshot, by the newest one in the repository.
func (k Keeper) settle(ctx context.Context, to string, p *pending, newest string) error {
	if id := p.taken.Task; newest == p.held.Sent[to] {
		has, err := p.repo.HasCommit(ctx, newest)
		if err == nil && !has { // it was cleared away here, and the next one is behind it
			_, err = ship.Snapshots{Repo: p.repo}.NewestRecord(ctx, to, id, "")
		}
		if err != nil {
			return err
		}
		p.held.Acknowledged[to] = newest
	}
	delete(p.held.Sent, to)
	return k.hold(p.taken.Task, p.held)
}

// last is the snapshot that the next one goes behind; none for the first one. Where this home got the task in a later
// epoch and created it, that may be one of an earlier home, which has created it too, and whose answer the fleet never
// got: then it has that home's work, which no ref of the task has any more once this home has pushed its own.
func (k Keeper) last(ctx context.Context, repo git.Repo, to, id string, h holding) (s ship.Shipped, err error) {
	if s.Record = h.Acknowledged[to]; s.Record != "" || h.Epoch == 1 {
		return s, nil
	}
	there, err := ship.Snapshots{Repo: repo}.FetchSnapshot(ctx, to, id)
	if errors.Is(err, task.ErrNotFound) {
		return s, nil
	}
	// its objects stay for long enough
	err = errors.Join(err, ship.Snapshots{Repo: repo}.LetGo(context.WithoutCancel(ctx), id))
	var text []byte
	if err == nil {
		text, err = ship.Snapshots{Repo: repo}.RecordText(ctx, there.Record, aboutName)
	}
	var said about
	if err != nil || json.Unmarshal(text, &said) != nil || said.Task != id || said.Epoch < 1 || said.Epoch >= h.Epoch {
		return s, err // the push is refused: another home has the task
	}
	return there, nil
}

// commits makes the two commits of a snapshot behind the last one, while no one writes the mirrors of the task.
func (k Keeper) commits(ctx context.Context, id string, epoch int, last ship.Shipped, o record.SnapshotOrder) (
	taken record.TakenSnapshot, err error) {
	release, err := k.Files.Lock(ctx, k.FilesLock(id))
	if err != nil {
		return taken, err
	}
	defer release()
	s, err := k.Load(ctx, id)
	if err != nil {
		return taken, err
	}
	t := s.Task
	slot, err := k.Slots.Slot(t)
	if err != nil {
		return taken, err
	}
	if slot.Repo.Key, err = k.hostKey(); err != nil {
		return taken, err
	}
	rules, err := k.Workflows.Workflow(ctx, t.Workflow.Digest)
	if err != nil {
		return taken, err
	}
	if taken, err = workOf(ctx, slot, t, o); err != nil {
		return taken, err
	}
	said := about{Task: t.ID, Project: t.Project, Branch: t.Branch, Event: t.Seq, Epoch: epoch,
		Workflow: t.Workflow, Work: &taken.Work}
	if o.IfChanged && said.equals(ctx, slot.Repo, last.Record) {
		taken.Record, taken.Unchanged = last.Record, true
		return taken, nil
	}
	taken.Record, err = said.commit(ctx, slot.Repo, k.Files.Dir(t.Project, t.ID), rules, last.Record,
		last.Work)
	return taken, err
}
