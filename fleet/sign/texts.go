package sign

import (
	"strconv"
	"time"

	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// RequestText is what a person signs: every field of the request, with the digests of its texts.
func RequestText(r wire.Request) string {
	return signed.Statement{Fleet: r.Fleet, Host: r.Host, Epoch: r.Epoch, Task: r.Task, Method: r.Method, Args: r.Args,
		Stdin: signed.Digest(r.Stdin), As: r.As, Person: r.Person, Key: r.Key, Expires: time.Unix(r.Expires, 0),
		Files: digests(r.Files)}.Text()
}

func digests(texts map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		out[name] = signed.Digest(text)
	}
	return out
}

func addHead(f *signed.Form, h wire.Head) {
	f.Number("event", h.Event)
	f.Add("hash", h.Hash)
}

// Digest tells a request from another one under the same key. A repeat may expire later, and may go to another host,
// under another epoch: it is the same request.
func Digest(r wire.Request) string {
	r.Host, r.Epoch, r.Expires = "", 0, 0
	return signed.Digest(RequestText(r))
}

// BirthDigest is the digest of all that a task is created from.
func BirthDigest(b wire.Birth) string {
	f := signed.NewForm("orange birth 1")
	f.Add("project", b.Project)
	f.Add("on", b.On)
	f.Add("branch", b.Branch)
	f.Add("summary", b.Summary)
	f.List("harnesses", "harness", b.Harness)
	f.Add("workflow", b.Workflow)
	f.Add("rules", b.Rules)
	f.Add("context", b.Context)
	if len(b.Args) > 0 {
		f.List("arguments", "argument", b.Args)
	}
	f.Files(digests(b.Files))
	return signed.Digest(f.String())
}

// ReportText is what a host signs of a report.
func ReportText(r wire.Report) string {
	f := signed.NewForm("orange report 1")
	f.Add("fleet", r.Fleet)
	f.Add("host", r.Host)
	f.Number("epoch", r.Epoch)
	f.Add("task", r.Task)
	f.Number("version", r.Version)
	f.Add("project", r.Row.Project)
	f.Add("summary", r.Row.Summary)
	f.Add("status", r.Row.Status)
	f.Add("branch", r.Row.Branch)
	f.Add("attention", r.Row.Attention)
	f.Add("over", strconv.FormatBool(r.Row.Over))
	f.Add("since", strconv.FormatInt(r.Row.Since, 10))
	addHead(f, r.Row.Head)
	if r.Row.Shipped != 0 || r.Row.ShippedAt != 0 { // not in what was signed before there was a snapshot
		f.Number("shipped", r.Row.Shipped)
		f.Add("shipped at", strconv.FormatInt(r.Row.ShippedAt, 10))
	}
	return f.String()
}

// ReplyText is what a host signs of an answer.
func ReplyText(r wire.Reply) string {
	f := signed.NewForm("orange reply 1")
	f.Add("fleet", r.Fleet)
	f.Add("host", r.Host)
	f.Number("epoch", r.Epoch)
	f.Add("task", r.Task)
	f.Add("key", r.Key)
	f.Add("request", r.Digest)
	f.Add("done", strconv.FormatBool(r.Done))
	f.Number("exit", r.Exit)
	f.Add("output", signed.Digest(r.Output))
	if r.Errors != "" {
		f.Add("errors", signed.Digest(r.Errors))
	}
	f.Add("cut", strconv.FormatBool(r.Cut))
	addHead(f, r.Head)
	return f.String()
}
