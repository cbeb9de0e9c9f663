package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/merge"
)

// branches makes branches of main, each with a commit that writes one file, and answers their tips.
func (h home) branches(t *testing.T, files map[string][2]string) map[string]string {
	t.Helper()
	tips := map[string]string{}
	for name, file := range files { // each begins at main
		gitIn(t, h.Path, "switch", "-q", "-c", name, "main")
		tips[name] = commit(t, h.Path, file[0], file[1])
	}
	gitIn(t, h.Path, "switch", "-q", "main")
	return tips
}

func (h home) trial(t *testing.T, commit string) *merge.Trial {
	t.Helper()
	trial, err := h.into().Trial(t.Context(), filepath.Join(h.root, "orange"), commit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := trial.Close(); err != nil {
			t.Error(err)
		}
	})
	return trial
}

func files(tried []merge.TrialResult) (out []string) {
	for _, one := range tried {
		out = append(out, fmt.Sprint(one.Files))
	}
	return out
}

// everything lists a folder's files with their sizes and times.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestATrial_tellsWhichFilesConflictAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tips := h.branches(t, map[string][2]string{
		"one": {"a.txt", "first\n"}, "two": {"a.txt", "second\n"}, "else": {"other.txt", "other\n"},
		"odd": {"a\n\"b\".txt", "odd\n"}, "odder": {"a\n\"b\".txt", "odder\n"},
	})
	base := commit(t, h.Path, "a.txt", "third\n")
	before := everything(t, h.Path)
	trial := h.trial(t, base)
	pairs := [][2]string{{tips["one"], tips["two"]}, {tips["two"], tips["one"]}, {tips["one"], tips["else"]},
		{tips["odd"], tips["odder"]}, {tips["one"], base}, {tips["else"], base}}
	all := []string{"[a.txt]", "[a.txt]", "[]", "[a\n\"b\".txt]", "[a.txt]", "[]"}
	tried, err := trial.Merges(t.Context(), base, pairs)
	if err != nil || !slices.Equal(files(tried), all) {
		t.Errorf("found %q, %v; want %q", files(tried), err, all)
	}
	single, err := trial.OneByOne(t.Context(), pairs)
	if err != nil || !slices.Equal(files(single), all) {
		t.Errorf("in a process each: found %q, %v; want %q", files(single), err, all)
	}
	changed, err := trial.Changed(t.Context(), base, tips["odd"])
	if err != nil || !slices.Equal(changed, []string{"a\n\"b\".txt"}) {
		t.Errorf("changed %q, %v", changed, err)
	}
	if err := trial.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "the repository", everything(t, h.Path), before)
	want(t, "what is left of the trial", everythingBelow(t, filepath.Join(h.root, "orange")), "")
}

func everythingBelow(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, "|")
}

// plant names a program in every place where the merge of a repository would run it.
func plant(t *testing.T, h home) (ran string) {
	t.Helper()
	commit(t, h.Path, ".gitattributes", "*.txt merge=planted diff=planted filter=planted\n")
	ran = trap(t, h, h.Path)
	program := filepath.Join(h.root, "trap")
	for name, value := range map[string]string{
		"merge.planted.driver": program + " %A %O %B", "merge.default": "planted", "diff.planted.textconv": program,
		"filter.planted.clean": program, "filter.planted.smudge": program, "merge.renormalize": "true",
		"extensions.partialClone": "origin", "remote.origin.promisor": "true",
	} {
		gitIn(t, h.Path, "config", name, value)
	}
	write(t, h.Path, ".git/info/attributes", "sub/* merge=planted\n")
	return ran
}

func TestATrial_runsNoProgramThatTheRepositoryNames(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ran := plant(t, h)
	main := gitIn(t, h.Path, "rev-parse", "main")
	tips := map[string]string{}
	for name, file := range map[string][2]string{"one": {"a.txt", "first"}, "two": {"a.txt", "second"}} {
		gitIn(t, h.Path, "-c", "core.hooksPath=", "-c", "filter.planted.clean=", "-c", "filter.planted.smudge=",
			"-c", "core.fsmonitor=false", "switch", "-q", "-c", name, "main")
		write(t, h.Path, file[0], file[1]+"\n")
		gitIn(t, h.Path, "-c", "core.hooksPath=", "-c", "filter.planted.clean=", "-c", "filter.planted.smudge=",
			"-c", "core.fsmonitor=false", "commit", "-q", "-a", "-m", name)
		tips[name] = gitIn(t, h.Path, "rev-parse", name)
	}
	if err := os.Remove(ran); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	trial := h.trial(t, main)
	pairs := [][2]string{{tips["one"], tips["two"]}}
	for name, ask := range map[string]func() ([]merge.TrialResult, error){
		"in one process":    func() ([]merge.TrialResult, error) { return trial.Merges(t.Context(), main, pairs) },
		"in a process each": func() ([]merge.TrialResult, error) { return trial.OneByOne(t.Context(), pairs) },
	} {
		tried, err := ask()
		if err != nil || !slices.Equal(files(tried), []string{"[a.txt]"}) {
			t.Errorf("%s: found %q, %v", name, files(tried), err)
		}
	}
	if _, err := trial.Changed(t.Context(), main, tips["one"]); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program ran: %s, %v", text, err)
	}
	if _, err := try(h.Path, "merge-tree", "--write-tree", "one", "two"); err != nil {
		t.Log(err)
	}
	if !exists(h.root, "ran") {
		t.Error("no program runs where git is called by hand: the test proves nothing")
	}
}

