package cli

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
	"orange/internal/api/socket"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// overSSH is how history calls the way of a request that another host of the fleet sent.
const overSSH = "ssh"

// answerer does here what other hosts of a fleet ask for.
type answerer struct {
	*finder
	program *Program // whose commands it runs
}

func newAnswerer(p *Program) answerer { return answerer{&p.finder, p} }

// answerCommand is what another host of the fleet starts here: it reads one call, does it, and prints the reply.
func answerCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "answer", Short: "Answer one call of another host of the fleet", Args: between(0, 0), Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if p.Terminal {
				return usage("orange answer is for other hosts of a fleet: it reads a call from standard input")
			}
			return p.encode(newAnswerer(p).answer(c.Context()), "")
		},
	}
}

// answer reads a call and does it, for a person alone: an agent would be a person to every task here.
func (a answerer) answer(ctx context.Context) remote.Reply {
	text, err := io.ReadAll(io.LimitReader(a.In, remote.MostOfCall+1))
	if err != nil {
		return refusedCall(err)
	}
	call, err := remote.ReadCall(text)
	if err != nil {
		return refusedCall(err)
	}
	h, err := a.program.open(ctx)
	if err == nil {
		err = personHere(ctx, h, "answer another host")
	}
	if err != nil {
		return refusedCall(err)
	}
	by, err := a.senderOf(ctx, h, call)
	if err != nil {
		return refusedCall(err)
	}
	return a.perform(ctx, h, call, by)
}

// personHere refuses agents, and programs that ask for a person: what they may do is less than what a person may.
func personHere(ctx context.Context, h *Services, what string) error {
	if err := h.Identity.Person(ctx, what); err != nil {
		return err
	}
	actor, err := h.Identity.Looker(ctx, "")
	if err == nil && actor.Via != "" {
		return rejection.Denied("", "a program that asks for a person ("+actor.Via+")", "have the person "+what)
	}
	return err
}

func refusedCall(err error) remote.Reply {
	status, _ := classify(err)
	return remote.Reply{V: remote.Version, Exit: status, Refused: err.Error()}
}

// perform does what a call asks for, for who sent it.
func (a answerer) perform(ctx context.Context, h *Services, call remote.Call, by sender) remote.Reply {
	if err := call.Check(); err != nil {
		return refusedCall(err)
	}
	services := *h
	services.Identity = afar{h.Identity, by}
	var out, said bytes.Buffer
	one := a.silent(&services, call, &out, &said)
	if services.Commands != nil {
		services.Commands.OnWarn(func(text string) { one.warn("%s", text) })
	}
	reply := remote.Reply{V: remote.Version}
	switch {
	case call.Find != "":
		found, err := one.tasksNamed(ctx, &services, call.Find)
		if err != nil {
			return refusedCall(err)
		}
		for _, t := range found {
			reply.Found = append(reply.Found, remote.Found{ID: t.ID, Project: t.Project, Branch: t.Branch,
				Status: t.Status, Live: t.Live})
		}
	case len(call.Argv) == 0:
		hello, err := newAnswerer(one).hello(ctx, &services)
		if err != nil {
			return refusedCall(err)
		}
		reply.Hello = &hello
	default:
		reply.Exit = one.Run(ctx, call.Words())
		reply.Stdout, reply.Stderr = out.String(), said.String()
		reply.Task = row(ctx, &services, call.Task())
	}
	return reply
}

// silent is a program that does the command of a call in this process, for no terminal.
func (a answerer) silent(h *Services, call remote.Call, out, said io.Writer) *Program {
	one := &Program{Version: a.program.Version, Examine: a.program.Examine, services: h}
	one.In, one.Out, one.Err = strings.NewReader(""), printable.NewWriter(out), printable.NewWriter(said)
	one.sent = &sent{items: []socket.Input{{Need: socket.Need{File: "-"}, Text: call.Stdin}}} // none is read here
	for name, text := range call.Files {
		one.sent.items = append(one.sent.items, socket.Input{Need: socket.Need{File: name}, Text: text})
	}
	return one
}

// Perform has the command line of a call done for who asks here, by the server of the home or on a home that is open,
// and answers what it prints. forward has a server do a command line, and gets what that prints.
func Perform(ctx context.Context, h *Services, call remote.Call,
	forward func(args []string, out, said io.Writer) Forward) remote.Reply {
	var out, said bytes.Buffer
	one := newAnswerer(new(Program)).silent(h, call, &out, &said)
	one.Forward = forward(call.Words(), &out, &said)
	exit := one.Run(ctx, call.Words())
	return remote.Reply{V: remote.Version, Exit: exit, Stdout: out.String(), Stderr: said.String()}
}

// row is how a task is, by its whole id; nil where it cannot be read: who asked then learns by another call whether it
// is there.
func row(ctx context.Context, h *Services, id string) *remote.Row {
	if id == "" {
		return nil
	}
	found, err := h.Queries.Tasks(ctx, record.Filter{Prefix: id, Most: 1})
	if err != nil || len(found) == 0 || found[0].ID != id {
		return nil
	}
	t := found[0]
	return &remote.Row{ID: t.ID, Project: t.Project, Branch: t.Branch, Summary: t.Summary, Status: t.Status,
		Attention: t.Attention, Live: t.Live, EnteredAt: t.EnteredAt, Event: t.Seq, Hash: t.Hash}
}

// hello is what this host says of itself.
func (a answerer) hello(ctx context.Context, h *Services) (remote.Hello, error) {
	projects, err := h.Home.Projects()
	if err != nil {
		return remote.Hello{}, err
	}
	live, err := h.Queries.Tasks(ctx, record.Filter{Live: true, Brief: true})
	if err != nil {
		return remote.Hello{}, err
	}
	hello, err := h.Fleet.Hello(ctx, a.program.Version, projects)
	hello.Live = len(live)
	return hello, err
}

// afar is the identity of a caller at another host, or who asks as one: the folder that this process is in says nothing
// of what they mean.
type afar struct {
	Identity
	by sender
}

func (a afar) Actor(ctx context.Context, id, as string) (task.Actor, error) {
	actor, err := a.Identity.Actor(ctx, id, as)
	switch {
	case err != nil || actor.Role != task.RoleHuman:
	case a.by.signature != "":
		actor.Person, actor.Signed, actor.Signature = a.by.person, a.by.signed, a.by.signature
	case a.by.via != "":
		actor.Person += " via " + a.by.via
	}
	return actor, err
}

func (afar) Here(context.Context) (id, project string, err error) { return "", "", nil }
