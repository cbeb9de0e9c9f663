// Package remote is what one host of a fleet may ask another one: a call and its reply, as JSON.
//
// It owns the two formats and their bounds. It also owns what a host is called and how it is reached. It does not own
// how a call gets to a host (fleet), nor what a command does there (cli).
package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"orange/internal/api"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

// Version is that of both formats. A host refuses a call of a later one.
const Version = 1

// Bounds of both formats.
const (
	MostOfCall  = 1 << 20
	MostOfReply = 64 << 20
	mostWords   = 256
)

// Errors of those who ask.
var (
	// ErrNotReached says that a host gave no answer. It says nothing of the tasks there.
	ErrNotReached = errors.New("the host was not reached")
	// ErrNotKnown says that a request may have been done, or not.
	ErrNotKnown = errors.New("not known whether it was done")
)

// Call is what one host asks another one: a command line, which tasks a word may mean, or, with neither, who it is.
type Call struct {
	V int `json:"v"`
	// Argv are the words of a command behind "orange": "task", its name, flags as --name=value, "--" and the arguments.
	Argv []string `json:"argv,omitempty"`
	// Key is that of a request, under which it is done once.
	Key   string `json:"key,omitempty"`
	Stdin string `json:"stdin,omitempty"`
	// Files are the texts of files that flags name, as they were read by who asks.
	Files map[string]string `json:"files,omitempty"`
	Find  string            `json:"find,omitempty"`
	// Signed is what a person has signed of the request, where the fleet has a server.
	Signed *Signed `json:"signed,omitempty"`
}

// Signed is the text of a request that a person has signed, and the signature.
type Signed struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Reply is what a command printed and how it ended.
type Reply struct {
	V      int    `json:"v"`
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Refused says why the call itself was not taken. Then nothing was done.
	Refused string `json:"refused,omitempty"`
	// Task is how the task is that the command was about, read after it; nil where there is none that can be read.
	Task  *Row    `json:"task,omitempty"`
	Hello *Hello  `json:"hello,omitempty"`
	Found []Found `json:"found,omitempty"`
}

// Row is how a task is, as far as the list of a fleet shows it, and how far its history goes.
type Row struct {
	ID        string      `json:"id"`
	Project   string      `json:"project"`
	Branch    string      `json:"branch"`
	Summary   string      `json:"summary"`
	Status    task.Status `json:"status"`
	Attention string      `json:"attention,omitempty"`
	Live      bool        `json:"live"`
	EnteredAt time.Time   `json:"entered_at"`
	Event     int         `json:"event"` // the last one
	Hash      string      `json:"hash"`  // of it
}

// Hello is what a host says of itself.
type Hello struct {
	Version  string        `json:"version"` // of the program
	V        int           `json:"v"`       // the latest version of a call that it understands
	Home     string        `json:"home"`    // names the home, and is the same as long as it is there
	Now      time.Time     `json:"now"`
	Live     int           `json:"live"` // live tasks
	Projects []HostProject `json:"projects"`
}

// Found is a task that a word may mean.
type Found struct {
	ID      string      `json:"id"`
	Project string      `json:"project"`
	Branch  string      `json:"branch"`
	Status  task.Status `json:"status"`
	Live    bool        `json:"live"`
}

// RepeatOf is what a repeat of a command of "orange task" does that another host may ask for; zero where none may. The
// others need the terminal of a person, follow a task until they are stopped, or are for agents.
func RepeatOf(command string) api.Repeat {
	o, _ := api.Offers(api.Host, command)
	return o.Repeat
}

// atHome are flags of forwarded commands that have a meaning only where the person or the agent is.
func atHome() map[string]string {
	return map[string]string{
		"--watch": "it goes on until it is stopped", "--attach": "it needs the terminal of a person",
		"--stop-hook": "it is for agents", "--for-agent": "it is for agents", "--key": "the call has a place for it",
	}
}

// Check refuses a call that is not well formed, or whose command may not be forwarded.
func (c Call) Check() error {
	switch {
	case c.V < 1 || c.V > Version:
		return task.Notef(task.ErrUsage, "cannot take a call of version %d: expected %d", c.V, Version)
	case c.Find != "" && (len(c.Argv) > 0 || c.Key != ""):
		return task.Notef(task.ErrUsage, "cannot take a call that looks for a task and has a command as well")
	case len(c.Argv) == 0 && (c.Key != "" || c.Stdin != "" || len(c.Files) > 0 || c.Signed != nil):
		return task.Notef(task.ErrUsage, "cannot take a call with a key or a text and no command")
	case len(c.Argv) == 0:
		return nil
	case len(c.Argv) > mostWords:
		return task.Notef(task.ErrUsage, "cannot take a call of %d words: at most %d", len(c.Argv), mostWords)
	}
	return c.checkCommand()
}

