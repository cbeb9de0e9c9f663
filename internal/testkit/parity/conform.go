// Package parity has the commands that have to do the same at a host itself and from elsewhere in its fleet. It is
// for tests.
//
// It owns the command lines, how two homes are made that differ in nothing, and what of two answers is compared. It
// does not own the ways: who compares them says how the second home is reached.
package parity

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// ID is that of the task that both homes have.
const ID = "OrangeStory0000000001"

// Case is one command line that is run both ways. Its first word is that of the command.
type Case struct {
	Words []string
	Stdin string
	Exit  int
	Loose bool // its text is never the same twice, so that only the exit status is compared
	Again bool // it creates a task again that another line has created
	Place bool // it names no place for a snapshot, and a host of a fleet with a server has a usual one
}

func of(exit int, words ...string) Case { return Case{Words: words, Exit: exit} }

// Lines are the command lines, in the order in which they are run.
func Lines() []Case {
	create := func(exit int, words ...string) Case {
		return of(exit, append([]string{"create", "--project", "coffee", "--harness", "idle"}, words...)...)
	}
	born := []string{"--workflow", "own", "--id", ID, "--no-spawn", "--context", "notes.md", "feat/a", "A thing"}
	asked := of(0, "request-changes", ID, "-")
	asked.Stdin = "Use the helper.\n"
	logs := of(0, "logs", ID, "--json")
	logs.Loose = true
	again := create(0, born...)
	again.Again = true
	return []Case{
		create(2, "--id", "x", "feat/a", "A thing"),
		create(4, "--workflow", "own", "feat/a", "A thing", "--project", "tea", "--json"),
		create(4, "--workflow", "none", "feat/a", "A thing", "--json"),
		create(2, "--workflow", "own", "--context", "/no/such/file", "feat/a", "A thing"),
		create(0, append(born, "--json")...), again,
		of(2, "next", ID, "--to", "done"), of(2, "next", ID, "--override", "", "--json"),
		of(0, "show", ID, "--json"), of(0, "show", "OrangeSt"), of(0, "show", "feat/a"),
		of(4, "show", "nope"), of(4, "show", "nope", "--json"),
		of(2, "show", ID, "more"), of(2, "show", ID, "--zzz"),
		of(0, "spawn", ID, "--json"), of(0, "spawn", ID),
		of(0, "why", ID, "--json"), of(0, "why", ID, "--as", "worker"),
		of(2, "update", ID), of(3, "update", ID, "--status", "done", "--json"),
		of(3, "update", ID, "--status", "nowhere"),
		of(0, "update", ID, "--summary", "Other words", "--json"),
		of(0, "update", ID, "--summary", "The last words"),
		of(0, "move", ID, "--json"), of(0, "move", ID),
		of(0, "complete", ID), of(0, "complete", ID, "--reason", "again", "--json"),
		asked, of(3, "request-changes", ID, "Again", "--json"),
		of(0, "stuck", ID, "--reason", "the key is missing", "--json"),
		of(0, "move", ID, "working", "--reason", "it is there now"),
		of(3, "next", ID), of(3, "next", ID, "--json"), of(0, "redo", ID, "working", "--json"),
		of(3, "redo", ID, "pending"), of(3, "respawn", ID, "--json"),
		of(3, "say", ID, "Hello", "--role", "reviewer"), of(2, "say", ID),
		of(0, "retry", ID), of(0, "retry", ID, "--json"),
		of(3, "create-pr", ID, "--json"),
		of(0, "diff", ID), of(0, "diff", ID, "--stat", "--json"), of(0, "diff", ID, "--since-review", "--json"),
		logs,
		of(2, "logs", ID, "--lines", "0"), of(2, "history", ID, "--format", "x"),
		of(3, "merge", ID, "--json"), of(2, "merge", ID, "--override", ""),
		{Words: []string{"snapshot", ID}, Exit: 2, Place: true}, of(1, "snapshot", ID, "--to", "origin"),
		of(2, "cancel", ID), of(2, "cancel", ID, "--json"), of(0, "cancel", ID, "--yes"),
		of(0, "history", ID, "--json"), of(0, "history", ID, "--utc"),
		of(2, "delete", ID), of(0, "delete", ID, "--yes", "--json"),
		of(4, "delete", ID, "--yes"),
		create(0, "--workflow", "own", "--id", ID, "feat/a", "A thing"),
		of(2, "leave", ID), of(0, "leave", ID, "--yes", "--json"),
	}
}

