package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/conflict"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// feed is what happens, in calls as Follow makes them; then it waits for its end.
type feed struct {
	Queries
	calls   [][]history.Happening
	changed [][]task.Task
	gone    []string
	tasks   []task.Task

	conflicts map[string]conflict.Overview
	blind     error
}

func (f *feed) Changed(context.Context) (int64, error) { return 5, nil }

func (f *feed) TasksSince(context.Context, int64) ([]task.Task, []string, int64, error) {
	if len(f.changed) == 0 {
		return nil, f.gone, 0, nil
	}
	next := f.changed[0]
	f.changed = f.changed[1:]
	return next, nil, 0, nil
}

func (f *feed) Follow(ctx context.Context, _ int64, tell func([]history.Happening) error) error {
	for _, call := range f.calls {
		if err := tell(call); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *feed) Tasks(context.Context, record.Filter) ([]task.Task, error) { return f.tasks, nil }

func (f *feed) Needs(context.Context, []task.Task) (map[string]string, map[string]record.Need, error) {
	return nil, nil, nil
}

func (f *feed) Conflicts(_ context.Context, project string) (conflict.Overview, error) {
	return f.conflicts[project], f.blind
}

func (f *feed) ConflictsOf(_ context.Context, t task.Task) (conflict.Overview, error) {
	return f.conflicts[t.Project], f.blind
}

func (f *feed) Sessions(context.Context, []task.Task) (map[string]string, error) { return nil, nil }

func moved(id, from, to string) history.Happening {
	e := history.Event{Type: history.StatusChanged, From: task.Status(from), To: task.Status(to), Actor: "worker"}
	return history.Happening{Task: id, Project: "garden", Branch: id, Event: e}
}

func deleted(id string) history.Happening {
	return history.Happening{Task: id, Project: "garden", Branch: id, Deleted: true}
}

func TestWatch_endsForTheReasonsThatItPromises(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		calls  [][]history.Happening
		until  string
		stands task.Status
		lines  int
		status int
	}{
		{"it gets there", [][]history.Happening{nil, {moved("other", "a", "there"), moved("one", "a", "b")},
			{moved("one", "b", "there"), moved("one", "there", "c")}}, "there", "a", 2, 0},
		{"it was there in what is told", [][]history.Happening{
			{moved("one", "b", "there"), moved("one", "there", "c")}, nil}, "there", "c", 1, 0},
		{"it is there", [][]history.Happening{{moved("one", "a", "b")}, nil}, "there", "there", 1, 0},
		{"it never gets there", [][]history.Happening{nil, {moved("one", "a", "b")}, nil}, "there", "a", 1, exitFailed},
		{"the time is up", [][]history.Happening{nil, {moved("one", "a", "b")}, nil}, "", "a", 1, 0},
		{"it is deleted", [][]history.Happening{nil, {deleted("one")}, nil}, "", "a", 1, 0},
		{"it is deleted and should get somewhere", [][]history.Happening{nil, {deleted("one")}, nil}, "there", "a",
			1, exitNotFound},
		{"it was brought back", [][]history.Happening{{deleted("one"), moved("one", "a", "b")}, nil,
			{moved("one", "b", "there")}}, "there", "b", 3, 0},
	} {
		var out, talk bytes.Buffer
		p := &printer{Out: printable.NewWriter(&out), Err: printable.NewWriter(&talk)}
		f := &feed{calls: c.calls, tasks: []task.Task{{ID: "one", Status: c.stands}}}
		w := watched{id: "one", until: c.until, timeout: time.Millisecond}
		if status := p.report(w.follow(t.Context(), p, &Services{Queries: f}, 0)); status != c.status ||
			strings.Count(out.String(), "\n") != c.lines {
			t.Errorf("%s: status %d, want %d; %d lines:\n%s%s", c.name, status, c.status, c.lines, &out, &talk)
		}
	}
}

