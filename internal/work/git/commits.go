package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Between counts what the history of one commit holds and that of the other does not: first what the second has
// more, then what it has not.
func (r Repo) Between(ctx context.Context, from, to string) (more, fewer int, err error) {
	out, err := r.Run(ctx, "rev-list", "--left-right", "--count", from+"..."+to, "--")
	if err == nil {
		_, err = fmt.Sscan(out.Text(), &fewer, &more)
	}
	if err == nil {
		err = r.CheckComparable(ctx, r.Path, from, to)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("cannot count the commits between %s and %s: %w", from, to, err)
	}
	return more, fewer, nil
}

// Differing are those of the paths that two commits have otherwise.
func (r Repo) Differing(ctx context.Context, one, other string, paths []string) ([]string, error) {
	args := []string{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", one,
		other, "--"}
	for _, path := range paths {
		args = append(args, ":(top,literal)"+path)
	}
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("cannot compare %d files of %s and %s: %w", len(paths), one, other, err)
	}
	return strings.FieldsFunc(string(out.Stdout), func(r rune) bool { return r == 0 }), nil
}

// Changed lists the paths that differ between the head and where it left the base, sorted, and those of them that the
// base has not; a file that was moved has both of its paths.
func (r Repo) Changed(ctx context.Context, base, head string) (paths, added []string, err error) {
	defer Explain(&err, "cannot list what changed since %s", base)
	if err := r.CheckComparable(ctx, r.Path, base, head); err != nil {
		return nil, nil, err
	}
	out, err := r.Run(ctx, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff",
		"--ignore-submodules=none", base+"..."+head, "--")
	if err != nil {
		return nil, nil, err
	}
	words := strings.Split(string(out.Stdout), "\x00")
	for ; len(words) > 1; words = words[2:] {
		paths = append(paths, words[1])
		if words[0] == "A" {
			added = append(added, words[1])
		}
	}
	slices.Sort(paths)
	return paths, added, nil
}

// CountUnpushed is how many commits the local default branch has that origin has not.
func (r Repo) CountUnpushed(ctx context.Context, local, origin string) (int, error) {
	if local == "" || local == origin {
		return 0, nil
	}
	args := []string{"rev-list", "--count", local}
	if origin != "" {
		if err := r.CheckComparable(ctx, r.Path, local, origin); err != nil {
			return 0, err
		}
		args = append(args, "^"+origin)
	}
	out, err := r.Run(ctx, append(args, "--")...)
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
	defer Explain(&err, "cannot find the commits of %q in %q that were never pushed", r.DefaultBranch, r.Path)
	remote, err := r.HasRemote(ctx)
	if err != nil || !remote {
		return 0, nil, err
	}
	known, err := r.Refs(ctx, r.DefaultRefs()...)
	if err != nil {
		return 0, nil, err
	}
	local, origin := known[r.LocalDefault()].Commit, known[r.OriginDefault()].Commit
	if count, err = r.CountUnpushed(ctx, local, origin); err != nil || count == 0 {
		return 0, nil, err
	}
	args := []string{"log", "--format=%h %s", "--max-count=" + strconv.Itoa(mostUnpushed), local}
	if origin != "" {
		args = append(args, "^"+origin)
	}
	out, err := r.Run(ctx, append(args, "--")...)
	if err != nil {
		return 0, nil, fmt.Errorf("list them: %w", err)
	}
	return count, strings.Split(out.Text(), "\n"), nil
}

// Landed reports whether the default branch, here or on origin, has one of the commits.
func (r Repo) Landed(ctx context.Context, commits []string) (bool, error) {
	known, err := r.Refs(ctx, r.DefaultRefs()...)
	if err != nil {
		return false, fmt.Errorf("look for the default branch: %w", err)
	}
	for _, tip := range known { // the order does not matter
		for _, commit := range commits {
			if has, err := r.HasLanded(ctx, tip.Commit, commit); err != nil || has {
				return has, err
			}
		}
	}
	return false, nil
}

