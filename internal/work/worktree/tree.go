package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/work/git"
)

// Trees are what lay in a worktree at one moment, as trees of git.
type Trees struct {
	// files that git knew and files that it did not; not what is ignored, nor the link to the task's document
	Whole   string
	Tracked string // of these the files that git knew
}

// The refs that keep the trees of a task from being thrown away.
const (
	judgedRefs        = "refs/orange/judged/"
	judgedTrackedRefs = "refs/orange/judged-tracked/"
)

// Trees writes down what lies in the slot, committed or not, and keeps it under refs of the task until it is
// asked again. The slot, its index and its files stay as they are.
func (s Contents) Trees(ctx context.Context, taskID string) (Trees, error) {
	if err := git.CheckTask(taskID); err != nil {
		return Trees{}, err
	}
	made, err := s.trees(ctx)
	if err != nil {
		return Trees{}, fmt.Errorf("cannot record what is in workspace %q: %w", s.Dir, err)
	}
	refs := fmt.Sprintf("update %s%s %s\nupdate %s%s %s\n", judgedRefs, taskID, made.Whole, judgedTrackedRefs,
		taskID, made.Tracked)
	if err := s.Repo.UpdateRefs(ctx, refs); err != nil {
		return Trees{}, fmt.Errorf("cannot keep what lies in workspace %q: %w", s.Dir, err)
	}
	return made, nil
}

func (s Contents) trees(ctx context.Context) (Trees, error) {
	index, err := s.indexWithoutFlags(ctx)
	if err != nil {
		return Trees{}, err
	}
	defer index.remove()
	var made Trees
	if made.Tracked, err = s.treeOfFiles(ctx, index.file); err != nil {
		return Trees{}, err
	}
	link, err := s.Document().linkFile()
	if err != nil {
		return Trees{}, err
	}
	all, err := s.changes(ctx, index.file, "all")
	if err != nil {
		return Trees{}, err
	}
	var files []string
	for _, c := range all {
		if c.index == untracked && c.path != filepath.ToSlash(link) {
			files = append(files, c.path)
		}
	}
	made.Whole, err = s.withFiles(ctx, index.file, files)
	return made, err
}

// ChangedSince lists the files that are not what they were when the whole tree was written down: those that git
// knows now, and those of the tree. Files that are new since, and that git does not know, are none of it.
func (s Contents) ChangedSince(ctx context.Context, whole string) (changed []string, err error) {
	defer git.Explain(&err, "cannot compare workspace %q with what was judged", s.Dir)
	index, err := s.indexWithoutFlags(ctx)
	if err != nil {
		return nil, err
	}
	defer index.remove()
	now, err := s.treeOfFiles(ctx, index.file)
	if err != nil {
		return nil, err
	}
	apart, err := s.Repo.DiffTrees(ctx, whole, now)
	if err != nil || len(apart) == 0 {
		return nil, err
	}
	var files []string
	for _, d := range apart {
		if d.Kind == git.RemovedFile && s.isFile(d.Path) {
			files = append(files, d.Path) // one that git did not know then, and does not know now
		}
	}
	if len(files) > 0 {
		if now, err = s.withFiles(ctx, index.file, files); err != nil {
			return nil, err
		}
		if apart, err = s.Repo.DiffTrees(ctx, whole, now); err != nil {
			return nil, err
		}
	}
	return git.Paths(apart), nil
}

// Differs lists the files by which a commit is not what was judged: the whole tree, of which files may be missing
// that git did not know then.
func (r Judged) Differs(ctx context.Context, judged Trees, commit string) ([]string, error) {
	apart, err := r.DiffTrees(ctx, judged.Whole, commit+"^{tree}")
	if err == nil && slices.ContainsFunc(apart, func(d git.FileChange) bool { return d.Kind == git.RemovedFile }) {
		var unknown map[string]bool
		unknown, err = r.unknownFiles(ctx, judged)
		apart = slices.DeleteFunc(apart, func(d git.FileChange) bool {
			return d.Kind == git.RemovedFile &&
				unknown[d.Path]
		})
	}
	if err != nil {
		return nil, fmt.Errorf("cannot compare %s with what was judged: %w", commit, err)
	}
	return git.Paths(apart), nil
}

// unknownFiles are those of the files that git did not know when they were judged.
func (r Judged) unknownFiles(ctx context.Context, judged Trees) (map[string]bool, error) {
	unknown := map[string]bool{}
	beside, err := r.DiffTrees(ctx, judged.Whole, judged.Tracked)
	for _, d := range beside {
		unknown[d.Path] = d.Kind == git.RemovedFile
	}
	return unknown, err
}

// indexWithoutFlags is a temporary index with the entries of the slot's, in which nothing is overlooked.
func (s Contents) indexWithoutFlags(ctx context.Context) (tempIndex, error) {
	if _, own := s.ownPlace(ctx); !own {
		return tempIndex{}, s.Repo.WithMisplaced(s.Dir, errors.New("it is no worktree of the repository"))
	}
	prepared, _, err := s.note(ctx)
	if err != nil {
		return tempIndex{}, err
	}
	known, err := s.list(ctx)
	if err != nil {
		return tempIndex{}, err
	}
	return s.newIndex(ctx, known, s.hidingFlags(known.flags, prepared))
}

