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
)

// Property is one promise that a workflow keeps everywhere that a task can come to.
type Property struct {
	Name  string
	About string // in a sentence
}

// Properties are all of them, in the order of a report.
func Properties() []Property {
	return []Property{
		{NoDeadEnd, "Every state that is not final has a way on, other than giving the task up."},
		{Reachable, "A task can come to every state, and someone can take every transition."},
		{Terminating, "From everywhere a task can come to its end, with the help of people."},
		{Bounded, "Without people the agents come to rest: they cannot go round forever."},
		{Disjoint, "Where guards choose between moves, exactly one of the moves is open."},
		{RulesLegal, "What an exit rule, a timeout or a rule of `send_back` leads to is a move that can be made, and " +
			"too many crashes lead somewhere."},
		{OneAgent, "There are never two agents that change the work, nor two that review it."},
		{NobodyLeft, "Where a task has ended no agent lives."},
		{Workspace, "No agent is started without a workspace or loses it, and at the end it is given back."},
		{PromptsLegal, "A prompt asks for moves that its agent may make, and names the evidence that they take."},
		{RolesAct, "Every role that may ask for something, or has a state, is a person or is started somewhere."},
		{OwnWork, "No verdict is open to the role whose work it is about."},
	}
}
