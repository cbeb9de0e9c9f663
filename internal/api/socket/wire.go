// Package socket carries command lines from a client to the process that serves a home, over a socket of the kernel,
// and what they print back.
//
// It owns the words of a request and of its answer, where the socket is, and who may connect. It does not own what a
// command line does. A client that finds no server, or one with other rights than its own, does the command line
// itself.
package socket

import (
	"encoding/json"
	"io"
	"unicode/utf8"

	"orange/internal/run/proc"
)

// path is that of the one request there is.
const path = "/v1/calls"

// mostOfCall is how many bytes a request may have.
const mostOfCall = 4 << 20

// request is one command line to be done for the process that asks.
type request struct {
	Build string   `json:"build"` // of the program that asks; another one's is not served
	Args  []text   `json:"args"`
	Dir   text     `json:"dir"`
	Env   []text   `json:"env"`
	TTY   proc.TTY `json:"tty"`
	Sent  sent     `json:"sent"`
}

// Sent is what a command line asked the client for, when it was done before.
type Sent struct {
	Texts   map[string]string // of files by their names as they were given; "-" is the input
	Unread  map[string]string // why the text of a file could not be read
	Answers []string          // of the person, in the order of the questions
}

// sent is Sent on its way.
type sent struct {
	Texts   map[string]text `json:"texts,omitempty"`
	Unread  map[string]text `json:"unread,omitempty"`
	Answers []text          `json:"answers,omitempty"`
}

// Lack is something that only the client can read: a text, or the answer of the person at the terminal.
type Lack struct {
	Text     string `json:"text,omitempty"` // the name of a file, "-" for the standard input
	Question string `json:"question,omitempty"`
}

// part is one line of an answer. The last one has an exit status, a need, or says why the call is not served.
type part struct {
	Taken   uint64 `json:"taken,omitempty"` // the number by which the call can be given up
	Out     text   `json:"out,omitempty"`
	Err     text   `json:"err,omitempty"`
	Need    *Lack  `json:"need,omitempty"`
	Exit    *int   `json:"exit,omitempty"`
	Refused string `json:"refused,omitempty"` // nothing was done
}

// text is a string of any bytes. In JSON it is a string, or {"bytes": BASE64} where it is no UTF-8, as a word of a
// command line may be.
type text string

type inBytes struct {
	Bytes []byte `json:"bytes"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(inBytes{[]byte(t)})
}

func (t *text) UnmarshalJSON(from []byte) error {
	if len(from) > 0 && from[0] == '{' {
		var raw inBytes
		err := json.Unmarshal(from, &raw)
		*t = text(raw.Bytes)
		return err
	}
	return json.Unmarshal(from, (*string)(t))
}

// texts and plain turn a list around.
func texts(all []string) (out []text) {
	for _, one := range all {
		out = append(out, text(one))
	}
	return out
}

func plain(all []text) (out []string) {
	for _, one := range all {
		out = append(out, string(one))
	}
	return out
}

// requestOf is a call on its way, with what it was asked for.
func requestOf(c proc.Call, build string, s Sent) request {
	r := request{Build: build, Args: texts(c.Args), Dir: text(c.Dir), Env: texts(c.Env), TTY: c.TTY(),
		Sent: sent{Texts: map[string]text{}, Unread: map[string]text{}, Answers: texts(s.Answers)}}
	for name, one := range s.Texts {
		r.Sent.Texts[name] = text(one)
	}
	for name, why := range s.Unread {
		r.Sent.Unread[name] = text(why)
	}
	return r
}

// call is what a request asks for, which prints to out and err.
func (r request) call(out, err io.Writer) (proc.Call, Sent) {
	s := Sent{Texts: map[string]string{}, Unread: map[string]string{}, Answers: plain(r.Sent.Answers)}
	for name, one := range r.Sent.Texts {
		s.Texts[name] = string(one)
	}
	for name, why := range r.Sent.Unread {
		s.Unread[name] = string(why)
	}
	return proc.Call{Args: plain(r.Args), Dir: string(r.Dir), Env: plain(r.Env), Shown: &r.TTY, Out: out, Err: err}, s
}
