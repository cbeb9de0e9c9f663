// Package gitconfig knows which settings of git all worktrees of a repository share that lead git elsewhere: to another
// author, another program, another address. An agent can write them, and a person's own git obeys them.
//
// It compares, and says how a merge can do without what changed. It reads and writes nothing; see worktree.
package gitconfig

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Settings are what a repository's worktrees share at one moment, as far as it leads git elsewhere.
type Settings struct {
	// Values are those of the repository's configuration, by their keys as git writes them, in their order.
	Values map[string][]string `json:"values,omitempty"`
	// Files are those of git's folder that count, by their path in it: a hook, a rule, a replaced object.
	Files map[string]File `json:"files,omitempty"`
}

// File is a file of git's folder. A ref is one too: its text is the object that it names.
type File struct {
	Text   []byte `json:"text,omitempty"`
	Mode   uint32 `json:"mode,omitempty"`   // its permissions
	Link   string `json:"link,omitempty"`   // where it leads, where it is a link; then the digest is of what is there
	Digest string `json:"digest,omitempty"` // of a text that is too long to be kept: it cannot be put back
}

func (f File) equal(other File) bool {
	return bytes.Equal(f.Text, other.Text) && f.Mode == other.Mode && f.Link == other.Link && f.Digest == other.Digest
}

// Change is one setting or file that differs from what was noted.
type Change struct {
	Key     string   `json:"key"`           // of the setting, or the path of the file
	Was     []string `json:"was,omitempty"` // the values; none where there was none
	Is      []string `json:"is,omitempty"`
	OfFile  bool     `json:"file,omitempty"`
	Removed bool     `json:"removed,omitempty"` // it is not there any more
	Added   bool     `json:"added,omitempty"`   // it was not there before
}

// Equal reports whether two changes are the same, also where words do not show all of them.
func (c Change) Equal(other Change) bool {
	return c.Key == other.Key && c.OfFile == other.OfFile && c.Added == other.Added && c.Removed == other.Removed &&
		slices.Equal(c.Was, other.Was) && slices.Equal(c.Is, other.Is)
}

func (c Change) String() string {
	switch {
	case c.OfFile && c.Added:
		return c.Key + " is new"
	case c.OfFile && c.Removed:
		return c.Key + " is gone"
	case c.OfFile:
		return c.Key + " is another"
	}
	section, _, _ := split(c.Key)
	secret := section == "http" || section == "credential"
	said := fmt.Sprintf("%s was %s, is %s", c.Key, inWords(c.Was, secret), inWords(c.Is, secret))
	return login.ReplaceAllString(said, "://…@") // people read it, and the history keeps it
}

// login is who logs in at an address, with their secret.
var login = regexp.MustCompile(`://[^/@\s"]+@`)

func inWords(values []string, secret bool) string {
	switch {
	case len(values) == 0:
		return "not set"
	case secret:
		return "a value that is not shown"
	}
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = fmt.Sprintf("%q", value)
	}
	return strings.Join(quoted, " and ")
}

// Differences are what changed between two moments, sorted by key.
func Differences(was, is Settings) []Change {
	var found []Change
	for key, before := range was.Values {
		now := is.Values[key]
		if deleted := len(now) == 0 && tracking(key, before, was); !deleted && !slices.Equal(before, now) {
			found = append(found, Change{Key: key, Was: before, Is: now, Removed: len(now) == 0})
		}
	}
	for key, now := range is.Values {
		if _, known := was.Values[key]; !known && !tracking(key, now, was) {
			found = append(found, Change{Key: key, Is: now, Added: true})
		}
	}
	for path, before := range was.Files {
		now, there := is.Files[path]
		if !there || !now.equal(before) {
			found = append(found, Change{Key: path, OfFile: true, Removed: !there})
		}
	}
	for path := range is.Files {
		if _, known := was.Files[path]; !known {
			found = append(found, Change{Key: path, OfFile: true, Added: true})
		}
	}
	slices.SortFunc(found, func(a, b Change) int { return strings.Compare(a.Key, b.Key) })
	return found
}

// tracking reports whether a setting is one that "git push -u" makes, and that goes when its branch is deleted: the
// branch follows a remote that was there.
func tracking(key string, values []string, was Settings) bool {
	section, _, name := split(key)
	if section != "branch" || name != "remote" && name != "pushremote" || len(values) != 1 {
		return false
	}
	return values[0] == "." || slices.ContainsFunc(slices.Collect(maps.Keys(was.Values)), func(known string) bool {
		section, remote, _ := split(known)
		return section == "remote" && remote == values[0]
	})
}

// With is a state with some of its settings and files as another one has them.
func (s Settings) With(other Settings, changes []Change) Settings {
	out := Settings{Values: maps.Clone(s.Values), Files: maps.Clone(s.Files)}
	if out.Values == nil {
		out.Values = map[string][]string{}
	}
	if out.Files == nil {
		out.Files = map[string]File{}
	}
	for _, c := range changes {
		values, set := other.Values[c.Key]
		file, there := other.Files[c.Key]
		switch {
		case !c.OfFile && set:
			out.Values[c.Key] = values
		case !c.OfFile:
			delete(out.Values, c.Key)
		case there:
			out.Files[c.Key] = file
		default:
			delete(out.Files, c.Key)
		}
	}
	return out
}

// split takes a key apart as git writes it: section and name in small letters, and what is between them.
func split(key string) (section, sub, name string) {
	first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
	if first < 0 {
		return strings.ToLower(key), "", ""
	}
	if last > first {
		sub = key[first+1 : last]
	}
	return strings.ToLower(key[:first]), sub, strings.ToLower(key[last+1:])
}

// Counts reports whether a setting leads git elsewhere.
func Counts(key string) bool {
	section, sub, name := split(key)
	names, known := dangerous()[section]
	if !known {
		return strings.HasPrefix(section, "include")
	}
	switch section {
	case "branch", "submodule":
		return sub != "" && slices.Contains(names, name)
	case "merge":
		return sub != "" && name == "driver" || sub == "" && name == "default"
	case "remote":
		return name != "gh-resolved" // by which gh notes a person's answer
	case "diff":
		return name == "external" && sub == "" || sub != "" && (name == "command" || name == "textconv")
	}
	return len(names) == 0 || slices.Contains(names, name)
}

// dangerous are the sections with a setting that counts, and the names of those; none means that all count.
func dangerous() map[string][]string {
	all := []string{}
	return map[string][]string{
		"user": all, "author": all, "committer": all, "gpg": all, "credential": all, "filter": all, "remote": all,
		"url": all, "http": all, "protocol": all, "alias": all, "push": all, "trailer": all, "extensions": all,
		"notes": all, "uploadpack": all, "receive": all,
		"pager": all, "interactive": {"difffilter"}, "sequence": {"editor"}, "difftool": {"cmd", "path"},
		"mergetool": {"cmd", "path"}, "gc": {"recentobjectshook"},
		"core": {"bare", "worktree", "hookspath", "sshcommand", "fsmonitor", "attributesfile", "excludesfile",
			"askpass", "editor", "pager", "gitproxy", "alternaterefscommand"},
		"commit": {"gpgsign", "template"}, "tag": {"gpgsign"}, "init": {"templatedir"},
		"diff": all, "merge": {"driver", "default"}, "submodule": {"update"}, "branch": {"remote", "pushremote"},
	}
}
