package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Commit makes one change durable, all of it or nothing, and answers the task as it then is.
// task.ErrConflict: the task is no longer at the version that the change was decided on.
// task.ErrPoolFull: the change reserves a workspace and none is free.
// task.ErrBranchTaken: another live task of the project has the branch.
func (s *Store) Commit(ctx context.Context, c record.Change) (task.Task, error) {
	var out task.Task
	err := s.inTransaction(ctx, c.Hurried, func(tx *batch) error {
		var err error
		out, err = commit(ctx, tx, c)
		return err
	})
	if err != nil {
		return task.Task{}, fmt.Errorf("commit task %q: %w", c.Task.ID, err)
	}
	return out, nil
}

func commit(ctx context.Context, tx *batch, c record.Change) (task.Task, error) {
	t := c.Task
	before, err := checkVersion(ctx, tx, c, &t)
	if err != nil {
		return task.Task{}, err
	}
	if err := changeLease(ctx, tx, c, &t); err != nil {
		return task.Task{}, err
	}
	grown, err := addEvents(ctx, tx, &t, c.Events)
	if err != nil {
		return task.Task{}, err
	}
	if err := writeTask(ctx, tx, before, t, grown); err != nil {
		return task.Task{}, err
	}
	if c.Expect == 0 { // its document is there already, and was made before a workspace was reserved
		before = c.Task
		if err := noteRendering(ctx, tx, task.Task{}, before); err != nil {
			return task.Task{}, err
		}
	}
	if err := noteRendering(ctx, tx, before, t); err != nil {
		return task.Task{}, err
	}
	for _, write := range []func(context.Context, *batch, record.Change, task.Task) error{
		writeHooks, settle, writeEvidence, writeSeats} {
		if err := write(ctx, tx, c, t); err != nil {
			return task.Task{}, err
		}
	}
	return t, nil
}

// addEvents writes events behind those that the task has, and answers how many bytes its history grows by.
func addEvents(ctx context.Context, tx *batch, t *task.Task, events []history.Event) (grown int, err error) {
	for _, e := range events {
		sealed, err := history.Seal(e, t.Seq+1, t.Hash)
		if err != nil {
			return 0, err
		}
		line, err := json.Marshal(sealed)
		if err == nil {
			err = writeEvent(ctx, tx, t.ID, sealed.Seq, string(line))
		}
		if err == nil && e.Call != "" {
			err = writeCall(ctx, tx, t.ID, sealed)
		}
		if err != nil {
			return 0, fmt.Errorf("write event: %w", err)
		}
		t.Seq, t.Hash = sealed.Seq, sealed.Hash
		grown += len(line) + 1
	}
	return grown, nil
}

func writeEvent(ctx context.Context, tx *batch, id string, seq int, line string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO events (task, seq, line) VALUES (?, ?, ?)", id, seq, line)
	return err
}

// keepCalls is for how long it is known which call asked for an event: a client repeats a call at once.
const keepCalls = time.Hour

// writeCall notes by which call an event was asked for, and forgets those of long ago.
func writeCall(ctx context.Context, tx *batch, id string, e history.Event) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM calls WHERE at < ?", task.FormatTime(e.Time.Add(-keepCalls)))
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO calls (call, task, seq, at) VALUES (?, ?, ?, ?)", e.Call, id, e.Seq,
			task.FormatTime(e.Time))
	}
	return err
}

// checkVersion makes sure that no other commit came first, takes the counts that only the store keeps,
// and answers the task as it was.
func checkVersion(ctx context.Context, tx *batch, c record.Change, t *task.Task) (task.Task, error) {
	if c.Expect == 0 {
		t.Version, t.Seq, t.Hash = 1, 0, ""
		return task.Task{}, nil
	}
	before, err := loadTask(ctx, tx, t.ID)
	if err != nil {
		return task.Task{}, err
	}
	if before.Version != c.Expect {
		return task.Task{}, task.ErrConflict
	}
	t.Version, t.Seq, t.Hash = before.Version+1, before.Seq, before.Hash
	return before, nil
}

