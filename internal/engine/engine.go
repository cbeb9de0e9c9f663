// Package engine is the only writer of the record: load, look at the evidence, decide, commit, perform, settle.
//
// It owns the order of these steps and what happens when one of them is cut short.
// It does not own the rules (decide), what hooks do (hook), nor where anything is kept (sqlite, mirror).
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Store is the record as the corridor needs it.
type Store interface {
	Load(ctx context.Context, id string) (task.Snapshot, error)
	Commit(ctx context.Context, c task.Change) (task.Task, error)
	Hooks(ctx context.Context, id string, event int) ([]task.OwedHook, error)
	BeginHook(ctx context.Context, hook int64, now time.Time) error
	SeatTaken(ctx context.Context, seat task.Seat) error
	Delete(ctx context.Context, id string) error
}

// Index finds tasks in the record and tells their past.
type Index interface {
	List(ctx context.Context, f task.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]task.Holder, error)
	Debtors(ctx context.Context, now time.Time) ([]string, error)
	Events(ctx context.Context, id string, after int) ([]task.Event, error)
	Lines(ctx context.Context, id string) ([]string, error)
	WasRendered(ctx context.Context, id, field, value string) (bool, error)
}

// Seats finds out who a caller is.
type Seats interface {
	Seat(ctx context.Context, hash string) (task.Seat, error)
	SeatOf(ctx context.Context, pid int, began string) (task.Seat, error)
}

// Documents is the task's folder.
type Documents interface {
	Create(t task.Task, body string) error
	Read(project, id string, whole bool) ([]byte, error)
	Append(project, id, text string) error
	Adopt(t task.Task, content []byte) (before []byte, err error)
	Keep(project, id, digest, text string) error
	Trash(project, id string) (string, error)
}

// Mirror makes the files equal to the record, and has the locks beside them.
type Mirror interface {
	// Sync gives task.ErrConflict, and leaves the document alone, where its header is no longer the one that was compared.
	Sync(t task.Task, lines []string, header string) error
	Lock(ctx context.Context, name string) (release func(), err error)
}

