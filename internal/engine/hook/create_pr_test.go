package hook_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestPushBranch_tellsWhatOriginHasNow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pushed  string
		unmoved bool
		events  int
		said    string
	}{
		"pushed":    {"c0ffee", false, 1, "pushed fix"},
		"again":     {"c0ffee", true, 0, "origin has the branch already"},
		"no origin": {"", false, 0, "no origin to push to"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, p := newExecutor(t)
			p.pushed, p.unmoved = tt.pushed, tt.unmoved
			effect, err := executor.Perform(t.Context(), aJob(action.PushBranch, ""))
			must(t, err)
			wantCalls(t, p, "push fix")
			if len(effect.Events) != tt.events || effect.Said != tt.said ||
				(effect.Pushed != nil) != (tt.pushed != "") {
				t.Errorf("the effect is %+v", effect)
			}
			if effect.Pushed != nil && *effect.Pushed != tt.pushed {
				t.Errorf("it pushed %s", *effect.Pushed)
			}
		})
	}
}

const (
	handedOver = "---\nid: abc\n---\n\n## Context\n\nso it began\n\n## Handoff\n\nDONE: it all\n`date`\n\n" +
		"## Review\n\nno\n"
	wantBody = "mend the gate\n\nCommit: c0ffee. Nothing was judged yet.\n\n## Context\n\nso it began\n\n" +
		"## Handoff\n\nDONE: it all\n`date`\n"
)

func TestCreatePR_pushesAndOpensOne(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.tree, p.document = t.TempDir(), handedOver
	job := aJob(action.CreatePR, "")
	job.Task.Summary = "mend the gate\nand more"
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "pull-requests garden fix", "push fix", "open garden fix main")
	if p.draft.Title != "mend the gate" ||
		p.draft.Body != strings.Replace(wantBody, "mend the gate\n", "mend the gate\nand more\n", 1) {
		t.Errorf("the draft is %+v", p.draft)
	}
	if effect.PR == nil || effect.PR.URL != "https://github.com/a/garden/pull/1" ||
		effect.PR.State != record.PROpen || effect.Pushed == nil {
		t.Errorf("the effect is %+v", effect)
	}
	if last := effect.Events[len(effect.Events)-1]; last.Type != history.PRCreated ||
		last.Data["url"] != effect.PR.URL {
		t.Errorf("the events are %+v", effect.Events)
	}

	// Again, after an attempt that was cut short before it could be noted, and once more after it was.
	p.known, p.unmoved = []record.PullRequest{{URL: effect.PR.URL, State: record.PROpen, Commit: "c0ffee"}}, true
	effect, err = executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "pull-requests garden fix", "push fix")
	if len(effect.Events) != 1 || effect.Events[0].Type != history.PRCreated {
		t.Errorf("the events are %+v", effect.Events)
	}
	job.Task.PRURL = effect.PR.URL
	effect, err = executor.Perform(t.Context(), job)
	must(t, err)
	if len(effect.Events) != 0 || effect.PR == nil {
		t.Errorf("the effect is %+v", effect)
	}
}

func TestDeleteRemoteBranch_knowsFromWhatAPullRequestWasMerged(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.known = []record.PullRequest{{URL: "other", State: record.PRMerged, Commit: "dead"},
		{URL: "own", State: record.PRMerged, Commit: "c0ffee"}}
	job := aJob(action.DeleteRemoteBranch, "")
	job.Task.PRURL, job.Task.PRState = "own", record.PRMerged
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p, "pull-requests garden fix", "delete-remote fix landed c0ffee")
}

