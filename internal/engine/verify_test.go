package engine_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/app/doctor"
	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/sqlite"
)

// past is the record and the files, with a history that someone may have changed.
type past struct {
	*sqlite.Store
	changed []string
	// what Wholes answers in place of the record, where it is not nil
	together func(ids []string) (map[string]record.Whole, error)
}

func (p past) Whole(ctx context.Context, id string) (record.Whole, error) {
	w, err := p.Store.Whole(ctx, id)
	if p.changed != nil {
		w.Lines = p.changed
	}
	return w, err
}

func (p past) Wholes(ctx context.Context, ids []string) (map[string]record.Whole, error) {
	if p.together != nil {
		return p.together(ids)
	}
	all, err := p.Store.Wholes(ctx, ids)
	for id, w := range all {
		if p.changed != nil {
			w.Lines = p.changed
			all[id] = w
		}
	}
	return all, err
}

// verifier is a doctor for the past of tasks.
func (w *world) verifier(p past) *doctor.Doctor {
	p.Store = w.store
	return &doctor.Doctor{Home: w.home, Record: p, Files: w.files, Engine: adopts{w.Engine}, Setup: around{w}}
}

func (w *world) verify(id string, changed []string) []record.Finding {
	w.t.Helper()
	found, err := w.verifier(past{changed: changed}).Verify(w.t.Context(), []string{id})
	must(w.t, err)
	return found
}

func problems(found []record.Finding) string {
	var out []string
	for _, f := range found {
		if f.Level != record.LevelOK {
			out = append(out, f.Found)
		}
	}
	return strings.Join(out, "\n")
}

// flipped are the places of the bytes that are flipped: every one in a long test, else some that are drawn.
func flipped(t *testing.T, bytes int) []int {
	t.Helper()
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		all := make([]int, bytes)
		for i := range all {
			all[i] = i
		}
		return all
	}
	seed := rand.Uint64()
	t.Logf("the places are drawn by %d", seed)
	share := 25
	if testing.Short() {
		share = 150
	}
	return rand.New(rand.NewPCG(seed, 1)).Perm(bytes)[:bytes/share]
}

func TestOneFlippedByte_anywhereInAHistoryIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	if got := problems(w.verify(id, nil)); got != "" {
		t.Fatalf("the past does not hold although nobody has touched it:\n%s", got)
	}
	path := w.files.History("garden", id)
	text, err := os.ReadFile(path)
	must(t, err)
	places := flipped(t, len(text))
	for _, at := range places {
		line := strings.Count(string(text[:at]), "\n") + 1
		other := []byte(string(text))
		other[at] ^= 1
		must(t, os.WriteFile(path, other, 0o644))
		if got := problems(w.verify(id, nil)); !strings.Contains(got, fmt.Sprintf("%s:%d: ", path, line)) {
			t.Fatalf("byte %d in line %d of the file is flipped, and is not named:\n%s", at, line, got)
		}
		must(t, os.WriteFile(path, text, 0o644))
		if text[at] == '\n' || other[at] == '\n' {
			continue // the record has no line ends
		}
		lines := strings.Split(strings.TrimSuffix(string(other), "\n"), "\n")
		if got := problems(w.verify(id, lines)); !strings.Contains(got, fmt.Sprintf("line %d: ", line)) {
			t.Fatalf("byte %d in event %d of the record is flipped, and is not named:\n%s", at, line, got)
		}
	}
	t.Logf("%d of %d bytes were flipped, each alone, in the file and in the record", len(places), len(text))
}

func TestAKeptText_thatIsChangedOrGoneIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	rested := w.events(id, history.StatusChanged)[1].Evidence[0]
	path := filepath.Join(w.files.Dir("garden", id), "evidence", rested.Digest)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(text, 'x'), 0o644))
	if got := problems(w.verify(id, nil)); !strings.Contains(got, "## plan, evidence/"+rested.Digest+
		" is not what it was") {
		t.Errorf("a text was changed: %q", got)
	}
	must(t, os.Remove(path))
	if got := problems(w.verify(id, nil)); !strings.Contains(got, "## plan, evidence/"+rested.Digest+
		" is not kept any more") {
		t.Errorf("a text is gone: %q", got)
	}
	must(t, os.WriteFile(path, text, 0o644))
}

