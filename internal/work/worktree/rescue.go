package worktree

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// none is what a rescue's message says where there is nothing.
const none = "(none)"

// Rescue is work that was kept before a workspace was cleared.
// The commit of uncommitted changes has HEAD as its parent, and, where something else was staged, that as its second.
type Rescue struct {
	Ref    string // refs/orange/rescue/TASK/N
	Commit string
	What   string   // "uncommitted changes" or "unpushed commits"
	Files  []string // that differ from HEAD, of uncommitted changes that were kept just now
	Held   bool     // a branch, a tag or a remote had it too when it was kept: nothing would have been lost yet
}

const (
	rescueRefs  = "refs/orange/rescue/"
	uncommitted = "uncommitted changes"
	unpushed    = "unpushed commits"
)

// List lists what was kept for the task, in the order of its numbers.
func (r Rescues) List(ctx context.Context, taskID string) ([]Rescue, error) {
	if err := git.CheckTask(taskID); err != nil {
		return nil, err
	}
	stored, err := r.storedRefs(ctx, taskID)
	if err != nil {
		return nil, fmt.Errorf("cannot list what was kept for task %q: %w", taskID, err)
	}
	var all []Rescue
	for _, one := range stored {
		found := Rescue{Ref: one.ref, Commit: one.commit, What: unpushed}
		if one.made {
			found.What = uncommitted
		}
		all = append(all, found)
	}
	return all, nil
}

// Command is the one command that brings the work back as a branch. It is safe to paste into a shell.
func (r Rescue) Command(repo string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(r.Ref, rescueRefs), "/", "-")
	return "git -C " + git.Quote(repo) + " branch " + git.Quote("rescued/"+name) + " " + r.Ref
}

// rescueRef is a rescue as the repository has it.
type rescueRef struct {
	ref     string
	number  int
	commit  string
	tree    string
	message string
	made    bool // a commit that was made for the rescue
}

func (r Rescues) storedRefs(ctx context.Context, taskID string) ([]rescueRef, error) {
	prefix := rescueRefs + taskID + "/"
	rows, err := r.ListRefs(ctx, []string{prefix}, "refname", "objectname", "tree", "authoremail", "contents")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", prefix, err)
	}
	var all []rescueRef
	for _, row := range rows {
		number, err := strconv.Atoi(strings.TrimPrefix(row[0], prefix))
		if err != nil {
			continue // not one of ours
		}
		all = append(all, rescueRef{
			ref: row[0], number: number, commit: row[1], tree: row[2], message: row[4],
			made: row[3] == "<"+git.RescuerEmail+">",
		})
	}
	slices.SortFunc(all, func(a, b rescueRef) int { return a.number - b.number })
	return all, nil
}

// keepingRefs names all that keeps a commit safe, HEAD apart: HEAD is about to move.
func keepingRefs() []string { return []string{"--branches", "--remotes", "--tags"} }

// keepCommit points a rescue ref at a commit that nothing in held, and no earlier rescue of the task, holds.
func (r Rescues) keepCommit(ctx context.Context, taskID, branch, commit string, held []string) ([]Rescue, error) {
	if slices.Contains(held, commit) {
		return nil, nil
	}
	args := append([]string{"rev-list", "--max-count=1", commit, "--not"}, held...)
	out, err := r.Run(ctx, append(args, "--glob="+rescueRefs+taskID+"/*", "--")...)
	if err != nil {
		return nil, fmt.Errorf("check whether %s is kept somewhere: %w", commit, err)
	}
	if out.Text() == "" {
		return nil, nil
	}
	lost, err := r.Run(ctx, append(append([]string{"rev-list", "--max-count=1", commit, "--not"},
		keepingRefs()...), "--")...)
	if err != nil {
		return nil, fmt.Errorf("check whether %s is on a branch: %w", commit, err)
	}
	kept, err := r.newRescue(ctx, taskID, branch, Rescue{Commit: commit, What: unpushed, Held: lost.Text() == ""})
	if err != nil {
		return nil, fmt.Errorf("keep the %s: %w", unpushed, err)
	}
	return []Rescue{kept}, nil
}

