package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Sync takes over what people changed in the task's files, and makes them equal to the record.
func (e *files) Sync(ctx context.Context, id string) error {
	_, _, mirrors, err := e.refreshWith(ctx, id, headerAlone, true)
	return errors.Join(err, mirrors)
}

// Refresh looks at a task's files, takes over what people may set there, restores what they may not,
// and makes the mirrors equal to the record. It returns the task as it then is and the document as it was read.
// A mirror that cannot be written does not prevent the look: the change that needs the mirror reports it.
func (e *files) Refresh(ctx context.Context, id string) (record.Snapshot, decide.Evidence, error) {
	s, evidence, _, err := e.refreshWith(ctx, id, wholeDocument, false)
	return s, evidence, err
}

// Document is the text of a task's document for a person who reads it. Where a program has put a file of its own in the
// place of the link to it, as an editor does that renames, Document takes that file over first, if it can.
func (e *files) Document(ctx context.Context, t task.Task) (string, error) {
	if t.Workspace != "" {
		if _, replaced, err := e.work.Replaced(ctx, t); err == nil && replaced {
			_, _, _ = e.Refresh(ctx, t.ID) // else the next look of the monitor does, and tells of the fault
		}
	}
	text, err := e.folder.Read(t.Project, t.ID, true)
	return string(text), err
}

// maxHeaders bounds how often Orange compares a header again because someone wrote it meanwhile.
const maxHeaders = 10

// refresh looks at the header alone. Of history.jsonl it compares the length and the last line.
func (e *files) refresh(ctx context.Context, id string) (s record.Snapshot, mirrors, err error) {
	s, _, mirrors, err = e.refreshWith(ctx, id, headerAlone, false)
	return s, mirrors, err
}

// refreshWith looks at the whole document, or at its header alone: then the document that it returns is no evidence
// for a gate. With compare it compares all of history.jsonl with the record.
func (e *files) refreshWith(ctx context.Context, id string, wanted depth,
	compare bool) (s record.Snapshot, evidence decide.Evidence, mirrors, err error) {
	release, err := e.folder.Lock(ctx, FilesLock(id))
	if err != nil {
		return s, evidence, nil, err
	}
	defer release()
	if compare { // what was begun is written to its end, even if the one who asked gives up now
		ctx = context.WithoutCancel(ctx)
	}
	for range maxHeaders {
		var header *document.Document
		s, header, evidence, err = e.inspectLocked(ctx, id, wanted)
		if err != nil {
			return s, evidence, nil, err
		}
		var projections error
		if s, projections = e.writeProjections(ctx, s); projections != nil {
			projections = fmt.Errorf("project task %s: %w", id, projections)
		}
		past := record.HistoryLines{Whole: compare, Tail: func(after int) ([]string, int64, error) {
			return e.record.Tail(ctx, id, after)
		}}
		if mirrors = e.folder.Sync(s.Task, past, header.Header()); mirrors != nil {
			mirrors = fmt.Errorf("mirror task %s: %w", id, mirrors)
		}
		mirrors = errors.Join(projections, mirrors)
		if !errors.Is(mirrors, task.ErrConflict) {
			break // else someone wrote the header since it was compared: look at that first
		}
	}
	return s, evidence, mirrors, nil
}

// FilesLock is the name of the lock for writing a task's files.
func FilesLock(id string) string { return id + ".files" }

// depth reports whether the whole document of a task is read, or its header alone. Its error ends the look.
type depth func(record.Snapshot) (whole bool, err error)

func wholeDocument(record.Snapshot) (bool, error) { return true, nil }

func headerAlone(record.Snapshot) (bool, error) { return false, nil }

// inspect loads a task, looks at its files and takes over what people may set there. It writes none of them: its
// caller makes the mirrors equal after the decision.
func (e *files) inspect(ctx context.Context, id string, wanted depth) (record.Snapshot, decide.Evidence, error) {
	release, err := e.folder.Lock(ctx, FilesLock(id))
	if err != nil {
		return record.Snapshot{}, decide.Evidence{}, err
	}
	defer release()
	s, _, evidence, err := e.inspectLocked(ctx, id, wanted)
	return s, evidence, err
}

// errNotNow reports that a task was not looked at, because of the hooks that it owes.
var errNotNow = errors.New("not now")

func (e *files) inspectLocked(ctx context.Context, id string, wanted depth) (
	record.Snapshot, *document.Document, decide.Evidence, error) {
	s, err := e.load(ctx, id)
	if err != nil {
		return s, nil, decide.Evidence{}, err
	}
	whole, err := wanted(s)
	if err != nil {
		return s, nil, decide.Evidence{}, err
	}
	events, err := e.adoptReplaced(ctx, s)
	if err != nil {
		return s, nil, decide.Evidence{}, err
	}
	header, evidence := readDocument(e.folder, s.Task, whole)
	if s, err = e.reconcile(ctx, s, header, events); err != nil {
		return s, nil, evidence, err
	}
	evidence.Spent, evidence.Entry, evidence.Start = s.Spent, s.Entry, s.Start
	return s, header, evidence, nil
}

// readDocument reads the document, or its header alone. The header is nil where not even that can be read.
func readDocument(folder Folder, t task.Task, whole bool) (header *document.Document, evidence decide.Evidence) {
	text, err := folder.Read(t.Project, t.ID, whole)
	if err == nil {
		evidence.Document = document.Read(text)
		return evidence.Document, evidence
	}
	evidence.Trouble, evidence.TooLarge = err.Error(), errors.Is(err, document.ErrTooLarge)
	if text, err = folder.Read(t.Project, t.ID, false); err == nil {
		header = document.Read(text)
	}
	return header, evidence
}

