package git

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/rules/task"
)

// CheckRoom refuses a branch that cannot be made or checked out with what the repository has: git keeps no branch
// below another one, and checks none out twice. own is the worktree that may have it.
func (r Repo) CheckRoom(ctx context.Context, branch, own string) error {
	names := []string{HeadRefs + branch} // git also lists what lies below a name
	for i, c := range branch {
		if c == '/' {
			names = append(names, HeadRefs+branch[:i])
		}
	}
	rows, err := r.ListRefs(ctx, names, "refname", "worktreepath")
	if err != nil {
		return fmt.Errorf("cannot check whether there is room for the branch %q: %w", branch, err)
	}
	for _, row := range rows {
		other := strings.TrimPrefix(row[0], HeadRefs)
		switch at := row[1]; {
		case other == branch && at != "" && !SamePath(at, own):
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q for a task: it is checked out in %q; "+
				"switch that one to another branch, or choose another name, such as %q", branch, at, branch+"-2")
		case strings.HasPrefix(branch, other+"/"):
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q for a task: there is the branch %q, and "+
				"git keeps none below it; choose another name, such as %q", branch, other,
				strings.ReplaceAll(branch, "/", "-"))
		case strings.HasPrefix(other, branch+"/"):
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q for a task: there is the branch %q below "+
				"that name, and git keeps no branch above another; choose another name, such as %q", branch, other,
				branch+"-2")
		}
	}
	return nil
}
