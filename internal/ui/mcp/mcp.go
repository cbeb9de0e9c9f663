// Package mcp offers tasks as tools of the Model Context Protocol, to programs of people and to agents.
//
// It owns the tools: their names, their arguments, and the command of Orange that each of them is. It has no rule and
// no answer of its own: every call runs one command in a process of its own, and what that answers in JSON is the
// tool's answer, a refusal too. So a tool can do exactly what the command can, for the same caller.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/run/proc"
)

// Via is the name under which the record has what comes through these tools.
const Via = "mcp"

// run runs one command of Orange with this standard input. An error says that it could not be run.
type run = func(ctx context.Context, stdin string, args []string) (proc.Result, error)

// instructions tell a client's model what the tools are for.
const instructions = `Orange runs coding agents on tasks in git repositories. A task has a status, and moves only ` +
	`where its workflow has the move, the caller may ask for it, and the evidence is there. A refusal is a result ` +
	`with isError: "code" says which rule, and each of "details" what was found and what would satisfy it. ` +
	`"why" lists every move and what is missing; "next" makes the one that the evidence supports; "wait" returns ` +
	`when it is your turn, or with "ready": false after its timeout: then call it again.`

// Server makes a server of the tools. Version is that of Orange. Orange runs one command of it with a standard input;
// its error says that the command could not be run.
func Server(version string, orange run) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "orange", Title: "Orange", Version: version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	addReading(s, orange)
	addChanging(s, orange)
	return s
}

// call is the command that a tool call stands for.
type call struct {
	command []string // where it is not that of the task command with the tool's name
	args    []string
	stdin   string
}

// add adds a tool. A tool that changes nothing ends with its call; a change that has begun is not cut off.
func add[In any](s *sdk.Server, orange run, tool *sdk.Tool, command func(In) call) {
	reads := tool.Annotations.ReadOnlyHint
	closed := false
	tool.Annotations.OpenWorldHint = &closed
	sdk.AddTool(s, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		if !reads {
			ctx = context.WithoutCancel(ctx)
		}
		c := command(in)
		words := []string{"task", strings.ReplaceAll(tool.Name, "_", "-")}
		if c.command != nil {
			words = c.command
		}
		res, err := orange(ctx, c.stdin, slices.Concat(words, []string{"--json"}, c.args))
		return answer(res, err), nil, nil
	})
}

// answer is what a command said, as the result of a tool. A command that fails says why in JSON too, under "error".
// One that moved a task whose hook failed has done what it was asked for: that is no error, and the talk tells of it.
func answer(res proc.Result, err error) *sdk.CallToolResult {
	var fields map[string]json.RawMessage
	talk := strings.TrimSpace(string(res.Stderr))
	if err == nil {
		err = json.Unmarshal(res.Stdout, &fields)
	}
	var text bytes.Buffer
	if err == nil {
		err = json.Compact(&text, res.Stdout)
	}
	if err != nil {
		if talk != "" {
			err = &proc.Error{Argv: []string{"orange"}, Code: res.Code, Stderr: talk}
		}
		text.Reset()
		talk = ""
		failed, _ := json.Marshal(map[string]any{"error": err.Error(), "code": "failed", "details": []string{}})
		text.Write(failed)
	}
	_, refused := fields["error"]
	out := &sdk.CallToolResult{StructuredContent: json.RawMessage(text.Bytes()), IsError: refused || err != nil,
		Content: []sdk.Content{&sdk.TextContent{Text: text.String()}}}
	if talk != "" {
		out.Content = append(out.Content, &sdk.TextContent{Text: talk})
	}
	return out
}
