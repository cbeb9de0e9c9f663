package cli

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

type texts interface{ Workflows } // by another name, because one of its methods has its own

// migrating has tasks under several workflows, some of which refuse to have the rules of "mine".
type migrating struct {
	Commands
	Queries
	Identity
	texts
	asked []string
}

func (*migrating) Tasks(_ context.Context, f record.Filter) ([]task.Task, error) {
	of := func(name string, version int, digest string) task.WorkflowRef {
		return task.WorkflowRef{Name: name, Version: version, Digest: digest}
	}
	all := []task.Task{
		{ID: "d2", Project: "coffee", Status: "working", Workflow: of("default", 5, "d2d2d2d2")},
		{ID: "no", Project: "coffee", Status: "working", Workflow: of("mine", 1, "aaaaaaaa")},
		{ID: "bad", Project: "coffee", Status: "odd", Workflow: of("default", 5, "d1d1d1d1")},
		{ID: "lost", Project: "coffee", Status: "odd", Workflow: of("build", 5, "b1b1b1b1")},
		{ID: "tea", Project: "tea", Status: "working", Workflow: of("default", 5, "d1d1d1d1")},
	}
	return slices.DeleteFunc(all, func(t task.Task) bool { return f.Project != "" && t.Project != f.Project }), nil
}

func (*migrating) Here(context.Context) (id, project string, err error) { return "", "coffee", nil }

func (*migrating) Person(context.Context, string) error { return nil }

func (*migrating) Actor(_ context.Context, id, _ string) (task.Actor, error) {
	if id == "lost" {
		return task.Actor{}, errors.New("its seat cannot be read")
	}
	return task.Actor{Role: task.RoleHuman}, nil
}

func (*migrating) Workflow(name string) (*workflow.Definition, error) {
	return &workflow.Definition{Name: name, Version: 2, Digest: "eeeeeeeeee"}, nil
}

func (m *migrating) answer(how, id string) (record.Outcome, error) {
	m.asked = append(m.asked, how+" "+id)
	if id == "bad" {
		return record.Outcome{}, &rejection.Rejection{Code: rejection.MigrateRefused, Message: "cannot move bad"}
	}
	mine := task.WorkflowRef{Name: "mine", Version: 2, Digest: "eeeeeeeeee"}
	return record.Outcome{Task: task.Task{ID: id, Status: "working", Workflow: mine}, Moved: id != "no",
		Changes: []string{"+ of " + id}}, nil
}

func (m *migrating) Migrate(_ context.Context, id, _ string, _ map[task.Status]task.Status, _ task.Actor) (
	record.Outcome, error) {
	return m.answer("move", id)
}

func (m *migrating) WouldMigrate(_ context.Context, id, _ string, _ map[task.Status]task.Status, _ task.Actor) (
	record.Outcome, error) {
	return m.answer("try", id)
}

func migrate(t *testing.T, words ...string) (asked []string, status int, out, problems string) {
	t.Helper()
	m := &migrating{}
	var said, told bytes.Buffer
	p := &Program{services: &Services{Commands: m, Queries: m, Identity: m, Workflows: m,
		Home: homeWith(t, "coffee", "tea")}}
	p.Out, p.Err = printable.NewWriter(&said), printable.NewWriter(&told)
	status = p.Run(t.Context(), append([]string{"workflow", "migrate", "mine"}, words...))
	return m.asked, status, said.String(), told.String()
}

// Defect: one task whose asker was not known ended the whole, and said nothing of those that had been moved.
func TestMigrate_movesTasksOfAllWorkflowsAndReportsProblemsLast(t *testing.T) {
	t.Parallel()
	asked, status, out, problems := migrate(t, "--all-tasks")
	if status != exitRefused || strings.Join(asked, ", ") != "move bad, move d2, move no" {
		t.Errorf("ended with %d, asked %q, want those of the project that it is in", status, asked)
	}
	if want := "d2 has the present rules of mine 2 (eeeeee), and had those of default 5 (d2d2d2) (working)\n" +
		"  + of d2\nno has the rules of mine 2 (eeeeee) already\n"; out != want {
		t.Errorf("it says\n%s\nwant\n%s", out, want)
	}
	if !regexp.MustCompile(`(?s)its seat cannot be read.*cannot move bad`).MatchString(problems) {
		t.Errorf("the problems are\n%s", problems)
	}
	if asked, _, _, _ := migrate(t); strings.Join(asked, ", ") != "move no" {
		t.Errorf("without --all-tasks it asked %q", asked)
	}
	if asked, _, _, _ := migrate(t, "--all-tasks", "--project", "tea"); strings.Join(asked, ", ") != "move tea" {
		t.Errorf("of another project it asked %q", asked)
	}
	if asked, status, _, _ := migrate(t, "--all-tasks", "--task", "d2"); status != exitUsage || len(asked) > 0 {
		t.Errorf("with --task it ended with %d and asked %q", status, asked)
	}
}

func TestMigrate_inADryRunAsksOnlyWhatWouldHappen(t *testing.T) {
	t.Parallel()
	asked, status, out, problems := migrate(t, "--all-tasks", "--dry-run")
	if status != exitRefused || strings.Join(asked, ", ") != "try bad, try d2, try no" ||
		!strings.Contains(out, "d2 would have the present rules of mine 2 (eeeeee), and has those of default 5 (d2") ||
		!strings.Contains(problems, "cannot move bad") {
		t.Errorf("ended with %d, asked %q, and says\n%s%s", status, asked, out, problems)
	}
	_, _, out, _ = migrate(t, "--all-tasks", "--dry-run", "--json")
	for _, want := range []string{`"dry_run": true`, `"migrated": false`, `"would_migrate": true`,
		`"digest": "d2d2d2d2"`, `"digest": "eeeeeeeeee"`, `"error": "its seat cannot be read"`} {
		if !strings.Contains(out, want) {
			t.Errorf("found no %s in\n%s", want, out)
		}
	}
	if strings.Contains(out, `"migrated": true`) {
		t.Errorf("a dry run says that it migrated: %s", out)
	}
}