// noteRendering notes what the task's frontmatter shows from now on, so that a value which an editor read
// before a move and saved after it is known to be merely old.
func noteRendering(ctx context.Context, tx *batch, before, after task.Task) error {
	shown := map[string]string{}
	for _, v := range document.Fields(before) {
		shown[v.Key] = v.Text
	}
	for _, v := range document.Fields(after) {
		if text, same := shown[v.Key]; same && text == v.Text && before.ID != "" {
			continue
		}
		if err := addRendering(ctx, tx, after.ID, record.Shown{Field: v.Key, Value: v.Text}); err != nil {
			return err
		}
	}
	return nil
}

func addRendering(ctx context.Context, tx *batch, id string, shown record.Shown) error {
	_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO renderings (task, field, value) VALUES (?, ?, ?)", id,
		shown.Field, shown.Value)
	if err != nil {
		return fmt.Errorf("note what TASK.md shows: %w", err)
	}
	return nil
}

func changeLease(ctx context.Context, tx *batch, c record.Change, t *task.Task) error {
	switch c.Lease {
	case record.LeaseReserve:
		return reserve(ctx, tx, t, c.PoolSize)
	case record.LeaseFree:
		if _, err := tx.ExecContext(ctx, "DELETE FROM leases WHERE task = ?", t.ID); err != nil {
			return fmt.Errorf("free workspace: %w", err)
		}
		t.Workspace = ""
	case record.LeaseKeep:
	}
	return nil
}

// reserve takes the first free workspace of the project.
func reserve(ctx context.Context, tx *batch, t *task.Task, size int) error {
	for n := 1; n <= size; n++ {
		if taken, err := lease(ctx, tx, t, fmt.Sprintf("%s--%d", t.Project, n)); err != nil || taken {
			return err
		}
	}
	return task.ErrPoolFull
}

// lease gives a task a workspace that no other one has, and reports whether it did.
func lease(ctx context.Context, tx *batch, t *task.Task, workspace string) (bool, error) {
	done, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO leases (workspace, project, task) VALUES (?, ?, ?)",
		workspace, t.Project, t.ID)
	if err != nil {
		return false, fmt.Errorf("reserve workspace: %w", err)
	}
	taken, err := done.RowsAffected()
	if taken == 1 {
		t.Workspace = workspace
	}
	return taken == 1, err
}

// writeTask writes a task whose history has grown by as many bytes.
func writeTask(ctx context.Context, tx *batch, before, t task.Task, grown int) error {
	args, err := values(t)
	if err != nil {
		return err
	}
	if t.Live && (!before.Live || before.Branch != t.Branch) {
		var other string
		err := tx.one(ctx, "SELECT id FROM tasks WHERE project = ? AND branch = ? AND live = 1 AND id != ?",
			[]any{t.Project, t.Branch, t.ID}, &other)
		if err == nil {
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q: the live task %s has it", t.Branch, other)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("look for the branch: %w", err)
		}
	}
	if before.ID == "" {
		marks := strings.Repeat("?, ", len(args)) + "?"
		_, err = tx.ExecContext(ctx, "INSERT INTO tasks ("+columns+", history_bytes) VALUES ("+marks+")",
			append(args, grown)...)
	} else {
		err = updateTask(ctx, tx, before, args, grown)
	}
	if err != nil {
		return fmt.Errorf("write task: %w", err)
	}
	return nil
}

// updateTask writes the columns that differ: writing an unchanged one would rewrite its indexes.
func updateTask(ctx context.Context, tx *batch, before task.Task, now []any, grown int) error {
	was, err := values(before)
	if err != nil {
		return err
	}
	var set []string
	var args []any
	for i, name := range strings.Split(columns, ",") {
		if now[i] != was[i] {
			set, args = append(set, strings.TrimSpace(name)+" = ?"), append(args, now[i])
		}
	}
	if len(set) == 0 {
		return nil
	}
	if grown > 0 {
		set, args = append(set, "history_bytes = history_bytes + ?"), append(args, grown)
	}
	_, err = tx.ExecContext(ctx, "UPDATE tasks SET "+strings.Join(set, ", ")+" WHERE id = ?",
		append(args, before.ID)...)
	return err
}

