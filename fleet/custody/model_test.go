package custody

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"orange/fleet/wire"
	"orange/internal/rules/fencing"
)

// The model has one task, two hosts, the server of the fleet and the repository with the snapshots. It is explored
// whole: from every configuration everything that can happen next happens, in every order. Time passes in ticks of
// half a minute; a host that sleeps, or is cut off, is one that does nothing, and whose messages arrive late or never.
//
// The rules are those of this package: State, HostState and Holder. What the model adds are the messages between them
// and what git does: a push takes effect only where the ref is what the pusher expects.

const (
	tick       = 30 * time.Second
	mostEpochs = 3
	mostTips   = 4
)

// bounds are how much happens: epochs, leases of each host, and snapshots.
type bounds struct {
	epochs, tips int
	leases       [2]int
}

// knobs switch off what is outside of this package.
type knobs struct {
	noSwap  bool // a push takes effect whatever the ref is
	noClaim bool // a host takes a task before its first snapshot is the ref
	noEnd   bool // an act under way goes on after its lease is over
	noLease bool // a host acts without looking at its lease
	bounds
}

// push is a snapshot on its way to the repository, or the answer to it.
type push struct {
	epoch, expects, tip int
	claim               bool // the first one of a host under an epoch: with its answer the host has the task
	landed, refused     bool
}

// act is one that others see, on its way.
type act struct {
	epoch int
	until time.Duration
}

type beat struct {
	number int
	sent   time.Duration
}

type world struct {
	now   time.Duration
	s     *State
	h     [2]HostState
	n     [2]Holder
	heard [2]time.Duration // when the server got the last beat of the present lease
	acked [2]beat          // an acknowledgement on its way to the host
	lease [2]wire.Lease    // an answer to a here on its way to the host
	take  [2]int           // the epoch of a take on its way to the host
	taken [2]int           // the epoch of the answer to a take
	push  [2]push
	tip   [2]int // the last snapshot that a host was acknowledged
	act   [2]act
	grant int // the epoch that a host has released, and that custody has not ended yet
	ref   int // the snapshot that is the ref; 0 for none
	tips  int // how many snapshots there are
	from  [mostTips + 1]int
	under [mostTips + 1]int
	told  [mostTips + 1]bool   // the push was acknowledged
	of    [mostEpochs + 1]int  // the host of an epoch, from 1
	ended [mostEpochs + 1]bool // the epoch was rescued from
	bad   string
	// What just happened; it matters for nothing else.
	late    bool // a push of a host that has lost the task was refused
	back    bool // a host that was rescued from lives again, and lets go
	further bool // the new host acts after a rescue
}

func names() [2]string { return [2]string{"h1", "h2"} }

func index(host string) int { return int(host[1] - '1') }

func (w world) broke(format string, args ...any) world {
	if w.bad == "" {
		w.bad = fmt.Sprintf(format, args...)
	}
	return w
}

// custody is the configuration with another custody; a message that is dropped leaves it as it is.
func (w world) custody(s State, _ error) world {
	w.s = &s
	return w
}

// step is a step with the words for it.
type step struct {
	what string
	next world
}

// key is the same for configurations from which the same can happen: how long ago something was matters only as long as
// a lease may depend on it.
func (w *world) key() string {
	b := make([]byte, 0, 160)
	add := func(values ...int) {
		for _, v := range values { // small numbers, none below -100
			b = append(b, byte(v+100))
		}
	}
	is := func(v bool) int {
		if v {
			return 1
		}
		return 0
	}
	ago := func(t, most time.Duration) int { return int(min(max(w.now-t, -LostAfter), most) / tick) }
	b = append(append(b, w.s.Phase[0]), w.s.Host...)
	add(w.s.Epoch, is(w.s.Doubt), len(w.s.Not), len(w.s.Old), w.grant, w.ref, w.tips, is(w.bad != ""))
	for _, not := range w.s.Not {
		b = append(b, not...)
	}
	for _, old := range w.s.Old {
		add(index(old.Host), old.Epoch)
	}
	add(w.from[:]...)
	add(w.under[:]...)
	add(w.of[:]...)
	for _, told := range w.told {
		add(is(told))
	}
	for _, ended := range w.ended {
		add(is(ended))
	}
	for i := range w.h {
		t, p, h := w.n[i].Of(job), w.push[i], w.h[i]
		add(is(h.Here), h.Number, len(h.Gone), w.n[i].Number, ago(w.n[i].Until, 0), t.Epoch, is(t.Has), w.tip[i])
		add(w.acked[i].number, w.lease[i].Number, len(w.lease[i].Gone), w.take[i], w.taken[i], w.act[i].epoch)
		add(p.epoch, p.expects, p.tip, is(p.claim), is(p.landed), is(p.refused))
		for _, gone := range append(h.Gone, w.lease[i].Gone...) {
			add(gone.Epoch)
		}
		if h.Here {
			add(ago(w.heard[i], LostAfter))
		}
		if w.acked[i].number > 0 {
			add(ago(w.acked[i].sent, LeaseFor))
		}
		if w.act[i].epoch > 0 {
			add(ago(w.act[i].until, 0))
		}
	}
	return string(b)
}