// Defect: the doctor missed texts that are never kept, and did not miss those that a decision only looked at.
func TestTheDoctorAndVerify_reportTheSameMissingTexts(t *testing.T) {
	t.Parallel()
	w := inhabited(t)
	all, err := filepath.Glob(filepath.Join(w.home, "tasks", "*", "*", "evidence", "*"))
	must(t, err)
	if len(all) < 5 {
		t.Fatalf("found only the texts %q", all)
	}
	missed := 0
	for _, path := range all {
		other := w.copied(t)
		must(t, os.Remove(filepath.Join(other.home, strings.TrimPrefix(path, w.home))))
		other = other.another()
		verified, examined := map[string]bool{}, map[string]bool{}
		found, err := other.doctor().VerifyAll(t.Context(), "")
		must(t, err)
		missing(found, verified)
		found, err = other.doctor().Examine(t.Context(), false)
		must(t, err)
		if missing(found, examined); !maps.Equal(verified, examined) {
			t.Errorf("without %q verify misses texts of %v, and the doctor of %v", path, verified, examined)
		}
		missed += len(verified)
	}
	if missed < 5 {
		t.Errorf("of %d texts %d are missed", len(all), missed)
	}
}

// missing notes the tasks that lack a text.
func missing(found []record.Finding, tasks map[string]bool) {
	for _, f := range found {
		if f.Check == "evidence" && f.Level != record.LevelOK {
			tasks[f.Subject] = true
		}
	}
}

func TestARecord_thatSaysWhatItsHistoryDoesNotIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	s := w.load(id)
	c := record.Change{Task: s.Task, Expect: s.Task.Version}
	c.Task.Counters = c.Task.Counters.With(task.ReviewRound, 7)
	c.Task.Previous = "done"
	_, err := w.store.Commit(t.Context(), c)
	must(t, err)
	got := problems(w.verify(id, nil))
	for _, want := range []string{`review_round is "0" by its history, and "7" on record`,
		`previous status is "planning" by its history, and "done" on record`, "TASK.md: review_round"} {
		if !strings.Contains(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	c = record.Change{Task: s.Task, Expect: s.Task.Version + 1} // as it was
	_, err = w.store.Commit(t.Context(), c)
	must(t, err)
}

// rewrite writes another history over a task's, sealed as one that was always so.
func (w *world) rewrite(id string, change func(e *history.Event)) {
	w.t.Helper()
	prev, size := "", 0
	for i, e := range w.events(id, "") {
		change(&e)
		sealed, err := history.Seal(e, i+1, prev)
		must(w.t, err)
		line, err := json.Marshal(sealed)
		must(w.t, err)
		w.tamper("UPDATE events SET line = ? WHERE task = ? AND seq = ?", string(line), id, i+1)
		prev, size = sealed.Hash, size+len(line)+1
	}
	w.tamper("UPDATE tasks SET hash = ?, history_bytes = ? WHERE id = ?", prev, size, id)
	must(w.t, os.Remove(w.files.History("garden", id)))
	must(w.t, w.Sync(w.t.Context(), id))
}

func TestADecision_whoseInputsWereTakenAwayIsNamed(t *testing.T) {
	t.Parallel()
	for _, first := range []int{1, 5} {
		w := newWorld(t)
		id := w.reach("reviewing")
		w.rewrite(id, func(e *history.Event) {
			if e.Seq >= first {
				e.Inputs = nil
			}
		})
		got := problems(w.verify(id, nil))
		want := fmt.Sprintf("event %d is a decision, and what it was made from is gone: its inputs were taken away",
			first)
		if !strings.HasPrefix(got, want) {
			t.Errorf("found %s", got)
		}
		w.tamper("DELETE FROM tasks") // no one can decide it again
	}
}

// Defect: the end of the agents of a task that leaves its home was called changed by other hands.
func TestALeavingTask_isNotCalledChangedByOtherHands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	must(t, w.BeginToLeave(t.Context(), id, "to the big machine", human))
	if got := problems(w.verify(id, nil)); got != "" {
		t.Errorf("found %s", got)
	}
	w.tamper("UPDATE hooks SET hook = replace(hook, 'kill_session', 'set_field') WHERE event = "+
		"(SELECT max(event) FROM hooks WHERE task = ?)", id)
	if got := problems(w.verify(id, nil)); !strings.Contains(got, "and on record are set_field") {
		t.Errorf("with another hook: %s", got)
	}
	w.tamper("DELETE FROM tasks")
}

