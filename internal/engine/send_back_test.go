package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// sendingBack are rules with others of send_back.
type sendingBack struct {
	engine.Rules
	rules []workflow.SendBack // of every state
}

func (r sendingBack) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	def, err := r.Rules.Pinned(ctx, ref)
	if err != nil {
		return nil, err
	}
	own := *def
	own.States = slices.Clone(def.States)
	for i := range own.States {
		own.States[i].SendBack = r.rules
	}
	return &own, nil
}

func TestMerge_thatFailsSendsTheTaskBack(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]*record.Unmerged{
		"a conflict":   {Files: []string{"a.txt"}},
		"a red result": {Check: "make test", Said: "it exited with status 2; all of what it said is in /x: boom"},
	} {
		w := newWorld(t)
		id := w.reach("reviewing")
		w.repository.fails = failed
		_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
		got, is := errors.AsType[*record.Unmerged](err)
		have := w.task(id)
		if !is || !strings.Contains(err.Error(), `the task was sent back to "working", with what to do under `+
			`"## Fix Instructions" in its document`) || strings.Contains(err.Error(), "run this again") ||
			len(got.Files) != len(failed.Files) || failed.Then != "" {
			t.Errorf("%s: the merge ended with %v", name, err)
		}
		if have.Status != "working" || have.Counters.Get("sent_back") != 1 ||
			have.Counters.Get(task.ReviewRound) != 0 ||
			w.repository.merged != 0 || w.finished(id) != 1 {
			t.Errorf("%s: the task is %+v", name, have)
		}
		text := w.document(id)
		_, instructions, found := strings.Cut(text, "\n## Fix Instructions\n")
		if want := failed.Said + strings.Join(failed.Files, ""); !found || !strings.Contains(instructions, "| "+want) {
			t.Errorf("%s: the worker reads\n%s", name, text)
		}
		w.replays(t)
	}
}

func TestMerge_thatFailsOtherwiseSendsNothingBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.repository.fails = errors.New("origin cannot be reached")
	if _, _, err := w.Merge(t.Context(), id, task.Merge{}, human); !errors.Is(err, w.repository.fails) {
		t.Errorf("the merge ended with %v", err)
	}
	w.repository.fails = &record.Unmerged{Files: []string{"a.txt"}}
	w.rewire(func(p *engine.Ports) { p.Rules = sendingBack{p.Rules, nil} })
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if err == nil || !strings.Contains(err.Error(), "run this again; nothing was changed") {
		t.Errorf("where the workflow has no rule the merge ended with %v", err)
	}
	have := w.task(id)
	if have.Status != "reviewing" || have.Attention != "" || strings.Contains(w.document(id), "## Fix") {
		t.Errorf("the task is %q, marked %q", have.Status, have.Attention)
	}
}

func TestMerge_thatFailsTooOftenMarksTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	never := []workflow.SendBack{{On: []string{workflow.OnMergeFailed}, Then: "working",
		When: []workflow.Guard{{Field: "sent_back", Op: "<", Value: 0}}}}
	w.rewire(func(p *engine.Ports) { p.Rules = sendingBack{p.Rules, never} })
	w.repository.fails = &record.Unmerged{Files: []string{"a.txt"}}
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	have := w.task(id)
	if err == nil || !strings.Contains(err.Error(), `the task stays in "reviewing" and waits for a person`) ||
		have.Status != "reviewing" || !strings.Contains(have.Attention, "sent_back < 0: sent_back = 0") ||
		len(w.events(id, history.SendBackRefused)) != 1 || strings.Contains(w.document(id), "## Fix") {
		t.Errorf("it is %q, marked %q, and the merge ended with %v", have.Status, have.Attention, err)
	}
}

// lateConflict is a repository where a merge is in conflict only after its begin is on record: origin had more
// meanwhile, and it was made again.
type lateConflict struct{ *fakeRepository }

func (lateConflict) Merge(ctx context.Context, _ task.Task, _ record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	if err := begin(ctx, "c0ffee"); err != nil {
		return record.MergeResult{}, err
	}
	return record.MergeResult{}, &record.Unmerged{Files: []string{"a.txt"}}
}

// Defect: the begin of a merge is a person's act, and set the count back of how often merges that fail send a task
// back: where each of them failed only after its begin it went on forever.
func TestMerge_thatFailsAfterItsBeginIsCountedAsAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.rewire(func(p *engine.Ports) { p.Work = lateConflict{w.repository} })
	for try := 1; try <= 4; try++ {
		if _, _, err := w.Merge(t.Context(), id, task.Merge{}, human); err == nil {
			t.Fatal("it is merged")
		}
		have, status := w.task(id), task.Status("working")
		if try > 3 {
			status = "reviewing"
		}
		if count := have.Counters.Get("sent_back"); have.Status != status || count != min(try, 3) ||
			(have.Attention != "") != (try > 3) {
			t.Fatalf("the merge failed %d times: it is %q, sent back %d times, marked %q", try, have.Status, count,
				have.Attention)
		}
		if try <= 3 {
			w.write(id, fmt.Sprintf("\n## Handoff\nDONE: try %d\n", try))
			w.move(id, "agent-review", worker)
			w.write(id, fmt.Sprintf("\n## Review\nVerdict: PASS\ntry %d\n", try))
			w.move(id, "reviewing", reviewer)
		}
	}
	w.replays(t)
}

// red is a red check of the pull request of a task in this world.
func red(fact string) decide.Setback {
	return decide.Setback{On: workflow.OnPRChecksFailed, Reason: "the check build is red", Text: "Mend it.",
		Commit: "beef", Facts: []string{fact}}
}

func TestSendBack_happensOncePerFactHoweverManyReportIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	var mu sync.Mutex
	told := map[string]int{}
	w.many(4, func(program *world) error {
		text, err := program.SendBack(t.Context(), id, red("run 1"))
		mu.Lock()
		defer mu.Unlock()
		told[text]++
		return err
	})
	want := `the check build is red; it was sent back to "working"`
	if told[want] != 1 || told[""] != 3 || w.task(id).Status != "working" {
		t.Errorf("told %v, it is %q", told, w.task(id).Status)
	}
	if n := strings.Count(w.document(id), "Mend it."); n < 1 {
		t.Errorf("the document has the text %d times", n)
	}
	move := w.events(id, history.AutoAdvanced)[0]
	if move.Data["pr_checks_failed"] != "run 1" || move.Data["commit"] != "beef" {
		t.Errorf("the move has %v", move.Data)
	}
	w.replays(t)
}

func TestSendBack_doesNothingWhereNothingFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	other := red("run 1")
	other.Commit = "dead"
	for name, back := range map[string]decide.Setback{"another commit": other,
		"no fact": {On: red("").On, Commit: "beef"},
		"no rule": {On: "rain", Commit: "beef", Facts: []string{"run 1"}}} {
		if told, err := w.SendBack(t.Context(), id, back); told != "" || err != nil ||
			w.task(id).Status != "reviewing" {
			t.Errorf("%s: told %q, %v, it is %q", name, told, err, w.task(id).Status)
		}
	}
	if told, err := w.SendBack(t.Context(), "nobody", red("run 1")); told != "" || err != nil {
		t.Errorf("of no task it told %q, %v", told, err)
	}
}
