package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// rebuilt begins the attention mark of a task that came back from its files.
const rebuilt = "rebuilt from its files: "

// Tell builds a task that the record does not have from its folder and the lines of its history.
// What the engine owns comes from the history, which Tell verifies; the rest comes from the document's header.
// A broken history is a *history.BrokenHistory; Tell only notes a torn last line.
// Where a folder has no history of ours, the task comes from its header alone.
func (e *arrivals) Tell(ctx context.Context, project, id string, lines []byte) (record.Adoption, error) {
	var a record.Adoption
	header, err := headerOf(e.folder, project, id)
	if err != nil {
		return a, err
	}
	if other, there := header.get("id"); there && other != id {
		return a, fmt.Errorf("cannot adopt the folder of task %s: the header of its TASK.md says that it "+
			"belongs to task %q; is it a copy?", id, other)
	}
	// The histories of an earlier program have no hashes at all.
	a.Foreign = !bytes.Contains(lines, []byte(`"hash":"`))
	var def *workflow.Definition
	if a.Foreign {
		def, err = e.tellForeign(&a, header)
	} else {
		def, err = e.tellOwn(ctx, &a, header, lines)
	}
	if err != nil {
		return a, err
	}
	t := &a.Task
	t.ID, t.Project, t.Workflow = id, project, def.Ref()
	if t.Branch == "" {
		t.Branch = task.DefaultBranch(id)
	}
	state, exists := def.State(t.Status)
	if !exists {
		return a, fmt.Errorf("cannot adopt task %s: it is in %q, and its workflow %q has no such state", id,
			t.Status, def.Name)
	}
	t.Live = !state.Terminal
	if !t.Live {
		t.Workspace, t.Session, t.QueuedFor = "", "", ""
	}
	if t.Workspace != "" && !isWorkspace(project, t.Workspace) {
		a.Notes = append(a.Notes, fmt.Sprintf("%q is no workspace of its project, so it has none", t.Workspace))
		t.Workspace = ""
	}
	a.Shown = append(a.Shown, header.shown()...)
	if a.Foreign {
		if decide.AwaitsMerge(def, t.Status) {
			t.Subject = task.Subject{By: "an earlier program", Unvouched: true}
		}
		if t.Live && state.Role != "" && t.Status != def.Initial {
			t.Session = t.SessionName() // of an agent that does not live: it is to be started again
		}
		e.tellEntry(&a, def)
		birth := record.Change{Events: []history.Event{birthOf(*t)}, Entry: a.Entry}
		p, unknown := e.project(project)
		if unknown != nil && !errors.Is(unknown, task.ErrNotFound) { // one that is gone promises nothing
			return a, fmt.Errorf("look for the promise of project %q: %w", project, unknown)
		}
		guarantee.Pin(&birth.Events[0], p.Promise)
		birth, err = ruling{change: birth, in: replay.Inputs{Ask: replay.AskAdopt}}.withInputs(step{def: def})
		a.Events = birth.Events
	}
	return a, err
}

// taskHeader is the header of a document, nil where it cannot be read.
type taskHeader struct{ document *document.Document }

func (f taskHeader) get(key string) (string, bool) {
	if f.document == nil {
		return "", false
	}
	return f.document.Front.Get(key)
}

func (f taskHeader) shown() []record.Shown {
	if f.document == nil {
		return nil
	}
	var out []record.Shown
	for _, v := range f.document.Front.Values {
		out = append(out, record.Shown{Field: v.Key, Value: v.Text})
	}
	return out
}

// headerOf reads the header of a document whose task the record does not have. A missing or untrusted header is empty.
func headerOf(folder Folder, project, id string) (taskHeader, error) {
	text, err := folder.Read(project, id, false)
	if errors.Is(err, os.ErrNotExist) {
		return taskHeader{}, nil
	}
	if err != nil {
		return taskHeader{}, err
	}
	d := document.Read(text)
	if d.Broken() != "" || d.Header() == "" {
		return taskHeader{}, nil
	}
	return taskHeader{document: d}, nil
}

