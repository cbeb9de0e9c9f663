package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/ship"
)

func takeAll(string, int64) bool { return true }

// vault is an empty repository for snapshots.
func vault(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault.git")
	gitIn(t, filepath.Dir(dir), "init", "-q", "--bare", dir)
	return dir
}

// folder is a task's folder.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "TASK.md", "# A task\n")
	write(t, dir, "evidence/abc", "it holds\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWorkCommit_hasAllFilesAndChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	head := commit(t, s.Dir, "one", "1")
	write(t, s.Dir, "one", "changed")
	write(t, s.Dir, "staged", "s")
	gitIn(t, s.Dir, "add", "staged")
	write(t, s.Dir, "deep/new file", "n")
	write(t, s.Dir, ".env", "SECRET=1")
	write(t, s.Dir, ".gitignore", "out\n")
	write(t, s.Dir, "out", "built")
	before, index := gitIn(t, s.Dir, "status", "--porcelain"), gitIn(t, s.Dir, "ls-files", "-s")
	work, left, err := s.WorkCommit(t.Context(), "T1", func(file string, size int64) bool {
		return file != ".env" || size != int64(len("SECRET=1"))
	})
	want(t, "error", err, nil)
	want(t, "left out", strings.Join(left, " "), ".env")
	want(t, "parent", gitIn(t, s.Dir, "rev-parse", work+"^"), head)
	want(t, "changed", gitIn(t, s.Dir, "show", work+":one"), "changed")
	want(t, "files", gitIn(t, s.Dir, "diff-tree", "-r", "--name-only", head, work),
		".gitignore\ndeep/new file\none\nstaged")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), before)
	want(t, "index", gitIn(t, s.Dir, "ls-files", "-s"), index)
	want(t, "refs", gitIn(t, s.Dir, "for-each-ref", "refs/orange"), "")
	_, _, err = h.slot(9).WorkCommit(t.Context(), "T1", takeAll)
	wantError(t, err, "no worktree")
}

func TestShip_isOnlyBehindTheLastThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	h, to, dir := newHome(t), vault(t), folder(t)
	s := h.prepared(t, "topic", "T1")
	count := 0
	take := func(earlier string) ship.Shipped {
		count++ // no two are the same commit
		write(t, s.Dir, "file", strconv.Itoa(count))
		about := map[string]string{"fleet.json": strconv.Itoa(count)}
		record, err := h.snapshots().FolderCommit(t.Context(), dir, about, "m\n", earlier)
		want(t, "error", err, nil)
		work, _, err := s.WorkCommit(t.Context(), "T1", takeAll)
		want(t, "error", err, nil)
		return ship.Shipped{Record: record, Work: work}
	}
	refs := func() string { return gitIn(t, to, "for-each-ref", "--format=%(objectname) %(refname)") }
	first := take("")
	want(t, "first", h.snapshots().Ship(t.Context(), to, shipment("", first)), nil)
	want(t, "refs", refs(), first.Record+" refs/orange/fleet/T1/record\n"+first.Work+" refs/orange/fleet/T1/work")
	// Another machine goes on from there.
	second := take(first.Record)
	want(t, "second", h.snapshots().Ship(t.Context(), to, shipment(first.Record, second)), nil)
	after := refs()
	for range 2 { // a push that failed leaves nothing that the next one would take for an acknowledgement
		late := take(first.Record)
		if err := h.snapshots().Ship(t.Context(), to, shipment(first.Record, late)); !errors.Is(err,
			ship.ErrSnapshotMoved) {
			t.Errorf("the late one: %v", err)
		}
		want(t, "refs", refs(), after)
	}
	if err := h.snapshots().Ship(t.Context(), to, shipment("", take(""))); !errors.Is(err, ship.ErrSnapshotMoved) {
		t.Errorf("one that knows of none: %v", err)
	}
	want(t, "refs", refs(), after)
	gitIn(t, h.Path, "gc", "-q", "--prune=now")
	want(t, "still here", gitIn(t, h.Path, "cat-file", "-t", second.Record), "commit")
	want(t, "a repeat", h.snapshots().Ship(t.Context(), to, shipment(second.Record, second)), nil)
	wantError(t, h.snapshots().Unship(t.Context(), to, "T1", first.Record), "cannot remove the snapshot")
	want(t, "removed", h.snapshots().Unship(t.Context(), to, "T1", second.Record), nil)
	want(t, "refs", refs(), "")
	want(t, "refs here", gitIn(t, h.Path, "for-each-ref", "refs/orange/behind"), "")
	for _, address := range []string{"ssh://[::1]/x.git", "ada@[fe80::1]:x.git", "origin", "../x.git"} {
		want(t, address, git.CheckRemote(address), nil)
	}
}

