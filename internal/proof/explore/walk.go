package explore

import (
	"slices"

	"orange/internal/rules/decide"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// walk is one exploration, breadth first: the way by which a configuration was found first is a shortest one.
type walk struct {
	def      *workflow.Definition
	file     *workflow.Definition // as it is written: def promises nothing, and wants no other person
	most     int
	left     int // steps that may still be followed
	room     int // bytes that may still be kept
	tooMany  bool
	progress func(before int, c Configuration) // nil where the caller does not want it

	count        *counting
	forge        *evidenceMaker
	roles        []string
	readers      []bool
	writers      uint64   // the bits of those whose agents live and change the work
	roleOf       []int    // by state: whose agent works there; negative where there is no such role
	deathMatters [][]bool // by state and role: whether it can matter later that the agent has died by itself
	// by state: the bits of all roles of whose agent it cannot matter
	forgotten []uint64
	speakers  []string // roles whose moves a person can make only in their name
	askers    []asker
	leaving   [][]int // transitions by the state that they leave
	rules     [][]int // exit rules by their state
	cameFrom  [][]task.Status
	alike     [][]int // for each transition those out of the same state whose gate asks for the same
	made      []bool  // exit rules whose move was made

	tallies []task.Counters
	counts  []counts // the same
	calm    []int32  // by tally: the one without crashes
	tallyOf memo[string, int32]
	lists   [][]task.Hook
	listOf  memo[string, int32]

	gives   []bool                 // states in which the task is given up
	resets  bool                   // a person resets some counter
	here    view                   // that of the configuration whose events are followed
	whole   bool                   // decide answers for every count: none is alike, and all need a look
	follows memo[class, []outcome] // what follows in a view
	classes memo[class, answered]  // and in all views that are alike
	courses memo[turn, course]

	configs []config
	known   map[config]int32 // their numbers
	parent  []int32          // by which configuration it was found; -1 for a birth
	by      []event          // and by which event
	ways    [][]step
	born    []step // those to where a task begins
	taken   []bool // transitions that were taken
	flaws   map[string][]flaw
	pending map[int]flaw // exit rules whose move was refused, which is a flaw only if it is never made
}

// stepsEach is how many steps there may be on average for each configuration that may be entered.
const stepsEach = 32

// bytesEach is how much memory each of them may keep on average. The garbage collector lets a process grow to about
// twice what is kept.
const bytesEach = 440

// What is kept of a configuration with its place in the map, of a way, and of an outcome, in bytes.
const (
	configBytes  = 200
	wayBytes     = 32
	outcomeBytes = 96
)

type step struct {
	to     int32
	person bool // only a person goes it
	moves  bool // the status is left
	again  bool // the status begins again
	gives  bool // it gives the task up
	agents uint8
	rounds uint8
	event  event
}

// copy is the step for a flaw to keep.
func (s step) copy() *step { return &s }

type flaw struct {
	message    string
	at         int32       // the configuration; -1 where none is needed to see it
	last       *step       // what happens there
	round      []roundStep // what happens there again and again
	pos        yaml.Pos
	suggestion string
	mild       bool // a person still finds the task
}

// roundStep is one way of a round, with where it begins.
type roundStep struct {
	at  int32
	way step
}

func newWalk(def *workflow.Definition, most int) *walk {
	file, free := def, *def
	free.Promise = nil // it is compared with the table of all ways: those that it shuts are ways around it
	free.Transitions = slices.Clone(def.Transitions)
	for i := range free.Transitions {
		free.Transitions[i].OtherThan = nil // there is always another person
	}
	def = &free
	w := &walk{
		def: def, file: file, most: most, left: most * stepsEach, room: most * bytesEach, count: newCounting(def),
		tallyOf: memo[string, int32]{}, listOf: memo[string, int32]{},
		taken: make([]bool, len(def.Transitions)),
		made:  make([]bool, len(def.Exit.Rules)), pending: map[int]flaw{},
		follows: memo[class, []outcome]{}, classes: memo[class, answered]{}, courses: memo[turn, course]{},
		known: map[config]int32{}, flaws: map[string][]flaw{},
		leaving: make([][]int, len(def.States)), rules: make([][]int, len(def.States)),
		cameFrom: make([][]task.Status, len(def.States)),
	}
	w.roles = []string{task.RoleWorker, task.RoleReviewer}
	for _, r := range def.Roles {
		if !slices.Contains(w.roles, r.Name) {
			w.roles = append(w.roles, r.Name)
		}
	}
	w.readers = readersOf(def, w.roles)
	for r, reads := range w.readers {
		if !reads {
			w.writers |= alive << (2 * r)
		}
	}
	w.deathMatters = deathMattersIn(def, w.roles)
	w.forgotten = forgottenIn(w.deathMatters)
	for i, s := range def.States {
		w.roleOf = append(w.roleOf, slices.Index(w.roles, s.Role))
		for e := range def.Transitions {
			if def.Transitions[e].From == s.Name {
				w.leaving[i] = append(w.leaving[i], e)
				w.cameFrom[i] = append(w.cameFrom[i], def.Transitions[e].CameFrom...)
			}
		}
		for r := range def.Exit.Rules {
			if def.Exit.Rules[r].Status == s.Name {
				w.rules[i] = append(w.rules[i], r)
			}
		}
	}
	for i := range def.Transitions {
		by := def.Transitions[i].By
		if len(by) == 0 || slices.Contains(by, task.RoleHuman) {
			continue
		}
		for _, role := range by {
			if !slices.Contains(w.speakers, role) {
				w.speakers = append(w.speakers, role)
			}
		}
	}
	w.alike = alikeGates(def, w.leaving)
	w.gives = givingUp(def)
	w.resets = len(def.ResetByPerson()) > 0
	w.askers = w.askersOf()
	w.forge = newEvidenceMaker(def, w.leaving, w.rules)
	w.tally(make(counts, len(w.count.names)))
	w.list(nil)
	return w
}

// maxRoles is the number of roles whose agents fit into a configuration.
const maxRoles = 32

// maxRedo is the number of states with a redo whose bits fit.
const maxRedo = 32

func (w *walk) explore() {
	if len(w.roles) > maxRoles || len(w.def.Redo) > maxRedo {
		w.tooMany = true
		return
	}
	w.begin()
	for at := 0; at < len(w.configs) && !w.tooMany; at++ {
		if w.progress != nil {
			w.progress(at, w.shownTo(w.configs[at]))
		}
		w.ways = append(w.ways, nil)
		w.visit(int32(at))
		w.ways[at] = slices.Clone(w.ways[at]) // with no room for more
		if w.room -= configBytes + wayBytes*len(w.ways[at]); w.room < 0 {
			w.tooMany = true
		}
	}
}

// begin enters every configuration in which a task can begin.
func (w *walk) begin() {
	empty := task.Task{ID: "1"}
	human := task.Actor{Role: task.RoleHuman}
	for i := range w.def.Births {
		if c, err := decide.Create(w.def, empty, w.def.Births[i].To, human, anyTime()); err == nil {
			w.followAll(-1, config{}, []outcome{w.outcomeOf(event{kind: isBorn, to: int16(i)}, -1, c)})
		}
	}
	if w.def.PlanFile != nil {
		if c, err := decide.CreateFromPlan(w.def, empty, human, anyTime()); err == nil {
			w.followAll(-1, config{}, []outcome{w.outcomeOf(event{kind: isBorn, to: -1}, -1, c)})
		}
	}
}

// The commits that evidence is about in the explorer: what the present state has noted, and what is there now. Decide
// says which of them a move takes along.
const (
	notedCommit   = "noted"
	presentCommit = "present"
)

// outcome is what follows from an event, apart from living agents and owed hooks.
type outcome struct {
	event event
	wants int32  // which list of hooks it has
	owes  int32  // and which of them are owed then
	after config // the task's configuration then; its agents are not known
	moved bool
	// whether crashes are forgotten once nothing is owed, where they were not to be before, and where they were
	passes [2]bool
}

func (w *walk) outcomeOf(e event, edge int, c record.Change) outcome {
	w.left--
	t := c.Task
	e.carried = t.Subject.Commit == notedCommit
	e.unvouched = t.Subject.Unvouched && w.def.AsksVerdicts()
	if n := len(c.Events); n > 0 {
		last := c.Events[n-1].Data
		e.forced = last[history.DataCrash] != "" || last[guarantee.DataForced] != ""
	}
	e.failing, e.edge = -1, int16(edge)
	e.met = w.meets(e)
	if c.Lease == record.LeaseReserve {
		t.Workspace = "workspace"
	}
	return outcome{
		event: e, wants: w.list(c.Hooks), owes: w.list(settles(c.Hooks)), after: w.configOf(t),
		moved:  len(c.Events) > 0 && (c.Events[len(c.Events)-1].IsMove() || e.kind == isBorn),
		passes: [2]bool{decide.CrashesPass(false, c.Events), decide.CrashesPass(true, c.Events)},
	}
}

// meets reports whether the gate of the transition that an event takes is met in the present configuration.
func (w *walk) meets(e event) bool {
	if e.edge < 0 || e.override || e.forced || e.kind == isBorn || e.kind == isRedo {
		return false
	}
	if e.kind == isPull {
		return true // of what its gate asks git for: see showsGit
	}
	if len(w.def.Transitions[e.edge].Gate) == 0 {
		return true
	}
	here := w.here
	at := slices.Index(w.leaving[here.status], int(e.edge))
	return e.look >= 0 && at >= 0 && w.forge.looks[here.status][bit(here.workspace)][e.look].gates[at]
}

// followAll follows all that can follow from an event.
func (w *walk) followAll(at int32, before config, all []outcome) {
	for i := range all {
		w.follow(at, before, all[i].event, &all[i])
	}
}

// follow enters the configurations that an event leads to: the one in which all its hooks are performed, and for each
// hook that can fail the one in which it has.
func (w *walk) follow(at int32, before config, e event, o *outcome) {
	if e.edge >= 0 {
		w.taken[e.edge] = true
	}
	after := o.after
	after.agents = before.agents
	after.visited = before.visited | w.bitOf(after.status)
	if e.dies {
		how := uint64(gone)
		if !e.unstarted {
			how = died
		}
		after.setAgent(int(e.role), how)
	}
	after.unsettled = o.passes[0]
	if before.unsettled {
		after.unsettled = o.passes[1]
	}
	ahead := w.course(before, o)
	p := w.perform(after, ahead.deeds)
	w.settle(&p.config)
	w.enter(at, e, p, o.moved) // first, so that a reported way has no needless failure
	for _, s := range ahead.stops {
		if w.tooMany {
			return
		}
		e.failing = int8(min(s.failing, maxFailing))
		w.heldUp(at, e, w.perform(after, ahead.deeds[:s.failing]), o.moved, s)
	}
}

// heldUp enters the configuration in which a hook has failed. A start that failed may have ended the agent that it was
// to replace: that configuration follows from this one by the end of an agent whose program could not be started.
func (w *walk) heldUp(at int32, e event, p performed, moved bool, s stop) {
	p.config.owed = s.owed
	if !s.living || !p.config.livesAtMost(0) { // else it is as where the start fails
		w.enter(at, e, p, moved)
	}
}

// course is what is to be performed after a step, with every place where it can be held up.
type course struct {
	deeds []deed
	stops []stop
}

// stop is the failure of a hook.
type stop struct {
	failing int   // which of them
	owed    int32 // which list is owed then
	living  bool  // only where an agent lives
}

// turn names the steps after which the same is to be performed.
type turn struct {
	before, wants, owes int32 // lists of hooks: those that were owed before, and those of the step
	status              int16
	workspace           bool // whether the task has one
}

func (w *walk) course(before config, o *outcome) course {
	key := turn{before.owed, o.wants, o.owes, o.after.status, o.after.workspace}
	return w.courses.of(key, func() course {
		w.room -= outcomeBytes
		hooks := w.lists[o.owes]
		if before.owed != 0 {
			hooks = append(w.overtake(before, o), hooks...)
		}
		out := course{deeds: w.deedsOf(hooks, o.after.status)}
		for failing := range hooks {
			if holds, living := holdsUp(hooks[failing]); holds {
				out.stops = append(out.stops, stop{failing, w.list(waiting(hooks[failing:])), living})
			}
		}
		return out
	})
}

// bitOf is the bit of a state that a redo can lead to; 0 for all others.
func (w *walk) bitOf(status int16) uint32 {
	at := slices.IndexFunc(w.def.Redo, func(n workflow.Named) bool {
		return n.Name == string(w.def.States[status].Name)
	})
	if at < 0 {
		return 0
	}
	return 1 << at
}

// maxFailing is the last hook of a list that the words of a step can name as the one that failed.
const maxFailing = 127

// settle is what follows when the last owed hook has been performed.
func (w *walk) settle(c *config) {
	if c.unsettled {
		c.counters = w.calm[c.counters]
	}
	c.unsettled, c.owed = false, 0
}

// overtake returns the earlier hooks that stay owed after a new step is decided: each hook once, for ending an agent
// once is enough.
func (w *walk) overtake(before config, o *outcome) []task.Hook {
	var owed []task.OwedHook
	for i, h := range w.lists[before.owed] {
		owed = append(owed, task.OwedHook{ID: int64(i + 1), Hook: h})
	}
	dropped := decide.Overtaken(owed, record.Change{Task: w.taskOf(o.after), Hooks: w.lists[o.wants]})
	var kept []task.Hook
	for _, h := range owed {
		same := func(k task.Hook) bool { return k.Action == h.Action && k.Role == h.Role }
		if !slices.Contains(dropped, h.ID) && !slices.ContainsFunc(kept, same) {
			kept = append(kept, h.Hook)
		}
	}
	return kept
}

// enter notes a configuration and the way to it.
func (w *walk) enter(at int32, e event, p performed, moved bool) {
	if w.left--; w.left < 0 {
		w.tooMany = true
	}
	if w.tooMany {
		return
	}
	c := p.config
	c.agents &^= c.agents & diedBits & w.forgotten[c.status]
	p.config = c
	c.unsettled = c.unsettled && w.calm[c.counters] != c.counters
	to, met := w.known[c]
	if !met {
		if len(w.configs) >= w.most {
			w.tooMany = true
			return
		}
		to = int32(len(w.configs))
		w.configs = append(w.configs, c)
		w.known[c] = to
		w.parent, w.by = append(w.parent, at), append(w.by, e)
	}
	one := step{to: to, event: e, agents: uint8(min(p.agents, 255)), rounds: uint8(min(p.rounds, 255))}
	if at >= 0 {
		before := w.configs[at]
		one.person = e.byPerson()
		one.moves = before.status != c.status
		one.again = moved && !one.moves
		one.gives = one.moves && w.gives[c.status]
		same := slices.IndexFunc(w.ways[at], func(have step) bool {
			return have.to == to && have.person == one.person && samePassed(&have.event, &e)
		})
		if same < 0 {
			w.ways[at] = append(w.ways[at], one)
		} else {
			have := &w.ways[at][same]
			have.agents, have.rounds = max(have.agents, one.agents), max(have.rounds, one.rounds)
		}
	} else {
		w.born = append(w.born, one)
	}
	w.checkEntry(at, one, p)
}

// samePassed reports whether two events from a configuration to another one pass the same: the table tells them apart
// where they do not.
func samePassed(one, other *event) bool {
	return one.edge == other.edge && one.carried == other.carried && one.unvouched == other.unvouched &&
		(one.kind == isPull) == (other.kind == isPull) &&
		showsGit(one) == showsGit(other) && one.met == other.met
}

// givingUp reports for each state whether a task that comes there is given up: in a workflow that has some other end.
func givingUp(def *workflow.Definition) []bool {
	out := make([]bool, len(def.States))
	some := false
	for i, s := range def.States {
		marks := decide.Marks(def, s.Name)
		out[i], some = marks.Terminal && !marks.Well, some || marks.Well
	}
	if !some {
		return make([]bool, len(def.States))
	}
	return out
}
