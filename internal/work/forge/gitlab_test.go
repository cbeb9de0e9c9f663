package forge_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/work/forge"
)

// recorded are answers in the shape that GitLab documents. No one has run glab for them.
const recorded = "testdata/gitlab/coffee"

// glab answers from the recordings in a folder.
// A file is named after what is asked for; what has none is not found there. It notes what it was asked.
func glab(t *testing.T, recordings string) (forge.GL, string) {
	t.Helper()
	folder, err := filepath.Abs(recordings)
	if err != nil {
		t.Fatal(err)
	}
	dir := program(t, "glab", `here=${0%/*}
for word; do case $word in projects/*) asked=$word ;; esac; done
echo "$asked" >>"$here/asked"
case $* in *--include*) cat '`+folder+`/header' ;; esac
file='`+folder+`'/$(echo "${asked%%\?*}" | sed 's,^projects/,,; s,/,+,g')
if test -e "$file"; then cat "$file"; else echo '{"message": "404 Not found"}'; echo 'glab: 404 Not found (HTTP 404)' >&2; exit 1; fi`)
	return forge.GL{Path: dir}, dir
}

const coffee = "https://gitlab.com/group/sub/coffee.git"

func TestGitLab_findsTheMergeRequestsOfTheVeryBranch(t *testing.T) {
	t.Parallel()
	at := "https://gitlab.com/group/sub/coffee/-/merge_requests/"
	for _, remote := range []string{coffee, "git@gitlab.com:group/sub/coffee.git",
		"ssh://git@gitlab.com:22/group/sub/coffee"} {
		gl, dir := glab(t, recorded)
		found, err := gl.Find(t.Context(), t.TempDir(), remote, "fix/a&b")
		if err != nil {
			t.Fatal(err)
		}
		want := []record.PullRequest{
			{URL: at + "9", State: record.PROpen, Commit: "c9", Base: "main"},
			{URL: at + "8", State: record.PRMerged, Commit: "c8", Base: "main",
				Merge: "m8", Foreign: true},
		}
		if !slices.Equal(found, want) {
			t.Errorf("found %+v, want %+v", found, want)
		}
		asked := "projects/group%2Fsub%2Fcoffee/merge_requests?scope=all&state=all&order_by=created_at&sort=desc" +
			"&per_page=30&source_branch=fix%2Fa%26b\n"
		if got := read(t, dir, "asked"); got != asked {
			t.Errorf("it asked %q, want %q", got, asked)
		}
	}
	gl, _ := glab(t, recorded)
	_, err := gl.Find(t.Context(), t.TempDir(), "/srv/coffee", "fix")
	wantError(t, err, "expected a project on GitLab")
}

