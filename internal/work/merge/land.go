package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/rules/printable"
	"orange/internal/work/git"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
)

// mostNamed is how many files an answer names.
const mostNamed = 20

// checkoutOfDefault is the checkout that has the default branch, which is at the commit from; empty where none has.
func (r Into) checkoutOfDefault(ctx context.Context, from string) (dir string, err error) {
	all, err := r.Checkouts(ctx, r.Path)
	if err != nil {
		return "", err
	}
	name, err := r.meantByDefault(ctx)
	if err != nil {
		return "", err
	}
	var having []git.Worktree
	for _, c := range all {
		if doing := r.busyWith(c, name); doing != "" {
			return "", fmt.Errorf("git is in the middle of a %s of %q in %q; finish it there or abort it (git %s "+
				"--abort), then run this again; nothing was changed", doing, r.DefaultBranch, c.Path, doing)
		}
		if c.Branch != name {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.Path, ".git"))
		if errors.Is(err, os.ErrNotExist) {
			continue // its folder is gone
		}
		if err != nil {
			return "", fmt.Errorf("look at checkout %q: %w", c.Path, err)
		}
		having = append(having, c)
	}
	switch {
	case len(having) > 1:
		return "", fmt.Errorf("%q is checked out in %q and in %q; switch one of them to another branch, then "+
			"run this again; nothing was changed", r.DefaultBranch, having[0].Path, having[1].Path)
	case len(having) == 1 && having[0].Commit != from:
		return "", fmt.Errorf("%q %w", r.DefaultBranch, errMoved)
	case len(having) == 1:
		return having[0].Path, nil
	}
	return "", nil
}

// meantByDefault is the branch that moves with the default branch: another one where that only stands for it.
func (r Into) meantByDefault(ctx context.Context) (string, error) {
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", r.LocalDefault())
	if err != nil && git.ExitCode(err) != 1 {
		return "", fmt.Errorf("check whether %q stands for another branch: %w", r.DefaultBranch, err)
	}
	return cmp.Or(out.Text(), r.LocalDefault()), nil
}

// gitFolderOf is git's own folder of a checkout: the main one has it in itself.
func gitFolderOf(dir string) string {
	gitDir, err := git.DirOf(dir)
	if err != nil {
		return filepath.Join(dir, ".git")
	}
	return gitDir
}

// busyWith is what git is in the middle of in a checkout, if that is with the branch; empty where it is with nothing.
func (r Into) busyWith(c git.Worktree, branch string) string {
	gitDir := gitFolderOf(c.Path)
	if c.Branch != branch {
		for _, folder := range []string{"rebase-merge", "rebase-apply"} {
			text, err := proc.ReadFile(filepath.Join(gitDir, folder, "head-name"))
			if err == nil && strings.TrimSpace(string(text)) == branch {
				return "rebase"
			}
		}
		return ""
	}
	for _, o := range git.Operations() {
		if o.Quit[0] != "bisect" && git.HasFile(gitDir, o.File) {
			return o.Quit[0]
		}
	}
	return ""
}

// Fits reports why git would not fast-forward a person's checkout; nil where it would. It changes no file of theirs.
func (r Into) Fits(ctx context.Context, dir, from, to string) error {
	inTheWay := func(err error) error {
		return fmt.Errorf("%q is checked out in %q, and git will not fast-forward it there; commit or move "+
			"what is in the way, then run this again; nothing was changed: %w", r.DefaultBranch, dir, err)
	}
	refresh := git.Call{Dir: dir, Args: []string{"update-index", "--refresh"}} // -q would say nothing of a lock
	if _, err := r.Do(ctx, refresh); err != nil && git.ExitCode(err) != 1 {    // 1 means that some files differ
		return inTheWay(err)
	}
	if _, err := r.Do(ctx, git.Call{Dir: dir, Args: []string{"read-tree", "-n", "-m", "-u", from, to}}); err != nil {
		return inTheWay(err)
	}
	// read-tree overwrites ignored files, a merge does not
	added, err := r.Do(ctx, git.Call{Dir: dir, Args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames",
		"--diff-filter=A", from, to}})
	if err != nil {
		return inTheWay(err)
	}
	var there []string
	for path := range strings.SplitSeq(strings.TrimRight(string(added.Stdout), "\x00"), "\x00") {
		if path == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path))); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, path) // or a file is where it needs a folder
		}
	}
	if len(there) > 0 {
		return inTheWay(fmt.Errorf("these files are not git's: %s", printable.Names(there, mostNamed)))
	}
	return nil
}

