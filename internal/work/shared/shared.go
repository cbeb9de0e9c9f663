// Package shared is what all worktrees of a repository share, and an agent in one can change for the others: settings,
// hooks and lists that lead git elsewhere, and the branches, tags and stashes of others.
//
// It notes them, tells what has changed since, and puts it back. It does not own whose change counts (pool).
package shared

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"orange/internal/rules/gitconfig"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Common is what the worktrees of a repository share.
type Common struct{ git.Repo }

const (
	hooksDir    = "hooks"
	replacedDir = "refs/replace"
	packedName  = "packed-refs"
	configName  = "config"
	hooksPath   = "core.hookspath" // as git writes it
	outside     = "/"              // where git finds no repository, whatever is wrong with this one
	// mostShared is how long a hook or a file of rules may be so that it can be put back.
	mostShared = 1 << 20
)

// SharedIgnores is the file of git's folder by which all worktrees share what git ignores.
const SharedIgnores = "info/exclude"

// sharedFiles are the files of git's folder, besides hooks and replaced objects, that lead git elsewhere.
func sharedFiles() []string {
	return []string{"config.worktree", "info/attributes", SharedIgnores, "info/grafts", "objects/info/alternates"}
}

// Look is what the repository's worktrees share and leads git elsewhere, with a stamp of its files. Where the stamp
// is still that of an earlier look, that one is the answer, and nothing is read.
func (r Common) Look(ctx context.Context, stamp string, known gitconfig.Settings) (now string, _ gitconfig.Settings,
	err error) {
	defer git.Explain(&err, "cannot look at what the worktrees of %q share", r.Path)
	common, err := r.CommonDir(ctx)
	if err != nil {
		return "", gitconfig.Settings{}, err
	}
	var files []string
	if now, files, err = stampShared(common); err != nil || now == stamp {
		return now, known, err
	}
	state := gitconfig.Settings{Values: map[string][]string{}, Files: map[string]gitconfig.File{}}
	ofConfig, _, _ := strings.Cut(now, " ")
	before, _, _ := strings.Cut(stamp, " ")
	for _, name := range files {
		file, there, err := readShared(common, name)
		if err != nil {
			return "", state, err
		}
		if there {
			state.Files[name] = file
		}
	}
	if file, there, err := readShared(common, configName); err == nil && there && file.Link != "" {
		state.Files[configName] = gitconfig.File{Link: file.Link} // what is in it, its values say
	}
	if err := packedReplaced(common, state.Files); err != nil {
		return "", state, err
	}
	if ofConfig == before {
		state.Values = known.Values
	} else {
		err = r.sharedSettings(ctx, common, state.Values)
	}
	return now, state, err
}

// stampShared are digests of how the configuration and the other files lie that count, by times that no program sets,
// and the paths of those that are read as they are.
func stampShared(common string) (stamp string, files []string, err error) {
	files = sharedFiles()
	for _, folder := range []string{hooksDir, replacedDir, "remotes", "branches"} {
		below, err := linkedBelow(common, folder)
		if err != nil {
			return "", nil, err
		}
		files = append(files, below...)
	}
	config, err := stampOfFiles(common, []string{configName})
	if err != nil {
		return "", nil, err
	}
	others, err := stampOfFiles(common, append([]string{packedName}, files...))
	return config + " " + others, files, err
}

// linkedBelow are the files in a folder of git's and in those below it, links among them.
func linkedBelow(common, folder string) (files []string, err error) {
	top, err := filepath.EvalSymlinks(filepath.Join(common, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".sample") || strings.HasSuffix(path, ".lock") {
			return err
		}
		name, err := filepath.Rel(top, path)
		files = append(files, folder+"/"+filepath.ToSlash(name))
		return err
	})
	return files, err
}

