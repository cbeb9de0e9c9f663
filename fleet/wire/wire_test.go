package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"orange/fleet/wire"
	"orange/internal/rules/task"
)

func request() wire.Request {
	return wire.Request{Fleet: "home", Host: "h1", Epoch: 3, Task: "abc", Method: "next", Args: []string{"--json", ""},
		Stdin: "text\n", As: "worker", Person: "ada", Key: "k.1", Expires: 1700000000}
}

func report() wire.Report {
	return wire.Report{Fleet: "home", Host: "h1", Epoch: 3, Task: "abc", Version: 7, Signature: "s", Row: wire.Row{
		Project: "web", Summary: "one", Status: "working", Branch: "b", Attention: "look", Over: true, Since: 5,
		Head: wire.Head{Event: 9, Hash: "ff"}}}
}

func reply() wire.Reply {
	r := report()
	return wire.Reply{Fleet: "home", Host: "h1", Epoch: 3, Task: "abc", Key: "k.1", Digest: "d", Done: true, Exit: 3,
		Output: "said", Errors: "and more", Cut: true, Head: wire.Head{Event: 9, Hash: "ff"}, Signature: "s",
		Report: &r}
}

func birth() wire.Birth {
	return wire.Birth{Ask: ask(), Project: "web", On: "any", Branch: "b", Summary: "one", Harness: []string{"claude"},
		Workflow: "default@12", Rules: "states:\n", Context: "# Task\n", Args: []string{"--", "b", "one"},
		Files: map[string]string{"-": "said"}}
}

func ask() wire.Ask { return wire.Ask{Request: request(), Signature: "s"} }

// whole writes and reads a message with every field set.
func whole[T wire.Body](t *testing.T, body T) {
	t.Helper()
	kind, version := body.Kind()
	if version < 1 {
		t.Errorf("%s has the version %d", kind, version)
	}
	for i := range reflect.ValueOf(body).NumField() {
		if reflect.ValueOf(body).Field(i).IsZero() {
			t.Errorf("the test of %s leaves out the field %s", kind, reflect.TypeOf(body).Field(i).Name)
		}
	}
	text, err := json.Marshal(wire.Of(body))
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	var read wire.Message[T]
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	if !reflect.DeepEqual(read.Body, body) {
		t.Errorf("%s: read %+v, wrote %+v", kind, read.Body, body)
	}
	var zero T
	if text, err = json.Marshal(wire.Of(zero)); err == nil {
		if err := json.Unmarshal(text, &read); err != nil {
			t.Errorf("%s without content: %v", kind, err)
		}
	}
}

func TestEveryMessageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	kept := wire.DoneRequest{Key: "k.1", Digest: "d", Host: "h1", Epoch: 3, Event: 9, Reply: reply(), Lost: true}
	gone := []wire.Gone{{Task: "abc", Epoch: 3}}
	whole(t, ask())
	whole(t, birth())
	whole(t, wire.Offer{Task: "abc", Epoch: 3, Project: "web", Harness: []string{"pi"}, Workflow: "own@12",
		Not: []string{"h2"}})
	whole(t, wire.OfferAnswer{Host: "h1", Unfit: "full"})
	whole(t, wire.Take{Task: "abc", Epoch: 3, Birth: birth(), From: "h2", Since: []string{"h3"},
		Known: wire.Head{Event: 9, Hash: "ff"}, Keys: []wire.DoneRequest{kept},
		Rescue: &wire.Rescue{Ask: ask(), From: 2, To: "h3", Now: "it burns"}})
	born := reply()
	whole(t, wire.TakeAnswer{Report: report(), Lost: []string{"k.1"}, Refused: "no such project", Reply: &born})
	whole(t, reply())
	whole(t, wire.Look{Task: "abc", Method: "show", Args: []string{"--json"}})
	whole(t, wire.LookAnswer{Host: "h1", Exit: 1, Output: "text", Errors: "and more", Cut: true})
	whole(t, report())
	whole(t, wire.Rescue{Ask: ask(), From: 3, To: "h2", Now: "it burns"})
	whole(t, wire.Custody{Task: "abc", Phase: "held", Host: "h1", Epoch: 3, Not: []string{"h2"}, Row: report().Row,
		Lost: []string{"k.1"}, To: "h3", On: "gpu", Harness: []string{"pi"}, Because: []string{"full"},
		Told: 7, Birth: &born, Apart: []wire.ApartWork{{Host: "h1", Epoch: 2, Ref: "refs/x"}}})
	whole(t, wire.Release{Host: "h1", Task: "abc", Epoch: 3, Now: true})
	whole(t, wire.ReleaseAnswer{Kept: "it lives"})
	whole(t, wire.Leave{Gone: gone[0]})
	whole(t, wire.LeaveAnswer{Host: "h1", Ref: "refs/x"})
	whole(t, wire.Here{Host: "h1", Labels: []string{"gpu"}, Projects: []string{"web"}, Harness: []string{"pi"},
		Version: "1", SSH: "me@h1", Free: 2, Draining: true, Left: gone})
	whole(t, wire.Lease{Number: 4, Gone: gone})
}

func TestAMessageIsReadStrictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"kind":"gone","v":1,"body":{}}`:                                         `found the kind "gone"`,
		`{"kind":"leave","v":0,"body":{"gone":{"task":"a","epoch":1}}}`:           "found the version 0, expected 1",
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","epoch":1}},"more":1}`:  `unknown field "more"`,
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","epoch":1,"x":2}}}`:     `unknown field "x"`,
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","epoch":1,"epoch":2}}}`: `"body.gone.epoch" twice`,
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","EPOCH":1}}}`:           "which is not spelled so",
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","epoch":"1"}}}`:         "cannot unmarshal string",
		`{"kind":"leave","v":1,"body":{"gone":{"task":"a","epoch":1}} {}}`:        "invalid character",
		`{"kind":"leave","v":1}`: "EOF",
		`[]`:                     "cannot unmarshal array",
		`{"kind":"leave","v":2,"body":{"another":"form"},"and":["what","ever"]}`:              "has 1, needs 2",
		`{"kind":"leave","v":1,"body":{"gone":{"task":"` + strings.Repeat("a", 1025) + `"}}}`: "found 1025 bytes",
	} {
		var read wire.Message[wire.Leave]
		if err := json.Unmarshal([]byte(text), &read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var read wire.Message[wire.Leave]
	newer := `{"kind":"leave","v":4,"body":{}}`
	if err := json.Unmarshal([]byte(newer), &read); !errors.Is(err, wire.ErrNewer) ||
		!strings.Contains(err.Error(), "update orange-fleet here (has 1, needs 4)") {
		t.Errorf("a newer message: %v", err)
	}
	good := `{"v":1,"body":{"gone":{"epoch":1,"task":"a"}},"kind":"leave"}`
	if err := json.Unmarshal([]byte(good), &read); err != nil || read.Body.Gone.Task != "a" {
		t.Errorf("another order: %v", err)
	}
}

func TestAFieldOfAListIsSpelledAsItIsToo(t *testing.T) {
	t.Parallel()
	var read wire.Message[wire.Lease]
	text := `{"kind":"lease","v":1,"body":{"number":1,"gone":[{"task":"a","epoch":1},{"Task":"b","epoch":1}]}}`
	if err := json.Unmarshal([]byte(text), &read); err == nil {
		t.Errorf("read %+v", read)
	}
}

// checkRefusal tries to write a message.
func checkRefusal[T wire.Body](t *testing.T, what string, body T) {
	t.Helper()
	if text, err := json.Marshal(wire.Of(body)); !errors.Is(err, task.ErrUsage) {
		t.Errorf("%s: wrote %d bytes, %v", what, len(text), err)
	}
}

func TestMessagesHaveLimits(t *testing.T) {
	t.Parallel()
	b, r, a := birth(), reply(), ask()
	rest := len(b.Rules) + len(strings.Join(b.Args, "")) + len("-said")
	b.Context = strings.Repeat("x", wire.MostOfBirth-rest)
	r.Output = strings.Repeat("x", wire.MostOfReply-len(r.Errors))
	a.Request.Stdin, a.Request.Args = strings.Repeat("x", wire.MostOfRequest-1), []string{"y"}
	whole(t, b)
	whole(t, r)
	if _, err := json.Marshal(wire.Of(a)); err != nil {
		t.Error(err)
	}
	b.Context += "x"
	checkRefusal(t, "birth", b)
	r.Output += "x"
	checkRefusal(t, "reply", r)
	a.Request.Stdin += "x"
	checkRefusal(t, "request", a)
	a = ask()
	a.Request.Files = map[string]string{"notes.md": strings.Repeat("x", wire.MostOfRequest)}
	checkRefusal(t, "files", a)
	a = ask()
	a.Request.Key = "no key"
	checkRefusal(t, "key", a)
	checkRefusal(t, "keys", wire.Take{Birth: birth(), Keys: make([]wire.DoneRequest, wire.KeptKeys+1)})
	checkRefusal(t, "lost", wire.TakeAnswer{Lost: make([]string, wire.KeptKeys+1)})
	checkRefusal(t, "seen", wire.LookAnswer{Output: strings.Repeat("x", wire.MostOfLook+1)})
	checkRefusal(t, "here", wire.Here{Left: make([]wire.Gone, 2001)})
	p := report()
	p.Row.Summary = strings.Repeat("x", wire.MostOfText+1)
	checkRefusal(t, "report", p)
	if _, err := json.Marshal(wire.Of(wire.LookAnswer{Output: "\xff"})); err == nil {
		t.Error("a text that is no UTF-8 is sent, and would be another text when it is read")
	}
}

func TestNamesOfTheFleet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"h1", "gpu-2", strings.Repeat("x", 63)} {
		if err := wire.CheckName("host", name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "-oProxyCommand=x", "H1", "a b", "a/b", "a.b", "ä", strings.Repeat("x", 64)} {
		if err := wire.CheckName("host", name); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q is a name: %v", name, err)
		}
	}
	names := map[string]bool{}
	for _, name := range []string{wire.PlaceQueue("a/b", "c"), wire.PlaceQueue("a", "b"), wire.HostQueue("a"),
		wire.HoldQueue("a"), wire.TaskID("a"), wire.CoreQueue, wire.PlaceQueue("a%2Fb", "c")} {
		if names[name] {
			t.Errorf("two things have the name %q", name)
		}
		names[name] = true
	}
}
