package task

import (
	"path"
	"slices"
	"strings"
)

// Actor is who asks.
type Actor struct {
	Role string // RoleHuman, or the role of the agent's seat
	As   string // the role that a human acts for; empty when for themself
	Rule bool   // the workflow's own rule asks: exit, timer, spawn_next
	// who the human is, as their own git configuration or their login says; empty for an agent and for a rule
	Person string
	// the program that asks for the human, as "mcp"; empty when they ask themself. It resets no counter that people
	// reset, and May has, separated by commas, what people have allowed it besides
	Via, May string
	// the key under which the request is done once, and the digest of what is asked for; empty where it has none
	Key, Asked string
	// the number of the call by which it asks, and whether that was made before and broke off; empty where it has none
	Call  string
	Again bool
	// what the person has signed of the request, and the signature; empty where they have not
	Signed, Signature string
}

// Repeats reports whether what the actor asks for may have been done before.
func (a Actor) Repeats() bool { return a.Key != "" || a.Again }

// Unmarked is the actor of a part of a request which others follow: its event does not answer a repeat of the whole,
// which does that part again, and finds it done.
func (a Actor) Unmarked() Actor {
	a.Key, a.Asked, a.Call = "", "", ""
	return a
}

// ActorEngine is the name that history has for the program's own acts.
const ActorEngine = "engine"

// Speaks is the role in whose name the actor asks.
func (a Actor) Speaks() string {
	if a.As != "" {
		return a.As
	}
	return a.Role
}

// Name is what history calls the actor.
func (a Actor) Name() string {
	if a.Rule {
		return ActorEngine
	}
	return a.Role
}

// Request asks for a transition.
type Request struct {
	Task   string
	To     Status
	Actor  Actor
	Reason string
	// Override says that guards and gate must not count. Only a person may, with a reason, where the workflow
	// allows it.
	Override bool
	// Command says that a command of the workflow's moves is behind the request: in its own target it has
	// nothing to do.
	Command bool
	// Queued says that the request is the one that the task waits for a workspace with. It is refused where the
	// task waits no more: someone else was first.
	Queued bool
	// Waited says that the request starts a task because those that it waits for are done. It is refused where the
	// task waits for none any more: a person was first.
	Waited bool
}

// Merge is how a person wants a task's branch merged.
type Merge struct {
	// Strategy is "ff", "merge" or "squash"; empty is what the project says, or whichever of ff and merge is possible.
	Strategy string
	Local    bool   // merge here, whatever pull request there is
	Push     string // "always" or "never" bring it to origin; empty is what the project says
	// Checked are trees that a merge may result in without another check: a whole was checked that they are part of.
	Checked []string
	With    int // how many commits that only the local default branch has go to origin with it
	// the reason for which the tip is merged although the workflow's conditions do not hold; empty where they
	// must
	Override string
}

// Project is a registered repository.
type Project struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	DefaultBranch string `json:"default_branch"`
	PoolSize      int    `json:"pool_size"`
	// Commit is one that the repository had when it was registered, by which it is known wherever it lies.
	Commit   string `json:"commit,omitempty"`
	Workflow string `json:"workflow,omitempty"`
	// Timeouts are how long statuses should take here, whatever the workflow says: "6h", or NoTimeout.
	Timeouts map[string]string `json:"timeouts,omitempty"`
	Worktree WorktreeSetup     `json:"worktree,omitzero"`

	// How its branches are merged. Empty means "local", a fast-forward where one is possible, and "always".
	Merge    string     `json:"merge,omitempty"`    // "local", or "pr": by a pull request
	Strategy string     `json:"strategy,omitempty"` // "ff", "merge" or "squash"
	Push     string     `json:"push,omitempty"`     // "always", "never" or "ask"
	Checks   [][]string `json:"checks,omitempty"`   // commands that must succeed on what a merge results in
	// Forge is where its pull requests are: "github", "gitlab", or "none" where no program opens them; empty is what
	// the host of origin tells.
	Forge string `json:"forge,omitempty"`
	// Generated are patterns, as in a .gitignore, of new files that programs make: no gate asks for them.
	Generated []string `json:"generated,omitempty"`
	// Protected are patterns, as in a .gitignore, of files that no task changes unless a person allows it. A task may
	// add new files, but not where the pattern begins with a plus sign.
	Protected []string `json:"protected,omitempty"`
	// Strict has findings of the check refuse a workflow for its tasks.
	Strict bool `json:"strict,omitempty"`
	// Promise is what its tasks have passed at each good end, whatever their workflow asks for: one thing a line.
	Promise []string `json:"promise,omitempty"`
	// PRBots are the programs whose reviews of pull requests count, by their logins.
	PRBots []string `json:"pr_bots,omitempty"`
}

