package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	forwarding "orange/internal/answer"
)

// twin is a home on which the same commands are run in one of two ways.
type twin struct {
	dir  string // of the host
	env  []string
	word string // "task", at the host itself, or "fleet", from another one
}

// sameID is the id of the task that both homes have.
const sameID = "OrangeStory0000000001"

// bothLine is one command line that is run both ways. Its first word is that of the command.
type bothLine struct {
	words []string
	stdin string
	exit  int
	loose bool // its text is never the same twice, so that only the exit status is compared
}

func ofTask(exit int, words ...string) bothLine { return bothLine{words: words, exit: exit} }

// bothWays are the command lines, in the order in which they are run.
func bothWays() []bothLine {
	create := func(exit int, words ...string) bothLine {
		return ofTask(exit, append([]string{"create", "--project", "coffee", "--harness", "idle"}, words...)...)
	}
	born := []string{"--workflow", "own", "--id", sameID, "--no-spawn", "--context", "notes.md", "feat/a", "A thing"}
	asked := ofTask(0, "request-changes", sameID, "-")
	asked.stdin = "Use the helper.\n"
	logs := ofTask(0, "logs", sameID, "--json")
	logs.loose = true
	return []bothLine{
		create(2, "--id", "x", "feat/a", "A thing"),
		create(4, "--workflow", "own", "feat/a", "A thing", "--project", "tea", "--json"),
		create(4, "--workflow", "none", "feat/a", "A thing", "--json"),
		create(2, "--workflow", "own", "--context", "/no/such/file", "feat/a", "A thing"),
		create(0, append(born, "--json")...), create(0, born...),
		ofTask(2, "next", sameID, "--to", "done"), ofTask(2, "next", sameID, "--override", "", "--json"),
		ofTask(0, "show", sameID, "--json"), ofTask(0, "show", "OrangeSt"), ofTask(0, "show", "feat/a"),
		ofTask(4, "show", "nope"), ofTask(4, "show", "nope", "--json"),
		ofTask(2, "show", sameID, "more"), ofTask(2, "show", sameID, "--zzz"),
		ofTask(0, "spawn", sameID, "--json"), ofTask(0, "spawn", sameID),
		ofTask(0, "why", sameID, "--json"), ofTask(0, "why", sameID, "--as", "worker"),
		ofTask(2, "update", sameID), ofTask(3, "update", sameID, "--status", "done", "--json"),
		ofTask(3, "update", sameID, "--status", "nowhere"),
		ofTask(0, "update", sameID, "--summary", "Other words", "--json"),
		ofTask(0, "update", sameID, "--summary", "The last words"),
		ofTask(0, "move", sameID, "--json"), ofTask(0, "move", sameID),
		ofTask(0, "complete", sameID), ofTask(0, "complete", sameID, "--reason", "again", "--json"),
		asked, ofTask(3, "request-changes", sameID, "Again", "--json"),
		ofTask(0, "stuck", sameID, "--reason", "the key is missing", "--json"),
		ofTask(0, "move", sameID, "working", "--reason", "it is there now"),
		ofTask(3, "next", sameID), ofTask(3, "next", sameID, "--json"), ofTask(0, "redo", sameID, "working", "--json"),
		ofTask(3, "redo", sameID, "pending"), ofTask(3, "respawn", sameID, "--json"),
		ofTask(3, "say", sameID, "Hello", "--role", "reviewer"), ofTask(2, "say", sameID),
		ofTask(0, "retry", sameID), ofTask(0, "retry", sameID, "--json"),
		ofTask(3, "create-pr", sameID, "--json"),
		ofTask(0, "diff", sameID), ofTask(0, "diff", sameID, "--stat", "--json"), logs,
		ofTask(2, "logs", sameID, "--lines", "0"), ofTask(2, "history", sameID, "--format", "x"),
		ofTask(3, "merge", sameID, "--json"), ofTask(2, "merge", sameID, "--override", ""),
		ofTask(2, "snapshot", sameID), ofTask(1, "snapshot", sameID, "--to", "origin"),
		ofTask(2, "cancel", sameID), ofTask(2, "cancel", sameID, "--json"), ofTask(0, "cancel", sameID, "--yes"),
		ofTask(0, "history", sameID, "--json"), ofTask(0, "history", sameID, "--utc"),
		ofTask(2, "delete", sameID), ofTask(0, "delete", sameID, "--yes", "--json"),
		ofTask(4, "delete", sameID, "--yes"),
		create(0, "--workflow", "own", "--id", sameID, "feat/a", "A thing"),
		ofTask(2, "leave", sameID), ofTask(0, "leave", sameID, "--yes", "--json"),
	}
}

