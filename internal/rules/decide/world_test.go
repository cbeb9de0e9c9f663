package decide_test

import (
	"os"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// noon is the time of all decisions in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const frontmatter = "---\nid: T1\n---\n\n"

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// parse reads a workflow with nothing implied that the text itself does not imply.
func parse(tb testing.TB, file string, text []byte) *workflow.Definition {
	tb.Helper()
	usual, err := workflow.ParseUsual("usual.yml", read(tb, "../../../workflows/usual.yml"))
	if err != nil {
		tb.Fatal(err)
	}
	def, err := workflow.Parse(file, text, usual)
	if err != nil {
		tb.Fatal(err)
	}
	return def
}

func defaultWorkflow(tb testing.TB) *workflow.Definition {
	tb.Helper()
	return shippedWorkflow(tb, "default")
}

func shippedWorkflow(tb testing.TB, name string) *workflow.Definition {
	tb.Helper()
	folder := "../../../workflows/"
	if name == sessions {
		folder += "testdata/"
	}
	return parse(tb, name+".yml", read(tb, folder+name+".yml"))
}

// sessions is a workflow that is as classic is, with the ways back and the evidence of git that default has. It does
// not ship.
const sessions = "sessions"

// shippedWorkflows are all built-in workflows, for tests with many cases.
func shippedWorkflows(tb testing.TB) map[string]*workflow.Definition {
	tb.Helper()
	out := map[string]*workflow.Definition{}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		out[name] = shippedWorkflow(tb, name)
	}
	return out
}

// newTask is a task with a workspace, in a status.
func newTask(status task.Status) task.Task {
	return task.Task{
		ID: "T1", Project: "shop", Branch: "fix-login", Summary: "Mend the login", Status: status,
		Workspace: "w1", Live: true, Version: 7, Seq: 3,
	}
}

// evidence is a document, and a worktree in which nothing has changed since.
func evidence(body string) decide.Evidence { return still(decide.Evidence{Document: docOf(body)}) }

// still is the evidence with what git says of a worktree in which nothing has changed since, unless the evidence says
// otherwise.
func still(ev decide.Evidence) decide.Evidence {
	facts := map[string]decide.Fact{}
	for word, holds := range map[string]bool{workflow.GitCommitted: true, workflow.GitUnmoved: true,
		workflow.GitAsReviewed: true, workflow.GitMoved: false} {
		facts[gitKey(word)] = gitFact(word, holds)
	}
	for key, fact := range ev.Facts {
		facts[key] = fact
	}
	ev.Facts = facts
	return ev
}

// withGit is the evidence with the answers of git for a tip that has moved, or for files that differ from it.
func withGit(ev decide.Evidence, moved, dirty bool) decide.Evidence {
	ev = still(ev)
	unmoved := gitFact(workflow.GitUnmoved, !moved && !dirty)
	unmoved.Moved, unmoved.Other, unmoved.Anew = moved && !dirty, moved || dirty, moved
	ev.Facts[gitKey(workflow.GitUnmoved)] = unmoved
	ev.Facts[gitKey(workflow.GitCommitted)] = gitFact(workflow.GitCommitted, !dirty)
	ev.Facts[gitKey(workflow.GitMoved)] = gitFact(workflow.GitMoved, moved)
	return ev
}

func docOf(body string) *document.Document { return document.Read([]byte(frontmatter + body)) }

// factsFor is what would be seen of the files that the gates out of a status ask for, if they spoke for the move
// to another one: its files are there and say so, and those that other moves share with it say something else.
func factsFor(def *workflow.Definition, from, to task.Status) map[string]decide.Fact {
	facts, there := map[string]decide.Fact{}, map[string]bool{}
	visit := func(see func(p workflow.Part, taken bool)) {
		for i := range def.Transitions {
			for _, p := range workflow.Leaves(def.Transitions[i].Gate) {
				if def.Transitions[i].From == from && p.Section == "" && p.Git == "" {
					see(p, def.Transitions[i].To == to)
				}
			}
		}
	}
	visit(func(p workflow.Part, taken bool) {
		there[p.File+p.Glob] = there[p.File+p.Glob] || taken
	})
	visit(func(p workflow.Part, taken bool) {
		source := p.File + p.Glob
		fact := decide.Fact{Source: source, Where: source, Found: "no such file", Want: "write " + source,
			Holds: taken || facts[p.Key()].Holds}
		if there[source] {
			fact.Digest, fact.Found = digestOf(source), "its program answers false"
		}
		facts[p.Key()] = fact
	})
	return still(decide.Evidence{Facts: facts}).Facts
}

// digestOf replaces the digest of the only text that a file has in these tests.
func digestOf(source string) string { return "digest of " + source }

func human() task.Actor { return task.Actor{Role: task.RoleHuman} }

// failer is what testing.TB and *rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sectionEvidence is a section as it is, the way that decisions name it.
func sectionEvidence(tb failer, d *document.Document, name string) task.Evidence {
	tb.Helper()
	s, present := d.Section(name)
	if !present {
		tb.Fatalf("found no section %q", name)
	}
	return task.Evidence{Source: "## " + s.Key, Digest: document.Digest(s.Text)}
}

func spentSection(tb failer, d *document.Document, name string, seq int) task.Spent {
	tb.Helper()
	return task.Spent{Evidence: sectionEvidence(tb, d, name), Seq: seq}
}

// judge judges a request as the engine does: "previous" becomes the state that it means for the task.
func judge(def *workflow.Definition, tk task.Task, ev decide.Evidence, req task.Request) (decide.Decision, error) {
	if req.To == workflow.Previous {
		to, err := decide.Back(def, tk, req)
		if err != nil {
			return decide.Decision{}, err
		}
		req.To = to
	}
	return decide.Transition(def, tk, ev, req, noon)
}