const job = "task"

// next is everything that can happen.
func (w world) next(k knobs) []step {
	w.late, w.back, w.further = false, false, false
	var out []step
	add := func(what string, next world) { out = append(out, step{what, next}) }
	later := w
	later.now += tick
	add("time passes", later)
	for i, name := range names() {
		for _, step := range [][]step{w.living(i, k), w.taking(i, k), w.acting(i, k), w.shipping(i, k), w.leaving(i)} {
			for _, one := range step {
				add(name+": "+one.what, one.next)
			}
		}
	}
	return append(out, w.deciding(k)...)
}

// living is leases, beats and silence.
func (w world) living(i int, k knobs) (out []step) {
	if w.h[i].Number < k.leases[i] {
		next, said := w, wire.Here{Host: names()[i]}
		if t := w.n[i].Of(job); !t.Has && t.Epoch > 0 {
			said.Left = []wire.Gone{{Task: job, Epoch: t.Epoch}}
		}
		next.h[i], next.lease[i] = w.h[i].Came(said, time.Unix(0, 0))
		next.heard[i] = w.now
		out = append(out, step{"says that it is there", next})
	}
	if w.lease[i].Number > 0 {
		next := w
		next.n[i], next.lease[i] = w.n[i].Leased(w.lease[i]), wire.Lease{}
		next.back = w.n[i].Of(job).Has && !next.n[i].Of(job).Has
		out = append(out, step{"gets its lease", next})
	}
	if n := w.n[i].Number; n > 0 && w.h[i].Here && w.h[i].Number == n && w.acked[i].number == 0 {
		next := w
		next.heard[i], next.acked[i] = w.now, beat{n, w.now}
		out = append(out, step{"sends a beat, which arrives", next})
	}
	if b := w.acked[i]; b.number > 0 {
		next := w
		next.n[i], next.acked[i] = w.n[i].Beat(b.number, b.sent), beat{}
		out = append(out, step{"learns that a beat arrived", next})
	}
	if w.h[i].Here && w.now-w.heard[i] >= LostAfter {
		next := w
		next.h[i] = w.h[i].Silent(w.h[i].Number, time.Unix(0, 0))
		out = append(out, step{"counts as lost", next})
	}
	return out
}

// taking is a take on its way to a host, its claim, and its answer.
func (w world) taking(i int, k knobs) (out []step) {
	if w.s.Phase == PhaseTaking && w.s.Host == names()[i] && w.take[i] == 0 && w.taken[i] != w.s.Epoch {
		next := w
		next.take[i] = w.s.Epoch
		out = append(out, step{"is asked to take the task", next})
	}
	if epoch := w.take[i]; epoch > 0 {
		never := w
		never.take[i] = 0
		never = never.custody(w.s.NeverReached(epoch), nil)
		out = append(out, step{"is not reached", never})
		doubt := w
		doubt = doubt.custody(w.s.Doubted(epoch), nil)
		out = append(out, step{"may have been reached", doubt})
		got := w
		got.take[i] = 0
		got = got.custody(w.s.Doubted(epoch), nil)
		held, err := w.n[i].Took(job, epoch)
		there := w.under[w.ref] // an epoch has one host: the snapshot is its claim, whose acknowledgement was lost
		switch {
		case err != nil:
			out = append(out, step{"refuses a take that is late", got})
		case w.n[i].Of(job).Has && w.n[i].Of(job).Epoch == epoch:
			got.taken[i] = epoch
			out = append(out, step{"answers the take again", got})
		case there > epoch:
			got.n[i] = w.n[i].Lost(job, epoch)
			out = append(out, step{"sees a later snapshot, and refuses the take", got})
		case there == epoch || k.noClaim:
			got.n[i], got.taken[i], got.tip[i] = held, epoch, w.ref
			out = append(out, step{"takes the task", got})
		case w.push[i].tip == 0 && w.tips < k.tips:
			out = append(out, step{"claims the task", got.pushes(i, epoch, w.ref, true)})
		}
	}
	if epoch := w.taken[i]; epoch > 0 {
		next := w
		next.taken[i] = 0
		report := wire.Report{Host: names()[i], Epoch: epoch, Task: job}
		next = next.custody(w.s.taken(epoch, wire.TakeAnswer{Report: report}))
		out = append(out, step{"has taken the task", next})
	}
	return out
}

