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
func (d *Doctor) database(ctx context.Context, r report) {
	wrong, err := d.Record.Check(ctx)
	switch {
	case err != nil:
		r.blind("orange.db", err)
	case len(wrong) > 0:
		r.problem("orange.db", "it is damaged: "+strings.Join(wrong, "; "),
			adviceRebuild+" moves it aside and makes a new one from the tasks' folders")
	default:
		d.flaws(ctx, r, "")
	}
	r.orOK("orange.db", "it is whole")
}

func (d *Doctor) flaws(ctx context.Context, r report, id string) {
	all, err := d.Record.Flaws(ctx, id)
	if err != nil {
		r.blind("orange.db", err)
	}
	for _, one := range all {
		r.problem(one.Subject, one.Found, adviceChanged)
	}
}

// folders finds the folders of tasks that the record does not have.
func (d *Doctor) folders(_ context.Context, r report, v *view) error {
	all, err := d.Files.Folders()
	if err != nil {
		return err
	}
	for _, folder := range all {
		project, id := folder[0], folder[1]
		if t, known := v.byID[id]; known && t.Project == project {
			continue
		}
		text, err := d.Files.ReadHistory(project, id)
		ours := isOurs(text)
		advice := "only " + adviceRebuild + " adopts it"
		if err == nil && !ours {
			advice = "an earlier Orange left it: orange adopt takes it over"
		}
		r.warn(project+"/"+id, "it is the folder of a task that the record does not have", advice)
		if err != nil {
			r.of(checkChain).blind(d.Files.History(project, id), err)
		} else if ours {
			d.findBreak(r.of(checkChain), project, id, text)
		}
	}
	r.orOK("tasks", "folders: %d, all on record", len(all))
	return nil
}

// isOurs reports whether a history has hashes at all: those of an earlier program have none.
func isOurs(history []byte) bool { return bytes.Contains(history, []byte(`"hash":"`)) }

// findBreak tells what is wrong with a history's text, and in which line; nil where it is whole.
func (d *Doctor) findBreak(r report, project, id string, text []byte) *finding {
	path := d.Files.History(project, id)
	_, err := history.ReadHistory(text)
	var broken *history.BrokenHistory
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &broken):
		return r.blind(path, err)
	case broken.Torn:
		return r.warn(path, where(path, broken), adviceRebuild+" adopts the task without that line")
	}
	return r.problem(path, where(path, broken),
		"bring the file back as it was, from a backup: what it says now was changed by other hands")
}

func where(path string, broken *history.BrokenHistory) string {
	return fmt.Sprintf("%s:%d: %s", path, broken.Line, broken.Why)
}

// histories checks, task by task, that the record's own history holds, that the files say the same, and that what
// decisions rested on is kept.
func (d *Doctor) histories(ctx context.Context, r report, v *view) error {
	projecting := d.workflowsThatProject(ctx, r.of(checkMirrors), v.tasks)
	seen := map[string]bool{}
	projected := map[string][]string{} // looked at later: that may ask the record
	var each []report
	var crew errgroup.Group // works while the record is read
	crew.SetLimit(runtime.GOMAXPROCS(0))
	examine := func(t task.Task, lines []string) {
		own := newReport(checkChain)
		each = append(each, own)
		crew.Go(func() error {
			if events, holds := d.chain(own, t, lines); holds {
				d.mirrors(own.of(checkMirrors), t, lines)
				d.evidence(own.of(checkEvidence), t, events)
			}
			return nil
		})
	}
	err := d.Record.AllLines(ctx, func(id string, lines []string) error {
		seen[id] = true
		if t, known := v.byID[id]; known {
			examine(t, lines)
			if projecting[t.Workflow.Digest] {
				projected[id] = lines
			}
		}
		return ctx.Err()
	})
	for _, t := range v.tasks {
		if err == nil && !seen[t.ID] {
			examine(t, nil)
		}
	}
	_ = crew.Wait() // no examination fails: it finds
	for _, own := range each {
		r.add(*own.found...)
	}
	for _, t := range v.tasks {
		if lines, projects := projected[t.ID]; projects {
			d.projections(ctx, r.of(checkMirrors), t, lines)
		}
	}
	for _, check := range []string{checkChain, checkMirrors, checkEvidence} {
		if err == nil && !slices.ContainsFunc((*r.found)[r.from:], func(f finding) bool { return f.Check == check }) {
			r.of(check).ok("tasks", "checked: %d", len(v.tasks))
		}
	}
	return err
}

