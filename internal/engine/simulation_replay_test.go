package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/mirror"
	"orange/internal/task"
	"orange/internal/workflow"
)

// The seeds are others than those of TestSimulation, and one of them is seen again as those are: ORANGE_SEED.
func TestSimulation_tasksAreReplayedToTheByte(t *testing.T) {
	t.Parallel()
	law := readLaw(t)
	want := 30
	switch long := os.Getenv("ORANGE_TEST_LONG") != ""; {
	case raced && long:
		want = 60
	case raced:
		want = 3
	case long:
		want = 1000
	}
	total, seed := figures{}, uint64(1_000_000)
	for ; total.retold < want && !t.Failed(); seed++ {
		total.add(runSeed(t, law, seed, false))
	}
	t.Logf("%d tasks replayed to the byte, %d decisions, in %d simulations", total.retold, total.replayed, total.seeds)
	if total.replayed < 2*total.retold {
		t.Errorf("%d decisions of %d tasks are too few to prove anything", total.replayed, total.retold)
	}
}

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

// checkReplay makes every decision again from what was recorded: the same bytes must come of it. What the history
// says must be what is on record.
func (s *sim) checkReplay(t task.Task, events []history.Event) {
	lines, err := s.store.Lines(here, t.ID)
	if err != nil {
		s.breaks("the history of %s cannot be read: %v", s.short(t.ID), err)
		return
	}
	replayed, err := decide.Replay(t, lines, library(s.files, t, s.law.def), nil)
	s.figures.replayed += replayed.Decisions
	s.figures.retold++
	if err != nil || len(replayed.Untold) > 0 || replayed.Equal != replayed.Decisions {
		s.breaks("the decisions on %s come out otherwise when they are made again: %v\n%+v", s.short(t.ID), err,
			replayed)
	}
	under, err := decide.Replay(t, lines, library(s.files, t, s.law.def), s.law.def)
	if err != nil || len(under.Untold) > 0 || under.Equal != under.Decisions {
		s.breaks("the decisions on %s come out otherwise under the very same workflow: %v\n%+v", s.short(t.ID),
			err, under)
	}
	differs, err := history.Disagree(t, events)
	if err != nil || len(differs) > 0 {
		s.breaks("%s: %v %q", s.short(t.ID), err, differs)
	}
}
