package engine_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"orange/internal/engine"
	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

const address = "https://github.com/a/garden/pull/7"

// requested brings a task to a status, with an open pull request on record.
func (w *world) requested(to task.Status) string {
	w.t.Helper()
	id := w.reach(to)
	w.opened(id)
	return id
}

// opened puts an open pull request of a task on record.
func (w *world) opened(id string) {
	w.t.Helper()
	s := w.load(id)
	s.Task.PRURL, s.Task.PRState = address, record.PROpen
	_, err := w.store.Commit(w.t.Context(), record.Change{Task: s.Task, Expect: s.Task.Version})
	must(w.t, err)
	must(w.t, w.Sync(w.t.Context(), id))
}

func pull(state string) record.PullRequest {
	pr := record.PullRequest{URL: address, State: state, Commit: "beef"}
	if state == record.PRMerged {
		pr.Merge = "c0ffee"
	}
	return pr
}

// finished are the moves that the engine made by itself.
func (w *world) finished(id string) int { return len(w.events(id, history.AutoAdvanced)) }

func TestMerge_ofAMergedPullRequestMergesNothingHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	w.repository.requests = []record.PullRequest{pull(record.PRMerged)}
	out, how, err := w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
	have := w.task(id)
	if have.Status != "done" || have.PRState != record.PRMerged || w.repository.merged != 0 ||
		out.Event.Reason != "merged as pull request "+address {
		t.Errorf("the task is %q with its pull request %s, %d merges, because %q", have.Status, have.PRState,
			w.repository.merged, out.Event.Reason)
	}
	if !strings.Contains(how, address) || !strings.Contains(how, "fetch it") {
		t.Errorf("it says %q", how)
	}
	merged := w.events(id, history.Merged)
	if len(merged) != 1 || merged[0].Data["commit"] != "c0ffee" || len(w.events(id, history.PRLanded)) != 1 {
		t.Errorf("the history has %+v and %d ends of pull requests", merged, len(w.events(id, history.PRLanded)))
	}
}

func TestMerge_ofAMergedPullRequestFinishesWhatWasCutShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	w.repository.requests = []record.PullRequest{pull(record.PRMerged)}
	s := w.load(id)
	def, err := w.ports.Rules.Pinned(t.Context(), s.Task.Workflow)
	must(t, err)
	c := decide.NoteMerged(def, s.Task, pull(record.PRMerged), false, nil, human, w.clock.Now())
	c, err = replay.Inputs{Ask: replay.AskLanded}.By(human).About(pull(record.PRMerged), false).Keep(def, s,
		decide.Evidence{}, c)
	must(t, err)
	_, err = w.store.Commit(t.Context(), c)
	must(t, err)
	_, _, err = w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
	if w.task(id).Status != "done" || len(w.events(id, history.Merged)) != 1 ||
		len(w.events(id, history.PRLanded)) != 1 {
		t.Errorf("the task is %q, and its history is %+v", w.task(id).Status, w.events(id, ""))
	}
}

func TestMerge_isRefusedWhileThePullRequestIsOpen(t *testing.T) {
	t.Parallel()
	for name, onRecord := range map[string]bool{"on record": true, "only on GitHub": false} {
		w := newWorld(t)
		id := w.reach("reviewing")
		if onRecord {
			w.opened(id)
		}
		w.repository.requests = []record.PullRequest{pull(record.PROpen)}
		before := w.everything()
		_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
		wantCode(t, err, rejection.PROpen)
		if err != nil && (!strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "--local")) {
			t.Errorf("%s: the refusal is %v", name, err)
		}
		if w.everything() != before {
			t.Errorf("%s: something changed", name)
		}
		_, _, err = w.Merge(t.Context(), id, task.Merge{Local: true}, human)
		must(t, err)
		wantText(t, name, string(w.task(id).Status), "done")
	}
}

func TestMerge_isLocalWhereNoPullRequestCoversIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pr   record.PullRequest
		says string
	}{
		"closed": {pull(record.PRClosed), "is closed and was not merged"},
		"merged into another branch": {
			record.PullRequest{URL: address, State: record.PRMerged, Commit: "beef", Base: "release"},
			`was merged into "release"`},
		"another one of the branch, merged into another": {
			record.PullRequest{URL: "https://other", State: record.PRMerged, Commit: "beef", Base: "release"},
			"merged"},
		"merged under the name before": {
			record.PullRequest{URL: "https://other", State: record.PRMerged, Commit: "old"}, "merged"},
		"a stranger's": {
			record.PullRequest{URL: "https://other", State: record.PROpen, Commit: "old", Foreign: true}, "merged"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.reach("reviewing")
			if tt.pr.URL == address {
				w.opened(id)
			}
			w.repository.requests = []record.PullRequest{tt.pr}
			_, how, err := w.Merge(t.Context(), id, task.Merge{}, human)
			must(t, err)
			if w.repository.merged != 1 || !strings.Contains(how, tt.says) {
				t.Errorf("%d merges; it says %q, want %q", w.repository.merged, how, tt.says)
			}
		})
	}
}