func writeHooks(ctx context.Context, tx *batch, c record.Change, t task.Task) error {
	for i, h := range c.Hooks {
		state := task.HookPending
		if class, known := action.ClassOf(h.Action); known && class == action.ClassRecord {
			state = task.HookDone
		}
		text, err := json.Marshal(h)
		if err != nil {
			return fmt.Errorf("write hook: %w", err)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO hooks (task, event, place, hook, state) VALUES (?, ?, ?, ?, ?)",
			t.ID, t.Seq, i, string(text), string(state))
		if err != nil {
			return fmt.Errorf("write hook: %w", err)
		}
	}
	return nil
}

func settle(ctx context.Context, tx *batch, c record.Change, t task.Task) error {
	for _, s := range c.Settled {
		next := ""
		if !s.NextTry.IsZero() {
			next = task.FormatTime(s.NextTry)
		}
		// Settled once: a hook that is done or superseded stays so.
		done, err := tx.ExecContext(ctx, `UPDATE hooks SET state = ?, error = ?, next_try = ?, ended_at = ?
			WHERE id = ? AND task = ? AND state IN ('pending', 'failed')`,
			string(s.State), s.Error, next, task.FormatTime(t.UpdatedAt), s.ID, t.ID)
		if err != nil {
			return fmt.Errorf("settle hook %d: %w", s.ID, err)
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return errors.Join(task.ErrConflict, err)
		}
	}
	return nil
}

func writeEvidence(ctx context.Context, tx *batch, c record.Change, t task.Task) error {
	for _, e := range c.Spent {
		if err := spend(ctx, tx, t.ID, task.Spent{Evidence: e, Seq: t.Seq}); err != nil {
			return err
		}
	}
	if c.Entered {
		if err := replaceEvidence(ctx, tx, "entries", t.ID, c.Entry); err != nil {
			return err
		}
	}
	if c.Entered || c.Begun {
		return replaceEvidence(ctx, tx, "starts", t.ID, c.Start)
	}
	return nil
}

func spend(ctx context.Context, tx *batch, id string, s task.Spent) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO spent (task, source, digest, seq) VALUES (?, ?, ?, ?)", id,
		s.Source, s.Digest, s.Seq)
	if err != nil {
		return fmt.Errorf("note spent evidence: %w", err)
	}
	return nil
}

// replaceEvidence notes what was there when a status began (entries), or when its agent was started last (starts).
func replaceEvidence(ctx context.Context, tx *batch, table, id string, evidence []task.Evidence) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE task = ?", id)
	for _, e := range evidence {
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO "+table+" (task, source, digest) VALUES (?, ?, ?)", id,
				e.Source, e.Digest)
		}
	}
	if err != nil {
		return fmt.Errorf("note the evidence among %s: %w", table, err)
	}
	return nil
}

