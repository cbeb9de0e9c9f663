package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Health is what a server says of itself.
type Health struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Calls int       `json:"calls"` // under way, with hooks and checks that it does
	Build string    `json:"build"` // of its program

	Waiting int `json:"waiting"` // processes that wait for its end

	Stays bool      `json:"stays"` // a person has it in the foreground: no other one takes its place
	Heard time.Time `json:"heard"` // when its watch over the agents let others hear of it last; zero for no watch
}

// mostSilent is after how much silence it is reported that no one watches, though a server is there.
const mostSilent = time.Minute

// Trouble reports why no one watches over the agents although a server that should is there, and what to do; both are
// empty where it does.
func (h Health) Trouble(now time.Time) (found, advice string) {
	if h.Heard.IsZero() || now.Sub(h.Heard) <= mostSilent {
		return "", ""
	}
	return fmt.Sprintf("process %d serves the home, and its watch over the agents has done nothing since %s", h.PID,
			h.Heard.Format(time.DateTime)),
		fmt.Sprintf("start another one with %q", "orange server restart")
}

// lookTime is how long a server may take to say how it is.
const lookTime = 2 * time.Second

// Look is how the server of a home is; ErrNoServer where none is there. Where it does not answer, the error is ErrHung,
// and Health has its PID all the same.
func Look(ctx context.Context, home string) (h Health, err error) {
	web, pid, err := dial(home, func(int) error { return nil })
	if err != nil {
		return h, err
	}
	defer web.CloseIdleConnections()
	ctx, off := context.WithTimeout(ctx, lookTime)
	defer off()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://home"+healthPath, nil)
	if err != nil {
		return h, fmt.Errorf("ask the server how it is: %w", err)
	}
	res, err := web.Do(req)
	if err != nil && pid.Load() == 0 {
		return h, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if err == nil {
		defer res.Body.Close()
		err = json.NewDecoder(res.Body).Decode(&h)
	}
	if h.PID = int(pid.Load()); err != nil {
		return h, hung(h.PID, "")
	}
	return h, nil
}

// farewell is what a server says to those who wait for its end, where it has not died.
const farewell = "farewell\n"

// errEnded says that a server has ended as it was asked to.
var errEnded = errors.New("the server has ended")

// AwaitDeath returns when the server of a home has died. The error is ErrNoServer where none is there, and another one
// where it ends as it should or ctx does.
func AwaitDeath(ctx context.Context, home string) error {
	web, _, err := dial(home, func(int) error { return nil })
	if err != nil {
		return err
	}
	defer web.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://home"+endPath, nil)
	if err != nil {
		return fmt.Errorf("wait for the end of the server: %w", err)
	}
	res, err := web.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Body, int64(len(farewell)))) // where it died its last words are cut short
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if string(said) == farewell || res.StatusCode != http.StatusOK {
		return errEnded
	}
	return nil
}

// awaited answers when the server ends.
func (s *Server) awaited(w http.ResponseWriter, r *http.Request) {
	if http.NewResponseController(w).Flush() != nil {
		return // it has gone
	}
	s.wait(1)
	defer s.wait(-1)
	select {
	case <-s.left:
		_, _ = io.WriteString(w, farewell) // one that has gone hears nothing
	case <-r.Context().Done():
	}
}

func (s *Server) wait(more int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.waiting += more
}

// hung is the error about a process that does not answer.
func hung(pid int, more string) error {
	return fmt.Errorf("%w: process %d%s; let it go on with %q, or start another one with %q", ErrHung, pid, more,
		fmt.Sprintf("kill -CONT %d", pid), "orange server restart")
}

// health answers how this server is.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	now := Health{Since: s.since, Calls: len(s.calls) + s.own, Build: s.build, Stays: s.stays,
		Waiting: s.waiting, Heard: s.heard}
	s.quiet = time.Now() // a screen that looks may need it in a moment
	s.lock.Unlock()
	_ = json.NewEncoder(w).Encode(now) // a client that has gone hears nothing
}
