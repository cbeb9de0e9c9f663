package home

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// recipe is how worktrees are made ready where a file is at the top of a repository.
type recipe struct {
	kind     string // of a kind only the first one counts
	file     string
	commands [][]string
	when     []string // next to the file itself
}

func recipes() []recipe {
	words := strings.Fields
	return []recipe{
		{"node", "pnpm-lock.yaml", [][]string{words("pnpm install --frozen-lockfile")}, nil},
		{"node", "yarn.lock", [][]string{words("yarn install --frozen-lockfile")}, nil},
		{"node", "bun.lock", [][]string{words("bun install --frozen-lockfile")}, nil},
		{"node", "bun.lockb", [][]string{words("bun install --frozen-lockfile")}, nil},
		{"node", "package-lock.json", [][]string{words("npm ci")}, nil},
		{"go", "go.mod", [][]string{words("go mod download")}, []string{"/go.sum"}},
		{"python", "uv.lock", [][]string{words("uv sync --frozen")}, nil},
		{"python", "poetry.lock", [][]string{words("poetry install")}, nil},
		{"python", "requirements.txt", [][]string{words("python3 -m venv .venv"),
			words(".venv/bin/pip install -r requirements.txt")}, nil},
		{"rust", "Cargo.lock", [][]string{words("cargo fetch --locked")}, nil},
		{"ruby", "Gemfile.lock", [][]string{words("bundle install")}, nil},
		{"php", "composer.lock", [][]string{words("composer install")}, nil},
	}
}

// Propose adds to a project's wishes what its repository looks like it needs, and names what it saw. Where the
// project has a wish of that kind already nothing is proposed. It changes nothing.
func (h *Home) Propose(ctx context.Context, p task.Project) (task.WorktreeSetup, []string, error) {
	wants := p.Worktree
	var seen []string
	repo := git.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}
	files, err := repo.Files(ctx)
	if err != nil || files == "" {
		return wants, nil, err
	}
	p.Path = files
	if len(wants.Commands) == 0 && len(wants.When) == 0 {
		var kinds []string
		for _, r := range recipes() {
			there, err := isFile(p.Path, r.file)
			if err != nil {
				return p.Worktree, nil, err
			}
			if !there || slices.Contains(kinds, r.kind) {
				continue
			}
			kinds, seen = append(kinds, r.kind), append(seen, r.file)
			wants.Commands = slices.Concat(wants.Commands, r.commands)
			wants.When = slices.Concat(wants.When, []string{"/" + r.file}, r.when)
		}
	}
	if there, err := isFile(p.Path, ".gitmodules"); err != nil {
		return p.Worktree, nil, err
	} else if there && !wants.Submodules {
		wants.Submodules, seen = true, append(seen, ".gitmodules")
	}
	hooks, err := hooksToBring(ctx, repo, p.Worktree)
	if err != nil {
		return p.Worktree, nil, err
	}
	for _, folder := range hooks {
		wants.Copy, seen = append(wants.Copy, folder), append(seen, "hooks of git in "+folder)
	}
	secrets, err := secretsToBring(ctx, repo, p)
	if err != nil {
		return p.Worktree, nil, err
	}
	for _, file := range secrets {
		wants.Copy, seen = append(wants.Copy, "/"+file), append(seen, file)
	}
	return wants, seen, nil
}

// hooksToBring are the patterns of folders in which git looks for hooks, and that no worktree gets.
func hooksToBring(ctx context.Context, repo git.Repo, has task.WorktreeSetup) ([]string, error) {
	does, err := worktree.Needs{Repo: repo}.Committing(ctx)
	if err != nil || has.Brings(does.HooksPath) {
		return nil, err
	}
	if hidden, err := (worktree.Main{Repo: repo}).HiddenHooks(ctx, does.HooksPath); err != nil || !hidden {
		return nil, err
	}
	return []string{"/" + path.Clean(does.HooksPath)}, nil
}

// secretsToBring are the untracked files with variables that programs read. Where the repository or the project says
// which files are copied, there are none.
func secretsToBring(ctx context.Context, repo git.Repo, p task.Project) ([]string, error) {
	named, err := isFile(p.Path, git.IncludeFile)
	if err != nil || named || len(p.Worktree.Copy)+len(p.Worktree.Link) > 0 {
		return nil, err
	}
	untracked, err := worktree.Main{Repo: repo}.Untracked(ctx, []string{"/.env", "/.env.*", "!/.env.example"})
	return slices.DeleteFunc(untracked, func(file string) bool {
		there, err := isFile(p.Path, file)
		return err != nil || !there
	}), err
}

func isFile(dir, name string) (bool, error) {
	info, err := os.Lstat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}
