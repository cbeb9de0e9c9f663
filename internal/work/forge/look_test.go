package forge_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/work/forge"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestLook_tellsChecksAndReviewsWithTheirCommitAndAuthor(t *testing.T) {
	t.Parallel()
	gh, _ := fake(t, `printf 'HTTP/2.0 200 OK\r\nX-Ratelimit-Limit: 5000\r\nX-Ratelimit-Remaining: 4200\r\nX-Ratelimit-Reset: 1772373600\r\n\r\n'
cat <<'END'
{"data": {"p0": {"state": "OPEN", "headRefOid": "c1",
 "reviews": {"nodes": [
  {"id": "R1", "state": "CHANGES_REQUESTED", "body": "no", "authorAssociation": "MEMBER", "author": {"__typename": "User", "login": "ann"},
   "commit": {"oid": "c1"}, "comments": {"nodes": [{"path": "a.go", "line": 3, "body": "here"}, {"path": "b.go", "line": null, "body": "gone"}]}},
  {"id": "R2", "state": "COMMENTED", "body": "hm", "authorAssociation": "NONE", "author": {"__typename": "User", "login": "eve"}, "commit": null},
  {"id": "R3", "state": "APPROVED", "body": "", "authorAssociation": "COLLABORATOR", "author": {"__typename": "Bot", "login": "lint"}, "commit": {"oid": "c0"}},
  {"id": "R4", "state": "CHANGES_REQUESTED", "body": "", "authorAssociation": "OWNER", "author": null, "commit": {"oid": "c1"}}]},
 "commits": {"nodes": [{"commit": {"oid": "c1", "statusCheckRollup": {"state": "FAILURE", "contexts": {"nodes": [
  {"__typename": "CheckRun", "databaseId": 7, "name": "build", "status": "COMPLETED", "conclusion": "FAILURE", "detailsUrl": "https://x/7", "title": "bad", "summary": "very", "checkSuite": {"app": {"slug": "github-actions"}}},
  {"__typename": "CheckRun", "databaseId": 8, "name": "slow", "status": "IN_PROGRESS", "conclusion": null, "checkSuite": null},
  {"__typename": "CheckRun", "databaseId": 9, "name": "off", "status": "COMPLETED", "conclusion": "CANCELLED"},
  {"__typename": "StatusContext", "id": "S1", "context": "ci/x", "state": "ERROR", "description": "broke", "targetUrl": "https://x/s"},
  {"__typename": "StatusContext", "id": "S2", "context": "never", "state": "EXPECTED"}]}}}}]}}}}
END`)
	found, quota, err := gh.Look(t.Context(), t.TempDir(), []string{"https://github.com/a/b/pull/1"})
	if err != nil {
		t.Fatal(err)
	}
	ann := record.PRAuthor{Name: "ann", Writes: true}
	want := []record.PRLook{{
		PullRequest: record.PullRequest{URL: "https://github.com/a/b/pull/1", State: record.PROpen, Commit: "c1",
			Checks: record.ChecksFail},
		Runs: []record.PRCheck{
			{ID: "run 7", Name: "build", Result: record.ChecksFail, Address: "https://x/7", Said: "bad\n\nvery",
				Log: "7"},
			{ID: "run 8", Name: "slow", Result: record.ChecksPending},
			{ID: "run 9", Name: "off", Result: record.ChecksNone},
			{ID: "status S1", Name: "ci/x", Result: record.ChecksFail, Address: "https://x/s", Said: "broke"},
			{ID: "status S2", Name: "never", Result: record.ChecksNone},
		},
		Reviews: []record.PRReview{
			{ID: "R1", Commit: "c1", State: record.ReviewChanges, Author: ann, Said: "no",
				Notes: []record.PRNote{{Path: "a.go", Line: 3, Said: "here"}, {Path: "b.go", Said: "gone"}}},
			{ID: "R2", State: "COMMENTED", Author: record.PRAuthor{Name: "eve"}, Said: "hm"},
			{ID: "R3", Commit: "c0", State: record.ReviewApproved, Author: record.PRAuthor{Name: "lint", Bot: true}},
			{ID: "R4", Commit: "c1", State: record.ReviewChanges},
		},
	}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("found\n%+v, want\n%+v", found, want)
	}
	if want := (forge.Quota{Limit: 5000, Remaining: 4200, Reset: time.Unix(1772373600, 0)}); quota != want {
		t.Errorf("the quota is %+v, want %+v", quota, want)
	}
}

