package yaml_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/yaml"
)

func TestTheUsualSlipsAreToldAtTheirPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"a heading that is a comment", "text: ## Review\nname: x\n",
			`f:1:7: found a comment as text, expected text: what begins with # belongs in quotes: "## Review" [type]`},
		{"a heading that is a comment in a list", "list:\n  - x\n  - ## Review\n",
			`f:3:5: found a comment as element, expected text: what begins with # belongs in quotes: "## Review" [type]`},
		{"a heading that is a comment for a list", "list: ## Review\n",
			`f:1:7: found a comment as list, expected a list: what begins with # belongs in quotes: "## Review" [type]`},
		{"a comment after an empty list", "list: # none\n",
			``},
		{"a tab for an indentation", "pairs:\n\tb: c\n",
			`f:2:1: found a tab before the text of the line, expected spaces: YAML counts them to see what belongs to what [syntax]`},
		{"a tab after a line with spaces", "pairs:\n  b: c\n\td: e\n",
			`f:3:1: found a tab before the text of the line, expected spaces: YAML counts them to see what belongs to what [syntax]`},
		{"a tab among spaces", "list:\n  - b\n  \t- c\n",
			`f:3:3: found a tab before the text of the line, expected spaces: YAML counts them to see what belongs to what [syntax]`},
		{"a key too far to the left", "pairs:\n    b: c\n  d: e\n",
			`f:3:3: found a line that is indented by 2 spaces, expected one of 0, 4, as the lines above it are [syntax]`},
		{"a key between two indentations", "pairs:\n  b: c\n\n # why\n d: e\nf: g\nh: i\n",
			`f:5:2: found a line that is indented by 1 space, expected one of 0, 2, as the lines above it are [syntax]`},
		{"a key too far to the right", "pairs:\n  b: c\n    d: e\n",
			`f:3:5: found a key that is indented deeper than the one above it, which has its value already, expected 2 spaces as on line 2 [syntax]`},
		{"a key too far to the right with other ends of lines", "text: b\r\n c: d\r\n",
			`f:2:2: found a key that is indented deeper than the one above it, which has its value already, expected 0 spaces as on line 1 [syntax]`},
		{"an element too far to the left", "list:\n  - a\n - b\n",
			`f:3:2: found a line that is indented by 1 space, expected one of 0, 2, as the lines above it are [syntax]`},
		{"an element among keys", "text: b\n- c\n",
			`f:2:1: found an element of a list where the lines above it are keys, expected a key [syntax]`},
		{"a key among elements", "- a\nb: c\n",
			`f:2:1: found a key where the lines above it are elements of a list, expected one that begins with a dash [syntax]`},
		{"an unknown anchor", "text: b\nname: *nope\n",
			`f:2:7: found *nope, an alias of &nope, and no value above has that anchor; text that begins with * belongs in quotes: '*nope' [syntax]`},
		{"a pattern of files", "list:\n  - *.go # those\n",
			`f:2:5: found *.go, an alias of &.go, and no value above has that anchor; text that begins with * belongs in quotes: '*.go' [syntax]`},
		{"a quote that is open", "text: 'b\nname: d\ne: f\n",
			`f:1:7: found the quote ', which is never closed, expected another one where the text ends [syntax]`},
		{"a double quote that is open", "text: \"b\nname: d\n",
			`f:1:7: found the quote ", which is never closed, expected another one where the text ends [syntax]`},
		{"a bracket that is open", "list: [b, c\nname: e\n",
			`f:1:7: found "[", which is not closed where line 2 begins, expected "]" [syntax]`},
		{"a bracket that another one closes", "list: [b, c}\n",
			`f:1:12: found "}", expected "," or "]": text that holds such characters belongs in quotes [syntax]`},
		{"a bracket that is open at the end", "name: x\nlist: [\n",
			`f:2:8: found the end of the file where a list in [] or a mapping in {} goes on, expected its end [syntax]`},
		{"a brace that is open", "pairs: {b: c\nname: e\n",
			`f:1:8: found "{", which is not closed where line 2 begins, expected "}" [syntax]`},
		{"a variable at the beginning", "text: {branch} is it\n",
			`f:1:16: found "is it" after the end of a value, expected quotes around all of it [syntax]`},
		{"text after a quote", "text: \"b\" c\n",
			`f:1:11: found "c" after the end of a value, expected quotes around all of it [syntax]`},
		{"a colon in a value", "text: don't: x\n",
			`f:1:7: found a second colon in one value, expected quotes around the value: 'don''t: x' [syntax]`},
		{"a colon in an element", "list:\n  - a: b: c\n",
			`f:2:8: found a second colon in one value, expected quotes around the value: 'b: c' [syntax]`},
		{"a text without its sign", "pairs:\n  a: ## Work\n    Do it.\n\n    Project: x\n",
			`f:5:5: found a colon in a text of several lines that begins below line 2, expected | behind the colon there: it keeps the lines as they are [syntax]`},
		{"a key without a colon", "text: b\nc\nname: e\n",
			`f:2:1: found "c", expected a key with a colon and its value [syntax]`},
		{"a colon without a space", "name: d\ntext:b\n",
			`f:2:5: found no space after a colon, expected one between a key and its value [syntax]`},
		{"a colon without a space above", "text:b\nname: d\n",
			`f:1:5: found no space after a colon, expected one between a key and its value [syntax]`},
		{"a letter that begins no text", "text: @b # c\n",
			`f:1:7: found text that begins with "@", expected quotes around it: '@b' [syntax]`},
		{"a backslash between double quotes", "text: \"\\d\"\n",
			`f:1:8: found "\\d" between double quotes, which means nothing there, expected single quotes around the text, in which a backslash is just one [syntax]`},
		{"a merge", "text: x\n<<: {name: y}\n",
			`f:2:1: found << in the file, expected its keys: nothing is merged here; write them out, or give the whole value with *name [unknown-key]`},
		{"a merge among pairs", "pairs: {<<: {a: b}}\n",
			`f:1:9: found << in pairs, expected its keys: nothing is merged here; write them out, or give the whole value with *name [unknown-key]`},
		{"what is not usual", "text: ? b\n",
			`f:1:7: this is not valid YAML: mapping keys are not allowed in this context [syntax]`},
		{"what is not usual with its surroundings", "text: >x\n  a\n",
			`f:1:8: this is not valid YAML: while scanning a block scalar, did not find expected comment or line break [syntax]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := yaml.Reader{File: "f"}
			read(&r, test.text)
			got := ""
			if err := r.Err(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("of\n%s\ngot:\n%s\nwant:\n%s", test.text, got, test.want)
			}
		})
	}
}

func TestAProblemShowsItsLineAndAMarkUnderThePlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 150)
	for _, test := range []struct{ name, text, want string }{
		{"one", "text: a\nname: [é\n", `
f:2:7: found "[", which is not closed where line 3 begins, expected "]" [syntax]
     2 | name: [é
       |       ^`},
		{"two", "text: é\nflag: é\nnumber: 12\n", `
f:2:7: found "é" as flag, expected true or false [type]
     2 | flag: é
       |       ^
f:3:9: found 12 as number, expected a number from 1 to 9 [value]
     3 | number: 12
       |         ^`},
		{"behind a tab", "flag:\tx\n", `
f:1:7: found "x" as flag, expected true or false [type]
     1 | flag: x
       |       ^`},
		{"where the line is long", "pairs: {" + long + ": {}}\n", `
f:1:161: found a mapping as value, expected text [type]
     1 | ` + long[:95] + `: {}}
       | ` + strings.Repeat(" ", 97) + "^"},
		{"what cannot be shown", "text: \x1bx\n", `
f:1:7: found the control character U+001B, expected plain text [syntax]
     1 | text: \uFFFDx
       |       ^`},
		{"nothing to show", "", `
f:1:1: found an empty file, expected some keys [syntax]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := yaml.Reader{File: "f"}
			read(&r, test.text)
			var problems yaml.Problems
			if !errors.As(r.Err(), &problems) {
				t.Fatal("found no problem")
			}
			want := strings.ReplaceAll(strings.TrimPrefix(test.want, "\n"), `\uFFFD`, "\uFFFD")
			if got := problems.Marked(); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
