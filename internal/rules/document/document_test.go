package document

import (
	"bytes"
	"strings"
	"testing"
)

const simple = `---
id: abc
project: orange
status: working
summary: "fix: the door"
---
# Task

Some words.

## Plan
1. Do it.

## Handoff
DONE: all of it
`

func TestRead_takesAPlainDocumentApart(t *testing.T) {
	t.Parallel()
	d := Read([]byte(simple))
	if len(d.Problems) != 0 {
		t.Fatalf("problems: %v", d.Problems)
	}
	wantValues(t, d.Front.Values, []Value{
		{"id", "abc", 2}, {"project", "orange", 3}, {"status", "working", 4}, {"summary", "fix: the door", 5},
	})
	if !strings.HasPrefix(d.Body, "# Task\n") || d.FrontLen+len(d.Body) != len(simple) {
		t.Errorf("body begins %.20q, FrontLen is %d", d.Body, d.FrontLen)
	}
	wantStrings(t, d.SectionNames(), []string{"Plan", "Handoff"})
	plan, ok := d.Section("plan")
	if !ok || plan.Line != 11 || plan.Text != "1. Do it.\n" || plan.Copies != 1 {
		t.Errorf("plan: %v %+v", ok, plan)
	}
	if _, ok := d.Section("Review"); ok {
		t.Error("there is a Review that nobody wrote")
	}
	if _, ok := d.Front.Get("branch"); ok {
		t.Error("there is a branch that nobody wrote")
	}
	if text, ok := d.Front.Get("status"); !ok || text != "working" {
		t.Errorf("status is %q, %v", text, ok)
	}
}

// The same facts whatever an editor does to the line ends, and whether or not it writes a byte order mark.
func TestRead_isTheSameForEveryEditor(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"LF":                    simple,
		"CRLF":                  strings.ReplaceAll(simple, "\n", "\r\n"),
		"CR":                    strings.ReplaceAll(simple, "\n", "\r"),
		"BOM":                   "\uFEFF" + simple,
		"BOM and CRLF":          "\uFEFF" + strings.ReplaceAll(simple, "\n", "\r\n"),
		"blanks after ---":      strings.ReplaceAll(simple, "---\n", "--- \t\n"),
		"blanks after headings": strings.ReplaceAll(simple, "## Plan", "## Plan  \t"),
		"no newline at the end": strings.TrimSuffix(simple, "\n"),
		"blank lines at the end": simple +
			"\n \n\t\n",
	}
	plain := Read([]byte(simple))
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Read([]byte(text))
			if len(d.Problems) != 0 {
				t.Fatalf("problems: %v", d.Problems)
			}
			wantValues(t, d.Front.Values, plain.Front.Values)
			if d.FrontLen+len(d.Body) != len(text) || text[d.FrontLen:] != d.Body {
				t.Errorf("the body is not the rest of the text: FrontLen %d", d.FrontLen)
			}
			for _, name := range plain.SectionNames() {
				want, _ := plain.Section(name)
				got, ok := d.Section(name)
				if !ok || got.Text != want.Text || got.Line != want.Line {
					t.Errorf("section %q: %v %q on line %d, want %q on line %d", name, ok, got.Text, got.Line,
						want.Text, want.Line)
				}
			}
		})
	}
}

