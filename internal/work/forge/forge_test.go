package forge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/work/forge"
)

// fake puts a program gh into a folder of its own. It notes the words that it was called with, where, and its input.
func fake(t *testing.T, script string) (forge.GH, string) {
	t.Helper()
	dir := program(t, "gh", script)
	return forge.GH{Path: "/nowhere:" + dir}, dir
}

func program(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nfor word; do echo \"$word\"; done > '" + dir + "/words'\npwd > '" + dir +
		"/where'\ncat > '" + dir + "/input'\n" + script + "\n"
	// what another test starts at this moment would have the file open for writing, and a program must not be
	syscall.ForkLock.RLock()
	err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("the error is %v, want one that says %q", err, word)
		}
	}
}

func TestFind_listsThePullRequestsOfTheVeryBranch(t *testing.T) {
	t.Parallel()
	gh, dir := fake(t, `echo '[
		{"url": "https://github.com/a/b/pull/9", "state": "OPEN", "headRefName": "fix", "headRefOid": "c1", "isCrossRepository": false},
		{"url": "https://github.com/a/b/pull/8", "state": "OPEN", "headRefName": "fix-more", "headRefOid": "c2", "isCrossRepository": false},
		{"url": "https://github.com/a/b/pull/7", "state": "MERGED", "headRefName": "fix", "headRefOid": "c3", "isCrossRepository": true}]'`)
	repository := t.TempDir()
	found, err := gh.Find(t.Context(), repository, "", "fix")
	if err != nil {
		t.Fatal(err)
	}
	want := []record.PullRequest{
		{URL: "https://github.com/a/b/pull/9", State: record.PROpen, Commit: "c1"},
		{URL: "https://github.com/a/b/pull/7", State: record.PRMerged, Commit: "c3", Foreign: true},
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %+v, want %+v", found, want)
	}
	if where := strings.TrimSpace(read(t, dir, "where")); filepath.Base(where) != filepath.Base(repository) {
		t.Errorf("gh ran in %s", where)
	}
	if words := read(t, dir, "words"); !strings.Contains(words, "--head\nfix\n--state\nall\n") {
		t.Errorf("the words are %q", words)
	}
}

