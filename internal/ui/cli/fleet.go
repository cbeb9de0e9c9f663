package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/rules/rejection"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Fleet reaches the other hosts.
type Fleet interface {
	Read() (remote.Fleet, error)
	// Change changes what is known of the fleet, one process after the other.
	Change(ctx context.Context, change func(remote.Fleet) (remote.Fleet, error)) error
	// Ask asks a host one thing. The error is an answer.ErrNotReached where no reply came.
	Ask(ctx context.Context, h remote.Host, c remote.Call, most time.Duration) (remote.Reply, error)
	// Attach opens an agent's window at a host; without run it only says how.
	Attach(ctx context.Context, h remote.Host, id, role string, run bool) ([]string, error)
	// Hello is what this host says of itself.
	Hello(ctx context.Context, version string, projects []task.Project) (remote.Hello, error)
	// Joined is what this host is in a fleet with a server, and People are those whose requests count there.
	Joined() (remote.Joined, error)
	People(j remote.Joined) (signed.People, error)
	// Keep keeps a call whose answer was lost; Kept finds it, and Drop forgets it.
	Keep(key string, p remote.Pending) error
	Kept(key string) (remote.Pending, error)
	Drop(key string) error
}

// longestRequest is how long the answer to a request may take: it may run checks and push.
const longestRequest = 10 * time.Minute

// fleet is the commands of orange fleet, which ask other hosts over ssh, or those that a server knows.
type fleet struct {
	answerer // for this host, which is one of them

	served Served // nil where there is no server
}

func fleetCommands(p *Program) *cobra.Command {
	fl := fleet{newAnswerer(p), p.Served}
	if fl.served != nil {
		return servedFleet{fl}.commands()
	}
	c := p.group("fleet", "Work with the tasks of several hosts, over ssh",
		"  orange fleet join big --ssh me@big.example\n  orange fleet list\n  orange fleet why 4Fz")
	c.AddCommand(fl.joinCommand(), fl.forget(), fl.hosts(), fl.list(), fl.create(), fl.attach(), fl.snapshot(),
		fl.rescueCommand(), fl.result())
	fl.addForwarded(c)
	return c
}

// attaches is a command that is not forwarded, and is there for other hosts too.
const attaches = "attach"

// fromAfar is the advice of a host as a person follows it here: "orange task next" there is "orange fleet next".
func fromAfar(text string) string {
	var pairs []string
	for _, name := range api.Names(api.Host) {
		if name != "restore" {
			pairs = append(pairs, "orange task "+name, "orange fleet "+name)
		}
	}
	return strings.NewReplacer(append(pairs, "orange task "+attaches, "orange fleet "+attaches)...).Replace(text)
}

// staysThere says of a command of "orange task" that it is not forwarded.
func (fl fleet) staysThere(c *cobra.Command) {
	unknown := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && slices.ContainsFunc(taskCommands(fl.program).Commands(), func(of *cobra.Command) bool {
			return of.Name() == args[0]
		}) {
			return usage("cannot do %q from here: run \"orange task %s\" at the host itself", args[0], args[0])
		}
		return unknown(c, args)
	}
}

// addForwarded adds the commands of "orange task" that another host may ask for, but for those that the group has in a
// form of its own: each is done at the host that has the task.
func (fl fleet) addForwarded(c *cobra.Command) {
	c.AddCommand(fl.leave())
	own := []string{"restore"} // rescue does it
	for _, one := range c.Commands() {
		own = append(own, one.Name())
	}
	for _, one := range taskCommands(fl.program).Commands() {
		if remote.RepeatOf(one.Name()) != 0 && !slices.Contains(own, one.Name()) {
			c.AddCommand(fl.forwarded(one))
		}
	}
	fl.staysThere(c)
}

// forwarded is a command of "orange task" that is done at the host that has the task.
func (fl fleet) forwarded(c *cobra.Command) *cobra.Command {
	var on string
	onFlag(c, &on, "the host that has the task (default: the one that says so)")
	c.RunE = fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
		return fl.forward(ctx, h, f, c, on, args)
	})
	return c
}

// onFlag makes a command of "orange task" one of "orange fleet", which takes a host.
func onFlag(c *cobra.Command, on *string, what string) {
	c.Use = strings.Replace(c.Use, "[ID]", "ID", 1) // no folder here says which task is meant
	c.Example = strings.ReplaceAll(c.Example, "orange task", "orange fleet")
	c.Flags().StringVar(on, "on", "", what)
	for _, name := range []string{"attach", "watch", "stop-hook", "for-agent", "all"} {
		if f := c.Flags().Lookup(name); f != nil && (name != "all" || c.Name() == "respawn") {
			f.Hidden = true // refused: it is for a terminal, or for agents, at the host itself
		}
	}
}

