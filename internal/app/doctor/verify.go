package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Verify checks whether the past of some tasks holds: that their histories are whole and unchanged, that they say
// what is on record, that the files say the same, and that every text which an event names is kept as it was. It
// changes nothing. What a command is in the middle of at this moment is no finding.
func (d *Doctor) Verify(ctx context.Context, ids []string) ([]record.Finding, error) {
	return d.lookTwice(ctx, func(ctx context.Context, r report) {
		for _, id := range ids {
			d.flaws(ctx, r.of(checkDatabase), id)
		}
		d.verifyEach(ctx, r, ids)
	})
}

// VerifyAll looks at all tasks, or those of a project where one is named, and for tasks that the record has lost.
// One that cannot be read is a finding, and keeps no other from being looked at.
func (d *Doctor) VerifyAll(ctx context.Context, project string) ([]record.Finding, error) {
	return d.lookTwice(ctx, func(ctx context.Context, r report) {
		ids, err := d.Record.IDs(ctx, "")
		if err != nil {
			r.of(checkDatabase).blind("record", err)
			return
		}
		d.database(ctx, r.of(checkDatabase))
		*r.found = slices.DeleteFunc(*r.found, func(f finding) bool { return f.Level == record.LevelOK })
		d.findGone(ctx, r, project, ids)
		if project != "" {
			if ids, err = d.Record.IDs(ctx, project); err != nil {
				r.of(checkDatabase).blind("record", err)
				return
			}
		}
		d.verifyEach(ctx, r, ids)
	})
}

func (d *Doctor) lookTwice(ctx context.Context, look func(context.Context, report)) ([]record.Finding, error) {
	found, err := d.lookTillItLasts(ctx, look)
	return found.plain(), cmp.Or(err, ctx.Err())
}

// verification is what was looked at, and found of it.
type verification struct {
	report
	tasks, events, texts int
	commits              []namedCommit
}

// together is how many tasks are read from the record at once. What is compared with their files is as old as the
// oldest of them: that must be a moment.
const together = 50

// verifyEach verifies tasks one by one.
func (d *Doctor) verifyEach(ctx context.Context, r report, ids []string) {
	each := make([]verification, len(ids))
	d.onAll(ctx, "tasks verified", len(ids), together, func(from, to int) {
		some, err := d.Record.Wholes(ctx, ids[from:to])
		for i := from; i < to && ctx.Err() == nil; i++ {
			w, there := some[ids[i]]
			if err == nil && there {
				each[i] = d.verifyWhole(ctx, w)
			}
			// What is on record may have changed since: where something was found, the task is looked at alone.
			if err != nil || !there || slices.ContainsFunc(*each[i].found, notOK) {
				each[i] = d.verify(ctx, ids[i])
			}
		}
	})
	var sum verification
	for _, one := range each {
		if one.found == nil {
			continue // no one looked at it before ctx ended
		}
		r.add(*one.found...)
		sum.tasks += one.tasks
		sum.events += one.events
		sum.texts += one.texts
		sum.commits = append(sum.commits, one.commits...)
	}
	d.commits(ctx, r.of(checkCommits), sum.commits)
	if !slices.ContainsFunc(*r.found, notOK) {
		r.of(checkChain).ok("tasks", "verified: %d, with %d events, %d kept texts and %d commits", sum.tasks,
			sum.events, sum.texts, len(sum.commits))
	}
}

func notOK(f finding) bool { return f.Level != record.LevelOK }

// findGone finds tasks that are not on record and that no one has deleted as orange does.
func (d *Doctor) findGone(ctx context.Context, r report, project string, ids []string) {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	folders, err := d.Files.Folders()
	if err != nil {
		r.of(checkFolders).blind("tasks", err)
	}
	for _, folder := range folders {
		if known[folder[1]] || project != "" && folder[0] != project {
			continue
		}
		text, err := d.Files.ReadHistory(folder[0], folder[1])
		subject := folder[0] + "/" + folder[1]
		switch {
		case err != nil:
			r.of(checkFolders).blind(subject, err)
		case isOurs(text): // one of another program never was on record
			r.of(checkFolders).problem(subject, "its folder has its history, and the record does not have the task: "+
				"orange moves the folder of a task away that it deletes",
				adviceRebuild+" brings it back; if it was to be deleted, move its folder away")
		}
	}
	strays, err := d.Record.Strays(ctx)
	if err != nil {
		r.of(checkDatabase).blind("record", err)
	}
	for _, id := range strays {
		r.of(checkDatabase).problem(id, "the record has a past of it, and does not have the task: it was taken out by "+
			"other hands", adviceChanged)
	}
}

