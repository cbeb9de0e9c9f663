package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

const (
	// endTime is how long a terminal server may take to end whose windows are gone.
	endTime = time.Second
	endLook = 50 * time.Millisecond
)

// Lost is with what a dead agent ended, if the terminal server that it was started in is gone: with that, or with the
// machine's last run. It is empty where the server lives: then the agent ended by itself, or someone ended it. The
// window of an agent outlives it as long as the server does. Resume is what the person wants with those who ended so.
func (o *Observer) Lost(ctx context.Context, death task.Death, started time.Time) (with, resume string, _ error) {
	own, err := o.PanesOf(ctx, death.Task)
	if err != nil || slices.ContainsFunc(own, func(p tmux.Pane) bool { return p.HookID() == death.Hook }) {
		return "", "", err
	}
	lives, err := o.livesSince(ctx, started)
	for late := time.Now().Add(endTime); err == nil && lives && time.Now().Before(late); {
		if proc.Pause(ctx, endLook); ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		lives, err = o.livesSince(ctx, started)
	}
	if err != nil || lives {
		return "", "", err
	}
	_, up, err := proc.SinceBoot()
	if err != nil {
		return "", "", err
	}
	if with = "the terminal server"; started.Before(time.Now().Add(-up)) {
		with = "a reboot"
	}
	if resume, err = o.Resume(); err != nil {
		resume = record.ResumeAsk // doctor says what is wrong with the configuration
	}
	return with, resume, nil
}

// livesSince reports whether the terminal server runs that ran at a time.
func (o *Observer) livesSince(ctx context.Context, at time.Time) (bool, error) {
	began, runs, err := o.Began(ctx)
	if err != nil {
		return false, fmt.Errorf("find out whether an agent ended with its terminal server: %w", err)
	}
	return runs && !began.After(at), nil
}
