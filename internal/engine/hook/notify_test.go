package hook_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// aNotice is a notice of a move that the task has left behind already.
func aNotice(via string) record.Job {
	job := aJob(action.Notify, "")
	job.Hook.Via, job.Hook.Message = via, "{summary} is {status} in round {review_round}\n"
	job.Event = history.Event{Seq: 5, Type: history.StatusChanged, From: "open", To: "checked", Counters: task.Counters{
		{Name: task.ReviewRound, Value: 1}}}
	return job
}

const told = "mend the gate is checked in round 1"

func TestNotify_onTheDesktopPutsWordsIntoNoScript(t *testing.T) {
	t.Parallel()
	for system, want := range map[string][]string{
		"linux": {"notify-send", "--app-name=Orange", "--", "Orange: garden", told},
		"darwin": {
			"osascript", "-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
			"Orange: garden", told,
		},
	} {
		executor, p := newExecutor(t)
		executor.System = system
		_, err := executor.Perform(t.Context(), aNotice(action.ViaDesktop))
		must(t, err)
		if !slices.Equal(p.argv(), want) || p.limits.Time != 10*time.Second {
			t.Errorf("%s: it ran %q", system, p.argv())
		}
	}
}

func TestNotify_onADesktopThatCannotShowItSaysSo(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	delete(p.programs, "notify-send")
	_, err := executor.Perform(t.Context(), aNotice(action.ViaDesktop))
	wantError(t, err, `cannot find the program "notify-send" on PATH; install it, or notify via webhook`)
	executor.System = "plan9"
	_, err = executor.Perform(t.Context(), aNotice(action.ViaDesktop))
	wantError(t, err, `desktop of "plan9"`)
	wantCalls(t, p)
	executor, p = newExecutor(t)
	p.ended = proc.LimitedResult{Code: 1, Output: "no bus\n"}
	_, err = executor.Perform(t.Context(), aNotice(action.ViaDesktop))
	wantError(t, err, `"notify-send" ended with status 1: no bus`)
}

func TestNotify_postsToAWebhook(t *testing.T) {
	t.Parallel()
	type seen struct {
		method, mark, kind string
		body               map[string]any
	}
	got := make(chan seen, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := seen{method: r.Method, mark: r.Header.Get("Orange-Hook-Id"), kind: r.Header.Get("Content-Type")}
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &s.body)
		got <- s
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	executor, p := newExecutor(t)
	job := aNotice(action.ViaWebhook)
	job.Hook.URL = server.URL + "/in?key=s3cret"
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	wantCalls(t, p)
	s := <-got
	if s.method != "POST" || s.mark != "7" || s.kind != "application/json" || effect.Said != "told via webhook" {
		t.Errorf("the server saw %+v", s)
	}
	for key, want := range map[string]any{
		"task": "abc", "project": "garden", "branch": "fix", "status": "checked", "from": "open", "message": told,
		"hook": float64(7),
	} {
		if s.body[key] != want {
			t.Errorf("%s is %v, want %v", key, s.body[key], want)
		}
	}
	if len(s.body) != 9 || s.body["text"] != "" || s.body["answer"] != "" {
		t.Errorf("the body is %v", s.body)
	}
}

