package task_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/task"
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

func fullEvent() task.Event {
	return task.Event{
		Time: time.Date(2024, 5, 6, 23, 8, 9, 987654321, time.FixedZone("east", 5*3600)),
		Type: task.StatusChanged, Actor: "human", ActingAs: "reviewer", Person: "Ada",
		From: "agent-review", To: "working", Reason: "line one\nline \"two\" <&> \u2028 ünï", Workflow: "d1g3st",
		Counters: task.Counters{{Name: "crash_count", Value: 0}, {Name: "review_round", Value: 2}},
		Evidence: []task.Evidence{{Source: "## review", Digest: "abc"}}, Hooks: []string{
			"kill_reviewer", "notify_worker"},
		Data: map[string]string{"z": "1", "a": "2"},
	}
}

func TestAnEvent_survivesItsLine(t *testing.T) {
	t.Parallel()
	for _, e := range []task.Event{fullEvent(), {Time: time.Unix(0, 0), Type: task.Created}} {
		want, err := task.Seal(e, 7, "before")
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got task.Event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || bytes.ContainsAny(line, "\n") {
			t.Errorf("%s\nread as %+v\nwant    %+v", line, got, want)
		}
	}
}

func TestAnEvent_thatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "{}", "[]", `{"seq":"x"}`, `{"seq":1,"timestamp":"yesterday"}`} {
		var e task.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%q was read as %+v", line, e)
		}
	}
}

func chain(t *testing.T, length int) []task.Event {
	t.Helper()
	var out []task.Event
	prev := ""
	for i := range length {
		e := fullEvent()
		e.Reason = fmt.Sprint("event ", i)
		sealed, err := task.Seal(e, i+1, prev)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sealed)
		prev = sealed.Hash
	}
	return out
}

func TestVerifyChain_findsTheFirstEventThatWasTouched(t *testing.T) {
	t.Parallel()
	good := chain(t, 4)
	if err := errors.Join(task.VerifyChain(good), task.VerifyChain(nil)); err != nil {
		t.Fatal(err)
	}
	touched := map[string][]task.Event{}
	change := func(what string) *task.Event {
		touched[what] = slices.Clone(good)
		return &touched[what][1]
	}
	change("time").Time = good[1].Time.Add(time.Millisecond)
	change("type").Type = "x"
	change("actor").Actor = "worker"
	change("acting as").ActingAs = ""
	change("the person").Person = ""
	change("to").To = "done"
	change("reason").Reason = "x"
	change("counters").Counters = good[1].Counters.With("review_round", 1)
	change("evidence").Evidence = nil
	change("data").Data = nil
	change("number").Seq = 3
	change("link").Prev = good[1].Hash
	change("hash").Hash = good[2].Hash
	touched["left out"] = append(slices.Clone(good[:1]), good[2:]...)
	touched["swapped"] = []task.Event{good[0], good[2], good[1], good[3]}
	for what, events := range touched {
		if err := task.VerifyChain(events); err == nil || !strings.Contains(err.Error(), "event 2") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSeal_makesTheSameHashInEveryTimeZone(t *testing.T) {
	t.Parallel()
	e := fullEvent()
	there, err := task.Seal(e, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	e.Time = e.Time.UTC()
	here, err := task.Seal(e, 1, "")
	if err != nil || here.Hash != there.Hash {
		t.Errorf("hashes %s and %s, %v", here.Hash, there.Hash, err)
	}
}

func TestActions_allHaveAClass(t *testing.T) {
	t.Parallel()
	for _, action := range task.Actions() {
		if _, known := task.ClassOf(action); !known {
			t.Errorf("%s has no class", action)
		}
	}
	if _, known := task.ClassOf("make_coffee"); known {
		t.Error("an unknown action has a class")
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

func TestDescribeHolders_namesEachOfThem(t *testing.T) {
	t.Parallel()
	got := task.DescribeHolders(task.Project{Name: "garden", PoolSize: 2}, []task.Holder{
		{Task: "a", Branch: "x", Status: "working"}, {Task: "b", Branch: "y", Status: "stuck"}})
	if want := `all 2 workspaces of "garden" are taken: a (x, working), b (y, stuck)`; got != want {
		t.Errorf("it says %q, want %q", got, want)
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
