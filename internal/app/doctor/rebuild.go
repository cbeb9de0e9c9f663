package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Rebuild adopts every task folder that the record does not have, the newest move first: where two claim one workspace
// or one branch, that one keeps it. A folder that cannot be adopted is reported, and the others are adopted.
func (d *Doctor) Rebuild(ctx context.Context) ([]record.Finding, error) {
	r := newReport(checkRebuild)
	tasks, told, err := d.tellUnrecorded(ctx, r)
	if err == nil {
		err = d.finish(ctx, r, tasks)
	}
	if err == nil {
		err = d.bringBack(ctx, r, told)
	}
	r.orOK("tasks", "no folder waits to be adopted")
	return r.plain(), err
}

// older says which tasks an earlier Orange left, and how each would come into the record; with adopt it takes them
// over. Of each other folder without a record it says who brings it back.
func (d *Doctor) older(ctx context.Context, adopt bool) ([]record.Finding, error) {
	r := newReport(checkOlder)
	_, told, err := d.tellUnrecorded(ctx, r)
	if err != nil {
		return nil, err
	}
	ours := func(a record.Adoption) bool { return !a.Foreign }
	for _, a := range told {
		t, said := a.Task, fmt.Sprintf("%s on branch %s: %s", a.Task.Status, a.Task.Branch, a.Task.Summary)
		switch subject := t.Project + "/" + t.ID; {
		case ours(a):
			r.warn(subject, "it is a task of this Orange that the record does not have",
				adviceRebuild+" brings it back")
		case adopt:
		case len(a.Notes) > 0:
			r.warn(subject, said, strings.Join(a.Notes, "; "))
		default:
			r.ok(subject, "%s", said)
		}
	}
	if adopt {
		err = d.bringBack(ctx, r, slices.DeleteFunc(told, ours))
	}
	for i := range *r.found { // in the words of adopt
		f := &(*r.found)[i]
		f.Advice = strings.NewReplacer("rebuild again", "adopt again", "run orange doctor again", "adopt again").
			Replace(f.Advice)
	}
	r.orOK("tasks", "no earlier Orange left any")
	return r.plain(), err
}

// tellUnrecorded reads what the folders tell whose tasks are not on record. It also answers those that are.
func (d *Doctor) tellUnrecorded(ctx context.Context, r report) (tasks []task.Task, told []record.Adoption, err error) {
	if tasks, err = d.Record.List(ctx, record.Filter{}); err != nil {
		return nil, nil, err
	}
	known := map[string]string{}
	for _, t := range tasks {
		known[t.ID] = t.Project
	}
	folders, err := d.Files.Folders()
	if err != nil {
		return nil, nil, err
	}
	each, own := make([]*record.Adoption, len(folders)), make([]report, len(folders))
	d.onAll(ctx, "folders read", len(folders), 1, func(i, _ int) {
		project, id := folders[i][0], folders[i][1]
		own[i] = newReport(r.check)
		switch have, there := known[id]; {
		case !there:
			each[i] = d.tell(ctx, own[i], project, id)
		case have != project:
			own[i].problem(project+"/"+id, fmt.Sprintf("the record has a task of this id in %q", have),
				"move away the folder that is not wanted")
		}
	})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	for i, one := range each {
		r.add(*own[i].found...)
		if one != nil {
			told = append(told, *one)
		}
	}
	return tasks, told, nil
}

// bringBack adopts tasks.
func (d *Doctor) bringBack(ctx context.Context, r report, told []record.Adoption) error {
	// Without a look at the windows it is not known whose agents live; then nothing is adopted.
	if _, err := d.Windows.Panes(ctx); err != nil {
		return fmt.Errorf("cannot rebuild the record: look for living agents: %w", err)
	}
	slices.SortFunc(told, func(a, b record.Adoption) int {
		if a.Foreign != b.Foreign {
			if b.Foreign {
				return -1
			}
			return 1
		}
		return cmp.Or(b.Task.EnteredAt.Compare(a.Task.EnteredAt), cmp.Compare(a.Task.ID, b.Task.ID))
	})
	d.adopt(ctx, r, told)
	return ctx.Err()
}

