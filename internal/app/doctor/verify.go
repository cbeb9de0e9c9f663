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
	"orange/internal/rules/workflow"
)

// Past is what there is of the past of tasks.
type Past interface {
	Rows
	// IDs are those of all tasks on record, of one project where one is named, also of those that cannot be read.
	IDs(ctx context.Context, project string) ([]string, error)
	// Strays are the ids of tasks that the record has events or changes of, and nothing else.
	Strays(ctx context.Context) ([]string, error)
	// Whole is all that is on record of a task.
	Whole(ctx context.Context, id string) (record.Whole, error)
	// Wholes is that of some tasks at one moment, by their ids. It may leave out any of them.
	Wholes(ctx context.Context, ids []string) (map[string]record.Whole, error)
	// Kept is the text that is kept for a task under a digest, as it is there now.
	Kept(project, id, digest string) (text string, kept bool, err error)
	// Pinned is the workflow that is pinned under its digest, whose text must have that digest.
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// Verify checks whether the past of some tasks holds: that their histories are whole and unchanged, that they say
// what is on record, that the files say the same, and that every text which an event names is kept as it was. It
// changes nothing. What a command is in the middle of at this moment is no finding.
func (d *Doctor) Verify(ctx context.Context, past Past, ids []string) ([]record.Finding, error) {
	return d.lookTwice(ctx, func(ctx context.Context) []finding {
		var out []finding
		for _, id := range ids {
			out = append(out, flaws(ctx, past, id)...)
		}
		return d.verifyEach(ctx, past, ids, out)
	})
}

// VerifyAll looks at all tasks, or those of a project where one is named, and for tasks that the record has lost.
// One that cannot be read is a finding, and keeps no other from being looked at.
func (d *Doctor) VerifyAll(ctx context.Context, past Past, project string) ([]record.Finding, error) {
	return d.lookTwice(ctx, func(ctx context.Context) []finding {
		ids, err := past.IDs(ctx, "")
		if err != nil {
			return []finding{blind(checkDatabase, "record", err)}
		}
		out := slices.DeleteFunc(database(ctx, past), isOK)
		out = append(out, d.gone(ctx, past, project, ids)...)
		if project != "" {
			if ids, err = past.IDs(ctx, project); err != nil {
				return append(out, blind(checkDatabase, "record", err))
			}
		}
		return d.verifyEach(ctx, past, ids, out)
	})
}

func (d *Doctor) lookTwice(ctx context.Context, look func(context.Context) []finding) ([]record.Finding, error) {
	found, err := d.lasting(ctx, look)
	if err == nil {
		err = ctx.Err()
	}
	return plain(found), err
}

// verified counts what was looked at.
type verified struct {
	tasks, events, texts int
	commits              []named
}

// together is how many tasks are read from the record at once. What is compared with their files is as old as the
// oldest of them: that must be a moment.
const together = 50

// verifyEach verifies tasks one by one, and adds to what was found before.
func (d *Doctor) verifyEach(ctx context.Context, past Past, ids []string, before []finding) []finding {
	found, counts := make([][]finding, len(ids)), make([]verified, len(ids))
	d.onAll(ctx, "tasks verified", len(ids), together, func(from, to int) {
		some, err := past.Wholes(ctx, ids[from:to])
		for i := from; i < to && ctx.Err() == nil; i++ {
			w, there := some[ids[i]]
			if err == nil && there {
				found[i] = d.verifyWhole(ctx, past, w, &counts[i])
			}
			// What is on record may have changed since: where something was found, the task is looked at alone.
			if err != nil || !there || slices.ContainsFunc(found[i], notOK) {
				counts[i] = verified{}
				found[i] = d.verify(ctx, past, ids[i], &counts[i])
			}
		}
	})
	out := append(before, slices.Concat(found...)...)
	var commits []named
	for _, one := range counts {
		commits = append(commits, one.commits...)
	}
	out = append(out, d.commits(ctx, commits)...)
	if slices.ContainsFunc(out, notOK) {
		return out
	}
	var count verified
	for _, one := range counts {
		count.tasks += one.tasks
		count.events += one.events
		count.texts += one.texts
	}
	return append(out, ok(checkChain, "tasks", "verified: %d, with %d events, %d kept texts and %d commits",
		count.tasks, count.events, count.texts, len(commits)))
}

func notOK(f finding) bool { return f.Level != record.LevelOK }

func isOK(f finding) bool { return f.Level == record.LevelOK }

// gone finds tasks that are not on record and that no one has deleted as orange does.
func (d *Doctor) gone(ctx context.Context, past Past, project string, ids []string) []finding {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	var out []finding
	folders, err := d.Files.Folders()
	if err != nil {
		out = append(out, blind(checkFolders, "tasks", err))
	}
	for _, folder := range folders {
		if known[folder[1]] || project != "" && folder[0] != project {
			continue
		}
		text, err := d.Files.ReadHistory(folder[0], folder[1])
		if err == nil && !isOurs(text) {
			continue // it never was on record
		}
		subject := folder[0] + "/" + folder[1]
		if err != nil {
			out = append(out, blind(checkFolders, subject, err))
			continue
		}
		out = append(out, problem(checkFolders, subject, "its folder has its history, and the record does not "+
			"have the task: orange moves the folder of a task away that it deletes",
			adviceRebuild+" brings it back; if it was to be deleted, move its folder away"))
	}
	strays, err := past.Strays(ctx)
	if err != nil {
		return append(out, blind(checkDatabase, "record", err))
	}
	for _, id := range strays {
		out = append(out, problem(checkDatabase, id, "the record has a past of it, and does not have the "+
			"task: it was taken out by other hands", adviceChanged))
	}
	return out
}

func (d *Doctor) verify(ctx context.Context, past Past, id string, count *verified) []finding {
	w, err := past.Whole(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return nil // it was deleted meanwhile
	}
	if err != nil {
		return []finding{
			problem(checkDatabase, id, "it cannot be read, and was compared with nothing: "+err.Error(), adviceChanged)}
	}
	return d.verifyWhole(ctx, past, w, count)
}

func (d *Doctor) verifyWhole(ctx context.Context, past Past, w record.Whole, count *verified) []finding {
	t, id := w.Task, w.Task.ID
	count.tasks++
	count.events += len(w.Lines)
	out := d.mirrors(t, w.Lines)
	events, broken := d.chain(t, w.Lines)
	if len(broken) > 0 {
		return append(broken, out...) // what a changed history says is worth no further look
	}
	count.commits = namedCommits(t, events)
	differs, err := history.Disagree(t, events)
	if err != nil {
		return append(out, blind(checkChain, id, err))
	}
	more, older, err := d.besides(w, events)
	if err != nil {
		out = append(out, blind(checkChain, id, fmt.Errorf("hooks and what was there when the status began "+
			"are compared with nothing: %w", err)))
	}
	out = append(out, older...)
	for _, what := range append(differs, more...) {
		out = append(out, problem(checkDatabase, id, what, adviceChanged))
	}
	if at := rebuiltAt(events); at > 0 {
		out = append(out, ok(checkDatabase, id, "its hooks up to event %d are compared with nothing: the "+
			"record was rebuilt then, and no longer has them", at))
	}
	out = append(out, d.rules(ctx, past, w, events)...)
	out = append(out, d.projections(ctx, []shown{{t, w.Lines}})...)
	return append(out, d.texts(past, t, events, count)...)
}

// besides has in words where the record, besides the task's own row, is not what the history says: evidence that
// was spent, what was there when the present status began, hooks; and where a decision lacks what it was made
// from. older tells what cannot be compared because the events have less than those of today.
func (d *Doctor) besides(w record.Whole, events []history.Event) (out []string, older []finding, err error) {
	_, spent, err := history.Fold(events)
	if err != nil {
		return nil, nil, err
	}
	out = append(out, unlike("evidence that was spent", latest(spent), w.Spent, func(s task.Spent) string {
		return fmt.Sprintf("%s, %s, at event %d", s.Source, s.Digest, s.Seq)
	})...)
	traces, err := replay.Trace(events)
	if err != nil {
		return out, nil, err
	}
	say := func(e task.Evidence) string { return e.Source + ", " + e.Digest }
	out = append(out, unlike("what was there when the status began", traces.Entry, w.Entry, say)...)
	out = append(out, unlike("what was there when the agent was started", traces.Start, w.Start, say)...)
	for _, seq := range traces.Stripped[traces.Older:] {
		out = append(out, fmt.Sprintf("event %d is a decision, and what it was made from is gone: its inputs "+
			"were taken away", seq))
	}
	if n := traces.Older; n > 0 {
		older = append(older, warning(checkDatabase, w.Task.ID, fmt.Sprintf("of the decisions up to event %d it is "+
			"not known what they were made from: an Orange that kept no inputs yet made them, or someone has taken "+
			"all of these away", traces.Stripped[n-1]), "nothing is to be done where the task is as old as that"))
	}
	out = append(out, unlikeShown(w, events)...)
	more, named, err := unlikeHooks(w.Hooks, events, traces.Hooks)
	if len(named) > 0 {
		older = append(older, ok(checkDatabase, w.Task.ID, "the hooks of events %s are compared by their names alone: "+
			"these events note no more of them", strings.Join(named, ", ")))
	}
	return append(out, more...), older, err
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
// the record alone knows. Of events that note no more it compares the names, and returns their numbers.
func unlikeHooks(hooks []task.OwedHook, events []history.Event, digests map[int]string) (
	out, named []string, err error) {
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
			return out, named, err
		}
		switch want := digests[e.Seq]; {
		case want == "" && len(all) > 0:
			named = append(named, strconv.Itoa(e.Seq))
		case digest != want:
			out = append(out, fmt.Sprintf("the hooks that event %d has started are not on record as they "+
				"were: what one of them does was changed", e.Seq))
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("hooks are on record for event %d, which its history does not have", seq))
	}
	return out, named, nil
}

