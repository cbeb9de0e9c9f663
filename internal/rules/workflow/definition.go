// Package workflow is the rule book: a workflow file read with positions, validated, and kept as values.
//
// It owns what a workflow file may say and whether it makes sense on its own.
// It does not own how a request is judged by it (decide), nor where the file comes from (home).
package workflow

import (
	"slices"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Definition is a whole workflow.
type Definition struct {
	File        string
	Name        string
	Version     int
	Digest      string // sha256 of the file's bytes, hex
	Initial     task.Status
	Roles       []Role
	Fields      []Field
	States      []State
	Transitions []Transition
	Births      []Birth
	// what creating a task from a plan file sets going instead; nil when the workflow has no such entry
	PlanFile    *Birth
	Moves       []Move
	Redo        []Named // states that a person may take a task back to, however far it is
	Checks      []Check
	MergeChecks []Named // checks that must succeed on what a merge results in, where the project names no command
	Commands    []Command
	Projections []Projection
	Exit        Exit
	Prompts     []Prompt
	Strict      bool        // no one sets a verdict aside
	Allow       []Allowance // properties that need not hold here
	Promise     []Named     // what a task has passed at each good end, one thing a line
	// FindingsRefuse says that no task is created under the workflow while its check has findings.
	FindingsRefuse bool
	initial        yaml.Pos
	named          yaml.Pos // where its name is
}

// Ref is the reference with which a task is pinned to the workflow.
func (d *Definition) Ref() task.WorkflowRef {
	return task.WorkflowRef{Name: d.Name, Version: d.Version, Digest: d.Digest}
}

// Role is someone whom the workflow names besides worker, reviewer and human.
type Role struct {
	Named
	About       string
	Harness     string // the agent program of this role; empty means the task's own
	Permissions string // PermissionsFull or PermissionsReduced; empty means what the hook says
}

// Field is an integer that the workflow counts in.
type Field struct {
	Named
	Start int
	Reset string // ResetPerson or empty
}

// ResetPerson is the value of reset: whatever a person does to the task sets the counter to 0.
const ResetPerson = "person"

// Check is a command that the engine runs in the worktree, and whose result a gate may ask for.
type Check struct {
	Named
	Run     []string // argv; no shell reads it
	Timeout int      // seconds
	Scratch bool     // it runs in a checkout of the commit that is made for the run, and not in the task's worktree
}

// Command is a word of the workflow's own shell, with the state that it leads to.
type Command struct {
	Text string // "/review plan"
	To   task.Status
	Pos  yaml.Pos
}

// Projection is a file in the task's folder that mirrors the record in a form of the workflow's own.
type Projection struct {
	File  string // relative to the task's folder
	Value Value
	Pos   yaml.Pos
}

// Value is a tree of JSON: the text of a leaf, or named values in their order.
type Value struct {
	Text  string // "{status}" and the like are replaced
	Pairs []Pair // when it is an object; Text is empty then
}

// Pair is one named value of an object.
type Pair struct {
	Key   string
	Value Value
}

// Named is a name with its place.
type Named struct {
	Name string
	Pos  yaml.Pos
}

// State is one node.
type State struct {
	Name          task.Status
	About         string // one line for people
	Terminal      bool
	Success       bool   // the task ended well here: those that wait for it may start
	Role          string // whose window the state has: worker, reviewer, a named role, or none
	RespawnPrompt Named
	Respawn       string // RespawnAuto or empty
	Escalation    bool   // a task that is here was taken out of its usual way, and lists tell so
	Folder        string // where its artifacts lie, relative to the task's folder; empty when it has none
	Subject       string // what is judged here: SubjectBranch, SubjectWorktree or SubjectCarried
	Timeout       Timeout
	Refused       RefusedAfter
	SendBack      []SendBack // the first that applies is taken
	Pos           yaml.Pos
}

// Timeout is how long a task should be in a state. It ends nothing: people and the workflow hear of it at 80, 100
// and 150 per cent of it.
type Timeout struct {
	After int         // seconds; 0 means that there is none
	Then  task.Status // where the last of the three leads; empty means nowhere
	Pos   yaml.Pos
	then  yaml.Pos
}

// What the evidence in a state is about.
const (
	SubjectBranch   = ""         // the tip of the task's branch
	SubjectWorktree = "worktree" // what lies in the worktree, whether or not it is committed
	// what the state before judged, where that judged a worktree; else what lies in the worktree at the entry
	SubjectCarried = "carried"
)

// CountFailures is the counter of the failures of the task's present state.
const CountFailures = "failures"

// countLimits is the counter of ends at a provider's limit, as the record names it: no workflow speaks of it.
const countLimits = "limit_count"

// Author is the word of other_than for those who created the task or moved it out of its first state. What its agents
// did is theirs.
const Author = "author"

// Previous is the target of a transition that leads back to where the task was before its present state.
const Previous task.Status = "previous"

// Transition is one edge. One that the file gives several sources or targets is several edges here.
type Transition struct {
	From task.Status
	To   task.Status // Previous, or a state
	// the edge is there only for a task that was in one of these before; empty means for every task
	CameFrom []task.Status
	By       []string // roles that may ask; empty means anyone
	// a person who asks is another one than those who started the task (Author), or moved it out of these states
	OtherThan []Named
	When      []Guard // all must hold
	Gate      []Part  // all must hold
	Failure   bool    // taking it counts a failure of the state that is left
	Override  bool    // the one that an override without a target means, and open to one where the workflow is strict
	Reason    bool    // the asker must say why
	Hooks     []Hook
	Pos       yaml.Pos
	to        yaml.Pos
	from      yaml.Pos
	by        []yaml.Pos
	cameFrom  []yaml.Pos

	everywhere bool // its source is "*"
}

// Hook is a declared side effect with its place.
type Hook struct {
	task.Hook
	Pos    yaml.Pos
	prompt yaml.Pos
	role   yaml.Pos
}

// Verdict kinds of a gate's part.
const (
	VerdictFirstLine = "first-line"
	VerdictAnywhere  = "anywhere"
)

// SinceEntry is the value of since: the evidence must have been written after the present state began.
const SinceEntry = "entry"

// What a part that looks at git asks for.
const (
	GitAhead   = "ahead"   // the branch has commits that its base has not
	GitClean   = "clean"   // nothing in the worktree is uncommitted
	GitPlanned = "planned" // the branch changes no path that the plan file does not name

	// the work is what it was when the state's agent was started, or else when the state was entered
	GitUnmoved    = "unmoved"
	GitCommitted  = "committed"   // no file differs from the tip, and none is new
	GitMoved      = "moved"       // the tip is another commit than it was then
	GitAsReviewed = "as-reviewed" // the tip is the tree that was judged before it was committed
	GitUntouched  = "untouched"   // neither the branch nor the worktree changes a file that Untouched names
	// what the project protects is as the base has it; no file asks for that, see Protecting
	GitProtected = "protected"
)

// EmptyAllowed is the word of a glob whose program judges an empty list too.
const EmptyAllowed = "allowed"

// What a part that asks for a check wants of it.
const (
	CheckPassed = "passed"
	CheckFailed = "failed"
)

// Part is one predicate over evidence. Exactly one of Section, File, Glob, Check, Git, All and Any says of which
// kind it is.
type Part struct {
	Section string // of the task's document, as written: "## Handoff"
	File    string // relative to the task's folder
	// files below the task's folder, "code/files/**": at least one of them must be there and not be empty
	Glob  string
	Check string // a check of the workflow
	Git   string // one of the words above
	All   []Part
	Any   []Part

	JSON   bool   // the file must be JSON
	JQ     string // a jq program that must answer true: of the file's JSON, or of the list of the glob's paths
	With   []With // JSON files that the program knows as variables
	Plan   string // the plan file of GitPlanned, relative to the task's folder: {"files": [{"path": ...}]}
	Result string // CheckPassed or CheckFailed
	Want   string // what would meet the part, in words for people; empty means that the part says it itself

	Required  bool     // not empty
	Empty     bool     // of a glob with a program: empty files are in its list, and the list may be empty
	Fields    []string // at least one of these labels must have content
	Verdict   string   // PASS or FAIL; empty when none is asked for
	VerdictIn string
	Fresh     bool   // not spent by an earlier transition of the task
	Since     string // SinceEntry or empty
	Judges    bool   // the file is a verdict on the work, as a section with a Verdict is
	Untouched []string
	Except    []string // of GitProtected: patterns of what the task may change all the same
	Pos       yaml.Pos
}

// IsVerdict reports whether the part is a verdict on the work: it counts only if it was written after the state's
// agent was started.
func (p *Part) IsVerdict() bool { return p.Verdict != "" || p.Judges }

// IsSince reports whether the part wants something written after the present status began.
func (p *Part) IsSince() bool { return p.Since == SinceEntry || p.IsVerdict() }

// Asks reports whether one of the parts asks git for a word.
func Asks(parts []Part, word string) bool {
	found := false
	eachLeaf(parts, func(p *Part) { found = found || p.Git == word })
	return found
}

// With is a JSON file that a jq program knows as a variable; null where it is missing.
type With struct {
	Name string // without the dollar sign
	File string // relative to the task's folder
}

// Birth is a state in which a task may be created, with what that sets going.
type Birth struct {
	To    task.Status
	Hooks []Hook
	Pos   yaml.Pos
}

// Move says to which state a command leads.
type Move struct {
	Command string
	To      task.Status
	Pos     yaml.Pos
}

// Commands that a workflow's moves may name.
const (
	MoveSpawn          = "spawn"
	MoveComplete       = "complete"
	MoveStuck          = "stuck"
	MoveMerge          = "merge"
	MoveCancel         = "cancel"
	MoveRequestChanges = "request_changes"
	MovePRMerged       = "pr_merged"
	MovePRClosed       = "pr_closed"
	MoveClarify        = "clarify" // where a task without a summary begins
)

// Exit says what the death of an agent leads to.
type Exit struct {
	PollInterval int // seconds
	Rules        []Rule
}

// Exit actions.
const (
	ActionCrash    = "crash"
	ActionMarkDead = "mark_dead"
	RespawnAuto    = "auto"
)

// Rule is one exit rule. The first rule of a status that matches is taken.
type Rule struct {
	Status      task.Status
	HasArtifact *Part
	NoArtifact  bool
	Action      string
	StuckAfter  int
	Then        task.Status
	ThenWhen    []Branch
	Pos         yaml.Pos
	then        yaml.Pos
	status      yaml.Pos
}

// LeadsTo lists the states that a rule may lead to.
func (r *Rule) LeadsTo() []task.Status {
	var out []task.Status
	if r.Then != "" {
		out = append(out, r.Then)
	}
	for _, b := range r.ThenWhen {
		out = append(out, b.Then)
	}
	return out
}

// Branch is one arm of then_when.
type Branch struct {
	When []Guard
	Then task.Status
	Pos  yaml.Pos
	then yaml.Pos
}

// Prompt is the text that an agent starts with.
type Prompt struct {
	Name  string
	Text  string
	Pos   yaml.Pos
	names []Named // the words in braces, each where it is first
}

// find is the first of a list that is what is looked for.
func find[T any](list []T, is func(*T) bool) (one T, found bool) {
	for i := range list {
		if is(&list[i]) {
			return list[i], true
		}
	}
	return one, false
}

// State finds a state by name.
func (d *Definition) State(name task.Status) (State, bool) {
	return find(d.States, func(s *State) bool { return s.Name == name })
}

// ResetByPerson are the counters that a person's act sets to 0.
func (d *Definition) ResetByPerson() []string {
	var out []string
	for _, f := range d.Fields {
		if f.Reset == ResetPerson {
			out = append(out, f.Name)
		}
	}
	return out
}

// Prompt finds a prompt's text by name.
func (d *Definition) Prompt(name string) (string, bool) {
	p, found := find(d.Prompts, func(p *Prompt) bool { return p.Name == name })
	return p.Text, found
}

// Move finds the state to which a command leads.
func (d *Definition) Move(command string) (task.Status, bool) {
	m, found := find(d.Moves, func(m *Move) bool { return m.Command == command })
	return m.To, found
}

// Birth finds what creating a task in a state sets going.
func (d *Definition) Birth(to task.Status) (Birth, bool) {
	return find(d.Births, func(b *Birth) bool { return b.To == to })
}

// Edge finds the first transition from one state to another, in the order of the file.
func (d *Definition) Edge(from, to task.Status) (*Transition, bool) {
	for i := range d.Transitions {
		if t := &d.Transitions[i]; t.From == from && t.To == to {
			return t, true
		}
	}
	return nil, false
}

// Attended reports whether the death of the state's agent waits for a person: its only exit rules mark it dead, or
// it has none.
func (d *Definition) Attended(name task.Status) bool {
	return !slices.ContainsFunc(d.Exit.Rules, func(rule Rule) bool {
		return rule.Status == name && rule.Action != ActionMarkDead
	})
}

// WaitsForPerson reports whether a task rests in the state until a person does something: its exit rules say that
// nothing follows from a death, or no agent belongs there. What an agent does there, it does with the person.
func (d *Definition) WaitsForPerson(name task.Status) bool {
	s, _ := d.State(name)
	ruled := slices.ContainsFunc(d.Exit.Rules, func(rule Rule) bool { return rule.Status == name })
	return d.Attended(name) && (ruled || s.Role == "" || s.Role == task.RoleHuman)
}

// Counted are the transition's guards as they speak of the counters before the move: one that counts a failure
// counts it first.
func (t *Transition) Counted() []Guard { return countersOf(t.When, t.Failure) }

func countersOf(guards []Guard, failure bool) []Guard {
	if !failure {
		return guards
	}
	out := slices.Clone(guards)
	for i := range out {
		if out[i].Field == CountFailures {
			out[i].Value--
		}
	}
	return out
}

// Spawns reports whether the transition starts an agent.
func (t *Transition) Spawns() bool { return spawns(t.Hooks) != "" }

// Spawns reports whether being created in the state starts an agent.
func (b *Birth) Spawns() bool { return spawns(b.Hooks) != "" }

// spawns reports the role of the first agent that hooks start; empty when they start none.
func spawns(hooks []Hook) string {
	for _, h := range hooks {
		if role := SpawnRole(h.Hook); role != "" {
			return role
		}
	}
	return ""
}

// Has reports whether a transition's hooks hold an action.
func (t *Transition) Has(action string) bool {
	return slices.ContainsFunc(t.Hooks, func(h Hook) bool { return h.Action == action })
}

// Index is the place of a status in the order of the workflow's states; negative where it has no such state.
func (d *Definition) Index(status task.Status) int {
	return slices.IndexFunc(d.States, func(s State) bool { return s.Name == status })
}
