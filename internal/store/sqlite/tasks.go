package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const columns = `id, project, branch, summary, harness, review_harness, effort, review_effort, status, previous,
	counters, workspace, session, pushed, attention, queued_for, workflow, workflow_version, workflow_digest, live,
	pr_url, pr_state,
	created_at, updated_at, entered_at, stalled_at, overdue, subject, version, seq, hash, model,
	review_model, waits_for`

// noSubject is the subject of a task that has none, as it is written.
const noSubject = "{}"

// values are a task's columns, in their order.
func values(t task.Task) ([]any, error) {
	if t.Counters == nil {
		t.Counters = task.Counters{}
	}
	counters, err := json.Marshal(t.Counters)
	if err != nil {
		return nil, fmt.Errorf("write counters: %w", err)
	}
	subject, err := json.Marshal(t.Subject)
	if err != nil {
		return nil, fmt.Errorf("write subject: %w", err)
	}
	return []any{
		t.ID, t.Project, t.Branch, t.Summary, t.Harness, t.ReviewHarness, t.Effort, t.ReviewEffort,
		string(t.Status), string(t.Previous), string(counters), t.Workspace, t.Session, t.Pushed,
		t.Attention, string(t.QueuedFor), t.Workflow.Name, t.Workflow.Version, t.Workflow.Digest, t.Live, t.PRURL,
		t.PRState,
		task.FormatTime(t.CreatedAt), task.FormatTime(t.UpdatedAt), task.FormatTime(t.EnteredAt),
		since(t.StalledAt), t.Overdue, string(subject), t.Version, t.Seq, t.Hash, t.Model, t.ReviewModel,
		strings.Join(t.After, ","),
	}, nil
}

// since is a time that may never have come: then it is empty.
func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return task.FormatTime(t)
}

// reader reads tasks. What many of them have in common it keeps once.
type reader struct {
	words    map[string]string
	counters map[string]task.Counters

	row  row   // the last row
	into []any // where its columns go
}

// row is a row of whole tasks as it comes. What database/sql writes to is on the heap: one place for all rows.
type row struct {
	task                                                  task.Task
	counters, created, updated, entered, stalled, subject string
	after                                                 string
}

func newReader() *reader {
	r := &reader{words: map[string]string{}, counters: map[string]task.Counters{}}
	t, w := &r.row.task, &r.row
	r.into = []any{&t.ID, &t.Project, &t.Branch, &t.Summary, &t.Harness, &t.ReviewHarness, &t.Effort, &t.ReviewEffort,
		(*string)(&t.Status), (*string)(&t.Previous), &w.counters,
		&t.Workspace, &t.Session, &t.Pushed, &t.Attention, (*string)(&t.QueuedFor), &t.Workflow.Name,
		&t.Workflow.Version, &t.Workflow.Digest, &t.Live, &t.PRURL, &t.PRState,
		&w.created, &w.updated, &w.entered, &w.stalled, &t.Overdue, &w.subject, &t.Version, &t.Seq, &t.Hash,
		&t.Model, &t.ReviewModel, &w.after}
	return r
}

// share makes one text of all that are the same.
func (r *reader) share(words ...*string) {
	for _, word := range words {
		one, known := r.words[*word]
		if !known {
			one = *word
			r.words[one] = one
		}
		*word = one
	}
}

// count reads a task's counters. They are values, so that tasks which count alike may have the same ones.
func (r *reader) count(text string) (task.Counters, error) {
	if known, found := r.counters[text]; found {
		return known, nil
	}
	var c task.Counters
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	// A name that is damaged leaves its value out, and that value may be 0: only the text tells.
	if same, err := json.Marshal(c); err != nil || string(same) != text {
		return nil, fmt.Errorf("read counters: found %q, expected %q: the row is damaged", text, same)
	}
	r.counters[text] = c
	return c, nil
}

func scanTask(scan func(...any) error) (task.Task, error) { return newReader().task(scan) }

// task names the task whose row it cannot read: the id comes first.
func (r *reader) task(scan func(...any) error) (task.Task, error) {
	r.row = row{}
	err := scan(r.into...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return task.Task{}, err
	case err != nil && !strings.HasPrefix(err.Error(), "sql: Scan error"): // of a value that is no such number
		return task.Task{}, fmt.Errorf("read the row of task %q: %w", r.row.task.ID, err)
	case err == nil:
		err = r.parse(&r.row.task)
	}
	if err != nil {
		return task.Task{}, damagedTask(r.row.task.ID, err)
	}
	return r.row.task, nil
}

