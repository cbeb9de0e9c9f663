package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// conflicts are what is known of which branches of live tasks cannot be merged with others.
type conflicts struct {
	*places
	record Record
}

const (
	looksFor     = 20 * time.Second // one look at all branches of a project; what is left over waits for the next
	looksForOne  = 5 * time.Second  // one for which a person waits
	mostKnown    = 8 << 20          // bytes of the file of a project
	conflictsDir = "conflicts"
)

func (c *conflicts) conflictsFile(project string) string {
	return filepath.Join(c.home, conflictsDir, project+".json")
}

// readKnown reads what is known of a project's conflicts. It is found out again where it cannot be read.
func (c *conflicts) readKnown(project string) conflict.Known {
	var k conflict.Known
	file := c.conflictsFile(project)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > mostKnown {
		return k
	}
	if proc.ReadJSON(file, &k) != nil || k.Edition != conflict.Edition {
		return conflict.Known{}
	}
	return k
}

func (c *conflicts) keepKnown(project string, k conflict.Known) error {
	text, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Join(c.home, conflictsDir), task.PrivateFolder)
	}
	if err == nil {
		err = proc.ReplaceFile(c.conflictsFile(project), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep what is known of the conflicts of project %q: %w", project, err)
	}
	return nil
}

// Conflicts is what was found last of the conflicts of a project's live tasks. It asks git nothing.
func (c *conflicts) Conflicts(ctx context.Context, project string) (conflict.Overview, error) {
	k := c.readKnown(project)
	if !k.Doubtful() {
		return k.Tell(func(string) bool { return true }), nil
	}
	live, err := c.liveTasks(ctx, project)
	if err != nil || len(live) == 0 {
		return conflict.Overview{}, err // no one looks at the branches of a project without live tasks
	}
	return k.Tell(idsOf(live)), nil
}

func (c *conflicts) liveTasks(ctx context.Context, project string) ([]task.Task, error) {
	return c.record.List(ctx, record.Filter{Project: project, Live: true, Brief: true})
}

// idsOf reports which tasks are in a list.
func idsOf(tasks []task.Task) func(id string) bool {
	known := make(map[string]bool, len(tasks))
	for i := range tasks {
		known[tasks[i].ID] = true
	}
	return func(id string) bool { return known[id] }
}

// FindConflicts finds out which of a project's live tasks conflict with each other or with the default branch, where a
// branch has moved since this was found out last. live may have the tasks of other projects too.
func (c *conflicts) FindConflicts(ctx context.Context, project string, live []task.Task) error {
	_, err := c.compare(ctx, project, live, "")
	return err
}

// ConflictsOf finds out what a task's branch conflicts with now.
func (c *conflicts) ConflictsOf(ctx context.Context, t task.Task) (conflict.Overview, error) {
	live, err := c.liveTasks(ctx, t.Project)
	if err != nil {
		return conflict.Overview{}, err
	}
	if !idsOf(live)(t.ID) {
		return conflict.Overview{}, nil
	}
	k, err := c.compare(ctx, t.Project, live, t.ID)
	return k.Tell(idsOf(live)), err
}

// compare looks at the branches of all live tasks, or asks about one of them alone, and keeps what it finds.
func (c *conflicts) compare(ctx context.Context, name string, live []task.Task, only string) (conflict.Known, error) {
	k := c.readKnown(name)
	project, err := c.setup.Project(name)
	if err != nil {
		return k, err
	}
	limit := looksFor
	if only != "" {
		limit = looksForOne
	}
	soon, off := context.WithTimeout(ctx, limit)
	defer off()
	changed, err := c.look(soon, project, live, only, &k)
	if ctx.Err() != nil {
		return k, ctx.Err() // the caller wants no more of it
	}
	if err != nil {
		changed = changed || k.Trouble != err.Error()
		k.Fail(err)
	}
	if !changed {
		return k, err
	}
	kept := c.keepKnown(name, k)
	if only != "" {
		kept = nil // the one who asks has the answer; an agent may not be let write here
	}
	return k, errors.Join(err, kept)
}

// look brings what is known up to date, and reports whether there was anything to do.
func (c *conflicts) look(ctx context.Context, project task.Project, live []task.Task, only string,
	k *conflict.Known) (changed bool, err error) {
	repo := repoOf(project)
	var tasks []*task.Task
	var names []string
	for i := range live {
		t := &live[i]
		if t.Project == project.Name && t.Branch != "" && t.Branch != repo.DefaultBranch {
			tasks, names = append(tasks, t), append(names, t.Branch)
		}
	}
	heads, err := repo.Heads(ctx, names)
	if err != nil {
		return false, err
	}
	now := conflict.Tips{Local: heads.Local, Origin: heads.Origin, Default: k.Last.Default}
	now.Default.Name = repo.DefaultBranch
	if now.Local != k.Last.Local || now.Origin != k.Last.Origin || now.Default != k.Last.Default {
		base, err := repo.Base(ctx)
		if err != nil {
			return false, err
		}
		now.Default.Tip = base.Commit
	}
	now = k.Choose(now, c.branches(ctx, tasks, heads), only)
	if only == "" && k.Settled(now, time.Now()) {
		return false, nil
	}
	return true, c.ask(ctx, repo, now, only, k)
}

// branches are where the branches of tasks are: first those that wait for their merge, then those of the newest tasks.
func (c *conflicts) branches(ctx context.Context, tasks []*task.Task, heads git.Heads) []conflict.BranchTip {
	var first, then []conflict.BranchTip
	for _, t := range tasks { // the newest come first
		tip := heads.Tips[t.Branch]
		if tip == "" {
			continue
		}
		one := conflict.BranchTip{Task: t.ID, Name: t.Branch, Tip: tip}
		def, err := c.setup.Pinned(ctx, t.Workflow)
		if err == nil && decide.AwaitsMerge(def, t.Status) { // of one without its rules no one knows
			first = append(first, one)
		} else {
			then = append(then, one)
		}
	}
	return append(first, then...)
}

// ask asks git what is not known yet. What it got to know before time ran out is kept.
func (c *conflicts) ask(ctx context.Context, repo git.Repo, now conflict.Tips, only string, k *conflict.Known) (
	err error) {
	unread := k.Unread(now)
	if pairs := k.Pairs(now, only); len(unread)+len(k.Open(pairs)) == 0 {
		k.Conclude(now, pairs, only, time.Now())
		return nil
	}
	trial, err := merge.Into{Repo: repo}.Trial(ctx, filepath.Join(c.home, conflictsDir), now.Default.Tip)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trial.Close()) }()
	for _, tip := range unread {
		paths, err := trial.Changed(ctx, now.Default.Tip, tip)
		if ctx.Err() != nil {
			return fmt.Errorf("there was no time to read what every branch changed: %w", ctx.Err())
		}
		k.Learn(now, tip, paths, err)
	}
	pairs := k.Pairs(now, only)
	open := k.Open(pairs)
	tips := make([][2]string, len(open))
	for i, pair := range open {
		tips[i] = [2]string{pair.First.Tip, pair.Second.Tip}
	}
	tried, err := trial.Merges(ctx, now.Default.Tip, tips)
	for i, one := range tried {
		k.Answer(open[i], one.Files, one.Err)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	k.Conclude(now, pairs, only, time.Now())
	return nil
}
