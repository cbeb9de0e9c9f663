package sign

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orange/fleet/wire"
)

// form writes fields so that no two lists of fields have the same text: each value comes with its length. A person can
// read it.
type form struct{ strings.Builder }

func newForm(title string) *form {
	f := &form{}
	f.WriteString(title + "\n")
	return f
}

func (f *form) add(name, value string) {
	f.WriteString(name + " " + strconv.Itoa(len(value)) + ":" + value + "\n")
}

func (f *form) number(name string, value int) { f.add(name, strconv.Itoa(value)) }

func (f *form) head(h wire.Head) {
	f.number("event", h.Event)
	f.add("hash", h.Hash)
}

// files writes the names of files with the digests of their texts. Without a file it writes nothing, as for messages
// that cannot have one.
func (f *form) files(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f.add("file", name)
		f.add("text", digest([]byte(files[name])))
	}
}

func (f *form) bytes() []byte { return []byte(f.String()) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// RequestText is what a person signs: every field of the request, with the digest of its standard input.
func RequestText(r wire.Request) []byte {
	f := newForm("orange request 1")
	f.add("fleet", r.Fleet)
	f.add("host", r.Host)
	f.number("epoch", r.Epoch)
	f.add("task", r.Task)
	f.add("method", r.Method)
	f.number("arguments", len(r.Args))
	for _, arg := range r.Args {
		f.add("argument", arg)
	}
	f.add("stdin", digest([]byte(r.Stdin)))
	f.add("as", r.As)
	f.add("person", r.Person)
	f.add("key", r.Key)
	f.add("expires", strconv.FormatInt(r.Expires, 10))
	f.files(r.Files)
	return f.bytes()
}

// Digest tells a request from another one under the same key. A repeat may expire later, and may go to another host,
// under another epoch: it is the same request.
func Digest(r wire.Request) string {
	r.Host, r.Epoch, r.Expires = "", 0, 0
	return digest(RequestText(r))
}

// BirthDigest is the digest of all that a task is created from.
func BirthDigest(b wire.Birth) string {
	f := newForm("orange birth 1")
	f.add("project", b.Project)
	f.add("on", b.On)
	f.add("branch", b.Branch)
	f.add("summary", b.Summary)
	f.number("harnesses", len(b.Harness))
	for _, name := range b.Harness {
		f.add("harness", name)
	}
	f.add("workflow", b.Workflow)
	f.add("rules", b.Rules)
	f.add("context", b.Context)
	if len(b.Args) > 0 {
		f.number("arguments", len(b.Args))
		for _, arg := range b.Args {
			f.add("argument", arg)
		}
	}
	f.files(b.Files)
	return digest(f.bytes())
}

// ReportText is what a host signs of a report.
func ReportText(r wire.Report) []byte {
	f := newForm("orange report 1")
	f.add("fleet", r.Fleet)
	f.add("host", r.Host)
	f.number("epoch", r.Epoch)
	f.add("task", r.Task)
	f.number("version", r.Version)
	f.add("project", r.Row.Project)
	f.add("summary", r.Row.Summary)
	f.add("status", r.Row.Status)
	f.add("branch", r.Row.Branch)
	f.add("attention", r.Row.Attention)
	f.add("over", strconv.FormatBool(r.Row.Over))
	f.add("since", strconv.FormatInt(r.Row.Since, 10))
	f.head(r.Row.Head)
	if r.Row.Shipped != 0 || r.Row.ShippedAt != 0 { // not in what was signed before there was a snapshot
		f.number("shipped", r.Row.Shipped)
		f.add("shipped at", strconv.FormatInt(r.Row.ShippedAt, 10))
	}
	return f.bytes()
}

// ReplyText is what a host signs of an answer.
func ReplyText(r wire.Reply) []byte {
	f := newForm("orange reply 1")
	f.add("fleet", r.Fleet)
	f.add("host", r.Host)
	f.number("epoch", r.Epoch)
	f.add("task", r.Task)
	f.add("key", r.Key)
	f.add("request", r.Digest)
	f.add("done", strconv.FormatBool(r.Done))
	f.number("exit", r.Exit)
	f.add("output", digest([]byte(r.Output)))
	if r.Errors != "" {
		f.add("errors", digest([]byte(r.Errors)))
	}
	f.add("cut", strconv.FormatBool(r.Cut))
	f.head(r.Head)
	return f.bytes()
}
