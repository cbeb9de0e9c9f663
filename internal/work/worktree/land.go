package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/rules/printable"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
)

// mostNamed is how many files an answer names.
const mostNamed = 20

// checkoutOfDefault is the checkout that has the default branch, which is at the commit from; empty where none has.
func (r Repo) checkoutOfDefault(ctx context.Context, from string) (dir string, err error) {
	all, err := r.checkouts(ctx, r.Path)
	if err != nil {
		return "", err
	}
	name, err := r.meantByDefault(ctx)
	if err != nil {
		return "", err
	}
	var having []checkout
	for _, c := range all {
		if doing := r.busyWith(c, name); doing != "" {
			return "", fmt.Errorf("git is in the middle of a %s of %q in %q; finish it there or abort it (git %s "+
				"--abort), then run this again; nothing was changed", doing, r.DefaultBranch, c.path, doing)
		}
		if c.branch != name {
			continue
		}
		_, err := os.Lstat(filepath.Join(c.path, ".git"))
		if errors.Is(err, os.ErrNotExist) {
			continue // its folder is gone
		}
		if err != nil {
			return "", fmt.Errorf("look at checkout %q: %w", c.path, err)
		}
		having = append(having, c)
	}
	switch {
	case len(having) > 1:
		return "", fmt.Errorf("%q is checked out in %q and in %q; switch one of them to another branch, then "+
			"run this again; nothing was changed", r.DefaultBranch, having[0].path, having[1].path)
	case len(having) == 1 && having[0].commit != from:
		return "", fmt.Errorf("%q %w", r.DefaultBranch, errMoved)
	case len(having) == 1:
		return having[0].path, nil
	}
	return "", nil
}

// meantByDefault is the branch that moves with the default branch: another one where that only stands for it.
func (r Repo) meantByDefault(ctx context.Context) (string, error) {
	out, err := r.run(ctx, "symbolic-ref", "--quiet", r.localDefault())
	if err != nil && exitCode(err) != 1 {
		return "", fmt.Errorf("check whether %q stands for another branch: %w", r.DefaultBranch, err)
	}
	return cmp.Or(out.Text(), r.localDefault()), nil
}

// gitFolderOf is git's own folder of a checkout: the main one has it in itself.
func gitFolderOf(dir string) string {
	gitDir, err := Slot{Dir: dir}.gitDir()
	if err != nil {
		return filepath.Join(dir, ".git")
	}
	return gitDir
}

// busyWith is what git is in the middle of in a checkout, if that is with the branch; empty where it is with nothing.
func (r Repo) busyWith(c checkout, branch string) string {
	gitDir := gitFolderOf(c.path)
	here := place{gitDir: gitDir}
	if c.branch != branch {
		for _, folder := range []string{"rebase-merge", "rebase-apply"} {
			text, err := proc.ReadFile(filepath.Join(gitDir, folder, "head-name"))
			if err == nil && strings.TrimSpace(string(text)) == branch {
				return "rebase"
			}
		}
		return ""
	}
	for _, o := range operations() {
		if o.quit[0] != "bisect" && here.has(o.file) {
			return o.quit[0]
		}
	}
	return ""
}

