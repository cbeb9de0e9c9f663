// Package envfilter says which variables of an environment belong to the program that started a process, and not to the
// programs that this process starts.
//
// Git hands its hooks, aliases, filters and the commands of a rebase variables that lead to one repository: a program
// that has them commits there, wherever it runs. Make hands its recipes the flags that it was called with: a make that
// has them goes on after an error, or does nothing. The runners of package.json put the programs of one checkout before
// all others. A terminal server marks its windows, and Orange marks each program that works for a task. A command of
// Orange may be started by any of these. What it starts in turn is for another task or another folder, and gets none of
// them.
package envfilter

import (
	"path"
	"slices"
	"strings"
)

// ofRepository are the variables that lead git to a repository, or change what it finds there: what git lists with
// "git rev-parse --local-env-vars", which a test compares, and those that older and newer versions of git have besides.
func ofRepository() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
		"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
		"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX",
		"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_INTERNAL_GETTEXT_SH_SCHEME", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH",
		"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	}
}

// ofCommand are the variables that git sets for the length of one commit, rebase or push. A person may have set them
// too: they are taken out only where git started the process.
func ofCommand() []string {
	return []string{
		"GIT_EXEC_PATH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_CHERRY_PICK_HELP", "GIT_REFLOG_ACTION",
		"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	}
}

// ofMake are the variables that make sets for its recipes: its flags, and those that were given to it by name, which
// its flags list. A person may have set flags too: they are taken out only where make started the process.
func ofMake(env []string) []string {
	out := []string{"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR"}
	if _, given, is := strings.Cut(value(env, "MAKEFLAGS"), "-- "); is {
		for _, word := range strings.Fields(given) {
			if name, _, named := strings.Cut(word, "="); named {
				out = append(out, strings.TrimRight(name, ":+?!"))
			}
		}
	}
	return out
}

// isOfRunner reports whether a runner of package.json (npm, pnpm, yarn) sets a variable to tell of one checkout, its
// script, or how it was called. Others that begin with npm_config_ may be a person's, such as the address of a
// registry: they stay.
func isOfRunner(name string) bool {
	if strings.HasPrefix(name, "npm_lifecycle_") || strings.HasPrefix(name, "npm_package_") {
		return true
	}
	return slices.Contains([]string{
		"INIT_CWD", "BERRY_BIN_FOLDER", "npm_config_ignore_scripts", "npm_config_if_present", "npm_config_dry_run",
		"npm_config_workspace", "npm_config_workspaces", "npm_config_include_workspace_root",
		"npm_config_local_prefix", "npm_config_script_shell",
	}, name)
}

// Leads reports whether a variable leads the program that has it to a repository, or to a window of a terminal server,
// that is not its own.
func Leads(name string) bool {
	return slices.Contains(ofRepository(), name) || name == "TMUX" || name == "TMUX_PANE"
}

// keptNames are the variables of Orange that a person has set for all that runs, and the person's own mask.
func keptNames() []string {
	return []string{"ORANGE_HOME", "ORANGE_LOG_LEVEL", "ORANGE_MONITOR", "ORANGE_UMASK"}
}

// Without is an environment without what leads elsewhere, and without what git, make or a runner of package.json has
// set for one command of its own. What Orange has set for a task stays.
func Without(env []string) []string {
	gits, scripts := byGit(env), byRunner(env)
	var makes []string
	if has(env, "MAKELEVEL") {
		makes = ofMake(env)
	}
	author := value(env, "GIT_COMMITTER_NAME") != "" // who says who commits says who the author is, too
	out := make([]string, 0, len(env))
	for _, pair := range env {
		name, is, _ := strings.Cut(pair, "=")
		switch {
		case Leads(name), strings.HasPrefix(name, "GIT_CONFIG_KEY_"), strings.HasPrefix(name, "GIT_CONFIG_VALUE_"):
		case gits && slices.Contains(ofCommand(), name), gits && strings.HasPrefix(name, "GIT_PUSH_OPTION_"):
		case gits && !author && (name == "GIT_AUTHOR_NAME" || name == "GIT_AUTHOR_EMAIL"):
		case slices.Contains(makes, name), scripts && isOfRunner(name):
		case name == "PATH":
			out = append(out, name+"="+pathWithout(is, env))
		case scripts && name == "NODE_OPTIONS":
			out = append(out, name+"="+optionsWithout(is))
		default:
			out = append(out, pair)
		}
	}
	return out
}

// byRunner reports whether a runner of package.json started the process.
func byRunner(env []string) bool {
	return has(env, "npm_lifecycle_event") || has(env, "BERRY_BIN_FOLDER") || has(env, "npm_config_user_agent")
}

// pathWithout is a PATH without the folders of git's own programs, once for each git that started another one, where
// git put them before the others, and without those of the programs of one checkout, where a runner of package.json
// started the process or the folder is relative.
func pathWithout(folders string, env []string) string {
	folder := value(env, "GIT_EXEC_PATH")
	for byGit(env) && folder != "" && strings.HasPrefix(folders, folder+":") {
		folders = folders[len(folder)+1:]
	}
	all, scripts := strings.Split(folders, ":"), byRunner(env)
	return strings.Join(slices.DeleteFunc(all, func(dir string) bool {
		if dir == "./node_modules/.bin" || dir == "node_modules/.bin" {
			return true
		}
		below, is := strings.CutSuffix(dir, "/node_modules/.bin")
		made := strings.HasPrefix(path.Base(dir), "yarn--") || strings.HasPrefix(path.Base(dir), "xfs-") ||
			dir == value(env, "BERRY_BIN_FOLDER") || strings.HasSuffix(dir, "/node-gyp-bin")
		return scripts && (made || is && around(below, env))
	}), ":")
}

// around reports whether a folder has the package that a runner was called for.
func around(folder string, env []string) bool {
	for _, name := range []string{"INIT_CWD", "PWD", "npm_config_local_prefix"} {
		if at := value(env, name); at != "" && strings.HasPrefix(at+"/", strings.TrimSuffix(folder, "/")+"/") {
			return true
		}
	}
	return false
}

// optionsWithout are options for Node without those that load how one checkout finds its packages.
func optionsWithout(options string) string {
	words := strings.Fields(options)
	var out []string
	for i := 0; i < len(words); i++ {
		if i+1 < len(words) && strings.Contains(words[i+1], "/.pnp.") {
			i++ // the option and its file
			continue
		}
		if !strings.Contains(words[i], "/.pnp.") {
			out = append(out, words[i])
		}
	}
	return strings.Join(out, " ")
}

// WithoutTask is Without, and without what marks a program that works for a task.
func WithoutTask(env []string) []string {
	return slices.DeleteFunc(Without(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "ORANGE_") && !slices.Contains(keptNames(), name)
	})
}

// byGit reports whether git started the process that has this environment: git puts the folder of its own programs
// before the others, or says where in the repository it was called. That a shell exports GIT_DIR says nothing.
func byGit(env []string) bool {
	folder := value(env, "GIT_EXEC_PATH")
	return folder != "" && strings.HasPrefix(value(env, "PATH"), folder+":") || has(env, "GIT_PREFIX") ||
		has(env, "GIT_INDEX_FILE")
}

func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
}

func value(env []string, name string) string {
	for _, pair := range slices.Backward(env) { // of several the last one counts
		if is, found := strings.CutPrefix(pair, name+"="); found {
			return is
		}
	}
	return ""
}
