package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"orange/internal/rules/task"
)

const (
	fresh    = 10 * time.Second // how long what was seen is shown again
	lookTime = 30 * time.Second
	headTime = 5 * time.Second
	path     = "/metrics"
)

// Page shows the metrics to those who ask by HTTP.
type Page struct {
	Look     func(context.Context) Fleet
	Requests *Requests
	Now      func() time.Time

	lock sync.Mutex
	seen Fleet
	at   time.Time
}

// ServeHTTP answers with the metrics. Many who ask at once make the server of the fleet answer once.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != path {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, Text(p.look(r.Context()), p.Requests.Counts(), p.Now())) // who asked may be gone
}

func (p *Page) look(ctx context.Context) Fleet {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.at.IsZero() || p.Now().Sub(p.at) >= fresh {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		p.seen, p.at = p.Look(limited), p.Now()
	}
	return p.seen
}

// Listen opens an address for the metrics. Names of hosts and statuses are not for everyone: an address that other
// machines reach has to be wanted.
func Listen(ctx context.Context, address string, open bool) (net.Listener, error) {
	name, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(name)
	switch {
	case err != nil:
		return nil, task.Notef(task.ErrUsage, "cannot show metrics at %q: expected HOST:PORT, such as "+
			"127.0.0.1:9464", address)
	case !open && name != "localhost" && (ip == nil || !ip.IsLoopback()):
		return nil, task.Notef(task.ErrUsage, "cannot show metrics at %q: other machines reach it, and anyone there "+
			"can "+
			"read them; add --metrics-open if that is wanted", address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("show metrics at %q: %w", address, err)
	}
	return l, nil
}

// Serve shows the metrics until ctx ends.
func (p *Page) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: p, ReadHeaderTimeout: headTime}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("show metrics: %w", err)
	}
	return nil
}
