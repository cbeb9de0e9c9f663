package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// What `workflow check` tells of as a way around is one: people and agents go it step by step with the program, and a
// promise of what it goes around refuses its last step, or the task says without what it was merged elsewhere.
func TestEveryWayAround_canBeGone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	gone := map[string]bool{}
	for _, file := range filesWithWays(t) {
		for _, w := range waysAround(t, file) {
			text := fmt.Sprint(w.What, w.Steps)
			if file.variant && gone[text] { // the file that it varies has the same way
				continue
			}
			gone[text] = true
			t.Run(file.name+" "+w.What, func(t *testing.T) {
				t.Parallel()
				newWalker(t, file, w).walk()
			})
		}
	}
	if len(gone) < 25 {
		t.Errorf("went %d ways", len(gone))
	}
}

// workflowFile is a workflow whose ways are gone.
type workflowFile struct {
	name, text string
	variant    bool // of the file before it
}

// filesWithWays are the workflows that ship, those that say no more than a file has to, and those of the manual.
func filesWithWays(t *testing.T) []workflowFile {
	t.Helper()
	var out []workflowFile
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range []string{"build", "classic", "default", "minimal", "phases"} {
		out = append(out, workflowFile{name: name, text: read("../../workflows/" + name + ".yml")})
	}
	for _, one := range inStory(t, "workflow_only-the-files-rules") {
		if name, is := strings.CutSuffix(one.Name, ".yml"); is {
			out = append(out, workflowFile{name: "plain-" + name, text: strings.Replace(string(one.Data), "name: "+name,
				"name: plain-"+name, 1)})
		}
	}
	_, section, _ := strings.Cut(read("../../docs/workflow-file.md"), "\n## What is guaranteed at the end\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```")
	whole := strings.TrimPrefix(blocks[1], "yaml\n")
	out = append(out, workflowFile{name: "reviewed", text: whole})
	for line := range strings.Lines(read("../../internal/proof/explore/testdata/ways-around.txt")) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.Contains(cells[1], "`") {
			out = append(out, workflowFile{name: "reviewed", variant: true,
				text: strings.Replace(whole, strings.Trim(cells[1], "`"), strings.Trim(cells[2], "`"), 1)})
		}
	}
	return out
}

// inStory are the files of a story.
func inStory(t *testing.T, name string) []txtar.File {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/script/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return archive.Files
}

// wayAround is one thing that a way goes around, as the check of the file tells of it.
type wayAround struct {
	What, End string
	Steps     []string
}

