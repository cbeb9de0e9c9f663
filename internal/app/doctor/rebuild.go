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
	tasks, told, out, err := d.unrecorded(ctx)
	if err != nil {
		return nil, err
	}
	late, err := d.finish(ctx, tasks)
	if err != nil {
		return nil, err
	}
	if out, err = d.bringBack(ctx, told, append(late, out...)); err != nil {
		return nil, err
	}
	return plain(orOK(out, checkRebuild, "tasks", "no folder waits to be adopted")), nil
}

// Older says which tasks an earlier Orange left, and how each would come into the record. It changes nothing.
func (d *Doctor) Older(ctx context.Context) ([]record.Finding, error) {
	_, told, out, err := d.unrecorded(ctx)
	if err != nil {
		return nil, err
	}
	older, out := d.older(told, out)
	for _, a := range older {
		t := a.Task
		said := fmt.Sprintf("%s on branch %s: %s", t.Status, t.Branch, t.Summary)
		f := ok(checkOlder, t.Project+"/"+t.ID, "%s", said)
		if len(a.Notes) > 0 {
			f = warning(checkOlder, t.Project+"/"+t.ID, said, strings.Join(a.Notes, "; "))
		}
		out = append(out, f)
	}
	return plain(orOK(asOlder(out), checkOlder, "tasks", "no earlier Orange left any")), nil
}

// asOlder has findings in the words of adopt.
func asOlder(out []finding) []finding {
	for i := range out {
		out[i].Check = checkOlder
		out[i].Advice = strings.NewReplacer("rebuild again", "adopt again", "run orange doctor again", "adopt again").
			Replace(out[i].Advice)
	}
	return out
}

// AdoptOlder takes over the tasks that an earlier Orange left.
func (d *Doctor) AdoptOlder(ctx context.Context) ([]record.Finding, error) {
	_, told, out, err := d.unrecorded(ctx)
	if err != nil {
		return nil, err
	}
	older, out := d.older(told, out)
	if out, err = d.bringBack(ctx, older, out); err != nil {
		return nil, err
	}
	return plain(orOK(asOlder(out), checkOlder, "tasks", "no earlier Orange left any")), nil
}

// older are those of the folders that an earlier Orange left. Of each other one it says who brings it back.
func (d *Doctor) older(told []record.Adoption, out []finding) ([]record.Adoption, []finding) {
	var older []record.Adoption
	for _, a := range told {
		if a.Foreign {
			older = append(older, a)
			continue
		}
		out = append(out, warning(checkOlder, a.Task.Project+"/"+a.Task.ID,
			"it is a task of this Orange that the record does not have", adviceRebuild+" brings it back"))
	}
	return older, out
}

// unrecorded are the tasks on record, and what the folders of the others tell.
func (d *Doctor) unrecorded(ctx context.Context) (
	tasks []task.Task, told []record.Adoption, wrong []finding, err error) {
	known := map[string]string{}
	if tasks, err = d.Record.List(ctx, record.Filter{}); err != nil {
		return nil, nil, nil, err
	}
	for _, t := range tasks {
		known[t.ID] = t.Project
	}
	folders, err := d.Files.Folders()
	if err != nil {
		return nil, nil, nil, err
	}
	told, wrong = d.tellAll(ctx, folders, known)
	return tasks, told, wrong, ctx.Err()
}

