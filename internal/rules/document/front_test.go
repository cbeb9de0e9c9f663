package document

import (
	"strings"
	"testing"
)

func TestRead_givesValuesAsTheirText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line string
		want string
	}{
		"bare":                  {"summary: fix the door", "fix the door"},
		"double quotes":         {`summary: "a \"b\" \n\x07\u2028"`, "a \"b\" \n\a\u2028"},
		"single quotes":         {"summary: 'it''s'", "it's"},
		"nothing":               {"summary:", ""},
		"null":                  {"summary: null", ""},
		"tilde":                 {"summary: ~", ""},
		"quoted null":           {`summary: "null"`, "null"},
		"empty":                 {`summary: ""`, ""},
		"number":                {"summary: 007", "007"},
		"hexadecimal":           {"summary: 0x1F", "0x1F"},
		"boolean":               {"summary: yes", "yes"},
		"time":                  {"summary: 2026-01-02T15:04:05.000Z", "2026-01-02T15:04:05.000Z"},
		"comment behind":        {"summary: a # b", "a"},
		"hash that is no sign":  {"summary: a#b", "a#b"},
		"folded":                {"summary: >\n  a\n  b", "a b\n"},
		"literal":               {"summary: |-\n  a\n  # b", "a\n# b"},
		"plain on two lines":    {"summary: a\n  b", "a b"},
		"tag":                   {"summary: !!str 12", "12"},
		"anchor":                {"summary: &s a", "a"},
		"quoted key":            {`"summary": a`, "a"},
		"blanks around":         {"summary :   a  ", "a"},
		"emoji":                 {"summary: 🍊 ok", "🍊 ok"},
		"tab behind the colon":  {"summary:\ta", "a"},
		"explicit key":          {"? summary\n: a", "a"},
		"dashes in literal":     {"summary: |-\n  ---\n  a", "---\na"},
		"colon that is no sign": {"summary: a:b", "a:b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Read([]byte("---\nid: x\n" + tt.line + "\nstatus: s\n---\nbody"))
			if len(d.Problems) != 0 {
				t.Fatalf("problems: %v", d.Problems)
			}
			got, ok := d.Front.Get("summary")
			if !ok || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, ok, tt.want)
			}
			if d.Front.Values[1].Line != 3 || d.Front.Values[2].Key != "status" || d.Body != "body" ||
				d.Front.Extra != "" {
				t.Errorf("got %+v, body %q", d.Front, d.Body)
			}
		})
	}
}

