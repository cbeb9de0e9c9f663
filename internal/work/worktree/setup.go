package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// setup is what git keeps for one worktree alone and obeys there. It stays when the task changes,
// so that a program which one task names in it would run in the hands of the next.
type setup struct {
	Patterns *string `json:"sparse_checkout,omitempty"` // which files are laid out; none where all are
	// settings for this worktree only; none where there is no such file
	Config *string `json:"config,omitempty"`
}

// note is what a slot was prepared with. It lies outside of the folder that git keeps for the worktree.
type note struct {
	setup
	// Shown are files that git called modified before anyone worked there, as it does where line ends, modes or
	// a missing filter are in the way, with a digest of what they were.
	Shown map[string]string `json:"shown,omitempty"`
}

const (
	sparseFile = "info/sparse-checkout"
	configFile = "config.worktree"
	notesDir   = ".prepared"
)

func (s Slot) noteFile() string {
	return filepath.Join(filepath.Dir(s.Dir), notesDir, filepath.Base(s.Dir)+".json")
}

// note reads what the slot was prepared with. A slot from before such notes gets the one that it would have if it
// were made now.
func (s Slot) note(ctx context.Context) (n note, written bool, err error) {
	text, err := proc.ReadFile(s.noteFile())
	if err == nil && json.Unmarshal(text, &n) == nil {
		return n, true, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return note{}, false, fmt.Errorf("read what the workspace was prepared with: %w", err)
	}
	n = note{}
	n.setup, err = Main{Repo: s.Repo}.setup(ctx)
	return n, false, err
}

// leavesOut reports of a file whether the slot was prepared without it.
func (n note) leavesOut() func(file string) bool {
	if n.Patterns == nil {
		return func(string) bool { return false }
	}
	laidOut := parsePatterns(strings.Split(*n.Patterns, "\n"))
	return func(file string) bool { return !matches(laidOut, file) }
}

func (s Slot) writeNote(n note) error {
	if err := proc.ReplaceJSON(s.noteFile(), n); err != nil {
		return fmt.Errorf("note what the workspace was prepared with: %w", err)
	}
	return nil
}

// setup is what git would give a worktree that is made now: that of the main checkout, but for where its files lie.
func (r Main) setup(ctx context.Context) (setup, error) {
	common, err := r.CommonDir(ctx)
	if err != nil {
		return setup{}, err
	}
	main, err := readSetup(common)
	if err != nil || main == (setup{}) {
		return main, err
	}
	if main.Patterns != nil {
		out, err := r.Run(ctx, "config", "--type=bool", "--get", "core.sparseCheckout")
		if err != nil && git.ExitCode(err) != 1 {
			return setup{}, fmt.Errorf("read core.sparseCheckout: %w", err)
		}
		if out.Text() != "true" {
			main.Patterns = nil
		}
	}
	if main.Config == nil {
		return main, nil
	}
	settings, err := r.settings(ctx, main.Config)
	if err != nil {
		return setup{}, err
	}
	if _, there := settings["core.worktree"]; !there && settings["core.bare"] != "true" {
		return main, nil
	}
	return main, r.withoutPlace(ctx, &main)
}

