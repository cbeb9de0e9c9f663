package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/task"
)

const worktreesLong = `
Its worktrees begin with the files of a commit, and nothing else. The flags below add what they
lack to run.

--copy and --link are patterns as in a .gitignore ("/" at the front is the top of the repository)
of files that git does not track in the main checkout. A file .worktreeinclude there names ignored
files to copy too, one pattern a line. What is there already is never replaced, nothing comes from
outside of the repository, and git does not see what is brought. Copies go when the task gives its
worktree back, with what an agent wrote into them.
An agent that writes into a link writes into your own file.`

// worktreeFlags are the flags that say what a project's worktrees get.
type worktreeFlags struct {
	wanted task.WorktreeSetup
}

func (w *worktreeFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&w.wanted.Copy, "copy", nil, "copy untracked files of this pattern into each worktree "+
		"(repeatable)")
	flags.StringArrayVar(&w.wanted.Link, "link", nil, "link untracked files or folders of this pattern into each "+
		"worktree; an agent that writes there writes your own file (repeatable)")
}

// of is a set-up with those flags applied that were given.
func (w *worktreeFlags) of(c *cobra.Command, have task.WorktreeSetup) (task.WorktreeSetup, error) {
	for name, list := range map[string]struct{ to, given *[]string }{
		"copy": {&have.Copy, &w.wanted.Copy}, "link": {&have.Link, &w.wanted.Link},
	} {
		if !c.Flags().Changed(name) {
			continue
		}
		*list.to = slices.DeleteFunc(slices.Clone(*list.given), func(one string) bool { return one == "" })
		for _, one := range *list.to {
			if err := checkPattern(name, one); err != nil {
				return have, err
			}
		}
	}
	return have, nil
}

// checkPattern refuses what cannot name a file of the repository: git would find nothing, and say nothing.
func checkPattern(flag, pattern string) error {
	if strings.ContainsAny(pattern, "\n\r\x00") || strings.TrimSpace(pattern) == "" {
		return usage("found %q as --%s, expected a pattern of one line", pattern, flag)
	}
	parts := strings.Split(pattern, "/")
	if slices.Contains(parts, "..") || slices.Contains(parts, ".") || strings.HasPrefix(pattern, "~") {
		return usage("found %q as --%s, expected a pattern below the repository, without %q: %q names a file at its "+
			"top, %q one in any folder", pattern, flag, "..", "/.env", ".env")
	}
	return nil
}

// worktreeLines are what a project's worktrees get, in words.
func worktreeLines(w task.WorktreeSetup) []string {
	var out []string
	if len(w.Copy) > 0 {
		out = append(out, "copied into worktrees: "+strings.Join(w.Copy, " "))
	}
	if len(w.Link) > 0 {
		out = append(out, "linked into worktrees (an agent that writes there writes your files): "+
			strings.Join(w.Link, " "))
	}
	return out
}