func TestMerge_thatCannotAskForPullRequestsSaysSoAndNamesLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	w.repository.unreachable = errors.New("no network")
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if err == nil || !strings.Contains(err.Error(), "no network") || !strings.Contains(err.Error(), "--local") ||
		w.repository.merged != 0 {
		t.Errorf("the error is %v, after %d merges", err, w.repository.merged)
	}
	_, _, err = w.Merge(t.Context(), id, task.Merge{Local: true}, human)
	must(t, err)
}

func TestMerge_finishesNoTaskWhoseBranchHasMoreThanWasMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	w.repository.requests, w.repository.beyond = []record.PullRequest{pull(record.PRMerged)}, true
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	if err == nil || !strings.Contains(err.Error(), "create-pr") || w.task(id).Status != "reviewing" {
		t.Errorf("the error is %v, the task is %q", err, w.task(id).Status)
	}
}

func TestPRSeen_movesTheTaskAsTheWorkflowSays(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state string
		to    task.Status
		event string
	}{"merged": {record.PRMerged, "done", history.PRLanded}, "closed": {
		record.PRClosed, "cancelled", history.PRDropped}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.requested("reviewing")
			message, err := w.PRSeen(t.Context(), id, pull(tt.state))
			must(t, err)
			have := w.task(id)
			if have.Status != tt.to || have.PRState != tt.state || have.Workspace != "" ||
				len(w.events(id, tt.event)) != 1 || w.finished(id) == 0 {
				t.Errorf("the task is %+v, its history %+v", have, w.events(id, ""))
			}
			if !strings.Contains(message, address) || !strings.Contains(message, string(tt.to)) {
				t.Errorf("people are told %q", message)
			}
			again, err := w.PRSeen(t.Context(), id, pull(tt.state))
			if err != nil || again != "" || len(w.events(id, tt.event)) != 1 {
				t.Errorf("told again: %q, %v", again, err)
			}
		})
	}
}

func TestPRSeen_thatTheWorkflowRefusesIsNotedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("working") // no way leads from there to done
	message, err := w.PRSeen(t.Context(), id, pull(record.PRMerged))
	must(t, err)
	have := w.task(id)
	if have.Status != "working" || have.PRState != record.PRMerged ||
		!strings.Contains(have.Attention, "could not be moved") || message != have.Attention {
		t.Errorf("the task is %q with the mark %q; people are told %q", have.Status, have.Attention, message)
	}
	if again, err := w.PRSeen(t.Context(), id, pull(record.PRMerged)); err != nil || again != "" {
		t.Errorf("told again: %q, %v", again, err)
	}
}

func TestPRSeen_marksATaskWhoseMergedHeadWasNotReviewed(t *testing.T) {
	t.Parallel()
	const mark = "merged feed, reviewed beef: look at what lies between"
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	w.opened(id)
	other := pull(record.PRMerged)
	other.Commit = "feed"
	message, err := w.PRSeen(t.Context(), id, other)
	must(t, err)
	have := w.task(id)
	if have.Status != "done" || have.Attention != mark || !strings.HasSuffix(message, mark) {
		t.Errorf("the task is %q with the mark %q; people are told %q", have.Status, have.Attention, message)
	}
}

// The mark is part of the move: nothing that dies behind it takes it away.
func TestMerge_marksAnUnreviewedHeadInTheMoveItself(t *testing.T) {
	t.Parallel()
	const mark = "merged feed, reviewed beef: look at what lies between"
	w := newWorld(t)
	id := w.reach("agent-review")
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	w.opened(id)
	other := pull(record.PRMerged)
	other.Commit = "feed"
	w.repository.requests = []record.PullRequest{other}
	w.runner.dead = true
	_, said, err := w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
	have := w.task(id)
	if moves := w.events(id, history.StatusChanged); have.Status != "done" || have.Attention != mark ||
		!strings.HasSuffix(said, mark) || moves[len(moves)-1].Seq != have.Seq {
		t.Errorf("the task is %q with the mark %q; its person is told %q", have.Status, have.Attention, said)
	}
}

