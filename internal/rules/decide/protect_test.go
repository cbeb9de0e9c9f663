package decide_test

import (
	"errors"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Only a person, who says why, allows a task to change what its project protects.
func TestMayAllow_isForAPersonWithAReason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		actor  task.Actor
		reason string
		code   string
	}{
		{task.Actor{Role: task.RoleHuman}, "a new target", ""},
		{task.Actor{Role: task.RoleHuman}, " ", rejection.ReasonMissing},
		{task.Actor{Role: task.RoleWorker}, "mine", rejection.ActorDenied},
		{task.Actor{Role: task.RoleHuman, Via: "a program"}, "mine", rejection.ActorDenied},
		{task.Actor{Role: task.RoleHuman, Rule: true}, "mine", rejection.ActorDenied},
	} {
		err := decide.MayAllow(newTask("working"), row.actor, row.reason)
		var no *rejection.Rejection
		if errors.As(err, &no); (no == nil) != (row.code == "") || no != nil && no.Code != row.code {
			t.Errorf("%+v with %q: %v, want %q", row.actor, row.reason, err, row.code)
		}
	}
}
