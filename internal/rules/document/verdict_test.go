package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSection_FirstVerdict_readsTheFirstLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		content string
		want    string
		found   string
	}{
		"pass":                         {"Verdict: PASS\n", pass, "Verdict: PASS"},
		"fail":                         {"Verdict: FAIL\n", fail, "Verdict: FAIL"},
		"below blank lines":            {"\n\n  Verdict: PASS\n", pass, "Verdict: PASS"},
		"any case":                     {"VERDICT: pass\n", pass, "VERDICT: pass"},
		"no blank":                     {"verdict:Fail\n", fail, "verdict:Fail"},
		"blank before the colon":       {"Verdict : PASS\n", pass, "Verdict : PASS"},
		"full-width colon":             {"Verdict： PASS\n", pass, "Verdict： PASS"},
		"full-width colon, bold":       {"**Verdict**：FAIL\n", fail, "**Verdict**：FAIL"},
		"full-width colon and blank":   {"Verdict：\u3000PASS\n", pass, "Verdict：\u3000PASS"},
		"no-break space":               {"Verdict\u00a0:\u00a0PASS\n", pass, "Verdict\u00a0:\u00a0PASS"},
		"all bold":                     {"**Verdict: PASS**\n", pass, "**Verdict: PASS**"},
		"bold with words behind":       {"**Verdict: PASS** (nits only)\n", pass, "**Verdict: PASS** (nits only)"},
		"bold label":                   {"**Verdict:** pass\n", pass, "**Verdict:** pass"},
		"bold label without the colon": {"**Verdict**: FAIL\n", fail, "**Verdict**: FAIL"},
		"bold verdict":                 {"Verdict: **FAIL**\n", fail, "Verdict: **FAIL**"},
		"italic label":                 {"_Verdict_: FAIL - see below\n", fail, "_Verdict_: FAIL - see below"},
		"all italic":                   {"_Verdict: PASS_\n", pass, "_Verdict: PASS_"},
		"bold and italic":              {"***Verdict:*** __PASS__!\n", pass, "***Verdict:*** __PASS__!"},
		"punctuation behind":           {"Verdict: PASS.\n", pass, "Verdict: PASS."},
		"the same word twice":          {"Verdict: PASS, a pass indeed\n", pass, "Verdict: PASS, a pass indeed"},
		"words with fail in them": {"Verdict: PASS, the failure is old\n", pass,
			"Verdict: PASS, the failure is old"},
		"more lines":           {"Verdict: PASS\nVerdict: FAIL\n", pass, "Verdict: PASS"},
		"carriage returns":     {"\r\nVerdict: PASS\r\n", pass, "Verdict: PASS"},
		"below a comment":      {"<!-- PASS or FAIL -->\nVerdict: PASS\n", pass, "Verdict: PASS"},
		"below a long comment": {"<!--\nVerdict: FAIL\n\n-->\n\nVerdict: PASS\n", pass, "Verdict: PASS"},
		"behind a comment":     {"<!-- x --> Verdict: PASS\n", pass, "Verdict: PASS"},
		"before a comment":     {"Verdict: PASS <!-- or FAIL -->\n", pass, "Verdict: PASS"},
		"above a rule":         {"Verdict: PASS\n---\n", pass, "Verdict: PASS"},

		"nothing":                  {"", "", ""},
		"comment only":             {"<!-- Verdict: PASS -->\n", "", ""},
		"comment never closed":     {"<!-- a\nVerdict: PASS\n", "", ""},
		"template":                 {"Verdict: PASS|FAIL\n", "", "Verdict: PASS|FAIL"},
		"template in small":        {"verdict: pass / fail\n", "", "verdict: pass / fail"},
		"template, emphasised":     {"**Verdict:** *PASS* or *FAIL*\n", "", "**Verdict:** *PASS* or *FAIL*"},
		"longer word":              {"Verdict: PASSED\n", "", "Verdict: PASSED"},
		"longer word, emphasised":  {"Verdict: **PASS**ED\n", "", "Verdict: **PASS**ED"},
		"number behind":            {"Verdict: PASS2\n", "", "Verdict: PASS2"},
		"letter behind":            {"Verdict: FAILé\n", "", "Verdict: FAILé"},
		"name":                     {"Verdict: PASS_ALL\n", "", "Verdict: PASS_ALL"},
		"other colon":              {"Verdict∶ PASS\n", "", "Verdict∶ PASS"},
		"other word":               {"Verdict: OK\n", "", "Verdict: OK"},
		"no word":                  {"Verdict:\nPASS\n", "", "Verdict:"},
		"word before":              {"Verdict: no PASS\n", "", "Verdict: no PASS"},
		"no label":                 {"PASS\n", "", "PASS"},
		"text before the label":    {"My Verdict: PASS\n", "", "My Verdict: PASS"},
		"second line":              {"Looks good.\nVerdict: PASS\n", "", "Looks good."},
		"list":                     {"- Verdict: PASS\n", "", "- Verdict: PASS"},
		"ordered list":             {"1. Verdict: PASS\n", "", "1. Verdict: PASS"},
		"quote":                    {"> Verdict: PASS\n", "", "> Verdict: PASS"},
		"heading":                  {"### Verdict: PASS\n", "", "### Verdict: PASS"},
		"fence":                    {"```\nVerdict: PASS\n```\n", "", "```"},
		"fence before":             {"~~~\nx\n~~~\nVerdict: PASS\n", "", "~~~"},
		"indented code":            {"    Verdict: PASS\n", "", "Verdict: PASS"},
		"rule before":              {"---\nVerdict: PASS\n", "", "---"},
		"empty item before":        {"-\n\nVerdict: PASS\n", "", "-"},
		"in a tag, not on its own": {"<p>Verdict: PASS</p>\n", "", "<p>Verdict: PASS</p>"},
		"long line":                {strings.Repeat("ä", 100) + "\n", "", strings.Repeat("ä", 80)},
		"not UTF-8":                {"Verdict: \xff\n", "", "Verdict: \uFFFD"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict, found := section(t, "## Review\n"+tt.content, "Review").FirstVerdict()
			if verdict != tt.want || found != tt.found {
				t.Errorf("got %q from %q, want %q from %q", verdict, found, tt.want, tt.found)
			}
		})
	}
}

