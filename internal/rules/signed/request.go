package signed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
)

// Statement is what a person has signed. Texts come by their digests.
type Statement struct {
	Fleet, Host  string
	Epoch        int
	Task, Method string
	Args         []string
	Stdin        string // its digest
	As           string
	Person, Key  string
	Expires      time.Time
	Files        map[string]string // the digests of texts, by the names that arguments have for them
}

// requestTitle is the first line of the text of a request.
const requestTitle = "orange request 1"

// Text is what the person signs: every field, in one order.
func (r Statement) Text() string {
	f := NewForm(requestTitle)
	f.Add("fleet", r.Fleet)
	f.Add("host", r.Host)
	f.Number("epoch", r.Epoch)
	f.Add("task", r.Task)
	f.Add("method", r.Method)
	f.List("arguments", "argument", r.Args)
	f.Add("stdin", r.Stdin)
	f.Add("as", r.As)
	f.Add("person", r.Person)
	f.Add("key", r.Key)
	f.Add("expires", strconv.FormatInt(r.Expires.Unix(), 10))
	f.Files(r.Files)
	return f.String()
}

// Read reads the text of a request. It takes nothing that it does not know.
func Read(text string) (Statement, error) {
	rest, is := strings.CutPrefix(text, requestTitle+"\n")
	f := &fields{rest: rest, broken: !is}
	r := Statement{Fleet: f.next("fleet"), Host: f.next("host"), Epoch: f.number("epoch"), Task: f.next("task"),
		Method: f.next("method")}
	for range f.number("arguments") {
		if f.broken {
			break
		}
		r.Args = append(r.Args, f.next("argument"))
	}
	r.Stdin, r.As, r.Person, r.Key = f.next("stdin"), f.next("as"), f.next("person"), f.next("key")
	r.Expires = time.Unix(int64(f.number("expires")), 0)
	for !f.broken && f.rest != "" {
		name := f.next("file")
		if _, twice := r.Files[name]; twice {
			f.broken = true
		}
		if r.Files == nil {
			r.Files = map[string]string{}
		}
		r.Files[name] = f.next("text")
	}
	if f.broken {
		return Statement{}, task.Notef(ErrUnsigned, "the text is not that of a request of this version: found %.60q",
			strings.ToValidUTF8(text, "?"))
	}
	return r, nil
}

// Check is the request in a text that a person has signed. The error is an ErrUnsigned where none of these people
// has.
func (all People) Check(text, signature string, at time.Time) (Statement, error) {
	key, err := Signer(ForRequest, text, signature)
	if err != nil {
		return Statement{}, err
	}
	r, err := Read(text)
	if err != nil {
		return r, err
	}
	who, err := all.find(key, ForRequest, at, "list of "+OfPeople)
	if err == nil && who.Name != r.Person {
		err = task.Notef(ErrUnsigned, "the request of %q is signed by %q", r.Person, who.Name)
	}
	return r, err
}

// AskedCommand is what a command of "orange task" is asked to do, as a request says it.
type AskedCommand struct {
	Method, Key, Stdin string
	Args               []string
	Files              map[string]string
}

// Fits refuses a call that is not the one that was signed. The request of a new task names a digest of all that it is
// created from, which the host of the fleet compares.
func (r Statement) Fits(c AskedCommand) error {
	if r.Method != c.Method {
		return r.another("the command %q", c.Method)
	}
	if r.Method == "create" {
		return nil
	}
	words := slices.Clone(r.Args)
	if r.As != "" {
		words = append([]string{"--as=" + r.As}, words...)
	}
	switch {
	case !slices.Equal(words, c.Args):
		return r.another("the arguments %q", c.Args)
	case r.Stdin != Digest(c.Stdin):
		return r.another("another standard input")
	case c.Key != "" && r.Key != c.Key:
		return r.another("the key %q", c.Key)
	case len(r.Files) != len(c.Files):
		return r.another("%d files", len(c.Files))
	}
	for name, text := range c.Files { // each by itself
		if r.Files[name] != Digest(text) {
			return r.another("another text of %q", name)
		}
	}
	return nil
}

func (r Statement) another(format string, args ...any) error {
	return task.Notef(ErrUnsigned, "%q has signed another request: %q %q; found %s", r.Person, r.Method, r.Args,
		fmt.Sprintf(format, args...))
}
