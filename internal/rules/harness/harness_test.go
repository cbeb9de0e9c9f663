package harness_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

func parse(t *testing.T, text string) *harness.Harness {
	t.Helper()
	h, err := harness.Parse("h.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

const full = `name: full
worker:
  command: [agent, [--effort, "{effort}"], "--dir={worktree}", "{prompt}"]
  reduced: [agent, --careful, "{prompt}"]
reviewer:
  command: [critic, "{prompt}"]
`

const short = "name: short\nworker:\n  command: [agent, \"{prompt}\"]\n"

func TestArgv(t *testing.T) {
	t.Parallel()
	const odd = "line one\nit's \"quoted\" {effort} $HOME `x` \\n\n"
	tests := []struct {
		name, file, role, permissions string
		values                        map[string]string
		want                          []string
	}{
		{"a group whose placeholder has a value is there", full, task.RoleWorker, task.PermissionsFull,
			map[string]string{harness.Effort: "high", harness.Worktree: "/w", harness.Prompt: "p"}, []string{
				"agent", "--effort", "high", "--dir=/w", "p"}},
		{"a group whose placeholder is empty is left out", full, task.RoleWorker, task.PermissionsFull,
			map[string]string{harness.Effort: "", harness.Worktree: "/w", harness.Prompt: "p"}, []string{
				"agent", "--dir=/w", "p"}},
		{"a group whose placeholder is not given is left out", full, task.RoleWorker, task.PermissionsFull,
			map[string]string{harness.Worktree: "/w", harness.Prompt: "p"}, []string{"agent", "--dir=/w", "p"}},
		{"the prompt is kept exactly", full, task.RoleWorker, task.PermissionsReduced, map[string]string{
			harness.Effort: "high", harness.Prompt: odd}, []string{"agent", "--careful", odd}},
		{"reduced falls back to command", full, task.RoleReviewer, task.PermissionsReduced, map[string]string{
			harness.Prompt: "p"}, []string{"critic", "p"}},
		{"the reviewer falls back to the worker", short, task.RoleReviewer, task.PermissionsReduced,
			map[string]string{harness.Prompt: "p"}, []string{"agent", "p"}},
		{"another role is launched as the worker is", full, "cto", task.PermissionsReduced, map[string]string{
			harness.Prompt: "p"}, []string{"agent", "--careful", "p"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := parse(t, test.file).Argv(test.role, test.permissions, test.values); !slices.Equal(got,
				test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAFileOfThreeLinesIsEnough(t *testing.T) {
	t.Parallel()
	if h := parse(t, short); h.Name != "short" || h.Program != "agent" {
		t.Errorf("got %q, program %q", h.Name, h.Program)
	}
}

func TestMistakesInAHarnessAreToldAtTheirPlace(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"unknown placeholder", "name: x\nworker:\n  command: [agent, \"{promt}\"]\n",
			`h.yml:3:20: found the unknown placeholder "{promt}" in command, expected one of "prompt", "prompt_file", "worktree", "task_dir", "git_dir", "worktree_git_dir", "home", "branch", "effort", "model", "session_id"; did you mean "prompt"? [placeholder]`},
		{"no worker", "name: x\n", `h.yml:1:1: found no "worker" in the harness, expected it [missing-key]`},
		{"empty command", "name: x\nworker:\n  command: []\n",
			`h.yml:3:12: found no program in command, expected a list that begins with one [command]`},
		{"command begins with a group", "name: x\nworker:\n  command: [[agent]]\n",
			`h.yml:3:12: found no program in command, expected a list that begins with one [command]`},
		{"file outside the worktree", short + "files:\n  - path: ../x\n    content: y\n",
			`h.yml:5:5: found the path "../x", expected one inside the worktree [value]`},
		{"bad pattern", short + "ready: '('\n", "h.yml:4:8: found \"(\" as ready, expected a regular " +
			"expression: error parsing regexp: missing closing ): `(` [pattern]"},
		{"variable of two lines", short + "env:\n  A: \"x\\ny\"\n",
			`h.yml:5:6: found "x\ny" as a variable, expected one line [value]`},
		{"skills in the home folder by another name", short + "skills: ~/.x/skills\n",
			`h.yml:4:9: found the path "~/.x/skills" as skills, expected one below the home folder [value]`},
		{"skills of a project outside of it", short + "project_skills: .x/../../skills\n",
			`h.yml:4:17: found the path ".x/../../skills" as project_skills, expected one below the repository [value]`},
		{"a need that no variable has", short + "needs: [KEY, [OTHER, A B]]\n",
			`h.yml:4:14: found "A B" in needs, expected the name of a variable [value]`},
		{"a session variable that is none", short + "session_variable: A B\n",
			`h.yml:4:19: found "A B" as session_variable, expected the name of a variable [value]`},
		{"a conversation that is not found again", "name: x\nworker:\n  command: [a]\n  resume: [a, '{session_id}']\n",
			"h.yml:3:3: found resume, expected {session_id} in it and in command, or session_variable: only a " +
				"conversation whose name is known can be found again [resume]"},
		{"a conversation without its name", "name: x\nworker:\n  command: [a]\n  resume: [a]\nsession_variable: A\n",
			"h.yml:3:3: found resume and session_variable, expected {session_id} in resume and not in command: the " +
				"program chooses the conversation's name [resume]"},
		{"a conversation that two name", "name: x\nsession_variable: A\nworker:\n" +
			"  command: [a, '{session_id}']\n  resume: [a, '{session_id}']\n",
			"h.yml:4:3: found resume and session_variable, expected {session_id} in resume and not in command: the " +
				"program chooses the conversation's name [resume]"},
		{"an empty need", short + "needs: [[]]\n",
			`h.yml:4:9: found an empty list in needs, expected the names of variables [value]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := harness.Parse("h.yml", []byte(test.text)); err == nil || err.Error() != test.want {
				t.Errorf("got:\n%v\nwant:\n%s", err, test.want)
			}
		})
	}
}

func TestNoFlagOfAShippedHarnessSwallowsThePrompt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../harnesses/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no harnesses (%v)", err)
	}
	several := []string{"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools",
		"--add-dir", "--include-directories"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h := parse(t, string(text))
		for _, l := range []harness.Launch{h.Worker, h.For(task.RoleReviewer)} {
			for _, command := range [][]harness.Arg{l.Command, l.Reduced, l.Resume} {
				if len(command) == 0 {
					continue
				}
				last := command[len(command)-1]
				if _, value, cut := strings.Cut(last.Words[0], "="); cut {
					last.Words = []string{value}
				}
				if last.Group || last.Words[0] != "{prompt}" && last.Words[0] != "{prompt_file}" {
					t.Errorf("%s: %v does not end with the prompt", h.Name, command)
				}
				for _, arg := range command {
					for _, word := range arg.Words {
						if slices.Contains(several, word) {
							t.Errorf("%s: %s takes several values and has no =", h.Name, word)
						}
					}
				}
			}
		}
	}
}

func TestVariablesNamePlaceholdersAsArgumentListsDo(t *testing.T) {
	t.Parallel()
	h := parse(t, "name: x\nworker:\n  command: [x]\nenv:\n  IN: '{worktree}/in'\n  RULES: '{\"*\":{allow}}'\n")
	got := h.Variables(map[string]string{harness.Worktree: "/w"})
	if want := []string{"IN=/w/in", `RULES={"*":{allow}}`}; !slices.Equal(got, want) {
		t.Errorf("the variables are %q, want %q", got, want)
	}
}

func TestAProgramThatChoosesItsConversationsGoesOnWithThem(t *testing.T) {
	t.Parallel()
	h := parse(t, `name: x
reviewer: {command: [agent], reduced: [agent, --careful], resume: [agent, --on, "{session_id}"]}
worker: {command: [agent], resume: [agent, --on, "{session_id}"]}
session_variable: AGENT_SESSION
`)
	if h.SessionVariable != "AGENT_SESSION" || !h.Resumes(task.RoleWorker, task.PermissionsFull) ||
		h.Converses(task.RoleWorker, task.PermissionsFull) {
		t.Errorf("it is told in %q, and the worker does not go on", h.SessionVariable)
	}
	if h.Resumes(task.RoleReviewer, task.PermissionsReduced) || !h.Resumes(task.RoleReviewer, task.PermissionsFull) {
		t.Error("the list to go on has the full permissions, and is for no one else")
	}
}