func damagedTask(id string, err error) error {
	return fmt.Errorf("%w: read the row of task %q: %w; %q keeps the record aside, and makes a new one from the "+
		"tasks' folders", errDamagedRow, id, err, "orange doctor --rebuild")
}

// parse reads what the last row has as text.
func (r *reader) parse(t *task.Task) (err error) {
	r.share(&t.Project, &t.Harness, &t.ReviewHarness, &t.Effort, &t.ReviewEffort, &t.Model,
		&t.ReviewModel, (*string)(&t.Status), (*string)(&t.Previous),
		&t.Workflow.Name, &t.Workflow.Digest, &t.PRState)
	if t.Counters, err = r.count(r.row.counters); err != nil {
		return err
	}
	if r.row.subject != noSubject {
		if err := json.Unmarshal([]byte(r.row.subject), &t.Subject); err != nil {
			return fmt.Errorf("read subject: %w", err)
		}
	}
	t.After = splitIDs(r.row.after)
	for _, pair := range [...]struct {
		text string
		into *time.Time
	}{{r.row.created, &t.CreatedAt}, {r.row.updated, &t.UpdatedAt}, {r.row.entered, &t.EnteredAt},
		{r.row.stalled, &t.StalledAt}} {
		if pair.text == "" {
			continue
		}
		if *pair.into, err = time.Parse(task.TimeFormat, pair.text); err != nil {
			return fmt.Errorf("read time: %w", err)
		}
	}
	return nil
}

// splitIDs are the ids of tasks, as they are written.
func splitIDs(ids string) []string {
	if ids == "" {
		return nil
	}
	return strings.Split(ids, ",")
}

// briefColumns are the columns of a brief look. The driver takes about as long for a value as SQLite takes for a
// row: all of them come as one value. Words in which no control character can be come first, with one behind each.
// The two texts at the end may have any characters; the number before them is the length of the first.
const briefColumns = `live || created_at || char(31) || id || char(31) || project || char(31) || status || char(31)
	|| branch || char(31) || session || char(31) || workspace || char(31) || queued_for || char(31) || waits_for
	|| char(31) || workflow || char(31) || workflow_digest || char(31) || previous || char(31) || stalled_at
	|| char(31) || overdue || char(31) || updated_at || char(31) || octet_length(attention) || char(31) || attention
	|| summary`

// briefTask is what a list shows, from a row of a brief look.
func briefTask(row string) (t task.Task, err error) {
	var first, stalled, overdue, updated, attention, after string
	first, row, _ = strings.Cut(row, briefEnd)
	t.Live = strings.HasPrefix(first, "1") // its time follows
	for _, into := range []*string{&t.ID, &t.Project, (*string)(&t.Status), &t.Branch, &t.Session, &t.Workspace,
		(*string)(&t.QueuedFor), &after, &t.Workflow.Name, &t.Workflow.Digest, (*string)(&t.Previous), &stalled,
		&overdue, &updated, &attention} {
		*into, row, _ = strings.Cut(row, briefEnd)
	}
	t.After = splitIDs(after)
	bytes, err := strconv.Atoi(attention)
	if err == nil && (bytes < 0 || bytes > len(row)) {
		err = fmt.Errorf("expected %d bytes, found %d", bytes, len(row))
	}
	if err == nil {
		t.Attention, t.Summary = row[:bytes], row[bytes:]
		t.Overdue, err = strconv.Atoi(overdue)
	}
	if err == nil {
		t.UpdatedAt, err = time.Parse(task.TimeFormat, updated)
	}
	if err == nil && stalled != "" {
		t.StalledAt, err = time.Parse(task.TimeFormat, stalled)
	}
	if err != nil {
		return task.Task{}, damagedTask(t.ID, err)
	}
	return t, nil
}

// briefEnd is behind each word of a row of a brief look.
const briefEnd = "\x1f"

