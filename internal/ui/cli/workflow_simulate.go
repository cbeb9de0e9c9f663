package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/proof/explore"
	"orange/internal/proof/simulate"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// How people act in a simulation.
const (
	peopleAct   = "default"
	peopleNever = "never"
)

// usualSimulation is what is simulated by default.
func usualSimulation() simulate.Setup {
	return simulate.Setup{Runs: 1000, Seed: 1, Shares: simulate.Shares{Slow: 0.2, Lying: 0.1, Dying: 0.05,
		Stubborn: 0.03, Restless: 0.02, ReviewersFail: 0.2, EngineDies: 0.002, HooksFail: 0.02}}
}

func workflowSimulate(p *Program) *cobra.Command {
	s, people := usualSimulation(), peopleAct
	c := &cobra.Command{
		Use:   "simulate FILE|NAME",
		Short: "Run tasks under a workflow in memory, from start to end, and report how they end", Args: between(1, 1),
		Long: `Run tasks under a workflow in memory, from start to end. The engine and the monitor are the real
ones. Agents are scripted and act at random; people come after a while where a task waits for one;
at every step something may go wrong. No agent is started, no file is written, no token is spent.

It reports how tasks end, how many need a person, how many reviews and agents they take, and where
their time goes. It also shows the straight way, which agents and people take if nothing goes wrong:
the shortest way to a good end on which nothing fails. A check that fails is on this way only where
the state has no move for a check that passes, as where tests come first, or where no other way is
left.
--way names another one: the states in their order, all of them or as many as matter.
After every step it checks what must be true of every task. It shows each breach with the command
that repeats it step by step, and exits with status 1. The same seed gives the same output, to the
byte. Times are those of the simulation: they show where agents and people wait for each other, not
how long yours take.`,
		Example: `  orange workflow simulate default
  orange workflow simulate my.yml --runs 500 --reviewers-fail 30% --people never
  orange workflow simulate my.yml --way tests,coding,reviewing
  orange workflow simulate default --seed 1 --run 17 --trace`,
	}
	f := c.Flags()
	f.IntVar(&s.Runs, "runs", s.Runs, "how many tasks")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "the number that all random choices follow from")
	f.IntVar(&s.Only, "run", 0, "make only this one of the runs")
	f.BoolVar(&s.Trace, "trace", false, "print every step of the one run")
	f.Var((*states)(&s.Path), "way", "the straight way, or a part of it: states in their order (default: the shortest)")
	f.StringVar(&people, "people", people,
		"default: a person comes where a task waits for one; never: the task stays there")
	for _, one := range shares(&s) {
		f.Var(one.value, one.flag, one.help)
	}
	complete(c, "people", cobra.FixedCompletions([]string{peopleAct, peopleNever}, cobra.ShellCompDirectiveNoFileComp))
	c.RunE = p.run(func(ctx context.Context, h *Services, args []string) error {
		s.NoPeople = people == peopleNever
		if err := fitting(s, people); err != nil {
			return err
		}
		def, err := h.Workflows.CheckWorkflow(args[0])
		if err != nil {
			return err
		}
		far := p.progress()
		s.Progress = func(done, of int) { far.tell("runs simulated", done, of) }
		found, err := h.Workflows.Simulate(ctx, def, s)
		far.end()
		if err != nil {
			return err
		}
		again := func(run int) string { return replayOf(c, args[0], s, run) }
		if err := tellSimulated(&p.printer, def, s, found, again); err != nil {
			return err
		}
		if len(found.Breaches) > 0 {
			return &ended{status: exitFailed}
		}
		return nil
	})
	return c
}

// fitting refuses what makes no sense.
func fitting(s simulate.Setup, people string) error {
	switch {
	case s.Runs < 1:
		return usage("found %d as --runs, expected at least 1", s.Runs)
	case s.Only < 0:
		return usage("found %d as --run, expected the number of a run, from 1", s.Only)
	case people != peopleAct && people != peopleNever:
		return usage("found %q as --people, %s", people, yaml.Expected(people, []string{peopleAct, peopleNever}))
	case s.Trace && s.Only == 0 && s.Runs != 1:
		return usage("cannot trace %d runs at once; say which one with --run, or make one with --runs 1", s.Runs)
	case s.Shares.Slow+s.Shares.Lying+s.Shares.Dying+s.Shares.Stubborn+s.Shares.Restless > 1:
		return usage("found shares of agents that make more than 100%% together; " +
			"lower --agents-slow, --agents-lie, --agents-die, --agents-stubborn or --agents-restless")
	}
	return nil
}

// shareFlag is a flag that says how often something happens.
type shareFlag struct {
	flag, help string
	what       string // in the heading
	value      *share
}

