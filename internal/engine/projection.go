package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/projection"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// writeProjections makes the files that the task's workflow projects equal to its history. Where something else changed
// such a file, it keeps that content, reports it, and restores the file; content that it showed before is merely old.
// The caller holds the lock of the task's files. It returns the record as it then is.
func (e *files) writeProjections(ctx context.Context, s record.Snapshot) (record.Snapshot, error) {
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil || len(def.Projections) == 0 {
		return s, err
	}
	lines, _, err := e.record.Tail(ctx, s.Task.ID, 0)
	if err != nil {
		return s, err
	}
	past, err := e.pastOf(ctx, def, s.Task, lines)
	if err != nil {
		return s, err
	}
	var all error // a file that cannot be looked at is no reason to leave the others
	told := false
	for _, want := range projection.Files(def, s.Task, past.events) {
		found, err := e.folder.Projection(s.Task, want.Path)
		if err == nil && (!found.There || string(found.Text) != string(want.Text)) {
			if found.There && !past.showed(s.Task, want.Path, found.Text) {
				told = true
				err = e.keepTampered(ctx, s.Task, past.events, want.Path, found)
			}
			if err == nil {
				err = e.folder.Project(s.Task, want.Path, want.Text)
			}
		}
		all = errors.Join(all, err)
	}
	if !told {
		return s, all
	}
	fresh, err := e.record.Load(ctx, s.Task.ID)
	if err != nil {
		return s, errors.Join(all, err)
	}
	return fresh, all
}

// pastMoves is a task's past with the workflows that it had.
type pastMoves struct {
	events []history.Event
	books  []*workflow.Definition // the present one first
}

// pastOf reads a history, and finds the workflows that the task had before its present one: their projections are
// old, and not edits.
func (e *files) pastOf(ctx context.Context, def *workflow.Definition, t task.Task, lines []string) (
	pastMoves, error) {
	events, err := history.ReadHistory([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		return pastMoves{}, fmt.Errorf("tell what the projections of task %s show: %w", t.ID, err)
	}
	h := pastMoves{events: events, books: []*workflow.Definition{def}}
	known := []string{def.Digest}
	for i := range events {
		digest := events[i].Workflow
		if digest == "" || slices.Contains(known, digest) {
			continue
		}
		known = append(known, digest)
		old, err := e.workflow(ctx, task.WorkflowRef{Name: t.Workflow.Name, Digest: digest})
		if err != nil {
			return pastMoves{}, err
		}
		h.books = append(h.books, old)
	}
	return h, nil
}

// showed reports whether a file ever showed a text.
func (h pastMoves) showed(t task.Task, file string, text []byte) bool {
	return slices.ContainsFunc(h.books, func(def *workflow.Definition) bool {
		return projection.Shown(def, t, h.events, file, text)
	})
}

// dataMark is the key in the data of a ProjectionRestored for what tells this very edit from the next one with the same
// content.
const dataMark = "mark"

// keepTampered keeps an edited projection, and reports it: once for each edit, however often this step is cut short.
func (e *files) keepTampered(ctx context.Context, t task.Task, events []history.Event, file string,
	found record.ProjectionFile) error {
	sum := sha256.Sum256(found.Text)
	digest := hex.EncodeToString(sum[:])
	what := "it held what the record never said"
	if !json.Valid(found.Text) {
		what = "it was no JSON any more"
	}
	e.warn(t.ID, fmt.Sprintf("someone changed %s of task %s, which only the engine writes: %s; it is put "+
		"back, and what it held is kept as evidence/%s", file, t.ID, what, digest))
	if at := lastRestored(events, file); at >= 0 && events[at].Data[history.DataFound] == digest &&
		events[at].Data[dataMark] == found.Mark {
		return nil
	}
	if err := e.keepText(t, digest, string(found.Text)); err != nil {
		return err
	}
	return e.note(ctx, t.ID, task.Actor{Rule: true}, history.Event{
		Type:   history.ProjectionRestored,
		Reason: "someone changed " + file + ", which only the engine writes: " + what,
		Data: map[string]string{
			history.DataFile: file, history.DataFound: digest, "written": task.FormatTime(found.Written),
			dataMark: found.Mark,
		},
	})
}

func lastRestored(events []history.Event, file string) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == history.ProjectionRestored && events[i].Data[history.DataFile] == file {
			return i
		}
	}
	return -1
}

// Projects reports whether a workflow projects any file.
func (e *files) Projects(ctx context.Context, ref task.WorkflowRef) (bool, error) {
	def, err := e.workflow(ctx, ref)
	return err == nil && len(def.Projections) > 0, err
}

// Differ describes where the files that a task's workflow projects are not what its history says. It changes
// nothing.
func (e *files) Differ(ctx context.Context, t task.Task, lines []string) ([]string, error) {
	def, err := e.rulesOf(ctx, t)
	if err != nil || len(def.Projections) == 0 {
		return nil, err
	}
	past, err := e.pastOf(ctx, def, t, lines)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, want := range projection.Files(def, t, past.events) {
		found, err := e.folder.Projection(t, want.Path)
		switch {
		case err != nil:
			return out, err
		case !found.There:
			out = append(out, want.Path+" is missing")
		case string(found.Text) == string(want.Text):
		case past.showed(t, want.Path, found.Text):
			out = append(out, want.Path+" shows an earlier point of the history")
		default:
			out = append(out, want.Path+" holds what the record never said: someone changed it")
		}
	}
	return out, nil
}
