package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/run/proc"
)

// DirOf reads a worktree's private folder from its .git file, which is cheap enough for every tick.
func DirOf(top string) (string, error) {
	text, err := proc.ReadFile(filepath.Join(top, ".git"))
	if err != nil {
		return "", fmt.Errorf("find its part of the repository: %w", err)
	}
	dir, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("find its part of the repository: %q is not a worktree's .git file",
			filepath.Join(top, ".git"))
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return dir, nil
}

// excludePatience is how long Orange waits for another process that has the exclude file locked. It is held for the
// time of one short reading and writing.
const excludePatience = 5 * time.Second

// LockExclude locks the file by which git ignores files in all worktrees.
func LockExclude(ctx context.Context, file *os.File) error {
	soon, cancel := context.WithTimeout(ctx, excludePatience)
	defer cancel()
	if err := proc.Lock(soon, file); err != nil {
		return fmt.Errorf("lock %q, which another program holds: %w", file.Name(), err)
	}
	return nil
}

// operation is something that git was in the middle of: the file that shows it, and the command that ends it
// and touches neither HEAD nor a file.
type operation struct {
	File string
	Quit []string
}

// Operations are all that git can be in the middle of.
func Operations() []operation {
	return []operation{
		{"rebase-merge", []string{"rebase", "--quit"}},
		{"rebase-apply/applying", []string{"am", "--quit"}},
		{"rebase-apply", []string{"rebase", "--quit"}},
		{"MERGE_HEAD", []string{"merge", "--quit"}},
		{"CHERRY_PICK_HEAD", []string{"cherry-pick", "--quit"}},
		{"REVERT_HEAD", []string{"revert", "--quit"}},
		{"sequencer", []string{"cherry-pick", "--quit"}},
		{"BISECT_LOG", []string{"bisect", "reset", "HEAD"}},
	}
}

// HasFile reports whether git's folder of a worktree has a file.
func HasFile(gitDir, file string) bool {
	_, err := os.Lstat(filepath.Join(gitDir, file))
	return err == nil
}

// OperationInProgress reports whether git is in the middle of something in a worktree.
func OperationInProgress(gitDir string) bool {
	for _, o := range Operations() {
		if HasFile(gitDir, o.File) {
			return true
		}
	}
	return false
}

// Initializing is the word with which git locks a worktree until it is whole.
const Initializing = "initializing"

// AddInProgress reports whether "git worktree add" was killed here, as far as its own lock tells, which anyone can set.
func AddInProgress(gitDir string) bool {
	reason, err := proc.ReadFile(filepath.Join(gitDir, "locked"))
	return err == nil && strings.TrimSpace(string(reason)) == Initializing
}

// IsCommit reports whether a text is the whole name of a commit.
func IsCommit(text string) bool {
	const sha1, sha256 = 40, 64
	return (len(text) == sha1 || len(text) == sha256) && strings.Trim(text, "0123456789abcdef") == ""
}

// HeadOf is the text of a worktree's HEAD: a commit, or "ref: " and the full name of a branch. It is empty where HEAD
// is a link to a ref, which only git reads.
func HeadOf(gitDir string) (string, error) {
	name := filepath.Join(gitDir, "HEAD")
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return "", nil
	}
	text, err := proc.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read its HEAD: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// Kinds of refs that are noted, as folders in git's own.
const (
	OfBranches = "heads/"
	OfTags     = "tags/"
	OfNotes    = "notes/"
)
