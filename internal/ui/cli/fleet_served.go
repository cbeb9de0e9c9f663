package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
)

// Served is a fleet with a server. Its hosts are asked as those that ssh reaches, in messages that the person signs;
// the server knows besides what no host can tell.
type Served interface {
	Fleet
	// Known is what the server knows of the hosts, and of the open tasks.
	Known(ctx context.Context) (remote.ServerView, error)
	// Find are the tasks that a word may mean, also those that are over.
	Find(ctx context.Context, word string) ([]remote.ServerTask, error)
	// Create has a task created where there is a place for it, and waits for that for a while.
	Create(ctx context.Context, b remote.Placement) (remote.Placed, error)
	// Rescue takes a task away from its host; another one gets it. It is refused where the host is there and there is
	// no reason.
	Rescue(ctx context.Context, id, to, reason string) (remote.ServerTask, error)
	// Cancel ends a task that no host has had yet.
	Cancel(ctx context.Context, id string) error
	// Result asks again for the answer to a request.
	Result(ctx context.Context, key string) (remote.Reply, error)
}

// servedFleet is what is different where a fleet has a server.
type servedFleet struct{ fleet }

// commands are those of a fleet with a server.
func (s servedFleet) commands() *cobra.Command {
	c := s.program.group("fleet", "Work with the tasks of a fleet, through its server",
		"  orange fleet create \"Fix the login\" --project web\n  orange fleet list\n  orange fleet why 4Fz")
	c.AddCommand(s.hosts(), s.fleet.list(), s.create(), s.attach(), s.snapshot(), s.rescue(), s.result())
	s.addForwarded(c)
	refused := func(*cobra.Command, []string) error {
		return usage("a fleet with a server forgets no host by itself: run \"orange-fleet remove NAME\" where its " +
			"authority is")
	}
	c.AddCommand(&cobra.Command{Use: "forget NAME", Args: between(1, 1), Hidden: true, RunE: refused})
	return c
}

// holder finds the host that has the task which a word means, and the task's id. It tells who reads of the task what
// other hosts have pushed of it.
func (s servedFleet) holder(ctx context.Context, f remote.Fleet, on, word string, reads bool) (remote.Host, string,
	error) {
	found, err := s.served.Find(ctx, word)
	if err != nil {
		return remote.Host{}, "", err
	}
	if on != "" {
		if _, err := f.Host(on); err != nil {
			return remote.Host{}, "", err
		}
		found = slices.DeleteFunc(found, func(t remote.ServerTask) bool { return t.Host != on })
	}
	switch len(found) {
	case 0:
		return remote.Host{}, "", task.Notef(task.ErrNotFound, "the fleet has no task %q; %q lists them", word,
			"orange fleet list")
	case 1:
	default:
		var names []string
		for _, t := range found {
			names = append(names, fmt.Sprintf("%s (%s)", t.ID, t.Branch))
		}
		return remote.Host{}, "", usage("%q may be one of several tasks: %s", word, strings.Join(names, ", "))
	}
	t := found[0]
	if t.Host == "" {
		known, err := s.served.Known(ctx)
		if err != nil {
			return remote.Host{}, "", err
		}
		why, _ := known.Why(t)
		return remote.Host{}, t.ID, task.Notef(remote.ErrNotHeld, "task %s waits for a place, and nothing can be "+
			"asked of it yet: %s", t.ID, why)
	}
	host, err := f.Host(t.Host)
	if err != nil {
		host = remote.Host{Name: t.Host} // the server does not know it any more
	}
	for _, a := range t.Apart {
		if reads {
			s.warn("%s had task %s until epoch %d; what it has done since its last snapshot is at %s, where "+
				"snapshots are", a.Host, t.ID, a.Epoch, a.Ref)
		}
	}
	return host, t.ID, nil
}

// cancelWaiting cancels a task that no host has had. It is asked for as it is of a host: with --yes where no question
// can be asked.
func (s servedFleet) cancelWaiting(ctx context.Context, c *cobra.Command, id string) error {
	if yes, err := c.Flags().GetBool("yes"); err != nil || !yes {
		return usage("cannot ask whether to cancel task %s, which waits for a place: say --yes", id)
	}
	if err := s.served.Cancel(ctx, id); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(map[string]any{"id": id, "ended": true})
	}
	s.say("task %s is cancelled: no host has had it", id)
	return nil
}

// servedHost is a host of a fleet with a server, as JSON has it.
type servedHost struct {
	Name      string   `json:"name"`
	SSH       string   `json:"ssh"`
	Reached   bool     `json:"reached"`
	Problem   string   `json:"problem"`
	Since     string   `json:"since"` // when it came, or was lost
	Version   string   `json:"version"`
	Live      int      `json:"live"` // tasks that it has
	Free      int      `json:"free"` // workspaces
	Draining  bool     `json:"draining"`
	Projects  []string `json:"projects"`
	Labels    []string `json:"labels"`
	Harnesses []string `json:"harnesses"`
}

