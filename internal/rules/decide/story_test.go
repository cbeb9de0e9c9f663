package decide_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

var update = flag.Bool("update", false,
	"write what the stories say now into their files; read the difference before you keep it")

// A story is a file of scenes with a blank line between them. Each scene begins from nothing: what is so, what is
// asked, "----", and the answers.
//
//	task STATUS [COUNTER=N | workspace=NAME | previous=STATUS | commit=NAME | tree=NAME | reviewed=yes]...
//	                      "workspace=" for none
//	work COMMIT [TREE]    what the evidence is about now: the tip of the branch, and what is in the worktree
//	document              the lines after it that begin with "|" are the document
//	document unreadable WHY
//	files STATUS          the files of the task's folder speak for the move to STATUS; "none" for no file
//	spent SEQ SOURCE      the section or the file as it is moved the task at event SEQ
//	entry                 what document and files contain was there when the status began
//	start                 what document and files contain was there when the status's agent last started
//	git WORD yes|no       what git says of the branch and the worktree; without such a line, nothing has changed there
//	git tip               the tip of the branch is another commit than it was, and nothing else prevents the move
//	ask STATUS by ROLE [as ROLE][, ROLE [as ROLE]]... [because REASON]
//	override STATUS by ROLE [because REASON]
//	command STATUS by ROLE  a command of the workflow's moves asks for it
//	die ROLE [killed|failed|unseen]  the agent of that role has ended; without a word, by itself and with status 0
type scene struct {
	line  int
	input []string
	want  string
}

func TestEveryStoryEndsAsItIsWritten(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no stories: %v", err)
	}
	shelf := shippedWorkflows(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			tell(t, shelf[toldWith(filepath.Base(file))], file)
		})
	}
}

// toldWith is the workflow of a story.
func toldWith(file string) string {
	if strings.HasPrefix(file, "003-") {
		return "build"
	}
	return bookOf(file).workflow
}