func TestShip_takesNoOptionForARepository(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, to := range []string{"", "--exec=x", "ext::sh", "a\nb"} {
		if err := h.snapshots().Ship(t.Context(), to, ship.Shipment{Task: "T1"}); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", to, err)
		}
		if _, err := h.snapshots().FetchSnapshot(t.Context(), to, "T1"); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if _, err := h.snapshots().FetchSnapshot(t.Context(), vault(t), "T1"); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("an empty one: %v", err)
	}
}

func TestUnfold_readsWhatWasFolded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	record, err := h.snapshots().FolderCommit(t.Context(), folder(t),
		map[string]string{"workflow.yml": "name: own\n"}, "m\n")
	want(t, "error", err, nil)
	files, texts, err := h.snapshots().Unfold(t.Context(), record)
	want(t, "error", err, nil)
	want(t, "files", len(files), 2)
	want(t, "document", string(files["TASK.md"]), "# A task\n")
	want(t, "evidence", string(files["evidence/abc"]), "it holds\n")
	want(t, "workflow", string(texts["workflow.yml"]), "name: own\n")
	// A link, and a program, are no files of a task's folder.
	for _, mode := range []string{"120000", "100755"} {
		blob := gitIn(t, h.Path, "rev-parse", record+":workflow.yml")
		index := filepath.Join(t.TempDir(), "index")
		_, err := h.Do(t.Context(), git.Call{Dir: h.Path, Index: index, Args: []string{"update-index", "--add",
			"--cacheinfo", mode + "," + blob + ",task/TASK.md"}})
		want(t, "error", err, nil)
		tree, err := h.Do(t.Context(), git.Call{Dir: h.Path, Index: index, Args: []string{"write-tree"}})
		want(t, "error", err, nil)
		_, _, err = h.snapshots().Unfold(t.Context(), tree.Text())
		wantError(t, err, "no file of a task's folder")
	}
}

func TestRestore_laysOutWhatWasUncommitted(t *testing.T) {
	t.Parallel()
	h, to := newHome(t), vault(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "one", "1")
	head := commit(t, s.Dir, "gone", "g")
	write(t, s.Dir, "one", "changed")
	write(t, s.Dir, "new", "n")
	gitIn(t, s.Dir, "rm", "-q", "gone")
	record, err := h.snapshots().FolderCommit(t.Context(), folder(t), nil, "m\n")
	want(t, "error", err, nil)
	work, _, err := s.WorkCommit(t.Context(), "T1", takeAll)
	want(t, "error", err, nil)
	want(t, "shipped", h.snapshots().Ship(t.Context(), to, shipment("", ship.Shipped{Record: record, Work: work})), nil)

	other := newHome(t)
	got, err := ship.Snapshots{Repo: other.Repo}.FetchSnapshot(t.Context(), to, "T1")
	want(t, "error", err, nil)
	want(t, "fetched", got, ship.Shipped{Record: record, Work: work})
	for range 2 {
		want(t, "branch", ship.Snapshots{Repo: other.Repo}.Begin(t.Context(), "topic", got.Work), nil)
		want(t, "tip", gitIn(t, other.Path, "rev-parse", "topic"), head)
	}
	there := other.prepared(t, "topic", "T1")
	write(t, there.Dir, "mine", "m")
	stays, err := there.Restore(t.Context(), "T1")
	want(t, "error", err, nil)
	want(t, "over other changes", stays, "refs/orange/restore/T1/work")
	if err := os.Remove(filepath.Join(there.Dir, "mine")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to restore
		stays, err = there.Restore(t.Context(), "T1")
		want(t, "error", err, nil)
		want(t, "stays", stays, "")
		want(t, "changed", read(t, there.Dir, "one"), "changed")
		want(t, "new", read(t, there.Dir, "new"), "n")
		want(t, "gone", exists(there.Dir, "gone"), false)
		want(t, "head", gitIn(t, there.Dir, "rev-parse", "HEAD"), head)
	}
	own := gitIn(t, other.Path, "commit-tree", "-m", "own", "main^{tree}")
	gitIn(t, other.Path, "branch", "stray", own)
	wantError(t, ship.Snapshots{Repo: other.Repo}.Begin(t.Context(), "stray", got.Work), "lacks the commit")
	gitIn(t, other.Path, "branch", "earlier", "topic~1") // of a home that had the task before
	gitIn(t, other.Path, "worktree", "add", "-q", filepath.Join(t.TempDir(), "elsewhere"), "earlier")
	wantError(t, ship.Snapshots{Repo: other.Repo}.Begin(t.Context(), "earlier", got.Work), "lacks the commit")
	gitIn(t, other.Path, "branch", "older", "topic~1")
	want(t, "an older branch", ship.Snapshots{Repo: other.Repo}.Begin(t.Context(), "older", got.Work), nil)
	want(t, "tip", gitIn(t, other.Path, "rev-parse", "older"), head)
}

