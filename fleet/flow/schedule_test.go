package flow_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

const id = "abc"

var (
	seedFlag  = flag.Uint64("seed", 0, "run the schedules of this seed and the following ones; 0 for the usual ones")
	seedsFlag = flag.Uint64("seeds", 1, "how many schedules to run with -seed")
)

// entry is an event of a task's history at a host: the key of the request that made it, or empty.
type entry string

// fakeHost is a host of a schedule: what it has on its disk, and whether it lives.
type fakeHost struct {
	name   string
	alive  bool
	holder custody.Holder
	state  custody.HostState
	chain  []entry
	report int // the version of the last report
}

// later is the answer of an activity that is on its way.
type later struct {
	due    time.Time
	token  []byte
	answer func() (any, error)
}

// schedule is one run of a custody with everything that befalls it.
type schedule struct {
	t        *testing.T
	lock     sync.Mutex // activities run at the same time as the workflow; nothing else does
	seed     uint64
	rng      *rand.Rand
	env      *testsuite.TestWorkflowEnvironment
	hosts    []*fakeHost
	shipped  []entry // the last snapshot
	pending  []later
	last     custody.State
	custody  map[int]string // of each epoch
	asked    []wire.Request
	acked    map[string]bool
	took     map[int]string // which host took the task under an epoch
	rescues  map[int]int
	counts   counts
	problems []string
}

// counts is what befell the schedules.
type counts struct{ Rescues, Acked, Lost, Unknown, Refused, Late, Deaths, Runs int }

func (c *counts) add(o counts) {
	c.Rescues += o.Rescues
	c.Acked += o.Acked
	c.Lost += o.Lost
	c.Unknown += o.Unknown
	c.Refused += o.Refused
	c.Late += o.Late
	c.Deaths += o.Deaths
	c.Runs++
}

func (s *schedule) broke(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *schedule) host(name string) *fakeHost {
	return s.hosts[slices.IndexFunc(s.hosts, func(h *fakeHost) bool { return h.name == name })]
}

// chance is true once in so many times.
func (s *schedule) chance(n int) bool { return s.rng.IntN(n) == 0 }

// drawn is the dice of one try of an activity: the same ones for the same seed, whatever runs at the same time.
func (s *schedule) drawn(ctx context.Context) *rand.Rand {
	info, sum := activity.GetInfo(ctx), fnv.New64()
	fmt.Fprint(sum, info.ActivityID, " ", info.Attempt)
	return rand.New(rand.NewPCG(s.seed, sum.Sum64()))
}

// watch checks every state of the custody against the one before.
func (s *schedule) watch(next custody.State) {
	s.lock.Lock()
	defer s.lock.Unlock()
	before := s.last
	s.last = next
	if next.Epoch < before.Epoch {
		s.broke("the epoch went from %d to %d", before.Epoch, next.Epoch)
	}
	if next.Phase == custody.PhaseTaking || next.Phase == custody.PhaseHeld {
		if was, known := s.custody[next.Epoch]; known && was != next.Host {
			s.broke("the epoch %d has the custodians %s and %s", next.Epoch, was, next.Host)
		}
		s.custody[next.Epoch] = next.Host
	}
	if next.Epoch == before.Epoch && (next.Version < before.Version && next.Phase != custody.PhaseTaking ||
		next.Row.Head.Event < before.Row.Head.Event && before.Phase == custody.PhaseHeld) {
		s.broke("the row went back from %+v to %+v", before.Row, next.Row)
	}
	if next.Known.Event < before.Known.Event && next.Phase == before.Phase {
		s.broke("what is known went back from %d to %d", before.Known.Event, next.Known.Event)
	}
	for _, old := range next.Old {
		if !slices.Contains(before.Old, old) {
			s.rescues[old.Epoch]++
			s.counts.Rescues++
		}
	}
}

func timeout() error {
	return temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
}

