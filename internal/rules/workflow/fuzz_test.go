package workflow_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yml", "../../../workflows/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	text, err := os.ReadFile("../../../workflows/usual.yml")
	if err != nil {
		f.Fatal(err)
	}
	names, err := workflow.ParseUsual("usual.yml", text)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := workflow.Parse("fuzz.yml", text, names)
		if (d == nil) == (err == nil) {
			t.Fatalf("got %v and %v, want one of them", d, err)
		}
		var problems yaml.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("got %T, want problems", err)
		}
		// YAML knows more line ends than these
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 2
		lines += bytes.Count(text, []byte("\u0085")) + bytes.Count(text, []byte("\u2028")) + bytes.Count(text,
			[]byte("\u2029"))
		if d != nil {
			problems = d.Warnings()
			if again := d.Warnings(); !reflect.DeepEqual(problems, again) {
				t.Fatalf("looked at twice, it has the warnings\n%v\nnot\n%v", again, problems)
			}
		}
		for i, p := range problems {
			if p.Line < 1 || p.Col < 1 || p.Line > lines || p.Col > len(text)+1 || p.File != "fuzz.yml" ||
				p.Rule == "" || p.Message == "" {
				t.Errorf("%v has no place in the file, or no name", p)
			}
			if i > 0 && (p.Line < problems[i-1].Line || p.Line == problems[i-1].Line && p.Col < problems[i-1].Col) {
				t.Errorf("%v stands behind %v", p, problems[i-1])
			}
		}
		again, errAgain := workflow.Parse("fuzz.yml", text, names)
		if !reflect.DeepEqual(d, again) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("read twice it is %v, %v, not %v, %v", again, errAgain, d, err)
		}
		if d != nil {
			whole(t, d)
		}
	})
}

// whole asks a definition that was accepted for everything that it names: it has it.
func whole(t *testing.T, d *workflow.Definition) {
	state := func(name task.Status, what string) {
		if s, found := d.State(name); !found || s.Name != name {
			t.Errorf("%s is %q, which is no state", what, name)
		}
		d.Attended(name)
	}
	hooks := func(all []workflow.Hook) {
		for _, h := range all {
			if _, known := action.ClassOf(h.Action); !known {
				t.Errorf("%q is no action", h.Action)
			}
			if _, found := d.Prompt(h.Prompt); h.Prompt != "" && !found {
				t.Errorf("%q is no prompt", h.Prompt)
			}
			if role := workflow.SpawnRole(h.Hook); role == "" &&
				(h.Action == action.SpawnAgent || h.Action == action.SpawnReviewer) {
				t.Errorf("%q starts nobody", h.Action)
			}
		}
	}
	if d.Name == "" || d.Version < 1 || d.Exit.PollInterval < 1 {
		t.Errorf("%q, version %d, looks every %d seconds", d.Name, d.Version, d.Exit.PollInterval)
	}
	state(d.Initial, "the initial state")
	for _, s := range d.States {
		state(s.Name, "a state")
		if _, found := d.Prompt(s.RespawnPrompt.Name); s.RespawnPrompt.Name != "" && !found {
			t.Errorf("%q is no prompt", s.RespawnPrompt.Name)
		}
	}
	for i := range d.Transitions {
		one := &d.Transitions[i]
		state(one.From, "from")
		state(one.To, "to")
		if from, _ := d.State(one.From); from.Terminal {
			t.Errorf("a transition leaves %q, which is terminal", one.From)
		}
		if first, found := d.Edge(one.From, one.To); !found || first.From != one.From || first.To != one.To {
			t.Errorf("there is no edge from %q to %q", one.From, one.To)
		}
		if one.Spawns() != (one.Has(action.SpawnAgent) || one.Has(action.SpawnReviewer)) {
			t.Errorf("%q to %q spawns, or not", one.From, one.To)
		}
		for _, g := range one.When {
			if again, err := workflow.ParseGuard(g.String()); err != nil || again.Field != g.Field ||
				again.Op != g.Op || again.Value != g.Value {
				t.Errorf("guard %q reads back as %q: %v", g, again, err)
			}
		}
		hooks(one.Hooks)
	}
	for _, b := range d.Births {
		state(b.To, "a birth")
		if found, ok := d.Birth(b.To); !ok || found.To != b.To || found.Spawns() != b.Spawns() {
			t.Errorf("there is no birth in %q", b.To)
		}
		hooks(b.Hooks)
	}
	for _, m := range d.Moves {
		if to, found := d.Move(m.Command); !found || to != m.To {
			t.Errorf("%q leads to %q, and is found to lead to %q", m.Command, m.To, to)
		}
		state(m.To, "a move")
	}
	for _, p := range d.Prompts {
		if text, found := d.Prompt(p.Name); !found || text != p.Text {
			t.Errorf("prompt %q is not found", p.Name)
		}
	}
}

