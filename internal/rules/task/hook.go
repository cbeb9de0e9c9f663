package task

import "time"

// Harness values of a spawning hook: whose harness is used.
const (
	HarnessTask   = "task"   // the task's own
	HarnessReview = "review" // the task's review harness
)

// Permissions of an agent that a hook spawns.
const (
	PermissionsFull    = "full"
	PermissionsReduced = "reduced"
)

// Hook is a side effect as a workflow declares it. It is data: performing it belongs to the hands.
type Hook struct {
	Action      string `json:"action"`
	Prompt      string `json:"prompt,omitempty"`      // key of the workflow's prompts
	Harness     string `json:"harness,omitempty"`     // HarnessTask, HarnessReview, or the name of one
	Permissions string `json:"permissions,omitempty"` // PermissionsFull or PermissionsReduced
	Field       string `json:"field,omitempty"`       // counter that is incremented or set
	Value       int    `json:"value,omitempty"`       // what set_field sets

	Folder string `json:"folder,omitempty"` // of set_aside: what is moved away, relative to the task's folder
	// whose agent is started or ended; empty means the one that the action names
	Role    string `json:"role,omitempty"`
	Via     string `json:"via,omitempty"`     // of notify: ViaDesktop, ViaWebhook or ViaCommand
	Message string `json:"message,omitempty"` // of notify, with variables as a prompt has them
	URL     string `json:"url,omitempty"`     // of notify through a webhook
	// argv of run_command, or of notify through a command; no shell reads it
	Run     []string `json:"run,omitempty"`
	Timeout int      `json:"timeout,omitempty"` // seconds that a command or webhook may take
}

// HookState is the state of a hook that an event queued:
//
//	                     performed
//	commit --> pending ------------> done
//	             ^ |  \
//	 a person    | |   \  a later move overtakes it, and it would start something
//	 retries, or | |    +--------------------------------------------> superseded
//	 a later     | | fails                                               ^
//	 move keeps  | v                                                     |
//	 it      +-- failed -------------------------------------------------+
//	              | ^
//	              +-+  tried again after NextTry, and fails again
//
// A failed hook that succeeds when it is tried again is done too. Hooks of ClassRecord are done with the commit itself.
type HookState string

// States of a hook. Pending and Failed hooks are still owed; Done and Superseded ones are settled.
const (
	HookPending    HookState = "pending"
	HookFailed     HookState = "failed"
	HookDone       HookState = "done"
	HookSuperseded HookState = "superseded"
)

// OwedHook is one hook that an event queued for one task.
type OwedHook struct {
	ID    int64 // unique in the record; handed to what the hook starts, so that a repeat can be seen
	Task  string
	Event int // the event that queued it
	Index int // its place among the event's hooks, from 0
	Hook
	State    HookState
	Attempts int
	Error    string
	NextTry  time.Time // a failed hook is left alone before this moment
	Began    time.Time // when the attempt began that is under way; zero where none is
}
