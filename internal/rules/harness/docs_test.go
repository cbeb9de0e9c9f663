package harness_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"orange/internal/rules/harness"
)

const manual = "../../../docs/harness-file.md"

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheExamplesOfTheManualLoad(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindAllStringSubmatch(readFile(t, manual), -1)
	if len(found) < 2 {
		t.Fatalf("found %d examples in %s, want at least 2", len(found), manual)
	}
	for i, match := range found {
		name := fmt.Sprintf("example %d", i+1)
		if _, err := harness.Parse(name, []byte(match[1])); err != nil {
			t.Errorf("%s of %s:\n%v", name, manual, err)
		}
	}
}

func TestTheManualHasEveryKeyAndPlaceholder(t *testing.T) {
	t.Parallel()
	page, source := readFile(t, manual), readFile(t, "harness.go")
	var wanted []string
	for _, key := range regexp.MustCompile(`yaml\.(?:Must|May)\("([a-z_]+)"`).FindAllStringSubmatch(source, -1) {
		wanted = append(wanted, key[1])
	}
	if len(wanted) < 15 {
		t.Fatalf("found %d keys in harness.go, want at least 15", len(wanted))
	}
	for _, name := range []string{
		harness.Prompt, harness.PromptFile, harness.Worktree, harness.TaskDir,
		harness.GitDir, harness.OwnGitDir, harness.Home, harness.Branch, harness.Effort, harness.Model,
		harness.SessionID,
	} {
		wanted = append(wanted, "{"+name+"}")
	}
	for _, name := range wanted {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("%s does not mention `%s`", manual, name)
		}
	}
}

// A new user reads the page of a program, and not its file.
func TestThePageOfAProgramSaysWhatItsFileSays(t *testing.T) {
	t.Parallel()
	const folder, most = "../../../docs/agents/", 90
	common := readFile(t, folder+"README.md")
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "pi"} {
		h, err := harness.Parse(name+".yml", []byte(readFile(t, "../../../harnesses/"+name+".yml")))
		if err != nil {
			t.Fatal(err)
		}
		wanted := []string{name + " `" + h.Version + "`", "--harness " + name, "orange harness test " + name,
			"`~/" + h.Skills + "`", "`" + h.ProjectSkills + "`", "](README.md)"}
		if h.Run == harness.NeverRun {
			wanted = append(wanted, "never run by us")
		} else {
			wanted = append(wanted, "last tried on "+h.Run)
		}
		for _, either := range h.Needs {
			wanted = append(wanted, either...)
		}
		wanted = append(wanted, h.Root...)
		page := readFile(t, folder+name+".md")
		for _, words := range wanted {
			if !strings.Contains(page, words) {
				t.Errorf("docs/agents/%s.md does not say %q", name, words)
			}
		}
		if n := strings.Count(page, "\n"); n > most {
			t.Errorf("docs/agents/%s.md has %d lines, at most %d", name, n, most)
		}
		if !strings.Contains(common, "]("+name+".md)") {
			t.Errorf("docs/agents/README.md does not lead to the page of %s", name)
		}
	}
}
