package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/proof/explore"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// formSARIF is the form in which code hosts read what a check has found.
const formSARIF = "sarif"

func workflowCheck(p *Program) *cobra.Command {
	var quick, strict bool
	var form string
	c := &cobra.Command{
		Use: "check FILE|NAME", Short: "Check a workflow file and report all that is wrong with it",
		Args: between(1, 1),
		Long: `Check a workflow file. What the file may not say is a problem, and no task can be created under it:
exit status 2. A way around what the file promises is one. All else that is found is a finding, with
the shortest way there, what can happen to who leaves it so, and what to do: Orange follows a task
through everything that can happen. Findings refuse the file only where it says strict: true, or
with --strict: exit status 1, as where there was too much to follow to the end. Last it prints what
a task has passed at each good end.`,
		Example: "  orange workflow check my.yml\n  orange workflow check default\n  orange " +
			"workflow check my.yml --format sarif > my.sarif",
		RunE: p.run(func(_ context.Context, h *Services, args []string) error {
			if form != "" && form != formSARIF {
				return usage("found %q as --format, %s", form, yaml.Expected(form, []string{formSARIF}))
			}
			def, err := h.Workflows.CheckWorkflow(args[0])
			if err != nil {
				return notUsable(&p.printer, p.Version, err, form)
			}
			found := checked{orange: p.Version, def: def, warnings: def.Warnings(), quick: quick,
				strict: strict || def.FindingsRefuse}
			if !quick {
				began := time.Now()
				far := p.progress()
				found.report = explore.CheckWithProgress(def, explore.Most, func(before int, _ explore.Configuration) {
					far.tell("configurations explored", before, 0)
				})
				far.end()
				found.took = time.Since(began)
			}
			if broken := guarantee.Broken(def, found.report.Passed); len(broken) > 0 {
				return notUsable(&p.printer, p.Version, broken, form)
			}
			return found.tell(&p.printer, form)
		}),
	}
	c.Flags().BoolVar(&quick, "quick", false, "prove nothing: report only what the text of the file shows")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 where there are findings")
	c.Flags().StringVar(&form, "format", "", "sarif: the form that code hosts read")
	complete(c, "format", cobra.FixedCompletions([]string{formSARIF}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// notUsable reports what no task can be created with.
func notUsable(p *printer, orange string, err error, form string) error {
	var problems yaml.Problems
	if errors.As(err, &problems) && form == formSARIF {
		return errors.Join(p.printJSON(sarif(orange, problems, nil, "", explore.Report{})), &ended{status: exitUsage})
	}
	return err
}

// checked is all that was found out about a workflow that loads.
type checked struct {
	orange   string // its version
	def      *workflow.Definition
	warnings yaml.Problems
	quick    bool
	strict   bool // findings refuse it
	report   explore.Report
	took     time.Duration
}

// notProved is the outcome for a workflow of which not all could be looked at.
const notProved = "not proved"

// findings counts what is found and refuses the file only where it, or the caller, is strict.
func (c checked) findings() int { return len(c.warnings) + len(c.report.Failed()) }

// outcome is the whole in a word or two.
func (c checked) outcome() string {
	switch {
	case len(c.report.NotProved()) > 0:
		return notProved
	case c.findings() > 0:
		return "findings"
	case c.quick:
		return "skipped"
	}
	return "proved"
}

// status is the exit status that goes with it.
func (c checked) status() error {
	if c.outcome() == notProved || c.strict && c.findings() > 0 {
		return &ended{status: exitFailed}
	}
	return nil
}

func (c checked) tell(p *printer, form string) error {
	switch {
	case form == formSARIF:
		if err := p.printJSON(sarif(c.orange, nil, c.warnings, c.def.File, c.report)); err != nil {
			return err
		}
	case p.json:
		if err := p.printJSON(c.view()); err != nil {
			return err
		}
	default:
		c.say(p)
	}
	return c.status()
}

func (c checked) say(p *printer) {
	for _, w := range c.warnings {
		p.say("%s", w.Finding())
	}
	for _, v := range c.report.Verdicts {
		if !v.OK {
			p.say("%s", v.Tell(c.def.File))
		}
	}
	said, unproved := "nothing found", c.report.NotProved()
	if n := c.findings(); n > 0 {
		said = count(n, "finding")
	}
	p.say("%s: %s (%d states, %d transitions)", c.def.File, said, len(c.def.States), len(c.def.Transitions))
	if c.def.FindingsRefuse && c.findings() > 0 {
		p.say("  strict: no task is created under it")
	}
	if c.strict && len(c.report.Failed()) > 0 {
		p.say("  correct it, or say in the file why it is right: %s", c.report.Excuse())
	}
	for _, note := range c.notes() {
		p.say("  note: %s", note)
	}
	for _, why := range unproved {
		p.say("  %s: %s", notProved, why)
	}
	if c.quick || len(unproved) > 0 {
		return
	}
	for _, line := range passedLines(c.report.Passed) {
		p.say("  %s", line)
	}
	p.say("  explored: %d configurations in %s", c.report.Configurations, c.took.Round(time.Millisecond))
	if b := c.report.Bound; b != (explore.Bound{}) {
		p.say("  without a person, at most: moves %d, agents started %d, reviews among them %d", b.Moves,
			b.Agents, b.Rounds)
		if b.Because != "" {
			p.say("  that many where %s", b.Because)
			p.say("  how many usually: orange workflow simulate %s", c.def.Name)
		}
		p.say("  an agent that ends at its provider's limit and leaves nothing new is started again at most %d times",
			b.Limits)
	}
}

// notes are what a person should know and is no fault of the file.
func (c checked) notes() []string {
	var notes []string
	for _, check := range c.def.Unprotected() {
		notes = append(notes, fmt.Sprintf("the check %q runs files that an agent can change: name them for each "+
			"project (orange project update --protected PATTERN), or in the gate (git: {untouched: [PATTERNS]})",
			check))
	}
	if c.quick && len(c.def.Promise) > 0 {
		notes = append(notes, "it is not known whether a task can end well without what the workflow promises: "+
			"leave --quick out")
	}
	return notes
}

// propertyView is a verdict as JSON has it.
type propertyView struct {
	explore.Verdict
	More  int   `json:"more"`  // how many places more
	Lines []int `json:"lines"` // and on which lines they are
}

func (c checked) view() map[string]any {
	properties := []propertyView{}
	for _, v := range c.report.Verdicts {
		v.Steps = orEmpty(v.Steps)
		one := propertyView{v, len(v.More), []int{}}
		for _, at := range v.More {
			one.Lines = append(one.Lines, at.Line)
		}
		properties = append(properties, one)
	}
	return map[string]any{
		"workflow": c.def.Name, "version": c.def.Version, "digest": c.def.Digest,
		"states": len(c.def.States), "transitions": len(c.def.Transitions), "problems": []string{},
		"warnings": orEmpty(c.warnings), "notes": orEmpty(c.notes()),
		"outcome": c.outcome(), "findings": c.findings(), "configurations": c.report.Configurations,
		"milliseconds": c.took.Milliseconds(),
		"properties":   properties,
		"bound":        c.report.Bound, "passed": orEmpty(c.report.Passed),
		"not_proved": orEmpty(c.report.NotProved()), "vast": orEmpty(c.report.Vast),
	}
}