// Side is a home at which commands are run.
type Side struct {
	Dir    string // of the person
	Env    []string
	Orange string                        // the program
	Words  func(words []string) []string // what a command line is run as
	Person string                        // how a history calls the person, where that is not the name that git has
}

// Make makes what both homes have: a repository, a workflow and an agent program that waits.
func (h Side) Make() error {
	write := func(path, text string) error {
		path = filepath.Join(h.Dir, path)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	if err := errors.Join(h.MakeNotes(), write("coffee/README.md", "# A repository\n"),
		write("orange/workflows/own.yml", workflow), write("orange/harnesses/idle.yml", "name: idle\nworker:   "+
			"{command: [tail, -f, \"{prompt_file}\"]}\nreviewer: {command: [tail, -f, "+
			"\"{prompt_file}\"]}\n")); err != nil {
		return err
	}
	for _, words := range [][]string{{"git", "init", "-q", "coffee"}, {"git", "-C", "coffee", "add", "."},
		{"git", "-C", "coffee", "commit", "-q", "-m", "Begin"}, {h.Orange, "project", "add", "coffee"}} {
		if out, err := h.program(words...).CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %s", words, err, out)
		}
	}
	return nil
}

// MakeNotes makes what the person who asks from elsewhere has: a file that a flag names.
func (h Side) MakeNotes() error {
	return errors.Join(os.MkdirAll(h.Dir, 0o700),
		os.WriteFile(filepath.Join(h.Dir, "notes.md"), []byte("All that is known.\n"), 0o600))
}

// program is a command at the home, as its person runs it.
func (h Side) program(words ...string) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = h.Dir, h.Env
	return cmd
}

// Environment is that of a person whose git and tmux are those of the test alone. Bin is looked into first.
func Environment(dir, bin, sockets string) ([]string, error) {
	config := "[user]\n\tname = Person\n\temail = person@localhost\n[init]\n\tdefaultBranch = main\n"
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "TMUX_TMPDIR=" + sockets,
			"GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "gitconfig"), "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_DATE=2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE=2024-05-06T07:08:09Z", "LANG=C.UTF-8", "TZ=UTC",
			"TERM=dumb", "ORANGE_MONITOR=never"},
		os.WriteFile(filepath.Join(dir, "gitconfig"), []byte(config), 0o600)
}

// At is the home of a name: each is a folder below dir/hosts.
func At(dir, name, orange string, env []string, words func([]string) []string) Side {
	home := filepath.Join(dir, "hosts", name)
	return Side{Dir: home, Env: append(slices.Clone(env), "HOME="+home, "ORANGE_HOME="+filepath.Join(home, "orange")),
		Orange: orange, Words: words}
}

// AtHost is how a command line is run at the host itself.
func AtHost(words []string) []string { return append([]string{"task"}, words...) }

// FromAfar is how a command line is run from elsewhere, of the host of a name.
func FromAfar(host string) func([]string) []string {
	return func(words []string) []string {
		return append([]string{"fleet", words[0], "--on", host}, words[1:]...)
	}
}

// Program is a command line of orange at the home.
func (h Side) Program(words ...string) *exec.Cmd {
	return h.program(append([]string{h.Orange}, words...)...)
}

