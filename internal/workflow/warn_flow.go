package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/task"
	"orange/internal/yaml"
)

// way is one way from state to state: a transition, or what too many crashes lead to.
type way struct {
	from, to task.Status
	when     []Guard
	gate     []Part
	hooks    []Hook
	pos      yaml.Pos
	crash    bool

	everywhere bool
}

// ways are all of them. What crashes set going is what decide makes of it.
func (d *Definition) ways() []way {
	var out []way
	for i := range d.Transitions {
		t := &d.Transitions[i]
		out = append(out, way{from: t.From, to: t.To, when: t.Counted(), gate: t.Gate, hooks: t.Hooks, pos: t.Pos, everywhere: t.everywhere})
	}
	for _, rule := range d.Exit.Rules {
		if rule.Action != ActionCrash {
			continue
		}
		for _, to := range targets(rule) {
			for _, hooks := range d.crashHooks(rule.Status, to) {
				out = append(out, way{from: rule.Status, to: to, hooks: hooks, pos: rule.Pos, crash: true})
			}
		}
	}
	return out
}

// crashHooks are the hooks that too many crashes may set going: those of a transition of the same pair that starts an agent or ends
// the task, else the usual ones.
func (d *Definition) crashHooks(from, to task.Status) [][]Hook {
	state, _ := d.State(to)
	var out [][]Hook
	for i := range d.Transitions {
		if t := &d.Transitions[i]; t.From == from && t.To == to && (t.Spawns() || state.Terminal) {
			out = append(out, t.Hooks)
		}
	}
	usual := []string{task.KillReviewer, task.NotifyWorker}
	if state.Terminal {
		usual = []string{task.KillSession, task.ReleaseWorkspace}
	}
	if len(out) == 0 {
		out = [][]Hook{{{Hook: task.Hook{Action: usual[0]}}, {Hook: task.Hook{Action: usual[1]}}}}
	}
	return out
}

// maxTracked is the number of counters whose values are followed: those that only ever are set, such as a note how the task began.
const maxTracked = 3

// What is known of a task's workspace.
const (
	none    = iota
	held    //
	assumed // one that lacks, of which it is told already
)

// world is how a task may stand in a state.
type world struct {
	at        task.Status
	workspace int
	counters  [maxTracked]int
}

// agents are the roles that may have a living agent.
type agents map[string]bool