func (s servedFleet) hosts() *cobra.Command {
	return &cobra.Command{
		Use: "hosts", Short: "List the hosts, and how they are", Args: between(0, 0),
		Long: `List the hosts, and how they are, as the server of the fleet knows it. A host that has been silent for
90 seconds is lost: the exit status is 1 then. Its agents may go on all the same.`,
		Example: "  orange fleet hosts --json",
		RunE: s.inFleet(func(ctx context.Context, _ *Services, _ remote.Fleet, _ []string) error {
			known, err := s.served.Known(ctx)
			if err != nil {
				return err
			}
			views, lost := []servedHost{}, false
			for _, h := range known.Hosts {
				views, lost = append(views, servedHostOf(s.zone, known, h)), lost || !h.Here
			}
			if err := sayServedHosts(&s.printer, known, views); err != nil {
				return err
			}
			if lost {
				return &ended{exitFailed}
			}
			return nil
		}),
	}
}

func servedHostOf(z zone, known remote.ServerView, h remote.ServerHost) servedHost {
	v := servedHost{Name: h.Name, SSH: h.SSH, Reached: h.Here, Since: task.FormatTime(h.Since), Version: h.Version,
		Free: h.Free, Draining: h.Draining, Projects: orEmpty(h.Projects), Labels: orEmpty(h.Labels),
		Harnesses: orEmpty(h.Harness)}
	if !h.Here {
		v.Problem = "lost since " + remote.Clock(h.Since.In(z.place()))
	}
	for _, t := range known.Tasks {
		if t.Host == h.Name {
			v.Live++
		}
	}
	return v
}

func sayServedHosts(p *printer, known remote.ServerView, views []servedHost) error {
	if p.json {
		return p.printJSON(map[string]any{"as_of": task.FormatTime(known.At), "hosts": views})
	}
	rows := [][]string{{"NAME", "SSH", "ORANGE", "TASKS", "FREE", "PROJECTS", "LABELS", "STATE"}}
	for _, v := range views {
		state := "here"
		switch {
		case v.Problem != "":
			state = v.Problem
		case v.Draining:
			state = "takes no new task"
		}
		rows = append(rows, []string{v.Name, v.SSH, v.Version, fmt.Sprint(v.Live), fmt.Sprint(v.Free),
			strings.Join(v.Projects, " "), strings.Join(v.Labels, " "), state})
	}
	if err := p.table(table{rows: rows, gives: []int{5, 6, 1}}); err != nil {
		return err
	}
	p.say("as of %s", remote.Clock(known.At.In(p.place())))
	return nil
}

// list lists the tasks of the hosts that are there, and those of the server that no such host has.
func (s servedFleet) list(ctx context.Context, h *Services, f remote.Fleet, on string, call remote.Call,
	want wanted) error {
	known, err := s.served.Known(ctx)
	if err != nil {
		return err
	}
	if on != "" {
		if _, err := f.Host(on); err != nil {
			return err
		}
	}
	var here []remote.Host
	var lost []told
	for _, host := range known.Hosts {
		switch one := (remote.Host{Name: host.Name, SSH: host.SSH}); {
		case on != "" && on != host.Name:
		case host.Here:
			here = append(here, one)
		default:
			since := remote.Clock(host.Since.In(s.place()))
			lost = append(lost, told{host: one, err: task.Notef(remote.ErrNotReached, "lost since %s", since)})
		}
	}
	all := append(s.askAll(ctx, h, f, here, call), lost...)
	return listAll(&s.printer, all, want, unlistedTasks(s.zone, known, all, on, call))
}

// lists reports whether a host has listed a task.
func lists(one told, id string) bool {
	tasks, err := tasksOf(one)
	return err == nil && slices.ContainsFunc(tasks, func(t listedTask) bool { return t.ID == id })
}

// unlistedTasks are the tasks that the server has and that no host listed, because it did not answer, because the task
// is not on record there any more, or not yet, or because no host has it.
func unlistedTasks(z zone, known remote.ServerView, all []told, on string, call remote.Call) []listedTask {
	project, only := "", false
	for _, word := range call.Argv {
		name, value, _ := strings.Cut(word, "=")
		if name == "--project" {
			project = value
		}
		only = only || slices.Contains([]string{"--mine", "--overdue", "--escalated", "--failures", "--status",
			"--done", "--since", "--until"}, name)
	}
	var out []listedTask
	for _, t := range known.Tasks {
		answered := slices.ContainsFunc(all, func(one told) bool {
			return one.host.Name == t.Host && one.problem() == "" && (!t.Missing() && !t.Taking || lists(one, t.ID))
		})
		if answered || on != "" && on != t.Host || project != "" && project != t.Project ||
			only && t.Attention == "" { // hosts know what the list is about
			continue
		}
		one := listedTask{ID: t.ID, Project: t.Project, Branch: t.Branch, Status: t.Status, Summary: t.Summary,
			Attention: t.Attention, Live: t.Live, Known: t.LastTold(z.place()), host: t.Host}
		if host, there := known.Host(t.Host); there && !host.Here {
			one.Known = "lost, " + one.Known
		}
		if t.Taking {
			one.Known = "waits: " + t.Host + " is asked to take it"
		}
		if t.Host == "" {
			why, _ := known.Why(t)
			one.Known = "waits: " + why
		}
		row := rowOf(t)
		delete(row, "host") // the list puts it in front
		row["known"] = one.Known
		raw, err := json.Marshal(row)
		if one.raw = raw; err == nil {
			out = append(out, one)
		}
	}
	return out
}