func TestRead_namesTheLineThatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		line int
		says string
	}{
		"empty file":              {"", 1, "cannot find the frontmatter"},
		"no frontmatter":          {"# Task\n## Plan\nx\n", 1, "cannot find the frontmatter"},
		"blank line before it":    {"\n---\nid: x\n---\n", 1, "cannot find the frontmatter"},
		"dashes with text":        {"--- yaml\nid: x\n---\n", 1, "cannot find the frontmatter"},
		"never closed":            {"---\nid: x\n## Plan\n", 1, "never closed"},
		"closed with four dashes": {"---\nid: x\n----\n", 1, "never closed"},
		"closed with indentation": {"---\nid: x\n  ---\n", 1, "never closed"},
		"broken first line":       {"---\nid: a: b\nproject: p\n---\n", 2, "cannot read the frontmatter"},
		"broken third line": {"---\nid: a\nproject: p\nsummary: fix: it\nstatus: s\n---\n", 4,
			"mapping values are not allowed"},
		"quote never closed":        {"---\nid: a\nsummary: \"fix\nstatus: s\n---\n", 3, "cannot read the frontmatter"},
		"text without a key":        {"---\nid: a\nhello\nstatus: s\n---\n", 3, "text without a key"},
		"a list":                    {"---\n- a\n- b\n---\n", 2, "text without a key"},
		"bracket never closed":      {"---\nid: a\nmine: [1, 2\n---\n", 3, "cannot read the frontmatter"},
		"a tab as indentation":      {"---\nid: a\nmine:\n\tx: 1\n---\n", 3, "cannot read the frontmatter"},
		"control character":         {"---\nid: a\nsummary: a\x01b\n---\n", 3, "control characters"},
		"second YAML document":      {"---\nid: a\n...\nmine: 1\n---\n", 3, "second YAML document"},
		"key twice":                 {"---\nid: a\nstatus: s\nid: b\n---\n", 4, `"id" twice`},
		"own key twice":             {"---\nmine: a\nmine: b\n---\n", 3, `"mine" twice`},
		"list for a known key":      {"---\nid: a\nbranch: [x]\n---\n", 3, `value of "branch"`},
		"mapping for a known key":   {"---\nid: a\nsummary:\n  x: y\n---\n", 3, `value of "summary"`},
		"alias for a known key":     {"---\nid: &a x\nbranch: *a\n---\n", 3, `value of "branch"`},
		"own key in braces":         {"---\n{id: a, mine: b}\n---\n", 2, `keep the key "mine"`},
		"own key leans on another":  {"---\nid: &a x\nmine: *a\n---\n", 2, `keep the key "mine"`},
		"heading in frontmatter":    {"---\nid: a\n\n## Plan\nx: y\n---\n", 4, `heading "## Plan"`},
		"huge frontmatter":          {"---\nid: a\n# " + strings.Repeat("x", maxFront) + "\n---\n", 1, "bytes long"},
		"huge body":                 {"---\nid: a\n---\n" + strings.Repeat("x\n", maxBody/2+1), 4, "bytes long"},
		"not UTF-8 in the body":     {"---\nid: a\n---\n## Plan\nok\nb\xffd\n", 6, "0xff is not UTF-8"},
		"not UTF-8 in frontmatter":  {"---\nid: a\nsummary: b\xc3\n---\n", 3, "0xc3 is not UTF-8"},
		"NUL":                       {"---\nid: a\n---\n\n\x00\n", 5, "NUL byte"},
		"backtick fence":            {"---\nid: a\n---\nx\n```go\ncode\n", 5, "line 5: the code fence"},
		"tilde fence":               {"---\nid: a\n---\n~~~~\n~~~\n```\n", 4, "close it with ~~~~"},
		"fence with CRLF":           {"---\r\nid: a\r\n---\r\nx\r\n```\r\n", 5, "never closed"},
		"fence without frontmatter": {"---\nid: a\n---\n\n\n```", 6, "never closed"},
		"fence of too few closers":  {"---\nid: a\n---\n````\n```\n", 4, "close it with ````"},
		"closer with words":         {"---\nid: a\n---\n```\n``` go\n", 4, "never closed"},
		"comment":                   {"---\nid: a\n---\n<!-- note\n\n## Plan\nx\n", 4, "the comment"},
		"comment with half an end":  {"---\nid: a\n---\n\n<!-- note --\n", 5, "close it with -->"},
		"processing instruction":    {"---\nid: a\n---\n<? note\n", 4, "close it with ?>"},
		"declaration":               {"---\nid: a\n---\n<!DOCTYPE\n", 4, "close it with >"},
		"character data":            {"---\nid: a\n---\n<![CDATA[ x\n", 4, "close it with ]]>"},
		"script":                    {"---\nid: a\n---\n<SCRIPT>\nx\n", 4, "close it with </script>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Read([]byte(tt.text))
			if len(d.Problems) != 1 {
				t.Fatalf("problems: %v, want one", d.Problems)
			}
			if p := d.Problems[0]; p.Line != tt.line || !strings.Contains(p.Text, tt.says) {
				t.Errorf("line %d: %s\nwant line %d: ...%s...", p.Line, p.Text, tt.line, tt.says)
			}
			if d.FrontLen+len(d.Body) != len(tt.text) {
				t.Errorf("FrontLen %d and a body of %d bytes do not make %d", d.FrontLen, len(d.Body), len(tt.text))
			}
		})
	}
}

