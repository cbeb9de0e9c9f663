package gitconfig

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Overruled says how a merge goes as if nothing had changed.
type Overruled struct {
	Config  []string // settings for this run of git alone, as NAME=VALUE
	Hooks   bool     // the hooks are to be taken from what was noted
	Refused []Change // what no such setting undoes, or what says where the merge goes
}

// Elsewhere is what counts of git's configuration outside of the repository: of the person and of the system.
type Elsewhere struct {
	Values map[string][]string
	Home   string // the folder of the person's own files of git
	SSH    string // the ssh program that the person's environment names; empty where it names none
	Folder string // the repository's own folder of git
}

// Overrule tells how a merge can do without the changes.
func Overrule(changes []Change, elsewhere Elsewhere) Overruled {
	var out Overruled
	for _, c := range changes {
		switch {
		case c.OfFile && strings.HasPrefix(c.Key, "hooks/"):
			out.Hooks = true
		case c.OfFile && c.Key == "info/exclude", c.OfFile && c.Key == "info/grafts",
			c.OfFile && strings.HasPrefix(c.Key, "refs/replace/"): // Orange's own git looks at none of them
		case c.OfFile:
			out.Refused = append(out.Refused, c)
		default:
			config, how := instead(c, elsewhere)
			if how == refuse {
				out.Refused = append(out.Refused, c)
			}
			out.Config = append(out.Config, config...)
		}
	}
	return out
}

// How a changed setting is treated by a merge.
type treatment int

const (
	refuse  treatment = iota // it says where the merge goes, or cannot be undone for one run
	ignored                  // no git that Orange runs in a merge asks for it
	undone                   // it is set for the run
)

func instead(c Change, elsewhere Elsewhere) ([]string, treatment) {
	how, usual := treat(c.Key, elsewhere)
	if how == undone && strings.Contains(c.Key, "=") {
		how = refuse // on a command line the key would end there
	}
	if how != undone {
		return nil, how
	}
	values := slices.Concat(elsewhere.Values[c.Key], c.Was)
	if _, _, name := split(c.Key); name == "pushoption" { // git takes all of them; an empty one takes those before away
		config := []string{c.Key + "="}
		for _, value := range values {
			config = append(config, c.Key+"="+value)
		}
		return config, undone
	}
	switch {
	case len(values) > 0:
		usual = values[len(values)-1] // the last one counts, as for git
	case usual == unset:
		return nil, refuse
	}
	return []string{c.Key + "=" + usual}, undone
}

// unset says that no value of a setting is the same as none.
const unset = "\x00"

// treat says how a setting is treated, and what git takes where it is not set.
func treat(key string, elsewhere Elsewhere) (how treatment, usual string) {
	section, sub, name := split(key)
	switch section {
	case "author", "committer":
		return undone, ""
	case "user":
		return undone, unset
	case "alias", "trailer", "notes", "uploadpack", "receive", "init", "branch", "submodule", "diff", "pager",
		"interactive", "sequence", "difftool", "mergetool", "gc":
		return ignored, ""
	case "commit", "tag":
		if name == "gpgsign" {
			return undone, "false"
		}
		return ignored, ""
	case "gpg":
		return undone, cmp.Or(map[string]string{"gpg.format": "openpgp"}[strings.ToLower(key)], unset)
	case "filter":
		switch name {
		case "required":
			return undone, "false"
		case "process": // an empty one also takes the other two away
			return undone, unset
		}
		return undone, ""
	case "push":
		return undone, cmp.Or(map[string]string{"default": "simple", "recursesubmodules": "no"}[name], "false")
	case "core":
		return ofCore(name, elsewhere)
	case "merge":
		if sub == "" {
			return undone, "text"
		}
	case "extensions":
		if name == "worktreeconfig" { // the file that git reads for it counts by itself
			return ignored, ""
		}
	}
	return refuse, ""
}

// ofCore is treat for the section core.
func ofCore(name string, elsewhere Elsewhere) (how treatment, usual string) {
	switch name {
	case "editor", "pager", "fsmonitor", "alternaterefscommand":
		return ignored, ""
	case "hookspath":
		return undone, path.Join(elsewhere.Folder, "hooks")
	case "sshcommand":
		return undone, cmp.Or(elsewhere.SSH, "ssh")
	case "attributesfile":
		return undone, path.Join(elsewhere.Home, "attributes")
	case "excludesfile":
		return undone, path.Join(elsewhere.Home, "ignore")
	case "askpass":
		return undone, ""
	}
	return refuse, ""
}
