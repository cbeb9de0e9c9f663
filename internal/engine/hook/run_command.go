package hook

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/work/worktree"
)

// Bounds of a program that a workflow runs, where it does not say.
const (
	commandTime   = 5 * time.Minute
	commandMemory = 2 << 30
	keptOutput    = 1 << 10 // it goes into the record and into TASK.md's header
)

// runCommand runs a program of the workflow in the worktree, or in the task's folder where the task has no workspace.
func (h *Executor) runCommand(ctx context.Context, job record.Job) (record.Effect, error) {
	job = asOf(job)
	view, err := h.place(ctx, job.Task)
	if err != nil {
		return record.Effect{}, err
	}
	return h.runWords(ctx, job, view, h.variables(job, view))
}

// runWords runs the words of a hook, the variables in them replaced.
func (h *Executor) runWords(ctx context.Context, job record.Job, view worktree.View,
	values map[string]string) (record.Effect, error) {
	if len(job.Hook.Run) == 0 {
		return record.Effect{}, fmt.Errorf(
			"cannot perform the hook %s: it names no program; give it run in the workflow", job.Hook.Action)
	}
	argv := make([]string, len(job.Hook.Run))
	for i, word := range job.Hook.Run {
		argv[i] = workflow.Expand(word, values)
	}
	limit := commandTime
	if job.Hook.Timeout > 0 {
		limit = time.Duration(job.Hook.Timeout) * time.Second
	}
	if err := h.run(ctx, job, argv, view, limit); err != nil {
		return record.Effect{}, err
	}
	return record.Effect{Said: "ran " + argv[0]}, nil
}

// run runs a program that knows for which hook of which task it runs. Any end but status 0 is an error.
func (h *Executor) run(ctx context.Context, job record.Job, argv []string, view worktree.View,
	limit time.Duration) error {
	t := job.Task
	env, err := h.Setup.Environment(ctx, t)
	if err != nil {
		return err
	}
	inHome, ofHook := "ORANGE_HOME="+h.Home, "ORANGE_HOOK_ID="+strconv.FormatInt(job.Hook.ID, 10)
	if job.Hook.Attempts > 0 { // the process that waited for the attempt before may have been killed
		if err := h.Processes.EndMarked(ctx, inHome, ofHook); err != nil {
			return fmt.Errorf("end what an earlier attempt left running: %w", err)
		}
	}
	// No secret of a seat is among these: the program speaks for no one.
	env = append(slices.Concat(env, view.Env), ofHook, "ORANGE_TASK_ID="+t.ID, "ORANGE_PROJECT="+t.Project,
		"ORANGE_STATUS="+string(t.Status), inHome)
	ended, err := h.Processes.RunLimited(ctx, proc.Command{Name: argv[0], Args: argv[1:], Dir: view.Dir, Base: env},
		proc.Limits{Time: limit, Memory: commandMemory, Output: keptOutput})
	if err != nil {
		return fmt.Errorf("cannot run %q: %w", argv[0], err)
	}
	said := strings.TrimSpace(strings.ToValidUTF8(ended.Output, "\uFFFD"))
	if ended.Cut {
		said = "... " + said
	}
	if said == "" {
		said = "it said nothing"
	}
	switch {
	case ended.TimedOut:
		return fmt.Errorf("%q was ended, because it took longer than %s; give it a longer timeout, or make it "+
			"quicker: %s", argv[0], limit, said)
	case ended.OutOfMemory:
		return fmt.Errorf("%q ran out of memory: Orange ended it, because it used more than %d MB: %s",
			argv[0], commandMemory>>20, said)
	case ended.Code != 0:
		return fmt.Errorf("%q ended with status %d: %s", argv[0], ended.Code, said)
	}
	return nil
}

// place is where a task's programs work, and what the variables of messages are made from.
func (h *Executor) place(ctx context.Context, t task.Task) (worktree.View, error) {
	if t.Workspace == "" {
		return h.folder(t), nil
	}
	return h.Work.View(ctx, t)
}

// folder is a task's own folder in place of a worktree.
func (h *Executor) folder(t task.Task) worktree.View {
	return worktree.View{Dir: h.Setup.TaskDir(t), TaskFile: "TASK.md"}
}

// asOf is the job with its task as the hook's own event left it. A hook that is performed late, or again, tells
// of that event and not of a later one.
func asOf(job record.Job) record.Job {
	switch e := job.Event; {
	case e.IsMove():
		job.Task.Status, job.Task.Previous = e.To, e.From
	case e.Type == history.Created:
		job.Task.Status, job.Task.Previous = task.Status(e.Data[history.DataStatus]), ""
	}
	if len(job.Event.Counters) > 0 {
		job.Task.Counters = job.Event.Counters
	}
	return job
}
