package ship

import (
	"context"
	"errors"
	"time"

	"orange/internal/work/git"
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

// shipLimit is how long a push of snapshots may take: the first one of a large repository is a copy of it.
const shipLimit = 15 * time.Minute

// Ship pushes the snapshots of tasks to a repository, all of them or none, where each record there is still the one
// that was acknowledged last. Else the error is an ErrSnapshotMoved, and nothing was pushed.
func (r Snapshots) Ship(ctx context.Context, to string, all ...Shipment) (err error) {
	// The acknowledged commits, and never refs of this repository: a push that failed may have moved those.
	args, refs, behind := []string{"push", "--quiet", "--no-follow-tags", "--atomic"}, []string{to}, ""
	wrong := git.CheckRemote(to)
	for _, s := range all { // in their order
		wrong = errors.Join(wrong, git.CheckTask(s.Task))
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
	defer git.Explain(&err, "cannot push %s to %q", shipmentsOf(all), to)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return err
	}
	within, end := context.WithTimeout(ctx, shipLimit)
	defer end()
	_, err = r.Do(within, git.Call{Dir: r.Path, Args: append(args, refs...), Env: env})
	if git.RefusedWith(err, "stale info") {
		return ErrSnapshotMoved
	}
	if err != nil { // the answer may have been lost on its way
		if err = r.checkArrived(ctx, to, all, err); err != nil {
			return err
		}
	}
	return r.UpdateRefs(ctx, behind)
}

func shipmentsOf(all []Shipment) string {
	if len(all) == 1 {
		return "the snapshot of task " + all[0].Task
	}
	return "snapshots"
}

// shipRefusal is the failure of a push to a repository that answers.
type shipRefusal struct{ error }

func (r shipRefusal) Unwrap() error { return r.error }

// Refused reports whether the repository answers, and has not taken what Ship had for it. Of several snapshots one
// may be the reason, and the others can be pushed without it.
func Refused(err error) bool {
	_, refused := errors.AsType[shipRefusal](err)
	return refused || errors.Is(err, ErrSnapshotMoved)
}

// checkArrived looks whether snapshots whose push failed are in the repository all the same. Else the answer is the
// failure.
func (r Snapshots) checkArrived(ctx context.Context, to string, all []Shipment, failed error) error {
	var ids []string
	for _, s := range all {
		ids = append(ids, s.Task)
	}
	there, err := r.Records(ctx, to, ids...)
	if err != nil {
		return failed
	}
	for _, s := range all {
		if there[s.Task] != s.Record {
			return shipRefusal{failed}
		}
	}
	return nil
}

// Records are the commits of the newest records of tasks in a repository of snapshots, by their tasks. A task that has
// none there is left out.
func (r Snapshots) Records(ctx context.Context, at string, tasks ...string) (newest map[string]string, err error) {
	refs, wrong := []string{}, git.CheckRemote(at)
	for _, id := range tasks {
		wrong = errors.Join(wrong, git.CheckTask(id))
		refs = append(refs, recordRef(id))
	}
	if wrong != nil {
		return nil, wrong
	}
	defer git.Explain(&err, "cannot look at the snapshots at %q", at)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return nil, err
	}
	there, err := r.RefsAt(ctx, at, env, refs...)
	if err != nil {
		return nil, err
	}
	newest = map[string]string{}
	for _, id := range tasks {
		if commit := there[recordRef(id)]; commit != "" {
			newest[id] = commit
		}
	}
	return newest, nil
}

func recordRef(taskID string) string { return git.ShipRefs + taskID + "/record" }

func workRef(taskID string) string { return git.ShipRefs + taskID + "/work" }

// Reaches looks whether the repository that snapshots are pushed to answers.
func (r Snapshots) Reaches(ctx context.Context, to string) (err error) {
	if err := git.CheckRemote(to); err != nil {
		return err
	}
	defer git.Explain(&err, "cannot reach %q", to)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return err
	}
	_, err = r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"ls-remote", "--quiet", to, "HEAD"}, Env: env})
	return err
}

// Unship removes a task's snapshot from a repository, where its record there is the one that was acknowledged last.
func (r Snapshots) Unship(ctx context.Context, to, taskID, acknowledged string) (err error) {
	if err := errors.Join(git.CheckTask(taskID), git.CheckRemote(to)); err != nil {
		return err
	}
	defer git.Explain(&err, "cannot remove the snapshot of task %s from %q", taskID, to)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return err
	}
	at, err := r.ShippedAt(ctx, to, workRef(taskID), env)
	if err != nil {
		return err
	}
	args := []string{"push", "--quiet", "--atomic", "--force-with-lease=" + recordRef(taskID) + ":" + acknowledged,
		to, ":" + recordRef(taskID)}
	if at != "" {
		args = append(args, "+:"+workRef(taskID))
	}
	if _, err := r.Do(ctx, git.Call{Dir: r.Path, Args: args, Env: env}); err != nil {
		return err
	}
	return r.UpdateRefs(ctx, "delete "+behindRef(taskID, to)+"\n")
}
