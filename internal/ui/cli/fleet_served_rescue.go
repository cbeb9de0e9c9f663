package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
)

// rescue gives tasks of a lost host to another one.
func (s servedFleet) rescue() *cobra.Command {
	var host, to, reason string
	c := &cobra.Command{
		Use: "rescue [ID]", Short: "Give a task of a lost host to another one, from its last snapshot",
		Args: between(0, 1),
		Long: `Give a task of a lost host to another one, from its last snapshot, or all tasks of a host with --host.
The server counts a host as lost after 90 seconds without a word of it; before that a rescue is
refused, unless you say with --now why the host is not waited for. What the host did after the last
snapshot is not in it; requests that it acknowledged and that are not in the snapshot become events
"ask.lost", which orange fleet why names. A host that comes back pushes what it did since then to
refs/orange/fleet/ID/lost/EPOCH, keeps it under refs/orange/rescue/ too, and lets the task go.`,
		Example: "  orange fleet rescue 4Fz\n  orange fleet rescue --host lab --to big\n" +
			"  orange fleet rescue 4Fz --now \"lab has burnt down\"",
	}
	c.RunE = s.inFleet(func(ctx context.Context, _ *Services, f remote.Fleet, args []string) error {
		if (len(args) == 1) == (host != "") {
			return usage("which task? Give its id, or --host with a host for all of its tasks")
		}
		if c.Flags().Changed("now") && strings.TrimSpace(reason) == "" {
			return usage("found an empty --now, expected why the host is not waited for")
		}
		if to != "" {
			if _, err := f.Host(to); err != nil {
				return err
			}
		}
		if host == "" {
			return s.rescueOne(ctx, f, args[0], to, reason)
		}
		return s.rescueAll(ctx, f, host, to, reason)
	})
	c.Flags().StringVar(&host, "host", "", "all tasks of this host")
	c.Flags().StringVar(&to, "to", "", "the host that gets it (default: any other one with a free place)")
	c.Flags().StringVar(&reason, "now", "", "why the host is not waited for, although the server has not lost it")
	return c
}

func (s servedFleet) rescueOne(ctx context.Context, f remote.Fleet, word, to, reason string) error {
	_, id, err := s.holder(ctx, f, "", word, false)
	if err != nil {
		return err
	}
	t, err := s.served.Rescue(ctx, id, to, reason)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(map[string]any{"rescued": []rescued{rescuedOf(t)}, "failed": []string{}})
	}
	sayGiven(&s.printer, t)
	return nil
}

// rescued is a task that was taken away from its host, as JSON has it.
type rescued struct {
	ID    string `json:"id"`
	Host  string `json:"host"` // that has it now; empty while one is looked for
	Epoch int    `json:"epoch"`
	Error string `json:"error,omitempty"`
}

func rescuedOf(t remote.ServerTask) rescued { return rescued{ID: t.ID, Host: t.Host, Epoch: t.Epoch} }

func sayGiven(p *printer, t remote.ServerTask) {
	if t.Host == "" {
		p.say("task %s was taken away from its host; the next host with a place gets it", t.ID)
		return
	}
	p.say("task %s is at %s, epoch %d", t.ID, t.Host, t.Epoch)
}

// rescueAll rescues all tasks of a host, one after the other. One that cannot be rescued does not keep the others.
func (s servedFleet) rescueAll(ctx context.Context, f remote.Fleet, host, to, reason string) error {
	if _, err := f.Host(host); err != nil {
		return err
	}
	known, err := s.served.Known(ctx)
	if err != nil {
		return err
	}
	done, failed := []rescued{}, []rescued{}
	var last error
	for _, t := range known.Tasks {
		if t.Host != host {
			continue
		}
		given, err := s.served.Rescue(ctx, t.ID, to, reason)
		if err != nil {
			failed, last = append(failed, rescued{ID: t.ID, Host: t.Host, Epoch: t.Epoch, Error: err.Error()}), err
			s.warn("task %s: %v", t.ID, err)
			continue
		}
		done = append(done, rescuedOf(given))
		if !s.json {
			sayGiven(&s.printer, given)
		}
	}
	if s.json {
		err = s.printJSON(map[string]any{"rescued": done, "failed": failed})
	} else if len(done)+len(failed) == 0 {
		s.say("host %s has no open task", host)
	}
	if err == nil && last != nil {
		status, _ := classify(last)
		err = &ended{status}
	}
	return err
}