// Rules finds workflows.
type Rules interface {
	// Named is the workflow of that name as it stands now, kept for the tasks that it is pinned by.
	Named(ctx context.Context, name string) (*workflow.Definition, error)
	// Pinned is the very workflow that a task was created under.
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// Desk is a task's workspace and repository, as far as the engine itself touches them.
type Desk interface {
	// Replaced looks whether a program put a file where the link to the document was, and answers its content.
	Replaced(ctx context.Context, t task.Task) (content []byte, replaced bool, err error)
	// Relink puts the link back.
	Relink(ctx context.Context, t task.Task) error
	CheckBranch(ctx context.Context, name string) error
	// SetBranch renames or switches the workspace's branch; with an empty name it answers the present one.
	SetBranch(ctx context.Context, t task.Task, name string) (string, error)
	Project(name string) (task.Project, error)
}

// Merger merges a task's branch into the project's default branch.
type Merger interface {
	// Ahead says whether the branch holds anything that the default branch has not. A workspace that is on another
	// branch is an error: what the agent did is not where the merge would look for it.
	Ahead(ctx context.Context, t task.Task) (bool, error)
	Merge(ctx context.Context, t task.Task, strategy string) (commit, how string, err error)
}

// Performer performs one hook. It may be asked again for one that it has performed: it looks first.
type Performer interface {
	Perform(ctx context.Context, job task.Job) (task.Effect, error)
}

// Runner sees to it that a task's owed hooks are performed by a process that none of them can end.
type Runner interface {
	Run(ctx context.Context, id string, inherit bool) error
}

// Engine is the corridor. Every field is required.
type Engine struct {
	Store     Store
	Index     Index
	Seats     Seats
	Documents Documents
	Mirror    Mirror
	Rules     Rules
	Desk      Desk
	Merger    Merger
	Performer Performer
	Runner    Runner
	Now       func() time.Time
	Random    io.Reader
	Log       *slog.Logger
	Patience  time.Duration // how long a request waits for its hooks
}

// maxConflicts bounds how often a decision is made anew because somebody else was faster.
const maxConflicts = 100

// hookPoll is how often a waiting request looks whether the runner has settled its hooks.
const hookPoll = 10 * time.Millisecond

// change decides and commits until nobody else was faster. A nil change commits nothing.
func (e *Engine) change(ctx context.Context, id string, build func(task.Snapshot) (*task.Change, error)) (task.Task, error) {
	for range maxConflicts {
		s, err := e.Store.Load(ctx, id)
		if err != nil {
			return task.Task{}, err
		}
		c, err := build(s)
		if err != nil || c == nil {
			return s.Task, err
		}
		t, err := e.Store.Commit(ctx, *c)
		if !errors.Is(err, task.ErrConflict) {
			return t, err
		}
	}
	return task.Task{}, task.Notef(task.ErrConflict, "cannot change task %s: others change it all the time; try again", id)
}

// sync takes over what people changed in the task's files, and makes them equal to the record.
func (e *Engine) sync(ctx context.Context, id string) error {
	_, _, mirrors, err := e.refresh(ctx, id, false)
	return errors.Join(err, mirrors)
}

func (e *Engine) syncLocked(ctx context.Context, id, header string) error {
	s, err := e.Store.Load(ctx, id)
	if err != nil {
		return err
	}
	lines, err := e.Index.Lines(ctx, id)
	if err != nil {
		return err
	}
	if err := e.Mirror.Sync(s.Task, lines, header); err != nil {
		return fmt.Errorf("mirror task %s: %w", id, err)
	}
	return nil
}

// owner says whether people own a field of the frontmatter: a new value there is theirs to set.
func owner(key string) bool {
	switch key {
	case "summary", "harness", "review_harness", "effort", "review_effort":
		return true
	}
	return false
}

// Refresh looks at a task's files, takes over what people may set there, puts back what they may not,
// and makes the mirrors equal to the record. It answers the task as it then is and the document as it was read.
// A mirror that cannot be written is no reason not to look: the change that needs it says so.
func (e *Engine) Refresh(ctx context.Context, id string) (task.Snapshot, decide.Evidence, error) {
	s, evidence, _, err := e.refresh(ctx, id, true)
	return s, evidence, err
}

// refresh looks at the whole document, or at its header alone: then the document that it answers is no evidence for a gate.
func (e *Engine) refresh(ctx context.Context, id string, whole bool) (s task.Snapshot, evidence decide.Evidence, mirrors, err error) {
	release, err := e.Mirror.Lock(ctx, id+".files")
	if err != nil {
		return s, evidence, nil, err
	}
	defer release()
	if s, err = e.Store.Load(ctx, id); err != nil {
		return s, evidence, nil, err
	}
	events, err := e.adoptReplaced(ctx, s)
	if err != nil {
		return s, evidence, nil, err
	}
	for range maxHeaders {
		var header *document.Document
		header, evidence = e.read(s.Task, whole)
		if err := e.reconcile(ctx, id, header, events); err != nil {
			return s, evidence, nil, err
		}
		events = nil
		if mirrors = e.syncLocked(ctx, id, header.Header()); !errors.Is(mirrors, task.ErrConflict) {
			break // else somebody wrote the header since it was compared: what they wrote is looked at first
		}
	}
	if s, err = e.Store.Load(ctx, id); err != nil {
		return s, evidence, mirrors, err
	}
	evidence.Spent, evidence.Entry = s.Spent, s.Entry
	return s, evidence, mirrors, nil
}

// maxHeaders bounds how often a header is compared anew because somebody wrote it meanwhile.
const maxHeaders = 10

// read reads the document, or its header alone. The header is nil where not even that can be read.
func (e *Engine) read(t task.Task, whole bool) (header *document.Document, evidence decide.Evidence) {
	text, err := e.Documents.Read(t.Project, t.ID, whole)
	if err == nil {
		evidence.Document = document.Read(text)
		return evidence.Document, evidence
	}
	evidence.Trouble = err.Error()
	if text, err = e.Documents.Read(t.Project, t.ID, false); err == nil {
		header = document.Read(text)
	}
	return header, evidence
}

// movingIn says whether the workspace is being made ready or given back at this moment: then its link is nobody's work.
func movingIn(owed []task.OwedHook) bool {
	for _, h := range owed {
		if h.Action == task.AcquireWorkspace || h.Action == task.ReleaseWorkspace {
			return true
		}
	}
	return false
}

// adoptReplaced takes over the file that a program put where the workspace has the link to the document.
func (e *Engine) adoptReplaced(ctx context.Context, s task.Snapshot) ([]task.Event, error) {
	t := s.Task
	if t.Workspace == "" || movingIn(s.Owed) {
		return nil, nil
	}
	content, replaced, err := e.Desk.Replaced(ctx, t)
	if err != nil || !replaced {
		return nil, err
	}
	before, err := e.Documents.Adopt(t, content)
	if err != nil {
		return nil, err
	}
	digest := document.Digest(string(before))
	if err := e.Documents.Keep(t.Project, t.ID, digest, string(before)); err != nil {
		return nil, err
	}
	if err := e.Desk.Relink(ctx, t); err != nil {
		return nil, err
	}
	return []task.Event{{
		Type: task.DocumentAdopted, Reason: "a program replaced the link to TASK.md by a file of its own",
		Data: map[string]string{"before": digest},
	}}, nil
}

// reconcile compares the document's frontmatter with the record and commits what follows from it.
func (e *Engine) reconcile(ctx context.Context, id string, d *document.Document, events []task.Event) error {
	_, err := e.change(ctx, id, func(s task.Snapshot) (*task.Change, error) {
		t := s.Task
		all := append([]task.Event(nil), events...)
		restored, err := e.compare(ctx, &t, d)
		if err != nil {
			return nil, err
		}
		all = append(all, restored...)
		if len(all) == 0 {
			return nil, nil
		}
		now := e.Now()
		for i := range all {
			all[i].Time = now
			if all[i].Actor == "" {
				all[i].Actor = task.ActorEngine
			}
		}
		t.UpdatedAt = now
		return &task.Change{Task: t, Expect: s.Task.Version, Events: all}, nil
	})
	return err
}

// compare finds values in the frontmatter that no rendering ever had. Those of people are taken over into t,
// the others are put back and told.
func (e *Engine) compare(ctx context.Context, t *task.Task, d *document.Document) ([]task.Event, error) {
	if d == nil {
		return nil, nil
	}
	var events []task.Event
	if broken := d.Broken(); broken != "" {
		return []task.Event{{
			Type: task.DocumentRestored, Reason: "the header of TASK.md cannot be read; a new one was put above it",
			Data: map[string]string{"problem": broken},
		}}, nil
	}
	adopted := map[string]string{}
	for _, want := range document.Fields(*t) {
		found, there := d.Front.Get(want.Key)
		if !there || found == want.Text || want.Key == "updated_at" {
			continue
		}
		old, err := e.Index.WasRendered(ctx, t.ID, want.Key, found)
		if err != nil {
			return nil, err
		}
		switch {
		case old:
		case owner(want.Key) && e.adopt(t, want.Key, found):
			adopted[want.Key] = found
		default:
			events = append(events, task.Event{
				Type: task.DocumentRestored, Reason: "somebody wrote a value into TASK.md that only the engine sets",
				Data: map[string]string{"field": want.Key, "found": found, "kept": want.Text},
			})
		}
	}
	if len(adopted) > 0 {
		events = append(events, task.Event{Type: task.Updated, Reason: "taken over from TASK.md", Data: adopted})
	}
	return events, nil
}

// adopt sets a field of people's to what they wrote into the document.
func (e *Engine) adopt(t *task.Task, key, value string) bool {
	switch key {
	case "summary":
		t.Summary = value
	case "harness":
		t.Harness = value
	case "review_harness":
		t.ReviewHarness = value
	case "effort":
		t.Effort = value
	case "review_effort":
		t.ReviewEffort = value
	default:
		return false
	}
	return true
}
