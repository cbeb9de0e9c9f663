package replay_test

import (
	"slices"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// An option is open exactly if a request for it would succeed: whatever the document contains, and for every role.
func TestWhy_saysWhatARequestIsAnswered(t *testing.T) {
	t.Parallel()
	all := shippedAndStrained(t)
	for seed := range uint64(30) {
		w := newStroll(t, all[seed%uint64(len(all))], seed)
		for _, state := range w.def.States {
			one, ev := w.s.Task, w.evidence()
			one.Status = state.Name
			ways := decide.Why(w.def, one, ev)
			for _, role := range append([]string{task.RoleWorker, task.RoleReviewer, task.RoleHuman}, "cto") {
				for _, target := range w.def.States {
					req := task.Request{Task: one.ID, To: target.Name, Actor: task.Actor{Role: role}, Reason: "why not"}
					d, err := decide.Transition(w.def, one, ev, req, w.now)
					open := slices.ContainsFunc(ways, func(way decide.Option) bool {
						return way.To == target.Name && way.Open && slices.Contains(way.By, role)
					})
					if granted := err == nil && d.Moved; granted != open && (role != "cto" || namesRole(w.def, role)) {
						t.Fatalf("seed %d, %s: %s asks for %s -> %s: granted %v, and told to be open %v\n%v\n%+v",
							seed, w.def.Name, role, one.Status, target.Name, granted, open, err, ways)
					}
				}
			}
		}
	}
}

func namesRole(def *workflow.Definition, role string) bool {
	return slices.ContainsFunc(def.Roles, func(r workflow.Role) bool { return r.Name == role })
}
