package wire

import (
	"errors"

	"orange/internal/rules/idempotency"
)

// The limits of messages.
const (
	MostOfBirth   = 512 << 10 // bytes of what a task is created from
	MostOfReply   = 64 << 10  // bytes of an answer
	MostOfKept    = 256 << 10 // bytes of the answers that custody keeps of a task, besides that to its creation
	MostOfLook    = 1 << 20   // bytes of an answer that no one keeps
	MostOfRequest = 64 << 10  // bytes of the arguments, the standard input and the files of a request
	MostOfText    = 1 << 10   // bytes of every other text
	KeptKeys      = 200       // how many requests of a task custody keeps, the last ones
	MostOfMinutes = 10        // how long a signed request holds
	mostOfList    = 2000      // entries of what a host says of itself
)

// Request is what a person asks of a task, as it is signed. Host is empty where the host does not matter.
type Request struct {
	Fleet   string            `json:"fleet"`
	Host    string            `json:"host,omitempty"`
	Epoch   int               `json:"epoch"`
	Task    string            `json:"task"`
	Method  string            `json:"method"`
	Args    []string          `json:"args,omitempty" text:"long"`
	Stdin   string            `json:"stdin,omitempty" text:"long"`
	Files   map[string]string `json:"files,omitempty" text:"long"` // texts of files that arguments name
	As      string            `json:"as,omitempty"`                // the role that the person acts for
	Person  string            `json:"person"`
	Key     string            `json:"key"`
	Expires int64             `json:"expires"` // in seconds since 1970, by the clock of the custody
}

// Methods of requests that custody itself answers, or that need a right of their own.
const (
	MethodCreate = "create"
	MethodRescue = "rescue"
	MethodLeave  = "leave"
	MethodDelete = "delete"
	MethodCancel = "cancel"
	// MethodSnapshot has the host take a snapshot; without a repository it is that of the fleet.
	MethodSnapshot = "snapshot"
	MethodDrain    = "drain" // of a host: its only argument is DrainOn or DrainOff
	// MethodAdopt is asked of a host too: that a task which was created there joins the fleet.
	MethodAdopt = "adopt"
)

// Ask is a request with its signature.
type Ask struct {
	Request   Request `json:"request"`
	Signature string  `json:"signature,omitempty"`
}

// Kind is the name and the version of the message.
func (Ask) Kind() (string, int) { return "ask", 1 }

func (a Ask) limits() error {
	r := a.Request
	err := together("arguments, standard input and files of the request", MostOfRequest, r.Files,
		append([]string{r.Stdin}, r.Args...)...)
	if err != nil {
		return err
	}
	return idempotency.Check(r.Key)
}

// Birth is what a task is created from. The asker makes the id. With Args the task is created by them, and Branch,
// Summary and Context say only what the fleet shows.
type Birth struct {
	Ask      Ask      `json:"ask"` // a signed request of the method create, whose argument is the digest of the rest
	Project  string   `json:"project"`
	On       string   `json:"on"` // a label, or "host:" and the name of a host
	Branch   string   `json:"branch,omitempty"`
	Summary  string   `json:"summary"`
	Harness  []string `json:"harness,omitempty"` // those that the task needs
	Workflow string   `json:"workflow"`          // its name and, behind @, its digest, where the asker has it
	Rules    string   `json:"rules" text:"long"` // its text
	Context  string   `json:"context,omitempty" text:"long"`
	// Args are the flags and the arguments of "orange task create", without project, id and epoch.
	Args  []string          `json:"args,omitempty" text:"long"`
	Files map[string]string `json:"files,omitempty" text:"long"` // that Args name; StdinFile is the input
}

// StdinFile is the name under which the files of a birth have the standard input of the command.
const StdinFile = "-"

// HostPlace is what the place of a birth begins with where it is one host.
const HostPlace = "host:"

// Kind is the name and the version of the message.
func (Birth) Kind() (string, int) { return "birth", 1 }

func (b Birth) limits() error {
	return together("workflow and context of the task", MostOfBirth, b.Files,
		append([]string{b.Rules, b.Context}, b.Args...)...)
}

