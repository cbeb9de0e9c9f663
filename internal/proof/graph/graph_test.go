package graph_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/proof/graph"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

var update = flag.Bool("update", false, "write what the pictures are now into the golden files")

func shipped(t *testing.T, file string) *workflow.Definition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, filepath.Base(file), text)
}

func TestThePicturesOfTheDefaultWorkflow(t *testing.T) {
	t.Parallel()
	d := shipped(t, "../../../workflows/default.yml")
	for _, form := range graph.Forms() {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			got, ok := graph.Draw(d, form)
			if !ok {
				t.Fatal("the form is not known")
			}
			if again, _ := graph.Draw(d, form); again != got {
				t.Error("the same workflow has two pictures")
			}
			golden := filepath.Join("testdata", "default."+form)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestAnUnknownFormIsNone(t *testing.T) {
	t.Parallel()
	if text, ok := graph.Draw(&workflow.Definition{}, "png"); ok || text != "" {
		t.Errorf("got %q, %v", text, ok)
	}
}

// hostile is a workflow whose names try to be something else.
func hostile() *workflow.Definition {
	const first, second = task.Status("a\"]; x -> y [label=\"\\\n%%{init}"), task.Status("<script>b</script>\\")
	return &workflow.Definition{
		Name: "--> \"\n%%{init: {}}%% <b>&", Version: 1, Initial: first,
		States: []workflow.State{{Name: first, About: "</title><script>"}, {Name: second, Terminal: true},
			{Name: ""}, {Name: "\u202eright\x00\xff"}},
		Transitions: []workflow.Transition{
			{From: first, To: second, By: []string{"ro\"le", "x]"}, Gate: []workflow.Part{
				{Section: "## \"#35; : ; <br/>\n--> s9"}}},
			{From: first, To: first},
			{From: second, To: workflow.Previous},
			{From: "nowhere", To: second, CameFrom: []task.Status{"\\n"}},
		},
	}
}

func TestHostileNamesStayText(t *testing.T) {
	t.Parallel()
	dot, _ := graph.Draw(hostile(), graph.FormDOT)
	for _, line := range strings.Split(strings.TrimSpace(dot), "\n") {
		quotes := 0
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				quotes++
			}
		}
		if quotes%2 != 0 {
			t.Errorf("a text ends too early or too late: %s", line)
		}
	}
	if strings.Contains(dot, "\nx ->") || !strings.Contains(dot, `a\"]; x -> y [label=\"\\ %%{init}`) {
		t.Errorf("got:\n%s", dot)
	}
	mermaid, _ := graph.Draw(hostile(), graph.FormMermaid)
	for _, line := range strings.Split(strings.TrimSpace(mermaid), "\n")[2:] {
		text, isState := strings.CutPrefix(line, "    state \"")
		if isState {
			text, _, _ = strings.Cut(text, "\" as s")
		} else if _, text, _ = strings.Cut(line, " : "); text == "" {
			continue
		}
		if text == "" || strings.ContainsAny(text, "\"<>:{}%\\") || strings.Contains(text, "-->") {
			t.Errorf("a text is more than text: %s", line)
		}
	}
}