// inFleet is run for what a person asks of a fleet. Agents may not: at another host they would be persons.
func (fl fleet) inFleet(work func(ctx context.Context, h *Services, f remote.Fleet,
	args []string) error) func(*cobra.Command, []string) error {
	return fl.program.run(func(ctx context.Context, h *Services, args []string) error {
		if err := personHere(ctx, h, "ask other hosts"); err != nil {
			return err
		}
		f, err := h.Fleet.Read()
		if err == nil && f.Name == "" && f.Server == "" {
			err = usage("there is no fleet yet: orange fleet join NAME --ssh [USER@]HOST adds a host")
		}
		if err != nil {
			return err
		}
		return work(ctx, h, f, args)
	})
}

// sureAfar asks the person at this terminal what a command asks first: at a host no person can be asked.
func sureAfar(p *input, c *cobra.Command, call *remote.Call, at remote.Host, id string) error {
	if !p.Terminal || !slices.Contains([]string{"cancel", "delete", "leave"}, c.Name()) || c.Flags().Changed("yes") {
		return nil
	}
	call.Argv = slices.Insert(call.Argv, 2, "--yes")
	return p.sure(task.Actor{Role: task.RoleHuman}, false, fmt.Sprintf("%s: orange task %s %s?", at.Name, c.Name(), id),
		"nothing was asked of host "+at.Name)
}

// forward does a command at the host that has the task.
func (fl fleet) forward(ctx context.Context, h *Services, f remote.Fleet, c *cobra.Command, on string,
	args []string) error {
	if len(args) == 0 || args[0] == "" {
		return usage("which task? Give its id; %q lists them", "orange fleet list")
	}
	if c.Name() == "redo" && len(args) < 2 {
		return usage("found %q alone, expected an id and a state: orange fleet redo ID STATE", args[0])
	}
	call, err := callOf(&fl.input, c, args)
	if err != nil {
		return err
	}
	at, id, err := fl.whose(ctx, h, f, on, args[0], remote.RepeatOf(c.Name()) == api.Reads)
	host, unknown := f.Host(on)
	reads := remote.RepeatOf(c.Name()) == api.Reads
	if unknown == nil && err != nil && !errors.Is(err, remote.ErrNotReached) && (fl.served == nil || reads) {
		at, id, err = host, args[0], nil // the host says it in its own words
	}
	if fl.served != nil && errors.Is(err, remote.ErrNotHeld) && (c.Name() == "cancel" || c.Name() == "delete") {
		return servedFleet{fl}.cancelWaiting(ctx, c, id)
	}
	if err != nil {
		return err
	}
	call.Argv[len(call.Argv)-len(args)] = id
	if err := sureAfar(&fl.input, c, &call, at, id); err != nil {
		return err
	}
	if call.Key == "" && keyHelps(c, args) {
		call.Key = rand.Text()
	}
	return fl.send(ctx, h, f, at, call, call.Key)
}

// keyHelps reports whether a request is done once under a key.
func keyHelps(c *cobra.Command, args []string) bool {
	if remote.RepeatOf(c.Name()) != api.Keyed {
		return false
	}
	changed := c.Flags().Changed
	switch c.Name() {
	case "update":
		return !changed("status") || !changesApart(c)
	case "move":
		return len(args) > 1 // else it lists the moves
	}
	return true
}

// callOf is the call that does a command at another host: its words, and the texts that it would read here.
func callOf(p *input, c *cobra.Command, args []string, leave ...string) (remote.Call, error) {
	call := remote.Call{V: remote.Version, Argv: []string{"task", c.Name()}, Files: map[string]string{}}
	reads := slices.Contains(args, "-")
	var failed error
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"on", "key"}, f.Name) || slices.Contains(leave, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, value := range values {
			call.Argv = append(call.Argv, flagWord(c.Context(), f, value))
			switch file := f.Name == "context" || f.Name == "plan-file"; {
			case value == "-" && file, f.Name == "env" && strings.HasSuffix(value, "=-"):
				reads = true
			case file && value != "":
				text, err := p.readText(value)
				failed = errors.Join(failed, err)
				call.Files[value] = text
			}
		}
	})
	if failed != nil {
		return call, failed
	}
	call.Argv = append(append(call.Argv, "--"), args...)
	if key := c.Flags().Lookup("key"); key != nil && key.Changed {
		call.Key = key.Value.String()
		if call.Key == "" {
			return call, usage("found an empty --key, expected the key of a request")
		}
	}
	if err := call.Check(); err != nil || !reads {
		return call, err
	}
	text, err := io.ReadAll(io.LimitReader(p.In, remote.MostOfCall+1))
	if err != nil {
		return call, fmt.Errorf("read the standard input: %w", err)
	}
	call.Stdin = string(text)
	return call, nil
}

