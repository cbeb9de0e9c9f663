package harness_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

func TestTheNameOfAModelCannotBeTakenForAFlag(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "opus", "openai/gpt-5:high", "claude-opus-4-1[1m]", "my own",
		strings.Repeat("m", 200)} {
		if err := harness.CheckWord(harness.Model, name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"-m", "--yolo", "a\nb", "a\x1b[2J", strings.Repeat("m", 201)} {
		if err := harness.CheckWord(harness.Model, name); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: found %v", name, err)
		}
	}
}