func TestCreatePR_knowsItsOwnPullRequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		known []record.PullRequest
		want  string // empty means that one is opened
	}{
		"open": {
			[]record.PullRequest{{URL: "1", State: record.PRClosed, Commit: "c0ffee"},
				{URL: "2", State: record.PROpen, Commit: "old"}}, "2"},
		"merged just so": {
			[]record.PullRequest{{URL: "1", State: record.PRMerged, Commit: "c0ffee"}}, "1"},
		"merged into another branch": {
			[]record.PullRequest{{URL: "1", State: record.PRMerged, Commit: "c0ffee", Base: "release"}}, ""},
		"merged, and the work went on": {[]record.PullRequest{{URL: "1", State: record.PRMerged, Commit: "old"}}, ""},
		"closed": {
			[]record.PullRequest{{URL: "1", State: record.PRClosed, Commit: "c0ffee"}}, ""},
		"a stranger's of the same name": {
			[]record.PullRequest{{URL: "1", State: record.PROpen, Commit: "theirs", Foreign: true}}, ""},
		"from the fork that origin is": {
			[]record.PullRequest{{URL: "1", State: record.PROpen, Commit: "c0ffee", Foreign: true}}, "1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, p := newExecutor(t)
			p.tree, p.known = t.TempDir(), tt.known
			effect, err := executor.Perform(t.Context(), aJob(action.CreatePR, ""))
			must(t, err)
			if opened := strings.Contains(strings.Join(p.calls, " "), "open "); opened != (tt.want == "") {
				t.Errorf("the calls are %q", p.calls)
			}
			if tt.want != "" && effect.PR.URL != tt.want {
				t.Errorf("it took %+v", effect.PR)
			}
		})
	}
}

func TestCreatePR_withoutAnOriginSaysWhatToDo(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.pushed = ""
	_, err := executor.Perform(t.Context(), aJob(action.CreatePR, ""))
	wantError(t, err, "git remote add origin")
	wantCalls(t, p, "pull-requests garden fix", "push fix")
}

func TestCreatePR_takesTheRepositorysTemplate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".github/pull_request_template.md", "PULL_REQUEST_TEMPLATE.md", "docs/Pull_Request_Template.md",
		".github/PULL_REQUEST_TEMPLATE/pull_request_template.md", ".gitlab/merge_request_templates/Default.md",
	} {
		executor, p := newExecutor(t)
		p.tree, p.document = t.TempDir(), handedOver
		path := filepath.Join(p.tree, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("# What\n\n- [ ] tested\n"), 0o644))
		_, err := executor.Perform(t.Context(), aJob(action.CreatePR, ""))
		must(t, err)
		if want := "# What\n\n- [ ] tested\n\n" + wantBody; p.draft.Body != want {
			t.Errorf("%s: the text is %q, want %q", name, p.draft.Body, want)
		}
	}
	executor, p := newExecutor(t)
	p.tree, p.document = t.TempDir(), handedOver
	must(t, os.WriteFile(filepath.Join(p.tree, "secret"), []byte("s3cret"), 0o600))
	must(t, os.Symlink("secret", filepath.Join(p.tree, "pull_request_template.md")))
	must(t, os.WriteFile(filepath.Join(p.tree, "docs"), nil, 0o600))
	_, err := executor.Perform(t.Context(), aJob(action.CreatePR, ""))
	must(t, err)
	if strings.Contains(p.draft.Body, "s3cret") {
		t.Errorf("the text is %q", p.draft.Body)
	}
}

func TestCreatePR_namesTheJudgedCommit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		subject task.Subject
		want    string
	}{
		"nothing judged": {task.Subject{}, "Commit: c0ffee. Nothing was judged yet."},
		"reviewed": {task.Subject{Commit: "c0ffee", Reviewed: true},
			"Judged commit: c0ffee (reviewed)."},
		"put up": {task.Subject{Commit: "c0ffee", By: "worker <w@x>"}, "Judged commit: c0ffee (not reviewed)."},
		"it went on": {task.Subject{Commit: "0ld", Reviewed: true},
			"Judged commit: 0ld (reviewed). The branch was at c0ffee"},
	}
	for name, tt := range tests {
		executor, p := newExecutor(t)
		p.tree, p.document = t.TempDir(), handedOver
		job := aJob(action.CreatePR, "")
		job.Task.Subject = tt.subject
		_, err := executor.Perform(t.Context(), job)
		must(t, err)
		if !strings.Contains(p.draft.Body, tt.want) {
			t.Errorf("%s: the text is %q, want it to say %q", name, p.draft.Body, tt.want)
		}
	}
}

