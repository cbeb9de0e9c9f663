package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

const (
	asked  = "1. Which port?\n2. \x1b[31mWhich <b>year</b> \\033?\x00"
	toSay  = `orange task say abc "..."`
	reason = "asks 2 questions: Which port?"
)

// asks is a function that knows what a task needs. It must be asked about the task as it is now.
func asks(t *testing.T, need record.Need, err error) func(context.Context, task.Task) (record.Need, error) {
	t.Helper()
	return func(ctx context.Context, one task.Task) (record.Need, error) {
		if _, bounded := ctx.Deadline(); one.ID != "abc" || one.Attention != "" || !bounded {
			t.Errorf("it asks about %s with the mark %q; bounded: %t", one.ID, one.Attention, bounded)
		}
		return need, err
	}
}

func questions() record.Need {
	return record.Need{Kind: record.NeedsPerson, Reason: reason, Text: asked,
		Commands: []string{toSay, "orange task attach abc --role worker"}}
}

// aNoticeOfNow is a notice of the status that the task is in.
func aNoticeOfNow(via string) record.Job {
	job := aNotice(via)
	job.Task.Status = job.Event.To
	return job
}

// posted is what a webhook got.
func posted(t *testing.T, need func(context.Context, task.Task) (record.Need, error), job record.Job) (
	text, answer any) {
	t.Helper()
	got := make(chan map[string]any, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		got <- body
	}))
	defer server.Close()
	executor, _ := newExecutor(t)
	executor.Need = need
	job.Hook.URL = server.URL
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	body := <-got
	return body["text"], body["answer"]
}

func TestNotify_aWebhookGetsTheWholeTextAndTheCommandThatAnswers(t *testing.T) {
	t.Parallel()
	short := questions()
	short.Text = ""
	failed := aNoticeOfNow(action.ViaWebhook)
	failed.Task.Attention = record.HookMark + "notify: no answer" // of the first try
	for name, c := range map[string]struct {
		need   func(context.Context, task.Task) (record.Need, error)
		job    record.Job
		text   string
		answer string
	}{
		"questions":         {asks(t, questions(), nil), aNoticeOfNow(action.ViaWebhook), asked, toSay},
		"a reason alone":    {asks(t, short, nil), aNoticeOfNow(action.ViaWebhook), reason, toSay},
		"half known":        {asks(t, questions(), errPort), aNoticeOfNow(action.ViaWebhook), asked, toSay},
		"tried again":       {asks(t, questions(), nil), failed, asked, toSay},
		"not to find out":   {asks(t, record.Need{}, errPort), aNoticeOfNow(action.ViaWebhook), "", ""},
		"none who knows":    {nil, aNoticeOfNow(action.ViaWebhook), "", ""},
		"in another status": {asks(t, questions(), nil), aNotice(action.ViaWebhook), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if text, answer := posted(t, c.need, c.job); text != c.text || answer != c.answer {
				t.Errorf("found %q and %q, want %q and %q", text, answer, c.text, c.answer)
			}
		})
	}
}

func TestNotify_aCommandHasTheWholeTextInItsEnvironment(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aNoticeOfNow(action.ViaCommand)
	job.Hook.Run = []string{"tell", "{message}"}
	need := questions()
	for _, text := range []string{asked, strings.Repeat("ä", 100_000)} {
		need.Text = text
		executor.Need = asks(t, need, nil)
		_, err := executor.Perform(t.Context(), job)
		must(t, err)
		want := strings.ReplaceAll(text, "\x00", "\uFFFD")
		if len(text) > len(asked) {
			want = text[:64<<10] + "..."
		}
		for _, pair := range []string{"ORANGE_TEXT=" + want, "ORANGE_MESSAGE=" + told, "ORANGE_TASK_ID=abc"} {
			if !slices.Contains(p.ran.Base, pair) {
				t.Errorf("the environment does not have %.200q", pair)
			}
		}
		if want := []string{"tell", told}; !slices.Equal(p.argv(), want) {
			t.Errorf("it ran %q, want %q", p.argv(), want)
		}
	}
	executor.Need = asks(t, record.Need{}, errors.New("blind"))
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if !slices.Contains(p.ran.Base, "ORANGE_TEXT=") {
		t.Errorf("the environment is %q", p.ran.Base)
	}
}

// What an agent writes is neither a control character nor markup nor an escape on the desktop.
func TestNotify_theDesktopShowsTheTextBelowTheMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 401)
	for system, want := range map[string]string{
		"linux":  "1. Which port?\n2. \\\\x1b[31mWhich &lt;b&gt;year&lt;/b&gt; \\\\033?\\\\x00",
		"darwin": "1. Which port?\n2. \\x1b[31mWhich <b>year</b> \\033?\\x00",
	} {
		executor, p := newExecutor(t)
		executor.System = system
		for text, shown := range map[string]string{asked: want, long: long[:800] + "..."} {
			need := questions()
			need.Text = text
			executor.Need = asks(t, need, nil)
			_, err := executor.Perform(t.Context(), aNoticeOfNow(action.ViaDesktop))
			must(t, err)
			argv := p.argv()
			if got := argv[len(argv)-1]; got != told+"\n"+shown {
				t.Errorf("%s: it shows %q, want %q", system, got, told+"\n"+shown)
			}
		}
	}
}
