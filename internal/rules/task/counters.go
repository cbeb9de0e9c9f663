package task

import "strings"

// Counter is one named integer of a task.
type Counter struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// Counters are a task's integers, sorted by name. A counter that is missing is 0.
// Counters are values: With returns a new list and leaves the old one as it was.
type Counters []Counter

// Get is the counter's value, 0 where it was never set.
func (c Counters) Get(name string) int {
	for _, have := range c {
		if have.Name == name {
			return have.Value
		}
	}
	return 0
}

// With is the list with one counter changed.
func (c Counters) With(name string, value int) Counters {
	at := 0
	for at < len(c) && c[at].Name < name {
		at++
	}
	size := len(c)
	found := at < len(c) && c[at].Name == name
	if !found {
		size++
	}
	out := make(Counters, 0, size)
	out = append(out, c[:at]...)
	out = append(out, Counter{Name: name, Value: value})
	if found {
		at++
	}
	return append(out, c[at:]...)
}

// ofFailures begins the name of the counter that holds a state's failures. No counter of a workflow's own has a dot.
const ofFailures = "failures."

// Failures is the name of the counter that holds a state's failures.
func Failures(s Status) string { return ofFailures + string(s) }

// Failures is how often the state has failed.
func (c Counters) Failures(s Status) int {
	for _, have := range c {
		if rest, found := strings.CutPrefix(have.Name, ofFailures); found && rest == string(s) {
			return have.Value
		}
	}
	return 0
}

// MostFailures is how often that state has failed that failed most often, whichever it is.
func (c Counters) MostFailures() int {
	most := 0
	for _, have := range c {
		if strings.HasPrefix(have.Name, ofFailures) {
			most = max(most, have.Value)
		}
	}
	return most
}

// Equal reports whether both lists hold the same values, missing counters counting as 0.
func (c Counters) Equal(other Counters) bool {
	for _, have := range c {
		if other.Get(have.Name) != have.Value {
			return false
		}
	}
	for _, have := range other {
		if c.Get(have.Name) != have.Value {
			return false
		}
	}
	return true
}