// activityAt is an activity at a host: it may not arrive, or fail before or after its effect, or answer late.
func activityAt[T wire.Body](s *schedule, ctx context.Context, h *fakeHost, wait bool,
	effect func(*rand.Rand) (T, error)) (wire.Message[T], error) {
	none, dice := wire.Message[T]{}, s.drawn(ctx)
	if !h.alive {
		if wait { // the server keeps it for as long as it takes
			return none, errors.New("no worker")
		}
		return none, timeout()
	}
	delay := time.Duration(dice.IntN(40)) * time.Second
	switch dice.IntN(8) {
	case 0:
		return none, errors.New("cut off before the effect")
	case 1:
		_, _ = effect(dice)
		return none, errors.New("cut off after the effect")
	case 2: // the answer is late
		body, err := effect(dice)
		if err != nil {
			return none, err
		}
		s.wait(ctx, delay, func() (any, error) { return wire.Of(body), nil })
		return none, activity.ErrResultPending
	case 3: // the effect is late
		s.wait(ctx, delay, func() (any, error) {
			if !h.alive {
				return nil, errors.New("died meanwhile")
			}
			body, err := effect(dice)
			return wire.Of(body), err
		})
		return none, activity.ErrResultPending
	}
	body, err := effect(dice)
	return wire.Of(body), err
}

func (s *schedule) wait(ctx context.Context, delay time.Duration, answer func() (any, error)) {
	s.pending = append(s.pending, later{s.env.Now().Add(delay), activity.GetInfo(ctx).TaskToken, answer})
}

func (s *schedule) accept(ctx context.Context, m wire.Message[wire.Offer]) (wire.Message[wire.OfferAnswer], error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	dice := s.drawn(ctx)
	for _, i := range dice.Perm(len(s.hosts)) {
		h := s.hosts[i]
		if !h.alive {
			continue
		}
		if slices.Contains(m.Body.Not, h.name) || dice.IntN(10) == 0 {
			return wire.Of(wire.OfferAnswer{Host: h.name, Unfit: "no claude"}), nil
		}
		return wire.Of(wire.OfferAnswer{Host: h.name}), nil
	}
	return wire.Message[wire.OfferAnswer]{}, timeout()
}

func (s *schedule) take(ctx context.Context, m wire.Message[wire.Take]) (wire.Message[wire.TakeAnswer], error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	take := m.Body
	h := s.host(s.custody[take.Epoch])
	return activityAt(s, ctx, h, false, func(dice *rand.Rand) (wire.TakeAnswer, error) {
		refused := wire.TakeAnswer{Report: testkit.Report(s.t, h.name, id, take.Epoch, 1, 0, ""), Refused: "not here"}
		if h.holder.Of(id).Has && h.holder.Of(id).Epoch == take.Epoch {
			return s.taken(h, take), nil
		}
		holder, err := h.holder.Took(id, take.Epoch)
		if err != nil {
			s.counts.Late++
			return refused, nil //nolint:nilerr // the answer says it
		}
		if dice.IntN(12) == 0 {
			h.holder = h.holder.Lost(id, take.Epoch)
			return refused, nil
		}
		if other, twice := s.took[take.Epoch]; twice && other != h.name {
			s.broke("the epoch %d is taken by %s and by %s", take.Epoch, other, h.name)
		}
		s.took[take.Epoch] = h.name
		h.holder, h.report, h.chain = holder, 0, append([]entry{}, s.shipped...)
		h.chain = append(h.chain, "")
		return s.taken(h, take), nil
	})
}

func (s *schedule) taken(h *fakeHost, take wire.Take) wire.TakeAnswer {
	var lost []string
	for _, k := range take.Keys {
		if !slices.Contains(h.chain, entry(k.Key)) {
			lost = append(lost, k.Key)
		}
	}
	h.report++
	s.shipped = append([]entry{}, h.chain...)
	return wire.TakeAnswer{Lost: lost, Report: testkit.Report(s.t, h.name, id, take.Epoch, h.report, len(h.chain),
		"working")}
}

