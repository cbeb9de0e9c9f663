package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
)

// shownAt is what a terminal shows of what was written to it, where no line is longer than it.
func shownAt(written string) string {
	var line []rune
	at := 0
	for _, r := range written {
		if r == '\r' {
			at = 0
			continue
		}
		if at == len(line) {
			line = append(line, r)
		}
		line[at] = r
		at++
	}
	return strings.TrimRight(string(line), " ")
}

func TestProgress_redrawsOneLineRarelyAndRemovesItAtTheEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	g := newProgress(&out, func() time.Time { return clock })
	g.tell("tasks verified", 1, 1000)
	if out.Len() > 0 {
		t.Errorf("a command that takes no time has written %q", out.String())
	}
	for n := range 1000 { // a second long, and the words become fewer
		clock = clock.Add(time.Millisecond)
		g.tell("tasks verified", 1000-n, 1000)
	}
	if drawn := strings.Count(out.String(), "\r"); drawn != 4 {
		t.Errorf("within a second it was drawn %d times: %q", drawn, out.String())
	}
	if got, want := shownAt(out.String()), "tasks verified: 1 of 1000"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
	g.end()
	if got := shownAt(out.String()); got != "" || !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("it leaves %q: %q", got, out.String())
	}
	if strings.ContainsAny(out.String(), "\x1b\n") {
		t.Errorf("it is more than a line of plain letters: %q", out.String())
	}
	out.Reset()
	newProgress(&out, time.Now).end()
	if out.Len() > 0 {
		t.Errorf("what was never drawn is taken away: %q", out.String())
	}
}

func TestProgress_saysWhatACommandWaitsForOnceThatTakesASecond(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	g := newProgress(&out, func() time.Time { return clock })
	for waited := time.Duration(0); waited < time.Second; waited += 10 * time.Millisecond {
		g.wait(action.AcquireWorkspace, waited)
		clock = clock.Add(10 * time.Millisecond)
	}
	if out.Len() > 0 {
		t.Errorf("within a second it has written %q", out.String())
	}
	g.wait(action.AcquireWorkspace, 3200*time.Millisecond)
	if got, want := shownAt(out.String()), "preparing the worktree: 3 s"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
	clock = clock.Add(time.Second)
	g.wait(action.SpawnAgent, 4200*time.Millisecond)
	if got, want := shownAt(out.String()), "spawn_agent: 4 s"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
	g.wait("", 0)
	if got := shownAt(out.String()); got != "" {
		t.Errorf("it leaves %q", got)
	}
}

func TestProgress_duringSomethingIsGoneWhenThatEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := make(chan time.Time, 4)
	began := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, 0, 2 * time.Second, 2 * time.Second} {
		clock <- began.Add(after)
	}
	g := newProgress(&out, func() time.Time { return <-clock })
	ticks := make(chan time.Time)
	end := g.during("making worktrees", ticks)
	ticks <- began
	end()
	if !strings.Contains(out.String(), "making worktrees: 2 s") || shownAt(out.String()) != "" {
		t.Errorf("it has written %q", out.String())
	}
}

func TestProgress_ofACommandAtWorkIsSilentWhileSomethingSaysMore(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	clock := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	g := newProgress(&out, func() time.Time { return clock })
	draw := func(tell func()) string {
		out.Reset()
		clock = clock.Add(time.Second)
		tell()
		return strings.TrimSpace(shownAt(out.String()))
	}
	atWork := func() { g.atWork("merge", 2*time.Second) }
	for _, c := range []struct {
		name, want string
		tell       func()
	}{
		{"less than a second", "", func() { g.atWork("merge", 900*time.Millisecond) }},
		{"two seconds", "merge: 2 s", atWork},
		{"more", "tasks verified: 1 of 2", func() { g.tell("tasks verified", 1, 2) }},
		{"two seconds, while more is told", "", atWork},
		{"printed meanwhile", "merge: 2 s", func() { g.end(); atWork() }},
		{"held", "", func() { g.hold(true); atWork() }},
		{"let go", "merge: 2 s", func() { g.hold(false); atWork() }},
	} {
		if found := draw(c.tell); found != c.want {
			t.Errorf("%s: it shows %q, want %q", c.name, found, c.want)
		}
	}
}

func TestBusy_leavesNothingAndIsSilentForPrograms(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, p := range []*printer{{Progress: &out}, {json: true, Progress: &out}, {}} {
		p.busy("task list")()
	}
	if out.Len() > 0 {
		t.Errorf("it has written %q", out.String())
	}
}
