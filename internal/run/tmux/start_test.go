package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestStart_tags(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	worker := mustStart(t, s, Start{Task: "task;", Role: "worker", Hook: "7:start|x", Seat: "5ea7",
		Session: "proj/feat"})
	review := mustStart(t, s, Start{Task: "task;", Role: "reviewer", Hook: "8;", Session: "proj/feat",
		Window: "review-1"})
	want := []Pane{
		{Session: "proj/feat", Window: "worker", Task: "task;", Role: "worker", Hook: "7:start|x", Seat: "5ea7"},
		{Session: "proj/feat", Window: "review-1", Task: "task;", Role: "reviewer", Hook: "8;"},
	}
	panes := mustPanes(t, s)
	if len(panes) != 2 || panes[0] != worker || panes[1] != review {
		t.Fatalf("listed %+v, started %+v and %+v", panes, worker, review)
	}
	for i, p := range panes {
		got := Pane{Session: p.Session, Window: p.Window, Task: p.Task, Role: p.Role, Hook: p.Hook, Seat: p.Seat}
		if got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	if worker.SessionID != review.SessionID || worker.WindowID == review.WindowID || worker.PID == review.PID {
		t.Errorf("ids of %+v and %+v", worker, review)
	}
}

func TestStart_deadWindowOfTheSameName(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dead := mustStart(t, s, Start{Task: "t", Role: "worker", Hook: "1", Session: "s", Argv: []string{"true"}})
	within(t, "the first worker is dead", func() bool { p, _ := pane(t, s, dead.ID); return p.Dead })
	again := mustStart(t, s, Start{Task: "t", Role: "worker", Hook: "2", Session: "s"})
	old, _ := pane(t, s, dead.ID)
	now, _ := pane(t, s, again.ID)
	if old.Hook != "1" || now.Hook != "2" || old.Window != "worker" || now.Window != "worker" || now.Dead {
		t.Errorf("old %+v, new %+v", old, now)
	}
}

func TestStart_sessionOfAnotherTask(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := mustStart(t, s, Start{Task: "aaaaaaaa", Session: "p/x"})
	second := mustStart(t, s, Start{Task: "bbbbbbbb", Session: "p/x"})
	third := mustStart(t, s, Start{Task: "bbbbbbcc", Session: "p/x"})
	again := mustStart(t, s, Start{Task: "bbbbbbbb", Session: "p/x", Window: "review-1"})
	got := []string{first.Session, second.Session, third.Session, again.Session}
	if strings.Join(got, " ") != "p/x p/x~bbbbbb p/x~bbbbbbcc p/x~bbbbbb" || again.SessionID != second.SessionID {
		t.Errorf("sessions %q", got)
	}
	// The name of a session that no one tagged is taken too.
	if _, err := s.run(t.Context(), nil, "new-session", "-d", "-s", "theirs", "sleep 600"); err != nil {
		t.Fatal(err)
	}
	if p := mustStart(t, s, Start{Task: "cccccccc", Session: "theirs"}); p.Session != "theirs~cccccc" {
		t.Errorf("session %q", p.Session)
	}
}

// The caller's look is as good as one of its own while it holds, and does no harm where it holds no more.
func TestStart_whatTheCallerHasSeen(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		seen  func(s *Server, other, own Pane) []Pane
		joins bool // the session that the task has
	}{
		"everything": {joins: true, seen: func(s *Server, _, _ Pane) []Pane {
			return mustPanes(t, s)
		}},
		"nothing was there": {seen: func(*Server, Pane, Pane) []Pane { return []Pane{} }, joins: true},
		"a session that is gone": {seen: func(s *Server, _, own Pane) []Pane {
			panes := mustPanes(t, s)
			if err := s.KillSession(t.Context(), own.SessionID); err != nil {
				t.Fatal(err)
			}
			return panes
		}},
		"another server": {seen: func(s *Server, other, own Pane) []Pane {
			if err := s.KillSession(t.Context(), own.SessionID); err != nil {
				t.Fatal(err)
			}
			return []Pane{{Task: "own", Session: "p/own", SessionID: other.SessionID}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			other := mustStart(t, s, Start{Task: "other", Session: "p/other"})
			own := mustStart(t, s, Start{Task: "own", Session: "p/own"})
			seen := row.seen(s, other, own)
			p := mustStart(t, s, Start{Task: "own", Session: "p/own", Window: "second", Seen: seen})
			if joined := p.SessionID == own.SessionID; joined != row.joins || p.Session != "p/own" {
				t.Errorf("started in %q %q, the task's is %q", p.Session, p.SessionID, own.SessionID)
			}
		})
	}
}

func TestStart_names(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i, name := range []string{
		"proj/v1.2", "a:b", "two words", "größe-日本", "-dash", "=eq", "$1", "@2", "%3", "#S #{pid}", `back\slash`,
		"tab\tnew\nline\x1b[0m",
		"semi;", "\xff\xfe", "e\u0301a", "\u0301x", "🙂", strings.Repeat("ü", 200), "~x", "+x", "{last}", "!",
		"\u200bx\u00a0",
	} {
		safe := SafeName(name)
		p := mustStart(t, s, Start{Task: fmt.Sprintf("t%02d", i), Session: "n" + name, Window: name})
		if p.Session != SafeName("n"+name) && !strings.HasPrefix(p.Session, SafeName("n"+name)+"~") ||
			p.Window != safe {
			t.Errorf("%q became session %q and window %q, want %q", name, p.Session, p.Window, safe)
		}
		if seen, _ := pane(t, s, p.ID); seen != p {
			t.Errorf("%q: listed %+v, started %+v", name, seen, p)
		}
		if n := len([]rune(safe)); n == 0 || n > longestName || SafeName(safe) != safe {
			t.Errorf("%q became %q", name, safe)
		}
	}
}

func TestPanes_howProgramsEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	seven := mustStart(t, s, Start{Task: "t", Role: "worker", Session: "s", Argv: []string{"sh", "-c", "exit 7"}})
	nine := mustStart(t, s, Start{Task: "t", Role: "reviewer", Session: "s", Window: "review-1", Argv: []string{
		"sh", "-c", "kill -9 $$"}})
	lives := mustStart(t, s, Start{Task: "t", Role: "reviewer", Session: "s", Window: "review-2"})
	missing := mustStart(t, s, Start{Task: "t2", Session: "s2", Argv: []string{"/not/there", "x"}})
	ended := func(id string) Pane {
		var p Pane
		within(t, "the pane is dead and tmux knows how", func() bool {
			p, _ = pane(t, s, id)
			return p.Dead && p.Ending.Known
		})
		return p
	}
	if p := ended(seven.ID); p.Ending.Status != 7 || p.Ending.Signal != 0 || p.Role != "worker" {
		t.Errorf("status 7 is %+v", p)
	}
	if p := ended(nine.ID); p.Ending.Status != 0 || p.Ending.Signal != int(syscall.SIGKILL) {
		t.Errorf("signal 9 is %+v", p)
	}
	if p := ended(missing.ID); p.Ending.Status == 0 {
		t.Errorf("a program that is not there is %+v", p)
	}
	if p, ok := pane(t, s, lives.ID); !ok || p.Dead || p.Ending.Known {
		t.Errorf("the reviewer is %+v", p)
	}
}