func (d *Doctor) verify(ctx context.Context, id string) verification {
	w, err := d.Record.Whole(ctx, id)
	if err == nil {
		return d.verifyWhole(ctx, w)
	}
	r := newReport(checkDatabase)
	if !errors.Is(err, task.ErrNotFound) { // else it was deleted meanwhile
		r.problem(id, "it cannot be read, and was compared with nothing: "+err.Error(), adviceChanged)
	}
	return verification{report: r}
}

func (d *Doctor) verifyWhole(ctx context.Context, w record.Whole) verification {
	t, r := w.Task, newReport(checkDatabase)
	out := verification{report: r, tasks: 1, events: len(w.Lines)}
	d.mirrors(r.of(checkMirrors), t, w.Lines)
	events, holds := d.chain(r.of(checkChain), t, w.Lines)
	if !holds {
		return out // what a changed history says is worth no further look
	}
	out.commits = namedCommits(t, events)
	differs, err := history.Disagree(t, events)
	if err != nil {
		r.of(checkChain).blind(t.ID, err)
		return out
	}
	more, err := besides(r, w, events)
	if err != nil {
		r.of(checkChain).blind(t.ID, fmt.Errorf("hooks and what was there when the status began "+
			"are compared with nothing: %w", err))
	}
	for _, what := range append(differs, more...) {
		r.problem(t.ID, what, adviceChanged)
	}
	if at := rebuiltAt(events); at > 0 {
		r.ok(t.ID, "its hooks up to event %d are compared with nothing: the record was rebuilt then, and no longer "+
			"has them", at)
	}
	d.rules(ctx, r, w, events)
	d.projections(ctx, r.of(checkMirrors), t, w.Lines)
	out.texts = d.texts(r.of(checkEvidence), t, events)
	return out
}

// besides has in words where the record, besides the task's own row, is not what the history says: evidence that
// was spent, what was there when the present status began, hooks; and where a decision lacks what it was made from.
func besides(r report, w record.Whole, events []history.Event) (out []string, err error) {
	_, spent, err := history.Fold(events)
	if err != nil {
		return nil, err
	}
	out = append(out, unlike("evidence that was spent", latest(spent), w.Spent, func(s task.Spent) string {
		return fmt.Sprintf("%s, %s, at event %d", s.Source, s.Digest, s.Seq)
	})...)
	traces, err := replay.Trace(events)
	if err != nil {
		return out, err
	}
	say := func(e task.Evidence) string { return e.Source + ", " + e.Digest }
	out = append(out, unlike("what was there when the status began", traces.Entry, w.Entry, say)...)
	out = append(out, unlike("what was there when the agent was started", traces.Start, w.Start, say)...)
	for _, seq := range traces.Stripped {
		out = append(out, fmt.Sprintf("event %d is a decision, and what it was made from is gone: its inputs "+
			"were taken away", seq))
	}
	out = append(out, unlikeShown(w, events)...)
	more, byName, err := unlikeHooks(w.Hooks, events, traces.Hooks)
	if len(byName) > 0 {
		r.ok(w.Task.ID, "the hooks of events %s are compared by their names alone: these events note no more of them",
			strings.Join(byName, ", "))
	}
	return append(out, more...), err
}

// latest leaves out evidence that a later move rested on too.
func latest(spent []task.Spent) []task.Spent {
	var out []task.Spent
	for i, s := range spent {
		if !slices.ContainsFunc(spent[i+1:], func(later task.Spent) bool { return later.Evidence == s.Evidence }) {
			out = append(out, s)
		}
	}
	return out
}

// unlike tells what one of two lists has and the other has not, whatever their order.
func unlike[T comparable](what string, history, record []T, say func(T) string) []string {
	var out []string
	for _, one := range history {
		if !slices.Contains(record, one) {
			out = append(out, fmt.Sprintf("%s is missing on record: %s", what, say(one)))
		}
	}
	for _, one := range record {
		if !slices.Contains(history, one) {
			out = append(out, fmt.Sprintf("%s is on record, and not in its history: %s", what, say(one)))
		}
	}
	return out
}

