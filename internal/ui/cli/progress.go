package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/action"
)

// progressEach is how often the line that tells how far a command is may change. It is there only once a command
// has taken as long.
const progressEach = 250 * time.Millisecond

// progress is a line at a terminal that tells how far a long command is. It is written over itself, and is gone
// in the end: with blanks, as any terminal can. Many may tell it at once.
type progress struct {
	to  io.Writer // nil where no person sees it
	now func() time.Time

	mu    sync.Mutex
	drawn time.Time
	width int  // of what is there
	told  bool // what is there says more than that the command is at work
	held  bool // something else has the terminal
}

// progress is that of this command. A caller that wants JSON, or has no terminal to see it at, gets none.
func (p *printer) progress() *progress {
	switch {
	case p.json:
		return newProgress(nil, time.Now)
	case p.line == nil:
		p.line = newProgress(p.Progress, time.Now)
	}
	return p.line
}

// busy says from the first second on that a command is at work, and for how long by now, until end is called. It is
// silent while something says more.
func (p *printer) busy(name string) (end func()) {
	if p.json || p.Progress == nil {
		return func() {}
	}
	g, tick := p.progress(), time.NewTicker(progressEach)
	over := g.each(tick.C, func(waited time.Duration) { g.atWork(name, waited) })
	return func() {
		over()
		tick.Stop()
	}
}

// lend takes the line away for the rest of a command that has the whole terminal, or prints lines as they come.
func (p *printer) lend() {
	if p.line != nil {
		p.line.hold(true)
	}
}

// atWork says for how long a command has been at work.
func (g *progress) atWork(what string, waited time.Duration) {
	g.mu.Lock()
	told := g.told
	g.mu.Unlock()
	if !told && waited >= waitShown {
		g.seldom(func() string { return fmt.Sprintf("%s: %d s", what, int(waited.Seconds())) })
	}
}

// hold takes the line away, and keeps it away while something else has the terminal.
func (g *progress) hold(held bool) {
	g.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = held
}

// more notes that what the line says now is more than that the command is at work.
func (g *progress) more() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = true
}

func newProgress(to io.Writer, now func() time.Time) *progress {
	return &progress{to: to, now: now, drawn: now()}
}

// tell says how many of how many are done; of is 0 where that is not known.
func (g *progress) tell(what string, done, of int) {
	if g.to == nil {
		return
	}
	g.more()
	g.seldom(func() string {
		if of > 0 {
			return fmt.Sprintf("%s: %d of %d", what, done, of)
		}
		return fmt.Sprintf("%s: %d", what, done)
	})
}

// seldom draws a text, unless one was drawn a moment ago.
func (g *progress) seldom(text func() string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); !g.held && now.Sub(g.drawn) >= progressEach {
		g.drawn = now
		g.draw(text())
	}
}

func (g *progress) end() {
	if g.to == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = false
	if g.width > 0 {
		g.draw("")
		_, _ = io.WriteString(g.to, "\r") // a terminal that has gone shows nothing
	}
}

func (g *progress) draw(text string) {
	_, _ = io.WriteString(g.to, "\r"+text+strings.Repeat(" ", max(0, g.width-len(text))))
	g.width = len(text)
}

// waitShown is how long a command waits before it says for what.
const waitShown = time.Second

// wait says what a command waits for, a hook as a rule, and for how long by now; an empty word is the end.
func (g *progress) wait(what string, waited time.Duration) {
	if what == "" {
		g.end()
		return
	}
	if g.to == nil || waited < waitShown {
		return
	}
	if what == action.AcquireWorkspace {
		what = "preparing the worktree"
	}
	g.more()
	g.seldom(func() string { return fmt.Sprintf("%s: %d s", what, int(waited.Seconds())) })
}

// during says for how long something takes, at each tick, until end is called.
func (g *progress) during(what string, ticks <-chan time.Time) (end func()) {
	return g.each(ticks, func(waited time.Duration) { g.wait(what, waited) })
}

// each calls a function with the time since now at each tick, until end is called, which takes the line away.
func (g *progress) each(ticks <-chan time.Time, tell func(waited time.Duration)) (end func()) {
	began, stop, stopped := g.now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-ticks:
				tell(g.now().Sub(began))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		g.end()
	}
}
