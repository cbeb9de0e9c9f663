package worktree

import (
	"path"
	"strings"
)

// pattern is one line as git reads it in .gitignore and in the patterns of a sparse checkout.
type pattern struct {
	parts    []string // between slashes; "**" means any number of folders
	negative bool
	folder   bool // it names folders only
	anywhere bool // it has no slash, and so is about a name in any folder
}

func parsePatterns(lines []string) []pattern {
	var all []pattern
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var p pattern
		line, p.negative = strings.CutPrefix(line, "!")
		line, p.folder = strings.CutSuffix(line, "/")
		p.anywhere = !strings.Contains(line, "/")
		line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
		for _, part := range strings.Split(line, "/") {
			if part == "**" && len(p.parts) > 0 && p.parts[len(p.parts)-1] == part {
				continue // two of them say no more than one
			}
			p.parts = append(p.parts, part)
		}
		all = append(all, p)
	}
	return all
}

// matches reports whether the patterns name a file, itself or by one of the folders that it lies in. The nearest
// name decides, and of the patterns that know it the last.
func matches(all []pattern, file string) bool { return matchesPath(all, file, false) }

// matchesPath is about a folder too.
func matchesPath(all []pattern, file string, folder bool) bool {
	for name := file; name != "." && name != "/"; name = path.Dir(name) {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].names(name, folder) {
				return !all[i].negative
			}
		}
		folder = true
	}
	return false
}

// names reports whether the pattern is about this very name.
func (p pattern) names(name string, folder bool) bool {
	switch {
	case p.folder && !folder:
		return false
	case p.anywhere:
		return part(p.parts[0], path.Base(name))
	}
	return matchParts(p.parts, strings.Split(name, "/"))
}

// matchParts compares part by part. However many "**" there are, each pair of places is looked at once.
func matchParts(parts, names []string) bool {
	// reach[j] reports whether the parts so far are about the first j names.
	reach := make([]bool, len(names)+1)
	reach[0] = true
	for i, p := range parts {
		next := make([]bool, len(names)+1)
		for j := range reach {
			switch {
			case p == "**" && i == len(parts)-1: // all that lies in a folder, and not the folder
				next[j] = j > 0 && (reach[j-1] || next[j-1])
			case p == "**":
				next[j] = reach[j] || j > 0 && next[j-1]
			case j > 0:
				next[j] = reach[j-1] && part(p, names[j-1])
			}
		}
		reach = next
	}
	return reach[len(names)]
}

// part compares one name. A text without wildcards matches itself.
func part(p, name string) bool {
	ok, err := path.Match(p, name)
	return ok || err != nil && p == name
}

// MatchingFiles are those of the files that the globs name, in the words of a .gitignore: "*.sh" in any folder,
// "/Makefile" at the top, "tests/" with all that lies in it, "src/**/testdata".
func MatchingFiles(globs, files []string) []string {
	all := parsePatterns(globs)
	var named []string
	for _, file := range files {
		if matches(all, file) {
			named = append(named, file)
		}
	}
	return named
}