// fits reports why git would not fast-forward a person's checkout; nil where it would. It changes no file of theirs.
func (r Repo) fits(ctx context.Context, dir, from, to string) error {
	inTheWay := func(err error) error {
		return fmt.Errorf("%q is checked out in %q, and git will not fast-forward it there; commit or move "+
			"what is in the way, then run this again; nothing was changed: %w", r.DefaultBranch, dir, err)
	}
	refresh := call{dir: dir, args: []string{"update-index", "--refresh"}} // -q would say nothing of a lock
	if _, err := r.git(ctx, refresh); err != nil && exitCode(err) != 1 {   // 1 means that some files differ
		return inTheWay(err)
	}
	if _, err := r.git(ctx, call{dir: dir, args: []string{"read-tree", "-n", "-m", "-u", from, to}}); err != nil {
		return inTheWay(err)
	}
	// read-tree overwrites ignored files, a merge does not
	added, err := r.git(ctx, call{dir: dir, args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames",
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
func (r Repo) passes(ctx context.Context, dir, from, to string) error {
	if _, err := r.git(ctx, call{dir: dir, args: []string{"config", "--get-regexp",
		`^filter\..*\.(smudge|process)$`}}); err != nil {
		if exitCode(err) == 1 {
			return nil // there are none
		}
		return fmt.Errorf("look for filters of files: %w", err)
	}
	args := []string{"diff-tree", "-r", "--no-renames", "--diff-filter=AMT"}
	if from == "" {
		return nil
	}
	changed, err := r.git(ctx, call{dir: dir, args: append(args, from, to)})
	if err != nil {
		return fmt.Errorf("list what a fast-forward would bring: %w", err)
	}
	var wanted strings.Builder
	for line := range strings.SplitSeq(changed.Text(), "\n") {
		// :MODE MODE OBJECT OBJECT LETTER<tab>PATH; git quotes a path that needs it, and takes it quoted
		about, path, found := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if !found || len(words) < 5 || words[1] == links || words[1] == gitlink || strings.HasPrefix(path, `"`) {
			continue
		}
		fmt.Fprintf(&wanted, "%s %s\n", words[3], path)
	}
	if wanted.Len() == 0 {
		return nil
	}
	if _, err := r.git(ctx, call{dir: dir, args: []string{"cat-file", "--batch", "--filters"},
		stdin: wanted.String(), most: 1}); err != nil {
		return fmt.Errorf("%q is checked out in %q, and a filter of its files fails there, so git could not "+
			"fast-forward it; see that what the filter needs is there, then run this again; nothing was changed: %w",
			r.DefaultBranch, dir, err)
	}
	return nil
}

// advance moves the default branch, in the checkout that has it where one has.
func (r Repo) advance(ctx context.Context, dir, branch, from, to string) error {
	if dir != "" {
		return r.forward(ctx, dir, to)
	}
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	if _, err := r.run(ctx, "update-ref", "-m", "orange: merge "+branch, r.localDefault(), to, from); err != nil {
		return fmt.Errorf("move %q: %w (git: %w)", r.DefaultBranch, errMoved, err)
	}
	return nil
}

// forward lets git fast-forward a person's checkout. Nothing of theirs is stashed, and not even ignored files are
// overwritten.
func (r Repo) forward(ctx context.Context, dir, to string) error {
	// git would write the index and the files before it meets this one
	lock := filepath.Join(gitFolderOf(dir), "HEAD.lock")
	if _, err := os.Lstat(lock); err == nil {
		return fmt.Errorf("%q is checked out in %q, and another git is at work there: %q is there; if none is, "+
			"remove it, then run this again; nothing was changed", r.DefaultBranch, dir, lock)
	}
	args := []string{"merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet", to}
	_, err := r.git(ctx, call{dir: dir, args: args})
	if err != nil && exitCode(err) < 0 {
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

// unpushed is how many commits the local default branch has that origin has not.
func (r Repo) unpushed(ctx context.Context, local, origin string) (int, error) {
	if local == "" || local == origin {
		return 0, nil
	}
	args := []string{"rev-list", "--count", local}
	if origin != "" {
		if err := r.comparable(ctx, r.Path, local, origin); err != nil {
			return 0, err
		}
		args = append(args, "^"+origin)
	}
	out, err := r.run(ctx, append(args, "--")...)
	if err != nil {
		return 0, fmt.Errorf("count what origin has not: %w", err)
	}
	return strconv.Atoi(out.Text())
}

// mostUnpushed is how many of such commits are named.
const mostUnpushed = 20

// Unpushed is how many commits the local default branch has that origin has not, as far as is known without a fetch,
// and the newest of them in words. Without an origin there are none.
func (r Repo) Unpushed(ctx context.Context) (count int, newest []string, err error) {
	defer explain(&err, "cannot find the commits of %q in %q that were never pushed", r.DefaultBranch, r.Path)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return 0, nil, err
	}
	known, err := r.refs(ctx, r.defaultRefs()...)
	if err != nil {
		return 0, nil, err
	}
	local, origin := known[r.localDefault()].commit, known[r.originDefault()].commit
	if count, err = r.unpushed(ctx, local, origin); err != nil || count == 0 {
		return 0, nil, err
	}
	args := []string{"log", "--format=%h %s", "--max-count=" + strconv.Itoa(mostUnpushed), local}
	if origin != "" {
		args = append(args, "^"+origin)
	}
	out, err := r.run(ctx, append(args, "--")...)
	if err != nil {
		return 0, nil, fmt.Errorf("list them: %w", err)
	}
	return count, strings.Split(out.Text(), "\n"), nil
}

// Landed reports whether the default branch, here or on origin, has one of the commits.
func (r Repo) Landed(ctx context.Context, commits []string) (bool, error) {
	known, err := r.refs(ctx, r.defaultRefs()...)
	if err != nil {
		return false, fmt.Errorf("look for the default branch: %w", err)
	}
	for _, tip := range known { // the order does not matter
		for _, commit := range commits {
			if has, err := r.landed(ctx, tip.commit, commit); err != nil || has {
				return has, err
			}
		}
	}
	return false, nil
}

// Lacks returns which of some commits the base of a new branch does not have, and the name of that base.
func (r Repo) Lacks(ctx context.Context, commits []string) (base string, lacks []string, err error) {
	defer explain(&err, "cannot find where a new branch in %q starts", r.Path)
	from, err := r.Base(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, commit := range commits {
		has, err := r.landed(ctx, from.Commit, commit)
		if err != nil {
			return "", nil, err
		}
		if !has {
			lacks = append(lacks, commit)
		}
	}
	return from.Ref, lacks, nil
}

// LandedMessage is the message of a commit that the default branch has, here or on origin; empty where it has not.
func (r Repo) LandedMessage(ctx context.Context, commit string) (string, error) {
	has, err := r.Landed(ctx, []string{commit})
	if err != nil || !has {
		return "", err
	}
	out, err := r.run(ctx, "log", "-1", "--format=%B", commit, "--")
	if err != nil {
		return "", fmt.Errorf("read the message of %s: %w", commit, err)
	}
	return out.Text(), nil
}

// Subjects are the first lines of the newest commits that the default branch was moved by, at most so many.
func (r Repo) Subjects(ctx context.Context, most int) ([]string, error) {
	base, err := r.Base(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, "log", "--first-parent", "--format=%s", "--max-count="+strconv.Itoa(most), base.Commit, "--")
	if err != nil {
		return nil, fmt.Errorf("list the newest commits of %q: %w", r.DefaultBranch, err)
	}
	return strings.Split(out.Text(), "\n"), nil
}

// Rehearse merges commits into the default branch, one on top of the other, and moves nothing. It answers for each of
// them, and which commit the last result is.
func (r Repo) Rehearse(ctx context.Context, commits []string) (all []record.Rehearsal, last string, err error) {
	defer explain(&err, "cannot rehearse merges into %q", r.DefaultBranch)
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

func (r Repo) rehearse(ctx context.Context, on, commit string) (one record.Rehearsal, result string, err error) {
	ahead, behind, err := r.compare(ctx, commit, on)
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

// Tree is the tree of a commit.
func (r Repo) Tree(ctx context.Context, commit string) (string, error) {
	out, err := r.run(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of %s: %w", commit, err)
	}
	return out.Text(), nil
}