// Compare runs a line both ways, and says how the answers differ; empty where they do not. Talk reports whether what is
// on standard error, and lines for people, are compared, too.
func Compare(one Case, here, afar Side, talk bool) string {
	want, err := here.Run(one)
	got, failed := afar.Run(one)
	if err = errors.Join(err, failed); err != nil {
		return err.Error()
	}
	if want.Exit != one.Exit {
		return fmt.Sprintf("%q exits with %d, want %d\n%s%s", one.Words, want.Exit, one.Exit, want.Stdout, want.Stderr)
	}
	if problem := got.Differs(want, one.Loose, talk); problem != "" {
		return fmt.Sprintf("%q: %s", one.Words, problem)
	}
	return ""
}

// Printed is what a command said and how it ended, without what differs from one run to the next.
type Printed struct {
	Exit           int
	Stdout, Stderr string
	JSON           any // nil where it is no JSON
}

// Run runs a line at the home, in its way.
func (h Side) Run(one Case) (Printed, error) {
	words := h.Words(one.Words)
	cmd := h.Program(words...)
	cmd.Stdin = strings.NewReader(one.Stdin)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return Printed{}, err
	}
	e := Printed{Exit: cmd.ProcessState.ExitCode(), Stdout: h.alike(string(out)), Stderr: h.alike(talk.String())}
	if slices.Contains(one.Words, "--json") {
		if err := json.Unmarshal([]byte(e.Stdout), &e.JSON); err != nil {
			return e, fmt.Errorf("%q says no JSON: %w\n%s%s", words, err, e.Stdout, e.Stderr)
		}
		e.JSON = unkeyed(e.JSON)
	}
	return e, nil
}

// alike is a text without times, hashes, and what tells one home or one way from the other.
func (h Side) alike(text string) string {
	if h.Person != "" {
		text = regexp.MustCompile(`\b`+h.Person+`\b`).ReplaceAllString(text, "Person <person@localhost>")
	}
	for _, rule := range [][2]string{
		// a history's
		{`(?m)^\d{4}-\d\d-\d\d (UTC|[-+]\d\d:\d\d)\n`, ""}, {`(?m)^( *\d+(?:-\d+)?  )\d\d:\d\d:\d\d`, "${1}TIME"},
		{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?`, "TIME"}, {`[^\s"]*/hosts/(one|big|asker)`, "HOST"},
		{`\b[0-9a-f]{8,64}\b`, "HASH"}, {`\b\d+(\.\d+)?(ms|s)\b`, "DURATION"}, {`TIME[^\s"]*-\d+`, "TIME"},
		{`"(time_in_state|total_time)": \d+`, `"$1": 0`}, {`\d{8}[-T]\d{6}[^\s"/]*`, "STAMP"},
		{`(?m)^ *\d+(?:-\d+)?  TIME .*there was nothing to do.*\n`, ""}, {`(?m)^ *\d+(?:-\d+)?  TIME`, "N TIME"},
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
		for _, name := range []string{"ask", "asked", "seq", "signed", "signature"} {
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

// Differs says how an answer differs from the one that is wanted; empty where it does not.
func (e Printed) Differs(want Printed, loose, talk bool) string {
	switch {
	case e.Exit != want.Exit:
		return fmt.Sprintf("it exits with %d, and with %d at the host\n%s%s", e.Exit, want.Exit, e.Stdout, e.Stderr)
	case loose:
		return ""
	case talk && e.Stderr != want.Stderr:
		return fmt.Sprintf("it says %q, and %q at the host", e.Stderr, want.Stderr)
	case want.JSON == nil && e.Stdout != want.Stdout:
		return fmt.Sprintf("it prints\n%s\nand at the host\n%s", e.Stdout, want.Stdout)
	case !reflect.DeepEqual(e.JSON, want.JSON):
		return fmt.Sprintf("its JSON is\n%s\nand at the host\n%s", e.Stdout, want.Stdout)
	}
	return ""
}

// workflow has a move of every kind.
const workflow = `name: own
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
  - from: [pending, working, review, stuck]
    to: cancelled
    by: human
    hooks: [{action: kill_session}, {action: release_workspace}]
moves: {spawn: working, complete: review, stuck: stuck, merge: done, cancel: cancelled, request_changes: working}
prompts:
  plan: "Plan {summary}."
`
