package agents

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/document"
	"orange/internal/rules/harness"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// readScreen reads a screen that has not changed since a time. A program is at rest only if its harness tells its rest
// from its work.
func readScreen(h *harness.Harness, screen string, since time.Time) inbox.Sight {
	limit, refusal := h.Limit(screen), h.Refusal(screen)
	busy := h.Busy != nil && h.Busy.MatchString(screen)
	switch {
	case h.Dialog != nil && h.Dialog.MatchString(screen):
		return inbox.Sight{Kind: record.NeedsAnswer, Since: since, Rest: record.Rest{Line: limit},
			Asks: questionOf(screen, h.Dialog.FindStringIndex(screen)[0])}
	case limit != "" && !busy:
		until, _ := harness.LimitTime(limit, since, time.LoadLocation)
		return inbox.Sight{Kind: record.NeedsLimit, Since: since, Rest: record.Rest{Harness: h.Name,
			Provider: h.Provider, Line: limit, Since: since, Until: until}}
	case refusal != "" && !busy:
		return inbox.Sight{Kind: record.NeedsModel, Since: since, Rest: record.Rest{Line: refusal}}
	case h.Ready != nil && h.Busy != nil && h.Ready.MatchString(screen) && !busy:
		return inbox.Sight{Kind: record.NeedsWord, Since: since}
	}
	return inbox.Sight{}
}

// mostAbove is how many lines above the words by which a dialog is known its question may be.
const mostAbove = 12

// questionOf is what a dialog asks: the question next above the words by which it is known, or else their own line.
func questionOf(screen string, at int) string {
	above := strings.Split(screen[:at], "\n")
	last := len(above) - 1
	rest, _, _ := strings.Cut(screen[at:], "\n")
	above[last] += rest
	bare := func(line string) string { return strings.Trim(line, " \t\r│┃|╭╮╰╯─❯›>*") }
	for i := last; i >= 0 && i >= last-mostAbove; i-- {
		if line := bare(above[i]); strings.HasSuffix(line, "?") {
			return line
		}
	}
	return bare(above[last])
}

// mostClues is how many tasks' documents are read for words about what they need: those that have waited the longest.
const mostClues = 200

// findDamage finds the tasks with an agent that has lost its worktree, its branch or its document: whatever else it is,
// the agent cannot go on. A mark for people goes before that.
func (l Lookout) findDamage(ctx context.Context, tasks []task.Task, found map[string]Liveness) {
	var live []task.Task
	for i := range tasks {
		t := &tasks[i]
		if _, asked := found[t.ID]; asked && t.Live && t.Session != "" && t.Attention == "" {
			live = append(live, *t)
		}
	}
	var missing map[string]string
	if l.Missing != nil && len(live) > 0 {
		missing = l.Missing(ctx, live) // of a worktree that cannot be looked at a move says so, and doctor
	}
	for i := range live {
		t := &live[i]
		var unread error
		if l.Documents != nil {
			_, unread = l.Documents.Read(t.Project, t.ID, false)
		}
		if missing[t.ID] == "" && unread == nil {
			continue
		}
		one := found[t.ID]
		def, err := l.Setup.Pinned(ctx, t.Workflow)
		switch {
		case err != nil:
			continue
		case missing[t.ID] != "":
			one.Need = inbox.WithoutWorktree(def, *t, missing[t.ID])
		default:
			one.Need = inbox.WithoutDocument(def, *t, !errors.Is(unread, fs.ErrNotExist), unread)
		}
		found[t.ID] = one
	}
}

// word puts the needs of tasks into words.
func (l Lookout) word(ctx context.Context, tasks []task.Task, found map[string]Liveness, now time.Time) {
	if l.Zone != nil {
		now = now.In(l.Zone)
	}
	l.findDamage(ctx, tasks, found)
	needy := make([]*task.Task, 0, len(tasks))
	for i := range tasks {
		if found[tasks[i].ID].Need.Kind != "" {
			needy = append(needy, &tasks[i])
		}
	}
	slices.SortFunc(needy, func(a, b *task.Task) int {
		return inbox.First(found[a.ID].Need, found[b.ID].Need, a.ID, b.ID)
	})
	conflicts := map[string]conflict.Overview{} // by project
	for n, t := range needy {
		def, err := l.Setup.Pinned(ctx, t.Workflow)
		if err != nil {
			continue // the error is reported where the rules are read
		}
		one := found[t.ID]
		var clues inbox.Clues
		if one.Need.Kind == record.NeedsPerson {
			one.Need.Conflicts, one.Need.Apart = l.conflicts(ctx, conflicts, t)
			if state, _ := def.State(t.Status); n < mostClues && state.Role != "" && l.Documents != nil {
				clues.Document = l.document(t)
			}
			if n < mostClues {
				clues.Moved = func() (string, bool) { return l.reasonOfMove(ctx, t.ID) }
			}
		}
		one.Need = inbox.InWords(def, *t, one.Need, clues, now)
		found[t.ID] = one
	}
}

// reasonOfMove is why a task was moved to where it is, empty where no one said; known is false where that cannot be
// read.
func (l Lookout) reasonOfMove(ctx context.Context, id string) (why string, known bool) {
	events, err := l.Record.Events(ctx, id, 0)
	if err != nil {
		return "", false // the words are a help, and no more
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].IsMove() {
			return events[i].Reason, true
		}
	}
	return "", true
}

// document is a task's document; nil where it cannot be read: its words are a help, and no more.
func (l Lookout) document(t *task.Task) *document.Document {
	text, err := l.Documents.Read(t.Project, t.ID, true)
	if err != nil {
		return nil
	}
	return document.Read(text)
}

// conflicts are the branches that a task's own conflicts with, as was found last, and whether it was not compared with
// all others.
func (l Lookout) conflicts(ctx context.Context, known map[string]conflict.Overview, t *task.Task) (with []string,
	apart bool) {
	if l.Conflicts == nil {
		return nil, false
	}
	all, asked := known[t.Project]
	if !asked {
		var err error
		if all, err = l.Conflicts(ctx, t.Project); err != nil {
			all.Unknown = map[string]string{"": err.Error()}
		}
		known[t.Project] = all
	}
	for _, c := range all.Of[t.ID] {
		with = append(with, c.Branch)
	}
	return with, all.Why(t.ID) != ""
}
