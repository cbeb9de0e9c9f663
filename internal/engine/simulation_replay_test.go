package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/decide"
	"orange/internal/mirror"
	"orange/internal/task"
	"orange/internal/workflow"
)

// library is what a replay may ask: one workflow, and what is kept in the task's folder.
func library(files mirror.Files, t task.Task, def *workflow.Definition) decide.Library {
	return decide.Library{
		Rules: func(digest string) (*workflow.Definition, error) {
			if digest != def.Digest {
				return nil, task.Notef(task.ErrNotFound, "no workflow %q", digest)
			}
			return def, nil
		},
		Texts: func(digest string) (string, bool, error) {
			text, err := os.ReadFile(filepath.Join(files.Dir(t.Project, t.ID), "evidence", digest))
			if errors.Is(err, fs.ErrNotExist) {
				return "", false, nil
			}
			return string(text), err == nil, err
		},
	}
}

// checkReplay makes every decision again from what was recorded: the same bytes must come of it. What the history says must be what is on record.
func (s *sim) checkReplay(t task.Task, events []task.Event) {
	lines, err := s.store.Lines(here, t.ID)
	if err != nil {
		s.breaks("the history of %s cannot be read: %v", s.short(t.ID), err)
		return
	}
	replayed, err := decide.Replay(t, lines, library(s.files, t, s.law.def), nil)
	s.figures.replayed += replayed.Decisions
	if err != nil || replayed.Unrecorded > 0 || len(replayed.Untold) > 0 || replayed.Equal != replayed.Decisions {
		s.breaks("the decisions on %s come out otherwise when they are made again: %v\n%+v", s.short(t.ID), err, replayed)
	}
	under, err := decide.Replay(t, lines, library(s.files, t, s.law.def), s.law.def)
	if err != nil || len(under.Untold) > 0 || under.Equal != under.Decisions {
		s.breaks("the decisions on %s come out otherwise under the very same workflow: %v\n%+v", s.short(t.ID), err, under)
	}
	differs, err := task.Disagree(t, events)
	if err != nil || len(differs) > 0 {
		s.breaks("%s: %v %q", s.short(t.ID), err, differs)
	}
}
