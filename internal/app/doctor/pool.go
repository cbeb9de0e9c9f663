package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// pool checks that every workspace that is held is held by a living task, and is there with the task's branch.
func (d *Doctor) pool(ctx context.Context, v *view) []finding {
	worktrees, err := d.Setup.Worktrees()
	if err != nil {
		return []finding{blind(checkPool, "workspaces", err)}
	}
	var out []finding
	held := map[string]string{}
	for _, h := range v.holders {
		held[h.Workspace] = h.Task
		out = append(out, d.lease(ctx, v, h, slices.Contains(worktrees, h.Workspace))...)
	}
	for _, t := range v.tasks {
		if t.Workspace != "" && held[t.Workspace] != t.ID {
			out = append(out, problem(checkPool, t.Workspace,
				fmt.Sprintf("task %s says that it has this workspace, and the pool says that %s has it", t.ID,
					orNone(held[t.Workspace])),
				"look at both with orange task show, and cancel the one that is not wanted"))
		}
	}
	for _, name := range worktrees {
		if f, beyond := d.beyond(v, name, held[name] != ""); beyond {
			out = append(out, f)
		}
	}
	return append(orOK(out, checkPool, "workspaces", "held: %d, there: %d", len(v.holders), len(worktrees)),
		append(d.asides(), d.shared(ctx)...)...)
}

// shared names what all worktrees of a repository share and Orange did not change.
func (d *Doctor) shared(ctx context.Context) []finding {
	words, err := d.Setup.SharedWords(ctx, "")
	var out []finding
	if err != nil {
		out = append(out, blind(checkPool, "shared settings", err))
	}
	for _, one := range words {
		out = append(out, warning(checkPool, "shared settings",
			"settings of git that all worktrees share have changed, and Orange did not change them: "+one,
			"put it back with orange project restore, or keep it with orange project accept"))
	}
	return out
}

// asides names what was set aside, so that a person brings it back or drops it.
func (d *Doctor) asides() []finding {
	all, err := d.Setup.Asides("")
	if err != nil {
		return []finding{blind(checkPool, "set aside", err)}
	}
	var out []finding
	for _, one := range all {
		out = append(out, warning(checkPool, one.Task,
			fmt.Sprintf("set aside since %s: %s", one.Since.Format(time.DateOnly), one),
			"bring it back or drop it: orange workspace list names the commands"))
	}
	return out
}

func orNone(id string) string {
	if id == "" {
		return "no task"
	}
	return "task " + id
}

func (d *Doctor) lease(ctx context.Context, v *view, h record.Holder, there bool) []finding {
	if h.Status == "" {
		f := problem(checkPool, h.Workspace, fmt.Sprintf("it is held by task %s, which is not on record", h.Task),
			"orange doctor --fix gives it back")
		return []finding{f.by("given back", func(ctx context.Context) error { return d.Repairs.Forget(ctx, h.Task) })}
	}
	t, known := v.byID[h.Task]
	if !known {
		return nil // made just now
	}
	var out []finding
	if !t.Live && len(v.owed[t.ID]) == 0 {
		f := problem(checkPool, h.Workspace, fmt.Sprintf("it is held by task %s, which is over (%s)", t.ID,
			t.Status), "orange doctor --fix gives it back; what is not committed there is kept")
		out = append(out, f.by("to be given back, and what is not committed there to be kept",
			func(ctx context.Context) error { return d.free(ctx, t.ID) }))
	}
	beingMade := slices.ContainsFunc(v.owed[t.ID], func(h task.OwedHook) bool {
		return h.Action == action.AcquireWorkspace
	})
	if !there && !beingMade && t.Live {
		advice := "register its repository (orange project add PATH), and look again"
		if _, known := v.project[t.Project]; known {
			advice = "orange task respawn " + t.ID + " makes it again, with the newest commit that is known"
		}
		out = append(out, problem(checkPool, h.Workspace, fmt.Sprintf("task %s has it, and its worktree %q is gone",
			t.ID, d.Setup.Dir(h.Workspace)), advice))
	}
	if there && !beingMade && t.Live {
		out = append(out, d.branch(ctx, h.Workspace, t)...)
	}
	return out
}