func TestRead_keepsTheRawLinesOfOwnKeys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		front string
		want  string
	}{
		"none":              {"id: x\n", ""},
		"one":               {"id: x\nmine: 1\nstatus: s\n", "mine: 1\n"},
		"several, in order": {"b: 1\nid: x\na: 2\n", "b: 1\na: 2\n"},
		"as written":        {"mine:   'x'   # why\n", "mine:   'x'   # why\n"},
		"a list":            {"mine:\n- a\n- b\nid: x\n", "mine:\n- a\n- b\n"},
		"a mapping": {"mine:\n  a: 1\n  # note\n  b: [2,\n    3]\nid: x\n",
			"mine:\n  a: 1\n  # note\n  b: [2,\n    3]\n"},
		"a literal":                {"mine: |\n  # a\n\n  b\nid: x\n", "mine: |\n  # a\n\n  b\n"},
		"without comments":         {"# one\nmine: 1\n# two\n\n# three\nid: x\n", "mine: 1\n"},
		"without padding":          {"mine: 1\n#        \n", "mine: 1\n"},
		"quoted over lines":        {"mine: \"a\n# b\"\n# c\n", "mine: \"a\n# b\"\n"},
		"single quoted over lines": {"mine: 'a\n# b'\n#\n", "mine: 'a\n# b'\n"},
		"a number as key":          {"1: x\n", "1: x\n"},
		"indented":                 {"  id: x\n  mine:\n    a: 1\n", "mine:\n  a: 1\n"},
		"carriage returns":         {"id: x\r\nmine: 1\r\n", "mine: 1\r\n"},
		"anchor within":            {"a: &x 1\nb: *x\n", "a: &x 1\nb: *x\n"},
		"counter of a workflow":    {"id: x\nfix_round: 2\n", "fix_round: 2\n"},
		"in other case":            {"ID: x\n", "ID: x\n"},
		"broken YAML":              {"mine: 1\nid: a: b\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Read([]byte("---\n" + tt.front + "---\n")).Front.Extra; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestRead_salvagesWhatABrokenFrontmatterHolds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		front string
		want  []Value
		lines []int
	}{
		"one bad line": {"id: x\nsummary: a: b\nstatus: s\n", []Value{{"id", "x", 2}, {"status", "s", 4}},
			[]int{3}},
		"two bad lines": {"id: x: y\nproject: p\nbad\n", []Value{{"project", "p", 3}}, []int{2, 4}},
		"open quote":    {"id: \"x\nstatus: s\n", []Value{{"status", "s", 3}}, []int{2}},
		"values over lines": {"mine:\n  - a\n# c\n\nsummary: >-\n  a\n  b\nid: [\n",
			[]Value{{"summary", "a b", 6}}, []int{9}},
		"key twice": {"id: x\nid: y\nbad\n", []Value{{"id", "x", 2}}, []int{3, 4}},
		"not UTF-8": {"id: x\nsummary: a\xffb\n", []Value{{"id", "x", 2}, {"summary", "a\uFFFDb", 3}},
			[]int{3}},
		"NUL": {"id: x\nsummary: a\x00b\n", []Value{{"id", "x", 2}, {"summary", "a\uFFFDb", 3}},
			[]int{3}},
		"list where text is":   {"id: [x]\nstatus: s\n", []Value{{"status", "s", 3}}, []int{2}},
		"key twice, no scalar": {"id: [x]\nid: y\n", nil, []int{2, 3}},
		"own key in braces":    {"{id: x, mine: y}\n", []Value{{"id", "x", 2}, {"mine", "y", 2}}, []int{2}},
		"nothing of use":       {"%!\n", nil, []int{2}},
		"indented otherwise":   {"  id: x\nstatus: s\n", []Value{{"id", "x", 2}, {"status", "s", 3}}, []int{2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "---\n" + tt.front + "---\n## Plan\nx\n"
			d := Read([]byte(text))
			wantValues(t, d.Front.Values, tt.want)
			var lines []int
			for _, p := range d.Problems {
				lines = append(lines, p.Line)
			}
			if len(lines) != len(tt.lines) {
				t.Fatalf("problems: %v, want them on lines %v", d.Problems, tt.lines)
			}
			for i := range lines {
				if lines[i] != tt.lines[i] {
					t.Errorf("problems: %v, want them on lines %v", d.Problems, tt.lines)
				}
			}
			if d.Body != "## Plan\nx\n" {
				t.Errorf("body is %q", d.Body)
			}
			if _, ok := d.Section("Plan"); !ok {
				t.Error("the plan is not found")
			}
		})
	}
}

