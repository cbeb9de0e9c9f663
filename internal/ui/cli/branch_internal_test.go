package cli

import "testing"

func TestLooksLikeBranch_acceptsOnlyPlainNamesThatGitAllows(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"tidy": true, "fix-login": true, "feat/Login": true, "v1.2": true, "a_b": true,
		"Refactor": false, "": false, " ": false, "fix login": false, "größe": false, "修正": false, "🍊": false,
		"feat/größe": false, "fix:": false, "a..b": false, "/": false, "https://x.org/y": false, "x\t": false,
	} {
		if is, err := looksLikeBranch(t.Context(), word); err != nil || is != want {
			t.Errorf("%q: found %v, %v, want %v", word, is, err, want)
		}
	}
}
