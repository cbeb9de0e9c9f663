package task_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

func TestCheckSummary_takesWordsOfEveryLanguageAndNoneThatShowNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fix the login": "", "ログイン画面の文字化けを修正する。": "", "แก้ไข": "", "🍊": "", " x ": "", "?": "",
		strings.Repeat("x", 1000): "",
		"":                        "says nothing",
		" \t\r\n":                 "says nothing",
		"\u3000\u00a0":            "says nothing",
		"\u200b\u200d\ufeff\x1b":  `cannot use "\u200b\u200d\ufeff\x1b" as the summary`,
		strings.Repeat("修", 334):  "it has 1002 bytes, more than 1000",
		"a\x00b":                  "NUL",
	} {
		err := task.CheckSummary(text)
		if want == "" && err != nil || want != "" && (!errors.Is(err, task.ErrUsage) ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: found %v, want %q", text, err, want)
		}
	}
}
