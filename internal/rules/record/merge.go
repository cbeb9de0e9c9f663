package record

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

// Merging is what a person's merge on this machine rests on besides the workflow.
type Merging struct {
	Asked   task.Merge
	Project task.Project
	PR      PullRequest // the one that is open; without a URL there is none
	// Unpushed is how many commits only the local default branch has; Newest are the newest of them, in words.
	Unpushed int
	Newest   []string
}

// Commands are the lines with which a task is merged here as it was asked for, each with all that it needs besides:
// where there is a choice, one for each answer. As is the role for which the person acts, if any.
func (in Merging) Commands(id, as string) []string {
	line := "orange task merge " + id
	if in.Asked.Local || in.PR.URL != "" || in.Project.Merge == "pr" {
		line += " --local"
	}
	if in.Asked.Strategy != "" {
		line += " --strategy " + in.Asked.Strategy
	}
	if reason := in.Asked.Override; reason != "" {
		if strings.ContainsFunc(reason, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			reason = "'" + strings.ReplaceAll(reason, "'", `'\''`) + "'"
		}
		line += " --override " + reason
	}
	if as != "" {
		line += " --as " + as
	}
	wanted := cmp.Or(in.Asked.Push, in.Project.Push)
	push, stay := line, line+" --no-push"
	if in.Asked.Push == "always" || wanted == "ask" {
		push += " --push"
	}
	if in.Unpushed > 0 {
		push += fmt.Sprintf(" --with %d", in.Unpushed)
	}
	switch {
	case in.Asked.Push == "never":
		return []string{stay}
	case wanted == "never":
		return []string{line}
	case wanted == "ask", in.Unpushed > 0:
		return []string{push, stay}
	}
	return []string{push}
}

// MergeOrder says which commit of a task's branch is merged, and how.
type MergeOrder struct {
	Commit   string // empty means the tip
	Strategy string // as in task.Merge
	Push     bool   // origin gets the merge, before the local default branch moves
	With     int    // commits of the local default branch that go there with it: exactly so many
	Checks   []MergeCheck
	Checked  []string // trees of results that were checked already
	Results  []string // of earlier tries to merge the commit: one that the default branch has is this merge
}

// ChecksInWords are the commands of the checks.
func (o MergeOrder) ChecksInWords() (words []string) {
	for _, c := range o.Checks {
		words = append(words, strings.Join(c.Argv, " "))
	}
	return words
}

// MergeCheck is a command that must succeed on what a merge results in.
type MergeCheck struct {
	Argv    []string
	Seconds int // that it may take
}

// MergeResult is what a merge came to.
type MergeResult struct {
	Commit string // that has the work, and that the default branch has
	How    string // in words
	Squash bool   // it has the work, and not the commits of the branch
}

// KeptBeyond says of a branch that was merged at a commit what becomes of the rest of it.
func KeptBeyond(tip, commit string) string {
	return fmt.Sprintf("the branch has moved on to %.7s since, and what it has beyond %.7s is kept there, not merged",
		tip, commit)
}

// Unmerged is why a branch cannot be merged that was found fit for it: what it changes does not go together with what
// the default branch has. No branch was changed.
type Unmerged struct {
	Files []string // that both changed; else a check of the result failed
	Check string   // its words
	Said  string   // its last lines, and where all of them are
	Then  string   // what became of the task, in words; empty where nothing did
}

func (u *Unmerged) Error() string {
	if len(u.Files) == 0 {
		then := "nothing was changed"
		if u.Then != "" {
			then = "no branch was changed; " + u.Then
		}
		return fmt.Sprintf("the check %q of the merged work failed; %s: %s", u.Check, then, u.Said)
	}
	const most = 20
	if u.Then != "" {
		return fmt.Sprintf("both changed %s; no branch was changed; %s", printable.Names(u.Files, most), u.Then)
	}
	return fmt.Sprintf("both changed %s; merge the default branch into the branch and solve it there, then run this "+
		"again; nothing was changed", printable.Names(u.Files, most))
}

// MergeMany asks for the merge of several tasks, one on top of the other.
type MergeMany struct {
	Project string
	Tasks   []string // in this order; none are all of the project that wait to be merged, the longest waiting first
	Merge   task.Merge
	DryRun  bool // say what would happen, and change nothing
	Bisect  bool // check all of them together, and halves of them where that is red
}

// MergedOne is what became of one of them.
type MergedOne struct {
	Task task.Task
	How  string   // it was merged, or would be, in words; empty where it was not
	Left error    // why not
	With []string // branches that it is in conflict with, of those that were to be merged before it

	Outcome Outcome // of its merge; zero where it was not merged
}

// Rehearsal is what the merge of one of several commits, one on top of the other, would come to.
type Rehearsal struct {
	Tree     string   // of its result
	Straight bool     // a fast-forward would do
	Files    []string // in conflict: it is left out, and the next one comes on top of what was before it
	With     []int    // which of the commits before it contradict it, by their places
}
