package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// IsThere reports whether there is a worktree in the slot's folder, and whether the repository that it leads to is
// still where it was.
func (s Slot) IsThere() (worktree, repository bool) {
	private, err := git.DirOf(s.Dir)
	if err != nil {
		return false, false
	}
	_, err = os.Stat(private)
	return true, err == nil
}

// Repair joins a repository that was moved and its worktrees again: those of the slots, and a person's, wherever they
// are, as far as they were moved along with it. from is the path that the repository had.
func (r Worktrees) Repair(ctx context.Context, from string, slots []Slot) (err error) {
	defer git.Explain(&err, "cannot repair the worktrees of %q", r.Path)
	_, repairErr := r.Run(ctx, "worktree", "repair")
	all, err := r.Checkouts(ctx, r.Path)
	if err != nil {
		return err
	}
	for _, c := range all[1:] {
		if along := movedAlong(c.Path, from, r.Path); along != "" {
			_, err := r.Run(ctx, "worktree", "repair", along)
			repairErr = errors.Join(repairErr, err)
		}
	}
	for _, s := range slots {
		if _, own := s.ownPlace(ctx); !own { // what git cannot repair of others is no one's concern here
			return errors.Join(fmt.Errorf("the worktree %q no longer leads to it", s.Dir), repairErr)
		}
		err = errors.Join(err, s.repairModules(), s.Extras().repoint(from))
	}
	return err
}

// movedAlong is where a worktree lies that was moved together with its repository; empty where it was not.
func movedAlong(path, from, to string) string {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	way, err := filepath.Rel(from, path)
	if err != nil {
		return ""
	}
	along := filepath.Join(to, way)
	if info, err := os.Lstat(filepath.Join(along, ".git")); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return along
}

// repairModules joins the submodules of a slot with their repositories again, which git keeps in its folder of the
// worktree and does not repair.
func (s Slot) repairModules() error {
	private, err := git.DirOf(s.Dir)
	if err != nil {
		return err
	}
	modules := filepath.Join(private, "modules")
	return filepath.WalkDir(modules, func(dir string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case entry.Name() == "objects" || entry.Name() == "refs":
			return fs.SkipDir
		case !git.IsGitFolder(dir):
			return nil
		}
		below, err := filepath.Rel(modules, dir)
		if err != nil {
			return err
		}
		return s.repairModule(dir, strings.ReplaceAll(below, string(filepath.Separator)+"modules"+
			string(filepath.Separator), string(filepath.Separator)))
	})
}

// repairModule joins one submodule with its repository. Git's own way of naming the folder, by the submodule's path, is
// followed; one that was named otherwise, or that has something else there, is left as it is.
func (s Slot) repairModule(dir, path string) error {
	in, err := proc.OpenRoot(s.Dir) // an agent may have put a link there
	if err != nil {
		return err
	}
	defer in.Close()
	file := filepath.Join(path, ".git")
	text, err := proc.ReadIn(in, file)
	if err != nil || !strings.HasPrefix(string(text), "gitdir: ") {
		return nil //nolint:nilerr // it is not laid out
	}
	config, err := proc.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return err
	}
	way, err := filepath.Rel(dir, filepath.Join(s.Dir, path))
	if err != nil {
		return err
	}
	lines := strings.Split(string(config), "\n")
	for i, line := range lines {
		if name, _, is := strings.Cut(strings.TrimSpace(line), "="); is && strings.TrimSpace(name) == "worktree" {
			lines[i] = "\tworktree = " + way
		}
	}
	if err := proc.ReplaceFile(filepath.Join(dir, "config"), []byte(strings.Join(lines, "\n"))); err != nil {
		return err
	}
	return proc.WriteIn(in, file, []byte("gitdir: "+dir+"\n"), task.PrivateFile)
}

// repoint has the links that the slot was brought lead to where the person's files are now.
func (s Extras) repoint(from string) error {
	all, err := s.notedExtras()
	if err != nil || len(all) == 0 {
		return err
	}
	in, err := proc.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer in.Close()
	var now []extra
	for _, one := range all {
		below, err := filepath.Rel(from, one.Target)
		if one.Target == "" || err != nil || !filepath.IsLocal(below) {
			continue
		}
		moved := extra{Path: one.Path, Target: filepath.Join(s.Repo.Path, below)}
		if leads, err := in.Readlink(one.Path); err != nil || leads != one.Target {
			continue // the agent's own
		}
		if err := errors.Join(in.Remove(one.Path), in.Symlink(moved.Target, one.Path)); err != nil {
			return err
		}
		now = append(now, moved)
	}
	return s.noteExtras(now)
}
