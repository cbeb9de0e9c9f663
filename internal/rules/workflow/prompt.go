package workflow

import "regexp"

// Variables of prompts. Anything else in braces stays as it is.
const (
	VarSummary     = "summary"
	VarProject     = "project"
	VarBranch      = "branch"
	VarReviewRound = "review_round"
	VarStatus      = "status"
	VarBase        = "base"      // what the branch is compared with, usable in a git diff
	VarTaskFile    = "task_file" // the task's document as the agent sees it, relative to its worktree
	VarCommit      = "commit"    // the tip of the branch when the agent was started
	VarRun         = "run"       // the number of the start
	VarTaskID      = "task_id"
	VarTaskDir     = "task_dir"
	VarWorktree    = "worktree"
)

// Variables are those of prompts, besides the task's counters.
func Variables() []string {
	return []string{VarSummary, VarProject, VarBranch, VarStatus, VarBase, VarTaskFile, VarCommit, VarRun,
		VarTaskID, VarTaskDir, VarWorktree}
}

// braced is a name in braces, whatever the name.
var braced = regexp.MustCompile(`\{[^{}]*\}`)

// Expand puts values in for the variables of a prompt. A name in braces that values does not hold stays as it is,
// and what is put in is not looked at again.
func Expand(text string, values map[string]string) string {
	return braced.ReplaceAllStringFunc(text, func(found string) string {
		if value, known := values[found[1:len(found)-1]]; known {
			return value
		}
		return found
	})
}
