package worktree

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
)

// Shipped are the two commits of a task's snapshot: its record, and the work in its worktree.
type Shipped struct {
	Record string
	Work   string // empty where the task has no worktree and no branch
}

// shipRefs are the refs of a task's snapshot where it is kept, and restoreRefs those under which one is fetched here.
const (
	shipRefs    = "refs/orange/fleet/"
	restoreRefs = "refs/orange/restore/"
)

// WorkCommit is a commit of the slot's files as they are, uncommitted and new ones too, with HEAD as its parent, and
// the new files that keep leaves out of it. Ignored files are never in it. It changes nothing in the slot.
func (s Slot) WorkCommit(ctx context.Context, taskID string, keep func(file string, size int64) bool) (
	commit string, left []string, err error) {
	defer explain(&err, "cannot take a snapshot of workspace %q", s.Dir)
	here, present, err := s.look(ctx)
	if err == nil && (!present || here.head == "") {
		err = s.Repo.withMisplaced(s.Dir, errors.New("there is no worktree with a commit"))
	}
	if err != nil {
		return "", nil, err
	}
	return s.commitWork(ctx, here, taskID, keep)
}

// commitWork is WorkCommit for a slot that was looked at.
func (s Slot) commitWork(ctx context.Context, here place, taskID string, keep func(file string, size int64) bool) (
	commit string, left []string, err error) {
	known, err := s.list(ctx)
	if err != nil {
		return "", nil, err
	}
	index, err := s.newIndex(ctx, known, s.present(known.flags))
	if err != nil {
		return "", nil, err
	}
	defer index.remove()
	_, addErr := s.with(ctx, index.file, "add", "--all", "--sparse", "--ignore-errors")
	if addErr != nil && exitCode(addErr) < 0 {
		return "", nil, addErr
	}
	if left, err = s.leaveOut(ctx, index.file, here.head, keep); err != nil {
		return "", nil, err
	}
	if addErr != nil { // files that cannot be read stop no snapshot of the others
		all, err := s.changes(ctx, index.file, "all")
		if err != nil {
			return "", nil, err
		}
		for _, c := range all {
			if c.tree != unchanged && !slices.Contains(left, c.path) {
				left = append(left, c.path)
			}
		}
	}
	tree, err := s.writeTree(ctx, index.file)
	if err != nil {
		return "", nil, err
	}
	commit, err = s.commitTree(ctx, tree, "Orange: the work of task "+taskID+"\n", []string{"-p", here.head})
	return commit, left, err
}

