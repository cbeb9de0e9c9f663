package inbox_test

import (
	"fmt"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/inbox"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Each state is there once, by the way that is rather taken; what only a person may do is a person's alone.
func TestWays_areTheMovesThatARoleHas(t *testing.T) {
	t.Parallel()
	human, both := []string{task.RoleHuman}, []string{task.RoleWorker, task.RoleHuman}
	unmet := []rejection.Detail{{Condition: "x", Found: "y"}}
	e := decide.Explanation{Redo: []task.Status{"plan", "work"}, Ways: []decide.Option{
		{To: "done", By: human, Override: true, Details: unmet},
		{To: "work", By: both, Details: unmet},
		{To: "work", By: both, Open: true, Reason: true},
		{To: "work", By: both, Override: true, Details: unmet},
		{To: "stuck", By: []string{"reviewer"}},
		{To: "plan", By: both, Details: unmet},
		{To: "plan", By: both, Details: append(unmet, unmet...)},
		{To: "late", By: both, Override: true, Details: unmet},
		{To: "done", By: human, Details: unmet},
	}}
	for role, want := range map[string]string{
		task.RoleHuman: "done override true 1; work request true 0; stuck  false 1; plan  false 1; " +
			"late override true 1; plan redo false 0",
		task.RoleWorker: "done  false 1; work request true 0; stuck  false 1; plan  false 1; late  false 1",
	} {
		got := ""
		for i, w := range inbox.Ways(e, role) {
			if i > 0 {
				got += "; "
			}
			got += fmt.Sprintf("%s %s %v %d", w.To, w.How, w.Reason, len(w.Details))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", role, got, want)
		}
	}
	all := inbox.Ways(e, task.RoleHuman)
	if w, found := inbox.Find(all, "plan"); !found || w.How != inbox.ByRedo || !w.Open() {
		t.Errorf("plan is %+v", w)
	}
	if w, found := inbox.Find(all, "done"); !found || w.Open() {
		t.Errorf("done is %+v", w)
	}
	twice := []inbox.Way{{To: "a", Reason: true}, {To: "a"}, {To: "a", How: inbox.ByRequest},
		{To: "a", How: inbox.ByRedo}}
	if w, _ := inbox.Find(twice[:2], "a"); !w.Reason {
		t.Error("of two that are closed it finds the later one")
	}
	if w, _ := inbox.Find(twice, "a"); w.How != inbox.ByRequest {
		t.Errorf("of two that are open it finds %+v", w)
	}
	if _, found := inbox.Find(all, "nowhere"); found {
		t.Error("a state was found that is none")
	}
}
