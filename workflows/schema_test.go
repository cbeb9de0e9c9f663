package workflows_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"orange/internal/rules/action"
	"orange/internal/rules/workflow"
	ownyaml "orange/internal/rules/yaml"
	"orange/workflows"
)

const manual = "../docs/workflow-file.md"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(workflows.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is what an editor validates.
func asJSON(text string) (any, error) {
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(plain))
}

func parse(t *testing.T, file, text string) error {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	_, err = workflow.Parse(file, []byte(text), usual)
	return err
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func matching(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("found no files %s (%v)", pattern, err)
	}
	return files
}

func TestEverySoundWorkflowFitsTheSchema(t *testing.T) {
	t.Parallel()
	s := schema(t)
	sound := map[string]string{}
	for _, file := range append(matching(t, "*.yml"), matching(t, "../internal/rules/workflow/testdata/ok/*.yml")...) {
		if filepath.Base(file) != "usual.yml" { // not a workflow
			sound[file] = read(t, file)
		}
	}
	for i, block := range regexp.MustCompile(
		"(?ms)(^<!-- part -->\n)?^```yaml\n(.*?)^```$").FindAllStringSubmatch(read(t, manual), -1) {
		if block[1] == "" {
			sound[fmt.Sprintf("block %d of %s", i+1, manual)] = block[2]
		}
	}
	if len(sound) < 5 {
		t.Fatalf("found %d workflows, expected more", len(sound))
	}
	for file, text := range sound {
		tree, err := asJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := s.Validate(tree); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// What is wrong with a file's keys and types an editor can tell; what a name leads to it cannot.
func TestTheSchemaRefusesWrongKeysTypesAndValues(t *testing.T) {
	t.Parallel()
	s := schema(t)
	refused := 0
	for _, file := range matching(t, "../internal/rules/workflow/testdata/err/*.yml") {
		var problems ownyaml.Problems
		if err := parse(t, file, read(t, file)); !errors.As(err, &problems) {
			t.Fatalf("%s: %v", file, err)
		}
		wrong := slices.ContainsFunc(problems, func(p ownyaml.Problem) bool {
			return slices.Contains([]string{"unknown-key", "missing-key", "type", "value"}, p.Rule)
		})
		tree, err := asJSON(read(t, file))
		if !wrong || err != nil {
			continue
		}
		refused++
		if s.Validate(tree) == nil {
			t.Errorf("%s fits the schema, though the program says:\n%v", file, problems)
		}
	}
	if refused < 10 {
		t.Errorf("looked at %d files, expected more", refused)
	}
}

// place is one mapping of a workflow file: where its keys stand in the schema, and a file with a key there that
// no one knows.
type place struct{ at, text string }

const unknownKey = "zzz_unknown"

func places() []place {
	const head = "name: x\nversion: 1\nstates: {a: {}, b: {terminal: true}}\n"
	const none = "transitions: []\n"
	const bad = "{" + unknownKey + ": 1}"
	return []place{
		{"", head + none + unknownKey + ": 1\n"},
		{"field", head + none + "fields: {tries: " + bad + "}\n"},
		{"git", head + "transitions: [{from: a, to: b, gate: {git: " + bad + "}}]\n"},
		{"role", head + none + "roles: {boss: " + bad + "}\n"},
		{"state", "name: x\nversion: 1\nstates: {a: " + bad + "}\n" + none},
		{"timeout", "name: x\nversion: 1\nstates: {a: {timeout: " + bad + "}}\n" + none},
		{"refused_after", "name: x\nversion: 1\nstates: {a: {refused_after: " + bad + "}}\n" + none},
		{"send_back", "name: x\nversion: 1\nstates: {a: {send_back: [" + bad + "]}}\n" + none},
		{"plan_file", head + none + "plan_file: " + bad + "\n"},
		{"moves", head + none + "moves: " + bad + "\n"},
		{"check", head + none + "checks: {tests: " + bad + "}\n"},
		{"transition", head + "transitions: [" + bad + "]\n"},
		{"by_human", head + "transitions: [{from: a, to: b, by: {human: " + bad + "}}]\n"},
		{"part", head + "transitions: [{from: a, to: b, gate: " + bad + "}]\n"},
		{"hook", head + "transitions: [{from: a, to: b, hooks: [" + bad + "]}]\n"},
		{"exit_monitoring", head + none + "exit_monitoring: " + bad + "\n"},
		{"rule", head + none + "exit_monitoring: {rules: [" + bad + "]}\n"},
		{"arm", head + none + "exit_monitoring: {rules: [{status: a, then_when: [" + bad + "]}]}\n"},
	}
}

// parserKeys are the keys that the parser expects in a place: it lists them when it finds one that it does not know.
func parserKeys(t *testing.T, p place) []string {
	t.Helper()
	err := parse(t, p.at, p.text)
	var problems ownyaml.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("%q: %v", p.at, err)
	}
	for _, problem := range problems {
		if _, list, ok := strings.Cut(problem.Message, "expected one of "); ok &&
			strings.Contains(problem.Message, `unknown key "`+unknownKey+`"`) {
			list, _, _ = strings.Cut(list, ";")
			return strings.Split(strings.ReplaceAll(list, `"`, ""), ", ")
		}
	}
	return nil // it does not know this mapping
}

func TestTheSchemaHasTheKeysOfTheParser(t *testing.T) {
	t.Parallel()
	var tree struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(workflows.Schema, &tree); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"": true}
	for _, p := range places() {
		keys := tree.Defs[p.at].Properties
		if p.at == "" {
			keys = tree.Properties
		}
		seen[p.at] = true
		known := parserKeys(t, p)
		for key := range keys {
			if !slices.Contains(known, key) {
				t.Errorf("%q: the schema has %q, the parser knows only %v", p.at, key, known)
			}
		}
		for _, key := range known {
			if keys[key] == nil {
				t.Errorf("%q: the parser knows %q, the schema does not have it", p.at, key)
			}
		}
	}
	for name, def := range tree.Defs {
		if def.Properties != nil && !seen[name] {
			t.Errorf("no test looks at the keys of %q", name)
		}
	}
}

