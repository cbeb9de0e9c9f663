package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
)

// CheckComparable refuses to compare two commits, each named as git knows it in the folder, where a shallow clone
// does not tell: git takes a commit at which history was cut for a first one. Where such a commit is in the history
// of only one of both, what is missing behind it may be in that of the other.
func (r Repo) CheckComparable(ctx context.Context, dir, first, second string) error {
	cuts, err := r.cuts(ctx)
	if err != nil || len(cuts) == 0 {
		return err
	}
	out, err := r.Do(ctx, Call{Dir: dir, Env: []string{Reading},
		Args: []string{"rev-list", "--max-parents=0", first + "..." + second, "--"}})
	if err != nil {
		return fmt.Errorf("check whether the history reaches far enough: %w", err)
	}
	for _, root := range strings.Fields(out.Text()) {
		if slices.Contains(cuts, root) {
			return fmt.Errorf("the history here is too short to compare %.12s with %.12s: the clone is shallow, and "+
				"was cut at %.12s; run \"git -C %s fetch --unshallow\", then this again", first, second, root,
				Quote(r.Path))
		}
	}
	return nil
}

// cuts are the commits at which the history of a shallow clone was cut; none where all of it is here.
func (r Repo) cuts(ctx context.Context) ([]string, error) {
	common, err := r.CommonDir(ctx)
	if err != nil {
		return nil, err
	}
	text, err := proc.ReadFile(filepath.Join(common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read where the history was cut: %w", err)
	}
	return strings.Fields(string(text)), nil
}
