package replay

import (
	"encoding/json"
	"fmt"
	"slices"

	"orange/internal/document"
	"orange/internal/history"
	"orange/internal/task"
)

// Kept lists the texts that an event names and that are kept for it, each once: what a decision rested on, what
// it looked at besides, and what somebody had made of a file that was put back.
func Kept(e history.Event) ([]task.Evidence, error) {
	out := slices.Clone(e.Evidence)
	if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
		out = nil // what an agent finds is compared with by its digest alone
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

// Traces are what a history says of the record beside the task itself.
type Traces struct {
	Entry []task.Evidence // what stood there when the present status began: what some gates compare with
	Start []task.Evidence // the verdicts that stood there when the present status's agent was started last
	// the digest of the hooks that an event has set going, with all their words, by the event's number
	Hooks    map[int]string
	Stripped []int // decisions whose inputs are not there, by their events' numbers
}

// began says whether an event tells of the start of an agent that the evidence in the task's status is about from
// then on.
func began(e *history.Event) bool {
	return (e.Type == history.AgentSpawned || e.Type == history.ReviewStarted) && e.Subject != (task.Subject{})
}

// Trace reads them from a whole history.
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

// pass reads what begins at a place of the history, a decision or an event of its own, and answers how many
// events that has.
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

// enters says whether a status begins with an event.
func enters(e *history.Event) bool { return e.IsMove() || e.Type == history.Created }
