package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"orange/internal/proof/replay"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// adviceRebuild is what helps against a record that is lost.
const adviceRebuild = "orange doctor --rebuild"

// database checks the database itself, and its rows where they can be read.
func database(ctx context.Context, rows Rows) []finding {
	wrong, err := rows.Check(ctx)
	if err != nil {
		return []finding{blind(checkDatabase, "orange.db", err)}
	}
	if len(wrong) > 0 {
		return []finding{problem(checkDatabase, "orange.db", "it is damaged: "+strings.Join(wrong, "; "),
			adviceRebuild+" moves it aside and makes a new one from the tasks' folders")}
	}
	return orOK(flaws(ctx, rows, ""), checkDatabase, "orange.db", "it is whole")
}

func flaws(ctx context.Context, rows Rows, id string) []finding {
	all, err := rows.Flaws(ctx, id)
	if err != nil {
		return []finding{blind(checkDatabase, "orange.db", err)}
	}
	var out []finding
	for _, one := range all {
		out = append(out, problem(checkDatabase, one.Subject, one.Found, adviceChanged))
	}
	return out
}

// folders finds the folders of tasks that the record does not have.
func (d *Doctor) folders(_ context.Context, v *view) []finding {
	all, err := d.Files.Folders()
	if err != nil {
		return []finding{blind(checkFolders, "tasks", err)}
	}
	var out []finding
	for _, folder := range all {
		project, id := folder[0], folder[1]
		if t, known := v.byID[id]; known && t.Project == project {
			continue
		}
		text, err := d.Files.ReadHistory(project, id)
		advice := "only " + adviceRebuild + " adopts it"
		if err == nil && !isOurs(text) {
			advice = "an earlier Orange left it: orange adopt takes it over"
		}
		out = append(out, warning(checkFolders, project+"/"+id,
			"it is the folder of a task that the record does not have", advice))
		if err != nil {
			out = append(out, blind(checkChain, d.Files.History(project, id), err))
			continue
		}
		if f, broken := d.broken(project, id, text); broken && isOurs(text) {
			out = append(out, f)
		}
	}
	return orOK(out, checkFolders, "tasks", "folders: %d, all on record", len(all))
}

// isOurs reports whether a history has hashes at all: those of an earlier program have none.
func isOurs(history []byte) bool { return bytes.Contains(history, []byte(`"hash":"`)) }

// broken tells what is wrong with a history's text, and in which line.
func (d *Doctor) broken(project, id string, text []byte) (finding, bool) {
	path := d.Files.History(project, id)
	_, err := history.ReadHistory(text)
	var broken *history.BrokenHistory
	switch {
	case err == nil:
		return finding{}, false
	case !errors.As(err, &broken):
		return blind(checkChain, path, err), true
	case broken.Torn:
		return warning(checkChain, path, where(path, broken), adviceRebuild+" adopts the task without that line"), true
	}
	return problem(checkChain, path, where(path, broken),
		"bring the file back as it was, from a backup: what it says now was changed by other hands"), true
}

func where(path string, broken *history.BrokenHistory) string {
	return fmt.Sprintf("%s:%d: %s", path, broken.Line, broken.Why)
}

// histories checks, task by task, that the record's own history holds, that the files say the same, and that what
// decisions rested on is kept.
func (d *Doctor) histories(ctx context.Context, v *view) []finding {
	seen := map[string]bool{}
	projecting, out := d.projecting(ctx, v.tasks)
	var project []shown
	var each []*[]finding
	var crew errgroup.Group // works while the record is read
	crew.SetLimit(runtime.GOMAXPROCS(0))
	err := d.Record.AllLines(ctx, func(id string, lines []string) error {
		seen[id] = true
		if t, known := v.byID[id]; known {
			one := new([]finding)
			each = append(each, one)
			crew.Go(func() error {
				*one = d.history(t, lines)
				return nil
			})
			if projecting[id] {
				project = append(project, shown{t, lines}) // looked at later: it may ask the record
			}
		}
		return ctx.Err()
	})
	_ = crew.Wait() // no examination fails: it finds
	for _, found := range each {
		out = append(out, *found...)
	}
	out = append(out, d.projections(ctx, project)...)
	if err != nil {
		return append(out, blind(checkChain, "record", err))
	}
	for _, t := range v.tasks {
		if !seen[t.ID] {
			out = append(out, d.history(t, nil)...)
		}
	}
	for _, check := range []string{checkChain, checkMirrors, checkEvidence} {
		if !slices.ContainsFunc(out, func(f finding) bool { return f.Check == check }) {
			out = append(out, ok(check, "tasks", "checked: %d", len(v.tasks)))
		}
	}
	return out
}

