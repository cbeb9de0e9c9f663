package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/forge"
	"orange/internal/work/git"
	"orange/internal/work/merge"
	"orange/internal/work/worktree"
)

// merges bring the branches of tasks into the default branches of their projects, and to origin.
type merges struct {
	*places
	settings *settings
	setups   *setups
	branches *branches
	record   Record
	files    Files
	own      func(ctx context.Context, project, id string) ([]string, error)
}

// Unpushed is how many commits the project's local default branch has that origin has not, as far as is known without
// a fetch, and the newest of them in words.
func (m *merges) Unpushed(ctx context.Context, t task.Task) (int, []string, error) {
	repo, err := m.repo(t)
	if err != nil {
		return 0, nil, err
	}
	return repo.Unpushed(ctx)
}

// Forge reports whether the task's repository has a remote called origin, and where its pull requests are.
func (m *merges) Forge(ctx context.Context, t task.Task) (origin bool, where string, err error) {
	origin, where, _, err = m.Destination(ctx, t)
	return origin, where, err
}

// Destination is Forge, and the task's project, which says how its branches are merged and whether origin gets that.
func (m *merges) Destination(ctx context.Context, t task.Task) (origin bool, where string, project task.Project,
	err error) {
	if project, err = m.setup.Project(t.Project); err != nil {
		return false, "", project, err
	}
	addresses, err := repoOf(project).Origin(ctx)
	return len(addresses) > 0, forgeOf(ctx, project, addresses), project, err
}

// forgeOf is where the pull requests of a project are, as the person said, or else as the host of origin tells.
func forgeOf(ctx context.Context, p task.Project, origin []string) string {
	if p.Forge != "" {
		return p.Forge
	}
	for _, address := range origin {
		if kind := forge.At(ctx, address); kind != record.ForgeNone {
			return kind
		}
	}
	return record.ForgeNone
}

// Landed reports whether the project's default branch, here or on origin, has one of the commits.
func (m *merges) Landed(ctx context.Context, t task.Task, commits []string) (bool, error) {
	repo, err := m.repo(t)
	if err != nil || len(commits) == 0 {
		return false, err
	}
	return repo.Landed(ctx, commits)
}

// Lacks returns which of some commits a new task of the project would start without, and what it would start from.
func (m *merges) Lacks(ctx context.Context, t task.Task, commits []string) (base string, lacks []string, err error) {
	repo, err := m.repo(t)
	if err != nil {
		return "", nil, err
	}
	return repo.Lacks(ctx, commits)
}

// Push brings the task's branch to origin, or the wanted one of its commits. moved reports whether origin had another
// commit.
func (m *merges) Push(ctx context.Context, t task.Task, wanted string) (commit string, moved bool, err error) {
	if _, err := m.branches.onBranch(ctx, t); err != nil {
		return "", false, err
	}
	repo, err := m.settings.outward(ctx, t)
	if err != nil {
		return "", false, err
	}
	return repo.PushBranch(ctx, t.Branch, wanted)
}

// Fetch learns from origin where its default branch is.
func (m *merges) Fetch(ctx context.Context, t task.Task) error {
	repo, err := m.settings.outward(ctx, t)
	if err != nil {
		return err
	}
	return repo.Fetch(ctx)
}

// pushMarks are the variables by which the push of a task's merge is found.
func (m *merges) pushMarks(t task.Task) []string {
	return []string{"ORANGE_HOME=" + m.home, "ORANGE_MERGE=" + t.ID}
}

// EndPush ends the push of an earlier merge of a task: what it would do later would be a second push at the same time.
func (m *merges) EndPush(ctx context.Context, t task.Task) error {
	return endMarked(ctx, m.pushMarks(t))
}

// Merge merges a commit of the branch, or its tip where none is named.
func (m *merges) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(ctx context.Context, result string) error) (record.MergeResult, error) {
	project, err := m.setup.Project(t.Project)
	if err != nil {
		return record.MergeResult{}, err
	}
	// One merge of a project at a time: git that fast-forwards a person's checkout, and finds the branch moved at
	// the very end, leaves the files of its merge behind, in the way of the next try.
	release, err := m.files.Lock(ctx, t.Project+".merge")
	if err != nil {
		return record.MergeResult{}, err
	}
	defer release()
	repo, without, err := m.settings.asNoted(ctx, project)
	if err != nil {
		return record.MergeResult{}, err
	}
	if err := m.submodulesPushed(ctx, t, order.Commit); err != nil {
		return record.MergeResult{}, err
	}
	done, err := merge.Into{Repo: repo}.Merge(ctx, merge.Plan{
		MergeOrder: order, Branch: t.Branch, Message: messageOf(t, order), Begin: begin,
		Marks: m.pushMarks(t), Check: m.settings.checkThenLook(m.resultCheck(t, repo, order), project, without),
	})
	if refused, is := errors.AsType[*merge.PushRefused](err); is {
		return record.MergeResult{}, fmt.Errorf("%w; if it takes pull requests only, open one: "+
			"orange task create-pr %s", refused, t.ID)
	}
	how := howOf(done, repo, order)
	if len(without) > 0 {
		how += "; it went by the settings that were noted, without what changed since: " + inWords(without)
	}
	return record.MergeResult{Commit: cmp.Or(done.Landed, done.Commit), How: how, Squash: done.Squash}, err
}

