package socket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	holdTime = 500 * time.Millisecond // that what a command prints is held back
	slowest  = 30 * time.Second       // that a client may take to read what is written to it
)

// answer writes the parts of an answer. What a command prints is held back for a moment: a command that needs something
// of the client is done again, and prints it again.
type answer struct {
	w       http.ResponseWriter
	control *http.ResponseController

	lock     sync.Mutex
	held     []part
	outs     []part // of the standard output, where that comes in the end
	released bool   // what is printed is written at once
	whole    bool   // but for the standard output
	broken   error  // why no more can be written
}

func newAnswer(w http.ResponseWriter) *answer {
	return &answer{w: w, control: http.NewResponseController(w)}
}

// output is one of the two streams of a command.
type output struct {
	to    *answer
	toErr bool
}

// Write fails where the client has gone.
func (o output) Write(bytes []byte) (int, error) {
	p := part{Out: text(bytes)}
	if o.toErr {
		p = part{Err: text(bytes)}
	}
	o.to.add(p)
	return len(bytes), o.to.failed()
}

// add adds a part.
func (a *answer) add(p part) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.whole && p.Out != "" {
		a.outs = append(a.outs, p)
		return
	}
	if p.Exit != nil {
		a.held, a.outs = append(a.held, a.outs...), nil
	}
	a.held = append(a.held, p)
	if a.released {
		a.send()
	}
}

func (a *answer) failed() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.broken
}

// holdOutput has the standard output wait for the end, so that a client never has a part of it alone.
func (a *answer) holdOutput() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.whole = true
}

// release has what was held back written, and from now on everything at once.
func (a *answer) release() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.released = true
	a.send()
}

func (a *answer) flush() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.send()
}

// drop forgets what was held back.
func (a *answer) drop() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.held, a.outs = nil, nil
}

func (a *answer) send() {
	if len(a.held) == 0 || a.broken != nil {
		return
	}
	err := a.control.SetWriteDeadline(time.Now().Add(slowest))
	to := json.NewEncoder(a.w)
	for _, p := range a.held {
		if err == nil {
			err = to.Encode(p)
		}
	}
	a.held = nil
	if err == nil {
		err = a.control.Flush()
	}
	if err != nil {
		a.broken = fmt.Errorf("answer a client: %w", err)
	}
}
