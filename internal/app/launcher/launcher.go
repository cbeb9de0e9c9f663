// Package launcher is what the program does in the window of an agent: it launches the agent, answers what a confined
// agent asks for, and asks for it inside of the sandbox.
package launcher

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"orange/internal/api/relay"
	"orange/internal/rules/harness"
	"orange/internal/run/environment"
	"orange/internal/run/launch"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/store/logfile"
	"orange/internal/store/mirror"
)

// Main does what a command line asks for, if that is for this package, and answers the exit status.
func Main(call proc.Call, results, messages io.Writer) (status int, done bool) {
	switch folder := call.Getenv(harness.RequestsVariable); {
	case len(call.Args) == 2 && call.Args[0] == "launch":
		return run(call, messages), true
	case folder != "" && relay.Carried(call.Args):
		return ask(folder, call, results, messages), true
	}
	return 0, false
}

// WithConversation is a call with the agent's conversation in Orange's own variable: its program says it in another
// one, which is left behind with the agent's environment.
func WithConversation(call proc.Call) proc.Call {
	if name := call.Getenv(harness.ConversationInVariable); name != "" {
		call.Env = harness.Layer(call.Env, []string{harness.ConversationVariable + "=" + call.Getenv(name)})
	}
	return call
}

// run runs an agent by its ticket in this window.
func run(call proc.Call, messages io.Writer) int {
	l := launch.Launcher{
		Messages: messages,
		Kept: func(t harness.Ticket) ([]string, error) {
			return environment.Kept(context.Background(), tmux.ServerOf(t.Home, call.Getenv), t.Task)
		},
		Given: func(t harness.Ticket) ([]string, error) {
			return environment.Variables{Home: t.Home}.For(harness.Value(t.Set, "ORANGE_PROJECT"), t.Task)
		},
		Serve: serve, Watch: func(t harness.Ticket) error { return ensureServer(context.Background(), call, t) },
		Keep: func(ctx context.Context, t harness.Ticket) { keepServer(ctx, call, t) },
	}
	return l.Run(call.Args[1])
}

// serve answers the requests of an agent that its program confines.
func serve(ctx context.Context, t harness.Ticket, env []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return pair == harness.RequestsVariable+"="+t.Requests // the command is outside of the sandbox
	})
	s := &relay.Carrier{Folder: t.Requests, Task: t.Task, Secret: harness.Value(env, "ORANGE_SEAT"),
		Run: relay.Commands(self, env), Watch: mirror.Watch,
		Refuse: func(name string, why error) { refuse(t, name, why) }}
	return s.Serve(ctx)
}

// refuse notes in the log what was no request of the agent: its window is the agent's own.
func refuse(t harness.Ticket, name string, why error) {
	log, err := logfile.Open(logfile.Of(t.Home), mirror.Files{Home: t.Home}.Lock)
	if err != nil {
		return // there is no one to report it to
	}
	defer log.Close()
	logfile.NewLogger(log, slog.LevelInfo).Warn("a file that is no request of this agent was refused", "component",
		"relay", "task", t.Task, "file", name, "why", why.Error())
}

// ask has the launcher run a command outside of the sandbox, and prints its answer.
func ask(folder string, call proc.Call, results, messages io.Writer) int {
	err := call.Lost
	var input []byte
	if err == nil && slices.Contains(call.Args, "-") {
		input, err = io.ReadAll(call.In)
	}
	var answer relay.Reply
	if err == nil {
		c := relay.Client{Folder: folder, Secret: call.Getenv("ORANGE_SEAT")}
		answer, err = c.Ask(context.Background(), relay.Call{Task: call.Getenv("ORANGE_TASK_ID"), Dir: call.Dir,
			Args: call.Args, Stdin: input, Conversation: call.Getenv(harness.ConversationVariable)})
	}
	if err == nil {
		_, err = results.Write(answer.Stdout)
	}
	if err != nil {
		fmt.Fprintf(messages, "orange: %v\n", err)
		return 1
	}
	if _, err := messages.Write(answer.Stderr); err != nil {
		return 1
	}
	return answer.Code
}
