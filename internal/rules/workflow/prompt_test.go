package workflow_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a": "1", "b": "{a}", "empty": "", "open": "{"}
	tests := []struct{ name, text, want string }{
		{"a known name is put in", "x {a} y", "x 1 y"},
		{"an unknown name stays", "{c} {a}", "{c} 1"},
		{"what is put in is not looked at again", "{b}", "{a}"},
		{"a brace that is put in opens nothing", "{open}a}", "{a}"},
		{"an unclosed brace stays", "{a} {a", "1 {a"},
		{"adjacent braces", "{a}{a}{b}", "11{a}"},
		{"a name inside other braces", "{{a}}", "{1}"},
		{"an unclosed brace before a name", "{x{a}", "{x1"},
		{"an empty value", "[{empty}]", "[]"},
		{"empty braces", "{}", "{}"},
		{"a closing brace alone", "} {a}", "} 1"},
		{"no braces", "plain", "plain"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := workflow.Expand(test.text, values); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestThePromptsOfTheWorkflowsThatShipMakeSense(t *testing.T) {
	t.Parallel()
	for name := range shipped {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := load(t, "../../../workflows/"+name+".yml")
			problems, statuses := senseless(d)
			for _, problem := range problems {
				t.Error(problem)
			}
			next := slices.ContainsFunc(d.Prompts, func(p workflow.Prompt) bool {
				return strings.Contains(p.Text, "orange task next")
			})
			if statuses == 0 && !next {
				t.Error("found neither --status nor task next in any prompt")
			}
		})
	}
}

// senseless is what does not make sense in the prompts of a workflow, with the number of statuses that they ask for.
func senseless(d *workflow.Definition) (problems []string, statuses int) {
	tell := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	known := map[string]bool{task.CrashCount: true}
	for _, name := range []string{
		workflow.VarSummary, workflow.VarProject, workflow.VarBranch, workflow.VarReviewRound, workflow.VarStatus,
		workflow.VarBase, workflow.VarCommit, workflow.VarRun, workflow.VarTaskFile, workflow.VarTaskID,
		workflow.VarTaskDir, workflow.VarWorktree,
	} {
		known[name] = true
	}
	for _, edge := range d.Transitions {
		for _, h := range edge.Hooks {
			known[h.Field] = true
		}
	}
	variable, status := regexp.MustCompile(`\{(\w+)\}`), statusOf
	for _, prompt := range d.Prompts {
		if strings.Contains(prompt.Text, `\n`) {
			tell("%s holds a backslash and an n", prompt.Name)
		}
		for _, match := range variable.FindAllStringSubmatch(prompt.Text, -1) {
			if !known[match[1]] {
				tell("%s uses the unknown variable %q", prompt.Name, match[1])
			}
		}
		if all, read := strings.Count(prompt.Text, "--status"),
			status.FindAllStringSubmatch(prompt.Text, -1); all != len(read) {
			tell("%s names %d statuses, of which %d can be read", prompt.Name, all, len(read))
		}
		for _, match := range status.FindAllStringSubmatch(prompt.Text, -1) {
			statuses++
			if _, exists := d.State(task.Status(match[1])); !exists && match[1] != string(workflow.Previous) {
				tell("%s asks for the unknown state %q", prompt.Name, match[1])
			}
		}
	}
	return problems, statuses
}

// Not every repository has a remote: prompts speak of {base}, which is found out when the agent starts.
func TestNoPromptThatShipsNamesARefThatMayNotBeThere(t *testing.T) {
	t.Parallel()
	for name := range shipped {
		based := 0
		for _, prompt := range load(t, "../../../workflows/"+name+".yml").Prompts {
			if strings.Contains(prompt.Text, "origin") {
				t.Errorf("%s of %s speaks of origin", prompt.Name, name)
			}
			based += strings.Count(prompt.Text, "{base}..")
		}
		if based == 0 {
			t.Errorf("found no {base} in the prompts of %s", name)
		}
	}
}

// Every status that a prompt names is one that its agent may ask for: in the state where it starts, or in one
// where it then still is at work.
func TestPromptsThatShipAskOnlyForMovesOfTheirRole(t *testing.T) {
	t.Parallel()
	for name := range shipped {
		if name != "build" { // the others speak of moves that a person makes
			continue
		}
		d := load(t, "../../../workflows/"+name+".yml")
		for _, s := range starts(d) {
			may := mayAsk(d, s)
			text, _ := d.Prompt(s.prompt)
			for _, match := range statusOf.FindAllStringSubmatch(text, -1) {
				if to := match[1]; !may[task.Status(to)] {
					t.Errorf("%s asks the %s in %s for %s, which it may not ask for", s.prompt, s.role, s.state, to)
				}
			}
		}
	}
}

var statusOf = regexp.MustCompile(`--status[ =](\S+?)[.,;:]?(?:[\s\x60]|$)`)

// start is one way in which an agent begins.
type start struct {
	state        task.Status
	role, prompt string
}

func starts(d *workflow.Definition) []start {
	var out []start
	add := func(to task.Status, hooks []workflow.Hook) {
		for _, h := range hooks {
			if role := workflow.SpawnRole(h.Hook); role != "" {
				out = append(out, start{to, role, h.Prompt})
			}
		}
	}
	for _, e := range d.Transitions {
		add(e.To, e.Hooks)
	}
	if d.PlanFile != nil {
		add(d.PlanFile.To, d.PlanFile.Hooks)
	}
	for _, s := range d.States {
		if s.RespawnPrompt.Name != "" {
			out = append(out, start{s.Name, s.Role, s.RespawnPrompt.Name})
		}
	}
	return out
}

// mayAsk are the states that an agent may ask for, from where it starts through all states in which it then still
// is at work. To ask for the state that the task is in already does no harm.
func mayAsk(d *workflow.Definition, s start) map[task.Status]bool {
	may := map[task.Status]bool{s.state: true}
	for way := []task.Status{s.state}; len(way) > 0; way = way[1:] {
		for _, e := range d.Transitions {
			if e.From != way[0] || !slices.Contains(e.By, s.role) {
				continue
			}
			if to, _ := d.State(e.To); to.Role == s.role && !may[e.To] {
				way = append(way, e.To)
			}
			may[e.To] = true
			may[workflow.Previous] = may[workflow.Previous] || slices.Contains(e.CameFrom, e.To)
		}
	}
	return may
}

// A task may be born in review, where no worker has been yet; and an agent that is asked to stop ends its program,
// so that no one can answer it.
func TestPromptsThatShip_assumeNoEarlierAgentAndDismissNone(t *testing.T) {
	t.Parallel()
	before, unless := regexp.MustCompile(`[Tt]he (one|worker) before you|stopped early`), "If there was "
	for name := range shipped {
		for _, prompt := range load(t, "../../../workflows/"+name+".yml").Prompts {
			for line := range strings.Lines(prompt.Text) {
				if before.MatchString(line) && !strings.Contains(line, unless) {
					t.Errorf("%s of %s speaks of an agent that may never have been: %s", prompt.Name, name, line)
				}
			}
			if regexp.MustCompile(`\band stop\b`).MatchString(prompt.Text) {
				t.Errorf("%s of %s tells the agent to stop, which can be read as to end", prompt.Name, name)
			}
		}
	}
}
