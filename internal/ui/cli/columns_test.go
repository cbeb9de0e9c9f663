package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/rules/printable"
)

func TestColumns_areStraightWhateverIsInACell(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &printer{Out: printable.NewWriter(&out)}
	err := p.columns([][]string{
		{"ID", "BRANCH", "SUMMARY"},
		{"a", "feat/\xff\xfe", "bytes"},
		{"b", "日本語", "wide"},
		{"c", "x\x1b[31m", "a\tb\nc"},
		{"d", "e\u202ef", ""},
		{"e"},
	})
	const want = `ID  BRANCH         SUMMARY
a   feat/\xff\xfe  bytes
b   日本語         wide
c   x\x1b[31m      a\tb\nc
d   e\u202ef
e
`
	if err != nil || out.String() != want {
		t.Errorf("error %v; it says\n%s\nwant\n%s", err, out.String(), want)
	}
}

// shownTable is a table as a terminal of some width shows it.
func shownTable(t *testing.T, width int, coloured bool, tab table) string {
	t.Helper()
	var out bytes.Buffer
	p := &printer{Out: printable.NewWriter(&out), OutTerminal: func() (int, bool) { return width, coloured }}
	if err := p.table(tab); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func wide() table {
	return table{rows: [][]string{
		{"ID", "PROJECT", "BRANCH", "SUMMARY", "PATH"},
		{"4FzK2mN8qR1tW5yB7cD9e", "coffee", "feat/a-long-name", "A summary in words, 日本語", "/home/ada/work/coffee"},
		{"5", "tea", "b", "Short"},
	}, gives: []int{3, 4, 2}, paths: []int{4}}
}

func TestTable_fitsTheTerminal(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		200: `ID                     PROJECT  BRANCH            SUMMARY                     PATH
4FzK2mN8qR1tW5yB7cD9e  coffee   feat/a-long-name  A summary in words, 日本語  /home/ada/work/coffee
5                      tea      b                 Short
`,
		90: `ID      PROJECT  BRANCH            SUMMARY                     PATH
4FzK2m  coffee   feat/a-long-name  A summary in words, 日本語  /home/ada/work/coffee
5       tea      b                 Short
`,
		76: `ID      PROJECT  BRANCH            SUMMARY             PATH
4FzK2m  coffee   feat/a-long-name  A summary in word…  /home/ada/work/coffee
5       tea      b                 Short
`,
		56: `ID      PROJECT  BRANCH            SUMMARY   PATH
4FzK2m  coffee   feat/a-long-name  A summa…  …ork/coffee
5       tea      b                 Short
`,
		30: `ID      PRO…  BRA…  SUM…  PATH
4FzK2m  cof…  fea…  A s…  …fee
5       tea   b     Sho…
`,
		0: `ID                     PROJECT  BRANCH            SUMMARY                     PATH
4FzK2mN8qR1tW5yB7cD9e  coffee   feat/a-long-name  A summary in words, 日本語  /home/ada/work/coffee
5                      tea      b                 Short
`,
	} {
		if found := shownTable(t, width, false, wide()); found != want {
			t.Errorf("at %d columns it is\n%s\nwant\n%s", width, found, want)
		}
		coloured := shownTable(t, width, true, wide())
		if plain := ansi.Strip(coloured); plain != want || !strings.Contains(coloured, "\x1b[1mID\x1b[0m") {
			t.Errorf("at %d columns with colours it is\n%s\nwant\n%s", width, coloured, want)
		}
	}
}

func TestTable_tellsIdsApartByTheLettersThatItLeaves(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"ID", "SUMMARY"}, {"4FzK2mN8qR1t", "One"}, {"4FzK2mN9cD9e", "Another one"}, {"5", "Short"}}
	const want = "ID        SUMMARY\n4FzK2mN8  One\n4FzK2mN9  Another o…\n5         Short\n"
	if found := shownTable(t, 20, false, table{rows: rows}); found != want {
		t.Errorf("it is\n%s\nwant\n%s", found, want)
	}
}

func TestTable_hasColoursOnlyWhereThePersonSeesThem(t *testing.T) {
	t.Parallel()
	tab := func() table {
		return table{rows: [][]string{{"A", "B"}, {"x\x1b[31m", "y"}},
			look: func(row, column int) printable.Paint {
				if row == 1 && column == 1 {
					return printable.Red
				}
				return printable.Plain
			}}
	}
	want := "\x1b[1mA\x1b[0m          \x1b[1mB\x1b[0m\n" + `x\x1b[31m  ` + "\x1b[31my\x1b[0m\n"
	if found := shownTable(t, 80, true, tab()); found != want {
		t.Errorf("it is %q, want %q", found, want)
	}
	for _, p := range []*printer{{plain: true}, {json: true}, {}} {
		var out bytes.Buffer
		p.Out, p.OutTerminal = printable.NewWriter(&out), func() (int, bool) { return 80, !p.json && p.plain }
		if err := p.table(tab()); err != nil || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%v; it is %q", err, out.String())
		}
	}
}

func TestTable_dropsItsSpareColumnBeforeItCutsFixedColumns(t *testing.T) {
	t.Parallel()
	tab := func() table {
		return table{rows: [][]string{{"NAME", "AGE", "BRANCH", "SUMMARY"},
			{"coffee", "3h", "feat/a-long-name", "A summary in words"}}, gives: []int{3, 2}, spare: 1,
			look: func(_, column int) printable.Paint {
				return []printable.Paint{printable.Plain, printable.Red, printable.Green, printable.Plain}[column]
			}}
	}
	for width, want := range map[int]string{
		60: "NAME    AGE  BRANCH            SUMMARY\ncoffee  3h   feat/a-long-name  A summary in words\n",
		48: "NAME    AGE  BRANCH            SUMMARY\ncoffee  3h   feat/a-long-name  A summary in wor…\n",
		34: "NAME    BRANCH            SUMMARY\ncoffee  feat/a-long-name  A summa…\n",
		30: "NAME    BRANCH        SUMMARY\ncoffee  feat/a-long…  A summa…\n",
		20: "NAME   BRAN…  SUMMA…\ncoff…  feat…  A sum…\n",
	} {
		if found := shownTable(t, width, false, tab()); found != want {
			t.Errorf("at %d columns it is\n%s\nwant\n%s", width, found, want)
		}
	}
	if found := shownTable(t, 30, true, tab()); !strings.Contains(found, "\x1b[32mfeat/a") {
		t.Errorf("the colour of a branch is that of another column: %q", found)
	}
}