// submodulesPushed refuses to merge a commit that names commits of submodules which others cannot get.
func (m *merges) submodulesPushed(ctx context.Context, t task.Task, commit string) error {
	if t.Workspace == "" || commit == "" {
		return nil // there is no worktree with their repositories
	}
	slot, err := m.slot(t)
	if err != nil {
		return err
	}
	unpushed, err := slot.Unpushed(ctx, commit)
	if err == nil && len(unpushed) > 0 {
		err = fmt.Errorf("cannot merge %q: it names commits of submodules that their remotes do not have: %s; push "+
			"them there, in %q, and ask again", t.Branch, printable.Names(unpushed, len(unpushed)), slot.Dir)
	}
	return err
}

// messageOf is the message of the commit that a merge makes. A later look at a squash finds the task, and the commit
// that was judged, by its last lines.
func messageOf(t task.Task, order record.MergeOrder) string {
	if order.Strategy != "squash" {
		return fmt.Sprintf("Merge branch '%s'\n\n%s%s", t.Branch, taskTrailer, t.ID)
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(t.Summary), "\n")
	if subject == "" {
		subject = t.Branch
	}
	return fmt.Sprintf("%s\n\n%s%s\n%s%s", subject, taskTrailer, t.ID, judgedTrailer, order.Commit)
}

// The last lines of a commit that a merge makes.
const (
	taskTrailer   = "Orange-Task: "
	judgedTrailer = "Orange-Judged: "
)

func howOf(done merge.Merged, repo git.Repo, order record.MergeOrder) string {
	how := done.How
	if done.Pushed {
		how += ", pushed to origin"
	}
	if checks := order.ChecksInWords(); done.How != merge.AlreadyMerged && len(checks) > 0 {
		how += "; checked: " + strings.Join(checks, ", ")
	} else if done.How != merge.AlreadyMerged {
		how += "; not checked"
	}
	if done.Behind != "" {
		how += fmt.Sprintf("; the local %q could not follow (%s): bring it up to date with git pull",
			repo.DefaultBranch, done.Behind)
	}
	if done.Beyond != "" {
		how += "; " + record.KeptBeyond(done.Beyond, order.Commit)
	}
	return how
}

// DeleteRemoteBranch deletes the task's branch on origin where all of it is merged.
func (m *merges) DeleteRemoteBranch(ctx context.Context, t task.Task, landed string) (git.Deleted, error) {
	repo, err := m.settings.outward(ctx, t)
	if err != nil {
		return git.Deleted{}, err
	}
	if landed == "" {
		if landed, err = m.squashedCommit(ctx, t, repo); err != nil {
			return git.Deleted{}, err
		}
	}
	return repo.DeleteRemoteBranch(ctx, t.Branch, t.Pushed, landed, t.CreatedAt)
}

// squashedCommit is the commit of the branch that the default branch has in one commit of Orange's; empty where there
// is none. Both the record and the commit itself say so: anyone can write such a message.
func (m *merges) squashedCommit(ctx context.Context, t task.Task, repo git.Repo) (string, error) {
	events, err := m.record.Events(ctx, t.ID, 0)
	if err != nil {
		return "", err
	}
	for _, event := range slices.Backward(events) {
		judged := event.Data[history.DataJudged]
		if event.Type != history.Merged || judged == "" {
			continue
		}
		wanted := []string{taskTrailer + t.ID, judgedTrailer + judged}
		said, err := repo.LandedMessage(ctx, event.Data["commit"])
		lines := strings.Split(said, "\n")
		if err != nil || !slices.Contains(lines, wanted[0]) || !slices.Contains(lines, wanted[1]) {
			return "", err
		}
		return judged, nil
	}
	return "", nil
}

// DefaultBranch reports whether a repository has the branch that work is merged into.
func (m *merges) DefaultBranch(ctx context.Context, project task.Project) (bool, error) {
	there, err := repoOf(project).BranchExists(ctx, project.DefaultBranch)
	if err != nil || there {
		return there, err
	}
	_, err = repoOf(project).Base(ctx) // it may be on origin alone
	return err == nil, nil
}

// WithDefaultBranch is the project with another default branch, which is here or on origin.
func (m *merges) WithDefaultBranch(ctx context.Context, project task.Project, name string) (task.Project, error) {
	renamed := project
	renamed.DefaultBranch = name
	if err := git.CheckBranch(ctx, name); err != nil {
		return project, err
	}
	repo, _, err := m.settings.asNoted(ctx, renamed)
	if err == nil {
		err = repo.Fetch(ctx)
	}
	if err != nil {
		return project, err
	}
	there, err := m.DefaultBranch(ctx, renamed)
	if err == nil && !there {
		err = task.Notef(task.ErrUsage, "cannot make %q the default branch of project %q: there is no such branch in "+
			"%q, nor on origin", name, project.Name, project.Path)
	}
	if err != nil {
		return project, err
	}
	return renamed, nil
}