// passes has the filters of a person's checkout, such as those of git-lfs, write each file that a fast-forward would
// bring there, and keeps nothing of it. One that fails would leave a checkout half moved.
func (r Into) passes(ctx context.Context, dir, from, to string) error {
	if _, err := r.Do(ctx, git.Call{Dir: dir, Args: []string{"config", "--get-regexp",
		`^filter\..*\.(smudge|process)$`}}); err != nil {
		if git.ExitCode(err) == 1 {
			return nil // there are none
		}
		return fmt.Errorf("look for filters of files: %w", err)
	}
	args := []string{"diff-tree", "-r", "--no-renames", "--diff-filter=AMT"}
	if from == "" {
		return nil
	}
	changed, err := r.Do(ctx, git.Call{Dir: dir, Args: append(args, from, to)})
	if err != nil {
		return fmt.Errorf("list what a fast-forward would bring: %w", err)
	}
	var wanted strings.Builder
	for line := range strings.SplitSeq(changed.Text(), "\n") {
		// :MODE MODE OBJECT OBJECT LETTER<tab>PATH; git quotes a path that needs it, and takes it quoted
		about, path, found := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if !found || len(words) < 5 || words[1] == git.LinkMode || words[1] == git.SubmoduleMode ||
			strings.HasPrefix(path, `"`) {
			continue
		}
		fmt.Fprintf(&wanted, "%s %s\n", words[3], path)
	}
	if wanted.Len() == 0 {
		return nil
	}
	if _, err := r.Do(ctx, git.Call{Dir: dir, Args: []string{"cat-file", "--batch", "--filters"},
		Stdin: wanted.String(), Most: 1}); err != nil {
		return fmt.Errorf("%q is checked out in %q, and a filter of its files fails there, so git could not "+
			"fast-forward it; see that what the filter needs is there, then run this again; nothing was changed: %w",
			r.DefaultBranch, dir, err)
	}
	return nil
}

// advance moves the default branch, in the checkout that has it where one has.
func (r Into) advance(ctx context.Context, dir, branch, from, to string) error {
	if dir != "" {
		return r.forward(ctx, dir, to)
	}
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	if _, err := r.Run(ctx, "update-ref", "-m", "orange: merge "+branch, r.LocalDefault(), to, from); err != nil {
		return fmt.Errorf("move %q: %w (git: %w)", r.DefaultBranch, errMoved, err)
	}
	return nil
}

// forward lets git fast-forward a person's checkout. Nothing of theirs is stashed, and not even ignored files are
// overwritten.
func (r Into) forward(ctx context.Context, dir, to string) error {
	// git would write the index and the files before it meets this one
	lock := filepath.Join(gitFolderOf(dir), "HEAD.lock")
	if _, err := os.Lstat(lock); err == nil {
		return fmt.Errorf("%q is checked out in %q, and another git is at work there: %q is there; if none is, "+
			"remove it, then run this again; nothing was changed", r.DefaultBranch, dir, lock)
	}
	args := []string{"merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet", to}
	_, err := r.Do(ctx, git.Call{Dir: dir, Args: args})
	if err != nil && git.ExitCode(err) < 0 {
		return fmt.Errorf("git ended in the middle of fast-forwarding %q in %q; look there with \"git "+
			"status\", put back what it left half done, then run this again: %w",
			r.DefaultBranch, dir, err)
	}
	if err != nil {
		return fmt.Errorf("%q is checked out in %q, and git will not fast-forward it there; commit or move "+
			"what is in the way, then run this again; nothing was changed: %w", r.DefaultBranch, dir, err)
	}
	tip, err := r.Tip(ctx, r.DefaultBranch)
	if err != nil {
		return err
	}
	if tip != to {
		return fmt.Errorf("the checkout %q was switched at that very moment, and its new branch was "+
			"fast-forwarded instead; look at it, then run this again", dir)
	}
	return nil
}

// Rehearse merges commits into the default branch, one on top of the other, and moves nothing. It answers for each of
// them, and which commit the last result is.
func (r Into) Rehearse(ctx context.Context, commits []string) (all []record.Rehearsal, last string, err error) {
	defer git.Explain(&err, "cannot rehearse merges into %q", r.DefaultBranch)
	if err := r.Fetch(ctx); err != nil {
		return nil, "", err
	}
	base, err := r.Base(ctx)
	if err != nil {
		return nil, "", err
	}
	last = base.Commit
	for i, commit := range commits {
		one, result, err := r.rehearse(ctx, last, commit)
		if err != nil {
			return nil, "", err
		}
		for j := range i {
			if len(one.Files) == 0 || len(all[j].Files) > 0 {
				continue
			}
			if _, err := r.mergeTree(ctx, commits[j], commit); err != nil {
				one.With = append(one.With, j)
			}
		}
		all, last = append(all, one), result
	}
	return all, last, nil
}

func (r Into) rehearse(ctx context.Context, on, commit string) (one record.Rehearsal, result string, err error) {
	ahead, behind, err := r.Compare(ctx, commit, on)
	if err != nil {
		return one, on, err
	}
	one.Straight = !behind
	switch {
	case !ahead:
		result = on
	case !behind:
		result = commit
	default:
		tree, err := r.mergeTree(ctx, on, commit)
		if conflict, is := errors.AsType[*record.Unmerged](err); is {
			one.Files = conflict.Files
			return one, on, nil
		}
		if err != nil {
			return one, on, err
		}
		if result, err = r.mergeCommit(ctx, tree, "Rehearsal", on, commit); err != nil {
			return one, on, err
		}
	}
	one.Tree, err = r.Tree(ctx, result)
	return one, result, err
}
