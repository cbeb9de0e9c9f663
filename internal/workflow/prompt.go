package workflow

import "strings"

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

// Expand puts values in for the variables of a prompt. A name in braces that values does not hold stays as it is,
// and what is put in is not looked at again.
func Expand(text string, values map[string]string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(text[open:], '}')
		if end < 0 {
			break
		}
		// A name holds no brace, so only the last one before the closing brace can open it.
		end += open
		open = strings.LastIndexByte(text[:end], '{')
		value, known := values[text[open+1:end]]
		if !known {
			b.WriteString(text[:open+1])
			text = text[open+1:]
			continue
		}
		b.WriteString(text[:open])
		b.WriteString(value)
		text = text[end+1:]
	}
	b.WriteString(text)
	return b.String()
}