func TestCreatePR_writesOutWhatNoOneCanSee(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.tree = t.TempDir()
	p.document = "---\nid: abc\n---\n\n## Context\n\n\x1b]52;c;cm0=\a <!-- open\n\n## Handoff\n\nDONE: \u202ex\n"
	job := aJob(action.CreatePR, "")
	job.Task.Summary = "mend \x1b[31mthe\u200b gate"
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if p.draft.Title != `mend \x1b[31mthe\u200b gate` {
		t.Errorf("the title is %q", p.draft.Title)
	}
	for _, hidden := range []string{"\x1b", "\a", "\u202e", "\u200b"} {
		if strings.Contains(p.draft.Body, hidden) {
			t.Errorf("the text has %q: %q", hidden, p.draft.Body)
		}
	}
	// An open comment in the context hides what follows it, and not the judged commit.
	if at := strings.Index(p.draft.Body, "Commit: c0ffee"); at < 0 || at > strings.Index(p.draft.Body, "<!--") {
		t.Errorf("the text is %q", p.draft.Body)
	}
}

func TestCreatePR_staysWithinWhatGitHubTakes(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.tree, p.document = t.TempDir(), "---\nid: abc\n---\n\n## Handoff\n\n"+strings.Repeat("ü", 50_000)+"\n"
	job := aJob(action.CreatePR, "")
	job.Task.Summary = strings.Repeat("ü", 400)
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if n := utf8.RuneCountInString(p.draft.Title); n != 255 {
		t.Errorf("the title has %d characters", n)
	}
	if len(p.draft.Body) > 61_000 || !utf8.ValidString(p.draft.Body) || !strings.Contains(p.draft.Body, "(cut here") {
		t.Errorf("the text has %d bytes", len(p.draft.Body))
	}
	job.Task.Summary, p.document = "", ""
	_, err = executor.Perform(t.Context(), job)
	must(t, err)
	if p.draft.Title != "fix" {
		t.Errorf("the title is %q", p.draft.Title)
	}
}

func TestUpdatePR_pushesTheJudgedCommitAsTheProjectPushes(t *testing.T) {
	t.Parallel()
	const address = "https://github.com/a/garden/pull/1"
	open := record.PullRequest{URL: address, State: record.PROpen}
	foreign := record.PullRequest{URL: address, State: record.PROpen, Foreign: true}
	over := record.PullRequest{URL: address, State: record.PRMerged}
	find, push := "pull-requests garden fix", "push bad5eed of fix"
	for name, tt := range map[string]struct {
		policy, state, pushed string
		known                 []record.PullRequest
		calls                 []string
		said, refused         string
	}{
		"by itself": {"", record.PROpen, "", []record.PullRequest{open}, []string{find, push}, "pushed fix", ""},
		"always": {"always", record.PROpen, "", []record.PullRequest{open}, []string{find, push}, "pushed fix",
			""},
		"never":          {"never", record.PROpen, "", nil, nil, "push it with orange task create-pr abc", ""},
		"ask":            {"ask", record.PROpen, "", nil, nil, "", "push it: orange task create-pr abc"},
		"it has it":      {"", record.PROpen, "bad5eed", nil, nil, "has the judged commit already", ""},
		"it was merged":  {"", record.PRMerged, "", nil, nil, "no open pull request any more", ""},
		"it was by now":  {"", record.PROpen, "", []record.PullRequest{over}, []string{find}, "", "it may be over"},
		"of a fork":      {"", record.PROpen, "", []record.PullRequest{foreign}, []string{find}, "", "or of a fork"},
		"no one has one": {"", record.PROpen, "", nil, []string{find}, "", "nothing was pushed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor, p := newExecutor(t)
			p.known = tt.known
			job := aJob(action.UpdatePR, "")
			job.Project.Push, job.Event.Subject.Commit = tt.policy, "bad5eed"
			job.Task.Live, job.Task.PRURL, job.Task.PRState, job.Task.Pushed = true, address, tt.state, tt.pushed
			effect, err := executor.Perform(t.Context(), job)
			wantCalls(t, p, tt.calls...)
			if !strings.Contains(effect.Said, tt.said) || (effect.Pushed != nil) != slices.Contains(tt.calls, push) {
				t.Errorf("the effect is %+v", effect)
			}
			if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