// branch checks that the branch of a task is there, or the one that it was renamed to in its worktree.
func (d *Doctor) branch(ctx context.Context, workspace string, t task.Task) []finding {
	s := d.Setup.Subject(ctx, t, false)
	if s.Trouble == "" {
		return nil
	}
	return []finding{problem(checkPool, workspace,
		fmt.Sprintf("task %s has it, and the task's branch cannot be read: %s", t.ID, s.Trouble),
		"where it is gone, orange task respawn "+t.ID+" makes it again at the newest commit that is known")}
}

// beyond finds worktrees that no project asks for any more.
func (d *Doctor) beyond(v *view, name string, held bool) (finding, bool) {
	at := strings.LastIndex(name, "--")
	if at < 0 || held {
		return finding{}, false
	}
	number, err := strconv.Atoi(name[at+2:])
	if err != nil {
		return finding{}, false
	}
	p, known := v.project[name[:at]]
	switch {
	case v.project == nil:
		return finding{}, false
	case !known:
		return warning(checkPool, name, "it is the worktree of a project that is not registered",
			"register its repository (orange project add PATH), then orange workspace gc"), true
	case number > p.PoolSize:
		return warning(checkPool, name, fmt.Sprintf("it is more than the %d workspaces of its project",
			p.PoolSize), "orange workspace gc"), true
	}
	return finding{}, false
}

// sessions checks that every agent belongs to a task that is not over, and finds those that have died.
func (d *Doctor) sessions(_ context.Context, v *view) []finding {
	if v.blind {
		return nil
	}
	var out []finding
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
			out = append(out, d.stray(w))
		case !t.Live && !over[t.ID]:
			over[t.ID] = true
			out = append(out, d.lingering(t, w, len(v.owed[t.ID]) > 0))
		}
	}
	for _, t := range v.tasks {
		if t.Live && t.Session != "" && !alive[t.ID] {
			out = append(out, warning(checkSessions, t.ID, "its agent is dead: no program runs in its session "+
				strconv.Quote(t.Session), "orange task respawn "+t.ID))
		}
	}
	return orOK(out, checkSessions, "tmux", "windows: %d, each of a task that goes on", len(v.panes))
}

// stray is a window of a task that is not on record. One that still has its folder may come back.
func (d *Doctor) stray(w tmux.Pane) finding {
	said := fmt.Sprintf("window %s of session %q has the %s of task %s, which is not on record", w.WindowID, w.Session,
		w.Role, w.Task)
	back, err := d.mayComeBack(w.Task)
	switch {
	case err != nil:
		return blind(checkSessions, w.WindowID, err)
	case back:
		return warning(checkSessions, w.WindowID, said, "its folder is there: "+adviceRebuild+" brings the task back")
	}
	return problem(checkSessions, w.WindowID, said, "orange doctor --fix ends it").
		by("ended", func(ctx context.Context) error { return d.endWindow(ctx, w.WindowID) })
}

// mayComeBack reports whether a task that is not on record has its folder still.
func (d *Doctor) mayComeBack(id string) (bool, error) {
	all, err := d.Files.Folders()
	return slices.ContainsFunc(all, func(folder [2]string) bool { return folder[1] == id }), err
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

func (d *Doctor) lingering(t task.Task, w tmux.Pane, owing bool) finding {
	said := fmt.Sprintf("session %q is still there, and the task is over (%s)", w.Session, t.Status)
	if owing {
		return warning(checkSessions, t.ID, said, "it still has to end: orange task retry "+t.ID)
	}
	return problem(checkSessions, t.ID, said, "orange doctor --fix ends it").
		by("to be ended", func(ctx context.Context) error { return d.free(ctx, t.ID) })
}
