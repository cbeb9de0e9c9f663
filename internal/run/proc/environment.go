package proc

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/envfilter"
	"orange/internal/rules/harness"
)

// environment is what the program of a command gets. No other place makes one: nothing leads the program to the
// repository or the window of another one, and git shows it each commit as it is, unless the command says so itself.
func (c Command) environment(ctx context.Context) []string {
	base := c.Base
	if base == nil {
		base = Environment(ctx)
	}
	env := append(envfilter.Without(base), "GIT_NO_REPLACE_OBJECTS=1")
	env = slices.DeleteFunc(env, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(c.Unset, name)
	})
	if filepath.IsAbs(c.Dir) {
		env = append(env, "PWD="+c.Dir)
	}
	return append(env, c.Env...)
}

// prepared is the program of a command as it is to be started: with its environment, and found on the PATH of that one
// and not of this process. It ends with ctx.
func (c Command) prepared(ctx context.Context) *exec.Cmd {
	env, path := c.environment(ctx), c.Name
	var missing error
	if !strings.ContainsRune(path, '/') {
		// A folder of PATH that is not from the root would be another one in each working folder.
		if path, missing = Find(c.Name, harness.Value(env, "PATH")); missing != nil || !filepath.IsAbs(path) {
			path, missing = "/"+c.Name, exec.ErrNotFound // with a slash, so that this process's own PATH has no say
		}
	}
	run, args, env := withMask(path, c.Args, env)
	cmd := exec.CommandContext(ctx, run, args...)
	if cmd.Dir, cmd.Env = c.Dir, env; run == path {
		cmd.Args[0] = c.Name
	}
	if missing != nil {
		cmd.Err = &exec.Error{Name: c.Name, Err: missing}
	}
	return cmd
}
