package document

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// awkward are the beginnings and the insides of lines that Markdown makes much of.
func awkward() []string {
	return strings.Split(strings.TrimSuffix(awkwardText, "|"), "|")
}

const awkwardText = "a|text here|## Plan|##|## |##\tx ##|# one|### t|####### no|   ## x|    ## code|\t## code|" +
	"- |-|* |+ |1. |1) |2. |10. |0. |1234567890. |123456789. |-\t|1.\t|- - |- - - |---|***|___|* * *|- [ ] x|-     x|" +
	"> |>|>\t|>>|> - |- > |```|````|`````|~~~|```go|``` a`b|~~~ `|`x`|~~|" +
	"<!--|-->|<!-- a -->|x <!-- y|<!-->|<!--->|--> z|<? x|?>|<!X|<!x|>|<![CDATA[|]]>|" +
	"<pre>|</pre>|<script>|</script>|<style|<textarea x|</TEXTAREA>|<pre></style>|<ſcript>|</ſcript>|" +
	"<div>|</div>|<details open>|<p|<p/|<p/>|</ p>|<b>|<b>x</b>|</b>|</b a>|<a href='x'>|<a href=\"x\">|<a b c=d>|" +
	"<x-1>|<1>|<>|<|<kbd/>|</pre >|</script x>|<div\tx>|<b >x|" +
	" |  |   |    |     |\t| \t|  \t|\t\t|\n|\n\n|\r|\r\n|\\|*|_|=|===|+|#|x #|\v|\f|\u00a0|\ufeff|é|\x00|\xff|" +
	"| a | b ||---|"

// fragment makes a document of awkward lines, from two to a dozen.
func fragment(r *rand.Rand, parts []string) string {
	var b strings.Builder
	for range 2 + r.IntN(10) {
		for range 1 + r.IntN(3) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		switch r.IntN(12) {
		case 0:
		case 1:
			b.WriteString("\r\n")
		case 2, 3:
			b.WriteString("\n\n")
		default:
			b.WriteString("\n")
		}
	}
	return b.String()
}

// nested makes a document of lines that are blanks, up to three markers, and a little text.
func nested(r *rand.Rand) string {
	marks := []string{"- ", "-", "* ", "+   ", "1. ", "2) ", "10.  ", "> ", ">", "-\t", "\t"}
	texts := []string{"", "", "a", "a", "## x", "---", "- - -", "```", "~~~~", "<!--", "-->", "<div>", "<b>", "</pre>",
		"<pre>"}
	var b strings.Builder
	for range 2 + r.IntN(7) {
		b.WriteString(strings.Repeat(" ", r.IntN(4)*r.IntN(4)))
		for range r.IntN(4) * r.IntN(2) {
			b.WriteString(marks[r.IntN(len(marks))] + strings.Repeat(" ", r.IntN(4)*r.IntN(2)))
		}
		b.WriteString(texts[r.IntN(len(texts))])
		b.WriteString("\n")
	}
	return b.String()
}

func TestScan_agreesWithTheParserAboutAwkwardLines(t *testing.T) {
	t.Parallel()
	const documents = 20_000
	parts, r := awkward(), rand.New(rand.NewPCG(1, 2))
	sure, bad := 0, 0
	for i := range documents {
		body := nested(r)
		if i%2 > 0 {
			body = fragment(r, parts)
		}
		difference, is := differs(body)
		if is {
			sure++
		}
		if difference != "" {
			t.Errorf("%q: %s", body, difference)
			if bad++; bad > 10 {
				break
			}
		}
	}
	if sure < documents*9/10 {
		t.Errorf("the scanner is sure of %d among %d documents", sure, documents)
	}
}

