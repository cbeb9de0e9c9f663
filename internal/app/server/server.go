// Package server wires the program orange-mcp: the tools of package mcp, each of which runs the program orange.
//
// It is a program of its own because the protocol's library would cost every command of orange more than a
// millisecond at its start.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/api/caller"
	"orange/internal/run/environment"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/ui/mcp"
)

// Main serves the tools on standard input and output until the client leaves, and answers the exit status. Its
// arguments are the program orange, its version, and what the person allows besides, in words with commas between.
func Main(call proc.Call, messages io.Writer) int {
	args := call.Args
	if len(args) != 3 {
		fmt.Fprintf(messages, "orange-mcp: found %q, expected to be started by: orange mcp\n", strings.Join(args, " "))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := mcp.Server(args[1], commands(call, args[0], args[2])).Run(ctx, &sdk.StdioTransport{})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(messages, "orange-mcp: serve the tools: %v\n", err)
		return 1
	}
	return 0
}

// commands runs commands of the program, which learns that it is asked in a person's place, if no seat says otherwise.
func commands(call proc.Call, program, may string) func(context.Context, string, []string) (proc.Result, error) {
	return func(ctx context.Context, stdin string, args []string) (proc.Result, error) {
		res, err := proc.Run(ctx, proc.Command{Name: program, Args: args, Stdin: strings.NewReader(stdin),
			Base: call.Env, Env: append(lacking(call), caller.ViaVariable+"="+mcp.Via, caller.MayVariable+"="+may)})
		if ended := (*proc.Error)(nil); errors.As(err, &ended) {
			err = nil // it says itself why
		}
		return res, err
	}
}

// lacking are the bearings of the home that this process has not: a client hands few variables on, and without them the
// agents of a task would be looked for in another terminal server, and their programs in other folders.
func lacking(call proc.Call) (out []string) {
	dir, err := home.Locate(call.Getenv)
	if err != nil || call.Getenv("ORANGE_SEAT") != "" {
		return nil // the command says what is wrong; an agent's task has its own
	}
	noted, err := environment.Bearings(dir)
	if err != nil {
		return nil // it is a help, and no more
	}
	for _, pair := range noted {
		name, _, _ := strings.Cut(pair, "=")
		if _, there := call.LookupEnv(name); !there || name == "PATH" {
			out = append(out, pair)
		}
	}
	return out
}
