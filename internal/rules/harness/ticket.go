package harness

import "slices"

// Ticket is what launching one agent takes besides the environment that is kept for its task. It is handed over
// in a file that only its owner can read, because it holds the seat's secret: never in an argument, never in the
// terminal session's environment.
type Ticket struct {
	Home string   `json:"home"` // whose terminal server keeps the environment to start from,
	Task string   `json:"task"` // and the name that it is kept under
	Argv []string `json:"argv"`
	// Fresh begins a new conversation where Argv goes on with one that turns out to be gone; empty where it does not.
	Fresh []string `json:"fresh,omitempty"`
	Dir   string   `json:"dir"`
	Set   []string `json:"set"`             // KEY=value pairs laid over it
	Unset []string `json:"unset,omitempty"` // names that are taken out of it
	Path  string   `json:"path"`            // folder that goes before the others on PATH
	Exit  string   `json:"exit"`            // file that the agent's end is written to
	// Requests is the folder in which the commands of a confined agent leave their requests; empty where it is not
	// confined.
	Requests string `json:"requests,omitempty"`
}

// Ticket is what the file says of a start by an argument list, with the values of the placeholders in its variables.
// Where and for whom the agent runs is added by who starts it.
func (h *Harness) Ticket(argv []string, values map[string]string) Ticket {
	t := Ticket{Argv: argv, Set: h.Variables(values), Unset: h.Unset}
	if h.SessionVariable != "" {
		t.Set = append(t.Set, ConversationInVariable+"="+h.SessionVariable)
		// one that the person's own program has set would be taken for the agent's
		t.Unset = append(slices.Clone(t.Unset), h.SessionVariable)
	}
	return t
}

// RequestsVariable is the variable that tells the commands of a confined agent where they leave their requests.
const RequestsVariable = "ORANGE_REQUESTS"

// The variables by which a command of an agent knows the agent's conversation, where the program chooses its name: in
// which variable of its own the program has that, and the name itself, which the command takes from there at its start.
const (
	ConversationInVariable = "ORANGE_CONVERSATION_IN"
	ConversationVariable   = "ORANGE_CONVERSATION"
)

// WatchVariable is the variable with which no command starts a server of the home: it is NoWatch then. With OnlyCalls
// the server watches over no agents.
const (
	WatchVariable = "ORANGE_MONITOR"
	NoWatch       = "never"
	OnlyCalls     = "calls"
)

// MaskVariable has in an environment the mask for the modes of the files that its programs make, in octal digits. No
// program gets the variable: each gets the mask.
const MaskVariable = "ORANGE_UMASK"

// OfTerminal reports whether a variable describes the terminal: it comes from the one that a program runs on, and
// not from the process that requested it.
func OfTerminal(name string) bool {
	return slices.Contains([]string{"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"}, name)
}

// Environment is what the agent gets, told from what is kept for its task, from what the person has set for the tasks
// of its project, and from the environment of the pane that it runs in. Where nothing is kept it starts from that of
// the pane.
func (t Ticket) Environment(kept, given, pane []string) []string {
	base := pane
	if len(kept) > 0 {
		base = append(only(kept, func(name string) bool { return !OfTerminal(name) }), only(pane, OfTerminal)...)
	}
	base = only(Layer(base, given), func(name string) bool {
		return !slices.Contains(t.Unset, name)
	})
	env := Layer(base, t.Set)
	path := t.Path
	if rest := Value(env, "PATH"); rest != "" { // an empty element would mean the present folder
		path += ":" + rest
	}
	return Layer(env, []string{"PATH=" + path})
}

// Layer lays environments over each other; of a variable that several have, the last one counts. The layers of a task,
// from the lowest to the highest: the person's that is kept for it, what they have set for the tasks of every project
// and then of its own, what the harness's file sets, what was set for this task alone, and what tells a program where
// it is. What a program gets of that in the end, Command.environment in internal/run/proc makes.
func Layer(layers ...[]string) []string {
	at := map[string]int{}
	var out []string
	for _, layer := range layers {
		for _, pair := range layer {
			name, _ := split(pair)
			if i, have := at[name]; have {
				out[i] = pair
				continue
			}
			at[name] = len(out)
			out = append(out, pair)
		}
	}
	return out
}

// Value is a variable's value; empty where there is none.
func Value(env []string, name string) string {
	for _, pair := range env {
		if n, value := split(pair); n == name {
			return value
		}
	}
	return ""
}

// Names are the names of an environment's variables, sorted.
func Names(env []string) []string {
	var out []string
	for _, pair := range env {
		name, _ := split(pair)
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func only(env []string, wanted func(name string) bool) []string {
	var out []string
	for _, pair := range env {
		if name, _ := split(pair); wanted(name) {
			out = append(out, pair)
		}
	}
	return out
}

func split(pair string) (name, value string) {
	for i := 1; i < len(pair); i++ {
		if pair[i] == '=' {
			return pair[:i], pair[i+1:]
		}
	}
	return pair, ""
}
