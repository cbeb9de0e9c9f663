package cli

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"orange/internal/api/remote"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// heldTasks are the snapshots of a home that holds a task.
type heldTasks struct{ Snapshots }

func (heldTasks) HeldIn(id string) (int, error) {
	if id == thatID {
		return 2, nil
	}
	return 0, nil
}

// twoTasks is a record with a task that is held, and one that is not.
type twoTasks struct{ Queries }

func (twoTasks) Tasks(_ context.Context, f record.Filter) ([]task.Task, error) {
	var out []task.Task
	for _, id := range []string{thatID, "Local0000000000000001"} {
		if f.Prefix != "" && strings.HasPrefix(id, f.Prefix) {
			out = append(out, task.Task{ID: id})
		}
	}
	return out, nil
}

// A host of a fleet reports how a task is, and does not start orange once more for that.
func TestAnswer_saysHowTheTaskIsAfterTheCommand(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]*remote.Row{
		thatID:   {ID: thatID, Project: "web", Branch: "b", Status: "working", Live: true, Event: 7, Hash: "ff"},
		"Orange": nil, "": nil,
	} {
		p, _, _ := fleetOf(lost, lost)
		p.services.Queries = oneTask{}
		list := remote.Call{V: 1, Argv: []string{"task", "list", "--", id}}
		reply := newAnswerer(p).perform(t.Context(), p.services, list, sender{})
		if !reflect.DeepEqual(reply.Task, want) {
			t.Errorf("%q: %+v", id, reply.Task)
		}
	}
}

// oneTask is a record with one task.
type oneTask struct{ Queries }

func (oneTask) Tasks(context.Context, record.Filter) ([]task.Task, error) {
	return []task.Task{{ID: thatID, Project: "web", Branch: "b", Status: "working", Live: true, Seq: 7,
		Hash: "ff"}}, nil
}

// A request for a task that the fleet holds has to be signed; one for a task of this home alone has not.
func TestAnswer_refusesAnUnsignedRequestForATaskOfTheFleet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		joined  remote.Joined
		argv    string
		refused bool
	}{
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","next","--",` + `"` + thatID + `"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","next","--","Orange"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","delete","--yes","--","Orange"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","create","--epoch=2","--id=x","--","b"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","create","--","b"`, false},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","next","--","Local"`, false},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","show","--","Orange"`, false},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","leave","--yes","--","Orange"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","snapshot","--to=x","--","Orange"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","restore","--from=x","--","Other"`, true},
		{remote.Joined{Fleet: "home", Host: "h1", Signed: true}, `"task","snapshot","--to=x","--","Local"`, false},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","restore","--from=x","--","Other"`, true},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","create","--epoch=2","--id=x","--","b"`, true},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","create","--","b"`, false},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","delete","--yes","--","Orange"`, false},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","show","--","Orange"`, false},
		{remote.Joined{Fleet: "home", Host: "h1"}, `"task","next","--","Orange"`, false},
		{remote.Joined{}, `"task","next","--","Orange"`, false},
	} {
		p, f, _ := fleetOf(lost, lost)
		f.joined, p.services.Snapshots, p.services.Queries = tt.joined, heldTasks{}, twoTasks{}
		call, err := remote.ReadCall([]byte(fmt.Sprintf(`{"v":1,"argv":[%s]}`, tt.argv)))
		if err != nil {
			t.Fatal(err)
		}
		by, err := newAnswerer(p).senderOf(t.Context(), p.services, call)
		if (err != nil) != tt.refused || by.signature != "" || by.via != overSSH {
			t.Errorf("%+v %s: %+v, %v", tt.joined, tt.argv, by, err)
		}
		if err == nil {
			continue
		}
		if _, code := classify(err); code != "unsigned" {
			t.Errorf("%s: the code is %q", tt.argv, code)
		}
	}
}

func TestAnswer_takesNoSignatureWhereThereIsNoFleet(t *testing.T) {
	t.Parallel()
	p, _, _ := fleetOf(lost, lost)
	call := remote.Call{V: 1, Argv: []string{"task", "next", "--", thatID}, Signed: &remote.Signed{Text: "x"}}
	if _, err := newAnswerer(p).senderOf(t.Context(), p.services, call); err == nil ||
		!strings.Contains(err.Error(), "no fleet") {
		t.Errorf("it says %v", err)
	}
}

func TestAnswer_marksARequestWithThePersonWhoSignedIt(t *testing.T) {
	t.Parallel()
	actor, err := afar{someone{}, sender{person: "ada", signed: "text", signature: "made"}}.Actor(t.Context(), "", "")
	if err != nil || actor.Person != "ada" || actor.Signed != "text" || actor.Signature != "made" {
		t.Errorf("%+v, %v", actor, err)
	}
}

func TestBytesOf_readsASize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"50MB": 50 << 20, "1KB": 1 << 10, "2GB": 2 << 30, "7": 7, "": 0, "0": 0,
		"-1MB": 0, "10mb": 0, "MB": 0, "1.5MB": 0} {
		if got, err := bytesOf(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
