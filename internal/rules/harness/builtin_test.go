package harness_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

func TestEveryShippedHarnessLoads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../harnesses/*.yml")
	if err != nil || len(files) != 12 {
		t.Fatalf("found %d harness files (%v), want 12", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := harness.Parse(file, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if h.Name+".yml" != filepath.Base(file) {
			t.Errorf("%s is called %q", file, h.Name)
		}
		if h.Version == "" || h.Run == "" {
			t.Errorf("%s does not say for which version it was written, and when it was last run", file)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files again")

// What a harness file comes to is known to the last argument: of each list, with its files and variables.
func TestEveryShippedHarnessStartsExactlyThis(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, h := range shipped(t) {
		fmt.Fprintf(&b, "%s\n", h.Name)
		lists := map[string][]harness.Arg{"worker": h.Worker.Command, "worker, reduced": h.Worker.Reduced,
			"worker, again": h.Worker.Resume, "reviewer": h.Reviewer.Command, "reviewer, reduced": h.Reviewer.Reduced,
			"reviewer, again": h.Reviewer.Resume}
		for _, name := range slices.Sorted(maps.Keys(lists)) {
			if list := lists[name]; len(list) > 0 {
				one := &harness.Harness{Worker: harness.Launch{Command: list}}
				fmt.Fprintf(&b, "  %s\n", name)
				for _, word := range one.Argv(task.RoleWorker, task.PermissionsFull, values()) {
					fmt.Fprintf(&b, "    %s\n", word)
				}
			}
		}
		for _, pair := range h.Variables(values()) {
			fmt.Fprintf(&b, "  set %s\n", pair)
		}
		if h.SessionVariable != "" {
			fmt.Fprintf(&b, "  told in %s\n", h.SessionVariable)
		}
		for _, name := range h.Unset {
			fmt.Fprintf(&b, "  unset %s\n", name)
		}
		for _, f := range h.Files {
			fmt.Fprintf(&b, "  file %s\n    %s\n", f.Path, strings.TrimSpace(f.Content))
		}
	}
	golden(t, "testdata/starts.txt", b.String())
}

func values() map[string]string {
	return map[string]string{harness.Prompt: "PROMPT", harness.PromptFile: "PROMPT.md", harness.Worktree: "WORKTREE",
		harness.TaskDir: "TASK",
		harness.GitDir:  "GIT", harness.Home: "HOME", harness.Branch: "BRANCH", harness.Effort: "EFFORT",
		harness.Model:     "MODEL",
		harness.SessionID: "SESSION"}
}

func shipped(t *testing.T) []*harness.Harness {
	t.Helper()
	files, err := filepath.Glob("../../../harnesses/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	var out []*harness.Harness
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parse(t, string(text)))
	}
	return out
}

func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is not this any more; -update writes it again:\n%s", path, text)
	}
}

// The help texts in testdata/help are those of the programs, in the versions that the files were written for.
func TestTheFlagsOfShippedHarnessesAreInTheHelpOfTheirPrograms(t *testing.T) {
	t.Parallel()
	read := 0
	for _, h := range shipped(t) {
		for _, used := range h.Usages() {
			help, err := os.ReadFile(filepath.Join("testdata/help", strings.Join(used.Words, "-")+".txt"))
			if errors.Is(err, os.ErrNotExist) {
				if h.Run != harness.NeverRun {
					t.Errorf("%s was run, and there is no help text of %q", h.Name, used.Words)
				}
				continue
			}
			read++
			if missing := used.Missing(string(help)); err != nil || len(missing) > 0 {
				t.Errorf("the help of %q has no %q (%v)", used.Words, missing, err)
			}
		}
	}
	if want := 8; read != want {
		t.Errorf("read %d help texts, want %d", read, want)
	}
}

func TestAFlagIsInAHelpTextOnlyAsAWholeWord(t *testing.T) {
	t.Parallel()
	u := harness.Usage{Words: []string{"it"}, Flags: []string{"--model", "-m", "--yolo", "--resume", "-c", "--no"}}
	help := "  -m, --model <name>   the model\n      --yolo-mode      careless\n  [--resume=ID|-c] ...\n" +
		"  not-m  --none\n"
	if got, want := u.Missing(help), []string{"--yolo", "--no"}; !slices.Equal(got, want) {
		t.Errorf("missing are %q, want %q", got, want)
	}
}
