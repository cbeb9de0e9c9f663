package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Where git keeps branches: those here, and those that were seen on origin.
const (
	headRefs   = "refs/heads/"
	originRefs = "refs/remotes/origin/"
)

// ref is one branch, here or as it was last seen on origin.
type ref struct {
	short  string
	commit string
}

func (r ref) base() Base { return Base{Ref: r.short, Commit: r.commit} }

// refsTogether is how many refs one git is asked for: a command line takes no more than that many long names.
const refsTogether = 500

// listRefs has git read the fields of refs: of those with one of these names, and of those below one. It answers a row
// of them for each ref.
func (r Repo) listRefs(ctx context.Context, names []string, fields ...string) (rows [][]string, err error) {
	// Each ends in NUL: a folder's name may hold a newline.
	format := "--format=%(" + strings.Join(fields, ")%00%(") + ")%00"
	for some := range slices.Chunk(names, refsTogether) {
		out, err := r.run(ctx, append([]string{"for-each-ref", format, "--"}, some...)...)
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

// refs are the refs of exactly these full names; those that do not exist are missing from the answer.
func (r Repo) refs(ctx context.Context, names ...string) (map[string]ref, error) {
	rows, err := r.listRefs(ctx, names, "refname", "refname:short", "objectname")
	if err != nil {
		return nil, err
	}
	known := make(map[string]ref, len(names))
	for _, row := range rows {
		if slices.Contains(names, row[0]) { // git also lists what lies below a name
			known[row[0]] = ref{short: row[1], commit: row[2]}
		}
	}
	return known, nil
}

// errNoRef says that a ref does not exist.
var errNoRef = errors.New("there is no such ref")

// objectOf reads what a ref points at.
func (r Repo) objectOf(ctx context.Context, full string) (string, error) {
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

// checkoutOf is the folder of the worktree that has a branch; empty where none has.
func (r Repo) checkoutOf(ctx context.Context, branch string) (string, error) {
	rows, err := r.listRefs(ctx, []string{headRefs + branch}, "refname", "worktreepath")
	for _, row := range rows {
		if row[0] == headRefs+branch {
			return row[1], err
		}
	}
	return "", err
}
