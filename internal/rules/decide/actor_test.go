package decide_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestPerson_refusesCallersWithTheMarksOfAnAgent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		caller task.Caller
		found  string // empty: a person
	}{
		"a person": {
			task.Caller{As: "reviewer", Above: []task.Process{{PID: 7}}, Back: "F12"}, ""},
		"one with the variables of a task": {task.Caller{Task: "abc", Back: "F12"},
			"the variables of an agent of task abc"},
		"one below the terminal server": {task.Caller{Inside: true, Back: "F12"}, "the terminal server"},
		"one with both, whatever role it is": {task.Caller{Task: "abc", Inside: true, As: "human", Back: "F12"},
			"task abc"},
	} {
		err := decide.Person("abc", tt.caller)
		if tt.found == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var refused *rejection.Rejection
		if !errors.As(err, &refused) || refused.Code != rejection.ActorDenied || refused.Task != "abc" ||
			refused.Message != "cannot act on task abc" {
			t.Errorf("%s: found %v, want a refusal", name, err)
			continue
		}
		if d := refused.Details[0]; !strings.Contains(d.Found, tt.found) ||
			!strings.Contains(d.Want, "F12 leads there") || !strings.Contains(d.Want, "ORANGE_SEAT") {
			t.Errorf("%s: found %+v", name, d)
		}
	}
}

func TestHome_isForPeople(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		caller task.Caller
		role   string
		found  string // empty: a person
	}{
		"a person":                         {task.Caller{Back: "F12"}, "", ""},
		"a worker with its seat":           {task.Caller{Secret: "s3cret"}, "worker", `the role "worker"`},
		"somebody below a worker":          {task.Caller{}, "worker", `the role "worker"`},
		"a seat that nobody can look up":   {task.Caller{Secret: "s3cret"}, "", "an agent's seat"},
		"one with the variables of a task": {task.Caller{Task: "abc"}, "", "the variables of an agent of task abc"},
		"one below the terminal server":    {task.Caller{Inside: true}, "", "the terminal server"},
	} {
		err := decide.Home("add a project", tt.caller, tt.role)
		if tt.found == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var refused *rejection.Rejection
		if !errors.As(err, &refused) || refused.Code != rejection.ActorDenied ||
			refused.Message != "cannot add a project" || !strings.Contains(refused.Details[0].Found, tt.found) {
			t.Errorf("%s: found %v, want a refusal that says %q", name, err, tt.found)
		}
	}
}
