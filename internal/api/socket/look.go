package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Health is what a server says of itself.
type Health struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Calls int       `json:"calls"` // under way
}

// statePath is where a server says it.
const statePath = "/v1/server"

// lookTime is how long a server may take to say how it is.
const lookTime = 2 * time.Second

// Look is how the server of a home is; ErrNoServer where none is there. Where it does not answer, the error is another
// one, and the state has its number all the same.
func Look(ctx context.Context, home string) (s Health, err error) {
	at, err := ownSocket(home)
	if err != nil {
		return s, err
	}
	ctx, off := context.WithTimeout(ctx, lookTime)
	defer off()
	pid := 0
	web := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", at)
			if err == nil {
				pid, err = listenerOf(conn)
			}
			return conn, err
		}}}
	defer web.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://home"+statePath, nil)
	if err != nil {
		return s, fmt.Errorf("ask the server how it is: %w", err)
	}
	res, err := web.Do(req)
	if err != nil && pid == 0 {
		return s, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if err == nil {
		defer res.Body.Close()
		err = json.NewDecoder(res.Body).Decode(&s)
	}
	s.PID = pid
	if err != nil {
		return s, fmt.Errorf("process %d does not say how it is: %w", pid, err)
	}
	return s, nil
}

// health answers how this server is.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	now := Health{Since: s.since, Calls: len(s.calls)}
	s.lock.Unlock()
	_ = json.NewEncoder(w).Encode(now) // a client that has gone hears nothing
}
