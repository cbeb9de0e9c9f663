package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Tip is where the branch of a task ends.
type Tip struct {
	Commit  string
	Branch  string // the branch that was followed where the task's own was renamed in the workspace; else empty
	Trouble string // why the commit could not be read
}

// ReadTip reads the newest commit of a task's branch from the repository's files. Git is run only where these do
// not tell. dir is the task's workspace, and empty where it has none. A branch that was renamed there is
// followed: the task's own exists no more, and HEAD names another. A tip that cannot be read is no error: the
// answer says in words why.
func (r Repo) ReadTip(ctx context.Context, dir, branch string) Tip {
	if branch == "" {
		return Tip{Trouble: "the task has no branch yet"}
	}
	commit, err := r.objectOf(ctx, "refs/heads/"+branch)
	if err == nil {
		return Tip{Commit: commit}
	}
	if !errors.Is(err, errNoRef) {
		return Tip{Trouble: fmt.Sprintf("the tip of branch %q cannot be read: %v", branch, err)}
	}
	gone := Tip{Trouble: fmt.Sprintf("there is no branch %q", branch)}
	if dir == "" {
		return gone
	}
	present, err := Slot{Repo: r, Dir: dir}.headBranch(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone
	case err != nil:
		gone.Trouble += fmt.Sprintf(", and what the workspace is on cannot be read: %v", err)
		return gone
	case present == "":
		gone.Trouble += ", and the workspace is on none"
		return gone
	case present == branch:
		gone.Trouble = fmt.Sprintf("branch %q has no commit yet", branch)
		return gone
	case present == r.DefaultBranch: // that branch existed before: it was not made from the task's
		gone.Trouble += fmt.Sprintf(", and the workspace is on %q", present)
		return gone
	}
	commit, err = r.objectOf(ctx, "refs/heads/"+present)
	if err != nil {
		gone.Trouble += fmt.Sprintf(", and the tip of %q, which the workspace is on, cannot be read: %v", present, err)
		return gone
	}
	return Tip{Commit: commit, Branch: present}
}

// errNoRef says that a ref does not exist, and errAskGit that its files are not as git usually writes them.
var (
	errNoRef  = errors.New("there is no such ref")
	errAskGit = errors.New("its files do not tell")
)

// objectOf reads what a ref points at.
func (r Repo) objectOf(ctx context.Context, full string) (string, error) {
	object, err := r.refOnDisk(full)
	if !errors.Is(err, errAskGit) {
		return object, err
	}
	known, err := r.refs(ctx, full)
	if err != nil {
		return "", err
	}
	found, exists := known[full]
	if !exists {
		return "", errNoRef
	}
	return found.commit, nil
}

// refOnDisk reads a ref as git itself does: the file of its own first, since a ref that is packed loses that file last.
func (r Repo) refOnDisk(full string) (string, error) {
	common := filepath.Join(r.Path, ".git")
	info, err := os.Stat(common)
	if err != nil || !info.IsDir() || !filepath.IsLocal(full) {
		return "", errAskGit // the repository lies elsewhere
	}
	if _, err := os.Lstat(filepath.Join(common, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return "", errAskGit
	}
	file := filepath.Join(common, filepath.FromSlash(full))
	info, err = os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.IsDir() {
		return packedRef(filepath.Join(common, "packed-refs"), full)
	}
	if err != nil || !info.Mode().IsRegular() {
		return "", errAskGit
	}
	text, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return packedRef(filepath.Join(common, "packed-refs"), full)
	}
	commit := strings.TrimSpace(string(text))
	if err != nil || !isCommit(commit) {
		return "", errAskGit
	}
	return commit, nil
}

// packedRef finds a ref among those that were packed: a line has the commit, a blank and the name.
func packedRef(file, full string) (string, error) {
	packed, err := openFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoRef
	}
	if err != nil {
		return "", errAskGit
	}
	defer packed.Close()
	lines := bufio.NewScanner(packed)
	for lines.Scan() {
		commit, name, ok := strings.Cut(lines.Text(), " ")
		if !ok || name != full {
			continue
		}
		if !isCommit(commit) {
			return "", errAskGit
		}
		return commit, nil
	}
	if lines.Err() != nil {
		return "", errAskGit
	}
	return "", errNoRef
}

// isCommit reports whether a text is the whole name of a commit.
func isCommit(text string) bool {
	const sha1, sha256 = 40, 64
	return (len(text) == sha1 || len(text) == sha256) && strings.Trim(text, "0123456789abcdef") == ""
}

// headBranch reads what the slot is on, empty where it is on none. A slot that is not there is fs.ErrNotExist.
func (s Slot) headBranch(ctx context.Context) (string, error) {
	gitDir, err := s.gitDir()
	if err != nil {
		return "", err
	}
	text, err := readFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", fmt.Errorf("read its HEAD: %w", err)
	}
	head := strings.TrimSpace(string(text))
	name, symbolic := strings.CutPrefix(head, "ref: refs/heads/")
	switch {
	case isCommit(head):
		return "", nil
	case symbolic && name != ".invalid": // which exists where refs are kept in tables
		return name, nil
	}
	return s.symbolicHead(ctx)
}
