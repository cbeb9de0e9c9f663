package harness

// Ticket is everything that launching one agent takes. It is handed over in a file that only its owner can read,
// because it holds the seat's secret: never in an argument, never in the terminal session's environment.
type Ticket struct {
	Argv  []string `json:"argv"`
	Dir   string   `json:"dir"`
	Env   []string `json:"env,omitempty"`   // the whole environment to start from; empty means that of the terminal
	Set   []string `json:"set"`             // KEY=value pairs laid over it
	Unset []string `json:"unset,omitempty"` // names that are taken out of it
	Path  string   `json:"path"`            // folder that goes before the others on PATH
	Exit  string   `json:"exit"`            // file that the agent's end is written to
}

// Note is what the launcher of an agent writes at its end.
type Note struct {
	Status    int    `json:"status"`
	Signal    int    `json:"signal"`
	Unstarted string `json:"unstarted,omitempty"` // why the program could not be started at all
	At        string `json:"at"`
}

// terminal lists the variables that describe the terminal: they come from the pane and not from whoever asked for the agent.
func terminal() []string {
	return []string{"TERM", "COLORTERM", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"}
}

// Environment is what the agent gets, told from the environment of the pane that it runs in.
func (t Ticket) Environment(pane []string) []string {
	env := map[string]string{}
	var order []string
	put := func(pairs []string) {
		for _, pair := range pairs {
			name, value := split(pair)
			if _, have := env[name]; !have {
				order = append(order, name)
			}
			env[name] = value
		}
	}
	put(pane)
	if len(t.Env) > 0 {
		env, order = map[string]string{}, nil
		put(t.Env)
		for _, name := range terminal() {
			delete(env, name)
		}
		for _, pair := range pane {
			if name, _ := split(pair); isOneOf(name, terminal()) {
				put([]string{pair})
			}
		}
	}
	for _, name := range t.Unset {
		delete(env, name)
	}
	put(t.Set)
	path := t.Path
	if rest := env["PATH"]; rest != "" { // an empty element would mean the present folder
		path += ":" + rest
	}
	put([]string{"PATH=" + path})
	return render(env, order)
}

func render(env map[string]string, order []string) []string {
	var out []string
	done := map[string]bool{}
	for _, name := range order {
		if value, have := env[name]; have && !done[name] {
			done[name] = true
			out = append(out, name+"="+value)
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

func isOneOf(name string, names []string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
