package document

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func readBody(body string) *Document { return Read([]byte("---\nid: a\n---\n" + body)) }

func section(t *testing.T, body, name string) Section {
	t.Helper()
	s, ok := readBody(body).Section(name)
	if !ok {
		t.Fatalf("there is no section %q in %q", name, body)
	}
	return s
}

func TestDocument_findsTopLevelHeadingsOnly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want []string
	}{
		"plain":                       {"## Plan\n## Review\n", []string{"Plan", "Review"}},
		"up to three blanks before":   {"   ## Plan\n", []string{"Plan"}},
		"a tab behind the hashes":     {"##\tPlan\n", []string{"Plan"}},
		"closing hashes":              {"## Plan ##\n## Review ####  \n", []string{"Plan", "Review"}},
		"hashes that belong to it":    {"## Plan#\n## C# and F#\n", []string{"Plan#", "C# and F#"}},
		"case as written":             {"## code REVIEW\n", []string{"code REVIEW"}},
		"right below text":            {"text\n## Plan\ntext\n", []string{"Plan"}},
		"below an unfinished list":    {"- item\n## Plan\n", []string{"Plan"}},
		"below a quote":               {"> quote\n## Plan\n", []string{"Plan"}},
		"on the last line":            {"text\n## Plan", []string{"Plan"}},
		"no blank":                    {"##Plan\n", nil},
		"other levels":                {"# One\n### Three\n####### Seven\n", nil},
		"escaped":                     {"\\## Plan\n", nil},
		"without a name":              {"##\n## ##\n", nil},
		"setext":                      {"Plan\n----\nReview\n====\n", nil},
		"backtick fence":              {"```\n## Review\n```\n## Plan\n", []string{"Plan"}},
		"tilde fence":                 {"~~~\n## Review\n```\n## Review\n~~~\n## Plan\n", []string{"Plan"}},
		"longer fence":                {"````\n```\n## Review\n````\n## Plan\n", []string{"Plan"}},
		"fence with a language":       {"```markdown\n## Review\n```\n", nil},
		"fence that is never closed":  {"## Plan\n```\n## Review\n", []string{"Plan"}},
		"comment":                     {"<!--\n## Review\n\n## Review\n-->\n## Plan\n", []string{"Plan"}},
		"comment on one line":         {"<!-- ## Review -->\n## Plan\n", []string{"Plan"}},
		"comment behind text is none": {"text <!--\n## Plan\n-->\n", []string{"Plan"}},
		"comment never closed":        {"## Plan\n<!--\n## Review\n", []string{"Plan"}},
		"list":                        {"- ## Review\n- a\n\n  ## Review\n", nil},
		"ordered list":                {"1. ## Review\n   ## Review\n", nil},
		"quote":                       {"> ## Review\n", nil},
		"indented code":               {"    ## Review\n\n\t## Review\n", nil},
		"script":                      {"<script>\n## Review\n\n</script>\n## Plan\n", []string{"Plan"}},
		"preformatted":                {"<pre>\n\n## Review\n</pre>\n## Plan\n", []string{"Plan"}},
		"details, up to a blank line": {"<details>\n## Review\n\n## Plan\n</details>\n", []string{"Plan"}},
		"fence in a list that ended":  {"- ```\n## Plan\n", []string{"Plan"}},
		"fence in a quote that ended": {"> ```\n## Plan\n", []string{"Plan"}},
		"duplicates, the last only":   {"## Plan\n## Review\n## PLAN\n", []string{"Review", "PLAN"}},
		"not latin":                   {"## План\n## 計画 🍊\n", []string{"План", "計画 🍊"}},
		"nothing":                     {"", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantStrings(t, readBody(tt.body).SectionNames(), tt.want)
		})
	}
}

