package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
)

// mostSkew is how far apart the clocks of two hosts may be before a person should know.
const mostSkew = 5 * time.Second

func (fl fleet) joinCommand() *cobra.Command {
	var host remote.Host
	var here, snapshots string
	c := &cobra.Command{
		Use: "join NAME", Short: "Add a host that ssh reaches", Args: between(1, 1),
		Long: `Add a host that ssh reaches. Orange asks it who it is, and refuses one whose orange is too old, one
that is this home or has joined already, and one whose projects are other repositories under the
same names: the first commit and the origin are compared.

ssh must log in there without a question, and the shell of a login must find orange, git, tmux and
the agent programs; --command is the path of orange where it does not. Anyone who can log in there
can do to its tasks all that a person can: the login is the proof, and requests are not signed.

--snapshots says where the snapshots of tasks are pushed, a remote of each project or an address;
there is no usual one. --as is the name of this host in the fleet.`,
		Example: "  orange fleet join big --ssh me@big.example --snapshots origin\n" +
			"  orange fleet join lab --ssh lab --command /opt/orange/bin/orange",
	}
	c.RunE = fl.program.run(func(ctx context.Context, h *Services, args []string) error {
		if err := personHere(ctx, h, "join hosts"); err != nil {
			return err
		}
		host.Name = args[0]
		if err := host.Check(); err != nil {
			return err
		}
		f, err := h.Fleet.Read()
		if err != nil {
			return err
		}
		if f.Name == "" || here != "" {
			f.Name = nameOfHere(here)
		}
		if err := remote.CheckName(f.Name); err != nil {
			return err
		}
		if c.Flags().Changed("snapshots") {
			f.Snapshots = snapshots
		} else if f.Snapshots == "" {
			f.Snapshots = whereSnapshots(&fl.input)
		}
		return fl.join(ctx, h, f, host)
	})
	c.Flags().StringVar(&host.SSH, "ssh", "", "where ssh finds it: [USER@]HOST, or a name of your ssh configuration")
	c.Flags().StringVar(&host.Command, "command", "", "the path of orange there, if no login's PATH has it")
	c.Flags().StringVar(&here, "as", "", "the name of this host (default: the computer's)")
	c.Flags().StringVar(&snapshots, "snapshots", "", "where snapshots are pushed: a remote, or an address")
	return c
}

// nameOfHere is the name of this host: the one that is wanted, or the first part of the computer's.
func nameOfHere(wanted string) string {
	if wanted != "" {
		return wanted
	}
	name, err := os.Hostname()
	name, _, _ = strings.Cut(name, ".")
	if err != nil || remote.CheckName(name) != nil {
		return "here"
	}
	return name
}

// whereSnapshots asks the person where snapshots go; there is no usual place.
func whereSnapshots(p *input) string {
	if !p.Terminal || p.json {
		return ""
	}
	return p.asked("Where are snapshots of tasks pushed? A remote such as origin, or an address; nothing for none: ")
}

