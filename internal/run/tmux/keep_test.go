package tmux

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
)

// unruly is longer than any call of tmux may be, and holds what no argument can.
func unruly() []byte {
	return []byte(strings.Repeat("NAME=a\nsecond line\x00OTHER=\xff;\x00", 10_000))
}

func wantKept(t *testing.T, s *Server, name string, want []byte) {
	t.Helper()
	got, err := s.Kept(t.Context(), name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("kept of %q are %d bytes, %v; want %d", name, len(got), err, len(want))
	}
}

func wantNoServer(t *testing.T, s *Server) {
	t.Helper()
	within(t, "the server is gone", func() bool {
		_, err := s.run(context.Background(), nil, "list-buffers")
		return noServer(err)
	})
}

func TestKeep_startsTheServerAndGivesTheTextBackAsItWas(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	wantKept(t, s, "abc", nil)
	must(t, s.Drop(t.Context(), "abc"))
	must(t, s.Keep(t.Context(), "abc", unruly()))
	wantKept(t, s, "abc", unruly())
	wantKept(t, s, "ab", nil)
	must(t, s.Keep(t.Context(), "abc", []byte("LATER=1\x00")))
	wantKept(t, s, "abc", []byte("LATER=1\x00"))
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
		t.Errorf("the panes are %v, %v", panes, err)
	}
}

func TestDrop_endsTheServerAfterTheLastTextAndSession(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	must(t, s.Keep(t.Context(), "a", []byte("x")))
	must(t, s.Keep(t.Context(), "aa", []byte("y")))
	p := mustStart(t, s, Start{Task: "a", Session: "one"})
	must(t, s.KillSession(t.Context(), p.SessionID))
	wantKept(t, s, "a", []byte("x"))
	must(t, s.Drop(t.Context(), "a"))
	must(t, s.Drop(t.Context(), "a"))
	wantKept(t, s, "a", nil)
	wantKept(t, s, "aa", []byte("y"))
	if names, err := s.KeptNames(t.Context()); err != nil || !slices.Equal(names, []string{"aa"}) {
		t.Errorf("kept are %q, %v", names, err)
	}

	p = mustStart(t, s, Start{Task: "a", Session: "two"})
	must(t, s.Drop(t.Context(), "aa"))
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 {
		t.Errorf("the last text took the session along: %v, %v", panes, err)
	}
	must(t, s.KillSession(t.Context(), p.SessionID))
	wantNoServer(t, s)
	if names, err := s.KeptNames(t.Context()); err != nil || names != nil {
		t.Errorf("kept are %q, %v", names, err)
	}
}

func TestDrop_ofWhatSomebodyDeletedByHandLetsTheServerEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	must(t, s.Keep(t.Context(), "a", []byte("x")))
	if _, err := s.run(t.Context(), nil, "delete-buffer", "-b", bufferPrefix+"a"); err != nil {
		t.Fatal(err)
	}
	must(t, s.Drop(t.Context(), "a"))
	wantNoServer(t, s)
}

func TestKeep_isNotLostWhileOthersDropTheirs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			for range 8 {
				if err := s.Keep(t.Context(), name, unruly()); err != nil {
					t.Error(err)
				}
				wantKept(t, s, name, unruly())
				if err := s.Drop(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wantNoServer(t, s)
}

func TestKeep_noKeyPastesWhatIsKept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	must(t, s.Keep(t.Context(), "a", []byte("SECRET=1")))
	res, err := s.run(t.Context(), nil, "list-keys", "-T", "root")
	must(t, err)
	if keys := string(res.Stdout); !strings.Contains(keys, KeyBack) || strings.Contains(keys, "paste-buffer") ||
		strings.Contains(keys, "choose-buffer") {
		t.Errorf("the keys are %s", keys)
	}
}

func TestKeep_refusesWhatIsNoName(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, name := range []string{"", "a b", "a}", "a/", "-", ";", "ä"} {
		if err := s.Keep(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if err := s.Keep(t.Context(), "a", nil); err == nil {
		t.Error("nothing was kept")
	}
	wantNoServer(t, s)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
