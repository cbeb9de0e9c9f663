package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// noteShared notes in the history of a task, at whose change it was seen, which of the settings that all worktrees of
// its repository share have changed. Each change is noted once, whatever task comes next.
func (e *outcomes) noteShared(ctx context.Context, t task.Task, owed []task.OwedHook) error {
	if e.sharedNews == nil || slices.ContainsFunc(owed, func(h task.OwedHook) bool {
		return h.Action == action.AcquireWorkspace // no agent is in its worktree yet
	}) {
		return nil
	}
	news, err := e.sharedNews(ctx, t)
	if err != nil {
		return fmt.Errorf("look at the settings that all worktrees share: %w", err)
	}
	if len(news) == 0 {
		return nil
	}
	said := strings.Join(news, "; ")
	e.warn(t.ID, fmt.Sprintf("settings of git that all worktrees of project %q share have changed, and Orange did not "+
		"change them: %s; put them back with %q, or keep them with %q", t.Project, said,
		"orange project restore --project "+t.Project, "orange project accept --project "+t.Project))
	_, _, err = e.change(ctx, t.ID, func(s record.Snapshot) (record.Change, bool, error) {
		now := s.Task
		now.UpdatedAt = e.now()
		return record.Change{Task: now, Expect: s.Task.Version, Events: []history.Event{{
			Time: now.UpdatedAt, Type: history.SharedChanged, Actor: task.ActorEngine, Reason: said,
		}}}, true, nil
	})
	return err
}
