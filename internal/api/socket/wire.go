// Package socket carries command lines from a client to the process that serves a home, over a Unix socket, and back
// what they print.
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

// The paths of requests.
const (
	callsPath  = "/v1/calls"
	healthPath = "/v1/server"
	endPath    = "/v1/server/end"
)

// mostOfCall is how many bytes a request may have.
const mostOfCall = 4 << 20

// request is one command line to be done for the process that asks.
type request struct {
	Build string   `json:"build"` // of the program that asks
	Older bool     `json:"older"` // a server of an older build may do it too
	Args  []text   `json:"args"`
	Dir   text     `json:"dir"`
	Env   []text   `json:"env"`
	TTY   proc.TTY `json:"tty"`
	Sent  []item   `json:"sent,omitempty"`

	Number string `json:"number,omitempty"` // as in proc.Call
	Again  bool   `json:"again,omitempty"`
}

// Need is something that only the client can read: a text, or the answer of the person at its terminal.
type Need struct {
	File     string // the name of a file as it was given, "-" for the standard input
	Question string // empty where a text is needed
}

// Input is what the client has read.
type Input struct {
	Need
	Text  string
	Wrong string // why it could not be read; empty where it could
}

// item is an Input, or with no text a Need, on its way.
type item struct {
	File     text `json:"file,omitempty"`
	Question text `json:"question,omitempty"`
	Text     text `json:"text,omitempty"`
	Wrong    text `json:"wrong,omitempty"`
}

// part is one line of an answer. The last one has an exit status, a need, or says why the call is not served.
type part struct {
	Taken   uint64 `json:"taken,omitempty"` // the number by which the call can be given up
	Out     text   `json:"out,omitempty"`
	Err     text   `json:"err,omitempty"`
	Need    *item  `json:"need,omitempty"`
	Exit    *int   `json:"exit,omitempty"`
	Refused string `json:"refused,omitempty"` // nothing was done
	Older   bool   `json:"older,omitempty"`   // and the reason is that the server is of an older build
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

// converted is a list of strings as strings of another type.
func converted[To, From ~string](all []From) (out []To) {
	for _, one := range all {
		out = append(out, To(one))
	}
	return out
}

// requestOf is a call on its way from a program of a build, with what the server has needed so far.
func requestOf(c proc.Call, build string, older bool, sent []Input) request {
	r := request{Build: build, Older: older, Args: converted[text](c.Args), Dir: text(c.Dir),
		Env: converted[text](c.Env), TTY: c.TTY(), Number: c.Number, Again: c.Again}
	for _, s := range sent {
		r.Sent = append(r.Sent, item{text(s.File), text(s.Question), text(s.Text), text(s.Wrong)})
	}
	return r
}

// call is what a request asks for, which prints to out and err.
func (r request) call(out, err io.Writer) (c proc.Call, sent []Input) {
	for _, s := range r.Sent {
		sent = append(sent, Input{Need{string(s.File), string(s.Question)}, string(s.Text), string(s.Wrong)})
	}
	return proc.Call{Args: converted[string](r.Args), Dir: string(r.Dir), Env: converted[string](r.Env),
		Terminal: &r.TTY, Number: r.Number, Again: r.Again, Out: out, Err: err}, sent
}
