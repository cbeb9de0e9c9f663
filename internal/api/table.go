package api

// Repeat is what a repeat of an operation does.
type Repeat int

// What there is. Reads changes nothing. Keyed gets a key, under which a repeat of it is done once. Acts changes
// something and has no key: who does not know whether it was done has to look.
const (
	Reads Repeat = iota + 1
	Keyed
	Acts
)

// Faces are places from where an operation may be asked for, next to the command line, which offers all of them.
type Faces uint8

// The faces.
const (
	Host     Faces = 1 << iota // another host, whose person or agent asks here
	Confined                   // an agent whose program confines what it runs
	MCP                        // a client of the tools
	Screen                     // the dashboard, whose reading is no operation: it follows the record
)

// Op is one row, an operation.
type Op struct {
	Name   string // that of its command, behind "orange task"
	Repeat Repeat
	From   Faces
}

// Table are all operations on tasks. Those without a face need the terminal of a person, follow a task until they are
// stopped, or look at files of the home.
func Table() []Op {
	return []Op{
		{"list", Reads, Host | Confined | MCP},
		{"show", Reads, Host | Confined | MCP},
		{"why", Reads, Host | Confined | MCP},
		{"history", Reads, Host | Confined | MCP},
		{"diff", Reads, Host | MCP},
		{"logs", Reads, Host},
		{"stats", Reads, Confined},
		{"wait", Reads, Confined | MCP},
		{"verify", Reads, 0},
		{"replay", Reads, 0},
		{"watch", Reads, 0},
		{"attach", Reads, 0},

		{"create", Keyed, Host | MCP | Screen},
		{"spawn", Keyed, Host | MCP | Screen},
		{"respawn", Keyed, Host | MCP},
		{"update", Keyed, Host | Confined | MCP},
		{"move", Keyed, Host | Screen},
		{"next", Keyed, Host | Confined | MCP | Screen},
		{"redo", Keyed, Host | Confined | Screen},
		{"complete", Keyed, Host | Confined},
		{"stuck", Keyed, Host | Confined},
		{"request-changes", Keyed, Host | Confined | MCP | Screen},
		{"merge", Keyed, Host | MCP | Screen},
		{"create-pr", Keyed, Host | Screen},
		{"cancel", Keyed, Host | MCP | Screen},
		{"say", Keyed, Host | MCP | Screen},
		{"retry", Keyed, Host | Screen},

		{"check", Acts, Confined},
		{"delete", Acts, Host | Screen},
		{"leave", Acts, Host},
		{"snapshot", Acts, Host},
		{"restore", Acts, Host},
	}
}

// Offers is the operation of a name where a face offers it.
func Offers(face Faces, name string) (Op, bool) {
	for _, o := range Table() {
		if o.Name == name && o.From&face != 0 {
			return o, true
		}
	}
	return Op{}, false
}

// Names are those of the operations that a face offers, in the order of the table.
func Names(face Faces) []string {
	var names []string
	for _, o := range Table() {
		if o.From&face != 0 {
			names = append(names, o.Name)
		}
	}
	return names
}