func TestWatch_endsInSilenceWhenStoppedOrUnread(t *testing.T) {
	t.Parallel()
	var out, talk bytes.Buffer
	p := &printer{Out: printable.NewWriter(&out), Err: printable.NewWriter(&talk)}
	ctx, off := context.WithCancel(t.Context())
	off()
	f := &feed{}
	if status := p.report(watched{timeout: time.Hour}.follow(ctx, p, &Services{Queries: f}, 0)); status != exitStopped {
		t.Errorf("stopped: status %d", status)
	}
	f.calls = [][]history.Happening{{moved("one", "a", "b")}}
	p.Out = printable.NewWriter(closed{})
	if status := p.report(watched{}.follow(t.Context(), p, &Services{Queries: f}, 0)); status != 0 {
		t.Errorf("nobody reads: status %d", status)
	}
	if talk.Len() > 0 {
		t.Errorf("it says %q", &talk)
	}
	p.Out = printable.NewWriter(full{})
	if status := p.report(watched{}.follow(t.Context(), p, &Services{Queries: f}, 0)); status != exitFailed ||
		talk.Len() == 0 {
		t.Errorf("no room: status %d, and it says %q", status, &talk)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", syscall.EPIPE) }

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWatchList_tellsOfTasksThatBelongIntoTheListOrDid(t *testing.T) {
	t.Parallel()
	at := func(id, status, project string) task.Task {
		return task.Task{ID: id, Project: project, Status: task.Status(status)}
	}
	elsewhere := moved("x", "a", "working")
	elsewhere.Project = "coffee"
	f := &feed{
		tasks: []task.Task{at("in", "working", "garden")},
		calls: [][]history.Happening{
			nil,
			{moved("comes", "a", "working"), moved("never", "a", "b"), elsewhere},
			{moved("in", "working", "b"), moved("passes", "working", "c")},
			{moved("in", "b", "c"), deleted("comes")},
			{deleted("never")},
		},
		changed: [][]task.Task{
			nil,
			{at("comes", "working", "garden"), at("never", "b", "garden"), at("x", "working", "coffee")},
			{at("in", "b", "garden"), at("passes", "c", "garden")},
		},
		gone: []string{"comes"},
	}
	var out, talk bytes.Buffer
	p := &finder{}
	p.Out, p.Err = printable.NewWriter(&out), printable.NewWriter(&talk)
	ctx, off := context.WithTimeout(t.Context(), time.Millisecond)
	defer off()
	l := &liveList{lister: lister{finder: p, filter: record.Filter{Project: "garden", Status: "working"}}}
	err := l.watch(ctx, &Services{Queries: f})
	if status := p.report(err); status != exitStopped {
		t.Errorf("status %d: %s", status, &talk)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[2:] {
		_, what, _ := strings.Cut(line, " ")
		got = append(got, what)
	}
	want := []string{"garden/comes a -> working by worker", "garden/in working -> b by worker",
		"garden/passes working -> c by worker", "garden/comes deleted"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it says\n%q, want\n%q", got, want)
	}
}

func TestChangeLine_isOnePlainLine(t *testing.T) {
	t.Parallel()
	h := history.Happening{Project: "garden", Branch: "fix-login", Event: history.Event{
		Time: time.Date(2026, 1, 2, 12, 3, 4, 0, time.Local), Type: history.AgentCrashed, Actor: "engine",
		ActingAs: "cto",
		Data:     map[string]string{"role": "wor\x1b[31m\nker"},
	}}
	want := "12:03:04 garden/fix-login wor\\x1b[31m ker died"
	if got := changeLine(zone{}, &h); got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestEventLine_namesThePersonWhoAskedAndForWhom(t *testing.T) {
	t.Parallel()
	e := history.Event{
		Seq: 3, Time: time.Date(2026, 1, 2, 12, 3, 4, 0, time.Local), Type: history.StatusChanged, Actor: "human",
		ActingAs: "reviewer",
		Person:   "Ada \x1b[31m<ada@example.com>", From: "a", To: "b",
	}
	if got, want := eventLine(zone{}, e),
		"human as reviewer a -> b  by Ada \\x1b[31m<ada@example.com>"; !strings.HasSuffix(got, want) {
		t.Errorf("it is %q, want one that ends with %q", got, want)
	}
}

// A day's first line names it. What agents do between two moves is one line, but not over midnight, and not what tells
// why an agent ended.
func TestHistory_isInWordsAndFoldsStartsAndStops(t *testing.T) {
	t.Parallel()
	at := func(day, second int) time.Time { return time.Date(2026, 1, day, 12, 3, second, 0, time.Local) }
	worker := map[string]string{"role": "worker"}
	events := []history.Event{
		{Seq: 1, Time: at(2, 1), Type: history.Created, Actor: "human",
			Data: map[string]string{"status": "pending"}},
		{Seq: 2, Time: at(2, 2), Type: history.StatusChanged, Actor: "human", Person: "Ada",
			From: "pending", To: "planning",
			Hooks: []string{"spawn_agent"}, Evidence: []task.Evidence{{Source: "## plan", Digest: "0123456789abcdef"}}},
		{Seq: 3, Time: at(2, 3), Type: history.AgentSpawned, Actor: "engine", Data: worker},
		{Seq: 4, Time: at(2, 4), Type: history.AgentStopped, Actor: "engine", Data: worker},
		{Seq: 5, Time: at(3, 5), Type: history.AgentSpawned, Actor: "engine", Data: worker},
		{Seq: 6, Time: at(3, 6), Type: history.AgentStopped, Actor: "engine", Data: worker, Reason: "too\nlarge"},
	}
	for evidence, want := range map[bool]string{
		false: "2026-01-02 Z\n     1  12:03:01  created in pending by human\n" +
			"     2  12:03:02  pending -> planning by human (Ada)\n   3-4  12:03:03  worker started, worker ended\n" +
			"2026-01-03 Z\n     5  12:03:05  worker started\n     6  12:03:06  worker ended: too large\n",
		true: "2026-01-02 Z\n  1  12:03:01  human     task.created\n" +
			"  2  12:03:02  human     pending -> planning  [## plan 01234567]  hooks: spawn_agent  by Ada\n" +
			"  3  12:03:03  engine    agent.spawned  role=worker\n" +
			"  4  12:03:04  engine    agent.stopped  role=worker\n" +
			"2026-01-03 Z\n  5  12:03:05  engine    agent.spawned  role=worker\n" +
			"  6  12:03:06  engine    agent.stopped  role=worker  too large\n",
	} {
		var out strings.Builder
		p := &printer{Out: printable.NewWriter(&out)}
		sayEvents(p, events, evidence)
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		zone := strings.TrimPrefix(p.day(at(2, 1)), "2026-01-02 ")
		if got := strings.ReplaceAll(out.String(), zone, "Z"); got != want {
			t.Errorf("with evidence %v it prints\n%s, want\n%s", evidence, got, want)
		}
	}
}

func TestSince_knowsItsWordsAndCursors(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int64{"now": 7, "start": 0, "0": 0, "3": 3, "7": 7} {
		if got, err := since(word, 7); err != nil || got != want {
			t.Errorf("%q is %d, want %d; error %v", word, got, want, err)
		}
	}
	for _, word := range []string{"8", "-1", "", "then", "1.5"} {
		if _, err := since(word, 7); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func (f *feed) Unrecorded(context.Context) (all, older int, err error) { return 0, 0, nil }
