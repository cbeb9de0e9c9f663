package merge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatAKilledTrialLeft_isRemovedWhenItIsOld(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{".trial-old": 2 * trialIsOld, ".trial-new": time.Minute,
		"coffee.json": 2 * trialIsOld} {
		path, at := filepath.Join(folder, name), now.Add(-age)
		err := errors.Join(os.MkdirAll(filepath.Join(path, "objects"), 0o700), os.Chtimes(path, at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := removeOldTrials(folder, now); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != ".trial-new" {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestReadBatch_takesNothingForAnAnswerThatIsNone(t *testing.T) {
	t.Parallel()
	tree := strings.Repeat("a", 40)
	for name, row := range map[string]struct {
		out   string
		want  []string
		whole bool
	}{
		"nothing":       {"", nil, true},
		"a clean merge": {"1\x00" + tree + "\x00\x00", []string{"[]"}, true},
		"two files":     {"0\x00" + tree + "\x00a\x00b\x00\x00", []string{"[a b]"}, true},
		"both": {"1\x00" + tree + "\x00\x000\x00" + tree + "\x00a\x00\x00", []string{"[]", "[a]"},
			true},
		"one that was cut short":   {"1\x00" + tree + "\x00\x000\x00" + tree + "\x00a\x00", []string{"[]"}, false},
		"one without its files":    {"0\x00" + tree, nil, false},
		"a status that is unknown": {"2\x00" + tree + "\x00\x00", nil, false},
		"no tree":                  {"1\x00tree\x00\x00", nil, false},
		"words":                    {"fatal: no", nil, false},
	} {
		got, whole := readBatch([]byte(row.out))
		var files []string
		for _, one := range got {
			files = append(files, fmt.Sprint(one.Files))
		}
		if !slices.Equal(files, row.want) || whole != row.whole {
			t.Errorf("%s: %q, %v", name, files, whole)
		}
	}
}
