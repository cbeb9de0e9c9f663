package hook_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/run/tmux"
	"orange/internal/work/worktree"
)

func isNote(e history.Event) bool { return e.Type == history.StartNoted }

// Defect: a worktree and a branch that another program had removed came back at the default branch, without a word, by
// any hook that works there.
func TestPerform_restoresABranchOrWorktreeThatOthersRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action, missing string
		left            bool
		calls, ends     []string
		noted           bool
	}{
		"what is there": {action.PushBranch, "", false, []string{"push"}, nil, false},
		"a branch":      {action.PushBranch, "its branch is gone", false, []string{"prepare", "push"}, nil, true},
		"a worktree": {action.PushBranch, "gone", true, []string{"kill-window", "end-group", "prepare", "push"},
			[]string{record.EveryRole}, true},
		"by its own hook": {action.AcquireWorkspace, "gone", true, []string{"kill-window", "end-group", "prepare"},
			[]string{record.EveryRole}, true},
		"nothing at an end": {action.ReleaseWorkspace, "gone", true, []string{"release"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := newExecutor(t)
			p.missing, p.leaves = c.missing, c.left
			p.cleared = worktree.Cleared{Notes: []string{"branch was gone"}}
			if c.action != action.ReleaseWorkspace {
				p.panes = []tmux.Pane{aPane("worker", "3")}
			}
			job := aJob(c.action, "")
			job.Task.Session = "garden/fix"
			effect, err := h.Perform(t.Context(), job)
			must(t, err)
			var calls []string
			for _, call := range p.calls {
				word, _, _ := strings.Cut(call, " ")
				calls = append(calls, word)
			}
			if !slices.Equal(calls, c.calls) || !slices.Equal(effect.EndSeats, c.ends) ||
				(effect.Session != nil) != (c.ends != nil) {
				t.Errorf("it does %q, and ends %q", calls, effect.EndSeats)
			}
			if noted := slices.ContainsFunc(effect.Events, isNote); noted != c.noted {
				t.Errorf("its events are %+v", effect.Events)
			}
		})
	}
	h, p := newExecutor(t)
	p.missing, p.fails["push"] = "its branch is gone", errors.New("no network")
	p.cleared = worktree.Cleared{Notes: []string{"branch was gone"}}
	_, err := h.Perform(t.Context(), aJob(action.PushBranch, ""))
	wantError(t, err, "no network; before that: branch was gone")
	h, p = newExecutor(t)
	p.missing, p.fails["prepare"] = "its worktree is gone", errors.New("no room")
	_, err = h.Perform(t.Context(), aJob(action.PushBranch, ""))
	wantError(t, err, "its worktree is gone, and could not be made again: no room")
	h, p = newExecutor(t)
	p.missing, p.leaves, p.fails["end-group"] = "its worktree is gone", true, errors.New("no permission")
	p.panes = []tmux.Pane{aPane("worker", "3"), aPane("cto", "4")}
	job := aJob(action.PushBranch, "")
	job.Task.Session = "garden/fix"
	effect, err := h.Perform(t.Context(), job)
	wantError(t, err, "no permission")
	if !slices.Equal(effect.EndSeats, []string{"worker"}) {
		t.Errorf("of those who sat in the lost worktree it ends %q", effect.EndSeats)
	}
}