func TestLook_ofChecksOfAnotherCommitThanTheHead(t *testing.T) {
	t.Parallel()
	gh, _ := fake(t, `echo '{"data": {"p0": {"state": "OPEN", "headRefOid": "c2", "commits": {"nodes": [{"commit": {"oid": "c1",
		"statusCheckRollup": {"state": "FAILURE", "contexts": {"nodes": [{"__typename": "StatusContext", "id": "S1", "state": "FAILURE"}]}}}}]}}}}'`)
	found, _, err := gh.Look(t.Context(), t.TempDir(), []string{"https://github.com/a/b/pull/1"})
	if err != nil || len(found) != 1 || len(found[0].Runs) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestLook_saysWhenTheQuotaIsThereAgain(t *testing.T) {
	t.Parallel()
	gh, _ := fake(t, `printf 'HTTP/2.0 403 Forbidden\r\nX-Ratelimit-Limit: 5000\r\nX-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 1772373600\r\n\r\n{"message": "x"}'
echo 'gh: API rate limit exceeded for user ID 1. (HTTP 403)' >&2; exit 1`)
	_, _, err := gh.Look(t.Context(), t.TempDir(), []string{"https://github.com/a/b/pull/1"})
	limit, is := errors.AsType[*forge.Limited](err)
	if !is || !limit.Until.Equal(time.Unix(1772373600, 0)) {
		t.Errorf("the error is %#v", err)
	}
	wantError(t, err, "API rate limit exceeded", "takes calls again at 2026-03-01T14:00:00Z: try again then")
}

func TestLog_isTheEndOfIt(t *testing.T) {
	t.Parallel()
	gh, dir := fake(t, `yes line | head -n 1000; echo last`)
	text, err := gh.Log(t.Context(), t.TempDir(), "https://github.com/a/b/pull/1", "77", 20)
	if err != nil || !strings.HasSuffix(text, "line\nlast\n") || len(text) > 20 {
		t.Errorf("the log is %q, %v", text, err)
	}
	want := "api\n--hostname\ngithub.com\nrepos/a/b/actions/jobs/77/logs\n"
	if got := read(t, dir, "words"); got != want {
		t.Errorf("the words are %q, want %q", got, want)
	}
	for _, address := range []string{"a/b", "https://github.com/a/b"} {
		_, err = gh.Log(t.Context(), t.TempDir(), address, "77", 20)
		wantError(t, err, "cannot read a log")
	}
}

func TestIssue_isReadFromTheRepositoryOfOrigin(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{"https://github.com/a/b.git", "git@github.com:a/b.git",
		"ssh://git@github.com:22/a/b"} {
		gh, dir := fake(t, `echo '{"title": "It fails", "body": "so", "html_url": "https://github.com/a/b/issues/7",
			"author_association": "OWNER", "user": {"login": "ann", "type": "User"}}'`)
		issue, err := gh.Issue(t.Context(), t.TempDir(), remote, 7)
		if want := (record.Issue{Address: "https://github.com/a/b/issues/7", Title: "It fails", Text: "so",
			Author: record.PRAuthor{Name: "ann", Writes: true}}); err != nil || issue != want {
			t.Errorf("%s: found %+v, %v", remote, issue, err)
		}
		if got := read(t, dir, "words"); got != "api\n--hostname\ngithub.com\nrepos/a/b/issues/7\n" {
			t.Errorf("%s: the words are %q", remote, got)
		}
	}
	gh, _ := fake(t, `echo '{"message": "x"}'`)
	_, err := gh.Issue(t.Context(), t.TempDir(), "https://github.com/a/b", 7)
	wantError(t, err, "cannot read issue 7 of a/b", "has no title")
	_, err = gh.Issue(t.Context(), t.TempDir(), "/srv/b", 7)
	wantError(t, err, "cannot read issue 7", "expected a repository on GitHub")
}

func TestPause_doublesAfterErrorsAndLeavesAFifthToPeople(t *testing.T) {
	t.Parallel()
	soon := noon.Add(time.Hour)
	p := record.ForgePause{Host: "github.com"}
	var waits []time.Duration
	for range 8 {
		p = forge.Pause(p, forge.Quota{}, false, errors.New("no network"), noon)
		waits = append(waits, p.Until.Sub(noon))
	}
	minutes := []time.Duration{2, 4, 8, 16, 32, 60, 60, 60}
	for i := range waits {
		if waits[i] != minutes[i]*time.Minute {
			t.Errorf("it waits %v", waits)
			break
		}
	}
	p = forge.Pause(p, forge.Quota{}, true, errors.New("one is unknown"), noon)
	if p.Holds(noon) || p.Failures != 0 {
		t.Errorf("after an answer it is %+v", p)
	}
	for remaining, wait := range map[int]bool{5000: false, 1000: false, 999: true, 0: true} {
		p = forge.Pause(p, forge.Quota{Limit: 5000, Remaining: remaining, Reset: soon}, true, nil, noon)
		if p.Holds(noon) != wait || wait && !p.Until.Equal(soon) {
			t.Errorf("with %d left it is %+v", remaining, p)
		}
	}
	p = forge.Pause(p, forge.Quota{}, false, &forge.Limited{Said: "enough", Until: soon}, noon)
	if !p.Until.Equal(soon) {
		t.Errorf("when too much was asked it is %+v", p)
	}
	if p = forge.Pause(p, forge.Quota{}, false, &forge.Limited{Said: "enough"}, noon); !p.Holds(noon) {
		t.Errorf("when too much was asked, no one knows how long, it is %+v", p)
	}
}
