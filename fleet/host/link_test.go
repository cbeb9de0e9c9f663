package host_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"orange/fleet/host"
)

// brokenBeats answers a beat with an error.
type brokenBeats struct {
	client.Client
	err error
}

func (b brokenBeats) RecordActivityHeartbeat(context.Context, []byte, ...any) error { return b.err }

func TestBeat_isOverWhereTheServerDoesNotKnowTheHold(t *testing.T) {
	t.Parallel()
	for _, err := range []error{serviceerror.NewNotFound("the hold ended"),
		serviceerror.NewNamespaceNotFound("a namespace of a server that has lost everything")} {
		if got := (host.Temporal{Client: brokenBeats{err: err}}).Beat(t.Context(), nil); !errors.Is(got, host.ErrOver) {
			t.Errorf("%v: %v", err, got)
		}
	}
	silent := serviceerror.NewUnavailable("no answer")
	if got := (host.Temporal{Client: brokenBeats{err: silent}}).Beat(t.Context(), nil); got == nil ||
		errors.Is(got, host.ErrOver) {
		t.Errorf("a server that does not answer: %v", got)
	}
}