// walk visits every mapping of keys in the schema.
func walk(tree any, at string, visit func(at string, property map[string]any)) {
	switch tree := tree.(type) {
	case map[string]any:
		properties, _ := tree["properties"].(map[string]any)
		for name, p := range properties {
			if p, ok := p.(map[string]any); ok && !strings.HasSuffix(at, "/if") {
				visit(at+"/"+name, p)
			}
		}
		for name, value := range tree {
			walk(value, at+"/"+name, visit)
		}
	case []any:
		for i, value := range tree {
			walk(value, fmt.Sprintf("%s/%d", at, i), visit)
		}
	}
}

func TestEveryKeyOfTheSchemaIsExplained(t *testing.T) {
	t.Parallel()
	var tree any
	if err := json.Unmarshal(workflows.Schema, &tree); err != nil {
		t.Fatal(err)
	}
	walk(tree, "", func(at string, property map[string]any) {
		if text, _ := property["description"].(string); !strings.HasSuffix(text, ".") {
			t.Errorf("%s: found the description %q, expected a sentence", at, text)
		}
	})
}

func TestTheSchemaHasEveryActionOfAHook(t *testing.T) {
	t.Parallel()
	var tree struct {
		Defs struct {
			Hook struct {
				Properties struct {
					Action struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(workflows.Schema, &tree); err != nil {
		t.Fatal(err)
	}
	if got := tree.Defs.Hook.Properties.Action.Enum; !slices.Equal(got, action.Names()) {
		t.Errorf("got %v, want %v", got, action.Names())
	}
}

// A file with every key that there is.
func TestAWorkflowWithEveryKeyFitsTheSchema(t *testing.T) {
	t.Parallel()
	text := read(t, "testdata/every-key.yml")
	tree, err := asJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(tree); err != nil {
		t.Error(err)
	}
	var all any
	if err := json.Unmarshal(workflows.Schema, &all); err != nil {
		t.Fatal(err)
	}
	walk(all, "", func(at string, _ map[string]any) {
		if name := at[strings.LastIndex(at, "/")+1:]; !regexp.MustCompile(`\b` + name + `:`).MatchString(text) {
			t.Errorf("testdata/every-key.yml does not have the key %q", name)
		}
	})
	if err := parse(t, "every-key.yml", text); err != nil {
		t.Errorf("the parser knows every key, but: %v", err)
	}
}

func TestTheSchemaHasEveryPropertyThatCanBeAllowed(t *testing.T) {
	t.Parallel()
	var tree struct {
		Properties struct {
			Allow struct {
				PropertyNames struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(workflows.Schema, &tree); err != nil {
		t.Fatal(err)
	}
	if got := tree.Properties.Allow.PropertyNames.Enum; !slices.Equal(got, workflow.Properties()) {
		t.Errorf("got %v, want %v", got, workflow.Properties())
	}
}