func (c Call) checkCommand() error {
	var repeat api.Repeat
	if len(c.Argv) > 1 && c.Argv[0] == "task" {
		repeat = RepeatOf(c.Argv[1])
	}
	if repeat == 0 {
		return task.Notef(task.ErrUsage, "cannot forward %q: run it at the host itself", strings.Join(
			c.Argv[:min(2, len(c.Argv))], " "))
	}
	for _, word := range c.Argv[2:] {
		if word == "--" {
			break
		}
		flag, _, _ := strings.Cut(word, "=")
		if len(flag) < 3 || !strings.HasPrefix(flag, "--") {
			return task.Notef(task.ErrUsage, "cannot take the word %q of a call: expected flags as --name=value, and "+
				"the arguments behind --", word)
		}
		if why := atHome()[flag]; why != "" {
			return task.Notef(task.ErrUsage, "cannot forward %s: %s; run it at the host itself", flag, why)
		}
		if flag == "--all" && c.Argv[1] == "respawn" {
			return task.Notef(task.ErrUsage, "cannot forward respawn --all: it is of the whole host; run it there")
		}
	}
	for _, word := range c.Argv {
		if strings.ContainsRune(word, 0) {
			return task.Notef(task.ErrUsage, "cannot take a call with a NUL character in a word")
		}
	}
	switch {
	case c.Key == "":
		return nil
	case repeat != api.Keyed:
		return task.Notef(task.ErrUsage, "cannot take a key for %q: it is no request that is done once", c.Argv[1])
	}
	return idempotency.Check(c.Key)
}

// Words are the arguments of orange that the call stands for.
func (c Call) Words() []string {
	if c.Key == "" || len(c.Argv) < 2 {
		return c.Argv
	}
	return append([]string{c.Argv[0], c.Argv[1], "--key=" + c.Key}, c.Argv[2:]...)
}

// Task is the first argument of the command, which names its task; empty where the call has none.
func (c Call) Task() string {
	if words := c.Arguments(); len(words) > 0 {
		return words[0]
	}
	return ""
}

// Text is the call as it is sent.
func (c Call) Text() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	texts := append([]string{c.Stdin, c.Find}, c.Argv...)
	if c.Signed != nil {
		texts = append(texts, c.Signed.Text, c.Signed.Signature)
	}
	for name, text := range c.Files {
		texts = append(texts, name, text)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return nil, task.Notef(task.ErrUsage, "cannot send a text that is no UTF-8: %s", printable.Line(
				text[:min(40, len(text))]))
		}
	}
	text, err := encoded(c)
	if err == nil && len(text) > MostOfCall {
		err = task.Notef(task.ErrUsage, "cannot send the call: it has %d bytes, at most %d", len(text), MostOfCall)
	}
	return text, err
}

// ReadCall reads a call and checks it.
func ReadCall(text []byte) (Call, error) {
	var c Call
	if len(text) > MostOfCall {
		return c, task.Notef(task.ErrUsage, "cannot read the call: it has more than %d bytes", MostOfCall)
	}
	if err := known(text); err != nil {
		return c, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Call{}, task.Notef(task.ErrUsage, "cannot read the call: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Call{}, task.Notef(task.ErrUsage, "cannot read the call: found more behind it")
	}
	return c, c.Check()
}

// known refuses a later version before anything else of a text is read.
func known(text []byte) error {
	var said struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return task.Notef(task.ErrUsage, "cannot read it: %v", err)
	}
	if said.V > Version {
		return task.Notef(task.ErrUsage, "update orange here (has %d, needs %d)", Version, said.V)
	}
	return nil
}

// Text is the reply as it is sent: one line.
func (r Reply) Text() ([]byte, error) { return encoded(r) }

func encoded(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("write it as JSON: %w", err)
	}
	return printable.JSON(b.Bytes()), nil
}

// Failure is in a line why the call was not taken, or why its command, which was asked for JSON, did not end well.
func (r Reply) Failure() string {
	var said struct{ Error string }
	switch {
	case r.Refused != "":
		return r.Refused
	case json.Unmarshal([]byte(r.Stdout), &said) == nil && said.Error != "":
		return said.Error
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.Stderr), "\n")
	if line == "" {
		line = fmt.Sprintf("it ended with status %d", r.Exit)
	}
	return line
}

// ReadReply reads the reply in the last line of what a host said: the shell of a login may have said something before.
func ReadReply(said []byte) (Reply, error) {
	said = bytes.TrimSpace(said)
	if at := bytes.LastIndexByte(said, '\n'); at >= 0 {
		said = said[at+1:]
	}
	var r Reply
	if len(said) == 0 {
		return r, errors.New("found nothing, expected a reply")
	}
	if err := known(said); err != nil {
		return r, fmt.Errorf("expected a reply: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(said))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Reply{}, fmt.Errorf("expected a reply: %w", err)
	}
	if r.V < 1 || r.Exit < 0 || r.Exit > 255 {
		return Reply{}, fmt.Errorf("found a reply of version %d with the exit status %d, expected version 1 to %d",
			r.V, r.Exit, Version)
	}
	return r, nil
}