// Offer asks a host whether it has a place for a task.
type Offer struct {
	Task    string   `json:"task"`
	Epoch   int      `json:"epoch"`
	Project string   `json:"project"`
	Harness []string `json:"harness,omitempty"`
	// Workflow is the name of the task's workflow and, behind @, its digest: a host needs the very text.
	Workflow string   `json:"workflow,omitempty"`
	Not      []string `json:"not,omitempty"` // hosts that cannot do it
}

// Kind is the name and the version of the message.
func (Offer) Kind() (string, int) { return "offer", 1 }

// OfferAnswer is a host's answer to an offer. Unfit says why it cannot do it.
type OfferAnswer struct {
	Host  string `json:"host"`
	Unfit string `json:"unfit,omitempty"`
}

// Kind is the name and the version of the message.
func (OfferAnswer) Kind() (string, int) { return "accepted", 1 }

// DoneRequest is a request that custody keeps, with its answer.
type DoneRequest struct {
	Key    string `json:"key"`
	Digest string `json:"digest"` // of the request
	Host   string `json:"host"`   // which answered
	Epoch  int    `json:"epoch"`
	Event  int    `json:"event"` // the last of the history at the answer
	Reply  Reply  `json:"reply"`
	Lost   bool   `json:"lost,omitempty"` // what it did is in no history that is left
	// Elsewhere says that there was no room for the reply any more: the host answers a repeat from its history.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Take gives a task to a host. After a rescue Rescue is what the person signed, Known is the last that custody knew of
// the history, and Keys are the requests that were answered: those that are not in the history have to be named there
// as lost.
type Take struct {
	Task   string        `json:"task"`
	Epoch  int           `json:"epoch"`
	Birth  Birth         `json:"birth"`
	From   string        `json:"from,omitempty"`  // the host that had the task
	Since  []string      `json:"since,omitempty"` // hosts that may have taken it since, and do not have it
	Rescue *Rescue       `json:"rescue,omitempty"`
	Known  Head          `json:"known"`
	Keys   []DoneRequest `json:"keys,omitempty"`
}

// Head is how far a history goes: the number of its last event, and the hash of it.
type Head struct {
	Event int    `json:"event"`
	Hash  string `json:"hash,omitempty"`
}

// Kind is the name and the version of the message.
func (Take) Kind() (string, int) { return "take", 1 }

func (t Take) limits() error {
	return errors.Join(tooMany("requests", len(t.Keys), KeptKeys), tooMany("hosts", len(t.Since), mostOfList))
}

// TakeAnswer is the answer to a take: the first report of the host for its epoch, with the requests that it found in no
// history. Refused says why the host has not taken the task, and never will under this epoch. Reply is what the host
// said where the task was created there, or could not be; it answers the request of the birth.
type TakeAnswer struct {
	Report  Report   `json:"report"`
	Lost    []string `json:"lost,omitempty"`
	Refused string   `json:"refused,omitempty"`
	Reply   *Reply   `json:"reply,omitempty"`
}

// Kind is the name and the version of the message.
func (TakeAnswer) Kind() (string, int) { return "taken", 1 }

func (t TakeAnswer) limits() error { return tooMany("lost requests", len(t.Lost), KeptKeys) }

// Reply is a host's answer to a request, signed by its key. Done is false for a refusal: those are not kept, and a
// repeat is judged again.
type Reply struct {
	Fleet     string `json:"fleet"`
	Host      string `json:"host"`
	Epoch     int    `json:"epoch"`
	Task      string `json:"task"`
	Key       string `json:"key"`
	Digest    string `json:"digest"` // of the request
	Done      bool   `json:"done"`
	Exit      int    `json:"exit"`
	Output    string `json:"output,omitempty" text:"long"` // what the command printed
	Errors    string `json:"errors,omitempty" text:"long"` // what it printed on standard error
	Cut       bool   `json:"cut,omitempty"`                // one of the two was longer
	Head      Head   `json:"head"`
	Signature string `json:"signature,omitempty"`
	// Report is the report of the task as it was then. It is signed by itself: who asked does not get it.
	Report *Report `json:"report,omitempty"`
}

// Kind is the name and the version of the message.
func (Reply) Kind() (string, int) { return "reply", 1 }

func (r Reply) limits() error { return together("answer", MostOfReply, nil, r.Output, r.Errors) }

// Look is a question that changes nothing.
type Look struct {
	Task   string   `json:"task"`
	Method string   `json:"method"`
	Args   []string `json:"args,omitempty"`
}

// Kind is the name and the version of the message.
func (Look) Kind() (string, int) { return "look", 1 }

// LookAnswer is the answer to a look.
type LookAnswer struct {
	Host   string `json:"host"`
	Exit   int    `json:"exit"`
	Output string `json:"output,omitempty" text:"long"`
	Errors string `json:"errors,omitempty" text:"long"`
	Cut    bool   `json:"cut,omitempty"` // one of the two was longer
}

// Kind is the name and the version of the message.
func (LookAnswer) Kind() (string, int) { return "seen", 1 }

func (s LookAnswer) limits() error { return together("answer", MostOfLook, nil, s.Output, s.Errors) }

// Row is what the fleet's list shows of a task.
type Row struct {
	Project   string `json:"project,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Status    string `json:"status,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Attention string `json:"attention,omitempty"`
	Over      bool   `json:"over,omitempty"`  // the task is at an end of its workflow
	Since     int64  `json:"since,omitempty"` // when its status began, by the host's clock
	Head      Head   `json:"head"`
	Shipped   int    `json:"shipped,omitempty"`    // the event that the last snapshot goes to
	ShippedAt int64  `json:"shipped_at,omitempty"` // when that was acknowledged, by the host's clock
}

// Report is what a host says of a task that it has, signed by its key. Of two reports under one epoch the one with the
// greater version counts.
type Report struct {
	Fleet     string `json:"fleet"`
	Host      string `json:"host"`
	Epoch     int    `json:"epoch"`
	Task      string `json:"task"`
	Version   int    `json:"version"`
	Row       Row    `json:"row"`
	Signature string `json:"signature,omitempty"`
}

// Kind is the name and the version of the message.
func (Report) Kind() (string, int) { return "report", 1 }

// Rescue takes a task away from a host that is lost, or from any host, with a reason. It is a signed request of the
// method rescue, whose arguments are From, To and Now.
type Rescue struct {
	Ask  Ask    `json:"ask"`
	From int    `json:"from"`          // the epoch that ends
	To   string `json:"to,omitempty"`  // a host; empty for any
	Now  string `json:"now,omitempty"` // why the host is not waited for
}

// Kind is the name and the version of the message.
func (Rescue) Kind() (string, int) { return "rescue", 1 }

// Custody is what the fleet knows of a task: who has it, and the last row of its list. Birth is the answer to its
// creation, of the host that created it, or of one that could not; the list has none.
type Custody struct {
	Task    string      `json:"task"`
	Phase   string      `json:"phase"`
	Host    string      `json:"host,omitempty"`
	To      string      `json:"to,omitempty"` // the host that it waits for; empty for any
	On      string      `json:"on,omitempty"` // the label of the hosts that it may go to first
	Harness []string    `json:"harness,omitempty"`
	Epoch   int         `json:"epoch"`
	Not     []string    `json:"not,omitempty"`     // hosts that cannot take it
	Because []string    `json:"because,omitempty"` // why, for each of them
	Row     Row         `json:"row"`
	Told    int64       `json:"told,omitempty"` // when the row was reported, by the server's clock
	Lost    []string    `json:"lost,omitempty"` // keys of requests that were done and are lost
	Birth   *Reply      `json:"birth,omitempty"`
	Apart   []ApartWork `json:"apart,omitempty"`
}

// ApartWork is the work of a host that came back after its task was rescued: what it had of it and the new host has
// not, at a ref of the repository for snapshots.
type ApartWork struct {
	Host  string `json:"host"`
	Epoch int    `json:"epoch"`
	Ref   string `json:"ref"`
}

// Kind is the name and the version of the message.
func (Custody) Kind() (string, int) { return "custody", 1 }
