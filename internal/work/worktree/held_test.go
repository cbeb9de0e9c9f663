package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestHeld_tellsWhatIsGoneAndWhatNoRefHolds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	kept := gitIn(t, h.Path, "rev-parse", "HEAD")
	gitIn(t, h.Path, "checkout", "-q", "-b", "side")
	loose := commit(t, h.Path, "side.txt", "x")
	tagged := commit(t, h.Path, "tagged.txt", "x")
	gitIn(t, h.Path, "tag", "kept", tagged)
	gitIn(t, h.Path, "update-ref", "refs/heads/side", kept)
	alone := commit(t, h.Path, "alone.txt", "x")
	gitIn(t, h.Path, "checkout", "-q", "--detach", alone)
	gitIn(t, h.Path, "update-ref", "refs/heads/side", kept)
	const never = "0123456789012345678901234567890123456789"
	gone, out, err := h.Held(t.Context(), []string{kept, never, loose, tagged, alone})
	if err != nil || !slices.Equal(gone, []string{never}) || !slices.Equal(out, []string{alone}) {
		t.Errorf("gone %q, loose %q, %v", gone, out, err)
	}
	gitIn(t, h.Path, "update-ref", "refs/orange/rescue/T1/1", alone)
	if _, out, err = h.Held(t.Context(), []string{alone}); err != nil || len(out) > 0 {
		t.Errorf("loose %q, %v", out, err)
	}
	if gone, out, err = h.Held(t.Context(), nil); len(gone)+len(out) > 0 || err != nil {
		t.Errorf("of nothing: %q, %q, %v", gone, out, err)
	}
	h.Path += "-not"
	if _, _, err = h.Held(t.Context(), []string{kept}); err == nil {
		t.Error("a repository that is not there has all of them")
	}
}

// Defect: git did not sort by date what it was asked for, and gave up at some branches that were older than a merge,
// before it came to the branch that has it. So a merge that had landed was said to be taken back.
func TestAMergeThatLanded_isHeldAmongOlderBranches(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	base := commitAt(t, h.Path, 1e9)
	var older []string
	for i := range 8 {
		tip := commitAt(t, h.Path, 1e9+i, base)
		gitIn(t, h.Path, "branch", "older/"+strconv.Itoa(i), tip)
		older = append(older, tip)
	}
	landed := commitAt(t, h.Path, 1e9+100, base)
	next := commitAt(t, h.Path, 1e9+200, landed)
	gitIn(t, h.Path, "update-ref", h.OriginDefault(), commitAt(t, h.Path, 1e9+300, next))
	_, loose, err := h.Held(t.Context(), slices.Concat([]string{landed}, older))
	if err != nil || len(loose) > 0 {
		t.Errorf("loose %q, %v, and all are held", loose, err)
	}
	alone := commitAt(t, h.Path, 1e9+250, commitAt(t, h.Path, 1e9+150, base))
	_, loose, err = h.Held(t.Context(), slices.Concat([]string{alone}, older))
	if err != nil || !slices.Equal(loose, []string{alone}) {
		t.Errorf("loose %q, %v, want %q, and not what it is made on", loose, err, alone)
	}
}

// Two commits of a machine whose clock is behind hide from git's quick look what they are made on.
func TestAMergeIsHeld_whateverTheClocksOfThoseWhoCommitted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	tip := commitAt(t, h.Path, 1e9+100)
	for i := range 8 {
		tip = commitAt(t, h.Path, 1e9+101+i, tip)
	}
	gitIn(t, h.Path, "branch", "before", tip)
	landed := commitAt(t, h.Path, 1e9+200, tip)
	alone := commitAt(t, h.Path, 1e9+201, tip)
	behind := commitAt(t, h.Path, 1e9+51, commitAt(t, h.Path, 1e9+50, landed))
	gitIn(t, h.Path, "update-ref", h.OriginDefault(), commitAt(t, h.Path, 1e9+300, behind))
	for _, asked := range [][]string{{landed}, {landed, alone}, {alone, landed}} {
		_, loose, err := h.Held(t.Context(), asked)
		if err != nil || slices.Contains(loose, landed) || len(loose) != len(asked)-1 {
			t.Errorf("of %q loose %q, %v, want all but %q", asked, loose, err, landed)
		}
	}
}

// commitAt makes a commit at a time, in seconds since 1970, which no branch has.
func commitAt(t *testing.T, dir string, seconds int, parents ...string) string {
	t.Helper()
	person := fmt.Sprintf("Ada <ada@example.org> %d +0000", seconds)
	text := "tree " + gitIn(t, dir, "rev-parse", "HEAD^{tree}") + "\n"
	for _, parent := range parents {
		text += "parent " + parent + "\n"
	}
	text += "author " + person + "\ncommitter " + person + "\n\nAt its time\n"
	file := filepath.Join(t.TempDir(), "commit")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return gitIn(t, dir, "hash-object", "-t", "commit", "-w", file)
}

// Defect: with -q git says nothing of a lock that it meets, so nothing waited for it, and a release failed.
func TestACheckoutWhoseIndexIsLocked_isWaitedFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	head := gitIn(t, h.Path, "rev-parse", "HEAD")
	write(t, h.Path, ".git/index.lock", "")
	if err := os.Chtimes(filepath.Join(h.Path, "a.txt"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	ctx, off := context.WithTimeout(t.Context(), 2*time.Second) // git itself takes its time on a busy machine
	defer off()
	wantError(t, h.into().Fits(ctx, h.Path, head, head), "wait for git's lock")
}