func namesOfHooks(names []string) string {
	if len(names) == 0 {
		return "no hooks"
	}
	return strings.Join(names, ", ")
}

// rules checks whether the workflows that the task was decided by are kept as they were, and the record says what only
// they tell: which statuses are an end, and which roles there are.
func (d *Doctor) rules(ctx context.Context, past Past, w record.Whole, events []history.Event) []finding {
	var out []finding
	var seen, roles []string
	t := w.Task
	for i := range events {
		digest := events[i].Workflow
		if digest == "" || slices.Contains(seen, digest) {
			continue
		}
		seen = append(seen, digest)
		def, err := past.Pinned(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
		if err != nil {
			return append(out, problem(checkDatabase, t.ID,
				fmt.Sprintf("the workflow of event %d cannot be looked at: %v", events[i].Seq, err), adviceChanged))
		}
		roles = append(roles, def.RoleNames()...)
		if state, _ := def.State(t.Status); digest == t.Workflow.Digest && t.Live == state.Terminal {
			out = append(out, problem(checkDatabase, t.ID, fmt.Sprintf("whether it goes on is %t by its workflow, and "+
				"%t on record", !state.Terminal, t.Live), adviceChanged))
		}
	}
	for _, role := range w.Roles {
		if !slices.Contains(roles, role) {
			out = append(out, problem(checkDatabase, t.ID, fmt.Sprintf("its workflow has no role %q, and the record "+
				"has it of a seat, a notice or one that waits", role), adviceChanged))
		}
	}
	return out
}

// texts checks whether every text that an event names is there, and is what it was.
func (d *Doctor) texts(past Past, t task.Task, events []history.Event, count *verified) []finding {
	all, out := textsOf(t, events)
	count.texts += len(all)
	for _, one := range all {
		text, kept, err := past.Kept(t.Project, t.ID, one.Digest)
		const advice = "bring the file back from a backup: the history says what it was, and nothing else does"
		switch {
		case err != nil:
			out = append(out, blind(checkEvidence, t.ID, fmt.Errorf("%s: %w", one, err)))
		case !kept:
			out = append(out, problem(checkEvidence, t.ID, one.String()+" is not kept any more", advice))
		case document.Digest(text) != one.Digest:
			out = append(out,
				problem(checkEvidence, t.ID, one.String()+" is not what it was: it was changed afterwards", advice))
		}
	}
	return out
}
