package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/run/proc"
)

// usual is what is no file in the place of one that nearly every git in a folder reads, or one that is too large: it is
// known before any git waits for it, or fills the memory with it.
func (r Repo) usual(ctx context.Context, dir string) error {
	r.Path = cmp.Or(r.Path, dir)
	files := []string{filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".gitattributes")}
	if common, known := r.Folder(); known {
		for _, name := range []string{"config", "HEAD", "packed-refs", "info/exclude", "info/attributes", "info/grafts",
			"shallow", "objects/info/alternates",
			"refs/heads/" + r.DefaultBranch} {
			files = append(files, filepath.Join(common, name))
		}
		if own, err := DirOf(dir); err == nil && own != common {
			head, _ := proc.ReadFile(filepath.Join(own, "HEAD")) // a git that cannot read it says so
			branch := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
			files = append(files, filepath.Join(dir, ".git"), filepath.Join(own, "commondir"),
				filepath.Join(own, "HEAD"), filepath.Join(common, branch))
		}
	}
	for _, file := range files {
		if proc.IsEndless(file) {
			return proc.WaitsFor("git", file)
		}
		most := int64(proc.MostFile)
		if filepath.Base(file) == "packed-refs" { // of which git keeps none in its memory
			most = proc.MostWhole
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > most {
			return proc.TooLarge("git", file, most)
		}
	}
	return WaitsForPerson(ctx)
}

// wholeInFolder are the names in git's own folder of what git reads into its memory as a whole: refs, settings, lists
// of what is ignored, and notes about merges. Objects, indexes and bundles are not among them.
var wholeInFolder = regexp.MustCompile(`^(worktrees/[^/]+/)?(HEAD|[A-Z_]+_HEAD|MERGE_[A-Z_]+|config(\.worktree)?|` +
	`commondir|gitdir|locked|shallow|refs/.+|info/[^/]+|sequencer/.+|` +
	`rebase-(merge|apply)/(head-name|onto|orig-head|done|` +
	`git-rebase-todo|autostash|message|author-script))$|` +
	`^objects/info/(alternates|commit-graphs/commit-graph-chain)$`)

// readWhole reports whether git reads a file into its memory as a whole. Files of the project are not among them, but
// for the lists of what git ignores and how it writes.
func readWhole(file string, persons []string) bool {
	lists := []string{".gitignore", ".gitattributes", IncludeFile}
	if slices.Contains(lists, filepath.Base(file)) || slices.Contains(persons, file) {
		return true
	}
	for dir := filepath.Dir(file); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false // it is a file of the project
		}
		if IsGitFolder(dir) {
			name, err := filepath.Rel(dir, file)
			return err == nil && wholeInFolder.MatchString(filepath.ToSlash(name))
		}
	}
	return false
}

// WholeFor is readWhole with the files of the person in an environment.
func WholeFor(ctx context.Context) func(file string) bool {
	own := persons(ctx)
	return func(file string) bool { return readWhole(file, own) }
}

// othersIn are the repositories on this machine that a git talks to, by the words of its command.
func othersIn(args []string) []Repo {
	var out []Repo
	for _, word := range args {
		if filepath.IsAbs(word) && IsGitFolder(word) {
			out = append(out, Repo{Path: word})
		}
	}
	return out
}

// WaitsForPerson is why git would wait for one of the files of git's that a person has for all repositories.
func WaitsForPerson(ctx context.Context) error {
	for _, name := range persons(ctx) {
		if proc.IsEndless(name) {
			return proc.WaitsFor("git", name)
		}
	}
	return nil
}

// persons are the files of git's that a person has for all repositories.
func persons(ctx context.Context) []string {
	env := proc.Environment(ctx)
	home := harness.Value(env, "HOME")
	if home == "" {
		return nil
	}
	config := harness.Value(env, "XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config"),
		filepath.Join(config, "git", "ignore"), filepath.Join(config, "git", "attributes")}
}
