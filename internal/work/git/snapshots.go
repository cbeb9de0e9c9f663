package git

import (
	"context"
	"strings"

	"orange/internal/rules/task"
)

// ShipRefs are the refs of a task's snapshot where it is kept, and restoreRefs those under which one is fetched here.
const (
	ShipRefs    = "refs/orange/fleet/"
	RestoreRefs = "refs/orange/restore/"
)

// CheckRemote refuses what git would take for an option, or for a program to run.
func CheckRemote(to string) error {
	helper, _, program := strings.Cut(to, "::")
	program = program && !strings.ContainsAny(helper, "/[:@") // else it is in the address of a machine
	if to == "" || strings.HasPrefix(to, "-") || program || strings.ContainsAny(to, "\x00\n") {
		return task.Notef(task.ErrUsage, "cannot use %q as the repository of snapshots: expected the name of a "+
			"remote, a path or an address", to)
	}
	return nil
}

// ShippedAt is the commit of a ref in another repository; empty where there is none.
func (r Repo) ShippedAt(ctx context.Context, at, ref string, env []string) (string, error) {
	there, err := r.RefsAt(ctx, at, env, ref)
	return there[ref], err
}

// RefsAt are the commits of refs in another repository, by their names.
func (r Repo) RefsAt(ctx context.Context, at string, env []string, refs ...string) (map[string]string, error) {
	out, err := r.Do(ctx, Call{Dir: r.Path, Args: append([]string{"ls-remote", "--quiet", at}, refs...), Env: env})
	if err != nil {
		return nil, err
	}
	there := map[string]string{}
	for line := range strings.SplitSeq(out.Text(), "\n") {
		if commit, name, ok := strings.Cut(line, "\t"); ok {
			there[name] = commit
		}
	}
	return there, nil
}

// Quote is a text as one word of a shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// CheckTask accepts what can be one part of a ref's name, and nothing that a shell or git would read otherwise.
func CheckTask(id string) error {
	const allowed = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-"
	strange := strings.ContainsFunc(id, func(r rune) bool { return !strings.ContainsRune(allowed, r) })
	if id == "" || strange || strings.Contains(id, "..") || strings.HasPrefix(id, ".") ||
		strings.HasSuffix(id, ".") || strings.HasSuffix(id, ".lock") {
		return task.Notef(task.ErrUsage,
			"cannot use %q as a task's id: letters, digits, \"-\", \"_\" and \".\" are allowed", id)
	}
	return nil
}

// RescuerEmail is the address of the author of rescues.
const RescuerEmail = "orange@localhost"

// Rescuer signs rescues, so that they work where the user has told git no name.
func Rescuer() []string {
	return []string{
		"GIT_AUTHOR_NAME=Orange", "GIT_AUTHOR_EMAIL=" + RescuerEmail,
		"GIT_COMMITTER_NAME=Orange", "GIT_COMMITTER_EMAIL=" + RescuerEmail,
	}
}