func TestRead_hasNoProblemWithWhatIsClosed(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"fence":                         "```\ncode\n```\n",
		"empty fence":                   "```\n```\n",
		"fence closed on the last line": "```\ncode\n```",
		"longer closer":                 "```\ncode\n`````\n",
		"indented closer":               "```\ncode\n   ```\n",
		"tilde fence":                   "~~~ text\n```\n~~~\n",
		"fence ended by its list item":  "- ```\n  code\n\nafter\n",
		"fence in the last list item":   "- ```\n  code\n",
		"fence ended by its quote":      "> ```\n> code\n\nafter\n",
		"comment on one line":           "<!-- x -->",
		"shortest comment":              "<!-->\n",
		"comment on two lines":          "<!-- x\n\ny -->\n",
		"comment in a list":             "- <!-- x\n\nafter\n",
		"comment in the text":           "a <!-- x\nb\n",
		"script":                        "<script>x</script>\n",
		"script on lines":               "<script>\n\nx</Script>\n",
		"details":                       "<details>\n\ntext\n",
		"inline code":                   "``` x ``` and more\n",
		"indented backticks":            "    ```\n    code\n",
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := Read([]byte("---\nid: a\n---\n" + body)); len(d.Problems) != 0 {
				t.Errorf("problems: %v", d.Problems)
			}
		})
	}
}

func TestRead_sortsProblemsAndStopsAtEnough(t *testing.T) {
	t.Parallel()
	d := Read([]byte("---\nid: a\nid: b\nbranch: []\n---\n\xff\n```\n"))
	var lines []int
	for _, p := range d.Problems {
		lines = append(lines, p.Line)
	}
	if len(lines) != 4 || lines[0] != 3 || lines[1] != 4 || lines[2] != 6 || lines[3] != 7 {
		t.Errorf("problems stand on lines %v", lines)
	}
	many := Read([]byte("---\n" + strings.Repeat("a: b: c\n", 500) + "---\n<!--\n"))
	if len(many.Problems) != maxProblems {
		t.Errorf("%d problems", len(many.Problems))
	}
	if last := many.Problems[len(many.Problems)-1]; last.Line != 503 {
		t.Errorf("what hides the sections was crowded out: %v", last)
	}
}

// Whatever an agent pipes into TASK.md, a listing must not wait for it. The inputs are those on which a parser of
// Markdown or YAML goes quadratic; the bound is wide, as quadratic would be hours.
// One that looks at the rest of the text again at each character does not end before the tests' own limit.
func TestRead_isQuickOnJunk(t *testing.T) {
	t.Parallel()
	units := map[string]string{
		"letters": "x", "newlines": "\n", "quotes": ">", "spaced quotes": "> ", "lists": "- ", "stars": "* ",
		"ordered":   "1. ",
		"backticks": "`", "fences": "```\n", "angles": "<", "angle lines": "<\n", "comments opened": "a <!-- ",
		"comments":      "a<!---->",
		"comment lines": "a <!--\n", "declarations": "<!A\n", "hashes": "#", "headings": "## \n",
		"sections": "## A\n", "brackets": "[",
		"NULs": "\x00", "bad bytes": "\xff", "carriage returns": "\r", "tabs": "\t", "rules": "---\n",
		"paragraphs": "a\n\n",
		"items":      "- a\n", "quoted lines": "> a\n", "attributes": "<a a=a b='b'\n", "emphasis": "*_",
	}
	for name, unit := range units {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := 1 << 20
			if strings.Contains(unit, "\n") || unit == "\r" {
				size = 1 << 14 // many lines cost what many lines cost; the trap is in long ones
			}
			junk := strings.Repeat(unit, size/len(unit))
			for _, text := range []string{junk, "---\nid: a\n---\n" + junk, "---\n" + junk[:maxFront/8] + "\n---\n"} {
				d := Read([]byte(text))
				if d.FrontLen+len(d.Body) != len(text) {
					t.Errorf("FrontLen %d and a body of %d bytes do not make %d", d.FrontLen, len(d.Body), len(text))
				}
			}
		})
	}
}

func BenchmarkRead_8KiB(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Read(text)
	}
}

func benchText() []byte {
	var b bytes.Buffer
	b.WriteString(simple)
	for b.Len() < 8<<10 {
		b.WriteString("\n### Step\n\nWords that say what was done, and why.\n\n- one\n- two\n\n```go\nfunc " +
			"main() {}\n```\n\n> quoted\n")
	}
	b.WriteString("\n## Review\n**Verdict: PASS**\n")
	return b.Bytes()
}

func wantStrings(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func wantValues(t *testing.T, got, want []Value) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("value %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}