// join asks a host who it is, and adds it to the fleet.
func (fl fleet) join(ctx context.Context, h *Services, f remote.Fleet, host remote.Host) error {
	own, err := fl.hello(ctx, h)
	if err != nil {
		return err
	}
	reply, err := h.Fleet.Ask(ctx, host, remote.Call{V: remote.Version}, 2*max(f.Patience, remote.UsualPatience))
	if err != nil {
		return fmt.Errorf("cannot join %s: %w; try: ssh -oBatchMode=yes %s %s version", host.Name, err, host.SSH,
			host.Program())
	}
	if reply.Refused != "" {
		return refusedBy(host, reply)
	}
	if reply.Hello == nil {
		return fmt.Errorf("cannot join %s: it does not say who it is; update orange there", host.Name)
	}
	there := *reply.Hello
	if there.Home == own.Home {
		return usage("cannot join %s: %q leads to this home, or to a copy of it (fleet/home-id is the same)", host.Name,
			host.SSH)
	}
	for _, other := range f.Hosts {
		reply, err := h.Fleet.Ask(ctx, other, remote.Call{V: remote.Version}, f.Patience)
		if other.Name != host.Name && err == nil && reply.Hello != nil && reply.Hello.Home == there.Home {
			return usage("cannot join %s: %q leads to the home of %s, or to a copy of it", host.Name, host.SSH,
				other.Name)
		}
	}
	wrong, notes := remote.Compare(own.Projects, there.Projects)
	if len(wrong) > 0 {
		return usage("cannot join %s: %s", host.Name, strings.Join(wrong, "; "))
	}
	if there.Version != own.Version {
		notes = append(notes, fmt.Sprintf("orange is %s here, and %s there", own.Version, there.Version))
	}
	if skew := time.Since(there.Now).Abs(); skew > mostSkew {
		notes = append(notes, fmt.Sprintf("the clocks are %s apart: times of tasks there look wrong here",
			skew.Round(time.Second)))
	}
	if f.Snapshots == "" {
		notes = append(notes, "there is no place for snapshots: a task at a host that dies is lost with it; give one "+
			"with --snapshots")
	}
	err = h.Fleet.Change(ctx, func(now remote.Fleet) (remote.Fleet, error) { return withMember(now, f, host) })
	if err != nil {
		return err
	}
	return sayJoined(&fl.printer, f, host, there, notes)
}

// withMember is a fleet with another host in it, or with a new way to one that it has.
func withMember(now, wanted remote.Fleet, host remote.Host) (remote.Fleet, error) {
	if host.Name == wanted.Name {
		return now, usage("cannot join %s: this host has the name; call one of them otherwise (--as names this one)",
			host.Name)
	}
	now.Name, now.Snapshots = wanted.Name, wanted.Snapshots
	at := slices.IndexFunc(now.Hosts, func(one remote.Host) bool { return one.Name == host.Name })
	if at < 0 {
		now.Hosts = append(now.Hosts, host)
		return now, nil
	}
	now.Hosts[at] = host
	return now, nil
}

func sayJoined(p *printer, f remote.Fleet, host remote.Host, there remote.Hello, notes []string) error {
	if p.json {
		return p.printJSON(map[string]any{"here": f.Name, "host": host, "version": there.Version,
			"snapshots": f.Snapshots, "notes": orEmpty(notes)})
	}
	p.say("joined %s: orange %s, %d projects, %d live tasks; this host is %s", host.Name, there.Version,
		len(there.Projects), there.Live, f.Name)
	for _, note := range notes {
		p.say("  note: %s", note)
	}
	return nil
}

func (fl fleet) forget() *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Take a host out of the fleet; its tasks go on there", Args: between(1, 1),
		Example: "  orange fleet forget lab",
		RunE: fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
			host, err := f.Host(args[0])
			if err == nil && host.Here {
				err = usage("cannot forget %s: that is this host", host.Name)
			}
			if err == nil {
				err = h.Fleet.Change(ctx, func(now remote.Fleet) (remote.Fleet, error) {
					now.Hosts = slices.DeleteFunc(now.Hosts, func(one remote.Host) bool {
						return one.Name == host.Name
					})
					return now, nil
				})
			}
			if err != nil {
				return err
			}
			if fl.json {
				return fl.printJSON(map[string]any{"forgot": host})
			}
			fl.say("forgot host %s; its tasks go on there", host.Name)
			return nil
		}),
	}
}

// hostView is a host as JSON has it.
type hostView struct {
	remote.Host
	Reached  bool     `json:"reached"`
	Problem  string   `json:"problem"`
	Version  string   `json:"version"`
	Live     int      `json:"live"`
	Projects []string `json:"projects"`
	Skew     int64    `json:"clock_skew"` // seconds
}