func waysAround(t *testing.T, file workflowFile) []wayAround {
	t.Helper()
	path := filepath.Join(t.TempDir(), file.name+".yml")
	if err := os.WriteFile(path, []byte(file.text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(built.dir, "orange"), "workflow", "check", path, "--json")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ORANGE_HOME="+t.TempDir())
	text, _ := cmd.Output() // what is found beyond the rules is not looked at here
	var said struct {
		Passed []struct {
			End    string
			Around []wayAround
		}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var out []wayAround
	for _, end := range said.Passed {
		for _, one := range end.Around {
			one.End = end.End
			out = append(out, one)
		}
	}
	return out
}

// walker goes one way with one task.
type walker struct {
	*world
	t    *testing.T
	file workflowFile
	way  wayAround
	id   string
	at   struct { // as the program showed it last
		Task struct {
			Status, Attention string
			Counters          map[string]int
		}
		OwedHooks []any `json:"owed_hooks"`
	}
	wrote int  // how much evidence
	owes  bool // a hook has failed, and fails again
	ended int  // how many agents there had been of the role of the one that ended last
}

// actor is an agent that tells where it is and what it has in its environment, and ends when the test says so.
const actor = `#!/bin/sh
dir=$1/$ORANGE_ROLE.$$
mkdir -p "$dir"
mkfifo "$dir/end"
pwd >"$dir/pwd"
env -0 >"$dir/new"
mv "$dir/new" "$dir/env"
read -r code <"$dir/end"
exit "$code"
`

// withProgram has the agents' program there, or not.
func (w *walker) withProgram(is bool) {
	w.t.Helper()
	program := filepath.Join(w.dir, "actor")
	if !is {
		program = filepath.Join(w.dir, "nowhere")
	}
	command := fmt.Sprintf("{command: [%q, %q]}", program, filepath.Join(w.dir, "seats"))
	w.write("orange/harnesses/actor.yml", "name: actor\nworker: "+command+"\nreviewer: "+command+"\n")
}

func newWalker(t *testing.T, file workflowFile, way wayAround) *walker {
	t.Helper()
	w := &walker{world: newWorld(t), t: t, file: file, way: way}
	w.write("actor", actor)
	if err := os.Chmod(filepath.Join(w.dir, "actor"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.withProgram(true)
	text := file.text
	if strings.Contains(fmt.Sprint(way.Steps), "is long over") {
		text = strings.Replace(text, "after: 8h", "after: 1s", 1)
	}
	w.write("orange/workflows/"+file.name+".yml", text)
	w.write("coffee/Makefile", "test:\n\ttrue\n")
	w.must("git", "add", ".")
	w.must("git", "commit", "-q", "-m", "A test that passes")
	if strings.Contains(fmt.Sprint(way.Steps), "pull request") {
		w.withPullRequests()
	}
	w.must("orange", "project", "update", "--workflow", file.name)
	return w
}

// withPullRequests puts a GitHub into files.
func (w *walker) withPullRequests() {
	w.t.Helper()
	for _, one := range inStory(w.t, "promise_kept") {
		w.write("fake/"+one.Name, string(one.Data))
	}
	w.write("prs/README", "pull requests\n")
	if err := os.Chmod(filepath.Join(w.dir, "fake", "gh"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	origin := filepath.Join(w.dir, "origin.git")
	w.must("git", "clone", "-q", "--bare", ".", origin)
	w.must("git", "remote", "add", "origin", "https://github.com/a/coffee.git")
	w.must("git", "config", "url."+origin+".insteadOf", "https://github.com/a/coffee.git")
	w.must("git", "fetch", "-q")
	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "fake")+":"+built.dir+":"+os.Getenv("PATH"))
}

// walk goes the way. Before its last step the project promises what the way goes around.
func (w *walker) walk() {
	w.t.Helper()
	last := len(w.way.Steps) - 1
	for i, step := range w.way.Steps {
		if i == last && !isOver.MatchString(step) { // what its time could not do once, it does not try again
			w.promised(step)
			if w.at.Task.Status == w.way.End {
				break
			}
		}
		if refused := w.step(step); refused != "" {
			w.t.Fatalf("step %d, %s\nrefused: %s\nof the way %q", i, step, refused, w.way.Steps)
		}
	}
	if w.at.Task.Status != w.way.End {
		w.t.Errorf("the task is %q after %q", w.at.Task.Status, w.way.Steps)
	}
	w.must("orange", "task", "replay", w.id)
	w.must("orange", "task", "verify", w.id)
}

// promised has the project promise the thing, and tries the last step. A merge elsewhere is a fact: the task says what
// it is without.
func (w *walker) promised(step string) {
	w.t.Helper()
	w.must("orange", "project", "update", "--live", "--promise", strings.ReplaceAll(w.way.What, `"`, ""))
	refused := w.step(step)
	switch {
	case strings.Contains(step, "pull request"):
		if !strings.Contains(w.at.Task.Attention, "without "+w.way.What) {
			w.t.Errorf("the task says %q, want that it is without %s", w.at.Task.Attention, w.way.What)
		}
	case strings.Contains(step, "overrides"):
		if w.at.Task.Status != w.way.End {
			w.t.Errorf("an override is refused: %s", refused)
		}
	case w.at.Task.Status == w.way.End:
		w.t.Errorf("nothing holds the task to the promise of %s on the way %q", w.way.What, w.way.Steps)
	case !strings.Contains(refused+w.at.Task.Attention, w.way.What+": found that the work"):
		w.t.Errorf("the promise of %s is not named: %s %s", w.way.What, refused, w.at.Task.Attention)
	}
	w.must("orange", "project", "update", "--live", "--promise", "")
}

// What the steps say.
var (
	isCreated   = regexp.MustCompile(`^A task is created in "(\S+)"( from a plan file)?\.`)
	isAsked     = regexp.MustCompile(`^(?:A person|The (\S+?))(?:, in the name of the (\S+),)?(?: has (.+) and)? asks for "(\S+)"`)
	isSet       = regexp.MustCompile(`^A person overrides what the move to "(\S+)" asks for\.`)
	isEnded     = regexp.MustCompile(`^The (\S+) (dies|is killed) and leaves nothing(?:: the task moves to "(\S+)"|: crash (\d+))\.`)
	isRevived   = regexp.MustCompile(`^The (\S+) of "\S+" is started again by itself\.`)
	isRespawned = regexp.MustCompile(`^A person starts the (\S+) of "\S+" again\.`)
	isOver      = regexp.MustCompile(`^The time of "\S+" is long over: the task moves to "(\S+)"\.`)
	isPulled    = regexp.MustCompile(`^Its pull request is merged elsewhere: the task moves to "(\S+)"\.`)
	isRedone    = regexp.MustCompile(`^A person has "(\S+)" done again\.`)
	isStarted   = regexp.MustCompile(`The (\S+) is started\.`)
)

// step has the people and agents do one step, and waits until all that follows from it is there. It answers why the
// program refused it, or nothing.
func (w *walker) step(text string) (refused string) {
	w.t.Helper()
	settles := strings.HasPrefix(text, "What was owed is performed at last.")
	w.owes = !settles && (w.owes || strings.Contains(text, "The hook spawn_reviewer fails and stays owed."))
	w.withProgram(!w.owes)
	started, seats := isStarted.FindStringSubmatch(text), 0
	if started != nil {
		seats = len(w.seats(started[1]))
	}
	to, crashes := "", ""
	switch found := []string(nil); {
	case match(isCreated, text, &found):
		to = found[1]
		w.create(found[1], found[2] != "", started != nil)
	case match(isAsked, text, &found):
		to = found[4]
		refused = w.asks(found[1], found[2], found[3], found[4])
	case match(isSet, text, &found):
		to = found[1]
		refused = w.ask("", "task", "next", w.id, "--override", "I read it all")
	case match(isEnded, text, &found):
		to, crashes = found[3], found[4]
		w.end(found[1])
	case match(isRevived, text, &found):
		started, seats = found, w.ended
	case match(isRespawned, text, &found):
		started, seats = found, len(w.seats(found[1]))
		refused = w.ask("", "task", "respawn", w.id)
	case match(isOver, text, &found):
		to = found[1]
	case match(isPulled, text, &found):
		to = found[1]
		w.must("orange", "task", "create-pr", w.id)
		w.must("sh", filepath.Join(w.dir, "fake", "merged.sh"), "feat/a")
	case match(isRedone, text, &found):
		to = found[1]
		refused = w.ask("", "task", "redo", w.id, found[1], "--reason", "once more")
	case settles:
		refused = w.ask("", "task", "retry", w.id)
	case text == "An agent changes the work.":
		w.change()
	default:
		w.t.Fatalf("no one knows how to do this: %s", text)
	}
	if refused != "" {
		w.look()
		return refused
	}
	w.await("what follows from: "+text, func() bool {
		return (to == "" || w.at.Task.Status == to) && w.counts(crashes) && (len(w.at.OwedHooks) > 0) == w.owes &&
			(started == nil || len(w.seats(started[1])) > seats)
	})
	return ""
}

// counts reports whether the task has had so many crashes: until the one that a step tells of is on record, the next
// step would come before it.
func (w *walker) counts(crashes string) bool {
	return crashes == "" || strconv.Itoa(w.at.Task.Counters["crash_count"]) == crashes
}

func match(pattern *regexp.Regexp, text string, found *[]string) bool {
	*found = pattern.FindStringSubmatch(text)
	return *found != nil
}

func (w *walker) create(status string, planned, starts bool) {
	w.t.Helper()
	args := []string{"task", "create", "feat/a", "A thing", "--harness", "actor", "--json"}
	initial := regexp.MustCompile(`(?m)^initial: (\S+)`).FindStringSubmatch(w.file.text)
	switch {
	case planned:
		w.write("plan.md", "# A plan\n\nBuild it.\n")
		args = append(args, "--plan-file", filepath.Join(w.dir, "plan.md"))
	case initial != nil && initial[1] != status || initial == nil && status == "ready":
		args = append(args, "--status", status)
	case !starts:
		args = append(args, "--no-spawn")
	}
	var answer struct{ Task struct{ ID string } }
	if err := json.Unmarshal([]byte(w.must("orange", args...)), &answer); err != nil {
		w.t.Fatal(err)
	}
	w.id = answer.Task.ID
}

// asks has an agent, or a person where the role is empty, write evidence and ask for a status. What the way goes around
// is written only where the program refuses the move without it.
func (w *walker) asks(role, as, evidence, status string) (refused string) {
	w.t.Helper()
	var around []string
	for part := range strings.SplitSeq(evidence, ", ") {
		name := strings.Replace(part, " with the verdict ", " ", 1)
		if name = strings.Replace(name, "the check ", "check ", 1); name == w.way.What {
			around = append(around, part)
			continue
		}
		w.evidence(part, status)
	}
	words := []string{"task", "update", w.id, "--status", status, "--reason", "it is time"}
	if role == "" && w.isMerge(status) && w.inWorktree("git log main..") != "" {
		words = []string{"task", "merge", w.id, "--local"}
	}
	if as != "" {
		words = append(words, "--as", as)
	}
	if refused = w.ask(role, words...); refused != "" && len(around) > 0 {
		for _, part := range around {
			w.evidence(part, status)
		}
		refused = w.ask(role, words...)
	}
	return refused
}

// isMerge reports whether a person comes to a status by merging: where the file says so, or says nothing of moves.
func (w *walker) isMerge(status string) bool {
	return strings.Contains(w.file.text, "merge: "+status) ||
		status == "done" && !strings.Contains(w.file.text, "\nmoves:")
}

// ask calls the program as an agent, or as a person where the role is empty.
func (w *walker) ask(role string, words ...string) (refused string) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(built.dir, "orange"), words...)
	cmd.Dir, cmd.Env = w.repo, w.env
	if role != "" {
		seats := w.seats(role)
		if len(seats) == 0 {
			w.t.Fatalf("no %s was started, and it is to call %q", role, words)
		}
		seat := seats[len(seats)-1]
		cmd.Dir = strings.TrimSpace(w.read(seat, "pwd"))
		cmd.Env = strings.Split(w.read(seat, "env"), "\x00")
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("orange %q: %s %s", words, err, out)
}

// seats are the folders of the agents of a role, the oldest first.
func (w *walker) seats(role string) []string {
	all, _ := filepath.Glob(filepath.Join(w.dir, "seats", role+".*", "env"))
	slices.SortFunc(all, func(a, b string) int {
		first, _ := os.Stat(a)
		second, _ := os.Stat(b)
		return first.ModTime().Compare(second.ModTime())
	})
	for i, one := range all {
		all[i] = filepath.Dir(one)
	}
	return all
}

func (w *walker) read(dir, name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// end has the newest agent of a role end by itself, without having asked for anything.
func (w *walker) end(role string) {
	w.t.Helper()
	seats := w.seats(role)
	w.ended = len(seats)
	w.commit() // what it has made by then
	if err := os.WriteFile(filepath.Join(seats[len(seats)-1], "end"), []byte("3\n"), 0); err != nil {
		w.t.Fatal(err)
	}
}

// look asks the program how the task is.
func (w *walker) look() {
	w.t.Helper()
	w.at.Task.Attention, w.at.OwedHooks = "", nil
	if err := json.Unmarshal([]byte(w.must("orange", "task", "show", w.id, "--json")), &w.at); err != nil {
		w.t.Fatal(err)
	}
}

// await has the monitor look until something is so.
func (w *walker) await(what string, is func() bool) {
	w.t.Helper()
	deadline, tick := time.Now().Add(patienceOnAWay), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		w.must("orange", "monitor", "--once")
		if w.look(); is() {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited for %s\n%s%s", what, w.must("orange", "task", "show", w.id),
				w.must("orange", "task", "history", w.id))
		}
		<-tick.C
	}
}

// change changes the work.
func (w *walker) change() {
	w.t.Helper()
	w.wrote++
	w.inWorktree(fmt.Sprintf(`echo changed %d >>'the page.txt'
git add -A
git -c user.name=Agent -c user.email=agent@localhost commit -q -m Change`, w.wrote))
}

// inWorktree runs a script in the task's worktree and answers what it says.
func (w *walker) inWorktree(script string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, "orange", "workspaces", "coffee--1"), w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// patienceOnAWay is how long a step may take.
const patienceOnAWay = 15 * time.Second