func tell(t *testing.T, def *workflow.Definition, file string) {
	t.Helper()
	var told []string
	for _, s := range scenes(string(read(t, file))) {
		got := play(t, def, s)
		if got != s.want && !*update {
			t.Errorf("%s:%d: the scene ends otherwise\n%s\nfound:\n%s\nwant:\n%s", file, s.line,
				strings.Join(s.input, "\n"), got, s.want)
		}
		told = append(told, strings.Join(s.input, "\n")+"\n----\n"+got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(told, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func scenes(text string) []scene {
	var out []scene
	s := scene{line: 1}
	answers := false
	for i, line := range strings.Split(strings.TrimRight(text, "\n")+"\n", "\n") {
		switch {
		case line == "" && len(s.input) > 0:
			out = append(out, s)
			s, answers = scene{line: i + 2}, false
		case line == "----":
			answers = true
		case answers:
			s.want += line + "\n"
		case line != "":
			s.input = append(s.input, line)
		}
	}
	return out
}

// stage is the situation in a scene.
type stage struct {
	task task.Task
	ev   decide.Evidence
	body string
}

func play(t *testing.T, def *workflow.Definition, s scene) string {
	t.Helper()
	w := stage{ev: still(decide.Evidence{})}
	var out strings.Builder
	for _, line := range s.input {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "#":
		case "task":
			w.task = taskFrom(t, strings.Fields(rest))
		case "document":
			w.ev.Trouble = strings.TrimPrefix(rest, "unreadable ")
			if rest == "" {
				w.ev.Document = docOf("")
			}
		case "|":
			w.body += rest + "\n"
			w.ev.Document = docOf(w.body)
		case "spent":
			w.spend(t, rest)
		case "files":
			w.ev.Facts = factsFor(def, w.task.Status, task.Status(rest))
		case "entry":
			w.ev.Entry = decide.Digests(def, w.task.Status, w.ev)
		case "start":
			w.ev.Start = w.ev.VerdictsNow(def, w.task.Status)
		case "work":
			w.ev.Subject.Commit, w.ev.Subject.Tree, _ = strings.Cut(rest, " ")
		case "git":
			what, said, _ := strings.Cut(rest, " ")
			if what == "tip" {
				w.ev = withGit(w.ev, true, false)
				continue
			}
			w.ev.Facts[gitKey(what)] = gitFact(what, said == "yes")
		case "ask":
			to, actors, _ := strings.Cut(rest, " by ")
			actors, reason, _ := strings.Cut(actors, " because ")
			for _, actor := range strings.Split(actors, ", ") {
				out.WriteString(
					answer(def, w, task.Request{Task: w.task.ID, To: task.Status(to), Actor: actorFrom(actor),
						Reason: reason}))
			}
		case "die":
			role, how, _ := strings.Cut(rest, " ")
			death := deathOf(role)
			death.Ending = endings[how]
			out.WriteString(shape(decide.Exit(def, w.task, w.ev, death, noon)) + "\n")
		case "command":
			to, actor, _ := strings.Cut(rest, " by ")
			out.WriteString(
				answer(def, w, task.Request{Task: w.task.ID, To: task.Status(to), Actor: actorFrom(actor),
					Command: true}))
		case "override":
			to, actor, _ := strings.Cut(rest, " by ")
			actor, why, _ := strings.Cut(actor, " because ")
			req := task.Request{Task: w.task.ID, To: task.Status(to), Actor: actorFrom(actor), Reason: why,
				Override: true}
			out.WriteString(answer(def, w, req))
		default:
			t.Fatalf("line %d: found %q, expected a verb of stories", s.line, line)
		}
	}
	return out.String()
}

func taskFrom(t *testing.T, words []string) task.Task {
	t.Helper()
	out := newTask(task.Status(words[0]))
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "workspace":
			out.Workspace = value
			continue
		case "previous":
			out.Previous = task.Status(value)
			continue
		case "commit":
			out.Subject.Commit = value
			continue
		case "tree":
			out.Subject.Tree = value
			continue
		case "reviewed":
			out.Subject.Reviewed = value == "yes"
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Counters = out.Counters.With(name, n)
	}
	return out
}

func (w *stage) spend(t *testing.T, rest string) {
	t.Helper()
	number, section, _ := strings.Cut(rest, " ")
	seq, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(section, "/") {
		w.ev.Spent = append(w.ev.Spent, task.Spent{
			Evidence: task.Evidence{Source: section, Digest: digestOf(section)}, Seq: seq})
		return
	}
	w.ev.Spent = append(w.ev.Spent, spentSection(t, w.ev.Document, section, seq))
}

// endings are the ways in which an agent ends.
var endings = map[string]task.Ending{"": {Known: true}, "failed": {Known: true, Status: 1}, "killed": {
	Known: true, Signal: 9}, "unseen": {}}

func gitKey(what string) string { return workflow.Part{Git: what}.Key() }

func gitFact(what string, holds bool) decide.Fact {
	if holds {
		return decide.Fact{Holds: true, Source: "git " + what, Digest: what, Text: what}
	}
	return decide.Fact{Source: "git " + what, Found: "the contrary", Want: "commit"}
}

func actorFrom(text string) task.Actor {
	role, as, _ := strings.Cut(text, " as ")
	if role == "rule" {
		return task.Actor{Rule: true}
	}
	return task.Actor{Role: role, As: as}
}

func answer(def *workflow.Definition, w stage, req task.Request) string {
	d, err := judge(def, w.task, w.ev, req)
	var no *rejection.Rejection
	switch {
	case errors.As(err, &no):
		return fmt.Sprintf("refused %s\n  %s\n", no.Code, strings.ReplaceAll(no.Error(), "\n", "\n  "))
	case err != nil:
		return fmt.Sprintf("an error that is no refusal: %v\n", err)
	case !d.Moved:
		return fmt.Sprintf("stays in %s: %d events, %d hooks\n", d.Change.Task.Status, len(d.Change.Events),
			len(d.Change.Hooks))
	}
	return describe(d.Change)
}

func describe(c record.Change) string {
	var b strings.Builder
	e := c.Events[0]
	fmt.Fprintf(&b, "moved %s -> %s by %s", e.From, e.To, e.Actor)
	if e.ActingAs != "" {
		fmt.Fprintf(&b, " as %s", e.ActingAs)
	}
	for _, counter := range c.Task.Counters {
		fmt.Fprintf(&b, "\n  counter %s=%d", counter.Name, counter.Value)
	}
	for _, h := range c.Hooks {
		fmt.Fprintf(&b, "\n  hook %s", describeHook(h))
	}
	if n := e.Data[history.DataFailure]; n != "" {
		fmt.Fprintf(&b, "\n  failure %s of %s", n, e.From)
	}
	if c.Lease == record.LeaseReserve {
		b.WriteString("\n  lease reserve")
	}
	for _, s := range c.Spent {
		fmt.Fprintf(&b, "\n  spent %s", s.Source)
	}
	if c.Task.Subject != (task.Subject{}) {
		fmt.Fprintf(&b, "\n  about %s", about(c.Task.Subject))
	}
	if said := e.Data[history.DataUnreviewed]; said != "" {
		fmt.Fprintf(&b, "\n  unreviewed: %s", said)
	}
	if ignored, overridden := e.Data[history.DataOverride]; overridden {
		fmt.Fprintf(&b, "\n  reason %s\n  in spite of %s", e.Reason, ignored)
	}
	if note := e.Data["note"]; note != "" {
		fmt.Fprintf(&b, "\n  note %s", note)
	}
	return b.String() + "\n"
}

// about describes what evidence is about.
func about(s task.Subject) string {
	text := strings.TrimSpace(s.Commit + " " + s.Tree)
	if text == "" {
		text = "what nobody has looked at"
	}
	if s.Reviewed {
		text += ", reviewed"
	}
	if s.By != "" {
		text += ", handed in by " + s.By + ", not reviewed"
	}
	return text
}

func describeHook(h task.Hook) string {
	text := h.Action
	if h.Role != "" {
		text += " role=" + h.Role
	}
	if h.Field != "" {
		text += " field=" + h.Field
	}
	if h.Action == action.SetField {
		text += fmt.Sprintf(" value=%d", h.Value)
	}
	if h.Prompt != "" {
		text += " prompt=" + h.Prompt
	}
	if h.Harness != "" {
		text += " harness=" + h.Harness + " permissions=" + h.Permissions
	}
	return text
}
