package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

const own = "5MZK2Q3RXW4T7YBN6VJP8" // a task that a host has without the fleet

// What is over, and what the fleet has, is not to be taken in.
func TestLocal_areTheTasksThatTheFleetDoesNotHave(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	f.seen = `{"tasks": [{"id": "` + id + `", "live": true}, {"id": "` + own + `", "live": true, "branch": "b"},
		{"id": "over", "live": false}]}`
	if found, err := c.Local(t.Context(), "h1"); err != nil || len(found) != 1 || found[0].ID != own {
		t.Errorf("%+v, %v", found, err)
	}
	f.seen = "no JSON"
	if found, err := c.Local(t.Context(), "h1"); err == nil {
		t.Errorf("a host that lists nothing has %+v", found)
	}
}

// What the host says of its task is what the person signs, and the server learns of it from both.
func TestAdopt_signsWhatTheHostSays(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	host := testkit.Key(t, "h1")
	says := wire.Newcomer{Birth: wire.Birth{Project: "web", On: "any", Summary: "one", Workflow: "own@12"}}
	f.ofHost = func(ask wire.Ask) (wire.Reply, error) {
		n := says
		if text := ask.Request.Files[wire.BirthFile]; text != "" {
			var m wire.Message[wire.Birth]
			testkit.Must(t, json.Unmarshal([]byte(text), &m))
			report, err := sign.Report(host, wire.Report{Fleet: testkit.Fleet, Host: "h1", Epoch: 1, Task: own,
				Version: 1, Row: wire.Row{Project: "web", Summary: "one", Status: "working"}})
			testkit.Must(t, err)
			n = wire.Newcomer{Birth: m.Body, Report: &report}
		}
		text, err := json.Marshal(wire.Of(n))
		testkit.Must(t, err)
		r := testkit.Reply(t, "h1", ask.Request, 0)
		r.Output = string(text)
		return sign.Reply(host, r)
	}
	has, err := c.Adopt(t.Context(), "h1", own)
	if err != nil || has.Host != "h1" || has.Epoch != 1 || len(f.asked) != 2 {
		t.Fatalf("%+v, %v", has, err)
	}
	for _, ask := range f.asked {
		if r := ask.Request; r.Method != wire.MethodAdopt || r.Host != "h1" || r.Task != own {
			t.Errorf("it asks %+v", r)
		}
	}
	f.ofHost = func(ask wire.Ask) (wire.Reply, error) { // another host's answer
		return sign.Reply(testkit.Key(t, "h2"), testkit.Reply(t, "h1", ask.Request, 0))
	}
	if _, err := c.Adopt(t.Context(), "h1", own); err == nil || !strings.Contains(err.Error(), "signed by") {
		t.Errorf("it believes another host: %v", err)
	}
}