// A branch may have no file at all: an empty first commit is enough.
func TestRestore_laysOutABranchWithoutAnyFile(t *testing.T) {
	t.Parallel()
	for _, uncommitted := range []bool{false, true} {
		h, to := newHome(t), vault(t)
		s := h.prepared(t, "topic", "T1")
		gitIn(t, s.Dir, "rm", "-q", "-r", ".")
		gitIn(t, s.Dir, "commit", "-q", "-m", "no file")
		if uncommitted {
			write(t, s.Dir, "new", "n")
		}
		record, err := h.snapshots().FolderCommit(t.Context(), folder(t), nil, "m\n")
		want(t, "error", err, nil)
		work, _, err := s.WorkCommit(t.Context(), "T1", takeAll)
		want(t, "error", err, nil)
		want(t, "shipped", h.snapshots().Ship(t.Context(), to, shipment("", ship.Shipped{Record: record,
			Work: work})), nil)

		other := newHome(t)
		got, err := ship.Snapshots{Repo: other.Repo}.FetchSnapshot(t.Context(), to, "T1")
		want(t, "error", err, nil)
		want(t, "branch", ship.Snapshots{Repo: other.Repo}.Begin(t.Context(), "topic", got.Work), nil)
		there := other.prepared(t, "topic", "T1")
		stays, err := there.Restore(t.Context(), "T1")
		want(t, "error", err, nil)
		want(t, "stays", stays, "")
		want(t, "new", exists(there.Dir, "new"), uncommitted)
	}
}

func TestBranchCommit_isOnTopOfTheBranch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tip := h.topic(t, "topic", "work.txt", "x")
	work, err := h.snapshots().BranchCommit(t.Context(), "T1", "topic")
	want(t, "error", err, nil)
	want(t, "parent", gitIn(t, h.Path, "rev-parse", work+"^"), tip)
	want(t, "tree", gitIn(t, h.Path, "rev-parse", work+"^{tree}"), gitIn(t, h.Path, "rev-parse", "topic^{tree}"))
	none, err := h.snapshots().BranchCommit(t.Context(), "T1", "nowhere")
	want(t, "error", err, nil)
	want(t, "no branch", none, "")
}

func TestHolds_isOfTheTaskThatTheSlotWasPreparedFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	for id, held := range map[string]bool{"T1": true, "T2": false} {
		got, err := s.Holds(t.Context(), id, "topic")
		want(t, "error", err, nil)
		want(t, id, got, held)
	}
	_, err := s.Release(t.Context(), "T1")
	want(t, "error", err, nil)
	for _, slot := range []Slot{s, h.slot(9)} {
		got, err := slot.Holds(t.Context(), "T1", "topic")
		want(t, "error", err, nil)
		want(t, "held", got, false)
	}
	known, err := h.HasBranch(t.Context(), "topic")
	want(t, "error", err, nil)
	want(t, "branch", known, true)
	known, err = h.HasBranch(t.Context(), "nowhere")
	want(t, "error", err, nil)
	want(t, "no branch", known, false)
}
