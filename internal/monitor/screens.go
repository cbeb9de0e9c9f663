package monitor

import (
	"context"
	"time"

	"orange/internal/record"
	"orange/internal/task"
)

// screensEvery is how often the agents' screens are looked at. A screen has to be still for two seconds, and people
// should hear of it within five.
const screensEvery = 2500 * time.Millisecond

// screensRest is how many times as long as a look took the watch rests after it, at least and up to the usual look:
// with very many agents people hear a little later, and the watch still costs next to nothing.
const screensRest = 300

// watchScreens tells people when an agent begins to wait for them, until ctx ends.
func (m *Monitor) watchScreens(ctx context.Context) {
	if m.Needs == nil {
		return
	}
	told, trouble := map[string]string{}, ""
	for next := screensEvery; ctx.Err() == nil; {
		if pause(ctx, next); ctx.Err() != nil {
			return
		}
		began := m.Now()
		err := m.screens(ctx, told)
		next = min(max(screensEvery, screensRest*m.Now().Sub(began)), defaultInterval)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != trouble { // Orange logs the same once
			m.report(ctx, "screens", err)
		}
		trouble = text
	}
}

// screens tells people of agents that wait for them, each once while it does. told has the kinds of need that people
// know of, by task.
func (m *Monitor) screens(ctx context.Context, told map[string]string) error {
	tasks, err := m.taskLists(ctx)
	if err != nil {
		return err
	}
	var asked []task.Task
	for i := range tasks.live {
		if tasks.live[i].Session != "" {
			asked = append(asked, tasks.live[i])
		}
	}
	if len(asked) == 0 {
		clear(told)
		return nil
	}
	needs, err := m.Needs(ctx, asked)
	if needs == nil {
		return err
	}
	now := make(map[string]string, len(told))
	for i := range asked {
		need := needs[asked[i].ID]
		if !need.Until.IsZero() {
			continue // the mark that came with the agent's end says so
		}
		switch need.Kind {
		case record.NeedsAnswer, record.NeedsWord, record.NeedsLimit: // Orange tells of the others where they come from
			now[asked[i].ID] = need.Kind
			if told[asked[i].ID] != need.Kind {
				m.Tell(ctx, asked[i], "needs you: "+need.String())
			}
		}
	}
	clear(told)
	for id, kind := range now {
		told[id] = kind
	}
	return err
}
