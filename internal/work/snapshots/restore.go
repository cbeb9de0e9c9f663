package snapshots

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

// candidate is a snapshot that may be restored.
type candidate struct {
	ship.Shipped
	said   about
	rules  []byte // the text of the workflow
	files  map[string][]byte
	events []history.Event
	notes  []string
	epoch  int  // that the task gets here
	ours   bool // this home has pushed it, as its own
}

// Restore brings a task back from its snapshot in a repository, a remote of the project's or an address: its folder,
// its workflow, its branch, and, in a workspace of this home, what was uncommitted. Its history is verified, and
// compared with what the order knows. Before the task goes on here a first snapshot with the next epoch is pushed: only
// one home can do that, and from then on the repository refuses snapshots of the others. The same order again is
// answered with the task that is there.
func (k Keeper) Restore(ctx context.Context, project, id, from string, o fencing.RestoreOrder) (record.Adopted, error) {
	if err := errors.Join(git.CheckTask(id), o.Check()); err != nil {
		return record.Adopted{}, err
	}
	release, err := k.Files.Lock(ctx, id+".snapshot")
	if err != nil {
		return record.Adopted{}, err
	}
	defer release()
	if there, done, err := k.here(ctx, id, from, o); err != nil || done {
		return there, err
	}
	dir := k.Files.Dir(project, id)
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return record.Adopted{}, errors.Join(err, task.Notef(task.ErrUsage, "cannot restore task %s: there is a "+
			"folder %q; bring the task back from it (orange doctor --rebuild), or move it away", id, dir))
	}
	slot, err := k.Slots.Slot(task.Task{ID: id, Project: project})
	if err != nil {
		return record.Adopted{}, err
	}
	repo := slot.Repo
	if repo.Key, err = k.hostKey(); err != nil {
		return record.Adopted{}, err
	}
	f, err := k.fetch(ctx, repo, project, id, from, o)
	if err == nil {
		err = k.Workflows.SaveWorkflow(ctx, f.said.Workflow, f.rules)
	}
	switch {
	case err != nil:
	case f.Work != "":
		err = ship.Snapshots{Repo: repo}.Begin(ctx, f.said.Branch, f.Work)
	default: // no work of an earlier snapshot is laid out
		err = ship.Snapshots{Repo: repo}.LetGo(ctx, id)
	}
	if err != nil {
		return record.Adopted{}, errors.Join(err, ship.Snapshots{Repo: repo}.LetGo(context.WithoutCancel(ctx), id))
	}
	told, err := k.tell(ctx, project, id, dir, f)
	if err == nil {
		if err = k.claim(ctx, repo, from, dir, f); err != nil {
			err = errors.Join(err, os.RemoveAll(dir), ship.Snapshots{Repo: repo}.LetGo(context.WithoutCancel(ctx), id))
		}
	}
	if err != nil {
		return record.Adopted{}, err
	}
	for i, e := range told.Events {
		told.Events[i] = o.Brought(e, f.epoch)
	}
	lost := o.Lost(f.events, time.Now())
	for _, e := range lost {
		f.notes = append(f.notes, e.Reason)
	}
	told.Events, told.Notes = append(told.Events, lost...), append(told.Notes, f.notes...)
	back := k.Adopter.Adopt(ctx, []record.Adoption{told}, func(int) {})[0]
	back.Lost = o.LostKeys(slices.Concat(f.events, lost))
	return back, back.Err
}

// here is the answer where the task is on record: the task, where it is there by the same order, or no home has pushed
// a snapshot since the last one of this home.
func (k Keeper) here(ctx context.Context, id, from string, o fencing.RestoreOrder) (
	there record.Adopted, done bool, err error) {
	s, err := k.Load(ctx, id)
	switch {
	case errors.Is(err, task.ErrNotFound):
		return there, false, nil
	case err != nil:
		return there, false, err
	case o.Epoch == 0:
		return there, false, task.Notef(task.ErrUsage, "cannot restore task %s: it is on record here", id)
	}
	there.Task = s.Task
	if err := k.isNewest(ctx, s.Task, from, o.Epoch); err != nil {
		return there, true, err
	}
	if err := k.inEpoch(id, o.Epoch); err != nil {
		return there, true, err
	}
	events, err := k.Events(ctx, id, 0)
	there.Lost = o.LostKeys(events)
	return there, true, err
}

