package engine_test

import (
	"os"
	"testing"

	"orange/internal/rules/task"
)

// The seeds differ from those of TestSimulation. ORANGE_SEED repeats one of them in the same way.
func TestSimulation_tasksAreReplayedToTheByte(t *testing.T) {
	t.Parallel()
	common := readSetting(t)
	want := 30
	switch long := os.Getenv("ORANGE_TEST_LONG") != ""; {
	case raced && long:
		want = 60
	case raced:
		want = 3
	case long:
		want = 1000
	}
	total, seed := counts{}, uint64(1_000_000)
	for ; total.retold < want && !t.Failed(); seed++ {
		total.add(runSeed(t, common, seed))
	}
	t.Logf("%d tasks replayed to the byte, %d decisions, in %d simulations", total.retold, total.replayed, total.seeds)
	if total.replayed < 2*total.retold {
		t.Errorf("%d decisions of %d tasks are too few to prove anything", total.replayed, total.retold)
	}
}

// checkReplay makes every decision again from what was recorded: the same bytes must come of it, under the same
// workflow too.
func (s *simulation) checkReplay(t task.Task) {
	decisions, err := s.audit.Replay(background, t, nil)
	s.counts.replayed += decisions
	s.counts.retold++
	if _, again := s.audit.Replay(background, t, s.Workflow); err != nil || again != nil {
		s.breakf("%s cannot be replayed: %v, %v", s.short(t.ID), err, again)
	}
}