// What needs no program counts: a list to which every branch adds a line is merged line by line.
func TestATrial_heedsHowFilesAreMerged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	commit(t, h.Path, "own.md", "one\n")
	base := commit(t, h.Path, ".gitattributes", "list.md merge=union\n")
	write(t, h.Path, ".git/info/attributes", "own.md merge=union\n")
	tips := h.branches(t, map[string][2]string{"one": {"list.md", "first\n"}, "two": {"list.md", "second\n"},
		"three": {"own.md", "third\n"}, "four": {"own.md", "fourth\n"}})
	tried, err := h.trial(t, base).Merges(t.Context(), base,
		[][2]string{{tips["one"], tips["two"]}, {tips["three"], tips["four"]}})
	if err != nil || !slices.Equal(files(tried), []string{"[]", "[]"}) {
		t.Errorf("found %q, %v", files(tried), err)
	}
}

// One pair that cannot be merged at all says nothing about the others.
func TestATrial_goesOnBehindAPairThatCannotBeMerged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}, "two": {"a.txt", "second\n"}})
	base := gitIn(t, h.Path, "rev-parse", "main")
	gitIn(t, h.Path, "switch", "-q", "--orphan", "alone")
	alone := commit(t, h.Path, "a.txt", "alone\n")
	trial := h.trial(t, base)
	pairs := [][2]string{{alone, base}, {tips["one"], tips["two"]}, {tips["one"], alone}, {tips["one"], base}}
	for name, ask := range map[string]func() ([]merge.TrialResult, error){
		"in one process":    func() ([]merge.TrialResult, error) { return trial.Merges(t.Context(), base, pairs) },
		"in a process each": func() ([]merge.TrialResult, error) { return trial.OneByOne(t.Context(), pairs) },
	} {
		tried, err := ask()
		if err != nil || !slices.Equal(files(tried), []string{"[]", "[a.txt]", "[]", "[]"}) {
			t.Fatalf("%s: found %q, %v", name, files(tried), err)
		}
		wantError(t, tried[0].Err, "unrelated histories")
		wantError(t, tried[2].Err, "unrelated histories")
		if tried[1].Err != nil || tried[3].Err != nil {
			t.Errorf("%s: %v, %v", name, tried[1].Err, tried[3].Err)
		}
	}
	_, err := trial.Changed(t.Context(), base, alone)
	wantError(t, err, "no merge base")
}

func TestATrial_thatHasNoTimeLeftSaysSo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}})
	base := gitIn(t, h.Path, "rev-parse", "main")
	ctx, off := context.WithCancel(t.Context())
	trial := h.trial(t, base)
	off()
	if tried, err := trial.Merges(ctx, base, [][2]string{{tips["one"], base}}); len(tried) > 0 || err == nil {
		t.Errorf("found %q, %v", files(tried), err)
	}
}

func TestATrial_inARepositoryOfLongNames(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.Path = filepath.Join(h.root, "long")
	gitIn(t, h.root, "init", "-q", "--object-format=sha256", "long")
	base := commit(t, h.Path, "a.txt", "one\n")
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}, "two": {"a.txt", "second\n"}})
	tried, err := h.trial(t, base).Merges(t.Context(), base, [][2]string{{tips["one"], tips["two"]}})
	if err != nil || !slices.Equal(files(tried), []string{"[a.txt]"}) {
		t.Errorf("found %q, %v", files(tried), err)
	}
}