func TestSection_reachesToTheNextHeadingOfItsLevel(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want string
	}{
		"to the end":              {"## Plan\na\n\nb", "a\n\nb\n"},
		"to the next":             {"## Plan\na\n\n\n## Review\nb\n", "a\n"},
		"over other levels":       {"## Plan\n# One\n### Three\nx\n## Review\n", "# One\n### Three\nx\n"},
		"over headings in fences": {"## Plan\n```\n## Review\n```\nx\n## Review\n", "```\n## Review\n```\nx\n"},
		"to one without a name":   {"## Plan\na\n##\nb\n", "a\n"},
		"nothing between":         {"## Plan\n## Review\n", ""},
		"blanks between":          {"## Plan\n \n\t\n\n## Review\n", ""},
		"trailing blanks":         {"## Plan\na  \nb\t\n", "a\nb\n"},
		"leading blanks are kept": {"## Plan\n\n    code\n", "    code\n"},
		"comments are kept":       {"## Plan\n<!-- x -->\n", "<!-- x -->\n"},
		"rest of an open comment": {"## Plan\n<!-- x\n## Review\n", "<!-- x\n## Review\n"},
		"carriage returns":        {"## Plan\r\na \r\n\r\nb\r\n## Review\r\n", "a\n\nb\n"},
		"long runs of list dashes": {"## Plan\n" + strings.Repeat("- ", 300) + "x\n",
			strings.Repeat("- ", 300) + "x\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := section(t, tt.body, "Plan").Text; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestSection_isTheLastOfTwoWithOneHeading(t *testing.T) {
	t.Parallel()
	s := section(t, "## Review\nVerdict: FAIL\n## Plan\nx\n## review ##\nVerdict: PASS\n", "Review")
	if s.Copies != 2 || s.Name != "review" || s.Key != "review" || s.Line != 8 || s.Text != "Verdict: PASS\n" {
		t.Errorf("got %+v", s)
	}
	if verdict, _ := s.FirstVerdict(); verdict != pass {
		t.Errorf("verdict is %q", verdict)
	}
	hidden := section(t, "## Review\nVerdict: FAIL\n```\n## Review\nVerdict: PASS\n```\n", "Review")
	if verdict, _ := hidden.FirstVerdict(); hidden.Copies != 1 || verdict != fail {
		t.Errorf("a heading in a fence counts: %d copies, verdict %q", hidden.Copies, verdict)
	}
	three := section(t, "## A\n## A\n## A\nlast", "A")
	if three.Copies != 3 || three.Text != "last\n" {
		t.Errorf("got %+v", three)
	}
}

func TestDocument_findsASectionByAnySpellingOfItsName(t *testing.T) {
	t.Parallel()
	d := readBody("## Code Review\nx\n")
	for _, name := range []string{"Code Review", "code review", "## Code Review", "##\tCODE REVIEW",
		"  code review\n", "## code review ##"} {
		if _, ok := d.Section(name); !ok {
			t.Errorf("%q is not found", name)
		}
	}
	for _, name := range []string{"", "##", "Code", "CodeReview", "### Code Review", "##Code Review"} {
		if s, ok := d.Section(name); ok {
			t.Errorf("%q finds %q", name, s.Name)
		}
	}
}

func TestDocument_numbersLinesWithoutAFrontmatterToo(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"none":     "## Plan\nx\n",
		"BOM":      "\uFEFF## Plan\nx\n",
		"one line": "## Plan",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Read([]byte(text))
			s, ok := d.Section("Plan")
			if !ok || s.Line != 1 || d.FrontLen != 0 || d.Body != text {
				t.Errorf("%v, line %d, FrontLen %d, body %q", ok, s.Line, d.FrontLen, d.Body)
			}
		})
	}
}