// bringBack adopts tasks.
func (d *Doctor) bringBack(ctx context.Context, told []record.Adoption, out []finding) ([]finding, error) {
	// Without a look at the windows it is not known whose agents live; then nothing is adopted.
	if _, err := d.Windows.Panes(ctx); err != nil {
		return nil, fmt.Errorf("cannot rebuild the record: look for living agents: %w", err)
	}
	slices.SortFunc(told, func(a, b record.Adoption) int {
		foreign := func(a record.Adoption) int {
			if a.Foreign {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(foreign(a), foreign(b)), b.Task.EnteredAt.Compare(a.Task.EnteredAt),
			cmp.Compare(a.Task.ID, b.Task.ID))
	})
	return append(out, d.adopt(ctx, told)...), ctx.Err()
}

// finish makes the files equal to the record of tasks that an earlier rebuild took into the record, and that was killed
// before it came to their files.
func (d *Doctor) finish(ctx context.Context, tasks []task.Task) ([]finding, error) {
	if len(tasks) == 0 {
		return nil, nil
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
		return nil, fmt.Errorf("look for what an earlier rebuild has left: %w", err)
	}
	var out []finding
	for _, t := range late {
		if d.Repairs.Sync(ctx, t.ID) == nil { // else the examination that follows names what differs
			out = append(out, ok(checkRebuild, t.Project+"/"+t.ID, "its files are made equal to the record: an "+
				"earlier rebuild did not come to them"))
		}
	}
	return out, ctx.Err()
}

// cameBackLast reports whether a history ends with the events that a rebuild adds.
func cameBackLast(lines []string) bool {
	const mostAdded = 3 // that it came back, that crashes count as passed, that it got another branch
	return slices.ContainsFunc(lines[max(0, len(lines)-mostAdded):], func(line string) bool {
		return strings.Contains(line, `"type":"`+history.Rebuilt+`"`) ||
			strings.Contains(line, `"`+history.DataAdopted+`":"true"`)
	})
}

// tellAll tells what the folders say whose tasks are not on record, by their ids' projects.
func (d *Doctor) tellAll(ctx context.Context, folders [][2]string, known map[string]string) (
	[]record.Adoption, []finding) {
	told, wrong := make([]record.Adoption, len(folders)), make([]*finding, len(folders))
	d.onAll(ctx, "folders read", len(folders), 1, func(i, _ int) {
		project, id := folders[i][0], folders[i][1]
		have, there := known[id]
		switch {
		case !there:
			told[i], wrong[i] = d.tell(ctx, project, id)
		case have != project:
			f := problem(checkRebuild, project+"/"+id, fmt.Sprintf("the record has a task of this id in %q", have),
				"move away the folder that is not wanted")
			wrong[i] = &f
		}
	})
	var out []finding
	var adoptable []record.Adoption
	for i, f := range wrong {
		switch _, there := known[folders[i][1]]; {
		case f != nil:
			out = append(out, *f)
		case !there:
			adoptable = append(adoptable, told[i])
		}
	}
	return adoptable, out
}

func (d *Doctor) tell(ctx context.Context, project, id string) (record.Adoption, *finding) {
	subject := project + "/" + id
	lines, err := d.Files.ReadHistory(project, id)
	if err != nil {
		f := blind(checkRebuild, subject, err)
		return record.Adoption{}, &f
	}
	a, err := d.Adopter.Tell(ctx, project, id, lines)
	var broken *history.BrokenHistory
	switch {
	case errors.As(err, &broken):
		f := problem(checkRebuild, subject, "it is not adopted: "+where(d.Files.History(project, id), broken),
			"bring the file back as it was, from a backup, and rebuild again; or move it away, and the task "+
				"is adopted as the header of its TASK.md says")
		return a, &f
	case err != nil:
		f := problem(checkRebuild, subject, "it is not adopted: "+err.Error(), "put that right, and rebuild again")
		return a, &f
	}
	return a, nil
}

// adopt adopts tasks in their order. A history that the new record will not repeat as it is is kept next to it first.
func (d *Doctor) adopt(ctx context.Context, told []record.Adoption) []finding {
	var out []finding
	var ready []record.Adoption
	var kept [][]string
	for _, a := range told {
		notes, err := d.keep(a)
		if err != nil {
			out = append(out, problem(checkRebuild, a.Task.Project+"/"+a.Task.ID, "it is not adopted: "+err.Error(),
				"put that right, and rebuild again"))
			continue
		}
		ready, kept = append(ready, a), append(kept, notes)
	}
	adopted := d.Adopter.Adopt(ctx, ready, func(done int) { d.progress("tasks brought back", done, len(ready)) })
	for i, a := range adopted {
		out = append(out, tellAdopted(a, kept[i]))
	}
	return out
}

func tellAdopted(a record.Adopted, notes []string) finding {
	subject := a.Task.Project + "/" + a.Task.ID
	if a.Err != nil {
		return problem(checkRebuild, subject, "it cannot be adopted: "+a.Err.Error(),
			"put that right, and rebuild again")
	}
	said := fmt.Sprintf("adopted: %s, with %d events", a.Task.Status, a.Task.Seq)
	notes = append(append(notes, a.Notes...), a.Task.Attention)
	mark := a.Task.Attention // it may tell of them
	notes = slices.DeleteFunc(notes, func(note string) bool {
		return note == "" || note != mark && strings.Contains(mark, note)
	})
	if len(notes) == 0 {
		return ok(checkRebuild, subject, "%s", said)
	}
	return warning(checkRebuild, subject, said, strings.Join(notes, "; "))
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
