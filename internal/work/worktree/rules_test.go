package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
)

// By a rule that git ignores itself, other bytes pass for the committed ones.
func TestARuleThatGitIgnores_hidesNoChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, ".gitignore", ".gitattributes\n")
	commit(t, s.Dir, "sub/t.sh", ":\nexit 1\n")
	write(t, s.Dir, "sub/.gitattributes", "t.sh working-tree-encoding=UTF-7\n")
	write(t, s.Dir, "sub/t.sh", ": +AAo-exit 1+AAo-")
	stamps, err := s.Files().Stamps(t.Context())
	want(t, "differs for a check", strings.Contains(strings.Join(stamps.Differ, "|"), "sub/.gitattributes"), true)
	want(t, "error", err, nil)
	at := stand(t, s)
	want(t, "modified", strings.Contains(strings.Join(at.Modified, "|"), "sub/.gitattributes"), true)
	kept := release(t, s, "T1")
	if len(kept) == 0 {
		t.Fatal("nothing was rescued")
	}
	want(t, "the rule is kept", gitIn(t, h.Path, "show", kept[0].Commit+":sub/.gitattributes"),
		"t.sh working-tree-encoding=UTF-7")
	prepare(t, s, "next", "T2")
	want(t, "what the next task finds", exists(s.Dir, "sub/.gitattributes"), false)
	write(t, h.Path, ".gitattributes", "*.txt text\n")
	gitIn(t, h.Path, "add", ".gitattributes")
	gitIn(t, h.Path, "commit", "-qm", "rules")
	release(t, s, "T2")
	prepare(t, s, "third", "T3")
	want(t, "a rule of the commit", len(stand(t, s).Modified), 0)
}

// A check runs on all of the commit's files, whatever someone has had git leave out.
func TestACheckout_hasAllFilesOfItsCommit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	slot := Slot{Repo: h.Repo, Dir: filepath.Join(h.root, "merges", "x--merge")}
	head := gitIn(t, h.Path, "rev-parse", "HEAD")
	want(t, "placed", slot.PlaceAt(t.Context(), head), nil)
	gitIn(t, slot.Dir, "update-index", "--skip-worktree", "a.txt")
	if err := os.Remove(filepath.Join(slot.Dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	stamps, err := slot.Files().Stamps(t.Context())
	want(t, "what is not there differs", strings.Join(stamps.Differ, "|"), "a.txt")
	want(t, "error", err, nil)
	want(t, "placed again", slot.PlaceAt(t.Context(), head), nil)
	want(t, "the file", read(t, slot.Dir, "a.txt"), "one\n")
	gitIn(t, h.Path, "config", "core.sparseCheckout", "true")
	write(t, h.Path, ".git/info/sparse-checkout", "/*\n!/a.txt\n")
	scratch := filepath.Join(h.root, "scratch")
	want(t, "a checkout of its own", Worktrees{Repo: h.Repo}.Scratch(t.Context(), scratch, head), nil)
	want(t, "its file", read(t, scratch, "a.txt"), "one\n")
}

// A file can be as long as anyone likes, and have nothing in it.
func TestAFileThatNoOneReadsToItsEnd_isNamed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	if err := os.Truncate(filepath.Join(s.Dir, "a.txt"), 2*mostTracked); err != nil {
		t.Skipf("no long files here: %v", err)
	}
	_, _, err := s.Files().Snapshot(t.Context())
	wantError(t, err, "a.txt", "shorter")
	_, err = s.Files().Stamps(t.Context())
	wantError(t, err, "a.txt", "shorter")
}

// The lock is a file that anyone can write: only a slot that was never prepared was never worked in.
func TestALockThatAnAgentWrites_losesNoWork(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "switch", "-q", "--detach")
	head := commit(t, s.Dir, "work.txt", "work\n")
	write(t, s.Dir, "new.txt", "new\n")
	gitIn(t, h.Path, "worktree", "lock", "--reason", git.Initializing, s.Dir)
	kept := release(t, s, "T1")
	if len(kept) == 0 {
		t.Fatal("nothing was kept")
	}
	want(t, "the file", gitIn(t, h.Path, "show", kept[0].Commit+":new.txt"), "new")
	want(t, "the commit", gitIn(t, h.Path, "rev-parse", kept[0].Commit+"^1"), head)
}

// Without the file by which git finds the slot, an agent's settings would stay for the next task.
func TestASlotThatGitCannotFind_isFoundAndTakenBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, h.Path, "config", "extensions.worktreeConfig", "true")
	gitIn(t, s.Dir, "config", "--worktree", "core.hooksPath", "/evil")
	if err := os.Remove(filepath.Join(dir, "gitdir")); err != nil {
		t.Fatal(err)
	}
	done, err := s.Release(t.Context(), "T1")
	want(t, "error", err, nil)
	want(t, "taken back", strings.Join(done.TakenBack, "|"), "core.hookspath")
	prepare(t, s, "next", "T2")
}

// What is in an index that git cannot read is lost; the files are not, and the slot is free.
func TestAnIndexThatGitCannotRead_holdsNoSlot(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "a.txt", "work\n")
	dir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "index", "no index at all, and long enough to be one of git's own, which has a head and a sum\n")
	kept := release(t, s, "T1")
	if len(kept) != 1 {
		t.Fatalf("kept: %+v", kept)
	}
	want(t, "the file", gitIn(t, h.Path, "show", kept[0].Commit+":a.txt"), "work")
	prepare(t, s, "next", "T2")
}

// What a set-up makes is no agent's.
func TestARuleThatASetUpMakes_isNoChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, "sub/.gitattributes", "*.bin binary\n")
	want(t, "settled", s.Settle(t.Context()), nil)
	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "")
	write(t, s.Dir, "sub/.gitattributes", "* binary\n")
	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "sub/.gitattributes")
}

// By its rules git would call a file changed that no one has touched: what counts is what the file holds.
func TestAFileThatItsRulesWouldChange_isNotChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	commit(t, h.Path, "crlf.txt", "one\r\ntwo\r\n")
	commit(t, h.Path, ".gitattributes", "crlf.txt text\n")
	s := h.prepared(t, "topic", "T1")
	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "")
	judged, err := s.Files().Trees(t.Context(), "T1")
	want(t, "error", err, nil)
	other, err := Judged{Repo: h.Repo}.Differs(t.Context(), judged, "topic")
	want(t, "differs from what was judged", strings.Join(other, "|"), "")
	want(t, "error", err, nil)
	patch, err := s.Files().Patch(t.Context(), "")
	want(t, "not committed", patch.Loose, false)
	want(t, "error", err, nil)
	want(t, "rescued", len(release(t, s, "T1")), 0)
}

// A folder that became a link leads elsewhere.
func TestAFolderThatBecameALink_isKeptAndReleased(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, h.root, "elsewhere/.gitattributes", "* binary\n")
	if err := os.RemoveAll(filepath.Join(s.Dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.root, "elsewhere"), filepath.Join(s.Dir, "sub")); err != nil {
		t.Fatal(err)
	}
	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "sub/deep.txt")
	want(t, "rescued", len(release(t, s, "T1")), 1)
	want(t, "what it led to", exists(h.root, "elsewhere/.gitattributes"), true)
}
