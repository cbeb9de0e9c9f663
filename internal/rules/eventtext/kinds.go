package eventtext

import (
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// wantedData names the data of events that people want, in the order in which they are printed.
func wantedData() []string {
	return []string{
		"workflow", history.DataBranch, "role", history.DataNamedHarness, "window", history.DataResumed, "how",
		"status", "since", "ended", task.DataUnstarted, task.DataLastWords, task.CrashCount,
		"hook", "field", "file", "problem", "found", "kept", "ref", "files", "may_change", "aside", "taken_back", "for",
		history.DataAfter,
		history.DataInState, history.DataRefused, history.DataFailure, history.DataUnreviewed, history.DataRedo,
		"url", "checks", "check", "verdict", "exit", "commit",
	}
}

// Tone is how an event is meant for people: a face has a colour for each.
type Tone int

// The tones.
const (
	Faint Tone = iota
	Info
	Good
	Warn
	Bad
)

// kind is a row of the table of events. Rows have no field names, so that one without a field does not compile.
type kind struct {
	event  string // its type
	sign   string // what is before it
	tone   Tone
	say    string   // its words, with "%s" for the value of the first of covers; a move has none
	covers []string // the data that the words have
}

// kinds has a row for each type of event, those that tell of one task's life first.
func kinds() []kind {
	role := []string{"role"}
	return []kind{
		{history.Created, "+", Good, "created in %s", []string{"status"}},
		{history.Updated, "~", Faint, "changed", nil},
		{history.QueuedForSpace, "◌", Faint, "waits for a workspace, then %s", []string{"for"}},
		{history.WaitBroken, "!", Bad, "waits for what will not come", nil},
		{history.StatusChanged, "→", Info, "", nil},
		{history.AutoAdvanced, "»", Info, "", nil},
		{history.MergeBegun, "·", Faint, "merge begun", nil},
		{history.MergeFailed, "!", Warn, "nothing was merged", nil},
		{history.Merged, "✓", Good, "merged", nil},
		{history.WorkflowMigrated, "~", Warn, "workflow changed", nil},
		{history.WorkspaceReady, "·", Faint, "worktree ready", nil},
		{history.StartNoted, "·", Warn, "note", nil},
		{history.Rebuilt, "!", Warn, "written again from the backup of the record", nil},
		{history.AgentSpawned, "▶", Good, "%s started", role},
		{history.AgentRespawned, "▶", Good, "%s started again", role},
		{history.AgentStopped, "■", Faint, "%s ended", role},
		{history.AgentNotified, "·", Faint, "message to the %s", role},
		{history.PersonSaid, "“", Info, "said to the %s", []string{"role", history.DataHow}},
		{history.ConversationNoted, "·", Faint, "%s named its conversation", role},
		{history.AgentCrashed, "✗", Bad, "%s died", []string{"role", "status", "hook", "ended"}},
		{history.AgentLimited, "◷", Warn, "%s is at its provider's limit", role},
		{history.MachineLost, "!", Warn, "%s ended with its terminal or machine", role},
		{history.CrashesForgotten, "·", Faint, "crashes are counted from 0 again", nil},
		{history.HooksRetried, "·", Faint, "what had failed is tried again", nil},
		{history.AgentStalled, "z", Warn, "the agent does nothing", nil},
		{history.AgentRefused, "!", Bad, "the agent was refused again and again", nil},
		{history.ReviewStarted, "▶", Good, "review started", nil},
		{history.TimeoutWarning, "◷", Warn, "80 per cent of its time in this state are over", nil},
		{history.TimeoutAlert, "◷", Bad, "its time in this state is over", nil},
		{history.TimeoutEscalated, "◷", Bad, "its time in this state is over by half", nil},
		{history.HookFailure, "!", Bad, "%s failed", []string{"hook"}},
		{history.CheckFinished, "·", Faint, "check %s", []string{history.DataCheck}},
		{history.OrphanFreed, "!", Warn, "its worktree and terminal were freed", nil},
		{history.WorkRescued, "·", Warn, "work rescued", nil},
		{history.DocumentRestored, "!", Warn, "TASK.md restored", nil},
		{history.DocumentAdopted, "·", Faint, "TASK.md taken over", nil},
		{history.ProjectionRestored, "·", Faint, "TASK.md made from the record", nil},
		{history.BranchPushed, "·", Faint, "branch pushed", nil},
		{history.PRRequested, "·", Faint, "a pull request is wanted", nil},
		{history.PRCreated, "·", Good, "pull request opened", nil},
		{history.PRLanded, "✓", Good, "pull request merged", nil},
		{history.PRDropped, "✗", Warn, "pull request closed", nil},
		{history.PRChecked, "·", Faint, "checks of the pull request: %s", []string{history.DataChecks, "url"}},
		{history.PRLeftBehind, "!", Warn, "pull request left behind", nil},
		{history.SendBackRefused, "!", Bad, "not sent back", []string{history.DataRefused}},
		{history.SharedChanged, "!", Bad, "settings that all worktrees share have changed", nil},
	}
}

// kindOf is the row of a type of event; known is false for one that this program does not know.
func kindOf(event string) (k kind, known bool) {
	rows := kinds()
	at := slices.IndexFunc(rows, func(k kind) bool { return k.event == event })
	if at < 0 {
		return kind{sign: "·"}, false
	}
	return rows[at], true
}

// Types are all types of events, in the order of the table.
func Types() (types []string) {
	for _, k := range kinds() {
		types = append(types, k.event)
	}
	return types
}

// Mark is the sign of a type of event, and its tone.
func Mark(event string) (sign string, tone Tone) {
	k, _ := kindOf(event)
	return k.sign, k.tone
}
