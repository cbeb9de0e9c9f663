package engine

import (
	"context"
	"errors"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// mostLog is how many bytes of the end of a check's log are read.
const mostLog = 6 << 10

// PRJudged takes over what others say of a task's open pull request: red checks and reviews that ask for changes, if
// they are about the judged commit. Each of them sends the task back once, if its workflow has a rule for that. It
// returns the notice for people; empty if nothing follows.
func (e *pulls) PRJudged(ctx context.Context, id string, look record.PRLook) (told string, err error) {
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	project, err := e.registered(s.Task.Project)
	if errors.Is(err, task.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if back, due := (decide.Setback{}).OfReviews(s.Task, &look, project.PRBots); due {
		if told, err = e.sendBackNew(ctx, s.Task, back, nil); err != nil || told != "" {
			return told, err
		}
	}
	back, due := decide.Setback{}.OfChecks(s.Task, &look, nil)
	if !due {
		return "", nil
	}
	return e.sendBackNew(ctx, s.Task, back, func() decide.Setback {
		full, _ := decide.Setback{}.OfChecks(s.Task, &look, logs(ctx, e.work, s.Task, &look))
		return full
	})
}

// sendBackNew sends a task back for something that its history does not have yet. full is the setback with what takes
// long to find out; nil where that is nothing.
func (e *pulls) sendBackNew(ctx context.Context, t task.Task, back decide.Setback, full func() decide.Setback) (
	string, error) {
	def, err := e.rulesOf(ctx, t)
	if err != nil {
		return "", err
	}
	events, err := e.record.Events(ctx, t.ID, 0)
	if err != nil || !back.Wanted(def, t, events) {
		return "", err
	}
	if full != nil {
		back = full()
	}
	return e.reactions.SendBack(ctx, t.ID, back)
}

// logs reads the ends of the logs of failed checks. One that cannot be read says so in its place.
func logs(ctx context.Context, work Work, t task.Task, look *record.PRLook) map[string]string {
	ends := map[string]string{}
	for i := range look.Runs {
		run := &look.Runs[i]
		if run.Result != record.ChecksFail || run.Log == "" {
			continue
		}
		text, err := work.Log(ctx, t.Project, look.URL, run.Log, mostLog)
		if err != nil {
			text = err.Error()
		}
		ends[run.Log] = text
	}
	return ends
}
