// Package eventtext has the words in which people read what happened to a task.
//
// The dashboard and the command line say the same of the same event. It decides nothing, and it does not make text
// from outside fit for a terminal: who prints it does that.
package eventtext

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// most is how many letters of one value are shown.
const most = 120

// What is what happened, in a few words: "worker started". A kind of event that has no words here is its name.
func What(e *history.Event) string {
	if e.IsMove() {
		return fmt.Sprintf("%s -> %s", e.From, e.To)
	}
	k, known := kindOf(e.Type)
	if !known {
		return e.Type
	}
	if e.Type == history.WorkflowMigrated {
		return k.say + ": " + migrationText(e.Data)
	}
	if !strings.Contains(k.say, "%s") {
		return k.say
	}
	value := cmp.Or(oneLine(e.Data[k.covers[0]], most), "agent")
	if value == "all" {
		value = "all agents"
	}
	return fmt.Sprintf(k.say, value)
}

// Who is who asked for an event, and on whose behalf: "by human (Ada <ada@example.org>) for the worker". It is empty
// for what the engine does after something else.
func Who(e *history.Event) string {
	who := "by " + e.Actor
	if e.Person != "" {
		who += " (" + oneLine(e.Person, most) + ")"
	}
	switch {
	case e.Actor == task.ActorEngine && !e.IsMove(), e.Actor == "":
		return ""
	case e.Type == history.AutoAdvanced && e.Actor == task.ActorEngine:
		return "by itself"
	case e.ActingAs != "" && e.ActingAs != e.Actor:
		who += " for the " + e.ActingAs
	}
	return who
}

// Evidence names what a move rests on, and its hooks; empty where it has neither.
func Evidence(e *history.Event) []string {
	var sources, out []string
	for _, one := range e.Evidence {
		sources = append(sources, one.Source)
	}
	if len(sources) > 0 {
		word := "evidence: "
		if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
			word = "at its start: " // the event does not depend on it
		}
		out = append(out, word+strings.Join(sources, ", "))
	}
	if len(e.Hooks) > 0 {
		out = append(out, "hooks: "+strings.Join(e.Hooks, ", "))
	}
	return out
}

// Details are those data of an event that people want and its words do not have yet, each with its name.
func Details(e *history.Event) []string {
	var parts []string
	data := e.Told()
	row, _ := kindOf(e.Type)
	for _, name := range wantedData() {
		value := data[name]
		if value == "" || value == e.Subject.Commit || slices.Contains(row.covers, name) || e.Type == history.Created &&
			name != history.DataBranch && name != "workflow" {
			continue
		}
		switch value = oneLine(value, most); name {
		case task.DataLastWords:
			value = end(data[name], most)
		case history.DataResumed:
			parts = append(parts, map[bool]string{true: "goes on with its conversation",
				false: "begins a new conversation"}[value == "true"])
			continue
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+value)
	}
	if unreviewed := e.Data[history.DataUnreviewed]; unreviewed != "" {
		parts = append(parts, oneLine(unreviewed, most))
	}
	if up := e.Subject.UnreviewedText(); up != "" {
		parts = append(parts, oneLine(up, most))
	}
	return append(parts, Aside(e)...)
}

// Aside is what a move left aside: what a person's override ignored, what a forced move passed by, and what a merge
// elsewhere lacks.
func Aside(e *history.Event) []string {
	var parts []string
	said := func(words, what string) {
		if what != "" {
			parts = append(parts, words+oneLine(strings.ReplaceAll(what, "\n", "; "), most))
		}
	}
	spite := cmp.Or(e.Data[history.DataOverride], e.Data[guarantee.DataForced])
	if why, is := strings.CutPrefix(spite, "nothing: "); is {
		said("an override that was not needed: ", why)
		spite = ""
	}
	said("in spite of ", spite)
	said("by force past ", e.Data[guarantee.DataSkipped])
	said("merged elsewhere without ", e.Data[guarantee.DataWithout])
	return parts
}

// Counter is the name of a task's counter for people. A workflow's own keeps the words of its file.
func Counter(name string) string {
	words := map[string]string{task.CrashCount: "crashes", "rereviews": "repeat reviews"}
	return cmp.Or(words[name], strings.ReplaceAll(name, "_", " "))
}

// Routine reports whether an event only tells that a worktree was ready, or that an agent began, ended or gave its
// conversation a name: what follows from moves, and is of no interest by itself while all goes well.
func Routine(e *history.Event) bool {
	switch e.Type {
	case history.WorkspaceReady, history.AgentSpawned, history.AgentRespawned, history.ReviewStarted,
		history.AgentStopped, history.ConversationNoted:
		return e.Reason == "" && e.Person == ""
	}
	return false
}

// migrationText says from which text of a workflow to which one an event led. Older events do not name the first.
func migrationText(data map[string]string) string {
	text := func(name, version, digest string) string {
		n, _ := strconv.Atoi(data[version]) // one that cannot be read is not known
		return task.WorkflowRef{Name: data[name], Version: n, Digest: data[digest]}.String()
	}
	return text("from_workflow", "from_version", "from") + " -> " + text("workflow", "version", "to")
}

// oneLine is a text without its line ends, cut at so many letters.
func oneLine(text string, letters int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= letters {
		return text
	}
	return string([]rune(text)[:letters-1]) + "…"
}

// end is the end of an agent's output, on one line.
func end(text string, letters int) string {
	all := []rune(strings.Join(strings.Fields(text), " "))
	if len(all) <= letters {
		return string(all)
	}
	return "…" + string(all[len(all)-letters+1:])
}
