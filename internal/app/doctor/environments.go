package doctor

import (
	"context"
	"slices"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// environments finds those that are kept for tasks which have no workspace and wait for none: they hold a
// person's secrets, and the terminal server would live on for them alone.
func (d *Doctor) environments(_ context.Context, v *view) []finding {
	if v.kept == nil { // they could not be looked at
		return nil
	}
	var out []finding
	for _, id := range v.kept {
		t, known := v.byID[id]
		toCome := slices.ContainsFunc(v.owed[id], func(h task.OwedHook) bool {
			return h.Action == action.AcquireWorkspace
		})
		if known && (t.Workspace != "" || toCome || t.Queued() || t.WaitsForTasks()) {
			continue
		}
		if !known {
			back, err := d.mayComeBack(id)
			if err != nil {
				out = append(out, blind(checkKept, id, err))
			}
			if err != nil || back { // it would have its workspace then
				continue
			}
		}
		out = append(out, warning(checkKept, id, "the environment of the person who started the task is still kept "+
			"in the terminal server, and the task has no workspace", "orange doctor --fix drops it").
			by("dropped", func(ctx context.Context) error { return d.Windows.Drop(ctx, id) }))
	}
	return orOK(out, checkKept, "tmux", "kept: %d, each of a task that needs it", len(v.kept))
}