func TestFind_findsNothingWhereThereIsNothing(t *testing.T) {
	t.Parallel()
	gh, _ := fake(t, `echo '[]'`)
	if found, err := gh.Find(t.Context(), t.TempDir(), "", "fix"); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestCreate_handsTitleAndTextOverAsTheyAre(t *testing.T) {
	t.Parallel()
	gh, dir := fake(t, `echo 'Warning: 1 uncommitted change' >&2; echo https://github.com/a/b/pull/10`)
	made, err := gh.Create(t.Context(), t.TempDir(), "", forge.Draft{
		Branch: "fix", Base: "main", Title: `$(touch x) "quoted" --web`, Body: "line\n`date`\n"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (record.PullRequest{URL: "https://github.com/a/b/pull/10", State: record.PROpen}); made != want {
		t.Errorf("made %+v, want %+v", made, want)
	}
	if got, want := read(t, dir, "words"),
		"pr\ncreate\n--head\nfix\n--base\nmain\n--title\n$(touch x) \"quoted\" --web\n--body-file\n-\n"; got != want {
		t.Errorf("the words are %q, want %q", got, want)
	}
	if got := read(t, dir, "input"); got != "line\n`date`\n" {
		t.Errorf("the text is %q", got)
	}
}

func TestGH_saysWhatToDo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		says   []string
	}{
		"no login": {`echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4`, []string{
			"log in with"}},
		"no GitHub": {
			`echo 'none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a new GitHub host, please use gh auth login' >&2; exit 1`, []string{"known GitHub host", "as the remote origin"}},
		"no remote":  {`echo 'no git remotes found' >&2; exit 1`, []string{"as the remote origin"}},
		"silent":     {`exit 7`, []string{"status 7 and said nothing"}},
		"no network": {`echo 'error connecting to api.github.com' >&2; exit 1`, []string{"gh: error connecting"}},
		"no JSON":    {`echo 'hello'`, []string{"cannot read what gh answers"}},
		"no more calls": {`echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2; exit 1`, []string{
			"gh: HTTP 403: API rate limit", "gh api rate_limit"}},
		"a bad token": {`echo 'HTTP 401: Bad credentials (https://api.github.com/graphql)' >&2; exit 1`, []string{
			"gh auth login"}},
		"not allowed":           {`echo 'gh: HTTP 403: Resource not accessible' >&2; exit 1`, []string{"gh auth status"}},
		"what a terminal obeys": {`printf 'gh: \033]52;c;eA==\007' >&2; exit 1`, []string{`gh: \x1b]52;c;eA==\x07`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, _ := fake(t, tt.script)
			found, err := gh.Find(t.Context(), t.TempDir(), "", "fix")
			wantError(t, err, tt.says...)
			if len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
	_, err := forge.GH{Path: t.TempDir()}.Find(t.Context(), t.TempDir(), "", "fix")
	wantError(t, err, `cannot find the program "gh"`, "install it", "gh auth login")
	gh, _ := fake(t, `echo 'pull request create failed: GraphQL: No commits between main and fix' >&2; exit 1`)
	_, err = gh.Create(t.Context(), t.TempDir(), "", forge.Draft{Branch: "fix", Base: "main"})
	wantError(t, err, `cannot open a pull request for "fix"`, "No commits between")
	gh, _ = fake(t, `echo done`)
	_, err = gh.Create(t.Context(), t.TempDir(), "", forge.Draft{Branch: "fix", Base: "main"})
	wantError(t, err, "gh named no address")
}

func TestGH_doesNotWaitForOneThatHangs(t *testing.T) {
	t.Parallel()
	gh, _ := fake(t, `exec tail -f /dev/null`)
	gh.Patience = 50 * time.Millisecond
	_, err := gh.Find(t.Context(), t.TempDir(), "", "fix")
	wantError(t, err, "no answer within 50ms", "check whether GitHub can be reached")
}

func TestStanding_asksForAllWithOneCall(t *testing.T) {
	t.Parallel()
	gh, dir := fake(t, `echo '{"data": {
		"p0": {"url": "https://github.com/a/new/pull/1", "state": "MERGED", "headRefOid": "c1", "mergeCommit": {"oid": "m1"}, "commits": {"nodes": [{"commit": {"statusCheckRollup": {"state": "SUCCESS"}}}]}},
		"p1": {"url": "https://github.com/a/b/pull/2", "state": "OPEN", "headRefOid": "c2", "mergeCommit": null, "commits": {"nodes": [{"commit": {"statusCheckRollup": {"state": "ERROR"}}}]}},
		"p2": {"url": "https://github.com/a/b/pull/3", "state": "OPEN", "headRefOid": "c3", "commits": {"nodes": [{"commit": {"statusCheckRollup": {"state": "EXPECTED"}}}]}},
		"p3": {"url": "https://github.com/a/b/pull/4", "state": "CLOSED", "headRefOid": "c4", "commits": {"nodes": [{"commit": {"statusCheckRollup": null}}]}}}}'`)
	addresses := []string{"https://github.com/a/b/pull/1", "https://github.com/a/b/pull/2",
		"https://github.com/a/b/pull/3", "https://github.com/a/b/pull/4"}
	found, _, err := gh.Look(t.Context(), t.TempDir(), addresses)
	if err != nil {
		t.Fatal(err)
	}
	var have []record.PullRequest
	for i := range found {
		have = append(have, found[i].PullRequest)
	}
	want := []record.PullRequest{
		{URL: addresses[0], State: record.PRMerged, Commit: "c1", Merge: "m1", Checks: record.ChecksPass},
		{URL: addresses[1], State: record.PROpen, Commit: "c2", Checks: record.ChecksFail},
		{URL: addresses[2], State: record.PROpen, Commit: "c3", Checks: record.ChecksPending},
		{URL: addresses[3], State: record.PRClosed, Commit: "c4", Checks: record.ChecksNone},
	}
	if !slices.Equal(have, want) {
		t.Errorf("found %+v, want %+v", have, want)
	}
	words := read(t, dir, "words")
	for _, part := range []string{"api\ngraphql\n--hostname\ngithub.com\n--include\n",
		"-f\nu3=https://github.com/a/b/pull/4\n",
		"query($u0: URI!, $u1: URI!, $u2: URI!, $u3: URI!) { p0: resource(url: $u0) { ...pr }"} {
		if !strings.Contains(words, part) {
			t.Errorf("the words are %q, want them to hold %q", words, part)
		}
	}
}

func TestStanding_answersForThoseThatGitHubKnows(t *testing.T) {
	t.Parallel()
	gh, _ := fake(
		t, `echo '{"data": {"p0": null, "p1": {"state": "OPEN"}}, "errors": [{"message": "gone"}]}'; echo 'gh: gone' >&2; exit 1`)
	found, _, err := gh.Look(t.Context(), t.TempDir(), []string{
		"https://github.com/a/b/pull/1", "https://github.com/a/b/pull/2"})
	wantError(t, err, "cannot read the state of the pull request https://github.com/a/b/pull/1", "does not know it")
	if len(found) != 1 || found[0].URL != "https://github.com/a/b/pull/2" {
		t.Errorf("found %+v", found)
	}
}

func TestStanding_thatCannotLookIsAnError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ script, says string }{
		"no login":   {`echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4`, "log in with"},
		"no network": {`echo 'error connecting to api.github.com' >&2; exit 1`, "error connecting"},
		"no data": {`echo '{"message": "Bad credentials"}'; echo 'gh: Bad credentials (HTTP 401)' >&2; exit 1`,
			"Bad credentials"},
		"no JSON": {`echo hello`, "cannot read what gh answers"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, _ := fake(t, tt.script)
			found, _, err := gh.Look(t.Context(), t.TempDir(), []string{"https://github.com/a/b/pull/1"})
			wantError(t, err, tt.says)
			if len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
	gh, _ := fake(t, `exit 9`)
	if found, _, err := gh.Look(t.Context(), t.TempDir(), nil); err != nil || len(found) != 0 {
		t.Errorf("of nothing it found %v, %v", found, err)
	}
	_, _, err := gh.Look(t.Context(), t.TempDir(), []string{"pull/1"})
	wantError(t, err, "it is no address")
}

func TestAt_knowsTheAddressesOfHosts(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/a/b.git": "github", "git@github.com:a/b.git": "github",
		"ssh://git@ssh.github.com:443/a/b": "github", "https://GitHub.com/a/b": "github",
		"https://github.example.org/a/b": "github", "https://tree.ghe.com/a/b": "github",
		"https://gitlab.com/github/b": "gitlab", "git@GitLab.com:a/b/c.git": "gitlab",
		"ssh://git@gitlab.example.org:2222/a/b": "gitlab", "https://www.gitlab.example.org/a/b": "gitlab",
		"https://notgithub.com/a/b": "none", "https://mygitlab.org/a/b": "none", "/srv/github.com:a": "none",
		"file:///srv/github.com/b": "none", "../b": "none", "": "none",
	} {
		if got := forge.At(t.Context(), address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}

func TestAt_knowsTheHostThatAVariableNames(t *testing.T) {
	t.Setenv("GH_HOST", "code.example.org")
	t.Setenv("GITLAB_HOST", "https://salsa.example.org:8443")
	for address, want := range map[string]string{
		"https://code.example.org/a/b": "github", "git@salsa.example.org:a/b": "gitlab",
		"https://example.org/a/b": "none",
	} {
		if got := forge.At(t.Context(), address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}
