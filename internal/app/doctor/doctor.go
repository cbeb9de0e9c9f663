// Package doctor examines a whole home: whether the record, its mirrors, the histories, the pool of workspaces
// and the sessions agree, and whether everything is there that tasks need. It brings back tasks that the record
// has lost.
//
// It owns what is looked at, how much each finding matters and what it advises a person to do about it.
// It does not own any change of a task: other packages mend what they own, and no work is ever touched.
// What could not be looked at is a problem of its own, and never "nothing there".
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

// Record is what is true of every task.
type Record interface {
	Rows
	List(ctx context.Context, f record.Filter) ([]task.Task, error)
	Holders(ctx context.Context, project string) ([]record.Holder, error)
	Owed(ctx context.Context) ([]task.OwedHook, error)
	// AllLines calls visit with the history of every task; visit must not ask the record anything.
	AllLines(ctx context.Context, visit func(id string, lines []string) error) error
}

// Rows are the record as the database has it.
type Rows interface {
	// Check lists what is wrong with the database itself.
	Check(ctx context.Context) ([]string, error)
	// Flaws lists what the rows of a task have, or those of all where none is named, and Orange never writes.
	Flaws(ctx context.Context, id string) ([]record.Finding, error)
}

// Files are the folders of tasks.
type Files interface {
	Folders() ([][2]string, error) // project and id
	History(project, id string) string
	ReadHistory(project, id string) ([]byte, error)
	KeepHistory(project, id, suffix string) (string, error)
	Evidence(project, id string) (map[string]bool, error)
	Differs(t task.Task, lines []string) ([]string, error)
}

// Adopter brings tasks back that the record does not have.
type Adopter interface {
	Tell(ctx context.Context, project, id string, history []byte) (record.Adoption, error)
	// Adopt adopts tasks in their order, and answers what became of each. Progress hears how many are done.
	Adopt(ctx context.Context, told []record.Adoption, progress func(done int)) []record.Adopted
}

// Repairs changes what a finding says should be changed.
type Repairs interface {
	Sync(ctx context.Context, id string) error
	Free(ctx context.Context, id string) error
	Forget(ctx context.Context, id string) error
	Retry(ctx context.Context, id string, actor task.Actor) (record.Outcome, error)
}

// retry has what a task owes tried again, and waits until that is done.
func (d *Doctor) retry(ctx context.Context, id string) error {
	_, err := d.Repairs.Retry(ctx, id, task.Actor{Role: task.RoleHuman})
	return err
}

// free has given back what a task holds that is over, and waits until that is done.
func (d *Doctor) free(ctx context.Context, id string) error {
	if err := d.Repairs.Free(ctx, id); err != nil {
		return err
	}
	return d.retry(ctx, id)
}