func (s *schedule) answer(ctx context.Context, m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r := m.Body.Request
	h := s.host(r.Host)
	return activityAt(s, ctx, h, false, func(dice *rand.Rand) (wire.Reply, error) {
		if t := h.holder.Of(id); !t.Has || t.Epoch != r.Epoch {
			return wire.Reply{}, errors.New("not here")
		}
		if !slices.Contains(h.chain, entry(r.Key)) {
			h.chain = append(h.chain, entry(r.Key))
			if dice.IntN(2) == 0 {
				s.ship(h)
			}
		}
		reply := testkit.Reply(s.t, h.name, r, len(h.chain))
		if dice.IntN(2) == 0 {
			h.report++
			report := testkit.Report(s.t, h.name, id, r.Epoch, h.report, len(h.chain), "working")
			reply.Report = &report
		}
		return reply, nil
	})
}

// ship pushes a snapshot, which a host can do only while it is the custodian: that is what git's compare-and-swap is
// for. The model in package custody has the case in which it tries later.
func (s *schedule) ship(h *fakeHost) {
	if s.took[h.holder.Of(id).Epoch] == h.name && h.holder.Of(id).Epoch == s.greatest() {
		s.shipped = append([]entry{}, h.chain...)
	}
}

func (s *schedule) greatest() (epoch int) {
	for e := range s.took { // any order: it is the greatest
		epoch = max(epoch, e)
	}
	return epoch
}

func (s *schedule) leave(ctx context.Context, m wire.Message[wire.Leave]) (wire.Message[wire.LeaveAnswer], error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	i := slices.IndexFunc(s.last.Old, func(o custody.EarlierHost) bool { return o.Epoch == m.Body.Gone.Epoch })
	if i < 0 {
		return wire.Of(wire.LeaveAnswer{}), nil
	}
	h := s.host(s.last.Old[i].Host)
	return activityAt(s, ctx, h, true, func(*rand.Rand) (wire.LeaveAnswer, error) {
		h.holder = h.holder.Lost(id, m.Body.Gone.Epoch)
		return wire.LeaveAnswer{Host: h.name, Ref: fmt.Sprintf("refs/orange/fleet/%s/lost/%d", id,
			m.Body.Gone.Epoch)}, nil
	})
}

func (s *schedule) release(ctx context.Context, m wire.Message[wire.Release]) (wire.Message[wire.ReleaseAnswer],
	error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	h := s.host(m.Body.Host)
	if s.drawn(ctx).IntN(8) == 0 {
		return wire.Message[wire.ReleaseAnswer]{}, errors.New("the server is busy")
	}
	var answer wire.ReleaseAnswer
	if h.state, answer = h.state.Released(m.Body); answer.Kept == "" {
		h.state = h.state.Revoked()
	}
	return wire.Of(answer), nil
}

// pump lets time pass: answers arrive, hosts die and come back, people ask and rescue.
func (s *schedule) pump(step int) {
	now := s.env.Now()
	var rest []later
	for _, l := range s.pending {
		if l.due.After(now) {
			rest = append(rest, l)
			continue
		}
		body, err := l.answer()
		_ = s.env.CompleteActivity(l.token, body, err) // nothing, where the custody does not wait any more
	}
	s.pending = rest
	for _, h := range s.hosts {
		s.living(h, step)
	}
	switch {
	case step > wildSteps:
		if s.last.Phase == custody.PhaseHeld {
			s.end()
		}
	case s.chance(6):
		s.ask()
	case s.chance(10):
		s.rescue()
	}
	if step > mostSteps {
		s.env.CancelWorkflow()
		return
	}
	s.env.RegisterDelayedCallback(func() { s.pump(step + 1) }, 5*time.Second)
}

// A schedule is wild for a while; then every host lives, and the task ends.
const (
	wildSteps = 200 // of five seconds
	mostSteps = 2000
)

const silentFor = 18 // steps of five seconds

