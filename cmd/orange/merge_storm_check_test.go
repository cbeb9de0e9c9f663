package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// on is what a commit of the default branch brings.
type on struct {
	commit, name string // of a task's branch, or as others named it
	task         string
}

// line are the commits that a branch has had since no task was merged.
func (s *mergeStorm) line(dir, branch string) (out []on) {
	s.t.Helper()
	const format = "%H%x00%s%x00%(trailers:key=Orange-Task,valueonly,separator=%x2C)"
	text := s.asOthers(dir, "log", "--first-parent", "--reverse", "--format="+format, s.base+".."+branch, "--")
	for _, one := range strings.Split(text, "\n") {
		words := strings.Split(one, "\x00")
		if len(words) < 3 {
			continue
		}
		brings := on{commit: words[0], name: words[1]}
		for id, number := range s.ids {
			branch := fmt.Sprintf("storm/%02d", number)
			if words[2] == id || words[2] == "" && words[1] == "Work "+branch {
				brings.task, brings.name = id, branch
			}
		}
		out = append(out, brings)
	}
	return out
}

// check looks at all that a merge can change. quiet is after a run that no one disturbed.
func (s *mergeStorm) check(when string, quiet bool) {
	s.t.Helper()
	failed := s.t.Failed()
	origin := s.line(filepath.Join(s.dir, "origin.git"), "main")
	s.checkOrder(origin, when)
	s.checkGreen(origin, when)
	s.checkLocal(when, quiet)
	s.checkMoves(origin, when, quiet)
	if s.t.Failed() && !failed {
		s.explain(origin)
	}
}

func (s *mergeStorm) checkOrder(origin []on, when string) {
	s.t.Helper()
	var merged, others []string
	for _, one := range origin {
		if one.task == "" {
			others = append(others, one.name)
		} else {
			merged = append(merged, one.name)
		}
	}
	var want []string
	for _, number := range s.size.expected() {
		want = append(want, fmt.Sprintf("storm/%02d", number))
	}
	if len(merged) > len(want) || !slices.Equal(merged, want[:len(merged)]) {
		s.t.Errorf("%s: origin has %v, want a beginning of %v", when, merged, want)
	}
	if !slices.Equal(others, s.landed) {
		s.t.Errorf("%s: of others origin has %v, want %v", when, others, s.landed)
	}
}

func (s *mergeStorm) checkGreen(origin []on, when string) {
	s.t.Helper()
	if len(origin) == 0 {
		return
	}
	dir := filepath.Join(s.dir, "origin.git")
	// what is red stays red, so the last commit tells
	last := origin[len(origin)-1]
	files := strings.Fields(s.asOthers(dir, "ls-tree", "--name-only", last.commit, "red/"))
	if len(files) >= s.size.red {
		s.t.Errorf("%s: origin is red: it has %v", when, files)
	}
}

// isHalfMade reports whether a git was killed while it made the worktree in which merges are checked: it writes zeros
// as the commit first, and until the next run of Orange no git fetches in the repository.
func (s *mergeStorm) isHalfMade() bool {
	head, err := os.ReadFile(filepath.Join(s.repo, ".git", "worktrees", "coffee--merge", "HEAD"))
	return err == nil && strings.Trim(string(head), "0\n") == ""
}

func (s *mergeStorm) checkLocal(when string, quiet bool) {
	s.t.Helper()
	local := s.asOthers(s.repo, "rev-parse", "main")
	origin := s.asOthers(filepath.Join(s.dir, "origin.git"), "rev-parse", "main")
	if s.own != "" {
		if subjects := s.asOthers(s.repo, "log", "--format=%s", "main"); !strings.Contains(subjects, s.own+"\n") &&
			!strings.HasSuffix(subjects, s.own) {
			s.t.Errorf("%s: the local branch has lost the person's commit %q", when, s.own)
		}
	} else if out, err := s.plainGit(s.repo, "fetch", "-q", "origin"); err != nil && (quiet || !s.isHalfMade()) {
		s.t.Errorf("%s: fetch: %v %s", when, err, out)
	} else if said, err := s.plainGit(s.repo, "merge-base", "--is-ancestor", local, origin); err != nil {
		s.t.Errorf("%s: the local branch is at %s, which origin (%s) has not: %s", when, local, origin, said)
	}
	if now := s.checkout(); now != s.before {
		s.t.Errorf("%s: the person's checkout was\n%s\nand is\n%s", when, s.before, now)
	}
	said, err := s.plainGit(s.repo, "fsck", "--no-progress", "--no-dangling")
	if err != nil && (quiet || !s.isHalfMade()) {
		s.t.Errorf("%s: git fsck: %v\n%s", when, err, said)
	}
}

// checkMoves: what is done is there, and, after a quiet run, what is there is done.
func (s *mergeStorm) checkMoves(origin []on, when string, quiet bool) {
	s.t.Helper()
	for id, status := range s.statuses() {
		there := slices.ContainsFunc(origin, func(one on) bool { return one.task == id })
		if done := status == "done"; done && !there || quiet && there && !done {
			s.fault(id, "%s: it is %s, and that its commit is there is %t", when, status, there)
		}
	}
}

// merged is how many tasks have their commits on origin.
func (s *mergeStorm) merged() (count int) {
	s.t.Helper()
	for _, one := range s.line(filepath.Join(s.dir, "origin.git"), "main") {
		if one.task != "" {
			count++
		}
	}
	return count
}

// finish merges what is left, and looks at all of it.
func (s *mergeStorm) finish(ctx context.Context) {
	s.t.Helper()
	out, status := s.merge(ctx, "merge")
	if status != 0 && status != 1 {
		s.t.Errorf("the last run ended with status %d: %s", status, out)
	}
	if out, status = s.orange(ctx, "monitor", "--once"); status != 0 {
		s.t.Errorf("orange monitor --once ended with status %d: %s", status, out)
	}
	s.calmly()
	s.check("at the end", true)
	merged := s.merged()
	s.figures["merged"] += merged
	if want := len(s.size.expected()); merged != want {
		s.t.Errorf("%d tasks are merged, want %d:\n%s", merged, want, out)
	}
	for _, args := range [][]string{{"task", "verify", "--all"}, {"task", "replay", "--all"}, {"doctor"}} {
		if out, err := s.run("orange", args...); err != nil {
			s.t.Errorf("orange %q: %v\n%s", args, err, out)
		}
	}
}

func (s *mergeStorm) explain(origin []on) {
	s.t.Helper()
	for _, one := range origin {
		s.t.Logf("origin: %.9s %s", one.commit, one.name)
	}
	for _, what := range []string{"calls"} {
		text, _ := os.ReadFile(filepath.Join(s.folder, what))
		s.t.Logf("%s:\n%s", what, text)
	}
}

func (s *mergeStorm) tell(took time.Duration) {
	s.t.Helper()
	lost, _ := os.ReadFile(filepath.Join(s.folder, "lost"))
	s.figures["answers lost"] = strings.Count(string(lost), "\n")
	var lines []string
	for name, count := range s.figures {
		lines = append(lines, strconv.Itoa(count)+" "+name)
	}
	slices.Sort(lines)
	s.t.Logf("seed %d, %d branches, %s:\n  %s", s.seed, s.size.branches, took.Round(time.Millisecond),
		strings.Join(lines, "\n  "))
	for id := range s.faulty {
		out, _ := s.run("orange", "task", "history", id)
		s.t.Logf("history of task %s:\n%s", id, out)
	}
}
