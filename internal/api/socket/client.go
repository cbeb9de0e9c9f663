package socket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orange/internal/run/proc"
)

// Client asks the server of a home. It does one command line.
type Client struct {
	Home     string
	Build    string    // of this program
	Out, Err io.Writer // get what the server has made fit to be shown
	// Supply reads what only the client can read.
	Supply func(Need) Input
	// Again says that the command line may be done twice. The patience with a server that hangs is shorter then.
	Again bool
	// Older says that a server of an older build may do it too. One of a newer build always may.
	Older bool

	patience time.Duration // how long the server may take to begin; 0 is the usual
	printed  bool          // something of the answer was printed
}

// How a call can fail.
var (
	ErrNoServer = errors.New("no process serves the home")             // nothing was done
	ErrRefused  = errors.New("the server does not do this")            // nothing was done
	ErrOlder    = errors.New("the server is of an older build")        // it is ErrRefused too
	ErrBroken   = errors.New("the server ended while it was at work")  // it is not known whether it was done
	ErrHung     = errors.New("the server of the home does not answer") // it may be done later
	errNoNeed   = errors.New("the server asks for what the command does not name, or asks again")
)

const (
	takeTime   = 10 * time.Second // that the server may take to begin a call
	againTime  = 2 * time.Second  // the same, where the call may be done twice
	giveUpTime = time.Second      // that a call which was given up may take to end
)

// Repeatable reports whether the command line can be done again after an error: nothing was done, or it may be done
// twice and nothing of its answer was printed.
func (c *Client) Repeatable(err error) bool {
	nothing := errors.Is(err, ErrNoServer) || errors.Is(err, ErrRefused)
	unknown := errors.Is(err, ErrBroken) || errors.Is(err, ErrHung)
	return !c.printed && (nothing || unknown && c.Again)
}

// Printed reports whether something of an answer was printed.
func (c *Client) Printed() bool { return c.printed }

// Call has the server do a command line, prints what it prints, and answers its exit status. Where ctx ends, the call
// is given up, and its end is waited for.
func (c *Client) Call(ctx context.Context, call proc.Call) (exit int, err error) {
	web, pid, err := dial(c.Home, sameRights)
	if err != nil {
		return 0, err
	}
	defer web.CloseIdleConnections()
	var sent []Input
	for {
		exit, need, err := c.once(ctx, web, requestOf(call, c.Build, c.Older, sent))
		if errors.Is(err, ErrHung) {
			err = hung(int(pid.Load()), ", which may do this when it goes on")
		}
		if need == nil || err != nil {
			return exit, err
		}
		if need.Question == "" && !names(call.Args, need.File) || len(sent) > 0 && sent[len(sent)-1].Need == *need {
			return 0, fmt.Errorf("%w: %+v", errNoNeed, *need)
		}
		sent = append(sent, c.Supply(*need))
	}
}

// names reports whether a command line names a file, as a word or as the value of a flag.
func names(args []string, file string) bool {
	return slices.ContainsFunc(args, func(word string) bool {
		return word == file || strings.HasSuffix(word, "="+file)
	})
}

// once asks once. The request outlives ctx for a moment: what a call that was given up came to is printed too.
func (c *Client) once(ctx context.Context, web *http.Client, one request) (exit int, need *Need, err error) {
	body, err := json.Marshal(one)
	if err != nil {
		return 0, nil, fmt.Errorf("write a call: %w", err)
	}
	whole, off := context.WithCancel(context.WithoutCancel(ctx))
	defer off()
	patience := takeTime
	if c.Again {
		patience = againTime
	}
	var late atomic.Bool
	patient := time.AfterFunc(dialTime+takeTime, func() { late.Store(true); off() })
	defer patient.Stop()
	// It counts from the connection on: what is late before that has no process that could be named, or does anything.
	traced := httptrace.WithClientTrace(whole, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { patient.Reset(cmp.Or(c.patience, patience)) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, "http://home"+callsPath, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make a call: %w", err)
	}
	res, err := web.Do(req)
	switch {
	case late.Load():
		return 0, nil, ErrHung
	case errors.Is(err, errOtherRights):
		return 0, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	defer res.Body.Close()
	from := json.NewDecoder(res.Body)
	var taken part
	if err := from.Decode(&taken); late.Load() {
		return 0, nil, ErrHung
	} else if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	patient.Stop()
	if taken.Older {
		return 0, nil, fmt.Errorf("%w: %w", ErrRefused, ErrOlder)
	}
	if taken.Refused != "" {
		return 0, nil, fmt.Errorf("%w: %s", ErrRefused, taken.Refused)
	}
	defer context.AfterFunc(ctx, func() { giveUp(whole, web, taken.Taken, off) })()
	return c.follow(ctx, from)
}

// follow prints the answer of a call that the server has begun.
func (c *Client) follow(ctx context.Context, from *json.Decoder) (exit int, need *Need, err error) {
	for {
		var p part
		switch err := from.Decode(&p); {
		case err != nil && ctx.Err() != nil:
			return 0, nil, ctx.Err()
		case err != nil:
			return 0, nil, fmt.Errorf("%w: %w", ErrBroken, err)
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
			return 0, &Need{string(p.Need.File), string(p.Need.Question)}, nil
		}
	}
}

func (c *Client) print(p part) error {
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
	c.printed = c.printed || p.Out != ""
	return nil
}

// giveUp asks the server to end a call, and cuts it off where that takes long.
func giveUp(ctx context.Context, web *http.Client, number uint64, off func()) {
	ctx, end := context.WithTimeout(ctx, giveUpTime)
	defer end()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete,
		"http://home"+callsPath+"/"+strconv.FormatUint(number, 10), nil)
	if err == nil {
		var res *http.Response
		if res, err = web.Do(req); err == nil {
			_ = res.Body.Close() // it has none
		}
	}
	<-ctx.Done()
	off()
}
