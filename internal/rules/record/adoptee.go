package record

import (
	"fmt"
	"strings"
)

// Where the pull requests of a project are.
const (
	ForgeGitHub = "github"
	ForgeGitLab = "gitlab"
	ForgeNone   = "none" // Orange has no program that opens them
)

// Adoptee is a pull request that a task is to be made from.
type Adoptee struct {
	PullRequest
	Issue            // its title and its text, and who opened it
	Number    int    // by which the repository knows it
	Ref       string // by which origin has its head
	Branch    string // that the task gets; of a fork it has the number, so that it meets no other
	From      string // the repository that it comes from; empty where that is gone
	MayModify bool   // of a fork: those who maintain the repository may push to its branch
}

// leastTrusted is how many digits of a commit a person has to name.
const leastTrusted = 7

// name names who opened it and its head, as a person who has looked at both says it.
func (a Adoptee) name() string { return a.Author.Name + "@" + a.Commit[:min(len(a.Commit), 12)] }

// Against is why no task is made from it, in a project with that default branch: empty where one is. trust is what a
// person says of one that comes from a fork.
func (a Adoptee) Against(defaultBranch, trust string) string {
	again := fmt.Sprintf("orange task create --pr %d", a.Number)
	switch {
	case a.State == PRMerged:
		return "it is merged; create a task for what is still to do: orange task create SUMMARY"
	case a.State != PROpen:
		return fmt.Sprintf("it is closed; open it again there, and then: %s", again)
	case a.Base != defaultBranch:
		return fmt.Sprintf("it is to be merged into %q, and tasks of this project are into %q; change its base there, "+
			"and then: %s", a.Base, defaultBranch, again)
	case !a.Foreign && trust != "":
		return "it is of the repository itself: leave --trust out"
	case a.Foreign && trust == "":
		return fmt.Sprintf("it is of %s, from a fork (%s), with the head %s: its files would be laid out here, and "+
			"agents read and run them; look at it there, and if you trust it: %s --trust %s", a.Author.Name, a.fork(),
			a.Commit, again, a.name())
	case a.Foreign && !a.isTrusted(trust):
		return fmt.Sprintf("it is of %s and has the head %s, and --trust has %q; look at it there again, and if you "+
			"trust it: %s --trust %s", a.Author.Name, a.Commit, trust, again, a.name())
	}
	return ""
}

func (a Adoptee) isTrusted(trust string) bool {
	name, commit, found := strings.Cut(trust, "@")
	return found && name == a.Author.Name && len(commit) >= leastTrusted && strings.HasPrefix(a.Commit, commit)
}

func (a Adoptee) fork() string {
	if a.From == "" {
		return "which is gone"
	}
	return a.From
}

// Pushing says what can be pushed to it: empty where that is as for every other task.
func (a Adoptee) Pushing() string {
	switch {
	case !a.Foreign:
		return ""
	case a.MayModify && a.From != "":
		return fmt.Sprintf("nothing is pushed to the fork %s by itself; its author lets you: push the branch %q there "+
			"yourself, to %q", a.From, a.Branch, strings.TrimPrefix(a.Branch, fmt.Sprintf("pr/%d/", a.Number)))
	}
	return fmt.Sprintf("nothing is pushed to the fork (%s): its author lets no one else", a.fork())
}
