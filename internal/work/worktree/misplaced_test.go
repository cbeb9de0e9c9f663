package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/work/git"
)

// An error names what is of another kind than git makes there: git's own words seldom do.
func TestAnErrorOfGit_namesWhatIsMisplaced(t *testing.T) {
	t.Parallel()
	const pipe, folder, file, device = "a pipe", "a folder", "no folder", "a link to a device"
	for path, kind := range map[string]string{
		".git/HEAD": folder, ".git/objects": pipe, ".git/objects/COMMIT": file, ".git/refs": file,
		".git/refs/heads":       pipe,
		".git/CHERRY_PICK_HEAD": device, ".git/worktrees/SLOT/gitdir": folder, ".git/worktrees/SLOT/HEAD": folder,
		".git": pipe,
	} {
		t.Run(strings.ReplaceAll(path, "/", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			own, err := git.DirOf(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(h.Path, strings.NewReplacer("SLOT", filepath.Base(own), "COMMIT",
				gitIn(t, h.Path, "rev-parse", "main")[:2]).Replace(path))
			if err := os.Rename(path, filepath.Join(h.root, "away")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			switch kind {
			case pipe:
				err = syscall.Mkfifo(path, 0o600)
			case folder:
				err = os.Mkdir(path, 0o700)
			case file:
				err = os.WriteFile(path, nil, 0o600)
			case device:
				err = os.Symlink("/dev/zero", path)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = s.Files().Snapshot(t.Context())
			if err == nil {
				_, err = h.Run(t.Context(), "status")
			}
			if err == nil {
				_, err = h.Base(t.Context())
			}
			if err == nil {
				_, err = h.Run(t.Context(), "log", "-1", "topic")
			}
			wantError(t, err, strconv.Quote(path)+" is "+kind, "look at what it is, and move it away")
		})
	}
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	want(t, "in a repository that is whole", h.WithMisplaced(s.Dir, os.ErrInvalid), os.ErrInvalid)
}
