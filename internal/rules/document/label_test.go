package document

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSection_Fields_findsLabelsWithContent(t *testing.T) {
	t.Parallel()
	labels := []string{"DONE", "REMAINING", "DECISIONS", "UNCERTAIN", "OPEN_POINTS"}
	tests := map[string]struct {
		content string
		want    []string
	}{
		"plain":           {"DONE: x\n", []string{"DONE"}},
		"without a blank": {"DONE:x\n", []string{"DONE"}},
		"all, in the order of the names": {"UNCERTAIN: a\nDECISIONS: b\nDONE: c\n", []string{
			"DONE", "DECISIONS", "UNCERTAIN"}},
		"full-width colon": {"DONE：x\n- **REMAINING：** y\n- [ ] **UNCERTAIN**：z\n", []string{"DONE", "REMAINING",
			"UNCERTAIN"}},
		"full-width colon, list below": {"DONE：\n- x\n", []string{"DONE"}},
		"bold with the colon":          {"**DONE:** x\n", []string{"DONE"}},
		"bold without the colon":       {"**DONE**: x\n", []string{"DONE"}},
		"italic":                       {"*DONE*: x\n_REMAINING:_ y\n", []string{"DONE", "REMAINING"}},
		"underscores":                  {"__DONE:__ x\n", []string{"DONE"}},
		"the whole line bold":          {"**DONE: x**\n", []string{"DONE"}},
		"underscore in the label":      {"**OPEN_POINTS**: x\n", []string{"OPEN_POINTS"}},
		"list": {"- DONE: x\n* REMAINING: y\n+ UNCERTAIN: z\n", []string{
			"DONE", "REMAINING", "UNCERTAIN"}},
		"ordered list":            {"1. DONE: x\n2) REMAINING: y\n", []string{"DONE", "REMAINING"}},
		"bold in a list":          {"- **DONE:** x\n", []string{"DONE"}},
		"nested list":             {"- a\n  - DONE: x\n", []string{"DONE"}},
		"checkbox":                {"- [x] DONE: x\n", []string{"DONE"}},
		"a rule below, no setext": {"DONE: x\n---\n", []string{"DONE"}},
		"emoji":                   {"DONE: ✅\n", []string{"DONE"}},
		"carriage returns":        {"DONE:\r\n- x\r\n", []string{"DONE"}},
		"behind a comment":        {"<!-- a --> DONE: x\n", []string{"DONE"}},
		"in a tag":                {"<div>\nDONE: x\n</div>\n", []string{"DONE"}},

		"list below":                    {"DONE:\n- x\n- y\n", []string{"DONE"}},
		"list below a blank line":       {"**DONE:**\n\n* x\n", []string{"DONE"}},
		"list below a list label":       {"- DONE:\n  - x\n", []string{"DONE"}},
		"item that looks like a label":  {"DONE:\n- API: changed\n", []string{"DONE"}},
		"text below":                    {"DONE:\n\nx\n", []string{"DONE"}},
		"text below a rule":             {"DONE:\n---\nx\n", []string{"DONE"}},
		"text below a fence":            {"DONE:\n```\ncode\n```\nx\n", []string{"DONE"}},
		"each to its own":               {"DONE:\n- x\nREMAINING:\nDECISIONS:\n- y\n", []string{"DONE", "DECISIONS"}},
		"filled at the second time":     {"DONE:\n\nDONE: x\n", []string{"DONE"}},
		"filled at the first time only": {"DONE: x\n\nDONE:\n", []string{"DONE"}},

		"nothing":                          {"", nil},
		"no content":                       {"DONE:\n", nil},
		"blanks":                           {"DONE: \t\n\n", nil},
		"only emphasis":                    {"**DONE:** **\n", nil},
		"only emphasis below":              {"DONE:\n**\n", nil},
		"only a rule below":                {"DONE:\n\n---\n***\n", nil},
		"only list markers below":          {"DONE:\n-\n- \n1.\n", nil},
		"only an empty checkbox":           {"DONE:\n- [ ]\n", nil},
		"only a comment":                   {"DONE: <!-- what is done -->\n", nil},
		"only a comment below":             {"DONE:\n<!-- what\nis done -->\n", nil},
		"only a fence below":               {"DONE:\n```\nx\n```\n", nil},
		"only indented code below":         {"DONE:\n\n    x\n", nil},
		"only a quote below":               {"DONE:\n> x\n", nil},
		"a label below":                    {"DONE:\nREMAINING: y\n", []string{"REMAINING"}},
		"a bold label below":               {"DONE:\n**REMAINING:** y\n", []string{"REMAINING"}},
		"an unknown label below":           {"DONE:\nNOTES ON IT: y\nz\n", nil},
		"an unknown label below, wide":     {"DONE：\nNOTES ON IT：y\nz\n", nil},
		"only a full-width colon":          {"DONE：\n", nil},
		"another colon":                    {"DONE∶ x\n", nil},
		"an unknown bold label below":      {"DONE:\n**NOTES**: y\n", nil},
		"a list label below a list label":  {"- DONE:\n- REMAINING: y\n", []string{"REMAINING"}},
		"a heading below":                  {"DONE:\n### Part\nx\n", nil},
		"lower case":                       {"done: x\nDone: x\n", nil},
		"another word before":              {"NOT DONE: x\n", nil},
		"a longer word":                    {"DONENESS: x\n", nil},
		"no colon":                         {"DONE x\n", nil},
		"text between label and colon":     {"DONE (all): x\n", nil},
		"in the middle of a line":          {"all DONE: x\n", nil},
		"in a fence":                       {"```\nDONE: x\n```\n", nil},
		"in a tilde fence":                 {"~~~\nDONE: x\n~~~\n", nil},
		"in a fence in a list":             {"- a\n  ```\n  DONE: x\n  ```\n", nil},
		"in indented code":                 {"    DONE: x\n", nil},
		"in a quote":                       {"> DONE: x\n", nil},
		"in a quote by laziness":           {"> a\nDONE: x\n", nil},
		"in a list in a quote":             {"> - DONE: x\n", nil},
		"in a comment":                     {"<!-- DONE: x -->\n", nil},
		"in a comment over lines":          {"<!--\nDONE: x\n\nREMAINING: y\n-->\n", nil},
		"in a comment in a paragraph":      {"a <!-- b\nDONE: x\n-->\n", nil},
		"in a comment in a tag":            {"<div>\n<!--\nDONE: x\n-->\n</div>\n", nil},
		"in a heading":                     {"### DONE: x\n", nil},
		"in a script":                      {"<script>\nDONE: x\n</script>\n", nil},
		"behind a comment never closed":    {"<!--\nDONE: x\n", nil},
		"behind a fence never closed":      {"```\nDONE: x\n", nil},
		"in the next section":              {"DONE:\n## Other\nx\n", nil},
		"label with content behind a rule": {"---\nDONE: x\n", []string{"DONE"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := section(t, "## Handoff\n"+tt.content, "Handoff")
			wantStrings(t, s.Fields(labels), tt.want)
		})
	}
}

