package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/screen"
)

// bare is what markdown draws, without colours.
func bare(text string, width int) string {
	s := screen.NewStyle()
	return ansi.Strip(strings.Join(lines(s, text, width), "\n"))
}

func TestMarkdown_drawsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "",
		"# A *title*\ntext":                   "# A title\n\ntext",
		"#### deep":                           "#### deep",
		"one\ntwo  \nthree\\\nfour":           "one\ntwo\nthree\nfour",
		"DONE: x\n---":                        "DONE: x\n\n────────────────────",
		"a\nNot a label:x\nb":                 "a\nNot a label:x\nb",
		"a\n**Label**: x\n_Other one:_ y":     "a\nLabel: x\nOther one: y",
		"**a*b*c** __d__ `e  f` \\*g\\*":      "abc d e f *g*",
		"x &amp; &lt;y&gt; &#65;":             "x & <y> A",
		"[a b](http://x.y \"t\") <http://z>":  "a b (http://x.y)\nhttp://z",
		"![pic](a.png)":                       "image: pic (a.png)",
		"see [a][1]\n\n[1]: http://x":         "see [a][1]\n\n[1]: http://x",
		"- a\n- b\n  more\n  - c\n\n    d\n":  "• a\n• b\n  more\n  • c\n\n    d",
		"3) a\n4) b":                          "3) a\n4) b",
		"- a\n\n- b":                          "• a\n\n• b",
		"-\n- x":                              "•\n• x",
		"- [ ] a\n- [X] b\n- [x]c\n- [y] d":   "[ ] a\n[x] b\n• [x]c\n• [y] d",
		"> a\n> > b\n> - c":                   "┃ a\n┃\n┃ ┃ b\n┃\n┃ • c",
		"```go\na\tb\n\n  c\n```":             "▏ a    b\n▏\n▏   c",
		"    indented\n      more":            "▏ indented\n▏   more",
		"- a\n\n      code":                   "• a\n\n  ▏ code",
		"<!-- a\nb -->\ntext":                 "<!-- a\nb -->\n\ntext",
		"t <!-- a --> <b>c</b>":               "t <!-- a -->\n<b>c</b>",
		"a\n***\nb":                           "a\n\n────────────────────\n\nb",
		"|a|b|\n|-|-|\n|1|2|":                 "|a|b|\n|-|-|\n|1|2|",
		"one two three four five six":         "one two three four\nfive six",
		"- one two three four five six":       "• one two three four\n  five six",
		"a " + strings.Repeat("x", 25):        "a\nxxxxxxxxxxxxxxxxxxxx\nxxxxx",
		"日本語日本語日本語日本語":                        "日本語日本語日本語日\n本語",
		"ab 日本語日本語日本語":                        "ab\n日本語日本語日本語",
		"`" + strings.Repeat("y", 21) + "` z": "yyyyyyyyyyyyyyyyyyyy\ny z",
	} {
		got := bare(text, 20)
		for i, lines := 0, strings.Split(got, "\n"); i < len(lines); i++ {
			lines[i] = strings.TrimRight(lines[i], " ")
			got = strings.Join(lines, "\n")
		}
		if got != want {
			t.Errorf("%q\ngot:\n%s\nwant:\n%s", text, got, want)
		}
	}
}

func TestMarkdown_aLineEndStaysOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Verdict: PASS\nall is well\n1 finding":        "Verdict: PASS\nall is well\n1 finding",
		"> says *it\n> all*":                           "┃ says it\n┃ all",
		"- [ ] a\n  *b*\n  c":                          "[ ] a\n    b\n    c",
		"one two three four five six\n  `a\nb` <i\nc>": "one two three four\nfive six\na\nb <i\nc>",
		strings.Repeat("*nine* and\n", maxInline/9):    strings.Repeat("*nine* and\n", maxInline/9-1) + "*nine* and",
	} {
		if got := bare(text, 20); got != want {
			t.Errorf("%q\ngot:\n%s\nwant:\n%s", text, got, want)
		}
	}
}

func TestMarkdown_aBorderStaysWhereTheTextIsNestedTooDeep(t *testing.T) {
	t.Parallel()
	got := bare(strings.Repeat("> ", 40)+"deep down", 20)
	if !strings.Contains(got, "deep down") {
		t.Errorf("got:\n%s", got)
	}
}

func TestDocumentLines_leaveTheHeaderOut(t *testing.T) {
	t.Parallel()
	s := screen.NewStyle()
	for text, want := range map[string]string{
		"---\nstatus: x\n---\n# T\n": "# T",
		"---\nstatus: x\n---\n":      "TASK.md has no text yet",
		"---\nnever closed\n":        strings.Repeat("─", 30) + "\n\nnever closed",
	} {
		if got := ansi.Strip(strings.Join(Document(s, text, 0, 30), "\n")); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	begin, beyond := Limit(strings.Repeat("line of text\n\n", maxDocument/14+100))
	if len(begin) != maxDocument {
		t.Errorf("%d bytes are kept, want %d", len(begin), maxDocument)
	}
	long := Document(s, begin, beyond, 80)
	if last := ansi.Strip(long[len(long)-1]); !strings.HasPrefix(last, "… and ") {
		t.Errorf("it ends with %q", last)
	}
}

// junk is a megabyte of what makes a parser work.
func junk() map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, 1<<20/len(unit)) }
	return map[string]string{
		"prose":                  fill("The quick brown *fox* jumps over `the` lazy dog, and [so on](http://x).\n\n"),
		"one line":               fill("word "),
		"many lines":             fill("a line of a log without any end\n"),
		"brackets":               fill("["),
		"brackets in paragraphs": fill(strings.Repeat("[", 8000) + "\n\n"),
		"images in paragraphs":   fill(strings.Repeat("![a](", 1600) + "\n\n"),
		"stars in paragraphs":    fill(strings.Repeat("*a_ ", 2000) + "\n\n"),
		"ticks in paragraphs":    fill(strings.Repeat("`a``b", 1600) + "\n\n"),
		"angles in paragraphs":   fill(strings.Repeat("<a <", 2000) + "\n\n"),
		"comments":               fill("<!--"),
		"lists":                  fill("- "),
		"lists in lines":         fill(strings.Repeat("- ", 200) + "x\n"),
		"quotes in lines":        fill(strings.Repeat("> ", 200) + "x\n"),
		"deeper":                 fill(" - a\n  - b\n   - c\n"),
		"fences":                 fill("```\n"),
		"labels":                 fill("DONE: x\n"),
		"tables":                 fill("|a|b|\n|-|-|\n"),
		"wide":                   fill("日本語 "),
		"a wide word":            fill("日"),
	}
}

func BenchmarkDocumentLines_1MiB(b *testing.B) {
	s := screen.NewStyle()
	for name, text := range junk() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Document(s, text, 0, 100)
			}
		})
	}
}