// finish makes the files equal to the record of tasks that an earlier rebuild took into the record, and that was killed
// before it came to their files.
func (d *Doctor) finish(ctx context.Context, r report, tasks []task.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	known := map[string]task.Task{}
	for _, t := range tasks {
		known[t.ID] = t
	}
	var late []task.Task
	err := d.Record.AllLines(ctx, func(id string, lines []string) error {
		if t, there := known[id]; there && cameBackLast(lines) {
			if differs, err := d.Files.Differs(t, lines); err == nil && len(differs) > 0 {
				late = append(late, t)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("look for what an earlier rebuild has left: %w", err)
	}
	for _, t := range late {
		if d.Engine.Sync(ctx, t.ID) == nil { // else the examination that follows names what differs
			r.ok(t.Project+"/"+t.ID, "its files are made equal to the record: an earlier rebuild did not come to them")
		}
	}
	return ctx.Err()
}

// cameBackLast reports whether a history ends with the events that a rebuild adds.
func cameBackLast(lines []string) bool {
	const mostAdded = 3 // that it came back, that crashes count as passed, that it got another branch
	return slices.ContainsFunc(lines[max(0, len(lines)-mostAdded):], func(line string) bool {
		return strings.Contains(line, `"type":"`+history.Rebuilt+`"`) ||
			strings.Contains(line, `"`+history.DataAdopted+`":"true"`)
	})
}

// tell is what a folder says whose task is not on record; nil where it does not say, and why is found.
func (d *Doctor) tell(ctx context.Context, r report, project, id string) *record.Adoption {
	subject := project + "/" + id
	lines, err := d.Files.ReadHistory(project, id)
	if err != nil {
		r.blind(subject, err)
		return nil
	}
	a, err := d.Engine.Tell(ctx, project, id, lines)
	var broken *history.BrokenHistory
	switch {
	case errors.As(err, &broken):
		r.problem(subject, "it is not adopted: "+where(d.Files.History(project, id), broken),
			"bring the file back as it was, from a backup, and rebuild again; or move it away, and the task "+
				"is adopted as the header of its TASK.md says")
	case err != nil:
		r.problem(subject, "it is not adopted: "+err.Error(), "put that right, and rebuild again")
	default:
		return &a
	}
	return nil
}

// adopt adopts tasks in their order. A history that the new record will not repeat as it is is kept next to it first.
func (d *Doctor) adopt(ctx context.Context, r report, told []record.Adoption) {
	var ready []record.Adoption
	var kept [][]string
	for _, a := range told {
		notes, err := d.keep(a)
		if err != nil {
			r.problem(a.Task.Project+"/"+a.Task.ID, "it is not adopted: "+err.Error(),
				"put that right, and rebuild again")
			continue
		}
		ready, kept = append(ready, a), append(kept, notes)
	}
	adopted := d.Engine.Adopt(ctx, ready, func(done int) { d.progress("tasks brought back", done, len(ready)) })
	for i, a := range adopted {
		tellAdopted(r, a, kept[i])
	}
}

func tellAdopted(r report, a record.Adopted, notes []string) {
	subject := a.Task.Project + "/" + a.Task.ID
	if a.Err != nil {
		r.problem(subject, "it cannot be adopted: "+a.Err.Error(), "put that right, and rebuild again")
		return
	}
	said := fmt.Sprintf("adopted: %s, with %d events", a.Task.Status, a.Task.Seq)
	notes = append(append(notes, a.Notes...), a.Task.Attention)
	mark := a.Task.Attention // it may tell of them
	notes = slices.DeleteFunc(notes, func(note string) bool {
		return note == "" || note != mark && strings.Contains(mark, note)
	})
	if len(notes) == 0 {
		r.ok(subject, "%s", said)
		return
	}
	r.warn(subject, said, strings.Join(notes, "; "))
}

func (d *Doctor) keep(a record.Adoption) (notes []string, err error) {
	var suffix string
	switch {
	case a.Torn:
		suffix = "torn"
	case a.Foreign:
		text, err := d.Files.ReadHistory(a.Task.Project, a.Task.ID)
		if err != nil || len(text) == 0 {
			return nil, err
		}
		suffix = "before-adoption" // mirror reads it under this name
	default:
		return nil, nil
	}
	path, err := d.Files.KeepHistory(a.Task.Project, a.Task.ID, suffix)
	if a.Foreign { // "task history" shows it
		return nil, err
	}
	return []string{"the history as it stood is kept: " + path}, err
}