func TestGitLab_handsTitleAndTextOverAsTheyAre(t *testing.T) {
	t.Parallel()
	dir := program(t, "glab",
		`echo '{"iid": 10, "web_url": "https://gitlab.com/a/b/-/merge_requests/10", "state": "opened"}'`)
	made, err := forge.GL{Path: dir}.Create(t.Context(), t.TempDir(), "git@gitlab.com:a/b.git", forge.Draft{
		Branch: "fix", Base: "main", Title: `$(touch x) "quoted" --web`, Body: "line\n`date`\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := record.PullRequest{URL: "https://gitlab.com/a/b/-/merge_requests/10", State: record.PROpen}
	if made != want {
		t.Errorf("made %+v, want %+v", made, want)
	}
	if got, want := read(t, dir, "words"), "api\n--hostname\ngitlab.com\n--include\n--method\nPOST\n--header\n"+
		"Content-Type: application/json\n--input\n-\nprojects/a%2Fb/merge_requests\n"; got != want {
		t.Errorf("the words are %q, want %q", got, want)
	}
	if got, want := read(t, dir, "input"), `{"description":"line\n`+"`date`"+
		`\n","source_branch":"fix","target_branch":"main","title":"$(touch x) \"quoted\" --web"}`; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	dir = program(t, "glab", `echo '{}'`)
	_, err = forge.GL{Path: dir}.Create(t.Context(), t.TempDir(), "git@gitlab.com:a/b.git", forge.Draft{Branch: "fix"})
	wantError(t, err, `the merge request for "fix"`, "names no address")
}

func TestGitLab_saysWhatToDo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		says   []string
	}{
		"no login": {`echo '{"message": "401 Unauthorized"}'; echo 'glab: 401 Unauthorized (HTTP 401)' >&2; exit 1`,
			[]string{`cannot ask GitLab for the merge requests of "fix"`, "glab: 401 Unauthorized", "glab auth login"}},
		"not allowed": {`echo 'glab: 404 Project Not Found (HTTP 404)' >&2; exit 1`, []string{"glab auth status"}},
		"no network": {`echo 'dial tcp: lookup gitlab.com: no such host' >&2; exit 1`,
			[]string{"whether GitLab can be"}},
		"silent":  {`exit 7`, []string{"status 7 and said nothing"}},
		"no JSON": {`echo '<html>down</html>'`, []string{"cannot read what glab answers", "glab api version"}},
		"what a terminal obeys": {`printf 'glab: \033]52;c;eA==\007' >&2; exit 1`,
			[]string{`glab: \x1b]52;c;eA==\x07`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gl := forge.GL{Path: program(t, "glab", tt.script)}
			found, err := gl.Find(t.Context(), t.TempDir(), coffee, "fix")
			wantError(t, err, tt.says...)
			if len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
	_, err := forge.GL{Path: t.TempDir()}.Find(t.Context(), t.TempDir(), coffee, "fix")
	wantError(t, err, `cannot find the program "glab"`, "install it", "glab auth login")
	slow := forge.GL{Path: program(t, "glab", `exec tail -f /dev/null`), Patience: 50 * time.Millisecond}
	_, err = slow.Find(t.Context(), t.TempDir(), coffee, "fix")
	wantError(t, err, "glab gave no answer within 50ms", "check whether GitLab can be reached")
}

func TestGitLab_saysWhenTheQuotaIsThereAgain(t *testing.T) {
	t.Parallel()
	script := `printf 'HTTP/2.0 429 Too Many Requests\nRateLimit-Limit: 2000\nRateLimit-Remaining: 0\n` +
		`RateLimit-Reset: 1772373600\n\r\nRetry later\n'; echo 'glab: HTTP 429' >&2; exit 1`
	gl := forge.GL{Path: program(t, "glab", script)}
	_, quota, err := gl.Look(t.Context(), t.TempDir(), []string{"https://gitlab.com/a/b/-/merge_requests/1"})
	limit, is := errors.AsType[*forge.Limited](err)
	if !is || !limit.Until.Equal(time.Unix(1772373600, 0)) {
		t.Errorf("the error is %#v", err)
	}
	wantError(t, err, "GitLab takes calls again at 2026-03-01T14:00:00Z: try again then")
	if want := (forge.Quota{Limit: 2000, Reset: time.Unix(1772373600, 0)}); quota != want {
		t.Errorf("the quota is %+v, want %+v", quota, want)
	}
	gl = forge.GL{Path: program(t, "glab", `echo 'glab: HTTP 429' >&2; exit 1`)}
	_, err = gl.Find(t.Context(), t.TempDir(), coffee, "fix")
	wantError(t, err, "wait until GitLab takes calls again, and try again")
}

func TestGitLab_tellsStatesWithOneQuestionAProject(t *testing.T) {
	t.Parallel()
	gl, dir := glab(t, recorded)
	at := "https://gitlab.com/group/sub/coffee/-/merge_requests/"
	found, err := gl.States(t.Context(), t.TempDir(), []string{at + "8", at + "9", at + "7", at + "6", at + "404",
		"https://gitlab.com/nonsense"})
	wantError(t, err, "cannot read the state of the merge request "+at+"404", "does not know it",
		`"https://gitlab.com/nonsense": it is no address of one`)
	want := []record.PullRequest{
		{URL: at + "9", State: record.PROpen, Commit: "c9", Base: "main"},
		{URL: at + "8", State: record.PRMerged, Commit: "c8", Base: "main", Merge: "m8", Foreign: true},
		{URL: at + "7", State: record.PRClosed, Commit: "c7", Base: "main"},
		{URL: at + "6", State: record.PRMerged, Commit: "c6", Base: "main", Merge: "s6"},
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %+v, want %+v", found, want)
	}
	if asked := read(t, dir, "asked"); strings.Count(asked, "\n") != 1 ||
		!strings.Contains(asked, "&iids[]=8&iids[]=9&iids[]=7&iids[]=6&iids[]=404\n") {
		t.Errorf("it asked %q", asked)
	}
}

func TestGitLab_tellsJobsAndReviewsOfTheHead(t *testing.T) {
	t.Parallel()
	gl, _ := glab(t, recorded)
	at := "https://gitlab.com/group/sub/coffee/-/merge_requests/9"
	found, quota, err := gl.Look(t.Context(), t.TempDir(), []string{at})
	if err != nil {
		t.Fatal(err)
	}
	job := func(id, name, result, why string) record.PRCheck {
		return record.PRCheck{ID: "job " + id, Name: name, Result: result, Said: why,
			Address: "https://gitlab.com/group/sub/coffee/-/jobs/" + id, Log: "projects/3/jobs/" + id + "/trace"}
	}
	want := []record.PRLook{{
		PullRequest: record.PullRequest{URL: at, State: record.PROpen, Commit: "c9", Base: "main",
			Checks: record.ChecksFail},
		Runs: []record.PRCheck{
			job("71", "build", record.ChecksFail, "script_failure"),
			job("72", "lint", record.ChecksNone, "script_failure"),
			job("73", "test", record.ChecksPass, ""), job("74", "deploy", record.ChecksNone, ""),
			job("75", "slow", record.ChecksPending, ""),
		},
		Reviews: []record.PRReview{
			{ID: "note 503", Commit: "c9", State: record.ReviewChanges, Said: "Please no.",
				Author: record.PRAuthor{Name: "ann", Writes: true},
				Notes:  []record.PRNote{{Path: "main.go", Line: 3, Said: "here"}}},
			{ID: "note 506", Commit: "c8", State: record.ReviewChanges, Author: record.PRAuthor{Name: "eve"},
				Said: "Of the old one."},
			{ID: "note 507", Commit: "c9", State: record.ReviewChanges,
				Author: record.PRAuthor{Name: "project_3_bot_lint", Bot: true}, Said: "Too long."},
		},
	}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("found\n%+v, want\n%+v", found, want)
	}
	if want := (forge.Quota{Limit: 2000, Remaining: 1990, Reset: time.Unix(1772373600, 0)}); quota != want {
		t.Errorf("the quota is %+v, want %+v", quota, want)
	}
}

// What cannot be read of one is missing from it, and nothing follows from that.
func TestGitLab_aLookThatIsCutShortHasWhatWasRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(recorded)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "group%2Fsub%2Fcoffee+merge_requests+9+reviewers")); err != nil {
		t.Fatal(err)
	}
	gl, _ := glab(t, folder)
	found, _, err := gl.Look(t.Context(), t.TempDir(), []string{
		"https://gitlab.com/group/sub/coffee/-/merge_requests/9"})
	wantError(t, err, "cannot read what is said of https://gitlab.com/group/sub/coffee/-/merge_requests/9", "HTTP 404")
	if len(found) != 1 || found[0].Checks != record.ChecksFail || len(found[0].Runs) != 5 || found[0].Reviews != nil {
		t.Errorf("found %+v", found)
	}
}

