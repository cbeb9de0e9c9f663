package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"orange/internal/api/remote"
	"orange/internal/rules/fencing"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/rejection"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/internal/work/ship"
	"orange/internal/work/worktree"
)

// ended carries an exit status to the caller of the program, that of an agent or of what has been reported already.
type ended struct{ status int }

func (e *ended) Error() string { return fmt.Sprintf("reported already, status %d", e.status) }

// Exit statuses.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitRefused  = 3
	exitNotFound = 4
	exitNotYet   = 5 // a person's wait is over, and no one is needed
	exitStopped  = 130
)

func usage(format string, args ...any) error { return task.Notef(task.ErrUsage, format, args...) }

// classify is the one place that turns an error into an exit status and a code.
func classify(err error) (status int, code string) {
	if refused, ok := errors.AsType[*rejection.Rejection](err); ok {
		return exitRefused, refused.Code
	}
	if _, ok := errors.AsType[yaml.Problems](err); ok {
		return exitUsage, "invalid_file"
	}
	switch {
	case errors.Is(err, task.ErrUsage):
		return exitUsage, "usage"
	case errors.Is(err, idempotency.ErrReused):
		return exitUsage, "key_reused"
	case errors.Is(err, task.ErrNotFound):
		return exitNotFound, "not_found"
	case errors.Is(err, task.ErrBranchTaken):
		return exitRefused, "branch_taken"
	case errors.Is(err, remote.ErrNotReached):
		return exitFailed, "not_reached"
	case errors.Is(err, remote.ErrNotKnown):
		return exitFailed, "not_known"
	case errors.Is(err, remote.ErrLost):
		return exitFailed, "lost"
	case errors.Is(err, remote.ErrNotHeld):
		return exitFailed, "not_held"
	case errors.Is(err, remote.ErrKept):
		return exitFailed, "kept"
	case errors.Is(err, task.ErrPoolFull):
		return exitFailed, "pool_full"
	case errors.Is(err, task.ErrConflict):
		return exitFailed, "conflict"
	case errors.Is(err, fencing.ErrHeldBack):
		return exitFailed, "held_back"
	case errors.Is(err, signed.ErrUnsigned):
		return exitRefused, "unsigned"
	case errors.Is(err, ship.ErrSnapshotMoved):
		return exitFailed, "snapshot_moved"
	case errors.Is(err, worktree.ErrNotPushed):
		return exitFailed, "not_pushed"
	case errors.Is(err, context.Canceled):
		return exitStopped, "stopped"
	case strings.HasPrefix(err.Error(), "unknown command"):
		return exitUsage, "usage"
	}
	return exitFailed, "failed"
}

func (p *printer) report(err error) int {
	if err == nil {
		return 0
	}
	if it, ok := errors.AsType[*ended](err); ok {
		return it.status
	}
	if errors.Is(err, errNeed) {
		return exitFailed // it is done again, and says then what there is to say
	}
	if advice := proc.FilesAdvice(err); advice != "" {
		err = fmt.Errorf("%w: %s", err, advice)
	}
	status, code := classify(err)
	problems, invalid := errors.AsType[yaml.Problems](err)
	if !p.json {
		text := err.Error()
		if invalid {
			text = strings.Replace(text, problems.Error(), problems.Marked(), 1)
		}
		p.warn("%s", text)
		return status
	}
	answer := map[string]any{"error": err.Error(), "code": code, "details": []string{}}
	if refused, ok := errors.AsType[*rejection.Rejection](err); ok {
		// what an error around it says is part of the message
		answer["error"] = strings.Replace(err.Error(), refused.Error(), refused.Message, 1)
		answer["may_ask"], answer["details"] = orEmpty(refused.MayAsk), orEmpty(refused.Details)
		for key, value := range map[string]string{"from": string(refused.From), "to": string(refused.To),
			"override": refused.Override} {
			if value != "" {
				answer[key] = value
			}
		}
		if refused.Repeated != "" {
			answer["repeated"] = refused.Repeated
		}
	} else if invalid {
		answer["details"] = problems
	}
	if about, is := errors.AsType[*notStarted](err); is {
		answer["task"] = view(about.task, "")
	}
	if err := p.printJSON(answer); err != nil {
		p.warn("%v", err)
	}
	return status
}

// notStarted is why a task that was created could not be started.
type notStarted struct {
	error
	task task.Task
}

func (n *notStarted) Unwrap() error { return n.error }

// EndLate ends a program that could not end in time after it was asked to. One that is busy ends by itself: a dashboard
// restores its terminal, and who does the calls of others ends them.
func EndLate(messages io.Writer, busy bool) {
	if !busy {
		fmt.Fprintln(messages, "orange: ended in the middle of its work; the next command goes on with it")
		os.Exit(exitStopped)
	}
}
