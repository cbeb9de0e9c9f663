package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// mergeLock is the name of the lock for merging a task: who has it is at work on that, from before the begin is noted
// until the task is moved.
func mergeLock(id string) string { return id + ".merging" }

// earlierMerge is what earlier tries of a merge have left in the history. They may have been about several commits, if
// the branch moved on in between: then it is the merge of the last one.
type earlierMerge struct {
	git      *earlierLook // what git said then, if one of them did its work and was cut short before the move
	commit   string       // that was to be merged
	tries    []history.Event
	landed   string // what the default branch has of it: a result, or the commit where that came there by other means
	push     string // whether origin was to get it
	strategy string
}

// resultsOf lists what the default branch was to get by the tries to merge a commit. Whatever it has by a merge of
// another commit, this one is not merged by that.
func (m earlierMerge) resultsOf(commit string) (results []string) {
	for i := range m.tries {
		if data := m.tries[i].Data; data[dataResult] != "" && data[dataCommit] == commit {
			results = append(results, data[dataResult])
		}
	}
	return results
}

// mergeBegun reads the tries since the last move. If the commit has something to merge the caller looks again.
func (e *merges) mergeBegun(ctx context.Context, id string) (earlierMerge, error) {
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return earlierMerge{}, err
	}
	merge := decide.Unfinished{}.In(events)
	if len(merge.Tries) == 0 {
		return earlierMerge{}, nil
	}
	s, err := e.record.Load(ctx, id)
	if err == nil {
		err = e.work.EndPush(ctx, s.Task)
	}
	if err != nil {
		return earlierMerge{}, err
	}
	return e.triesOf(ctx, s.Task, merge)
}

// triesOf finds out what became of the tries of a merge, as far as is known without a fetch.
func (e *merges) triesOf(ctx context.Context, t task.Task, merge decide.Unfinished) (earlier earlierMerge, err error) {
	last := merge.Tries[0].Data
	earlier = earlierMerge{commit: last[dataCommit], tries: merge.Tries, push: cmp.Or(last[dataPush], pushAlways),
		strategy: last[dataStrategy]}
	for _, result := range earlier.resultsOf(earlier.commit) {
		landed, err := e.work.Landed(ctx, t, []string{result})
		if err != nil {
			return earlier, err
		}
		if landed {
			earlier.landed = result
			break
		}
	}
	if earlier.landed == "" {
		ahead, err := e.work.Ahead(ctx, t, earlier.commit)
		if err != nil || ahead {
			return earlier, err
		}
		earlier.landed = earlier.commit
	}
	earlier.git = &earlierLook{facts: map[string]decide.Fact{}, subject: task.Subject{Commit: earlier.commit}}
	if text := last[dataGit]; text != "" {
		if err := json.Unmarshal([]byte(text), &earlier.git.facts); err != nil {
			return earlierMerge{}, fmt.Errorf("read what git said when the merge of task %s began: %w", t.ID, err)
		}
	}
	return earlier, nil
}

// GoOnMerging makes good a merge of a task that was cut short, once no process is at work on it. If the default branch
// has the work, here or on origin, it moves the task as the person asked who began the merge. If not, nothing was
// merged: it notes that, and marks the task for a person. It merges and pushes nothing: that is done with a person's
// keys. It returns the notice for people, empty if nothing is new; open is false if there is nothing to make good.
func (e *merges) GoOnMerging(ctx context.Context, id string) (told string, open bool, err error) {
	release, free, err := e.folder.TryLock(mergeLock(id))
	if err != nil || !free {
		return "", true, err
	}
	defer release()
	ctx = context.WithoutCancel(ctx)
	events, err := e.record.Events(ctx, id, 0)
	if err != nil {
		return "", true, err
	}
	s, err := e.record.Load(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return "", false, nil
	}
	merge := decide.Unfinished{}.In(events)
	switch {
	case err != nil:
		return "", true, err
	case !s.Task.Live || len(merge.Tries) == 0:
		return "", false, nil
	case s.Task.PRState == record.PROpen: // what becomes of it there is looked at by itself
		return "", false, nil
	}
	if _, pending := firstPending(s.Owed); pending {
		return "", true, nil
	}
	if err := e.work.EndPush(ctx, s.Task); err != nil {
		return "", true, err
	}
	if cmp.Or(merge.Tries[0].Data[dataPush], pushAlways) == pushAlways {
		if err := e.work.Fetch(ctx, s.Task); err != nil {
			told, marked := e.mergeStays(ctx, id, merge, err.Error(), "")
			return told, true, errors.Join(err, marked)
		}
	}
	earlier, err := e.triesOf(ctx, s.Task, merge)
	if err != nil {
		told, marked := e.mergeStays(ctx, id, merge, err.Error(), "")
		return told, true, errors.Join(err, marked)
	}
	if earlier.git == nil {
		told, err = e.mergeStays(ctx, id, merge, "", "")
		return told, true, err
	}
	told, err = e.mergeGood(ctx, s.Task, merge, earlier)
	return told, true, err
}

// mergeGood moves a task whose work the default branch has. The move is about the commit that was merged, wherever the
// branch is by now; what it has beyond that is not merged, and people hear so.
func (e *merges) mergeGood(ctx context.Context, t task.Task, merge decide.Unfinished, earlier earlierMerge) (
	string, error) {
	actor, why, beyond := merge.Actor(), merge.Tries[0].Reason, ""
	if tip := e.work.Subject(ctx, t, false).Commit; tip != "" && tip != earlier.commit {
		beyond = "; " + record.KeptBeyond(tip, earlier.commit)
	}
	done := record.MergeResult{Commit: earlier.landed, How: "merged before it was cut short" + beyond,
		Squash: earlier.strategy == "squash" && earlier.landed != earlier.commit}
	if !merge.Merged {
		if err := e.noteMerge(ctx, t, actor, earlier.commit, done); err != nil {
			return "", err
		}
	}
	r := mergeRequest(t.ID, task.Merge{Override: why}, actor)
	r.known, r.absent, r.Reason = earlier.git, true, cmp.Or(why, done.How)
	out, err := e.requests.request(ctx, r)
	if refused, is := errors.AsType[*rejection.Rejection](err); is {
		reason, _, _ := strings.Cut(refused.Error(), "\n")
		return e.mergeStays(ctx, t.ID, merge, "", reason)
	}
	if err != nil || !out.Moved {
		return "", err
	}
	return fmt.Sprintf("its merge had been cut short, and the default branch has the work; it was moved to %q",
		out.Task.Status) + beyond, nil
}

// mergeStays notes what follows for a task whose merge cannot be made good.
func (e *merges) mergeStays(ctx context.Context, id string, merge decide.Unfinished, unknown, against string) (
	told string, err error) {
	_, _, err = e.files.amend(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		told = ""
		c, due := merge.Stays(s.Task, unknown, against, e.now())
		if due && c.Task.Attention != s.Task.Attention {
			told = c.Task.Attention
		}
		return c, due, nil
	})
	return told, err
}
