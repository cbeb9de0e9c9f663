package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const mergingLong = `
--merge pr has its tasks merged by pull requests: orange task merge finishes a task whose pull
request is merged, and merges nothing here unless --local is given. --strategy says how a branch is
merged here, --push whether origin gets the default branch then; ask leaves that to each merge.
--check is a command, run without a shell, that must succeed on what a merge results in, before
anything moves.`

// mergingFlags are the flags that say how a project's branches are merged.
type mergingFlags struct {
	merge, strategy, push, forge string
	checks, bots                 []string
	generated, protected         []string
	promise                      []string
	strict                       bool
}

func (m *mergingFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&m.merge, "merge", "", "local, or pr: by pull requests (default local)")
	flags.StringVar(&m.strategy, "strategy", "", "ff: only fast-forward; merge: a merge commit; squash: one commit "+
		"(default: a fast-forward where that is possible, else a merge commit)")
	flags.StringVar(&m.push, "push", "", "always, never or ask: whether origin gets a merge (default always)")
	flags.StringVar(&m.forge, "forge", "", "github, gitlab, or none: where its pull requests are (default: what the "+
		"host of origin tells)")
	flags.StringArrayVar(&m.checks, "check", nil, "a command that must succeed on the result of a merge, such as "+
		"\"make test\" (repeatable: they run in this order)")
	flags.StringArrayVar(&m.generated, "generated", nil, "new files of this pattern are made by programs: no hand-off "+
		"is refused for them (repeatable)")
	flags.StringArrayVar(&m.protected, "protected", nil, "no task changes a file of this pattern unless a person "+
		"allows it; with + before it none adds one either (repeatable)")
	flags.BoolVar(&m.strict, "strict", false, "no task is created under a workflow with findings")
	flags.StringArrayVar(&m.promise, "promise", nil, "what each of its tasks must have passed to end well: "+
		"\"check tests\", \"## Review PASS\", \"a person\" (repeatable)")
	flags.StringArrayVar(&m.bots, "pr-bot", nil, "a program whose reviews of pull requests count as a person's, by "+
		"its login (repeatable)")
}

// of is a project with those flags applied that were given.
func (m *mergingFlags) of(c *cobra.Command, p task.Project) (task.Project, error) {
	for name, flag := range map[string]struct {
		given string
		to    *string
		words []string
	}{
		"merge":    {m.merge, &p.Merge, []string{"local", "pr"}},
		"strategy": {m.strategy, &p.Strategy, []string{"ff", "merge", "squash"}},
		"forge":    {m.forge, &p.Forge, []string{record.ForgeGitHub, record.ForgeGitLab, record.ForgeNone}},
		"push":     {m.push, &p.Push, []string{"always", "never", "ask"}},
	} {
		switch {
		case !c.Flags().Changed(name):
		case flag.given == "" || slices.Contains(flag.words, flag.given):
			*flag.to = flag.given
		default:
			return p, usage("found %q as --%s, expected %s", flag.given, name, strings.Join(flag.words, ", "))
		}
	}
	if c.Flags().Changed("strict") {
		p.Strict = m.strict
	}
	if c.Flags().Changed("promise") {
		p.Promise = withoutEmpty(m.promise)
	}
	if c.Flags().Changed("pr-bot") {
		p.PRBots = nil
		for _, name := range withoutEmpty(m.bots) {
			p.PRBots = append(p.PRBots, strings.TrimSuffix(name, "[bot]"))
		}
	}
	for name, flag := range map[string]struct{ given, to *[]string }{
		"generated": {&m.generated, &p.Generated}, "protected": {&m.protected, &p.Protected},
	} {
		if !c.Flags().Changed(name) {
			continue
		}
		*flag.to = withoutEmpty(*flag.given)
		for _, one := range *flag.to {
			if err := checkPattern(name, strings.TrimPrefix(one, "+")); err != nil {
				return p, err
			}
		}
	}
	if !c.Flags().Changed("check") {
		return p, nil
	}
	p.Checks = nil
	for _, line := range withoutEmpty(m.checks) {
		words, err := splitWords(line)
		if err != nil {
			return p, err
		}
		p.Checks = append(p.Checks, words)
	}
	return p, nil
}

// onGitLab says what can be expected of glab.
const onGitLab = "its pull requests are merge requests on GitLab, through glab; what Orange does there was written " +
	"after what GitLab documents, and was never run there"

// mergingLines say how a project's branches are merged, where that is not as usual.
func mergingLines(p task.Project) []string {
	var lines []string
	if p.Merge == "pr" {
		lines = append(lines, "merged by pull requests")
	}
	switch p.Forge {
	case record.ForgeGitHub:
		lines = append(lines, "its pull requests are on GitHub")
	case record.ForgeGitLab:
		lines = append(lines, onGitLab)
	case record.ForgeNone:
		lines = append(lines, "no program opens pull requests for it: branches are pushed and merged")
	}
	if p.Strategy != "" {
		lines = append(lines, "merged here with strategy "+p.Strategy)
	}
	switch p.Push {
	case "never":
		lines = append(lines, "a merge stays here: origin does not get it")
	case "ask":
		lines = append(lines, "each merge asks whether origin gets it")
	}
	if len(p.Generated) > 0 {
		lines = append(lines, "made by programs, so not counted as work: "+strings.Join(p.Generated, " "))
	}
	if len(p.Protected) > 0 {
		lines = append(lines, "protected from its tasks: "+strings.Join(p.Protected, " "))
	}
	if p.Strict {
		lines = append(lines, "no task is created under a workflow with findings")
	}
	if len(p.Promise) > 0 {
		lines = append(lines, "each of its tasks must have passed this to end well: "+strings.Join(p.Promise, "; "))
	}
	if len(p.PRBots) > 0 {
		lines = append(lines, "reviews of these programs count: "+strings.Join(p.PRBots, ", "))
	}
	for _, argv := range p.Checks {
		lines = append(lines, fmt.Sprintf("a merge must pass: %s", joinWords(argv)))
	}
	return lines
}
