package monitor

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// notifyPatience bounds a program that notifies a person.
const notifyPatience = 10 * time.Second

// Notifier runs the person's own program with what a person should know.
type Notifier struct {
	Argv []string // none where it is empty
	Log  *slog.Logger
}

// Notify runs the program. That it failed is only logged: nothing depends on it.
func (n Notifier) Notify(ctx context.Context, t task.Task, text string) {
	argv := n.Argv
	if len(argv) == 0 {
		return
	}
	ctx, off := context.WithTimeout(ctx, notifyPatience)
	defer off()
	put := strings.NewReplacer("{message}", text, "{task}", t.ID, "{branch}", t.Branch, "{project}", t.Project)
	args := make([]string, len(argv)-1)
	for i, word := range argv[1:] {
		args[i] = put.Replace(word)
	}
	if _, err := proc.Run(ctx, proc.Command{Name: argv[0], Args: args}); err != nil {
		n.Log.Warn("the notification failed", "component", "monitor", "task", t.ID, "error", err.Error())
	}
}
