package worktree

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"orange/internal/run/proc"
)

// Work is how much a branch holds that the default branch has not.
type Work struct {
	Commits int
	Added   int // lines, those that are not committed yet included
	Removed int
}

// Work measures what the workspace holds that the base has not. Files that git does not know yet are left out.
func (s Slot) Work(ctx context.Context) (Work, error) {
	from, err := s.mergeBase(ctx)
	if err != nil {
		return Work{}, err
	}
	count, err := s.read(ctx, "rev-list", "--count", from+"..HEAD", "--")
	if err != nil {
		return Work{}, fmt.Errorf("count the commits of %q: %w", s.Dir, err)
	}
	short, err := s.read(ctx, "diff", "--shortstat", "--no-ext-diff", "--no-textconv", from, "--")
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

// read runs git in the slot read-only: it takes no lock and may be called at any time.
func (s Slot) read(ctx context.Context, args ...string) (proc.Result, error) {
	return s.Repo.git(ctx, call{dir: s.Dir, args: args, env: []string{reading}})
}

// mergeBase is the commit where the workspace's branch left the base.
func (s Slot) mergeBase(ctx context.Context) (string, error) {
	base, err := s.Repo.Base(ctx)
	if err != nil {
		return "", err
	}
	if err := s.Repo.comparable(ctx, s.Dir, base.Commit, "HEAD"); err != nil {
		return "", fmt.Errorf("find where %q left %q: %w", s.Dir, base.Ref, err)
	}
	out, err := s.read(ctx, "merge-base", base.Commit, "HEAD")
	if err != nil {
		return "", fmt.Errorf("find where %q left %q: %w", s.Dir, base.Ref, err)
	}
	return out.Text(), nil
}

// Diff shows what the workspace changed since it left the base: which files, files that git does not know yet,
// and every line.
func (s Slot) Diff(ctx context.Context) (string, error) {
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
func (s Slot) diffSince(ctx context.Context, index, from string) (string, error) {
	unknown, err := s.Repo.git(ctx, call{dir: s.Dir, index: index, env: []string{reading}, most: mostDiff,
		args: []string{"ls-files", "-z", "--others", "--exclude-standard"}})
	if err != nil {
		return "", fmt.Errorf("list the new files of %q: %w", s.Dir, err)
	}
	return s.Repo.diff(ctx, call{dir: s.Dir, index: index}, from, s.Dir, newFiles(unknown))
}

// ErrNoBranch says that there is nothing to compare: the branch was never created, or it was deleted.
var ErrNoBranch = errors.New("there is no such branch")

// BranchDiff shows what a branch changed that has no workspace any more.
func (r Repo) BranchDiff(ctx context.Context, branch string) (string, error) {
	base, err := r.Base(ctx)
	if err != nil {
		return "", err
	}
	exists, err := r.BranchExists(ctx, branch)
	if err != nil {
		return "", err
	}
	if !exists {
		return "", fmt.Errorf("cannot show the changes of %q: %w", branch, ErrNoBranch)
	}
	if err := r.comparable(ctx, r.Path, base.Commit, "refs/heads/"+branch); err != nil {
		return "", fmt.Errorf("show the changes of %q: %w", branch, err)
	}
	return r.diff(ctx, call{dir: r.Path}, base.Commit+"...refs/heads/"+branch, branch, nil)
}

// Bounds of what is shown of a diff: more than this is not read on a screen.
const (
	mostDiff  = 1 << 20 // bytes
	mostFiles = 200     // that are listed, of those that changed and of those that are new
)

// diff has the list of files and every line in one go, regardless of what a person configured for diffs of their
// own. in says where, and with which index; unknown are files that git does not know yet.
func (r Repo) diff(ctx context.Context, in call, of, name string, unknown []string) (string, error) {
	in.env, in.most = []string{reading}, mostDiff
	in.args = []string{"diff", "--stat", "--patch", fmt.Sprintf("--stat-count=%d", mostFiles), "--no-ext-diff",
		"--no-textconv", "--no-color", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", of, "--"}
	shown, err := r.git(ctx, in)
	if err != nil {
		return "", fmt.Errorf("show the changes of %q: %w", name, err)
	}
	return joinDiff(shown, unknown), nil
}

// newFiles are the names that git answered, each ended by NUL. The last one may be cut.
func newFiles(unknown proc.Result) []string {
	names := strings.Split(string(unknown.Stdout), "\x00")
	names = names[:len(names)-1]
	more := len(names) - mostFiles
	if more > 0 {
		names = names[:mostFiles]
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

// joinDiff puts files that git does not know yet beneath the list of those that it does.
func joinDiff(shown proc.Result, unknown []string) string {
	stat, lines, _ := strings.Cut(string(shown.Stdout), "\n\n")
	var b strings.Builder
	for _, line := range append([]string{strings.TrimRight(stat, "\n")}, unknown...) {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	if shown.More > 0 {
		whole := strings.LastIndexByte(lines, '\n') + 1
		lines = lines[:whole] + fmt.Sprintf("… and %d bytes more: git diff shows all\n", shown.More+len(lines)-whole)
	}
	if lines != "" {
		b.WriteString("\n" + lines)
	}
	return b.String()
}
