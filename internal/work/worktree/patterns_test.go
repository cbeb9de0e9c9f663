package worktree

import (
	"strings"
	"testing"
)

// Git is asked the same, so that there is nothing to disagree about.
func TestNamed_readsPatternsAsGitDoes(t *testing.T) {
	t.Parallel()
	files := []string{"Makefile", "test.sh", "sub/test.sh", "sub/Makefile", "tests/a.go", "tests/deep/b.go",
		"src/tests/c.go", "src/x/testdata/d",
		"src/testdata/e", "src/x/y/testdata/f", "[odd]", "a b.txt", "ä.txt", "x{1}", "docs/read me.md"}
	globs := []string{"*.sh", "/Makefile", "Makefile", "tests/", "/tests", "/tests/**", "tests/*",
		"src/**/testdata", "src/**", "**/testdata", "**/*.go",
		"**", "*", "a?b.txt", "[a-t]*.sh", "[!t]*.sh", "x{1}", "docs", "docs/*.md", "/*.go", "src/*/testdata",
		"**/**/d", "\\[odd\\]", "tests/**/b.go"}
	h := newHome(t)
	for _, file := range files {
		write(t, h.Path, file, "x")
	}
	for _, glob := range globs {
		ignored := gitIn(t, h.Path, "-c", "core.quotePath=false", "ls-files", "--others", "--ignored",
			"--exclude="+glob, "-z")
		wanted := map[string]bool{}
		for _, file := range strings.Split(ignored, "\x00") {
			wanted[file] = true
		}
		for _, file := range files {
			if got := len(MatchingFiles([]string{glob}, []string{file})) == 1; got != wanted[file] {
				t.Errorf("%q names %q: got %t, git says %t", glob, file, got, wanted[file])
			}
		}
	}
}

// One that tries each of the ways in which the stars can match never ends.
func TestNamed_isNotLostInManyStars(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a/", 200) + "b"
	glob := strings.Repeat("**/a/", 12) + "c"
	want(t, "named", len(MatchingFiles([]string{glob}, []string{deep})), 0)
}