// leaveOut takes new files out of an index that keep does not want.
func (s Slot) leaveOut(ctx context.Context, index, head string, keep func(string, int64) bool) ([]string, error) {
	added, err := s.with(ctx, index, "diff-index", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z",
		head)
	if err != nil {
		return nil, fmt.Errorf("list new files: %w", err)
	}
	var left []string
	for file := range strings.SplitSeq(string(added.Stdout), "\x00") {
		if file == "" {
			continue
		}
		size := int64(0)
		if info, err := os.Lstat(filepath.Join(s.Dir, file)); err == nil {
			size = info.Size()
		}
		if !keep(file, size) {
			left = append(left, file)
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	_, err = s.Repo.git(ctx, call{dir: s.Dir, index: index, stdin: strings.Join(left, "\x00") + "\x00",
		args: []string{"update-index", "--force-remove", "-z", "--stdin"}})
	return left, err
}

// FolderCommit is a commit of the regular files of a folder, and of some texts next to them, with these parents. An
// empty one is none.
func (r Repo) FolderCommit(ctx context.Context, folder string, texts map[string]string, message string,
	parents ...string) (commit string, err error) {
	defer explain(&err, "cannot take a snapshot of the folder %q", folder)
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
	out, err := r.git(ctx, call{dir: r.Path, args: []string{"hash-object", "-w", "--no-filters", "--stdin-paths"},
		stdin: strings.Join(names, "\n") + "\n"})
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
			out, err = r.git(ctx, call{dir: r.Path, args: []string{"hash-object", "-w", "--stdin", "--no-filters"},
				stdin: texts[name]})
			fmt.Fprintf(&entries, "100644 %s\t%s\x00", out.Text(), name)
		}
	}
	if err == nil {
		_, err = r.git(ctx, call{dir: r.Path, index: index, stdin: entries.String(),
			args: []string{"update-index", "-z", "--index-info"}})
	}
	if err != nil {
		return "", err
	}
	tree, err := r.git(ctx, call{dir: r.Path, index: index, args: []string{"write-tree"}})
	if err != nil {
		return "", err
	}
	var behind []string
	for _, parent := range parents {
		if parent != "" {
			behind = append(behind, "-p", parent)
		}
	}
	return r.commitTree(ctx, r.Path, tree.Text(), message, behind)
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
func (r Repo) BranchCommit(ctx context.Context, taskID, branch string) (string, error) {
	tip, err := r.Tip(ctx, branch)
	if err != nil || tip == "" {
		return "", err
	}
	return Slot{Repo: r, Dir: r.Path}.commitTree(ctx, tip+"^{tree}", "Orange: the work of task "+taskID+"\n",
		[]string{"-p", tip})
}

// behindRef keeps the commit that the next snapshot in a repository is behind. No push goes by it: which commit was
// acknowledged is noted apart.
func behindRef(taskID, to string) string {
	sum := sha256.Sum256([]byte(to))
	return fmt.Sprintf("refs/orange/behind/%s/%x", taskID, sum[:4])
}

// checkRemote refuses what git would take for an option, or for a program to run.
func checkRemote(to string) error {
	helper, _, program := strings.Cut(to, "::")
	program = program && !strings.ContainsAny(helper, "/[:@") // else it is in the address of a machine
	if to == "" || strings.HasPrefix(to, "-") || program || strings.ContainsAny(to, "\x00\n") {
		return task.Notef(task.ErrUsage, "cannot use %q as the repository of snapshots: expected the name of a "+
			"remote, a path or an address", to)
	}
	return nil
}

// Fetched fetches a task's snapshot from a repository, and keeps it here until it was restored.
func (r Repo) Fetched(ctx context.Context, from, taskID string) (s Shipped, err error) {
	if err := errors.Join(CheckTask(taskID), checkRemote(from)); err != nil {
		return s, err
	}
	defer explain(&err, "cannot fetch the snapshot of task %s from %q", taskID, from)
	env, err := r.remoteEnv(ctx)
	if err != nil {
		return s, err
	}
	there, err := r.refsAt(ctx, from, env, recordRef(taskID), workRef(taskID))
	if err != nil {
		return s, err
	}
	if there[recordRef(taskID)] == "" {
		return s, task.Notef(task.ErrNotFound, "there is none")
	}
	// One fetch takes both: a host that pushes between two of them would leave a record of other work than is here.
	local := restoreRefs + taskID
	specs, here := []string{"+" + recordRef(taskID) + ":" + local + "/record"}, []string{local + "/record^{commit}"}
	if there[workRef(taskID)] != "" {
		specs, here = append(specs, "+"+workRef(taskID)+":"+local+"/work"), append(here, local+"/work^{commit}")
	}
	if _, err := r.git(ctx, call{dir: r.Path, env: env, args: append([]string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", from}, specs...)}); err != nil {
		return s, err
	}
	out, err := r.run(ctx, append([]string{"rev-parse"}, here...)...)
	if commits := strings.Fields(out.Text()); err == nil {
		s.Record, s.Work = commits[0], strings.Join(commits[1:], "")
	}
	return s, err
}

// Earlier are the records behind that of a snapshot which was fetched, the newest first.
func (r Repo) Earlier(ctx context.Context, record string) ([]string, error) {
	out, err := r.run(ctx, "rev-list", "--first-parent", "--skip=1", record, "--")
	if err != nil {
		return nil, fmt.Errorf("list the snapshots before %.12s: %w", record, err)
	}
	return strings.Fields(out.Text()), nil
}

// LetGo lets go of a task's snapshot that was fetched.
func (r Repo) LetGo(ctx context.Context, taskID string) error {
	if err := CheckTask(taskID); err != nil {
		return err
	}
	known, err := r.refs(ctx, restoreRefs+taskID+"/record", restoreRefs+taskID+"/work")
	if err != nil || len(known) == 0 {
		return err
	}
	var lines strings.Builder
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		lines.WriteString("delete " + ref + "\n")
	}
	return r.updateRefs(ctx, lines.String())
}

// mostOfUnfolded is how many bytes of one file of a snapshot are read.
const mostOfUnfolded = 64 << 20

// Unfold reads the files of a snapshot's record: those of the task's folder by their names there, and the texts next to
// the folder. Names that lead out of the folder are an error.
func (r Repo) Unfold(ctx context.Context, record string) (files, texts map[string][]byte, err error) {
	defer explain(&err, "cannot read the snapshot %.12s", record)
	out, err := r.run(ctx, "ls-tree", "-r", "-z", "--long", "--full-tree", record)
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
		blob, err := r.git(ctx, call{dir: r.Path, args: []string{"cat-file", "blob", fields[2]}})
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
func (r Repo) Begin(ctx context.Context, branch, work string) (err error) {
	if err := CheckBranch(ctx, branch); err != nil {
		return err
	}
	defer explain(&err, "cannot make the branch %q of the snapshot", branch)
	head, err := r.run(ctx, "rev-parse", "--verify", work+"^1")
	if err != nil {
		return err
	}
	tip, err := r.Tip(ctx, branch)
	if err != nil {
		return err
	}
	if tip != "" {
		has, err := r.contains(ctx, tip, head.Text())
		if err != nil || has {
			return err
		}
		if free, err := r.behind(ctx, branch, tip, head.Text()); err != nil || !free {
			return errors.Join(fmt.Errorf("there is a branch of that name that lacks the commit %.12s of the "+
				"snapshot; rename or remove it, and try again", head.Text()), err)
		}
	} else {
		tip = strings.Repeat("0", len(head.Text()))
	}
	_, err = r.run(ctx, "update-ref", "refs/heads/"+branch, head.Text(), tip)
	return err
}

// behind reports whether a branch can go forward to a commit: it has nothing that the commit has not, and no worktree
// has it.
func (r Repo) behind(ctx context.Context, branch, tip, commit string) (bool, error) {
	old, err := r.contains(ctx, commit, tip)
	if err != nil || !old {
		return false, err
	}
	all, err := r.checkouts(ctx, r.Path)
	return !slices.ContainsFunc(all, func(c checkout) bool { return c.branch == "refs/heads/"+branch }), err
}

// Restore lays out in the slot what was uncommitted of a task whose snapshot was fetched, and lets go of the snapshot.
// It does so where the slot is at the commit that the worktree had and has no changes of its own; else the snapshot
// stays under its ref, which is returned. Without a snapshot it does nothing.
func (s Slot) Restore(ctx context.Context, taskID string) (stays string, err error) {
	if err := CheckTask(taskID); err != nil {
		return "", err
	}
	ref := restoreRefs + taskID + "/work"
	known, err := s.Repo.refs(ctx, ref)
	if err != nil || len(known) == 0 {
		return "", err
	}
	defer explain(&err, "cannot restore the uncommitted work of task %s in workspace %q", taskID, s.Dir)
	here, present, err := s.look(ctx)
	if err != nil || !present {
		return ref, err
	}
	parent, err := s.run(ctx, "rev-parse", "--verify", ref+"^1")
	if err != nil {
		return ref, err
	}
	changed, err := s.changes(ctx, "", "all")
	if err != nil {
		return ref, err
	}
	if parent.Text() != here.head || len(changed) > 0 {
		return ref, nil
	}
	same, err := s.run(ctx, "rev-parse", ref+"^{tree}", "HEAD^{tree}")
	if err != nil {
		return ref, err
	}
	// Where nothing was uncommitted there is nothing to lay out, and git takes no path where there is no file at all.
	if trees := strings.Fields(same.Text()); len(trees) != 2 || trees[0] != trees[1] {
		_, err = s.run(ctx, "restore", "--worktree", "--no-overlay", "--source="+ref, "--", ":/")
	}
	if err != nil {
		return ref, err
	}
	return "", s.Repo.updateRefs(ctx, "delete "+ref+"\n")
}