func TestNotify_failsWithWhatTheWebhookSays(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("no coffee here\xff" + strings.Repeat("x", 1<<20)))
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/in", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/in", func(http.ResponseWriter, *http.Request) {
		t.Error("the message was sent on to another address")
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(stop)
	gone := httptest.NewServer(mux)
	gone.Close()
	for address, says := range map[string]string{
		server.URL + "/refuses": "answered with status 418: no coffee here", server.URL + "/moved": "status 307",
		server.URL + "/silent": "no answer within 1s", server.URL + "/endless": "status 500",
		gone.URL + "/in": "could not be reached",
		"://":            "cannot be read",
	} {
		t.Run(strings.TrimPrefix(address, server.URL), func(t *testing.T) {
			executor, _ := newExecutor(t)
			job := aNotice(action.ViaWebhook)
			job.Hook.URL, job.Hook.Timeout = address+"?key=s3cret", 1
			_, err := executor.Perform(t.Context(), job)
			wantError(t, err, says)
			if err != nil && (strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 1000) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestNotify_runsACommandWithTheMessageAsAWord(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aNotice(action.ViaCommand)
	job.Task.Summary = "$(touch x); {branch} --help"
	job.Hook.Message, job.Hook.Run = "{summary} on {branch}", []string{"tell", "it is: {message}", "{unknown}",
		"{project}"}
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	want := []string{"tell", "it is: $(touch x); {branch} --help on fix", "{unknown}", "garden"}
	if !slices.Equal(p.argv(), want) || p.ran.Dir != "/work/tree" || p.limits.Time != 5*time.Minute {
		t.Errorf("it ran %+v", p.ran)
	}
}

func TestNotify_needsNoWorktreeUnlessItSpeaksOfIt(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	p.fails["view"] = errPort
	job := aNotice(action.ViaDesktop)
	_, err := executor.Perform(t.Context(), job)
	must(t, err)
	if p.ran.Dir != p.taskDir {
		t.Errorf("it ran %+v", p.ran)
	}
	for _, message := range []string{"see {worktree}", "see {base}", "see {task_file}"} {
		job.Hook.Message = message
		_, err = executor.Perform(t.Context(), job)
		wantError(t, err, errPort.Error())
	}
	job = aNotice(action.ViaCommand)
	job.Hook.Run = []string{"tell"}
	_, err = executor.Perform(t.Context(), job)
	wantError(t, err, errPort.Error())
}

func TestNotify_refusesAWayThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	_, err := executor.Perform(t.Context(), aNotice("pigeon"))
	wantError(t, err, "pigeon")
	wantCalls(t, p)
}

func TestRunCommand_runsInTheWorktreeAndKnowsItsHook(t *testing.T) {
	t.Parallel()
	executor, p := newExecutor(t)
	job := aJob(action.RunCommand, "")
	job.Hook.Run, job.Hook.Timeout = []string{"make", "ROUND={review_round}", "{worktree}", ""}, 90
	job.Event = history.Event{Type: history.Created, Data: map[string]string{history.DataStatus: "open"}}
	effect, err := executor.Perform(t.Context(), job)
	must(t, err)
	if !slices.Equal(p.argv(), []string{"make", "ROUND=2", "/work/tree", ""}) || p.ran.Dir != "/work/tree" ||
		p.limits.Time != 90*time.Second ||
		p.limits.Memory != 2<<30 || p.limits.Output != 1<<10 || effect.Said != "ran make" {
		t.Errorf("it ran %+v", p.ran)
	}
	want := []string{
		"HOME=/root", "PATH=/usr/bin", "ORANGE_HOOK_ID=7", "ORANGE_TASK_ID=abc", "ORANGE_PROJECT=garden",
		"ORANGE_STATUS=open", "ORANGE_HOME=" + executor.Home,
	}
	if !slices.Equal(p.ran.Base, want) {
		t.Errorf("the environment is %q, want %q", p.ran.Base, want)
	}
	job.Task.Workspace = ""
	_, err = executor.Perform(t.Context(), job)
	must(t, err)
	if p.ran.Dir != p.taskDir || p.argv()[2] != p.taskDir {
		t.Errorf("without a workspace it ran %+v", p.ran)
	}
}

func TestRunCommand_failsWithTheEndOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	for says, ended := range map[string]proc.LimitedResult{
		`"make" ended with status 2: no rule` +
			"\uFFFD": {Code: 2, Output: "no rule\xff\n"},
		`"make" ended with status 3: it said nothing`:                                                                   {Code: 3},
		`"make" was ended, because it took longer than 5m0s; give it a longer timeout, or make it quicker: still at it`: {Code: 143, Output: "still at it", TimedOut: true},
		`"make" ran out of memory: Orange ended it, because it used more than 2048 MB: it said nothing`:                 {Code: 137, OutOfMemory: true},
	} {
		executor, p := newExecutor(t)
		p.ended = ended
		job := aJob(action.RunCommand, "")
		job.Hook.Run = []string{"make", "test"}
		_, err := executor.Perform(t.Context(), job)
		wantError(t, err, says)
	}
	executor, _ := newExecutor(t)
	_, err := executor.Perform(t.Context(), aJob(action.RunCommand, ""))
	wantError(t, err, "names no program")
}
