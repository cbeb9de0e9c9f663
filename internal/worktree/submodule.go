package worktree

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// inSubmodule is a submodule of the slot. Of what can be done with a slot, looking at its index and its files is
// all that fits it.
func (s Slot) inSubmodule(submodule string) Slot {
	return Slot{Repo: s.Repo, Dir: filepath.Join(s.Dir, filepath.FromSlash(submodule))}
}

// indexFolder is where a submodule's index is; empty where the submodule was not laid out.
func (s Slot) indexFolder() (string, error) {
	inside := filepath.Join(s.Dir, ".git")
	info, err := os.Lstat(inside)
	switch {
	case err != nil:
		return "", nil
	case info.IsDir():
		return inside, nil
	}
	return s.gitDir()
}

// hiddenBelow are the changes in submodules that git overlooks there because of flags: a look at the slot asks the
// index of each submodule, which has flags of its own.
func (s Slot) hiddenBelow(ctx context.Context, submodules []string) ([]Hidden, error) {
	var all []Hidden
	err := s.eachFlagged(ctx, submodules, "", func(sub Slot, name, folder string, f flags) error {
		seen, err := sub.statusBehind(ctx, folder, f, asked{untracked: "no", submodules: "all"})
		for _, h := range f.hide(seen.changes) {
			h.Submodule = name
			all = append(all, h)
		}
		return err
	})
	return all, err
}

// unflagBelow has git look again at what it overlooked in submodules, so that the next task sees what
// is left there.
func (s Slot) unflagBelow(ctx context.Context, submodules []string) error {
	return s.eachFlagged(ctx, submodules, "", func(sub Slot, _, _ string, f flags) error {
		return sub.unflag(ctx, "", f)
	})
}

// eachFlagged does something for each submodule, however deep it lies, in which files are there that git overlooks.
func (s Slot) eachFlagged(ctx context.Context, submodules []string, within string,
	do func(sub Slot, name, folder string, f flags) error) error {
	for _, submodule := range submodules {
		sub, name := s.inSubmodule(submodule), path.Join(within, submodule)
		folder, err := sub.indexFolder()
		if err == nil && folder == "" {
			continue
		}
		var known listed
		if err == nil {
			known, err = sub.list(ctx)
		}
		if present := sub.present(known.flags); err == nil && len(present) > 0 {
			err = do(sub, name, folder, present)
		}
		if err != nil {
			return fmt.Errorf("look into the submodule %q: %w", name, err)
		}
		if err := sub.eachFlagged(ctx, known.submodules, name, do); err != nil {
			return err
		}
	}
	return nil
}
