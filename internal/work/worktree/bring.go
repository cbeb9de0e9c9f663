package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Wanted says which files of the main checkout that git does not track a worktree gets, in patterns as a .gitignore
// has them: git itself reads them. Besides these it gets copies of the ignored files that IncludeFile names.
type Wanted struct {
	Copy []string
	Link []string // links lead to the person's own files and folders
}

// extra is an untracked file of the main checkout that a slot has too.
type extra struct {
	Path   string `json:"path"`             // relative to both, with slashes
	Target string `json:"target,omitempty"` // of a link; empty for a copy
}

// Bring copies and links into the slot what it is to have of the main checkout, and answers what it had to leave out,
// each with the reason. Nothing that lies in the slot or that git tracks there is replaced, and nothing is read from
// outside of the repository or written outside of the slot. What is brought is excluded from git.
func (s Extras) Bring(ctx context.Context, w Wanted) (left []string, err error) {
	return s.bring(ctx, w, s.noteExtras)
}

// BringOnce is Bring for a checkout that is thrown away with all that lies in it.
func (s Extras) BringOnce(ctx context.Context, w Wanted) (left []string, err error) {
	return s.bring(ctx, w, func([]extra) error { return nil })
}

func (s Extras) bring(ctx context.Context, w Wanted, note func([]extra) error) (left []string, err error) {
	defer git.Explain(&err, "cannot bring files into workspace %q", s.Dir)
	source, err := s.Repo.Files(ctx)
	if err != nil || source == "" {
		return w.unmet(), err
	}
	all, err := Main{Repo: s.Repo}.extras(ctx, source, w)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = errors.New("it is not there; prepare it first")
	}
	if err != nil {
		return nil, err
	}
	from, err := proc.OpenRoot(source)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := proc.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	if all, left, err = s.placeable(ctx, all, from, to); err != nil {
		return left, err
	}
	all, visible, err := s.exclude(ctx, here, all)
	if err != nil {
		return left, err
	}
	// It is noted before it is there: what is not noted is never taken away.
	if err := note(all); err != nil {
		return left, err
	}
	for _, g := range all {
		if err := g.place(from, to); err != nil {
			return left, fmt.Errorf("%q: %w", g.Path, err)
		}
	}
	return append(left, visible...), nil
}

// unmet says of each pattern that there is no checkout to take files from.
func (w Wanted) unmet() (left []string) {
	for _, pattern := range slices.Concat(w.Copy, w.Link) {
		left = append(left, fmt.Sprintf("%q: the repository is bare, and no worktree of it has the default branch, "+
			"from which files are taken", pattern))
	}
	return left
}

// extras are what the patterns name in the checkout that files are taken from, each once: what is linked is not copied.
func (r Main) extras(ctx context.Context, source string, w Wanted) ([]extra, error) {
	var all []extra
	seen := map[string]bool{}
	links, err := r.listUntracked(ctx, source, w.Link, "--directory")
	if err != nil {
		return nil, err
	}
	patterns := parsePatterns(w.Link)
	for _, name := range links {
		plain, folder := strings.CutSuffix(name, "/")
		// git lists a folder too of which only all files are named
		if matchesPath(patterns, plain, folder) && !(Slot{Dir: source}).isRepository(name) {
			all = append(all, extra{Path: plain, Target: filepath.Join(source, filepath.FromSlash(plain))})
			seen[plain] = true
		}
	}
	copies, err := r.listUntracked(ctx, source, w.Copy)
	if err != nil {
		return nil, err
	}
	included, err := r.includedFiles(ctx, source)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(copies, included) {
		// what ends in a slash is a repository of its own
		if !strings.HasSuffix(name, "/") && !anyAbove(name, seen) {
			all = append(all, extra{Path: name})
			seen[name] = true
		}
	}
	return all, nil
}

// anyAbove reports whether a path, or a folder that it lies in, is one of these.
func anyAbove(name string, these map[string]bool) bool {
	for ; name != "."; name = path.Dir(name) {
		if these[name] {
			return true
		}
	}
	return false
}

