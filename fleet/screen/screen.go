// Package screen is the dashboard over a fleet: the tasks of all hosts on one screen.
//
// It owns how what the dashboard wants becomes looks at hosts and signed requests, and what the dashboard shows of a
// task whose host gives no answer. What is on the screen, and which keys are open, is package dashboard's.
package screen

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"orange/internal/api/client"
	"orange/internal/api/remote"
	"orange/internal/run/proc"
	"orange/internal/store/home"
	"orange/internal/store/mirror"
	"orange/internal/ui/dashboard"
)

// Fleet is what the screen asks a fleet.
type Fleet interface {
	Known(ctx context.Context) (remote.ServerView, error)
	Find(ctx context.Context, word string) ([]remote.ServerTask, error)
	Ask(ctx context.Context, h remote.Host, c remote.Call, most time.Duration) (remote.Reply, error)
	Create(ctx context.Context, b remote.Placement) (remote.Placed, error)
	Attach(ctx context.Context, h remote.Host, id, role string, run bool) ([]string, error)
}

// Screen is one run of the dashboard. Every field is required.
type Screen struct {
	Fleet   Fleet
	Home    *home.Home // of the person: workflows by their names, and how the dashboard was left
	In      io.Reader
	Out     io.Writer
	Environ []string
}

// How often the list is read, and how long a look and a request may take.
const (
	every    = 3 * time.Second
	lookTime = 15 * time.Second
	askTime  = 10 * time.Minute
)

// ErrElsewhere says that something can only be done at the host itself.
var ErrElsewhere = errors.New("it can only be done at the host itself")

// view is what the dashboard reads and asks.
type view struct {
	*home.Home
	proc.Screen
	client.Client // asks the host that has a task
	fleet         Fleet

	lock sync.Mutex
	rows map[string]row // by task, as they were read last
	seen int64          // how often they were read
}

// Run shows the dashboard until the person leaves it.
func (s Screen) Run(ctx context.Context) error {
	ctx, off := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer off()
	v := newView(s.Fleet, s.Home)
	d := &dashboard.Dashboard{Backend: dashboard.Backend{Store: v, Inspector: v, Reader: v, Reviews: v,
		Comments: comments(s.Home), Runner: v, Chooser: v, Terminal: v, Now: time.Now},
		In: s.In, Out: s.Out, Environ: s.Environ, Settings: s.Home.ConfigText}
	d.Open(ctx)
	d.SetWatcher("watched at each host")
	return d.Run(ctx)
}

// comments of people are kept where they review, until they send them with a request for changes.
func comments(h *home.Home) mirror.Files { return mirror.Files{Home: h.Dir} }

func newView(f Fleet, h *home.Home) *view {
	v := &view{Home: h, fleet: f, rows: map[string]row{}}
	v.Run = v.run
	return v
}
