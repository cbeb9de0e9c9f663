package harness

import (
	"strings"
	"time"
)

// Choice is a harness file that a task can name.
type Choice struct {
	Name    string `json:"name"`
	Source  string `json:"source"` // its path, or "built in"
	Hides   bool   `json:"hides_built_in"`
	Program string `json:"program,omitempty"`
	Path    string `json:"path,omitempty"`        // where the program is on PATH; empty where it is not
	Version string `json:"written_for,omitempty"` // the version of the program that the file was written for
	Run     string `json:"run,omitempty"`         // when the file was last tried with it
	Problem string `json:"problem,omitempty"`     // the first thing that is wrong with the file
	Text    string `json:"text,omitempty"`
}

// Probed is what was found out about a harness by asking its program, which gives the same report each time.
type Probed struct {
	Harness string `json:"harness"`
	Program string `json:"program"`
	Path    string `json:"path,omitempty"`    // where it is on PATH; empty where it is not
	Version string `json:"version,omitempty"` // what the program says of itself
	Written string `json:"written_for"`       // the version that the file was written for
	Run     string `json:"run"`               // when the file was last tried, or NeverRun
	Trust   string `json:"trust,omitempty"`   // what a person does once, as the file has it
	Flags   []Flag `json:"flags"`
	Trouble string `json:"trouble,omitempty"` // why the program could not be asked
}

// Flag is one flag of the file's argument lists.
type Flag struct {
	Command string `json:"command"` // whose help was read
	Name    string `json:"name"`
	Found   bool   `json:"found"`
}

// OK reports whether the program is there and knows every flag.
func (r Probed) OK() bool {
	for _, f := range r.Flags {
		if !f.Found {
			return false
		}
	}
	return r.Path != "" && r.Trouble == ""
}

// Newer reports whether the program is of another version than the file was written for.
func (r Probed) Newer() bool {
	return r.Written != "" && r.Written != UnknownVersion && r.Version != "" && !strings.Contains(r.Version, r.Written)
}

// Started is what came of starting a program once.
type Started struct {
	Argv    []string      `json:"argv"`
	Arrived time.Duration `json:"arrived"` // after which it had done what its prompt asks for
	Ended   bool          `json:"ended"`   // its program was gone after its window was closed
	Screen  string        `json:"screen"`  // the last lines of its window
}