func (e *arrivals) tellOwn(ctx context.Context, a *record.Adoption, header taskHeader, lines []byte) (
	*workflow.Definition, error) {
	events, err := history.ReadHistory(lines)
	var broken *history.BrokenHistory
	switch {
	case errors.As(err, &broken) && broken.Torn && len(events) > 0:
		a.Notes = append(a.Notes,
			fmt.Sprintf("the last line of its history, line %d, was cut short and is left out", broken.Line))
		a.Torn = true
	case err != nil:
		return nil, err
	}
	for _, line := range strings.SplitAfterN(string(lines), "\n", len(events)+1)[:len(events)] {
		a.Lines = append(a.Lines, strings.TrimSuffix(line, "\n"))
	}
	if a.Task, a.Spent, err = history.Fold(events); err != nil {
		return nil, err
	}
	traces, err := replay.Trace(events)
	if err != nil {
		return nil, err
	}
	a.Entry, a.Start = traces.Entry, traces.Start
	a.Shown = shownBefore(events)
	if header.document == nil {
		a.Notes = append(a.Notes, "the header of its TASK.md cannot be read: what only the header has "+
			"(harnesses, efforts, models, workspace) is as far as its history tells it")
	}
	takeOver(&a.Task, header)
	def, err := e.workflow(ctx, a.Task.Workflow)
	if err != nil {
		return nil, err
	}
	state, _ := def.State(a.Task.Status)
	a.Task.Live = !state.Terminal
	a.Events, err = tellRebuilt(&a.Task, events, e.now())
	return def, err
}

// tellRebuilt returns the events with which a task comes back: that the record was lost, and what follows when the
// hooks that it owed count as performed, because their state is unknown.
func tellRebuilt(t *task.Task, events []history.Event, now time.Time) ([]history.Event, error) {
	out := []history.Event{{
		Time: now, Type: history.Rebuilt, Actor: task.ActorEngine,
		Reason: "the record was lost: Orange rebuilt the task from its files, and the hooks that still had to run " +
			"count as performed",
	}}
	c, due := decide.ForgetCrashes(*t, nil, events, now)
	if !due {
		return out, nil
	}
	forgotten := ruling{change: c, in: replay.Inputs{Ask: replay.AskSettled}}
	c, err := forgotten.withInputs(step{Snapshot: record.Snapshot{Task: *t}})
	t.Counters = c.Task.Counters
	return append(out, c.Events...), err
}

// takeOver sets from the header what the history does not protect.
func takeOver(t *task.Task, header taskHeader) {
	fields := peoplesFields(t)
	maps.Copy(fields, map[string]*string{"workspace": &t.Workspace, "tmux_session": &t.Session, "pr_url": &t.PRURL,
		"pr_state": &t.PRState, "attention": &t.Attention})
	for key, into := range fields { // each has its own place: the order does not matter
		if text, there := header.get(key); there {
			*into = text
		}
	}
	// Settling a hook may change a task without an event.
	if text, there := header.get("updated_at"); there {
		if at, err := time.Parse(task.TimeFormat, text); err == nil && at.After(t.UpdatedAt) {
			t.UpdatedAt = at
		}
	}
}

// tellForeign builds a task of an earlier program, or one whose history is lost: only its header says what it is.
func (e *arrivals) tellForeign(a *record.Adoption, header taskHeader) (*workflow.Definition, error) {
	status, there := header.get("status")
	if !there {
		return nil, fmt.Errorf("cannot adopt a folder without a history and without a header that says its status; " +
			"put a header into its TASK.md, or move the folder away")
	}
	t := &a.Task
	takeOver(t, header)
	t.Status, t.Session = task.Status(status), ""
	t.Branch, _ = header.get("branch")
	for _, name := range []string{task.ReviewRound, task.CrashCount} {
		text, _ := header.get(name)
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			t.Counters = t.Counters.With(name, n)
		}
	}
	now := e.now()
	t.CreatedAt, t.EnteredAt, t.UpdatedAt = now, now, now
	if text, _ := header.get("created_at"); text != "" {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			t.CreatedAt = at
		}
	}
	name, _ := header.get("workflow")
	if name == "" {
		name = task.DefaultWorkflow
	}
	return e.rules.Present(name)
}

