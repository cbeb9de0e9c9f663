package socket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"orange/internal/run/proc"
)

// Client asks the server of a home.
type Client struct {
	Home     string
	Build    string    // of this program
	Out, Err io.Writer // get what the server has made fit to be shown
	// Supply reads what only the client can read.
	Supply func(Lack) (Sent, error)
	// Patience is how long the server may take to begin; 0 is ten seconds.
	Patience time.Duration
}

// How a call can fail.
var (
	ErrNoServer = errors.New("no process serves the home")  // nothing was done
	ErrRefused  = errors.New("the server does not do this") // nothing was done
	ErrBroken   = errors.New("the server ended while it was at work")
	ErrHung     = errors.New("the server does not answer")
)

const (
	dialTime   = 2 * time.Second
	takeTime   = 10 * time.Second
	giveUpTime = time.Second // that a call which was given up may take to end
)

// Do has the server do a command line, prints what it prints, and answers its exit status. Where ctx ends, the call is
// given up, and its end is waited for.
func (c Client) Do(ctx context.Context, call proc.Call) (exit int, err error) {
	at, err := ownSocket(c.Home)
	if err != nil {
		return 0, err
	}
	var pid atomic.Int64
	web := &http.Client{Transport: &http.Transport{DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", at)
			if err == nil {
				var listener int
				listener, err = listenerOf(conn)
				pid.Store(int64(listener))
			}
			return conn, err
		}}}
	defer web.CloseIdleConnections()
	var sent Sent
	for {
		exit, need, err := c.once(ctx, web, requestOf(call, c.Build, sent))
		if errors.Is(err, ErrHung) {
			err = fmt.Errorf("%w: process %d; let it go on with %q, or end it with %q", ErrHung, pid.Load(),
				fmt.Sprintf("kill -CONT %d", pid.Load()), fmt.Sprintf("kill -KILL %d", pid.Load()))
		}
		if need == nil || err != nil {
			return exit, err
		}
		more, err := c.Supply(*need)
		if err != nil {
			return 0, err
		}
		sent = sent.with(more)
	}
}

// ownSocket is the socket of a home's server, where one of this user is there.
func ownSocket(home string) (at string, err error) {
	at = place(home)
	info, err := os.Lstat(at)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if owner, known := info.Sys().(*syscall.Stat_t); !known || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%w: %q is another user's", ErrRefused, at)
	}
	return at, nil
}

// with is what was sent before with more of it.
func (s Sent) with(more Sent) Sent {
	both := Sent{Texts: map[string]string{}, Unread: map[string]string{},
		Answers: append(s.Answers, more.Answers...)}
	for _, from := range []Sent{s, more} {
		for name, text := range from.Texts {
			both.Texts[name] = text
		}
		for name, why := range from.Unread {
			both.Unread[name] = why
		}
	}
	return both
}

// once asks once. The request outlives ctx for a moment: what a call that was given up came to is said too.
func (c Client) once(ctx context.Context, web *http.Client, one request) (exit int, need *Lack, err error) {
	body, err := json.Marshal(one)
	if err != nil {
		return 0, nil, fmt.Errorf("write a call: %w", err)
	}
	whole, off := context.WithCancel(context.WithoutCancel(ctx))
	defer off()
	req, err := http.NewRequestWithContext(whole, http.MethodPost, "http://home"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make a call: %w", err)
	}
	var hung atomic.Bool
	late := time.AfterFunc(cmp.Or(c.Patience, takeTime), func() { hung.Store(true); off() })
	defer late.Stop()
	res, err := web.Do(req)
	switch {
	case hung.Load():
		return 0, nil, ErrHung
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	defer res.Body.Close()
	from, taken := json.NewDecoder(res.Body), false
	for {
		var p part
		if err := from.Decode(&p); err != nil {
			if !taken && hung.Load() {
				return 0, nil, ErrHung
			}
			if !taken {
				return 0, nil, fmt.Errorf("%w: %w", ErrRefused, err)
			}
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			return 0, nil, fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if p.Taken != 0 {
			taken = true
			late.Stop()
			defer context.AfterFunc(ctx, func() { giveUp(whole, web, p.Taken, off) })()
		}
		if err := c.print(p); err != nil {
			return 0, nil, err
		}
		switch {
		case p.Refused != "":
			return 0, nil, fmt.Errorf("%w: %s", ErrRefused, p.Refused)
		case p.Exit != nil:
			return *p.Exit, nil, nil
		case p.Need != nil:
			return 0, p.Need, nil
		}
	}
}

func (c Client) print(p part) error {
	for _, one := range []struct {
		to   io.Writer
		text text
	}{{c.Err, p.Err}, {c.Out, p.Out}} {
		if one.text == "" {
			continue
		}
		if _, err := io.WriteString(one.to, string(one.text)); err != nil {
			return fmt.Errorf("print what the server answers: %w", err)
		}
	}
	return nil
}

// giveUp asks the server to end a call, and cuts it off where that takes long.
func giveUp(ctx context.Context, web *http.Client, number uint64, off func()) {
	ctx, end := context.WithTimeout(ctx, giveUpTime)
	defer end()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete,
		"http://home"+path+"/"+strconv.FormatUint(number, 10), nil)
	if err == nil {
		var res *http.Response
		if res, err = web.Do(req); err == nil {
			_ = res.Body.Close() // it has none
		}
	}
	<-ctx.Done()
	off()
}
