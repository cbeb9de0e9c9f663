package storm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"
)

// trouble is something that happens to a fleet, and is over when it returns.
type trouble struct {
	name string
	do   func(w *world, ctx context.Context, h *host, dice *rand.Rand)
}

// troubles are all that happen. Every one happens at least once in a storm that lasts long enough.
func troubles() []trouble {
	return []trouble{
		{"the server alone is cut off, and the tasks rescued once the host is lost", serverCutRescued},
		{"the daemon is killed", func(w *world, ctx context.Context, h *host, dice *rand.Rand) {
			w.killed(ctx, h.daemon, dice)
		}},
		{"the monitor is killed", func(w *world, ctx context.Context, h *host, dice *rand.Rand) {
			w.killed(ctx, h.monitor, dice)
		}},
		{"a core worker is killed", func(w *world, ctx context.Context, _ *host, dice *rand.Rand) {
			w.killed(ctx, w.core[dice.IntN(len(w.core))], dice)
		}},
		{"the server is killed", func(w *world, ctx context.Context, _ *host, dice *rand.Rand) {
			w.killed(ctx, w.serve, dice)
		}},
		{"the link is down for a moment", func(w *world, ctx context.Context, h *host, dice *rand.Rand) {
			w.cut(ctx, h, time.Second+time.Duration(dice.Int64N(int64(3*time.Second))), nil)
		}},
		{"the server alone is cut off for longer than the lease", serverCut},
		{"the link is down for longer than the lease", func(w *world, ctx context.Context, h *host, _ *rand.Rand) {
			w.cut(ctx, h, w.times.lease+w.times.beat*3, nil)
		}},
		{"the tasks are rescued at once in a cut", func(w *world, ctx context.Context, h *host, dice *rand.Rand) {
			w.cut(ctx, h, w.times.beat*2, func() {
				w.rescue(ctx, h, "--now", fmt.Sprintf("storm %d", dice.Uint32()))
				rest(ctx, w.times.beat*3)
			})
		}},
		{"the daemon is stopped for longer than the lease", func(w *world, ctx context.Context, h *host, _ *rand.Rand) {
			h.daemon.signal(syscall.SIGSTOP)
			rest(ctx, w.times.lease+w.times.beat*3)
			h.daemon.signal(syscall.SIGCONT)
		}},
		{"the machine sleeps, and its tasks are rescued", asleep},
		{"the host is drained", drainHost},
	}
}

// killed kills a program, and starts it again after a while.
func (w *world) killed(ctx context.Context, p *program, dice *rand.Rand) {
	p.signal(syscall.SIGKILL)
	rest(ctx, time.Duration(dice.Int64N(int64(2*time.Second))))
	p.start()
}

// serves starts the server again wherever it has ended by itself: it gives up where a busy machine lets it begin too
// slowly.
func (w *world) serves(ctx context.Context) {
	for ; ctx.Err() == nil; rest(ctx, time.Second) {
		if w.serve.ended() {
			w.note("the server has ended by itself")
			w.count("servers that ended by themselves")
			w.serve.signal(syscall.SIGKILL)
			w.serve.start()
		}
	}
}

// link sets the link of a host up or down.
func (w *world) link(h *host, way string) {
	w.ip("-n", w.ns("hub"), "link", "set", h.space, way)
}

// cut takes the link of a host down for a while, and for as long as something lasts.
func (w *world) cut(ctx context.Context, h *host, d time.Duration, during func()) {
	w.link(h, "down")
	rest(ctx, d)
	if during != nil {
		during()
	}
	w.link(h, "up")
}

// rescue takes all tasks of a host away.
func (w *world) rescue(ctx context.Context, h *host, words ...string) {
	exit, out := w.ask(ctx, w.desks[0], append([]string{"rescue", "--host", h.name}, words...)...)
	w.note("rescue of %s: %d %.1500s", h.name, exit, out)
	w.add("tasks rescued", strings.Count(out, "was taken away from its host"))
	w.count(fmt.Sprintf("rescues of a host, exit status %d", exit))
}

