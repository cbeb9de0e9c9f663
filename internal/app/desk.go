package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/decide"
	"orange/internal/harness"
	"orange/internal/hook"
	"orange/internal/task"
	"orange/internal/worktree"
)

// desk lends the worktree room to the engine and to the hooks.
type desk struct{ house *house }

func (d desk) Project(name string) (task.Project, error) { return d.house.home.Project(name) }

func (h *house) slotDir(workspace string) string {
	return filepath.Join(h.dir, "workspaces", workspace)
}

// scratchDir has the checkouts in which checks run that want none of a worktree.
func (h *house) scratchDir() string { return h.slotDir(".scratch") }

func (d desk) repo(t task.Task) (worktree.Repo, error) {
	p, err := d.house.home.Project(t.Project)
	return worktree.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}, err
}

func (d desk) slot(t task.Task) (worktree.Slot, error) {
	repo, err := d.repo(t)
	if err == nil && t.Workspace == "" {
		err = fmt.Errorf("task %s has no workspace", t.ID)
	}
	return worktree.Slot{Repo: repo, Dir: d.house.slotDir(t.Workspace)}, err
}

func (d desk) document(t task.Task) string { return d.house.files.Document(t.Project, t.ID) }

func (d desk) Replaced(_ context.Context, t task.Task) ([]byte, bool, error) {
	slot := worktree.Slot{Dir: d.house.slotDir(t.Workspace)} // whose repository it is does not matter for that
	if _, err := os.Lstat(filepath.Join(slot.Dir, ".git")); errors.Is(err, os.ErrNotExist) {
		return nil, false, nil // its workspace is not there
	}
	state, content, err := slot.Linked(d.document(t))
	return content, state == worktree.LinkReplaced, err
}

func (d desk) Relink(ctx context.Context, t task.Task) error {
	slot, err := d.slot(t)
	if err != nil {
		return err
	}
	_, err = slot.Link(ctx, d.document(t))
	return err
}

func (d desk) CheckBranch(ctx context.Context, name string) error {
	return worktree.CheckBranch(ctx, name)
}

func (d desk) SetBranch(ctx context.Context, t task.Task, name string) (string, error) {
	slot, err := d.slot(t)
	if err != nil {
		return "", err
	}
	present, err := slot.Branch(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case name == "" && present == "":
		return "", fmt.Errorf("cannot take over the branch of workspace %q: it is on none; check one out first",
			t.Workspace)
	case name == "" || name == present:
		return present, nil
	}
	exists, err := slot.Repo.BranchExists(ctx, name)
	if err != nil {
		return "", err
	}
	if exists {
		return name, slot.Switch(ctx, name)
	}
	if present == "" {
		return "", fmt.Errorf("cannot rename the branch of workspace %q: it is on none; check one out first",
			t.Workspace)
	}
	return name, slot.Rename(ctx, present, name)
}

func (d desk) Ahead(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := d.repo(t)
	if err != nil {
		return false, err
	}
	if err := d.onBranch(ctx, repo, t); err != nil {
		return false, err
	}
	return repo.Ahead(ctx, t.Branch, commit)
}

func (d desk) Tip(ctx context.Context, t task.Task) (string, error) {
	repo, err := d.repo(t)
	if err != nil {
		return "", err
	}
	if err := d.onBranch(ctx, repo, t); err != nil {
		return "", err
	}
	return repo.Tip(ctx, t.Branch)
}

// Subject reads what a task's evidence is about now: the tip of its branch and, with tree, the trees of what lies
// in the worktree, which are kept. What cannot be read is told in the answer, and is no error.
func (d desk) Subject(ctx context.Context, t task.Task, tree bool) task.Subject {
	repo, err := d.repo(t)
	if err != nil {
		return task.Subject{Trouble: err.Error()}
	}
	dir := ""
	if t.Workspace != "" {
		dir = d.house.slotDir(t.Workspace)
	}
	tip := repo.ReadTip(ctx, dir, t.Branch)
	s := task.Subject{Commit: tip.Commit, Branch: tip.Branch, Trouble: tip.Trouble}
	if !tree || dir == "" {
		return s
	}
	trees, err := worktree.Slot{Repo: repo, Dir: dir}.Trees(ctx, t.ID)
	if err != nil {
		s.Trouble = err.Error()
	}
	s.Tree, s.Tracked = trees.Whole, trees.Tracked
	return s
}

