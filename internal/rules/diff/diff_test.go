package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const example = ` main.go | 3 ++-
 new, not added: notes.txt

diff --git a/main.go b/main.go
index 1111111..2222222 100644
--- a/main.go
+++ b/main.go
@@ -1,4 +1,5 @@ package main
 package main
 
-func old() {}
+func new() {}
+func more() {}
 // end
@@ -20 +21 @@ func f() {
--- removed
++++ added
\ No newline at end of file
diff --git a/a.txt b/b.txt
similarity index 100%
rename from a.txt
rename to b.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git "a/\303\244 b.txt" "b/\303\244 b.txt"
new file mode 100644
--- /dev/null
+++ "b/\303\244 b.txt"	
@@ -0,0 +1 @@
+x
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/p.png b/p.png
Binary files a/p.png and b/p.png differ
… and 12 bytes more: git diff shows all
`

func TestParse(t *testing.T) {
	t.Parallel()
	p := Parse(example)
	var got []string
	for _, f := range p.Files {
		got = append(got, fmt.Sprintf("%s<%s +%d -%d %d hunks binary=%t %q", f.Name, f.Old, f.Added, f.Removed,
			len(f.Hunks), f.Binary, f.Notes))
	}
	want := []string{
		`main.go< +3 -2 2 hunks binary=false []`,
		`b.txt<a.txt +0 -0 0 hunks binary=false ["similarity index 100%" "rename from a.txt"]`,
		`run.sh< +0 -0 0 hunks binary=false ["old mode 100644" "new mode 100755"]`,
		`ä b.txt< +1 -0 1 hunks binary=false ["new file mode 100644"]`,
		`gone< +0 -1 1 hunks binary=false ["deleted file mode 100644"]`,
		`p.png< +0 -0 0 hunks binary=true ["Binary files a/p.png and b/p.png differ"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(p.Untracked, []string{"notes.txt"}) || len(p.Rest) != 1 {
		t.Errorf("untracked %q, rest %q", p.Untracked, p.Rest)
	}
	second := p.Files[0].Hunks[1]
	if second.Title != "func f() {" || second.Lines[0] != (Line{Removed, "-- removed", 20, 0, 16}) ||
		second.Lines[1] != (Line{Added, "+++ added", 0, 21, 17}) || second.Lines[2].Kind != Note {
		t.Errorf("the second hunk is %+v", second)
	}
	if last := p.Files[0].Hunks[0].Lines[5]; last != (Line{Same, "// end", 4, 5, 14}) {
		t.Errorf("the last line of the first hunk is %+v", last)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{example, "", "diff --git ", "diff --git a b\n@@ -1,9 +1,9 @@\n+\x1b[2J\r\n\xff",
		"diff --git a b\n@@ -99999999999 +1 @@\n", "diff --git \"a/\\\n@@ -0,0 +1,1000000 @@\n" +
			strings.Repeat("+x\n", 99), "diff --git a/x b/x\n@@ -1 +1 @@\n-" + strings.Repeat("y", 1<<20)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := Parse(text)
		lines := 0
		for _, file := range p.Files {
			for _, h := range file.Hunks {
				lines += len(h.Lines)
				for _, pair := range h.Pairs() {
					old, new := h.Lines[pair[0]], h.Lines[pair[1]]
					if old.Kind != Removed || new.Kind != Added {
						t.Fatalf("%q: a pair of %q and %q", text, old.Kind, new.Kind)
					}
					wantRanges(t, old.Text, new.Text)
				}
				for _, l := range h.Lines {
					if (l.Old > 0) != (l.Kind == Same || l.Kind == Removed) && l.Old != 0 {
						t.Fatalf("%q: the line %+v has a wrong number", text, l)
					}
				}
			}
		}
		if most := strings.Count(text, "\n") + 1; lines > most {
			t.Fatalf("%q has %d lines and gave %d", text, most, lines)
		}
		Remarks(text, p.Files)
	})
}

func wantRanges(t *testing.T, old, new string) {
	t.Helper()
	inOld, inNew := Words(old, new)
	for text, ranges := range map[string][]Range{old: inOld, new: inNew} {
		at := 0
		for _, r := range ranges {
			if r.From < at || r.To <= r.From || r.To > len(text) {
				t.Fatalf("Words(%q, %q) has the range %v", old, new, r)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[r.From:r.To]) {
				t.Fatalf("Words(%q, %q) cuts a character at %v", old, new, r)
			}
			at = r.To
		}
	}
}

// marked is a text with its ranges in brackets.
func marked(text string, ranges []Range) string {
	for _, r := range slices.Backward(ranges) {
		text = text[:r.From] + "[" + text[r.From:r.To] + "]" + text[r.To:]
	}
	return text
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, one := range [][4]string{
		{"total := price * count", "total := price * amount", "total := price * [count]", "total := price * [amount]"},
		{"f(a, b)", "f(a, b, c)", "f(a, b)", "f(a, b[, c])"},
		{"return old value here", "return a new thing here", "return [old value] here", "return [a new thing] here"},
		{"one", "entirely different", "one", "entirely different"},
		{"same", "same", "same", "same"},
		{"größe = 1", "größe = 2", "größe = [1]", "größe = [2]"},
	} {
		inOld, inNew := Words(one[0], one[1])
		if got := [2]string{marked(one[0], inOld), marked(one[1], inNew)}; got != [2]string{one[2], one[3]} {
			t.Errorf("got %q, want %q", got, one[2:])
		}
	}
	long := strings.Repeat("x ", longestLine)
	if inOld, inNew := Words(long, long+"y"); inOld != nil || inNew != nil {
		t.Error("a line that is too long was compared")
	}
}

func FuzzWords(f *testing.F) {
	f.Add("a b c", "a x c")
	f.Add("\xff a", "\xfe a")
	f.Fuzz(wantRanges)
}

func TestRemarks(t *testing.T) {
	t.Parallel()
	files := []ChangedFile{{Name: "cmd/app/main.go"}, {Name: "lib/a.go"}, {Name: "web/a.go"}, {Name: "go.mod"}}
	review := `Verdict: FAIL

- cmd/app/main.go:12: the name is wrong
  and it is long
- ` + "`lib/a.go:3-5`" + ` is never called
1. main.go#L7 leaks
2. a.go:9 may be either of two
3. (./go.mod, line 2) is old; see https://example.org:443 and other.go:1
4. /home/ann/shop--1/web/a.go:4:11: unused
`
	var got []string
	for _, r := range Remarks(review, files) {
		got = append(got, r.String()+"|"+r.Text)
	}
	want := []string{
		"cmd/app/main.go:12|cmd/app/main.go:12: the name is wrong and it is long",
		"lib/a.go:3-5|`lib/a.go:3-5` is never called",
		"cmd/app/main.go:7|main.go#L7 leaks",
		"go.mod:2|(./go.mod, line 2) is old; see https://example.org:443 and other.go:1",
		"web/a.go:4|/home/ann/shop--1/web/a.go:4:11: unused",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	comments := []Comment{
		{Place: Place{File: "b.go", From: 4, To: 6}, Commit: "0123456789abcdef",
			Quoted: []string{"\ta", "b\x1b", "c", "d"}, Text: "Split this.\n\n- into two\n"},
		{Place: Place{File: "a.go", From: 2, To: 2, Gone: true}, Text: "Keep it."},
	}
	got := Instructions(comments)
	want := "`a.go:2` before the change:\n\nKeep it.\n\n`b.go:4-6` at 0123456:\n\n        a\n    b\\x1b\n" +
		"    c\n    …\n\nSplit this.\n\n- into two\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if left := Unsent(comments, got); len(left) != 0 {
		t.Errorf("%v were not sent", left)
	}
	if left := Unsent(comments, "`a.go:2` before the change:\n\nKeep it."); len(left) != 1 || left[0].File != "b.go" {
		t.Errorf("%v were not sent, want the one on b.go", left)
	}
	odd := Place{File: "a`\n:b", From: 1, To: 1}.String()
	if odd != "\"a`\\n:b\":1" {
		t.Errorf("a place with an odd name is %s", odd)
	}
}