// Untracked lists the files of the main checkout that git does not track and that the patterns, as in a .gitignore,
// name. A repository inside of it ends in a slash.
func (r Main) Untracked(ctx context.Context, patterns []string) ([]string, error) {
	source, err := r.Files(ctx)
	if err != nil || source == "" {
		return nil, err
	}
	all, err := r.listUntracked(ctx, source, patterns)
	if err != nil {
		return nil, fmt.Errorf("list the untracked files of %q: %w", r.Path, err)
	}
	return all, nil
}

func (r Main) listUntracked(ctx context.Context, source string, patterns []string, options ...string) ([]string,
	error) {
	args := append([]string{"ls-files", "-z", "--others", "--ignored"}, options...)
	for _, one := range patterns {
		args = append(args, "--exclude="+one)
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	return r.Names(ctx, git.Call{Dir: source, Args: args})
}

// includedFiles lists the ignored files that IncludeFile names. It is read in the main checkout, which is a person's:
// on a task's branch an agent could write it.
func (r Main) includedFiles(ctx context.Context, source string) ([]string, error) {
	file := filepath.Join(source, git.IncludeFile)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	named, err := r.Names(ctx, git.Call{Dir: source, Args: []string{"ls-files", "-z", "--others", "--ignored",
		"--exclude-from=" + file}})
	if err != nil {
		return nil, err
	}
	return r.ignoredPaths(ctx, source, named)
}

// ignoredPaths are those of the paths that git ignores in a folder. A path below a link is an error.
func (r Main) ignoredPaths(ctx context.Context, dir string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	all, err := r.Names(ctx, git.Call{Dir: dir, Args: []string{"check-ignore", "-z", "--stdin"},
		Stdin: strings.Join(paths, "\x00") + "\x00"})
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	return all, err
}

// placeable are those of the extras for which there is a place in the slot, and of which nothing leads out of the
// repository.
func (s Extras) placeable(ctx context.Context, all []extra, from, to *os.Root) (some []extra, left []string,
	err error) {
	tracked, err := s.trackedFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range all {
		why := g.unfit(from, to)
		switch _, err := to.Lstat(g.Path); {
		case anyAbove(g.Path, tracked.files) || tracked.folders[g.Path]:
			// git has it there
		case why != "":
			left = append(left, fmt.Sprintf("%q: %s", g.Path, why))
		case errors.Is(err, fs.ErrNotExist):
			some = append(some, g)
		case err != nil:
			return nil, left, err
		}
	}
	return some, left, nil
}

// unfit says why an extra must not be brought.
func (g extra) unfit(from, to *os.Root) string {
	if strings.ContainsAny(g.Path, "\n\r") {
		return "there is a newline in its name, which no pattern of git can have"
	}
	for dir := path.Dir(g.Path); dir != "."; dir = path.Dir(dir) {
		if info, err := to.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Sprintf("%q is no folder in the workspace", dir)
		}
	}
	info, err := from.Lstat(g.Path)
	if err != nil {
		return err.Error()
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := from.Readlink(g.Path)
		if err == nil && filepath.IsAbs(target) {
			return "it is a link with an absolute path"
		}
		if err == nil {
			_, err = from.Stat(g.Path) // which leads nowhere out of the repository
		}
		if err != nil {
			return "it is a link that leads out of the repository, or nowhere"
		}
		return ""
	}
	if !info.Mode().IsRegular() && (g.Target == "" || !info.IsDir()) {
		return "it is no file"
	}
	return ""
}

// inIndex are the files that git tracks, and their folders.
type inIndex struct{ files, folders map[string]bool }

func (s Extras) trackedFiles(ctx context.Context) (inIndex, error) {
	names, err := s.Repo.Names(ctx, git.Call{Dir: s.Dir, Args: []string{"ls-files", "-z", "--cached"}})
	all := inIndex{files: make(map[string]bool, len(names)), folders: map[string]bool{}}
	for _, name := range names {
		all.files[name] = true
		for dir := path.Dir(name); dir != "." && !all.folders[dir]; dir = path.Dir(dir) {
			all.folders[dir] = true
		}
	}
	return all, err
}

