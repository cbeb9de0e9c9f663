package signed

import (
	"fmt"
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
)

// checkSignatures is what the findings of Verify are about.
const checkSignatures = "signatures"

// Verify checks every signature in the history of a task: one of these people has made it, for a request of theirs for
// this task. A signature of another task's request, or of another person's, is a problem.
func (all People) Verify(id string, events []history.Event) []record.Finding {
	var found []record.Finding
	good, none := 0, 0
	for _, e := range events {
		text, signature := e.Proof()
		if signature == "" {
			if e.Person != "" {
				none++
			}
			continue
		}
		if why := all.wrong(id, e, text, signature); why != "" {
			found = append(found, record.Finding{Check: checkSignatures, Level: record.LevelProblem, Subject: id,
				Found:  fmt.Sprintf("event %d: %s", e.Seq, why),
				Advice: "ask " + e.Person + " whether they wanted this; a host may have written it"})
			continue
		}
		good++
	}
	return append(found, record.Finding{Check: checkSignatures, Level: record.LevelOK, Subject: id,
		Found: fmt.Sprintf("%d events are signed by people of the list, %d are of people and have no signature",
			good, none)})
}

// wrong is why the signature of an event does not count; empty where it does.
func (all People) wrong(id string, e history.Event, text, signature string) string {
	r, err := all.Check(text, signature, e.Time)
	key, _ := e.Asked()
	switch {
	case err != nil:
		return err.Error()
	case r.Task != id && !slices.Contains(r.Args, id):
		return fmt.Sprintf("%q has signed a request for another task, %s", r.Person, r.Task)
	case r.Person != e.Person:
		return fmt.Sprintf("it is of %q, and %q has signed the request", e.Person, r.Person)
	case key != "" && key != r.Key:
		return fmt.Sprintf("it was done under the key %q, and %q has signed a request under %q", key, r.Person,
			r.Key)
	}
	return ""
}
