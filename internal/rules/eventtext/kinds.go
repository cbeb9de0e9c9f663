package eventtext

import (
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

// kind is the words for one kind of event.
type kind struct {
	say    string   // with "%s" for the value of the first of covers
	covers []string // the data that the words have
}

// kinds are the kinds of events that have words.
func kinds() map[string]kind {
	role := []string{"role"}
	return map[string]kind{
		history.Created:            {"created in %s", []string{"status"}},
		history.WorkspaceReady:     {"worktree ready", nil},
		history.AgentLimited:       {"%s is at its provider's limit", role},
		history.MachineLost:        {"%s ended with its terminal or machine", role},
		history.CrashesForgotten:   {"crashes are counted from 0 again", nil},
		history.HooksRetried:       {"what had failed is tried again", nil},
		history.Rebuilt:            {"written again from the backup of the record", nil},
		history.ProjectionRestored: {"TASK.md made from the record", nil},
		history.Updated:            {"changed", nil},
		history.QueuedForSpace:     {"waits for a workspace, then %s", []string{"for"}},
		history.AgentSpawned:       {"%s started", role},
		history.AgentRespawned:     {"%s started again", role},
		history.AgentStopped:       {"%s ended", role},
		history.AgentNotified:      {"message to the %s", role},
		history.PersonSaid:         {"said to the %s", []string{"role", history.DataHow}},
		history.AgentCrashed:       {"%s died", []string{"role", "status", "hook", "ended"}},
		history.WaitBroken:         {"waits for what will not come", nil},
		history.AgentStalled:       {"the agent does nothing", nil},
		history.AgentRefused:       {"the agent was refused again and again", nil},
		history.OrphanFreed:        {"its worktree and terminal were freed", nil},
		history.ReviewStarted:      {"review started", nil},
		history.HookFailure:        {"%s failed", []string{"hook"}},
		history.WorkRescued:        {"work rescued", nil},
		history.StartNoted:         {"note", nil},
		history.SharedChanged:      {"settings that all worktrees share have changed", nil},
		history.MergeBegun:         {"merge begun", nil},
		history.MergeFailed:        {"nothing was merged", nil},
		history.Merged:             {"merged", nil},
		history.DocumentRestored:   {"TASK.md restored", nil},
		history.DocumentAdopted:    {"TASK.md taken over", nil},
		history.WorkflowMigrated:   {"workflow changed", nil},
		history.BranchPushed:       {"branch pushed", nil},
		history.PRRequested:        {"a pull request is wanted", nil},
		history.PRCreated:          {"pull request opened", nil},
		history.PRLeftBehind:       {"pull request left behind", nil},
		history.PRLanded:           {"pull request merged", nil},
		history.PRDropped:          {"pull request closed", nil},
		history.SendBackRefused:    {"not sent back", []string{history.DataRefused}},
		history.PRChecked:          {"checks of the pull request: %s", []string{history.DataChecks, "url"}},
		history.ConversationNoted:  {"%s named its conversation", role},
		history.CheckFinished:      {"check %s", []string{history.DataCheck}},
		history.TimeoutWarning:     {"80 per cent of its time in this state are over", nil},
		history.TimeoutAlert:       {"its time in this state is over", nil},
		history.TimeoutEscalated:   {"its time in this state is over by half", nil},
	}
}
