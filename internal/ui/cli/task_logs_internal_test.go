package cli

import (
	"testing"

	"orange/internal/rules/printable"
)

func TestLogLine_isForPeople(t *testing.T) {
	t.Parallel()
	line := `{"ts":"2026-05-03T12:20:00.000Z","level":"warn","msg":"no window","component":"hook","task":"4Fz",` +
		`"why":"a\nb","hook":7}`
	const want = "2026-05-03T12:20:00.000Z  warn  hook  no window  hook=7  why=a b"
	if found := logLine(zone{utc: true}, []byte(line)); found != want {
		t.Errorf("it is %q, want %q", found, want)
	}
}

func TestLastLines_areThoseThatMatter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "a\nb\nc\n\n": "b\nc", "a": "a", "a\n\nc": "\nc",
		"a\n\n \n\nc": "\nc"} {
		if found := lastLines(text, 2); found != want {
			t.Errorf("of %q it is %q, want %q", text, found, want)
		}
	}
}

func TestDiffPieces_colourTheLinesAndNotTheListOfFiles(t *testing.T) {
	t.Parallel()
	found := diffPieces(" a | 1 +\n+odd name\n\ndiff --git a/a b/a\n--- a/a\n@@ -1,3 +1,2 @@\n-x\n" +
		"--- x\n+y\n z\n")
	want := []printable.Paint{"", "", "", printable.Bold, printable.Bold, printable.Cyan, printable.Red,
		printable.Red, printable.Green, ""}
	for i, paint := range want {
		if found[2*i].Paint != paint {
			t.Errorf("%q is %q, want %q", found[2*i].Text, found[2*i].Paint, paint)
		}
	}
}
