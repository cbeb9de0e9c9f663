package decide

import (
	"cmp"
	"fmt"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// MergeWay is how a task is merged on this machine: by which strategy, whether origin gets it, and which commands must
// succeed on the result. What a person says goes before what the project says, and that before the workflow. It
// refuses where the work belongs into a pull request, where no one has said whether it is to be pushed, and where
// commits would go to origin that the person has not counted.
func MergeWay(def *workflow.Definition, t task.Task, to task.Status, in record.Merging, actor task.Actor) (
	record.MergeOrder, error) {
	refuse := func(code, message string, details ...rejection.Detail) error {
		return &rejection.Rejection{Code: code, Task: t.ID, From: t.Status, To: to, MayAsk: MayAsk(def, t, actor),
			Message: fmt.Sprintf("cannot merge task %s here: %s", t.ID, message), Details: details}
	}
	here := strings.Join(in.Commands(t.ID, actor.As), ", or ")
	switch {
	case in.PR.URL != "":
		return record.MergeOrder{}, refuse(rejection.PROpen, "its pull request is open", openPR(in, here))
	case in.Project.Merge == "pr" && !in.Asked.Local:
		return record.MergeOrder{}, refuse(rejection.PRMissing, "its project merges by pull requests", rejection.Detail{
			Condition: "a pull request that is merged", Found: "none",
			Want: fmt.Sprintf("open one (orange task create-pr %s), or merge here all the same: %s", t.ID, here)})
	}
	order := record.MergeOrder{Strategy: cmp.Or(in.Asked.Strategy, in.Project.Strategy), With: in.Asked.With,
		Checked: in.Asked.Checked,
		Checks:  mergeChecks(def, in.Project)}
	wanted := cmp.Or(in.Asked.Push, in.Project.Push)
	switch {
	case wanted == "ask":
		return record.MergeOrder{}, refuse(rejection.PushUnanswered, "no one said whether origin gets it",
			rejection.Detail{Condition: "--push or --no-push", Found: "neither, and its project asks each time",
				Want: here})
	case wanted == "never":
		return order, nil
	case in.Unpushed != in.Asked.With:
		ways := "leave --with out: "
		if in.Unpushed > 0 {
			ways = "push them yourself, or have them go with it, or leave origin out: "
		}
		return record.MergeOrder{}, refuse(rejection.UnpushedCommits,
			"commits that origin has not would go there with it", rejection.Detail{
				Condition: fmt.Sprintf("%d commits that only the local %q has", in.Asked.With,
					in.Project.DefaultBranch),
				Found: namedCommits(in.Unpushed, in.Newest),
				Want:  ways + here})
	}
	order.Push = true
	return order, nil
}

// openPR is what to do about a pull request that is open. Merged into another branch it would not finish the task.
func openPR(in record.Merging, here string) rejection.Detail {
	found, first := "one that is open", "merge it there and run this again"
	if base, branch := in.PR.Base, in.Project.DefaultBranch; base != "" && branch != "" && base != branch {
		found = fmt.Sprintf("one that is open and goes into %q", base)
		first = fmt.Sprintf("have it go into %q, merge it there and run this again", branch)
	}
	return rejection.Detail{Condition: "no pull request, or one that is merged", Found: found, Where: in.PR.URL,
		Want: fmt.Sprintf("%s, or merge here all the same: %s", first, here)}
}

// projectCheckSeconds is how long a command may take that a project names.
const projectCheckSeconds = 30 * 60

func mergeChecks(def *workflow.Definition, p task.Project) (out []record.MergeCheck) {
	for _, argv := range p.Checks {
		out = append(out, record.MergeCheck{Argv: argv, Seconds: projectCheckSeconds})
	}
	if len(out) > 0 {
		return out
	}
	for _, named := range def.MergeChecks {
		for _, c := range def.Checks {
			if c.Name == named.Name {
				out = append(out, record.MergeCheck{Argv: c.Run, Seconds: c.Timeout})
			}
		}
	}
	return out
}

// namedCommits names so many commits, of which the newest are known.
func namedCommits(many int, newest []string) string {
	if many == 0 {
		return "none"
	}
	rest := ""
	if many > len(newest) {
		rest = fmt.Sprintf(" and %d older", many-len(newest))
	}
	return fmt.Sprintf("%d: %s%s", many, strings.Join(newest, "; "), rest)
}
