package yaml_test

import (
	"testing"

	"orange/internal/rules/yaml"
)

// read reads a file with one key of each kind.
func read(r *yaml.Reader, text string) {
	root := r.Document([]byte(text))
	if root == nil {
		return
	}
	r.Mapping(root, "the file", []yaml.Key{
		yaml.May("text", func(n *yaml.Node) { r.Text(n, "text") }),
		yaml.May("name", func(n *yaml.Node) { r.Name(n, "name") }),
		yaml.May("word", func(n *yaml.Node) { r.OneOf(n, "word", "red", "green") }),
		yaml.May("flag", func(n *yaml.Node) { r.Boolean(n, "flag") }),
		yaml.May("number", func(n *yaml.Node) { r.Integer(n, "number", 1, 9) }),
		yaml.May("list", func(n *yaml.Node) { r.List(n, "list", func(n *yaml.Node) { r.Text(n, "element") }) }),
		yaml.May("some", func(n *yaml.Node) { r.OneOrMore(n, "some", func(n *yaml.Node) { r.Text(n, "one") }) }),
		yaml.May("pairs", func(n *yaml.Node) { r.Pairs(n, "pairs", func(_, n *yaml.Node) { r.Text(n, "value") }) }),
	})
}

func TestTheReaderTellsWhatItFoundAndExpected(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"all is well", "text: ''\nname: x\nword: red\nflag: true\nnumber: 9\nlist:\nsome: x\npairs: {a: b}\n", ""},
		{"aliases are followed", "text: &a x\nname: *a\nlist: &l [*a]\nsome: *l\n", ""},
		{"text", "text: [x]\n", `f:1:7: found a list as text, expected text [type]`},
		{"text that is not there", "text:\n", `f:1:6: found nothing as text, expected text [type]`},
		{"empty name", "name: ''\n", `f:1:7: found empty text as name, expected a name [value]`},
		{
			"word", "word: gren\n",
			`f:1:7: found "gren" as word, expected one of "red", "green"; did you mean "green"? [value]`},
		{"flag", "flag: yes\n", `f:1:7: found "yes" as flag, expected true or false [type]`},
		{"number", "number: 1.5\n", `f:1:9: found "1.5" as number, expected a whole number [type]`},
		{"number in quotes", "number: '1'\n", `f:1:9: found "1" as number, expected a whole number [type]`},
		{"number out of bounds", "number: 10\n", `f:1:9: found 10 as number, expected a number from 1 to 9 [value]`},
		{"list", "list: x\n", `f:1:7: found "x" as list, expected a list [type]`},
		{"one or more", "some: {a: b}\n", `f:1:7: found a mapping as one, expected text [type]`},
		{"pairs", "pairs: [a]\n", `f:1:8: found a list as pairs, expected a mapping [type]`},
		{"key that is no name", "pairs:\n  [a]: b\n", `f:2:3: found a list as a key of pairs, expected a name [type]`},
		{"empty key", "pairs:\n  '': b\n", `f:2:3: found "" as a key of pairs, expected a name [type]`},
		{"key twice", "pairs:\n  a: b\n  a: c\n",
			`f:3:3: found "a" a second time in pairs, expected it once (first on line 2) [duplicate]`},
		{"control character", "text: x\nname: ä\x1b]52\n",
			`f:2:8: found the control character U+001B, expected plain text [syntax]`},
		{"control character in a comment", "text: x\r\n# \u009b\n",
			`f:2:3: found the control character U+009B, expected plain text [syntax]`},
		{"no UTF-8", "text: x\nname: a\xff\n",
			`f:2:8: found the byte 0xff, which is not UTF-8, expected plain text [syntax]`},
		{"no UTF-8 at the end", "text: x\n# \xe4",
			`f:2:3: found the byte 0xe4, which is not UTF-8, expected plain text [syntax]`},
		{"tabs and ends of lines", "text: x\t\r\nname: x\n", ""},
		{"problems are sorted", "number: x\nflag: x\n", "f:1:9: found \"x\" as number, expected a whole " +
			"number [type]\nf:2:7: found \"x\" as flag, expected true or false [type]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := yaml.Reader{File: "f"}
			read(&r, test.text)
			got := ""
			if err := r.Err(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestExpectedListsWhatWouldHaveBeenRight(t *testing.T) {
	t.Parallel()
	if got := yaml.Expected("x", nil); got != "expected none" {
		t.Errorf("got %q", got)
	}
}
