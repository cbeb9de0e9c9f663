package tmux

import (
	"os"
	"slices"
	"testing"
	"time"
)

func TestPanesOf_listsThePanesOfOneTaskAndOfNoOther(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	want := func(task string, most ...string) {
		t.Helper()
		panes, err := s.PanesOf(t.Context(), task)
		if err != nil || len(panes) != len(most) {
			t.Fatalf("task %q: found %+v, %v; want %q", task, panes, err, most)
		}
		for i, p := range panes {
			if p.Task != task || p.Window != most[i] {
				t.Errorf("task %q: found %+v, want the window %q", task, p, most[i])
			}
		}
	}
	want("one") // there is no server
	must(t, s.Keep(t.Context(), "one", []byte("kept")))
	want("one") // there is no session
	mustStart(t, s, Start{Task: "one", Session: "p/one", Window: "worker"})
	mustStart(t, s, Start{Task: "one", Session: "p/one", Window: "review-1"})
	mustStart(t, s, Start{Task: "two", Session: "p/two", Window: "worker"})
	mustStart(t, s, Start{Task: "odd,}#{pid}", Session: "p/odd", Window: "worker"})
	want("one", "worker", "review-1")
	want("two", "worker")
	want("on")
	want("#{pid}")
	want("odd,}#{pid}", "worker")
}

// An agent may be started, or a session ended, by what was found.
func TestPanesOf_takesSilenceForNoAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "one", Session: "p/one"})
	silent := &Server{Socket: s.Socket, Config: s.Config, Program: program(t, ""), Getenv: os.Getenv}
	if panes, err := silent.PanesOf(t.Context(), "one"); err == nil {
		t.Errorf("found %+v, want an error", panes)
	}
}

// A window counts from the second on in which it last showed something new.
func TestPanesSince_listsTheWindowsThatShowedSomethingNew(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if panes, err := s.PanesSince(t.Context(), time.Unix(0, 0)); err != nil || len(panes) != 0 {
		t.Fatalf("without a server it found %+v, %v", panes, err)
	}
	mustStart(t, s, Start{Task: "one", Session: "p/one"})
	all, err := s.Panes(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("found %+v, %v", all, err)
	}
	at := all[0].Activity
	for since, want := range map[time.Time]int{at: 1, at.Add(999 * time.Millisecond): 1, time.Unix(-1, 0): 1,
		time.Unix(9, 0): 1, at.Add(time.Hour): 0} {
		if panes, err := s.PanesSince(t.Context(), since); err != nil || len(panes) != want {
			t.Errorf("since %v, it being %v, it found %+v, %v; want %d", since, at, panes, err, want)
		}
	}
	silent := &Server{Socket: s.Socket, Config: s.Config, Program: program(t, ""), Getenv: os.Getenv}
	if panes, err := silent.PanesSince(t.Context(), at); err == nil {
		t.Errorf("found %+v, want an error", panes)
	}
}

// The caller has seen the panes of its own task alone.
func TestStart_avoidsTheSessionNameOfAnUnseenTask(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mustStart(t, s, Start{Task: "other", Session: "p/name"})
	p := mustStart(t, s, Start{Task: "own", Session: "p/name", Seen: []Pane{}})
	if p.Session == "p/name" || p.Task != "own" {
		t.Errorf("found %+v, want a session of its own", p)
	}
	if panes, err := s.PanesOf(t.Context(), "other"); err != nil || len(panes) != 1 {
		t.Errorf("found %+v, %v; want the other task's pane alone", panes, err)
	}
}

// However many panes there are, tmux takes the words of each call, and each screen is there.
func TestScreens_areAskedForInCallsThatTmuxTakes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := mustStart(t, s, Start{Task: "one", Session: "p/one"})
	panes := slices.Repeat([]string{first.ID}, 5*mostCaptured/2)
	screens, err := s.Screens(t.Context(), panes)
	if _, is := screens[first.ID]; err != nil || !is {
		t.Errorf("found %q, %v", screens, err)
	}
	long := slices.Repeat([]string{"%1000000"}, mostCaptured) // ids grow
	if _, err := s.Screens(t.Context(), append([]string{first.ID}, long...)); err != nil {
		t.Errorf("of panes that are gone: %v", err)
	}
}
