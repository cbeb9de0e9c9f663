package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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
