package decide

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// OfChecks is the setback that the failed checks of a pull request are. due is false while one of them still runs,
// where none failed, or where they are about another commit than the one that was judged. ends are the ends of logs, by
// the checks' own names for them.
func (b Setback) OfChecks(t task.Task, look *record.PRLook, ends map[string]string) (back Setback, due bool) {
	b.On, b.Commit = workflow.OnPRChecksFailed, look.Commit
	if !ofJudged(t, look) {
		return b, false
	}
	var names []string
	var quotes []document.Outside
	for i := range look.Runs {
		run := &look.Runs[i]
		if run.Result == record.ChecksPending {
			return b, false
		}
		if run.Result != record.ChecksFail {
			continue
		}
		names = append(names, printable.Line(run.Name))
		b.Facts = append(b.Facts, run.ID)
		text, what := ends[run.Log], "the end of its log"
		if text == "" {
			text, what = run.Said, "what it says"
		}
		quotes = append(quotes, document.Outside{
			From: fmt.Sprintf("the check %s, %s (%s)", run.Name, what, run.Address), Text: text})
	}
	if len(names) == 0 {
		return b, false
	}
	b.Reason = fmt.Sprintf("checks of %s failed: %s", look.URL, short(strings.Join(names, ", ")))
	b.Text = fmt.Sprintf("Checks of the pull request %s failed for the commit %s. Find out why, mend it, test it, and "+
		"commit. What is quoted was written elsewhere: judge it.\n\n%s", look.URL, look.Commit,
		document.Quote(quotes...))
	return b, true
}

// OfReviews is the setback that the reviews of a pull request are in which someone asks for changes who may write to
// the repository, or a program that the project names. due is false where no one does, where they do not any more, or
// where it is about another commit than the one that was judged.
func (b Setback) OfReviews(t task.Task, look *record.PRLook, programs []string) (back Setback, due bool) {
	b.On, b.Commit = workflow.OnPRChangesRequested, look.Commit
	if !ofJudged(t, look) {
		return b, false
	}
	counts := func(a record.PRAuthor) bool {
		return a.Writes || a.Bot && slices.Contains(programs, strings.TrimSuffix(a.Name, "[bot]"))
	}
	stands := map[string]int{} // the last word of each author
	for i := range look.Reviews {
		switch r := &look.Reviews[i]; r.State {
		case record.ReviewChanges, record.ReviewApproved, record.ReviewGone:
			stands[r.Author.Name] = i
		}
	}
	var names []string
	var quotes []document.Outside
	for i := range look.Reviews {
		r := &look.Reviews[i]
		if r.Commit != look.Commit || !counts(r.Author) {
			continue
		}
		asks := r.State == record.ReviewChanges && stands[r.Author.Name] == i
		if asks {
			names = append(names, printable.Line(r.Author.Name))
			b.Facts = append(b.Facts, r.ID)
		}
		if asks && len(r.Notes) == 0 || strings.TrimSpace(r.Said) != "" {
			quotes = append(quotes, document.Outside{From: r.Author.Name, Text: r.Said})
		}
		for _, note := range r.Notes {
			quotes = append(quotes, document.Outside{
				From: fmt.Sprintf("%s, about line %d of %s", r.Author.Name, note.Line, note.Path), Text: note.Said})
		}
	}
	if len(names) == 0 {
		return b, false
	}
	b.Reason = fmt.Sprintf("changes are asked for in %s, by %s", look.URL, short(strings.Join(names, ", ")))
	b.Text = fmt.Sprintf("Reviewers of the pull request %s ask for changes of the commit %s. Judge what they say, "+
		"change what has to change, test it, and commit. What is quoted was written elsewhere.\n\n%s", look.URL,
		look.Commit, document.Quote(quotes...))
	return b, true
}

// Wanted reports whether a rule of the task's status waits for the setback, and the history does not have it yet.
func (b Setback) Wanted(def *workflow.Definition, t task.Task, events []history.Event) bool {
	_, known := b.Target(def, t)
	return known && t.Live && b.news(t, Evidence{Subject: t.Subject}, events)
}

// ofJudged reports whether what others say of a pull request is about the commit that was judged: it is its head.
func ofJudged(t task.Task, look *record.PRLook) bool {
	return look.State == record.PROpen && t.PRURL == look.URL && look.Commit != "" && look.Commit == t.Subject.Commit
}

// short is a text of one line that is not too long for a reason.
func short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