// A commit behind which the history of a shallow clone is cut may have any file from where it was cut.
func TestATrial_doesNotGuessInAShallowClone(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	for i := range 3 {
		commit(t, h.Path, "a.txt", fmt.Sprintf("%d\n", i))
	}
	gitIn(t, h.Path, "switch", "-q", "-c", "old", "HEAD~2")
	commit(t, h.Path, "b.txt", "b\n")
	gitIn(t, h.Path, "push", "-q", "origin", "main", "old")
	gitIn(t, h.root, "clone", "-q", "--depth=1", "--no-single-branch", "file://"+h.origin(), "cut")
	h.Path = filepath.Join(h.root, "cut")
	base, old := gitIn(t, h.Path, "rev-parse", "origin/main"), gitIn(t, h.Path, "rev-parse", "origin/old")
	_, err := h.trial(t, base).Changed(t.Context(), base, old)
	wantError(t, err, "the clone is shallow")
	gitIn(t, h.Path, "switch", "-q", "-c", "new", base)
	tip := commit(t, h.Path, "c.txt", "c\n")
	changed, err := h.trial(t, base).Changed(t.Context(), base, tip)
	if err != nil || !slices.Equal(changed, []string{"c.txt"}) {
		t.Errorf("changed %q, %v", changed, err)
	}
	tried, err := h.trial(t, base).Merges(t.Context(), base, [][2]string{{tip, base}})
	if err != nil || !slices.Equal(files(tried), []string{"[]"}) || tried[0].Err != nil {
		t.Errorf("found %v, %v", tried, err)
	}
}

// Before 2.39, git tries one merge at a time.
func TestATrial_withAnOlderGit(t *testing.T) { //nolint:paralleltest // it changes PATH
	h := newHome(t)
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}, "two": {"a.txt", "second\n"}})
	base := gitIn(t, h.Path, "rev-parse", "main")
	program, err := proc.Find("git", os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.root, "old/git", "#!/bin/sh\ncase \"$*\" in *--stdin*) echo 'error: unknown option' >&2; exit 129 ;; "+
		"esac\nexec '"+program+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(h.root, "old/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(h.root, "old")+":"+os.Getenv("PATH"))
	pairs := [][2]string{{tips["one"], tips["two"]}, {tips["one"], base}}
	tried, err := h.trial(t, base).Merges(t.Context(), base, pairs)
	if err != nil || !slices.Equal(files(tried), []string{"[a.txt]", "[]"}) {
		t.Errorf("found %q, %v", files(tried), err)
	}
}

// What a clone left behind stays there: nothing is asked over the network only to look.
func TestATrial_fetchesNothingThatAPartialCloneLeftBehind(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}, "two": {"a.txt", "second\n"}})
	gitIn(t, h.Path, "push", "-q", "origin", "one", "two")
	gitIn(t, h.origin(), "config", "uploadpack.allowFilter", "true")
	gitIn(t, h.root, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+h.origin(), "partial")
	h.Path = filepath.Join(h.root, "partial")
	base := gitIn(t, h.Path, "rev-parse", "origin/main")
	before := everything(t, h.Path)
	trial := h.trial(t, base)
	tried, err := trial.Merges(t.Context(), base, [][2]string{{tips["one"], tips["two"]}})
	if err == nil && (len(tried) != 1 || tried[0].Err == nil) {
		t.Errorf("found %v", tried)
	}
	want(t, "the clone", everything(t, h.Path), before)
	if _, err := try(h.Path, "merge-tree", "--write-tree", tips["one"], tips["two"]); git.ExitCode(err) != 1 {
		t.Errorf("git by hand: %v", err)
	}
	if everything(t, h.Path) == before {
		t.Error("git by hand fetches nothing either: the test proves nothing")
	}
}

func TestHeads_areThoseOfTheBranches(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	tips := h.branches(t, map[string][2]string{"one": {"a.txt", "first\n"}, "two/three": {"a.txt", "second\n"}})
	gitIn(t, h.Path, "pack-refs", "--all")
	tips["two/three"] = gitIn(t, h.Path, "commit-tree", "-m", "more", "-p", "two/three", "two/three^{tree}")
	gitIn(t, h.Path, "update-ref", "refs/heads/two/three", tips["two/three"])
	got, err := h.Heads(t.Context(), []string{"one", "two/three", "none"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "tips", fmt.Sprint(got.Tips), fmt.Sprint(tips))
	main := gitIn(t, h.Path, "rev-parse", "main")
	want(t, "main here", got.Local, main)
	want(t, "main on origin", got.Origin, main)
	if err := os.Rename(h.Path, h.Path+"-moved"); err != nil {
		t.Fatal(err)
	}
	_, err = h.Heads(t.Context(), []string{"one"})
	wantError(t, err, "is gone")
}
