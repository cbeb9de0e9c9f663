package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// workspaces checks that every workspace that is held is held by a living task, and is there with the task's branch.
func (d *Doctor) workspaces(ctx context.Context, r report, v *view) error {
	worktrees, err := d.Setup.Worktrees()
	if err != nil {
		return err
	}
	held := map[string]string{}
	for _, h := range v.holders {
		held[h.Workspace] = h.Task
		d.lease(ctx, r, v, h, slices.Contains(worktrees, h.Workspace))
	}
	for _, t := range v.tasks {
		if t.Workspace != "" && held[t.Workspace] != t.ID {
			r.problem(t.Workspace, fmt.Sprintf("task %s says that it has this workspace, and the pool says that %s "+
				"has it", t.ID, orNone(held[t.Workspace])),
				"look at both with orange task show, and cancel the one that is not wanted")
		}
	}
	for _, name := range worktrees {
		if held[name] == "" && v.project != nil {
			beyond(r, v, name)
		}
	}
	r.orOK("workspaces", "held: %d, there: %d", len(v.holders), len(worktrees))
	return nil
}

// sharedSettings names what all worktrees of a repository share and Orange did not change.
func (d *Doctor) sharedSettings(ctx context.Context, r report, _ *view) error {
	words, err := d.Setup.SharedWords(ctx, "")
	for _, one := range words {
		r.warn("shared settings",
			"settings of git that all worktrees share have changed, and Orange did not change them: "+one,
			"put it back with orange project restore, or keep it with orange project accept")
	}
	return err
}

// asides names what was set aside, so that a person brings it back or drops it.
func (d *Doctor) asides(_ context.Context, r report, _ *view) error {
	all, err := d.Setup.Asides("")
	for _, one := range all {
		r.warn(one.Task, fmt.Sprintf("set aside since %s: %s", one.Since.Format(time.DateOnly), one),
			"bring it back or drop it: orange workspace list names the commands")
	}
	return err
}

func orNone(id string) string {
	if id == "" {
		return "no task"
	}
	return "task " + id
}

// lease checks the workspace of one holder.
func (d *Doctor) lease(ctx context.Context, r report, v *view, h record.Holder, there bool) {
	if h.Status == "" {
		r.problem(h.Workspace, fmt.Sprintf("it is held by task %s, which is not on record", h.Task),
			"orange doctor --fix gives it back").
			by("given back", func(ctx context.Context) error { return d.Engine.Forget(ctx, h.Task) })
		return
	}
	t, known := v.byID[h.Task]
	switch {
	case !known: // made just now
	case !t.Live && len(v.owed[t.ID]) == 0:
		r.problem(h.Workspace, fmt.Sprintf("it is held by task %s, which is over (%s)", t.ID, t.Status),
			"orange doctor --fix gives it back; what is not committed there is kept").
			by("to be given back, and what is not committed there to be kept", d.free(t.ID))
	case !t.Live || v.isToCome(t.ID):
	case there: // with its branch, or the one that it was renamed to
		if s := d.Setup.Subject(ctx, t, false); s.Trouble != "" {
			r.problem(h.Workspace, fmt.Sprintf("task %s has it, and the task's branch cannot be read: %s", t.ID,
				s.Trouble),
				"where it is gone, orange task respawn "+t.ID+" makes it again at the newest commit that is known")
		}
	default:
		advice := "register its repository (orange project add PATH), and look again"
		if _, known := v.project[t.Project]; known {
			advice = "orange task respawn " + t.ID + " makes it again, with the newest commit that is known"
		}
		r.problem(h.Workspace, fmt.Sprintf("task %s has it, and its worktree %q is gone", t.ID,
			d.Setup.Dir(h.Workspace)), advice)
	}
}

// isToCome reports whether the workspace of a task is being made.
func (v *view) isToCome(id string) bool {
	return slices.ContainsFunc(v.owed[id], func(h task.OwedHook) bool { return h.Action == action.AcquireWorkspace })
}

// beyond finds a worktree that no project asks for any more.
func beyond(r report, v *view, name string) {
	at := strings.LastIndex(name, "--")
	if at < 0 {
		return
	}
	number, err := strconv.Atoi(name[at+2:])
	if err != nil {
		return
	}
	p, known := v.project[name[:at]]
	switch {
	case !known:
		r.warn(name, "it is the worktree of a project that is not registered",
			"register its repository (orange project add PATH), then orange workspace gc")
	case number > p.PoolSize:
		r.warn(name, fmt.Sprintf("it is more than the %d workspaces of its project", p.PoolSize), "orange workspace gc")
	}
}

