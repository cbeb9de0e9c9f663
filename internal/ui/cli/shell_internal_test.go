package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// clerk is the services of a conversation about one task: it notes what is asked for.
type clerk struct {
	Commands
	Queries
	Identity
	def   *workflow.Definition
	asked []string
}

func (c *clerk) ask(format string, args ...any) (record.Outcome, error) {
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
	return record.Outcome{Task: c.task(), Moved: true}, nil
}

func (c *clerk) task() task.Task {
	return task.Task{ID: "T1", Branch: "fix", Status: "planning", Live: true}
}

func (c *clerk) OnWarn(func(string)) {}

func (c *clerk) Tasks(context.Context, record.Filter) ([]task.Task, error) {
	return []task.Task{c.task()}, nil
}

func (c *clerk) Pinned(context.Context, string) (task.Task, *workflow.Definition, error) {
	return c.task(), c.def, nil
}

func (c *clerk) Looker(context.Context, string) (task.Actor, error) {
	return task.Actor{Role: task.RoleHuman}, nil
}

func (c *clerk) Actor(context.Context, string, string) (task.Actor, error) {
	return task.Actor{Role: task.RoleHuman}, nil
}

func (c *clerk) Request(_ context.Context, r task.Request) (record.Outcome, error) {
	return c.ask("go %s %q", r.To, r.Reason)
}

func (c *clerk) Command(_ context.Context, _, word string, _ task.Actor, reason string) (record.Outcome, error) {
	return c.ask("move %s %q", word, reason)
}

func (c *clerk) Next(_ context.Context, _ string, _ task.Actor, override bool, to task.Status, reason string) (
	record.Outcome, error) {
	return c.ask("next %q %t %q", to, override, reason)
}

func (c *clerk) Redo(_ context.Context, _ string, to task.Status, _ task.Actor, reason string) (record.Outcome,
	error) {
	return c.ask("redo %s %q", to, reason)
}

var errShown = errors.New("shown")

func (c *clerk) Report(context.Context, string, task.Actor) (record.Report, error) {
	_, _ = c.ask("show status")
	return record.Report{}, errShown
}

func (c *clerk) Why(context.Context, string) (decide.Explanation, error) {
	_, _ = c.ask("show why")
	return decide.Explanation{}, errShown
}

func (c *clerk) History(context.Context, string) ([]history.Event, error) {
	_, _ = c.ask("show history")
	return nil, errShown
}

func book() *workflow.Definition {
	return &workflow.Definition{
		Name: "phases",
		States: []workflow.State{{Name: "planning", About: "it is planned"}, {Name: "plan_review"}, {Name: "code"},
			{Name: "done"}},
		Redo: []workflow.Named{{Name: "planning"}, {Name: "code"}},
		Commands: []workflow.Command{
			{Text: "/plan", To: "plan_review"}, {Text: "/review plan", To: "plan_review"},
			{Text: "/review code", To: "code"}, {Text: "/status", To: "code"},
		},
		Moves: []workflow.Move{{Command: workflow.MoveComplete, To: "code"},
			{Command: workflow.MoveMerge, To: "done"}},
		Transitions: []workflow.Transition{{From: "planning", To: "code"}},
	}
}

// says is what became of a line of a conversation.
func says(t *testing.T, line string) (c *clerk, out string, status int) {
	t.Helper()
	c = &clerk{def: book()}
	var b bytes.Buffer
	w := printable.NewWriter(&b)
	p := &Program{services: &Services{Commands: c, Queries: c, Identity: c}}
	p.In, p.Out, p.Err = strings.NewReader(""), w, w
	talk := &taskShell{program: p, services: p.services, id: "T1"}
	_, err := talk.Run(t.Context(), strings.Split(line, "|"))
	if errors.Is(err, errShown) {
		err = nil
	}
	status = talk.End(err)
	return c, b.String(), status
}

func TestALineIsARequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{"/plan", `go plan_review ""`},
		{"/review|plan", `go plan_review ""`},
		{"/review|code|--reason|it is \"done\"", `go code "it is \"done\""`},
		{"/next", `next "" false ""`},
		{"/next|--reason|because", `next "" false "because"`},
		{"/next|--override|I accept the risk of skipping review",
			`next "" true "I accept the risk of skipping review"`},
		{"/next|--to|code|--override=so", `next "code" true "so"`},
		{"/redo|planning", `redo planning ""`},
		{"/redo|nowhere|--reason|x", `redo nowhere "x"`},
		{"/status", "show status"}, // the shell's own, whatever the workflow says
		{"/history", "show history"},
		{"/why", "show why"},
		{"/complete|--reason|done", `move complete "done"`},
		{"/code", `go code ""`},
		{"/done", `go done ""`}, // the engine says why not
	} {
		c, out, status := says(t, tt.line)
		if status != 0 || !slices.Equal(c.asked, []string{tt.want}) {
			t.Errorf("%q asked for %q and ended with %d, want %q:\n%s", tt.line, c.asked, status, tt.want, out)
		}
	}
}

func TestAWrongLineAsksForNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{"/plam", `there is no command "/plam"; did you mean "/plan"?`},
		{"/reviw|plan", `did you mean "/review plan"?`},
		{"/review", `there is no command "/review" (/help lists them)`},
		{"plan", `there is no command "plan"`},
		{"/merge", `there is no command "/merge"`}, // it leads out of another state
		{"/plan|x", `found ["x"] behind /plan`},
		{"/redo", "found nothing behind /redo"},
		{"/redo|a|b", `found ["a" "b"] behind /redo`},
		{"/next|--because|x", "unknown flag: --because; /next is called so: /next"},
		{"/next|--override", "flag needs an argument: --override"},
		{"/next|--override| ", "an override needs a reason"},
	} {
		c, out, status := says(t, tt.line)
		if status != exitUsage || len(c.asked) != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("%q asked for %q and ended with %d, want %q:\n%s", tt.line, c.asked, status, tt.want, out)
		}
	}
}

func TestTheHelpOfAConversationHasEveryCommandOnce(t *testing.T) {
	t.Parallel()
	_, out, _ := says(t, "/help")
	for _, text := range []string{"/plan ", "/review plan", "/review code", "/complete", "/code ", "/next",
		"/redo STATE", "/status ", "/why", "/history", "/help", "/quit"} {
		if strings.Count(out, "\n  "+text) != 1 {
			t.Errorf("found %q not once in\n%s", text, out)
		}
	}
	for _, text := range []string{"\n  /merge", "\n  /planning", "\n  /done"} {
		if strings.Contains(out, text) {
			t.Errorf("found %q in\n%s", text, out)
		}
	}
	if !strings.Contains(out, `/complete [--reason "why"]             -> code`) {
		t.Errorf("nothing says where a move leads in\n%s", out)
	}
}

func TestALineOfAConversationIsCompleted(t *testing.T) {
	t.Parallel()
	c := &clerk{def: book()}
	p := &Program{services: &Services{Commands: c, Queries: c, Identity: c}}
	p.In, p.Out = strings.NewReader(""), printable.NewWriter(&bytes.Buffer{})
	talk := &taskShell{program: p, services: p.services, id: "T1"}
	if _, err := talk.Prompt(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"/pl", []string{"/plan "}},
		{"/rev", []string{"/review "}},
		{"/review ", []string{"/review code ", "/review plan "}},
		{"/review c", []string{"/review code "}},
		{"/redo ", []string{"/redo planning ", "/redo code "}},
		{"/redo p", []string{"/redo planning "}},
		{"/redo planning", nil},
		{"/next --o", []string{"/next --override "}},
		{"/next --to p", []string{"/next --to planning ", "/next --to plan_review "}},
		{"/review plan --r", []string{"/review plan --reason "}},
		{"/d", nil}, // it is not open
		{"/zzz", nil},
	} {
		if got := talk.Complete(t.Context(), tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%q becomes %q, want %q", tt.line, got, tt.want)
		}
	}
}
