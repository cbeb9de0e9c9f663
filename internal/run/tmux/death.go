package tmux

import (
	"context"
	"errors"
	"fmt"
)

// How a death is passed on: hooks of the server mark it in an option and wake who waits at a channel.
//
// The channel alone would lose deaths. Signalled while no one waits, it stays awake for the next one to come,
// but a second signal puts it to sleep again; and a waiter that was killed still is there for tmux,
// and takes the next signal with it. So the mark decides, and the channel only wakes.
const (
	deathChannel = "orange-death"
	deathMark    = "@orange_death"
	ifUnmarked   = "'#{?" + deathMark + ",,1}'"

	// hookPlace is far behind the places that a person's own hooks get, so that both are run.
	hookPlace     = "99"
	announceDeath = `"if-shell -F ` + ifUnmarked + ` 'set-option -g ` + deathMark + ` 1 ; wait-for -S ` +
		deathChannel + `'"`
)

// ErrNoServer says that no server runs, so that there is nothing to wait for.
var ErrNoServer = errors.New("no tmux server is running")

// AwaitDeath waits for a hint that some program of the server has ended, or that a window or a session was closed,
// since the last hint. Called off, the error is the context's; ErrNoServer says that there is no server.
//
// nil means no more than "look now". It comes late where tmux notices an end late, which it does now and then;
// it may come twice for one end, and for nothing; of two who wait at once, one may miss what the other is reported;
// and it never comes from a server that was started with an older configuration.
// The end of the server itself is a hint too.
//
// Each wait that is called off costs the server 4 KB for as long as it lives: wait long, and not in short turns.
func (s *Server) AwaitDeath(ctx context.Context) error {
	_, err := s.speak(ctx, call{words: []string{
		"if-shell", "-F", "#{?" + deathMark + ",,1}", "wait-for " + deathChannel,
		";", "set-option", "-gu", deathMark}})
	switch {
	case err == nil || isLost(err):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case noServer(err):
		return fmt.Errorf("wait for a death in tmux server %q: %w", s.Socket, ErrNoServer)
	}
	return fmt.Errorf("wait for a death in tmux server %q: %w", s.Socket, err)
}