// Lacks returns which of some commits the base of a new branch does not have, and the name of that base.
func (r Repo) Lacks(ctx context.Context, commits []string) (base string, lacks []string, err error) {
	defer Explain(&err, "cannot find where a new branch in %q starts", r.Path)
	from, err := r.Base(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, commit := range commits {
		has, err := r.HasLanded(ctx, from.Commit, commit)
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
	out, err := r.Run(ctx, "log", "-1", "--format=%B", commit, "--")
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
	out, err := r.Run(ctx, "log", "--first-parent", "--format=%s", "--max-count="+strconv.Itoa(most), base.Commit, "--")
	if err != nil {
		return nil, fmt.Errorf("list the newest commits of %q: %w", r.DefaultBranch, err)
	}
	return strings.Split(out.Text(), "\n"), nil
}

// Tree is the tree of a commit.
func (r Repo) Tree(ctx context.Context, commit string) (string, error) {
	out, err := r.Run(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of %s: %w", commit, err)
	}
	return out.Text(), nil
}

// HasLanded reports whether the default branch has a commit. One that is not here was never pushed, nor merged.
func (r Repo) HasLanded(ctx context.Context, start, commit string) (bool, error) {
	if _, err := r.Run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		if ExitCode(err) < 0 {
			return false, fmt.Errorf("look for the commit %s: %w", commit, err)
		}
		return false, nil
	}
	return r.Contains(ctx, start, commit)
}

// HasCommit reports whether the repository has a commit.
func (r Repo) HasCommit(ctx context.Context, commit string) (bool, error) {
	if !IsCommit(commit) {
		return false, nil
	}
	_, err := r.Run(ctx, "cat-file", "-e", commit+"^{commit}")
	if ExitCode(err) > 0 {
		return false, nil
	}
	return err == nil, err
}

// Held tells of some commits which ones the repository does not have, and which no branch, tag or ref of Orange's
// holds. What a worktree alone has checked out is not held.
func (r Repo) Held(ctx context.Context, commits []string) (gone, loose []string, err error) {
	const together = 500 // of those that a command line takes
	for some := range slices.Chunk(commits, together) {
		looked, err := r.Do(ctx, Call{Dir: r.Path, Stdin: strings.Join(some, "\n") + "\n",
			Args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}})
		if err != nil {
			return nil, nil, fmt.Errorf("look for %d commits: %w", len(some), err)
		}
		lines, there := strings.Split(string(looked.Stdout), "\n"), []string{}
		for _, commit := range some {
			if slices.Contains(lines, commit+" commit") {
				there = append(there, commit)
			} else {
				gone = append(gone, commit)
			}
		}
		if len(there) == 0 {
			continue
		}
		free, err := r.heldByNone(ctx, there)
		if err != nil {
			return nil, nil, fmt.Errorf("look for what holds %d commits: %w", len(there), err)
		}
		loose = append(loose, free...)
	}
	return gone, loose, nil
}

// heldByNone are those of some commits that no branch, tag or ref of Orange's holds. Git has to sort all of them by
// date before it walks: it ends where what comes next is held and older than what it has met. Where the clocks of those
// who committed differ it ends too early, and names too many: these are looked for in all that is held.
func (r Repo) heldByNone(ctx context.Context, commits []string) ([]string, error) {
	holders := []string{"--branches", "--tags", "--remotes", "--glob=refs/orange"}
	out, err := r.Run(ctx, slices.Concat([]string{"rev-list"}, commits, []string{"--not"}, holders)...)
	if err != nil {
		return nil, err
	}
	named := unseen{left: map[string]bool{}} // with what they are made on
	for _, commit := range strings.Fields(string(out.Stdout)) {
		named.left[commit] = true
	}
	if len(named.left) > 0 {
		_, err = r.Do(ctx, Call{Dir: r.Path, Args: append([]string{"rev-list"}, holders...), stdout: &named})
	}
	isHeld := func(commit string) bool { return !named.left[commit] }
	return slices.DeleteFunc(slices.Clone(commits), isHeld), err
}

// unseen has the commits of a list that are not in what git writes to it, each in a line.
type unseen struct {
	left map[string]bool
	line []byte // as far as it was written
}

func (u *unseen) Write(text []byte) (int, error) {
	u.line = append(u.line, text...)
	for {
		line, rest, whole := bytes.Cut(u.line, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		delete(u.left, string(line))
		u.line = rest
	}
}

// Heads are the tips of branches at one moment, and where the default branch is.
type Heads struct {
	Tips map[string]string // by the branch's name; those that do not exist are missing
	// Local and Origin are the default branch, here and as it was last seen on origin; empty where it is not.
	Local, Origin string
}

// Heads reads the tips of branches.
func (r Repo) Heads(ctx context.Context, branches []string) (h Heads, err error) {
	defer Explain(&err, "cannot read the branches of %q", r.Path)
	names := r.DefaultRefs()
	for _, branch := range branches {
		names = append(names, "refs/heads/"+branch)
	}
	found, err := r.Refs(ctx, names...)
	if err != nil {
		return Heads{}, err
	}
	h = Heads{Tips: map[string]string{}, Local: found[r.LocalDefault()].Commit, Origin: found[r.OriginDefault()].Commit}
	for _, branch := range branches {
		if tip := found[HeadRefs+branch].Commit; tip != "" {
			h.Tips[branch] = tip
		}
	}
	return h, nil
}
