package tasks

import (
	"strings"

	"orange/internal/ui/dashboard/screen"
)

// InKeys is a text about a task with the keys of the dashboard in the place of the commands that do the same: who reads
// it there has the task selected.
func InKeys(keys screen.KeyTable, id, text string) string {
	for _, one := range []struct{ verb, action string }{
		{"attach", "start"}, {"respawn", "start"}, {"say", "say"}, {"why", "part-3"}, {"history", "part-2"},
		{"logs", "part-5"}, {"retry", "retry"}, {"merge", "merge"}, {"request-changes", "request-changes"},
	} {
		command := "orange task " + one.verb + " " + id
		for {
			before, after, found := strings.Cut(text, command)
			if !found {
				break
			}
			if rest, has := strings.CutPrefix(after, " --role "); has {
				after = strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz-")
			}
			after = strings.TrimPrefix(after, " TEXT")
			if strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`) {
				before, after = strings.TrimSuffix(before, `"`), after[1:]
			}
			text = before + keys.Of(one.action) + after
		}
	}
	return text
}