// Windows are where agents live: the windows of the private terminal server.
type Windows interface {
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

// Setup is what a person has set up.
type Setup interface {
	Projects() ([]task.Project, error)
	// DefaultBranch reports whether the repository has the branch that work is merged into.
	DefaultBranch(ctx context.Context, p task.Project) (bool, error)
	// HasIdentity reports whether git knows, in a folder and with these variables, whose commits are made there.
	HasIdentity(ctx context.Context, dir string, env []string) (bool, error)
	Files() ([]File, error)
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

// Doctor examines one home. Every field is required, where it does not say otherwise.
type Doctor struct {
	Home        string
	Record      Record // nil where it cannot be opened: then only what needs no record is looked at
	Files       Files
	Projections Projections
	Adopter     Adopter
	Repairs     Repairs
	Windows     Windows
	Setup       Setup
	Leftovers   Leftovers
	Commits     Commits
	Machine     Machine
	Terminal    func() error // why no terminal server could start
	Variables   Variables
	Environ     []string // the variables of this process
	Root        bool     // this process, and so every agent, may do everything on this machine
	// Watcher is the process that has the lease of the monitor; its zero value where none does, or it is not known.
	Watcher func() task.Watcher
	// Pauses are the hosts of pull requests that are left alone for a while; nil where no one knows.
	Pauses func() ([]record.ForgePause, error)
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

// finding is a finding with what mends it; nil where nothing does.
type finding struct {
	record.Finding
	mend    func(ctx context.Context) (done string, err error)
	failure error // why it could not be mended
	lasts   bool  // no change that is being made at this moment can be the reason
}

// Do does what is asked, and looks at everything where that is not about an earlier Orange alone.
func (d *Doctor) Do(ctx context.Context, asked record.Examination) ([]record.Finding, error) {
	var back []record.Finding
	var err error
	switch {
	case asked.Older && asked.Rebuild:
		return d.AdoptOlder(ctx)
	case asked.Older:
		return d.Older(ctx)
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
	found, err := d.lasting(ctx, d.look)
	if err != nil {
		return nil, err
	}
	if !fix {
		return plain(found), nil
	}
	mended := mend(ctx, found)
	if len(mended) == 0 {
		return plain(found), nil
	}
	if found, err = d.lasting(ctx, d.look); err != nil {
		return nil, err
	}
	return plain(after(mended, found)), nil
}

// mend mends what can be mended, and tells how that went.
func mend(ctx context.Context, found []finding) []finding {
	out := slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return f.mend == nil })
	for i := range out {
		out[i].Mended, out[i].failure = out[i].mend(ctx)
	}
	return out
}

// after joins what was mended with what the look after that found. What is still there was not mended, whatever
// its mender said.
func after(mended, found []finding) []finding {
	for _, m := range mended {
		at := slices.IndexFunc(found, func(f finding) bool {
			return f.Check == m.Check && f.Subject == m.Subject && f.Level != record.LevelOK
		})
		switch {
		case at >= 0 && m.failure != nil:
			found[at].Advice = "it could not be mended: " + m.failure.Error()
		case at < 0 && m.failure == nil:
			found = append(found, m)
		}
	}
	return found
}

// lasting looks twice where the first look finds trouble: what a command was in the middle of is none.
func (d *Doctor) lasting(ctx context.Context, look func(context.Context) []finding) ([]finding, error) {
	first := look(ctx)
	if !slices.ContainsFunc(first, passing) {
		return first, nil
	}
	wait := time.NewTimer(d.Settling)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
	}
	was := map[[2]string]bool{}
	for _, f := range first {
		was[[2]string{f.Check, f.Subject}] = true
	}
	var out []finding
	for _, f := range look(ctx) {
		if !passing(f) || was[[2]string{f.Check, f.Subject}] {
			out = append(out, f)
		}
	}
	return out, nil
}

// passing reports whether a finding may come from a change that is being made at this moment.
func passing(f finding) bool {
	return f.Level == record.LevelProblem && !f.lasts || f.Level == record.LevelWarning && f.Check == checkFolders
}

// Names of checks, in the order in which they are reported.
const (
	checkTmux      = "tmux"
	checkGit       = "git"
	checkGH        = "gh"
	checkSpace     = "disk"
	checkConfig    = "config"
	checkHarnesses = "harnesses"
	checkWorkflows = "workflows"
	checkProjects  = "projects"
	checkDatabase  = "database"
	checkPrivate   = "private"
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
	checkMonitor   = "monitor"
	checkKept      = "environments"
	checkVariables = "variables"
	checkLeftovers = "leftovers"
)

func order() []string {
	return []string{
		checkTmux, checkGit, checkGH, checkSpace, checkConfig, checkHarnesses, checkWorkflows, checkProjects,
		checkVariables, checkDatabase,
		checkPrivate, checkRebuild, checkOlder, checkFolders, checkChain, checkCommits, checkMirrors, checkEvidence,
		checkHooks, checkPool, checkSessions, checkMonitor, checkKept, checkLeftovers,
	}
}

// look runs every check once.
func (d *Doctor) look(ctx context.Context) []finding {
	var out []finding
	seen := make(chan windows, 1)
	if d.Record != nil {
		go func() { seen <- d.windows(ctx) }() // a terminal server that does not answer takes its time
	}
	for _, check := range []func(context.Context) []finding{
		d.tmux, d.git, d.identity, d.gh, d.pauses, d.space, d.files, d.projects, d.variables,
		d.private, d.monitor, d.leftovers, d.checkouts,
	} {
		out = append(out, check(ctx)...)
	}
	if d.Record == nil {
		return out
	}
	out = append(out, database(ctx, d.Record)...)
	v, trouble := d.gather(ctx, <-seen)
	if out = append(out, trouble...); v == nil {
		return out
	}
	for _, check := range []func(context.Context, *view) []finding{
		d.folders, d.strangers, d.histories, d.hooks, d.pool, d.sessions, d.environments, d.ownVariables, d.judged,
	} {
		out = append(out, check(ctx, v)...)
	}
	return out
}

// view is what several checks look at.
type view struct {
	windows
	tasks   []task.Task
	byID    map[string]task.Task
	owed    map[string][]task.OwedHook
	holders []record.Holder
	project map[string]task.Project // nil where they could not be looked at
}

// windows is what the terminal server shows.
type windows struct {
	panes   []tmux.Pane
	kept    []string // tasks whose environment is kept; nil where they could not be looked at
	blind   bool     // the panes could not be looked at
	trouble []finding
}

func (d *Doctor) windows(ctx context.Context) (w windows) {
	var err error
	if w.panes, err = d.Windows.Panes(ctx); err != nil {
		f := blind(checkSessions, "tmux", err)
		f.lasts = true
		w.blind, w.trouble = true, []finding{f}
	} else if kept, err := d.Windows.KeptNames(ctx); err != nil {
		w.trouble = []finding{blind(checkKept, "tmux", err)}
	} else {
		w.kept = append([]string{}, kept...)
	}
	return w
}

// gather looks at what several checks need, after the windows were looked at: one whose task is not on record after
// that belongs to none.
func (d *Doctor) gather(ctx context.Context, seen windows) (*view, []finding) {
	v := &view{windows: seen, byID: map[string]task.Task{}, owed: map[string][]task.OwedHook{}}
	out := seen.trouble
	owed, err := d.Record.Owed(ctx)
	if err != nil {
		return nil, append(out, blind(checkHooks, "record", err))
	}
	for _, h := range owed {
		v.owed[h.Task] = append(v.owed[h.Task], h)
	}
	if v.holders, err = d.Record.Holders(ctx, ""); err != nil {
		return nil, append(out, blind(checkPool, "record", err))
	}
	if v.tasks, err = d.Record.List(ctx, record.Filter{}); err != nil {
		return nil, append(out, blind(checkDatabase, "record", err))
	}
	for _, t := range v.tasks {
		v.byID[t.ID] = t
	}
	projects, err := d.Setup.Projects()
	if err != nil {
		return v, out // told by the check of projects
	}
	v.project = map[string]task.Project{}
	for _, p := range projects {
		v.project[p.Name] = p
	}
	return v, out
}

func at(level record.Level, check, subject, found, advice string) finding {
	return finding{Finding: record.Finding{Check: check, Level: level, Subject: subject, Found: found, Advice: advice}}
}

func ok(check, subject, format string, args ...any) finding {
	return at(record.LevelOK, check, subject, fmt.Sprintf(format, args...), "")
}

func warning(check, subject, found, advice string) finding {
	return at(record.LevelWarning, check, subject, found, advice)
}

func problem(check, subject, found, advice string) finding {
	return at(record.LevelProblem, check, subject, found, advice)
}

// by is the finding with what mends it: that ends with done.
func (f finding) by(done string, work func(ctx context.Context) error) finding {
	f.mend = func(ctx context.Context) (string, error) { return done, work(ctx) }
	return f
}

// blind is the finding that something could not be looked at.
func blind(check, subject string, err error) finding {
	return problem(check, subject, "could not look: "+err.Error(),
		cmp.Or(proc.FilesAdvice(err), "correct that and run orange doctor again"))
}

// orOK adds the word that all is well where nothing else was found.
func orOK(found []finding, check, subject, format string, args ...any) []finding {
	if len(found) > 0 {
		return found
	}
	return []finding{ok(check, subject, format, args...)}
}

// plain are the findings in the order of their checks, what matters most first.
func plain(found []finding) []record.Finding {
	out := make([]record.Finding, 0, len(found))
	for _, f := range found {
		out = append(out, f.Finding)
	}
	return Sorted(out)
}

// Sorted puts findings in the order of their checks, what matters most first.
func Sorted(found []record.Finding) []record.Finding {
	levels := []record.Level{record.LevelProblem, record.LevelWarning, record.LevelOK}
	slices.SortStableFunc(found, func(a, b record.Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order(), a.Check), slices.Index(order(), b.Check)),
			cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)),
			cmp.Compare(a.Subject, b.Subject),
		)
	})
	return found
}
