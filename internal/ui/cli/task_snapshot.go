package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/fencing"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Snapshots take tasks into a git repository, and bring them back from it.
type Snapshots interface {
	// Take takes snapshots of tasks and pushes them.
	Take(ctx context.Context, ids []string, o record.SnapshotOrder) []record.TakenSnapshot
	// Restore brings a task back, if it is what the order expects. The same order again is answered with the task.
	Restore(ctx context.Context, project, id, from string, o fencing.RestoreOrder) (record.Adopted, error)
	// Hold notes that a task is this home's in an epoch, before it is created here for a fleet.
	Hold(ctx context.Context, id string, epoch int) error
	// HeldIn is the epoch in which a task is held for a fleet here; 0 where it is not.
	HeldIn(id string) (epoch int, err error)
	// ShipLost pushes what is here of a task that is about to leave, and returns the ref there; it is empty where the
	// last snapshot has all of it.
	ShipLost(ctx context.Context, id, to string) (ref string, err error)
	// Forget removes the snapshots of a task that was deleted.
	Forget(ctx context.Context, t task.Task) error
}

func taskSnapshot(p *Program) *cobra.Command {
	const most = 100 // tasks in one call
	var o record.SnapshotOrder
	var biggest string
	c := &cobra.Command{
		Use: "snapshot [ID]...", Short: "Push a task's history and work to a git repository", Args: between(0, most),
		Long: `Push a task's history and work to a git repository, from which "orange task restore" brings it back
at another machine. --to is a remote of the project or an address; there is no usual one. It gets
refs/orange/fleet/ID/record, the task's folder with its workflow, and refs/orange/fleet/ID/work, the
files of the worktree, uncommitted and new ones too. Ignored files are never in it. New files that
look like secrets, and those of more than 50 MB, are left out and named; --include PATH takes one
in.

A snapshot is pushed only if no one else has pushed one since the last that was acknowledged here.
Those of several tasks of one project are pushed at once. Where one of them is refused the others
are pushed all the same; the exit status is that of the first task that failed. --json then has
{"snapshots": [...]}, each with its task and, where it failed, "error" and "code".`,
		Example: "  orange task snapshot 4Fz --to origin",
		RunE: p.runForPerson("take a snapshot", func(ctx context.Context, h *Services, args []string) (err error) {
			if o.To == "" {
				return usage("where to? Give --to with a remote of the project or the address of a repository")
			}
			if o.Biggest, err = bytesOf(biggest); err != nil {
				return err
			}
			if len(args) > 1 {
				return takeSeveral(ctx, &p.finder, h, args, o)
			}
			id, err := p.find(ctx, h, args)
			if err != nil {
				return err
			}
			taken := h.Snapshots.Take(ctx, []string{id}, o)[0]
			if taken.Err == nil && p.json {
				return p.printJSON(taken)
			}
			return sayTaken(&p.printer, taken, o.To)
		}),
	}
	c.Flags().StringVar(&o.To, "to", "", "the repository: a remote of the project, a path or an address")
	c.Flags().StringArrayVar(&o.Include, "include", nil, "a new file that is taken in although it looks like a secret")
	c.Flags().StringVar(&biggest, "biggest", "50MB", "leave out new files that are larger: 10MB, or a number of bytes")
	c.Flags().BoolVar(&o.IfChanged, "if-changed", false, "push nothing where the last snapshot there has the same")
	return c
}

// takeSeveral takes snapshots of some tasks. What stops one of them stops none of the others.
func takeSeveral(ctx context.Context, p *finder, h *Services, words []string, o record.SnapshotOrder) error {
	if len(o.Include) > 0 {
		return usage("--include is for one task: it would take that file of each into its snapshot")
	}
	all := make([]record.TakenSnapshot, len(words)) // in the order of the words
	var ids []string
	for i, word := range words {
		id, err := p.find(ctx, h, []string{word})
		all[i] = record.TakenSnapshot{Task: word, Err: err}
		if err == nil {
			all[i].Task, ids = id, append(ids, id)
		}
	}
	taken := map[string]record.TakenSnapshot{}
	for _, one := range h.Snapshots.Take(ctx, ids, o) {
		taken[one.Task] = one
	}
	status := 0
	for i, one := range all {
		if one.Err == nil {
			all[i] = taken[one.Task]
		}
		if err := all[i].Err; err != nil && status == 0 {
			status, _ = classify(err)
		}
	}
	if err := sayAllTaken(&p.printer, all, o.To); err != nil || status == 0 {
		return err
	}
	return &ended{status}
}

// sayAllTaken prints snapshots, each with what stopped it.
func sayAllTaken(p *printer, all []record.TakenSnapshot, to string) error {
	type view struct {
		record.TakenSnapshot
		Error string `json:"error,omitempty"`
		Code  string `json:"code,omitempty"`
	}
	views := []view{}
	for _, taken := range all {
		one := view{TakenSnapshot: taken}
		one.Left = orEmpty(taken.Left)
		if taken.Err != nil {
			one.Error = taken.Err.Error()
			_, one.Code = classify(taken.Err)
		}
		views = append(views, one)
	}
	if p.json {
		return p.printJSON(map[string]any{"snapshots": views})
	}
	for _, taken := range all {
		if err := sayTaken(p, taken, to); err != nil {
			p.warn("task %s: %v", taken.Task, err)
		}
	}
	return nil
}