func TestKey_isTheSameForAllSpellings(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"## Handoff": "handoff", "Handoff": "handoff", " HANDOFF ": "handoff", "##\tHandoff ##": "handoff",
		"## Handoff#": "handoff#",
		"C#":          "c#", "##x": "##x", "##": "", "": "", "## ##": "", "### X": "### x",
	}
	for name, want := range tests {
		if got := Key(name); got != want {
			t.Errorf("Key(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSection_isEmptyWithNothingButBlanksAndComments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		content string
		want    bool
	}{
		"nothing":                     {"", true},
		"blanks":                      {" \n\t\n\n", true},
		"comment":                     {"<!-- write here -->\n", true},
		"comment over lines":          {"\n<!-- write\n\nhere -->\n\n", true},
		"two comments on a line":      {"<!-- a --> <!-- b -->\n", true},
		"shortest comments":           {"<!--><!-->\n<!---->\n", true},
		"comment never closed":        {"<!-- a\nb\n\n## Other\nc\n", true},
		"text":                        {"x\n", false},
		"text behind a comment":       {"<!-- a --> x\n", false},
		"text behind a long comment":  {"<!-- a\nb --> x\n", false},
		"text between comments":       {"<!-- a -->x<!-- b -->\n", false},
		"opened but no comment":       {"x <!-- a\n", false},
		"comment in a fence":          {"```\n<!-- a -->\n```\n", false},
		"a list item with a comment":  {"- <!-- a -->\n", false},
		"a heading":                   {"### Part\n", false},
		"a tag around a comment":      {"<div>\n<!-- a -->\n</div>\n", false},
		"something that only looks":   {"<!- a ->\n", false},
		"comment inside a paragraph":  {"a <!-- b\nc --> d\n", false},
		"a rule, which somebody drew": {"---\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := section(t, "## Plan\n"+tt.content, "Plan").Empty(); got != tt.want {
				t.Errorf("Empty is %v for %q", got, tt.content)
			}
		})
	}
}

func TestNormalise_takesAwayWhatEditorsDo(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                        "",
		"\n \r\n\t":               "",
		"a":                       "a\n",
		"a\n":                     "a\n",
		"\n\na\n\n\n":             "a\n",
		"a\r\nb\rc\n":             "a\nb\nc\n",
		"a  \n\t\nb \t":           "a\n\nb\n",
		"  a":                     "  a\n",
		" \n  a":                  "  a\n",
		"a\r\r\nb":                "a\n\nb\n",
		"a\u00a0\n":               "a\u00a0\n",
		"\xff\n":                  "\xff\n",
		"trailing\\  \nbreak  \n": "trailing\\\nbreak\n",
	}
	for text, want := range tests {
		if got := Normalise(text); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNormalise_isDoneOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \t\n\r#-"))).Draw(t, "text")
		once := Normalise(text)
		if twice := Normalise(once); twice != once {
			t.Fatalf("%q became %q and then %q", text, once, twice)
		}
		if Digest(Normalise(strings.ReplaceAll(once, "\n", " \r\n"))) != Digest(once) {
			t.Fatalf("%q has another digest with CRLF", text)
		}
	})
}

func TestDigest_isSha256InHex(t *testing.T) {
	t.Parallel()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := Digest(""); got != empty {
		t.Errorf("got %s", got)
	}
	if Digest("a\n") == Digest("b\n") {
		t.Error("different texts have one digest")
	}
}

// A second opinion on a subset of Markdown that needs no parser: sections made of plain lines come back as they
// were put in.
func TestDocument_givesBackTheSectionsThatWereWritten(t *testing.T) {
	t.Parallel()
	lines := []string{"text", "- item", "> quote", "### Part", "", "**DONE:** x", "1. one", "---", "a | b",
		"Verdict: PASS", "<b>bold</b>",
		"```\n## Fenced\n```", "<!--\n## Commented\n-->", "\n    ## Indented\n", "~~~~\n```\n## Fenced\n~~~~"}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z]{1,8}( [a-z]{1,8})?`), 1, 5,
			strings.ToLower).Draw(t, "names")
		var body strings.Builder
		want := map[string]string{}
		for _, name := range names {
			content := strings.Join(rapid.SliceOf(rapid.SampledFrom(lines)).Draw(t, "content"), "\n")
			want[name] = Normalise(content)
			fmt.Fprintf(&body, "## %s\n%s\n", name, content)
		}
		d := readBody(body.String())
		if len(d.Problems) > 0 || strings.Join(d.SectionNames(), ",") != strings.Join(names, ",") {
			t.Fatalf("sections %q, problems %v in\n%s", d.SectionNames(), d.Problems, body.String())
		}
		for _, name := range names {
			if s, _ := d.Section(name); s.Text != want[name] {
				t.Fatalf("section %q is %q, want %q", name, s.Text, want[name])
			}
		}
	})
}
