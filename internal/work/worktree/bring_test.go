package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/work/git"
)

// withExtras is a repository whose main checkout holds files that git does not track.
func withExtras(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	commit(t, h.Path, ".gitignore", "*.log\n/cache/\n.env*\nnode_modules/\n")
	write(t, h.Path, ".env", "SECRET=1\n")
	write(t, h.Path, "sub/.env.local", "SUB=1\n")
	write(t, h.Path, "local.conf", "mine\n")
	write(t, h.Path, "node_modules/left-pad/index.js", "pad\n")
	if err := os.Chmod(filepath.Join(h.Path, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func bring(t *testing.T, s Slot, w Wanted) string {
	t.Helper()
	left, err := s.Extras().Bring(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(left, "|")
}

func TestBring_copiesAndLinksWhatGitDoesNotTrack(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	want(t, "left out", bring(t, s, Wanted{Copy: []string{".env*", "local.conf", "a.txt"}, Link: []string{
		"node_modules/"}}), "")
	want(t, ".env", read(t, s.Dir, ".env"), "SECRET=1\n")
	want(t, "below", read(t, s.Dir, "sub/.env.local"), "SUB=1\n")
	want(t, "untracked", read(t, s.Dir, "local.conf"), "mine\n")
	want(t, "linked", read(t, s.Dir, "node_modules/left-pad/index.js"), "pad\n")
	target, err := os.Readlink(filepath.Join(s.Dir, "node_modules"))
	if err != nil || target != filepath.Join(h.Path, "node_modules") {
		t.Errorf("the link leads to %q: %v", target, err)
	}
	info, err := os.Stat(filepath.Join(s.Dir, ".env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the copy: %v, %v", info, err)
	}
	want(t, "git sees", gitIn(t, s.Dir, "status", "--porcelain"), "")
	want(t, "the main checkout", gitIn(t, h.Path, "status", "--porcelain"), "")
}

func TestBring_copiesTheIgnoredFilesThatTheRepositoryNames(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	write(t, h.Path, git.IncludeFile, "# secrets\n.env*\n!.env.local\nlocal.conf\nnode_modules\n")
	s := h.prepared(t, "topic", "T1")
	want(t, "left out", bring(t, s, Wanted{}), "")
	for name, there := range map[string]bool{
		".env": true, "sub/.env.local": false, "local.conf": false, "node_modules/left-pad/index.js": true,
	} {
		want(t, name, exists(s.Dir, name), there)
	}
}

func TestBring_replacesNothing(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	write(t, s.Dir, ".env", "OTHER=1\n")
	write(t, s.Dir, "node_modules/own", "own\n")
	commit(t, s.Dir, "local.conf", "tracked\n")
	gitIn(t, s.Dir, "update-index", "--skip-worktree", "local.conf")
	if err := os.Remove(filepath.Join(s.Dir, "local.conf")); err != nil {
		t.Fatal(err)
	}
	want(t, "left out", bring(t, s, Wanted{Copy: []string{".env", "local.conf"}, Link: []string{"node_modules"}}), "")
	want(t, ".env", read(t, s.Dir, ".env"), "OTHER=1\n")
	want(t, "the folder", exists(s.Dir, "node_modules/own"), true)
	want(t, "what git tracks", exists(s.Dir, "local.conf"), false)
}

func TestBring_neverLeavesTheRepository(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	outside := t.TempDir()
	write(t, outside, "key", "secret\n")
	for name, target := range map[string]string{
		".env.absolute": filepath.Join(outside, "key"), ".env.up": "../../../etc/passwd", ".env.fine": ".env",
	} {
		if err := os.Symlink(target, filepath.Join(h.Path, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, h.Path, "conf/.env", "CONF=1\n")
	s := h.prepared(t, "topic", "T1")
	// the branch has a link where the main checkout has a folder
	if err := os.Symlink(outside, filepath.Join(s.Dir, "conf")); err != nil {
		t.Fatal(err)
	}
	left := bring(t, s, Wanted{Copy: []string{".env*", "../*", "/etc/passwd"}})
	for _, words := range []string{`".env.absolute": it is a link with an absolute path`,
		`".env.up": it is a link that leads out`, `"conf/.env": "conf" is no folder in the workspace`} {
		if !strings.Contains(left, words) {
			t.Errorf("left out %q does not say %q", left, words)
		}
	}
	want(t, "written outside", exists(outside, ".env"), false)
	want(t, "absolute", exists(s.Dir, ".env.absolute"), false)
	want(t, "upwards", exists(s.Dir, ".env.up"), false)
	want(t, "a link inside", read(t, s.Dir, ".env.fine"), "SECRET=1\n")
}

func TestBring_leavesOutWhatTheBranchHasGitShow(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	commit(t, s.Dir, ".gitignore", "!local.conf\n")
	left := bring(t, s, Wanted{Copy: []string{"local.conf"}})
	want(t, "left out", left, `"local.conf": the .gitignore of the branch has git show it`)
	want(t, "git sees", gitIn(t, s.Dir, "status", "--porcelain"), "")
}

func TestBring_aRepositoryInsideIsNoFile(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	gitIn(t, h.Path, "init", "-q", "cache/inner")
	commit(t, filepath.Join(h.Path, "cache/inner"), "x", "x\n")
	s := h.prepared(t, "topic", "T1")
	want(t, "left out", bring(t, s, Wanted{Copy: []string{"cache"}, Link: []string{"/cache/inner"}}), "")
	want(t, "brought", exists(s.Dir, "cache"), false)
}

func TestReleased_noTaskSeesWhatAnotherMadeOfACopy(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	w := Wanted{Copy: []string{".env*"}, Link: []string{"node_modules", "local.conf"}}
	bring(t, s, w)
	write(t, s.Dir, ".env", "SECRET=changed\n")
	write(t, s.Dir, "sub/.env.own", "the agent's own\n")
	if err := os.Remove(filepath.Join(s.Dir, "local.conf")); err != nil { // a program saved it by a rename
		t.Fatal(err)
	}
	write(t, s.Dir, "local.conf", "changed\n")
	want(t, "rescued", len(release(t, s, "T1")), 0)
	for name, there := range map[string]bool{
		".env": false, "sub/.env.local": false, "node_modules": false, "local.conf": false, "sub/.env.own": true,
	} {
		want(t, name, exists(s.Dir, name), there)
	}
	want(t, "the person's file", read(t, h.Path, ".env"), "SECRET=1\n")
	want(t, "the person's folder", read(t, h.Path, "node_modules/left-pad/index.js"), "pad\n")
	prepare(t, s, "other", "T2")
	bring(t, s, w)
	want(t, "renewed", read(t, s.Dir, ".env"), "SECRET=1\n")
	want(t, "linked again", exists(s.Dir, "local.conf"), true)
}

func TestPrepare_anotherBranchTakesCopiesAwayToo(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	bring(t, s, Wanted{Copy: []string{".env"}})
	write(t, s.Dir, ".env", "SECRET=changed\n")
	prepare(t, s, "topic", "T1")
	want(t, "the same task's", read(t, s.Dir, ".env"), "SECRET=changed\n")
	prepare(t, s, "other", "T2") // whose first task was never released
	want(t, "another task's", exists(s.Dir, ".env"), false)
}

// What an agent has committed is its work, and on its branch.
func TestReleased_aCopyThatWasCommittedIsGits(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	bring(t, s, Wanted{Copy: []string{"local.conf"}})
	commit(t, s.Dir, "local.conf", "committed\n")
	release(t, s, "T1")
	want(t, "on the branch", gitIn(t, h.Path, "show", "topic:local.conf"), "committed")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
}

func TestRemove_forgetsWhatWasBrought(t *testing.T) {
	t.Parallel()
	h := withExtras(t)
	s := h.prepared(t, "topic", "T1")
	release(t, s, "T1")
	bring(t, s, Wanted{Copy: []string{".env"}})
	if err := (Worktrees{Repo: h.Repo}).Remove(t.Context(), s.Dir); err != nil {
		t.Fatal(err)
	}
	want(t, "the notes", pool(t, Slot{Dir: s.noteFile()}), "")
}