// A command says the same, and ends the same, at the host itself and from another one.
func TestFleetCommands_answerAsTheHostItselfDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs a hundred commands")
	}
	compareBothWays(t, standIn)
}

func compareBothWays(t *testing.T, connect func(dir string) (func(), error)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here, there := twins(t, dir)
	stop, err := connect(dir)
	t.Cleanup(stop)
	if err != nil {
		t.Fatal(err)
	}
	joined := there.start("fleet", "join", "big", "--ssh", "big", "--as", "here")
	if out, err := joined.CombinedOutput(); err != nil {
		t.Fatalf("join: %v\n%s", err, out)
	}
	ways := forwarding.Forwarded()
	for _, one := range bothWays() {
		want, got := here.run(t, one), there.run(t, one)
		if want.exit != one.exit {
			t.Errorf("%q exits with %d, want %d\n%s%s", one.words, want.exit, one.exit, want.stdout, want.stderr)
		}
		if problem := got.differs(want, one.loose); problem != "" {
			t.Errorf("%q: %s", one.words, problem)
		}
		delete(ways, one.words[0])
	}
	// a list has the hosts in it, and a rescue restores
	for _, name := range []string{"list", "restore"} {
		delete(ways, name)
	}
	if len(ways) > 0 {
		t.Errorf("no line runs %q", slices.Sorted(maps.Keys(ways)))
	}
}

// twins are two homes with the same project, and a third one that reaches the second.
func twins(t *testing.T, dir string) (here, there twin) {
	t.Helper()
	sockets, err := os.MkdirTemp("/tmp", "ot") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + built.dir + ":" + os.Getenv("PATH"),
		"TMUX_TMPDIR=" + sockets, "GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "gitconfig"), "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_DATE=2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE=2024-05-06T07:08:09Z", "LANG=C.UTF-8", "TZ=UTC",
		"TERM=dumb"}
	config := "[user]\n\tname = Person\n\temail = person@localhost\n[init]\n\tdefaultBranch = main\n"
	write := func(path, text string) {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "gitconfig"), config)
	if err := writeLogin(dir, environment); err != nil {
		t.Fatal(err)
	}
	at := func(name, word string) twin {
		home := filepath.Join(dir, "hosts", name)
		one := twin{home, append(slices.Clone(environment), "HOME="+home, "ORANGE_HOME="+filepath.Join(home, "orange")),
			word}
		write(filepath.Join(one.dir, "notes.md"), "All that is known.\n")
		t.Cleanup(func() { endServers(sockets, filepath.Join(one.dir, "orange")) })
		return one
	}
	here, there = at("one", "task"), at("big", "task")
	for _, one := range []twin{here, there} {
		write(filepath.Join(one.dir, "coffee", "README.md"), "# A repository\n")
		write(filepath.Join(one.dir, "orange", "workflows", "own.yml"), sameWorkflow)
		write(filepath.Join(one.dir, "orange", "harnesses", "idle.yml"), "name: idle\nworker:   {command: [tail, -f, "+
			"\"{prompt_file}\"]}\nreviewer: {command: [tail, -f, \"{prompt_file}\"]}\n")
		for _, words := range [][]string{{"git", "init", "-q", "coffee"}, {"git", "-C", "coffee", "add", "."},
			{"git", "-C", "coffee", "commit", "-q", "-m", "Begin"}, {"orange", "project", "add", "coffee"}} {
			if out, err := one.program(words...).CombinedOutput(); err != nil {
				t.Fatalf("%q: %v\n%s", words, err, out)
			}
		}
	}
	asker := at("asker", "fleet")
	return here, asker
}