// isNewest refuses a task on record that another home may have had since: what is here is not what that one did.
func (k Keeper) isNewest(ctx context.Context, t task.Task, from string, epoch int) error {
	h, err := k.holdingOf(t.ID)
	if err != nil || h.Epoch >= epoch {
		return err
	}
	slot, err := k.Slots.Slot(t)
	if err != nil {
		return err
	}
	newest, err := ship.Snapshots{Repo: slot.Repo}.NewestRecord(ctx, from, t.ID, h.Acknowledged[from])
	if errors.Is(err, task.ErrNotFound) { // no home has pushed one
		return nil
	}
	if err != nil || newest == h.Acknowledged[from] {
		return err
	}
	return task.Notef(fencing.ErrUnexpected, "cannot restore task %s in epoch %d: it is on record here in epoch %d, "+
		"and its newest snapshot is of another home; let go of what is here first: orange task leave %s --push-to %q",
		t.ID, epoch, h.Epoch, t.ID, from)
}

// Hold notes that a task is this home's in an epoch, before it is created here for a fleet. In a later one than before
// another home may have created it meanwhile: the next snapshot finds out, and goes behind that one's.
func (k Keeper) Hold(ctx context.Context, id string, epoch int) error {
	release, err := k.Files.Lock(ctx, id+".snapshot")
	if err != nil {
		return err
	}
	defer release()
	h, err := k.holdingOf(id)
	if err != nil {
		return err
	}
	if h.Epoch < epoch {
		return k.hold(id, holding{Epoch: epoch})
	}
	return k.inEpoch(id, epoch)
}

// HeldIn is the epoch in which a task is held for a fleet here; 0 where it is not. A task that left stays so.
func (k Keeper) HeldIn(id string) (int, error) {
	if err := git.CheckTask(id); err != nil {
		return 0, err
	}
	if _, err := os.Lstat(heldPath(k.Home, id)); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	h, err := k.holdingOf(id)
	return h.Epoch, err
}

// inEpoch notes that a task is this home's in an epoch, unless it has a later one here.
func (k Keeper) inEpoch(id string, epoch int) error {
	h, err := k.holdingOf(id)
	if err != nil {
		return err
	}
	if h.Epoch > epoch {
		return task.Notef(fencing.ErrUnexpected, "cannot take task %s in epoch %d: it has the epoch %d here", id, epoch,
			h.Epoch)
	}
	h.Epoch = epoch
	return k.hold(id, h)
}

// fetch fetches a snapshot, and refuses one that is not what it should be.
func (k Keeper) fetch(ctx context.Context, repo git.Repo, project, id, from string, o fencing.RestoreOrder) (
	f candidate, err error) {
	if f.Shipped, err = (ship.Snapshots{Repo: repo}).FetchSnapshot(ctx, from, id); err != nil {
		return f, err
	}
	files, texts, err := ship.Snapshots{Repo: repo}.Unfold(ctx, f.Record)
	if err != nil {
		return f, err
	}
	f.files, f.rules = files, texts[workflowName]
	if f.said, err = k.readAbout(texts, project, id); err != nil {
		return f, err
	}
	if f.Work, err = f.said.work(id, f.Work); err != nil {
		return f, err
	}
	host, err := k.signer(ctx, repo, f.said, f.Shipped)
	if err != nil {
		return f, err
	}
	f.events, _ = history.ReadHistory(files[historyName]) // what is wrong with it the adopter says
	if !o.Passed(host) {
		f.notes, err = o.Fits(id, host, f.events)
	} else {
		f.notes, err = k.fitsBehind(ctx, repo, id, f, o)
	}
	if err != nil {
		return f, err
	}
	h, err := k.holdingOf(id)
	if err != nil {
		return f, err
	}
	f.epoch = f.said.Epoch
	f.ours = h.Acknowledged[from] == f.Record && h.Epoch == f.said.Epoch && (o.Epoch == 0 || o.Epoch == h.Epoch)
	if !f.ours {
		f.epoch, err = o.Next(id, f.said.Epoch)
	}
	return f, err
}

// fitsBehind compares a snapshot of a host that was asked to bring the task back, and whose answer did not arrive, with
// the last one before it of the host that had the task.
func (k Keeper) fitsBehind(ctx context.Context, repo git.Repo, id string, f candidate, o fencing.RestoreOrder) (
	notes []string, err error) {
	signers, err := signersOf(k.Home)
	if err != nil {
		return nil, err
	}
	records, err := ship.Snapshots{Repo: repo}.Earlier(ctx, f.Record)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		host, err := repo.Signer(ctx, record, signers)
		switch {
		case err != nil:
			return nil, task.Notef(fencing.ErrUnexpected, "cannot restore task %s: %v", id, err)
		case host == o.Host:
			files, _, err := ship.Snapshots{Repo: repo}.Unfold(ctx, record)
			if err != nil {
				return nil, err
			}
			had, _ := history.ReadHistory(files[historyName]) // f.events go on from it, and are verified
			return o.FitsBehind(id, had, f.events)
		case !o.Passed(host):
			return o.Fits(id, host, f.events) // which refuses it
		}
	}
	return o.FitsBehind(id, nil, f.events)
}

