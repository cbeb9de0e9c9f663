package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

// ErrNotPushed says that the work of a task that a home gives up could not be pushed.
var ErrNotPushed = errors.New("its work could not be pushed")

// Lost names the work of a task that a home gives up.
type Lost struct {
	Task    string
	Epoch   int    // in which the home had the task
	Branch  string // the task's
	Shipped string // the work in the last snapshot of the home; empty where there was none
}

// ShipLost pushes what a home has of a task that it gives up, the files of its worktree, its branch and what was
// rescued, as one commit to refs/orange/fleet/TASK/lost/EPOCH of a repository. What is there already stays in it. What
// the last snapshot has is not pushed again: where that is all, the ref is empty. New files that keep does not want
// stay out of it. It changes nothing here.
func (s Slot) ShipLost(ctx context.Context, to string, l Lost, keep func(file string, size int64) bool) (
	ref string, err error) {
	if err := errors.Join(git.CheckTask(l.Task), git.CheckRemote(to)); err != nil {
		return "", err
	}
	defer git.Explain(&err, "cannot push what is here of task %s to %q", l.Task, to)
	heads, err := s.lostHeads(ctx, l, keep)
	if err != nil || len(heads) == 0 {
		return "", err
	}
	env, err := s.Repo.RemoteEnv(ctx)
	if err != nil {
		return "", err
	}
	ref = git.ShipRefs + l.Task + "/lost/" + strconv.Itoa(l.Epoch)
	there, err := Rescues{Repo: s.Repo}.lostThere(ctx, to, ref, env)
	if err != nil {
		return "", err
	}
	commit, err := Rescues{Repo: s.Repo}.together(ctx, l.Task, heads, there)
	if err != nil || commit == there {
		return ref, err
	}
	_, err = s.Repo.Do(ctx, git.Call{Dir: s.Repo.Path, Env: env, Args: []string{"push", "--quiet", "--no-follow-tags",
		"--force-with-lease=" + ref + ":" + there, to, commit + ":" + ref}})
	return ref, err
}

