// Package stats adds up what histories say: where a task spent its time, and entries for the logs of other programs.
//
// It owns the sums and the form of the log entries. It does not own the histories (history).
package stats

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Marks say what a status means in a task's workflow, as far as numbers about tasks need it.
type Marks struct {
	Terminal   bool // the task is over
	Well       bool // it is over, and was not given up
	Good       bool // the workflow says that it ended well here; where it says so of no state, the same as Well
	Escalation bool // the task was taken out of its usual way
	Human      bool // and it is a person who has it there
	Asks       bool // it waits there for a person, and not for the one who ends it well as usual
}

// Window is a span of time: from Since on and before Until. A zero time is no bound.
type Window struct{ Since, Until time.Time }

// Has reports whether a time is in the window.
func (w Window) Has(at time.Time) bool {
	return !at.Before(w.Since) && (w.Until.IsZero() || at.Before(w.Until))
}

// Span is the time that a task spent in one status, over all its visits there.
type Span struct {
	Status task.Status
	Visits int
	Time   time.Duration
	Open   bool // it is there now
}

// Stats are the numbers of one task. Terminal states take no time.
type Stats struct {
	Task    string
	Status  task.Status
	InState time.Duration
	Total   time.Duration // from its birth until it was over, or until now
	Spans   []Span        // in the order of the first visits
	Rounds  int           // reviews that were begun, whatever the counter was set back to
	// Failures are counted over the whole history, by the state that failed; the counters of the same name may be
	// back at 0.
	Failures task.Counters
	Crashes  int
	Spawns   int // agents that were started
	Late     int // levels of lateness of which an event was written
	// Refusals are those of agents, as far as there were so many that a person was asked to look.
	Refusals int
	// Needs are how often a person was needed: each time that it came to a state where it waits for one, and each
	// death, failed hook, refused merge and the like that no rule mended. The usual look before a merge is none.
	Needs int

	Created      bool // it was made then
	Begun        bool // it moved at least once
	Over         bool
	Well         bool // it is over, and was not given up
	Escalated    bool // it was in a state of escalation at some time
	ReachedHuman bool // and a person had it there

	rough bool // its whole life was not straight, of which the numbers tell a part
}

// FirstAttempt reports whether the task ended well without a failure, a second review, or an escalation.
func (s Stats) FirstAttempt() bool { return s.Well && !s.rough && s.straight() }

func (s Stats) straight() bool { return len(s.Failures) == 0 && s.Rounds <= 1 && !s.Escalated }

// Of reports the numbers of a task from its history. A clock that was set back meanwhile makes no time negative.
func Of(t task.Task, events []history.Event, marks func(task.Status) Marks, now time.Time) Stats {
	s, status, since := count(t, events, marks, now, Window{})
	s.Total = max(now.Sub(t.CreatedAt), 0)
	if s.Over {
		s.Total = max(since.Sub(t.CreatedAt), 0)
	} else if s.spend(status, now.Sub(since), marks) {
		s.Spans[s.span(status)].Open = true
	}
	return s
}

// Within reports what happened to a task in a window, and whether anything did. A time in a status counts where it
// ended, and as a whole; whether the first attempt was enough is a matter of the whole life.
func Within(t task.Task, events []history.Event, marks func(task.Status) Marks, now time.Time, w Window) (Stats, bool) {
	s, _, _ := count(t, events, marks, now, w)
	s.rough = !Of(t, events, marks, now).straight()
	return s, slices.ContainsFunc(events, func(e history.Event) bool { return w.Has(e.Time) })
}

// count adds up what happened in a window, and tells in which status the task is, and since when.
func count(t task.Task, events []history.Event, marks func(task.Status) Marks, now time.Time, w Window) (s Stats,
	status task.Status, since time.Time) {
	s = Stats{Task: t.ID, Status: t.Status, InState: max(now.Sub(t.EnteredAt), 0)}
	round, refused := 0, 0
	since = t.CreatedAt
	for i := range events {
		e := &events[i]
		counts := w.Has(e.Time)
		if counts && needs(events, i, marks) {
			s.Needs++
		}
		before := round
		if e.IsMove() {
			round = e.Counters.Get(task.ReviewRound)
		}
		switch {
		case e.Type == history.Created:
			status, since = task.Status(e.Data[history.DataStatus]), e.Time
			s.Created = counts
			s.visit(status, counts, marks)
		case e.IsMove():
			refused = 0
			if counts {
				s.move(e, max(round-before, 0), e.Time.Sub(since), status, marks)
			}
			status, since = e.To, e.Time
			s.visit(status, counts, marks)
		case e.Type == history.AgentRefused:
			n, _ := strconv.Atoi(e.Data["refusals"])
			if n <= refused { // a person has looked, and they were counted from 1 again
				refused = 0
			}
			if counts {
				s.Refusals += n - refused
			}
			refused = n
		case !counts:
		case e.Type == history.AgentCrashed:
			s.Crashes++
		case e.Type == history.AgentSpawned || e.Type == history.ReviewStarted:
			s.Spawns++
		case e.Data[history.DataLevel] != "":
			s.Late++
		}
	}
	s.Over = !t.Live && w.Has(since)
	s.Well = s.Over && marks(t.Status).Well
	return s, status, since
}

