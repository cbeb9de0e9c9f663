package cli

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"orange/skills"
)

// The skills name commands and flags that agents will type: each is one of the program's.
func TestEveryCommandOfTheSkillsIsThere(t *testing.T) {
	t.Parallel()
	lines := regexp.MustCompile("(?m)`(orange [^`\n]+)`|^(orange .+)$")
	names, err := fs.Glob(skills.Files, "*/SKILL.md")
	if err != nil || len(names) != 2 {
		t.Fatalf("found the skills %q, %v", names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(skills.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		found := lines.FindAllStringSubmatch(string(text), -1)
		if len(found) < 5 {
			t.Errorf("%s: found %d commands", name, len(found))
		}
		for _, match := range found {
			if problem := unknownCommand(match[1] + match[2]); problem != "" {
				t.Errorf("%s: %q: %s", name, match[1]+match[2], problem)
			}
		}
	}
}

// unknownCommand says what of a command line the program does not have.
func unknownCommand(line string) string {
	words := strings.Fields(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "TEXT"))[1:]
	c, rest, err := (&Program{}).root().Find(words)
	if err != nil || !c.Runnable() || c.HasSubCommands() {
		return "there is no such command"
	}
	for _, word := range rest {
		if flag, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") &&
			c.Flags().Lookup(flag) == nil && c.InheritedFlags().Lookup(flag) == nil {
			return "it has no flag " + word
		}
	}
	return ""
}

func TestUnknownCommand_findsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{`orange task why 4Fz --json`: false, `orange task update --status "x"`: false,
		`orange task vanish`: true, `orange vanish`: true, `orange task why --vanish`: true, `orange task`: true} {
		if got := unknownCommand(line); (got != "") != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// What programs that follow the Agent Skills standard ask of a skill.
func TestTheSkillsHaveTheHeadersOfTheStandard(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(skills.Files, "*/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(skills.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		folder := strings.TrimSuffix(name, "/SKILL.md")
		header := regexp.MustCompile(`\A---\nname: ([a-z0-9]+(?:-[a-z0-9]+)*)\ndescription: (.+)\n---\n`).
			FindStringSubmatch(string(text))
		switch {
		case header == nil || header[1] != folder:
			t.Errorf("%s: it has no header with the name %q", name, folder)
		case len(header[1]) > 64 || len(header[2]) > 1024:
			t.Errorf("%s: its name has %d characters and its description %d", name, len(header[1]), len(header[2]))
		case strings.Contains(header[2], ": "):
			t.Errorf("%s: a colon in its description is no plain text in YAML", name)
		}
	}
}

// Document 001 asks for an orchestrator that asks, splits, creates tasks with what is known of them, and watches; the
// plan of each task is its own agent's.
func TestTheOrchestratorIsTaughtWhatDocument001Says(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(skills.Files, "orange-orchestrator/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"ask the person, two or three questions at a time, and wait for the answers",
		"cut it into tasks",
		"Tasks run at the same time",
		"A task has one purpose, which one sentence says. The sentence is its summary.",
		"`--context FILE` hands on what the person told you: requirements, limits",
		"| `orange task list` | all tasks",
		"You do not plan how a task is built",
	} {
		if !strings.Contains(string(text), words) {
			t.Errorf("the skill does not say %q", words)
		}
	}
}
