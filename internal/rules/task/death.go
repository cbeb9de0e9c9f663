package task

import (
	"fmt"
	"maps"
	"strconv"
	"time"
)

// Death is what was seen of one agent's end. The hook that started the agent names it: no other agent of the
// record has the same. "Could not look" is never a Death.
type Death struct {
	Task      string
	Role      string
	Hook      int64
	Ending    Ending
	LastWords string // the last lines of its window; empty when there are none
	Limit     Limit  // the limit that those words tell of
	LostWith  string // "a reboot" or "the terminal server", with which it ended; empty where it ended by itself
	Resume    string // what the person wants with those who ended so, in record's words
}

// Limit is what an agent's last words say of the limit of its provider. It is zero where they tell of none.
type Limit struct {
	Line     string    // that tells of it
	Until    time.Time // when it is over, as far as the line says; else zero
	Provider string    // whose limit it is: agents of every harness with this provider run into it
	Work     string    // the digest of the commit and the document that the agent left
	New      bool      // nothing of that was there at the agent's last such end in the same status
}

// Ending is how a program ended, as far as it is known.
type Ending struct {
	Known     bool   // Status or Signal is true
	Status    int    // exit status
	Signal    int    // the signal that ended it; 0 when it ended by itself
	Unstarted string // why it could not be started at all; empty when it ran
	HungUp    bool   // someone asked it to end, as a terminal does that goes away
}

// Itself reports whether the program ended by itself, or never ran: no signal ended it, and none that it caught, like
// the one that its terminal is gone, after which some end with status 0.
func (e Ending) Itself() bool {
	const caught = 128 // and the number of the signal, by the custom of shells
	return e.Unstarted != "" || e.Known && !e.HungUp && e.Signal == 0 && e.Status < caught
}

// String reports the end in words for people.
func (e Ending) String() string {
	switch {
	case e.Unstarted != "":
		return "it could not be started: " + e.Unstarted
	case !e.Known:
		return "how is not known"
	case e.Signal != 0:
		return "killed by signal " + strconv.Itoa(e.Signal)
	}
	how := "exit status " + strconv.Itoa(e.Status)
	if e.HungUp {
		how += ", after a request to end"
	}
	return how
}

// DataLastWords is the key in an event's data under which the last lines of a dead agent's window stand.
const DataLastWords = "last_words"

// Data is what an event keeps of a death.
func (d Death) Data() map[string]string {
	data := map[string]string{"role": d.Role, "hook": strconv.FormatInt(d.Hook, 10), "ended": d.Ending.String()}
	if d.Ending.Known && d.Ending.Signal == 0 {
		data["exit_status"] = strconv.Itoa(d.Ending.Status)
	}
	if d.Ending.Signal != 0 {
		data["signal"] = strconv.Itoa(d.Ending.Signal)
	}
	if d.Ending.Unstarted != "" {
		data[DataUnstarted] = d.Ending.Unstarted
	}
	maps.Copy(data, d.Words())
	return data
}

// Words is the part of Data that has the last lines of the agent's window; nil where there are none.
func (d Death) Words() map[string]string {
	if d.LastWords == "" {
		return nil
	}
	return map[string]string{DataLastWords: d.LastWords}
}

// Name is the dead agent in words for people.
func (d Death) Name() string { return fmt.Sprintf("the %s (%s)", d.Role, d.Ending) }
