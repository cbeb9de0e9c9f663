package engine

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// RequestPR has the task's branch pushed and a pull request opened for it, and waits a while for that. A refusal
// is a *rejection.Rejection.
func (e *pulls) RequestPR(ctx context.Context, id string, actor task.Actor) (record.Outcome, error) {
	return e.outcomes.once(ctx, id, actor, func() (record.Outcome, error) {
		if err := e.outcomes.finishPending(ctx, id, actor); err != nil {
			return record.Outcome{}, err
		}
		// The header may name another branch by now: Orange takes it over first.
		s, _, err := e.files.refresh(ctx, id)
		if err != nil {
			return record.Outcome{}, err
		}
		ahead, origin, forge := false, false, ""
		if s.Task.Live && s.Task.Workspace != "" { // else there may be no branch yet
			if ahead, err = e.work.Ahead(ctx, s.Task, ""); err != nil {
				return record.Outcome{}, err
			}
			if origin, forge, err = e.work.Forge(ctx, s.Task); err != nil {
				return record.Outcome{}, err
			}
		}
		then, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
			c, err := decide.RequestPR(s.def, s.Snapshot, ahead, origin, forge, actor, e.now())
			return &ruling{change: c, in: replay.Inputs{Ask: replay.AskPR}.By(actor)}, err
		})
		if err != nil {
			return record.Outcome{}, err
		}
		out, err := e.outcomes.conclude(ctx, then.Task, then.Task.Seq, actor)
		out.Moved = false
		return out, err
	})
}

// presentPR returns the present pull request of the task; its address is empty if it has none. It asks for the one on
// record by its address. If that was closed, or merged into another branch, or none is on record, it looks at those of
// the branch: an open one counts, and one that was merged with the exact commit. A pull request from another repository
// is not the task's, unless it has that commit: its branch may only have the same name. aside tells of the one on
// record where that does not count.
func (e *pulls) presentPR(ctx context.Context, t task.Task) (pr record.PullRequest, aside string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot tell whether task %s has a pull request: %w; try again, or merge here "+
				"all the same: orange task merge %s --local", t.ID, err, t.ID)
		}
	}()
	project, err := e.projectOf(t) // one that is gone has no default branch
	if err != nil {
		return pr, "", err
	}
	if t.PRURL != "" {
		own, err := e.work.States(ctx, t.Project, []string{t.PRURL})
		if err == nil && len(own) == 0 {
			err = fmt.Errorf("nothing was said about %s", t.PRURL)
		}
		if err != nil {
			return pr, "", err
		}
		elsewhere := decide.Elsewhere(t, own[0], project.DefaultBranch)
		switch {
		case elsewhere != "":
			aside = fmt.Sprintf("its pull request %s was merged into %q", own[0].URL, own[0].Base)
		case own[0].State == record.PRClosed:
			aside = "its pull request " + own[0].URL + " is closed and was not merged"
		default:
			return own[0], "", nil
		}
	}
	all, err := e.work.Find(ctx, t.Project, t.Branch)
	if err != nil || len(all) == 0 {
		return pr, aside, err
	}
	tip, err := e.work.Tip(ctx, t)
	if err != nil {
		return pr, "", err
	}
	for _, other := range all {
		if other.State == record.PROpen && !other.Foreign || other.State != record.PRClosed && other.Commit == tip &&
			decide.Elsewhere(t, other, project.DefaultBranch) == "" {
			return other, "", nil
		}
	}
	return pr, aside, nil
}

// moveAfterPR moves a task whose pull request is merged. It leaves the local default branch as it is.
func (e *pulls) moveAfterPR(ctx context.Context, s step, req task.Request, pr record.PullRequest) (
	record.Outcome, string, error) {
	req.Reason, req.Override = pr.Ended(), false
	git := gitFacts(s.evidence.Merged(s.def, s.Task, req.To, pr))
	git.pull = &pr
	if err := e.noteMerged(ctx, req, pr); err != nil {
		return record.Outcome{}, "", err
	}
	out, err := e.requests.request(ctx, &request{Request: req, known: git})
	said := req.Reason + "; the default branch here is as it was, fetch it"
	if err != nil || !out.Moved {
		return out, said, err
	}
	if marked := decide.MarkOtherHead(s.Task, task.Task{}, pr); marked.Attention != "" {
		said += "; " + marked.Attention
	}
	return out, said, nil
}

// noteMerged records that a pull request was merged, each part of it once.
func (e *pulls) noteMerged(ctx context.Context, req task.Request, pr record.PullRequest) error {
	s, err := e.record.Load(ctx, req.Task)
	if err != nil {
		return err
	}
	within, err := e.work.Within(ctx, s.Task, pr.Commit)
	if err != nil {
		return err
	}
	if !within {
		return fmt.Errorf("cannot finish task %s: its branch %q has work that %s was merged without; "+
			"open another pull request for it (orange task create-pr %s), or merge it here: orange task merge "+
			"%s --local",
			s.Task.ID, s.Task.Branch, pr.URL, s.Task.ID, s.Task.ID)
	}
	_, _, err = e.do(ctx, req.Task, e.withRules, func(s step) (*ruling, error) {
		events, err := e.record.Events(ctx, req.Task, 0)
		if err != nil {
			return nil, err
		}
		noted := s.Task.PRURL == pr.URL && s.Task.PRState == pr.State
		c := decide.NoteMerged(s.def, s.Task, pr, noted, events, req.Actor, e.now())
		if len(c.Events) == 0 {
			return nil, nil
		}
		return &ruling{change: c, in: replay.Inputs{Ask: replay.AskLanded}.By(req.Actor).About(pr, noted)}, nil
	})
	return err
}

