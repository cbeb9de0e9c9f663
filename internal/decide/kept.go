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
