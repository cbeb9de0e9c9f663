package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/spf13/cobra"

	"orange/fleet/core"
	"orange/fleet/host"
	"orange/fleet/members"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/home"
)

// joinFlags are what a person says of a machine that joins.
type joinFlags struct {
	labels, projects                  []string
	ssh, snapshots, signingKey, codec string
	labelsSaid, projectsSaid          bool
}

func join() *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{Use: "join LINE", Short: "Join a fleet, with the line of an invitation", Args: one("a LINE"),
		Long: "Join a fleet with the line that \"orange-fleet invite\" printed; - reads it from standard input. The " +
			"key of " +
			"a host is made here and never leaves it; a person signs with an ssh key of the type ed25519 of their " +
			"own.\n\n" +
			"--snapshots says where a host pushes the work of its tasks: a remote that each project has, or an " +
			"address. " +
			"There is no usual place.",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.labelsSaid, f.projectsSaid = cmd.Flags().Changed("label"), cmd.Flags().Changed("project")
			line := args[0]
			if line == "-" {
				text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
				if err != nil {
					return fmt.Errorf("read the line of the invitation: %w", err)
				}
				line = string(text)
			}
			dir, err := home.Locate(os.Getenv)
			if err != nil {
				return err
			}
			return f.join(cmd, dir, line)
		}}
	cmd.Flags().StringArrayVar(&f.labels, "label", nil, "a label of this host, for tasks that want it; several times")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "a project that this host takes tasks of (default: all "+
		"that it has); several times")
	cmd.Flags().StringVar(&f.ssh, "ssh", "", "how people reach this host: [USER@]HOST")
	cmd.Flags().StringVar(&f.snapshots, "snapshots", "", "where snapshots are pushed: a remote, or an address")
	cmd.Flags().StringVar(&f.signingKey, "signing-key", "", "a person's ssh key, or the .pub of one that ssh-agent has")
	cmd.Flags().StringVar(&f.codec, "codec-key-file", "", "the key with which the fleet encrypts what it says")
	return cmd
}

func (f joinFlags) join(cmd *cobra.Command, home, line string) error {
	ctx := cmd.Context()
	j, err := members.Begin(home, line)
	if err != nil {
		return err
	}
	if err := f.into(&j.Setup, j.Ticket); err != nil {
		return err
	}
	var projects []remote.HostProject
	if j.Ticket.Of == signed.OfHosts {
		if projects, err = f.ofHost(cmd, j); err != nil {
			return err
		}
	} else if err := f.ofPerson(ctx, j); err != nil {
		return err
	}
	admitted, err := ask(ctx, j, projects)
	if err != nil {
		return err
	}
	if err := j.Finish(ctx, admitted); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "joined the fleet %q as the %s %s\n", j.Ticket.Fleet, memberKind(j.Ticket.Of),
		j.Ticket.Name)
	for _, note := range append(admitted.Notes, members.Warnings(j.Setup)...) {
		fmt.Fprintf(cmd.OutOrStdout(), "  note: %s\n", note)
	}
	return nil
}

// into notes what was said, where something was.
func (f joinFlags) into(s *setup.Setup, t registry.Ticket) error {
	if f.labelsSaid {
		s.Labels = append(setup.Usual().Labels, f.labels...)
	}
	if f.projectsSaid {
		s.Projects = f.projects
	}
	for _, said := range []struct {
		into *string
		text string
	}{{&s.SSH, f.ssh}, {&s.Snapshots, f.snapshots}} {
		if said.text != "" {
			*said.into = said.text
		}
	}
	if f.codec != "" {
		path, err := filepath.Abs(f.codec)
		if err != nil {
			return fmt.Errorf("find the key file: %w", err)
		}
		s.CodecKeyFile = path
	}
	if t.Codec && s.CodecKeyFile == "" {
		return task.Notef(task.ErrUsage, "cannot join the fleet %q: it encrypts what it says: copy its key file "+
			"here, and name it with --codec-key-file", t.Fleet)
	}
	return nil
}

// ofHost makes what a host needs, and looks at its projects.
func (f joinFlags) ofHost(cmd *cobra.Command, j *members.JoiningMachine) ([]remote.HostProject, error) {
	if j.Setup.Snapshots == "" {
		j.Setup.Snapshots = whereSnapshots(cmd)
	}
	if err := j.Setup.ForHost(j.Home); err != nil {
		return nil, fmt.Errorf("%w; say it with --snapshots", err)
	}
	if err := j.Setup.Check(); err != nil {
		return nil, err
	}
	path, err := orangeProgram()
	if err != nil {
		return nil, err
	}
	reply, err := host.Orange{Path: path, Home: j.Home}.Do(cmd.Context(), remote.Call{V: remote.Version})
	if err == nil && reply.Hello == nil {
		err = errors.New("it does not say who it is: " + reply.Refused)
	}
	if err != nil {
		return nil, fmt.Errorf("ask orange for the projects of this host: %w", err)
	}
	return reply.Hello.Projects, j.HostKey()
}

// whereSnapshots asks the person where snapshots go; there is no usual place.
func whereSnapshots(cmd *cobra.Command) string {
	if !proc.IsTerminal(os.Stdin) {
		return ""
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Where are snapshots of tasks pushed? A remote such as origin, or an address: ")
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

// ofPerson finds the key of a person, or has ssh-keygen make one, which asks for a passphrase.
func (f joinFlags) ofPerson(ctx context.Context, j *members.JoiningMachine) error {
	path := f.signingKey
	if path == "" {
		path = j.Setup.SigningKey
	}
	if path != "" {
		return j.PersonKey(path)
	}
	if !proc.IsTerminal(os.Stdin) {
		return task.Notef(task.ErrUsage, "cannot join as a person: expected --signing-key PATH, an ssh key of the "+
			"type ed25519: \"ssh-keygen -t ed25519 -f PATH\" makes one")
	}
	if err := os.MkdirAll(setup.Dir(j.Home), task.PrivateFolder); err != nil {
		return fmt.Errorf("make the folder of the fleet: %w", err)
	}
	path = filepath.Join(setup.Dir(j.Home), "person.key")
	if err := proc.Interactive(ctx, proc.Command{Name: "ssh-keygen", Args: []string{"-t", "ed25519", "-C",
		"person " + j.Ticket.Name, "-f", path}}); err != nil {
		return fmt.Errorf("make the key of %q: %w", j.Ticket.Name, err)
	}
	return j.PersonKey(path)
}

// ask asks the fleet to admit this machine.
func ask(ctx context.Context, j *members.JoiningMachine, projects []remote.HostProject) (a registry.Admission,
	err error) {
	order, err := j.Order(projects)
	if err != nil {
		return a, err
	}
	way, done, err := j.Way()
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = atServer(ctx, way, func(ctx context.Context, c client.Client) (err error) {
		a, err = core.Join(ctx, c, order)
		return late(err)
	})
	return a, err
}
