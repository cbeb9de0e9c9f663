package dashboard

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// mail is what others tell the screen. The screen hears nothing while it has given its terminal away, and that may be for hours:
// nobody waits for it, least of all who watches over the agents.
type mail struct {
	mu      sync.Mutex
	waiting []tea.Msg
	come    chan struct{}
}

func newMail() *mail { return &mail{come: make(chan struct{}, 1)} }

func (m *mail) put(msg tea.Msg) {
	m.mu.Lock()
	m.waiting = append(m.waiting, msg)
	m.mu.Unlock()
	select {
	case m.come <- struct{}{}:
	default: // it is known already that there is some
	}
}

func (m *mail) take() []tea.Msg {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.waiting
	m.waiting = nil
	return all
}

// deliver hands everything on, in its order, until ctx ends.
func (m *mail) deliver(ctx context.Context, to func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.come:
		}
		for _, msg := range m.take() {
			to(msg)
		}
	}
}
