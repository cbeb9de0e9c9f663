package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
)

const worktreesLong = `
Its worktrees begin with the files of a commit, and nothing else. The flags below add what they
lack to run.

--copy and --link are patterns as in a .gitignore ("/" at the front is the top of the repository)
of files that git does not track in the main checkout. A file .worktreeinclude there names ignored
files to copy too, one pattern a line. What is there already is never replaced, nothing comes from
outside of the repository, and git does not see what is brought. Copies go when the task gives its
worktree back, with what an agent wrote into them.
An agent that writes into a link writes into your own file.

--setup is a command, run without a shell: words are split at blanks, and quotes keep blanks. It is
run in a worktree that is new, and again for a task that finds a file of --setup-when changed since.
Its output is kept: "orange workspace list --json" and "orange task show" say where.`

// cleanIgnored is what --clean may say.
const cleanIgnored = "ignored"

// worktreeFlags are the flags that say what a project's worktrees get.
type worktreeFlags struct {
	wanted   task.WorktreeSetup
	commands []string
	timeout  time.Duration
}

func (w *worktreeFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&w.wanted.Copy, "copy", nil, "copy untracked files of this pattern into each worktree "+
		"(repeatable)")
	flags.StringArrayVar(&w.wanted.Link, "link", nil, "link untracked files or folders of this pattern into each "+
		"worktree; an agent that writes there writes your own file (repeatable)")
	flags.StringArrayVar(&w.commands, "setup", nil, "a command that makes a new worktree ready, such as \"npm ci\" "+
		"(repeatable: they run in this order)")
	flags.StringArrayVar(&w.wanted.When, "setup-when", nil, "set a worktree up again where a file of this pattern "+
		"has changed, such as package-lock.json (repeatable)")
	flags.DurationVar(&w.timeout, "setup-timeout", 0, fmt.Sprintf("how long the set-up may take (default %s)",
		time.Duration(task.SetupSeconds)*time.Second))
	flags.BoolVar(&w.wanted.Submodules, "submodules", false, "check out submodules in each worktree")
	flags.IntVar(&w.wanted.Ports, "ports", 0, "how many ports each task gets: ORANGE_PORT is the first, "+
		"ORANGE_PORTS are all")
	flags.StringVar(&w.wanted.Subdir, "subdir", "", "the folder of the repository in which agents, checks and the "+
		"set-up start")
	flags.StringVar(&w.wanted.Clean, "clean", "", "what a worktree loses when a task gives it back: \"ignored\", or "+
		"\"\" to keep caches")
	flags.IntVar(&w.wanted.Memory, "setup-memory", 0, fmt.Sprintf("megabytes of memory that it may use (default %d)",
		task.SetupMemory))
}

// of is a set-up with those flags applied that were given.
func (w *worktreeFlags) of(c *cobra.Command, have task.WorktreeSetup) (task.WorktreeSetup, error) {
	given := c.Flags().Changed
	for name, list := range map[string]struct{ to, given *[]string }{
		"copy": {&have.Copy, &w.wanted.Copy}, "link": {&have.Link, &w.wanted.Link},
		"setup-when": {&have.When, &w.wanted.When},
	} {
		if !given(name) {
			continue
		}
		*list.to = withoutEmpty(*list.given)
		for _, one := range *list.to {
			if err := checkPattern(name, one); err != nil {
				return have, err
			}
		}
	}
	if given("setup") {
		have.Commands = nil
		for _, line := range withoutEmpty(w.commands) {
			words, err := splitWords(line)
			if err != nil {
				return have, err
			}
			have.Commands = append(have.Commands, words)
		}
	}
	if given("setup-timeout") {
		if w.timeout < 0 || w.timeout > task.MaxTimeout || w.timeout%time.Second != 0 {
			return have, usage("found %s as --setup-timeout, expected whole seconds up to %s, or 0 for %s", w.timeout,
				task.MaxTimeout, time.Duration(task.SetupSeconds)*time.Second)
		}
		have.Seconds = int(w.timeout / time.Second)
	}
	if given("setup-memory") {
		if w.wanted.Memory < 0 || w.wanted.Memory > maxMemory {
			return have, usage("found %d as --setup-memory, expected megabytes up to %d, or 0 for %d",
				w.wanted.Memory, maxMemory, task.SetupMemory)
		}
		have.Memory = w.wanted.Memory
	}
	return w.ofRest(given, have)
}

// maxPorts leaves some for other tasks.
const maxPorts = 100

func (w *worktreeFlags) ofRest(given func(string) bool, have task.WorktreeSetup) (task.WorktreeSetup, error) {
	if given("submodules") {
		have.Submodules = w.wanted.Submodules
	}
	if given("clean") {
		if w.wanted.Clean != "" && w.wanted.Clean != cleanIgnored {
			return have, usage("found %q as --clean, expected %q, or nothing to keep what git ignores", w.wanted.Clean,
				cleanIgnored)
		}
		have.Clean = w.wanted.Clean
	}
	if given("ports") {
		if w.wanted.Ports < 0 || w.wanted.Ports > maxPorts {
			return have, usage("found %d as --ports, expected a number from 0 to %d", w.wanted.Ports, maxPorts)
		}
		have.Ports = w.wanted.Ports
	}
	if given("subdir") {
		folder := path.Clean(w.wanted.Subdir)
		if w.wanted.Subdir != "" && !filepath.IsLocal(filepath.FromSlash(folder)) {
			return have, usage("found %q as --subdir, expected a folder of the repository, such as %q", w.wanted.Subdir,
				"packages/web")
		}
		if have.Subdir = folder; folder == "." {
			have.Subdir = ""
		}
	}
	return have, nil
}

// maxMemory is a terabyte.
const maxMemory = 1 << 20

func withoutEmpty(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(one string) bool { return strings.TrimSpace(one) == "" })
}

// splitWords splits a command at its blanks. Single and double quotes keep blanks, and a backslash keeps the next
// character, but not inside of single quotes. There is no shell: what only a shell would understand is refused.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, kept := false, false
	for _, r := range line {
		switch {
		case kept:
			word.WriteRune(r)
			kept = false
		case r == '\\' && quote != '\'':
			begun, kept = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune("|&;<>`$", r):
			return nil, usage("found %q in --setup %q: it is run without a shell; give --setup once for each "+
				"command, put the character in quotes, or name a shell: \"sh -c '...'\"", string(r), line)
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || kept {
		return nil, usage("found --setup %q, expected a command whose quotes are closed", line)
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, usage("found --setup %q, expected a program with its arguments", line)
	}
	return words, nil
}

// joinWords writes a command so that splitWords reads it.
func joinWords(words []string) string {
	var out []string
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("\"'\\|&;<>`$*?[]{}()~#!", r)
		}) {
			word = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
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
	for _, command := range w.Commands {
		out = append(out, "set up by: "+joinWords(command))
	}
	if len(w.When) > 0 {
		out = append(out, "set up again when these change: "+strings.Join(w.When, " "))
	}
	if w.Submodules {
		out = append(out, "submodules are laid out")
	}
	if w.Clean == cleanIgnored {
		out = append(out, "what git ignores is removed when a task gives its worktree back")
	}
	if w.Ports > 0 {
		out = append(out, fmt.Sprintf("each task has %d ports", w.Ports))
	}
	if w.Subdir != "" {
		out = append(out, "agents and checks start in: "+w.Subdir)
	}
	return out
}
