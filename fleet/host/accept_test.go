package host_test

import (
	"errors"
	"strings"
	"testing"

	"orange/fleet/testkit"
	"orange/fleet/wire"
)

func TestAccept_saysWhatTheHostLacks(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*rig, *wire.Offer){
		"":                     func(*rig, *wire.Offer) {},
		`no project "shop"`:    func(_ *rig, o *wire.Offer) { o.Project = "shop" },
		`no "claude"`:          func(_ *rig, o *wire.Offer) { o.Harness = append(o.Harness, "claude") },
		"refused":              func(_ *rig, o *wire.Offer) { o.Not = []string{"h1"} },
		`no workflow "own"`:    func(_ *rig, o *wire.Offer) { o.Workflow = "own@12" },
		"is another one":       func(_ *rig, o *wire.Offer) { o.Workflow = "default@13" },
		"its disk is full: 5 ": func(r *rig, _ *wire.Offer) { r.machine.space = 5 << 20 },
		"no free place":        func(r *rig, _ *wire.Offer) { r.machine.free["web"] = 0 },
		`no project "web"`:     func(r *rig, _ *wire.Offer) { r.Only = []string{"shop"} },
		"drained":              func(r *rig, _ *wire.Offer) { testkit.Must(t, r.Store.Drain(true)) },
	} {
		r, o := newRig(t), wire.Offer{Task: id, Project: "web", Harness: []string{"pi"}, Workflow: "default@12"}
		change(r, &o)
		m, err := r.Accept(t.Context(), wire.Of(o))
		if err != nil || m.Body.Host != "h1" || (want == "") != (m.Body.Unfit == "") ||
			!strings.Contains(m.Body.Unfit, want) {
			t.Errorf("%q: %+v, %v", want, m.Body, err)
		}
	}
}

// "Could not look" is an error, and never "there is none".
func TestAccept_isAnErrorWhereTheHostCannotLook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.machine.cannotLook = errors.New("the record is locked")
	m, err := r.Accept(t.Context(), wire.Of(wire.Offer{Task: id, Project: "web", Workflow: "default@12"}))
	if err == nil || !strings.Contains(err.Error(), "the record is locked") {
		t.Errorf("%+v, %v", m.Body, err)
	}
}

func TestAccept_promisesEachPlaceOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	offer := func(id string) string {
		t.Helper()
		m, err := r.Accept(t.Context(), wire.Of(wire.Offer{Task: id, Project: "web"}))
		testkit.Must(t, err)
		return m.Body.Unfit
	}
	for _, id := range []string{"a", "b", "a"} { // a repeat keeps the same place
		if unfit := offer(id); unfit != "" {
			t.Errorf("%s: %s", id, unfit)
		}
	}
	if offer("c") == "" {
		t.Error("a third task got one of two places")
	}
	free, err := r.FreePlaces(t.Context())
	if err != nil || free["web"] != 0 {
		t.Errorf("free: %v, %v", free, err)
	}
	r.EndPromise("a") // it has its workspace by now
	r.machine.free["web"] = 1
	if offer("c") == "" {
		t.Error("the place of b was given away")
	}
	r.machine.free["web"] = 2
	if unfit := offer("c"); unfit != "" {
		t.Errorf("with a place more: %s", unfit)
	}
}

// The history of a task names its workflow by the digest: a host with another text of it does not create the task.
func TestTake_comparesTheWorkflowOfTheBirth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.program.missing = true
	r.machine.workflows["default"] = "13"
	taken, err := r.takes(1, nil)
	if err != nil || !strings.Contains(taken.Refused, "is another one") || r.program.did("create") {
		t.Errorf("with another text: %+v, %v", taken, err)
	}
	delete(r.machine.workflows, "default")
	if taken, err = r.takes(2, nil); err != nil || !strings.Contains(taken.Refused, "no workflow") {
		t.Errorf("without it: %+v, %v", taken, err)
	}
	r.machine.workflows["default"] = "12"
	r.taken(3)
	r.machine.workflows["default"] = "13"
	r.program.missing = false
	if taken, err = r.takes(3, nil); err != nil || taken.Refused != "" {
		t.Errorf("a repeat after the file changed: %+v, %v", taken, err)
	}
}
