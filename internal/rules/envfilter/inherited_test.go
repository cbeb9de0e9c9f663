package envfilter

import (
	"slices"
	"testing"
)

func TestWithout_removesGitVariablesOfTheStartingProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		env, want []string
	}{
		{"a shell of a person", []string{"PATH=/bin", "GIT_EDITOR=vim", "GIT_AUTHOR_NAME=A", "GIT_SSH_COMMAND=ssh -4"},
			[]string{"PATH=/bin", "GIT_EDITOR=vim", "GIT_AUTHOR_NAME=A", "GIT_SSH_COMMAND=ssh -4"}},
		{"a shell that exports where its repository is", []string{"GIT_DIR=/r/.git", "GIT_WORK_TREE=/r",
			"GIT_AUTHOR_NAME=A", "GIT_EDITOR=vim"}, []string{"GIT_AUTHOR_NAME=A", "GIT_EDITOR=vim"}},
		{"a shell that configures git", []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c",
			"GIT_CONFIG_GLOBAL=/g"}, []string{"GIT_CONFIG_GLOBAL=/g"}},
		{"a hook of a commit", []string{"GIT_INDEX_FILE=.git/index", "GIT_AUTHOR_NAME=O", "GIT_AUTHOR_EMAIL=o@o",
			"GIT_AUTHOR_DATE=@1 +0000", "GIT_EDITOR=:", "GIT_EXEC_PATH=/lib/git", "PATH=/lib/git:/lib/git:/bin"},
			[]string{"PATH=/bin"}},
		{"a hook of a person who says by variables who they are", []string{"GIT_PREFIX=", "GIT_AUTHOR_NAME=A",
			"GIT_COMMITTER_NAME=A"}, []string{"GIT_AUTHOR_NAME=A", "GIT_COMMITTER_NAME=A"}},
		{"an own folder of git's programs", []string{"GIT_EXEC_PATH=/opt/git", "PATH=/bin"},
			[]string{"GIT_EXEC_PATH=/opt/git", "PATH=/bin"}},
		{"what a push brings", []string{"GIT_DIR=.", "GIT_QUARANTINE_PATH=/q", "GIT_PUSH_OPTION_COUNT=1",
			"GIT_PUSH_OPTION_0=x", "GIT_EXEC_PATH=/lib/git", "PATH=/lib/git:/bin"}, []string{"PATH=/bin"}},
		{"a recipe of make -i", []string{"MAKEFLAGS=i -- T=true U:=x", "MFLAGS=-i", "MAKELEVEL=1",
			"MAKEOVERRIDES=x", "A=b", "T=true", "U=x", "MAKE_TERMOUT=/x"}, []string{"A=b"}},
		{"flags for make that a person has set", []string{"MAKEFLAGS=-j8"}, []string{"MAKEFLAGS=-j8"}},
		{"a script of package.json", []string{"npm_lifecycle_event=land", "npm_lifecycle_script=x", "INIT_CWD=/r/p",
			"npm_package_name=r", "npm_config_registry=https://r.invalid", "npm_config_ignore_scripts=true",
			"PATH=/r/p/node_modules/.bin:/r/node_modules/.bin:/node_modules/.bin:/n/lib/node-gyp-bin:/bin:" +
				"/own/node_modules/.bin"},
			[]string{"npm_config_registry=https://r.invalid", "PATH=/bin:/own/node_modules/.bin"}},
		{"a script of yarn", []string{"npm_lifecycle_event=land", "INIT_CWD=/r",
			"PATH=/tmp/yarn--17-0.1:/r/node_modules/.bin:/own/link/node_modules/.bin:/bin"},
			[]string{"PATH=/own/link/node_modules/.bin:/bin"}},
		{"a script of a newer yarn", []string{"BERRY_BIN_FOLDER=/tmp/xfs-1", "PATH=/tmp/xfs-1:/tmp/xfs-2:/bin",
			"NODE_OPTIONS=--max-size=9 --require /r/.pnp.cjs --experimental-loader=file:///r/.pnp.loader.mjs"},
			[]string{"PATH=/bin", "NODE_OPTIONS=--max-size=9"}},
		{"npx", []string{"npm_config_user_agent=npm/11", "PWD=/r", "PATH=/g/bin:/r/node_modules/.bin:/bin"},
			[]string{"npm_config_user_agent=npm/11", "PWD=/r", "PATH=/g/bin:/bin"}},
		{"pnpm exec", []string{"PATH=./node_modules/.bin:/bin"}, []string{"PATH=/bin"}},
		{"a person's own folder of programs", []string{"PATH=/own/node_modules/.bin:/bin"},
			[]string{"PATH=/own/node_modules/.bin:/bin"}},
		{"a window", []string{"TMUX=/tmp/x", "TMUX_PANE=%1", "TMUX_TMPDIR=/tmp", "ORANGE_SEAT=secret"},
			[]string{"TMUX_TMPDIR=/tmp", "ORANGE_SEAT=secret"}},
	} {
		if got := Without(c.env); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWithoutTask_leavesOfOrangesWhatAPersonSetsForAll(t *testing.T) {
	t.Parallel()
	got := WithoutTask([]string{"PATH=/bin", "ORANGE_SEAT=secret", "ORANGE_TASK_ID=1", "ORANGE_LOG_LEVEL=debug",
		"ORANGE_HOME=/h", "ORANGE_MONITOR=never", "TMUX=x", "GIT_DIR=y"})
	want := []string{"PATH=/bin", "ORANGE_LOG_LEVEL=debug", "ORANGE_HOME=/h", "ORANGE_MONITOR=never"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
