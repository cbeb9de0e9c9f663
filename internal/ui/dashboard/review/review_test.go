package review

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/diff"
	"orange/internal/ui/dashboard/screen"
)

// modelOf is a view of a change whose comments and findings are on every kind of line.
func modelOf(t testing.TB, text string) *Model {
	t.Helper()
	m := New(t.Context(), nil, nil, nil, screen.NewStyle(), time.Now)
	m.content = prepare(diff.Patch{Text: text, Review: "a.go:1 " + text}, time.Now)
	for _, f := range m.content.parts.Files {
		m.written = append(m.written, diff.Comment{Place: diff.Place{File: f.Name, From: 1, To: 1}, Text: text})
	}
	m.build()
	return m
}

func FuzzDraw(f *testing.F) {
	for _, text := range []string{"",
		"diff --git a/a.go b/a.go\n@@ -1,2 +1,2 @@ f\n-a \x1b[2J\r\n+b \u202e\r\n \xff\xfe",
		"diff --git a/a.py b/a.py\n@@ -1 +1 @@\n-'''日本語 one\n+'''日本語 two\n\\ No newline at end of file\n",
		"diff --git a/a.go b/a.go\nrename from \x1b]0;x\x07\nrename to b\nBinary files differ",
		"diff --git a/a b/a\n@@ -0,0 +1,9 @@\n+" + strings.Repeat("👩‍👧x", 2000)} {
		f.Add(text, "a", uint8(40), uint8(10))
	}
	f.Fuzz(func(t *testing.T, text, search string, width, height uint8) {
		m := modelOf(t, text)
		size := screen.Size{Width: 1 + int(width), Height: 1 + int(height)}
		for _, m.wrap = range []bool{false, true} {
			for _, m.search.Text = range []string{"", search} {
				for at := range m.rows {
					for _, line := range m.draw(at, size) {
						wantPrintable(t, line, size.Width)
					}
				}
			}
		}
		for range m.rows {
			m.Move(1, size)
			m.Selected()
		}
	})
}

func wantPrintable(t *testing.T, line string, width int) {
	t.Helper()
	bare := regexp.MustCompile("\x1b\\[[0-9;:]*m").ReplaceAllString(line, "")
	if !utf8.ValidString(bare) || strings.ContainsFunc(bare, unicode.IsControl) {
		t.Fatalf("the line %q cannot be shown", line)
	}
	if screen.Width(line) > width {
		t.Fatalf("the line %q has %d cells, at most %d", line, screen.Width(line), width)
	}
}

// What cannot be seen is written out: it may be all that changed.
func TestPrepare_showsWhatIsHidden(t *testing.T) {
	t.Parallel()
	c := prepare(diff.Patch{Text: "diff --git a/a b/a\n@@ -1,3 +1,3 @@\n" +
		"-same\n+same\r\n-a\x1b[2J\u202eb\n+\tx\n \xff\n" +
		"diff --git a/b b/b\n@@ -1 +1 @@\n-one\r\n+two\r\n"}, time.Now)
	var got []string
	for f := range c.parts.Files {
		for i := range c.parts.Files[f].Hunks[0].Lines {
			got = append(got, c.lines[&c.parts.Files[f].Hunks[0].Lines[i]].text)
		}
	}
	if want := `[same same\r a\x1b[2J\u202eb     x \xff one two]`; fmt.Sprint(got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestPrepare_isPlainBeyondItsBounds(t *testing.T) {
	t.Parallel()
	text := "diff --git a/a.go b/a.go\n@@ -1,9000 +1,9000 @@\n" +
		strings.Repeat("-return 1 // old\n+return 2 // new\n", 9000)
	tokens := func(now func() time.Time) (n int, plain bool) {
		c := prepare(diff.Patch{Text: text}, now)
		for _, l := range c.lines {
			if len(l.tokens) > 0 {
				n++
			}
		}
		return n, c.plain
	}
	stands := func() time.Time { return time.Time{} }
	if n, plain := tokens(stands); !plain || n*len("return 1 // old") > mostBytes || n < 9000 {
		t.Errorf("%d lines have colours, plain from some line on: %t", n, plain)
	}
	looks := 0
	runs := func() time.Time {
		looks++
		return time.Time{}.Add(time.Duration(looks-1) * mostTime)
	}
	if n, plain := tokens(runs); !plain || n > 3*asksClock {
		t.Errorf("after the time, %d lines have colours, plain from some line on: %t", n, plain)
	}
}

// A person who reads on finds the cursor where it was when the change is read again.
func TestBuild_leavesTheCursorWhereItWas(t *testing.T) {
	t.Parallel()
	m := modelOf(t, "diff --git a/b.go b/b.go\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n")
	m.written = nil
	m.build()
	m.Move(1<<20, screen.Size{Width: 80, Height: 20})
	if l := m.rows[m.cursor].line; l == nil || l.Text != "three" {
		t.Fatalf("the cursor is on %+v", m.rows[m.cursor])
	}
	m.content = prepare(diff.Patch{Text: "diff --git a/a.go b/a.go\n@@ -1 +1 @@\n-x\n+y\n" +
		"diff --git a/b.go b/b.go\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n three\n+four\n"}, time.Now)
	m.build()
	if l := m.rows[m.cursor].line; l == nil || l.Text != "three" {
		t.Errorf("after another read the cursor is on %+v", m.rows[m.cursor])
	}
}

func BenchmarkMegabyte(b *testing.B) {
	var text strings.Builder
	text.WriteString("diff --git a/a.go b/a.go\n@@ -1,20000 +1,20000 @@\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "-\treturn \"old %d\"\n+\treturn \"new %d\"\n", i, i)
	}
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			prepare(diff.Patch{Text: text.String()}, time.Now)
		}
	})
	m := modelOf(b, text.String())
	size := screen.Size{Width: 120, Height: 40}
	m.Move(1<<20, size)
	b.Run("frame", func(b *testing.B) {
		for b.Loop() {
			m.Move(-1, size)
			m.body(size)
		}
	})
}