// stampOfFiles is a digest of how files lie: of links also how what they lead to does.
func stampOfFiles(common string, names []string) (string, error) {
	sum := sha256.New()
	for _, name := range names {
		var at unix.Stat_t
		err := unix.Lstat(filepath.Join(common, filepath.FromSlash(name)), &at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return "", fmt.Errorf("look at %q: %w", name, err)
		}
		fmt.Fprintf(sum, "%q %v %d %d %d %d", name, err == nil, at.Mode, at.Ino, at.Size, at.Ctim.Nano())
		if err == nil && at.Mode&unix.S_IFMT == unix.S_IFLNK {
			var there unix.Stat_t
			err := unix.Stat(filepath.Join(common, filepath.FromSlash(name)), &there)
			fmt.Fprintf(sum, " %v %d %d %d", err == nil, there.Ino, there.Size, there.Ctim.Nano())
		}
		fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// readShared reads one of the files; there is false where it is not there.
func readShared(common, name string) (file gitconfig.File, there bool, err error) {
	path := filepath.Join(common, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return file, false, nil
	case err != nil:
		return file, false, err
	}
	file.Mode = uint32(info.Mode().Perm())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		file.Mode = 0
		if file.Link, err = os.Readlink(path); err != nil {
			return file, true, err
		}
		if text, err := proc.ReadFile(path); err == nil { // else it leads nowhere
			file.Digest = digestOf(text)
		}
		return file, true, nil
	case !info.Mode().IsRegular():
		return gitconfig.File{Digest: info.Mode().Type().String()}, true, nil // a folder of refs, or no file of git's
	}
	text, err := proc.ReadFile(path)
	if err != nil {
		return file, false, err
	}
	if strings.HasPrefix(name, replacedDir) {
		return gitconfig.File{Text: []byte(strings.TrimSpace(string(text)))}, true, nil
	}
	if len(text) > mostShared {
		file.Digest = digestOf(text)
		return file, true, nil
	}
	file.Text = text
	return file, true, nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// packedReplaced adds replaced objects whose refs were packed.
func packedReplaced(common string, found map[string]gitconfig.File) error {
	packed, err := proc.OpenFile(filepath.Join(common, packedName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer packed.Close()
	lines := bufio.NewScanner(packed)
	for lines.Scan() {
		object, name, _ := strings.Cut(lines.Text(), " ")
		if _, loose := found[name]; strings.HasPrefix(name, replacedDir+"/") && !loose {
			found[name] = gitconfig.File{Text: []byte(object)}
		}
	}
	return lines.Err()
}

// sharedSettings adds the settings of the repository's own configuration that count.
func (r Common) sharedSettings(ctx context.Context, common string, found map[string][]string) error {
	file := filepath.Join(common, configName)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := r.Do(ctx, git.Call{Dir: outside, Args: []string{"config", "--file", file, "--no-includes",
		"--null", "--list"}})
	if err != nil {
		return fmt.Errorf("read the configuration %q: %w", file, err)
	}
	countSettings(string(out.Stdout), found)
	return nil
}

// countSettings adds the settings of a list of git's that count.
func countSettings(list string, found map[string][]string) {
	for _, entry := range strings.Split(list, "\x00") {
		addSetting(entry, found)
	}
}

// addSetting adds one setting if it counts. One without a value is true.
func addSetting(entry string, found map[string][]string) {
	key, value, has := strings.Cut(entry, "\n")
	if !has {
		value = "true"
	}
	if key != "" && gitconfig.Counts(key) {
		found[key] = append(found[key], value)
	}
}

// PutBack makes settings and files that the worktrees share what they were.
func (r Common) PutBack(ctx context.Context, changes []gitconfig.Change, was gitconfig.Settings) (err error) {
	defer git.Explain(&err, "cannot put back what the worktrees of %q share", r.Path)
	common, err := r.CommonDir(ctx)
	if err != nil {
		return err
	}
	var all error
	for _, c := range changes {
		file, there := was.Files[c.Key]
		path := filepath.Join(common, filepath.FromSlash(c.Key))
		var err error
		switch {
		case !c.OfFile:
			err = r.putBackSetting(ctx, common, c)
		case strings.HasPrefix(c.Key, replacedDir+"/"):
			line := fmt.Sprintf("delete %s\n", c.Key)
			if there {
				line = fmt.Sprintf("update %s %s\n", c.Key, file.Text)
			}
			err = r.UpdateRefs(ctx, line)
		case c.Key == configName:
			err = errors.New("it is a link, or was one: put the file there yourself")
		case c.Key == SharedIgnores && there && file.Link == "":
			err = putBackExclude(ctx, path, file)
		default:
			err = putBackFile(path, file, there)
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", c.Key, err))
		}
	}
	return all
}

// putBackExclude writes what git ignores in place: who waits for its lock has this very file open.
func putBackExclude(ctx context.Context, path string, was gitconfig.File) error {
	file, err := proc.OpenFile(path, os.O_WRONLY|os.O_CREATE, fs.FileMode(was.Mode))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := git.LockExclude(ctx, file); err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.Write(was.Text)
	return err
}

// putBackSetting makes a setting of the repository's own configuration what it was. No git looks at the repository for
// that: a setting can be why none can.
func (r Common) putBackSetting(ctx context.Context, common string, c gitconfig.Change) error {
	file := filepath.Join(common, configName)
	config := func(args ...string) error {
		_, err := r.Do(ctx, git.Call{Dir: outside, Args: append([]string{"config", "--file", file}, args...)})
		return err
	}
	const absent = 5 // git's status where there is no such key
	if err := config("--unset-all", c.Key); err != nil && git.ExitCode(err) != absent {
		return err
	}
	for _, value := range c.Was {
		if err := config("--add", c.Key, value); err != nil {
			return err
		}
	}
	return nil
}

// putBackFile makes a file of git's folder what it was.
func putBackFile(path string, was gitconfig.File, there bool) error {
	if there && was.Digest != "" && was.Link == "" {
		return errors.New("it was too large to be kept: put it back yourself, then accept what is there")
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return errors.New("a folder is in its place: move that away")
	} else if err == nil {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if !there {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	if was.Link != "" {
		return os.Symlink(was.Link, path)
	}
	if err := proc.ReplaceFile(path, was.Text); err != nil {
		return err
	}
	return os.Chmod(path, fs.FileMode(was.Mode))
}

// AsNoted is the repository as Orange works in it though some of what its worktrees share changed: git gets what was
// noted, and runs the hooks of a folder that is made for them. The changes that this cannot undo are the answer.
func (r Common) AsNoted(ctx context.Context, changes []gitconfig.Change, was gitconfig.Settings, hooks string) (
	_ git.Repo, refused []gitconfig.Change, err error) {
	defer git.Explain(&err, "cannot work in %q as it was noted", r.Path)
	common, err := r.CommonDir(ctx)
	if err != nil {
		return r.Repo, nil, err
	}
	elsewhere, err := r.elsewhere(ctx, common)
	if err != nil {
		return r.Repo, nil, err
	}
	over := gitconfig.Overrule(changes, elsewhere)
	r.Overrules = over.Config
	usual := filepath.Join(common, hooksDir)
	led := append(elsewhere.Values[hooksPath], was.Values[hooksPath]...)
	if !over.Hooks || len(led) > 0 && !git.SamePath(r.absolute(ctx, led[len(led)-1]), usual) {
		return r.Repo, over.Refused, nil // git runs no hook of that folder
	}
	for _, c := range changes {
		if strings.HasPrefix(c.Key, hooksDir+"/") && was.Files[c.Key].Link != "" {
			over.Refused = append(over.Refused, c) // what the link leads to is another
		}
	}
	copied, err := copyHooks(usual, was, hooks)
	r.Overrules = append(r.Overrules, hooksPath+"="+copied) // the last one counts
	return r.Repo, over.Refused, err
}

// absolute is a path as git reads it in the main checkout.
func (r Common) absolute(ctx context.Context, path string) string {
	if below, home := strings.CutPrefix(path, "~/"); home {
		return filepath.Join(proc.UserHome(ctx), below)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Path, path)
}

// copyHooks makes a folder with the hooks that were noted, and answers it: one for each state of them, so that no run
// of git loses the hooks that it is about to start. What could not be kept is a link to what is there.
func copyHooks(from string, was gitconfig.Settings, below string) (string, error) {
	noted, err := json.Marshal(was.Files)
	if err != nil {
		return "", err
	}
	whole := filepath.Join(below, digestOf(noted)[:16])
	if _, err := os.Lstat(whole); err == nil {
		return whole, nil
	}
	if err := os.MkdirAll(below, task.PrivateFolder); err != nil {
		return "", err
	}
	begun, err := os.MkdirTemp(below, "begun-")
	if err != nil {
		return "", err
	}
	for name, file := range was.Files {
		base, is := strings.CutPrefix(name, hooksDir+"/")
		if !is {
			continue
		}
		place := filepath.Join(from, filepath.FromSlash(base))
		switch {
		case file.Link != "" && !filepath.IsAbs(file.Link):
			file.Link = filepath.Join(filepath.Dir(place), file.Link)
		case file.Link == "" && file.Digest != "":
			file.Link = place
		}
		if err := putBackFile(filepath.Join(begun, filepath.FromSlash(base)), file, true); err != nil {
			return "", errors.Join(fmt.Errorf("%s: %w", name, err), git.RemoveAll(begun))
		}
	}
	err = os.Rename(begun, whole)
	if _, there := os.Lstat(whole); err != nil && there == nil { // another process was first
		err = git.RemoveAll(begun)
	}
	return whole, err
}

// elsewhere is how git is configured outside of the repository, as it counts in it.
func (r Common) elsewhere(ctx context.Context, common string) (gitconfig.Elsewhere, error) {
	found := gitconfig.Elsewhere{Values: map[string][]string{}, SSH: proc.Getenv(ctx, "GIT_SSH"), Folder: common}
	args := []string{"config", "--show-scope", "--includes", "--null", "--list"}
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: args})
	if err != nil && git.ExitCode(err) > 0 { // what changed may be why git finds no repository
		out, err = r.Do(ctx, git.Call{Dir: outside, Args: args})
	}
	if err != nil {
		return found, fmt.Errorf("read how git is configured: %w", err)
	}
	words := strings.Split(string(out.Stdout), "\x00")
	for ; len(words) > 1; words = words[2:] {
		if words[0] == "system" || words[0] == "global" {
			addSetting(words[1], found.Values)
		}
	}
	home := proc.Getenv(ctx, "XDG_CONFIG_HOME")
	if home == "" {
		home = filepath.Join(proc.UserHome(ctx), ".config")
	}
	found.Home = filepath.Join(home, "git")
	return found, nil
}
