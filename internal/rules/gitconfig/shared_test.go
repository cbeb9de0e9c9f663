package gitconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each setting that leads git elsewhere counts, and what a person's own push, fetch, commit or stash changes does not.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"user.name", "user.signingkey", "author.email", "committer.name", "core.bare",
		"core.worktree", "core.hookspath", "core.sshcommand", "core.fsmonitor", "core.attributesfile",
		"core.excludesfile", "core.askpass", "core.editor", "core.pager", "core.gitproxy", "commit.gpgsign",
		"commit.template", "gpg.format", "gpg.ssh.program", "credential.helper", "credential.https://a.b.helper",
		"filter.x.clean", "diff.external", "diff.x.command", "diff.x.textconv", "merge.x.driver", "remote.origin.url",
		"remote.origin.uploadpack", "url.git@a:.insteadof", "http.proxy", "http.https://a.b.sslverify",
		"protocol.ext.allow", "include.path", "includeif.gitdir:/a.path", "alias.co", "submodule.lib.update",
		"branch.main.remote", "branch.a.b.pushremote", "push.default", "tag.gpgsign", "trailer.sign.command",
		"extensions.worktreeconfig", "notes.rewriteref", "init.templatedir", "uploadpack.packobjectshook",
		"receive.denynonfastforwards"} {
		if !Counts(key) {
			t.Errorf("%s does not count", key)
		}
	}
	for _, key := range []string{"branch.main.merge", "branch.main.rebase", "core.filemode", "core.autocrlf", "gc.auto",
		"diff.algorithm", "merge.conflictstyle", "submodule.lib.url", "maintenance.auto", "rerere.enabled", "odd",
		"remote.origin.gh-resolved"} {
		if Counts(key) {
			t.Errorf("%s counts", key)
		}
	}
}

func settings(pairs ...string) Settings {
	s := Settings{Values: map[string][]string{}}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		s.Values[key] = append(s.Values[key], value)
	}
	return s
}

// A difference has a sentence; a branch that follows a remote which was there is none.
func TestDifferences(t *testing.T) {
	t.Parallel()
	was := settings("user.name=Ann", "remote.origin.url=a", "gpg.format=ssh")
	was.Files = map[string]File{"hooks/a": {Text: []byte("1"), Mode: 0o755}, "hooks/b": {}, "hooks/same": {Link: "x"}}
	is := settings("user.name=Ann", "user.name=Bot", "remote.origin.url=a", "branch.x.remote=origin",
		"branch.y.remote=.", "branch.y.pushremote=origin", "branch.z.remote=https://evil", "core.bare=true")
	is.Files = map[string]File{"hooks/a": {Text: []byte("1"), Mode: 0o644}, "hooks/new": {}, "hooks/same": {Link: "x"}}
	want := `branch.z.remote was not set, is "https://evil"|core.bare was not set, is "true"|gpg.format was "ssh", is ` +
		`not set|hooks/a is another|hooks/b is gone|hooks/new is new|user.name was "Ann", is "Ann" and "Bot"`
	var got []string
	changes := Differences(was, is)
	for _, c := range changes {
		got = append(got, c.String())
	}
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if left := Differences(was.With(is, changes), is); len(left) > 0 {
		t.Errorf("taken over, there still is %v", left)
	}
	if left := Differences(is.With(was, changes), was); fmt.Sprint(left) != "[]" {
		t.Errorf("put back, there still is %v", left)
	}
	if left := Differences(was, was.With(is, nil)); len(left) > 0 {
		t.Errorf("nothing was taken over, and there is %v", left)
	}
}

