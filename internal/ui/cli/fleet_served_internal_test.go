package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/api/remote"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/store/home"
)

// served is a fleet with a server: h1 is there, h2 is lost, and a task waits.
type served struct {
	*hostsByName
	born      remote.Placed
	placed    []remote.Placement
	rescued   []string
	cancelled []string
	kept      bool // hosts do not give their tasks away
}

func (s *served) Known(context.Context) (remote.ServerView, error) {
	at := time.Date(2024, 5, 6, 12, 3, 10, 0, time.UTC)
	of := func(id, host string) remote.ServerTask {
		return remote.ServerTask{Found: remote.Found{ID: id, Project: "web", Branch: "feat/" + id, Live: true,
			Status: "checking"}, Host: host, Epoch: 2, Event: 31, Told: at}
	}
	waits := of("w1", "")
	waits.Status, waits.Told, waits.Harness = "", time.Time{}, []string{"claude"}
	gone := of("g1", "h1")
	gone.Attention = remote.NotOnRecord + ": rescue it"
	back := of("a1", "h1") // it was rebuilt, and is not reported yet
	back.Attention = gone.Attention
	taken := of("t1", "h1") // by a host that does not list it yet
	taken.Taking = true
	back.Apart = []remote.Apart{{Host: "h9", Epoch: 1, Ref: "refs/lost/1"}}
	return remote.ServerView{At: at, Hosts: []remote.ServerHost{
		{Name: "h1", Here: true, Since: at, Projects: []string{"web"}, Harness: []string{"claude"}},
		{Name: "h2", Since: at, Projects: []string{"web"}}},
		Tasks: []remote.ServerTask{back, gone, of("b1", "h2"), of("b2", "h2"), taken, waits}}, nil
}

func (s *served) Find(ctx context.Context, word string) ([]remote.ServerTask, error) {
	known, err := s.Known(ctx)
	return slices.DeleteFunc(known.Tasks, func(t remote.ServerTask) bool {
		return !strings.HasPrefix(t.ID, word)
	}), err
}

func (s *served) Create(_ context.Context, b remote.Placement) (remote.Placed, error) {
	s.placed = append(s.placed, b)
	return s.born, nil
}

func (s *served) Rescue(_ context.Context, id, to, _ string) (remote.ServerTask, error) {
	if s.kept {
		return remote.ServerTask{}, task.Notef(remote.ErrKept, "the host is there")
	}
	s.rescued = append(s.rescued, id)
	return remote.ServerTask{Found: remote.Found{ID: id}, Host: to, Epoch: 3}, nil
}

func (s *served) Cancel(_ context.Context, id string) error {
	s.cancelled = append(s.cancelled, id)
	return nil
}

func (s *served) Result(context.Context, string) (remote.Reply, error) {
	return remote.Reply{}, task.Notef(remote.ErrLost, "lost with h2")
}

// runServed runs a command of a fleet with a server.
func runServed(t *testing.T, s *served, words ...string) (exit int, out, talk string) {
	t.Helper()
	hosts := []remote.Host{{Name: "h1"}, {Name: "h2"}}
	s.hostsByName = &hostsByName{fleet: remote.Fleet{Server: "x:1", Hosts: hosts},
		by: map[string]func(remote.Call) (remote.Reply, error){"h1": func(remote.Call) (remote.Reply, error) {
			const list = `{"tasks":[{"id":"a1","project":"web","status":"checking","live":true}]}`
			return remote.Reply{V: 1, Stdout: list}, nil
		}}}
	var said, talked bytes.Buffer
	p := &Program{Version: "v1", Served: s, services: &Services{Fleet: s, Identity: someone{},
		Queries: noTasks{}, Home: &home.Home{Dir: "not there"}}}
	p.In, p.Out, p.Err = strings.NewReader(""), printable.NewWriter(&said), printable.NewWriter(&talked)
	exit = p.Run(t.Context(), append([]string{"fleet"}, words...))
	return exit, said.String(), talked.String()
}