// briefOrder is the usual order of rows of a brief look: the live tasks first, the newest first.
func briefOrder(a, b string) int {
	first, a, _ := strings.Cut(a, briefEnd)
	second, b, _ := strings.Cut(b, briefEnd)
	return cmp.Or(strings.Compare(second, first), strings.Compare(a, b))
}

// briefly runs a question for rows of a brief look. The tasks, which are large, are made when their number is known.
func (s *Store) briefly(ctx context.Context, q question) ([]task.Task, error) {
	var rows []string
	var row string
	err := s.rows(ctx, q.text(briefColumns), q.args, func(scan func(...any) error) error {
		err := scan(&row)
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	if q.order == "" {
		slices.SortFunc(rows, briefOrder)
	}
	out := make([]task.Task, len(rows))
	for i, row := range rows {
		if out[i], err = briefTask(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Load reads everything that is known of one task. An unknown id is task.ErrNotFound.
func (s *Store) Load(ctx context.Context, id string) (record.Snapshot, error) {
	var snapshot record.Snapshot
	err := s.inOneState(ctx, func(tx *batch) error {
		var err error
		snapshot, err = load(ctx, tx, id)
		return err
	})
	if err != nil {
		return record.Snapshot{}, fmt.Errorf("load task %q: %w", id, err)
	}
	return snapshot, nil
}

func load(ctx context.Context, tx *batch, id string) (record.Snapshot, error) {
	t, err := loadTask(ctx, tx, id)
	if err != nil {
		return record.Snapshot{}, err
	}
	snapshot := record.Snapshot{Task: t}
	snapshot.Owed, err = hooks(ctx, tx, "task = ? AND state IN ('pending', 'failed')", id)
	if err != nil {
		return record.Snapshot{}, err
	}
	// All three in one question: who waits for a move waits for each of them.
	query := `SELECT 0, source, digest, seq FROM spent WHERE task = ?
		UNION ALL SELECT 1, source, digest, 0 FROM entries WHERE task = ?
		UNION ALL SELECT 2, source, digest, 0 FROM starts WHERE task = ? ORDER BY 4, 2`
	err = tx.each(ctx, query, []any{id, id, id}, func(scan func(...any) error) error {
		var kind int
		var found task.Spent
		err := scan(&kind, &found.Source, &found.Digest, &found.Seq)
		addEvidence(&snapshot, kind, found)
		return err
	})
	return snapshot, err
}

// addEvidence adds evidence of one of three kinds to what is on record of its task.
func addEvidence(s *record.Snapshot, kind int, found task.Spent) {
	const spent, entry = 0, 1
	switch kind {
	case spent:
		s.Spent = append(s.Spent, found)
	case entry:
		s.Entry = append(s.Entry, found.Evidence)
	default:
		s.Start = append(s.Start, found.Evidence)
	}
}

// loadTask reads the row of one task. An unknown id is task.ErrNotFound.
func loadTask(ctx context.Context, tx *batch, id string) (task.Task, error) {
	t, err := scanTask(func(into ...any) error {
		return tx.one(ctx, "SELECT "+columns+" FROM tasks WHERE id = ?", []any{id}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return t, task.Notef(task.ErrNotFound, "there is no task %q", id)
	}
	return t, err
}

// fewChanges are looked at for tasks that ended lately: callers poll for them, and pay for those alone.
const fewChanges = 300

// question is a question for tasks.
type question struct {
	where []string
	args  []any
	// order, and how many at most. Empty for the usual order of all: SQLite would sort whole rows, which takes it
	// memory for a second copy of them, and longer than it takes to sort the answer.
	order string
	many  bool // nothing makes the answer short
}

func (q *question) add(condition string, arg ...any) {
	q.where = append(q.where, condition)
	q.args = append(q.args, arg...)
}

func (q *question) text(wanted string) string {
	text := "SELECT " + wanted + " FROM tasks"
	if len(q.where) > 0 {
		text += " WHERE " + strings.Join(q.where, " AND ")
	}
	return text + q.order
}

func questionFor(f record.Filter) (q question) {
	switch {
	case f.Project != "" && f.Brief:
		// The index of projects would fetch the rows one by one, from all over the table: most homes have few projects,
		// and then it is quicker to go over all rows.
		q.add("+project = ?", f.Project)
	case f.Project != "":
		q.add("project = ?", f.Project)
	}
	if f.Status != "" {
		q.add("status = ?", string(f.Status))
	}
	if f.Branch != "" {
		q.add("branch = ?", f.Branch)
	}
	if f.Prefix != "" {
		// A range is found in the index; ids are ASCII, so none with the prefix comes behind its end.
		q.add("id >= ? AND id < ?", f.Prefix, f.Prefix+"\U0010FFFF")
	}
	if f.Live {
		q.add("live = 1")
	}
	if f.Over {
		q.add("workspace != '' AND live = 0")
	}
	if f.WaitsFor != "" {
		q.add("waits_for != '' AND instr(waits_for, ?) > 0", f.WaitsFor)
	}
	if f.Limited {
		q.add("live = 1 AND instr(counters, ?) > 0", record.LimitCount)
	}
	if !f.EndedSince.IsZero() {
		q.add("id IN (SELECT task FROM changes WHERE number > (SELECT max(number) FROM changes) - ?) AND live = "+
			"0 AND updated_at >= ?",
			fewChanges, task.FormatTime(f.EndedSince))
	}
	q.many = f.Branch == "" && f.Prefix == "" && !f.Over && !f.Limited && f.WaitsFor == "" && f.EndedSince.IsZero() &&
		!f.Queued && f.Most == 0
	switch {
	case f.Queued:
		q.add("queued_for != ''")
		q.order = " ORDER BY updated_at, id"
	case f.Most > 0:
		q.order = " ORDER BY live DESC, created_at DESC, id"
	}
	if f.Most > 0 {
		q.order += " LIMIT ?"
		q.args = append(q.args, f.Most)
	}
	return q
}

// List finds tasks: live ones first, the newest first among them; queued ones in the order of their waiting.
func (s *Store) List(ctx context.Context, f record.Filter) ([]task.Task, error) {
	list := s.wholly
	if f.Brief {
		list = s.briefly
	}
	out, err := list(ctx, questionFor(f))
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return out, nil
}

// wholly runs a question for whole tasks.
func (s *Store) wholly(ctx context.Context, q question) ([]task.Task, error) {
	var many int
	if q.many { // tasks are large: a list that grows would hold them twice
		if err := s.one(ctx, q.text("count(*)"), q.args, &many); err != nil {
			return nil, s.explain(err)
		}
	}
	out := make([]task.Task, 0, many)
	all := newReader()
	err := s.rows(ctx, q.text(columns), q.args, func(scan func(...any) error) error {
		t, err := all.task(scan)
		out = append(out, t)
		return err
	})
	if q.order == "" {
		newestFirst(out)
	}
	return out, err
}

// newestFirst puts tasks in the usual order, where they are: the live ones first, the newest first.
func newestFirst(all []task.Task) {
	from := make([]int, len(all)) // the index of the task that belongs at a place
	for i := range from {
		from[i] = i
	}
	slices.SortFunc(from, func(i, j int) int {
		a, b := &all[i], &all[j]
		if a.Live != b.Live {
			if a.Live {
				return -1
			}
			return 1
		}
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	for to, at := range from {
		for at < to {
			at = from[at] // it made room for the task that belonged there
		}
		all[to], all[at] = all[at], all[to]
	}
}

// Holders reports which tasks have the workspaces of a project, or of all where none is named.
func (s *Store) Holders(ctx context.Context, project string) ([]record.Holder, error) {
	var out []record.Holder
	err := s.rows(
		ctx, `SELECT l.workspace, l.task, coalesce(t.branch, ''), coalesce(t.status, '') FROM leases l
		LEFT JOIN tasks t ON t.id = l.task
		WHERE l.project = ? OR ? = '' ORDER BY l.workspace`, []any{project, project},
		func(scan func(...any) error) error {
			var h record.Holder
			err := scan(&h.Workspace, &h.Task, &h.Branch, &h.Status)
			out = append(out, h)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	return out, nil
}

// Delete forgets a task, but for the fact that it ended: followers of the record see that. Its folder and its
// branch are not touched.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.transact(ctx, func(tx *batch) error {
		for _, table := range []string{"events", "hooks", "spent", "entries", "starts", "leases", "seats",
			"waiters", "notices", "refusals", "renderings", "calls"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE task = ?", id); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE id = ?", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete task %q: %w", id, err)
	}
	return nil
}
