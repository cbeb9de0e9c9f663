package screen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/harnesses"
	"orange/internal/api/remote"
	"orange/internal/rules/diff"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/store/home"
	"orange/workflows"
)

const id = "4FzXk0aB3cD5eF7gH9iJ1"

// hosts is a fleet with one host that is there, one that is lost, and a task that waits.
type hosts struct {
	lock  sync.Mutex
	calls []remote.Call
	says  map[string]remote.Reply // by command
	born  []remote.Placement
}

func (h *hosts) Known(context.Context) (remote.ServerView, error) {
	at := time.Date(2024, 5, 6, 12, 3, 10, 0, time.UTC)
	of := func(id, host string) remote.ServerTask {
		return remote.ServerTask{Found: remote.Found{ID: id, Project: "web", Live: true, Status: "checking"},
			Host: host, Event: 31, Told: at}
	}
	gone := of("gone", "h1")
	gone.Attention = remote.NotOnRecord
	taken := of("taken", "h1")
	taken.Taking = true
	return remote.ServerView{At: at, Hosts: []remote.ServerHost{
		{Name: "h1", Here: true, Projects: []string{"web"}, Harness: []string{"pi"}}, {Name: "h2", Since: at}},
		Tasks: []remote.ServerTask{of(id, "h1"), of("lost", "h2"), of("waits", ""), gone, taken}}, nil
}

func (h *hosts) Find(context.Context, string) ([]remote.ServerTask, error) { return nil, nil }

func (h *hosts) Ask(_ context.Context, _ remote.Host, c remote.Call, _ time.Duration) (remote.Reply, error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.calls = append(h.calls, c)
	if err := c.Check(); err != nil {
		return remote.Reply{}, err
	}
	return h.says[c.Argv[1]], nil
}

func (h *hosts) Create(_ context.Context, b remote.Placement) (remote.Placed, error) {
	h.born = append(h.born, b)
	return remote.Placed{ID: b.ID}, b.Call.Check()
}

func (h *hosts) Attach(context.Context, remote.Host, string, string, bool) ([]string, error) {
	return nil, errors.New("no terminal here")
}

const oneTask = `{"id":"` + id + `","project":"web","branch":"feat/a","summary":"A thing","status":"checking","live":true,` +
	`"created_at":"2024-05-06T12:00:00.000Z","updated_at":"2024-05-06T12:01:00.000Z","entered_at":"2024-05-06T12:01:00.000Z",` +
	`"workflow":"default","workflow_version":1,"session":"alive","needs_you":{"kind":"waits","reason":"waits in checking"},` +
	`"counters":{"crash_count":2},"workspace":"web--1"}`

func newScreen(t *testing.T) (*view, *hosts) {
	t.Helper()
	h := &hosts{says: map[string]remote.Reply{"list": {Stdout: `{"tasks":[` + oneTask + `]}`}}}
	v := newView(h, &home.Home{Dir: t.TempDir(), Workflows: workflows.Files, Usual: workflows.Usual,
		Harnesses: harnesses.Files})
	if _, _, err := v.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v, h
}

func TestTheListShowsTasksOfSilentHostsAsLastReported(t *testing.T) {
	t.Parallel()
	v, _ := newScreen(t)
	all, cursor, err := v.All(t.Context())
	if err != nil || len(all) != 5 || cursor == 0 {
		t.Fatalf("%d tasks, cursor %d, %v", len(all), cursor, err)
	}
	for _, one := range all {
		switch one.ID {
		case id:
			if one.Attention != "" || one.Summary != "A thing · at h1" || one.Counters.Get("crash_count") != 2 {
				t.Errorf("the task of the host that is there: %+v", one)
			}
		case "lost":
			if !strings.Contains(one.Attention, "h2") || !strings.Contains(one.Attention, "(event 31)") {
				t.Errorf("the task of the lost host: %q", one.Attention)
			}
		case "gone":
			if !strings.Contains(one.Attention, "host h1: it is not on record") {
				t.Errorf("the task that its host has lost: %q", one.Attention)
			}
		case "taken":
			if !strings.Contains(one.Attention, "host h1: it is asked to take the task") {
				t.Errorf("the task that a host does not have yet: %q", one.Attention)
			}
		case "waits":
			if !strings.Contains(one.Attention, "waits for a place") {
				t.Errorf("the task without a place: %q", one.Attention)
			}
		}
	}
	if _, err := v.Move(t.Context(), "lost", "done", ""); !errors.Is(err, remote.ErrNotReached) {
		t.Errorf("a move at a lost host: %v", err)
	}
	agents, err := v.Agents(t.Context(), all)
	if err != nil || agents[id].State != "alive" || agents[id].Need.Reason != "waits in checking" {
		t.Errorf("the agents: %+v, %v", agents, err)
	}
}

func TestOnlyWhatHasChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	if changed, gone, _, err := v.Since(t.Context(), 1); err != nil || len(changed)+len(gone) > 0 {
		t.Errorf("nothing has happened: %+v, gone %v, %v", changed, gone, err)
	}
	h.says["list"] = remote.Reply{Stdout: `{"tasks":[` + strings.Replace(oneTask, "checking\",\"live", "done\",\"live", 1) +
		`]}`}
	changed, _, _, err := v.Since(t.Context(), 1)
	if err != nil || len(changed) != 1 || changed[0].Status != "done" {
		t.Errorf("a move: %+v, %v", changed, err)
	}
	h.says["list"] = remote.Reply{Stdout: `{"tasks":[]}`}
	if _, gone, _, err := v.Since(t.Context(), 1); err != nil || !slices.Equal(gone, []string{id}) {
		t.Errorf("a deleted task: %v, %v", gone, err)
	}
}

func TestAMoveIsARequestUnderAKey(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	h.says["move"] = remote.Reply{Stdout: `{"task":` + oneTask + `,"from":"checking","to":"done","moved":true,` +
		`"hooks":[{"action":"kill_session","state":"done"}]}`}
	out, err := v.Move(t.Context(), id, "done", "it is good")
	if err != nil || !out.Moved || out.Event.To != "done" || len(out.Hooks) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	last := h.calls[len(h.calls)-1]
	want := []string{"task", "move", "--json", "--reason=it is good", "--", id, "done"}
	if last.Key == "" || !slices.Equal(last.Argv, want) {
		t.Errorf("asked %q under %q", last.Argv, last.Key)
	}
	h.says["move"] = remote.Reply{Exit: 3, Stdout: `{"error":"no","code":"gate","details":[{"condition":"a verdict"}],` +
		`"may_ask":["checking"]}`}
	_, err = v.Move(t.Context(), id, "done", "")
	refused, is := errors.AsType[*rejection.Rejection](err)
	if !is || refused.Code != "gate" || len(refused.Details) != 1 ||
		!slices.Equal(refused.MayAsk, []task.Status{"checking"}) {
		t.Errorf("a refusal: %v", err)
	}
}