// newRescue gives the commit the task's next number. Nothing is ever overwritten: git creates the ref or refuses.
func (r Rescues) newRescue(ctx context.Context, taskID, branch string, kept Rescue) (Rescue, error) {
	message := "orange: " + kept.What
	if branch != "" {
		message += " of branch " + branch
	}
	have, err := r.storedRefs(ctx, taskID)
	if err != nil {
		return Rescue{}, err
	}
	next := 1
	if len(have) > 0 {
		next = have[len(have)-1].number + 1
	}
	const rivals = 20 // others that may take the same number in the same instant
	for n := next; n < next+rivals; n++ {
		kept.Ref = rescueRefs + taskID + "/" + strconv.Itoa(n)
		args := []string{"update-ref", "--create-reflog", "-m", message, kept.Ref, kept.Commit,
			strings.Repeat("0", len(kept.Commit))}
		_, err = r.Do(ctx, git.Call{Dir: r.Path, Args: args, Env: git.Rescuer()})
		if err == nil {
			return kept, nil
		}
		if !git.RefusedWith(err, "already exists") {
			break
		}
	}
	return Rescue{}, fmt.Errorf("write %s: %w", kept.Ref, err)
}

// keep saves all work that clearing a worktree would lose: what is not committed, and commits that only it has.
func (s sweep) keep(ctx context.Context, here place, k toKeep) ([]Rescue, error) {
	var kept []Rescue
	lost := s.lostCommits(ctx, here)
	if len(lost) > 0 {
		here.head = lost[0]
	}
	if k.work || k.document != "" {
		forced := slices.Clone(k.strays)
		if k.document != "" {
			forced = append(forced, k.document)
		}
		one, err := s.keepTree(ctx, here, k.task, forced)
		if err != nil {
			return nil, fmt.Errorf("keep the uncommitted changes: %w", err)
		}
		kept = append(kept, one...)
	}
	if here.head != "" {
		one, err := Rescues{Repo: s.Repo}.keepCommit(ctx, k.task, here.branch, here.head, k.held)
		kept = append(kept, one...)
		if err != nil {
			return kept, err
		}
	}
	for _, tip := range slices.Concat(lost, here.tips()) {
		one, err := Rescues{Repo: s.Repo}.keepCommit(ctx, k.task, "", tip, keepingRefs())
		kept = append(kept, one...)
		if err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// keepTree keeps the slot's files as they are, and its index where that differs. The slot's own index is only read.
// The forced files are kept although they are ignored.
func (s sweep) keepTree(ctx context.Context, here place, taskID string, forced []string) ([]Rescue, error) {
	known, err := s.Files().list(ctx)
	if err != nil {
		return nil, err
	}
	// A file that git overlooks and that is not there has nothing to keep; one that is there is kept as it is.
	index, err := s.Files().newIndex(ctx, known, s.Files().present(known.flags))
	if err != nil {
		return nil, err
	}
	defer index.remove()
	var headTree, staged string
	if here.head != "" {
		out, err := s.run(ctx, "rev-parse", "--verify", here.head+"^{tree}")
		if err != nil {
			return nil, fmt.Errorf("read the tree of %s: %w", here.head, err)
		}
		headTree = out.Text()
	}
	// An index in the middle of a merge has no tree; its files hold the two sides all the same.
	if out, err := s.runWithIndex(ctx, index.file, "write-tree"); err == nil {
		staged = out.Text()
	}
	tree, err := s.wholeTree(ctx, &index, forced)
	if err != nil {
		return nil, err
	}
	if staged == headTree || staged == tree {
		staged = ""
	}
	if tree == headTree && staged == "" {
		return nil, nil
	}
	return s.commitRescue(ctx, here, taskID, tree, staged)
}

// wholeTree writes the tree of all files that clearing would take away, and checks whether it is whole:
// files that cannot be read (heldFiles), or that a program still writes, stop everything.
func (s sweep) wholeTree(ctx context.Context, index *tempIndex, forced []string) (string, error) {
	const rounds = 3
	var missing []string
	for range rounds {
		// A nested repository without a commit cannot be added, and need not be: it is never cleared.
		_, addErr := s.runWithIndex(ctx, index.file, "add", "--all", "--sparse", "--ignore-errors")
		if addErr != nil && git.ExitCode(addErr) < 0 {
			return "", addErr
		}
		all, err := s.Files().changes(ctx, index.file, "all")
		if err != nil {
			return "", err
		}
		changed, err := s.Files().compareAgain(ctx, index)
		if err != nil {
			return "", err
		}
		missing = missing[:0]
		for _, c := range all {
			if c.tree != unchanged {
				missing = append(missing, c.path)
			}
		}
		for _, e := range changed {
			missing = append(missing, e.file)
		}
		if len(missing) == 0 {
			break
		}
	}
	denied := slices.DeleteFunc(slices.Clone(missing), func(f string) bool { return !s.cannotRead(f) })
	if len(denied) > 0 {
		return "", &heldFiles{denied, unreadable, fmt.Errorf("%q cannot be read", denied[0])}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%q is being written to; end what writes there, then run this again (nothing was "+
			"cleared)", missing[0])
	}
	if len(forced) > 0 {
		c := git.Call{Dir: s.Dir, Index: index.file, Stdin: strings.Join(forced, "\x00"), Env: []string{
			"GIT_LITERAL_PATHSPECS=1"},
			Args: []string{"add", "--force", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"}}
		if _, err := s.Repo.Do(ctx, c); err != nil {
			return "", fmt.Errorf("add %d ignored files: %w", len(forced), err)
		}
	}
	return s.Files().writeTree(ctx, index.file)
}

func (s sweep) commitRescue(ctx context.Context, here place, taskID, tree, staged string) ([]Rescue, error) {
	var parents []string
	if here.head != "" {
		parents = []string{"-p", here.head}
	}
	// The message holds all that identifies this rescue, so that a second run finds the same one.
	message := fmt.Sprintf("Orange: %s of task %s\n\nBranch: %s\nHead: %s\nStaged: %s\n",
		uncommitted, taskID, cmp.Or(here.branch, none), cmp.Or(here.head, none), cmp.Or(staged, none))
	have, err := Rescues{Repo: s.Repo}.storedRefs(ctx, taskID)
	if err != nil {
		return nil, err
	}
	kept := Rescue{What: uncommitted}
	if here.head != "" {
		differ, err := s.Repo.DiffTrees(ctx, here.head+"^{tree}", tree)
		if err != nil {
			return nil, fmt.Errorf("name the files that were kept: %w", err)
		}
		kept.Files = slices.DeleteFunc(git.Paths(differ), func(file string) bool { return s.isRepository(file + "/") })
	}
	for _, one := range have {
		if one.tree == tree && one.message == message {
			kept.Ref, kept.Commit = one.ref, one.commit
			return []Rescue{kept}, nil
		}
	}
	if staged != "" {
		second, err := s.commitTree(ctx, staged, "Orange: staged changes of task "+taskID+"\n", parents)
		if err != nil {
			return nil, err
		}
		parents = append(parents, "-p", second)
	}
	if kept.Commit, err = s.commitTree(ctx, tree, message, parents); err != nil {
		return nil, err
	}
	if kept, err = (Rescues{Repo: s.Repo}).newRescue(ctx, taskID, here.branch, kept); err != nil {
		return nil, err
	}
	return []Rescue{kept}, nil
}

func (s sweep) commitTree(ctx context.Context, tree, message string, parents []string) (string, error) {
	return s.Repo.CommitTree(ctx, s.Dir, tree, message, parents)
}

// unborn reports whether the slot is on a branch without a commit: it never had one, or its ref was deleted.
func (p place) unborn() bool { return p.head == "" && p.branch != "" }

// lostCommits are the commits that a branch had whose ref was deleted while the slot had it checked out, as far as they
// are known and still there: the last one that HEAD's log tells about, and the one that the record noted.
func (s sweep) lostCommits(ctx context.Context, here place) []string {
	if !here.unborn() {
		return nil
	}
	var found []string
	for _, commit := range []string{here.lastHead(), s.Noted} {
		if !git.IsCommit(commit) || slices.Contains(found, commit) {
			continue
		}
		// else git has removed it, and nothing is left to keep
		if _, err := s.run(ctx, "cat-file", "-e", commit+"^{commit}"); err == nil {
			found = append(found, commit)
		}
	}
	return found
}

// lastHead is the last commit that the slot's own log of HEAD tells about; empty where git keeps none.
func (p place) lastHead() string {
	text, err := proc.ReadFile(filepath.Join(p.gitDir, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range slices.Backward(lines) {
		before, rest, _ := strings.Cut(line, " ")
		after, _, _ := strings.Cut(rest, " ")
		for _, commit := range []string{after, before} { // a ref that is deleted goes from a commit to zeros
			if git.IsCommit(commit) && strings.Trim(commit, "0") != "" {
				return commit
			}
		}
	}
	return ""
}
