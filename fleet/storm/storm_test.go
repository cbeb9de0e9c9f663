package storm_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// seeded is the seed of a storm, which is printed.
func seeded(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano() % 1e9)
	if text := os.Getenv("ORANGE_TEST_SEED"); text != "" {
		said, err := strconv.ParseUint(text, 10, 64)
		must(t, err)
		seed = said
	}
	t.Logf("seed %d: run this again with ORANGE_TEST_SEED=%d", seed, seed)
	return seed
}

// lives has a fleet live through a storm, heals it, and answers all that is not as it should be.
func lives(t *testing.T, changes []change, times times, lasts time.Duration) []string {
	t.Helper()
	temporal, seed := needs(t), seeded(t)
	w := newWorld(t, temporal, built(t, changes), seed, times)
	ctx, off := context.WithCancel(t.Context())
	defer off()
	if last, bounded := t.Deadline(); bounded {
		ctx, off = context.WithDeadline(ctx, last.Add(-2*time.Minute))
		defer off()
	}
	var watch, parts sync.WaitGroup
	watching, unwatch := context.WithCancel(ctx)
	watch.Go(func() { w.watchLeases(watching) })
	defer watch.Wait()
	defer unwatch()
	c := &crowd{}
	acting, stop := context.WithCancel(ctx)
	for i := range uint64(4) {
		parts.Go(func() { w.person(acting, c, w.desks[i%2], 10+i) })
	}
	parts.Go(func() { w.stranger(acting, c, w.desks[2]) })
	w.storms(acting, lasts)
	stop()
	parts.Wait()
	f := w.heal(ctx, c)
	wrong := w.check(f, c)
	for _, name := range slices.Sorted(maps.Keys(w.figures)) {
		t.Logf("%6d %s", w.figures[name], name)
	}
	if len(wrong) > 0 || t.Failed() {
		w.tell(wrong)
	}
	return wrong
}

// Whatever happens to hosts, server and network: what a host answered as done is in one history, or is named as lost;
// nothing is seen outside after a lease; no work is lost.
func TestStorm_whatWasAnsweredIsInOneHistoryOrNamedAsLost(t *testing.T) {
	changes, times := faster()
	for _, wrong := range lives(t, changes, times, time.Minute) {
		t.Error(wrong)
	}
}
