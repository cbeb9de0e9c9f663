package guarantee

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Keys in the data of a move: what versions of the work have passed with it, what of that it was moved past by force,
// what a timeout was refused for before it moved the task by force, and what the work had not passed when it was merged
// elsewhere.
const (
	DataPassed  = "passed"
	DataSkipped = "skipped"
	DataForced  = "forced"
	DataWithout = "without"
	DataRefused = "refused_by" // what versions of the work have not passed: a verdict or a check refused them
	DataSame    = "same"       // two versions that are the same work: files that were judged, and the commit of them
)

// DataPromise is the key in the data of a task's creation, or of an update, with the promise of its project.
const DataPromise = "promise"

// Version is the work of a task as it was at one moment. Tree is empty where only commits were looked at.
type Version struct{ Commit, Tree string }

// VersionOf is the version that evidence is about.
func VersionOf(s task.Subject) Version { return Version{s.Commit, s.Tree} }

// answersFor reports whether what a version has passed holds for another one: they are the same, as far as both were
// looked at.
func (v Version) answersFor(now Version) bool {
	return v.Commit == now.Commit && (v.Tree == "" || now.Tree == "" || v.Tree == now.Tree)
}

// Write adds to a ledger, the text under DataPassed, that versions of the work have passed a thing: a line for
// each of them.
func Write(ledger, what string, versions ...Version) string {
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			continue
		}
		if ledger != "" {
			ledger += "\n"
		}
		ledger += what + " @" + v.Commit
		if v.Tree != "" {
			ledger += " " + v.Tree
		}
	}
	return ledger
}

// read is the thing and the version of one line of a ledger.
func read(line string) (what string, v Version) {
	at := strings.LastIndex(line, " @")
	if at < 0 {
		return "", v
	}
	commit, tree, _ := strings.Cut(line[at+2:], " ")
	return line[:at], Version{commit, tree}
}

// Had are the things that a history has of one of the versions, each of which is the work as it is now. A plan is
// passed until the task is again where it is made, whatever version of the work there is.
func Had(def *workflow.Definition, events []history.Event, now ...Version) map[string]bool {
	had, now := map[string]bool{}, withSame(events, now)
	type plan struct {
		is   bool
		made []task.Status
	}
	plans := map[string]plan{}
	for i := range events {
		e := &events[i]
		if !e.IsMove() {
			continue
		}
		for _, line := range lines(e.Data[DataPassed]) {
			what, v := read(line)
			p, known := plans[what]
			if !known {
				p.is, p.made = Plan(def, what)
				plans[what] = p
			}
			if p.is || slices.ContainsFunc(now, v.answersFor) {
				had[what] = true
			}
		}
		for _, line := range lines(e.Data[DataRefused]) {
			what, v := read(line)
			if is, _ := Plan(def, what); is || slices.ContainsFunc(now, v.answersFor) {
				delete(had, what)
			}
		}
		for what, p := range plans {
			if slices.Contains(p.made, e.To) {
				delete(had, what)
			}
		}
	}
	return had
}

// withSame adds to versions those that are the same work.
func withSame(events []history.Event, now []Version) []Version {
	out := slices.Clone(now)
	for _, e := range slices.Backward(events) {
		var same []Version
		for _, line := range lines(e.Data[DataSame]) {
			_, v := read(line)
			same = append(same, v)
		}
		if slices.ContainsFunc(same, func(v Version) bool { return slices.ContainsFunc(out, v.answersFor) }) {
			out = append(out, same...)
		}
	}
	return out
}

// Owed is a thing that a good end of a task needs, besides what the transition asks for.
type Owed struct {
	What  string
	By    string // who wants it, in words
	After int    // how many events came before it was owed: it has to be passed after those
}

// OwedBy lists what a task has to have passed at a good end: by its workflow's promise, by the one of its project when
// it was created, and because it was moved by force past it.
func OwedBy(def *workflow.Definition, events []history.Event) []Owed {
	var out []Owed
	add := func(what, by string, after int) {
		if !slices.ContainsFunc(out, func(o Owed) bool { return o.What == what }) {
			out = append(out, Owed{what, by, after})
		}
	}
	for i := range slices.Backward(events) { // the last one wants the most
		for _, line := range lines(events[i].Data[DataSkipped]) {
			add(line, fmt.Sprintf("event %d moved the task by force past it", events[i].Seq), i+1)
		}
	}
	for _, line := range def.Promise {
		add(Called(line.Name), fmt.Sprintf("the workflow %q promises it", def.Name), 0)
	}
	for _, line := range lines(PromiseOf(events)) {
		add(Called(line), "its project promises it", 0)
	}
	return out
}

// PromiseOf is the promise of a task's project that the task has, one line for each thing.
func PromiseOf(events []history.Event) string {
	for _, e := range slices.Backward(events) { // the last word counts
		if promise, said := e.Data[DataPromise]; said {
			return promise
		}
	}
	return ""
}

// Pin adds the promise of a task's project to the data of an event: the task has it from then on.
func Pin(e *history.Event, promise []string) {
	if len(promise) == 0 && e.Type == history.Created {
		return
	}
	if e.Data == nil {
		e.Data = map[string]string{}
	}
	e.Data[DataPromise] = strings.Join(promise, "\n")
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
