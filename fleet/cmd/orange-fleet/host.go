package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"orange/fleet/core"
	"orange/fleet/host"
	"orange/fleet/setup"
	"orange/internal/rules/printable"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/service"
	"orange/internal/store/mirror"
)

func hostCommand() *cobra.Command {
	var unit string
	cmd := &cobra.Command{Use: "host", Short: "Keep this host in its fleet", Args: cobra.NoArgs,
		Long: `Keep this host in its fleet until it is stopped. It takes tasks while there is a free workspace,
answers what people ask, shows in the list of the fleet what happens to its tasks, pushes snapshots
of them, and says that the host lives, without which nothing is done that others see.

It does not run the agents, nor does it watch them: "orange monitor" does. Where it ends, or the
server of the fleet does not answer, agents go on. One of it runs for a home.`,
		Example: "  orange-fleet host\n" +
			"  orange-fleet host --unit=systemd > ~/.config/systemd/user/orange-fleet.service",
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, s, err := here()
			if err == nil {
				err = s.ForHost(home)
			}
			if err != nil {
				return err
			}
			if unit != "" {
				return printUnit(cmd.OutOrStdout(), home, unit, service.Purpose{Name: "orange-fleet", Command: "host",
					About: "Orange keeps this host in its fleet, with"})
			}
			return keepHost(cmd.Context(), home, s, cmd.ErrOrStderr())
		}}
	cmd.Flags().StringVar(&unit, "unit", "",
		"print a unit that keeps this running: systemd or launchd; both without a value")
	cmd.Flags().Lookup("unit").NoOptDefVal = "all"
	return cmd
}

// printUnit prints the file with which the system's supervisor keeps a command of this program running.
func printUnit(out io.Writer, home, kind string, purpose service.Purpose) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	text, err := service.Unit{Home: home, Program: program, Environment: service.Environment(home, os.Getenv),
		Purpose: purpose}.Text(kind)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, text)
	return err
}

// orangeProgram is the path of orange, in the folder of this program or on the PATH.
func orangeProgram() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("find the running program: %w", err)
	}
	next := filepath.Join(filepath.Dir(self), "orange")
	if path, err := proc.Find(next, ""); err == nil {
		return path, nil
	}
	path, err := proc.Find("orange", os.Getenv("PATH"))
	if err != nil {
		return "", fmt.Errorf("cannot be a host: the program orange belongs to %q, or on the PATH: %w", next, err)
	}
	return path, nil
}

// keepHost keeps this host in its fleet until ctx ends.
func keepHost(ctx context.Context, home string, s setup.Setup, errs io.Writer) error {
	release, free, err := mirror.Files{Home: home}.TryLock("fleet-host")
	if err != nil {
		return err
	}
	if !free {
		return task.Notef(task.ErrUsage, "cannot keep the host %q in its fleet: another process does so for %q", s.Name,
			home)
	}
	defer release()
	d, err := daemon(home, s, says(errs))
	if err != nil {
		return err
	}
	d.Say(fmt.Sprintf("the host %q of the fleet %q begins", s.Name, s.Namespace))
	return d.Run(ctx)
}

// says prints lines with the time, one after the other.
func says(out io.Writer) func(string) {
	var lock sync.Mutex
	return func(line string) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(out, "%s %s\n", time.Now().Format(time.DateTime), printable.Line(line))
	}
}

// daemon is what keeps a host in its fleet.
func daemon(home string, s setup.Setup, say func(string)) (*host.Daemon, error) {
	key, err := setup.HostKey(home)
	if err != nil {
		return nil, err
	}
	program, err := orangeProgram()
	if err != nil {
		return nil, err
	}
	orange := host.Orange{Path: program, Home: home}
	store := &host.Store{Dir: setup.Dir(home), Clock: proc.SinceBoot, Now: time.Now}
	one := &host.Host{Fleet: s.Namespace, Name: s.Name, Only: s.Projects, Biggest: s.BiggestFile,
		Snapshots: s.Snapshots, Key: key, People: people(home, s), Program: orange, Store: store,
		Now: host.ServerTime, Say: say}
	return &host.Daemon{Host: one, Version: programVersion(), Labels: s.Labels, SSH: s.SSH, Follow: orange.Follow,
		Say: say, Pace: host.Usual(s.SnapshotEvery),
		Dial: func(ctx context.Context) (host.Link, error) {
			c, err := core.Dial(ctx, s)
			if err != nil {
				return nil, err
			}
			return host.Temporal{Client: c, Home: home, Setup: s}, nil
		}}, nil
}

// people is the list of people of the fleet as this machine saw it last.
func people(home string, s setup.Setup) func() (signed.List, error) {
	return func() (signed.List, error) {
		t, err := setup.Trust(home, s.Namespace)
		if err != nil {
			return signed.List{}, err
		}
		lists, err := t.Lists(s.Namespace)
		return lists.People, err
	}
}