// tamper writes into the record past the engine.
func (w *world) tamper(query string, args ...any) {
	w.t.Helper()
	source := url.URL{Scheme: "file", Path: filepath.Join(w.home, "orange.db"), RawQuery: "_pragma=busy_timeout(20000)"}
	db, err := sql.Open("sqlite", source.String())
	must(w.t, err)
	defer db.Close()
	done, err := db.ExecContext(w.t.Context(), query, args...)
	must(w.t, err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		w.t.Fatalf("%s has changed nothing: %v", query, err)
	}
}

func (w *world) tasks() int {
	w.t.Helper()
	ids, err := w.store.IDs(w.t.Context(), "")
	must(w.t, err)
	return len(ids)
}

func (w *world) verifyAll() string {
	w.t.Helper()
	d, far := w.verifier(past{}), 0
	d.Progress = func(_ string, done, of int) {
		if far++; of != w.tasks() || done >= of {
			w.t.Errorf("it is told to be at %d of %d", done, of)
		}
	}
	found, err := d.VerifyAll(w.t.Context(), "")
	must(w.t, err)
	if far < w.tasks() {
		w.t.Errorf("of %d tasks it was told %d times how far it is", w.tasks(), far)
	}
	var out []string
	for _, f := range found {
		if f.Level != record.LevelOK {
			out = append(out, f.Subject+": "+f.Found)
		}
	}
	return strings.Join(out, "\n")
}