// movingIn reports whether hooks prepare or release the workspace at this moment: then a replaced link is no edit.
func movingIn(owed []task.OwedHook) bool {
	for _, h := range owed {
		if h.Action == action.AcquireWorkspace || h.Action == action.ReleaseWorkspace {
			return true
		}
	}
	return false
}

// adoptReplaced takes over the file that a program put where the workspace has the link to the document.
func (e *files) adoptReplaced(ctx context.Context, s record.Snapshot) ([]history.Event, error) {
	t := s.Task
	if t.Workspace == "" || movingIn(s.Owed) {
		return nil, nil
	}
	content, replaced, err := e.work.Replaced(ctx, t)
	if err != nil || !replaced {
		return nil, err
	}
	before, err := e.folder.Adopt(t, content)
	if err != nil {
		return nil, err
	}
	digest := document.Digest(string(before))
	if err := e.keepText(t, digest, string(before)); err != nil {
		return nil, err
	}
	if err := e.work.Relink(ctx, t); err != nil {
		return nil, err
	}
	return []history.Event{{
		Type: history.DocumentAdopted, Reason: "a program replaced the link to TASK.md by a file of its own",
		Data: map[string]string{"before": digest},
	}}, nil
}

// keepText keeps a text of a task where it outlives a power cut.
func (e *files) keepText(t task.Task, digest, text string) error {
	if _, err := e.folder.Keep(t.Project, t.ID, digest, text); err != nil {
		return err
	}
	return e.folder.Harden(t.Project, t.ID, digest)
}

// reconcile compares the document's frontmatter with the record, commits what follows from it, and returns the
// record as it then is.
func (e *files) reconcile(ctx context.Context, s record.Snapshot, d *document.Document, events []history.Event) (
	record.Snapshot, error) {
	then, changed, err := e.do(ctx, s.Task.ID, e.startingFrom(step{Snapshot: s}), func(s step) (*ruling, error) {
		c, due, err := e.headerChange(ctx, s.Snapshot, d, events)
		if err != nil || !due {
			return nil, err
		}
		return &ruling{change: c}, nil
	})
	if err != nil {
		return s, err
	}
	if !changed { // another process may have changed the task meanwhile
		return then.Snapshot, nil
	}
	return e.record.Load(ctx, s.Task.ID)
}

// headerChange is the change that follows from the frontmatter, if one is due.
func (e *files) headerChange(ctx context.Context, s record.Snapshot, d *document.Document, events []history.Event) (
	c record.Change, due bool, err error) {
	t := s.Task
	all := append([]history.Event(nil), events...)
	restored, err := compare(ctx, e.record, &t, d)
	if all = append(all, restored...); err != nil || len(all) == 0 {
		return c, false, err
	}
	now := e.now()
	for i := range all {
		all[i].Time = now
		if all[i].Actor == "" {
			all[i].Actor = task.ActorEngine
		}
	}
	t.UpdatedAt = now
	return record.Change{Task: t, Expect: s.Task.Version, Events: all}, true, nil
}

// compare finds values in the frontmatter that no rendering ever had. It takes over those of people into t, and
// restores and reports the others.
func compare(ctx context.Context, on Record, t *task.Task, d *document.Document) ([]history.Event, error) {
	if d == nil {
		return nil, nil
	}
	var events []history.Event
	if broken := d.Broken(); broken != "" {
		return []history.Event{{
			Type: history.DocumentRestored, Reason: "the header of TASK.md cannot be read; a new one was put above it",
			Data: map[string]string{"problem": broken},
		}}, nil
	}
	adopted := map[string]string{}
	for _, want := range document.Fields(*t) {
		found, there := d.Front.Get(want.Key)
		if !there || found == want.Text || want.Key == "updated_at" {
			continue
		}
		old, err := on.WasRendered(ctx, t.ID, want.Key, found)
		if err != nil {
			return nil, err
		}
		field, may := peoplesFields(t)[want.Key]
		switch {
		case old:
		case may:
			*field, adopted[want.Key] = found, found
		default:
			events = append(events, history.Event{
				Type: history.DocumentRestored, Reason: "someone wrote a value into TASK.md that only the engine sets",
				Data: map[string]string{"field": want.Key, "found": found, "kept": want.Text},
			})
		}
	}
	if len(adopted) > 0 {
		events = append(events, history.Event{Type: history.Updated, Reason: "taken over from TASK.md", Data: adopted})
	}
	return events, nil
}

// peoplesFields are the fields of a task that people may set in the document's header, by their keys there and in the
// history.
func peoplesFields(t *task.Task) map[string]*string {
	return map[string]*string{
		history.DataSummary: &t.Summary, history.DataHarness: &t.Harness, history.DataReviewHarness: &t.ReviewHarness,
		history.DataEffort: &t.Effort, history.DataReviewEffort: &t.ReviewEffort, history.DataModel: &t.Model,
		history.DataReviewModel: &t.ReviewModel,
	}
}

// amend is change, and makes the files equal to the record after it.
func (e *files) amend(ctx context.Context, id string, build func(record.Snapshot) (
	c record.Change, due bool, err error)) (t task.Task, changed bool, err error) {
	if t, changed, err = e.change(ctx, id, build); changed {
		err = e.Sync(ctx, id)
	}
	return t, changed, err
}

// restoreFiles makes the files equal to the record after a request that changed nothing: it removes a status that
// was written into the header. Its failure is not part of the refusal; the next change or the monitor reports it.
func (e *files) restoreFiles(ctx context.Context, id string) {
	_, mirrors, err := e.refresh(ctx, id)
	if err = errors.Join(err, mirrors); err != nil && !errors.Is(err, task.ErrNotFound) {
		e.logFailure("the files could not be made equal to the record", id, err)
	}
}