func writeSeats(ctx context.Context, tx *batch, c record.Change, t task.Task) error {
	for _, role := range c.EndSeats {
		if _, err := tx.ExecContext(ctx, "UPDATE seats SET ended = 1 WHERE task = ? AND (role = ? OR ? = ?)",
			t.ID, role, role, record.EveryRole); err != nil {
			return fmt.Errorf("end seat: %w", err)
		}
	}
	if c.DeadHook != 0 {
		done, err := tx.ExecContext(ctx, "UPDATE seats SET ended = 1 WHERE task = ? AND hook = ? AND ended = 0",
			t.ID, c.DeadHook)
		if err != nil {
			return fmt.Errorf("end seat of a dead agent: %w", err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(task.ErrNobody, err)
		}
	}
	if c.NewSeat != nil {
		if err := addSeat(ctx, tx, "INSERT", t.ID, c.NewSeat); err != nil {
			return err
		}
	}
	if err := takeSeat(ctx, tx, c, t.ID); err != nil {
		return fmt.Errorf("note who has the seat: %w", err)
	}
	if n := c.NewNotice; n != nil {
		_, err := tx.ExecContext(ctx,
			"INSERT OR REPLACE INTO notices (task, role, seq, text) VALUES (?, ?, ?, ?)", t.ID, n.Role, n.Seq, n.Text)
		if err != nil {
			return fmt.Errorf("note notice: %w", err)
		}
	}
	return nil
}

func addSeat(ctx context.Context, tx *batch, how, id string, seat *record.Seat) error {
	start, err := json.Marshal(seat.Start)
	if err == nil {
		_, err = tx.ExecContext(ctx, how+" INTO seats (hash, task, role, hook, pid, began, ended, start) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			seat.Hash, id, seat.Role, seat.Hook, seat.PID, seat.Began, seat.Ended, string(start))
	}
	if err != nil {
		return fmt.Errorf("note seat: %w", err)
	}
	return nil
}

// takeSeat ends the seat that no agent received, and every seat of the role but the one that its agent has: a
// task has one agent of a role. An agent whose window shows a seat that was never issued for it gets none: the
// seat of this attempt takes its place, which the agent does not know.
func takeSeat(ctx context.Context, tx *batch, c record.Change, id string) error {
	if c.LostSeat == "" && c.TakenSeat == nil {
		return nil
	}
	lost := "hash = ?"
	if c.TakenSeat == nil && slices.ContainsFunc(c.Settled, func(s record.Settled) bool {
		return s.State == task.HookDone
	}) {
		// The hook is done and started no agent: no agent has the seats of interrupted attempts either.
		lost = "hook = (SELECT hook FROM seats WHERE hash = ?)"
	}
	if _, err := tx.ExecContext(ctx, "UPDATE seats SET ended = 1 WHERE "+lost, c.LostSeat); err != nil ||
		c.TakenSeat == nil {
		return err
	}
	seat := c.TakenSeat
	if _, err := tx.ExecContext(ctx, "UPDATE seats SET ended = 1 WHERE task = ? AND role = ?", id,
		seat.Role); err != nil {
		return err
	}
	for _, hash := range []string{seat.Hash, c.LostSeat} {
		done, err := tx.ExecContext(ctx,
			"UPDATE seats SET ended = 0, pid = ?, began = ? WHERE hash = ? AND task = ? AND role = ? AND hook = ?",
			seat.PID, seat.Began, hash, id, seat.Role, seat.Hook)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
	}
	return nil
}

// hooks reads the hooks of a task that meet a condition, in order.
func hooks(ctx context.Context, tx *batch, where string, args ...any) ([]task.OwedHook, error) {
	var out []task.OwedHook
	err := tx.each(
		ctx, "SELECT id, task, event, place, hook, state, attempts, error, next_try, "+
			"iif(ended_at = '' AND state IN ('pending', 'failed'), started_at, '') FROM hooks WHERE "+where+
			" ORDER BY id", args, func(scan func(...any) error) error {
			var h task.OwedHook
			var text, next, began string
			if err := scan(&h.ID, &h.Task, &h.Event, &h.Index, &text, &h.State, &h.Attempts, &h.Error,
				&next, &began); err != nil {
				return err
			}
			err := json.Unmarshal([]byte(text), &h.Hook)
			if err == nil && next != "" {
				h.NextTry, err = time.Parse(task.TimeFormat, next)
			}
			if err == nil && began != "" {
				h.Began, err = time.Parse(task.TimeFormat, began)
			}
			if err != nil {
				return fmt.Errorf("%w: read hook %d of task %q: %w", errDamagedRow, h.ID, h.Task, err)
			}
			out = append(out, h)
			return nil
		})
	return out, err
}
