package git

import (
	"context"
	"fmt"

	"orange/internal/rules/task"
)

// BringRequest makes a branch here of the head of a pull request, which origin keeps under a ref of its own. A branch
// of that name that is here already stays as it is: at another commit it is an error.
func (r Repo) BringRequest(ctx context.Context, ref, branch, commit string) (err error) {
	if err := CheckBranch(ctx, branch); err != nil {
		return err
	}
	if branch == r.DefaultBranch {
		return task.Notef(task.ErrUsage, "cannot make the branch %q from a pull request: it is the default branch",
			branch)
	}
	defer Explain(&err, "cannot bring the pull request here that origin has as %s", ref)
	tip, err := r.Tip(ctx, branch)
	switch {
	case err != nil || tip == commit:
		return err
	case tip != "":
		return fmt.Errorf("the branch %q is here already, at %.7s, and the pull request is at %.7s; bring it there "+
			"(git pull), or give yours another name (git branch -m), and try again", branch, tip, commit)
	}
	env, err := r.RemoteEnv(ctx)
	if err != nil {
		return err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "origin", ref}
	if _, err := r.Do(ctx, Call{Dir: r.Path, Args: args, Env: env}); err != nil {
		return err
	}
	if _, err := r.Run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("origin does not have its head %.7s there: it may have moved meanwhile; try again", commit)
	}
	return r.UpdateRefs(ctx, fmt.Sprintf("create refs/heads/%s %s\n", branch, commit))
}
