package client_test

import (
	"strings"
	"testing"

	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// what show says of a task by how its agent is, and what is pending.
func shows(session, owed string) string {
	return `{"task": {"session": "` + session + `"}, "owed_hooks": [` + owed + `]}`
}

func TestDrain_isSignedForTheHost(t *testing.T) {
	t.Parallel()
	for off, want := range map[bool]string{false: wire.DrainOn, true: wire.DrainOff} {
		c, f := newClient(t)
		testkit.Must(t, c.Drain(t.Context(), "h1", off))
		people := testkit.Trust(t)
		lists, err := people.Lists(testkit.Fleet)
		testkit.Must(t, err)
		at := sign.Here{Fleet: testkit.Fleet, Host: "h1", Now: now}
		if r := f.asked[0].Request; r.Method != wire.MethodDrain || len(r.Args) != 1 || r.Args[0] != want ||
			sign.CheckRequest(lists.People, f.asked[0], at, "") != nil {
			t.Errorf("it asks %+v", r)
		}
	}
}

// A task leaves a drained host behind its last snapshot, and only where no agent works on it.
func TestHandOver_movesTheTasksThatAreAtRest(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		seen  string
		fails bool
		said  string
		moves bool
	}{
		"no agent":             {shows("none", ""), false, "was shipped", true},
		"an agent that died":   {shows("dead", ""), false, "was shipped", true},
		"an agent at work":     {shows("alive", ""), false, "an agent works on it", false},
		"one that is unknown":  {shows("unknown", ""), false, "it is not known", false},
		"in a move":            {shows("none", `{"action": "merge"}`), false, "in the middle of a move", false},
		"a host that says no":  {"no JSON", false, "did not say", false},
		"no way to its remote": {shows("none", ""), true, "snapshot cannot be taken: no route", false},
	} {
		c, f := newClient(t)
		f.seen = tt.seen
		f.ask = func(ask wire.Ask) (wire.Reply, error) {
			r := testkit.Reply(t, "h1", ask.Request, 31)
			if tt.fails {
				r.Exit, r.Output = 1, `{"error": "no route"}`
			}
			return sign.Reply(testkit.Key(t, "h1"), r)
		}
		var told []string
		stay, err := c.HandOver(t.Context(), "h1", func(id, what string) { told = append(told, id+" "+what) })
		if err != nil || len(told) != 1 || !strings.Contains(told[0], tt.said) || (stay == 0) != tt.moves {
			t.Errorf("%s: %d stay, %q, %v", what, stay, told, err)
		}
		var methods []string
		for _, ask := range f.asked {
			methods = append(methods, ask.Request.Method)
		}
		if got := strings.Join(methods, " "); tt.moves && got != "snapshot rescue" || !tt.moves &&
			strings.Contains(got, "rescue") {
			t.Errorf("%s: it asks %s", what, got)
		}
	}
}

func TestHandOver_leavesTheTasksOfOtherHosts(t *testing.T) {
	t.Parallel()
	c, f := newClient(t)
	stay, err := c.HandOver(t.Context(), "h2", func(id, what string) { t.Errorf("%s %s", id, what) })
	if err != nil || stay != 0 || len(f.asked) > 0 {
		t.Errorf("%d stay, asked %+v, %v", stay, f.asked, err)
	}
}
