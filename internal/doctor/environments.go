package doctor

import (
	"context"
	"slices"
)

// environments finds those that are kept for tasks which have no workspace and wait for none: they hold a
// person's secrets, and the terminal server would live on for them alone.
func (d *Doctor) environments(_ context.Context, v *view) []finding {
	var out []finding
	for _, id := range v.kept {
		t, known := v.byID[id]
		if known && (t.Workspace != "" || t.Queued()) {
			continue
		}
		if !known {
			all, err := d.Files.Folders()
			if err != nil {
				out = append(out, blind(checkKept, id, err))
				continue
			}
			if slices.ContainsFunc(all, func(folder [2]string) bool { return folder[1] == id }) {
				continue // it may come back, and have its workspace then
			}
		}
		f := warning(checkKept, id, "the environment of the person who started the task is still kept in the "+
			"terminal server, and the task has no workspace", "orange doctor --fix drops it")
		f.mend = func(ctx context.Context) (string, error) { return "dropped", d.Windows.Drop(ctx, id) }
		out = append(out, f)
	}
	return orOK(out, checkKept, "tmux", "kept: %d, each of a task that needs it", len(v.kept))
}
