package simulate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"orange/internal/task"
)

// Report is what came of all runs.
type Report struct {
	Runs     int
	Outcomes []Outcome // the most frequent first
	Reviews  Figure
	Spawns   Figure
	Moves    Figure
	Refusals Figure
	Spans    []task.Typical
	Well     int // ended well
	Needed   int // a person was waited for at any time
	Astray   int // and that was not what the workflow has a person for
	Resting  int // in the end they wait for a person
	Faults   Faults
	Breaches []Breach
	Trace    []string // of the one run that was made
}

// Outcome is how runs ended.
type Outcome struct {
	Status task.Status
	End    string // "ended well", "given up", "waits for a person", "under way", "broken"
	Runs   int
}

// Figure is how often something happened in a run.
type Figure struct{ Median, P90, Most int }

// tally collects runs.
type tally struct {
	report                           Report
	stats                            []task.Stats
	reviews, spawns, moves, refusals []int
}

func (y *tally) add(r *run) {
	y.report.Runs++
	y.stats = append(y.stats, r.stats)
	y.reviews = append(y.reviews, r.reviews)
	y.spawns = append(y.spawns, r.stats.Spawns)
	y.moves = append(y.moves, r.moves)
	y.refusals = append(y.refusals, r.refusals)
	f := &y.report.Faults
	f.EngineDeaths += r.faults.EngineDeaths
	f.AgentDeaths += r.faults.AgentDeaths
	f.Failures += r.faults.Failures
	f.Late += r.faults.Late
	f.Twice += r.faults.Twice
	y.outcome(r)
	for _, one := range []struct {
		is bool
		of *int
	}{{r.stats.Well, &y.report.Well}, {r.needed, &y.report.Needed}, {r.astray, &y.report.Astray}, {r.rests, &y.report.Resting}} {
		if one.is {
			*one.of++
		}
	}
	if r.breach != nil {
		y.report.Breaches = append(y.report.Breaches, *r.breach)
	}
	if r.setup.Trace {
		y.report.Trace = r.trace
	}
}

func (y *tally) outcome(r *run) {
	end := "under way"
	switch {
	case r.breach != nil:
		end = "broken"
	case r.stats.Well:
		end = "ended well"
	case !r.snap.Live:
		end = "given up"
	case r.rests:
		end = "waits for a person"
	}
	for i := range y.report.Outcomes {
		if o := &y.report.Outcomes[i]; o.Status == r.snap.Status && o.End == end {
			o.Runs++
			return
		}
	}
	y.report.Outcomes = append(y.report.Outcomes, Outcome{r.snap.Status, end, 1})
}

func (y *tally) sum() Report {
	r := y.report
	slices.SortStableFunc(r.Outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Status, b.Status), cmp.Compare(a.End, b.End))
	})
	r.Reviews, r.Spawns, r.Moves, r.Refusals = figure(y.reviews), figure(y.spawns), figure(y.moves), figure(y.refusals)
	r.Spans = task.Summarize(y.stats).Spans
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

func itoa(n int) string { return strconv.Itoa(n) }