// A merge goes as if nothing had changed, by what was set before, by the person's own settings, or by git's usual ones;
// what says where it goes, and what nothing undoes, is refused.
func TestOverrule(t *testing.T) {
	t.Parallel()
	elsewhere := Elsewhere{Values: map[string][]string{"user.email": {"ann@a"}, "credential.helper": {"store"}},
		Home: "/home/git", Folder: "/r/.git"}
	for _, row := range []struct{ key, was, want string }{
		{"user.name", "Ann", "user.name=Ann"},
		{"user.email", "", "user.email=ann@a"},
		{"committer.name", "", "committer.name="},
		{"core.hookspath", "", "core.hookspath=/r/.git/hooks"},
		{"core.hookspath", ".husky/_", "core.hookspath=.husky/_"},
		{"core.sshcommand", "", "core.sshcommand=ssh"},
		{"core.attributesfile", "", "core.attributesfile=/home/git/attributes"},
		{"core.excludesfile", "", "core.excludesfile=/home/git/ignore"},
		{"commit.gpgsign", "true", "commit.gpgsign=true"},
		{"commit.gpgsign", "", "commit.gpgsign=false"},
		{"gpg.format", "", "gpg.format=openpgp"},
		{"gpg.ssh.program", "", "refused"},
		{"gpg.ssh.program", "mine", "gpg.ssh.program=mine"},
		{"user.signingkey", "", "refused"},
		{"filter.x.process", "", "refused"},
		{"filter.x.process", "lfs", "filter.x.process=lfs"},
		{"filter.a=b.clean", "", "refused"},
		{"merge.default", "", "merge.default=text"},
		{"extensions.worktreeconfig", "", ""},
		{"filter.x.clean", "", "filter.x.clean="},
		{"filter.x.required", "", "filter.x.required=false"},
		{"credential.helper", "cache", "refused"},
		{"push.followtags", "", "push.followtags=false"},
		{"push.pushoption", "", "push.pushoption="},
		{"alias.co", "", ""}, {"core.editor", "", ""}, {"core.pager", "", ""}, {"branch.a.remote", "", ""},
		{"notes.rewriteref", "", ""}, {"diff.external", "", ""}, {"commit.template", "", ""},
		{"remote.origin.url", "a", "refused"}, {"url.x.insteadof", "", "refused"}, {"http.proxy", "", "refused"},
		{"include.path", "", "refused"}, {"core.bare", "", "refused"}, {"core.worktree", "", "refused"},
		{"extensions.objectformat", "", "refused"}, {"protocol.allow", "", "refused"},
		{"core.gitproxy", "", "refused"}, {"merge.x.driver", "", "refused"},
		{"credential.usehttppath", "", "refused"},
	} {
		c := Change{Key: row.key}
		if row.was != "" {
			c.Was = []string{row.was}
		}
		over := Overrule([]Change{c}, elsewhere)
		got := strings.Join(over.Config, " ")
		if len(over.Refused) > 0 {
			got = "refused"
		}
		if got != row.want {
			t.Errorf("%s, before %q: got %q, want %q", row.key, row.was, got, row.want)
		}
	}
	over := Overrule([]Change{{Key: "hooks/pre-push", OfFile: true}, {Key: "info/exclude", OfFile: true},
		{Key: "refs/replace/1", OfFile: true}, {Key: "info/attributes", OfFile: true},
		{Key: "objects/info/alternates", OfFile: true}}, elsewhere)
	refused := []string{}
	for _, c := range over.Refused {
		refused = append(refused, c.Key)
	}
	if !over.Hooks || !slices.Equal(refused, []string{"info/attributes", "objects/info/alternates"}) {
		t.Errorf("hooks %t, refused %q", over.Hooks, refused)
	}
}

// Two values that are not shown are two changes.
func TestChange_isAnotherWhereItsValueIs(t *testing.T) {
	t.Parallel()
	one, other := Change{Key: "http.proxy", Is: []string{"a"}}, Change{Key: "http.proxy", Is: []string{"b"}}
	if one.String() != other.String() || one.Equal(other) || !one.Equal(one) {
		t.Errorf("%s and %s, equal %t", one, other, one.Equal(other))
	}
}

// What people read, and the history keeps, has no secret.
func TestChange_showsNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []Change{
		{Key: "remote.origin.url", Was: []string{"https://ann:SECRET@host/a"}, Is: []string{"https://SECRET@host/b"}},
		{Key: "url.https://SECRET@host/.insteadof", Is: []string{"git@host:"}},
		{Key: "http.extraheader", Is: []string{"Authorization: SECRET"}},
		{Key: "credential.helper", Was: []string{"!echo SECRET"}},
	} {
		if strings.Contains(c.String(), "SECRET") {
			t.Error(c.String())
		}
	}
}
