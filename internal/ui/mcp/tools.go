package mcp

import (
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// waitSeconds stays below the time that clients give a tool: the shortest usual one is a minute.
const waitSeconds = 50

type taskInput struct {
	ID string `json:"id,omitempty" jsonschema:"the id, or a unique beginning; without it that of the server's worktree"`
}

// of is the command's own flags and the id, which never reads as a flag.
func (o taskInput) of(flags ...string) []string {
	if o.ID == "" {
		return flags
	}
	return append(flags, "--", o.ID)
}

type listInput struct {
	Project   string `json:"project,omitempty" jsonschema:"of this project; without it the one the server runs in"`
	All       bool   `json:"all,omitempty" jsonschema:"those of every project"`
	Status    string `json:"status,omitempty" jsonschema:"only those in this status"`
	Overdue   bool   `json:"overdue,omitempty" jsonschema:"only those that take longer than they should"`
	Escalated bool   `json:"escalated,omitempty" jsonschema:"only those in a state of escalation"`
	Failures  int    `json:"failures,omitempty" jsonschema:"only those with a state that failed at least this often"`
}

type whyInput struct {
	taskInput
	As string `json:"as,omitempty" jsonschema:"the role whose moves alone are listed"`
}

type waitInput struct {
	taskInput
	Timeout int `json:"timeout_seconds,omitempty" jsonschema:"at most; 50 without it: clients end a call after 60"`
}

// addReading adds the tools that change nothing.
func addReading(s *sdk.Server, orange run) {
	tool := func(name, about string) *sdk.Tool {
		return &sdk.Tool{Name: name, Description: about, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}
	}
	add(s, orange, tool("list", "List tasks, the live ones first: status, branch, summary, how the agents are, and "+
		"which need a person (needs_you)."),
		func(in listInput) call {
			var flags options
			flags.text("project", in.Project)
			flags.yes("all", in.All)
			flags.text("status", in.Status)
			flags.yes("overdue", in.Overdue)
			flags.yes("escalated", in.Escalated)
			if in.Failures != 0 {
				flags.text("failures", strconv.Itoa(in.Failures))
			}
			return call{args: flags}
		})
	add(s, orange, tool("show", "Show everything about one task: status, counters, document, worktree, moves so far, "+
		"moves that you may ask for (open), rescued work."),
		func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("diff", "Show what a task's branch changes, with what is not committed yet."),
		func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("projects", "List the registered repositories, which tasks are created in."),
		func(struct{}) call { return call{command: []string{"project", "list"}} })
	add(s, orange, tool("why", "List every move out of a task's status: open, or every condition that is unmet, with "+
		"what was found, where, and what would satisfy it; and what the task waits for."),
		func(in whyInput) call {
			var flags options
			flags.text("as", in.As)
			return call{args: in.of(flags...)}
		})
	add(s, orange, tool("history", "List what happened to a task: each event with who asked, the evidence, and the "+
		"hash that links it to the one before."),
		func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("wait", "Wait until it is your turn: an agent until its review is over, a person until the "+
		"agents need one. Returns \"ready\": false after the timeout; then call it again."),
		func(in waitInput) call {
			if in.Timeout == 0 {
				in.Timeout = waitSeconds
			}
			return call{args: in.of("--timeout=" + strconv.Itoa(in.Timeout) + "s")}
		})
}

type createInput struct {
	Summary       string `json:"summary" jsonschema:"what is to be done, in one line"`
	Branch        string `json:"branch,omitempty" jsonschema:"the new branch; without it named after the summary"`
	Context       string `json:"context,omitempty" jsonschema:"more about the task; it goes into the task's document"`
	Project       string `json:"project,omitempty" jsonschema:"the project; without it the one the server runs in"`
	Workflow      string `json:"workflow,omitempty" jsonschema:"the workflow; without it the project's"`
	Harness       string `json:"harness,omitempty" jsonschema:"the agent program of the worker"`
	ReviewHarness string `json:"review_harness,omitempty" jsonschema:"the agent program of the reviewer"`
	Effort        string `json:"effort,omitempty" jsonschema:"how hard the worker thinks, in its program's words"`
	ReviewEffort  string `json:"review_effort,omitempty" jsonschema:"the same for the reviewer"`
	Model         string `json:"model,omitempty" jsonschema:"the worker's model, by its program's name for it"`
	ReviewModel   string `json:"review_model,omitempty" jsonschema:"the same for the reviewer"`
	NoSpawn       bool   `json:"no_spawn,omitempty" jsonschema:"only create it, and start no agent"`

	After []string `json:"after,omitempty" jsonschema:"ids of tasks that come first: it starts once all are merged"`
}

func (in createInput) call() call {
	var flags options
	flags.text("project", in.Project)
	flags.text("workflow", in.Workflow)
	flags.text("harness", in.Harness)
	flags.text("review-harness", in.ReviewHarness)
	flags.text("effort", in.Effort)
	flags.text("review-effort", in.ReviewEffort)
	flags.text("model", in.Model)
	flags.text("review-model", in.ReviewModel)
	flags.yes("no-spawn", in.NoSpawn)
	flags.text("after", strings.Join(in.After, ","))
	if in.Context != "" {
		flags.text("context", "-")
	}
	flags.text("branch", in.Branch)
	return call{args: append(flags, "--summary="+in.Summary), stdin: in.Context}
}

type updateInput struct {
	taskInput
	Status  string  `json:"status,omitempty" jsonschema:"the status to ask for"`
	Reason  string  `json:"reason,omitempty" jsonschema:"why, for the history"`
	Summary *string `json:"summary,omitempty" jsonschema:"the new summary"`
	Branch  *string `json:"branch,omitempty" jsonschema:"the new branch; empty takes over that of the worktree"`
}

type nextInput struct {
	taskInput
	Reason   string `json:"reason,omitempty" jsonschema:"why, for the history"`
	Override string `json:"override,omitempty" jsonschema:"move in spite of the conditions, for this reason"`
	To       string `json:"to,omitempty" jsonschema:"with override: the status, where there are several"`
}

type sayInput struct {
	ID   string `json:"id" jsonschema:"the id, or a unique beginning"`
	Text string `json:"text" jsonschema:"what to say, at most 4 KB"`
	Role string `json:"role,omitempty" jsonschema:"which agent gets it; without it the agent of the status"`
}

type changesInput struct {
	ID   string `json:"id" jsonschema:"the id, or a unique beginning"`
	Text string `json:"text" jsonschema:"what has to change"`
}

// addChanging adds the tools that change tasks.
func addChanging(s *sdk.Server, orange run) {
	harmless := false // nothing is lost by any of them: what a move would lose is kept
	tool := func(name, about string) *sdk.Tool {
		return &sdk.Tool{Name: name, Description: about, Annotations: &sdk.ToolAnnotations{DestructiveHint: &harmless}}
	}
	add(s, orange, tool("create", "Create a task and start its agent."), createInput.call)
	add(s, orange, tool("update", "Ask for a status, or change the summary or the branch. Orange grants a status only "+
		"where the workflow has the move, you may ask for it, and the evidence is there; else nothing changes."),
		func(in updateInput) call {
			var flags options
			flags.text("status", in.Status)
			flags.text("reason", in.Reason)
			if in.Summary != nil {
				flags = append(flags, "--summary="+*in.Summary)
			}
			switch {
			case in.Branch == nil:
			case *in.Branch == "":
				flags = append(flags, "--branch")
			default:
				flags.text("branch", *in.Branch)
			}
			return call{args: in.of(flags...)}
		})
	add(s, orange, tool("next", "Make the one move that the evidence supports. Where it supports none, or several, "+
		"nothing changes, and the refusal lists what is missing."),
		func(in nextInput) call {
			var flags options
			flags.text("reason", in.Reason)
			flags.text("override", in.Override)
			flags.text("to", in.To)
			return call{args: in.of(flags...)}
		})
	add(s, orange, tool("spawn", "Start the agent of a task that was only created."),
		func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("respawn", "Start the agent of a task again that has died."),
		func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("request_changes", "Send a task that waits for a person back to its worker, with a text."),
		func(in changesInput) call { return call{args: []string{"--", in.ID, "-"}, stdin: in.Text} })
	add(s, orange, tool("merge", "Merge a reviewed task and finish it. The person has to allow it: orange mcp --may "+
		"done."), func(in taskInput) call { return call{args: in.of()} })
	add(s, orange, tool("cancel", "Give a task up; its work is kept. The person has to allow it: orange mcp --may "+
		"cancel."), func(in taskInput) call { return call{args: in.of("--yes")} })
	add(s, orange, tool("say", "Say something to an agent of a task. Only people say something to agents; the history "+
		"records it."),
		func(in sayInput) call {
			var flags options
			flags.text("role", in.Role)
			return call{args: append(flags, "--", in.ID, "-"), stdin: in.Text}
		})
}

// options are flags of a command.
type options []string

func (o *options) text(name, value string) {
	if value != "" {
		*o = append(*o, "--"+name+"="+value)
	}
}

func (o *options) yes(name string, is bool) {
	if is {
		*o = append(*o, "--"+name)
	}
}
