package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/envfilter"
)

// Environment is the environment of this process as a program may have it that is started for a task, a person or
// another program: without what belongs to the one that started this process.
func Environment() []string { return envfilter.WithoutTask(os.Environ()) }

// Caller is the environment of this process for another program of Orange that acts for the same caller: it has what
// says who that is.
func Caller() []string { return os.Environ() }

// environment is what the program of a command gets. No other place makes one: nothing leads the program to the
// repository or the window of another one, and git shows it each commit as it is, unless the command says so itself.
func (c Command) environment() []string {
	base := c.Base
	if base == nil {
		base = Environment()
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