// program is a command at the host, as its person runs it.
func (w twin) program(words ...string) *exec.Cmd {
	name := words[0]
	if name == "orange" {
		name = filepath.Join(built.dir, "orange")
	}
	cmd := exec.Command(name, words[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

func (w twin) start(words ...string) *exec.Cmd {
	return w.program(append([]string{"orange"}, words...)...)
}

// said is what a command said and how it ended, without what differs from one run to the next.
type said struct {
	exit           int
	stdout, stderr string
	json           any // nil where it is no JSON
}

func (w twin) run(t *testing.T, one bothLine) said {
	t.Helper()
	words := append([]string{w.word}, one.words...)
	if w.word == "fleet" {
		words = slices.Insert(words, 2, "--on", "big")
	}
	cmd := w.start(words...)
	cmd.Stdin = strings.NewReader(one.stdin)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	e := said{exit: cmd.ProcessState.ExitCode(), stdout: alike(string(out)), stderr: alike(talk.String())}
	if slices.Contains(one.words, "--json") {
		if err := json.Unmarshal([]byte(e.stdout), &e.json); err != nil {
			t.Errorf("%q says no JSON: %v\n%s%s", words, err, e.stdout, e.stderr)
		}
		e.json = unkeyed(e.json)
	}
	return e
}

// alike is a text without times, hashes, and what tells one home or one way from the other.
func alike(text string) string {
	for _, rule := range [][2]string{
		{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?`, "TIME"}, {`[^\s"]*/hosts/(one|big|asker)`, "HOST"},
		{`\b[0-9a-f]{8,64}\b`, "HASH"}, {`\b\d+(\.\d+)?(ms|s)\b`, "DURATION"}, {`TIME[^\s"]*-\d+`, "TIME"},
		{`"(time_in_state|total_time)": \d+`, `"$1": 0`}, {`\d{8}[-T]\d{6}[^\s"/]*`, "STAMP"},
		{`(?m)^ *\d+  TIME .*there was nothing to do.*\n`, ""}, {`(?m)^ *\d+  TIME`, "N TIME"},
	} {
		text = regexp.MustCompile(rule[0]).ReplaceAllString(text, rule[1])
	}
	return strings.NewReplacer("orange fleet ", "orange task ", " via ssh", "", " [ID]", " ID").Replace(text)
}

// unkeyed is JSON without the keys of requests, which those from another host have, and without the events of those
// that had nothing to do, which are there only for their keys.
func unkeyed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{"ask", "asked", "seq"} {
			delete(v, name)
		}
		if events, is := v["events"].([]any); is {
			v["events"] = slices.DeleteFunc(events, func(e any) bool {
				event, is := e.(map[string]any)
				return is && event["reason"] == "there was nothing to do"
			})
		}
		for name := range v {
			v[name] = unkeyed(v[name])
			if data, is := v[name].(map[string]any); is && name == "data" && len(data) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = unkeyed(v[i])
		}
	}
	return value
}

// differs says how an answer differs from the one that is wanted; empty where it does not.
func (e said) differs(want said, loose bool) string {
	switch {
	case e.exit != want.exit:
		return fmt.Sprintf("it exits with %d, and with %d at the host\n%s%s", e.exit, want.exit, e.stdout, e.stderr)
	case loose:
		return ""
	case e.stderr != want.stderr:
		return fmt.Sprintf("it says %q, and %q at the host", e.stderr, want.stderr)
	case want.json == nil && e.stdout != want.stdout:
		return fmt.Sprintf("it prints\n%s\nand at the host\n%s", e.stdout, want.stdout)
	case !reflect.DeepEqual(e.json, want.json):
		return fmt.Sprintf("its JSON is\n%s\nand at the host\n%s", e.stdout, want.stdout)
	}
	return ""
}

// sameWorkflow has a move of every kind.
const sameWorkflow = `name: own
version: 1
redo: [working]
states:
  pending: {}
  working: {role: worker, respawn_prompt: plan}
  review: {}
  stuck: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: plan}]}
  - {from: working, to: review}
  - {from: review, to: working, by: human}
  - {from: working, to: stuck}
  - {from: stuck, to: working, by: human}
  - {from: review, to: done, gate: {section: "## Proof"}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: [pending, working, review, stuck], to: cancelled, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
moves: {spawn: working, complete: review, stuck: stuck, merge: done, cancel: cancelled, request_changes: working}
prompts:
  plan: "Plan {summary}."
`