// PRSeen takes over the state in which a task's open pull request was found. If its checks have a new result, PRSeen
// notes that. It records the end of the pull request, and makes the move that the workflow wants then, in one step.
// It returns the notice for people; empty if nothing is new. If several processes report the same, one of them gets
// the notice. PRSeen does nothing while hooks are owed that may still have an effect, and while evidence is being
// gathered: the caller asks again. It sets the hooks of the move going and does not wait for them.
func (e *pulls) PRSeen(ctx context.Context, id string, pr record.PullRequest) (told string, err error) {
	ctx = context.WithoutCancel(ctx)
	if pr.State == record.PROpen {
		return "", e.prChecked(ctx, id, pr)
	}
	return evenIfFull(func(against string) (string, error) { return e.prEnded(ctx, id, pr, against) })
}

// prChecked notes the result of the checks of the task's pull request, if the history has another one.
func (e *pulls) prChecked(ctx context.Context, id string, pr record.PullRequest) error {
	t, noted, err := e.change(ctx, id, func(s record.Snapshot) (record.Change, bool, error) {
		events, err := e.record.Events(ctx, id, 0)
		isNew := s.Task.Live && s.Task.PRURL == pr.URL && pr.Checks != "" &&
			history.ChecksOf(events, pr.URL) != pr.Checks
		return record.Change{Task: s.Task, Expect: s.Task.Version, Events: []history.Event{{
			Time: e.now(), Type: history.PRChecked, Actor: task.ActorEngine, Data: map[string]string{
				"url": pr.URL, history.DataChecks: pr.Checks},
		}}}, isNew, err
	})
	if errors.Is(err, task.ErrNotFound) {
		return nil
	}
	if err != nil || !noted {
		return err
	}
	_, err = e.outcomes.announce(ctx, t, t.Seq)
	return err
}

// prEnded commits what follows from a pull request's end and has its hooks performed. against is what prevents the
// move; empty where nothing is known to.
func (e *pulls) prEnded(ctx context.Context, id string, pr record.PullRequest, against string) (
	told string, err error) {
	var was step
	var c record.Change
	look := func(ctx context.Context, id string) (step, error) { return e.lookAfterPR(ctx, id, pr) }
	then, changed, err := e.do(ctx, id, look, func(s step) (*ruling, error) {
		was = s
		if !decide.PRNews(s.Task, pr) {
			return nil, nil
		}
		prevents := against
		if prevents == "" {
			if prevents, err = e.whyUnmerged(ctx, s.Task, pr); err != nil {
				return nil, err
			}
		}
		c = decide.PREnded(s.def, s.Task, s.evidence, pr, prevents, e.now())
		in := replay.Inputs{Ask: replay.AskPREnded, Against: prevents}.About(pr, false)
		return mayMove(s, &c, in, "overtaken by the end of the pull request"), nil
	})
	if err != nil || !changed {
		return "", err
	}
	t := then.Task
	told = pr.Ended()
	if c.Entered {
		told += fmt.Sprintf("; it was moved to %q", t.Status)
		if t.Attention != "" {
			told += "; " + t.Attention
		}
	} else if t.Attention != was.Task.Attention {
		told = t.Attention
	}
	_, err = e.outcomes.announceAndRun(ctx, t, len(c.Hooks) > 0)
	return told, err
}

// lookAfterPR looks at what the move after a pull request's end asks for. While the task owes hooks, or evidence is
// being gathered, the error is errNotNow.
func (e *pulls) lookAfterPR(ctx context.Context, id string, pr record.PullRequest) (step, error) {
	s, err := e.withRules(ctx, id)
	if err != nil || !decide.PRNews(s.Task, pr) {
		return s, err
	}
	if to, said := decide.PRMove(s.def, pr); said {
		if s, err = e.looks.lookFor(ruleTo(id, to))(ctx, id); err != nil {
			return s, err
		}
		s.evidence = s.evidence.Merged(s.def, s.Task, to, pr)
	}
	if _, pending := firstPending(s.Owed); pending || isGathering(s.evidence) {
		return s, errNotNow
	}
	return s, nil
}

// whyUnmerged returns why the task's work is not merged by a merged pull request: it went elsewhere, or lacks some of
// the branch; empty if nothing speaks against it.
func (e *pulls) whyUnmerged(ctx context.Context, t task.Task, pr record.PullRequest) (string, error) {
	if pr.State != record.PRMerged {
		return "", nil
	}
	project, err := e.projectOf(t) // one that is gone has no default branch
	if err != nil {
		return "", err
	}
	if elsewhere := decide.Elsewhere(t, pr, project.DefaultBranch); elsewhere != "" {
		return elsewhere, nil
	}
	within, err := e.work.Within(ctx, t, pr.Commit)
	if err != nil || within {
		return "", err
	}
	return fmt.Sprintf("the branch %q has work that it was merged without", t.Branch), nil
}

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
	project, err := e.project(s.Task.Project)
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