// create creates a task at whichever host has a place for it.
func (s servedFleet) create() *cobra.Command {
	c := taskCreate(s.program)
	var on string
	onFlag(c, &on, "a label, or a host, that gets the task (default: any host with a free place)")
	c.Short = "Create a task at a host with a free place, and start it there"
	c.Long = `Create a task at a host with a free place, and start it there: at any one, or at those with the label, or
at the very host, that --on names. Orange waits 30 seconds for the host's answer. If no host has a
place by then, it says what the task waits for, and the task is created as soon as there is one.`
	c.RunE = s.inFleet(func(ctx context.Context, h *Services, _ remote.Fleet, args []string) error {
		b, err := birthOf(ctx, s.finder, h, c, on, args)
		if err != nil {
			return err
		}
		born, err := s.served.Create(ctx, b)
		if err != nil {
			return err
		}
		if born.Reply != nil {
			return pass(&s.printer, remote.Host{Name: born.Host}, *born.Reply, "create")
		}
		if born.There {
			return sayThere(&s.printer, born.Task)
		}
		known, err := s.served.Known(ctx)
		if err != nil {
			return err
		}
		return sayQueued(&s.printer, known, born.Task)
	})
	return c
}

// birthOf is what a task is created from by a command line.
func birthOf(ctx context.Context, p *finder, h *Services, c *cobra.Command, on string, args []string) (
	b remote.Placement, err error) {
	if b.Call, err = callOf(&p.input, c, args, "project", "id", "epoch"); err != nil {
		return b, err
	}
	var n task.New
	if _, err = branchAndSummary(ctx, c, &n, args); err != nil {
		return b, err
	}
	b.On, b.Branch, b.Summary = on, n.Branch, n.Summary
	if b.Project, err = p.projectHere(ctx, h); err != nil {
		return b, err
	}
	flag := func(name string) string { return c.Flags().Lookup(name).Value.String() }
	for _, name := range []string{flag("harness"), flag("review-harness")} {
		if name != "" && !slices.Contains(b.Harness, name) {
			b.Harness = append(b.Harness, name)
		}
	}
	if name := flag("workflow"); name != "" {
		b.Workflow = name
		if def, err := h.Workflows.Workflow(name); err == nil { // else the host's own counts
			b.Workflow = name + "@" + def.Digest
		}
	}
	switch key := b.Call.Key; {
	case flag("epoch") != "0":
		return b, usage("found --epoch: the fleet counts epochs by itself")
	case key != "" && flag("id") != "":
		return b, usage("found --id and --key, expected one of them: an id is the key of its task")
	case key != "":
		b.ID, err = idempotency.ID(key)
	case flag("id") != "":
		b.ID = flag("id")
		err = idempotency.CheckID(b.ID)
	default:
		b.ID, err = newID()
	}
	b.Call.Key = ""
	return b, err
}

// rowOf is a task as the server of a fleet knows it, as JSON has it.
func rowOf(t remote.ServerTask) map[string]any {
	return map[string]any{"id": t.ID, "project": t.Project, "branch": t.Branch, "status": t.Status,
		"summary": t.Summary, "attention": t.Attention, "live": t.Live, "told": timeOr(t.Told),
		"event": t.Event, "epoch": t.Epoch, "host": t.Host}
}

// timeOr is a time as JSON has it; empty where there is none.
func timeOr(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return task.FormatTime(at)
}

// sayThere says that a task is there already under its id.
func sayThere(p *printer, t remote.ServerTask) error {
	if p.json {
		return p.printJSON(map[string]any{"task": rowOf(t), "queued": false, "there": true})
	}
	p.say("task %s is there already, at %s (%s)", t.ID, t.Host, t.Status)
	return nil
}

// sayQueued says what a task waits for.
func sayQueued(p *printer, known remote.ServerView, t remote.ServerTask) error {
	why, hosts := known.Why(t)
	if t.Host != "" {
		why = "host " + t.Host + " has been asked to take it, and has not answered yet"
	}
	if p.json {
		return p.printJSON(map[string]any{"task": rowOf(t), "queued": true, "waits_for": why, "hosts": hosts,
			"as_of": task.FormatTime(known.At)})
	}
	p.say("task %s is queued: %s", t.ID, why)
	return nil
}