func sayTaken(p *printer, taken record.TakenSnapshot, to string) error {
	switch {
	case taken.Err != nil:
		return taken.Err
	case taken.Unchanged:
		p.say("the last snapshot of task %s at %s, up to event %d, has all that there is", taken.Task, to, taken.Event)
		return nil
	}
	p.say("pushed a snapshot of task %s, up to event %d, to %s", taken.Task, taken.Event, to)
	for _, file := range taken.Left {
		p.say("  left out: %s (--include %q takes it in)", file, file)
	}
	return nil
}

func taskRestore(p *Program) *cobra.Command {
	var from, order, reason string
	var epoch int
	c := &cobra.Command{
		Use: "restore ID", Short: "Bring a task back from its snapshot", Args: between(1, 1),
		Long: `Bring a task back from its snapshot in a git repository: its history, which is verified, its
document, its branch, and what was uncommitted, in a free workspace of this home. The agent of its
status is started; where no workspace is free the task waits for one. The project has to be
registered here under the same name. Before the task goes on here a first snapshot with the next
epoch is pushed there: from then on the home that had the task can push none, and what it does for
the task outside of its machine is held back.

--expect reads what is known of the task, as JSON from a file or, with -, from standard input; what
it leaves out is not compared: {"epoch": that the task gets here, "event": the last one that is
known of, "hash": of that event, "workflow": the digest of the one that it was created under,
"host": that had it, "since": [hosts that may have brought it back since], "keys": [of requests that
were acknowledged at the host], "person", "reason", "signed", "signature": who brings the task back,
why, and what they have signed of it, for the history}. Another history is refused, an older one is
named. A key that the history does not have becomes an event "ask.lost", which orange task why
names. With an epoch, by --expect or --epoch, the same command again answers with the task that is
there.

With $ORANGE_HOME/fleet/hosts, a file of allowed signers as ssh-keygen has it, only a snapshot is
taken of which both parts are signed by one of them. Snapshots are signed with the ssh key
$ORANGE_HOME/fleet/host_key, where that is there.`,
		Example: "  orange task restore 4FzXk0aB3cD5eF7gH9iJ1 --from origin --project web",
		RunE: p.runForPerson("restore a task", func(ctx context.Context, h *Services, args []string) error {
			project, err := p.projectOf(ctx, h)
			if from == "" {
				err = errors.Join(usage("where from? Give --from with a remote of the project or the address of a "+
					"repository"), err)
			}
			if err != nil {
				return err
			}
			o, err := readOrder(&p.input, order, epoch)
			if err != nil {
				return err
			}
			who, err := h.Identity.Actor(ctx, "", "")
			if err != nil {
				return err
			}
			if o.Signature == "" { // no one else has signed it
				o.Person = who.Person
			}
			o.Reason = cmp.Or(reason, o.Reason)
			back, err := h.Snapshots.Restore(ctx, project.Name, args[0], from, o)
			if err != nil {
				return err
			}
			t := back.Task
			if p.json {
				return p.printJSON(map[string]any{"task": view(t, ""), "notes": orEmpty(back.Notes),
					"lost": orEmpty(back.Lost)})
			}
			p.say("task %s is back: %s, with %d events", t.ID, t.Status, t.Seq)
			for _, note := range back.Notes {
				p.say("  %s", note)
			}
			return nil
		}),
	}
	c.Flags().StringVar(&from, "from", "", "the repository: a remote of the project, a path or an address")
	c.Flags().StringVar(&order, "expect", "", "a file with what is known of the task, or - for standard input")
	c.Flags().StringVar(&reason, "reason", "", "why: the history then has it, with your name")
	c.Flags().IntVar(&epoch, "epoch", 0, "the epoch that the task gets here (default: the next one)")
	return c
}

// readOrder reads what is known of a task that is to be restored.
func readOrder(p *input, file string, epoch int) (fencing.RestoreOrder, error) {
	o := fencing.RestoreOrder{}
	if file != "" {
		text, err := p.read("what is expected of the task", file)
		if err != nil {
			return o, err
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields() // what is not known would not be compared
		if err := decoder.Decode(&o); err != nil {
			return o, usage("cannot read what is expected of the task: %v; \"orange task restore --help\" has its form",
				err)
		}
	}
	if epoch != 0 {
		if o.Epoch != 0 && o.Epoch != epoch {
			return o, usage("found the epoch %d in --expect and --epoch %d, expected one of them", o.Epoch, epoch)
		}
		o.Epoch = epoch
	}
	return o, nil
}

// bytesOf reads a size such as 50MB.
func bytesOf(text string) (int64, error) {
	number, factor := text, int64(1)
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}} {
		if rest, is := strings.CutSuffix(text, unit.name); is {
			number, factor = rest, unit.bytes
		}
	}
	const most = 1 << 32 // of a unit
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, usage("found %q as a size, expected one such as 50MB", text)
	}
	return n * factor, nil
}
