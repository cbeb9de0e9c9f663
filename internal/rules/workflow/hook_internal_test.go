package workflow

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
)

// A key without a row would be taken by every action, and no action could need it; a row whose key no action takes is
// left from an action that is gone.
func TestEveryHookKeyHasARowAndAnAction(t *testing.T) {
	t.Parallel()
	rows, names := action.Keys(0), map[string]bool{"action": true, "increment": true} // those that are no key of a row
	for _, row := range hookKeys() {
		rows |= row.key
		names[row.name] = true
		if len(action.With(func(s action.Spec) bool { return s.Takes.Has(row.key) })) == 0 {
			t.Errorf("no action takes the key %q of hookKeys", row.name)
		}
	}
	for _, name := range action.Names() {
		if spec, _ := action.Of(name); spec.Takes&^rows != 0 {
			t.Errorf("%s takes a key that hookKeys does not have", name)
		}
	}
	const text = "name: x\nversion: 1\nstates: {a: {}}\ntransitions: [{from: a, to: a, hooks: [{unknown: 1}]}]\n"
	_, err := Parse("x.yml", []byte(text), Usual{})
	if err == nil {
		t.Fatal("an unknown key is no mistake")
	}
	_, list, _ := strings.Cut(err.Error(), "in a hook, expected one of ")
	list, _, _ = strings.Cut(list, " [")
	list, _, _ = strings.Cut(list, ";")
	for name := range strings.SplitSeq(list, ", ") {
		name = strings.Trim(name, `"`)
		if !names[name] {
			t.Errorf("a hook has the key %q, and hookKeys does not", name)
		}
		delete(names, name)
	}
	for name := range names {
		t.Errorf("hookKeys has the key %q, and a hook does not", name)
	}
}
