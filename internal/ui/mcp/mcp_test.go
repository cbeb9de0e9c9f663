package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/api"
	"orange/internal/run/proc"
	"orange/internal/ui/mcp"
)

// orange answers every command with the same, and notes what it was asked.
type orange struct {
	result proc.Result
	err    error
	asked  []string
	begun  chan struct{} // nil, or closed by a command that goes on until it is given up, or to its end
	end    chan struct{}
	ended  chan error
}

func (o *orange) run(ctx context.Context, stdin string, args []string) (proc.Result, error) {
	o.asked = append(o.asked, strings.Join(args, "|")+"<"+stdin)
	if o.begun != nil {
		close(o.begun)
		select {
		case <-ctx.Done():
		case <-o.end:
		}
		o.ended <- ctx.Err()
	}
	return o.result, o.err
}

// client is a program that uses the tools.
func client(t *testing.T, o *orange) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	if _, err := mcp.Server("1.2.3", o.run).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, c *sdk.ClientSession, tool string, arguments map[string]any) *sdk.CallToolResult {
	t.Helper()
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestEveryTool_isTheCommandOfItsName(t *testing.T) {
	t.Parallel()
	type arguments = map[string]any
	for _, row := range []struct {
		tool string
		with arguments
		want string
	}{
		{"list", nil, "task|list|--json<"},
		{"list", arguments{"project": "a", "all": true, "status": "working", "overdue": true, "escalated": true,
			"failures": 2}, "task|list|--json|--project=a|--all|--status=working|--overdue|--escalated|--failures=2<"},
		{"show", arguments{"id": "4F"}, "task|show|--json|--|4F<"},
		{"show", arguments{"id": "--help"}, "task|show|--json|--|--help<"},
		{"why", arguments{"id": "4F", "as": "worker"}, "task|why|--json|--as=worker|--|4F<"},
		{"history", nil, "task|history|--json<"},
		{"wait", arguments{"id": "4F"}, "task|wait|--json|--timeout=50s|--|4F<"},
		{"wait", arguments{"timeout_seconds": 5}, "task|wait|--json|--timeout=5s<"},
		{"create", arguments{"summary": "Fix the login"}, "task|create|--json|--summary=Fix the login<"},
		{"create", arguments{"summary": "tidy"}, "task|create|--json|--summary=tidy<"},
		{"create", arguments{"summary": ""}, "task|create|--json|--summary=<"},
		{"create", arguments{"summary": "S", "branch": "b", "context": "more", "project": "p", "workflow": "w",
			"harness": "h", "review_harness": "rh", "effort": "e", "review_effort": "re", "model": "m",
			"review_model": "rm", "no_spawn": true}, "task|create|--json|--project=p|--workflow=w|" +
			"--harness=h|--review-harness=rh|--effort=e|--review-effort=re|--model=m|--review-model=rm|--no-spawn|" +
			"--context=-|--branch=b|--summary=S<more"},
		{"create", arguments{"summary": "Fix the login", "after": []string{"4F", "7K"}},
			"task|create|--json|--after=4F,7K|--summary=Fix the login<"},
		{"update", arguments{"id": "4F", "status": "working", "reason": "r", "summary": "s", "branch": "b"},
			"task|update|--json|--status=working|--reason=r|--summary=s|--branch=b|--|4F<"},
		{"update", arguments{"branch": ""}, "task|update|--json|--branch<"},
		{"update", arguments{"summary": ""}, "task|update|--json|--summary=<"},
		{"next", arguments{"reason": "r", "override": "o", "to": "done"},
			"task|next|--json|--reason=r|--override=o|--to=done<"},
		{"diff", arguments{"id": "4F"}, "task|diff|--json|--|4F<"},
		{"projects", nil, "project|list|--json<"},
		{"spawn", arguments{"id": "4F"}, "task|spawn|--json|--|4F<"},
		{"respawn", arguments{"id": "4F"}, "task|respawn|--json|--|4F<"},
		{"request_changes", arguments{"id": "4F", "text": "in German too"},
			"task|request-changes|--json|--|4F|-<in German too"},
		{"merge", arguments{"id": "4F"}, "task|merge|--json|--|4F<"},
		{"cancel", arguments{"id": "4F"}, "task|cancel|--json|--yes|--|4F<"},
		{"say", arguments{"id": "4F", "text": "go on", "role": "worker"},
			"task|say|--json|--role=worker|--|4F|-<go on"},
	} {
		o := &orange{result: proc.Result{Stdout: []byte("{}\n")}}
		got := call(t, client(t, o), row.tool, row.with)
		if got.IsError || len(o.asked) != 1 || o.asked[0] != row.want {
			t.Errorf("%s %v: ran %q, want %q", row.tool, row.with, o.asked, row.want)
		}
	}
}

func TestTheAnswer_isWhatTheCommandSaysInJSON(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		o       orange
		refused bool
		want    string // structured
		talk    string
	}{
		"an answer": {o: orange{result: proc.Result{Stdout: []byte("{\n \"a\": 1\n}\n")}}, want: `{"a":1}`},
		"a refusal": {o: orange{result: proc.Result{Stdout: []byte(`{"error": "no", "code": "gate_unmet"}`), Code: 3}},
			refused: true, want: `{"error":"no","code":"gate_unmet"}`},
		"a move whose hook failed": {o: orange{result: proc.Result{Stdout: []byte(`{"moved": true}`), Code: 1,
			Stderr: []byte("hook failed\n")}}, want: `{"moved":true}`, talk: "hook failed"},
		"no JSON": {o: orange{result: proc.Result{Code: 2, Stderr: []byte("orange: nonsense\n")}}, refused: true,
			want: `{"code":"failed","details":[],"error":"\"orange\" ended with status 2: orange: nonsense"}`},
		"no program": {o: orange{err: errors.New("no such program")}, refused: true,
			want: `{"code":"failed","details":[],"error":"no such program"}`},
	} {
		got := call(t, client(t, &row.o), "show", nil)
		text, err := json.Marshal(got.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		_ = json.Unmarshal(text, &have)
		_ = json.Unmarshal([]byte(row.want), &want)
		same, _ := json.Marshal(have)
		wanted, _ := json.Marshal(want)
		first, _ := got.Content[0].(*sdk.TextContent)
		if got.IsError != row.refused || string(same) != string(wanted) || first == nil ||
			!json.Valid([]byte(first.Text)) {
			t.Errorf("%s: %v, %s, want %s", name, got.IsError, same, wanted)
		}
		if said := len(got.Content) == 2; said != (row.talk != "") || said &&
			got.Content[1].(*sdk.TextContent).Text != row.talk {
			t.Errorf("%s: it says %v", name, got.Content)
		}
	}
}

// A client may give up a wait. A move that has begun goes on, because half of it would help no one.
func TestAWaitEndsWithItsCallAndAChangeDoesNot(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]error{"wait": context.Canceled, "next": nil} {
		o := &orange{begun: make(chan struct{}), end: make(chan struct{}), ended: make(chan error, 1)}
		c := client(t, o)
		ctx, off := context.WithCancel(t.Context())
		given := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: tool})
			given <- err
		}()
		<-o.begun
		off()
		if err := <-given; err == nil {
			t.Errorf("%s: the client was not given up", tool)
		}
		if want == nil {
			close(o.end)
		}
		if err := <-o.ended; !errors.Is(err, want) {
			t.Errorf("%s: its command ended with %v, want %v", tool, err, want)
		}
	}
}

func TestTheToolsSayWhatTheyChange(t *testing.T) {
	t.Parallel()
	list, err := client(t, &orange{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var reads, changes []string
	for _, tool := range list.Tools {
		if tool.Description == "" || tool.InputSchema == nil {
			t.Errorf("%s says nothing of itself", tool.Name)
		}
		if tool.Annotations.ReadOnlyHint {
			reads = append(reads, tool.Name)
		} else {
			changes = append(changes, tool.Name)
		}
	}
	offered := []string{"projects"} // of no task
	for _, name := range api.Names(api.MCP) {
		offered = append(offered, strings.ReplaceAll(name, "-", "_"))
		tool := strings.ReplaceAll(name, "-", "_")
		if o, _ := api.Offers(api.MCP, name); o.Repeat == api.Reads != slices.Contains(reads, tool) {
			t.Errorf("%s says otherwise than the table whether it only reads", name)
		}
	}
	got := slices.Sorted(slices.Values(slices.Concat(reads, changes)))
	if slices.Sort(offered); !slices.Equal(got, offered) {
		t.Errorf("the tools of tools.go are %q, api.Table offers %q", got, offered)
	}
}
