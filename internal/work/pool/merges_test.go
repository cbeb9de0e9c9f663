package pool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// A squash is known by the record and by the commit's own words: either alone can be forged, or can be of another
// task.
func TestASquash_isWhatTheRecordAndTheCommitSay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message string // of the commit, after its subject
		noted   string // the commit of the branch that the record has
		want    bool
	}{
		"both":                {"Orange-Task: abc\nOrange-Judged: JUDGED", "JUDGED", true},
		"the commit alone":    {"Orange-Task: abc\nOrange-Judged: JUDGED", "", false},
		"the record alone":    {"", "JUDGED", false},
		"of another task":     {"Orange-Task: abcd\nOrange-Judged: JUDGED", "JUDGED", false},
		"of another commit":   {"Orange-Task: abc\nOrange-Judged: JUDGED2", "JUDGED", false},
		"words in a sentence": {"see Orange-Task: abc\nand Orange-Judged: JUDGED", "JUDGED", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := newPool(t)
			repo := s.project.Path
			gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "Do it\n\n"+tt.message)
			s.events = []history.Event{{Type: history.Merged, Data: map[string]string{
				"commit": gitIn(t, repo, "rev-parse", "HEAD"), history.DataJudged: tt.noted}}}
			got, err := p.squashedCommit(t.Context(), aTask(), git.Repo{Path: repo, DefaultBranch: "main"})
			must(t, err)
			if want := map[bool]string{true: "JUDGED"}[tt.want]; got != want {
				t.Errorf("it takes %q for squashed, want %q", got, want)
			}
		})
	}
}

// The process that waits for a push may be killed, and the push go on.
func TestEndPush_endsThePushOfTheTasksMergeAlone(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	repo, one, two := s.project.Path, aTask(), aTask()
	two.ID = "another"
	origin := t.TempDir()
	gitIn(t, origin, "init", "-q", "--bare")
	gitIn(t, repo, "remote", "add", "origin", origin)
	gitIn(t, repo, "push", "-q", "origin", "main")
	gitIn(t, repo, "switch", "-q", "-c", "work")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "Work")
	gitIn(t, repo, "switch", "-q", "main")
	one.Branch = "work"
	begun := filepath.Join(t.TempDir(), "begun")
	must(t, syscall.Mkfifo(begun, 0o600))
	hook := filepath.Join(repo, ".git", "hooks", "pre-push")
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\necho begun >'"+begun+"'\nexec sleep 600\n"), 0o700))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Merge(t.Context(), one, record.MergeOrder{Push: true},
			func(context.Context, string) error { return nil })
		ended <- err
	}()
	_, err := os.ReadFile(begun)
	must(t, err)
	must(t, p.EndPush(t.Context(), two))
	select {
	case err := <-ended:
		t.Fatalf("the push of another task was ended: %v", err)
	default:
	}
	must(t, p.EndPush(t.Context(), one))
	if err := <-ended; err == nil {
		t.Error("the push went on")
	}
}

// A person's programs are at work in the merge's worktree: what a killed one left there is gone at the next merge,
// and what git ignores stays.
func TestTheChecksOfAMerge_runOnItsResultAlone(t *testing.T) {
	t.Parallel()
	p, s := newPool(t, func(o *Surroundings) {
		o.Own = func(context.Context, string, string) ([]string, error) { return os.Environ(), nil }
	})
	repo, one := s.project.Path, aTask()
	must(t, os.WriteFile(filepath.Join(repo, ".gitignore"), []byte("cache\n"), 0o600))
	gitIn(t, repo, "add", ".gitignore")
	gitIn(t, repo, "commit", "-q", "-m", "Ignore")
	begin := func(context.Context, string) error { return nil }
	order := record.MergeOrder{Checks: []record.MergeCheck{
		{Argv: []string{"sh", "-c", "test ! -e left && touch left cache"}, Seconds: 60}}}
	for _, round := range []string{"first", "second"} {
		gitIn(t, repo, "switch", "-q", "-c", round)
		must(t, os.WriteFile(filepath.Join(repo, round), []byte("x\n"), 0o600))
		gitIn(t, repo, "add", round)
		gitIn(t, repo, "commit", "-q", "-m", round)
		gitIn(t, repo, "switch", "-q", "main")
		one.Branch = round
		done, err := p.Merge(t.Context(), one, order, begin)
		must(t, err)
		if !strings.HasPrefix(done.How, "fast-forward; checked: sh -c") {
			t.Errorf("%s: %q", round, done.How)
		}
	}
	slot := filepath.Join(p.home, "merges", "garden--merge")
	if _, err := os.Stat(filepath.Join(slot, "cache")); err != nil {
		t.Errorf("what git ignores is gone: %v", err)
	}
	if text := gitIn(t, slot, "log", "-1", "--format=%s"); text != "second" {
		t.Errorf("the worktree is at %q", text)
	}
	gitIn(t, repo, "branch", "third", "second")
	one.Branch = "third"
	order.Checks[0].Argv = []string{"false"}
	if done, err := p.Merge(t.Context(), one, order, begin); err != nil || done.How != merge.AlreadyMerged {
		t.Errorf("what is merged already is not checked: %+v, %v", done, err)
	}
	order.Checks[0].Argv = []string{"sh", "-c", "echo right >file"}
	one.Branch = "changed"
	gitIn(t, repo, "switch", "-q", "-c", "changed")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "changed")
	gitIn(t, repo, "switch", "-q", "main")
	if _, err := p.Merge(t.Context(), one, order, begin); err == nil ||
		!strings.Contains(err.Error(), "files of the commit changed while it or a later check ran: file") {
		t.Errorf("checked on other files than the commit's it answers %v", err)
	}
	p.own = nil
	one.Branch = "fourth"
	gitIn(t, repo, "switch", "-q", "-c", "fourth")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "more")
	gitIn(t, repo, "switch", "-q", "main")
	if _, err := p.Merge(t.Context(), one, order, begin); err == nil || !strings.Contains(err.Error(), "could not be") {
		t.Errorf("without an environment it answers %v", err)
	}
}
