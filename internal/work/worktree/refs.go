package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orange/internal/run/proc"
)

// ref is one branch, here or as it was last seen on origin.
type ref struct {
	short    string
	commit   string
	checkout string // the folder that has it checked out, if any; only askRefs tells
}

func (r ref) base() Base { return Base{Ref: r.short, Commit: r.commit} }

// refs reads the refs of exactly these full names; those that do not exist are missing from the answer. It runs git
// only where the repository's files do not tell.
func (r Repo) refs(ctx context.Context, names ...string) (map[string]ref, error) {
	commits, err := r.refsOnDisk(names...)
	if err != nil {
		return r.askRefs(ctx, names...)
	}
	known := make(map[string]ref, len(commits))
	for name, commit := range commits {
		short, sure := r.shortOnDisk(name)
		if !sure {
			return r.askRefs(ctx, names...)
		}
		known[name] = ref{short: short, commit: commit}
	}
	return known, nil
}

// refsToCheckOut is refs for a branch that is to be checked out: where it exists, git tells who has it.
func (r Repo) refsToCheckOut(ctx context.Context, branch string, others ...string) (map[string]ref, error) {
	names := append([]string{branch}, others...)
	known, err := r.refs(ctx, names...)
	if _, exists := known[branch]; err != nil || !exists {
		return known, err
	}
	return r.askRefs(ctx, names...)
}

// askRefs has git read the refs of exactly these full names, and where they are checked out.
func (r Repo) askRefs(ctx context.Context, names ...string) (map[string]ref, error) {
	// Every field ends in NUL: a folder's name may hold a newline.
	const fields = 4
	args := []string{
		"for-each-ref", "--format=%(refname)%00%(refname:short)%00%(objectname)%00%(worktreepath)%00", "--"}
	out, err := r.run(ctx, append(args, names...)...)
	if err != nil {
		return nil, fmt.Errorf("read branches: %w", err)
	}
	known := make(map[string]ref)
	parts := strings.Split(string(out.Stdout), "\x00")
	for ; len(parts) > fields; parts = parts[fields:] {
		known[strings.TrimPrefix(parts[0], "\n")] = ref{short: parts[1], commit: parts[2], checkout: parts[3]}
	}
	for name := range known {
		if !slices.Contains(names, name) {
			delete(known, name) // git also lists what lies below a name
		}
	}
	return known, nil
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
	known, err := r.askRefs(ctx, full)
	if err != nil {
		return "", err
	}
	found, exists := known[full]
	if !exists {
		return "", errNoRef
	}
	return found.commit, nil
}

// refOnDisk reads one ref from the repository's files.
func (r Repo) refOnDisk(full string) (string, error) {
	found, err := r.refsOnDisk(full)
	if err != nil {
		return "", err
	}
	commit, exists := found[full]
	if !exists {
		return "", errNoRef
	}
	return commit, nil
}

// refsOnDisk reads refs as git itself does: the files of their own first, since a ref that is packed loses that file
// last. Those that do not exist are missing from the answer. The only error is errAskGit.
func (r Repo) refsOnDisk(names ...string) (map[string]string, error) {
	common, usual := r.usualFolder()
	if !usual {
		return nil, errAskGit
	}
	found := make(map[string]string, len(names))
	var rest []string
	for _, full := range names {
		if !filepath.IsLocal(full) {
			return nil, errAskGit
		}
		commit, err := looseRef(filepath.Join(common, filepath.FromSlash(full)))
		switch {
		case err == nil:
			found[full] = commit
		case errors.Is(err, errNoRef):
			rest = append(rest, full)
		default:
			return nil, errAskGit
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	return found, packedRefs(filepath.Join(common, "packed-refs"), rest, found)
}

// usualFolder is git's own folder of the repository, where its files tell and it has one for each ref.
func (r Repo) usualFolder() (string, bool) {
	common, known := r.folder()
	if !known {
		return "", false
	}
	_, err := os.Lstat(filepath.Join(common, "reftable"))
	return common, errors.Is(err, fs.ErrNotExist)
}

// looseRef reads a ref that has a file of its own.
func looseRef(file string) (string, error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.IsDir() {
		return "", errNoRef
	}
	if err != nil || !info.Mode().IsRegular() {
		return "", errAskGit
	}
	text, err := proc.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoRef
	}
	commit := strings.TrimSpace(string(text))
	if err != nil || !isCommit(commit) || isNull(commit) {
		return "", errAskGit
	}
	return commit, nil
}

// packedRefs finds refs among those that were packed: a line has the commit, a blank and the name.
func packedRefs(file string, names []string, found map[string]string) error {
	packed, err := proc.OpenFile(file, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errAskGit
	}
	defer packed.Close()
	lines := bufio.NewScanner(packed)
	for lines.Scan() {
		commit, name, ok := strings.Cut(lines.Text(), " ")
		if !ok || !slices.Contains(names, name) {
			continue
		}
		if !isCommit(commit) || isNull(commit) {
			return errAskGit
		}
		found[name] = commit
	}
	if lines.Err() != nil {
		return errAskGit
	}
	return nil
}

// isNull reports whether a commit's name is the one that git gives to none.
func isNull(commit string) bool { return strings.Trim(commit, "0") == "" }

// shortOnDisk is the short name of a branch, where it can mean no other ref. Where it might, or where the files do not
// tell, git has to choose one.
func (r Repo) shortOnDisk(full string) (short string, sure bool) {
	for _, kind := range []string{"refs/heads/", "refs/remotes/"} {
		if name, ours := strings.CutPrefix(full, kind); ours {
			short = name
		}
	}
	common, usual := r.usualFolder()
	if short == "" || !usual {
		return "", false
	}
	if _, err := os.Lstat(filepath.Join(common, filepath.FromSlash(short))); !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, syscall.ENOTDIR) {
		return "", false
	}
	// all that git would try for the short name
	meant := []string{"refs/" + short, "refs/tags/" + short, "refs/heads/" + short, "refs/remotes/" + short,
		"refs/remotes/" + short + "/HEAD"}
	found, err := r.refsOnDisk(meant...)
	_, itself := found[full]
	return short, err == nil && itself && len(found) == 1
}
