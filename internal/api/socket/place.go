package socket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

const name = "server.sock"

// pathOf is where the socket of a home is: in the home, or, where that has too long a path, in a folder of the user's
// own that is named by the home. It depends on no variable of the one who asks.
func pathOf(home string) string {
	if at := filepath.Join(home, name); len(at) <= proc.LongestSocket {
		return at
	}
	digest := sha256.Sum256([]byte(home))
	const enough = 8
	return filepath.Join("/tmp", "orange-"+strconv.Itoa(os.Getuid())+"-"+hex.EncodeToString(digest[:enough]), name)
}

// makeFolder makes the folder of a socket that is not in the home. It refuses one that is not the user's alone: who can
// write there could keep the server from its socket.
func makeFolder(dir string) error {
	if err := os.Mkdir(dir, task.PrivateFolder); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the folder of the server's socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of the server's socket: %w", err)
	}
	const others = 0o022
	if !info.IsDir() || !proc.IsOwn(info) || info.Mode()&others != 0 {
		return fmt.Errorf("cannot use %q for the socket of the server: it is no folder that you alone can write; "+
			"correct that, or move it away", dir)
	}
	return nil
}

// dialTime is how long a connection may take.
const dialTime = 2 * time.Second

// dial makes a client of the server of a home, where a socket of this user is there; pid is the process that listens,
// once it has connected. It gives nothing to another user's socket, nor to a process that check refuses: these could
// answer in the server's place.
func dial(home string, check func(pid int) error) (web *http.Client, pid *atomic.Int64, err error) {
	at := pathOf(home)
	info, err := os.Lstat(at)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if !proc.IsOwn(info) {
		return nil, nil, fmt.Errorf("%w: %q is another user's", ErrRefused, at)
	}
	pid = new(atomic.Int64)
	return &http.Client{Transport: &http.Transport{DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", at)
			if err != nil {
				return nil, err
			}
			who, err := processOf(conn)
			if err == nil {
				defer who.close()
				pid.Store(int64(who.pid))
				err = check(who.pid)
			}
			if err == nil {
				err = who.ended() // its rights were not those of another process with its number
			}
			if err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return conn, nil
		}}}, pid, nil
}