func (w world) pushes(i, epoch, expects int, claim bool) world {
	w.tips++
	w.from[w.tips], w.under[w.tips] = expects, epoch
	w.push[i] = push{epoch: epoch, expects: expects, tip: w.tips, claim: claim}
	return w
}

// acting is what others see.
func (w world) acting(i int, k knobs) (out []step) {
	if t := w.n[i].Of(job); w.act[i].epoch == 0 && t.Has {
		lease := fencing.HomeLease{Boot: "b", Until: w.n[i].Until}
		if lease.Left(fencing.Clock{Boot: "b", Up: w.now}) > 0 || k.noLease {
			next := w
			next.act[i] = act{t.Epoch, w.n[i].Until}
			out = append(out, step{"begins to act", next})
		}
	}
	if a := w.act[i]; a.epoch > 0 {
		gone := w
		gone.act[i] = act{}
		out = append(out, step{"its act is cut short", gone})
		if w.now < a.until || k.noEnd || k.noLease {
			next := gone
			next.further = a.epoch > 1 && w.ended[a.epoch-1]
			if w.ended[a.epoch] {
				next = next.broke("h%d acts under the epoch %d after the rescue", i+1, a.epoch)
			}
			if w.of[a.epoch] != i+1 {
				next = next.broke("h%d acts under the epoch %d of another host", i+1, a.epoch)
			}
			out = append(out, step{"acts", next})
		}
	}
	return out
}

// shipping is snapshots.
func (w world) shipping(i int, k knobs) (out []step) {
	p := w.push[i]
	if t := w.n[i].Of(job); p.tip == 0 && t.Has && w.tips < k.tips {
		out = append(out, step{"takes a snapshot", w.pushes(i, t.Epoch, w.tip[i], false)})
	}
	switch {
	case p.tip == 0:
	case !p.landed && !p.refused:
		out = append(out, step{"its push arrives", w.lands(i, k)})
	case p.refused:
		next := w
		next.push[i] = push{}
		if t := w.n[i].Of(job); !p.claim && t.Has && t.Epoch == p.epoch {
			switch there := w.under[w.ref]; {
			case there == t.Epoch: // it is the host's own, whose acknowledgement was lost
				next.tip[i] = w.ref
			case there > t.Epoch:
				next.n[i] = w.n[i].Lost(job, t.Epoch)
			default: // it never is where every host claims a task before it takes it
				next = next.broke("h%d: an earlier host has pushed a snapshot meanwhile", i+1)
			}
		}
		out = append(out, step{"learns that its push was refused", next})
	default:
		next := w
		next.push[i] = push{}
		next.told[p.tip] = true
		if p.claim {
			if held, err := w.n[i].Took(job, p.epoch); err == nil {
				next.n[i], next.taken[i], next.tip[i] = held, p.epoch, p.tip
			}
		} else if w.n[i].Of(job).Epoch == p.epoch {
			next.tip[i] = p.tip
		}
		out = append(out, step{"learns that its push arrived", next.keeps()})
	}
	if p.tip > 0 {
		next := w
		next.push[i] = push{}
		out = append(out, step{"never learns of its push", next})
	}
	return out
}

func (w world) lands(i int, k knobs) world {
	p := &w.push[i]
	if w.ref != p.expects && !k.noSwap {
		p.refused = true
		w.late = w.ended[p.epoch]
		return w
	}
	if w.ref > 0 && w.under[w.ref] > p.epoch {
		w = w.broke("the snapshot of h%d under the epoch %d replaces one under the epoch %d", i+1, p.epoch,
			w.under[w.ref])
	}
	w.ref, w.push[i].landed = p.tip, true
	return w.keeps()
}

// keeps checks that every snapshot that was acknowledged is below the one that is the ref.
func (w world) keeps() world {
	below := map[int]bool{0: true}
	for tip := w.ref; tip > 0; tip = w.from[tip] {
		below[tip] = true
	}
	for tip := range w.told {
		if w.told[tip] && !below[tip] {
			return w.broke("the snapshot %d was acknowledged, and is not below the ref", tip)
		}
	}
	return w
}

// leaving is a host that the server asks to let go.
func (w world) leaving(i int) (out []step) {
	for _, old := range w.s.Old {
		if old.Host == names()[i] {
			next := w
			next.n[i] = w.n[i].Lost(job, old.Epoch)
			next = next.custody(w.s.Left(old.Host, old.Epoch, ""), nil)
			out = append(out, step{"leaves", next})
		}
	}
	return out
}

