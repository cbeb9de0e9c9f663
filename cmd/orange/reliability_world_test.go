package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
)

// faultWorld is a home with three live tasks, and the memory of all that was accepted and written there.
type faultWorld struct {
	*world
	ids      []string // the first is the one that is hit
	moved    map[string][]string
	body     map[string]string
	root     string   // before a path below the home: where this process finds it
	inside   []string // before a command: what brings it to the home's disk
	likeness bool     // the fault at hand is only like the one that is meant: the machine cannot have that
}

const writtenByAgents = "\n## Plan\n\nAPPROACH: plain\nTOUCHING: README.md\n\n## Notes\n\nEine Notiz mit " +
	"Umlaut: ü, and a tab:\there.\n"

func newFaultWorld(t *testing.T, private bool) *faultWorld {
	t.Helper()
	w := &faultWorld{world: newWorld(t), moved: map[string][]string{}, body: map[string]string{}}
	w.env = append(w.env, harness.WatchVariable+"="+harness.NoWatch) // some faults need the record closed
	w.must("orange", "server", "stop")
	if private {
		w.ownDisk()
	}
	for _, branch := range []string{"feat/hit", "feat/second", "feat/third"} {
		out, code := w.ask("task", "create", branch, "A thing", "--harness", "idle")
		found := regexp.MustCompile(`created task (\S+)`).FindStringSubmatch(out)
		if code != 0 || found == nil || !strings.Contains(out, "spawn_agent            done") {
			t.Fatalf("no task with an agent was made: %d %s", code, out)
		}
		id := found[1]
		w.ids = append(w.ids, id)
		w.append(w.document(id), writtenByAgents)
		w.body[id] = document.Read([]byte(w.text(w.document(id)))).Body
		w.move(id)
	}
	return w
}

// at is where this process finds a path of the home.
func (w *faultWorld) at(path string) string { return w.root + path }

// home is a path below the home.
func (w *faultWorld) home(names ...string) string {
	return filepath.Join(append([]string{w.dir, "orange"}, names...)...)
}

func (w *faultWorld) folder(id string) string { return filepath.Dir(w.document(id)) }

func (w *faultWorld) slot() string { return w.home("workspaces", "coffee--1") }

func (w *faultWorld) append(path, text string) {
	w.t.Helper()
	file, err := os.OpenFile(w.at(path), os.O_APPEND|os.O_WRONLY, 0)
	w.check(err)
	_, err = file.WriteString(text)
	w.check(errors.Join(err, file.Close()))
}

func (w *faultWorld) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// aside moves a path of the home away, and answers what puts it back over whatever took its place.
func (w *faultWorld) aside(path string) (back func()) {
	w.t.Helper()
	w.check(os.Rename(w.at(path), w.at(path+".aside")))
	return func() {
		w.t.Helper()
		w.check(os.RemoveAll(w.at(path)))
		w.check(os.Rename(w.at(path+".aside"), w.at(path)))
	}
}

// put writes a whole file of the home.
func (w *faultWorld) put(path, text string) {
	w.t.Helper()
	w.check(os.WriteFile(w.at(path), []byte(text), 0o644))
}

func (w *faultWorld) text(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.at(path))
	w.check(err)
	return string(text)
}

// setting changes a variable of the environment and answers what changes it back.
func (w *faultWorld) setting(name, value string) (back func()) {
	before := w.env
	w.env = append(slices.Clone(before), name+"="+value)
	return func() { w.env = before }
}

// tooLong ends a command that hangs: none may.
const tooLong = 60 * time.Second

// ask runs orange and answers all that it said; moves that it says it made are remembered.
func (w *faultWorld) ask(args ...string) (said string, code int) {
	w.t.Helper()
	dir := w.repo
	if _, err := os.Stat(dir); err != nil {
		dir = w.dir
	}
	words := append([]string{filepath.Join(built.dir, "orange")}, args...)
	if w.inside != nil { // what brings a command to another disk may forget its folder
		words = slices.Concat(w.inside, []string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", dir}, words)
	}
	ctx, cancel := context.WithTimeout(context.Background(), tooLong)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, w.env, time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		w.t.Fatalf("orange %q hangs; so far it said:\n%s", args, out)
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		w.t.Fatalf("orange %q: %v", args, err)
	}
	for _, move := range regexp.MustCompile(`(?m)^(\w+): [a-z-]+ -> ([a-z-]+)$`).FindAllStringSubmatch(
		string(out), -1) {
		w.moved[move[1]] = append(w.moved[move[1]], move[2])
	}
	if strings.Contains(string(out), "panic:") || strings.Contains(string(out), "goroutine ") {
		w.t.Errorf("orange %q panics:\n%s", args, out)
	}
	return string(out), code
}

// succeeds is ask where nothing but success will do.
func (w *faultWorld) succeeds(args ...string) string {
	w.t.Helper()
	out, code := w.ask(args...)
	if code != 0 {
		w.t.Errorf("orange %q: exit %d\n%s", args, code, out)
	}
	return out
}

// next is the status that a task can be moved to: there and back between clarification and working,
// which asks for the plan.
func (w *faultWorld) next(id string) string {
	if moves := w.moved[id]; moves[len(moves)-1] == "working" {
		return "clarification"
	}
	return "working"
}

// move moves a task on. It must succeed.
func (w *faultWorld) move(id string) {
	w.t.Helper()
	w.succeeds("task", "update", id, "--status", w.next(id))
}

