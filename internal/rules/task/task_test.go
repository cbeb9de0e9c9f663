package task_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/task"
)

func counters() *rapid.Generator[task.Counters] {
	return rapid.Custom(func(t *rapid.T) task.Counters {
		var c task.Counters
		for range rapid.IntRange(0, 6).Draw(t, "size") {
			c = c.With(name().Draw(t, "name"), rapid.IntRange(-3, 3).Draw(t, "value"))
		}
		return c
	})
}

func name() *rapid.Generator[string] { return rapid.StringMatching(`[a-d]{0,2}`) }

func TestCounters_keepTheirLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, key, other := counters().Draw(t, "c"), name().Draw(t, "key"), name().Draw(t, "other")
		value := rapid.Int().Draw(t, "value")
		before := slices.Clone(c)
		next := c.With(key, value)
		if next.Get(key) != value {
			t.Fatalf("set %q to %d, found %d", key, value, next.Get(key))
		}
		if other != key && next.Get(other) != c.Get(other) {
			t.Fatalf("setting %q changed %q", key, other)
		}
		if !slices.Equal(c, before) {
			t.Fatalf("the old list changed: %v, was %v", c, before)
		}
		if !slices.IsSortedFunc(next, func(a, b task.Counter) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("not sorted: %v", next)
		}
		if again := next.With(key, value); !slices.Equal(again, next) {
			t.Fatalf("set twice: %v, then %v", next, again)
		}
		if !next.With(key, c.Get(key)).Equal(c) || c.Equal(next) != (c.Get(key) == value) ||
			next.Equal(c) != c.Equal(next) {
			t.Fatalf("%v and %v: Equal is wrong", c, next)
		}
	})
}

func TestNewID_isMadeOfSafeCharactersOnly(t *testing.T) {
	t.Parallel()
	safe := regexp.MustCompile(`^[0-9A-Za-z]{21}$`)
	seen := map[string]bool{}
	for range 200 {
		random := make([]byte, 32)
		_, _ = rand.Read(random)
		id, err := task.NewID(random)
		if err != nil || !safe.MatchString(id) || seen[id] {
			t.Fatalf("the id is %q, %v", id, err)
		}
		seen[id] = true
	}
	every := map[rune]bool{}
	for b := range 256 {
		id, err := task.NewID(bytes.Repeat([]byte{byte(b)}, task.IDLength))
		if err != nil || !safe.MatchString(id) {
			t.Fatalf("from the byte %d: %q, %v", b, id, err)
		}
		every[rune(id[0])] = true
	}
	if len(every) != 62 {
		t.Errorf("%d characters are used, want 62", len(every))
	}
	if _, err := task.NewID(make([]byte, task.IDLength-1)); err == nil ||
		!strings.Contains(err.Error(), "20 random bytes") {
		t.Errorf("from too few bytes: %v", err)
	}
}

func TestNotef_saysItsOwnTextAndWrapsTheKind(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("outer: %w", task.Notef(task.ErrPoolFull, "no room for %q", "x"))
	if !errors.Is(err, task.ErrPoolFull) || errors.Is(err, task.ErrUsage) || err.Error() != `outer: no room for "x"` {
		t.Errorf("the error is %v", err)
	}
}

func TestActor_speaksForWhomItActs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		actor        task.Actor
		speaks, name string
	}{
		{task.Actor{Role: "human"}, "human", "human"},
		{task.Actor{Role: "human", As: "reviewer"}, "reviewer", "human"},
		{task.Actor{Role: "worker"}, "worker", "worker"},
		{task.Actor{Rule: true}, "", task.ActorEngine},
	}
	for _, tt := range tests {
		if tt.actor.Speaks() != tt.speaks || tt.actor.Name() != tt.name {
			t.Errorf("%+v speaks as %q and is called %q", tt.actor, tt.actor.Speaks(), tt.actor.Name())
		}
	}
}

func TestMostFailures_isThatOfTheStateThatFailedMost(t *testing.T) {
	t.Parallel()
	var c task.Counters
	if got := c.MostFailures(); got != 0 {
		t.Errorf("nothing failed: %d", got)
	}
	c = c.With(task.CrashCount, 9).With("failures_of_mine", 7).With(task.Failures("planning"),
		1).With(task.Failures("quality_review"), 2).With(task.Failures("committing"), 0)
	if got := c.MostFailures(); got != 2 {
		t.Errorf("the review failed twice: %d", got)
	}
}

func TestWorkflowRef_tellsTextsOfOneVersionApart(t *testing.T) {
	t.Parallel()
	for want, ref := range map[string]task.WorkflowRef{
		"default 5 (3fa9c2)": {Name: "default", Version: 5, Digest: "3fa9c2d1e0"},
		"default 5 (77aa00)": {Name: "default", Version: 5, Digest: "77aa00d1e0"},
		"default 5 (d1)":     {Name: "default", Version: 5, Digest: "d1"},
		"5 (3fa9c2)":         {Version: 5, Digest: "3fa9c2d1e0"},
		"(3fa9c2)":           {Digest: "3fa9c2d1e0"},
		"default":            {Name: "default"},
		"":                   {},
	} {
		if ref.String() != want {
			t.Errorf("%#v is shown as %q, want %q", ref, ref, want)
		}
	}
}