// rebuiltAt is the event with which the task came back last whose record was lost; 0 where that never happened.
func rebuiltAt(events []history.Event) int {
	for _, e := range slices.Backward(events) {
		if e.Type == history.Rebuilt {
			return e.Seq
		}
	}
	return 0
}

// unlikeHooks tells where the hooks on record are not those that the events have set going. Whether one is done
// the record alone knows. Of an event that is no decision it compares their names: its number is among byName.
func unlikeHooks(hooks []task.OwedHook, events []history.Event, digests map[int]string) (
	out, byName []string, err error) {
	of := map[int][]task.OwedHook{}
	for _, h := range hooks {
		of[h.Event] = append(of[h.Event], h)
	}
	since := rebuiltAt(events)
	for i := range events {
		e := &events[i]
		have := of[e.Seq]
		delete(of, e.Seq)
		if e.Seq <= since {
			continue
		}
		slices.SortFunc(have, func(a, b task.OwedHook) int { return cmp.Compare(a.Index, b.Index) })
		var names []string
		var all []task.Hook
		for _, h := range have {
			names, all = append(names, h.Action), append(all, h.Hook)
		}
		if !slices.Equal(names, e.Hooks) {
			out = append(out, fmt.Sprintf("event %d has started %s, and on record are %s", e.Seq,
				namesOfHooks(e.Hooks), namesOfHooks(names)))
			continue
		}
		digest, err := replay.HooksDigest(all)
		if err != nil {
			return out, byName, err
		}
		switch want := digests[e.Seq]; {
		case want == "" && len(all) > 0:
			byName = append(byName, strconv.Itoa(e.Seq))
		case digest != want:
			out = append(out, fmt.Sprintf("the hooks that event %d has started are not on record as they "+
				"were: what one of them does was changed", e.Seq))
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("hooks are on record for event %d, which its history does not have", seq))
	}
	return out, byName, nil
}

func namesOfHooks(names []string) string {
	if len(names) == 0 {
		return "no hooks"
	}
	return strings.Join(names, ", ")
}

// rules checks whether the workflows that the task was decided by are kept as they were, and the record says what only
// they tell: which statuses are an end, and which roles there are.
func (d *Doctor) rules(ctx context.Context, r report, w record.Whole, events []history.Event) {
	var seen, roles []string
	t := w.Task
	for i := range events {
		digest := events[i].Workflow
		if digest == "" || slices.Contains(seen, digest) {
			continue
		}
		seen = append(seen, digest)
		def, err := d.Setup.Pinned(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
		if err != nil {
			r.problem(t.ID, fmt.Sprintf("the workflow of event %d cannot be looked at: %v", events[i].Seq, err),
				adviceChanged)
			return
		}
		roles = append(roles, def.RoleNames()...)
		if state, _ := def.State(t.Status); digest == t.Workflow.Digest && t.Live == state.Terminal {
			r.problem(t.ID, fmt.Sprintf("whether it goes on is %t by its workflow, and %t on record", !state.Terminal,
				t.Live), adviceChanged)
		}
	}
	for _, role := range w.Roles {
		if !slices.Contains(roles, role) {
			r.problem(t.ID, fmt.Sprintf("its workflow has no role %q, and the record has it of a seat, a notice or "+
				"one that waits", role), adviceChanged)
		}
	}
}

// texts checks whether every text that an event names is there, and is what it was, and answers how many there are.
func (d *Doctor) texts(r report, t task.Task, events []history.Event) int {
	all := textsOf(r, t, events)
	for _, one := range all {
		text, kept, err := d.Files.Kept(t.Project, t.ID, one.Digest)
		const advice = "bring the file back from a backup: the history says what it was, and nothing else does"
		switch {
		case err != nil:
			r.blind(t.ID, fmt.Errorf("%s: %w", one, err))
		case !kept:
			r.problem(t.ID, one.String()+" is not kept any more", advice)
		case document.Digest(text) != one.Digest:
			r.problem(t.ID, one.String()+" is not what it was: it was changed afterwards", advice)
		}
	}
	return len(all)
}