// chain reads a history on record, and says why it does not hold.
func (d *Doctor) chain(r report, t task.Task, lines []string) (events []history.Event, holds bool) {
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	events, err := history.ReadHistory([]byte(text))
	if err == nil {
		err = agrees(t, events)
	}
	if err != nil {
		r.of(checkChain).problem(t.ID, "its history on record does not hold: "+err.Error(), adviceChanged)
	}
	return events, err == nil
}

// adviceChanged is what helps against a record that has what Orange did not write.
const adviceChanged = "the database was changed by other hands, or by its disk: bring it back from a backup, or move " +
	"orange.db away and run " + adviceRebuild

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

func (d *Doctor) mirrors(r report, t task.Task, lines []string) {
	differs, err := d.Files.Differs(t, lines)
	if err != nil {
		r.blind(t.ID, err)
		return
	}
	if len(differs) == 0 {
		return
	}
	const done = "made equal to the record"
	r.problem(t.ID, strings.Join(differs, "; "), "orange doctor --fix").by(done, d.sync(t.ID))
	if text, err := d.Files.ReadHistory(t.Project, t.ID); err == nil {
		if f := d.findBreak(r.of(checkChain), t.Project, t.ID, text); f != nil {
			f.Advice, f.Level = "the record has it whole: orange doctor --fix", record.LevelProblem
			f.by(done, d.sync(t.ID))
		}
	}
}

// workflowsThatProject has the digests of those workflows of tasks that project files, the files that mirror the record
// in a form of the task's own workflow.
func (d *Doctor) workflowsThatProject(ctx context.Context, r report, tasks []task.Task) map[string]bool {
	known := map[string]bool{}
	for _, t := range tasks {
		if _, asked := known[t.Workflow.Digest]; asked {
			continue
		}
		projects, err := d.Engine.Projects(ctx, t.Workflow)
		if known[t.Workflow.Digest] = projects; err != nil {
			r.blind(t.ID, err)
		}
	}
	return known
}

// projections compares what a task's workflow projects with its history.
func (d *Doctor) projections(ctx context.Context, r report, t task.Task, lines []string) {
	differs, err := d.Engine.Differ(ctx, t, lines)
	if err != nil {
		r.blind(t.ID, err)
	}
	if len(differs) > 0 {
		r.problem(t.ID, strings.Join(differs, "; "), "orange doctor --fix").
			by("made equal to the record; what was written is kept, and noted in the history", d.sync(t.ID))
	}
}

// evidence checks whether the texts are there that events name. What they say it leaves to verify.
func (d *Doctor) evidence(r report, t task.Task, events []history.Event) {
	all := textsOf(r, t, events)
	if len(all) == 0 {
		return
	}
	kept, err := d.Files.Evidence(t.Project, t.ID)
	if err != nil {
		r.blind(t.ID, err)
		return
	}
	missing := slices.DeleteFunc(slices.Clone(all), func(one namedText) bool { return kept[one.Digest] })
	if len(missing) > 0 {
		r.warn(t.ID, fmt.Sprintf("%d of %d texts that its events name are not kept any more, such as %s", len(missing),
			len(all), missing[0]),
			"bring the folder evidence back from a backup if the past matters; the task goes on without it")
	}
}

// namedText is a text that an event names and that is kept for it.
type namedText struct {
	event int
	task.Evidence
}

func (n namedText) String() string {
	return fmt.Sprintf("event %d: %s, evidence/%s", n.event, n.Source, n.Digest)
}

// textsOf are the texts that must be kept for a task. It says why some are not known.
func textsOf(r report, t task.Task, events []history.Event) (all []namedText) {
	for _, e := range events {
		texts, err := replay.Kept(e)
		if err != nil {
			r.blind(t.ID, err)
		}
		for _, one := range texts {
			all = append(all, namedText{e.Seq, one})
		}
	}
	return all
}

func (d *Doctor) hooks(_ context.Context, r report, v *view) error {
	for id, owed := range v.owed { // sorted with the others in the end
		var said []string
		for _, h := range owed {
			text := h.Action + " (" + string(h.State) + ")"
			if h.Error != "" {
				text += ": " + h.Error
			}
			said = append(said, text)
		}
		r.warn(id, "still to run: "+strings.Join(said, "; "), "correct what is in the way, then orange task retry "+id).
			by("tried again", d.retry(id))
	}
	r.orOK("tasks", "none is left to run")
	return nil
}
