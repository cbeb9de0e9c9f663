// Package doctor examines a whole home: whether the record, its mirrors, the histories, the pool of workspaces
// and the sessions agree, and whether everything is there that tasks need. It brings back tasks that the record
// has lost.
//
// It owns what is looked at, how much each finding matters and what it advises a person to do about it.
// It does not own any change of a task: other packages mend what they own, and no work is ever touched.
// What could not be looked at is a problem of its own, and never "nothing there".
package doctor

import (
	"context"
	"slices"
	"time"

	"orange/internal/api/socket"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

// Record is what is true of every task, and what the database has of it.
type Record interface {
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	Owed(ctx context.Context) ([]task.OwedHook, error)
	// AllLines calls visit with the history of every task; visit must not ask the record anything.
	AllLines(ctx context.Context, visit func(id string, lines []string) error) error
	// Check lists what is wrong with the database itself.
	Check(ctx context.Context) ([]string, error)
	// Flaws lists what the rows of a task have, or those of all where none is named, and Orange never writes.
	Flaws(ctx context.Context, id string) ([]record.Finding, error)
	// IDs are those of all tasks on record, of one project where one is named, also of those that cannot be read.
	IDs(ctx context.Context, project string) ([]string, error)
	// Strays are the ids of tasks that the record has events or changes of, and nothing else.
	Strays(ctx context.Context) ([]string, error)
	// Whole is all that is on record of a task.
	Whole(ctx context.Context, id string) (record.Whole, error)
	// Wholes is that of some tasks at one moment, by their ids. It may leave out any of them.
	Wholes(ctx context.Context, ids []string) (map[string]record.Whole, error)
}

// Files are the folders of tasks.
type Files interface {
	Folders() ([][2]string, error) // project and id
	History(project, id string) string
	ReadHistory(project, id string) ([]byte, error)
	KeepHistory(project, id, suffix string) (string, error)
	Evidence(project, id string) (map[string]bool, error)
	Differs(t task.Task, lines []string) ([]string, error)
	// Kept is the text that is kept for a task under a digest, as it is there now.
	Kept(project, id, digest string) (text string, kept bool, err error)
}

// Engine brings tasks back that the record does not have, and changes what a finding says should be changed.
type Engine interface {
	Tell(ctx context.Context, project, id string, history []byte) (record.Adoption, error)
	// Adopt adopts tasks in their order, and answers what became of each. Progress hears how many are done.
	Adopt(ctx context.Context, told []record.Adoption, progress func(done int)) []record.Adopted
	Sync(ctx context.Context, id string) error
	Free(ctx context.Context, id string) error
	Forget(ctx context.Context, id string) error
	Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
	// Projects reports whether a workflow projects files, and Differ tells in words where those of a task are not what
	// its history says.
	Projects(ctx context.Context, ref task.WorkflowRef) (bool, error)
	Differ(ctx context.Context, t task.Task, lines []string) ([]string, error)
}

// Windows are where agents live: the windows of the private terminal server.
type Windows interface {
	// Ready is an error where no terminal server could start.
	Ready(ctx context.Context) error
	Panes(ctx context.Context) ([]tmux.Pane, error)
	KillWindow(ctx context.Context, id string) error
	// KeptNames lists the tasks whose environments are kept there, and Drop forgets one.
	KeptNames(ctx context.Context) ([]string, error)
	Drop(ctx context.Context, id string) error
}

// File is a file that a person has set up, or one that ships.
type File struct {
	Kind    string // "harness", "workflow" or "config"
	Name    string
	Source  string
	Problem error
	Harness *harness.Harness // where it is one and can be read
}

// Setup is what a person has set up: their files, and the repositories with their workspaces.
type Setup interface {
	Projects() ([]task.Project, error)
	Files() ([]File, error)
	// Pinned is the workflow that is pinned under its digest, whose text must have that digest.
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
	// DefaultBranch reports whether the repository has the branch that work is merged into.
	DefaultBranch(ctx context.Context, p task.Project) (bool, error)
	// HasIdentity reports whether git knows, in a folder and with these variables, whose commits are made there.
	HasIdentity(ctx context.Context, dir string, env []string) (bool, error)
	// Worktrees are the folders of the pool that are there.
	Worktrees() ([]string, error)
	// Asides are what was set aside of the workspaces of all tasks, where id is empty.
	Asides(id string) ([]record.Aside, error)
	// SharedWords are what all worktrees of a project, or of all, share and neither Orange nor a person changed.
	SharedWords(ctx context.Context, project string) ([]string, error)
	// Usable is what each task of a project needs of its repository, on a branch or on its base where none is named.
	Usable(ctx context.Context, p task.Project, branch string) ([]rejection.Readiness, error)
	// Dir is the worktree of a workspace.
	Dir(workspace string) string
	// Subject is the tip of a task's branch, or what keeps it from being read.
	Subject(ctx context.Context, t task.Task, tree bool) task.Subject
	// Held tells which commits a project's repository does not have, and which no ref there holds.
	Held(ctx context.Context, project string, commits []string) (gone, loose []string, err error)
	// ForgePauses are the hosts of pull requests that are left alone for a while.
	ForgePauses() ([]record.ForgePause, error)
	// Checkouts are those that checks made whose run is dead.
	Checkouts() ([]string, error)
	RemoveCheckout(ctx context.Context, name string) error
	// Judged are the tasks for which a repository keeps what was judged, and ForgetJudged lets go of that, and keeps
	// for the task what is nowhere else.
	Judged(ctx context.Context, p task.Project) ([]string, error)
	ForgetJudged(ctx context.Context, p task.Project, id, branch string) error
}

// Machine is the computer.
type Machine interface {
	// Version is what a program says of itself; task.ErrNotFound where there is no such program.
	Version(ctx context.Context, program string, args ...string) (string, error)
	FindProgram(name, path string) (string, error)
	EndGroup(ctx context.Context, leader int) error
	// Space is how many bytes may still be written at a path.
	Space(path string) (uint64, error)
}

// Variables are those that a person has set for the programs of tasks. A project's name is empty for every project.
type Variables interface {
	List() ([]harness.Variable, error)
	// Of has what is set for a project as NAME=VALUE.
	Of(project string) ([]string, error)
	// Tasks are the tasks that have variables of their own, For what is set for one of them, and Drop forgets those.
	Tasks() ([]string, error)
	For(project, id string) ([]string, error)
	Drop(ctx context.Context, id string) error
}

// Doctor examines one home. Every field is required, where it does not say otherwise.
type Doctor struct {
	Home      string
	Record    Record // nil where it cannot be opened: then only what needs no record is looked at
	Files     Files
	Engine    Engine
	Windows   Windows
	Setup     Setup
	Machine   Machine
	Variables Variables
	Environ   []string // the variables of this process
	Root      bool     // this process, and so every agent, may do everything on this machine
	// Server is how the server of the home is; socket.ErrNoServer where there is none.
	Server func(ctx context.Context) (socket.Health, error)
	Now    func() time.Time
	// Settling is how long what others are doing at this moment has to come to an end before it is called a problem.
	Settling time.Duration
	// Progress hears how many of how many are done of what takes long; nil where that is not wanted.
	Progress func(what string, done, of int)
}

func (d *Doctor) progress(what string, done, of int) {
	if d.Progress != nil {
		d.Progress(what, done, of)
	}
}

// Names of checks.
const (
	checkTmux      = "tmux"
	checkGit       = "git"
	checkGH        = "gh"
	checkConfig    = "config"
	checkHarnesses = "harnesses"
	checkWorkflows = "workflows"
	checkProjects  = "projects"
	checkDatabase  = "database"
	checkFolders   = "folders"
	checkRebuild   = "rebuild"
	checkOlder     = "older"
	checkChain     = "chain"
	checkCommits   = "commits"
	checkMirrors   = "mirrors"
	checkEvidence  = "evidence"
	checkHooks     = "hooks"
	checkPool      = "pool"
	checkSessions  = "sessions"
	checkKept      = "environments"
	checkVariables = "variables"
	checkLeftovers = "leftovers"
)

// check is one look at a home.
type check struct {
	name    string
	subject string // of what could not be looked at; empty for the home
	look    func(d *Doctor, ctx context.Context, r report, v *view) error
}

// withoutRecord are the checks that need no record.
func withoutRecord() []check {
	return []check{
		{checkTmux, "", (*Doctor).tmux},
		{checkGit, "", (*Doctor).git},
		{checkGit, "", (*Doctor).identity},
		{checkGH, "", (*Doctor).gh},
		{checkGH, "pull requests", (*Doctor).pauses},
		{"disk", "", (*Doctor).space},
		{checkConfig, "", (*Doctor).files},
		{checkProjects, "projects.json", (*Doctor).projects},
		{checkVariables, "env.json", (*Doctor).variables},
		{"private", "", (*Doctor).private},
		{"monitor", "", (*Doctor).monitor},
		{checkLeftovers, "", (*Doctor).leftovers},
		{checkLeftovers, "workspaces", (*Doctor).checkouts},
	}
}

// withRecord are those that compare the record with what is there.
func withRecord() []check {
	return []check{
		{checkFolders, "tasks", (*Doctor).folders},
		{checkProjects, "", (*Doctor).strangers},
		{checkChain, "record", (*Doctor).histories},
		{checkHooks, "", (*Doctor).hooks},
		{checkPool, "workspaces", (*Doctor).workspaces},
		{checkPool, "set aside", (*Doctor).asides},
		{checkPool, "shared settings", (*Doctor).sharedSettings},
		{checkSessions, "", (*Doctor).sessions},
		{checkKept, "", (*Doctor).environments},
		{checkVariables, "env", (*Doctor).ownVariables},
		{checkLeftovers, "", (*Doctor).leftJudgements},
	}
}

// order has the names of the checks in the order in which they are reported.
func order() []string {
	return []string{
		checkTmux, checkGit, checkGH, "disk", checkConfig, checkHarnesses, checkWorkflows, checkProjects,
		checkVariables, checkDatabase, "private", checkRebuild, checkOlder, checkFolders, checkChain, checkCommits,
		checkMirrors, checkEvidence, checkHooks, checkPool, checkSessions, "monitor", checkKept, checkLeftovers,
	}
}

// Do does what is asked, and looks at everything where that is not about an earlier Orange alone.
func (d *Doctor) Do(ctx context.Context, asked record.Examination) ([]record.Finding, error) {
	var back []record.Finding
	var err error
	switch {
	case asked.Older:
		return d.older(ctx, asked.Rebuild)
	case asked.Rebuild:
		back, err = d.Rebuild(ctx)
	}
	if err != nil {
		return nil, err
	}
	found, err := d.Examine(ctx, asked.Fix)
	return append(back, found...), err
}

// Examine looks at everything. With fix it mends what it can, and looks again.
func (d *Doctor) Examine(ctx context.Context, fix bool) ([]record.Finding, error) {
	found, err := d.lookTillItLasts(ctx, d.look)
	if err != nil {
		return nil, err
	}
	if fix && mend(ctx, *found.found) {
		mended := *found.found
		if found, err = d.lookTillItLasts(ctx, d.look); err != nil {
			return nil, err
		}
		found.after(mended)
	}
	return found.plain(), nil
}

// mend mends what can be mended, notes how that went, and reports whether there was any.
func mend(ctx context.Context, found []finding) (any bool) {
	for i := range found {
		if f := &found[i]; f.mend != nil {
			f.Mended, f.failure = f.mend(ctx)
			any = true
		}
	}
	return any
}

// after joins what was mended with what the look after that found. What is still there was not mended, whatever
// its mender said.
func (r report) after(mended []finding) {
	for _, m := range mended {
		at := slices.IndexFunc(*r.found, func(f finding) bool {
			return f.Check == m.Check && f.Subject == m.Subject && f.Level != record.LevelOK
		})
		switch {
		case m.mend == nil:
		case at >= 0 && m.failure != nil:
			(*r.found)[at].Advice = "it could not be mended: " + m.failure.Error()
		case at < 0 && m.failure == nil:
			r.add(m)
		}
	}
}

// lookTillItLasts looks twice where the first look finds trouble: what a command was in the middle of is none.
func (d *Doctor) lookTillItLasts(ctx context.Context, look func(context.Context, report)) (report, error) {
	first := newReport("")
	look(ctx, first)
	was := map[[2]string]bool{}
	passing := false
	for _, f := range *first.found {
		was[[2]string{f.Check, f.Subject}] = true
		passing = passing || f.mayPass()
	}
	if !passing {
		return first, nil
	}
	if proc.Pause(ctx, d.Settling); ctx.Err() != nil {
		return first, ctx.Err()
	}
	second := newReport("")
	look(ctx, second)
	*second.found = slices.DeleteFunc(*second.found, func(f finding) bool {
		return f.mayPass() && !was[[2]string{f.Check, f.Subject}]
	})
	return second, nil
}

// look runs every check once.
func (d *Doctor) look(ctx context.Context, r report) {
	seen := make(chan *view, 1)
	if d.Record != nil {
		go func() { seen <- d.windows(ctx) }() // a terminal server that does not answer takes its time
	}
	d.run(ctx, r, nil, withoutRecord())
	if d.Record == nil {
		return
	}
	d.database(ctx, r.of(checkDatabase))
	v := <-seen
	if d.gather(ctx, r, v) {
		d.run(ctx, r, v, withRecord())
	}
}

func (d *Doctor) run(ctx context.Context, r report, v *view, checks []check) {
	for _, one := range checks {
		own := r.of(one.name)
		if err := one.look(d, ctx, own, v); err != nil {
			subject := one.subject
			if subject == "" {
				subject = d.Home
			}
			own.blind(subject, err)
		}
	}
}

// view is what several checks look at.
type view struct {
	panes   []tmux.Pane
	blind   error    // why the panes could not be looked at
	kept    []string // tasks whose environment is kept
	unkept  error    // why they could not be looked at
	tasks   []task.Task
	byID    map[string]task.Task
	owed    map[string][]task.OwedHook
	holders []record.Holder
	project map[string]task.Project // nil where they could not be looked at
}

// windows is what the terminal server shows.
func (d *Doctor) windows(ctx context.Context) *view {
	v := &view{byID: map[string]task.Task{}, owed: map[string][]task.OwedHook{}}
	if v.panes, v.blind = d.Windows.Panes(ctx); v.blind == nil {
		v.kept, v.unkept = d.Windows.KeptNames(ctx)
	}
	return v
}

// gather looks at what several checks need, after the windows were looked at: one whose task is not on record after
// that belongs to none. It reports whether all of it is there.
func (d *Doctor) gather(ctx context.Context, r report, v *view) bool {
	if v.blind != nil {
		r.of(checkSessions).blind("tmux", v.blind).lasts = true
	} else if v.unkept != nil {
		r.of(checkKept).blind("tmux", v.unkept)
	}
	owed, err := d.Record.Owed(ctx)
	if err != nil {
		r.of(checkHooks).blind("record", err)
		return false
	}
	for _, h := range owed {
		v.owed[h.Task] = append(v.owed[h.Task], h)
	}
	if v.holders, err = d.Record.Holders(ctx, ""); err != nil {
		r.of(checkPool).blind("record", err)
		return false
	}
	if v.tasks, err = d.Record.List(ctx, record.Filter{}); err != nil {
		r.of(checkDatabase).blind("record", err)
		return false
	}
	for _, t := range v.tasks {
		v.byID[t.ID] = t
	}
	projects, err := d.Setup.Projects()
	if err != nil {
		return true // told by the check of projects
	}
	v.project = map[string]task.Project{}
	for _, p := range projects {
		v.project[p.Name] = p
	}
	return true
}

// mayComeBack reports whether a task that is not on record has its folder still.
func (d *Doctor) mayComeBack(id string) (bool, error) {
	all, err := d.Files.Folders()
	return slices.ContainsFunc(all, func(folder [2]string) bool { return folder[1] == id }), err
}

// sync has the files of a task made equal to the record.
func (d *Doctor) sync(id string) func(ctx context.Context) error {
	return func(ctx context.Context) error { return d.Engine.Sync(ctx, id) }
}

// retry has what a task owes tried again, and waits until that is done.
func (d *Doctor) retry(id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := d.Engine.Retry(ctx, id, task.Actor{Role: task.RoleHuman})
		return err
	}
}

// free has given back what a task holds that is over, and waits until that is done.
func (d *Doctor) free(id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := d.Engine.Free(ctx, id); err != nil {
			return err
		}
		return d.retry(id)(ctx)
	}
}
