package explore

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// steps describes the way to a configuration, from the birth of the task.
func (w *walk) steps(at int32) []string {
	var out []string
	for at >= 0 {
		out = append(out, w.words(w.parent[at], step{to: at, event: w.by[at]}))
		at = w.parent[at]
	}
	slices.Reverse(out)
	return out
}

// words describes one step: what happens, and what is different then.
func (w *walk) words(at int32, one step) string {
	after := w.configs[one.to]
	var before config
	if at >= 0 {
		before = w.configs[at]
	}
	text := w.eventText(at, before, after, one.event)
	for r, name := range w.roles {
		switch {
		case after.agent(r) == alive && (before.agent(r) != alive || at < 0):
			if one.event.kind == isRespawn || one.event.kind == isRevival {
				continue // it says so
			}
			text += fmt.Sprintf(" The %s is started.", name)
		case before.agent(r) == alive && after.agent(r) != alive && (!one.event.dies || int(one.event.role) != r):
			text += fmt.Sprintf(" The %s is ended.", name)
		}
	}
	switch {
	case after.workspace && !before.workspace:
		text += " It has a workspace."
	case before.workspace && !after.workspace:
		text += " The workspace is given back."
	}
	if failed := w.lists[after.owed]; len(failed) > 0 && one.event.failing >= 0 {
		text += fmt.Sprintf(" The hook %s fails and stays owed.", failed[0].Action)
	}
	return text
}

func (w *walk) eventText(at int32, before, after config, e event) string {
	status := w.def.States[after.status].Name
	who := "A person"
	if e.role >= 0 {
		who = "The " + w.roles[e.role]
	}
	stays := at >= 0 && before.status == after.status
	switch e.kind {
	case isBorn:
		if e.to < 0 {
			return fmt.Sprintf("A task is created in %q from a plan file.", status)
		}
		return fmt.Sprintf("A task is created in %q.", status)
	case isRequest:
		return w.asking(before, who, status, e)
	case isDeath:
		text := who + " dies" + w.remains(before, e)
		if e.killed {
			text = who + " is killed" + w.remains(before, e)
		}
		switch {
		case e.unstarted:
			return who + " could not be started at all."
		case !stays:
			return text + fmt.Sprintf(": the task moves to %q.", status)
		case w.tallies[after.counters].Get(task.CrashCount) > w.tallies[before.counters].Get(task.CrashCount):
			return text + fmt.Sprintf(": crash %d.", w.tallies[after.counters].Get(task.CrashCount))
		}
		return text + "."
	case isRespawn:
		if e.role < 0 {
			return fmt.Sprintf("A person has %q go on in a workspace again.", status)
		}
		return fmt.Sprintf("A person starts the %s of %q again.", w.roles[e.role], status)
	case isRevival:
		return fmt.Sprintf("The %s of %q is started again by itself.", w.roles[e.role], status)
	case isTimer:
		return fmt.Sprintf("The time of %q is long over: the task moves to %q.", w.def.States[before.status].Name,
			status)
	case isRefused:
		return fmt.Sprintf("The agent of %q was refused too often: the task moves to %q.",
			w.def.States[before.status].Name, status)
	case isSetback:
		happened := [...]string{"A merge fails by a conflict or a red check", "A check of the pull request is red",
			"A review of the pull request asks for changes"}
		return fmt.Sprintf("%s: the task is sent back to %q.", happened[e.on], status)
	case isPull:
		return fmt.Sprintf("Its pull request is %s elsewhere: the task moves to %q.",
			strings.ToLower(pullStates()[e.on]), status)
	case isSettle:
		return "What was owed is performed at last."
	case isTouch:
		return "A person does something to the task, and sets counters back by that."
	case isRedo:
		return fmt.Sprintf("A person has %q done again.", status)
	case isEdit:
		return "An agent changes the work."
	}
	return "Something happens."
}

func (w *walk) asking(before config, who string, status task.Status, e event) string {
	if e.as >= 0 {
		who += ", in the name of the " + w.roles[e.as] + ","
	}
	if e.override {
		return fmt.Sprintf("%s overrides what the move to %q asks for.", who, status)
	}
	wrote := ""
	if e.edge >= 0 {
		wrote = asks(w.def.Transitions[e.edge].Gate)
	}
	if wrote != "" {
		wrote = " has " + wrote + " and"
	}
	if before.status == w.place(status) {
		return fmt.Sprintf("%s%s asks for %q, in which the task is: it begins again.", who, wrote, status)
	}
	return fmt.Sprintf("%s%s asks for %q: the task moves.", who, wrote, status)
}

// remains describes which evidence a dying agent leaves, as far as the exit rules look at it.
func (w *walk) remains(before config, e event) string {
	if e.look < 0 {
		return ""
	}
	l := w.forge.looks[before.status][bit(before.workspace)][e.look]
	if k := slices.Index(l.rules, true); k >= 0 {
		rule := w.def.Exit.Rules[w.rules[before.status][k]]
		return " and leaves " + asks([]workflow.Part{*rule.HasArtifact})
	}
	return " and leaves nothing"
}

// asks names what a gate asks for.
func asks(gate []workflow.Part) string {
	var names []string
	for _, p := range workflow.Leaves(gate) {
		name := strings.TrimSpace(strings.Join([]string{p.File, p.Glob}, " "))
		switch {
		case p.Section != "":
			name = fmt.Sprintf("%q", "## "+strings.TrimSpace(strings.TrimLeft(p.Section, "# ")))
			if p.Verdict != "" {
				name += " with the verdict " + p.Verdict
			}
		case p.Check != "":
			name = "the check " + p.Check
		case p.Git != "":
			name = "a worktree that is " + p.Git
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
