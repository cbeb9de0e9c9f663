package workflow_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"orange/internal/rules/workflow"
)

const manual = "../../../docs/workflow-file.md"

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// examples are the YAML blocks of a page, each with the number of its first line, without those marked as a part
// of a file.
func examples(page string) map[int]string {
	out := map[int]string{}
	var block []string
	inside, before := false, ""
	for i, line := range strings.Split(page, "\n") {
		switch {
		case !inside && line == "```yaml":
			inside, block = true, nil
		case inside && line == "```":
			if before != "<!-- part -->" {
				out[i-len(block)+1] = strings.Join(block, "\n") + "\n"
			}
			inside, before = false, ""
		case inside:
			block = append(block, line)
		default:
			before = strings.TrimSpace(line)
		}
	}
	return out
}

func TestTheExamplesOfTheManualLoad(t *testing.T) {
	t.Parallel()
	found := examples(readFile(t, manual))
	if len(found) < 2 {
		t.Fatalf("found %d examples in %s, want at least 2", len(found), manual)
	}
	for line, text := range found {
		name := fmt.Sprintf("line %d", line)
		d, err := workflow.Parse(name, []byte(text), usual(t))
		if err != nil {
			t.Errorf("the example in %s at %s:\n%v", manual, name, err)
			continue
		}
		if found := d.Warnings(); len(found) > 0 {
			t.Errorf("the example in %s at %s:\n%v", manual, name, found)
		}
	}
}

func TestTheManualHasEveryKey(t *testing.T) {
	t.Parallel()
	page := readFile(t, manual)
	keys := regexp.MustCompile(`(?:yaml\.(?:Must|May)|key)\("([a-z_]+)"`).FindAllStringSubmatch(
		readFile(t, "parse.go")+readFile(t, "hook.go"), -1)
	if len(keys) < 20 {
		t.Fatalf("found %d keys in parse.go and hook.go, want at least 20", len(keys))
	}
	for _, key := range keys {
		if !strings.Contains(page, "`"+key[1]+"`") {
			t.Errorf("%s does not mention the key `%s`", manual, key[1])
		}
	}
}

func TestTheManualHasEveryWarningWithAnExampleThatIsSo(t *testing.T) {
	t.Parallel()
	page := readFile(t, manual)
	source := readFile(t, "warn.go") + readFile(t, "warn_gate.go")
	rules := regexp.MustCompile(`"([a-z-]+)",\s*"found`).FindAllStringSubmatch(source, -1)
	if len(rules) < 12 {
		t.Fatalf("found %d rules of warnings, want at least 12", len(rules))
	}
	for _, match := range rules {
		rule := match[1]
		row := regexp.MustCompile(`(?m)^\| ` + rule + ` \| (found [^|]+) \|$`).FindStringSubmatch(page)
		if row == nil {
			t.Errorf("%s has no row with an example for the warning %s", manual, rule)
			continue
		}
		if told := readFile(t, "testdata/warn/"+rule+".out"); !strings.Contains(told, ": "+row[1]+" ["+rule+"]") {
			t.Errorf("the example of %s in %s is %q, and what is told of testdata/warn is\n%s", rule, manual,
				row[1], told)
		}
	}
}
