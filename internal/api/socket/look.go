package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Health is what a server says of itself.
type Health struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Calls int       `json:"calls"` // under way, with hooks and checks that it does
	Build string    `json:"build"` // of its program
	Stays bool      `json:"stays"` // a person has it in the foreground: no other one takes its place
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

// hung is the error about a process that does not answer.
func hung(pid int, more string) error {
	return fmt.Errorf("%w: process %d%s; let it go on with %q, or end it with %q", ErrHung, pid, more,
		fmt.Sprintf("kill -CONT %d", pid), fmt.Sprintf("kill -KILL %d", pid))
}

// health answers how this server is.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	now := Health{Since: s.since, Calls: len(s.calls) + s.own, Build: s.build, Stays: s.stays}
	s.lock.Unlock()
	_ = json.NewEncoder(w).Encode(now) // a client that has gone hears nothing
}
