package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

func TestACommand_isSplitAtItsBlanksWithoutAShell(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"npm ci":                 {"npm", "ci"},
		"  npm   ci\t":           {"npm", "ci"},
		`sh -c 'a && b | "c"'`:   {"sh", "-c", `a && b | "c"`},
		`echo "a b" '' x"y"z`:    {"echo", "a b", "", "xyz"},
		`echo a\ b "c\"d" 'e\f'`: {"echo", "a b", `c"d`, `e\f`},
		`echo 'it'"'"'s' \$HOME`: {"echo", "it's", "$HOME"},
	}
	for line, want := range tests {
		words, err := splitWords(line)
		if err != nil || !slices.Equal(words, want) {
			t.Errorf("%s: %q, %v; want %q", line, words, err, want)
		}
		if again, err := splitWords(joinWords(words)); err != nil || !slices.Equal(again, want) {
			t.Errorf("%s is written as %s, which is %q, %v", line, joinWords(words), again, err)
		}
	}
}

func TestACommandThatWantsAShell_isRefused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"a && b", "a | b", "a > b", "echo $HOME", "echo `a`", "a; b", "echo 'a", `a \`, `""`,
		"''"} {
		if words, err := splitWords(line); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%s: %q, %v", line, words, err)
		}
	}
}

func TestAPatternOutsideOfTheRepository_isRefused(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"../x", "a/../../b", "./x", "~/.ssh/*", "a\nb", " "} {
		err := checkPattern("copy", one)
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "--copy") {
			t.Errorf("%q: %v", one, err)
		}
	}
	for _, one := range []string{".env", "/.env", "!x", "config/*.local", "a b", "node_modules/"} {
		if err := checkPattern("copy", one); err != nil {
			t.Errorf("%q: %v", one, err)
		}
	}
}