// readAbout is what a snapshot says of its task, where it is that of the task and has the workflow that it names.
func (k Keeper) readAbout(texts map[string][]byte, project, id string) (about, error) {
	var said about
	if err := json.Unmarshal(texts[aboutName], &said); err != nil {
		return said, fmt.Errorf("cannot restore task %s: the snapshot does not say whose it is: %w", id, err)
	}
	sum := sha256.Sum256(texts[workflowName])
	switch {
	case said.Task != id || said.Project != project:
		return said, task.Notef(task.ErrUsage, "cannot restore task %s of %q: the snapshot is of task %s of %q", id,
			project, said.Task, said.Project)
	case said.Work == nil:
		return said, task.Notef(fencing.ErrUnexpected, "cannot restore task %s: its record does not say which "+
			"commit its work is", id)
	case hex.EncodeToString(sum[:]) != said.Workflow.Digest:
		return said, fmt.Errorf("cannot restore task %s: the workflow in the snapshot is not the one that it names", id)
	}
	return said, nil
}

// work is the commit of the worktree that belongs to a record: the one that it names, which has to be there.
func (a about) work(id, there string) (string, error) {
	switch *a.Work {
	case there:
		return there, nil
	case "":
		return "", nil // what is there is of an earlier snapshot
	}
	return "", task.Notef(fencing.ErrUnexpected, "cannot restore task %s: its record names the work %.12s, and there "+
		"is %s", id, *a.Work, cmp.Or(fmt.Sprintf("%.12s", there), "none"))
}

// tell writes the folder to its place, and verifies what it says. What cannot be verified is no task.
func (k Keeper) tell(ctx context.Context, project, id, dir string, f candidate) (record.Adoption, error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, task.PrivateFolder); err != nil {
		return record.Adoption{}, fmt.Errorf("make the folder of the project's tasks: %w", err)
	}
	half := filepath.Join(parent, "."+id+".restored") // no one takes it for a task's folder
	err := os.RemoveAll(half)
	for name, text := range f.files { // each its own file
		if err == nil {
			err = writeFile(filepath.Join(half, filepath.FromSlash(name)), text)
		}
	}
	if err == nil {
		err = os.Rename(half, dir)
	}
	if err != nil {
		return record.Adoption{}, errors.Join(fmt.Errorf("write the task's folder: %w", err), os.RemoveAll(half))
	}
	told, err := k.Adopter.Tell(ctx, project, id, f.files[historyName])
	if err != nil {
		return told, errors.Join(fmt.Errorf("cannot restore task %s: %w", id, err), os.RemoveAll(dir))
	}
	return told, nil
}

// claim pushes the first snapshot of a task that is restored: the same one, with its epoch here. Where another home was
// faster the task is that one's, and the error says so. It is noted before it is pushed: where the program is ended in
// between, the next try finds out whether it got there.
func (k Keeper) claim(ctx context.Context, repo git.Repo, from, dir string, f candidate) error {
	if f.ours {
		return nil
	}
	id := f.said.Task
	f.said.Epoch = f.epoch
	f.said.Work, f.said.Claim = &f.Work, rand.Text()
	// With the work as a parent it stays in the repository, whatever this home pushes before it is laid out here.
	commit, err := f.said.commit(ctx, repo, dir, f.rules, f.Record, f.Work)
	if err != nil {
		return err
	}
	mine := holding{Epoch: f.epoch, Acknowledged: map[string]string{from: commit}}
	if err := k.hold(id, mine); err != nil {
		return err
	}
	err = ship.Snapshots{Repo: repo}.Ship(ctx, from, ship.Shipment{Task: id, Acknowledged: f.Record,
		Shipped: ship.Shipped{Record: commit}})
	if !errors.Is(err, ship.ErrSnapshotMoved) {
		return err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.Join(task.Notef(fencing.ErrUnexpected, "cannot restore task %s: %s: that one has it; nothing was "+
		"done here", id, text), os.Remove(heldPath(k.Home, id)))
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	return proc.WriteFile(path, text, task.PrivateFile)
}
