package sign_test

import (
	"errors"
	"strings"
	"testing"

	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// What the attackers of docs/proof.md cannot do: (a) who has the network, or the certificate of another host, (b) an
// agent without the account of the host, (c) an agent with it. What (c) can do to the tasks of its host is not here.

func report(host string) wire.Report {
	return wire.Report{Fleet: "home", Host: host, Epoch: 3, Task: "abc", Version: 7,
		Row: wire.Row{Status: "working", Head: wire.Head{Event: 9, Hash: "ff"}}}
}

// Attackers cannot (docs/proof.md): have an unsigned request done.
func TestAttackerABC_cannotAskWithoutAPersonsKey(t *testing.T) {
	t.Parallel()
	wants(t, "no signature", sign.CheckRequest(people(t), wire.Ask{Request: request()}, here(), ""), wire.CodeUnsigned)
	// the key of the host, which an agent with its account can read
	wants(t, "a host's key", sign.CheckRequest(people(t), askedBy(t, "h1", request()), here(), ""), wire.CodeStranger)
	other := askedBy(t, "ada", request())
	other.Request.Method = "merge"
	wants(t, "a signature of another request", sign.CheckRequest(people(t), other, here(), ""), wire.CodeUnsigned)
}

// Attackers cannot (docs/proof.md): have a request done that has expired, or repeat one elsewhere or as another.
func TestAttackerABC_cannotRepeatARequestLaterOrElsewhereOrAsAnother(t *testing.T) {
	t.Parallel()
	ask, at := askedBy(t, "ada", request()), here()
	at.Now = now.Add(wire.MostOfMinutes * 60e9)
	wants(t, "later", sign.CheckRequest(people(t), ask, at, ""), wire.CodeExpired)
	at = here()
	at.Host = "h2"
	wants(t, "at another host", sign.CheckRequest(people(t), ask, at, ""), wire.CodeElsewhere)
	at = here()
	at.Epoch = 4
	wants(t, "after a rescue", sign.CheckRequest(people(t), ask, at, ""), wire.CodeStaleEpoch)
	another := request()
	another.Method = "merge"
	wants(t, "under a key that is taken", sign.CheckRequest(people(t), ask, here(), sign.Digest(another)),
		wire.CodeKeyReused)
}

// Attackers cannot (docs/proof.md): answer in the place of another host.
func TestAttackerA_cannotAnswerInThePlaceOfAHost(t *testing.T) {
	t.Parallel()
	asked := request()
	reply := wire.Reply{Fleet: "home", Host: "h1", Epoch: 3, Task: "abc", Key: "k1", Done: true,
		Digest: sign.Digest(asked)}
	good, err := sign.Reply(key(t, "h1"), reply)
	testkit.Must(t, err)
	wants(t, "its own", sign.CheckReply(hosts(t), good, asked, now), "")
	wants(t, "none", sign.CheckReply(hosts(t), reply, asked, now), wire.CodeUnsigned)
	forged, err := sign.Reply(key(t, "h2"), reply)
	testkit.Must(t, err)
	wants(t, "another host's", sign.CheckReply(hosts(t), forged, asked, now), wire.CodeStranger)
	own := reply
	own.Host = "h2" // honestly its own, but it was not asked
	own, err = sign.Reply(key(t, "h2"), own)
	testkit.Must(t, err)
	wants(t, "one that was not asked", sign.CheckReply(hosts(t), own, asked, now), wire.CodeElsewhere)
	changed := good
	changed.Exit = 3
	wants(t, "changed on its way", sign.CheckReply(hosts(t), changed, asked, now), wire.CodeUnsigned)
	asked.Args = []string{"c"}
	wants(t, "to another request", sign.CheckReply(hosts(t), good, asked, now), wire.CodeElsewhere)
}

// Attackers cannot (docs/proof.md): report for another host, or under a stale epoch.
func TestAttackerABC_cannotReportForAnotherHost(t *testing.T) {
	t.Parallel()
	good, err := sign.Report(key(t, "h1"), report("h1"))
	testkit.Must(t, err)
	wants(t, "its own", sign.CheckReport(hosts(t), good, now), "")
	forged, err := sign.Report(key(t, "h2"), report("h1"))
	testkit.Must(t, err)
	wants(t, "another host's", sign.CheckReport(hosts(t), forged, now), wire.CodeStranger)
	wants(t, "none", sign.CheckReport(hosts(t), report("h1"), now), wire.CodeUnsigned)
	for what, change := range map[string]func(*wire.Report){
		"status": func(r *wire.Report) { r.Row.Status = "done" }, "epoch": func(r *wire.Report) { r.Epoch++ },
		"version": func(r *wire.Report) { r.Version++ }, "task": func(r *wire.Report) { r.Task = "x" },
		"over": func(r *wire.Report) { r.Row.Over = true }, "event": func(r *wire.Report) { r.Row.Head.Event++ },
		"hash": func(r *wire.Report) { r.Row.Head.Hash = "x" }, "branch": func(r *wire.Report) { r.Row.Branch = "x" },
		"since": func(r *wire.Report) { r.Row.Since++ }, "fleet": func(r *wire.Report) { r.Fleet = "x" },
		"project":   func(r *wire.Report) { r.Row.Project = "x" },
		"summary":   func(r *wire.Report) { r.Row.Summary = "x" },
		"attention": func(r *wire.Report) { r.Row.Attention = "x" },
		"shipped":   func(r *wire.Report) { r.Row.Shipped++ }, "time": func(r *wire.Report) { r.Row.ShippedAt++ },
	} {
		changed := good
		change(&changed)
		wants(t, "changed "+what, sign.CheckReport(hosts(t), changed, now), wire.CodeUnsigned)
	}
}

// Attackers cannot (docs/proof.md): add a signer, at the registry, a custody or a host.
func TestAttackerABC_cannotAddASigner(t *testing.T) {
	t.Parallel()
	authority := key(t, "authority")
	good, err := sign.List(authority, list(signed.OfPeople, member(t, "ada")))
	testkit.Must(t, err)
	edited := good
	edited.Text += member(t, "mallory").Line() + "\n"
	own, err := sign.List(key(t, "mallory"), edited.Text)
	testkit.Must(t, err)
	others, err := sign.List(authority, list(signed.OfHosts, member(t, "h1")))
	testkit.Must(t, err)
	away, err := sign.List(authority, strings.Replace(good.Text, "fleet home", "fleet away", 1))
	testkit.Must(t, err)
	for what, list := range map[string]sign.SignedList{"a line more": edited, "signed by another key": own,
		"the list of hosts": others, "the list of another fleet": away, "not signed": {Text: good.Text}} {
		_, err := list.Open(sign.KeyOf(authority.PublicKey()), "home", signed.OfPeople)
		if !errors.Is(err, sign.ErrNotTheList) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Attackers cannot (docs/proof.md): create or rescue a task with what was signed for something else.
func TestAttackerABC_cannotReuseASignatureToCreateOrRescue(t *testing.T) {
	t.Parallel()
	b := wire.Birth{Project: "web", On: "any", Summary: "one", Harness: []string{"pi"}, Workflow: "w@1", Rules: "r",
		Context: "c", Branch: "b"}
	r := wire.Request{Fleet: "home", Task: "abc", Method: wire.MethodCreate, Args: []string{sign.BirthDigest(b)},
		Person: "ada", Key: "k", Expires: now.Unix() + 60}
	at := sign.Here{Fleet: "home", Task: "abc", Now: now}
	b.Ask = askedBy(t, "ada", r)
	wants(t, "as signed", sign.CheckBirth(people(t), b, at), "")
	for what, change := range map[string]func(*wire.Birth){
		"project": func(b *wire.Birth) { b.Project = "x" }, "place": func(b *wire.Birth) { b.On = "x" },
		"rules": func(b *wire.Birth) { b.Rules = "x" }, "context": func(b *wire.Birth) { b.Context = "x" },
		"harness": func(b *wire.Birth) { b.Harness = nil }, "workflow": func(b *wire.Birth) { b.Workflow = "x" },
		"summary": func(b *wire.Birth) { b.Summary = "x" }, "branch": func(b *wire.Birth) { b.Branch = "x" },
		"method": func(b *wire.Birth) { b.Ask.Request.Method = "next" },
	} {
		changed := b
		change(&changed)
		wants(t, "another "+what, sign.CheckBirth(people(t), changed, at), wire.CodeUnsigned)
	}
	asked := wire.Request{Fleet: "home", Task: "abc", Epoch: 3, Method: wire.MethodRescue, Args: []string{"h2", "why"},
		Person: "ada", Key: "k", Expires: now.Unix() + 60}
	rescue := wire.Rescue{Ask: askedBy(t, "ada", asked), From: 3, To: "h2", Now: "why"}
	at.Epoch = 3
	wants(t, "as signed", sign.CheckRescue(people(t), rescue, at), "")
	for what, change := range map[string]func(*wire.Rescue){
		"host": func(r *wire.Rescue) { r.To = "h3" }, "reason": func(r *wire.Rescue) { r.Now = "" },
		"epoch":  func(r *wire.Rescue) { r.From = 4 },
		"method": func(r *wire.Rescue) { r.Ask.Request.Method = "next" },
	} {
		changed := rescue
		change(&changed)
		wants(t, "another "+what, sign.CheckRescue(people(t), changed, at), wire.CodeUnsigned)
	}
}
