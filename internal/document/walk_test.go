package document

import (
	"math/rand/v2"
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

func TestScan_agreesWithTheParserAboutAwkwardLines(t *testing.T) {
	t.Parallel()
	const documents = 20_000
	parts, r := awkward(), rand.New(rand.NewPCG(1, 2))
	sure, bad := 0, 0
	for range documents {
		body := fragment(r, parts)
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