// flagWord is a flag with its value, in one word.
func flagWord(ctx context.Context, f *pflag.Flag, value string) string {
	if f.Value.Type() == "bool" && value == "true" {
		return "--" + f.Name
	}
	if name, _, given := strings.Cut(value, "="); f.Name == "env" && !given {
		if own, is := proc.LookupEnv(ctx, name); is { // the value of the shell here, as it is without a fleet
			value = name + "=" + own
		}
	}
	return "--" + f.Name + "=" + value
}

// told is what became of a call at one host.
type told struct {
	host  remote.Host
	reply remote.Reply
	err   error // why there is no reply
}

// problem is why a host did not do what it was asked; empty where it did.
func (t told) problem() string {
	switch {
	case t.err != nil:
		return t.err.Error()
	case t.reply.Refused != "":
		return t.reply.Refused
	}
	return ""
}

// askAll asks some hosts the same, all at once, and answers in their order.
func (fl fleet) askAll(ctx context.Context, h *Services, f remote.Fleet, hosts []remote.Host,
	call remote.Call) []told {
	all := make([]told, len(hosts))
	var others sync.WaitGroup
	for i, host := range hosts {
		all[i].host = host
		if !host.Here {
			others.Go(func() { all[i].reply, all[i].err = h.Fleet.Ask(ctx, host, call, f.Patience) })
		}
	}
	for i, host := range hosts {
		if host.Here {
			all[i].reply = fl.perform(ctx, h, call, sender{})
		}
	}
	others.Wait()
	return all
}

// ask asks one host.
func (fl fleet) ask(ctx context.Context, h *Services, host remote.Host, call remote.Call, most time.Duration) (
	remote.Reply, error) {
	if host.Here {
		return fl.perform(ctx, h, call, sender{}), nil
	}
	return h.Fleet.Ask(ctx, host, call, most)
}

// whose finds the host that has the task which a word means, and the task's id. A host that was not reached may have
// it, too: only who reads may take another one's task of a beginning or a branch then.
func (fl fleet) whose(ctx context.Context, h *Services, f remote.Fleet, on, word string, reads bool) (remote.Host,
	string, error) {
	if fl.served != nil {
		return servedFleet{fl}.holder(ctx, f, on, word, reads)
	}
	hosts := f.All()
	if on != "" {
		host, err := f.Host(on)
		if err != nil {
			return host, "", err
		}
		hosts = []remote.Host{host}
	}
	all := fl.askAll(ctx, h, f, hosts, remote.Call{V: remote.Version, Find: word})
	var found []remote.Found
	var at []remote.Host
	var lost []string
	for _, one := range all {
		if one.problem() != "" {
			lost = append(lost, fmt.Sprintf("%s (%s)", one.host.Name, one.problem()))
		}
		for _, t := range one.reply.Found {
			found, at = append(found, t), append(at, one.host)
		}
	}
	return chosenHost(word, found, at, lost, reads, fl.warn)
}

// chosenHost is the one task of those that were found, or why there is none.
func chosenHost(word string, found []remote.Found, at []remote.Host, lost []string, reads bool,
	warn func(string, ...any)) (remote.Host, string, error) {
	unseen := strings.Join(lost, ", ")
	switch {
	case len(found) == 0 && len(lost) > 0:
		return remote.Host{}, "", task.Notef(remote.ErrNotReached, "no host that was reached has a task %q; not "+
			"reached: %s", word, unseen)
	case len(found) == 0:
		return remote.Host{}, "", task.Notef(task.ErrNotFound, "no host has a task %q; %q lists them", word,
			"orange fleet list")
	case len(found) > 1:
		var names []string
		for i, t := range found {
			names = append(names, fmt.Sprintf("%s (%s) at %s", t.ID, t.Branch, at[i].Name))
		}
		if !slices.ContainsFunc(found, func(t remote.Found) bool { return t.ID != found[0].ID }) {
			return remote.Host{}, "", usage("task %s is at several hosts: %s; name the one that you mean with --on, "+
				"and let it go at the others: orange fleet leave %s --on HOST --yes", found[0].ID,
				strings.Join(names, ", "), found[0].ID)
		}
		return remote.Host{}, "", usage("%q may be one of several tasks: %s", word, strings.Join(names, ", "))
	case len(lost) > 0 && found[0].ID != word && !reads:
		return remote.Host{}, "", task.Notef(remote.ErrNotReached, "cannot tell whether %q means task %s at %s: not "+
			"reached: %s; give the whole id", word, found[0].ID, at[0].Name, unseen)
	case len(lost) > 0:
		warn("not reached: %s", unseen)
	}
	return at[0], found[0].ID, nil
}

