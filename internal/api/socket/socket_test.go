package socket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/api/socket"
	"orange/internal/run/proc"
)

func serve(t *testing.T, dir string, do socket.Handler) *socket.Server {
	t.Helper()
	s, err := socket.Listen(t.Context(), dir, "one", slog.New(slog.DiscardHandler), do)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

type printed struct{ out, err bytes.Buffer }

func ask(ctx context.Context, dir, build string, call proc.Call,
	supply func(socket.Need) socket.Input) (p *printed, exit int, err error) {
	p = &printed{}
	c := &socket.Client{Home: dir, Build: build, Out: &p.out, Err: &p.err, Supply: supply}
	exit, err = c.Call(ctx, call)
	return p, exit, err
}

func TestCall_answersWhatTheServerPrintsAndItsStatus(t *testing.T) {
	t.Parallel()
	for _, long := range []bool{false, true} {
		dir := socket.HomeOf(t)
		if long { // the path of a socket in it would be too long
			dir = filepath.Join(dir, strings.Repeat("l", 120))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		serve(t, dir, func(_ context.Context, c proc.Call, _ []socket.Input, _ func()) (int, *socket.Need, error) {
			fmt.Fprintf(c.Out, "%q in %s with %s \xff%d\n", c.Args, c.Dir, c.Getenv("A"), c.TTY().Columns)
			fmt.Fprint(c.Err, "warned")
			if c.PID != os.Getpid() {
				t.Errorf("process %d asks", c.PID)
			}
			return 3, nil, nil
		})
		p, exit, err := ask(t.Context(), dir, "one", proc.Call{Args: []string{"x", "y \xff"}, Dir: "/d",
			Env: []string{"A=b"}, Terminal: &proc.TTY{Columns: 7}}, nil)
		if want := "[\"x\" \"y \\xff\"] in /d with b \xff7\n"; err != nil || exit != 3 || p.out.String() != want ||
			p.err.String() != "warned" {
			t.Errorf("found %d, %v, %q, %q", exit, err, p.out.String(), p.err.String())
		}
	}
}

func TestCall_sendsWhatACommandNeeds(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	wants := []socket.Need{{File: "-"}, {File: "f\xff"}, {Question: "sure?"}}
	serve(t, dir, func(_ context.Context, c proc.Call, s []socket.Input, _ func()) (int, *socket.Need, error) {
		fmt.Fprint(c.Out, "again;")
		if len(s) < len(wants) {
			return 0, &wants[len(s)], nil
		}
		fmt.Fprint(c.Out, s[0].Text, s[1].Wrong, s[2].Text)
		return 0, nil, nil
	})
	call := proc.Call{Args: []string{"create", "-", "--context=f\xff"}}
	p, exit, err := ask(t.Context(), dir, "one", call, func(n socket.Need) socket.Input {
		switch n.File {
		case "-":
			return socket.Input{Need: n, Text: "input "}
		case "f\xff":
			return socket.Input{Need: n, Wrong: "gone "}
		}
		return socket.Input{Need: n, Text: n.Question}
	})
	if err != nil || exit != 0 || p.out.String() != "again;input gone sure?" {
		t.Errorf("found %d, %v, %q", exit, err, p.out.String())
	}
}

// A client that cannot say what the server wants to know would ask forever. It reads no file that the command does not
// name.
func TestCall_endsWhereTheServerAsksForTooMuch(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	serve(t, dir, func(context.Context, proc.Call, []socket.Input, func()) (int, *socket.Need, error) {
		return 0, &socket.Need{File: "f"}, nil
	})
	for _, args := range [][]string{{"create", "f"}, {"create", "-", "xf"}} {
		_, _, err := ask(t.Context(), dir, "one", proc.Call{Args: args}, func(n socket.Need) socket.Input {
			return socket.Input{Need: n}
		})
		if err == nil || !strings.Contains(err.Error(), "does not name, or asks again") {
			t.Errorf("%q: found %v", args, err)
		}
	}
}

// What no server does the client does itself, so it must be certain that nothing was done.
func TestCall_isNotServedByAnOlderBuildOrByNone(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	if _, _, err := ask(t.Context(), dir, "one", proc.Call{}, nil); !errors.Is(err, socket.ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	s := serve(t, dir, func(context.Context, proc.Call, []socket.Input, func()) (int, *socket.Need, error) {
		return 0, nil, errors.New("not here")
	})
	for build, older := range map[string]bool{"one": false, "a": false, "two": true} {
		c := &socket.Client{Home: dir, Build: build, Out: io.Discard, Err: io.Discard}
		_, err := c.Call(t.Context(), proc.Call{})
		if !errors.Is(err, socket.ErrRefused) || errors.Is(err, socket.ErrOlder) != older {
			t.Errorf("build %s: %v", build, err)
		}
		c.Older = true
		if _, err := c.Call(t.Context(), proc.Call{}); err == nil || !strings.Contains(err.Error(), "not here") {
			t.Errorf("build %s, by an older server: %v", build, err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t.Context(), dir, "one", proc.Call{}, nil); !errors.Is(err, socket.ErrNoServer) {
		t.Errorf("after its end: %v", err)
	}
}

func TestClose_cutsOffWhatReadsAndWaitsForTheRest(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	begun, goOn := make(chan string), make(chan struct{})
	s := serve(t, dir, func(ctx context.Context, c proc.Call, _ []socket.Input, reads func()) (int, *socket.Need,
		error) {
		if c.Args[0] == "reads" {
			reads()
		}
		begun <- c.Args[0]
		select {
		case <-ctx.Done():
			fmt.Fprint(c.Out, "cut")
		case <-goOn:
			fmt.Fprint(c.Out, "done")
		}
		return 0, nil, nil
	})
	type end struct {
		of, out string
		err     error
	}
	ends := make(chan end)
	for _, word := range []string{"reads", "acts"} {
		go func() {
			p, _, err := ask(t.Context(), dir, "one", proc.Call{Args: []string{word}}, nil)
			ends <- end{word, p.out.String(), err}
		}()
		<-begun
	}
	closed := make(chan error)
	go func() { closed <- s.Close(t.Context()) }()
	if e := <-ends; e.of != "reads" || !errors.Is(e.err, socket.ErrRefused) || e.out != "" {
		t.Errorf("found %+v", e)
	}
	close(goOn)
	if e := <-ends; e.of != "acts" || e.err != nil || e.out != "done" {
		t.Errorf("found %+v", e)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestACallThatIsGivenUp_saysWhatItCameTo(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	begun := make(chan struct{})
	serve(t, dir, func(ctx context.Context, c proc.Call, _ []socket.Input, _ func()) (int, *socket.Need, error) {
		close(begun)
		<-ctx.Done()
		fmt.Fprint(c.Err, "given up")
		return 130, nil, nil
	})
	ctx, off := context.WithCancel(t.Context())
	go func() { <-begun; off() }()
	if p, exit, err := ask(ctx, dir, "one", proc.Call{}, nil); err != nil || exit != 130 ||
		p.err.String() != "given up" {
		t.Errorf("found %d, %v, %q", exit, err, p.err.String())
	}
}

func TestAFaultInACall_isTheEndOfThatCallAlone(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	serve(t, dir, func(_ context.Context, c proc.Call, _ []socket.Input, _ func()) (int, *socket.Need, error) {
		if len(c.Args) > 0 {
			panic("broken")
		}
		return 0, nil, nil
	})
	p, exit, err := ask(t.Context(), dir, "one", proc.Call{Args: []string{"x"}}, nil)
	if err != nil || exit != 1 || !strings.Contains(p.err.String(), "broken") {
		t.Errorf("found %d, %v, %q", exit, err, p.err.String())
	}
	if _, exit, err := ask(t.Context(), dir, "one", proc.Call{}, nil); err != nil || exit != 0 {
		t.Errorf("the next call: %d, %v", exit, err)
	}
}

// A client that hangs up ends its call.
func TestACallOfAClientThatHasGone_ends(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	ended := make(chan struct{})
	serve(t, dir, func(ctx context.Context, c proc.Call, _ []socket.Input, _ func()) (int, *socket.Need, error) {
		fmt.Fprint(c.Out, "x")
		<-ctx.Done()
		close(ended)
		return 0, nil, nil
	})
	c := &socket.Client{Home: dir, Build: "one", Out: gone{}, Err: io.Discard}
	if _, err := c.Call(t.Context(), proc.Call{}); !errors.Is(err, errGone) {
		t.Errorf("found %v", err)
	}
	<-ended
}

var errGone = errors.New("no one reads")

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errGone }

func TestLook_isHowTheServerIs(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	if _, err := socket.Look(t.Context(), dir); !errors.Is(err, socket.ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	serve(t, dir, func(context.Context, proc.Call, []socket.Input, func()) (int, *socket.Need, error) {
		close(begun)
		<-goOn
		return 0, nil, nil
	})
	ended := make(chan error)
	go func() {
		_, _, err := ask(t.Context(), dir, "one", proc.Call{}, nil)
		ended <- err
	}()
	<-begun
	h, err := socket.Look(t.Context(), dir)
	if err != nil || h.PID != os.Getpid() || h.Calls != 1 || h.Since.IsZero() {
		t.Errorf("found %+v, %v", h, err)
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestACallThatIsTooLarge_isRefused(t *testing.T) {
	t.Parallel()
	dir := socket.HomeOf(t)
	serve(t, dir, func(context.Context, proc.Call, []socket.Input, func()) (int, *socket.Need, error) {
		t.Error("it was done")
		return 0, nil, nil
	})
	large := proc.Call{Args: []string{strings.Repeat("x", 5<<20)}}
	if _, _, err := ask(t.Context(), dir, "one", large, nil); !errors.Is(err, socket.ErrRefused) {
		t.Errorf("found %v", err)
	}
}
