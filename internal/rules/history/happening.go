package history

// Happening is one thing that happened to a task, in its place among all that happened to all tasks.
type Happening struct {
	Cursor  int64  // its place: later ones have greater numbers, and no number is given twice
	Task    string // the task's id
	Project string
	Branch  string // as the record has it now
	Deleted bool   // the record has forgotten the task: there is no event
	Event   Event
}

// EventTypes are all types of events, those that tell of one task's life first.
func EventTypes() []string {
	return []string{
		Created, Updated, QueuedForSpace, WaitBroken, StatusChanged, AutoAdvanced, MergeBegun, MergeFailed,
		Merged, WorkflowMigrated, WorkspaceReady, StartNoted, Rebuilt,
		AgentSpawned, AgentRespawned, AgentStopped, AgentNotified, PersonSaid, ConversationNoted,
		AgentCrashed, AgentLimited, MachineLost, CrashesForgotten, HooksRetried, AgentStalled, AgentRefused,
		ReviewStarted,
		TimeoutWarning, TimeoutAlert, TimeoutEscalated, HookFailure, CheckFinished, OrphanFreed, WorkRescued,
		DocumentRestored, DocumentAdopted, ProjectionRestored, BranchPushed, PRRequested, PRCreated, PRLanded,
		PRDropped, PRChecked, PRLeftBehind, SendBackRefused, SharedChanged,
	}
}