func TestSection_Fields_asksForTheNamesGivenOnly(t *testing.T) {
	t.Parallel()
	s := section(t, "## Handoff\nDONE: x\nWhy not: y\n", "Handoff")
	wantStrings(t, s.Fields(nil), nil)
	wantStrings(t, s.Fields([]string{""}), nil)
	wantStrings(t, s.Fields([]string{"REMAINING"}), nil)
	wantStrings(t, s.Fields([]string{"Why not", "DONE"}), []string{"Why not", "DONE"})
}

// The patterns say in one line what the code says in many.
func TestLabels_areWhatTheirPatternsSay(t *testing.T) {
	t.Parallel()
	marker := regexp.MustCompile(`^(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?`)
	label := regexp.MustCompile(`^[A-Z][A-Z _-]+\**[:：]`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("- +*1.)[xX] \tAB_:：\u00a0\v")), 0, 12, -1).Draw(t, "text")
		trimmed := strings.TrimSpace(text)
		want := strings.TrimLeft(trimmed[len(marker.FindString(trimmed)):], emphasis)
		if got := withoutMarks(text); got != want {
			t.Fatalf("%q without its marker is %q, want %q", text, got, want)
		}
		if got := labelLike(text); got != label.MatchString(text) {
			t.Fatalf("%q looks like a label: %v", text, got)
		}
	})
}