func TestGitLab_readsTheEndOfALog(t *testing.T) {
	t.Parallel()
	dir := program(t, "glab", `yes line | head -n 1000; echo last`)
	at := "https://gitlab.com/a/b/-/merge_requests/1"
	text, err := forge.GL{Path: dir}.Log(t.Context(), t.TempDir(), at, "projects/3/jobs/71/trace", 20)
	if err != nil || !strings.HasSuffix(text, "line\nlast\n") || len(text) > 20 {
		t.Errorf("the log is %q, %v", text, err)
	}
	if got := read(t, dir, "words"); got != "api\n--hostname\ngitlab.com\nprojects/3/jobs/71/trace\n" {
		t.Errorf("the words are %q", got)
	}
}

func TestGitLab_readsAMergeRequestToAdopt(t *testing.T) {
	t.Parallel()
	gl, _ := glab(t, recorded)
	a, err := gl.Request(t.Context(), t.TempDir(), coffee, 9)
	at := "https://gitlab.com/group/sub/coffee/-/merge_requests/9"
	ann := record.PRAuthor{Name: "ann", Writes: true}
	want := record.Adoptee{Number: 9, Ref: "refs/merge-requests/9/head", Branch: "fix/a&b", From: "group/sub/coffee",
		PullRequest: record.PullRequest{URL: at, State: record.PROpen, Commit: "c9", Base: "main"},
		Issue:       record.Issue{Address: at, Title: "Fix it", Text: "so", Author: ann}}
	if err != nil || a != want {
		t.Errorf("found\n%+v, %v, want\n%+v", a, err, want)
	}
	a, err = gl.Request(t.Context(), t.TempDir(), coffee, 8)
	if err != nil || !a.Foreign || a.From != "eve/coffee" || a.Branch != "pr/8/fix/a&b" || !a.MayModify ||
		a.Author.Writes {
		t.Errorf("of a fork it found %+v, %v", a, err)
	}
	_, err = gl.Request(t.Context(), t.TempDir(), coffee, 404)
	wantError(t, err, "cannot read merge request 404", "glab mr list --all")
}

func TestGitLab_readsAnIssue(t *testing.T) {
	t.Parallel()
	gl, _ := glab(t, recorded)
	issue, err := gl.Issue(t.Context(), t.TempDir(), coffee, 7)
	want := record.Issue{Address: "https://gitlab.com/group/sub/coffee/-/issues/7", Title: "It fails", Text: "so",
		Author: record.PRAuthor{Name: "eve"}}
	if err != nil || issue != want {
		t.Errorf("found %+v, %v, want %+v", issue, err, want)
	}
	_, err = gl.Issue(t.Context(), t.TempDir(), coffee, 404)
	wantError(t, err, "cannot read issue 404", "HTTP 404")
}