func TestSection_AnyVerdict_readsTheFirstLineWithAVerdict(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		content string
		want    string
		found   string
	}{
		"first line":              {"PASS\n", pass, "PASS"},
		"later line":              {"Looks good.\n\nI say pass.\nFAIL\n", pass, "I say pass."},
		"the first word decides":  {"FAIL, no PASS\n", fail, "FAIL, no PASS"},
		"template":                {"Verdict: PASS|FAIL\n", pass, "Verdict: PASS|FAIL"},
		"emphasis":                {"**FAIL**\n", fail, "**FAIL**"},
		"underscores":             {"__FAIL__ and _pass_\n", fail, "__FAIL__ and _pass_"},
		"code span":               {"So: `PASS`\n", pass, "So: `PASS`"},
		"list":                    {"- a\n- Verdict: Fail\n", fail, "- Verdict: Fail"},
		"heading":                 {"### Verdict: PASS\n", pass, "### Verdict: PASS"},
		"below a fence":           {"```\nFAIL\n```\nPASS\n", pass, "PASS"},
		"below a quote":           {"> FAIL\n\nPASS\n", pass, "PASS"},
		"below a comment":         {"<!-- FAIL -->\nPASS\n", pass, "PASS"},
		"beside a comment":        {"PASS <!-- FAIL -->\n", pass, "PASS"},
		"in the last of two":      {"FAIL\n## Review\nPASS\n", pass, "PASS"},
		"longer words do not":     {"The tests passed, no failure.\nFAIL\n", fail, "FAIL"},
		"names do not":            {"test_fail PASS_ALL fail2\n", "", ""},
		"nothing":                 {"", "", ""},
		"no verdict":              {"Looks good.\n", "", ""},
		"in a fence only":         {"~~~\nPASS\n~~~\n", "", ""},
		"in indented code only":   {"x\n\n    PASS\n", "", ""},
		"in a quote only":         {"> PASS\nPASS\n", "", ""},
		"in a comment only":       {"<!--\nPASS\n-->\n", "", ""},
		"in the next section":     {"## Other\nPASS\n", "", ""},
		"behind an open fence":    {"```\n\nPASS\n", "", ""},
		"long line":               {"PASS " + strings.Repeat("x", 100) + "\n", pass, "PASS " + strings.Repeat("x", 75)},
		"the word beyond the cut": {strings.Repeat("x ", 60) + "PASS\n", pass, strings.Repeat("x ", 40)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict, found := section(t, "## Review\n"+tt.content, "Review").AnyVerdict()
			if verdict != tt.want || found != tt.found {
				t.Errorf("got %q from %q, want %q from %q", verdict, found, tt.want, tt.found)
			}
		})
	}
}

// Whatever is in a review: hiding it in a fence, a comment or a quote leaves no verdict and no field of it.
func TestSection_readsNothingFromWhatIsHidden(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"Verdict: PASS", "**Verdict: FAIL**", "DONE: x",
			"- DONE: y", "## Review", "", "```", "text"}), 1, 8).Draw(t, "lines")
		inner := strings.Join(lines, "\n")
		hidden := rapid.SampledFrom([]string{
			"````\n" + inner + "\n````\n",
			"~~~\n" + inner + "\n~~~\n",
			"<!--\n" + inner + "\n-->\n",
			"> " + strings.ReplaceAll(inner, "\n", "\n> ") + "\n",
			"    " + strings.ReplaceAll(inner, "\n", "\n    ") + "\n",
		}).Draw(t, "hidden")
		s, ok := readBody("## Review\n\n" + hidden).Section("Review")
		if !ok || s.Copies != 1 {
			t.Fatalf("%d copies of the section in\n%s", s.Copies, hidden)
		}
		first, found := s.FirstVerdict()
		anywhere, _ := s.AnyVerdict()
		if fields := s.Fields([]string{"DONE"}); first != "" || anywhere != "" || len(fields) != 0 {
			t.Fatalf("read %q, %q, %q from\n%s", first, anywhere, fields, hidden)
		}
		if utf8.RuneCountInString(found) > maxFound {
			t.Fatalf("found is %d runes long", utf8.RuneCountInString(found))
		}
	})
}