func (fl fleet) hosts() *cobra.Command {
	return &cobra.Command{
		Use: "hosts", Short: "List the hosts, and how they are", Args: between(0, 0),
		Long: `List the hosts, and how they are. They are asked all at once, 5 seconds each. Where one was not
reached, the exit status is 1: that says nothing of the tasks there.`,
		Example: "  orange fleet hosts --json",
		RunE: fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, _ []string) error {
			all := fl.askAll(ctx, h, f, f.All(), remote.Call{V: remote.Version})
			views := []hostView{}
			for _, one := range all {
				views = append(views, viewOfHost(one, time.Now()))
			}
			if err := sayHosts(&fl.printer, views); err != nil {
				return err
			}
			if slices.ContainsFunc(views, func(v hostView) bool { return !v.Reached }) {
				return &ended{exitFailed}
			}
			return nil
		}),
	}
}

func viewOfHost(one told, now time.Time) hostView {
	v := hostView{Host: one.host, Problem: one.problem(), Projects: []string{}}
	if v.Problem == "" && one.reply.Hello == nil {
		v.Problem = "it does not say who it is; update orange there"
	}
	if v.Problem != "" {
		return v
	}
	hello := one.reply.Hello
	v.Reached, v.Version, v.Live = true, hello.Version, hello.Live
	if skew := now.Sub(hello.Now); skew.Abs() > mostSkew {
		v.Skew = seconds(skew)
	}
	for _, project := range hello.Projects {
		v.Projects = append(v.Projects, project.Name)
	}
	return v
}

func sayHosts(p *printer, views []hostView) error {
	if p.json {
		return p.printJSON(map[string]any{"hosts": views})
	}
	rows := [][]string{{"NAME", "SSH", "ORANGE", "LIVE", "PROJECTS", "STATE"}}
	for _, v := range views {
		row := []string{v.Name, v.SSH, v.Version, fmt.Sprint(v.Live), strings.Join(v.Projects, " "), "reached"}
		switch {
		case !v.Reached:
			row[3], row[5] = "?", "not reached: "+oneLine(v.Problem, 200)
		case v.Here:
			row[1], row[5] = "-", "this host"
		case v.Skew != 0:
			row[5] = fmt.Sprintf("reached; its clock is %d s off", v.Skew)
		}
		rows = append(rows, row)
	}
	return p.table(table{rows: rows, gives: []int{5, 4, 1}})
}

// attach opens an agent's window, at the host that has the task.
func (fl fleet) attach() *cobra.Command {
	var on, role string
	c := &cobra.Command{
		Use: "attach ID", Short: "Open an agent's window at its host, to read or to type", Args: between(1, 1),
		Long: `Open an agent's window at its host, by ssh -t and "orange task attach" there. The terminal is your
own: F12 returns to where you were.`,
		Example: "  orange fleet attach 4Fz",
		RunE: fl.inFleet(func(ctx context.Context, h *Services, f remote.Fleet, args []string) error {
			at, id, err := fl.whose(ctx, h, f, on, args[0], true)
			if err != nil {
				return err
			}
			fl.lend()
			if at.Here || at.Name == f.Name {
				return fl.tellAttach(h.Commands.Attach(ctx, id, role, !fl.json))
			}
			if fl.served != nil && at.SSH == "" {
				return usage("cannot open the window of task %s from here: host %s does not say how ssh reaches it; "+
					"write \"ssh: [USER@]HOST\" into its fleet.yml, or log in there: orange task attach %s", id,
					at.Name, id)
			}
			err = fl.flush()
			argv, failed := h.Fleet.Attach(ctx, at, id, role, !fl.json)
			return fl.tellAttach(argv, errors.Join(err, failed))
		}),
	}
	c.Flags().StringVar(&on, "on", "", "the host that has the task (default: the one that says so)")
	c.Flags().StringVar(&role, "role", "", "whose window: worker or reviewer (default: that of the present status)")
	return c
}