// meet brings a fault about, looks how the program takes it, takes it away, and looks again.
func (w *faultWorld) meet(t *testing.T, f fault, seen *sightings) {
	switch {
	case f.long && os.Getenv("ORANGE_TEST_LONG") == "":
		t.Skip("takes long; ORANGE_TEST_LONG=1 runs it")
	}
	outer := w.t
	w.t = t
	defer func() { w.t = outer }()
	if w.next(w.ids[0]) == "clarification" { // every fault finds the task where a move needs evidence
		w.move(w.ids[0])
	}
	w.likeness = false
	lift := f.inflict(w)
	if lift == nil {
		t.Skip("this machine cannot have the fault")
	}
	lifted := false
	defer func() {
		if !lifted {
			lift()
		}
	}()
	how := f.how
	if how == nil {
		how = func(w *faultWorld, run []string) (string, int) { return w.ask(run...) }
	}
	said, code := how(w, w.words(f.run))
	said = w.plain(said)
	exit := f.exit
	if w.likeness && f.exitLike != 0 {
		exit = f.exitLike
	}
	if found := regexp.MustCompile(f.says).FindString(said); found == "" || code != exit {
		t.Errorf("orange %q: exit %d, want %d, and want %q in:\n%s", f.run, code, exit, f.says, said)
	} else if !w.likeness {
		seen.add(f.name, strings.ReplaceAll(strings.Join(strings.Fields(found), " "), "|", `\|`))
	}
	if !f.whole {
		w.othersLive()
	}
	lift()
	lifted = true
	if f.repair != nil {
		w.succeeds(w.words(f.repair)...)
	}
	w.move(w.ids[0])
	w.move(w.ids[0])
	if f.whole {
		w.othersLive()
	}
	for _, id := range w.ids {
		w.whole(id)
	}
}

// words puts the task into a command.
func (w *faultWorld) words(args []string) []string {
	out := slices.Clone(args)
	for i, word := range out {
		switch word {
		case "ID":
			out[i] = w.ids[0]
		case "LONG": // an event that needs more room in a file than one page
			out[i] = strings.Repeat("x", 5000)
		}
	}
	return out
}

// plain takes out of a message what differs from run to run.
func (w *faultWorld) plain(said string) string {
	said = strings.NewReplacer(w.ids[0], "ID", w.home(), "HOME", w.repo, "REPO", w.dir, "DIR").Replace(said)
	said = regexp.MustCompile(`\b[0-9A-Za-z]{21}\b`).ReplaceAllString(said, "ID")
	return regexp.MustCompile(`\.(\d{5,})\b`).ReplaceAllString(said, ".N")
}

// othersLive checks whether the other tasks can be listed, shown and moved.
func (w *faultWorld) othersLive() {
	w.t.Helper()
	list := w.succeeds("task", "list", "--all")
	for _, id := range w.ids {
		if !strings.Contains(list, id) {
			w.t.Errorf("the list hides task %s:\n%s", id, list)
		}
	}
	folders, err := os.ReadDir(w.at(w.home("tasks", "coffee")))
	w.check(err)
	for _, folder := range folders {
		if !strings.Contains(list, folder.Name()) {
			w.t.Errorf("the folder %s belongs to no task", folder.Name())
		}
	}
	for _, id := range w.ids[1:] {
		if shown := w.succeeds("task", "show", id); !strings.Contains(shown, "feat/") {
			w.t.Errorf("task %s is not shown: %s", id, shown)
		}
		w.move(id)
	}
}

// whole checks whether a task's history is a chain of exactly the accepted moves, in the record and in its file,
// and whether the agents' text is there.
func (w *faultWorld) whole(id string) {
	w.t.Helper()
	var answer struct{ Events []history.Event }
	w.check(json.Unmarshal([]byte(w.succeeds("task", "history", id, "--json")), &answer))
	if err := history.VerifyChain(answer.Events); err != nil {
		w.t.Errorf("the history of %s is broken: %v", id, err)
	}
	var moves []string
	for _, e := range answer.Events {
		if e.IsMove() {
			moves = append(moves, string(e.To))
		}
	}
	if !slices.Equal(moves, w.moved[id]) {
		w.t.Errorf("task %s: the history has the moves %v, and accepted were %v", id, moves, w.moved[id])
	}
	var want bytes.Buffer
	for _, e := range answer.Events {
		line, err := json.Marshal(e)
		w.check(err)
		want.Write(append(line, '\n'))
	}
	if have := w.text(filepath.Join(w.folder(id), "history.jsonl")); have != want.String() {
		w.t.Errorf("history.jsonl of %s is not the record's history:\n%s\nwant\n%s", id, have, want.String())
	}
	d := document.Read([]byte(w.text(w.document(id))))
	if d.Body != w.body[id] {
		w.t.Errorf("the body of TASK.md of %s is %q, and agents wrote %q", id, d.Body, w.body[id])
	}
	if status, _ := d.Front.Get("status"); status != moves[len(moves)-1] {
		w.t.Errorf("the header of %s says %q, and the record %q", id, status, moves[len(moves)-1])
	}
}

// moveIt is what most faults are met with: a move that needs evidence.
func moveIt() []string { return []string{"task", "update", "ID", "--status", "working"} }

// accepted is the answer to it when the fault does not stand in its way.
const accepted = `ID: clarification -> working`