// needs reports whether a person was needed from an event on.
func needs(events []history.Event, i int, marks func(task.Status) Marks) bool {
	e := &events[i]
	if e.IsMove() {
		return e.From != e.To && marks(e.To).Asks
	}
	switch e.Type {
	case history.AgentRefused, history.AgentStalled, history.HookFailure, history.WaitBroken, history.SendBackRefused,
		history.TimeoutAlert:
		return true
	case history.MergeFailed, history.AgentCrashed:
		return !isMended(events[i+1:])
	}
	return false
}

// isMended reports whether the workflow's rules were the first to do something about what had gone wrong: they started
// the agent again, or moved the task.
func isMended(after []history.Event) bool {
	for i := range after {
		e := &after[i]
		if e.IsMove() || e.Type == history.AgentRespawned {
			return e.Actor == task.ActorEngine
		}
	}
	return false
}

// move counts a move out of a status, and the time that the task was there.
func (s *Stats) move(e *history.Event, rounds int, spent time.Duration, out task.Status,
	marks func(task.Status) Marks) {
	s.Begun = true
	s.Rounds += rounds
	s.spend(out, spent, marks)
	if e.Data[history.DataFailure] != "" {
		s.Failures = s.Failures.With(string(e.From), s.Failures.Get(string(e.From))+1)
	}
}

func (s *Stats) span(status task.Status) int {
	return slices.IndexFunc(s.Spans, func(one Span) bool { return one.Status == status })
}

func (s *Stats) visit(status task.Status, counts bool, marks func(task.Status) Marks) {
	is := marks(status)
	s.Escalated = s.Escalated || counts && is.Escalation
	s.ReachedHuman = s.ReachedHuman || counts && is.Human
}

// spend counts a visit of a status at its end, and reports whether it is one that takes time.
func (s *Stats) spend(status task.Status, d time.Duration, marks func(task.Status) Marks) bool {
	if status == "" || marks(status).Terminal {
		return false
	}
	at := s.span(status)
	if at < 0 {
		s.Spans = append(s.Spans, Span{Status: status})
		at = len(s.Spans) - 1
	}
	s.Spans[at].Visits++
	s.Spans[at].Time += max(d, 0)
	return true
}

// Share is how many of how many.
type Share struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// add counts one more of whom something may be true.
func (s *Share) add(is bool) {
	s.Of++
	if is {
		s.Count++
	}
}

// Typical is how long tasks spend in a status. Those that are there now do not count: no one knows how long they
// will stay.
type Typical struct {
	Status task.Status
	Tasks  int
	Median time.Duration
	P90    time.Duration
}

// Summary are the numbers of many tasks.
type Summary struct {
	Tasks    int
	Created  int           // of them, in the window
	ByStatus task.Counters // by name
	Spans    []Typical

	EndedWell    Share // of those that are over
	FirstAttempt Share // of those that ended well
	Escalated    Share // of those that were begun
	ReachedHuman Share // of those that were begun
	Needed       Share // of those that were begun: a person was needed for them, besides the usual look before a merge
	Needs        int   // how often
	Failures     task.Counters
	Crashes      int
	Spawns       int
	Late         int
	Refusals     int
}

// Summarize adds up the numbers of many tasks.
func Summarize(all []Stats) Summary {
	s := Summary{Tasks: len(all)}
	times := map[task.Status][]time.Duration{}
	for i := range all {
		one := &all[i]
		s.ByStatus = s.ByStatus.With(string(one.Status), s.ByStatus.Get(string(one.Status))+1)
		for _, f := range one.Failures {
			s.Failures = s.Failures.With(f.Name, s.Failures.Get(f.Name)+f.Value)
		}
		s.Crashes, s.Spawns, s.Late = s.Crashes+one.Crashes, s.Spawns+one.Spawns, s.Late+one.Late
		s.Refusals, s.Needs = s.Refusals+one.Refusals, s.Needs+one.Needs
		if one.Created {
			s.Created++
		}
		if one.Over {
			s.EndedWell.add(one.Well)
		}
		if one.Well {
			s.FirstAttempt.add(one.FirstAttempt())
		}
		if one.Begun {
			s.Escalated.add(one.Escalated)
			s.ReachedHuman.add(one.ReachedHuman)
			s.Needed.add(one.Needs > 0)
		}
		for _, span := range one.Spans {
			if !span.Open {
				times[span.Status] = append(times[span.Status], span.Time)
			}
		}
	}
	for status, spent := range times { // sorted below
		slices.Sort(spent)
		s.Spans = append(s.Spans, Typical{Status: status, Tasks: len(spent), Median: rank(spent, 50),
			P90: rank(spent, 90)})
	}
	slices.SortFunc(s.Spans, func(a, b Typical) int { return cmp.Compare(a.Status, b.Status) })
	return s
}

// rank is the smallest of sorted times that so many per cent of them do not exceed.
func rank(sorted []time.Duration, percent int) time.Duration {
	at := (len(sorted)*percent + 99) / 100
	return sorted[max(at, 1)-1]
}
