package proc

import "testing"

func TestTail_beginsAndEndsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "",
		"ab\xc3":            "ab",
		"ab\xf0\x9f\x8e":    "ab",
		"ab\xc3\xbc":        "ab\xc3\xbc",
		"0123456789\xc3":    "3456789",
		"\xbc23456789\n":    "3456789\n",
		"ab\xff":            "ab\xff", // no part of any character: it is reported as it is
		"\xc3":              "",
		"xx\xc3\xbc3456789": "3456789",
	} {
		one := &tail{most: 8}
		one.add([]byte(text))
		if got, _ := one.text(); got != want {
			t.Errorf("of %q it kept %q, want %q", text, got, want)
		}
	}
}