func (a agents) names() []string {
	var out []string
	for name, lives := range a {
		if lives {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// flow follows a task along all ways, and notes in which worlds it may stand in each state.
type flow struct {
	reader
	d       *Definition
	states  map[task.Status]State
	tracked []Field
	worlds  []world
	alive   map[world]agents
	origin  map[task.Status]map[task.Status]bool // from where a state is entered without a workspace; empty for a birth
	told    map[leftover]*remains
	telling bool
}

// leftover is what a place of the file leaves behind.
type leftover struct {
	at   yaml.Pos
	what string
	to   task.Status
}

// remains are the states out of which it is left behind, and whose agents.
type remains struct{ from, agents agents }

// warnFlow tells of states that a task cannot come to, of agents that would be started without a workspace,
// and of agents and workspaces that are left behind.
func (r reader) warnFlow(d *Definition, ways []way) {
	f := &flow{
		reader: r, d: d, states: map[task.Status]State{}, tracked: d.trackable(),
		alive: map[world]agents{}, origin: map[task.Status]map[task.Status]bool{}, told: map[leftover]*remains{},
	}
	for _, s := range d.States {
		f.states[s.Name] = s
	}
	leaving := map[task.Status][]way{}
	for _, w := range ways {
		leaving[w.from] = append(leaving[w.from], w)
	}
	f.begin()
	for changed := true; changed; {
		changed = false
		for i := 0; i < len(f.worlds); i++ { // it grows meanwhile
			for _, w := range leaving[f.worlds[i].at] {
				next, alive, open := f.take(f.worlds[i], w)
				changed = open && f.enter(w.from, next, alive) || changed
			}
		}
	}
	f.telling = true
	f.begin()
	for _, now := range f.worlds {
		for _, w := range leaving[now.at] {
			f.take(now, w)
		}
	}
	f.tellLeftovers()
	f.tellStates(leaving)
}

// trackable are the counters that hooks only ever set.
func (d *Definition) trackable() []Field {
	var out []Field
	for _, field := range d.Fields {
		only, values := true, map[int]bool{field.Start: true}
		d.eachHook(func(h Hook) {
			if h.Field == field.Name {
				only, values[h.Value] = only && h.Action == task.SetField, true
			}
		})
		if only && len(values) > 1 && len(values) <= maxTracked && len(out) < maxTracked {
			out = append(out, field)
		}
	}
	return out
}

// begin enters the states that a task may be created in.
func (f *flow) begin() {
	for _, b := range f.d.births() {
		now := world{at: b.To}
		for i, field := range f.tracked {
			now.counters[i] = field.Start
		}
		next, alive := f.perform(now, agents{}, way{to: b.To, hooks: b.Hooks, pos: f.placeOf(b)})
		f.enter("", next, alive)
	}
}

// placeOf is where a birth stands; one that is filled in stands nowhere, and is told of where its state is.
func (f *flow) placeOf(b Birth) yaml.Pos {
	if b.Pos != (yaml.Pos{}) {
		return b.Pos
	}
	return f.states[b.To].Pos
}

// enter notes a world, and says whether it tells anything new.
func (f *flow) enter(from task.Status, w world, alive agents) bool {
	if f.origin[w.at] == nil {
		f.origin[w.at] = map[task.Status]bool{}
	}
	if w.workspace == none {
		f.origin[w.at][from] = true
	}
	if s := f.states[w.at]; w.workspace != none && s.RespawnPrompt.Name != "" && s.Role != "" {
		alive[s.Role] = true // task respawn starts it
	}
	before, known := f.alive[w]
	if !known {
		before = agents{}
		f.alive[w], f.worlds = before, append(f.worlds, w)
	}
	fresh := !known
	for name, lives := range alive {
		fresh = fresh || lives && !before[name]
		before[name] = before[name] || lives
	}
	return fresh
}

// take goes one way, if the counters that are followed let it.
func (f *flow) take(now world, w way) (world, agents, bool) {
	for _, g := range w.when {
		for i, field := range f.tracked {
			if g.Field == field.Name && !g.Holds(now.counters[i]) {
				return now, nil, false
			}
		}
	}
	alive := agents{}
	for name, lives := range f.alive[now] {
		alive[name] = lives
	}
	from := f.states[now.at]
	if w.crash {
		alive[from.Role] = false
	}
	for _, p := range Leaves(w.gate) {
		if (p.Check != "" || p.Git != "") && now.workspace == none {
			f.needs(p.Pos, "a gate that looks at the worktree")
			now.workspace = assumed
		}
	}
	own := from.Role != "" && from.Role != task.RoleWorker && from.Role != task.RoleHuman
	next, after := f.perform(now, alive, w)
	if to := f.states[w.to]; own && !to.Terminal && to.Role != from.Role && after[from.Role] {
		f.leave(w, w.pos, "agent", agents{from.Role: true})
	}
	return next, after, true
}

// perform does what the hooks of a way do. After each problem it goes on as if there were none: one slip is told once.
func (f *flow) perform(now world, alive agents, w way) (world, agents) {
	acquired := false
	for _, h := range w.hooks {
		at := h.Pos
		if at == (yaml.Pos{}) {
			at = w.pos
		}
		role := SpawnRole(h.Hook)
		switch {
		case h.Action == task.AcquireWorkspace:
			if acquired && f.telling {
				f.Problem(at, "workspace", "found acquire_workspace a second time in one list of hooks, expected it once")
			}
			acquired, now.workspace = true, held
		case h.Action == task.ReleaseWorkspace:
			if now.workspace != none && len(alive.names()) > 0 {
				f.leave(w, at, "release", alive)
				alive = agents{}
			}
			now.workspace = none
		case role != "" || h.Action == task.NotifyWorker:
			if now.workspace == none && !w.crash {
				f.needs(at, h.Action)
				now.workspace = assumed
			}
			if to := f.states[w.to]; role == "" && to.RespawnPrompt.Name != "" {
				role = task.RoleWorker
			}
			alive[role] = role != ""
		case h.Action == task.KillSession:
			alive = agents{}
		case h.Action == task.KillReviewer:
			alive[task.RoleReviewer] = false
		case h.Action == task.KillAgent:
			alive[h.Role] = false
		}
		for i, field := range f.tracked {
			if h.Field == field.Name {
				now.counters[i] = h.Value
			}
		}
	}
	now.at = w.to
	if f.states[w.to].Terminal {
		if len(alive.names()) > 0 {
			f.leave(w, w.pos, "agents", alive)
		}
		if now.workspace == held {
			f.leave(w, w.pos, "workspace", nil)
		}
		alive = agents{}
	}
	return now, alive
}

// needs tells of what needs a workspace where there may be none.
func (f *flow) needs(at yaml.Pos, what string) {
	if f.telling {
		f.Problem(at, "workspace", "found %s where the task may have no workspace, expected acquire_workspace before it", what)
	}
}

// leave notes what a way leaves behind.
func (f *flow) leave(w way, at yaml.Pos, what string, who agents) {
	if !f.telling || w.crash {
		return
	}
	key := leftover{at, what, w.to}
	if f.told[key] == nil {
		f.told[key] = &remains{agents{}, agents{}}
	}
	f.told[key].from[string(w.from)] = w.from != ""
	for _, name := range who.names() {
		f.told[key].agents[name] = true
	}
}

// maxNamed is the number of states that one warning names.
const maxNamed = 6

func (f *flow) tellLeftovers() {
	for _, l := range slices.SortedFunc(maps.Keys(f.told), func(a, b leftover) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Col, b.at.Col), cmp.Compare(a.what, b.what), cmp.Compare(a.to, b.to))
	}) {
		left := f.told[l]
		names := left.from.names()
		from, who := listed(quoted(names...)), listed(left.agents.names())
		if len(names) > maxNamed {
			from = strings.Join(quoted(names[:maxNamed]...), ", ") + fmt.Sprintf(" and %d more", len(names)-maxNamed)
		}
		if len(names) == 0 {
			from = "a birth"
		}
		switch l.what {
		case "release":
			f.Problem(l.at, "left-over", "found release_workspace on the way from %s to %q while the %s may live in it, expected kill_session before it", from, l.to, who)
		case "agents":
			f.Problem(l.at, "left-over", "found no kill_session on the way from %s to %q, where the task ends; expected it: the %s may live", from, l.to, who)
		case "workspace":
			f.Problem(l.at, "left-over", "found no release_workspace on the way from %s to %q, where the task ends; expected it: nobody else gets the workspace", from, l.to)
		default:
			f.Problem(l.at, "left-over", "found nothing that ends the %s on the way from %s to %q, where it has nothing to do; expected %s", who, from, l.to, ending(who))
		}
	}
}

