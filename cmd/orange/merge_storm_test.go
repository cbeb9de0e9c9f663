package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The real binary merges branches, one on top of the other, and is killed at random: before or after any run of git, or
// at any moment, while others push to origin, the person commits, and answers of origin are lost. After each kill and
// one more run, and after a look of the monitor before that:
//
//   - origin's default branch is what the tasks bring, in their order and without a gap, between the commits that
//     others pushed; every one of these is there, once, and in the order in which origin took it,
//   - no commit of it is red,
//   - the local default branch is at the same commit or behind it, and the person's files are as they were,
//   - a task is done if and only if its commit is there.
//
// That the test sees what it should was tried by breaking the program: it is red where pushDefault has --force in the
// place of its lease (a commit that others pushed is gone), where advance does not name the commit that the local
// branch was at (a commit of the person's is gone), and where mayMove does not call the check (a red commit is there).
//
//nolint:paralleltest // a kill is to hit the step that was drawn, and not what a busy machine makes of it
func TestMergeStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	size, kills, limit := train{branches: 10, conflicts: 2, red: 3}, 10, 6*time.Minute
	if isLong() {
		size, kills, limit = train{branches: 30, conflicts: 4, red: 3}, 200, 75*time.Minute
	}
	began := time.Now()
	s := newMergeStorm(t, size)
	ctx, off := s.within(limit)
	defer off()
	for round := 0; s.figures["kills"] < kills && !t.Failed(); round++ {
		s.begin(round)
		for s.figures["kills"] < kills && s.merged() < len(size.expected()) && !t.Failed() {
			s.strike(ctx)
		}
		if t.Failed() {
			break
		}
		s.finish(ctx)
	}
	s.tell(time.Since(began))
}

// train is how many branches a storm merges, how many of them contradict another one, and how many are red only
// together.
type train struct{ branches, conflicts, red int }

// files are those that a branch changes; the second one changes what some later ones change too.
func (n train) files(number int) (files []string, conflict bool) {
	files = []string{fmt.Sprintf("work/%02d", number)}
	const first, step = 2, 3
	switch {
	case number == first:
		files = append(files, "shared")
	case number > first && number%step == 0 && number/step <= n.conflicts:
		return append(files, "shared"), true
	case number > first && number%step == 1 && number/step <= n.red:
		return append(files, fmt.Sprintf("red/%02d", number)), false
	}
	return files, false
}

// expected are the branches that can be merged, in their order: those that are in conflict are left out, and so is the
// one that makes the others red.
func (n train) expected() (out []int) {
	reds := 0
	for number := 1; number <= n.branches; number++ {
		files, conflict := n.files(number)
		red := strings.HasPrefix(files[len(files)-1], "red/")
		if red {
			reds++
		}
		if !conflict && (!red || reds < n.red) {
			out = append(out, number)
		}
	}
	return out
}

// strike starts a merge and kills it, looks, runs a merge once more, and looks again.
func (s *mergeStorm) strike(ctx context.Context) {
	left := s.left()
	args := []string{"merge"}
	some := len(left)
	if s.dice.IntN(4) > 0 {
		some = min(some, 1+s.dice.IntN(4))
		args = append(args, left[:some]...)
	}
	if s.dice.IntN(4) == 0 {
		args = append(args, "--bisect")
	}
	s.disturb()
	at := s.moment(s.dice, some)
	killed := s.runAndKill(ctx, at, args...)
	done := len(left) - len(s.left())
	s.t.Logf("%q, %d tasks left, killed at %+v: %t; %d are done, of others %v, own %q", args, len(left), at, killed,
		done, s.landed, s.own)
	s.check("after a kill", false)
	s.reconcile()
	if !killed || s.t.Failed() {
		return
	}
	s.figures["kills"]++
	if s.dice.IntN(2) == 0 { // before anyone merges again
		if out, status := s.merge(ctx, "monitor", "--once"); status != 0 {
			s.t.Errorf("a look of the monitor ended with status %d: %s", status, out)
		}
		s.figures["looks of the monitor"]++
		s.check("after a look of the monitor", true)
	}
	again := s.again()
	if len(again) == 0 {
		s.removeHalfMade()
	} else {
		out, status := s.merge(ctx, append([]string{"merge"}, again...)...)
		if status != 0 && status != 1 {
			s.t.Errorf("one more run ended with status %d: %s", status, out)
		}
	}
	s.check("after one more run", true)
}

// again are the tasks of one more run: those whose merge was cut short, and the next one or two that wait for theirs.
// What is in conflict may have been sent back meanwhile, or may wait for a person in front of them.
func (s *mergeStorm) again() []string {
	origin, statuses := s.line(filepath.Join(s.dir, "origin.git"), "main"), s.statuses()
	next := 1 + s.dice.IntN(2)
	return slices.DeleteFunc(s.left(), func(id string) bool {
		if slices.ContainsFunc(origin, func(one on) bool { return one.task == id }) {
			return false
		}
		waits := statuses[id] == "reviewing" && next > 0
		if waits {
			next--
		}
		return !waits
	})
}

// disturb says what happens during the next run.
func (s *mergeStorm) disturb() {
	for _, what := range disturbances() {
		if s.dice.IntN(2) == 0 {
			s.plan(what)
		}
	}
}

// moment is when a run is killed.
type moment struct {
	step int           // at this run of git; 0 is not at one
	when string        // before or after it
	time time.Duration // else after so much time
}

func (s *mergeStorm) moment(dice *rand.Rand, tasks int) moment {
	steps := 12 + 25*tasks // about as many as there are
	if dice.IntN(3) == 0 {
		return moment{time: time.Duration(dice.IntN(steps)) * 15 * time.Millisecond}
	}
	return moment{step: 1 + dice.IntN(steps), when: []string{"before", "after"}[dice.IntN(2)]}
}
