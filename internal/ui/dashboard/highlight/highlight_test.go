package highlight

import (
	"io/fs"
	"strings"
	"testing"
)

// marked is a text with a letter around each token.
func marked(l *Language, text string) string {
	var b strings.Builder
	var state Inside
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		var tokens []Token
		tokens, state = l.Line(line, state)
		at := 0
		for _, one := range tokens {
			b.WriteString(line[at:one.From] + string("?csnk"[one.Kind]) + "(" + line[one.From:one.To] + ")")
			at = one.To
		}
		b.WriteString(line[at:])
	}
	return b.String()
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, one := range [][3]string{
		{"a.go", "x := \"a\\\"b\" // end", "x := s(\"a\\\"b\") c(// end)"},
		{"a.go", "/* a\nb */ return 0x1f", "c(/* a)\nc(b */) k(return) n(0x1f)"},
		{"a.go", "s := `a\\`\n'\\''", "s := s(`a\\`)\ns('\\'')"},
		{"a.go", "returned, größe1 := 1", "returned, größe1 := n(1)"},
		{"a.go", "\"open\nreturn", "s(\"open)\nk(return)"},
		{"a.py", "def f():\n  '''a\n  b''' # c", "k(def) f():\n  s('''a)\ns(  b''') c(# c)"},
		{"a.sh", "echo $# # 'x\nif \"a\nb\"", "k(echo) $# c(# 'x)\nk(if) s(\"a)\ns(b\")"},
		{"a.sql", "SELECT a -- b", "k(SELECT) a c(-- b)"},
		{"a.json", "{\"a\": [1.5, null]}", "{s(\"a\"): [n(1.5), k(null)]}"},
		{"Makefile", "all: # x", "all: c(# x)"},
		{"a.unknown", "return \"1\"", "return \"1\""},
	} {
		if got := marked(Of(one[0]), one[1]); got != one[2] {
			t.Errorf("%s, %q: got %q, want %q", one[0], one[1], got, one[2])
		}
	}
}

func TestEveryTableBelongsToFiles(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, name := range []string{"a.go", "a.py", "a.ts", "a.java", "a.c", "a.rs", "a.rb", "a.php", "a.sh", "a.yml",
		"a.json", "a.sql", "a.html", "a.css", "a.lua"} {
		l := Of(name)
		if l == nil || len(l.blocks) == 0 || len(l.keywords) == 0 {
			t.Errorf("%s has no table", name)
		}
		used["languages/"+byName(name)+".txt"] = true
	}
	all, err := fs.Glob(files, "languages/*.txt")
	if err != nil || len(all) < 12 {
		t.Fatalf("found %q, %v", all, err)
	}
	for _, name := range all {
		if !used[name] {
			t.Errorf("no file has the language of %s", name)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a.go", "/* x\n*/ `a\n\\` \"\\")
	f.Add("a.py", "'''\xff\n\\'''")
	f.Fuzz(func(t *testing.T, file, text string) {
		l := Of(file)
		var state Inside
		for _, line := range strings.Split(text, "\n") {
			var tokens []Token
			tokens, state = l.Line(line, state)
			at := 0
			for _, one := range tokens {
				if one.From < at || one.To <= one.From || one.To > len(line) {
					t.Fatalf("%s, %q: the token %v", file, line, one)
				}
				at = one.To
			}
		}
	})
}
