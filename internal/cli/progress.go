package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"orange/internal/action"
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
	width int // of what is there
}

// progress begins one. A caller that wants JSON, or has no terminal to see it at, gets none.
func (p *Program) progress() *progress {
	if p.json {
		return newProgress(nil, time.Now)
	}
	return newProgress(p.Progress, time.Now)
}

func newProgress(to io.Writer, now func() time.Time) *progress {
	return &progress{to: to, now: now, drawn: now()}
}

// tell says how many of how many are done; of is 0 where that is not known.
func (g *progress) tell(what string, done, of int) {
	if g.to == nil {
		return
	}
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
	if now := g.now(); now.Sub(g.drawn) >= progressEach {
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
	g.seldom(func() string { return fmt.Sprintf("%s: %d s", what, int(waited.Seconds())) })
}

// during says for how long something takes, at each tick, until end is called.
func (g *progress) during(what string, ticks <-chan time.Time) (end func()) {
	began, stop, stopped := g.now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-ticks:
				g.wait(what, g.now().Sub(began))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		g.end()
	}
}
