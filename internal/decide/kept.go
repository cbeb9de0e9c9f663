package decide

import (
	"encoding/json"
	"fmt"
	"slices"

	"orange/internal/document"
	"orange/internal/task"
)

// Kept lists the texts that an event names and that are kept for it, each once: what a decision rested on, what it looked at besides,
// and what somebody had made of a file that was put back.
func Kept(e task.Event) ([]task.Evidence, error) {
	out := slices.Clone(e.Evidence)
	if e.Type == task.AgentSpawned || e.Type == task.ReviewStarted {
		out = nil // what an agent finds is compared with by its digest alone
	}
	add := func(source, digest string) {
		one := task.Evidence{Source: source, Digest: digest}
		if digest != "" && !slices.ContainsFunc(out, func(have task.Evidence) bool { return have.Digest == digest }) {
			out = append(out, one)
		}
	}
	switch e.Type {
	case task.DocumentAdopted:
		add("TASK.md as it was before", e.Data["before"])
	case task.ProjectionRestored:
		add(e.Data[task.DataFile], e.Data[task.DataFound])
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
	Entry    []task.Evidence // what stood there when the present status began: what some gates compare with
	Start    []task.Evidence // the verdicts that stood there when the present status's agent was started last
	Hooks    map[int]string  // the digest of the hooks that an event has set going, with all their words, by the event's number
	Stripped []int           // decisions whose inputs are not there, by their events' numbers
}

// began says whether an event tells of the start of an agent that the evidence in the task's status is about from then on.
func began(e *task.Event) bool {
	return (e.Type == task.AgentSpawned || e.Type == task.ReviewStarted) && e.Subject != (task.Subject{})
}

// Trace reads them from a whole history.
func Trace(events []task.Event) (Traces, error) {
	out := Traces{Hooks: map[int]string{}}
	for at := 0; at < len(events); {
		var in Inputs
		decision := events[at : at+1]
		switch e := &events[at]; {
		case len(e.Inputs) > 0:
			if err := json.Unmarshal(e.Inputs, &in); err != nil {
				return out, fmt.Errorf("event %d: its inputs cannot be read: %w", e.Seq, err)
			}
			decision = events[at : at+together(events, at)]
		case decides(e):
			out.Stripped = append(out.Stripped, e.Seq)
		}
		last := &decision[len(decision)-1]
		switch {
		case last.IsMove() || last.Type == task.Created:
			out.Entry, out.Start = in.Begins, nil
		case began(last):
			out.Start = last.Evidence
		}
		if in.Hooks != "" {
			out.Hooks[last.Seq] = in.Hooks
		}
		at += len(decision)
	}
	return out, nil
}