func (s *schedule) living(h *fakeHost, step int) {
	calm := step > wildSteps
	switch {
	case h.alive && !calm && s.chance(120):
		h.alive = false
		s.counts.Deaths++
		number := h.state.Number
		s.env.RegisterDelayedCallback(func() { h.state = h.state.Silent(number, s.env.Now()) }, silentFor*5*time.Second)
	case !h.alive && (calm || s.chance(40)):
		s.late(h) // what it had on its way
		s.arrives(h)
	case h.alive && h.state.Number != h.holder.Number && (calm || s.chance(4)):
		s.arrives(h)
	case h.alive && s.chance(8):
		s.reports(h)
	}
}

// arrives is a host that says that it is there, and learns what it has lost.
func (s *schedule) arrives(h *fakeHost) {
	var lease wire.Lease
	h.state, lease = h.state.Came(wire.Here{Host: h.name}, s.env.Now())
	h.holder, h.alive = h.holder.Leased(lease), true
}

// late is a report of a host that may have lost the task, and does not know it.
func (s *schedule) late(h *fakeHost) {
	if t := h.holder.Of(id); t.Has && s.last.Epoch > t.Epoch {
		s.counts.Late++
		s.env.SignalWorkflow(wire.ReportSignal, wire.Of(testkit.Report(s.t, h.name, id, t.Epoch, 1000, 1000, "over")))
	}
}

func (s *schedule) reports(h *fakeHost) {
	t := h.holder.Of(id)
	if !t.Has {
		return
	}
	version := h.report + 1
	if s.chance(4) {
		version = s.rng.IntN(version) // an old one, that comes again
	} else {
		h.report, h.chain = version, append(h.chain, "")
	}
	s.env.SignalWorkflow(wire.ReportSignal, wire.Of(testkit.Report(s.t, h.name, id, t.Epoch, version, len(h.chain),
		"working")))
	if s.chance(3) {
		s.ship(h)
	}
}

func (s *schedule) end() {
	h := s.host(s.last.Host)
	h.report++
	s.env.SignalWorkflow(wire.ReportSignal, wire.Of(testkit.Report(s.t, h.name, id, s.last.Epoch, h.report,
		len(h.chain), "over")))
}

// ask asks for something new, or again for what was asked before.
func (s *schedule) ask() {
	key := fmt.Sprintf("k%d", len(s.asked))
	again := len(s.asked) > 0 && s.chance(3)
	if again {
		key = s.asked[s.rng.IntN(len(s.asked))].Key
	}
	r := testkit.Request("ada", id, s.last.Host, s.last.Epoch, key, s.env.Now())
	if !again {
		s.asked = append(s.asked, r)
	}
	s.env.UpdateWorkflow(wire.AskUpdate, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: func(error) { s.counts.Refused++ },
		OnComplete: func(_ any, err error) {
			var known *temporal.ApplicationError
			switch {
			case err == nil:
				s.acked[key] = true
			case errors.As(err, &known) && wire.Code(known.Type()) == wire.CodeNotKnown:
				s.counts.Unknown++
			default:
				s.counts.Refused++
			}
		},
	}, wire.Of(testkit.Ask(s.t, r)))
}

func (s *schedule) rescue() {
	reason := ""
	if s.chance(10) {
		reason = "it burns"
	}
	to := ""
	if s.chance(3) {
		to = s.hosts[s.rng.IntN(len(s.hosts))].name
	}
	epoch := max(1, s.last.Epoch-s.rng.IntN(2))
	s.env.UpdateWorkflow(wire.RescueUpdate, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: func(error) {}, OnComplete: func(any, error) {},
	}, wire.Of(testkit.Rescue(s.t, "ada", id, epoch, to, reason, s.env.Now())))
}