func FuzzParseGuard(f *testing.F) {
	for _, seed := range []string{"review_round < 2", "a<=b", "a >= -1000000000", "a!==1", "1a == 1", "<",
		"a = 1", "a == +1", "a == 0x1", "\u0430 > 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := workflow.ParseGuard(text)
		if err != nil {
			return
		}
		again, err := workflow.ParseGuard(g.String())
		if err != nil || again != g {
			t.Fatalf("%q reads as %q, and that as %q: %v", text, g, again, err)
		}
		opposite := map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
		other := g
		other.Op = opposite[g.Op]
		for v := g.Value - 1; v <= g.Value+1; v++ {
			if g.Holds(v) == other.Holds(v) {
				t.Errorf("%q and %q are both %v of %d", g, other, g.Holds(v), v)
			}
		}
		if witness, found := workflow.Overlap([]workflow.Guard{g}, []workflow.Guard{other}); found {
			t.Errorf("%q and %q both hold for %s", g, other, witness)
		}
		if witness, found := workflow.Uncovered([]workflow.Guard{g}, []workflow.Guard{other}); found {
			t.Errorf("neither %q nor %q holds for %s", g, other, witness)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"{summary}", "{{summary}}", "{summary", "}{", "{a{summary}b}",
		"{\"x\": {status}}", "{nobody} {status}"} {
		f.Add(seed, "{status}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		values := map[string]string{workflow.VarSummary: value, workflow.VarStatus: "working"}
		got := workflow.Expand(text, values)
		// Slow and plain: every place where a known name is in braces, from the left.
		want := strings.NewReplacer("{summary}", value, "{status}", "working").Replace(text)
		if got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}

// What a short file can cost is bounded: without the bounds each of these took minutes, or all memory.
func TestParse_tellsAtOnceWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	const head = "name: a\nversion: 1\nstates:\n  a: {}\n  b: {}\n"
	var counters, arms strings.Builder
	for i := range 40 {
		fmt.Fprintf(&counters, "c%d < 5, ", i)
		fmt.Fprintf(&arms, "      - {when: c%d < 5, then: a}\n", i)
	}
	long := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct{ text, rule string }{
		"guards over many counters": {
			head + "transitions:\n" + strings.Repeat("  - {from: a, to: b, when: ["+counters.String()+"]}\n", 2),
			"guard-count"},
		"arms over many counters": {
			head + "transitions: []\nexit_monitoring:\n  rules:\n  - status: a\n    then_when:\n" +
				strings.ReplaceAll(arms.String(), "      -", "    -"), "exhaustive",
		},
		"one edge many times": {head + "transitions:\n" + strings.Repeat("  - {from: a, to: b}\n", 4000), "too-many"},
		"names that are long": {head + "roles: [" + long + "y]\ntransitions:\n  - {from: a, to: b, by: " + long +
			"z}\n", "role"},
		"aliases of a long list": {
			head + "transitions:\n  - {from: a, to: b, hooks: &h [" + strings.Repeat("{action: spawn_next}, ",
				4000) + "]}\n" +
				strings.Repeat("  - {from: a, to: b, hooks: *h}\n", 4000), "too-long",
		},
		"a long name of a counter": {head + "transitions:\n  - {from: a, to: b, when: " + long + " < 1}\n",
			"guard-syntax"},
		"a long file": {head + "transitions: []\n" + strings.Repeat("# more\n", 40_000), "too-long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workflow.Parse("long.yml", []byte(tt.text), workflow.Usual{})
			var problems yaml.Problems
			if !errors.As(err, &problems) || !slices.ContainsFunc(problems, func(p yaml.Problem) bool {
				return p.Rule == tt.rule
			}) {
				t.Fatalf("no problem of the rule %q in %.2000v", tt.rule, err)
			}
			if len(problems) > 101 || len(err.Error()) > 1<<20 {
				t.Errorf("%d problems in %d bytes", len(problems), len(err.Error()))
			}
		})
	}
}

func TestWarnings_tellsAtOnceWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const head = "name: a\nversion: 1\n"
	for name, tt := range map[string]struct{ text, rule string }{
		"every state leads to every other": {
			head + "states: {" + many(80, "s%d: {}, ") + "z: {terminal: true}}\ntransitions:\n" +
				many(80, "  - {from: '*', to: s%d, hooks: [{action: release_workspace}]}\n"),
			"unused",
		},
		"many agents": {
			head + "roles: [" + many(50, "r%d, ") + "]\nprompts: {p: P}\nstates: {" + many(60, "s%d: {}, ") +
				"z: {terminal: true}}\ntransitions:\n  - {from: '*', to: z}\n" +
				many(50, "  - {from: '*', to: s%[1]d, hooks: [{action: spawn_agent, role: r%[1]d, prompt: p}]}\n"),
			"respawn",
		},
		"one gate of all": {
			head + "fields: {n: 0}\nstates: {" + many(300, "s%d: {}, ") + "z: {terminal: true}}\ntransitions:\n" +
				many(200, "  - {from: '*', to: s%[1]d, when: 'n == %[1]d', gate: [{section: '## Plan'}]}\n"),
			"undecided",
		},
		"many counters": {
			head + "fields: {" + many(2000, "c%d: 0, ") + "}\nstates: {a: {}, z: {terminal: true}}\ntransitions:\n" +
				"  - {from: a, to: z}\n",
			"unused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tt.text
			if tt.rule == "unused" {
				text += "checks: {nobody: {run: [make]}}\n"
			}
			d, err := workflow.Parse("long.yml", []byte(text), workflow.Usual{})
			if err != nil {
				t.Fatal(err)
			}
			found := d.Warnings()
			if !slices.ContainsFunc(found, func(p yaml.Problem) bool { return p.Rule == tt.rule }) {
				t.Fatalf("no warning of the rule %q in %.2000v", tt.rule, found)
			}
			if len(found) > 101 || len(found.Error()) > 1<<20 {
				t.Errorf("%d warnings in %d bytes", len(found), len(found.Error()))
			}
		})
	}
}