func birthOf(t task.Task) history.Event {
	return history.Event{
		Time: t.EnteredAt, Type: history.Created, Actor: task.ActorEngine,
		Reason:   "taken over from an earlier Orange: its status is what the header of its TASK.md said",
		Counters: t.Counters, Workflow: t.Workflow.Digest,
		Data: map[string]string{
			history.DataAdopted: "true", history.DataStatus: string(t.Status), history.DataBranch: t.Branch,
			history.DataSummary:  t.Summary,
			history.DataWorkflow: t.Workflow.Name, "created_at": task.FormatTime(t.CreatedAt),
			history.DataHarness: t.Harness, history.DataReviewHarness: t.ReviewHarness, history.DataEffort: t.Effort,
			history.DataReviewEffort: t.ReviewEffort, history.DataModel: t.Model,
			history.DataReviewModel: t.ReviewModel,
		},
		Subject: t.Subject,
	}
}

// tellEntry assumes that the document had its present content when the present status began: no history says more.
func (e *arrivals) tellEntry(a *record.Adoption, def *workflow.Definition) {
	text, err := e.folder.Read(a.Task.Project, a.Task.ID, true)
	switch {
	case err == nil:
		a.Entry = decide.Digests(def, a.Task.Status, decide.Evidence{Document: document.Read(text)})
	case !errors.Is(err, os.ErrNotExist):
		a.Notes = append(a.Notes, "its TASK.md cannot be read: "+err.Error())
	}
}

// shownBefore returns values that the header showed at some time, as far as the history has them.
func shownBefore(events []history.Event) []record.Shown {
	var out []record.Shown
	add := func(field, value string) { out = append(out, record.Shown{Field: field, Value: value}) }
	for _, e := range events {
		if e.IsMove() {
			add("status", string(e.From))
			add("status", string(e.To))
		}
		for _, c := range e.Counters {
			add(c.Name, strconv.Itoa(c.Value))
		}
		if e.Type != history.Created && e.Type != history.Updated {
			continue
		}
		for _, v := range document.Fields(task.Task{}) {
			if value, said := e.Data[v.Key]; said {
				add(v.Key, value)
			}
		}
	}
	return out
}

// isWorkspace reports whether a name is one of a project's workspaces: the header may say anything.
func isWorkspace(project, name string) bool {
	number, found := strings.CutPrefix(name, project+"--")
	n, err := strconv.Atoi(number)
	return found && err == nil && n > 0 && strconv.Itoa(n) == number
}

// attention returns what a person should know of a live task that was rebuilt, and how its work goes on.
// A task that lost nothing and does not wait for an agent keeps the mark that it had.
func attention(def *workflow.Definition, a record.Adoption) string {
	t := a.Task
	if !t.Live {
		return t.Attention
	}
	said := append([]string(nil), a.Notes...)
	state, _ := def.State(t.Status)
	lives := false
	for _, seat := range a.Seats {
		lives = lives || seat.Role == state.Role
		if !seat.Ended {
			continue
		}
		next := "the move that needs it starts it again"
		if seat.Role == state.Role {
			next = "then orange task respawn " + t.ID
		}
		said = append(said, fmt.Sprintf("its %s lives and has lost its seat, so that it cannot ask for "+
			"anything: end it (orange task attach %s --role %s), %s", seat.Role, t.ID, seat.Role, next))
	}
	if state.Role != "" && !lives && t.Workspace != "" && !a.Foreign { // no agent of an earlier Orange lives
		said = append(said, fmt.Sprintf("its %s does not live: orange task respawn %s", state.Role, t.ID))
	}
	if len(said) == 0 {
		return t.Attention
	}
	if t.Attention != "" && !strings.HasPrefix(t.Attention, rebuilt) {
		said = append(said, "before that: "+t.Attention)
	}
	return rebuilt + strings.Join(said, "; ")
}
