// Package ship makes the commits of snapshots, pushes them to another repository, and fetches them from there.
//
// It does not own what belongs to a snapshot, nor which one was acknowledged last (snapshots).
package ship

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Snapshots are those of tasks, which go from a repository to others and come back.
type Snapshots struct{ git.Repo }

// Shipped are the two commits of a task's snapshot: its record, and the work in its worktree.
type Shipped struct {
	Record string
	Work   string // empty where the task has no worktree and no branch
}

// FolderCommit is a commit of the regular files of a folder, and of some texts next to them, with these parents. An
// empty one is none.
func (r Snapshots) FolderCommit(ctx context.Context, folder string, texts map[string]string, message string,
	parents ...string) (commit string, err error) {
	defer git.Explain(&err, "cannot take a snapshot of the folder %q", folder)
	private, err := os.MkdirTemp(proc.TempDir(ctx), "orange-index-")
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(private)
	index := filepath.Join(private, "index")
	names, err := filesBelow(folder)
	if err == nil && len(names) == 0 {
		err = errors.New("there is no file in it")
	}
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	// One program writes all of them: a task may have hundreds of kept texts.
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"hash-object", "-w", "--no-filters", "--stdin-paths"},
		Stdin: strings.Join(names, "\n") + "\n"})
	blobs := strings.Fields(out.Text())
	if err == nil && len(blobs) != len(names) {
		err = fmt.Errorf("git wrote %d of %d files", len(blobs), len(names))
	}
	for i := 0; err == nil && i < len(names); i++ {
		var name string
		name, err = filepath.Rel(folder, names[i])
		fmt.Fprintf(&entries, "100644 %s\ttask/%s\x00", blobs[i], filepath.ToSlash(name))
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err == nil {
			out, err = r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"hash-object", "-w", "--stdin", "--no-filters"},
				Stdin: texts[name]})
			fmt.Fprintf(&entries, "100644 %s\t%s\x00", out.Text(), name)
		}
	}
	if err == nil {
		_, err = r.Do(ctx, git.Call{Dir: r.Path, Index: index, Stdin: entries.String(),
			Args: []string{"update-index", "-z", "--index-info"}})
	}
	if err != nil {
		return "", err
	}
	tree, err := r.Do(ctx, git.Call{Dir: r.Path, Index: index, Args: []string{"write-tree"}})
	if err != nil {
		return "", err
	}
	var behind []string
	for _, parent := range parents {
		if parent != "" {
			behind = append(behind, "-p", parent)
		}
	}
	return r.CommitTree(ctx, r.Path, tree.Text(), message, behind)
}

// filesBelow are the regular files of a folder and of those in it, but for hidden ones: these are there for an instant,
// while another one is written.
func filesBelow(folder string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(file string, entry os.DirEntry, err error) error {
		hidden := err == nil && file != folder && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return filepath.SkipDir
		case strings.Contains(file, "\n"):
			return fmt.Errorf("the name %q has a line break", file)
		case entry.Type().IsRegular() && !hidden:
			names = append(names, file)
		}
		return nil
	})
	return names, err
}

// BranchCommit is a commit of a branch as it is, for a task that has a branch and no worktree; empty where there is no
// such branch.
func (r Snapshots) BranchCommit(ctx context.Context, taskID, branch string) (string, error) {
	tip, err := r.Tip(ctx, branch)
	if err != nil || tip == "" {
		return "", err
	}
	return r.CommitTree(ctx, r.Path, tip+"^{tree}", "Orange: the work of task "+taskID+"\n",
		[]string{"-p", tip})
}

// behindRef keeps the commit that the next snapshot in a repository is behind. No push goes by it: which commit was
// acknowledged is noted apart.
func behindRef(taskID, to string) string {
	sum := sha256.Sum256([]byte(to))
	return fmt.Sprintf("refs/orange/behind/%s/%x", taskID, sum[:4])
}

