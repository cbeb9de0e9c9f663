package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// written is a history as its file has it.
func written(t testing.TB, events []history.Event) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

func TestReadHistory_givesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	want := chain(t, 3)
	got, err := history.ReadHistory(written(t, want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	if got, err := history.ReadHistory(nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	// The last newline alone may be missing: the event is whole.
	if got, err := history.ReadHistory(bytes.TrimSuffix(written(t, want), []byte("\n"))); err != nil || len(got) != 3 {
		t.Errorf("without the last newline: %d events, %v", len(got), err)
	}
}

func TestReadHistory_findsEveryCharacterThatWasChanged(t *testing.T) {
	t.Parallel()
	text := written(t, chain(t, 3))
	for at, have := range text {
		if at == len(text)-1 {
			break // the newline at the end proves nothing
		}
		changed := bytes.Clone(text)
		changed[at] = have ^ 0x02
		events, err := history.ReadHistory(changed)
		var broken *history.BrokenHistory
		want := bytes.Count(text[:at], []byte("\n")) + 1
		if !errors.As(err, &broken) || broken.Line != want || broken.Torn || len(events) != want-1 {
			t.Fatalf("character %d of line %d: %v, %d events", at, want, err, len(events))
		}
	}
}

func TestReadHistory_callsALastLineTornWhereverItWasCut(t *testing.T) {
	t.Parallel()
	text := written(t, chain(t, 2))
	start := bytes.IndexByte(text, '\n') + 1
	for cut := start + 1; cut < len(text)-1; cut++ {
		events, err := history.ReadHistory(text[:cut])
		var broken *history.BrokenHistory
		if !errors.As(err, &broken) || !broken.Torn || broken.Line != 2 || len(events) != 1 {
			t.Fatalf("cut at %d: %v, %d events", cut, err, len(events))
		}
	}
}

func TestReadHistory_saysWhatIsWrong(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(string(written(t, chain(t, 3))), "\n")
	other := chain(t, 1)
	other[0].Reason = "another"
	forged, err := history.Seal(other[0], 1, "")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ text, want string }{
		{lines[0] + lines[2], "line 2: found event 3, expected event 2: a line is missing, or there twice"},
		{lines[0] + lines[0], "line 2: found event 1, expected event 2"},
		{string(written(t, []history.Event{forged})) + lines[1], "line 2: event 2 is not linked to the one before it"},
		{lines[0] + "\n" + lines[1], "line 2: it is empty, expected an event"},
		{strings.Replace(lines[0], `"reason":"event 0"`, `"reason":"event 9"`, 1),
			"line 1: event 1 is not as it was sealed"},
		{strings.Replace(lines[0], `"seq":1`, `"seq": 1`, 1), "line 1: event 1 is written in another way"},
		{lines[0] + "what?\n", "line 2: "},
		{strings.TrimSuffix(strings.Replace(lines[0], "event 0", "event 9", 1), "\n"),
			"line 1: event 1 is not as it was sealed"},
	}
	for _, tt := range tests {
		_, err := history.ReadHistory([]byte(tt.text))
		var broken *history.BrokenHistory
		if !errors.As(err, &broken) || !strings.HasPrefix(err.Error(), tt.want) || broken.Torn {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestAnEvent_withInvalidTextReadsBackAsItWasSealed(t *testing.T) {
	t.Parallel()
	const bad = "a\xff\xfeb"
	full := history.Event{Type: bad, Actor: bad, ActingAs: bad, Person: bad, Reason: bad, Workflow: bad, From: bad,
		To: bad, Counters: task.Counters{{Name: bad, Value: 1}}, Evidence: []task.Evidence{{Source: bad, Digest: bad}},
		Hooks: []string{bad}, Subject: task.Subject{Commit: bad, Branch: bad, By: bad},
		Data: map[string]string{bad: bad}}
	for _, e := range []history.Event{full, {Type: history.AgentCrashed, In: bad, Crash: 1}} {
		sealed, err := history.Seal(e, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := history.ReadHistory(written(t, []history.Event{sealed})); err != nil ||
			!reflect.DeepEqual(got, []history.Event{sealed}) {
			t.Errorf("read %+v, %v, want %+v", got, err, sealed)
		}
	}
	if full.Evidence[0].Source != bad || full.Hooks[0] != bad || full.Counters[0].Name != bad {
		t.Error("the event of its caller was changed")
	}
}

func FuzzReadHistory(f *testing.F) {
	whole := chainOf(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-7])
	f.Add(bytes.Replace(whole, []byte("human"), []byte("humam"), 1))
	f.Add(bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")))
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, err := history.ReadHistory(text)
		if chained := history.VerifyChain(events); chained != nil {
			t.Fatalf("accepted, and not a chain: %v", chained)
		}
		again := written(t, events)
		if err == nil && !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), bytes.TrimSuffix(text, []byte("\n"))) {
			t.Fatalf("accepted\n%q\nand wrote\n%q", text, again)
		}
		if !bytes.HasPrefix(append(text, '\n'), again) {
			t.Fatalf("the events before the broken line are not those that stand there")
		}
	})
}

// A doctor reads the history of every task.
func BenchmarkReadHistory(b *testing.B) {
	text := chainOf(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := history.ReadHistory(text); err != nil {
			b.Fatal(err)
		}
	}
}

func chainOf(t testing.TB) []byte {
	var events []history.Event
	prev := ""
	for i, e := range []history.Event{fullEvent(), {Type: history.Created}, fullEvent()} {
		sealed, err := history.Seal(e, i+1, prev)
		if err != nil {
			t.Fatal(err)
		}
		events, prev = append(events, sealed), sealed.Hash
	}
	return written(t, events)
}

// A crash has its status and its number as keys of their own, and tells of them with the rest.
func TestACrash_tellsItsStatusAndItsNumber(t *testing.T) {
	t.Parallel()
	crash, err := history.Seal(history.Event{Type: history.AgentCrashed, Actor: "engine", In: "working", Crash: 1,
		Data: map[string]string{"role": "worker", "hook": "2"}}, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(crash)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"actor":"engine","status":"working","crash_count":1,"data":`; !strings.Contains(string(line), want) {
		t.Errorf("written as %s, want %s in it", line, want)
	}
	again, err := history.ReadHistory([]byte(string(line) + "\n"))
	if err != nil || len(again) != 1 || !reflect.DeepEqual(again[0], crash) {
		t.Fatalf("read as %+v (%v)", again, err)
	}
	alone := history.Event{Type: history.AgentCrashed, In: "x"}.Told()
	other := history.Event{Type: history.Updated, Data: map[string]string{"a": "b"}}.Told()
	if len(alone) != 2 || len(other) != 1 {
		t.Errorf("one without data tells %v, and one that is no crash %v", alone, other)
	}
	want := map[string]string{"role": "worker", "hook": "2", "status": "working", task.CrashCount: "1"}
	if told := again[0].Told(); !maps.Equal(told, want) || len(crash.Data) != 2 {
		t.Errorf("it tells %v, want %v", told, want)
	}
}