// send sends a request to a host and prints what came of it. Where no answer comes, a request with a key is asked once
// more, and then kept under the key.
func (fl fleet) send(ctx context.Context, h *Services, f remote.Fleet, host remote.Host, call remote.Call,
	key string) error {
	if fl.served != nil { // it repeats and keeps requests by itself
		reply, err := h.Fleet.Ask(ctx, host, call, longestRequest)
		if err != nil {
			return err
		}
		return pass(&fl.printer, host, reply, call.Argv[1])
	}
	most := longestRequest
	if remote.RepeatOf(call.Argv[1]) == api.Reads {
		most = max(f.Patience, time.Minute)
	}
	reply, err := fl.ask(ctx, h, host, call, most)
	if err != nil && key != "" && ctx.Err() == nil && errors.Is(err, remote.ErrNotReached) {
		reply, err = fl.ask(ctx, h, host, call, most)
	}
	if err == nil {
		return pass(&fl.printer, host, reply, call.Argv[1])
	}
	switch {
	case !errors.Is(err, remote.ErrNotReached) && ctx.Err() == nil: // nothing was sent
		return err
	case remote.RepeatOf(call.Argv[1]) == api.Reads:
		return fmt.Errorf("host %s: %w", host.Name, err)
	case key == "":
		return notKnown(host, err, "look: orange fleet show "+call.Argv[len(call.Argv)-1])
	}
	if kept := h.Fleet.Keep(key, remote.Pending{Host: host.Name, Call: call}); kept != nil {
		return errors.Join(err, kept)
	}
	return notKnown(host, err, "ask again: orange fleet result "+key)
}

// notKnown is the error of a request that may have been done, with what to do next.
func notKnown(host remote.Host, err error, next string) error {
	return task.Notef(remote.ErrNotKnown, "host %s did not answer (%v): it is not known whether it did this; %s",
		host.Name, err, next)
}

// pass prints what a host's command printed, and ends as it did.
func pass(p *printer, host remote.Host, reply remote.Reply, command string) error {
	if reply.Refused != "" {
		return refusedBy(host, reply)
	}
	said := reply.Stdout
	if !p.json && !slices.Contains([]string{"diff", "logs", "history"}, command) { // those print what others wrote
		said = fromAfar(said)
	}
	if err := p.print(said); err != nil {
		return err
	}
	if reply.Stderr != "" {
		p.talk("%s", fromAfar(reply.Stderr))
	}
	if reply.Exit != 0 {
		return &ended{reply.Exit}
	}
	return nil
}

// refusedBy is the error of a call that a host did not take, of the exit status that it gave.
func refusedBy(host remote.Host, reply remote.Reply) error {
	text := fmt.Sprintf("host %s did not take the call, and nothing was done: %s", host.Name, reply.Refused)
	switch reply.Exit {
	case exitUsage:
		return task.Notef(task.ErrUsage, "%s", text)
	case exitNotFound:
		return task.Notef(task.ErrNotFound, "%s", text)
	case exitRefused:
		return &rejection.Rejection{Code: rejection.ActorDenied, Message: text}
	}
	return errors.New(text)
}

// result asks for what became of a request whose answer was lost.
func (fl fleet) result() *cobra.Command {
	return &cobra.Command{
		Use: "result KEY", Short: "Ask again for the answer to a request whose answer was lost", Args: between(1, 1),
		Long: `Ask again for the answer to a request whose answer was lost. The same request is sent again under
its key: what was done is not done twice, and what was not done is done now. Where the fleet has a
server, it says so if what was done is lost with its host.`,
		Example: "  orange fleet result 5MZK2Q3RXW4T7YBN6VJPL8HCD",
		RunE: fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
			if fl.served != nil {
				reply, err := fl.served.Result(ctx, args[0])
				if err != nil {
					return err
				}
				return pass(&fl.printer, remote.Host{}, reply, "")
			}
			kept, err := h.Fleet.Kept(args[0])
			if err != nil {
				return err
			}
			host, err := f.Host(kept.Host)
			if err != nil {
				return err
			}
			reply, err := fl.ask(ctx, h, host, kept.Call, longestRequest)
			if err != nil {
				return notKnown(host, err, "ask again: orange fleet result "+args[0])
			}
			if err := h.Fleet.Drop(args[0]); err != nil {
				return err
			}
			return pass(&fl.printer, host, reply, kept.Call.Argv[1])
		}),
	}
}