// ending is the hook that ends the agent of a role.
func ending(role string) string {
	if role == task.RoleReviewer {
		return task.KillReviewer
	}
	return strings.Join([]string{task.KillAgent, "with role:", role}, " ")
}

// tellStates tells of states that no task comes to, and of those that it comes to with a workspace and without.
func (f *flow) tellStates(leaving map[task.Status][]way) {
	come, with, without := map[task.Status]bool{}, map[task.Status]bool{}, map[task.Status]bool{}
	for _, w := range f.worlds {
		come[w.at] = true
		with[w.at], without[w.at] = with[w.at] || w.workspace == held, without[w.at] || w.workspace == none
	}
	mixed := func(s task.Status) bool { return with[s] && without[s] }
	for _, s := range f.d.States {
		if !come[s.Name] {
			f.Problem(s.Pos, "unreachable", "found no way from where a task begins to %q, expected a transition into it, or its name under create", s.Name)
		}
		// A state out of which a workspace is acquired knows that there may be none.
		knows := slices.ContainsFunc(leaving[s.Name], func(w way) bool {
			return slices.ContainsFunc(w.hooks, func(h Hook) bool { return h.Action == task.AcquireWorkspace })
		})
		// One that comes after another such state is told of there.
		begins := false
		for from := range f.origin[s.Name] {
			begins = begins || from == "" || !mixed(from)
		}
		if mixed(s.Name) && !s.Terminal && !knows && begins {
			f.Problem(s.Pos, "workspace", "found ways into %q with a workspace and ways without one, expected acquire_workspace on all of them", s.Name)
		}
	}
}
