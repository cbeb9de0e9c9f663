package document

import (
	"strings"
	"testing"
)

func TestNearLabel_namesTheCharacterThatMakesALineNoLabel(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"DONE∶ x":                 `U+2236 '∶' where ":" is expected`,
		"- **DONE** – x":          `U+2013 '–' where ":" is expected`,
		"DONE = x":                `U+003D '=' where ":" is expected`,
		"DONE x":                  `U+0020 ' ' where ":" is expected`,
		"DONE\u00a0: x":           `U+00A0 where ":" is expected`,
		"D\u041eNE: x":            `U+041E 'О' where "O" is expected`,
		"ＤＯＮＥ：x":                  `U+FF24 'Ｄ' where "D" is expected`,
		"Done: x":                 `U+006F 'o' where "O" is expected`,
		"DONE: x":                 "",
		"DO\u200bNE:":             "", // a label, with nothing behind it
		"DONENESS: x":             "",
		"Done with all of it":     "",
		"all DONE: x":             "",
		"ГОТОВО: x":               "",
		"país: x":                 "",
		"```\nDONE∶ x\n```":       "",
		"text\n\nREMAINING - all": `U+002D '-' where ":" is expected`,
	} {
		_, why := section(t, "## Handoff\n"+line+"\n", "Handoff").NearLabel([]string{"DONE", "REMAINING"})
		if why != want {
			t.Errorf("%q: found %s, want %s", line, why, want)
		}
	}
}

func TestNearVerdict_namesTheCharacterThatMakesALineNoVerdict(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{ // in the first line, and anywhere
		"Verdict - PASS":          {`U+002D '-' where ":" is expected`, ""},
		"**Verdict** — _FAIL_":    {`U+2014 '—' where ":" is expected`, ""},
		"verdict∶pass (nits)":     {`U+2236 '∶' where ":" is expected`, ""},
		"Verdict PASS":            {`U+0020 ' ' where ":" is expected`, ""},
		"V\u0435rdict: PASS":      {`U+0435 'е' where "e" is expected`, ""},
		"Verdict: P\u0410SS":      {`U+0410 'А' where "A" is expected`, `U+0410 'А' where "A" is expected`},
		"Verdict: ＦＡＩＬ":           {`U+FF26 'Ｆ' where "F" is expected`, `U+FF26 'Ｆ' where "F" is expected`},
		"Looks good, P\u0410SS.":  {"", `U+0410 'А' where "A" is expected`},
		"Verdict: PASS":           {"", ""},
		"Verdict: OK":             {"", ""},
		"Verdict - PASSED":        {"", ""},
		"Verdict is PASS":         {"", ""},
		"Verdict∶ OK":             {"", ""},
		"Rating∶ PASS":            {"", ""},
		"```\nVerdict - PASS\n":   {"", ""},
		"Ver\u200bdict: PASS":     {"", ""},
		"- Verdict - PASS":        {"", ""},
		"x\nVerdict - PASS":       {"", ""},
		"`Verdict`: a país":       {"", ""},
		"> Verdict - P\u0410SS\n": {"", ""},
	} {
		s := section(t, "## Review\n"+line+"\n", "Review")
		_, first := s.NearVerdict(false)
		_, anywhere := s.NearVerdict(true)
		if first != want[0] || anywhere != want[1] {
			t.Errorf("%q: found %s and %s, want %q", line, first, anywhere, want)
		}
	}
}

func TestNearName_namesTheCharacterThatMakesItAnotherSection(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"R\u0435view":  `U+0435 'е' where "e" is expected`,
		"Re\u200bview": "U+200B where nothing is expected",
		"Review：":      "U+FF1A '：' where the heading ends",
		"REVIEW:":      "U+003A ':' where the heading ends",
		"Review":       "",
		"Review 2":     "",
		"Reviewer":     "",
		"Plan":         "",
	} {
		if why := NearName(name, "## Review"); why != want {
			t.Errorf("%q: found %s, want %s", name, why, want)
		}
	}
}

func TestWhyMissing_namesLinesThatAreAlmostHeadings(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"##\u3000Plan":        `"##\u3000Plan" is no heading: it has U+3000 where " " is expected`,
		"##\u00a0Plan":        `"##\u00a0Plan" is no heading: it has U+00A0 where " " is expected`,
		"##Plan":              `"##Plan" is no heading: it has U+0050 'P' where " " is expected`,
		"  ＃＃ Plan":           `"＃＃ Plan" is no heading: it has U+FF03 '＃' where "#" is expected`,
		"\u200b## Plan":       `"\u200b## Plan" is no heading: it has U+200B where "#" is expected`,
		"## Plan":             "",
		"### Plan":            "",
		"x ##Plan":            "",
		"```\n##\u3000Plan\n": "",
		"> ##\u3000Plan":      "",
		"#x":                  "",
		"##":                  "",
	} {
		// the parser reads the second one
		for before, number := range map[string]int{"": 6, ">>>>>>>>>>>>>>>>>>>> x\n\n": 8} {
			found := Problem{}
			for _, p := range Read([]byte("---\na: b\n---\n" + before + "x\n\n" + line + "\n")).WhyMissing() {
				if strings.Contains(p.Text, "is no heading") {
					found = p
				}
			}
			if found.Text != want || want != "" && found.Line != number {
				t.Errorf("%q: found %+v, want %q in line %d", line, found, want, number)
			}
		}
	}
}
