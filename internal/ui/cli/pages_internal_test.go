package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The pages for new users name commands that they will type: each is one of the program's, and a line of an example
// has the flags and as many words as its command takes.
func TestEveryCommandOfThePagesForNewUsersIsThere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/agents/*.md")
	if err != nil || len(pages) < 6 {
		t.Fatalf("found the pages %q, %v", pages, err)
	}
	inText, inExample := regexp.MustCompile("`(orange [^`\n]+)`"), regexp.MustCompile(`(?m)^(?:.* \| )?(orange .+)$`)
	blocks := regexp.MustCompile("(?s)```\n(.*?)```\n")
	for _, page := range append(pages, "../../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var found int
		for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
			for _, match := range inExample.FindAllStringSubmatch(block[1], -1) {
				found++
				if problem := wrongCall(match[1]); problem != "" {
					t.Errorf("%s: %q: %s", page, match[1], problem)
				}
			}
		}
		for _, match := range inText.FindAllStringSubmatch(blocks.ReplaceAllString(string(text), ""), -1) {
			found++
			if problem := unknownCommand(match[1]); problem != "" {
				t.Errorf("%s: %q: %s", page, match[1], problem)
			}
		}
		if found == 0 {
			t.Errorf("%s: found no command", page)
		}
	}
}

// wrongCall says why the program would not take a command line as it is.
func wrongCall(line string) string {
	for _, end := range []string{" #", " > ", " | "} {
		line, _, _ = strings.Cut(line, end)
	}
	if problem := unknownCommand(line); problem != "" {
		return problem
	}
	words := strings.Fields(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "TEXT"))[1:]
	c, rest, err := (&Program{}).root().Find(words)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestWrongCall_findsWhatACommandDoesNotTake(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{`orange task merge 4Fz`: false, `orange task merge 4Fz abc`: true,
		`orange task create "Greet people" --harness pi`: false, `orange task create --harness`: true,
		`orange task say 4Fz`: true, `orange install --harness pi > file`: false, `orange vanish`: true} {
		if got := wrongCall(line); (got != "") != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}
