package storm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/history"
)

// ending is what there is once the fleet is healed.
type ending struct {
	people string                     // the list, in a file
	at     map[string][]*host         // the hosts that have a task on record
	live   map[string]bool            // tasks that are not over
	events map[string][]history.Event // of a task, where one host has it
	pushes []push
}

// push is a change of a ref of the repository.
type push struct {
	at            time.Duration
	from          *host // nil for no host
	old, new, ref string
}

// heal ends all trouble, and waits until nothing more happens.
func (w *world) heal(ctx context.Context, c *crowd) *ending {
	w.t.Helper()
	w.note("the storm is over")
	for _, h := range w.hosts {
		w.atHost(h, syscall.SIGCONT)
		w.link(h, "up")
		testkit.Must(w.t, os.WriteFile(filepath.Join(h.notes, "stop"), nil, 0o600))
	}
	for _, p := range w.programs() {
		if p.ended() {
			w.note("%s has ended by itself", p.name)
			w.count("programs that ended by themselves")
			p.signal(syscall.SIGKILL)
		}
		p.start()
	}
	w.until("three hosts that are there", 5*time.Minute, func() bool {
		exit, out := w.ask(ctx, w.desks[0], "hosts", "--json")
		return exit == 0 && strings.Count(out, `"reached": true`) == len(w.hosts)
	})
	for _, h := range w.hosts {
		w.until("the end of a drain", time.Minute, func() bool {
			exit, _ := w.fleetProgram(ctx, "drain", h.name, "--off")
			return exit == 0
		})
	}
	w.until("the answers to all requests", 4*time.Minute, func() bool {
		open := false
		for _, d := range w.desks[:2] {
			for a := c.unknownOf(d.person); a != nil && ctx.Err() == nil; a = c.unknownOf(d.person) {
				w.again(ctx, c, d, a)
				if a.open() {
					open = true
					break
				}
			}
		}
		return !open
	})
	f := &ending{}
	w.waits(ctx, f)
	return f
}

func (w *world) programs() []*program {
	all := []*program{w.serve, w.git}
	all = append(all, w.core...)
	for _, h := range w.hosts {
		all = append(all, h.daemon, h.monitor)
	}
	return all
}

// waits waits until every task is at one host, with nothing to do and all of it in a snapshot.
func (w *world) waits(ctx context.Context, f *ending) {
	w.t.Helper()
	const most = 3 * time.Minute
	var why string
	for late := time.Now().Add(most); ; rest(ctx, time.Second) {
		if why = w.restless(ctx, f); why == "" {
			return
		}
		if time.Now().After(late) || ctx.Err() != nil {
			w.t.Errorf("the fleet does not come to rest: %s", why)
			return
		}
	}
}

// restless is what still happens; empty where nothing does.
func (w *world) restless(ctx context.Context, f *ending) string {
	f.at, f.live, f.events = map[string][]*host{}, map[string]bool{}, map[string][]history.Event{}
	for _, h := range w.hosts {
		var list struct {
			Tasks []struct {
				ID   string
				Live bool
			}
		}
		if !w.reads(ctx, h, &list, "task", "list", "--all") {
			return "host " + h.name + " does not list its tasks"
		}
		text, err := os.ReadFile(filepath.Join(h.home, "fleet", "host.json"))
		var kept struct {
			Holder custody.Holder
			Rows   map[string]wire.Row
		}
		if err != nil || json.Unmarshal(text, &kept) != nil {
			return "host " + h.name + " knows nothing"
		}
		if left := kept.Holder.Gone(false); len(left) > 0 {
			return "host " + h.name + " still lets go of " + left[0].Task
		}
		for _, t := range list.Tasks {
			f.at[t.ID], f.live[t.ID] = append(f.at[t.ID], h), t.Live
			var told struct{ Events []history.Event }
			if !w.reads(ctx, h, &told, "task", "history", "--", t.ID) {
				return "task " + t.ID + " has no history at " + h.name
			}
			f.events[t.ID] = told.Events
			if row := kept.Rows[t.ID]; row.Shipped < len(told.Events) {
				return "task " + t.ID + " at " + h.name + " is not shipped"
			}
		}
	}
	for id, hosts := range f.at {
		if len(hosts) > 1 { // one of them has not heard yet that it was taken away
			return fmt.Sprintf("task %s is on record at %d hosts", id, len(hosts))
		}
	}
	tasks, is := w.list(ctx, w.desks[0])
	if !is {
		return "the fleet has no list"
	}
	for _, t := range tasks {
		if t.Status != "" && len(f.at[t.ID]) == 0 { // a host has had it, and another one may be asked for it just now
			w.makesRoom(t.ID)
			return "task " + t.ID + " waits for a place"
		}
	}
	return ""
}

// makesRoom renames the branch of a task at every host that has it from before a rescue, as the host asks a person to.
func (w *world) makesRoom(id string) {
	branch := "storm/" + id
	for _, h := range w.hosts {
		cmd := exec.Command("git", "branch", "-m", branch, branch+"-before")
		cmd.Dir, cmd.Env = filepath.Join(filepath.Dir(h.home), "web"), h.env
		if cmd.Run() == nil {
			w.note("the person at %s renames %s", h.name, branch)
		}
	}
}

// reads reads the JSON of a command of orange at a host.
func (w *world) reads(ctx context.Context, h *host, into any, words ...string) bool {
	d := &desk{dir: filepath.Dir(h.home), env: h.env}
	exit, out := w.ran(ctx, d, append(append([]string{"orange"}, words[:2]...), append([]string{"--json"},
		words[2:]...)...)...)
	return exit == 0 && json.Unmarshal([]byte(out), into) == nil
}
