package dashboard

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// mailbox has the messages of other goroutines to the screen. A sender never waits: while an agent or an editor has the
// terminal the screen reads no messages, and the monitor of the agents must not stop because of that.
type mailbox struct {
	mu      sync.Mutex
	waiting []tea.Msg
	arrived chan struct{} // has an element while messages wait
}

func newMailbox() *mailbox { return &mailbox{arrived: make(chan struct{}, 1)} }

// put adds a message. The order is kept.
func (b *mailbox) put(msg tea.Msg) {
	b.mu.Lock()
	b.waiting = append(b.waiting, msg)
	b.mu.Unlock()
	select {
	case b.arrived <- struct{}{}:
	default: // there is one already
	}
}

func (b *mailbox) deliver(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.arrived:
		}
		b.mu.Lock()
		waiting := b.waiting
		b.waiting = nil
		b.mu.Unlock()
		for _, msg := range waiting {
			send(msg)
		}
	}
}
