package task

import "fmt"

// CheckResult is what one run of a workflow's check left behind. It speaks of one commit.
type CheckResult struct {
	Name    string   `json:"name"`
	Argv    []string `json:"argv"`
	Program string   `json:"program,omitempty"` // the file that was started for the first word of Argv
	Head    string   `json:"head"`
	// a digest of the names of the variables that it was started with
	Environment string `json:"environment,omitempty"`
	// nothing was uncommitted before the run, and the commit was still the same after it
	Clean   bool     `json:"clean"`
	Scratch bool     `json:"scratch,omitempty"` // it ran in a checkout of the commit that was made for it
	Left    []string `json:"left,omitempty"`    // what the run itself left uncommitted
	// why it says nothing: it could not be started, or someone ended it
	Trouble     string `json:"trouble,omitempty"`
	Status      int    `json:"status"`
	Signal      int    `json:"signal,omitempty"`
	TimedOut    bool   `json:"timed_out,omitempty"`
	OutOfMemory bool   `json:"out_of_memory,omitempty"`
	Started     string `json:"started"`
	Took        string `json:"took"`
	Cut         bool   `json:"output_cut,omitempty"`
	Output      string `json:"output_tail"`
}

// Passed reports whether the check was run to its end and found nothing wrong.
func (r CheckResult) Passed() bool {
	return r.Trouble == "" && r.Status == 0 && r.Signal == 0 && !r.TimedOut && !r.OutOfMemory
}

// On is what a run of the check was about.
func (r CheckResult) On() string {
	if r.Scratch {
		return fmt.Sprintf("on the commit %.12s", r.Head)
	}
	return fmt.Sprintf("in the worktree at %.12s", r.Head)
}

// CheckState is a check of a task's workflow with its last result.
type CheckState struct {
	Name    string       `json:"name"`
	Argv    []string     `json:"argv"`
	Running string       `json:"running_since,omitempty"`
	Last    *CheckResult `json:"last"`    // nil when it has never been run
	Present bool         `json:"present"` // the last result is one for the commit that the workspace is at
}
