//go:build !linux

package socket

import "net"

// peer is the process at the other end of a connection. What has to be known of it is not known here, so that no server
// begins.
type peer struct{ pid int }

// Supported reports whether calls are served on this system: whether it says enough about who is at the other end.
func Supported() bool { return false }

func peerOf(net.Conn) (p peer, _ error)    { return p, ErrUnsupported }
func (peer) ended() error                  { return ErrUnsupported }
func (peer) close()                        {}
func processOf(net.Conn) (p peer, _ error) { return p, ErrUnsupported }
func sameRights(int) error                 { return ErrUnsupported }
