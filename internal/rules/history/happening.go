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
