package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Endpoint is a running provider.
type Endpoint struct {
	// URL is where it listens, as http://127.0.0.1:PORT.
	URL string

	play   Play
	server *http.Server
	closed chan struct{}
	mu     sync.Mutex
	log    io.Writer
	limits map[[2]int]time.Time // when those end that a script has an end of, by rule and step
}

// Start starts a provider on a free port of loopback. It writes a line of JSON for each request to log.
func Start(play Play, log io.Writer) (*Endpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	e := &Endpoint{URL: "http://" + listener.Addr().String(), play: play, closed: make(chan struct{}), log: log,
		limits: map[[2]int]time.Time{}}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	go func() { _ = e.server.Serve(listener) }() // ends with Close
	return e, nil
}

// Close ends the provider, with every answer that it still owes.
func (e *Endpoint) Close() error {
	close(e.closed)
	return e.server.Close()
}

// entry is a line of the log.
type entry struct {
	Path string `json:"path"`
	Rule int    `json:"rule"`           // from 1; 0 where none was asked for or matches
	Step int    `json:"step"`           // from 1
	Came []int  `json:"came,omitempty"` // the rules of the user's earlier messages, which came along
	Run  string `json:"run,omitempty"`
	Say  string `json:"say,omitempty"`
	Code int    `json:"code,omitempty"`
	User string `json:"user"`           // the newest message of the user, as it arrived
	Last string `json:"last,omitempty"` // what the newest call of a tool led to
}

// ServeHTTP answers one request of a program.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program is gone
	}
	speak := protocolOf(r.URL.Path)
	if speak == nil {
		e.note(entry{Path: r.URL.Path, Code: http.StatusNotFound})
		http.NotFound(w, r)
		return
	}
	c, err := speak.read(body)
	if err != nil {
		e.note(entry{Path: r.URL.Path, Code: http.StatusBadRequest, Say: err.Error()})
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c = e.play.said(c)
	s, rule, number := e.play.answer(c)
	s = e.limited(s, rule, number)
	note := entry{Path: r.URL.Path, Rule: rule, Step: number, Run: s.run, Say: s.say, Code: s.status,
		Came: e.play.before(c)}
	for _, t := range c.turns {
		if t.result {
			note.Last = t.text
		} else {
			note.User, note.Last = t.text, ""
		}
	}
	e.note(note)
	if !e.rest(r, s) {
		return
	}
	if s.status != 0 {
		refuse(w, speak, s)
		return
	}
	say(w, r, speak, c, s)
}

// limited is the step of a script, or the limit that is not over yet.
func (e *Endpoint) limited(s step, rule, number int) step {
	if s.ends == 0 {
		return s
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now, at := time.Now(), [2]int{rule, number}
	if e.limits[at].IsZero() {
		e.limits[at] = now.Add(s.ends)
	}
	if left := e.limits[at].Sub(now); left > 0 {
		return step{limit: max(left.Round(time.Second), time.Second), status: http.StatusTooManyRequests}
	}
	return s
}

// rest takes the time that an answer takes. It reports whether there is still someone to answer.
func (e *Endpoint) rest(r *http.Request, s step) bool {
	if s.after == 0 && !s.hang {
		return true
	}
	timer := time.NewTimer(s.after)
	defer timer.Stop()
	due := timer.C
	if s.hang {
		due = nil
	}
	select {
	case <-due:
		return true
	case <-r.Context().Done():
	case <-e.closed:
	}
	return false
}

func say(w http.ResponseWriter, r *http.Request, speak protocol, c conversation, s step) {
	a := answer{id: "call-" + strconv.Itoa(len(c.turns)), text: s.say}
	if s.run != "" {
		var err error
		if a.tool, a.arguments, err = c.call(s.run); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	if strings.HasSuffix(r.URL.Path, ":generateContent") { // a stream has another name
		writeJSON(w, http.StatusOK, speak.write(a)[0])
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range speak.write(a) {
		text, err := json.Marshal(event)
		if err != nil {
			return // maps of words and numbers have JSON
		}
		if kind, named := event["type"].(string); named {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

func refuse(w http.ResponseWriter, speak protocol, s step) {
	if s.limit > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(s.limit.Seconds())))
		w.Header().Set("X-Should-Retry", "false") // else a client sleeps for as long, and shows that it works
	}
	writeJSON(w, s.status, speak.refusal(s, time.Now()))
}

func writeJSON(w http.ResponseWriter, status int, body object) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a program that has gone reads no answer
}

func (e *Endpoint) note(line entry) {
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.log.Write(append(text, '\n')) // a test that reads the log misses the line
}

func protocolOf(path string) protocol {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return completions{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, "/v1/messages"):
		return messages{}
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return generate{}
	}
	return nil
}