// Each command of the screen is one that a host takes.
func TestEveryCommandOfTheScreenIsOneThatIsForwarded(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	for _, name := range []string{"spawn", "cancel", "redo", "request-changes", "merge", "create-pr", "next", "respawn",
		"retry", "say", "delete", "history", "why", "show", "diff", "logs"} {
		h.says[name] = remote.Reply{Stdout: `{"task":` + oneTask + `,"role":"worker"}`}
	}
	ctx, one := t.Context(), task.Task{ID: id, Project: "web"}
	for name, do := range map[string]func() error{
		"spawn":   func() error { _, err := v.Command(ctx, id, "spawn", ""); return err },
		"cancel":  func() error { _, err := v.Command(ctx, id, "cancel", "why"); return err },
		"redo":    func() error { _, err := v.Redo(ctx, id, "checking", ""); return err },
		"changes": func() error { _, err := v.RequestChanges(ctx, id, "more"); return err },
		"merge": func() error {
			how := task.Merge{Strategy: "ff", Push: "never", Override: "x", Local: true, With: 2}
			_, _, err := v.Merge(ctx, id, how)
			return err
		},
		"pr":       func() error { _, err := v.RequestPR(ctx, id); return err },
		"next":     func() error { _, err := v.Next(ctx, id, "done", "I know"); return err },
		"retry":    func() error { _, err := v.Retry(ctx, id); return err },
		"say":      func() error { _, err := v.Say(ctx, id, "hello"); return err },
		"delete":   func() error { _, err := v.Delete(ctx, id); return err },
		"history":  func() error { _, err := v.History(ctx, id, 0); return err },
		"why":      func() error { _, err := v.Why(ctx, id); return err },
		"document": func() error { _, err := v.Document(ctx, one); return err },
		"work":     func() error { _, err := v.Work(ctx, one); return err },
		"panes":    func() error { _, err := v.Panes(ctx, one); return err },
		"log":      func() error { _, err := v.Log(ctx, one); return err },
		"create": func() error {
			_, err := v.Create(ctx, task.New{Project: task.Project{Name: "web"}, Summary: "one", Harness: "pi",
				Context: "all", Workflow: "default", Spawn: true})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(h.born) != 1 || h.born[0].Call.Files["context.md"] != "all" {
		t.Errorf("born: %+v", h.born)
	}
}

// A cancel and a delete say what stayed behind at the host.
func TestWhatStayedBehindAtTheHostIsSaidHere(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	for _, name := range []string{"cancel", "delete"} {
		h.says[name] = remote.Reply{Stdout: `{"task":` + oneTask + `,"stayed_behind":["commits, kept as refs/x"]}`}
	}
	want := []string{"commits, kept as refs/x"}
	if out, err := v.Command(t.Context(), id, "cancel", ""); err != nil || !slices.Equal(out.Stayed, want) {
		t.Errorf("after a cancel: %q, %v", out.Stayed, err)
	}
	if gone, err := v.Delete(t.Context(), id); err != nil || !slices.Equal(gone.Stayed, want) {
		t.Errorf("after a delete: %q, %v", gone.Stayed, err)
	}
}

func TestWhatNeedsTheHostItselfNamesIt(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	h.says["diff"] = remote.Reply{Stdout: `{"diff":"diff --git`, Stderr: "orange: " + remote.CutShort + "\n"}
	for what, err := range map[string]error{"attach": v.Attach(t.Context(), id, ""), "a long review": func() error {
		_, err := v.Patch(t.Context(), task.Task{ID: id}, false)
		return err
	}()} {
		if !errors.Is(err, ErrElsewhere) || !strings.Contains(err.Error(), "host h1") ||
			!strings.Contains(err.Error(), "run orange task ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := v.MergeMany(t.Context(), record.MergeMany{}, nil); !errors.Is(err, ErrElsewhere) ||
		!strings.Contains(err.Error(), "run orange merge at their host") {
		t.Errorf("several at once: %v", err)
	}
	held, err := v.Workspaces(t.Context(), "web")
	if err != nil || len(held) != 1 || held[0].Workspace != "h1:web--1" {
		t.Errorf("the workspaces: %+v, %v", held, err)
	}
}

func TestTheChangesAreReviewedAsTheHostShowsThem(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	h.says["diff"] = remote.Reply{Stdout: `{"branch":"feat/a","diff":" a | 1 +","base":"main","from":"aa","to":"bb",` +
		`"uncommitted":true,"judged":"cc","judged_by":"checking → working by Ada","review":"a:1 is wrong"}`}
	want := diff.Patch{Text: " a | 1 +", Base: "main", From: "aa", To: "bb", Loose: true, Last: "cc",
		Judged: "checking → working by Ada", Review: "a:1 is wrong"}
	for _, since := range []bool{false, true} {
		got, err := v.Patch(t.Context(), task.Task{ID: id}, since)
		asked := h.calls[len(h.calls)-1].Argv
		if err != nil || got != want || slices.Contains(asked, "--since-review") != since {
			t.Errorf("since a review: %t: %+v, %v, asked %q", since, got, err, asked)
		}
	}
}

// Comments are kept at the machine of the person, until they are sent, or the task is deleted.
func TestCommentsAreKeptWhereThePersonReviews(t *testing.T) {
	t.Parallel()
	v, h := newScreen(t)
	kept := comments(v.Home)
	c := diff.Comment{Place: diff.Place{File: "a", From: 1, To: 1}, Text: "Why?"}
	if _, err := kept.ChangeComments(t.Context(), "web", id, func(all []diff.Comment) []diff.Comment {
		return append(all, c)
	}); err != nil {
		t.Fatal(err)
	}
	if all, err := comments(v.Home).Comments("web", id); err != nil || len(all) != 1 || all[0].Text != c.Text {
		t.Errorf("%+v, %v", all, err)
	}
	h.says["delete"] = remote.Reply{Exit: 3, Stdout: `{"error":"no","code":"live"}`}
	if _, err := v.Delete(t.Context(), id); err == nil {
		t.Error("a delete that was refused is one")
	}
	if all, _ := kept.Comments("web", id); len(all) != 1 {
		t.Errorf("after a refusal: %+v", all)
	}
	h.says["delete"] = remote.Reply{Stdout: `{}`}
	if _, err := v.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
	if all, _ := kept.Comments("web", id); len(all) != 0 {
		t.Errorf("of a deleted task: %+v", all)
	}
}
