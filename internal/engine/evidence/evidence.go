// Package evidence looks at everything that a gate asks for outside of the task's document: files, checks and git.
//
// It owns how they are looked at without harm: a file may be a link, a pipe or of an insane size, a program may
// never end. It does not own what follows from a fact (decide), how git and other programs are run (worktree,
// proc), nor how a section is read (document).
package evidence

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
	"orange/internal/work/worktree"
)

// Git reports a task's workspace and branch, and the work that evidence is about, as it is now and as it was noted in
// the task. A commit that it is given is one that it told of before.
type Git interface {
	Snapshot(ctx context.Context, t task.Task) (at worktree.Snapshot, there bool, err error)
	// Commits counts those of the head that the base, which it names, has not.
	Commits(ctx context.Context, t task.Task, head string) (base string, count int, err error)
	// Changed lists the paths that differ between the head and where it left its base.
	Changed(ctx context.Context, t task.Task, head string) (paths, added []string, err error)
	// OtherThanBase are those of the paths that differ between a commit of the branch and the base as it is now.
	OtherThanBase(ctx context.Context, t task.Task, head string, paths []string) ([]string, error)
	// Subject is where the task's branch ends now. The answer holds an error for what cannot be read.
	Subject(ctx context.Context, t task.Task, tree bool) task.Subject
	// Between counts the commits that one commit has and the other has not, both ways.
	Between(ctx context.Context, t task.Task, from, to string) (more, fewer int, err error)
	// ChangedSince lists the files of the worktree that are not what they were when the task's Subject was noted.
	ChangedSince(ctx context.Context, t task.Task) ([]string, error)
	// Stamps notes how the files of its commit lie in the task's workspace.
	Stamps(ctx context.Context, t task.Task) (worktree.Stamps, error)
	// Differs lists the files by which a commit is not what the worktree was when the task's Subject was noted.
	Differs(ctx context.Context, t task.Task, commit string) ([]string, error)
}

// Workspace is the state of a task's workspace at one moment.
type Workspace struct {
	worktree.Snapshot
	There bool
}

// Tracked are the paths of all that git knows and that differs.
func (s Workspace) Tracked() []string { return slices.Concat(s.Modified, s.Submodules) }

// Uncommitted are all paths that a commit would be about.
func (s Workspace) Uncommitted() []string { return slices.Concat(s.Modified, s.Submodules, s.New) }

// workspace is how a task's workspace is now.
func (l *Looker) workspace(ctx context.Context, t task.Task) (Workspace, error) {
	at, there, err := l.Git.Snapshot(ctx, t)
	return Workspace{Snapshot: at, There: there}, err
}

// Programs runs what is not this program, and bounds it.
type Programs interface {
	// RunJQ runs ServeJQ in a process of its own and answers what that said. How it ended does not matter.
	RunJQ(ctx context.Context, request []byte, limit time.Duration) (string, error)
	// RunCheck runs a check in the task's workspace, and one that wants that in a checkout of the commit, which
	// is made for it and taken away. An error says that it could not be started, or that ctx ended it.
	RunCheck(ctx context.Context, t task.Task, check workflow.Check, commit string) (Run, error)
	// StartCheck has RunCheck of a Looker called by a process that outlives this one.
	StartCheck(ctx context.Context, id, check string) error
}

// Run is how a check ended.
type Run struct {
	proc.LimitedResult
	Program     string   // the file that was started
	Environment []string // the names of its variables, sorted
	Changed     []string // of the files of a checkout that was made for it, those that changed meanwhile
}

// Notes is the history, in which the end of a check is noted.
type Notes interface {
	NoteCheck(ctx context.Context, id string, result task.CheckResult, digest string) error
	NotedCheck(ctx context.Context, id, check string) (digest string, err error)
}

// Looker looks. Every field is required.
type Looker struct {
	Files    mirror.Files // the folders of tasks, with the locks that the process of a check holds
	Git      Git
	Programs Programs
	Notes    Notes
	Now      func() time.Time
	JQTime   time.Duration // what one jq program may take
	Patience time.Duration // how long a look waits for the checks that it has started
}

// Look answers a fact for every part of a gate that asks for a file, a glob, a check or git, by the part's Key.
// A check that has no result for the present commit is started, and waited for with patience.
// An error says that it could not be looked at all; what is wrong with one file is a fact.
func (l *Looker) Look(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	return l.look(ctx, t, def, parts, true)
}

// Peek is a Look that starts nothing and waits for nothing.
func (l *Looker) Peek(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	return l.look(ctx, t, def, parts, false)
}

func (l *Looker) look(ctx context.Context, t task.Task, def *workflow.Definition, parts []workflow.Part,
	start bool) (map[string]decide.Fact, error) {
	state, _ := def.State(t.Status)
	v := view{Looker: l, task: t, whole: state.Subject == workflow.SubjectWorktree,
		facts: map[string]decide.Fact{}, read: map[string]content{}}
	asked := flatten(nil, parts)
	if len(asked) == 0 {
		return v.facts, nil
	}
	root, err := proc.OpenRoot(l.Files.Dir(t.Project, t.ID))
	if err != nil {
		return nil, fmt.Errorf("look into the folder of task %s: %w", t.ID, err)
	}
	defer root.Close()
	v.root = root
	for _, p := range asked {
		if err := v.see(ctx, p); err != nil {
			return nil, fmt.Errorf("look at what task %s has: %w", t.ID, err)
		}
	}
	if err := v.askJQ(ctx); err != nil {
		return nil, fmt.Errorf("look at what task %s has: %w", t.ID, err)
	}
	if err := v.seeChecks(ctx, def, asked, start); err != nil {
		return nil, fmt.Errorf("look at the checks of task %s: %w", t.ID, err)
	}
	return v.facts, nil
}

// flatten adds those parts that look elsewhere than in the document, each once.
func flatten(to, parts []workflow.Part) []workflow.Part {
	for _, p := range parts {
		to = flatten(flatten(to, p.All), p.Any)
		elsewhere := p.File != "" || p.Glob != "" || p.Check != "" || p.Git != ""
		known := func(other workflow.Part) bool { return other.Key() == p.Key() }
		if elsewhere && !slices.ContainsFunc(to, known) {
			to = append(to, p)
		}
	}
	return to
}

// view is one look: nothing is read twice, so that all its facts are of one moment as far as the system allows.
type view struct {
	*Looker
	task      task.Task
	whole     bool // what lies in the worktree is judged here, and not only the commit
	root      *os.Root
	facts     map[string]decide.Fact
	read      map[string]content
	workspace *Workspace
	tip       *task.Subject
	questions []question
}

// see looks at one part; what asks a program for an answer, and checks, only gets prepared.
func (v *view) see(ctx context.Context, p workflow.Part) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var fact decide.Fact
	var err error
	switch {
	case p.File != "":
		fact = v.seeFile(p)
	case p.Glob != "":
		fact, err = v.seeGlob(ctx, p)
	case p.Git != "":
		fact, err = v.seeGit(ctx, p)
	default:
		return nil
	}
	v.facts[p.Key()] = fact
	return err
}