// FetchSnapshot fetches a task's snapshot from a repository, and keeps it here until it was restored.
func (r Snapshots) FetchSnapshot(ctx context.Context, from, taskID string) (s Shipped, err error) {
	if err := errors.Join(git.CheckTask(taskID), git.CheckRemote(from)); err != nil {
		return s, err
	}
	defer git.Explain(&err, "cannot fetch the snapshot of task %s from %q", taskID, from)
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return s, err
	}
	there, err := r.RefsAt(ctx, from, env, recordRef(taskID), workRef(taskID))
	if err != nil {
		return s, err
	}
	if there[recordRef(taskID)] == "" {
		return s, task.Notef(task.ErrNotFound, "there is none")
	}
	// One fetch takes both: a host that pushes between two of them would leave a record of other work than is here.
	local := git.RestoreRefs + taskID
	specs, here := []string{"+" + recordRef(taskID) + ":" + local + "/record"}, []string{local + "/record^{commit}"}
	if there[workRef(taskID)] != "" {
		specs, here = append(specs, "+"+workRef(taskID)+":"+local+"/work"), append(here, local+"/work^{commit}")
	}
	if _, err := r.Do(ctx, git.Call{Dir: r.Path, Env: env, Args: append([]string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", from}, specs...)}); err != nil {
		return s, err
	}
	out, err := r.Run(ctx, append([]string{"rev-parse"}, here...)...)
	if commits := strings.Fields(out.Text()); err == nil {
		s.Record, s.Work = commits[0], strings.Join(commits[1:], "")
	}
	return s, err
}

// Earlier are the records behind that of a snapshot which was fetched, the newest first.
func (r Snapshots) Earlier(ctx context.Context, record string) ([]string, error) {
	out, err := r.Run(ctx, "rev-list", "--first-parent", "--skip=1", record, "--")
	if err != nil {
		return nil, fmt.Errorf("list the snapshots before %.12s: %w", record, err)
	}
	return strings.Fields(out.Text()), nil
}

// LetGo lets go of a task's snapshot that was fetched.
func (r Snapshots) LetGo(ctx context.Context, taskID string) error {
	if err := git.CheckTask(taskID); err != nil {
		return err
	}
	known, err := r.Refs(ctx, git.RestoreRefs+taskID+"/record", git.RestoreRefs+taskID+"/work")
	if err != nil || len(known) == 0 {
		return err
	}
	var lines strings.Builder
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		lines.WriteString("delete " + ref + "\n")
	}
	return r.UpdateRefs(ctx, lines.String())
}

// mostOfUnfolded is how many bytes of one file of a snapshot are read.
const mostOfUnfolded = 64 << 20

// Unfold reads the files of a snapshot's record: those of the task's folder by their names there, and the texts next to
// the folder. Names that lead out of the folder are an error.
func (r Snapshots) Unfold(ctx context.Context, record string) (files, texts map[string][]byte, err error) {
	defer git.Explain(&err, "cannot read the snapshot %.12s", record)
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", record)
	if err != nil {
		return nil, nil, err
	}
	files, texts = map[string][]byte{}, map[string][]byte{}
	for line := range strings.SplitSeq(string(out.Stdout), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		fields := strings.Fields(about)
		size, bad := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		if fields[0] != "100644" || bad != nil || size > mostOfUnfolded || !filepath.IsLocal(name) ||
			path.Clean(name) != name {
			return nil, nil, fmt.Errorf("%q in it is no file of a task's folder", name)
		}
		blob, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"cat-file", "blob", fields[2]}})
		if err != nil {
			return nil, nil, err
		}
		if inner, of := strings.CutPrefix(name, "task/"); of {
			files[inner] = blob.Stdout
		} else {
			texts[name] = blob.Stdout
		}
	}
	return files, texts, nil
}

// Begin makes the branch of a task whose snapshot was fetched: at the commit that its worktree had. A branch that is
// there and has that commit stays as it is. One that only lacks commits, as at a home that had the task before, goes
// forward, if no worktree has it; one that has commits of its own is an error.
func (r Snapshots) Begin(ctx context.Context, branch, work string) (err error) {
	if err := git.CheckBranch(ctx, branch); err != nil {
		return err
	}
	defer git.Explain(&err, "cannot make the branch %q of the snapshot", branch)
	head, err := r.Run(ctx, "rev-parse", "--verify", work+"^1")
	if err != nil {
		return err
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return err
	}
	if tip != "" {
		has, err := r.Contains(ctx, tip, head.Text())
		if err != nil || has {
			return err
		}
		if free, err := r.canGoForward(ctx, branch, tip, head.Text()); err != nil || !free {
			return errors.Join(fmt.Errorf("there is a branch of that name that lacks the commit %.12s of the "+
				"snapshot; rename or remove it, and try again", head.Text()), err)
		}
	} else {
		tip = strings.Repeat("0", len(head.Text()))
	}
	_, err = r.Run(ctx, "update-ref", "refs/heads/"+branch, head.Text(), tip)
	return err
}

// canGoForward reports whether a branch can go forward to a commit: it has nothing that the commit has not, and no
// worktree has it.
func (r Snapshots) canGoForward(ctx context.Context, branch, tip, commit string) (bool, error) {
	old, err := r.Contains(ctx, commit, tip)
	if err != nil || !old {
		return false, err
	}
	all, err := r.Checkouts(ctx, r.Path)
	return !slices.ContainsFunc(all, func(c git.Worktree) bool { return c.Branch == "refs/heads/"+branch }), err
}