func (d *Doctor) history(t task.Task, lines []string) []finding {
	events, broken := d.chain(t, lines)
	if len(broken) > 0 {
		return broken
	}
	return append(d.mirrors(t, lines), d.evidence(t, events)...)
}

// chain reads a history on record; findings tell why it does not hold.
func (d *Doctor) chain(t task.Task, lines []string) ([]history.Event, []finding) {
	events, err := history.ReadHistory([]byte(joined(lines)))
	if err == nil {
		err = agrees(t, events)
	}
	if err == nil {
		return events, nil
	}
	return nil, []finding{problem(checkChain, t.ID, "its history on record does not hold: "+err.Error(), adviceChanged)}
}

// adviceChanged is what helps against a record that has what Orange did not write.
const adviceChanged = "the database was changed by other hands, or by its disk: bring it back from a backup, or move " +
	"orange.db away and run " + adviceRebuild

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// agrees says how a task and its own history differ; nil when they do not.
func agrees(t task.Task, events []history.Event) error {
	told, _, err := history.Fold(events)
	switch {
	case err != nil:
		return err
	case told.Seq != t.Seq || told.Hash != t.Hash:
		return fmt.Errorf("it ends with event %d, and the task says event %d", told.Seq, t.Seq)
	case told.Status != t.Status:
		return fmt.Errorf("it ends in %q, and the task is in %q", told.Status, t.Status)
	}
	return nil
}

func (d *Doctor) mirrors(t task.Task, lines []string) []finding {
	differs, err := d.Files.Differs(t, lines)
	if err != nil {
		return []finding{blind(checkMirrors, t.ID, err)}
	}
	if len(differs) == 0 {
		return nil
	}
	out := []finding{problem(checkMirrors, t.ID, strings.Join(differs, "; "), "orange doctor --fix")}
	if text, err := d.Files.ReadHistory(t.Project, t.ID); err == nil {
		if f, broken := d.broken(t.Project, t.ID, text); broken {
			f.Advice = "the record has it whole: orange doctor --fix"
			f.Level = record.LevelProblem
			out = append(out, f)
		}
	}
	for i := range out {
		out[i] = out[i].by("made equal to the record", func(ctx context.Context) error {
			return d.Repairs.Sync(ctx, t.ID)
		})
	}
	return out
}

// evidence checks whether the texts are there that events name. What they say it leaves to verify.
func (d *Doctor) evidence(t task.Task, events []history.Event) []finding {
	all, out := textsOf(t, events)
	if len(all) == 0 {
		return out
	}
	kept, err := d.Files.Evidence(t.Project, t.ID)
	if err != nil {
		return append(out, blind(checkEvidence, t.ID, err))
	}
	missing := slices.DeleteFunc(slices.Clone(all), func(one namedText) bool { return kept[one.Digest] })
	if len(missing) == 0 {
		return out
	}
	return append(out, warning(checkEvidence, t.ID, fmt.Sprintf("%d of %d texts that its events name are not kept any "+
		"more, such as %s", len(missing), len(all), missing[0]),
		"bring the folder evidence back from a backup if the past matters; the task goes on without it"))
}

// namedText is a text that an event names and that is kept for it.
type namedText struct {
	event int
	task.Evidence
}

func (n namedText) String() string {
	return fmt.Sprintf("event %d: %s, evidence/%s", n.event, n.Source, n.Digest)
}

// textsOf are the texts that must be kept for a task, and why some are not known.
func textsOf(t task.Task, events []history.Event) (all []namedText, wrong []finding) {
	for _, e := range events {
		named, err := replay.Kept(e)
		if err != nil {
			wrong = append(wrong, blind(checkEvidence, t.ID, err))
		}
		for _, one := range named {
			all = append(all, namedText{e.Seq, one})
		}
	}
	return all, wrong
}

func (d *Doctor) hooks(_ context.Context, v *view) []finding {
	var out []finding
	for id, owed := range v.owed { // sorted with the others in the end
		var said []string
		for _, h := range owed {
			text := h.Action + " (" + string(h.State) + ")"
			if h.Error != "" {
				text += ": " + h.Error
			}
			said = append(said, text)
		}
		out = append(out, warning(checkHooks, id, "still to run: "+strings.Join(said, "; "),
			"correct what is in the way, then orange task retry "+id).
			by("tried again", func(ctx context.Context) error { return d.retry(ctx, id) }))
	}
	return orOK(out, checkHooks, "tasks", "none is left to run")
}
