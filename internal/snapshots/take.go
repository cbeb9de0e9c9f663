package snapshots

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/worktree"
)

// parcel is a snapshot that was made, or could not be, and is to be pushed.
type parcel struct {
	taken   record.TakenSnapshot
	held    held
	repo    worktree.Repo
	release func() // lets another program take a snapshot of the task
}

// Take takes snapshots of tasks and pushes each to a repository, a remote or an address, if no one else has pushed one
// since the last that was acknowledged here. New files that look like secrets, or are very large, stay out of a
// snapshot unless they are named. Snapshots of one project are pushed with one call of git; where one of them is
// refused, the others are pushed all the same. The answer has one for each task, in the order of their ids.
func (k Keeper) Take(ctx context.Context, ids []string, o record.SnapshotOrder) []record.TakenSnapshot {
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // two programs lock them in one order
	all, byRepo, repos := []*parcel{}, map[string][]*parcel{}, []string{}
	for _, id := range ids { // each independently
		p := k.made(ctx, id, o)
		defer p.release() // after the push
		all = append(all, p)
		if p.taken.Err != nil || p.taken.Unchanged {
			continue
		}
		if at := p.repo.Path; byRepo[at] == nil {
			repos = append(repos, at)
		}
		byRepo[p.repo.Path] = append(byRepo[p.repo.Path], p)
	}
	for _, at := range repos { // each independently
		k.pushAll(ctx, o.To, byRepo[at])
	}
	taken := make([]record.TakenSnapshot, len(all))
	for i, p := range all {
		taken[i] = p.taken
	}
	return taken
}

// made makes a snapshot of a task, of which no other program takes one until it is released.
func (k Keeper) made(ctx context.Context, id string, o record.SnapshotOrder) *parcel {
	p := &parcel{release: func() {}}
	err := k.Sync(ctx, id)
	if err == nil {
		var release func()
		if release, err = k.Files.Lock(ctx, id+".snapshot"); err == nil { // each is behind the one before
			p.release = release
		}
	}
	if err == nil {
		err = k.settleSent(ctx, id, o.To)
	}
	if err == nil {
		p.held, err = k.held(id)
	}
	if err == nil {
		var slot worktree.Slot
		p.taken, slot, err = k.commits(ctx, id, p.held, o)
		p.repo = slot.Repo
	}
	p.taken.Task, p.taken.Err = id, err
	return p
}

// pushAll pushes snapshots of one repository, together if that goes.
func (k Keeper) pushAll(ctx context.Context, to string, all []*parcel) {
	err := k.push(ctx, to, all...)
	apart := len(all) > 1 && worktree.ShipRefused(err)
	for _, p := range all { // each independently
		p.taken.Err = err
		if apart {
			p.taken.Err = k.push(ctx, to, p)
		}
		if errors.Is(p.taken.Err, worktree.ErrSnapshotMoved) {
			p.taken.Err = fmt.Errorf("%w; nothing was pushed; if the task goes on elsewhere, let it go here: orange "+
				"task leave %s", p.taken.Err, p.taken.Task)
		}
	}
}

// push pushes snapshots, all or none.
func (k Keeper) push(ctx context.Context, to string, all ...*parcel) error {
	var on []worktree.Shipment
	for _, p := range all { // each, before any is on its way
		id := p.taken.Task
		p.held.Sent[to] = p.taken.Record // it may get there, and this program may not learn so
		if err := k.hold(id, p.held); err != nil {
			return err
		}
		on = append(on, worktree.Shipment{Task: id, Acknowledged: p.held.Acknowledged[to],
			Shipped: worktree.Shipped{Record: p.taken.Record, Work: p.taken.Work}})
	}
	if err := all[0].repo.Ship(ctx, to, on...); err != nil {
		return err
	}
	var noted error
	for _, p := range all { // each independently: what was not noted, the next snapshot finds out
		delete(p.held.Sent, to)
		p.held.Acknowledged[to] = p.taken.Record
		noted = errors.Join(noted, k.hold(p.taken.Task, p.held))
	}
	return noted
}

// settleSent finds out what became of a snapshot that a program had sent to a repository which was ended then: where it
// is the newest one there, it was acknowledged.
func (k Keeper) settleSent(ctx context.Context, id, to string) error {
	held, err := k.held(id)
	if err != nil || held.Sent[to] == "" {
		return err
	}
	s, err := k.Load(ctx, id)
	if err != nil {
		return err
	}
	slot, err := k.Slots.Slot(s.Task)
	if err != nil {
		return err
	}
	newest, err := slot.Repo.NewestRecord(ctx, to, id, held.Acknowledged[to])
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		return err
	}
	if newest == held.Sent[to] {
		held.Acknowledged[to] = newest
	}
	delete(held.Sent, to)
	return k.hold(id, held)
}

// commits makes the two commits of a snapshot, while no one writes the mirrors of the task.
func (k Keeper) commits(ctx context.Context, id string, held held, o record.SnapshotOrder) (
	record.TakenSnapshot, worktree.Slot, error) {
	release, err := k.Files.Lock(ctx, k.FilesLock(id))
	if err != nil {
		return record.TakenSnapshot{}, worktree.Slot{}, err
	}
	defer release()
	s, err := k.Load(ctx, id)
	if err != nil {
		return record.TakenSnapshot{}, worktree.Slot{}, err
	}
	t := s.Task
	slot, err := k.Slots.Slot(t)
	if err != nil {
		return record.TakenSnapshot{}, slot, err
	}
	if slot.Repo.Key, err = k.hostKey(); err != nil {
		return record.TakenSnapshot{}, slot, err
	}
	rules, err := k.Workflows.Workflow(ctx, t.Workflow.Digest)
	if err != nil {
		return record.TakenSnapshot{}, slot, err
	}
	taken, err := workOf(ctx, slot, t, o)
	if err != nil {
		return taken, slot, err
	}
	said := about{Task: t.ID, Project: t.Project, Branch: t.Branch, Event: t.Seq, Epoch: held.Epoch,
		Workflow: t.Workflow, Work: &taken.Work}
	last := held.Acknowledged[o.To]
	if o.IfChanged && said.equals(ctx, slot.Repo, last) {
		taken.Record, taken.Unchanged = last, true
		return taken, slot, nil
	}
	taken.Record, err = said.commit(ctx, slot.Repo, k.Files.Dir(t.Project, t.ID), rules, last)
	return taken, slot, err
}
