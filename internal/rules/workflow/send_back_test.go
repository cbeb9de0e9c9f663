package workflow_test

import (
	"slices"
	"testing"

	"orange/internal/rules/workflow"
)

// The rules of a state for something that happens are those that name it, in the order of the file.
func TestSendBacks_areThoseThatNameWhatHappens(t *testing.T) {
	t.Parallel()
	def, err := workflow.Parse("x.yml", []byte(`
name: x
version: 1
fields:
  tries: {start: 0, reset: person}
states:
  todo: {}
  work: {role: worker}
  look:
    send_back:
      - {on: [merge_failed, pr_checks_failed], when: [tries < 2, review_round >= 1], then: work}
      - {on: pr_changes_requested, then: todo}
      - {on: merge_failed, then: todo}
  done: {terminal: true}
transitions:
  - {from: todo, to: work, by: human}
  - {from: work, to: look}
  - {from: look, to: [work, todo, done], by: human}
`), usual(t))
	if err != nil {
		t.Fatal(err)
	}
	look, _ := def.State("look")
	for on, want := range map[string][]string{
		workflow.OnMergeFailed:        {"work", "todo"},
		workflow.OnPRChecksFailed:     {"work"},
		workflow.OnPRChangesRequested: {"todo"},
		"rain":                        nil,
	} {
		var got []string
		for _, rule := range look.SendBacks(on) {
			got = append(got, string(rule.Then))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the rules for %s lead to %q, want %q", on, got, want)
		}
	}
	first := look.SendBacks(workflow.OnMergeFailed)[0]
	if len(first.When) != 2 || first.When[0].String() != "tries < 2" || first.When[1].String() != "review_round >= 1" {
		t.Errorf("the guards of the first rule are %v", first.When)
	}
	if n := len(look.SendBack); n != 3 || first.Pos.Line == 0 {
		t.Errorf("found %d rules, the first on line %d", n, first.Pos.Line)
	}
	if back := def.ResetByPerson(); !slices.Equal(back, []string{"tries"}) {
		t.Errorf("a person sets back %q", back)
	}
	if work, _ := def.State("work"); len(work.SendBack) != 0 { // where a file says nothing there is none
		t.Errorf("found %v", work.SendBack)
	}
}
