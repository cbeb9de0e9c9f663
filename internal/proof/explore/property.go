package explore

// Names of the properties. They are a stable interface: workflow files name them under allow.
const (
	NoDeadEnd    = "no-dead-end"
	Reachable    = "reachable"
	Terminating  = "terminating"
	Bounded      = "bounded"
	Disjoint     = "disjoint"
	RulesLegal   = "rules-legal"
	OneAgent     = "one-agent"
	NobodyLeft   = "nobody-left"
	Workspace    = "workspace"
	PromptsLegal = "prompts-legal"
	RolesAct     = "roles-act"
	OwnWork      = "own-work"
	Merges       = "merges"
)

// Property is one promise that a workflow keeps everywhere that a task can come to.
type Property struct {
	Name  string
	About string // in a sentence
	Risk  string // what can happen where it is broken
}

// Properties are all of them, in the order of a report.
func Properties() []Property {
	return []Property{
		{NoDeadEnd, "Every state that is not final has a way on, other than giving the task up.",
			"a task stays there until a person gives it up"},
		{Reachable, "A task can come to every state, and someone can take every transition.",
			"what the file says there never happens"},
		{Terminating, "From everywhere a task can come to its end, with the help of people.",
			"a task that comes there never ends"},
		{Bounded, "Without people the agents come to rest: they cannot go round forever.",
			"agents go on and cost money until a person looks"},
		{Disjoint, "Where guards choose between moves, exactly one of the moves is open, and each verdict opens one.",
			"evidence that should move the task opens no move, or another one than you mean"},
		{RulesLegal, "What an exit rule, a timeout or a rule of `send_back` leads to is a move that can be made, and " +
			"too many crashes lead somewhere.", "the task stays, with a mark, until a person looks"},
		{OneAgent, "There are never two agents that change the work, nor two that review it.",
			"two agents write the same files at the same time"},
		{NobodyLeft, "Where a task has ended no agent lives.", "an agent goes on and costs money after that"},
		{Workspace, "No agent is started without a workspace or loses it, and at the end it is given back.",
			"an agent cannot start, or other tasks wait for a workspace that no one gives back"},
		{PromptsLegal, "A prompt asks for moves that its agent may make, and names the evidence that they take.",
			"the agent asks for what is refused, or does not know what to write"},
		{RolesAct, "Every role that may ask for something, or has a state, is a person or is started somewhere.",
			"the task waits for an agent that never comes"},
		{OwnWork, "No verdict is open to the role whose work it is about.", "an agent passes its own work"},
		{Merges, "What a merge takes is what a verdict passed, or what was there when the task came to wait for it.",
			"work is merged that an agent changed after it was judged"},
	}
}
