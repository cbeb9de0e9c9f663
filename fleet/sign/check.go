package sign

import (
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// Here is who looks at a request, and when.
type Here struct {
	Fleet string
	Host  string // empty where custody looks, which is no host
	Task  string
	Epoch int
	Now   time.Time
	// The request has waited since custody accepted it: it is judged as of the moment before it expired.
	Waited bool
}

func (h Here) at(expires int64) time.Time {
	if h.Waited {
		return time.Unix(expires, 0).Add(-time.Second)
	}
	return h.Now
}

// Ask signs a request with the key of its person.
func Ask(key ssh.Signer, r wire.Request) (wire.Ask, error) {
	made, err := Sign(key, signed.ForRequest, RequestText(r))
	return wire.Ask{Request: r, Signature: made}, err
}

// CheckRequest refuses a request that its person did not sign, or that is not meant for who looks at it now. Earlier
// is the digest of the request that stands for the key already; empty where there is none.
func CheckRequest(people signed.List, ask wire.Ask, here Here, earlier string) error {
	r := ask.Request
	key, err := signed.Signer(signed.ForRequest, RequestText(r), ask.Signature)
	if err != nil {
		return wire.Refuse(wire.CodeUnsigned, "cannot do %q: the request is %v; sign it with a key from the list of "+
			"people", r.Method, err)
	}
	now := here.at(r.Expires)
	who, err := people.Find(key, signed.ForRequest, now)
	if err == nil && who.Name != r.Person {
		err = fmt.Errorf("the request of %q is signed by %q", r.Person, who.Name)
	}
	if err != nil {
		return wire.Refuse(wire.CodeStranger, "cannot do %q: %v", r.Method, err)
	}
	switch left := time.Unix(r.Expires, 0).Sub(now); {
	case people.Fleet != here.Fleet || r.Fleet != here.Fleet || r.Host != here.Host || r.Task != here.Task:
		return wire.Refuse(wire.CodeElsewhere, "cannot do %q: it is for the task %q at the host %q of the fleet %q, "+
			"and this is %q at %q of %q", r.Method, r.Task, r.Host, r.Fleet, here.Task, here.Host, here.Fleet)
	case r.Epoch != here.Epoch:
		return wire.Refuse(wire.CodeStaleEpoch, "cannot do %q: it was asked of the custody %d of the task, which has "+
			"the custody %d now: look at the task and ask again", r.Method, r.Epoch, here.Epoch)
	case left <= 0:
		return wire.Refuse(wire.CodeExpired, "cannot do %q: the request expired %s ago: ask again", r.Method, -left)
	case left > wire.MostOfMinutes*time.Minute:
		return wire.Refuse(wire.CodeExpired, "cannot do %q: the request holds for %s, at most %d minutes: compare "+
			"the clocks of this machine and of the fleet", r.Method, left, wire.MostOfMinutes)
	case earlier != "" && earlier != Digest(r):
		return wire.Refuse(wire.CodeKeyReused, "cannot do %q under the key %q: the key stands for another request; "+
			"give each request a key of its own", r.Method, r.Key)
	case r.Method == wire.MethodCreate && !who.Create:
		return wire.Refuse(wire.CodeCreateDenied, "cannot create a task: the list of people has create=no for %q",
			who.Name)
	}
	return nil
}

// CheckBirth refuses a birth that a person did not sign completely.
func CheckBirth(people signed.List, b wire.Birth, here Here) error {
	r := b.Ask.Request
	if r.Method != wire.MethodCreate || len(r.Args) != 1 || r.Args[0] != BirthDigest(b) {
		return wire.Refuse(wire.CodeUnsigned, "cannot create a task: what was signed is not what it is to be created "+
			"from")
	}
	return CheckRequest(people, b.Ask, here, "")
}

// CheckRescue refuses a rescue that a person did not sign completely.
func CheckRescue(people signed.List, r wire.Rescue, here Here) error {
	asked := r.Ask.Request
	if asked.Method != wire.MethodRescue || len(asked.Args) != 2 || asked.Args[0] != r.To || asked.Args[1] != r.Now ||
		asked.Epoch != r.From {
		return wire.Refuse(wire.CodeUnsigned, "cannot rescue a task: what was signed is not what is asked for")
	}
	return CheckRequest(people, r.Ask, here, "")
}

// Report signs a report with the key of its host.
func Report(key ssh.Signer, r wire.Report) (wire.Report, error) {
	var err error
	r.Signature, err = Sign(key, signed.ForReport, ReportText(r))
	return r, err
}

// CheckReport refuses a report that its host did not sign.
func CheckReport(hosts signed.List, r wire.Report, now time.Time) error {
	return byHost(hosts, "a report", signed.ForReport, ReportText(r), r.Signature, r.Fleet, r.Host, now)
}

// Reply signs an answer with the key of its host.
func Reply(key ssh.Signer, r wire.Reply) (wire.Reply, error) {
	var err error
	r.Signature, err = Sign(key, signed.ForReply, ReplyText(r))
	return r, err
}

// CheckReply refuses an answer that is not that of a host to a request.
func CheckReply(hosts signed.List, r wire.Reply, asked wire.Request, now time.Time) error {
	if err := byHost(hosts, "an answer", signed.ForReply, ReplyText(r), r.Signature, r.Fleet, r.Host, now); err != nil {
		return err
	}
	if r.Host != asked.Host || r.Epoch != asked.Epoch || r.Task != asked.Task || r.Key != asked.Key ||
		r.Digest != Digest(asked) {
		return wire.Refuse(wire.CodeElsewhere, "cannot use the answer of the host %q: it answers another request",
			r.Host)
	}
	return nil
}

// CheckReplyOf refuses an answer that is not that of a host to a request for a task: for who did not keep the request.
func CheckReplyOf(hosts signed.List, r wire.Reply, task string, now time.Time) error {
	if err := byHost(hosts, "an answer", signed.ForReply, ReplyText(r), r.Signature, r.Fleet, r.Host, now); err != nil {
		return err
	}
	if r.Task != task {
		return wire.Refuse(wire.CodeElsewhere, "cannot use the answer of the host %q: it is about the task %q, and "+
			"this is %q",
			r.Host, r.Task, task)
	}
	return nil
}

func byHost(hosts signed.List, what string, use signed.Use, text, armor, fleet, host string, now time.Time) error {
	key, err := signed.Signer(use, text, armor)
	if err != nil {
		return wire.Refuse(wire.CodeUnsigned, "cannot use %s of the host %q: it is %v", what, host, err)
	}
	who, err := hosts.Find(key, use, now)
	if err == nil && who.Name != host {
		err = fmt.Errorf("it is signed by %q", who.Name)
	}
	if err != nil {
		return wire.Refuse(wire.CodeStranger, "cannot use %s of the host %q: %v", what, host, err)
	}
	if hosts.Fleet != fleet {
		return wire.Refuse(wire.CodeElsewhere, "cannot use %s of the host %q: it is of the fleet %q, and this is "+
			"%q", what, host,
			fleet, hosts.Fleet)
	}
	return nil
}
