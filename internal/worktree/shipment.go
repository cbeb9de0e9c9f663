package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrSnapshotMoved says that another one has pushed a snapshot of the task since the last one that was acknowledged
// here.
var ErrSnapshotMoved = errors.New("another one has pushed a snapshot of the task meanwhile")

// Shipment is a snapshot on its way to a repository.
type Shipment struct {
	Task         string
	Acknowledged string // the record that was acknowledged there last; empty where none was
	Shipped
}

// Ship pushes the snapshots of tasks to a repository, all of them or none, where each record there is still the one
// that was acknowledged last. Else the error is an ErrSnapshotMoved, and nothing was pushed.
func (r Repo) Ship(ctx context.Context, to string, all ...Shipment) (err error) {
	// The acknowledged commits, and never refs of this repository: a push that failed may have moved those.
	args, refs, behind := []string{"push", "--quiet", "--no-follow-tags", "--atomic"}, []string{to}, ""
	wrong := checkRemote(to)
	for _, s := range all { // in their order
		wrong = errors.Join(wrong, CheckTask(s.Task))
		args = append(args, "--force-with-lease="+recordRef(s.Task)+":"+s.Acknowledged)
		refs = append(refs, s.Record+":"+recordRef(s.Task))
		if s.Work != "" {
			refs = append(refs, "+"+s.Work+":"+workRef(s.Task))
		}
		behind += "update " + behindRef(s.Task, to) + " " + s.Record + "\n"
	}
	if wrong != nil {
		return wrong
	}
	defer explain(&err, "cannot push %s to %q", shipmentsOf(all), to)
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return err
	}
	_, err = r.git(ctx, call{dir: r.Path, args: append(args, refs...), env: env})
	if refusedWith(err, "stale info") {
		return ErrSnapshotMoved
	}
	if err != nil && !r.arrived(ctx, to, all, env) { // the answer may have been lost on its way
		return err
	}
	return r.updateRefs(ctx, behind)
}

func shipmentsOf(all []Shipment) string {
	if len(all) == 1 {
		return "the snapshot of task " + all[0].Task
	}
	return fmt.Sprintf("the snapshots of %d tasks", len(all))
}

// ShipRefused reports whether the repository itself refused what Ship had for it: it was reached. Of several snapshots
// one may be the reason, and the others can be pushed without it.
func ShipRefused(err error) bool {
	return errors.Is(err, ErrSnapshotMoved) || refusedWith(err, "rejected]")
}

// arrived reports whether snapshots are in a repository.
func (r Repo) arrived(ctx context.Context, to string, all []Shipment, env []string) bool {
	for _, s := range all { // each alone, as long as they are there
		if at, err := r.shippedAt(ctx, to, recordRef(s.Task), env); err != nil || at != s.Record {
			return false
		}
	}
	return true
}

func recordRef(taskID string) string { return shipRefs + taskID + "/record" }
func workRef(taskID string) string   { return shipRefs + taskID + "/work" }

// Reaches looks whether the repository that snapshots are pushed to answers.
func (r Repo) Reaches(ctx context.Context, to string) (err error) {
	if err := checkRemote(to); err != nil {
		return err
	}
	defer explain(&err, "cannot reach %q", to)
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return err
	}
	_, err = r.git(ctx, call{dir: r.Path, args: []string{"ls-remote", "--quiet", to, "HEAD"}, env: env})
	return err
}

func (r Repo) shippedAt(ctx context.Context, at, ref string, env []string) (string, error) {
	out, err := r.git(ctx, call{dir: r.Path, args: []string{"ls-remote", "--quiet", at, ref}, env: env})
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(out.Text(), "\n") {
		if commit, name, ok := strings.Cut(line, "\t"); ok && name == ref {
			return commit, nil
		}
	}
	return "", nil
}

// Unship removes a task's snapshot from a repository, where its record there is the one that was acknowledged last.
func (r Repo) Unship(ctx context.Context, to, taskID, acknowledged string) (err error) {
	if err := errors.Join(CheckTask(taskID), checkRemote(to)); err != nil {
		return err
	}
	defer explain(&err, "cannot remove the snapshot of task %s from %q", taskID, to)
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return err
	}
	at, err := r.shippedAt(ctx, to, workRef(taskID), env)
	if err != nil {
		return err
	}
	args := []string{"push", "--quiet", "--atomic", "--force-with-lease=" + recordRef(taskID) + ":" + acknowledged,
		to, ":" + recordRef(taskID)}
	if at != "" {
		args = append(args, "+:"+workRef(taskID))
	}
	if _, err := r.git(ctx, call{dir: r.Path, args: args, env: env}); err != nil {
		return err
	}
	return r.updateRefs(ctx, "delete "+behindRef(taskID, to)+"\n")
}