// WorktreeSetup is what a project's worktrees get besides the files of their commit.
type WorktreeSetup struct {
	Copy []string `json:"copy,omitempty"` // patterns of untracked files of the main checkout, as in a .gitignore
	Link []string `json:"link,omitempty"` // the same, for links to the person's own files and folders
	// Commands are run in a worktree that is new, and in one where a file that When names is not what it was.
	Commands [][]string `json:"setup,omitempty"`
	When     []string   `json:"setup_when,omitempty"`
	Seconds  int        `json:"setup_timeout,omitempty"` // that all of them may take; 0 is the default
	Memory   int        `json:"setup_memory,omitempty"`  // megabytes that one of them may use; 0 is the default

	Submodules bool   `json:"submodules,omitempty"` // lay them out too
	Ports      int    `json:"ports,omitempty"`      // how many each task gets for itself
	Subdir     string `json:"subdir,omitempty"`     // the folder in which agents, checks and the set-up start
	Clean      string `json:"clean,omitempty"`      // "ignored": it loses what git ignores when a task gives it back
}

// Brings reports whether worktrees get a folder of the main checkout, itself or with one that it lies in.
func (w WorktreeSetup) Brings(folder string) bool {
	return slices.ContainsFunc(slices.Concat(w.Copy, w.Link), func(pattern string) bool {
		pattern, folder := strings.Trim(pattern, "/")+"/", path.Clean(folder)+"/"
		return strings.HasPrefix(folder, pattern)
	})
}

// What a set-up may use where a project does not say.
const (
	SetupSeconds = 15 * 60
	SetupMemory  = 4 << 10
)

// DefaultPoolSize is the number of workspaces where a project does not say.
const DefaultPoolSize = 5

// DefaultWorkflow is the workflow where a project does not say.
const DefaultWorkflow = "default"

// Caller is what is known of the one who runs a command, before it is known who that is.
type Caller struct {
	Secret string    // of the seat that it shows
	As     string    // the role that it wants to act for
	Above  []Process // the processes above it, the parent first
	// the task of this home whose variables it carries, as an agent's process does; empty where there is none
	Task string
	// one of the processes above it is the terminal server of this home's agents, or the server of the home, and it is
	// not known for whom that started it
	Inside bool
	// the program that asks for a person, if one does, and what they allow it; they mean nothing where there is a seat
	Via, May string
	// the conversation that its program says the agent has; it means nothing where there is no seat
	Conversation string
	Back         string // the key that leads a person out of an agent's window, back to a terminal of their own
}

// MaxContext is how many bytes of context a task may begin with.
const MaxContext = 1 << 20

// New is what a new task begins with.
type New struct {
	Project Project
	// the id that it gets; empty means a new one. Where a task has it already, that one is the answer
	ID     string
	Branch string // empty means one named after the id
	// an empty branch is named after the words of the summary, where that has any
	NameBranch bool
	Summary    string // empty means none: the agent asks its questions first
	Context    string // goes into the document
	// a plan that the task begins with: it goes into the document, and the workflow says what comes first
	Plan          string
	Harness       string
	ReviewHarness string
	Effort        string
	ReviewEffort  string
	Model         string
	ReviewModel   string
	// NAME or NAME=VALUE: what the programs of this task alone find. The values are secrets, and no record has them
	Variables []string
	Workflow  string
	Status    Status // empty means the workflow's initial state
	Spawn     bool   // start it at once
	PRURL     string // the open pull request that becomes its own; empty where there is none
	// the tasks of its project that must be done first: then it starts by itself
	After     []string
	MayChange []string // patterns of protected files that the task may change
	Reason    string   // of its start; empty where the person gives none
	Actor     Actor
}

// Update is what may change of a task without a transition; nil means that it stays.
type Update struct {
	Summary *string
	Branch  *string // empty means: the branch that the workspace has now
	// the programs of the agents that are started from now on
	Harness       *string
	ReviewHarness *string
	// patterns of protected files that the task may change from now on, and the person's reason for that
	MayChange []string
	Reason    string
	Promise   *[]string // of its project, in the place of the one that it has
	Seen      bool      // a person has looked after the mark of a task that is over
	Actor     Actor
}

// Rescued is work that was kept before a workspace was cleaned.
type Rescued struct {
	Ref     string `json:"ref"`
	Commit  string `json:"commit"`
	What    string `json:"what"`
	Command string `json:"command"` // brings it back
}

// Process names one process for good: a number alone is used again by the next one.
type Process struct {
	PID   int
	Began string // when it began, in the system's own notation; compare, do not read
}
