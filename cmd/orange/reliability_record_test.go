package main_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself

	"orange/internal/rules/history"
)

// record is the record as another program opens it.
func (w *faultWorld) record() *sql.DB {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.home("orange.db")+"?_pragma=busy_timeout(20000)")
	w.check(err)
	db.SetMaxOpenConns(1)
	return db
}

// tell changes the record behind the program's back.
func (w *faultWorld) tell(statement string, args ...any) {
	w.t.Helper()
	db := w.record()
	_, err := db.Exec(statement, args...)
	w.check(err)
	w.check(db.Close())
}

// hold keeps the record locked until the answer is called.
func (w *faultWorld) hold() (release func()) {
	w.t.Helper()
	db := w.record()
	_, err := db.Exec("BEGIN IMMEDIATE")
	w.check(err)
	return func() { w.check(db.Close()) }
}

// damaged puts something else in the record's place.
func damaged(by func(w *faultWorld, path string)) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		path := w.home("orange.db")
		w.settled()
		back := w.aside(path)
		by(w, path)
		return func() {
			for _, side := range []string{"-wal", "-shm"} {
				w.check(os.RemoveAll(w.at(path + side)))
			}
			back()
		}
	}
}

// gatherWord makes the test binary a program that opens a record and closes it again: it may have to run where the
// home's disk is.
const gatherWord = "gather-the-record"

// gather brings all of a record into one file, unless another program has it open.
func gather(path string) int {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)")
	if err == nil {
		_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// settled waits until no command has the record open, and then brings all of it into one file.
func (w *faultWorld) settled() {
	w.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		self, err := os.Executable()
		w.check(err)
		words := append(slices.Clone(w.inside), self, gatherWord, w.home("orange.db"))
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			w.t.Fatalf("gather the record: %v %s", err, out)
		}
		if left, _ := filepath.Glob(w.at(w.home("orange.db-*"))); len(left) == 0 {
			return
		}
		<-tick.C
	}
	w.t.Fatal("somebody has the record open for ever")
}

func recordFaults() []fault {
	const back = "orange doctor --rebuild, or put a copy of the record back; the same command again"
	const closed = "nothing: no command works without the record"
	const copied = `the file is damaged; "orange doctor --rebuild" keeps it aside and makes a new one from what is below "HOME/tasks"`
	return []fault{
		{
			name: "Another program locks the record for a moment", run: moveIt(), inflict: func(w *faultWorld) func() {
				release := w.hold()
				timer := time.AfterFunc(time.Second, release)
				return func() {
					if timer.Stop() {
						release()
					}
				}
			},
			says: accepted, becomes: "it moves: the command waits, up to 20 seconds", goesOn: "nothing to do",
		},
		{
			name: "Another program locks the record and keeps it", whole: true, long: true, run: moveIt(), exit: 1,
			inflict: func(w *faultWorld) func() { return w.hold() },
			says: `database is locked \(5\).*: another program has held "HOME/orange.db" for 20s; run the command again, ` +
				`and if it is held still, ask "fuser HOME/orange.db" who it is and end it`,
			becomes: "nothing: it can be listed and not moved",
			goesOn:  "end the program that holds it; the same command again",
		},
		{
			name: "orange.db is garbage", whole: true, run: moveIt(), exit: 1,
			inflict: damaged(func(w *faultWorld, path string) { w.put(path, strings.Repeat("garbage\n", 4000)) }),
			says:    `cannot open the record "HOME/orange.db": (.*: )?file is not a database \(26\): ` + copied,
			becomes: closed, goesOn: back,
		},
		{
			name: "A page of orange.db is overwritten", whole: true, run: moveIt(), exit: 1,
			inflict: damaged(byChange(func(text string) string {
				return text[:2*4096] + strings.Repeat("\xde\xad", 4096*6) + text[14*4096:]
			})),
			says: `database disk image is malformed \(11\): ` + copied, becomes: closed, goesOn: back,
		},
		{
			name: "orange.db is emptied", whole: true, run: moveIt(), exit: 1,
			inflict: damaged(func(w *faultWorld, path string) { w.put(path, "") }),
			says:    lostRecord, becomes: closed, goesOn: back,
		},
		{
			name: "orange.db is deleted", whole: true, run: []string{"task", "list"}, exit: 1,
			inflict: damaged(byNothing),
			says:    lostRecord, becomes: closed, goesOn: back,
		},
		{
			name: "orange.db is a folder", whole: true, run: moveIt(), exit: 1, inflict: damaged(byFolder),
			says:    `cannot open the record "HOME/orange.db": .*: it is a folder, expected a file; move the folder away and put the record back`,
			becomes: closed, goesOn: back,
		},
		{
			name: "another program made orange.db", whole: true, run: moveIt(), exit: 1,
			inflict: func(w *faultWorld) func() {
				var before int
				db := w.record()
				w.check(db.QueryRow("PRAGMA user_version").Scan(&before))
				w.check(db.Close())
				w.tell("PRAGMA user_version = 8")
				return func() { w.tell("PRAGMA user_version = " + strconv.Itoa(before)) }
			},
			says:    `cannot open the record "HOME/orange.db": another Orange made it: the number of its schema is 8, `,
			becomes: "nothing: the record is not touched", goesOn: "use that program, or `orange doctor --rebuild`",
		},
	}
}

