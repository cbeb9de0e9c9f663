package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	asking "orange/fleet/client"
	"orange/fleet/core"
	"orange/fleet/members"
	"orange/fleet/metrics"
	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
	"orange/internal/run/service"
	"orange/internal/store/home"
)

// serveFlags are what a person says of a worker of the server.
type serveFlags struct {
	first                               bool
	server, namespace, encrypt, metrics string
	unit                                string
	open                                bool
}

func serve() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{Use: "serve", Short: "Run a core worker of the fleet's server", Args: cobra.NoArgs,
		Long: "Run a core worker of the fleet's server until it is stopped. It has no state of its own: run two, so " +
			"that one may be replaced. Where the key of the fleet's authority is, it admits those who were invited, " +
			"too. " +
			"fleet.yml below $ORANGE_HOME/fleet has the server.\n\n" +
			"--init makes, where they lack: the namespace and its search attributes, and on this machine the " +
			"authority of " +
			"the fleet; with --tls also a certificate of the server for its names, and one of this machine. With " +
			"--server " +
			"and --namespace it writes fleet.yml.",
		Example: "  orange-fleet serve --init --server temporal.example:7233 --namespace home --tls " +
			"temporal.example\n" +
			"  orange-fleet serve --metrics 127.0.0.1:9464",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := home.Locate(os.Getenv)
			if err != nil {
				return err
			}
			s, err := f.setup(dir)
			if err == nil && f.unit != "" {
				return printUnit(cmd.OutOrStdout(), dir, f.unit, service.Purpose{Name: "orange-fleet-serve",
					Command: "serve", About: "Orange works for the server of its fleet, with"})
			}
			if err == nil && f.first {
				s, err = f.begin(cmd.Context(), dir, s, cmd.OutOrStdout())
			}
			if err != nil {
				return err
			}
			return f.work(cmd.Context(), dir, s, cmd.OutOrStdout())
		}}
	cmd.Flags().BoolVar(&f.first, "init", false, "make what a fleet needs first, where it lacks")
	cmd.Flags().StringVar(&f.server, "server", "", "with --init: HOST:PORT of the server, for fleet.yml")
	cmd.Flags().StringVar(&f.namespace, "namespace", "", "with --init: the name of the fleet, for fleet.yml")
	cmd.Flags().StringVar(&f.encrypt, "tls", "", "with --init: names or addresses of the server, for its certificate")
	cmd.Flags().StringVar(&f.unit, "unit", "", "print a unit that keeps this running: systemd or launchd; both "+
		"without a value")
	cmd.Flags().Lookup("unit").NoOptDefVal = "all"
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "show metrics for Prometheus at this address, such as "+
		"127.0.0.1:9464")
	cmd.Flags().BoolVar(&f.open, "metrics-open", false, "the address of --metrics may be one that other machines reach")
	return cmd
}

// setup is what fleet.yml says, or what it is going to say.
func (f serveFlags) setup(home string) (setup.Setup, error) {
	said := f.server != "" || f.namespace != ""
	if !f.first && (said || f.encrypt != "") {
		return setup.Setup{}, task.Notef(task.ErrUsage, "cannot take --server, --namespace or --tls without --init: "+
			"fleet.yml has what they say")
	}
	s, err := setup.Read(home)
	_, missing := os.Stat(setup.Path(home))
	switch {
	case err == nil && (f.server != "" && f.server != s.Server || f.namespace != "" && f.namespace != s.Namespace):
		return s, task.Notef(task.ErrUsage, "cannot take --server and --namespace: %q has the server %q and the "+
			"namespace %q: change them there", setup.Path(home), s.Server, s.Namespace)
	case err == nil || !said:
		return s, err
	case f.server == "" || f.namespace == "":
		return s, task.Notef(task.ErrUsage, "cannot write fleet.yml: expected both --server and --namespace")
	case !errors.Is(missing, os.ErrNotExist):
		return s, err
	}
	s = setup.Usual()
	s.Server, s.Namespace = f.server, f.namespace
	return s, setup.Write(home, s)
}

// begin makes what a fleet needs, where it lacks.
func (f serveFlags) begin(ctx context.Context, home string, s setup.Setup, out io.Writer) (setup.Setup, error) {
	if f.encrypt != "" {
		var err error
		if s, err = f.certificates(ctx, home, s, out); err != nil {
			return s, err
		}
	}
	options, err := core.Options(s)
	if err != nil {
		return s, err
	}
	limited, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	if err := core.Init(limited, options); err != nil {
		return s, fmt.Errorf("make what the fleet needs at its server %q: %w; does the server run?", s.Server, err)
	}
	if _, err := members.Open(home); !errors.Is(err, task.ErrNotFound) {
		return s, err
	}
	c, err := core.Dial(limited, s)
	if err != nil {
		return s, err
	}
	defer c.Close()
	there, err := core.HasRegistry(limited, c)
	if err != nil {
		return s, err
	}
	if there {
		return s, task.Notef(task.ErrUsage, "cannot make an authority of the fleet %q here: the fleet has one, on "+
			"another machine: run \"orange-fleet serve\" without --init here", s.Namespace)
	}
	_, err = members.Make(ctx, home, s.Namespace)
	return s, err
}

