//go:build !linux

package socket

import "net"

// peer is the process at the other end of a connection. What has to be known of it is not known here, so that no server
// begins.
type peer struct{ pid int }

// Serves reports whether calls are served on this system: whether it says enough about who is at the other end.
func Serves() bool { return false }

func peerOf(net.Conn) (p peer, _ error) { return p, ErrUnserved }
func (peer) there() error               { return ErrUnserved }
func (peer) close()                     {}
func listenerOf(net.Conn) (int, error)  { return 0, ErrUnserved }
