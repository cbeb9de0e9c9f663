package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"orange/internal/rules/task"
)

// BrokenHistory says where a text stops being the history that was once written.
type BrokenHistory struct {
	Line int // 1-based
	Why  string
	Torn bool // the last line was cut short while it was being written; everything before it is whole
}

// Error names the line and what is wrong with it.
func (b *BrokenHistory) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Why) }

// ReadHistory reads a history.jsonl and checks every number, link and hash in it. Each line must be the very bytes
// that were written for its event. The error is a *BrokenHistory; the events before the line that it names come
// with it. No text at all is a history without events.
func ReadHistory(text []byte) ([]Event, error) {
	var events []Event
	prev := ""
	for number := 1; len(text) > 0; number++ {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		e, why := readLine(line, number, prev)
		if why != "" {
			broken := &BrokenHistory{Line: number, Why: why}
			if !ended && !json.Valid(line) {
				broken.Torn, broken.Why = true, "it ends in the middle of an event: its writing was cut short"
			}
			return events, broken
		}
		events = append(events, e)
		prev, text = e.Hash, rest
	}
	return events, nil
}

// readLine reads one line and says why it is not the event that belongs there; empty when it is.
func readLine(line []byte, number int, prev string) (e Event, why string) {
	if len(bytes.TrimSpace(line)) == 0 {
		return e, "it is empty, expected an event"
	}
	if err := e.UnmarshalJSON(line); err != nil {
		return e, err.Error()
	}
	sealed, text, why := sealAgain(e, number, prev)
	if why != "" {
		return e, why
	}
	if !isLine(line, text, sealed.Hash) {
		return e, fmt.Sprintf("event %d is written in another way than it was sealed: it was changed afterwards",
			number)
	}
	return sealed, ""
}

// sealAgain seals an event again and says why it is not the one that was sealed for this place; empty when it is.
func sealAgain(e Event, number int, prev string) (sealed Event, text []byte, why string) {
	sealed, text, err := seal(e, number, prev)
	switch {
	case err != nil:
		return e, nil, err.Error()
	case e.Seq != number:
		return e, nil, fmt.Sprintf("found event %d, expected event %d: a line is missing, or there twice", e.Seq,
			number)
	case e.Prev != prev:
		return e, nil, fmt.Sprintf(
			"event %d is not linked to the one before it: that one was changed or replaced", number)
	case e.Hash != sealed.Hash:
		return e, nil, fmt.Sprintf("event %d is not as it was sealed: it was changed afterwards", number)
	}
	return sealed, text, ""
}

// VerifyChain checks numbers, links and hashes of a whole history that is no text any more: those of the record.
// The error is a *BrokenHistory too; its line is the event's number.
func VerifyChain(events []Event) error {
	prev := ""
	for i, e := range events {
		if _, _, why := sealAgain(e, i+1, prev); why != "" {
			return &BrokenHistory{Line: i + 1, Why: why}
		}
		prev = e.Hash
	}
	return nil
}

// clean is the event with every text in valid UTF-8. JSON has no other bytes, so that an event
// which held some would not read back as what was sealed.
func clean(e Event) Event {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	e.Type, e.Actor, e.ActingAs, e.Person = valid(e.Type), valid(e.Actor), valid(e.ActingAs), valid(e.Person)
	e.Reason, e.Workflow = valid(e.Reason), valid(e.Workflow)
	e.From, e.To = task.Status(valid(string(e.From))), task.Status(valid(string(e.To)))
	e.In = task.Status(valid(string(e.In)))
	var counters task.Counters
	for _, c := range e.Counters {
		counters = counters.With(valid(c.Name), c.Value)
	}
	e.Counters = counters
	evidence := append([]task.Evidence(nil), e.Evidence...)
	for i := range evidence {
		evidence[i] = task.Evidence{Source: valid(evidence[i].Source), Digest: valid(evidence[i].Digest)}
	}
	e.Evidence = evidence
	hooks := append([]string(nil), e.Hooks...)
	for i := range hooks {
		hooks[i] = valid(hooks[i])
	}
	e.Hooks = hooks
	e.Subject = e.Subject.Valid()
	if e.Data != nil {
		data := make(map[string]string, len(e.Data))
		for key, value := range e.Data { // the order does not matter to a map
			data[valid(key)] = valid(value)
		}
		e.Data = data
	}
	return e
}
