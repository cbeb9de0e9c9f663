package flow_test

import (
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/flow"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

// An answer that the host did not sign leaves open whether it did what was asked: that is no refusal.
// Attackers cannot (docs/proof.md): answer in the place of another host.
func TestCode_anAnswerThatIsForgedLeavesOpenWhatTheHostDid(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := custody.State{Fleet: testkit.Fleet, Task: id, Phase: custody.Held, Host: "h1", Epoch: 1,
		Trust: custody.Trust{Authority: testkit.Public(t, testkit.Authority),
			People: testkit.List(t, signed.OfPeople, 1, "ada"), Hosts: testkit.List(t, signed.OfHosts, 1, "h1", "h2")}}
	asked := testkit.Request("ada", id, "h1", 1, "k1", now)
	unsigned := wire.Reply{Fleet: testkit.Fleet, Host: "h1", Epoch: 1, Task: id, Key: "k1", Done: true}
	_, err := s.Answered(asked, unsigned, now)
	if got := flow.Code(err); got != flow.NotKnown {
		t.Errorf("the code of an answer without a signature is %q (%v), want %q", got, err, flow.NotKnown)
	}
	forged := testkit.Reply(t, "h2", asked, 7)
	forged.Host = "h1"
	if _, err = s.Answered(asked, forged, now); flow.Code(err) != flow.NotKnown {
		t.Errorf("the code of another host's answer is %q (%v), want %q", flow.Code(err), err, flow.NotKnown)
	}
	_, _, err = s.Asked(wire.Ask{Request: asked}, now)
	if got := flow.Code(err); got != string(sign.Unsigned) {
		t.Errorf("the code of a request without a signature is %q (%v), want %q", got, err, sign.Unsigned)
	}
}