// exclude has git ignore the extras in the slot. What git shows in spite of that, because a .gitignore of the branch
// says so, would be taken for work: it is not brought.
func (s Extras) exclude(ctx context.Context, here place, all []extra) (some []extra, left []string, err error) {
	var paths []string
	for _, g := range all {
		paths = append(paths, g.Path)
	}
	have, err := Main{Repo: s.Repo}.ignoredPaths(ctx, s.Dir, paths)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, name := range have {
		known[name] = true
	}
	var lines, rest []string
	for _, g := range all {
		// a pattern for folders, such as "node_modules/", is not about a link
		if !known[g.Path] || g.Target != "" {
			lines, rest = append(lines, "/"+literal(g.Path)), append(rest, g.Path)
			delete(known, g.Path)
		}
	}
	if err := here.addExcludes(ctx, lines...); err != nil {
		return nil, nil, err
	}
	if have, err = (Main{Repo: s.Repo}).ignoredPaths(ctx, s.Dir, rest); err != nil {
		return nil, nil, err
	}
	for _, name := range have {
		known[name] = true
	}
	for _, g := range all {
		if known[g.Path] {
			some = append(some, g)
		} else {
			left = append(left, fmt.Sprintf("%q: the .gitignore of the branch has git show it", g.Path))
		}
	}
	return some, left, nil
}

// literal is a pattern that names one path.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `, "\t", "\\\t").Replace(name)
}

// place puts an extra where nothing is. No link is followed out of either folder.
func (g extra) place(from, to *os.Root) error {
	if err := to.MkdirAll(path.Dir(g.Path), task.PrivateFolder); err != nil {
		return err
	}
	target := g.Target
	info, err := from.Lstat(g.Path)
	if err == nil && target == "" && info.Mode()&fs.ModeSymlink != 0 {
		target, err = from.Readlink(g.Path)
	}
	if err == nil && target != "" {
		err = to.Symlink(target, g.Path)
	} else if err == nil {
		err = copyInto(g.Path, from, to)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// copyInto copies a file with its mode and its time.
func copyInto(name string, from, to *os.Root) error {
	source, err := proc.OpenIn(from, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := proc.OpenIn(to, name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return errors.Join(err, to.Remove(name)) // half of it is of no use
	}
	return to.Chtimes(name, info.ModTime(), info.ModTime())
}

func (s Extras) extrasFile() string { return s.Companion(".brought.json") }

// noteExtras adds to what the slot is known to have been brought.
func (s Extras) noteExtras(more []extra) error {
	all, err := s.notedExtras()
	if err != nil {
		return err
	}
	for _, g := range more {
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return proc.ReplaceJSON(s.extrasFile(), all)
}

func (s Extras) notedExtras() ([]extra, error) {
	var all []extra
	err := proc.ReadJSON(s.extrasFile(), &all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was brought into the workspace: %w; remove %q, and what was brought "+
			"stays where it is", err, s.extrasFile())
	}
	return all, nil
}

// takeAway removes what was brought into the slot, whatever an agent has written into it: no task is to see what
// another one made of it. What an agent has put under git is git's, and a folder in place of a link stays.
func (s Extras) takeAway(ctx context.Context) error {
	all, err := s.notedExtras()
	if err != nil || len(all) == 0 {
		return err
	}
	tracked, err := s.trackedFiles(ctx)
	if err != nil {
		return fmt.Errorf("take away what was brought into the workspace: %w", err)
	}
	in, err := proc.OpenRoot(s.Dir)
	if err != nil {
		return fmt.Errorf("take away what was brought into the workspace: %w", err)
	}
	defer in.Close()
	for _, g := range all {
		if anyAbove(g.Path, tracked.files) || tracked.folders[g.Path] {
			continue
		}
		if err := g.remove(in); err != nil {
			return fmt.Errorf("take away %q, which was brought into the workspace: %w", g.Path, err)
		}
	}
	return s.forgetExtras()
}

func (s Extras) forgetExtras() error {
	if err := os.Remove(s.extrasFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what was brought into the workspace: %w", err)
	}
	return nil
}

// remove takes an extra away, and the folders that are empty without it.
func (g extra) remove(in *os.Root) error {
	for dir := path.Dir(g.Path); dir != "."; dir = path.Dir(dir) {
		if info, err := in.Lstat(dir); err != nil || !info.IsDir() {
			return nil // it lies elsewhere by now
		}
	}
	info, err := in.Lstat(g.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = in.Remove(g.Path)
	}
	for dir := path.Dir(g.Path); err == nil && dir != "."; dir = path.Dir(dir) {
		if in.Remove(dir) != nil {
			break // it is not empty
		}
	}
	return err
}