// lostThere fetches what the ref has already: a home may have given a task up twice in one epoch. It is empty where
// there is no such ref.
func (r Rescues) lostThere(ctx context.Context, to, ref string, env []string) (string, error) {
	there, err := r.ShippedAt(ctx, to, ref, env)
	if err != nil || there == "" {
		return "", err
	}
	_, err = r.Do(ctx, git.Call{Dir: r.Path, Env: env, Args: []string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", to, ref}})
	return there, err
}

// together is one commit that has all of the heads, the newest last, and what is there already. Its files are those
// of the newest, also where that one is there already and an older one is not.
func (r Rescues) together(ctx context.Context, taskID string, heads []string, there string) (string, error) {
	newest := heads[len(heads)-1]
	if there != "" {
		heads = append([]string{there}, heads...)
	}
	heads, err := r.independentHeads(ctx, heads)
	if err != nil || len(heads) == 1 {
		return heads[0], err
	}
	var parents []string
	for _, head := range heads {
		parents = append(parents, "-p", head)
	}
	return r.CommitTree(ctx, r.Path, newest+"^{tree}", "Orange: all that was left of task "+taskID+"\n", parents)
}

// independentHeads are the heads that no other one has in its history, in their order.
func (r Rescues) independentHeads(ctx context.Context, heads []string) ([]string, error) {
	if len(heads) < 2 {
		return heads, nil
	}
	out, err := r.Run(ctx, append([]string{"merge-base", "--independent"}, heads...)...)
	if err != nil {
		return heads, fmt.Errorf("compare what was kept: %w", err)
	}
	alone := strings.Fields(out.Text()) // in an order of git's own
	var some []string
	for _, head := range heads {
		if slices.Contains(alone, head) && !slices.Contains(some, head) {
			some = append(some, head)
		}
	}
	return some, nil
}

// lostHeads are the commits that have what is not in the last snapshot, the newest last.
func (s Slot) lostHeads(ctx context.Context, l Lost, keep func(string, int64) bool) ([]string, error) {
	r := s.Repo
	all, err := Rescues{Repo: r}.earlierRescues(ctx, l.Task, keep)
	if err != nil {
		return nil, err
	}
	tip, err := r.Tip(ctx, l.Branch)
	if tip != "" {
		all = append(all, tip)
	}
	if err == nil && s.Dir != "" {
		var work []string
		work, err = s.workToLose(ctx, l.Task, keep)
		all = append(all, work...)
	}
	if err != nil {
		return nil, err
	}
	var heads []string
	for _, commit := range all {
		has := ship.Snapshots{Repo: r}.SameWork(ctx, commit, l.Shipped)
		if !has && l.Shipped != "" {
			if has, err = r.Contains(ctx, l.Shipped, commit); err != nil {
				return nil, err
			}
		}
		if !has {
			heads = append(heads, commit)
		}
	}
	return heads, nil
}

// workToLose is a commit of the slot's files, and where the slot's branch is gone the commits that it had. There is
// none in a slot that never had a commit: what is in it stays here.
func (s Slot) workToLose(ctx context.Context, taskID string, keep func(string, int64) bool) ([]string, error) {
	here, present, err := s.look(ctx)
	if err != nil || !present {
		return nil, err
	}
	lost := s.sweep().lostCommits(ctx, here)
	if len(lost) > 0 {
		here.head = lost[0]
	}
	if here.head == "" {
		return nil, nil
	}
	commit, _, err := s.commitWork(ctx, here, taskID, keep)
	return append(lost, commit), err
}

// earlierRescues are the commits of what was kept of a task before, without the new files that keep does not want.
func (r Rescues) earlierRescues(ctx context.Context, taskID string, keep func(string, int64) bool) ([]string, error) {
	kept, err := r.storedRefs(ctx, taskID)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, one := range kept {
		commit := one.commit
		if one.made {
			if commit, err = r.without(ctx, commit, keep); err != nil {
				return nil, err
			}
		}
		all = append(all, commit)
	}
	return all, nil
}

// without is a commit of rescued files on top of the HEAD that they were changed from, without the new ones that keep
// does not want, and without what was staged.
func (r Rescues) without(ctx context.Context, commit string, keep func(string, int64) bool) (string, error) {
	parents, err := r.Run(ctx, "rev-list", "--parents", "--max-count=1", commit)
	if err != nil {
		return "", err
	}
	words := strings.Fields(parents.Text())
	if len(words) < 2 { // it was rescued before there was any commit
		return commit, nil
	}
	head := words[1]
	left, err := r.unwantedFiles(ctx, head, commit, keep)
	if err != nil || len(left) == 0 && len(words) == 2 {
		return commit, err
	}
	private, err := os.MkdirTemp(proc.TempDir(ctx), "orange-index-")
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(private)
	s, index := Slot{Repo: r.Repo, Dir: r.Path}, filepath.Join(private, "index")
	if _, err := s.runWithIndex(ctx, index, "read-tree", commit); err != nil {
		return "", err
	}
	if len(left) > 0 {
		if _, err := r.Do(ctx, git.Call{Dir: r.Path, Index: index, Stdin: strings.Join(left, "\x00") + "\x00",
			Args: []string{"update-index", "--force-remove", "-z", "--stdin"}}); err != nil {
			return "", err
		}
	}
	tree, err := s.Files().writeTree(ctx, index)
	if err != nil {
		return "", err
	}
	return s.sweep().commitTree(ctx, tree, "Orange: work that was rescued\n", []string{"-p", head})
}

// unwantedFiles are the files that a commit has and its HEAD has not, and that keep does not want.
func (r Rescues) unwantedFiles(ctx context.Context, head, commit string, keep func(string, int64) bool) ([]string,
	error) {
	added, err := r.Run(ctx, "diff-tree", "-r", "--no-commit-id", "--no-renames", "--diff-filter=A", "-z", head, commit)
	if err != nil {
		return nil, fmt.Errorf("list new files: %w", err)
	}
	var left []string
	parts := strings.Split(string(added.Stdout), "\x00")
	for i := 0; i+1 < len(parts); i += 2 { // :MODE MODE BLOB BLOB A, and the name
		about, file := strings.Fields(parts[i]), parts[i+1]
		size, err := r.sizeOf(ctx, about)
		if err != nil {
			return nil, fmt.Errorf("measure %q: %w", file, err)
		}
		if !keep(file, size) {
			left = append(left, file)
		}
	}
	return left, nil
}

// sizeOf is how many bytes a file of a commit has, by what diff-tree says about it. A submodule has none: its commit is
// in another repository.
func (r Rescues) sizeOf(ctx context.Context, about []string) (int64, error) {
	const mode, blob = 1, 3
	if len(about) <= blob {
		return 0, fmt.Errorf("git diff-tree says %q of it", about)
	}
	if about[mode] == git.SubmoduleMode {
		return 0, nil
	}
	out, err := r.Run(ctx, "cat-file", "-s", about[blob])
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(out.Text(), 10, 64)
}
