package flow_test

import (
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// An answer that the host did not sign leaves open whether it did what was asked: that is no refusal.
// Attackers cannot (docs/proof.md): answer in the place of another host.
func TestCode_anAnswerThatIsForgedLeavesOpenWhatTheHostDid(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := custody.State{Fleet: testkit.Fleet, Task: id, Phase: custody.PhaseHeld, Host: "h1", Epoch: 1,
		Trust: testkit.Trust(t)}
	asked := testkit.Request("ada", id, "h1", 1, "k1", now)
	unsigned := wire.Reply{Fleet: testkit.Fleet, Host: "h1", Epoch: 1, Task: id, Key: "k1", Done: true}
	_, err := s.Answered(asked, unsigned, now)
	if got := wire.CodeOf(err); got != wire.CodeNotKnown {
		t.Errorf("the code of an answer without a signature is %q (%v), want %q", got, err, wire.CodeNotKnown)
	}
	forged := testkit.Reply(t, "h2", asked, 7)
	forged.Host = "h1"
	if _, err = s.Answered(asked, forged, now); wire.CodeOf(err) != wire.CodeNotKnown {
		t.Errorf("the code of another host's answer is %q (%v), want %q", wire.CodeOf(err), err, wire.CodeNotKnown)
	}
	_, _, err = s.Asked(wire.Ask{Request: asked}, now)
	if got := wire.CodeOf(err); got != wire.CodeUnsigned {
		t.Errorf("the code of a request without a signature is %q (%v), want %q", got, err, wire.CodeUnsigned)
	}
}