// certificates makes the certificates of the server and of this machine, and says how the server gets its own.
func (f serveFlags) certificates(ctx context.Context, home string, s setup.Setup, out io.Writer) (setup.Setup, error) {
	names := strings.Split(f.encrypt, ",")
	for _, name := range names {
		if err := (remote.Host{Name: "server", SSH: name}).Check(); err != nil || strings.ContainsAny(name, "@/") {
			return s, task.Notef(task.ErrUsage, "cannot make a certificate for %q: expected names or addresses of "+
				"the server, with commas between them", name)
		}
	}
	a, err := members.Make(ctx, home, s.Namespace)
	if err != nil {
		return s, err
	}
	files, err := a.MakeCertificates(s.Namespace, names, time.Now())
	if err != nil {
		return s, err
	}
	if s.TLS == (setup.Files{}) {
		s.TLS = files
		if err := setup.Write(home, s); err != nil {
			return s, err
		}
	}
	dir := members.AuthorityDir(home)
	fmt.Fprintf(out, serverTLS, filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"),
		filepath.Join(dir, "ca.pem"), names[0])
	return s, nil
}

// serverTLS is the part of the server's configuration that has it ask for certificates, also where its own parts talk
// to each other. Who may do what is decided by them: the server has no other word for it.
const serverTLS = `the server needs this in its configuration, with paths where it finds copies of the files, and ` +
	`is started with --allow-no-auth:
  global:
    tls:
      frontend: &way
        server: {certFile: %[1]q, keyFile: %[2]q, requireClientAuth: true, clientCaFiles: [%[3]q]}
        client: {serverName: %[4]q, rootCaFiles: [%[3]q]}
      internode: *way
      systemWorker:
        certFile: %[1]q
        keyFile: %[2]q
        client: {serverName: %[4]q, rootCaFiles: [%[3]q]}
`

// here is the home of this process, and the setup of its fleet.
func here() (dir string, s setup.Setup, err error) {
	if dir, err = home.Locate(os.Getenv); err == nil {
		s, err = setup.Read(dir)
	}
	return dir, s, err
}

// work is a core worker, until it is stopped.
func (f serveFlags) work(ctx context.Context, home string, s setup.Setup, out io.Writer) error {
	c, err := core.Dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.Close()
	requests := &metrics.Requests{}
	shown, err := f.show(ctx, home, s, requests)
	if err != nil {
		return err
	}
	w := core.Worker(c, requests)
	if err := w.Start(); err != nil {
		return fmt.Errorf("work for the server at %s: %w; \"orange-fleet serve --init\" makes the namespace",
			s.Server, err)
	}
	defer w.Stop()
	stop, err := admitInvited(ctx, home, s, c)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintf(out, "serving the fleet %q at %s\n", s.Namespace, s.Server)
	select {
	case <-ctx.Done():
		return nil
	case err := <-shown:
		return err
	}
}

// show shows metrics, where they are wanted. It ends with an error, or not at all.
func (f serveFlags) show(ctx context.Context, home string, s setup.Setup, requests *metrics.Requests) (
	<-chan error, error) {
	if f.metrics == "" {
		return nil, nil
	}
	l, err := metrics.Listen(ctx, f.metrics, f.open)
	if err != nil {
		return nil, err
	}
	page := &metrics.Page{Requests: requests, Now: time.Now, Look: func(ctx context.Context) metrics.Fleet {
		remote := &asking.Remote{Home: home, Setup: s}
		defer remote.Close()
		var seen metrics.Fleet
		if seen.Tasks, seen.Err = remote.Tasks(ctx); seen.Err == nil {
			seen.Hosts, seen.Err = remote.Hosts(ctx)
		}
		return seen
	}}
	failed := make(chan error, 1)
	go func() {
		if err := page.Serve(ctx, l); err != nil {
			failed <- err
		}
	}()
	return failed, nil
}

// admitInvited brings the lists of the authority to the server and admits those who were invited, where its key is.
func admitInvited(ctx context.Context, home string, s setup.Setup, c client.Client) (stop func(), err error) {
	a, err := members.Open(home)
	if errors.Is(err, task.ErrNotFound) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	state, err := a.State()
	if err == nil && state.Fleet != s.Namespace {
		err = task.Notef(task.ErrUsage, "cannot serve the fleet %q: the authority in %q is that of %q", s.Namespace,
			members.AuthorityDir(home), state.Fleet)
	}
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	if err := core.Publish(limited, c, state); err != nil {
		return nil, err
	}
	if _, err := setup.KeepTrust(ctx, home, s.Namespace, state.Trust); err != nil {
		return nil, err
	}
	w := core.AuthorityWorker(c, func(ctx context.Context, o registry.Order) (registry.Admission, error) {
		return a.Admit(ctx, o, time.Now())
	})
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("admit members at %s: %w", s.Server, err)
	}
	return w.Stop, nil
}