func TestServedList_hasLostHostsAndWaitingTasks(t *testing.T) {
	t.Parallel()
	exit, out, talk := runServed(t, &served{}, "list", "--utc")
	for _, want := range []string{"a1", "g1", "lost, last told 12:03:10 (event 31)",
		"t1", "waits: h1 is asked to take it",
		"waits: no host with claude and a free place for web (h1 full, h2 lost since"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list does not say %q:\n%s", want, out)
		}
	}
	if exit != exitFailed || !strings.Contains(talk, "host h2: lost since 12:03:10") {
		t.Errorf("it exits with %d and says %q", exit, talk)
	}
	exit, out, _ = runServed(t, &served{}, "list", "--json")
	var said struct {
		Tasks []struct{ ID, Host, Known string }
		Hosts []struct {
			Name    string
			Reached bool
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || exit != exitFailed || len(said.Tasks) != 6 ||
		len(said.Hosts) != 2 || said.Hosts[1].Reached {
		t.Errorf("%d, %v: %s", exit, err, out)
	}
}

func TestServedHosts_saySinceWhenOneIsLost(t *testing.T) {
	t.Parallel()
	exit, out, _ := runServed(t, &served{}, "hosts", "--utc")
	if exit != exitFailed || !strings.Contains(out, "lost since 12:03:10") || !strings.Contains(out, "as of 12:03:10") {
		t.Errorf("%d: %s", exit, out)
	}
}

// What cannot be done from here says what to do.
func TestServed_saysWhatToDoWhereAttachAndForgetFail(t *testing.T) {
	t.Parallel()
	exit, _, talk := runServed(t, &served{}, "attach", "a1")
	if exit != exitUsage || !strings.Contains(talk, "host h1 does not say how ssh reaches it") ||
		!strings.Contains(talk, "orange task attach a1") {
		t.Errorf("attach: %d: %s", exit, talk)
	}
	exit, _, talk = runServed(t, &served{}, "forget", "h1")
	if exit != exitUsage || !strings.Contains(talk, "orange-fleet remove NAME") {
		t.Errorf("forget: %d: %s", exit, talk)
	}
}

func TestServedCreate_saysForWhatATaskWaitsAndEndsWell(t *testing.T) {
	t.Parallel()
	s := &served{born: remote.Placed{ID: "w1", Task: remote.ServerTask{Found: remote.Found{ID: "w1", Project: "web"},
		Harness: []string{"claude"}}}}
	words := []string{"create", "--project", "web", "--harness", "claude", "--on", "h1", "--no-spawn", "feat/x",
		"A thing"}
	exit, out, _ := runServed(t, s, words...)
	const want = "task w1 is queued: no host with claude and a free place for web (h1 full, "
	if exit != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("%d: %s", exit, out)
	}
	b := s.placed[0]
	if b.Project != "web" || b.On != "h1" || b.Branch != "feat/x" || !slices.Equal(b.Harness, []string{"claude"}) ||
		strings.Join(b.Call.Argv, " ") != "task create --harness=claude --no-spawn -- feat/x A thing" {
		t.Errorf("the task is created from %+v", b)
	}
	exit, out, _ = runServed(t, s, append(words, "--json")...)
	var said struct {
		Queued bool
		Hosts  map[string]string
	}
	err := json.Unmarshal([]byte(out), &said)
	if err != nil || exit != 0 || !said.Queued || said.Hosts["h1"] != "full" {
		t.Errorf("%d, %v: %s", exit, err, out)
	}
	s.born.Reply = &remote.Reply{V: 1, Exit: 4, Stdout: "what orange said\n"}
	if exit, out, _ = runServed(t, s, words...); exit != 4 || out != "what orange said\n" {
		t.Errorf("the host's own answer: %d, %q", exit, out)
	}
}

func TestServedRescue_rescuesOneTaskOrThoseOfAHost(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		words []string
		exit  int
		want  []string
	}{{[]string{"rescue", "b1"}, 0, []string{"b1"}}, {[]string{"rescue", "--host", "h2"}, 0, []string{"b1", "b2"}},
		{[]string{"rescue"}, exitUsage, nil}, {[]string{"rescue", "b1", "--host", "h2"}, exitUsage, nil},
		{[]string{"rescue", "b1", "--now", " "}, exitUsage, nil},
		{[]string{"rescue", "b1", "--to", "h9"}, exitNotFound, nil},
	} {
		s := &served{}
		if exit, out, talk := runServed(t, s, one.words...); exit != one.exit || !slices.Equal(s.rescued, one.want) {
			t.Errorf("%q: %d, rescued %v: %s%s", one.words, exit, s.rescued, out, talk)
		}
	}
	exit, out, _ := runServed(t, &served{kept: true}, "rescue", "--host", "h2", "--json")
	if exit != exitFailed || strings.Count(out, "the host is there") != 2 {
		t.Errorf("what hosts keep: %d, %s", exit, out)
	}
}

func TestATaskThatWaitsIsCancelledWithoutAHost(t *testing.T) {
	t.Parallel()
	s := &served{}
	if exit, _, _ := runServed(t, s, "cancel", "w1"); exit != exitUsage || len(s.cancelled) > 0 {
		t.Errorf("without --yes: %d, %v", exit, s.cancelled)
	}
	if exit, _, _ := runServed(t, s, "cancel", "w1", "--yes"); exit != 0 || !slices.Equal(s.cancelled, []string{"w1"}) {
		t.Errorf("with it: %d, %v", exit, s.cancelled)
	}
	exit, out, _ := runServed(t, s, "next", "w1", "--json")
	if exit != exitFailed || !strings.Contains(out, "not_held") {
		t.Errorf("another request: %d, %s", exit, out)
	}
}

// The host that has a task now does not know what another one has pushed of it since.
func TestServedShow_saysWhereTheWorkOfAnotherHostIs(t *testing.T) {
	t.Parallel()
	want := "orange: h9 had task a1 until epoch 1; what it has done since its last snapshot is at refs/lost/1, where " +
		"snapshots are\n"
	if exit, out, talk := runServed(t, &served{}, "show", "a1"); exit != 0 || talk != want || out == "" {
		t.Errorf("%d, %q, %q", exit, out, talk)
	}
	if exit, _, talk := runServed(t, &served{}, "next", "a1", "--key", "k1"); exit != 0 || talk != "" {
		t.Errorf("%d, %q", exit, talk)
	}
}

func TestServedResult_saysWhatIsLost(t *testing.T) {
	t.Parallel()
	exit, out, _ := runServed(t, &served{}, "result", "k1", "--json")
	var said struct{ Code string }
	if err := json.Unmarshal([]byte(out), &said); err != nil || exit != exitFailed || said.Code != "lost" {
		t.Errorf("%d, %v: %s", exit, err, out)
	}
}