func shares(s *simulate.Setup) []shareFlag {
	return []shareFlag{
		{"reviewers-fail", "reviews that do not pass", "of reviews do not pass", (*share)(&s.Shares.ReviewersFail)},
		{"agents-slow", "agents that take hours", "of agents are slow", (*share)(&s.Shares.Slow)},
		{"agents-lie", "agents that ask before they have the evidence, or with something that looks like it",
			"lie", (*share)(&s.Shares.Lying)},
		{"agents-die", "agents that die before they have asked, with their evidence written or without", "die",
			(*share)(&s.Shares.Dying)},
		{"agents-stubborn", "agents that ask for the same again and again, and then do nothing", "are stubborn",
			(*share)(&s.Shares.Stubborn)},
		{"agents-restless", "agents that wait for no person, and go back wherever the workflow lets them",
			"are restless", (*share)(&s.Shares.Restless)},
		{"hooks-fail", "attempts at a hook, and looks at agents and evidence, that fail",
			"of hooks and looks fail", (*share)(&s.Shares.HooksFail)},
		{"engine-dies", "steps of Orange itself at which it dies", "of Orange's own steps are its last",
			(*share)(&s.Shares.EngineDies)},
	}
}

// share is a part of a whole on the command line: 30% or 0.3.
type share float64

func (s *share) String() string {
	return strconv.FormatFloat(math.Round(float64(*s)*1e6)/1e4, 'f', -1, 64) + "%"
}
func (s *share) Type() string { return "share" }

// Set reads it. A bare 30 could mean either.
func (s *share) Set(text string) error {
	number, inPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if inPercent {
		x /= 100
	}
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return fmt.Errorf("found %q, expected a share such as 30%% or 0.3", text)
	}
	*s = share(x)
	return nil
}

// states are several states on the command line: a,b,c.
type states []task.Status

func (s *states) String() string {
	out := make([]string, len(*s))
	for i, one := range *s {
		out[i] = string(one)
	}
	return strings.Join(out, ",")
}
func (s *states) Type() string { return "states" }

// Set reads them.
func (s *states) Set(text string) error {
	*s = nil
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			return fmt.Errorf("found %q, expected states such as a,b,c", text)
		}
		*s = append(*s, task.Status(one))
	}
	return nil
}

// replayOf is the command that shows one run of this call again.
func replayOf(c *cobra.Command, name string, s simulate.Setup, run int) string {
	if strings.ContainsAny(name, " \t'\"$\\*?;&|<>()") {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	words := []string{c.CommandPath(), name, "--seed", strconv.FormatUint(s.Seed, 10), "--run",
		strconv.Itoa(run)}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"runs", "run", "seed", "trace", "json"}, f.Name) {
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return strings.Join(append(words, "--trace"), " ")
}

// tellSimulated prints what came of it; again is the command that shows a run step by step.
func tellSimulated(p *printer, def *workflow.Definition, s simulate.Setup, found simulate.Report,
	again func(run int) string) error {
	if p.json {
		return p.printJSON(viewOf(def, s, found, again))
	}
	for _, line := range found.Trace {
		p.say("%s", line)
	}
	if len(found.Trace) > 0 {
		p.say("")
	}
	runs := times(found.Runs) + ", seed "
	if s.Only > 0 {
		runs = fmt.Sprintf("run %d of seed ", s.Only)
	}
	p.say("%s: simulated %s%d; people: %s", def.File, runs, s.Seed, peopleOf(s))
	var heading []string
	for _, one := range shares(&s) {
		heading = append(heading, one.value.String()+" "+one.what)
	}
	p.say("  %s", strings.Join(heading, ", "))
	p.say("  straight way: %s", pathWords(found.Path))
	if err := saySimulated(p, found); err != nil {
		return err
	}
	for _, b := range found.Breaches[:min(len(found.Breaches), 5)] {
		p.say("\nbroken: %s [%s], seed %d, run %d", b.Message, b.Property, s.Seed, b.Run)
		for _, line := range b.Last {
			p.say("  %s", line)
		}
		p.say("  see all of it: %s", again(b.Run))
	}
	if more := len(found.Breaches) - 5; more > 0 {
		p.say("\nbroken in %d more runs", more)
	}
	return nil
}

// peopleOf is how people act in a simulation.
func peopleOf(s simulate.Setup) string {
	if s.NoPeople {
		return peopleNever
	}
	return peopleAct
}