func TestPRSeen_finishesNoTaskWhoseBranchHasMoreThanWasMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	w.repository.beyond = true
	_, err := w.PRSeen(t.Context(), id, pull(record.PRMerged))
	must(t, err)
	if have := w.task(id); have.Status != "reviewing" ||
		!strings.Contains(have.Attention, "has work that it was merged without") {
		t.Errorf("the task is %q with the mark %q", have.Status, have.Attention)
	}
}

// Defect: a pull request that someone had turned to another branch finished its task all the same.
func TestPRSeen_finishesNoTaskByAMergeIntoAnotherBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	turned := pull(record.PRMerged)
	turned.Base = "release"
	message, err := w.PRSeen(t.Context(), id, turned)
	must(t, err)
	have := w.task(id)
	if have.Status != "reviewing" || have.PRState != record.PRMerged || message != have.Attention ||
		!strings.Contains(message, `it was merged into "release", and tasks of this project go into "main"`) ||
		!strings.Contains(message, "orange task create-pr "+id) {
		t.Errorf("the task is %q with the mark %q; people are told %q", have.Status, have.Attention, message)
	}
	turned.Base = "main"
	w = newWorld(t)
	id = w.requested("reviewing")
	if _, err := w.PRSeen(t.Context(), id, turned); err != nil || w.task(id).Status != "done" {
		t.Errorf("the task is %q after a merge into its own branch, %v", w.task(id).Status, err)
	}
}

func TestPRSeen_waitsForHooksThatAreOwed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("agent-review")
	w.runner.dead = true
	w.write(id, pass)
	w.move(id, "reviewing", reviewer)
	must(t, w.withPending(id))
	message, err := w.PRSeen(t.Context(), id, pull(record.PRMerged))
	if err != nil || message != "" || w.task(id).PRState != record.PROpen {
		t.Fatalf("it told %q, %v; the pull request is %s", message, err, w.task(id).PRState)
	}
	w.runner.dead = false
	must(t, w.Finish(t.Context()))
	_, err = w.PRSeen(t.Context(), id, pull(record.PRMerged))
	must(t, err)
	wantText(t, "status", string(w.task(id).Status), "done")
}

// withPending reports whether a hook of the task waits to be performed.
func (w *world) withPending(id string) error {
	for _, h := range w.load(id).Owed {
		if h.State == task.HookPending {
			return nil
		}
	}
	return errors.New("no hook is owed")
}

func TestPRSeen_ofManyDuringAPersonsMergeMovesOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := newWorld(t)
		id := w.requested("reviewing")
		w.repository.requests = []record.PullRequest{pull(record.PRMerged)}
		var person atomic.Bool
		w.many(4, func(program *world) (err error) {
			if person.CompareAndSwap(false, true) {
				_, _, err = program.Merge(t.Context(), id, task.Merge{}, human)
			} else {
				_, err = program.PRSeen(t.Context(), id, pull(record.PRMerged))
			}
			return err
		})
		moves := 0
		for _, e := range w.events(id, "") {
			if e.IsMove() && e.To == "done" {
				moves++
			}
		}
		if moves != 1 || len(w.events(id, history.PRLanded)) != 1 || len(w.events(id, history.Merged)) > 1 {
			t.Errorf("%d moves; the history is %+v", moves, w.events(id, ""))
		}
	}
}

func TestPRSeen_notesWhatTheChecksComeToWhenThatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested("reviewing")
	for _, checks := range []string{record.ChecksNone, record.ChecksPending, record.ChecksPending, record.ChecksFail,
		record.ChecksFail, ""} {
		pr := pull(record.PROpen)
		pr.Checks = checks
		message, err := w.PRSeen(t.Context(), id, pr)
		if err != nil || message != "" {
			t.Errorf("%s: people are told %q, %v", checks, message, err)
		}
	}
	noted := w.events(id, history.PRChecked)
	if len(noted) != 3 || history.ChecksOf(noted, address) != record.ChecksFail ||
		history.ChecksOf(noted, "another") != "" {
		t.Errorf("the history has %+v", noted)
	}
}

func TestMerge_cutShortHereGoesOnDespiteAnOpenPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &branch{fakeRepository: w.repository, cut: true}
	w.rewire(func(p *engine.Ports) { p.Work = b })
	id := w.requested("reviewing")
	w.repository.requests = []record.PullRequest{pull(record.PROpen)}
	if _, _, err := w.Merge(t.Context(), id, task.Merge{Local: true}, human); err == nil {
		t.Fatal("the merge was not cut short")
	}
	_, _, err := w.Merge(t.Context(), id, task.Merge{}, human)
	must(t, err)
	wantText(t, "status", string(w.task(id).Status), "done")
}
