package snapshots

import (
	"context"
	"encoding/json"

	"orange/internal/rules/record"
	"orange/internal/work/git"
	"orange/internal/work/ship"
	"orange/internal/work/worktree"
)

// ShipLost pushes what is here of a task that is about to leave, to a repository, and returns the ref there; it is
// empty where the last snapshot there has all of it. The epoch in the ref is the one in which this home had the task.
func (k Keeper) ShipLost(ctx context.Context, id, to string) (ref string, err error) {
	release, err := k.Files.Lock(ctx, id+".snapshot")
	if err != nil {
		return "", err
	}
	defer release()
	s, err := k.Load(ctx, id)
	if err != nil {
		return "", err
	}
	h, err := k.holdingOf(id)
	if err != nil {
		return "", err
	}
	slot, err := k.Slots.Slot(s.Task)
	if err != nil {
		return "", err
	}
	shipped, err := workIn(ctx, slot.Repo, h.Acknowledged[to])
	if err != nil {
		return "", err
	}
	return slot.ShipLost(ctx, to, worktree.Lost{Task: id, Epoch: h.Epoch, Branch: s.Task.Branch, Shipped: shipped},
		func(file string, size int64) bool { return keeps(record.SnapshotOrder{}, file, size) })
}

// workIn is the commit of the worktree in a snapshot; empty where that is not known.
func workIn(ctx context.Context, repo git.Repo, commit string) (string, error) {
	if commit == "" {
		return "", nil
	}
	text, err := ship.Snapshots{Repo: repo}.RecordText(ctx, commit, aboutName)
	var said about
	if err != nil || json.Unmarshal(text, &said) != nil || said.Work == nil {
		return "", nil // all is pushed then, be it once more
	}
	if has, err := repo.HasCommit(ctx, *said.Work); err != nil || !has {
		return "", err
	}
	return *said.Work, nil
}
