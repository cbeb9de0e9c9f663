package record

// Level says how much a finding matters.
type Level string

// Levels of findings.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning" // a person may want to do something; everything agrees all the same
	LevelProblem Level = "problem" // something does not agree, or could not be looked at
)

// Finding is one thing that an examination of the home found.
type Finding struct {
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Subject string `json:"subject"` // a task, a file, a program
	Found   string `json:"found"`
	Advice  string `json:"advice"` // what to do; empty when nothing is
	Mended  string `json:"mended"` // what was done about it; empty when nothing was
}

// Examination is what is done to a home besides looking at it. Its zero value changes nothing.
type Examination struct {
	Fix     bool // repair what can be repaired
	Rebuild bool // bring back the tasks that the record does not have
	Older   bool // be about those alone that an earlier Orange left
}

// Left is the level of what is left of a finding: nothing bad is left of one that was fixed.
func (f Finding) Left() Level {
	if f.Mended != "" {
		return LevelOK
	}
	return f.Level
}