func TestARecord_thatOtherHandsHaveWrittenIntoIsNamed(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct{ query, want string }{
		"spent evidence is forgotten": {"DELETE FROM spent WHERE source = '## plan'",
			"evidence that was spent is missing on record: ## plan"},
		"evidence counts as spent": {"INSERT INTO spent SELECT id, '## handoff', 'abc', 3 FROM tasks",
			"evidence that was spent is on record, and not in its history: ## handoff, abc, at event 3"},
		"another event spent it": {"UPDATE spent SET seq = 1 WHERE source = '## plan'",
			"evidence that was spent is missing on record: ## plan"},
		"an entry is forgotten": {
			"DELETE FROM entries", "what was there when the status began is missing on record: ## review"},
		"an entry is another one": {"UPDATE entries SET digest = 'abc'",
			"what was there when the status began is on record, and not in its history: ## review, abc"},
		"a hook is gone": {"DELETE FROM hooks WHERE hook LIKE '%spawn_reviewer%'",
			"set_field, increment_review_round, spawn_reviewer, and on record are set_field, increment_review_round"},
		"a hook is another one": {"UPDATE hooks SET hook = replace(hook, 'spawn_reviewer', 'kill_session')",
			"spawn_reviewer, and on record are set_field, increment_review_round, kill_session"},
		"a hook does more": {
			"UPDATE hooks SET hook = replace(hook, '\"permissions\":\"reduced\"', '\"permissions\":\"full\"') " +
				"WHERE hook LIKE '%spawn_reviewer%'", "what one of them does was changed"},
		"a hook nobody set going": {
			"INSERT INTO hooks (task, event, place, hook, state) SELECT id, 1, 0, " +
				"'{\"action\":\"kill_session\"}', 'pending' FROM tasks",
			"event 1 has started no hooks, and on record are kill_session"},
		"a hook of no event": {
			"INSERT INTO hooks (task, event, place, hook, state) SELECT id, 99, 0, " +
				"'{\"action\":\"kill_session\"}', 'done' FROM tasks",
			"hooks are on record for event 99, which its history does not have"},
		"crashes are forgotten": {"UPDATE tasks SET counters = '[]'",
			`crash_count is "1" by its history, and "0" on record`},
		"inputs are changed": {
			"UPDATE events SET line = replace(line, '\"role\":\"human\"', '\"role\":\"worker\"') WHERE seq = 1",
			"its history on record does not hold: line 1"},
		"a counter is unreadable": {"UPDATE tasks SET counters = '{'",
			"it cannot be read, and was compared with nothing: "},
		"a hook is unreadable": {"UPDATE hooks SET hook = '{' WHERE event = 2",
			"it cannot be read, and was compared with nothing: "},
		"a hook is in no state": {"UPDATE hooks SET state = 'dome' WHERE event = 2",
			"a row of hooks has the state 'dome'"},
		"a hook is out of its order": {"UPDATE hooks SET place = place + 4 WHERE event = 2",
			"the hooks of event 2 are not numbered from 0 on"},
		"a hook has a number of later": {"UPDATE hooks SET id = id + 4096 WHERE event = 2",
			"comes before one that began later"},
		"a seat is of no hook": {"UPDATE seats SET hook = hook + 4096", "which the task does not have"},
		"a seat is of no role": {"UPDATE seats SET role = 'workep'", `its workflow has no role "workep"`},
		"a seat is of no task": {"UPDATE seats SET task = 'nobody'",
			"nobody: rows of seats are of a task that is not on record"},
		"a seat has no digest":    {"UPDATE seats SET hash = 'Q' || substr(hash, 2)", "a row of seats has the hash 'Q"},
		"a notice is of no event": {"UPDATE notices SET seq = 1024", "a row of notices has the seq 1024"},
		"the header showed another status": {"UPDATE renderings SET value = 'wor{ing' WHERE value = 'working'",
			`that TASK.md showed status: "wor{ing" is on record, and not in its history`},
		"the header shows another branch": {"UPDATE renderings SET value = 'x' WHERE field = 'branch'",
			`that TASK.md shows branch: "branch-reviewing" is missing on record`},
		"the header has no such field": {"UPDATE renderings SET field = 'statur' WHERE field = 'status'",
			`that TASK.md showed statur: `},
		"a task that goes on counts as over": {"UPDATE tasks SET live = 0",
			"whether it goes on is true by its workflow, and false on record"},
		"a history has other bytes": {"UPDATE tasks SET history_bytes = history_bytes + 1", "bytes, and "},
		"an event has another number": {"UPDATE events SET seq = seq + 64 WHERE seq > 3",
			"it cannot be read, and was compared with nothing"},
		"an event is not told to followers": {"DELETE FROM changes WHERE seq = 3",
			"the table changes does not have its events, each once and in their order"},
		"a workflow that nobody uses is changed": {
			"INSERT INTO workflows VALUES ('abc', 'x', 1, 'x'); UPDATE tasks SET version = version",
			`workflows: the text that is kept under the digest "abc" has another one`},
		"the task is taken out": {
			"DELETE FROM tasks", "its folder has its history, and the record does not have the task"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.reach("reviewing")
			w.move(id, "working", human)
			w.write(id, "\n## Handoff\nDONE: the rest\n")
			w.move(id, "agent-review", worker) // it begins with the review of before
			w.die(w.death(id, task.RoleReviewer))
			must(t, w.Sync(t.Context(), id))
			if got := w.verifyAll(); got != "" {
				t.Fatalf("before: %s", got)
			}
			w.tamper(tt.query)
			if got := w.verifyAll(); !strings.Contains(got, tt.want) ||
				!strings.Contains(got, id) && !strings.HasPrefix(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if w.tasks() > 0 {
				w.tamper("DELETE FROM tasks") // nothing is left to replay
			}
		})
	}
}

func TestAnUnreadableTask_keepsNoOtherFromBeingVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{w.reach("working"), w.reach("planning")}
	slices.Sort(ids)
	w.tamper("UPDATE tasks SET counters = '{' WHERE id = ?", ids[0])
	w.tamper("DELETE FROM hooks WHERE task = ?", ids[1])
	got := w.verifyAll()
	if !strings.Contains(got, ids[0]+": it cannot be read") ||
		!strings.Contains(got, ids[1]+": event 2 has started") {
		t.Errorf("found %q", got)
	}
	w.tamper("DELETE FROM tasks")
}