// mergeSlot is what the name of the worktree ends with in which a project checks what its merges result in. It
// is not one of the pool, and no task ever holds it.
const mergeSlot = "--merge"

// mergeOutput is the companion of such a worktree that has a file for each task whose last merge was red: what its
// checks said.
const mergeOutput = ".checks"

// checkMemory is how many megabytes a check of a merge may use.
const checkMemory = 4 << 10

// resultCheck is the check of a merge of a project; nil where no command is named. The caller holds the project's
// lock of merges, for there is one such worktree a project.
func (m *merges) resultCheck(t task.Task, repo git.Repo, order record.MergeOrder) func(context.Context,
	string) error {
	checks := order.Checks
	if len(checks) == 0 {
		return nil
	}
	return func(ctx context.Context, commit string) error {
		if len(order.Checked) > 0 {
			tree, err := repo.Tree(ctx, commit)
			if err != nil || slices.Contains(order.Checked, tree) {
				return err
			}
		}
		t.Workspace = t.Project + mergeSlot
		slot := worktree.Slot{Repo: repo, Dir: filepath.Join(m.home, "merges", t.Workspace)}
		err := m.checkResult(ctx, t, slot, commit, checks)
		if _, red := errors.AsType[*record.Unmerged](err); err != nil && !red {
			return fmt.Errorf("the merged work could not be checked; nothing was changed: %w", err)
		}
		return err
	}
}

func (m *merges) checkResult(ctx context.Context, t task.Task, slot worktree.Slot, commit string,
	checks []record.MergeCheck) error {
	if m.own == nil {
		return errors.New("there is no environment of tasks")
	}
	env, err := m.own(ctx, t.Project, t.ID)
	if err != nil {
		return err
	}
	marks := []string{"ORANGE_HOME=" + m.home, "ORANGE_SETUP=" + t.Workspace}
	if err := endMarked(ctx, marks); err != nil { // of a merge that was killed
		return err
	}
	if err := slot.PlaceAt(ctx, commit); err != nil {
		return err
	}
	if err := letGo(slot); err != nil {
		return err
	}
	own := func(context.Context) ([]string, error) { return env, nil }
	err = m.settings.asOwn(ctx, t, false, func(task.Project) error { return m.setups.makeReady(ctx, t, slot, own) })
	if err != nil {
		return err
	}
	dir, more, err := m.setups.startIn(ctx, t, slot.Dir)
	if err != nil {
		return err
	}
	stamps, err := slot.Files().Stamps(ctx)
	if err != nil {
		return err
	}
	log := filepath.Join(slot.Companion(mergeOutput), t.ID+".log")
	err = runChecks(ctx, checks, dir, harness.Layer(env, more, marks, aboutTask(t)), log)
	if changed := stamps.Changed(); err == nil && len(changed) > 0 {
		err = &record.Unmerged{Check: strings.Join(checks[0].Argv, " "),
			Said: "files of the commit changed while it or a later check ran: " + strings.Join(changed, ", ")}
	}
	return errors.Join(err, endMarked(context.WithoutCancel(ctx), marks))
}

// runChecks runs the checks one after the other, up to the first that fails. The log is there where one has failed.
func runChecks(ctx context.Context, checks []record.MergeCheck, dir string, env []string, log string) error {
	var said strings.Builder
	for _, c := range checks {
		run := boundedCommand{argv: c.Argv, dir: dir, env: env, time: time.Duration(c.Seconds) * time.Second,
			memory: checkMemory}
		why, output, err := run.run(ctx, &said)
		if err != nil {
			return err
		}
		if why != "" {
			if err := keepOutput(log, said.String()); err != nil {
				return err
			}
			return &record.Unmerged{Check: strings.Join(c.Argv, " "),
				Said: fmt.Sprintf("it %s; all of what it said is in %s: %s", why, log, lastOf(output))}
		}
	}
	if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove what the checks of an earlier merge said: %w", err)
	}
	return nil
}

// Rehearse merges commits of tasks of one project, one on top of the other, and moves nothing.
func (m *merges) Rehearse(ctx context.Context, t task.Task, commits []string) ([]record.Rehearsal, string, error) {
	repo, err := m.settings.outward(ctx, t)
	if err != nil {
		return nil, "", err
	}
	return merge.Into{Repo: repo}.Rehearse(ctx, commits)
}

// CheckResult runs the checks of a merge on a commit. The error is a *record.Unmerged where one of them fails.
func (m *merges) CheckResult(ctx context.Context, t task.Task, commit string, checks []record.MergeCheck) error {
	repo, err := m.settings.outward(ctx, t)
	if err != nil {
		return err
	}
	release, err := m.files.Lock(ctx, t.Project+".merge")
	if err != nil {
		return err
	}
	defer release()
	return m.resultCheck(t, repo, record.MergeOrder{Checks: checks})(ctx, commit)
}
