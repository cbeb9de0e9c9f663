package wire

// Release asks the workflow of a host for a task that the host has: from then on it is not the host's any more.
type Release struct {
	Host  string `json:"host"`
	Task  string `json:"task"`
	Epoch int    `json:"epoch"`
	Now   bool   `json:"now,omitempty"` // whether or not the host is lost
}

// Kind is the name and the version of the message.
func (Release) Kind() (string, int) { return "release", 1 }

// ReleaseAnswer is the answer to a release. Kept says why the host keeps the task.
type ReleaseAnswer struct {
	Kept string `json:"kept,omitempty"`
}

// Kind is the name and the version of the message.
func (ReleaseAnswer) Kind() (string, int) { return "released", 1 }

// Gone is a task that a host has no more.
type Gone struct {
	Task  string `json:"task"`
	Epoch int    `json:"epoch"` // the last under which the host had it
}

// Leave has a host let go of a task that it may have under an epoch, or under an earlier one.
type Leave struct {
	Gone Gone `json:"gone"`
}

// Kind is the name and the version of the message.
func (Leave) Kind() (string, int) { return "leave", 1 }

// LeaveAnswer is the answer to a leave: where the host's own work is.
type LeaveAnswer struct {
	Host string `json:"host"`
	Ref  string `json:"ref,omitempty"`
}

// Kind is the name and the version of the message.
func (LeaveAnswer) Kind() (string, int) { return "left", 1 }

// Here is what a host says of itself before it gets a lease. Left are the tasks that it has let go.
type Here struct {
	Host     string   `json:"host"`
	Labels   []string `json:"labels,omitempty"`
	Projects []string `json:"projects,omitempty"`
	Harness  []string `json:"harness,omitempty"`
	Version  string   `json:"version,omitempty"`
	SSH      string   `json:"ssh,omitempty"` // how people reach it for a terminal; empty where they cannot
	Free     int      `json:"free"`
	Draining bool     `json:"draining,omitempty"` // it takes no new task
	Left     []Gone   `json:"left,omitempty"`
}

// Kind is the name and the version of the message.
func (Here) Kind() (string, int) { return "here", 1 }

func (h Here) limits() error {
	return tooMany("labels, projects and tasks", len(h.Labels)+len(h.Projects)+len(h.Harness)+len(h.Left), mostOfList)
}

// Lease is the answer to a here: the number of the lease that the host may hold from now on, and the tasks that are
// not the host's any more. The host acts outwardly for none of these.
type Lease struct {
	Number int    `json:"number"`
	Gone   []Gone `json:"gone,omitempty"`
}

// Kind is the name and the version of the message.
func (Lease) Kind() (string, int) { return "lease", 1 }

// What a request of the method drain may ask of a host.
const (
	DrainOn  = "on"  // take no new tasks
	DrainOff = "off" // take tasks again
)

// BirthFile is the name under which the files of a request of the method adopt have the birth, with its signature.
const BirthFile = "birth"

// Newcomer is what a host says of a task that was created there without the fleet: before a person has signed that it
// is taken in, a birth without a signature; afterwards the signed birth, and the report that the server needs.
type Newcomer struct {
	Birth  Birth   `json:"birth"`
	Report *Report `json:"report,omitempty"`
}

// Kind is the name and the version of the message.
func (Newcomer) Kind() (string, int) { return "newcomer", 1 }

// Check refuses what is too large.
func (n Newcomer) Check() error {
	if n.Report != nil {
		if err := Check(*n.Report); err != nil {
			return err
		}
	}
	if n.Birth.Ask.Signature == "" {
		n.Birth.Ask.Request.Key = "unsigned" // it has no request yet
	}
	return Check(n.Birth)
}
