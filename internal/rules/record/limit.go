package record

// LimitCount is a counter that no workflow names: how often in a row the agent of the present status has ended at its
// provider's limit and left nothing new. MostLimits is how often a task waits for such a limit to pass; the next such
// end is a crash.
const (
	LimitCount = "limit_count"
	MostLimits = 5
)

// LossCount is a counter that no workflow names: how often the agent of the present status has ended with its terminal
// server or its machine and was to be started again.
const LossCount = "loss_count"

// What becomes of agents that have ended with their machine: they are started again, a person is asked, or nothing.
const (
	ResumeAlways = "always"
	ResumeAsk    = "ask"
	ResumeNever  = "never"
)

// HookMark is the start of the attention mark that a failed hook leaves, so that its success can remove the mark.
const HookMark = "hook "