// tell writes its arguments, ended by a zero each, where the first says.
const tell = `out=$1; shift; pwd > "$out.pwd"; printf '%s' "$GIVEN${TMUX+ $TMUX}" > "$out.env"
for a in "$@"; do printf '%s\0' "$a"; done > "$out.tmp"; mv "$out.tmp" "$out"; exec sleep 600`

func TestStart_argvArrivesExactly(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	root := t.TempDir()
	dir := filepath.Join(root, `a b #{pid} #S %H "q";`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	words := []string{
		"then stop;", `already\;`, ";", `\;`, "a;b", "", `"double" 'single'`, "$(touch /tmp/no) `id` $HOME",
		"two\nlines\n",
		"größe 日本 🙂", "#{pane_id} #S %H", "~", "*", "-x", "--", "{ x }", "%1", `back\slash\`, "\x1b[31m",
		strings.Repeat("x", 6000), "end;",
	}
	for _, name := range []string{"new session", "new window"} {
		out := filepath.Join(root, SafeName(name))
		mustStart(t, s, Start{
			Task: "t", Session: "s", Dir: dir, Env: []string{"GIVEN=a b;#{pid} $x;"},
			Argv: append([]string{"sh", "-c", tell, "sh", out}, words...),
		})
		within(t, "the arguments are written", func() bool { _, err := os.Stat(out); return err == nil })
		if got := read(t, out); got != strings.Join(words, "\x00")+"\x00" {
			t.Errorf("%s got %q", name, strings.Split(got, "\x00"))
		}
		if got := read(t, out+".pwd"); got != dir+"\n" {
			t.Errorf("%s ran in %q", name, got)
		}
		if got := read(t, out+".env"); got != "a b;#{pid} $x;" {
			t.Errorf("%s was given %q", name, got)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStart_singleWordIsNoShellCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"exit 5; true"}})
	within(t, "the pane is dead", func() bool { p, _ = pane(t, s, p.ID); return p.Dead && p.Ending.Known })
	// 127 is "not found"; 126 where a folder of PATH may not be searched.
	if p.Ending.Status != 127 && p.Ending.Status != 126 {
		t.Errorf("status %d: it was given to a shell", p.Ending.Status)
	}
	p = mustStart(t, s, Start{Task: "t", Session: "s", Argv: []string{"true"}})
	within(t, "the pane is dead", func() bool { p, _ = pane(t, s, p.ID); return p.Dead && p.Ending.Known })
	if p.Ending.Status != 0 {
		t.Errorf("status %d", p.Ending.Status)
	}
}

func TestStart_refuses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	good := Start{Task: "t", Session: "s", Window: "w", Dir: t.TempDir(), Argv: []string{"sleep", "600"}}
	for name, spoil := range map[string]Start{
		"too long":   {Task: "t", Dir: good.Dir, Argv: []string{"sleep", strings.Repeat("x", 13<<10)}},
		"long env":   {Task: "t", Dir: good.Dir, Argv: good.Argv, Env: []string{"X=" + strings.Repeat("x", 13<<10)}},
		"no task":    {Dir: good.Dir, Argv: good.Argv},
		"no program": {Task: "t", Dir: good.Dir},
		"no folder":  {Task: "t", Dir: good.Dir + "/not", Argv: good.Argv},
		"relative":   {Task: "t", Dir: ".", Argv: good.Argv},
		"a file":     {Task: "t", Dir: s.Config, Argv: good.Argv},
		"a bad tag":  {Task: "t", Dir: good.Dir, Argv: good.Argv, Hook: "a\nb"},
		"a zero":     {Task: "t", Dir: good.Dir, Argv: []string{"sleep", "6\x00"}},
	} {
		if p, err := s.Start(t.Context(), spoil); err == nil {
			t.Errorf("%s: started %+v", name, p)
		}
	}
	bare := s
	bare.Config += ".not"
	if _, err := bare.Start(t.Context(), good); err == nil {
		t.Error("started without a configuration")
	}
	if panes := mustPanes(t, s); panes != nil {
		t.Errorf("there are panes: %+v", panes)
	}
}

// The server leaves with its last session, and the next task comes while it does.
func TestStart_whileTheServerLeaves(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	dir := t.TempDir()
	for range 15 {
		p := mustStart(t, s, Start{Task: "t", Session: "s", Dir: dir})
		if err := s.KillSession(t.Context(), p.SessionID); err != nil {
			t.Fatal(err)
		}
		if _, ok := pane(t, s, p.ID); ok {
			t.Error("the pane is still there")
		}
	}
}

func TestStart_manyAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const many = 8
	dir := t.TempDir()
	errs := make(chan error, many)
	for range many {
		go func() {
			_, err := s.Start(t.Context(), Start{Task: "t", Session: "s", Window: "w", Dir: dir, Argv: []string{
				"sleep", "600"}})
			errs <- err
		}()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	panes := mustPanes(t, s)
	for _, p := range panes {
		if p.Session != "s" || p.Window != "w" || p.Task != "t" {
			t.Errorf("odd pane %+v", p)
		}
	}
	if len(panes) != many {
		t.Errorf("%d panes", len(panes))
	}
}

// A session follows its branch: its windows stay, and the next start finds it. A name that someone else has is
// not taken.
func TestRename_leavesEverythingElseAsItIs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mine := mustStart(t, s, Start{Task: "aaaaaaaa", Session: "p/x"})
	other := mustStart(t, s, Start{Task: "bbbbbbbb", Session: "p/taken"})
	for _, tt := range []struct{ wanted, name string }{
		{"p/its name", "p/its_name"},
		{"p/its name", "p/its_name"}, // twice is no error
		{"p/taken", "p/taken~aaaaaa"},
		{"p/taken", "p/taken~aaaaaa"},
		{"p/#{pid}%H", "p/__pid_%H"},
		{"p/x", "p/x"},
	} {
		name, err := s.Rename(t.Context(), "aaaaaaaa", tt.wanted)
		if err != nil || name != tt.name {
			t.Errorf("%q is %q, want %q (%v)", tt.wanted, name, tt.name, err)
		}
		panes, err := s.Panes(t.Context())
		if err != nil || len(panes) != 2 {
			t.Fatalf("%v, %v", panes, err)
		}
		for _, p := range panes {
			if p.ID == mine.ID && (p.Session != tt.name || p.SessionID != mine.SessionID ||
				p.Task != "aaaaaaaa" || p.Dead) || p.ID == other.ID && p.Session != "p/taken" {
				t.Errorf("after %q: %+v", tt.wanted, p)
			}
		}
	}
	if p := mustStart(t, s, Start{Task: "aaaaaaaa", Session: "p/unasked",
		Window: "review-1"}); p.SessionID != mine.SessionID || p.Session != "p/x" {
		t.Errorf("the reviewer is in %q", p.Session)
	}
	if name, err := s.Rename(t.Context(), "cccccccc", "p/y"); name != "" || err != nil {
		t.Errorf("a task without a session: %q, %v", name, err)
	}
}