// sessions checks that every agent belongs to a task that is not over, and finds those that have died.
func (d *Doctor) sessions(_ context.Context, r report, v *view) error {
	if v.blind != nil {
		return nil // gather reports it
	}
	alive := map[string]bool{}
	over := map[string]bool{}
	for _, w := range v.panes {
		if w.Task == "" || w.Role == "" {
			continue // a window that a person opened is theirs
		}
		alive[w.Task] = alive[w.Task] || !w.Dead
		t, known := v.byID[w.Task]
		switch {
		case !known:
			d.stray(r, w)
		case !t.Live && !over[t.ID]:
			over[t.ID] = true
			d.lingeringSession(r, t, w, len(v.owed[t.ID]) > 0)
		}
	}
	for _, t := range v.tasks {
		if t.Live && t.Session != "" && !alive[t.ID] {
			r.warn(t.ID, "its agent is dead: no program runs in its session "+strconv.Quote(t.Session),
				"orange task respawn "+t.ID)
		}
	}
	r.orOK("tmux", "windows: %d, each of a task that goes on", len(v.panes))
	return nil
}

// stray is a window of a task that is not on record. One that still has its folder may come back.
func (d *Doctor) stray(r report, w tmux.Pane) {
	said := fmt.Sprintf("window %s of session %q has the %s of task %s, which is not on record", w.WindowID, w.Session,
		w.Role, w.Task)
	back, err := d.mayComeBack(w.Task)
	switch {
	case err != nil:
		r.blind(w.WindowID, err)
	case back:
		r.warn(w.WindowID, said, "its folder is there: "+adviceRebuild+" brings the task back")
	default:
		r.problem(w.WindowID, said, "orange doctor --fix ends it").
			by("ended", func(ctx context.Context) error { return d.endWindow(ctx, w.WindowID) })
	}
}

// endWindow ends a window with everything that its program started in its process group.
func (d *Doctor) endWindow(ctx context.Context, id string) error {
	panes, err := d.Windows.Panes(ctx)
	if err != nil {
		return err
	}
	if err := d.Windows.KillWindow(ctx, id); err != nil {
		return err
	}
	for _, p := range panes {
		if p.WindowID == id && !p.Dead {
			if err := d.Machine.EndGroup(ctx, p.PID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Doctor) lingeringSession(r report, t task.Task, w tmux.Pane, owing bool) {
	said := fmt.Sprintf("session %q is still there, and the task is over (%s)", w.Session, t.Status)
	if owing {
		r.warn(t.ID, said, "it still has to end: orange task retry "+t.ID)
		return
	}
	r.problem(t.ID, said, "orange doctor --fix ends it").by("to be ended", d.free(t.ID))
}

// environments finds those that are kept for tasks which have no workspace and wait for none: they hold a
// person's secrets, and the terminal server would live on for them alone.
func (d *Doctor) environments(_ context.Context, r report, v *view) error {
	if v.blind != nil || v.unkept != nil {
		return nil // gather reports it
	}
	for _, id := range v.kept {
		t, known := v.byID[id]
		if known && (t.Workspace != "" || v.isToCome(id) || t.Queued() || t.WaitsForTasks()) {
			continue
		}
		if !known { // it would have its workspace then
			if back, err := d.mayComeBack(id); err != nil {
				r.blind(id, err)
				continue
			} else if back {
				continue
			}
		}
		r.warn(id, "the environment of the person who started the task is still kept in the terminal server, and the "+
			"task has no workspace", "orange doctor --fix drops it").
			by("dropped", func(ctx context.Context) error { return d.Windows.Drop(ctx, id) })
	}
	r.orOK("tmux", "kept: %d, each of a task that needs it", len(v.kept))
	return nil
}

// checkouts finds those of checks that were killed. The next run of the same check and the end of the task take
// them away too.
func (d *Doctor) checkouts(_ context.Context, r report, _ *view) error {
	all, err := d.Setup.Checkouts()
	for _, name := range all {
		r.warn(name, "a check was killed, and the checkout that it ran in is still there",
			"orange doctor --fix removes it").
			by("removed", func(ctx context.Context) error { return d.Setup.RemoveCheckout(ctx, name) })
	}
	return err
}

// leftJudgements finds what was judged for tasks that are over.
func (d *Doctor) leftJudgements(ctx context.Context, r report, v *view) error {
	for _, name := range slices.Sorted(maps.Keys(v.project)) {
		p := v.project[name]
		if _, err := os.Stat(p.Path); err != nil {
			continue // told by the check of projects
		}
		all, err := d.Setup.Judged(ctx, p)
		if err != nil {
			r.blind(name, err)
		}
		for _, id := range all {
			if err := d.leftJudgement(r, v, p, id); err != nil {
				r.blind(id, err)
			}
		}
	}
	return nil
}

func (d *Doctor) leftJudgement(r report, v *view, p task.Project, id string) error {
	t, known := v.byID[id]
	if known && (t.Live || t.Workspace != "") {
		return nil
	}
	if !known {
		if back, err := d.mayComeBack(id); back || err != nil {
			return err
		}
	}
	r.warn(id, fmt.Sprintf("the repository of %q keeps what was judged of the task, which is over", p.Name),
		"orange doctor --fix lets go of it, and keeps what is nowhere else").
		by("let go of", func(ctx context.Context) error { return d.Setup.ForgetJudged(ctx, p, id, t.Branch) })
	return nil
}
