package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

func fullEvent() history.Event {
	return history.Event{
		Time: time.Date(2024, 5, 6, 23, 8, 9, 987654321, time.FixedZone("east", 5*3600)),
		Type: history.StatusChanged, Actor: "human", ActingAs: "reviewer", Person: "Ada",
		From: "agent-review", To: "working", Reason: "line one\nline \"two\" <&> \u2028 ünï", Workflow: "d1g3st",
		Counters: task.Counters{{Name: "crash_count", Value: 0}, {Name: "review_round", Value: 2}},
		Evidence: []task.Evidence{{Source: "## review", Digest: "abc"}}, Hooks: []string{
			"kill_reviewer", "notify_worker"},
		Data: map[string]string{"z": "1", "a": "2"},
	}
}

func TestAnEvent_survivesItsLine(t *testing.T) {
	t.Parallel()
	for _, e := range []history.Event{fullEvent(), {Time: time.Unix(0, 0), Type: history.Created}} {
		want, err := history.Seal(e, 7, "before")
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got history.Event
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
		var e history.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%q was read as %+v", line, e)
		}
	}
}

func chain(t *testing.T, length int) []history.Event {
	t.Helper()
	var out []history.Event
	prev := ""
	for i := range length {
		e := fullEvent()
		e.Reason = fmt.Sprint("event ", i)
		sealed, err := history.Seal(e, i+1, prev)
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
	if err := errors.Join(history.VerifyChain(good), history.VerifyChain(nil)); err != nil {
		t.Fatal(err)
	}
	touched := map[string][]history.Event{}
	change := func(what string) *history.Event {
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
	touched["swapped"] = []history.Event{good[0], good[2], good[1], good[3]}
	for what, events := range touched {
		if err := history.VerifyChain(events); err == nil || !strings.Contains(err.Error(), "event 2") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSeal_makesTheSameHashInEveryTimeZone(t *testing.T) {
	t.Parallel()
	e := fullEvent()
	there, err := history.Seal(e, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	e.Time = e.Time.UTC()
	here, err := history.Seal(e, 1, "")
	if err != nil || here.Hash != there.Hash {
		t.Errorf("hashes %s and %s, %v", here.Hash, there.Hash, err)
	}
}
