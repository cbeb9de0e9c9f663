package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"orange/internal/api/socket"
	"orange/internal/rules/conflict"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// Defect: a train of merges said nothing of branches that no one had compared.
func TestMerge_saysWhichBranchesWereNotCompared(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "4Fz", Branch: "feat/a"}
	for want, c := range map[string]struct {
		one     record.MergedOne
		unknown string
	}{
		"feat/a (4Fz): fast-forward": {record.MergedOne{Task: one, How: "fast-forward"}, ""},
		"feat/a (4Fz), not compared with the other branches (no time yet): fast-forward": {
			record.MergedOne{Task: one, How: "fast-forward"}, "no time yet"},
		"feat/a (4Fz), not compared with the other branches (no time yet): left out: red": {
			record.MergedOne{Task: one, Left: errors.New("red")}, "no time yet"},
	} {
		if got := wordsOf(c.one, c.unknown); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// train merges one task, leaves one out, and then ends for what concerns all.
type train struct {
	Commands
	err error
}

// openTo lets anyone ask.
type openTo struct{ Identity }

// uncompared has looked for no conflicts.
type uncompared struct{ Queries }

func (uncompared) Conflicts(context.Context, string) (c conflict.Overview, err error) { return c, nil }

func (uncompared) ConflictsOf(context.Context, task.Task) (c conflict.Overview, err error) {
	return c, nil
}

func (w train) MergeMany(_ context.Context, _ record.MergeMany, _ task.Actor, told func(record.MergedOne)) error {
	told(record.MergedOne{Task: task.Task{ID: "a"}, How: "fast-forward",
		Outcome: record.Outcome{Stayed: []string{"x"}}})
	told(record.MergedOne{Task: task.Task{ID: "b"}, Left: errors.New("red")})
	return w.err
}

func (openTo) Actor(context.Context, string, string) (task.Actor, error) { return task.Actor{}, nil }

// What was merged before is merged, whatever comes after it.
func TestMerge_tellsInJSONWhatWasMergedBeforeItFailed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &finder{}
	p.json, p.Out, p.Err = true, printable.NewWriter(&out), printable.NewWriter(io.Discard)
	w := train{err: errors.New("origin is gone; 1 more task was not tried")}
	h := &Services{Commands: w, Queries: uncompared{}, Identity: openTo{}}
	err := mergeAll(t.Context(), p, h, record.MergeMany{Project: "garden"})
	if status := p.end(err); status != exitFailed {
		t.Errorf("it ended with status %d", status)
	}
	var said struct {
		Error        string
		Merged, Left []struct {
			ID     string
			Stayed []string `json:"stayed_behind"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil || !strings.Contains(said.Error, "1 more task") ||
		len(said.Merged) != 1 || len(said.Left) != 1 || len(said.Merged[0].Stayed) != 1 {
		t.Errorf("it said %s, %v", &out, err)
	}
}

// Without the task and the words around the refusal a person would create it again.
func TestAnError_namesTheTaskThatWasCreatedAndNotStarted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &printer{json: true, Out: printable.NewWriter(&out), Err: printable.NewWriter(io.Discard)}
	why := &rejection.Rejection{Code: rejection.NotReady, Message: "no tmux", From: "pending",
		MayAsk: []task.Status{"cancelled"}}
	if status := p.end(&notStarted{fmt.Errorf("task abc was created, but: %w", why), task.Task{ID: "abc"}}); status !=
		exitRefused {
		t.Errorf("it ended with status %d", status)
	}
	for _, want := range []string{`"error": "task abc was created, but: no tmux"`, `"id": "abc"`, `"from": "pending"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it said %s, want %s in it", &out, want)
		}
	}
}

// asksToPush wants to know whether to push, and merges then.
type asksToPush struct {
	Commands
	pushed *string
}

func (w asksToPush) Merge(_ context.Context, _ string, m task.Merge, _ task.Actor) (out record.Outcome, how string,
	err error) {
	if m.Push == "" {
		return out, "", &rejection.Rejection{Code: rejection.PushUnanswered}
	}
	*w.pushed = m.Push
	return record.Outcome{Task: task.Task{Branch: "feat/a"}}, "fast-forward", nil
}

// A question of a process that asks another one is answered by that process, before anything is merged.
func TestMerge_asksThePersonAtTheTerminalWhetherToPush(t *testing.T) {
	t.Parallel()
	person, push := task.Actor{Role: task.RoleHuman}, socket.Need{Question: "push the merge to origin?" + yesOrNo}
	for _, c := range []struct {
		in     string
		sent   *sent
		pushed string
		want   error
	}{
		{"y\n", nil, "always", nil},
		{"n\n", nil, "never", nil},
		{"", &sent{items: []socket.Input{{Need: push, Text: "yes"}}}, "always", nil},
		{"", &sent{items: []socket.Input{{Need: push}}}, "never", nil},
		{"", &sent{items: []socket.Input{{Need: socket.Need{Question: "another?"}, Text: "y"}}, more: true}, "",
			errNeed},
	} {
		pushed := ""
		f := &finder{}
		f.In, f.Out, f.Err = strings.NewReader(c.in), printable.NewWriter(io.Discard), printable.NewWriter(io.Discard)
		f.Terminal, f.sent = true, c.sent
		err := mover{f}.merge(t.Context(), &Services{Commands: asksToPush{pushed: &pushed}}, "a", task.Merge{}, person)
		if !errors.Is(err, c.want) || pushed != c.pushed {
			t.Errorf("%q, %+v: pushed %q, %v", c.in, c.sent, pushed, err)
		}
	}
}

// What a command needs and was not sent is said to the process that asks, once for each.
func TestSent_namesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	file := socket.Need{File: "f"}
	for _, c := range []struct {
		sent  sent
		name  string
		text  string
		fails string
		needs *socket.Need
	}{
		{sent{items: []socket.Input{{Need: file, Text: "words"}}}, "f", "words", "", nil},
		{sent{items: []socket.Input{{Need: file, Wrong: "it is gone"}}}, "f", "", "cannot read the context: it is gone",
			nil},
		{sent{}, "f", "", `cannot read the context: the text of "f" was not sent`, nil},
		{sent{more: true}, "f", "", errNeed.Error(), &file},
		{sent{more: true}, "-", "", errNeed.Error(), &socket.Need{File: "-"}},
	} {
		i := &input{sent: &c.sent}
		text, err := i.readText(c.name)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if text != c.text || said != c.fails || (c.sent.need == nil) != (c.needs == nil) ||
			c.needs != nil && *c.sent.need != *c.needs {
			t.Errorf("%+v: found %q, %q, and %+v is needed", c, text, said, c.sent.need)
		}
	}
}

// A server that ends in between leaves the command to this process, which has read its input for the server.
func TestSupply_leavesWhatItHasReadToThisProcess(t *testing.T) {
	t.Parallel()
	i := &input{In: strings.NewReader("words\n"), Terminal: true}
	i.Out, i.Err = printable.NewWriter(io.Discard), printable.NewWriter(io.Discard)
	if got := i.supply(socket.Need{File: "-"}); got.Text != "words\n" {
		t.Fatalf("found %+v", got)
	}
	if text, err := i.readText("-"); err != nil || text != "words\n" {
		t.Errorf("found %q, %v", text, err)
	}
	i.In = strings.NewReader("y\nn\n")
	if got := i.supply(socket.Need{Question: "sure?"}); got.Text != "y" {
		t.Fatalf("found %+v", got)
	}
	if got, err := i.answerTo("sure?"); err != nil || got != "y" {
		t.Errorf("found %q, %v", got, err)
	}
}