func (d desk) Within(ctx context.Context, t task.Task, commit string) (bool, error) {
	repo, err := d.repo(t)
	if err != nil {
		return false, err
	}
	if err := d.onBranch(ctx, repo, t); err != nil {
		return false, err
	}
	within, known, err := repo.Within(ctx, t.Branch, commit)
	if err != nil || known || t.Pushed == "" {
		return within, err
	}
	within, _, err = repo.Within(ctx, t.Branch, t.Pushed)
	return within, err
}

// onBranch refuses a workspace that is on another branch than its task: what was done there is not where anybody
// looks for it.
func (d desk) onBranch(ctx context.Context, repo worktree.Repo, t task.Task) error {
	if t.Workspace == "" {
		return nil
	}
	present, err := worktree.Slot{Repo: repo, Dir: d.house.slotDir(t.Workspace)}.Branch(ctx)
	if err != nil {
		return err
	}
	if present != t.Branch {
		return fmt.Errorf("cannot use the branch of task %s: its workspace %q is on branch %q and the task on "+
			"%q; run %q there, or switch back",
			t.ID, t.Workspace, present, t.Branch, "orange task update --branch")
	}
	return nil
}

func (d desk) Push(ctx context.Context, t task.Task) (commit string, moved bool, err error) {
	repo, err := d.repo(t)
	if err != nil {
		return "", false, err
	}
	if err := d.onBranch(ctx, repo, t); err != nil {
		return "", false, err
	}
	pushed, err := repo.PushBranch(ctx, t.Branch)
	return pushed.Commit, pushed.Commit != pushed.Was, err
}

func (d desk) Merge(ctx context.Context, t task.Task, commit, strategy string,
	still func(context.Context) error) (merged, how string, err error) {
	repo, err := d.repo(t)
	if err != nil {
		return "", "", err
	}
	// One merge of a project at a time: git that fast-forwards a person's checkout, and finds the branch moved at
	// the very end, leaves the files of its merge behind, in the way of the next try.
	release, err := d.house.files.Lock(ctx, t.Project+".merge")
	if err != nil {
		return "", "", err
	}
	defer release()
	done, err := repo.Merge(ctx, worktree.MergeRequest{
		Branch: t.Branch, Commit: commit, Strategy: strategy, Push: true, Still: still,
		Message: fmt.Sprintf("Merge branch '%s'\n\nOrange-Task: %s", t.Branch, t.ID),
	})
	how = done.How
	if done.Pushed {
		how += ", pushed to origin"
	}
	if done.Beyond != "" {
		how += fmt.Sprintf("; the branch has moved on to %.7s since, and what it has beyond %.7s is kept "+
			"there, not merged", done.Beyond, commit)
	}
	return done.Commit, how, err
}

