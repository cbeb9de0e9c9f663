package engine_test

import (
	"context"
	"slices"
	"strings"

	"orange/internal/proof/simulate"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// simBranch is a task's branch, with what only the world knows of it: which of its commits may be merged.
type simBranch struct {
	*simulate.TaskBranch
	// the commits that a verdict written now can be about: of the last entry into the review, and of the
	// reviewer's last start
	about []string
	left  map[string]int // former tips: the length of the trace when they ceased to be one
}

// overrideMerge is the kind of question with which a person merges what no one reviewed.
const overrideMerge = "merge in spite of the conditions"

func (s *simulation) branch(id string) *simBranch {
	if s.branches[id] == nil {
		s.branches[id] = &simBranch{TaskBranch: s.Branch(id), left: map[string]int{}}
	}
	return s.branches[id]
}

// commit makes a new commit of an edit.
func (s *simulation) commit(b *simBranch) {
	b.left[b.Commit()] = len(s.trace)
	b.CommitAll()
}

// wasTip reports whether a commit is the tip, or was it at any moment since a program began.
func (b *simBranch) wasTip(commit string, p *process) bool {
	left, gone := b.left[commit]
	return commit == b.Commit() || gone && left >= p.startedAt
}

// Subject is the tip of the task's branch, as a step.
func (r simulatedRepository) Subject(ctx context.Context, t task.Task, tree bool) task.Subject {
	out, _ := at(r.p, "reads the tip of "+r.p.sim.short(t.ID), func() (task.Subject, error) {
		return r.Repository.Subject(ctx, t, tree), nil
	})
	return out
}

// gateFacts are the facts that gates ask for outside of the document.
type gateFacts struct{ p *process }

func (w gateFacts) Look(_ context.Context, t task.Task, _ *workflow.Definition, parts []workflow.Part) (
	map[string]decide.Fact, error) {
	s := w.p.sim
	checked := decide.Fact{}
	if slices.ContainsFunc(parts, func(p workflow.Part) bool { return p.Check != "" }) {
		var err error
		if checked, err = w.p.runCheck(t); err != nil {
			return nil, err
		}
	}
	return at(w.p, "look at git for "+s.short(t.ID), func() (map[string]decide.Fact, error) {
		if err := w.p.Fail("look at git"); err != nil {
			return nil, err
		}
		out := map[string]decide.Fact{}
		b := s.branch(t.ID)
		for _, p := range parts {
			if p.Check != "" {
				out[p.Key()] = checked
				continue
			}
			f, _ := b.Fact(t, p)
			f.Want = "see to it"
			out[p.Key()] = f
		}
		return out, nil
	})
}

// changeBranch makes an agent change a file of its task, and perhaps commit it: at any time, even out of turn.
func (s *simulation) changeBranch(p *process, a *simulate.Agent) {
	b := s.branch(a.Task)
	_ = act(p, "changes the work of "+s.short(a.Task), func() error {
		if b.Edit(); s.random.IntN(4) != 0 {
			s.commit(b)
		}
		return nil
	})
}

// noteVerdict notes what a text is about, if it is a passing verdict.
func (s *simulation) noteVerdict(id, text string) {
	if b := s.branch(id); strings.Contains(text, "Verdict: PASS") {
		for _, commit := range b.about {
			b.Passed[commit] = true
		}
	}
}

// checkSubject checks what a step is about. What is judged is what is there: the commit of a move, of the begin of a
// merge, or of a workspace is the tip when the program is started that makes the step, or becomes it later. Only the
// move by which a merge ends goes by what was there earlier, even in another program: it is about the commit that was
// merged, one whose merge has begun since the last move and that the default branch has, wherever the branch is now.
// Who makes good the merge of another program, and finds that the branch has moved on, says so.
func (s *simulation) checkSubject(p *process, t task.Task, e history.Event) {
	b, commit := s.branch(t.ID), e.Subject.Commit
	if e.Type == history.MergeBegun {
		commit = e.Data["commit"]
	}
	ends, makesGood := e.IsMove() && e.To == "done", p.question == nil
	if makesGood {
		ends = ends && s.mergeBegan(t.ID)
	} else {
		ends = ends && (p.question.kind == "merge" || p.question.kind == overrideMerge)
	}
	switch was := b.wasTip(commit, p); {
	case ends && !s.isMerged(t.ID, commit):
		s.breakf("%s ends by a merge, and is about %q, which was not merged", s.short(t.ID), commit)
	case ends && makesGood && !was && e.Data[history.DataOverride] == "" &&
		!strings.Contains(e.Reason, record.KeptBeyond(b.Commit(), commit)):
		s.breakf("the merge of %q of %s is made good, and %q says nothing of %q, which is the tip", commit,
			s.short(t.ID), e.Reason, b.Commit())
	case ends || was || commit == "":
	case e.IsMove(), e.Type == history.MergeBegun, e.Type == history.WorkspaceReady:
		s.breakf("event %q of %s is about %q, which was not the tip since it was asked for", e.Type,
			s.short(t.ID), commit)
	}
}

// mergeBegan reports whether a merge of a task began before its newest move, after the move before that, and has not
// failed.
func (s *simulation) mergeBegan(id string) bool {
	moves := 0
	for _, e := range slices.Backward(s.audit.Events(id)) {
		switch {
		case e.IsMove():
			moves++
		case moves == 1 && e.Type == history.MergeFailed:
			return false
		case moves == 1 && e.Type == history.MergeBegun:
			return true
		}
	}
	return false
}

// isMerged reports whether the default branch has a commit by a merge that began before the newest move of a task, and
// after the move before that.
func (s *simulation) isMerged(id, commit string) bool {
	moves := 0
	for _, e := range slices.Backward(s.audit.Events(id)) {
		if e.IsMove() {
			moves++
		}
		if moves == 1 && e.Type == history.MergeBegun && e.Data["commit"] == commit && s.base[e.Data["result"]] {
			return true
		}
	}
	return false
}

// noteSubject notes which commits a review is about from now on, and which one a person approves: each was the tip
// at that time.
func (s *simulation) noteSubject(p *process, t task.Task, e history.Event) {
	b := s.branch(t.ID)
	s.checkSubject(p, t, e)
	switch {
	case e.IsMove() && e.To == "agent-review" || e.Type == history.Created && t.Status == "agent-review":
		b.about = []string{e.Subject.Commit}
	case e.IsMove() && e.To == "reviewing" && e.Actor == task.RoleHuman:
		b.Answered[e.Subject.Commit] = true
	case e.Type == history.WorkspaceReady:
		b.about = append(b.about, e.Subject.Commit)
		if t.Status == "reviewing" {
			b.Answered[e.Subject.Commit] = true
		}
	}
}

// noteReviewer notes the commit for which a reviewer starts.
func (s *simulation) noteReviewer(a *simulate.Agent) {
	b := s.branch(a.Task)
	if a.Role == task.RoleReviewer && !slices.Contains(b.about, b.Commit()) {
		b.about = append(b.about[:min(len(b.about), 1)], b.Commit())
	}
}

// Merge looks first, as every port does: it does not merge again what is merged. It merges the subject of a passing
// verdict, the tip at the time when a person approved it, or the tip for which a person overrides the conditions. It
// runs in the environment of the person who began it.
func (r simulatedRepository) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	s, b, commit := r.p.sim, r.p.sim.branch(t.ID), order.Commit
	if at := slices.IndexFunc(order.Results, func(earlier string) bool { return s.base[earlier] }); at >= 0 {
		return record.MergeResult{Commit: order.Results[at], How: r.p.question.reason}, nil
	}
	result, conflict := "merge of "+commit, s.single || !s.noFaults && s.random.IntN(5) == 0
	if conflict && s.random.IntN(2) == 0 {
		return record.MergeResult{}, &record.Unmerged{Files: []string{"gate.txt"}}
	}
	if err := begin(ctx, result); err != nil {
		return record.MergeResult{}, err
	}
	if conflict { // origin had more meanwhile, and it was made again
		return record.MergeResult{}, &record.Unmerged{Files: []string{"gate.txt"}}
	}
	named := r.p.question.kind == overrideMerge && b.wasTip(commit, r.p)
	if !b.Mergeable(commit) && !named {
		s.breakf("commit %q of %s is merged, and nobody passed it, put it up or took it upon themself", commit,
			s.short(t.ID))
	}
	if !slices.ContainsFunc(s.audit.Events(t.ID), func(e history.Event) bool {
		return e.Type == history.MergeBegun && e.Person == r.p.environment
	}) {
		s.breakf("%s is merged in the environment of %s, who has begun no merge", s.short(t.ID), r.p.environment)
	}
	_, err := at(r.p, "merge "+s.short(t.ID), func() (struct{}, error) {
		if err := r.p.Fail("merge"); err != nil {
			return struct{}{}, err
		}
		s.counts.merges++
		s.base[commit], s.base[result] = true, true
		return struct{}{}, nil
	})
	return record.MergeResult{Commit: result, How: r.p.question.reason}, err
}

// Landed reports whether the default branch has one of the commits.
func (r simulatedRepository) Landed(_ context.Context, t task.Task, commits []string) (bool, error) {
	s := r.p.sim
	return at(r.p, "checks whether "+s.short(t.ID)+" is merged", func() (bool, error) {
		if err := r.p.Fail("look at the default branch"); err != nil {
			return false, err
		}
		return slices.ContainsFunc(commits, func(commit string) bool { return s.base[commit] }), nil
	})
}

// checkMerge checks that no merge was left half done: a task whose work the default branch has is moved, or has a mark
// that says why not.
func (s *simulation) checkMerge(t task.Task, events []history.Event) {
	for _, e := range slices.Backward(events) {
		if e.IsMove() {
			return
		}
		if e.Type == history.MergeBegun && s.base[e.Data["result"]] && t.Live && t.Attention == "" {
			s.breakf("%s is merged since event %d, and was left in %q", s.short(t.ID), e.Seq, t.Status)
		}
	}
}