// judge checks what is left at the end.
func (s *schedule) judge() {
	if s.last.Phase != custody.PhaseEnded {
		s.broke("the custody ends as %s at %s under %d, to %q, not %v: %v", s.last.Phase, s.last.Host, s.last.Epoch,
			s.last.To, s.last.Not, s.env.GetWorkflowError())
		return
	}
	chain := s.host(s.last.Host).chain
	for i, e := range chain {
		if e != "" && slices.Contains(chain[:i], e) {
			s.broke("the request %s was done twice", e)
		}
	}
	for _, r := range s.asked {
		if !s.acked[r.Key] {
			continue
		}
		s.counts.Acked++
		i := slices.IndexFunc(s.last.Keys, func(k wire.DoneRequest) bool { return k.Key == r.Key })
		lost := i >= 0 && s.last.Keys[i].Lost
		if lost {
			s.counts.Lost++
		}
		if slices.Contains(chain, entry(r.Key)) == lost {
			s.broke("the request %s was acknowledged; it is lost: %t, and in the history: %t", r.Key, lost, !lost)
		}
	}
	for epoch, n := range s.rescues {
		if n > 1 {
			s.broke("the epoch %d was rescued %d times", epoch, n)
		}
	}
	for _, h := range s.hosts {
		if t := h.holder.Of(id); t.Has && h.name != s.last.Host && t.Epoch >= s.last.Epoch {
			s.broke("%s has the task under the epoch %d too", h.name, t.Epoch)
		} else if t.Has && h.name != s.last.Host && h.alive && h.holder.Number == h.state.Number {
			s.broke("%s has the task under the epoch %d, and does not learn that it has lost it", h.name, t.Epoch)
		}
	}
}

func begin(t *testing.T, at time.Time, on string) flow.Start {
	t.Helper()
	birth := wire.Of(testkit.Birth(t, "ada", id, on, at))
	return flow.Start{Fleet: testkit.Fleet, Task: id, Birth: &birth, Trust: testkit.Trust(t, "h1", "h2", "h3")}
}

// environment has the workflow of a task and the activities of a schedule.
func environment(s *schedule, f flow.Flow) *testsuite.TestWorkflowEnvironment {
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(testkit.Silence{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 5 * time.Minute}) // a busy machine is no deadlock
	env.SetDataConverter(converter.GetDefaultDataConverter())
	env.RegisterWorkflowWithOptions(f.Task, workflow.RegisterOptions{Name: wire.TaskWorkflow})
	for name, call := range map[string]any{wire.AcceptActivity: s.accept, wire.TakeActivity: s.take,
		wire.AnswerActivity: s.answer, wire.LeaveActivity: s.leave, wire.ReleaseActivity: s.release} {
		env.RegisterActivityWithOptions(call, activity.RegisterOptions{Name: name})
	}
	return env
}

func run(t *testing.T, seed uint64) (counts, []string) {
	t.Helper()
	s := &schedule{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 17)), custody: map[int]string{},
		acked: map[string]bool{}, took: map[int]string{}, rescues: map[int]int{}}
	for i := range 3 {
		s.hosts = append(s.hosts, &fakeHost{name: fmt.Sprintf("h%d", i+1)})
	}
	s.env = environment(s, flow.Flow{Watch: s.watch})
	for _, h := range s.hosts {
		s.arrives(h)
	}
	s.env.RegisterDelayedCallback(func() { s.pump(0) }, time.Second)
	s.env.ExecuteWorkflow(wire.TaskWorkflow, begin(t, s.env.Now(), "any"))
	s.judge()
	return s.counts, s.problems
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	first, many := uint64(1), uint64(300)
	switch {
	case *seedFlag != 0:
		first, many = *seedFlag, *seedsFlag
	case os.Getenv("ORANGE_TEST_LONG") != "":
		many = 10_000
	case testing.Short():
		many = 100
	}
	var all counts
	for seed := first; seed < first+many; seed++ {
		one, problems := run(t, seed)
		all.add(one)
		for _, problem := range problems {
			t.Errorf("-seed %d: %s", seed, problem)
		}
		if len(problems) > 0 && t.Failed() && seed > first+20 {
			break
		}
	}
	t.Logf("seeds %d to %d: %+v", first, first+many-1, all)
	if many >= 100 && (all.Rescues == 0 || all.Acked == 0 || all.Lost == 0 || all.Late == 0 || all.Unknown == 0) {
		t.Errorf("something did not happen at all: %+v", all)
	}
}
