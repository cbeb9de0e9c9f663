package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Misfit is something because of which no worktree of a commit could be made ready.
type Misfit struct {
	Found, Want string
	Maybe       bool // only if there are files of that kind
}

// Misfits lists what would stop a task in a worktree of a commit: the folder in which its
// programs start is not there, there is no place for the link to its document, or git needs a program for its files
// that is not installed. The filters are those that Committing misses.
func (r Needs) Misfits(ctx context.Context, from git.Base, subdir string, filters map[string]string) ([]Misfit, error) {
	above := []string{documentName, documentDir}
	for folder := subdir; folder != "" && folder != "."; folder = path.Dir(folder) {
		above = append(above, folder)
	}
	kinds, err := r.kinds(ctx, from.Commit, above)
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("%s at %.12s", from.Ref, from.Commit)
	var all []Misfit
	if kind := kinds[documentDir]; kinds[documentName] != "" && kind != "" && kind != folderMode {
		all = append(all, Misfit{Found: fmt.Sprintf("%s has a %s and a file %q, where the link to a task's document "+
			"would be", at, documentName, documentDir), Want: "rename one of the two in the repository"})
	}
	if lacksFolder(kinds, subdir) {
		all = append(all, Misfit{Found: fmt.Sprintf("%s has no folder %q, in which the project's programs start", at,
			subdir), Want: "name another one: orange project update NAME --subdir FOLDER"})
	}
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		needed, err := r.filters(ctx, from.Commit, name)
		if err != nil {
			return all, err
		}
		if needed {
			all = append(all, Misfit{Found: fmt.Sprintf("%s has files, or may have, that git gives to the filter %q, "+
				"whose program %q is not installed", at, name, filters[name]), Want: "install it", Maybe: true})
		}
	}
	return all, nil
}

// folderMode is the mode of a folder in git's trees.
const folderMode = "040000"

// kinds are git's modes of those of the paths that a commit has.
func (r Needs) kinds(ctx context.Context, commit string, paths []string) (map[string]string, error) {
	out, err := r.Run(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-z", commit, "--"}, paths...)...)
	if err != nil {
		return nil, fmt.Errorf("look at the files of %s: %w", commit, err)
	}
	found := map[string]string{}
	for entry := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if what, name, is := strings.Cut(entry, "\t"); is {
			found[name], _, _ = strings.Cut(what, " ")
		}
	}
	return found, nil
}

// lacksFolder reports whether a commit has no such folder. What lies below a link or in a submodule it does not know.
func lacksFolder(kinds map[string]string, folder string) bool {
	if folder == "" || kinds[folder] == folderMode {
		return false
	}
	for above := folder; above != "."; above = path.Dir(above) {
		if kind := kinds[above]; kind == git.LinkMode || kind == git.SubmoduleMode {
			return false
		}
	}
	return true
}

// filters reports whether the attributes of a commit name a filter. Whether there is a file for it, they do not tell.
func (r Needs) filters(ctx context.Context, commit, name string) (bool, error) {
	_, err := r.Run(ctx, "grep", "--quiet", "--extended-regexp", "-e", `^[^#].*[[:space:]]filter=`+
		regexp.QuoteMeta(name)+`([[:space:]]|$)`, commit, "--", ".gitattributes", ":(glob)**/.gitattributes")
	if err != nil && git.ExitCode(err) != 1 {
		return false, fmt.Errorf("look at the attributes of %s: %w", commit, err)
	}
	return err == nil, nil
}

// missingFilters are the programs that are not installed of filters without which git refuses files, by the names of
// the filters: not on that PATH. Of a command that is more than a program's name and its arguments nothing is known.
func missingFilters(set map[string]string, path string) map[string]string {
	missing := map[string]string{}
	for key, required := range set {
		name, is := strings.CutPrefix(strings.TrimSuffix(key, ".required"), "filter.")
		if !is || !strings.HasSuffix(key, ".required") || !isTrue(required) {
			continue
		}
		command := set["filter."+name+".process"]
		if command == "" {
			command = set["filter."+name+".smudge"]
		}
		words := strings.Fields(command)
		if len(words) == 0 || strings.ContainsAny(words[0], "'\"$`\\;&|()~=") {
			continue
		}
		if _, err := proc.Find(words[0], path); err != nil && !errors.Is(err, os.ErrPermission) {
			missing[name] = words[0]
		}
	}
	return missing
}

func isTrue(value string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value))
}
