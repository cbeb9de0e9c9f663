package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/forge"
	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// Unpushed is how many commits the project's local default branch has that origin has not, as far as is known without
// a fetch, and the newest of them in words.
func (p *Pool) Unpushed(ctx context.Context, t task.Task) (int, []string, error) {
	repo, err := p.repo(t)
	if err != nil {
		return 0, nil, err
	}
	return repo.Unpushed(ctx)
}

// Forge reports whether the task's repository has a remote called origin, and where its pull requests are.
func (p *Pool) Forge(ctx context.Context, t task.Task) (origin bool, where string, err error) {
	origin, where, _, err = p.Destination(ctx, t)
	return origin, where, err
}

// Destination is Forge, and the task's project, which says how its branches are merged and whether origin gets that.
func (p *Pool) Destination(ctx context.Context, t task.Task) (origin bool, where string, project task.Project,
	err error) {
	if project, err = p.Setup.Project(t.Project); err != nil {
		return false, "", project, err
	}
	addresses, err := p.repoOf(project).Origin(ctx)
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
func (p *Pool) Landed(ctx context.Context, t task.Task, commits []string) (bool, error) {
	repo, err := p.repo(t)
	if err != nil || len(commits) == 0 {
		return false, err
	}
	return repo.Landed(ctx, commits)
}

// Lacks returns which of some commits a new task of the project would start without, and what it would start from.
func (p *Pool) Lacks(ctx context.Context, t task.Task, commits []string) (base string, lacks []string, err error) {
	repo, err := p.repo(t)
	if err != nil {
		return "", nil, err
	}
	return repo.Lacks(ctx, commits)
}

// Fetch learns from origin where its default branch is.
func (p *Pool) Fetch(ctx context.Context, t task.Task) error {
	repo, err := p.outward(ctx, t)
	if err != nil {
		return err
	}
	return repo.Fetch(ctx)
}

// Merge merges a commit of the branch, or its tip where none is named.
func (p *Pool) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(ctx context.Context, result string) error) (record.MergeResult, error) {
	project, err := p.Setup.Project(t.Project)
	if err != nil {
		return record.MergeResult{}, err
	}
	// One merge of a project at a time: git that fast-forwards a person's checkout, and finds the branch moved at
	// the very end, leaves the files of its merge behind, in the way of the next try.
	release, err := p.Files.Lock(ctx, t.Project+".merge")
	if err != nil {
		return record.MergeResult{}, err
	}
	defer release()
	repo, without, err := p.asNoted(ctx, project)
	if err != nil {
		return record.MergeResult{}, err
	}
	if err := p.submodulesPushed(ctx, t, order.Commit); err != nil {
		return record.MergeResult{}, err
	}
	done, err := merge.Into{Repo: repo}.Merge(ctx, merge.Plan{
		MergeOrder: order, Branch: t.Branch, Message: messageOf(t, order), Begin: begin,
		Check: p.checkThenLook(p.resultCheck(t, repo, order), project, without),
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
func (p *Pool) submodulesPushed(ctx context.Context, t task.Task, commit string) error {
	if t.Workspace == "" || commit == "" {
		return nil // there is no worktree with their repositories
	}
	slot, err := p.slot(t)
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
		how += fmt.Sprintf("; the branch has moved on to %.7s since, and what it has beyond %.7s is kept "+
			"there, not merged", done.Beyond, order.Commit)
	}
	return how
}

// DeleteRemoteBranch deletes the task's branch on origin where all of it is merged.
func (p *Pool) DeleteRemoteBranch(ctx context.Context, t task.Task, landed string) (git.Deleted, error) {
	repo, err := p.outward(ctx, t)
	if err != nil {
		return git.Deleted{}, err
	}
	if landed == "" {
		if landed, err = p.squashed(ctx, t, repo); err != nil {
			return git.Deleted{}, err
		}
	}
	return repo.DeleteRemoteBranch(ctx, t.Branch, t.Pushed, landed, t.CreatedAt)
}

// squashed is the commit of the branch that the default branch has in one commit of Orange's; empty where there is
// none. Both the record and the commit itself say so: anyone can write such a message.
func (p *Pool) squashed(ctx context.Context, t task.Task, repo git.Repo) (string, error) {
	events, err := p.Record.Events(ctx, t.ID, 0)
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
