package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
)

func (fl fleet) snapshot() *cobra.Command {
	c := fl.forwardedTo(taskSnapshot(fl.program), "to")
	c.Use = "snapshot ID" // another task may be at another host
	c.Long, _, _ = strings.Cut(c.Long, "\nThose of several")
	return c
}

func (fl fleet) leave() *cobra.Command {
	return fl.forwardedTo(taskLeave(fl.program), "push-to")
}

// forwardedTo is a forwarded command whose flag is the place of snapshots, where the person names none.
func (fl fleet) forwardedTo(c *cobra.Command, flag string) *cobra.Command {
	var on string
	onFlag(c, &on, "the host that has the task (default: the one that says so)")
	c.Args = between(1, 1)
	c.RunE = fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
		if to := c.Flags().Lookup(flag); !to.Changed && f.Snapshots != "" {
			if err := c.Flags().Set(flag, f.Snapshots); err != nil {
				return err
			}
		}
		return fl.forward(ctx, h, f, c, on, args)
	})
	return c
}

// rescue is what a person wants of a task whose host is dead.
type rescue struct {
	id, project, from, reason string
	to                        remote.Host
}

func (fl fleet) rescueCommand() *cobra.Command {
	var r rescue
	var to string
	c := &cobra.Command{
		Use: "rescue ID", Short: "Bring a task back at another host, from its last snapshot", Args: between(1, 1),
		Long: `Bring a task back at another host, from its last snapshot. What its host has done since then is not
in it. Without a server no program can tell whether a host is dead or only cut off: you say so, with
--now and why. A host that is only cut off goes on with its agents meanwhile; two hosts then work on
one task until the first one lets it go.

If a host that has the task answers, a snapshot is taken there first, and it lets the task go in the
end: its agents end, what came since the snapshot is pushed to refs/orange/fleet/ID/lost/EPOCH, and
what no branch holds is kept there under refs/orange/rescue/. If it does not answer, run "orange
fleet leave ID --on HOST" when it is back. The new host pushes a snapshot before it goes on: from
then on the old one cannot push one, nor anything else for the task.

The ID has to be whole: 21 letters and digits.`,
		Example: "  orange fleet rescue 4FzXk0aB3cD5eF7gH9iJ1 --to big --now \"lab has burnt down\" --project web",
	}
	c.RunE = fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
		var err error
		if r.id = args[0]; strings.TrimSpace(r.reason) == "" {
			err = usage("no program here can tell whether the host of task %s is dead: say that it is, with --now "+
				"and why", r.id)
		}
		if idempotency.CheckID(r.id) != nil {
			err = errors.Join(err, usage("found %q as the id of a task, expected all of its 21 letters and digits",
				r.id))
		}
		if r.from = cmp.Or(r.from, f.Snapshots); r.from == "" {
			err = errors.Join(err,
				usage("where are its snapshots? Give --from-snapshot with a remote of the project or an address"))
		}
		if err != nil {
			return err
		}
		if to == "" {
			to = f.Name
		}
		if r.to, err = f.Host(to); err != nil {
			return err
		}
		if r.project, err = fl.projectMeant(ctx, h); err != nil {
			return err
		}
		return fl.rescue(ctx, h, f, r)
	})
	c.Flags().StringVar(&to, "to", "", "the host that gets it (default: this one)")
	c.Flags().StringVar(&r.reason, "now", "", "why you know that the host which has it is dead")
	c.Flags().StringVar(&r.from, "from-snapshot", "", "the repository of the snapshot (default: that of fleet.yml)")
	return c
}

// rescue brings a task back, and has the hosts let it go that have it and answer.
func (fl fleet) rescue(ctx context.Context, h *Services, f remote.Fleet, r rescue) error {
	var holders []remote.Host
	var notes []string
	for _, one := range fl.askAll(ctx, h, f, f.All(), remote.Call{V: remote.Version, Find: r.id}) {
		has := len(one.reply.Found) == 1 && one.reply.Found[0].ID == r.id
		switch {
		case one.problem() != "" && one.host.Name == r.to.Name:
			return task.Notef(remote.ErrNotReached, "host %s was not reached, and nothing was done: %s", r.to.Name,
				one.problem())
		case one.problem() != "":
			notes = append(notes, fmt.Sprintf("host %s was not reached (%s); if it has the task, run this when it is "+
				"back: orange fleet leave %s --on %s --yes", one.host.Name, one.problem(), r.id, one.host.Name))
		case has && one.host.Name == r.to.Name:
			return usage("cannot rescue task %s: host %s has it", r.id, r.to.Name)
		case has:
			holders = append(holders, one.host)
			r.project = one.reply.Found[0].Project
		}
	}
	if r.project == "" {
		return usage("which project? Be in its folder, or name it with --project")
	}
	for _, host := range holders {
		if _, err := fl.doAt(ctx, h, host, "snapshot", "--to="+r.from, "--", r.id); err != nil {
			notes = append(notes, fmt.Sprintf("host %s could not take a last snapshot: %v", host.Name, err))
		}
	}
	back, err := fl.doAt(ctx, h, r.to, "restore", "--from="+r.from, "--project="+r.project, "--reason="+r.reason, "--",
		r.id)
	if err != nil {
		return err
	}
	for _, host := range holders {
		why := "it goes on at " + r.to.Name + ": " + r.reason
		if _, err := fl.doAt(ctx, h, host, "leave", "--yes", "--reason="+why, "--push-to="+r.from, "--",
			r.id); err != nil {
			notes = append(notes, fmt.Sprintf("host %s did not let it go: %v; orange fleet leave %s --on %s --yes",
				host.Name, err, r.id, host.Name))
		}
	}
	return sayRescued(&fl.printer, r, back, notes)
}

func sayRescued(p *printer, r rescue, back json.RawMessage, notes []string) error {
	if p.json {
		return p.printJSON(map[string]any{"id": r.id, "host": r.to.Name, "reason": r.reason, "restored": back,
			"notes": orEmpty(notes)})
	}
	var said struct {
		Task  struct{ Status string }
		Notes []string
	}
	if err := json.Unmarshal(back, &said); err != nil {
		return fmt.Errorf("read what %s restored: %w", r.to.Name, err)
	}
	p.say("task %s is back at %s: %s", r.id, r.to.Name, said.Task.Status)
	for _, note := range append(said.Notes, notes...) {
		p.say("  %s", note)
	}
	return nil
}

// doAt does a command of "orange task" at a host, and answers its JSON.
func (fl fleet) doAt(ctx context.Context, h *Services, host remote.Host, words ...string) (json.RawMessage, error) {
	argv := append([]string{"task", words[0], "--json"}, words[1:]...)
	reply, err := fl.ask(ctx, h, host, remote.Call{V: remote.Version, Argv: argv}, longestRequest)
	switch {
	case err != nil:
		return nil, task.Notef(remote.ErrNotKnown, "host %s did not answer (%v): it is not known whether it did this: "+
			"orange task %s", host.Name, err, strings.Join(words, " "))
	case reply.Refused != "":
		return nil, refusedBy(host, reply)
	case reply.Exit == 0:
		return json.RawMessage(reply.Stdout), nil
	}
	text := fmt.Sprintf("host %s: %s", host.Name, reply.Failure())
	return nil, refusedAlike(&unlisted{exit: reply.Exit, text: text})
}
