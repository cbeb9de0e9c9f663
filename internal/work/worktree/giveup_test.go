package worktree

import (
	"path/filepath"
	"strings"
	"testing"
)

const lostRef = "refs/orange/fleet/T1/lost/1"

// wantIn fails where a commit is not in the history of a ref.
func wantIn(t *testing.T, repo, commit, ref string) {
	t.Helper()
	gitIn(t, repo, "merge-base", "--is-ancestor", commit, ref)
}

func noKeys(file string, _ int64) bool { return !strings.HasSuffix(file, ".key") }

func TestShipLost_hasCommitsFilesAndWhatWasRescued(t *testing.T) {
	t.Parallel()
	h, to := newHome(t), vault(t)
	s := h.prepared(t, "topic", "T1")
	onBranch := commit(t, s.Dir, "one", "1")
	write(t, s.Dir, "before", "rescued")
	write(t, s.Dir, "early.key", "SECRET")
	rescued := release(t, s, "T1")
	prepare(t, s, "topic", "T1")
	gitIn(t, s.Dir, "checkout", "-q", "--detach")
	loose := commit(t, s.Dir, "two", "2")
	write(t, s.Dir, "one", "changed")
	write(t, s.Dir, "deep/new file", "n")
	write(t, s.Dir, "deploy.key", "SECRET")
	before, refs := gitIn(t, s.Dir, "status", "--porcelain"), gitIn(t, h.Path, "for-each-ref")

	l := Lost{Task: "T1", Epoch: 1, Branch: "topic"}
	for range 2 { // the answer may have been lost
		ref, err := s.ShipLost(t.Context(), to, l, noKeys)
		want(t, "error", err, nil)
		want(t, "ref", ref, lostRef)
	}
	wantIn(t, to, onBranch, lostRef)
	wantIn(t, to, loose, lostRef)
	want(t, "changed", gitIn(t, to, "show", lostRef+":one"), "changed")
	want(t, "new", gitIn(t, to, "show", lostRef+":deep/new file"), "n")
	all := gitIn(t, to, "log", "--format=", "--name-only", "-m", lostRef)
	want(t, "what was rescued before", strings.Contains(all, "before"), true)
	want(t, "a secret", strings.Contains(all, ".key"), false)
	want(t, "rescued", len(rescued) > 0, true)
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), before)
	want(t, "refs", gitIn(t, h.Path, "for-each-ref"), refs)
}

func TestShipLost_pushesNothingThatTheLastSnapshotHas(t *testing.T) {
	t.Parallel()
	h, to := newHome(t), vault(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "one", "1")
	write(t, s.Dir, "two", "2")
	work, _, err := s.WorkCommit(t.Context(), "T1", takeAll)
	want(t, "error", err, nil)
	l := Lost{Task: "T1", Epoch: 1, Branch: "topic", Shipped: work}
	ref, err := s.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	want(t, "ref", ref, "")
	want(t, "refs", gitIn(t, to, "for-each-ref"), "")
	write(t, s.Dir, "three", "3")
	ref, err = s.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	want(t, "ref", ref, lostRef)
	want(t, "three", gitIn(t, to, "show", ref+":three"), "3")
}

// A home may give a task up twice in one epoch: what it pushed the first time stays.
func TestShipLost_keepsWhatIsThere(t *testing.T) {
	t.Parallel()
	h, to := newHome(t), vault(t)
	s := h.prepared(t, "topic", "T1")
	first := commit(t, s.Dir, "one", "1")
	l := Lost{Task: "T1", Epoch: 1, Branch: "topic"}
	_, err := s.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	gitIn(t, s.Dir, "reset", "-q", "--hard", "HEAD~1")
	second := commit(t, s.Dir, "two", "2")
	_, err = s.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	wantIn(t, to, first, lostRef)
	wantIn(t, to, second, lostRef)
	want(t, "the newest files", gitIn(t, to, "ls-tree", "--name-only", lostRef, "two"), "two")
}

// The second push may make the older of two commits again, with another time, and find the newer one there.
func TestTogether_hasTheNewestFilesWhereTheyAreThereAlready(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	older := commit(t, s.Dir, "one", "1")
	gitIn(t, s.Dir, "reset", "-q", "--hard", "HEAD~1")
	newest := commit(t, s.Dir, "two", "2")
	made, err := Rescues{Repo: h.Repo}.together(t.Context(), "T1", []string{older, newest}, newest)
	want(t, "error", err, nil)
	wantIn(t, h.Path, older, made)
	wantIn(t, h.Path, newest, made)
	want(t, "files", gitIn(t, h.Path, "rev-parse", made+"^{tree}"), gitIn(t, h.Path, "rev-parse", newest+"^{tree}"))
}

func TestShipLost_ofABranchThatIsGoneAndOfNoWorktree(t *testing.T) {
	t.Parallel()
	h, to := newHome(t), vault(t)
	s := h.prepared(t, "topic", "T1")
	head := commit(t, s.Dir, "one", "1")
	write(t, s.Dir, "two", "2")
	gitIn(t, h.Path, "update-ref", "-d", "refs/heads/topic")
	l := Lost{Task: "T1", Epoch: 1, Branch: "topic"}
	ref, err := s.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	wantIn(t, to, head, ref)
	want(t, "two", gitIn(t, to, "show", ref+":two"), "2")
	gitIn(t, h.Path, "branch", "other", head)
	l = Lost{Task: "T1", Epoch: 2, Branch: "other"}
	ref, err = Slot{Repo: h.Repo}.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	want(t, "the branch alone", gitIn(t, to, "rev-parse", ref), head)
	l.Branch = "none"
	ref, err = Slot{Repo: h.Repo}.ShipLost(t.Context(), to, l, takeAll)
	want(t, "error", err, nil)
	want(t, "of nothing", ref, "")
}

func TestShipLost_saysWhatItCannotPush(t *testing.T) {
	t.Parallel()
	h, dir := newHome(t), t.TempDir()
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, "one", "1")
	l := Lost{Task: "T1", Epoch: 1, Branch: "topic"}
	nowhere := filepath.Join(dir, "nowhere.git")
	_, err := s.ShipLost(t.Context(), nowhere, l, takeAll)
	wantError(t, err, "cannot push what is here of task T1 to ", "nowhere.git")
	_, err = s.ShipLost(t.Context(), "--upload-pack=x", l, takeAll)
	wantError(t, err, "cannot use")
	l.Task = "../x"
	_, err = s.ShipLost(t.Context(), dir, l, takeAll)
	wantError(t, err, "as a task's id")
}