// treeOfFiles is the tree of all files that the index knows, as they lie there.
func (s Contents) treeOfFiles(ctx context.Context, index string) (string, error) {
	if _, err := s.runWithIndex(ctx, index, "add", "--update", "--sparse", "--", ":/"); err != nil {
		return "", fmt.Errorf("add what changed: %w", err)
	}
	return s.writeTree(ctx, index)
}

func (s Contents) writeTree(ctx context.Context, index string) (string, error) {
	out, err := s.runWithIndex(ctx, index, "write-tree")
	if err != nil {
		return "", fmt.Errorf("write the tree: %w", err)
	}
	return out.Text(), nil
}

// withFiles is the tree of the index with some files more.
func (s Contents) withFiles(ctx context.Context, index string, files []string) (string, error) {
	if len(files) > 0 {
		c := git.Call{Dir: s.Dir, Args: []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"},
			Index: index, Stdin: strings.Join(files, "\x00") + "\x00"}
		if _, err := s.Repo.Do(ctx, c); err != nil {
			return "", fmt.Errorf("add %d new files: %w", len(files), err)
		}
	}
	return s.writeTree(ctx, index)
}

// isFile reports whether git could know something of this name: a file or a link, in folders that are none.
func (s Contents) isFile(file string) bool {
	at := s.Dir
	parts := strings.Split(file, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil || info.IsDir() != (i < len(parts)-1) {
			return false
		}
	}
	return true
}

// Tasks lists the tasks for which trees are kept that were judged, sorted.
func (r Judged) Tasks(ctx context.Context) ([]string, error) {
	rows, err := r.ListRefs(ctx, []string{judgedRefs, judgedTrackedRefs}, "refname")
	if err != nil {
		return nil, fmt.Errorf("cannot list the trees that were judged: %w", err)
	}
	var all []string
	for _, row := range rows {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(row[0], judgedRefs), judgedTrackedRefs))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Forget lets go of the trees that were judged for a task, which nothing names any more. Where neither the
// branch nor what was kept for the task has these files, they are kept like all work: they were taken back, and
// no commit has them. After a good end that is asked only of files that git knew: the commit left out those that
// tests had written.
func (r Judged) Forget(ctx context.Context, taskID, branch string, well bool) (kept []Rescue, err error) {
	if err := git.CheckTask(taskID); err != nil {
		return nil, err
	}
	defer git.Explain(&err, "cannot let go of what was judged for task %q", taskID)
	found, err := r.Refs(ctx, judgedRefs+taskID, judgedTrackedRefs+taskID)
	if err != nil {
		return nil, err
	}
	made := Trees{Whole: found[judgedRefs+taskID].Commit, Tracked: found[judgedTrackedRefs+taskID].Commit}
	var forget strings.Builder
	for name, one := range found { // all or none
		fmt.Fprintf(&forget, "delete %s %s\n", name, one.Commit)
	}
	if forget.Len() == 0 {
		return nil, nil
	}
	if kept, err = r.keepJudged(ctx, taskID, branch, made, well); err != nil {
		return kept, err
	}
	return kept, r.UpdateRefs(ctx, forget.String())
}

// keepJudged keeps the files that were judged, unless the branch has them or an earlier rescue of the task.
func (r Judged) keepJudged(ctx context.Context, taskID, branch string, made Trees, well bool) ([]Rescue, error) {
	if made.Whole == "" || made.Tracked == "" {
		return nil, nil // one of both alone was never judged
	}
	have, err := Rescues(r).storedRefs(ctx, taskID)
	if err != nil {
		return nil, err
	}
	var holders, parents []string
	for _, one := range have {
		holders = append(holders, one.commit)
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return nil, err
	}
	if tip != "" {
		holders, parents = append(holders, tip), []string{"-p", tip}
	}
	for _, commit := range holders {
		if has, err := r.commitHolds(ctx, commit, made, well); err != nil || has {
			return nil, err
		}
	}
	kept := Rescue{What: uncommitted}
	message := fmt.Sprintf("Orange: what was judged of task %s\n\nBranch: %s\n", taskID, cmp.Or(branch, none))
	if kept.Commit, err = r.CommitTree(ctx, r.Path, made.Whole, message, parents); err != nil {
		return nil, err
	}
	if kept, err = (Rescues(r)).newRescue(ctx, taskID, branch, kept); err != nil {
		return nil, err
	}
	return []Rescue{kept}, nil
}

// commitHolds reports whether a commit has the files that were judged, be it with others next to them; with knownOnly,
// those that git knew then.
func (r Judged) commitHolds(ctx context.Context, commit string, made Trees, knownOnly bool) (bool, error) {
	apart, err := r.DiffTrees(ctx, made.Whole, commit+"^{tree}")
	if err != nil {
		return false, err
	}
	var unknown map[string]bool
	if knownOnly {
		if unknown, err = r.unknownFiles(ctx, made); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(apart, func(d git.FileChange) bool {
		return d.Kind != git.AddedFile && (d.Kind != git.RemovedFile || !unknown[d.Path])
	}), nil
}