// pathWords tells the straight way with the reason why it is the straight one.
func pathWords(w simulate.Path) string {
	if len(w.States) == 0 {
		return "none: no move after move leads to a good end without a failure"
	}
	names := func(all []task.Status, by string) string {
		return strings.ReplaceAll((*states)(&all).String(), ",", by)
	}
	why := "the shortest"
	if len(w.Named) > 0 {
		why = "named: " + names(w.Named, ", ")
		if len(w.Named) < len(w.States) {
			why += "; the rest is the shortest"
		}
	}
	for _, red := range w.FailedChecks {
		why += fmt.Sprintf("; %s -> %s wants the check %q to fail", red.From, red.To, red.Check)
	}
	return names(w.States, " -> ") + " (" + why + ")"
}

func saySimulated(p *printer, found simulate.Report) error {
	of := func(what string, n int) []string {
		return []string{what, strconv.Itoa(n), strconv.FormatFloat(100*float64(n)/float64(max(found.Runs, 1)),
			'f', 1, 64) + "%"}
	}
	outcomes := [][]string{{"OUTCOME", "RUNS", "SHARE"}}
	for _, o := range found.Outcomes {
		outcomes = append(outcomes, of(fmt.Sprintf("%s (%s)", o.Status, o.End), o.Runs))
	}
	people := [][]string{{"PEOPLE", "RUNS", "SHARE"}, of("needed a person", found.Needed),
		of("  outside of the straight way", found.Unplanned), of("wait for a person at the end", found.Waiting)}
	figures := [][]string{{"IN ONE RUN", "MEDIAN", "P90", "MAX"}}
	for _, one := range []struct {
		name string
		simulate.Figure
	}{{"moves", found.Moves}, {"agents started", found.Spawns}, {"reviewers among them", found.Reviews},
		{"requests refused", found.Refusals}} {
		figures = append(figures, []string{one.name, strconv.Itoa(one.Median), strconv.Itoa(one.P90),
			strconv.Itoa(one.Most)})
	}
	usual := ""
	if b := found.Bound; b != (explore.Bound{}) {
		usual = fmt.Sprintf("usually %s (median of %s), at most %d between two acts of a person",
			count(found.Spawns.Median, "agent"), count(found.Runs, "simulated run"), b.Agents)
		if b.Because != "" {
			usual += ", where " + b.Because
		}
	}
	spans := typicalRows(found.Spans, "TIME IN STATE", "MEDIAN", "P90", "RUNS")
	for _, rows := range [][][]string{outcomes, people, figures, spans} {
		p.say("")
		if err := p.table(table{rows: rows}); err != nil {
			return err
		}
	}
	if usual != "" {
		p.say("\n%s", usual)
	}
	f := found.Faults
	p.say("\nfaults: Orange died %s, agents died %s, hooks and looks failed %s, deaths and runners came late "+
		"%s, deaths reported twice %s",
		times(f.EngineDeaths), times(f.AgentDeaths), times(f.Failures), times(f.Late), times(f.Repeated))
	if len(found.Breaches) == 0 {
		p.say("nothing was found broken")
	}
	return nil
}

func viewOf(def *workflow.Definition, s simulate.Setup, found simulate.Report,
	again func(run int) string) map[string]any {
	setup := map[string]any{"seed": s.Seed, "people": peopleOf(s)}
	for _, one := range shares(&s) {
		setup[strings.ReplaceAll(one.flag, "-", "_")] = float64(*one.value)
	}
	all := func(n int) stats.Share { return stats.Share{Count: n, Of: found.Runs} }
	way, why := found.Path, "shortest"
	way.States, way.Named, way.FailedChecks = orEmpty(way.States), orEmpty(way.Named), orEmpty(way.FailedChecks)
	if len(way.Named) > 0 {
		why = "named"
	}
	type broken struct {
		simulate.Breach
		Replay string `json:"replay"` // the command that shows it step by step
	}
	var breaches []broken
	for _, b := range found.Breaches {
		breaches = append(breaches, broken{b, again(b.Run)})
	}
	return map[string]any{"simulation": map[string]any{
		"way": struct {
			simulate.Path
			Why string `json:"why"`
		}{way, why},
		"workflow": def.Name, "version": def.Version, "digest": def.Digest, "runs": found.Runs, "setup": setup,
		"outcomes": orEmpty(found.Outcomes), "ended_well": all(found.Well), "needed_a_person": all(found.Needed),
		"needed_a_person_astray": all(found.Unplanned), "wait_for_a_person": all(found.Waiting),
		"bound": found.Bound, "moves": found.Moves, "spawns": found.Spawns, "reviews": found.Reviews,
		"refusals":      found.Refusals,
		"time_by_state": typicalViews(found.Spans), "faults": found.Faults, "broken": orEmpty(breaches),
		"trace": orEmpty(found.Trace),
	}}
}
