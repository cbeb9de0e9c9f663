package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orange/internal/run/proc"
)

// HomeOf is a folder with a path that is short enough for a socket.
func HomeOf(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("calls are served on Linux alone")
	}
	dir, err := os.MkdirTemp("", "os") //nolint:usetesting // a folder of the test has too long a path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A server that was stopped may take the call later, so that the client must not do it itself, unless it may be done
// twice.
func TestCall_saysWhichServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := HomeOf(t)
	listener, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, again := range []bool{false, true} {
		c := &Client{Home: dir, Build: "one", Out: io.Discard, Err: io.Discard, Again: again,
			patience: time.Millisecond}
		_, err = c.Call(t.Context(), proc.Call{})
		if !errors.Is(err, ErrHung) || !strings.Contains(err.Error(), fmt.Sprint("kill -CONT ", os.Getpid())) ||
			c.Repeatable(err) != again {
			t.Errorf("again %t: found %v", again, err)
		}
	}
}

// Who removes the socket, or puts another one in its place, leaves the home without a server for a moment alone.
func TestListen_makesTheSocketAgain(t *testing.T) {
	t.Parallel()
	dir := HomeOf(t)
	s, err := Listen(t.Context(), dir, "one", slog.New(slog.DiscardHandler),
		func(context.Context, proc.Call, []Input, func()) (int, *Need, error) { return 5, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	at := filepath.Join(dir, name)
	for _, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.Remove(at) },
		func() error { return errors.Join(os.Remove(at), os.WriteFile(at, nil, 0o600)) },
	} {
		if err := errors.Join(spoil(), s.listen()); err != nil {
			t.Fatal(err)
		}
		c := &Client{Home: dir, Build: "one", Out: io.Discard, Err: io.Discard}
		if exit, err := c.Call(t.Context(), proc.Call{}); err != nil || exit != 5 {
			t.Errorf("found %d, %v", exit, err)
		}
	}
}

// Half an answer is not printed again from its beginning.
func TestRepeatable_isWhatPrintedNothing(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		dir := HomeOf(t)
		begun, dead := make(chan struct{}), make(chan struct{})
		s, err := Listen(t.Context(), dir, "one", slog.New(slog.DiscardHandler), func(_ context.Context, c proc.Call,
			_ []Input, note func()) (int, *Need, error) {
			if reads {
				note()
			}
			fmt.Fprint(c.Out, "half")
			close(begun)
			<-dead
			return 0, nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		c := &Client{Home: dir, Build: "one", Out: &out, Err: io.Discard, Again: true}
		ended := make(chan error)
		go func() {
			_, err := c.Call(t.Context(), proc.Call{})
			ended <- err
		}()
		<-begun
		gone, off := context.WithCancel(t.Context())
		off()
		s.calls[1].to.release()
		_ = s.Close(gone) // as a server that dies: it waits for nothing
		err = <-ended
		close(dead)
		if again := c.Repeatable(err); again != reads || (out.String() == "") != reads {
			t.Errorf("one that reads, %t: repeatable %t, %q, %v", reads, again, out.String(), err)
		}
	}
}

func TestAwaitDeath_isNoFarewell(t *testing.T) {
	t.Parallel()
	if err := AwaitDeath(t.Context(), HomeOf(t)); !errors.Is(err, ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	for _, dies := range []bool{true, false} {
		dir := HomeOf(t)
		s, err := Listen(t.Context(), dir, "one", slog.New(slog.DiscardHandler),
			func(context.Context, proc.Call, []Input, func()) (int, *Need, error) { return 0, nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- AwaitDeath(t.Context(), dir) }()
		for h := (Health{}); h.Waiting == 0; {
			if h, err = Look(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		}
		if dies {
			_ = s.http.Close()
		} else if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; (err == nil) != dies {
			t.Errorf("it dies %t: found %v", dies, err)
		}
		if dies {
			_ = s.Close(t.Context())
		}
	}
}
