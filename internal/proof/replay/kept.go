package replay

import (
	"encoding/json"
	"fmt"
	"slices"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// Kept lists the texts that an event names and that are kept for it, each once: what a decision relied on, what else
// it looked at, and how a restored file had been edited.
func Kept(e history.Event) ([]task.Evidence, error) {
	out := slices.Clone(e.Evidence)
	if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
		out = nil // what an agent finds is compared by digest alone
	}
	add := func(source, digest string) {
		one := task.Evidence{Source: source, Digest: digest}
		if digest != "" && !slices.ContainsFunc(out, func(have task.Evidence) bool { return have.Digest == digest }) {
			out = append(out, one)
		}
	}
	switch e.Type {
	case history.DocumentAdopted:
		add("TASK.md as it was before", e.Data["before"])
	case history.ProjectionRestored:
		add(e.Data[history.DataFile], e.Data[history.DataFound])
	}
	if len(e.Inputs) == 0 {
		return out, nil
	}
	var in Inputs
	if err := json.Unmarshal(e.Inputs, &in); err != nil {
		return out, fmt.Errorf("event %d: its inputs cannot be read: %w", e.Seq, err)
	}
	for _, s := range in.Read {
		add("## "+document.Key(s.Name), s.Digest)
	}
	return out, nil
}

// Traces are what a history says of the record in addition to the task itself.
type Traces struct {
	Entry []task.Evidence // what was there when the present status began: some gates compare with it
	Start []task.Evidence // the verdicts that were there when the present status's agent last started
	// the digest of the hooks that an event has started, with all their keys, by the event's number
	Hooks    map[int]string
	Stripped []int // decisions whose inputs are missing, by their events' numbers
}

// began reports whether an event records the start of an agent that the evidence in the task's status is about from
// then on.
func began(e *history.Event) bool {
	return (e.Type == history.AgentSpawned || e.Type == history.ReviewStarted) && e.Subject != (task.Subject{})
}

// Trace reads the traces from a whole history.
func Trace(events []history.Event) (Traces, error) {
	out := Traces{Hooks: map[int]string{}}
	for at := 0; at < len(events); {
		n, err := out.pass(events, at)
		if err != nil {
			return out, err
		}
		at += n
	}
	return out, nil
}

// pass reads one decision, or one other event, at a position of the history, and returns how many events it has.
func (t *Traces) pass(events []history.Event, at int) (int, error) {
	var in Inputs
	n := 1
	switch e := &events[at]; {
	case len(e.Inputs) > 0:
		if err := json.Unmarshal(e.Inputs, &in); err != nil {
			return n, fmt.Errorf("event %d: its inputs cannot be read: %w", e.Seq, err)
		}
		n = together(events, at)
	case decides(e):
		t.Stripped = append(t.Stripped, e.Seq)
	}
	last := &events[at+n-1]
	switch {
	case enters(last):
		t.Entry, t.Start = in.Begins, nil
	case began(last):
		t.Start = last.Evidence
	}
	if in.Hooks != "" {
		t.Hooks[last.Seq] = in.Hooks
	}
	return n, nil
}

// enters reports whether a status begins with an event.
func enters(e *history.Event) bool { return e.IsMove() || e.Type == history.Created }
