package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/work/git"
)

func diffOf(t *testing.T, s Slot) string {
	t.Helper()
	text, err := s.Files().Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func work(t *testing.T, s Slot) Work {
	t.Helper()
	w, err := s.Files().Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("no line begins with %q in:\n%s", line, text)
		}
	}
}

func TestWork_ofABranchWithoutCommitsIsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	want(t, "work", work(t, s), Work{})
	want(t, "diff", diffOf(t, s), "")
	text, err := h.BranchDiff(t.Context(), "work")
	want(t, "the branch's diff", text, "")
	want(t, "its error", err, nil)
}

func TestWork_countsWhatIsCommittedAndWhatIsNot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "a file with spaces.txt", "one\ntwo\n")
	commit(t, s.Dir, "a.txt", "uno\n")
	write(t, s.Dir, "sub/deep.txt", "deep\ndeeper\n") // not committed
	write(t, s.Dir, "new one.txt", "nobody knows me\n")
	write(t, s.Dir, "new\nline.txt", "nor me\n")
	write(t, s.Dir, "told.log", "ignored\n")
	want(t, "work", work(t, s), Work{Commits: 2, Added: 4, Removed: 1})
	text := diffOf(t, s)
	wantLines(t, text, " a file with spaces.txt | 2 ++", " new, not added: new one.txt\n",
		` new, not added: "new\nline.txt"`, "diff --git a/a.txt b/a.txt", "-one", "+uno", "+deeper")
	if strings.Contains(text, "told.log") || strings.Contains(text, "nobody knows me") {
		t.Errorf("it shows what it should not:\n%s", text)
	}
	if stat, _, _ := strings.Cut(text, "\n\n"); !strings.Contains(stat, "new one.txt") ||
		strings.Contains(stat, "diff --git") {
		t.Errorf("the files do not stand first:\n%s", text)
	}
	onBranch, err := h.BranchDiff(t.Context(), "work")
	if err != nil || !strings.Contains(onBranch, "+uno") || strings.Contains(onBranch, "deeper") {
		t.Errorf("the branch's diff (%v):\n%s", err, onBranch)
	}
}

func TestWork_doesNotCountWhatTheBaseGotMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHomeWithOrigin(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "mine.txt", "mine\n")
	commit(t, h.Path, "theirs.txt", "1\n2\n3\n")
	want(t, "work", work(t, s), Work{Commits: 1, Added: 1})
	if text := diffOf(t, s); strings.Contains(text, "theirs") {
		t.Errorf("it shows what others did:\n%s", text)
	}
	gitIn(t, s.Dir, "merge", "-q", "main")
	want(t, "lines after a merge of the base", work(t, s).Added, 1)
}

func TestDiff_ofABinaryFileSaysSo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "picture.bin", "\x00\x01\x02\xff")
	wantLines(t, diffOf(t, s), " picture.bin | Bin 0 -> 4 bytes", "Binary files /dev/null and b/picture.bin differ")
	want(t, "work", work(t, s), Work{Commits: 1})
}

func TestDiff_isTheSameWhateverAPersonSetUpForTheirs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "a.txt", "uno\n")
	before := diffOf(t, s)
	gitIn(t, h.Path, "config", "diff.external", "/bin/false")
	gitIn(t, h.Path, "config", "color.ui", "always")
	gitIn(t, h.Path, "config", "diff.shout.textconv", "/bin/false")
	if err := os.WriteFile(filepath.Join(h.Path, ".git", "info", "attributes"), []byte("*.txt diff=shout\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	want(t, "diff", diffOf(t, s), before)
	want(t, "work", work(t, s), Work{Commits: 1, Added: 1, Removed: 1})
}

func TestDiff_withoutABaseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	gitIn(t, h.Path, "switch", "-q", "--detach")
	gitIn(t, h.Path, "branch", "-q", "-D", "main")
	_, err := s.Files().Diff(t.Context())
	wantError(t, err, "main", "set the project's default branch")
	_, err = s.Files().Work(t.Context())
	wantError(t, err, "main", "set the project's default branch")
	_, err = h.BranchDiff(t.Context(), "work")
	wantError(t, err, "set the project's default branch")
}

func TestDiff_ofADetachedWorkspaceIsThatOfItsCommit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	commit(t, s.Dir, "a.txt", "uno\n")
	want(t, "work", work(t, s), Work{Commits: 1, Added: 1, Removed: 1})
	wantLines(t, diffOf(t, s), "+uno")
}

func TestDiff_ofAMissingWorkspaceOrBranchIsAnError(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, err := h.BranchDiff(t.Context(), "never"); !errors.Is(err, git.ErrNoBranch) {
		t.Errorf("got %v", err)
	}
	s := h.prepared(t, "work", "t1")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Files().Work(t.Context()); err == nil {
		t.Error("it measured a workspace that is gone")
	}
	if _, err := s.Files().Diff(t.Context()); err == nil {
		t.Error("it showed a workspace that is gone")
	}
}

func TestDiff_ofVeryMuchIsCutAtAWholeLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "big.txt", strings.Repeat("ä line of some length\n", 2*git.MostDiff/20))
	for n := range git.MostFiles + 7 {
		write(t, s.Dir, fmt.Sprintf("new/%03d", n), "")
	}
	text := diffOf(t, s)
	if len(text) > git.MostDiff+1000+git.MostFiles*40 || !strings.HasPrefix(text, " big.txt") {
		t.Errorf("%d bytes, beginning with %.80q", len(text), text)
	}
	wantLines(t, text, " new, not added: 7 more\n", "… and ")
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "+ä") && line != "+ä line of some length" {
			t.Errorf("a line is cut: %q", line)
		}
	}
}

// Someone only looks, all the time: agents that commit meanwhile must not meet a lock, nor an index that was
// written again.
func TestWork_takesNoLock(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "work", "t1")
	commit(t, s.Dir, "mine.txt", "mine\n")
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(s.Dir, "a.txt"), later, later); err != nil { // git would like to write that down
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	index := read(t, dir, "index")
	for name, look := range map[string]func() error{
		"Work":       func() error { _, err := s.Files().Work(t.Context()); return err },
		"Diff":       func() error { _, err := s.Files().Diff(t.Context()); return err },
		"BranchDiff": func() error { _, err := h.BranchDiff(t.Context(), "work"); return err },
	} {
		if err := look(); err != nil {
			t.Errorf("%s beside a git that has the lock: %v", name, err)
		}
	}
	want(t, "index", read(t, dir, "index") == index, true)
	want(t, "the lock is still there", exists(dir, "index.lock"), true)
}
