package home

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
	"orange/internal/store/mirror"
	"orange/internal/work/git"
)

// Projects reads the registered projects, sorted by name.
func (h *Home) Projects() ([]task.Project, error) {
	path := h.projectsFile()
	text, err := proc.ReadSettings(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	var all []task.Project
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read %q: %w; correct the file, or move it away and add the projects again", path, err)
	}
	for i := range all {
		if all[i].PoolSize <= 0 {
			all[i].PoolSize = task.DefaultPoolSize
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

func (h *Home) projectsFile() string { return filepath.Join(h.Dir, "projects.json") }

// Project finds a project by name.
func (h *Home) Project(name string) (task.Project, error) {
	all, err := h.Projects()
	if err != nil {
		return task.Project{}, err
	}
	var names []string
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return task.Project{}, task.Notef(task.ErrNotFound, "there is no project %q%s; %q lists them", name,
		yaml.Guess(name, names), "orange project list")
}

// Timeouts are what a project says about how long statuses should take. One that is not registered says nothing.
func (h *Home) Timeouts(name string) (task.Timeouts, error) {
	p, err := h.Project(name)
	if errors.Is(err, task.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.ReadTimeouts()
}

// ChangeProjects rewrites the list of projects under its lock.
func (h *Home) ChangeProjects(ctx context.Context, change func([]task.Project) ([]task.Project, error)) error {
	release, err := mirror.Files{Home: h.Dir}.Lock(ctx, "projects")
	if err != nil {
		return err
	}
	defer release()
	all, err := h.Projects()
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	if all == nil {
		all = []task.Project{}
	}
	if err := proc.ReplaceJSON(h.projectsFile(), all); err != nil {
		return fmt.Errorf("write projects: %w", err)
	}
	return nil
}

// maxName is the number of bytes that a project's name may have: it is part of folder names.
const maxName = 100

// CheckName reports why a project cannot be called so; nil when it can. The name becomes part of folder names.
func CheckName(name string) error {
	if why := unfit(name); why != "" {
		return task.Notef(task.ErrUsage, "cannot call a project %q: %s; choose another name with --name", name, why)
	}
	return nil
}

// unfit reports why nothing with files of its own can be called so; empty when it can.
func unfit(name string) (why string) {
	switch {
	case strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name:
		why = "it is empty or begins or ends with a blank"
	case !utf8.ValidString(name):
		why = "it is not valid UTF-8"
	case len(name) > maxName:
		why = fmt.Sprintf("it is longer than %d bytes", maxName)
	case strings.HasPrefix(name, "-") || strings.HasPrefix(name, "."):
		why = "it begins with a dash or a dot"
	case strings.ContainsRune(name, '/') || strings.IndexFunc(name, unicode.IsControl) >= 0:
		why = "it holds a slash, a newline or another control character"
	}
	return why
}

// AddRepository registers the repository at a path. What wanted leaves out is taken from the repository.
func (h *Home) AddRepository(ctx context.Context, path string, wanted task.Project) (task.Project, error) {
	repo, err := git.Inspect(ctx, path)
	if err != nil {
		return task.Project{}, err
	}
	added := task.Project{
		Name: cmp.Or(wanted.Name, repo.Name()), Path: repo.Path, DefaultBranch: repo.DefaultBranch,
		PoolSize: cmp.Or(wanted.PoolSize, task.DefaultPoolSize), Workflow: wanted.Workflow,
		Worktree: wanted.Worktree, Merge: wanted.Merge, Strategy: wanted.Strategy, Push: wanted.Push,
		Checks: wanted.Checks, PRBots: wanted.PRBots, Forge: wanted.Forge,
		Generated: wanted.Generated, Protected: wanted.Protected, Strict: wanted.Strict,
		Promise: wanted.Promise,
	}
	if wanted.Merge == "" && wanted.Strategy == "" && wanted.Push == "" {
		remote, err := repo.HasRemote(ctx)
		if err != nil {
			return task.Project{}, err
		}
		if remote { // a repository without a commit has no habit yet
			subjects, _ := repo.Subjects(ctx, habitCommits)
			added.Merge, added.Strategy = habit(subjects)
		}
	}
	if base, err := repo.Base(ctx); err == nil {
		added.Commit = base.Commit
	}
	return added, h.AddProject(ctx, added)
}

// habitCommits is how many of the last commits of the default branch tell how it is merged into.
const habitCommits = 50

// habit guesses from the subjects of commits, each of which the default branch was moved by, how a repository merges:
// GitHub's words for a merged or a squashed pull request are in more than half of them.
func habit(subjects []string) (merge, strategy string) {
	merged, squashed := 0, 0
	for _, subject := range subjects {
		if strings.HasPrefix(subject, "Merge pull request #") {
			merged++
		} else if before, number, found := strings.Cut(strings.TrimSuffix(subject, ")"), " (#"); found && before != "" {
			if _, err := strconv.Atoi(number); err == nil && strings.HasSuffix(subject, ")") {
				squashed++
			}
		}
	}
	switch {
	case 2*squashed > len(subjects):
		return "pr", "squash"
	case 2*(merged+squashed) > len(subjects):
		return "pr", ""
	}
	return "", ""
}

// AddProject registers a project. The same repository under the same name again is no error; another one of the name,
// or the same one under another name, is.
func (h *Home) AddProject(ctx context.Context, p task.Project) error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	return h.ChangeProjects(ctx, func(all []task.Project) ([]task.Project, error) {
		for _, have := range all {
			switch {
			case have.Name == p.Name && have.Path == p.Path:
				return all, nil
			case strings.EqualFold(have.Name, p.Name) && isGone(have.Path):
				return nil, task.Notef(task.ErrUsage, "cannot add %q as %q: that name belongs to %q, which is gone; "+
					"if it was moved: orange project update %s --path %q; else choose another name with --name", p.Path,
					p.Name, have.Path, have.Name, p.Path)
			case strings.EqualFold(have.Name, p.Name):
				return nil, task.Notef(task.ErrUsage,
					"cannot add %q as %q: that name belongs to %q; choose another with --name", p.Path, p.Name,
					have.Path)
			case have.Path == p.Path:
				return nil, task.Notef(task.ErrUsage, "cannot add %q as %q: it is registered as %q already",
					p.Path, p.Name, have.Name)
			}
		}
		return append(all, p), nil
	})
}

func isGone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

// UpdateProject replaces what is registered under the project's name.
func (h *Home) UpdateProject(ctx context.Context, p task.Project) error {
	return h.ChangeProjects(ctx, func(all []task.Project) ([]task.Project, error) {
		at, err := indexOf(all, p.Name)
		if err == nil {
			all[at] = p
		}
		return all, err
	})
}

// RemoveProject forgets a project. The repository stays as it is.
func (h *Home) RemoveProject(ctx context.Context, name string) error {
	return h.ChangeProjects(ctx, func(all []task.Project) ([]task.Project, error) {
		at, err := indexOf(all, name)
		if err != nil {
			return nil, err
		}
		return slices.Delete(all, at, at+1), nil
	})
}

func indexOf(all []task.Project, name string) (int, error) {
	at := slices.IndexFunc(all, func(p task.Project) bool { return p.Name == name })
	if at < 0 {
		return at, task.Notef(task.ErrNotFound, "there is no project %q", name)
	}
	return at, nil
}
