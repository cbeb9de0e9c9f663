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
		err := history.VerifyChain(events)
		if broken, is := errors.AsType[*history.BrokenHistory](err); !is || broken.Line != 2 ||
			!strings.Contains(err.Error(), "event 2") {
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

func TestALookUp_findsTheLastEventOfItsRole(t *testing.T) {
	t.Parallel()
	data := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	events := []history.Event{
		{Seq: 1, Type: history.AgentSpawned, Data: data("role", "worker", "harness", "h0", "conversation", "c0")},
		{Seq: 2, Type: history.AgentSpawned, Data: data("role", "worker", "harness", "h1", "conversation", "c1")},
		{Seq: 3, Type: history.ReviewStarted, Data: data("role", "reviewer", "harness", "h2", "named_harness", "h3",
			"conversation", "r1")},
		{Seq: 4, Type: history.ConversationNoted, Data: data("role", "worker", "conversation", "c2")},
		{Seq: 5, Type: history.PersonSaid, Data: data("role", "worker", "how", "wait")},
		{Seq: 6, Type: history.PersonSaid, Data: data("role", "worker", "how", "typed")},
		{Seq: 7, Type: history.PersonSaid, Data: data("role", "reviewer", "how", "wait")},
		{Seq: 8, Type: history.PRChecked, Data: data("url", "u", "checks", "red")},
		{Seq: 9, Type: history.PRChecked, Data: data("url", "v", "checks", "green")},
		{Seq: 10, Type: history.Updated, Data: data("role", "worker", "url", "u", "how", "wait")},
	}
	one := task.Task{Harness: "own", ReviewHarness: "review"}
	var got []any
	for _, role := range []string{"worker", "reviewer", "cto"} {
		seq := 0
		if start := history.LastStart(events, role); start != nil {
			seq = start.Seq
		}
		conversation, noted := history.ConversationOf(events, role)
		got = append(got, seq, history.HarnessOf(events, role), history.HarnessFor(one, role, events),
			history.HarnessFor(one, role, nil), conversation, noted, len(history.SaidTo(events, role)))
	}
	got = append(got, history.ChecksOf(events, "u"), history.ChecksOf(events, "w"))
	if first, _ := history.ConversationOf(events[:1], "worker"); first != "c0" ||
		history.LastStart(events[:1], "worker") == nil || history.ChecksOf(events[7:8], "u") != "red" {
		t.Error("what is first in a history is not found")
	}
	want := []any{2, "h1", "h1", "own", "c2", true, 1, 3, "h3", "h3", "review", "r1", false, 1,
		0, "", "own", "own", "", false, 0, "red", ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %v\nwant  %v", got, want)
	}
}

func TestLimitEndAndLastWords_areOfAnAgentWithoutASuccessor(t *testing.T) {
	t.Parallel()
	until := time.Date(2024, 5, 1, 2, 3, 4, 0, time.UTC)
	limited := history.Event{Seq: 7, Type: history.AgentLimited, Data: map[string]string{
		task.DataLastWords: "bye", history.DataUntil: until.Format(task.TimeFormat)}}
	for _, c := range []struct {
		next  string
		limit bool
		words string
	}{
		{history.Updated, true, "bye"}, {history.AgentSpawned, false, ""}, {history.ReviewStarted, false, ""},
		{history.AgentRespawned, false, ""}, {history.StatusChanged, false, "bye"},
		{history.AutoAdvanced, false, "bye"},
		{history.AgentCrashed, true, ""}, {history.AgentStopped, true, ""}, {history.MachineLost, true, ""},
	} {
		events := []history.Event{limited, {Type: c.next}}
		end, when := history.LimitEnd(events)
		if words := history.LastWords(events); (end != nil) != c.limit || words != c.words ||
			c.limit && (end.Seq != 7 || !when.Equal(until)) {
			t.Errorf("before %s: %v until %v, %q", c.next, end, when, words)
		}
	}
}

func TestSign_keepsWhoAskedUnderWhichKeyAndWhatTheySigned(t *testing.T) {
	t.Parallel()
	given := map[string]string{"asked": "forged", "signature": "forged", "branch": "b"}
	actor := task.Actor{Role: task.RoleHuman, As: task.RoleWorker, Person: "Ada"}
	for _, c := range []struct{ key, asked, signed, signature string }{
		{"", "forged", "", "forged"}, {"k", "digest", "", "forged"}, {"", "forged", "text", "sig"},
		{"k", "digest", "text", "sig"},
	} {
		actor.Key, actor.Signature, actor.Asked, actor.Signed = c.key, "", "digest", "text"
		if c.signed != "" {
			actor.Signature = c.signature
		}
		e := history.Sign(actor, history.Event{Type: history.Updated, Data: given})
		key, asked := e.Asked()
		signed, signature := e.Proof()
		if key != c.key || asked != c.asked || signed != c.signed || signature != c.signature ||
			e.Data["branch"] != "b" || e.Actor != "human" || e.ActingAs != task.RoleWorker || e.Person != "Ada" {
			t.Errorf("%+v: %+v", c, e)
		}
	}
	if given["asked"] != "forged" {
		t.Error("the data of its caller were changed")
	}
}
