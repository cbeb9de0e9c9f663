package command

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// commands are those of a person who tries again with f5.
func commands() Commands {
	style := screen.NewStyle()
	style.Keys["retry"] = []string{"f5"}
	return Commands{Style: style}
}

func TestReport(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "task1", Branch: "fix/login", Status: "b"}
	moved := history.Event{Type: history.StatusChanged, From: "a", To: "b"}
	for want, out := range map[string]record.Outcome{
		"fix/login waits for a workspace and starts when one is free": {Task: one, Queued: true},
		"fix/login: a → b":       {Task: one, Event: moved},
		"fix/login stays b":      {Task: one, Moved: true},
		"fix/login is b already": {Task: one},
		`fix/login: a → b; rescued: "x", kept as refs/orange/rescue/task1/1; lib, set aside`: {Task: one, Event: moved,
			Stayed: []string{`"x", kept as refs/orange/rescue/task1/1`, "lib, set aside"}},
	} {
		if got, err := commands().Report(out, nil); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	refused := errors.New("refused")
	if _, err := commands().Report(record.Outcome{Task: one}, refused); !errors.Is(err, refused) {
		t.Errorf("an error is reported as %v", err)
	}
}

func TestReport_consequencesThatFailedAreAnIncompleteCommand(t *testing.T) {
	t.Parallel()
	_, err := commands().Report(record.Outcome{Task: task.Task{ID: "task1", Status: "b"}, Warning: "no mirror",
		Stayed: []string{"commits, kept as refs/x"},
		Hooks: []task.OwedHook{{Hook: task.Hook{Action: "push_branch"}, State: task.HookFailed, Error: "no remote"},
			{}}},
		nil)
	var incomplete *Incomplete
	if !errors.As(err, &incomplete) ||
		err.Error() != "task1 is b, but push_branch: no remote; no mirror; f5 tries again; "+
			"rescued: commits, kept as refs/x" {
		t.Errorf("got %v", err)
	}
}

func TestReportCreated(t *testing.T) {
	t.Parallel()
	got, err := commands().ReportCreated(record.Outcome{Task: task.Task{ID: "task1", Status: "a"}})
	if err != nil || got != "created task1 (a)" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNothingCanBeDoneBeforeTheWorkflowIsKnown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		on   Target
		want string
	}{
		{Target{}, "no task is selected"},
		{Target{Selected: true}, ReadingWorkflow},
		{Target{Selected: true, Unreadable: "no file"}, "no file"},
	} {
		for name, got := range map[string]string{"moves": row.on.NoMoves(), "say": row.on.NoSay(),
			"override":     row.on.NoOverride(),
			"pull request": row.on.NoPR(), "enter": row.on.NoEnter(), "merge": row.on.NoCommand("merge")} {
			if !strings.Contains(got, row.want) {
				t.Errorf("%s is closed because %q, want %q", name, got, row.want)
			}
		}
		if got := row.on.EnterMeans(); got != EnterNothing {
			t.Errorf("Enter means %d", got)
		}
	}
}
