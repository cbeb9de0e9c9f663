package worktree

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Work is how much a branch holds that the default branch has not.
type Work struct {
	Commits int
	Added   int // lines, those that are not committed yet included
	Removed int
}

// Work measures what the workspace holds that the base has not. Files that git does not know yet are left out.
func (s Contents) Work(ctx context.Context) (Work, error) {
	from, err := s.mergeBase(ctx)
	if err != nil {
		return Work{}, err
	}
	count, err := s.readGit(ctx, "rev-list", "--count", from+"..HEAD", "--")
	if err != nil {
		return Work{}, fmt.Errorf("count the commits of %q: %w", s.Dir, err)
	}
	short, err := s.readGit(ctx, "diff", "--shortstat", "--no-ext-diff", "--no-textconv", from, "--")
	if err != nil {
		return Work{}, fmt.Errorf("measure the changes of %q: %w", s.Dir, err)
	}
	var w Work
	if w.Commits, err = strconv.Atoi(count.Text()); err != nil {
		return Work{}, fmt.Errorf("count the commits of %q: git answered %q", s.Dir, count.Text())
	}
	w.Added, w.Removed = shortstat(short.Text())
	return w, nil
}

// shortstat reads " 3 files changed, 10 insertions(+), 2 deletions(-)", of which each part may be missing.
func shortstat(text string) (added, removed int) {
	for _, found := range regexp.MustCompile(`(\d+) (insertion|deletion)`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil {
			continue // more lines than a number can hold
		}
		if found[2] == "insertion" {
			added = n
		} else {
			removed = n
		}
	}
	return added, removed
}

// readGit runs git in the slot read-only: it takes no lock and may be called at any time.
func (s Contents) readGit(ctx context.Context, args ...string) (proc.Result, error) {
	return s.Repo.Do(ctx, git.Call{Dir: s.Dir, Args: args, Env: []string{git.Reading}})
}

// mergeBase is the commit where the workspace's branch left the base.
func (s Contents) mergeBase(ctx context.Context) (string, error) {
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return "", err
	}
	if err := s.Repo.CheckComparable(ctx, s.Dir, base.Commit, "HEAD"); err != nil {
		return "", fmt.Errorf("find where %q left %q: %w", s.Dir, base.Ref, err)
	}
	out, err := s.readGit(ctx, "merge-base", base.Commit, "HEAD")
	if err != nil {
		return "", fmt.Errorf("find where %q left %q: %w", s.Dir, base.Ref, err)
	}
	return out.Text(), nil
}

// Diff shows what the workspace changed since it left the base: which files, files that git does not know yet,
// and every line.
func (s Contents) Diff(ctx context.Context) (string, error) {
	from, err := s.mergeBase(ctx)
	if err != nil {
		return "", err
	}
	index, err := s.indexWithoutFlags(ctx)
	if err != nil {
		return "", err
	}
	defer index.remove()
	return s.diffSince(ctx, index.file, from)
}

// diffSince shows what the workspace changed since a commit. The index is one that was made for it.
func (s Contents) diffSince(ctx context.Context, index, from string) (string, error) {
	unknown, err := s.Repo.Do(ctx, git.Call{Dir: s.Dir, Index: index, Env: []string{git.Reading}, Most: git.MostDiff,
		Args: []string{"ls-files", "-z", "--others", "--exclude-standard"}})
	if err != nil {
		return "", fmt.Errorf("list the new files of %q: %w", s.Dir, err)
	}
	return s.Repo.Diff(ctx, git.Call{Dir: s.Dir, Index: index}, from, s.Dir, newFiles(unknown))
}

// newFiles are the names that git answered, each ended by NUL. The last one may be cut.
func newFiles(unknown proc.Result) []string {
	names := strings.Split(string(unknown.Stdout), "\x00")
	names = names[:len(names)-1]
	more := len(names) - git.MostFiles
	if more > 0 {
		names = names[:git.MostFiles]
	}
	out := make([]string, 0, len(names)+1)
	for _, name := range names {
		if strings.ContainsAny(name, "\n\r\t") {
			name = strconv.Quote(name)
		}
		out = append(out, " new, not added: "+name)
	}
	switch {
	case unknown.More > 0:
		out = append(out, " new, not added: very many more")
	case more > 0:
		out = append(out, fmt.Sprintf(" new, not added: %d more", more))
	}
	return out
}
