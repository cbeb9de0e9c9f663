package doctor

import (
	"fmt"
	"slices"
	"strconv"

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// unlikeShown tells where the record says of TASK.md's header that it showed what it cannot have shown, or does not say
// that it shows what it shows. By these values Orange knows what people write there from what is merely old.
func unlikeShown(w record.Whole, events []history.Event) []string {
	var out []string
	may := shownValues(w.Task, events)
	for _, v := range document.Fields(w.Task) {
		is := record.Shown{Field: v.Key, Value: v.Text}
		if !slices.Contains(w.Shown, is) {
			out = append(out, fmt.Sprintf("that TASK.md shows %s: %q is missing on record", v.Key, v.Text))
		}
	}
	if rebuiltAt(events) > 0 || events[0].Data[history.DataAdopted] != "" {
		return out // what a header showed then is on record, whatever that was
	}
	for _, one := range w.Shown {
		if values, known := may[one.Field]; !known || values != nil && !slices.Contains(values, one.Value) {
			out = append(out, fmt.Sprintf("that TASK.md showed %s: %q is on record, and not in its history", one.Field,
				one.Value))
		}
	}
	return out
}

// shownValues has the fields that TASK.md's header can have shown, and all values of those that the history tells of;
// nil for the others.
func shownValues(t task.Task, events []history.Event) map[string][]string {
	all := t
	all.PRURL, all.Attention, all.QueuedFor = "an address", "a mark", t.Status
	out := map[string][]string{}
	for _, v := range document.Fields(all) {
		out[v.Key] = nil
	}
	out["id"], out["project"] = []string{t.ID}, []string{t.Project}
	out["status"] = []string{events[0].Data[history.DataStatus]}
	out[task.ReviewRound], out[task.CrashCount] = []string{"0"}, []string{"0"}
	for i := range events {
		e := &events[i]
		if e.IsMove() {
			out["status"] = append(out["status"], string(e.To))
		}
		for _, c := range e.Counters {
			out[c.Name] = append(out[c.Name], strconv.Itoa(c.Value))
		}
	}
	return out
}