func (d desk) Prepare(ctx context.Context, t task.Task) ([]string, error) {
	slot, err := d.slot(t)
	if err != nil {
		return nil, err
	}
	// A base that is weeks old is worth a try to fetch; without a network the task starts from what is there.
	if err := slot.Repo.Fetch(ctx); err != nil {
		d.house.engine.Log.Warn("origin could not be fetched; the task starts from what is known of it",
			"component", "worktree", "task", t.ID, "error", err.Error())
	}
	if err := os.MkdirAll(filepath.Dir(slot.Dir), task.PrivateFolder); err != nil {
		return nil, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	prepared, err := slot.Prepare(ctx, worktree.Prepare{Branch: t.Branch, Task: t.ID})
	if err == nil {
		_, err = slot.Link(ctx, d.document(t))
	}
	return d.told(t, prepared.Rescued, prepared.TakenBack), err
}

// told are the refs of what was kept and would have been lost, and in words what was taken back of a worktree's
// own configuration. Commits that are on a branch are kept too, for the day on which somebody deletes it; that is
// no rescue, and nobody is told of one. These stand in the log too: a step after it may fail, and another try has
// nothing to take back any more.
func (d desk) told(t task.Task, rescued []worktree.Rescue, takenBack []string) []string {
	var out []string
	for _, r := range rescued {
		if !r.Held {
			out = append(out, r.Ref)
		}
	}
	for _, what := range takenBack {
		d.house.engine.Log.Warn("what was changed in a worktree's own git configuration was taken back",
			"component", "worktree", "task", t.ID, "workspace", t.Workspace, "what", what)
		out = append(out, fmt.Sprintf("%s, which was changed in the worktree's own git configuration", what))
	}
	return out
}

func (d desk) View(ctx context.Context, t task.Task) (hook.View, error) {
	slot, err := d.slot(t)
	if err != nil {
		return hook.View{}, err
	}
	base, err := slot.Repo.Base(ctx)
	if err != nil {
		return hook.View{}, err
	}
	// Somebody may have deleted the folder: an agent is started in a worktree, on its branch, or not at all.
	if _, err := os.Lstat(slot.Dir); errors.Is(err, os.ErrNotExist) {
		if _, err := slot.Prepare(ctx, worktree.Prepare{Branch: t.Branch, Task: t.ID}); err != nil {
			return hook.View{}, err
		}
	}
	file, err := slot.Link(ctx, d.document(t))
	return hook.View{Dir: slot.Dir, Base: base.Ref, TaskFile: file}, err
}

func (d desk) Equip(ctx context.Context, t task.Task, files []harness.File, exclude []string) error {
	slot, err := d.slot(t)
	if err != nil {
		return err
	}
	if len(exclude) > 0 {
		if err := slot.Exclude(ctx, exclude...); err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(slot.Dir, filepath.FromSlash(f.Path))
		if err := writeNew(path, f.Content); err != nil {
			return fmt.Errorf("write %q for the harness: %w", f.Path, err)
		}
	}
	return nil
}

// writeNew writes a file that is not there; what the repository or the agent put there stays.
func writeNew(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

func (d desk) Release(ctx context.Context, t task.Task) ([]string, error) {
	slot, err := d.slot(t)
	if err != nil {
		return nil, err
	}
	if slot.Noted, err = d.noted(ctx, slot.Repo, t); err != nil {
		return nil, err
	}
	done, err := slot.Release(ctx, t.ID)
	if err == nil {
		err = d.unscratch(ctx, slot.Repo, t)
	}
	if err == nil && !t.Live {
		var kept []worktree.Rescue
		kept, err = d.forgetJudged(ctx, slot.Repo, t)
		done.Rescued = append(done.Rescued, kept...)
	}
	return d.told(t, done.Rescued, done.TakenBack), err
}

// noted is the last commit of a task's branch that its history tells of, where the branch has none any more.
func (d desk) noted(ctx context.Context, repo worktree.Repo, t task.Task) (string, error) {
	if repo.ReadTip(ctx, d.house.slotDir(t.Workspace), t.Branch).Trouble == "" {
		return "", nil
	}
	events, err := d.house.store.Events(ctx, t.ID, 0)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(events) {
		if e.Subject.Commit != "" {
			return e.Subject.Commit, nil
		}
	}
	return "", nil
}

// forgetJudged lets go of what was judged of a task that is over: nothing asks for it any more.
func (d desk) forgetJudged(ctx context.Context, repo worktree.Repo, t task.Task) ([]worktree.Rescue, error) {
	def, err := d.house.home.Pinned(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	return repo.ForgetJudged(ctx, t.ID, t.Branch, decide.Marks(def, t.Status).Well)
}

// unscratch takes away what checks of the task have left that were killed.
func (d desk) unscratch(ctx context.Context, repo worktree.Repo, t task.Task) error {
	entries, err := os.ReadDir(d.house.scratchDir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for checkouts that checks have left: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), t.ID+"-") {
			if err := repo.Unscratch(ctx, filepath.Join(d.house.scratchDir(), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d desk) DeleteRemoteBranch(ctx context.Context, t task.Task, landed string) (string, error) {
	repo, err := d.repo(t)
	if err != nil {
		return "", err
	}
	return repo.DeleteRemoteBranch(ctx, t.Branch, t.Pushed, landed)
}

// setup tells the hooks what the person has set up.
type setup struct{ house *house }

func (s setup) Harness(name string) (*harness.Harness, error) { return s.house.home.Harness(name) }

func (s setup) TaskDir(t task.Task) string { return s.house.files.Dir(t.Project, t.ID) }

func (s setup) Environment(ctx context.Context, t task.Task) ([]string, error) {
	return s.house.environments.Environment(ctx, t)
}

func (s setup) Document(t task.Task) ([]byte, error) {
	return s.house.files.Read(t.Project, t.ID, true)
}
