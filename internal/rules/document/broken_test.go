package document_test

import (
	"strings"
	"testing"

	"orange/internal/rules/document"
)

func TestBroken_namesWhatIsWrongWithTheFrontmatterAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\nid: x\nid: y\n---\n":           "line 3: cannot read the key",
		"---\nid: x\n---\n```\nnever closed": "",
		"---\n# only a comment\n---\n":       "",
		"no frontmatter\n":                   "",
	} {
		if got := document.Read([]byte(text)).Broken(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}
