package task

import (
	"path"
	"strconv"
	"strings"
)

// HeaderKeys are the names that a task's header has of its own: no counter of a workflow can be called so.
func HeaderKeys() []string {
	return []string{
		"id", "project", "branch", "harness", "review_harness", "effort", "review_effort", "model", "review_model",
		"status", ReviewRound, CrashCount, "summary",
		"workspace", "tmux_session", "created_at", "updated_at", "pr_url", "pr_state", "workflow",
		"workflow_version", "attention", "queued_for",
	}
}

// AsideFolder is the folder below a task's own in which artifacts lie that were set aside.
const AsideFolder = "set-aside"

// AsideName is where a folder lies that was set aside by an event, below the task's own folder.
func AsideName(event int, folder string) string {
	return path.Join(AsideFolder, strconv.Itoa(event)+"-"+strings.ReplaceAll(folder, "/", "-"))
}
