package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orange/internal/run/proc"
)

// Where git keeps branches: those here, and those that were seen on origin.
const (
	HeadRefs   = "refs/heads/"
	originRefs = "refs/remotes/origin/"
)

// Ref is one branch, here or as it was last seen on origin.
type Ref struct {
	Short  string
	Commit string
}

func (r Ref) base() Base { return Base{Ref: r.Short, Commit: r.Commit} }

// refsTogether is how many refs one git is asked for: a command line takes no more than that many long names.
const refsTogether = 500

// ListRefs has git read the fields of refs: of those with one of these names, and of those below one. It answers a row
// of them for each ref.
func (r Repo) ListRefs(ctx context.Context, names []string, fields ...string) (rows [][]string, err error) {
	// Each ends in NUL: a folder's name may hold a newline.
	format := "--format=%(" + strings.Join(fields, ")%00%(") + ")%00"
	if err := r.onlyRefs(names); err != nil {
		return nil, fmt.Errorf("read refs: %w", r.WithMisplaced(r.Path, err))
	}
	for some := range slices.Chunk(names, refsTogether) {
		out, err := r.Run(ctx, append([]string{"for-each-ref", format, "--"}, some...)...)
		if err != nil {
			return nil, fmt.Errorf("read refs: %w", err)
		}
		cells := strings.Split(string(out.Stdout), "\x00")
		for ; len(cells) > len(fields); cells = cells[len(fields):] {
			row := cells[:len(fields)]
			row[0] = strings.TrimPrefix(row[0], "\n")
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// onlyRefs refuses what is no ref in the folders that git reads for these names: it would wait for a pipe there, and
// take all that lies behind a link to a folder for refs.
func (r Repo) onlyRefs(names []string) error {
	common, known := r.Folder()
	if !known {
		return nil // git says what is wrong
	}
	looked := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "." && !looked[dir]; dir = path.Dir(dir) {
			looked[dir] = true
			if err := onlyRefsIn(filepath.Join(common, filepath.FromSlash(dir)), false); err != nil {
				return err
			}
		}
		if strings.HasSuffix(name, "/") {
			if err := onlyRefsIn(filepath.Join(common, filepath.FromSlash(name)), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyRefsIn looks at one folder; deep at all below it too.
func onlyRefsIn(dir string, deep bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch kind := e.Type(); {
		case kind.IsRegular():
		case kind.IsDir():
			if deep {
				err = onlyRefsIn(name, true)
			}
		case kind&os.ModeSymlink != 0: // an older git made one of a ref that stands for another
			if behind, unread := os.Stat(name); unread == nil && behind.IsDir() {
				err = fmt.Errorf("%q is a link to a folder, all of which git would take for refs; move it away", name)
			}
		default:
			err = proc.WaitsFor("git", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// StandsForAnother reports whether a ref may be a symbolic one, which git follows to another ref. What cannot be read
// may be one.
func (r Repo) StandsForAnother(name string) bool {
	common, known := r.Folder()
	if !known {
		return true
	}
	file := filepath.Join(common, filepath.FromSlash(name))
	if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return true // an older git made such a link
	}
	text, err := proc.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return false // it is packed, and git packs no symbolic ones, or it does not exist
	}
	return err != nil || !IsCommit(strings.TrimSpace(string(text)))
}

// Refs are the refs of exactly these full names; those that do not exist are missing from the answer.
func (r Repo) Refs(ctx context.Context, names ...string) (map[string]Ref, error) {
	rows, err := r.ListRefs(ctx, names, "refname", "refname:short", "objectname")
	if err != nil {
		return nil, err
	}
	known := make(map[string]Ref, len(names))
	for _, row := range rows {
		if slices.Contains(names, row[0]) { // git also lists what lies below a name
			known[row[0]] = Ref{Short: row[1], Commit: row[2]}
		}
	}
	return known, nil
}

// ErrNoRef says that a ref does not exist.
var ErrNoRef = errors.New("there is no such ref")

// ObjectOf reads what a ref points at.
func (r Repo) ObjectOf(ctx context.Context, full string) (string, error) {
	known, err := r.Refs(ctx, full)
	if err != nil {
		return "", err
	}
	found, exists := known[full]
	if !exists {
		return "", ErrNoRef
	}
	return found.Commit, nil
}

// CheckoutOf is the folder of the worktree that has a branch; empty where none has.
func (r Repo) CheckoutOf(ctx context.Context, branch string) (string, error) {
	rows, err := r.ListRefs(ctx, []string{HeadRefs + branch}, "refname", "worktreepath")
	for _, row := range rows {
		if row[0] == HeadRefs+branch {
			return row[1], err
		}
	}
	return "", err
}
