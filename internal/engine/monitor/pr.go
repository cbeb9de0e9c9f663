package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// requestsEvery is how often a project's pull requests are looked at.
const requestsEvery = 2 * time.Minute

// again looks at the live tasks again and again. git and the network may take their time: nothing else waits for it.
// Trouble that stays the same is reported once.
func (m *Monitor) again(ctx context.Context, what string, every time.Duration,
	look func(ctx context.Context, live []task.Task) map[string]error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := map[string]string{}
	for {
		var met map[string]error
		if tasks, err := m.taskLists(ctx); err != nil {
			met = map[string]error{"": err}
		} else {
			met = look(ctx, tasks.live)
		}
		for project, err := range met { // the order of what is logged does not matter
			if told[project] != err.Error() {
				m.report(ctx, what, err)
			}
		}
		clear(told)
		for project, err := range met { // one map into another
			told[project] = err.Error()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ofAll is a look that goes wrong for all projects at once.
func ofAll(look func(context.Context, []task.Task) error) func(context.Context, []task.Task) map[string]error {
	return func(ctx context.Context, live []task.Task) map[string]error {
		if err := look(ctx, live); err != nil {
			return map[string]error{"": err}
		}
		return nil
	}
}

// pullRequests asks how the pull requests of live tasks stand that are open on record, with one question for each
// project, and tells the engine how they were found. It answers what went wrong, by project.
func (m *Monitor) pullRequests(ctx context.Context, live []task.Task) map[string]error {
	open := map[string][]task.Task{}
	for _, t := range live {
		if t.PRURL != "" && t.PRState == record.PROpen {
			open[t.Project] = append(open[t.Project], t)
		}
	}
	met := map[string]error{}
	for project, tasks := range open { // one does not depend on another
		if err := m.standing(ctx, project, tasks); err != nil {
			met[project] = fmt.Errorf("pull requests of %q: %w", project, err)
		}
	}
	return met
}

// standing sees to one project. Those that were answered count, whatever became of the others.
func (m *Monitor) standing(ctx context.Context, project string, tasks []task.Task) error {
	addresses := make([]string, len(tasks))
	for i := range tasks {
		addresses[i] = tasks[i].PRURL
	}
	found, all := m.PullRequests(ctx, project, addresses)
	for f := range found {
		pr := found[f].PullRequest
		for i := range tasks {
			if tasks[i].PRURL != pr.URL || pr.State == record.PROpen && pr.Checks == "" {
				continue
			}
			told, err := m.Engine.PRSeen(ctx, tasks[i].ID, pr)
			if err == nil && pr.State == record.PROpen {
				told, err = m.Engine.PRJudged(ctx, tasks[i].ID, found[f])
			}
			if told != "" {
				m.tell(ctx, tasks[i], told)
			}
			all = errors.Join(all, err)
		}
	}
	return all
}
