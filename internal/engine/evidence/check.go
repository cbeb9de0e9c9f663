package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/work/worktree"
)

// checkPoll is how often it is looked whether a check has ended.
const checkPoll = 50 * time.Millisecond

// wanted is a check that parts of a gate ask for.
type wanted struct {
	check    workflow.Check
	parts    []workflow.Part
	started  bool   // by this look
	before   string // digest of the result that was there when it was started
	running  bool   // seen since
	answered bool
}

// seeChecks answers all parts that ask for a check: with the result that is kept for the present commit, or with
// one that is waited for.
func (v *view) seeChecks(ctx context.Context, def *workflow.Definition, parts []workflow.Part, start bool) error {
	var all []*wanted
	for _, p := range parts {
		if p.Check == "" {
			continue
		}
		at := slices.IndexFunc(all, func(w *wanted) bool { return w.check.Name == p.Check })
		if at >= 0 {
			all[at].parts = append(all[at].parts, p)
			continue
		}
		check, known := find(def, p.Check)
		if !known {
			return fmt.Errorf("the workflow %q has no check %q", def.Name, p.Check)
		}
		all = append(all, &wanted{check: check, parts: []workflow.Part{p}})
	}
	if len(all) == 0 {
		return nil
	}
	s, found, want, err := v.workspaceOn(ctx, v.task.Branch)
	if err != nil {
		return err
	}
	if found != "" {
		for _, w := range all {
			v.unmet(w, decide.Fact{Where: "the workspace", Found: found, Want: want})
		}
		return nil
	}
	return v.await(ctx, all, s, start)
}

func find(def *workflow.Definition, name string) (workflow.Check, bool) {
	at := slices.IndexFunc(def.Checks, func(c workflow.Check) bool { return c.Name == name })
	if at < 0 {
		return workflow.Check{}, false
	}
	return def.Checks[at], true
}

// await asks again and again, until every check is answered or the patience is over.
func (v *view) await(ctx context.Context, all []*wanted, s Workspace, start bool) error {
	over := time.NewTimer(v.Patience)
	defer over.Stop()
	again := time.NewTicker(checkPoll)
	defer again.Stop()
	for last := !start; ; {
		waiting := false
		for _, w := range all {
			if w.answered {
				continue
			}
			if err := v.ask(ctx, w, s, start, last); err != nil {
				return err
			}
			waiting = waiting || !w.answered
		}
		if !waiting {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			last = true
		case <-again.C:
		}
	}
}

// ask looks at one check once. At the last look it is answered in any case.
func (v *view) ask(ctx context.Context, w *wanted, s Workspace, start, last bool) error {
	// The lock first: what is read after it was free is the result of the one who had it.
	since, running, err := v.running(v.root, v.task.ID, w.check.Name)
	if err != nil {
		return err
	}
	have, err := v.lastResult(ctx, v.root, v.task.ID, w.check.Name)
	if err != nil {
		return err
	}
	fact := decide.Fact{Where: resultFile(w.check.Name), Want: "ask again when it has ended"}
	if w.check.Scratch { // it runs elsewhere: the commit is all that counts
		s.Snapshot = worktree.Snapshot{Head: s.Head, Branch: s.Branch}
	}
	dirty, counts := s.Uncommitted(), have.countsFor(w.check, s.Head)
	if counts {
		dirty = subtract(dirty, have.result.Left)
	}
	differs := len(dirty)+len(s.Setup) > 0
	switch {
	case counts && !differs:
		v.judge(w, have)
		return nil
	case counts, !running && differs:
		fact.Where = "the workspace"
		fact.Found, fact.Want = s.differs(dirty, "commit them, or have git ignore what the check itself leaves behind")
	case running && !last:
		w.running = true
		return nil
	case running:
		fact.Pending = true
		fact.Found = "it runs since " + since
	case w.started && have.noted && have.digest != w.before && have.result.Trouble != "":
		fact.Found, fact.Want = have.result.Trouble, "see to that, and ask again"
	case w.started && w.running:
		fact.Found, fact.Want, fact.Pending = "it ended without a result", "ask again", true
	case w.started && last:
		fact.Found, fact.Want, fact.Pending = "it was started and has not begun yet", "ask again in a moment", true
	case w.started:
		return nil
	case !start:
		fact.Found = fmt.Sprintf("it was not run for commit %.12s", s.Head)
		fact.Want = "ask for the move: that runs it"
	default:
		w.started, w.before = true, have.digest
		return v.Programs.StartCheck(ctx, v.task.ID, w.check.Name)
	}
	v.unmet(w, fact)
	return nil
}

// subtract is what is in the first list and not in the second.
func subtract(paths, without []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(without, p) })
}

func (v *view) unmet(w *wanted, fact decide.Fact) {
	fact.Source = "check " + w.check.Name
	w.answered = true
	for _, p := range w.parts {
		v.facts[p.Key()] = fact
	}
}

// judge answers the parts by a result that counts.
func (v *view) judge(w *wanted, have kept) {
	w.answered = true
	r := have.result
	for _, p := range w.parts {
		fact := decide.Fact{Source: "check " + w.check.Name, Where: resultFile(w.check.Name), Text: have.text,
			Digest: have.digest}
		switch {
		case r.Passed() == (p.Result != workflow.CheckFailed):
			fact.Holds = true
		case r.Passed():
			fact.Found = "it passed " + r.On()
			fact.Want = "this move is for a check that fails"
		default:
			fact.Found = fmt.Sprintf("it %s %s%s", howFailed(w.check, r), r.On(), lastWords(r.Output))
			fact.Want = "fix that and commit; orange task check shows all of it"
		}
		v.facts[p.Key()] = fact
	}
}

func howFailed(check workflow.Check, r task.CheckResult) string {
	switch {
	case r.TimedOut:
		return fmt.Sprintf("took more than %v", time.Duration(check.Timeout)*time.Second)
	case r.OutOfMemory:
		return "needed too much memory"
	case r.Signal != 0:
		return fmt.Sprintf("was ended by signal %d", r.Signal)
	}
	return fmt.Sprintf("ended with status %d", r.Status)
}

// lastWords are the last lines of an output that say something, on one line and without what a terminal would obey.
func lastWords(output string) string {
	const lines, most = 3, 300
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, line))
		if line != "" {
			said = append(said, line)
		}
	}
	text := []rune(strings.Join(said[max(0, len(said)-lines):], " / "))
	if len(text) == 0 {
		return ", and said nothing"
	}
	return ": " + string(text[max(0, len(text)-most):])
}

// kept is the last result of a check.
type kept struct {
	result task.CheckResult
	text   string
	digest string
	noted  bool // the history tells about this very result; without that anyone may have written it
}

// countsFor reports whether the result is one for this commit and this command.
func (k kept) countsFor(check workflow.Check, head string) bool {
	r := k.result
	return k.noted && r.Trouble == "" && r.Clean && r.Head == head && r.Scratch == check.Scratch &&
		slices.Equal(r.Argv, check.Run)
}