// withoutPlace takes out of a main checkout's configuration what git leaves out for other worktrees.
func (r Main) withoutPlace(ctx context.Context, main *setup) error {
	folder, err := os.MkdirTemp(proc.TempDir(ctx), "orange-config-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "config")
	if err := proc.WriteFile(file, []byte(*main.Config), 0o600); err != nil {
		return err
	}
	for _, key := range []string{"core.worktree", "core.bare"} {
		const noSuchKey = 5
		if _, err := r.Run(ctx, "config", "--file", file, "--unset-all", key); err != nil &&
			git.ExitCode(err) != noSuchKey {
			return fmt.Errorf("read the configuration of the main checkout: %w", err)
		}
	}
	text, err := proc.ReadFile(file)
	main.Config = new(string)
	*main.Config = string(text)
	return err
}

// readSetup reads the files in a folder that git keeps for a worktree.
func readSetup(gitDir string) (setup, error) {
	var have setup
	for name, to := range map[string]**string{sparseFile: &have.Patterns, configFile: &have.Config} {
		text, err := proc.ReadFile(filepath.Join(gitDir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, proc.ErrNoFile) {
			text, err = []byte("it is no file\n"), nil // which is no configuration and no file's name
		}
		if err != nil {
			return setup{}, fmt.Errorf("read the worktree's own configuration: %w", err)
		}
		*to = new(string)
		**to = string(text)
	}
	return have, nil
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// settings reads a configuration. Git would obey the last value of a name; here all of them count.
func (r Main) settings(ctx context.Context, text *string) (map[string]string, error) {
	all := map[string]string{}
	if text == nil || *text == "" {
		return all, nil
	}
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Args: []string{"config", "--file", "-", "--null", "--list"},
		Stdin: *text})
	if err != nil {
		return nil, fmt.Errorf("read the worktree's own configuration: %w", err)
	}
	for _, entry := range strings.Split(string(out.Stdout), "\x00") {
		if name, value, _ := strings.Cut(entry, "\n"); name != "" {
			if had, twice := all[name]; twice {
				value = had + "\n" + value
			}
			all[name] = value
		}
	}
	return all, nil
}

// changed names, for people, what of a slot's own setup git does not do as it was prepared. Files that differ and
// mean the same are no change: a sparse checkout that was taken back leaves some.
func (s Slot) changedSetup(ctx context.Context, gitDir string,
	prepared setup) (changes []string, differs bool, err error) {
	have, err := readSetup(gitDir)
	if err != nil || same(have.Patterns, prepared.Patterns) && same(have.Config, prepared.Config) {
		return nil, false, err
	}
	was, err := Main{Repo: s.Repo}.settings(ctx, prepared.Config)
	if err != nil {
		return nil, true, err
	}
	is, err := Main{Repo: s.Repo}.settings(ctx, have.Config)
	if err != nil { // git obeys nothing of what it cannot read, and does nothing there at all
		what := errors.New("its own configuration, which git cannot read")
		return []string{s.Repo.WithMisplaced(s.Dir, what).Error()}, true, nil
	}
	sparse, err := s.sparse(ctx, have, is)
	if err != nil {
		return nil, true, err
	}
	if !sparse {
		have.Patterns = nil
	}
	if !same(have.Patterns, prepared.Patterns) {
		changes = append(changes, "sparse-checkout")
	}
	for _, name := range []string{"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"} {
		delete(was, name)
		delete(is, name)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if old, there := was[name]; !there || old != is[name] {
			changes = append(changes, name)
		}
		delete(was, name)
	}
	return append(changes, slices.Sorted(maps.Keys(was))...), true, nil
}

// sparse reports whether git obeys the slot's patterns.
func (s Slot) sparse(ctx context.Context, have setup, own map[string]string) (bool, error) {
	if have.Patterns == nil {
		return false, nil
	}
	if value, there := own["core.sparsecheckout"]; there {
		last := value[strings.LastIndexByte(value, '\n')+1:]
		return !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(last)), nil
	}
	common, err := s.Repo.CommonDir(ctx)
	if err != nil {
		return false, err
	}
	out, err := s.Repo.Run(ctx, "config", "--file", filepath.Join(common, "config"), "--type=bool", "--get",
		"core.sparseCheckout")
	if err != nil && git.ExitCode(err) != 1 {
		return false, fmt.Errorf("read core.sparseCheckout: %w", err)
	}
	return out.Text() == "true", nil
}

// takeBack gives a slot the setup that it was prepared with, before anything else is done in it: git would obey
// the other one. It answers what had been changed.
func (s Slot) takeBack(ctx context.Context) ([]string, note, error) {
	if err := s.restoreGitdir(ctx); err != nil {
		return nil, note{}, err
	}
	here, own := s.ownPlace(ctx)
	if !own || s.isInterrupted(here) {
		return nil, note{}, nil
	}
	n, written, err := s.note(ctx)
	if err != nil {
		return nil, n, err
	}
	if !written {
		if err := s.writeNote(n); err != nil {
			return nil, n, err
		}
	}
	changes, differs, err := s.changedSetup(ctx, here.gitDir, n.setup)
	if err != nil || !differs {
		return nil, n, err
	}
	for name, text := range map[string]*string{sparseFile: n.Patterns, configFile: n.Config} {
		file := filepath.Join(here.gitDir, filepath.FromSlash(name))
		if text == nil {
			err = os.Remove(file)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = proc.ReplaceFile(file, []byte(*text))
		}
		if err != nil {
			return nil, n, fmt.Errorf("take back the worktree's own configuration: %w", err)
		}
	}
	return changes, n, nil
}

// restoreGitdir writes the file again by which git's folder of the slot leads to it, where that is gone: without it the
// slot would pass for no worktree of the repository, and keep the settings that an agent made.
func (s Slot) restoreGitdir(ctx context.Context) error {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return nil // there is no slot, or none that git made
	}
	common, err := s.Repo.CommonDir(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(gitDir, "gitdir")
	_, err = os.Lstat(file)
	if !errors.Is(err, fs.ErrNotExist) || !git.SamePath(filepath.Dir(gitDir), filepath.Join(common, "worktrees")) ||
		!git.HasFile(gitDir, "commondir") {
		return nil
	}
	if err := proc.ReplaceFile(file, []byte(filepath.Join(s.Dir, ".git")+"\n")); err != nil {
		return fmt.Errorf("have git know the worktree again: %w", err)
	}
	return nil
}

// ownPlace is the folder that git keeps for the slot, where the files say that it is a worktree of this repository.
func (s Slot) ownPlace(ctx context.Context) (place, bool) {
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		return place{}, false
	}
	common, err := s.Repo.CommonDir(ctx)
	if err != nil {
		return place{}, false
	}
	leads := func(file string) string {
		text, err := proc.ReadFile(filepath.Join(gitDir, file))
		path := strings.TrimSpace(string(text))
		if err != nil || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(gitDir, path)
	}
	if !git.SamePath(filepath.Dir(filepath.Dir(gitDir)), common) || !git.SamePath(leads("commondir"), common) ||
		!git.SamePath(leads("gitdir"), filepath.Join(s.Dir, ".git")) {
		return place{}, false
	}
	return place{gitDir: gitDir, exclude: filepath.Join(common, "info", "exclude")}, true
}
