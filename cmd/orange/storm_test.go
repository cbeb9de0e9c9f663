package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The real binary under kill -9 at random moments: after orange monitor --once every invariant holds, no session
// is without a task, no workspace is leased twice, no commit is lost.
func TestKillStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	kills, limit := 10, 60*time.Second
	size := size{tasks: 4, people: 2, dying: 3, rest: 50 * time.Millisecond, truce: 100 * time.Millisecond}
	if isLong() {
		kills, limit = 200, 10*time.Minute
		size.tasks, size.people, size.truce = 16, 3, 250*time.Millisecond
	}
	s := newStorm(t, size)
	before := s.checkout()
	ctx, off := s.within(limit)
	defer off()
	began := time.Now()

	storm, calm := s.within(limit)
	var crew sync.WaitGroup
	crew.Go(func() { s.keep(storm, "monitor") })
	crew.Go(func() { s.watch(storm) })
	for number := range size.people {
		crew.Go(func() { s.person(storm, uint64(number+1)) })
	}
	s.kill(storm, kills)
	calm()
	crew.Wait()
	s.settle(ctx)
	f := s.look(ctx)
	s.check(f, before)
	s.tell(f, time.Since(began))
}

// checkout is the state of the person's own checkout.
func (s *storm) checkout() string {
	if s.seed%2 == 0 { // on a branch of the person's own, with changes that are not committed
		if _, err := os.Stat(filepath.Join(s.repo, "draft")); err != nil {
			s.must("git", "switch", "-q", "-c", "own")
			s.write("coffee/draft", "an idea\n")
			s.write("coffee/README.md", "# A better repository\n")
		}
	}
	branch, err := s.git(s.repo, "symbolic-ref", "HEAD")
	status, statusErr := s.git(s.repo, "status", "--porcelain")
	head := ""
	if s.seed%2 == 0 { // where it is on main, a merge may move it on, if all of it moves
		head, _ = s.git(s.repo, "rev-parse", "HEAD")
	}
	text, readErr := os.ReadFile(filepath.Join(s.repo, "README.md"))
	return fmt.Sprintln(branch, err, head, status, statusErr, string(text), readErr)
}
