package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"orange/internal/rules/task"
)

// Leftovers are what checks and judgements leave in a repository, and nothing asks for once they are over.
type Leftovers interface {
	// Checkouts are those that checks made whose run is dead.
	Checkouts() ([]string, error)
	RemoveCheckout(ctx context.Context, name string) error
	// Judged are the tasks for which a repository keeps what was judged.
	Judged(ctx context.Context, p task.Project) ([]string, error)
	// ForgetJudged lets go of that, and keeps for the task what is nowhere else.
	ForgetJudged(ctx context.Context, p task.Project, id, branch string) error
}

// checkouts finds those of checks that were killed. The next run of the same check and the end of the task take
// them away too.
func (d *Doctor) checkouts(context.Context) []finding {
	all, err := d.Leftovers.Checkouts()
	if err != nil {
		return []finding{blind(checkLeftovers, "workspaces", err)}
	}
	var out []finding
	for _, name := range all {
		out = append(out, warning(checkLeftovers, name, "a check was killed, and the checkout that it ran in is still "+
			"there", "orange doctor --fix removes it").
			by("removed", func(ctx context.Context) error { return d.Leftovers.RemoveCheckout(ctx, name) }))
	}
	return out
}

// judged finds what was judged for tasks that are over.
func (d *Doctor) judged(ctx context.Context, v *view) []finding {
	var out []finding
	for _, name := range slices.Sorted(maps.Keys(v.project)) {
		p := v.project[name]
		if _, err := os.Stat(p.Path); err != nil {
			continue // told by the check of projects
		}
		all, err := d.Leftovers.Judged(ctx, p)
		if err != nil {
			out = append(out, blind(checkLeftovers, name, err))
			continue
		}
		for _, id := range all {
			out = append(out, d.judgedOf(v, p, id)...)
		}
	}
	return out
}

func (d *Doctor) judgedOf(v *view, p task.Project, id string) []finding {
	t, known := v.byID[id]
	if known && (t.Live || t.Workspace != "") {
		return nil
	}
	if !known {
		switch back, err := d.mayComeBack(id); {
		case err != nil:
			return []finding{blind(checkLeftovers, id, err)}
		case back:
			return nil
		}
	}
	return []finding{warning(checkLeftovers, id,
		fmt.Sprintf("the repository of %q keeps what was judged of the task, which is over", p.Name),
		"orange doctor --fix lets go of it, and keeps what is nowhere else").
		by("let go of", func(ctx context.Context) error { return d.Leftovers.ForgetJudged(ctx, p, id, t.Branch) })}
}
