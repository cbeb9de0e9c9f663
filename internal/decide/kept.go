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
	Hooks    map[int]string  // the digest of the hooks that an event has set going, with all their words, by the event's number
	Stripped []int           // decisions whose inputs are not there, by their events' numbers
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
		if last.IsMove() || last.Type == task.Created {
			out.Entry = in.Begins
		}
		if in.Hooks != "" {
			out.Hooks[last.Seq] = in.Hooks
		}
		at += len(decision)
	}
	return out, nil
}