// Long runs of markers are shortened for the parser.
func TestScan_agreesWithTheParserAboutLongLines(t *testing.T) {
	t.Parallel()
	units := []string{"-", "- ", "*", "> ", ">", " ", "\t", "1", "1. ", "   123456789.    ", "+ ", "_", "#", "`", "~",
		"<", "<!--", "-->", "a"}
	parts := make([]string, 0, 3*len(units))
	for _, unit := range units {
		for _, size := range []int{maxMarkers - 1, maxMarkers, maxMarkers + 1, 5 * maxMarkers} {
			parts = append(parts, strings.Repeat(unit, size/len(unit)))
		}
		parts = append(parts, unit+" ", unit+"x\n")
	}
	r := rand.New(rand.NewPCG(3, 4))
	sure := 0
	for range 2_000 {
		body := fragment(r, parts)
		difference, is := differs(body)
		if difference != "" {
			t.Fatalf("%q: %s", body, difference)
		}
		if is {
			sure++
		}
	}
	if sure == 0 {
		t.Error("the scanner is sure of none")
	}
}

// The parser is for what no one writes.
func TestScan_isSureOfWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"lists": string(listsAndFences(4 << 10)),
		"prose": string(paragraphs(4 << 10)),
		"short": string(shortLines(4 << 10)),
		"nested": "- a\n  - b\n\n    more of b\n\n    ```go\n    func x() {\n    \treturn\n    }\n    ```\n  - c\n" +
			"- d\n",
		"a long rule": "- x\n\n" + strings.Repeat("-", 300) + "\n" + strings.Repeat(" ", 300) + "x\n",
		"tabs":        "- a\n\t- b\n\t\t- c\n\n\t\t  more\n1.\tone\n\n\ttext\n\n\t\tcode\n",
		"quotes":      "> a\n> - b\n>   > c\n>\n> ```\n> ## x\n> ```\nlazy\n\n- > x\n  > y\n",
		"html": "<details>\n<summary>x</summary>\n\n## Plan\n\n</details>\n<!--\n\n## no\n-->\n<br>\n<img src=\"x\"\n" +
			"alt=y>\n<pre>\n\n## no\n</pre>\n",
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "workflows/*.yml", "cmd/orange/testdata/*/*.txtar"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("found no %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	for name, text := range texts {
		if difference, sure := differs(text); difference != "" || !sure {
			t.Errorf("%s: sure is %v, %s", name, sure, difference)
		}
	}
}

// A document says the same whether the scanner reads it or the parser has to: a quote that is too deep makes that
// difference, and no other.
func TestRead_saysTheSameWhereTheParserHasTo(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(">", maxBoxes+1) + " x\n\n"
	parts := append(awkward(), "## Plan\n", "## Review\n", "DONE: x\n", "Verdict: PASS\n")
	r := rand.New(rand.NewPCG(5, 6))
	labels := []string{"DONE"}
	for range 2_000 {
		body := fragment(r, parts)
		scanned, parsed := readBody("x\n\n"+body), readBody(deep+body)
		if parsed.kept == nil {
			t.Fatal("the scanner is sure of a quote that is too deep")
		}
		if !slices.Equal(scanned.SectionNames(), parsed.SectionNames()) ||
			!slices.Equal(scanned.WhyMissing(), parsed.WhyMissing()) {
			t.Fatalf("%q has the sections %q and %q, the problems %v and %v", body, scanned.SectionNames(),
				parsed.SectionNames(), scanned.WhyMissing(), parsed.WhyMissing())
		}
		for i, a := range sectionsOf(scanned) {
			b := sectionsOf(parsed)[i]
			first, line := a.FirstVerdict()
			firstAgain, lineAgain := b.FirstVerdict()
			if a.Name != b.Name || a.Line != b.Line || a.Copies != b.Copies || a.Text != b.Text ||
				a.Empty() != b.Empty() || !slices.Equal(a.Fields(labels), b.Fields(labels)) ||
				first != firstAgain || line != lineAgain {
				t.Fatalf("%q: the section is %+v, and parsed it is %+v", body, a, b)
			}
		}
	}
}
