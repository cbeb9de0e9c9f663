package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// writtenFile is a file that Orange has written.
type writtenFile struct {
	Path    string   `json:"path"`
	Digests []string `json:"sha256"`            // of every text that Orange ever wrote there
	Made    []string `json:"made,omitempty"`    // folders that Orange made for it, the outermost first
	Project string   `json:"project,omitempty"` // the folder of the project that it is in; empty for the person's own
	Ignored string   `json:"ignored,omitempty"` // the folder that git ignores there for it
}

func (s Skills) list() string { return filepath.Join(s.Home, "installed.json") }

// read reads the list of what Orange has written; nothing where there is none.
func (s Skills) read() (all []writtenFile, err error) {
	err = proc.ReadJSON(s.list(), &all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot tell what was installed: %q cannot be read: %v; correct it, or "+
			"move it away: then all that is there counts as yours, and stays", s.list(), err)
	}
	return all, nil
}

func (s Skills) save(all []writtenFile) error {
	if err := proc.ReplaceJSON(s.list(), all); err != nil {
		return fmt.Errorf("note what is installed: %w", err)
	}
	return nil
}

// change changes what is installed, one process at a time. What change answers is on the list then, also where it
// fails on its way.
func (s Skills) change(ctx context.Context, change func([]writtenFile) ([]writtenFile, error)) error {
	release, err := mirror.Files{Home: s.Home}.Lock(ctx, "installed")
	if err != nil {
		return err
	}
	defer release()
	known, err := s.read()
	if err != nil {
		return err
	}
	known, err = change(known)
	return errors.Join(err, s.save(known))
}

func isOurs(known []writtenFile, path, digest string) bool {
	return slices.ContainsFunc(known, func(one writtenFile) bool {
		return one.Path == path && slices.Contains(one.Digests, digest)
	})
}

// note adds to what is known of a path.
func note(known []writtenFile, one writtenFile) []writtenFile {
	i := slices.IndexFunc(known, func(w writtenFile) bool { return w.Path == one.Path })
	if i < 0 {
		return append(known, one)
	}
	w := &known[i]
	w.Project = one.Project
	for _, made := range one.Made {
		if !slices.Contains(w.Made, made) {
			w.Made = append(w.Made, made)
		}
	}
	if !slices.Contains(w.Digests, one.Digests[0]) {
		w.Digests = append(w.Digests, one.Digests[0])
	}
	if one.Ignored != "" {
		w.Ignored = one.Ignored
	}
	return known
}

// Installed are the files that Orange has written and that are there: those that Uninstall removes, and those that
// someone has changed since, which stay.
func (s Skills) Installed(context.Context) ([]harness.SkillFile, error) {
	known, err := s.read()
	if err != nil {
		return nil, err
	}
	out := []harness.SkillFile{}
	for _, one := range known {
		state, err := stateOf(one)
		if err != nil {
			return nil, err
		}
		if state != "" {
			out = append(out, harness.SkillFile{Path: one.Path, State: state})
		}
	}
	return out, nil
}

// stateOf is SkillRemove or SkillYours; empty where the file is gone.
func stateOf(one writtenFile) (string, error) {
	there, err := digestAt(one.Path)
	switch {
	case err != nil || there == absent:
		return "", err
	case slices.Contains(one.Digests, there):
		return harness.SkillRemove, nil
	}
	return harness.SkillYours, nil
}

// Uninstall removes the files that Orange has written and no one has changed, and answers which. From then on those
// that stay are the person's own. What it could not finish is still on the list, and it may be run again.
func (s Skills) Uninstall(ctx context.Context) (done []harness.SkillFile, err error) {
	err = s.change(ctx, func(known []writtenFile) ([]writtenFile, error) {
		var gone []writtenFile
		var left []writtenFile
		var failed error
		for _, one := range known {
			state, err := stateOf(one)
			if err == nil && state == harness.SkillRemove {
				err = os.Remove(one.Path)
			}
			if err != nil { // the others are removed all the same
				left, failed = append(left, one), errors.Join(failed, fmt.Errorf("remove the skill: %w", err))
				continue
			}
			if state == harness.SkillRemove {
				done = append(done, harness.SkillFile{Path: one.Path, State: state})
			}
			if state != harness.SkillYours {
				gone = append(gone, one)
			}
		}
		for _, one := range slices.Backward(gone) { // folders that two need were made for the first
			if err := forget(ctx, one); err != nil {
				left = append(left, one)
				failed = errors.Join(failed, fmt.Errorf("remove what was made for the skill %q: %w", one.Path, err))
			}
		}
		return left, failed
	})
	return done, err
}

// forget takes away what was made around a file that is gone: folders that are empty now, and the line by which git
// ignores it. A project that is gone has none.
func forget(ctx context.Context, one writtenFile) error {
	for _, dir := range slices.Backward(one.Made) {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			break // a link that someone put there is theirs
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			break
		}
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if _, err := os.Stat(one.Project); one.Ignored == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return worktree.Main{Repo: git.Repo{Path: one.Project}}.IgnoreNoMore(ctx, one.Ignored)
}
