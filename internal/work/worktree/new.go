package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// ignoreFile is where git reads which files of a folder it ignores.
const ignoreFile = ".gitignore"

// newFiles lists what git does not know and does not ignore, sorted. Ignored is what the .gitignore files say that git
// knows, and what the person and Orange exclude: a .gitignore that is itself new hides nothing, or an agent would have
// its tests pass by files that no one gets. A repository inside of the slot is named with a slash at its end.
func (s Contents) newFiles(ctx context.Context, known indexList) ([]string, error) {
	rules, err := s.ignoreRules(ctx, known)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(proc.TempDir(ctx), "orange-ignore-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // what stays is the system's to clear
	_, err = file.Write(rules)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("write what git ignores: %w", err)
	}
	names, err := s.Repo.Names(ctx, git.Call{Dir: s.Dir, Env: []string{git.Reading},
		Args: []string{"ls-files", "-z", "--others", "--exclude-from=" + file.Name()}})
	if err != nil {
		return nil, fmt.Errorf("list the new files of %q: %w", s.Dir, err)
	}
	for _, path := range known.submodules { // of what lies in one without a repository git shows nothing
		dir := filepath.Join(s.Dir, filepath.FromSlash(path))
		files, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("look for new files in the place of the submodule %q: %w", path, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, os.ErrNotExist) && len(files) > 0 {
			names = append(names, path+"/")
		}
	}
	generated := parsePatterns(s.Generated)
	return slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool {
		return matchesPath(generated, strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/"))
	}), nil
}

// ignoreRules are what git ignores in the slot, as one file: of two rules about a file, the later one counts.
func (s Contents) ignoreRules(ctx context.Context, known indexList) ([]byte, error) {
	var all bytes.Buffer
	own, err := s.personsIgnore(ctx)
	if err != nil {
		return nil, err
	}
	here, found := s.ownPlace(ctx)
	if !found {
		return nil, errors.New("it is no worktree of the repository")
	}
	for _, name := range []string{own, here.exclude} {
		text, err := readRules(name)
		if err != nil {
			return nil, err
		}
		all.Write(text)
	}
	var files []string
	for _, e := range known.entries {
		if path.Base(e.file) == ignoreFile {
			files = append(files, e.file)
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, name := range slices.Compact(files) {
		text, err := s.rulesOf(ctx, name, known)
		if err != nil {
			return nil, err
		}
		all.Write(rulesBelow(path.Dir(name), text))
	}
	return all.Bytes(), nil
}

// rulesOf are the rules of a .gitignore that git knows. One that is not laid out git reads from the index.
func (s Contents) rulesOf(ctx context.Context, name string, known indexList) ([]byte, error) {
	if s.isFile(name) {
		return readRules(filepath.Join(s.Dir, filepath.FromSlash(name)))
	}
	if s.exists(name) {
		return nil, nil // something else lies in its place: the status says that
	}
	out, err := s.readGit(ctx, "cat-file", "blob", known.objects()[name])
	if err != nil {
		return nil, fmt.Errorf("read %q from the index: %w", name, err)
	}
	return append(out.Stdout, '\n'), nil
}

// readRules reads a file of rules; one that is not there, or that is no file, has none. It ends with a line end.
func readRules(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	text, err := proc.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, proc.ErrNoFile) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what git ignores: %w", err)
	}
	return append(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), '\n'), nil
}

// rulesBelow are rules of a folder as the top has to write them.
func rulesBelow(dir string, text []byte) []byte {
	switch {
	case dir == ".":
		return text
	case strings.Contains(dir, "\n"): // no line of a file can name it
		return nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		rule := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		if strings.TrimSpace(rule) == "" || strings.HasPrefix(rule, "#") {
			continue
		}
		rule, negative := strings.CutPrefix(rule, "!")
		if strings.Trim(rule, "/ ") == "" {
			continue // it names nothing
		}
		if negative {
			out.WriteString("!")
		}
		out.WriteString("/" + literal(dir) + "/")
		if !strings.Contains(strings.TrimSuffix(strings.TrimRight(rule, " "), "/"), "/") {
			out.WriteString("**/")
		}
		out.WriteString(strings.TrimPrefix(rule, "/") + "\n")
	}
	return out.Bytes()
}

// personsIgnore is the file with what a person has git ignore in all repositories. One that the repository's own
// configuration names, which all its worktrees share and an agent can write, is none.
func (s Contents) personsIgnore(ctx context.Context) (string, error) {
	out, err := s.readGit(ctx, "config", "--show-scope", "-z", "--path", "--get-all", "core.excludesFile")
	if err != nil && git.ExitCode(err) != 1 { // git's status where there is no such key
		return "", fmt.Errorf("ask which file has what git ignores: %w", err)
	}
	named, found := "", false
	words := strings.Split(string(out.Stdout), "\x00")
	for ; len(words) > 1; words = words[2:] { // the last one counts
		if words[0] == "global" || words[0] == "system" {
			named, found = words[1], true
		}
	}
	switch {
	case found && (named == "" || filepath.IsAbs(named)): // empty: none
		return named, nil
	case found:
		return filepath.Join(s.Dir, named), nil
	}
	home := proc.UserHome(ctx)
	config := proc.Getenv(ctx, "XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if config == "" {
		return "", nil
	}
	return filepath.Join(config, "git", "ignore"), nil
}