// deciding is placement, and the person who rescues.
func (w world) deciding(k knobs) (out []step) {
	if w.s.Phase == PhaseWaiting && w.s.Epoch < k.epochs {
		for i, name := range names() {
			if slices.Contains(w.s.Not, name) || w.s.Epoch == 0 && i > 0 { // the hosts are alike: the first one begins
				continue
			}
			next := w
			next = next.custody(w.s.accepted(wire.OfferAnswer{Host: name}), nil)
			next.of[next.s.Epoch] = i + 1
			if next.s.Epoch != w.s.Epoch+1 {
				next = next.broke("the epoch %d follows %d", next.s.Epoch, w.s.Epoch)
			}
			out = append(out, step{"the task goes to " + name, next})
		}
	}
	asked := wire.Rescue{From: w.s.Epoch}
	if due, err := w.s.rescuable(asked); err == nil && due && w.grant == 0 && w.s.Epoch < k.epochs {
		i := index(w.s.Host)
		h, answer := w.h[i].Released(wire.Release{Host: w.s.Host, Task: job, Epoch: w.s.Epoch})
		if answer.Kept == "" {
			next := w
			next.h[i], next.grant, next.ended[w.s.Epoch] = h, w.s.Epoch, true
			out = append(out, step{"a person asks for a rescue, which " + w.s.Host + " releases", next})
		}
	}
	if w.grant > 0 {
		next := w
		next.grant = 0
		next = next.custody(w.s.Rescued(wire.Rescue{From: w.grant}))
		if next.s.Epoch < w.s.Epoch || next.s.Phase == PhaseHeld && next.s.Epoch == w.grant {
			next = next.broke("after a rescue the task is %s under the epoch %d", next.s.Phase, next.s.Epoch)
		}
		out = append(out, step{"the task is taken away", next})
	}
	return out
}

// finding is what the exploration came to.
type finding struct {
	worlds, steps       int
	bad                 string
	late, back, further bool // what was seen: the model is not about nothing
}

var errTooMany = errors.New("too many configurations")

func explore(k knobs, most int) (finding, error) {
	type mark struct {
		from int
		what string
	}
	first := world{s: &State{Task: job, Phase: PhaseWaiting}}
	seen := map[string]bool{first.key(): true}
	queue, marks := []*world{&first}, []mark{{-1, ""}}
	var f finding
	for at := 0; at < len(queue); at++ {
		w := queue[at]
		queue[at] = nil // only its steps matter from here on
		f.worlds++
		if w.bad != "" {
			for i := at; i > 0; i = marks[i].from {
				f.bad = "\n  " + marks[i].what + f.bad
			}
			f.bad = w.bad + f.bad
			return f, nil
		}
		for _, one := range w.next(k) {
			f.steps++
			f.late, f.back, f.further = f.late || one.next.late, f.back || one.next.back, f.further || one.next.further
			if key := one.next.key(); !seen[key] {
				seen[key] = true
				queue, marks = append(queue, &one.next), append(marks, mark{at, one.what})
			}
		}
		if len(seen) > most {
			return f, errTooMany
		}

	}
	return f, nil
}

// Each of these is explored whole; the long ones with two leases of a host, with two rescues, or with a snapshot more.
// Attackers cannot (docs/proof.md): have Orange act for a task that was rescued from its host.
func TestModel_noTwoActsUnderOneEpochAfterARescue(t *testing.T) {
	t.Parallel()
	all := []bounds{{epochs: 2, tips: 2, leases: [2]int{1, 0}}, {epochs: 2, tips: 3}}
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		all = append(all, bounds{epochs: 2, tips: 2, leases: [2]int{2, 0}}, bounds{epochs: 3, tips: 3},
			bounds{epochs: 2, tips: 3, leases: [2]int{1, 0}})
	}
	var seen finding
	for _, b := range all {
		f, err := explore(knobs{bounds: b}, 2_000_000)
		if err != nil || f.bad != "" {
			t.Fatalf("%+v: %v: %s", b, err, f.bad)
		}
		t.Logf("%+v: %d configurations, %d steps", b, f.worlds, f.steps)
		seen.late, seen.back, seen.further = seen.late || f.late, seen.back || f.back, seen.further || f.further
	}
	if !seen.late || !seen.back || !seen.further {
		t.Errorf("seen are a late push that is refused: %t, a host that comes back and lets go: %t, an act of the new "+
			"host: %t", seen.late, seen.back, seen.further)
	}
}

func TestModel_findsWhatItLacks(t *testing.T) {
	t.Parallel()
	leases := bounds{epochs: 2, tips: 2, leases: [2]int{1, 0}}
	for what, k := range map[string]knobs{
		"without compare-and-swap":         {noSwap: true, bounds: bounds{epochs: 2, tips: 3}},
		"without a claim before the take":  {noClaim: true, bounds: bounds{epochs: 2, tips: 3}},
		"with acts that outlive the lease": {noEnd: true, bounds: leases},
		"without a lease":                  {noLease: true, bounds: leases},
	} {
		f, err := explore(k, 2_000_000)
		if err != nil || f.bad == "" {
			t.Errorf("%s nothing is found among %d configurations: %v", what, f.worlds, err)
		}
		t.Logf("%s: %s", what, f.bad)
	}
}