func TestRead_delimitsTheFrontmatter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		body string
	}{
		"usual":                     {"---\nid: x\n---\nbody\n", "body\n"},
		"blank line kept":           {"---\nid: x\n---\n\nbody", "\nbody"},
		"empty":                     {"---\n---\nbody", "body"},
		"comments only":             {"---\n# x\n---\nbody", "body"},
		"nothing behind":            {"---\nid: x\n---\n", ""},
		"no newline behind":         {"---\nid: x\n---", ""},
		"blanks behind":             {"---  \nid: x\n---\t\nbody", "body"},
		"BOM":                       {"\uFEFF---\nid: x\n---\nbody", "body"},
		"CRLF":                      {"---\r\nid: x\r\n---\r\nbody\r\n", "body\r\n"},
		"mixed line ends":           {"---\r\nid: x\n---\rbody", "body"},
		"the first closing counts":  {"---\nid: x\n---\na\n---\nb", "a\n---\nb"},
		"body that begins with one": {"---\nid: x\n---\n---\nb", "---\nb"},
		"broken YAML":               {"---\nid: x: y\n---\nbody", "body"},
		"bad bytes":                 {"---\nid: \xff\n---\n\xff\x00", "\xff\x00"},
		"never closed":              {"---\nid: x\nbody", "---\nid: x\nbody"},
		"none":                      {"body", "body"},
		"none, with BOM":            {"\uFEFFbody", "\uFEFFbody"},
		"nothing at all":            {"", ""},
		"only a fence":              {"---", "---"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Read([]byte(tt.text))
			if d.Body != tt.body || d.FrontLen != len(tt.text)-len(tt.body) {
				t.Errorf("FrontLen %d, body %q, want %d, %q", d.FrontLen, d.Body, len(tt.text)-len(tt.body), tt.body)
			}
		})
	}
}

func TestFront_Get_isTheFirstOfDuplicates(t *testing.T) {
	t.Parallel()
	front := Read([]byte("---\nid: a\nid: b\n---\n")).Front
	if text, ok := front.Get("id"); !ok || text != "a" {
		t.Errorf("got %q, %v", text, ok)
	}
	if text, ok := (Front{}).Get("id"); ok || text != "" {
		t.Errorf("got %q from nothing", text)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", simple, "\uFEFF" + strings.ReplaceAll(simple, "\n", "\r\n"), strings.ReplaceAll(simple, "\n", "\r"),
		"---\nid: x: y\n\"a\n---\n## A\n", "---\nmine:\n  - &a [x, {y: z}]\n  - *a\n? q\n: !!binary w\n# c\n---\n",
		"---\na: |+\n  x\n\n# y\nb: 'x\n# y'\n---\n## A\n- ```\n  x\n\n## A ##\n<!-- x\n",
		"## A\n> - 1. **DONE:** x\n<!-- a --> b <!--\n<pre>\n</pre>\n<?\n?>\n<!X\n~~~\nVerdict: PASS|FAIL\n\t\tx\n",
		"## Review\n**Verdict: PASS** (nits)\n\xff\x00\n<details>\n<!--\n\n-->\n***\n+ \n  -\n",
	} {
		f.Add([]byte(seed))
	}
	for _, seed := range hostile(1 << 9) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := Read(text)
		if d.FrontLen+len(d.Body) != len(text) || string(text[d.FrontLen:]) != d.Body {
			t.Fatalf("the body is not the rest of the text: FrontLen %d", d.FrontLen)
		}
		lines := lineCount(string(text)) + 1
		for i, p := range d.Problems {
			if p.Line < 1 || p.Line > lines || i > 0 && p.Line < d.Problems[i-1].Line {
				t.Fatalf("problems are out of order or of the file: %v", d.Problems)
			}
		}
		for _, s := range d.sections {
			// A name that itself looks like a heading, as in "## ## Plan", can be meant in two ways.
			if again, ok := d.Section(s.Name); Key(s.Name) == s.Key && (!ok || again.Line != s.Line) {
				t.Fatalf("section %q is not found by its own name", s.Name)
			}
			if s.Key == "" || s.Copies < 1 || s.Line < 1 || s.Line > lines || s.Text != Normalise(s.Text) {
				t.Fatalf("section %+v", s)
			}
			s.Empty()
			s.Fields([]string{"DONE", "A"})
			s.FirstVerdict()
			s.AnyVerdict()
		}
		// What is kept for the user reads the same once more, so that no rewriting wears it away.
		if extra := d.Front.Extra; extra != "" {
			if again := Read([]byte("---\n" + extra + "---\n")); again.Front.Extra != extra {
				t.Fatalf("extra %q became %q", extra, again.Front.Extra)
			}
		}
	})
}
