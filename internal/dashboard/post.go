package dashboard

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// post is what others tell the screen. Whoever tells something waits for nothing: while the terminal is given
// away to an agent or an editor nobody reads, and a watch over agents must not stand still because of that.
type post struct {
	mu      sync.Mutex
	waiting []tea.Msg
	came    chan struct{} // holds one when something waits
}

func newPost() *post { return &post{came: make(chan struct{}, 1)} }

// put leaves a message. The order is kept.
func (p *post) put(msg tea.Msg) {
	p.mu.Lock()
	p.waiting = append(p.waiting, msg)
	p.mu.Unlock()
	select {
	case p.came <- struct{}{}:
	default: // it is known already
	}
}

// deliver hands the messages on until ctx ends.
func (p *post) deliver(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.came:
		}
		p.mu.Lock()
		waiting := p.waiting
		p.waiting = nil
		p.mu.Unlock()
		for _, msg := range waiting {
			send(msg)
		}
	}
}