// serverCut keeps a host from the server and not from the repository.
func serverCut(w *world, ctx context.Context, h *host, _ *rand.Rand) {
	w.ip("-n", w.ns(h.space), "route", "add", "unreachable", subnet+"2/32")
	rest(ctx, w.times.lease+w.times.beat*6)
	w.ip("-n", w.ns(h.space), "route", "del", "unreachable", subnet+"2/32")
}

// serverCutRescued keeps a host from the server and not from the repository, until others have its tasks.
func serverCutRescued(w *world, ctx context.Context, h *host, _ *rand.Rand) {
	w.ip("-n", w.ns(h.space), "route", "add", "unreachable", subnet+"2/32")
	rest(ctx, w.times.lost+w.times.beat*2)
	w.rescue(ctx, h)
	rest(ctx, w.times.beat*5)
	w.ip("-n", w.ns(h.space), "route", "del", "unreachable", subnet+"2/32")
}

// asleep stops everything at a host, as a laptop that is closed.
func asleep(w *world, ctx context.Context, h *host, _ *rand.Rand) {
	w.atHost(h, syscall.SIGSTOP)
	w.link(h, "down")
	rest(ctx, w.times.lost+w.times.beat*2)
	w.rescue(ctx, h)
	w.atHost(h, syscall.SIGCONT)
	w.link(h, "up")
}

// atHost sends a signal to every process of a host.
func (w *world) atHost(h *host, s syscall.Signal) {
	for range 2 { // what is stopped may have started something a moment before
		for _, p := range w.processes("ORANGE_HOME=" + h.home) {
			end(p, s)
		}
	}
}

// drainHost has a host take no new tasks for a while, and moves those at rest.
func drainHost(w *world, ctx context.Context, h *host, _ *rand.Rand) {
	exit, out := w.fleetProgram(ctx, "drain", h.name, "--move")
	w.note("drain of %s: %d %.1500s", h.name, exit, out)
	w.add("tasks that moved from a host that was drained", strings.Count(out, "was shipped"))
	rest(ctx, 2*w.times.beat)
	for exit = -1; exit != 0 && ctx.Err() == nil; {
		exit, out = w.fleetProgram(ctx, "drain", h.name, "--off")
	}
	w.note("the end of the drain of %s: %d %s", h.name, exit, out)
}

// fewest and mostLasts bound a storm on a busy machine: it goes on until people have got something done, and
// not forever.
const (
	fewest    = 20
	mostLasts = 6 * time.Minute
)

// calm is before the storm: hosts have tasks, and people move them.
func (w *world) calm(ctx context.Context, c *crowd) {
	for late := time.Now().Add(mostLasts); ctx.Err() == nil && time.Now().Before(late); rest(ctx, time.Second) {
		tasks := 0
		for _, h := range w.hosts {
			tasks += h.has()
		}
		if tasks >= mostTasks/2 && c.granted() >= fewest/4 {
			return
		}
	}
}

// storms has one thing after the other happen, in an order of the seed: every one once, and then again.
func (w *world) storms(ctx context.Context, c *crowd, all []trouble, lasts time.Duration) {
	dice := w.random(1)
	start := time.Now()
	over := func() bool {
		d := time.Since(start)
		return d > lasts && c.granted() >= fewest || d > mostLasts
	}
	for first := true; ctx.Err() == nil; first = false {
		dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, one := range all {
			if !first && over() || ctx.Err() != nil {
				return
			}
			h := w.oneOf(dice)
			w.note("%s: %s", h.name, one.name)
			one.do(w, ctx, h, dice)
			w.count("trouble: " + one.name)
			w.note("it is over")
			rest(ctx, time.Duration(dice.Int64N(int64(2*w.times.beat))))
		}
		if over() {
			return
		}
	}
}

// oneOf is a host of the dice's choice, one that has tasks if there is one.
func (w *world) oneOf(dice *rand.Rand) *host {
	first := dice.IntN(len(w.hosts))
	for i := range w.hosts {
		if h := w.hosts[(first+i)%len(w.hosts)]; h.has() > 0 {
			return h
		}
	}
	return w.hosts[first]
}
