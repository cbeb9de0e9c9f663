package workflow

import (
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"orange/internal/rules/yaml"
)

// checkGates: parts of gates speak of checks and files that there can be.
func (r reader) checkGates(d *Definition) {
	var names []string
	for _, c := range d.Checks {
		names = append(names, c.Name)
	}
	for _, c := range d.MergeChecks {
		if !slices.Contains(names, c.Name) {
			r.Problem(c.Pos, "merge_checks", "found the unknown check %q in merge_checks, %s", c.Name,
				yaml.Expected(c.Name, names))
		}
	}
	d.EachGate(func(parts []Part) {
		for _, p := range Leaves(parts) {
			if r.Full() {
				return
			}
			if p.Check != "" && !slices.Contains(names, p.Check) {
				r.Problem(p.Pos, "check", "found the unknown check %q in a gate, %s", p.Check,
					yaml.Expected(p.Check, names))
			}
			if (p.Git == GitPlanned) != (p.Plan != "") {
				r.Problem(p.Pos, "gate",
					"found %s, expected the file of the plan with git: planned, and only there", planOf(p))
			}
			if p.JQ != "" {
				variables := make([]string, len(p.With))
				for i, w := range p.With {
					variables[i] = w.Name
				}
				if _, err := CompileJQ(p.JQ, variables); err != nil {
					r.Problem(p.Pos, "jq", "%v; expected a jq program that answers true or false", err)
				}
			}
			if p.Glob != "" && !doublestar.ValidatePattern(p.Glob) {
				r.Problem(p.Pos, "gate",
					"found the pattern %q as glob, expected one that can be read, such as %q", p.Glob, "code/files/**")
			}
			for _, pattern := range p.Untouched {
				if !doublestar.ValidatePattern(pattern) {
					r.Problem(p.Pos, "gate",
						"found the pattern %q in untouched, expected one that can be read, such as %q", pattern,
						"test/**")
				}
			}
			if p.Empty && p.JQ == "" {
				r.Problem(p.Pos, "gate",
					"found empty: allowed without jq in a gate, expected the program that judges the list, or no empty")
			}
			if len(p.With) > 0 && p.JQ == "" {
				r.Problem(p.Pos, "gate", "found with without jq in a gate, expected the program that uses the files")
			}
		}
	})
	for i := range d.Transitions {
		t := &d.Transitions[i]
		if s, exists := d.State(t.From); exists && s.Subject == SubjectBranch && Asks(t.Gate, GitAsReviewed) {
			r.Problem(t.Pos, "gate", "found git: as-reviewed on a way out of %q, expected it where the state "+
				"says subject: carried or subject: worktree: else there is no tree to compare with", t.From)
		}
	}
}

func planOf(p Part) string {
	if p.Plan == "" {
		return "git: planned without a plan"
	}
	return "a plan in a gate that does not ask git for what was planned"
}