func TestATaskGoneFromTheRecord_isFoundByWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	must(t, os.RemoveAll(w.files.Dir("garden", id)))
	w.tamper("DELETE FROM tasks")
	if got := w.verifyAll(); !strings.Contains(got, id+": the record has a past of it, and does not have the task") {
		t.Errorf("with its events: %q", got)
	}
	w.tamper("DELETE FROM events")
	for _, table := range []string{"hooks", "spent", "seats", "renderings"} {
		if got := w.verifyAll(); !strings.Contains(got, id+": rows of "+table+" are of a task that is not on record") {
			t.Errorf("with its %s: %q", table, got)
		}
		w.tamper("DELETE FROM " + table)
	}
	if got := w.verifyAll(); got != "" {
		t.Errorf("without a trace but the word that it has ended: %q", got)
	}
	w.tamper("INSERT INTO changes (task, seq) VALUES (?, 0)", id) // as if the database could not note the end
	if got := w.verifyAll(); !strings.Contains(got, id+": the record has a past of it") {
		t.Errorf("with its changes: %q", got)
	}
}

func TestATaskThatWasDeleted_isNotMissed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Delete(t.Context(), w.reach("working"), human)
	must(t, err)
	if got := w.verifyAll(); got != "" || w.tasks() != 0 {
		t.Errorf("%d tasks are left, and found is %q", w.tasks(), got)
	}
}

// Defect: Orange used the text of a pinned workflow whatever its digest, so that an edit could remove a gate.
func TestAPinnedWorkflow_whoseTextWasChangedIsNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.tamper("UPDATE workflows SET text = replace(text, 'DONE', 'ANY')")
	w = w.another() // a program that has not read it yet
	_, err := w.ask(id, "agent-review", worker)
	if err == nil || !strings.Contains(err.Error(), `cannot use the workflow "default" with the digest`) ||
		!strings.Contains(err.Error(), "orange doctor --rebuild") {
		t.Errorf("a move by changed rules: %v", err)
	}
	if got := w.verifyAll(); !strings.Contains(got,
		id+": the workflow of event 1 cannot be looked at: cannot use the workflow") {
		t.Errorf("found %q", got)
	}
	w.tamper("DELETE FROM workflows") // then the copy is taken
	if _, err = w.ask(id, "agent-review", worker); err == nil || strings.Contains(err.Error(), "digest") {
		t.Errorf("a move by the rules that are there again: %v", err)
	}
}

// Defect: a failed merge left its begin only in the record, and doctor and verify raised a false alarm.
func TestAMerge_thatFailsLeavesTheMirrorsEqualToTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.rewire(func(p *engine.Ports) { p.Work = &branch{fakeRepository: w.repository, cut: true} })
	if _, _, err := w.Merge(t.Context(), id, task.Merge{Local: false}, human); err == nil {
		t.Fatal("it did not fail")
	}
	if len(w.events(id, history.MergeBegun)) != 1 {
		t.Fatalf("its begin is not told: %+v", w.events(id, ""))
	}
	if got := w.verifyAll(); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestVerify_rereadsTasksAloneWhereABatchShowsProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{w.reach("working"), w.reach("reviewing")}
	look := func(together func([]string) (map[string]record.Whole, error)) []record.Finding {
		found, err := w.verifier(past{together: together}).Verify(t.Context(), ids)
		must(t, err)
		return found
	}
	want := look(nil)
	if got := problems(want); got != "" {
		t.Fatalf("found %q", got)
	}
	for what, together := range map[string]func([]string) (map[string]record.Whole, error){
		"unreadable": func([]string) (map[string]record.Whole, error) { return nil, errPerformer },
		"left out":   func([]string) (map[string]record.Whole, error) { return nil, nil },
		"as they were a moment ago": func(ids []string) (map[string]record.Whole, error) {
			all, err := w.store.Wholes(t.Context(), ids)
			for id, one := range all {
				one.Lines = one.Lines[:1]
				all[id] = one
			}
			return all, err
		},
	} {
		if got := look(together); !slices.Equal(got, want) {
			t.Errorf("with tasks that are %s it found %+v, and alone %+v", what, got, want)
		}
	}
}
