package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

// conflicting has a task that conflicts, one that does not, one that could not be compared, and one that no one has
// looked at.
func conflicting() *feed {
	at := time.Now().Add(-3*time.Minute - time.Second)
	one := func(id, project string) task.Task {
		return task.Task{ID: id, Project: project, Branch: "feat/" + id, Summary: "sum", Live: true}
	}
	return &feed{
		tasks: []task.Task{one("a", "garden"), one("b", "garden"), one("c", "garden"), one("d", "shed")},
		conflicts: map[string]conflict.Overview{"garden": {
			Of: map[string][]conflict.Conflict{"a": {{Branch: "feat/x", Task: "x", Files: []string{"1", "2"}, At: at}},
				"b": {}},
			Unknown: map[string]string{"c": "no merge base"},
		}},
	}
}

func listed(t *testing.T, f *feed, inJSON bool) (out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	p := &finder{}
	p.Out, p.Err, p.json = printable.NewWriter(&o), printable.NewWriter(&e), inJSON
	services := &Services{Queries: f}
	if inJSON {
		services.Queries = timed{f}
	}
	if _, err := (lister{finder: p}).listOnce(t.Context(), services); err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String()
}

// timed is a feed whose tasks have no times.
type timed struct{ *feed }

func (timed) Timings(context.Context, []task.Task) (map[string]task.Timing, error) { return nil, nil }

func TestList_hasAColumnOfConflictsWhereThereAreAny(t *testing.T) {
	t.Parallel()
	f := conflicting()
	out, talk := listed(t, f, false)
	lines := strings.Split(out, "\n")
	for i, want := range []string{"SUMMARY  CONFLICTS", "feat/x (2 files), 3 min ago", "sum", "not compared", "sum"} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d is %q, want %q at its end", i, lines[i], want)
		}
	}
	if talk != "" {
		t.Errorf("it says %q", talk)
	}
	f.conflicts = nil
	if out, _ := listed(t, f, false); strings.Contains(out, "CONFLICTS") {
		t.Errorf("without a conflict:\n%s", out)
	}
}

func TestListAsJSON_tellsNoConflictFromNoneKnown(t *testing.T) {
	t.Parallel()
	out, _ := listed(t, conflicting(), true)
	var got struct {
		Tasks []struct {
			Conflicts *[]conflict.Conflict `json:"conflicts"`
			Unknown   string               `json:"conflicts_unknown"`
		} `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Tasks[0].Conflicts; c == nil || len(*c) != 1 || (*c)[0].Task != "x" || len((*c)[0].Files) != 2 {
		t.Errorf("one that conflicts: %v", c)
	}
	if c := got.Tasks[1].Conflicts; c == nil || len(*c) != 0 {
		t.Errorf("one that does not: %v", c)
	}
	for i, unknown := range map[int]string{2: "no merge base", 3: ""} {
		if c := got.Tasks[i]; c.Conflicts != nil || c.Unknown != unknown {
			t.Errorf("one that is not known: %v, %q", c.Conflicts, c.Unknown)
		}
	}
}

func TestConflictsThatCannotBeRead_areNeverNone(t *testing.T) {
	t.Parallel()
	f := conflicting()
	f.conflicts["garden"].Unknown[""] = "the repository is gone"
	out, talk := listed(t, f, false)
	if !strings.Contains(talk, `which branches of project "garden" conflict is not known, or not up to date: the repository is gone`) ||
		!strings.Contains(out, "3 min ago") {
		t.Errorf("it says %q, and\n%s", talk, out)
	}
	f.blind = errors.New("the record is closed")
	if _, talk := listed(t, f, false); strings.Count(talk, "the record is closed") != 2 {
		t.Errorf("it says %q", talk)
	}
	lines := conflictLines(conflictsNow(t.Context(), &Services{Queries: f}, f.tasks[0]), "a")
	if len(lines) != 2 || lines[0] != "feat/x (task x): 1, 2, 3 min ago" ||
		lines[1] != "not all is known: the record is closed" {
		t.Errorf("%q", lines)
	}
}
