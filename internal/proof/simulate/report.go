package simulate

import (
	"cmp"
	"math"
	"slices"

	"orange/internal/proof/explore"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
)

// Report is the result of all runs.
type Report struct {
	Path      Path
	Bound     explore.Bound // how far a task goes at most between two acts of a person; zero where that is not proved
	Runs      int
	Outcomes  []Outcome // the most frequent first
	Reviews   Figure
	Spawns    Figure
	Moves     Figure
	Refusals  Figure
	Spans     []stats.Typical
	Well      int // ended well
	Needed    int // waited for a person at any time
	Unplanned int // and not where the workflow has work for a person
	Waiting   int // wait for a person at the end
	Faults    Faults
	Breaches  []Breach
	Trace     []string // of the one run that was made
}

// Outcome is how runs ended.
type Outcome struct {
	Status task.Status `json:"state"`
	End    string      `json:"end"` // "ended well", "given up", "waits for a person", "under way", "broken"
	Runs   int         `json:"runs"`
}

// Figure is how often something happened in a run.
type Figure struct {
	Median int `json:"median"`
	P90    int `json:"p90"`
	Most   int `json:"max"`
}

// result is what a run counts for the report.
type result struct {
	outcome   Outcome
	stats     stats.Stats
	reviews   int // agents that only look
	spawns    int
	moves     int
	refusals  int
	needed    bool // it waited for a person at any time
	unplanned bool // and not where the workflow has work for a person
	waiting   bool // it waits for a person now
	faults    Faults
	breach    *Breach
	trace     []string
}

// sum is the result of a run that is over.
func (r *run) sum() result {
	l := r.result
	l.outcome = Outcome{Status: r.final.Status, End: "under way", Runs: 1}
	l.spawns = len(r.Agents)
	switch {
	case r.breach != nil:
		l.outcome.End = "broken"
	case r.stats.Well:
		l.outcome.End = "ended well"
	case !r.final.Live:
		l.outcome.End = "given up"
	case r.waiting:
		l.outcome.End = "waits for a person"
	}
	if !r.setup.Trace {
		l.trace = nil
	}
	return l
}

type tally struct {
	report                           Report
	stats                            []stats.Stats
	reviews, spawns, moves, refusals []int
}

func (y *tally) add(l result) {
	to := &y.report
	to.Runs++
	y.stats = append(y.stats, l.stats)
	y.reviews, y.spawns = append(y.reviews, l.reviews), append(y.spawns, l.spawns)
	y.moves, y.refusals = append(y.moves, l.moves), append(y.refusals, l.refusals)
	to.Faults.EngineDeaths += l.faults.EngineDeaths
	to.Faults.AgentDeaths += l.faults.AgentDeaths
	to.Faults.Failures += l.faults.Failures
	to.Faults.Late += l.faults.Late
	to.Faults.Repeated += l.faults.Repeated
	for _, one := range []struct {
		is bool
		of *int
	}{{l.stats.Well, &to.Well}, {l.needed, &to.Needed}, {l.unplanned, &to.Unplanned}, {l.waiting, &to.Waiting}} {
		if one.is {
			*one.of++
		}
	}
	if l.breach != nil {
		to.Breaches = append(to.Breaches, *l.breach)
	}
	to.Trace = append(to.Trace, l.trace...)
	for i := range to.Outcomes {
		if o := &to.Outcomes[i]; o.Status == l.outcome.Status && o.End == l.outcome.End {
			o.Runs++
			return
		}
	}
	to.Outcomes = append(to.Outcomes, l.outcome)
}

func (y *tally) sum() Report {
	r := y.report
	slices.SortStableFunc(r.Outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Status, b.Status), cmp.Compare(a.End, b.End))
	})
	r.Reviews, r.Spawns, r.Moves, r.Refusals = figure(y.reviews), figure(y.spawns), figure(y.moves), figure(y.refusals)
	r.Spans = stats.Summarize(y.stats).Spans
	return r
}

func figure(all []int) Figure {
	if len(all) == 0 {
		return Figure{}
	}
	sorted := slices.Sorted(slices.Values(all))
	at := func(share float64) int { return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)] }
	return Figure{Median: at(0.5), P90: at(0.9), Most: sorted[len(sorted)-1]}
}
