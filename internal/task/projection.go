package task

import "time"

// ProjectionRestored is the type of the event that tells of a projection which other hands had changed, and which
// was put back.
const ProjectionRestored = "projection.restored"

// Keys in the data of a ProjectionRestored: the file, the digest under which its content is kept, when that was
// written, and what tells this very edit from the next one with the same content.
const (
	DataFile    = "file"
	DataFound   = "found"
	DataWritten = "written"
	DataMark    = "mark"
)

// Follow is a task after one more event of its history, as far as the history says.
func Follow(t Task, e Event) Task { return follow(t, e) }

// ProjectionFile is a projection as it stands in the task's folder.
type ProjectionFile struct {
	There   bool
	Text    []byte
	Written time.Time
	Mark    string // differs from one writing of the file to the next
}