const lostRecord = `cannot open the record "HOME/orange.db": it is empty, and \d+ tasks have a history below "HOME/tasks"; bring them back with "orange doctor --rebuild"`

// ahead is a time of the record, an hour ahead.
const ahead = "strftime('%Y-%m-%dT%H:%M:%fZ', %s, '+1 hour')"

func aheadOf(column string) string { return strings.Replace(ahead, "%s", column, 1) }

// The clock cannot be set back in a test; instead what was written lies an hour ahead of it.
func clockFaults() []fault {
	nothing := func() {}
	return []fault{
		{
			name: "The clock is set back an hour: the task's times are in the future", run: moveIt(),
			inflict: func(w *faultWorld) func() {
				w.tell("UPDATE tasks SET created_at = " + aheadOf("created_at") + ", updated_at = " +
					aheadOf("updated_at") + ", entered_at = " + aheadOf("entered_at"))
				return nothing
			},
			says: accepted, becomes: "it moves", goesOn: "nothing to do: the order of events is their number",
		},
		{
			name: "The clock is set back an hour: the last event is in the future", run: moveIt(),
			inflict: func(w *faultWorld) func() {
				w.lastEventAhead(w.ids[0])
				return nothing
			},
			says: accepted, becomes: "it moves", goesOn: "nothing to do: the order of events is their number",
		},
		{
			name: "The clock is set back an hour: a failed hook waits for a time in the future", run: []string{
				"task", "retry", "ID"},
			inflict: func(w *faultWorld) func() {
				w.endServer()
				back := w.aside(w.home("harnesses", "idle.yml"))
				if said, code := w.ask("task", "respawn", w.ids[0]); code != 1 {
					w.t.Errorf("without its harness an agent was started: exit %d\n%s", code, said)
				}
				// Before the harness is there again: nothing else may perform the hook first.
				w.tell("UPDATE hooks SET next_try = " + aheadOf("next_try") + " WHERE state = 'failed'")
				back()
				return nothing
			},
			says:    `tried again the hooks of ID that failed\n  spawn_agent            done`,
			becomes: "its hook is tried again at once", goesOn: "nothing more to do",
		},
		{
			name: "The clock is set back an hour, and a person waits", run: []string{
				"task", "wait", "ID", "--timeout", "1s"}, inflict: func(w *faultWorld) func() {
				w.tell("UPDATE tasks SET updated_at = " + aheadOf("updated_at") + ", entered_at = " +
					aheadOf("entered_at"))
				return nothing
			},
			says:    `status: clarification\. The worker has questions; a person attaches and answers them\.`,
			becomes: "the command reports whose turn it is", goesOn: "nothing to do",
		},
	}
}

// lastEventAhead seals the last event of a task again, as if it had happened in an hour.
func (w *faultWorld) lastEventAhead(id string) {
	w.t.Helper()
	db := w.record()
	var line string
	w.check(db.QueryRow("SELECT line FROM events WHERE task = ? ORDER BY seq DESC LIMIT 1", id).Scan(&line))
	w.check(db.Close())
	var e history.Event
	w.check(json.Unmarshal([]byte(line), &e))
	e.Time = e.Time.Add(time.Hour)
	sealed, err := history.Seal(e, e.Seq, e.Prev)
	w.check(err)
	text, err := json.Marshal(sealed)
	w.check(err)
	w.tell("UPDATE events SET line = ? WHERE task = ? AND seq = ?", string(text), id, sealed.Seq)
	w.tell("UPDATE tasks SET hash = ? WHERE id = ?", sealed.Hash, id)
}
